"""Indices that a call brings with it stay within their tensors: the compiler's code reads and
writes wherever they point."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..networks import counts, graphs, open_sizes

_DIVISIONS = {"Div", "Mod"}
# What has the same numbers, with a sign.
_WIDER = {"uint8": "int32", "uint16": "int32", "uint32": "int64"}
_INDEXED = {"Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND"}


def bound(model: Any, is_body: bool = False) -> Any:
    """A model (onnx.ModelProto) that gives the same where ONNX defines a result. An index beyond a
    tensor becomes the nearest one within it. Integers are divided by 1 where a division has no
    result.

    is_body  it is the body of a loop or a branch, whose indices into open sizes stay as they are: most count turns.
    """
    kinds = {node.op_type for node in model.graph.node}
    return _Bounder(model, is_body).run_with_types() if kinds & {*_INDEXED, *_DIVISIONS} else model


class _Bounder(graphs.Changer):
    def __init__(self, model: Any, is_body: bool) -> None:
        super().__init__(model)
        self.is_body = is_body
        self.leasts: dict[str, list[int | None]] | None = None  # Of numbers made of sizes; None: not looked for.

    def changed(self, node: Any) -> Any:
        if node.op_type not in (*_INDEXED, *_DIVISIONS) or len(node.input) < 2:
            return node
        name = node.input[1]
        kind = self.types.get(name)
        if kind is None or kind.kind not in "iu":
            return node
        if node.op_type in _DIVISIONS:
            return self.divided(node, kind)
        if name in self.constants:
            return node
        sizes = self.sizes(node)
        if sizes is None or 0 in sizes or None in sizes and self.is_body:
            return node
        if None in sizes:
            lows, highs = self.open_limits(node, kind, len(sizes))
        else:
            known = np.array(sizes) if node.op_type.endswith("ND") else np.array(sizes[0])
            least = -known if kind.kind == "i" else 0 * known
            lows, highs = (self.constant(np.array(each, kind)) for each in (least, known - 1))
        return self.with_inputs(node, {1: self.emit("Min", [self.emit("Max", [name, lows]), highs])})

    def open_limits(self, node: Any, kind: np.dtype, count: int) -> tuple[str, str]:
        """The least and the greatest indices into so many dimensions, some of open sizes."""
        first = self.first(node)
        sizes = self.emit("Shape", [node.input[0]], start=first, end=first + count)
        if not node.op_type.endswith("ND"):
            sizes = self.emit("Squeeze", [sizes, self.constant(np.array([0]))])
        sizes = self.emit("Cast", [sizes], to=self.onnx.helper.np_dtype_to_tensor_dtype(kind))
        least = self.emit("Neg", [sizes]) if kind.kind == "i" else self.constant(np.array(0, kind))
        return least, self.emit("Sub", [sizes, self.constant(np.array(1, kind))])

    def first(self, node: Any) -> int:
        """The first dimension that the indices count in."""
        own = self.attributes(node)
        if node.op_type.endswith("ND"):
            return own.get("batch_dims", 0)
        return own.get("axis", 0) % max(len(self.open_shapes[node.input[0]]), 1)

    def divided(self, node: Any, kind: np.dtype) -> Any:
        """The compiler divides unsigned numbers as if they had a sign: they become wider ones."""
        number, divisor = node.input
        is_bounded = divisor not in self.constants and not self.is_positive(divisor)
        if kind.kind == "i":
            if self.may_turn(number, divisor):
                return self.turned(node, kind)
            return self.with_inputs(node, {1: self.divisor(number, divisor, kind)}) if is_bounded else node
        wide = _WIDER.get(kind.name)
        if wide is None:
            return node
        element = self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(wide))
        number, divisor = (self.emit("Cast", [name], to=element) for name in (number, divisor))
        if is_bounded:
            divisor = self.divisor(number, divisor, np.dtype(wide))
        changed = self.with_inputs(node, {0: number, 1: divisor})
        result = changed.output[0]
        changed.output[0] = self.names.fresh("bounded")
        self.out.append(changed)
        return self.onnx.helper.make_node(
            "Cast", [changed.output[0]], [result], to=self.onnx.helper.np_dtype_to_tensor_dtype(kind))

    def least(self, name: str) -> list[int | None]:
        """What numbers that are made of sizes are not less than in each call; None: not known."""
        if self.leasts is None:
            self.leasts = open_sizes.least_numbers(self.inferred, self)
        return self.leasts.get(name, [None])

    def is_positive(self, name: str) -> bool:
        return all(least is not None and least > 0 for least in self.least(name))

    def may_turn(self, number: str, divisor: str) -> bool:
        """Whether a division of a few whole numbers may have a negative one. A size that a known number is taken from
        counts as larger than that."""
        sizes = self.open_shapes.get(number)
        if sizes is None or None in sizes or math.prod(sizes) > counts.COUNTS_MAX:
            return False
        known = self.constants.get(divisor)
        is_signed = known is not None and ((known > 0).all() or (known < 0).all()) or self.is_positive(divisor)
        return is_signed and (None in self.least(number) or known is not None and (known < 0).any())

    def turned(self, node: Any, kind: np.dtype) -> Any:
        """A division of whole numbers in terms of some that are not negative. Where the compiler makes sizes of them,
        it rounds quotients down, and rests have the sign of the other operand."""
        number, divisor = node.input
        zero = self.constant(np.array(0, kind))
        above, below = self.emit("Max", [number, zero]), self.emit("Max", [self.emit("Neg", [number]), zero])
        is_rest, is_same_sign = node.op_type == "Mod", not self.attributes(node).get("fmod", 0)
        known = self.constants.get(divisor)
        is_negative = known is not None and (known < 0).any()
        if is_negative:
            divisor = self.constant(-known)
        if is_negative and (not is_rest or is_same_sign):
            above, below = below, above
        parts = [self.emit(node.op_type, [each, divisor]) for each in (above, below)]
        if not is_rest or not is_same_sign:
            return self.onnx.helper.make_node("Sub", parts, node.output, name=node.name)
        rest = self.emit("Add", [self.emit("Sub", parts), divisor])
        if not is_negative:
            return self.with_inputs(node, {0: rest, 1: divisor})
        return self.onnx.helper.make_node("Neg", [self.emit("Mod", [rest, divisor])], node.output, name=node.name)

    def divisor(self, number: str, divisor: str, kind: np.dtype) -> str:
        """The divisor, or 1 where a processor would trap: 0, and -1 if the number is the least one."""
        is_bad = self.emit("Equal", [divisor, self.constant(np.array(0, kind))])
        if kind.kind == "i":
            both = [self.emit("Equal", [name, self.constant(np.array(value, kind))])
                    for name, value in ((divisor, -1), (number, np.iinfo(kind).min))]
            is_bad = self.emit("Or", [is_bad, self.emit("And", both)])
        return self.emit("Where", [is_bad, self.constant(np.array(1, kind)), divisor])

    def sizes(self, node: Any) -> list[int | None] | None:
        """How many places there are for the indices, or for each column of them; None: it is not known."""
        data, places = (self.open_shapes.get(name) for name in node.input[:2])
        if not data:
            return None
        first, count = self.first(node), 1
        if node.op_type.endswith("ND"):
            count = places[-1] if places else None
        return None if count is None else data[first:first + count]
