"""Tensors that an operator reads along different axes, in the importer's program.

The sum of each row plus that of each column, as in the distances of all pairs of points, reads the
sums twice. The compiler computes sums together with what reads them, some rows at a time, and
takes those of other rows from memory to which nothing was written. So what is read along
different axes is computed before, except in the bodies of loops and branches, in which the
importer takes operations of its own alone.
"""

from __future__ import annotations

import re
from typing import Iterator

from ..networks import elementwise
from . import states

# The operators with one result, at the level of the function itself.
_OPERATOR = re.compile(
    r'^ {4}(?P<result>%[\w.]+) = torch\.operator "onnx\.(?P<kind>[\w.]+)"\((?P<inputs>[^)]*)\) '
    r"(?:\{(?P<attributes>[^}]*)\} )?: \((?P<types>.*)\) -> "
    r"!torch\.vtensor<\[(?P<shape>[\d,?]*)\],(?P<element>\w+)> *$")
_SHAPE = re.compile(r"!torch\.vtensor<\[([\d,?]*)\],\w+>")
_NAME = re.compile(r"%[\w.#]+")
_PERMUTATION = re.compile(r"torch\.onnx\.perm = \[([^\]]*)\]")
# Their results are no more than a way to read the input.
_VIEWS = frozenset({"Reshape", "Unsqueeze", "Squeeze", "Flatten", "Expand", "Transpose"})
_ELEMENTWISE = elementwise.UNARY | elementwise.JOINING | {
    "Acos", "Acosh", "Asin", "Asinh", "Atanh", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "CastLike",
    "Cosh", "DequantizeLinear", "Dropout", "IsInf", "IsNaN", "QuantizeLinear", "Shrink", "Sinh", "Tan", "Xor"}

# The axis of the tensor that each axis of an array is, or None. Axes of size 1 are none.
_Order = tuple
_Orders = dict[str, set[_Order]]  # In which a tensor is read, by the names of the tensors.


def keep_apart(mlir: str) -> str:
    """The program, with such tensors in buffers of their own."""
    lines = mlir.split("\n")
    operators = [_OPERATOR.match(line) for line in lines]
    crossed = _crossed([operator for operator in operators if operator is not None])
    if not crossed:
        return mlir
    changed: list[str] = []
    for line, operator in zip(lines, operators):
        line = _NAME.sub(lambda name: f"%takt.apart{name[0][1:]}" if name[0] in crossed else name[0], line)
        if operator is None or operator["result"] not in crossed:
            changed.append(line)
            continue
        name = operator["result"]
        changed.append(f"    {name}{line[line.index(' = '):]}")
        changed += (f"    {each}" for each in states.apart(
            name, operator["shape"], operator["element"], f"%takt.crossed{name[1:]}", f"%takt.apart{name[1:]}"))
    return "\n".join(changed)


def _crossed(operators: list[re.Match]) -> set[str]:
    """The names of tensors that an operator reads in two orders."""
    found: dict[str, _Orders] = {}  # What the compiler may compute together with each tensor.
    crossed = set()
    for operator in operators:
        kind, inputs, result = operator["kind"], operator["inputs"].split(", "), operator["result"]
        orders: _Orders = {}
        if kind in _VIEWS:
            axes = list(_axes_of_view(operator))
            orders = {name: {_cut(_through(order, axes)) for order in each}
                      for name, each in found.get(inputs[0], {}).items()}
        elif kind in _ELEMENTWISE:
            for name, each in (item for operand in inputs for item in found.get(operand, {}).items()):
                orders.setdefault(name, set()).update(each)
            crossed |= {name for name, each in orders.items() if len(each) > 1}
        elif not kind.removeprefix("takt.").startswith("Takt") and kind != "Constant":
            shape = _sizes(operator["shape"])
            orders = {result: {_cut(tuple(None if size == "1" else axis for axis, size in enumerate(shape)))}}
        found[result] = orders
    return crossed


def _axes_of_view(operator: re.Match) -> Iterator[int | str | None]:
    """For each axis of the result which one of the input it is, from the last one on: -1 and so on; None for one of
    size 1, and a name for one that is none of them."""
    before, after = _sizes(_SHAPE.search(operator["types"])[1]), _sizes(operator["shape"])
    if operator["kind"] == "Transpose":
        stated = _PERMUTATION.search(operator["attributes"] or "")
        order = [int(each.partition(":")[0]) for each in stated[1].split(",")] if stated else range(len(before))[::-1]
        yield from (axis - len(before) for axis in order)
    elif operator["kind"] == "Expand":
        yield from range(-len(after), 0)
    else:
        kept = [axis - len(before) for axis, size in enumerate(before) if size != "1"]
        is_same = ([before[axis] for axis in kept] == [size for size in after if size != "1"]
                   and (before.count("?") < 2 or operator["kind"] in ("Unsqueeze", "Squeeze")))
        for axis, size in enumerate(after):
            yield None if size == "1" else kept.pop(0) if is_same else f"{operator['result']}.{axis}"


def _through(order: _Order, axes: list[int | str | None]) -> _Order:
    """The order behind a view with these axes."""
    return tuple(axis if not isinstance(axis, int) else order[axis] if -axis <= len(order) else None for axis in axes)


def _cut(order: _Order) -> _Order:
    """The order without the None in front: operands are as long as the longest."""
    first = next((i for i, axis in enumerate(order) if axis is not None), len(order))
    return order[first:]


def _sizes(shape: str) -> list[str]:
    return shape.split(",") if shape else []
