"""Einsum, as products of matrices: a part of `porter`.

The importer of the compiler adds up a label that two operands have, even if a third one has it as well.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Iterable, Sequence

import numpy as np


@dataclasses.dataclass
class _Operand:
    name: str
    labels: list[str]


class EinsumPorter:
    """The part of the porter that knows it."""

    def on_einsum(self, node: Any) -> bool:
        names = list(node.input)
        if not all(self.is_static(name) and name in self.types for name in names):
            return self.in_pairs(node)
        shapes = [self.shapes[name] for name in names]
        equation = self.attributes(node)["equation"].decode()
        terms, result = _labels_of(equation, [len(shape) for shape in shapes])
        if any(len(set(labels)) < len(labels) for labels in terms) or 0 in sum(shapes, []):
            return False
        sizes: dict[str, int] = {}
        for labels, shape in zip(terms, shapes):
            for label, size in zip(labels, shape):
                sizes[label] = max(size, sizes.get(label, 1))
        sums = _Sums(self, sizes, result, self.types[names[0]])
        operands = [sums.without_ones(_Operand(name, labels), shape) for name, labels, shape in
                    zip(names, terms, shapes)]
        while len(operands) > 1:
            sums.multiply_two(operands)
        found = sums.summed(operands[0], result)
        self.emit("Identity", [sums.in_order(found, result)], node.output[0])
        return True


    def in_pairs(self, node: Any) -> bool:
        """Where sizes are open: sums of two operands each, which the importer has right."""
        left, _, result = self.attributes(node)["equation"].decode().replace(" ", "").partition("->")
        terms, names = left.split(","), list(node.input)
        if len(terms) < 3 or not result or "." in left or any(len(set(term)) < len(term) for term in terms):
            return False
        while len(terms) > 1:
            needed = "".join([*terms[2:], result])
            kept = "".join(label for label in dict.fromkeys(terms[0] + terms[1]) if label in needed)
            last = len(terms) == 2
            equation = f"{terms[0]},{terms[1]}->{result if last else kept}"
            names[:2] = [self.emit("Einsum", names[:2], node.output[0] if last else None, equation=equation)]
            terms[:2] = [kept]
        return True


class _Sums:
    """One node of it.

    sizes    by label.
    result   the labels of the result.
    """

    def __init__(self, porter: Any, sizes: dict[str, int], result: Sequence[str], dtype: int) -> None:
        self.porter = porter
        self.sizes = sizes
        self.result = result
        floats = porter.onnx.TensorProto
        self.is_float = dtype in (floats.FLOAT, floats.FLOAT16, floats.DOUBLE)

    def without_ones(self, operand: _Operand, shape: Sequence[int]) -> _Operand:
        """A dimension of one that is repeated for the others is none."""
        kept = [label for label, size in zip(operand.labels, shape) if size == self.sizes[label]]
        name = operand.name
        return _Operand(name if kept == operand.labels else self.reshaped(name, map(self.sizes.get, kept)), kept)

    def multiply_two(self, operands: list[_Operand]) -> None:
        """Replaces the two operands with the smallest product by it."""
        def others(i: int, j: int) -> set[str]:
            rest = [each.labels for k, each in enumerate(operands) if k not in (i, j)]
            return set(self.result).union(*rest)

        def size(pair: tuple[int, int]) -> int:
            labels = {*operands[pair[0]].labels, *operands[pair[1]].labels}
            return math.prod(self.sizes[label] for label in labels & others(*pair))

        pairs = [(i, j) for j in range(len(operands)) for i in range(j)]
        i, j = min(pairs, key=size)
        needed = others(i, j)
        second, first = operands.pop(j), operands[i]
        # What only one of them has is added up before.
        first, second = (self.summed(each, needed | set(other.labels)) for each, other in
                         ((first, second), (second, first)))
        summed = [label for label in first.labels if label in second.labels and label not in needed]
        if summed and self.is_float:
            operands[i] = self.matrix_product(first, second, summed)
        else:
            operands[i] = self.summed(self.product(first, second), needed)

    def product(self, first: _Operand, second: _Operand) -> _Operand:
        """Element by element."""
        labels = self.sorted({*first.labels, *second.labels})
        factors = []
        for each in (first, second):
            name = self.in_order(each, [label for label in labels if label in each.labels])
            factors.append(self.reshaped(name, (self.sizes[label] if label in each.labels else 1 for label in labels)))
        found = self.porter.emit("Mul", factors)
        self.porter.shapes[found] = list(map(self.sizes.get, labels))
        return _Operand(found, labels)

    def matrix_product(self, left: _Operand, right: _Operand, summed: list[str]) -> _Operand:
        """Over `summed`, which both have."""
        batch = self.sorted(label for label in left.labels if label in right.labels and label not in summed)
        own = {id(each): self.sorted(set(each.labels) - {*batch, *summed}) for each in (left, right)}
        constants = [each.name in self.porter.constants for each in (left, right)]
        # A matrix of weights is on the right, else what has the last label of the result.
        if constants[0] != constants[1]:
            is_swapped = constants[0]
        else:
            is_swapped = bool(self.result) and self.result[-1] in own[id(left)]
        if is_swapped:
            left, right = right, left
        rows, columns = own[id(left)], own[id(right)]
        depth = self.size(summed)
        sizes = list(map(self.sizes.get, batch))
        # Without a batch the rows may have any number of dimensions.
        row_sizes = [self.size(rows)] if batch or not rows else list(map(self.sizes.get, rows))
        a = self.reshaped(self.in_order(left, [*batch, *rows, *summed]), [*sizes, *row_sizes, depth])
        b = self.reshaped(self.in_order(right, [*batch, *summed, *columns]), [*sizes, depth, self.size(columns)])
        product = self.porter.emit("MatMul", [a, b])
        self.porter.shapes[product] = [*sizes, *row_sizes, self.size(columns)]
        labels = [*batch, *rows, *columns]
        return _Operand(self.reshaped(product, map(self.sizes.get, labels)), labels)

    def summed(self, operand: _Operand, kept: Iterable[str]) -> _Operand:
        """Over all labels but `kept`."""
        labels = [label for label in operand.labels if label in kept]
        axes = [i for i, label in enumerate(operand.labels) if label not in kept]
        if not axes:
            return operand
        found = self.porter.emit("ReduceSum", [operand.name, self.porter.constant(axes)], keepdims=0)
        self.porter.shapes[found] = list(map(self.sizes.get, labels))
        return _Operand(found, labels)

    def in_order(self, operand: _Operand, labels: Sequence[str]) -> str:
        """With these labels, which are those of the operand."""
        order = [operand.labels.index(label) for label in labels]
        if order == list(range(len(order))):
            return operand.name
        known = self.porter.constants.get(operand.name)
        if known is not None:
            return self.porter.constant(known.transpose(order))
        found = self.porter.emit("Transpose", [operand.name], perm=order)
        self.porter.shapes[found] = list(map(self.sizes.get, labels))
        return found

    def reshaped(self, name: str, shape: Iterable[int]) -> str:
        wanted = list(shape)
        if self.porter.shapes.get(name) == wanted:
            return name
        known = self.porter.constants.get(name)
        if known is not None:
            return self.porter.constant(known.reshape(wanted))
        found = self.porter.emit("Reshape", [name, self.porter.constant(np.array(wanted, np.int64))])
        self.porter.shapes[found] = wanted
        return found

    def sorted(self, labels: Iterable[str]) -> list[str]:
        """As the result has them, what it does not have first."""
        places = {label: i for i, label in enumerate(self.result)}
        return sorted(labels, key=lambda label: (places.get(label, -1), label))

    def size(self, labels: Iterable[str]) -> int:
        return math.prod(self.sizes[label] for label in labels)


def _labels_of(equation: str, ranks: Sequence[int]) -> tuple[list[list[str]], list[str]]:
    """The labels of each operand and of the result. Those of an ellipsis say the place from its end."""
    sources, arrow, target = equation.replace(" ", "").partition("->")
    terms = [_with_ellipsis(term, rank) for term, rank in zip(sources.split(","), ranks)]
    hidden = sorted({label for term in terms for label in term if len(label) > 1})
    if arrow:
        before, dots, behind = target.partition("...")
        return terms, [*before, *(hidden if dots else []), *behind]
    every = [label for term in terms for label in term]
    return terms, [*hidden, *sorted(label for label in set(every) if len(label) == 1 and every.count(label) == 1)]


def _with_ellipsis(term: str, rank: int) -> list[str]:
    before, dots, behind = term.partition("...")
    count = rank - len(before) - len(behind)
    return [*before, *(f".{99 - i:02}" for i in range(count, 0, -1)), *behind] if dots else list(term)
