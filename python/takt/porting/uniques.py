"""Unique, of few elements or rows: a part of `porter`.

Each element is compared with each, which the compiler has quick code for. It has no
sort whose ties keep their order.
"""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

from ..errors import CompileError

_COMPARISONS_MAX = 1 << 22


class UniquePorter:
    """The part of the porter that knows it."""

    def unique_handlers(self) -> dict[tuple[str, str], Callable[[Any], bool]]:
        return {("", "Unique"): self.on_unique}

    def on_unique(self, node: Any) -> bool:
        source, own = node.input[0], self.attributes(node)
        shape, axis = self.shapes.get(source, [None]), own.get("axis")
        what = f"Unique {node.name or node.output[0]!r}"
        if None in shape:
            raise CompileError(f"{what}: the number of its elements must be known")
        if axis is None:
            source, shape, axis = self.emit("Reshape", [source, self.constant([-1])]), [math.prod(shape)], 0
        axis %= len(shape)
        count, size = shape[axis], math.prod(shape) // max(shape[axis], 1)
        if count ** 2 * size > _COMPARISONS_MAX or not count * size:
            raise CompileError(f"{what}: {count} elements or rows of {size} are not taken, only so many that "
                               f"comparisons of each with each are {_COMPARISONS_MAX} at most")
        places, inverse, counts = self.places_of_unique(
            self.comparisons(source, axis, shape), count, own.get("sorted", 1))
        results = [lambda name: self.emit("Gather", [source, places], name, axis=axis),
                   lambda name: self.emit("Identity", [places], name),
                   lambda name: self.emit("Identity", [inverse], name),
                   lambda name: self.emit("Gather", [counts, places], name, axis=0)]
        for name, emit in zip(node.output, results):
            if name:
                emit(name)
        return True

    def comparisons(self, source: str, axis: int, shape: list[int]) -> tuple[str, str]:
        """[count][count] for a row and a column: whether they are equal, and whether the column comes first."""
        count = shape[axis]
        rows = self.emit("Transpose", [source], perm=[axis, *(i for i in range(len(shape)) if i != axis)])
        rows = self.emit("Reshape", [rows, self.constant([count, math.prod(shape) // count])])
        columns = self.emit("Transpose", [rows], perm=[1, 0])
        same = self.constant(np.ones((1, 1), bool))
        before = self.constant(np.zeros((1, 1), bool))
        for i in reversed(range(math.prod(shape) // count)):  # The first number that differs says which comes first.
            row, column = self.slice(rows, 1, i, i + 1), self.slice(columns, 0, i, i + 1)
            equal = self.emit("Equal", [row, column])
            before = self.emit("Or", [self.emit("Less", [column, row]), self.emit("And", [equal, before])])
            same = self.emit("And", [equal, same])
        return self.emit("Or", [same, self.constant(np.eye(count, dtype=bool))]), before

    def places_of_unique(self, comparisons: tuple[str, str], count: int, is_sorted: int) -> tuple[str, str, str]:
        """Where each is first, which of these each element is, and how often each element is there."""
        same, before = comparisons
        numbers, none = self.constant(np.arange(count)), self.constant(np.int64(count))
        first = self.reduce("ReduceMin", self.emit("Where", [same, numbers, none]), [1], keepdims=0)
        is_first = self.emit("Equal", [first, numbers])
        counts = self.sum_of(self.whole_of(same))
        if not is_sorted:
            order = self.emit("Where", [is_first, numbers, none])
            before = self.emit("Less", [numbers, self.emit("Unsqueeze", [first, self.constant([1])])])
        inverse = self.sum_of(self.whole_of(self.emit("And", [before, is_first])))
        if is_sorted:
            ranks = self.constant(np.arange(count).reshape(-1, 1))
            own = self.emit("And", [self.emit("Equal", [ranks, inverse]), is_first])
            order = self.reduce("ReduceMin", self.emit("Where", [own, numbers, none]), [1], keepdims=0)
        found = self.emit("Reshape", [self.emit("NonZero", [self.emit("Less", [order, none])]), self.constant([-1])])
        return self.emit("Gather", [order, found], axis=0), inverse, counts

    def whole_of(self, name: str) -> str:
        return self.emit("Cast", [name], to=self.onnx.TensorProto.INT64)

    def sum_of(self, name: str) -> str:
        return self.emit("ReduceSum", [name, self.constant([1])], keepdims=0)
