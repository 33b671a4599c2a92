"""Inverse of small matrices by their minors: a part of `porter`."""

from __future__ import annotations

import itertools
from typing import Any, Callable

import numpy as np

_SIZE_MAX = 4  # Transformations have it. Larger ones lose digits.


class InversePorter:
    """The part of the porter that knows it."""

    def inverse_handlers(self) -> dict[tuple[str, str], Callable[[Any], bool]]:
        return {("com.microsoft", "Inverse"): self.on_inverse}

    def on_inverse(self, node: Any) -> bool:
        """Minors of the last rows, for all columns at once, from those that are smaller by one."""
        shape = self.shapes.get(node.input[0], [None])
        size = shape[-1]
        if size is None or size > _SIZE_MAX or None in shape[1:]:
            return False
        if size == 1:
            self.emit("Reciprocal", [node.input[0]], node.output[0])
            return True
        flat = self.emit("Reshape", [node.input[0], self.constant([-1, size * size])])
        minors, known = flat, self.choices(size, 1)
        for count in range(2, size):
            minors, known = self.grown(flat, size, minors, known, count), self.choices(size, count)
        # Each row without itself, and each column: transposed, with a sign.
        every = range(size)
        places = [known.index(tuple(tuple(k for k in every if k != place) for place in (i, j)))
                  for j in every for i in every]
        signs = np.float32([(-1) ** (i + j) for j in every for i in every])
        cofactors = self.emit("Mul", [self.gather(minors, 1, np.array(places)), self.constant(signs)])
        first = self.slice(flat, 1, 0, size)
        matching = self.gather(cofactors, 1, np.arange(size) * size)
        determinant = self.emit("ReduceSum", [self.emit("Mul", [first, matching]), self.constant([1])])
        self.emit("Reshape", [self.emit("Div", [cofactors, determinant]), self.constant([-1, *shape[1:]])],
                  node.output[0])
        return True

    def choices(self, size: int, count: int) -> list[tuple[tuple[int, ...], ...]]:
        """Rows and columns of all minors of so many."""
        return list(itertools.product(itertools.combinations(range(size), count), repeat=2))

    def grown(self, flat: str, size: int, minors: str, known: list[tuple[tuple[int, ...], ...]], count: int) -> str:
        """Each minor along its first row, from those of its other rows."""
        wanted, total = self.choices(size, count), ""
        for i in range(count):
            cells = np.array([rows[0] * size + columns[i] for rows, columns in wanted])
            rests = np.array([known.index((rows[1:], columns[:i] + columns[i + 1:])) for rows, columns in wanted])
            term = self.emit("Mul", [self.gather(flat, 1, cells), self.gather(minors, 1, rests)])
            total = self.emit("Sub" if i % 2 else "Add", [total, term]) if total else term
        return total
