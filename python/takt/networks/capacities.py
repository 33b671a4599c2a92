"""How large the sizes of tensors can be that a call finds, such as the number of boxes that have a score."""

from __future__ import annotations

import math
from typing import Any, Iterable, Mapping, Optional, Sequence

import numpy as np

from . import counts, elementwise

Size = Optional[int]  # None: without a limit that is known.

_UNARY = elementwise.UNARY | {"CumSum", "DequantizeLinear", "LogSoftmax", "QuantizeLinear", "Softmax"}
_SAME = _UNARY | elementwise.JOINING | {"Expand"}


class Capacities(counts.Counts):
    """The most that the sizes of all tensors of a graph can be.

    sizes   by tensor of a known rank: the most that each of its sizes can be.
    counts  by tensor of a few whole numbers, none of which is negative: the most that each can be.
    """

    def __init__(self, onnx: Any, nodes: Iterable[Any], shapes: Mapping[str, Sequence[Size]],
                 constants: dict[str, np.ndarray]) -> None:
        super().__init__(onnx, constants)
        for name, shape in shapes.items():
            self.sizes.setdefault(name, list(shape))
        self.follow(nodes)

    def known(self, number: int) -> Size:
        return number if number >= 0 else None

    def visit(self, node: Any) -> None:
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

    def computed(self, node: Any) -> list[Size] | None:
        """The most that the numbers of the first result can be."""
        if node.op_type == "ReduceMin" and node.input[0] in self.counts:
            return [least(self.counts[node.input[0]])]
        if node.op_type == "Min":
            return self.each(node, least)
        if node.op_type in ("Add", "Mul", "Max"):
            join = {"Add": sum, "Mul": math.prod, "Max": max}[node.op_type]
            return self.each(node, lambda numbers: None if None in numbers else join(numbers))
        return None

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
        if kind == "Gemm":
            second = self.sizes.get(node.input[1]) or [None, None]
            return [first[own.get("transA", 0)], second[1 - own.get("transB", 0)]]
        return first if kind in ("ScatterElements", "ScatterND", "Slice", "Split") else None

    def joined(self, node: Any) -> list[Size] | None:
        """The sizes of tensors that are repeated along dimensions where they have one element."""
        shapes = [self.sizes.get(name) for name in node.input if name]
        if node.op_type in _UNARY:
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
    """The least of the sizes that are known."""
    return min((size for size in sizes if size is not None), default=None)


def product(sizes: Sequence[Size]) -> Size:
    return None if None in sizes else math.prod(sizes)
