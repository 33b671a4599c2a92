"""How large the sizes of tensors can be that a call finds, such as the number of boxes that have a score."""

from __future__ import annotations

import math
from typing import Any, Iterable, Mapping, Optional, Sequence

import numpy as np

from . import elementwise, graphs

Size = Optional[int]  # None: without a limit that is known.

_SAME = elementwise.UNARY | elementwise.JOINING | {"CumSum", "Expand", "LogSoftmax", "Softmax"}
_LEAST = {"Min", "ReduceMin"}
_COUNTS_MAX = 64  # Shapes have fewer numbers.


class Limits(graphs.NodeReader):
    """Limits of the sizes of all tensors of a graph.

    sizes   by tensor of a known rank: the most that each of its sizes can be.
    counts  by tensor of a few whole numbers, none of which is negative: the most that each can be.
    """

    def __init__(self, onnx: Any, nodes: Iterable[Any], shapes: Mapping[str, Sequence[Size]],
                 constants: dict[str, np.ndarray]) -> None:
        self.onnx = onnx
        self.constants = constants
        self.sizes: dict[str, list[Size]] = {name: list(shape) for name, shape in shapes.items()}
        self.counts: dict[str, list[Size]] = {}
        for name, array in constants.items():
            self.sizes[name] = list(array.shape)
            if array.dtype.kind in "iu" and array.size <= _COUNTS_MAX:
                self.counts[name] = [int(value) if value >= 0 else None for value in array.reshape(-1)]
        for node in nodes:
            if node.domain in ("", "ai.onnx") and node.input and node.output:
                self.visit(node)

    def visit(self, node: Any) -> None:
        counts = self.count(node)
        if counts is not None and len(counts) <= _COUNTS_MAX:
            self.counts[node.output[0]] = counts
        found = None
        for name in filter(None, node.output):
            stated = self.sizes.get(name)
            if stated is not None and None not in stated:
                continue
            found = found or self.measure(node)
            if found is None:
                return
            if stated is None or len(stated) == len(found):
                self.sizes[name] = [least(pair) for pair in zip(found, stated or found)]

    def count(self, node: Any) -> list[Size] | None:
        """The most that the numbers of the first result can be."""
        kind, first = node.op_type, node.input[0]
        if kind == "Shape":
            return self.sizes.get(first)
        known = [self.counts.get(name) for name in node.input]
        if kind in _LEAST and known[0] is not None:
            return [least(known[0])] if kind == "ReduceMin" else self.each(known, least)
        if kind in ("Cast", "Identity", "Reshape", "Squeeze", "Unsqueeze"):
            return known[0]
        if kind == "Concat" and None not in known:
            return sum(known, [])
        if kind in ("Add", "Mul", "Max"):
            join = {"Add": sum, "Mul": math.prod, "Max": max}[kind]
            return self.each(known, lambda pair: None if None in pair else join(pair))
        if kind == "Gather" and known[0] is not None:
            places = self.constants.get(node.input[1])
            return None if places is None else [known[0][int(place)] for place in places.reshape(-1)]
        return None

    def each(self, known: list[list[Size] | None], join: Any) -> list[Size] | None:
        if any(not each for each in known):
            return None
        length = max(map(len, known))
        return [join(pair) for pair in zip(*(each * length if len(each) == 1 else each for each in known))]

    def measure(self, node: Any) -> list[Size] | None:
        """The most that the sizes of a result can be."""
        kind, first, own = node.op_type, self.sizes.get(node.input[0]), self.attributes(node)
        if kind == "ConstantOfShape":
            return self.counts.get(node.input[0])
        if first is None:
            return None
        rank = len(first)
        if kind in _SAME:
            return self.joined(node)
        if kind == "NonZero":
            return [rank, product(first)]
        if kind == "Transpose":
            return [first[axis] for axis in own.get("perm") or range(rank)[::-1]]
        if kind == "Concat":
            return self.concatenated([self.sizes.get(name) for name in node.input], own["axis"] % rank)
        if kind in ("Flatten", "Reshape"):
            return self.reshaped(node, first)
        if kind in ("Squeeze", "Unsqueeze"):
            return self.with_axes(kind, first, self.constants.get([*node.input, ""][1]))
        if kind in ("Gather", "GatherND"):
            return self.gathered(kind, first, self.sizes.get(node.input[1]), own)
        if kind == "GatherElements":
            return self.sizes.get(node.input[1])
        if kind == "TopK":
            axis, most = own.get("axis", -1) % rank, (self.counts.get(node.input[1]) or [None])[0]
            return [least([size, most]) if i == axis else size for i, size in enumerate(first)]
        if kind == "NonMaxSuppression":
            return self.selected(node, first)
        return first if kind in ("Slice", "Split") else None

    def joined(self, node: Any) -> list[Size] | None:
        """Of tensors that are repeated along dimensions where they have one element."""
        shapes = [self.sizes.get(name) for name in node.input if name]
        if node.op_type in elementwise.UNARY or node.op_type in ("CumSum", "LogSoftmax", "Softmax"):
            return shapes[0]
        if node.op_type == "Expand":
            shapes[1] = self.counts.get(node.input[1])
        if None in shapes:
            return None
        rank = max(map(len, shapes))
        filled = [[1] * (rank - len(shape)) + shape for shape in shapes]
        return [None if None in sizes else max(sizes) for sizes in zip(*filled)]

    def concatenated(self, shapes: list[list[Size] | None], axis: int) -> list[Size] | None:
        if None in shapes:
            return None
        return [(None if None in sizes else sum(sizes)) if i == axis else least(sizes)
                for i, sizes in enumerate(zip(*shapes))]

    def reshaped(self, node: Any, first: list[Size]) -> list[Size] | None:
        """One of the sizes follows from the others, which are known."""
        wanted = self.sizes.get(node.output[0])
        if wanted is None and node.op_type == "Reshape" and node.input[1] in self.constants:
            wanted = [int(size) if size > 0 else None for size in self.constants[node.input[1]]]
        if wanted is None or wanted.count(None) != 1:
            return None
        known, all_of_it = math.prod(size for size in wanted if size is not None), product(first)
        rest = None if all_of_it is None or not known else all_of_it // known
        return [rest if size is None else size for size in wanted]

    def with_axes(self, kind: str, first: list[Size], axes: np.ndarray | None) -> list[Size] | None:
        if axes is None:
            return None
        if kind == "Squeeze":
            gone = {int(axis) % len(first) for axis in axes.reshape(-1)}
            return [size for i, size in enumerate(first) if i not in gone]
        rank = len(first) + axes.size
        new, sizes = {int(axis) % rank for axis in axes.reshape(-1)}, iter(first)
        return [1 if i in new else next(sizes) for i in range(rank)]

    def gathered(self, kind: str, first: list[Size], places: list[Size] | None, own: dict[str, Any]
                 ) -> list[Size] | None:
        if places is None:
            return None
        if kind == "Gather":
            axis = own.get("axis", 0) % len(first)
            return [*first[:axis], *places, *first[axis + 1:]]
        if not places or places[-1] is None or own.get("batch_dims", 0):
            return None
        return [*places[:-1], *first[places[-1]:]]

    def selected(self, node: Any, boxes: list[Size]) -> list[Size]:
        classes = (self.sizes.get(node.input[1]) or [None] * 3)[1]
        most = (self.counts.get([*node.input, ""][2]) or [None])[0]
        return [product([boxes[0], classes, least([boxes[1], most])]), 3]


def least(sizes: Sequence[Size]) -> Size:
    """A size that is none of these by more than one of them allows."""
    return min((size for size in sizes if size is not None), default=None)


def product(sizes: Sequence[Size]) -> Size:
    return None if None in sizes else math.prod(sizes)
