"""Determinants of matrices of known sizes: a part of `porter`.

The compiler divides by the first element of each row, which may be zero.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ..errors import CompileError

_MINORS_MAX = 3  # Larger matrices are eliminated, which takes fewer operators.
_SIZE_MAX = 32


class DeterminantPorter:
    """The part of the porter that knows them."""

    def determinant_handlers(self) -> dict[tuple[str, str], Callable[[Any], bool]]:
        return {("", "Det"): self.on_det}

    def on_det(self, node: Any) -> bool:
        source = node.input[0]
        if not self.is_real(source):
            return False
        *batch, rows, columns = self.shapes[source]
        size = columns if rows is None else rows
        if size is None or size > _SIZE_MAX:
            raise CompileError(f"Det {node.name or node.output[0]!r}: the size of its matrices must be known, and at "
                               f"most {_SIZE_MAX}")
        if not size:
            return False
        if None in (rows, columns):
            source = self.emit("Reshape", [source, self.constant([*(0 for _ in batch), size, size])])
        if size > _MINORS_MAX:
            found = self.eliminated(source, size, self.number(0, node.input[0]), self.number(1, node.input[0]))
        else:
            found = self.determinant([[self.slice(self.slice(source, -2, i, i + 1), -1, k, k + 1)
                                       for k in range(size)] for i in range(size)])
        self.emit("Squeeze", [found, self.constant([-2, -1])], node.output[0])
        return True

    def determinant(self, cells: list[list[str]]) -> str:
        """The determinant as a sum over the minors of the first row."""
        if len(cells) == 1:
            return cells[0][0]
        total = ""
        for k, cell in enumerate(cells[0]):
            minor = self.determinant([[*row[:k], *row[k + 1:]] for row in cells[1:]])
            product = self.emit("Mul", [cell, minor])
            total = self.emit("Sub" if k % 2 else "Add", [total, product]) if total else product
        return total

    def eliminated(self, rest: str, size: int, zero: str, one: str) -> str:
        """Gauss's elimination [..., 1, 1]: the first row changes places with that of the greatest element."""
        total = ""
        for left in range(size, 1, -1):
            column = self.emit("Abs", [self.slice(rest, -1, 0, 1)])
            place = self.emit("ArgMax", [column], axis=-2)
            is_pivot = self.emit("Equal", [place, self.constant(np.arange(left)[:, None])])
            row = self.emit("ReduceSum", [self.emit("Where", [is_pivot, rest, zero]), self.constant([-2])])
            others = self.slice(self.emit("Where", [is_pivot, self.slice(rest, -2, 0, 1), rest]), -2, 1, left)
            pivot = self.slice(row, -1, 0, 1)
            is_first = self.emit("Equal", [place, self.constant(np.array(0))])
            factor = self.emit("Where", [is_first, pivot, self.emit("Neg", [pivot])])
            total = self.emit("Mul", [total, factor]) if total else factor
            divisor = self.emit("Where", [self.emit("Equal", [pivot, zero]), one, pivot])
            shares = self.emit("Div", [self.slice(others, -1, 0, 1), divisor])
            rest = self.emit("Sub", [self.slice(others, -1, 1, left),
                                     self.emit("Mul", [shares, self.slice(row, -1, 1, left)])])
        return self.emit("Mul", [total, rest])
