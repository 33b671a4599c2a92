"""Quantizations that are left to the compiler, in terms of what it computes quickly: for rewriter.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..networks import elementwise, graphs, nearest

_TYPES = (np.int8, np.uint8, np.int16, np.uint16)


def spell_out(model: Any) -> Any:
    """An equivalent onnx.ModelProto of opset 13 or later; `model` itself if nothing is to be done."""
    if not any(node.op_type == "QuantizeLinear" for node in model.graph.node):
        return model
    return _Speller(model).run_with_types()


class _Speller(graphs.Changer):
    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.consumers = graphs.consumers_of(self.graph.node)
        self.steps: dict[str, str] = {}  # Of bytes: the steps from the zero point, as floats.

    def changed(self, node: Any) -> Any:
        if node.op_type == "DequantizeLinear" and node.input[0] in self.steps:
            scale = self.constants[node.input[1]].reshape(())
            return self.onnx.helper.make_node("Mul", [self.steps[node.input[0]], self.constant(scale)], node.output)
        numbers = self.numbers(node) if node.op_type == "QuantizeLinear" else None
        if numbers is None:
            return node
        scale, zero = numbers
        limits = np.iinfo(zero.dtype)
        exact = self.emit("Div", [node.input[0], self.constant(scale)])
        steps = nearest.emit_nearest(self, exact, limits.min - int(zero), limits.max - int(zero))
        if self.stays_in_floats(node, numbers):
            self.steps[node.output[0]] = steps
        bytes_ = self.emit("Add", [steps, self.constant(zero.astype(np.float32))]) if zero else steps
        kind = self.onnx.helper.np_dtype_to_tensor_dtype(zero.dtype)
        return self.onnx.helper.make_node("Cast", [bytes_], node.output, to=kind)

    def numbers(self, node: Any) -> tuple[np.ndarray, np.ndarray] | None:
        """The scale and the zero point of a node, if they are constants for all elements."""
        found = graphs.one_scale(node, self.constants)
        if found is None:
            return None
        scale, zero = found
        if scale.dtype != np.float32 or not np.isfinite(scale) or not scale > 0 or zero.dtype not in _TYPES:
            return None
        return scale, zero

    def stays_in_floats(self, node: Any, numbers: tuple[np.ndarray, np.ndarray]) -> bool:
        """Whether bytes become floats again for what is computed element by element, so that the compiler makes one
        loop of all."""
        name = node.output[0]
        if name in self.results or name not in self.consumers:
            return False
        return all(
            user.op_type == "DequantizeLinear" and self.numbers(user) == numbers and user.output[0] not in self.results
            and all(each.op_type in elementwise.UNARY | elementwise.JOINING | {"QuantizeLinear"}
                    for each in self.consumers.get(user.output[0], []))
            for user in self.consumers[name])
