"""The few whole numbers that shapes are made of, as far as they are known, for capacities.py and terms.py."""

from __future__ import annotations

from typing import Any, Iterable

import numpy as np

from . import graphs

COUNTS_MAX = 64  # Shapes have fewer numbers.
WHOLE = (6, 7)  # Types that hold all sizes: int32, int64.
SLICE_END = (1 << 31) - 1  # Exporters write it, or more, where a slice goes to the end: no size is as large.


class Counts(graphs.NodeReader):
    """Follows these numbers through a graph.

    sizes   by tensor of a known rank: what is known of each of its sizes.
    counts  by tensor of a few whole numbers: what is known of each, in order; None: nothing.
    """

    def __init__(self, onnx: Any, constants: dict[str, np.ndarray]) -> None:
        self.onnx = onnx
        self.constants = constants
        self.sizes: dict[str, list[Any]] = {}
        self.counts: dict[str, list[Any]] = {}
        for name, array in constants.items():
            self.sizes[name] = list(map(self.known, array.shape))
            if array.dtype.kind in "iu" and array.size <= COUNTS_MAX:
                self.counts[name] = list(map(self.known, array.reshape(-1).tolist()))

    def follow(self, nodes: Iterable[Any]) -> None:
        for node in nodes:
            if node.domain not in ("", "ai.onnx") or not node.input or not node.output:
                continue
            counts = self.moved(node) or self.computed(node)
            if counts is not None and len(counts) <= COUNTS_MAX:
                self.counts.setdefault(node.output[0], counts)
            self.visit(node)

    def known(self, number: int) -> Any:
        """A number that the graph states, as far as it is known."""
        raise NotImplementedError

    def computed(self, node: Any) -> list[Any] | None:
        """The numbers of the first result, as far as they are known, where the inputs have others."""
        raise NotImplementedError

    def visit(self, node: Any) -> None:
        """Finds the sizes of the results."""
        raise NotImplementedError

    def moved(self, node: Any) -> list[Any] | None:
        """The same of numbers that the node only takes or joins."""
        kind, first = node.op_type, node.input[0]
        if kind == "Shape":
            own, sizes = self.attributes(node), self.sizes.get(first)
            return None if sizes is None else sizes[own.get("start", 0):own.get("end")]
        numbers = [self.counts.get(name) for name in node.input]
        if kind == "Concat" and None not in numbers:
            return sum(numbers, [])
        if numbers[0] is None:
            return None
        if kind in ("Cast", "Identity", "Reshape", "Squeeze", "Unsqueeze"):
            return numbers[0]
        if kind in ("Gather", "Slice") and all(name in self.constants for name in node.input[1:]):
            others = [self.constants[name] for name in node.input[1:]]
            if kind == "Gather":
                return [numbers[0][int(place)] for place in others[0].reshape(-1)]
            step = int(others[3][0]) if len(others) > 3 else 1
            return numbers[0][int(others[0][0]):int(others[1][0]):step]
        return None

    def each(self, node: Any, join: Any) -> list[Any] | None:
        """Joins the numbers at each place of all inputs; one number is there for all places."""
        numbers = [self.counts.get(name) for name in node.input]
        if not all(numbers):
            return None
        length = max(map(len, numbers))
        return [join(found) for found in zip(*(each * length if len(each) == 1 else each for each in numbers))]
