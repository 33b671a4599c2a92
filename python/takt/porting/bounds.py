"""Indices that a call brings with it stay within their tensors: the compiler's code reads and
writes wherever they point."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..networks import graphs

_DIVISIONS = {"Div", "Mod"}
# What has the same numbers, with a sign.
_WIDER = {"uint8": "int32", "uint16": "int32", "uint32": "int64"}
_INDEXED = {"Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND"}


def bound(model: Any) -> Any:
    """A model (onnx.ModelProto) that gives the same where ONNX defines a result. An index beyond a
    tensor becomes the nearest one within it. Integers are divided by 1 where a division has no
    result."""
    kinds = {node.op_type for node in model.graph.node}
    return _Bounder(model).run_with_types() if kinds & {*_INDEXED, *_DIVISIONS} else model


class _Bounder(graphs.Changer):
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
        if sizes is None or not sizes.all():
            return node
        least = -sizes if kind.kind == "i" else 0 * sizes
        lows, highs = (self.constant(np.array(each, kind)) for each in (least, sizes - 1))
        return self.with_inputs(node, {1: self.emit("Min", [self.emit("Max", [name, lows]), highs])})

    def divided(self, node: Any, kind: np.dtype) -> Any:
        """The compiler divides unsigned numbers as if they had a sign: they become wider ones."""
        number, divisor = node.input
        is_bounded = divisor not in self.constants
        if kind.kind == "i":
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

    def divisor(self, number: str, divisor: str, kind: np.dtype) -> str:
        """The divisor, or 1 where a processor would trap: 0, and -1 if the number is the least one."""
        is_bad = self.emit("Equal", [divisor, self.constant(np.array(0, kind))])
        if kind.kind == "i":
            both = [self.emit("Equal", [name, self.constant(np.array(value, kind))])
                    for name, value in ((divisor, -1), (number, np.iinfo(kind).min))]
            is_bad = self.emit("Or", [is_bad, self.emit("And", both)])
        return self.emit("Where", [is_bad, self.constant(np.array(1, kind)), divisor])

    def sizes(self, node: Any) -> np.ndarray | None:
        """How many places there are for each index; a number, or one for each column. None: it is
        not known."""
        data, places = (self.open_shapes.get(name) for name in node.input[:2])
        own = self.attributes(node)
        if data is None:
            return None
        if not node.op_type.endswith("ND"):
            wanted = [data[own.get("axis", 0)]] if data else [None]
            return None if None in wanted else np.array(wanted[0])
        if not places or places[-1] is None:
            return None
        first = own.get("batch_dims", 0)
        wanted = data[first:first + places[-1]]
        return None if None in wanted else np.array(wanted)
