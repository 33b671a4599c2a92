"""Networks that are quantized to 16 bits without a sign, which the compiler's importer does not know."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..networks import graphs, nearest

_QUANTIZERS = {"QuantizeLinear", "DequantizeLinear"}
_DOMAINS = ("", "ai.onnx", "com.microsoft")
_MOST = 65535


def in_floats(model: Any) -> Any:
    """An equivalent onnx.ModelProto that has such numbers as floats, which are rounded where they were
    quantized. If the network does more with them than to move them, they stay what they are, and what
    quantizes them computes with floats. `model` itself if it has none."""
    if not any(node.op_type in _QUANTIZERS for node in model.graph.node):
        return model
    same = type(model)()
    same.CopyFrom(model)
    for node in same.graph.node:
        if node.op_type in _QUANTIZERS and node.domain in _DOMAINS:
            node.domain = ""
    found = _Words(same).run()
    return model if found is same else found


class _Words(graphs.Changer):
    @functools.cached_property
    def are_floats(self) -> bool:
        words = {name for name, kind in self.types.items() if kind == np.uint16}
        ends = {value.name for value in [*self.graph.input, *self.graph.output]} - self.constants.keys()
        return bool(words) and not words & ends and all(
            self.is_known(node, words) for node in self.graph.node
            if node.op_type != "Constant" and words.intersection([*graphs.inputs(node), *node.output]))

    def is_known(self, node: Any, words: set[str]) -> bool:
        """Whether the node can be written with floats in the place of these words."""
        if node.domain != "" or node.op_type not in _QUANTIZERS:
            constants = words & self.constants.keys()
            return node.domain == "" and node.op_type in graphs.MOVES and constants.isdisjoint(node.input)
        values = [self.constants.get(name) for name in node.input[1:]]
        return (not self.attributes(node).get("block_size", 0) and all(value is not None for value in values)
                and (node.input[0] in self.open_shapes or all(value.size == 1 for value in values)))

    def changed(self, node: Any) -> Any:
        if node.op_type not in _QUANTIZERS:
            return node
        source, result = node.input[0], node.output[0]
        is_made = node.op_type == "QuantizeLinear"
        if self.types.get(result if is_made else source) != np.uint16 or not self.is_known(node, set()):
            return node
        scale = self.parameter(node, self.constants[node.input[1]])
        zero = self.parameter(node, self.constants[node.input[2]] if len(node.input) > 2 else np.uint16(0))
        if is_made:
            steps = self.emit("Add", [nearest.emit_nearest(self, self.emit("Div", [source, scale])), zero])
            ends = [self.constant(np.array(end, np.float32)) for end in (0, _MOST)]
            if self.are_floats:
                return self.onnx.helper.make_node("Clip", [steps, *ends], [result])
            limited = self.emit("Clip", [steps, *ends])
            return self.onnx.helper.make_node("Cast", [limited], [result], to=self.onnx.TensorProto.UINT16)
        if source in self.constants:
            source = self.constant(self.constants[source].astype(np.float32))
        elif not self.are_floats:
            source = self.emit("Cast", [source], to=self.onnx.TensorProto.FLOAT)
        return self.onnx.helper.make_node("Mul", [self.emit("Sub", [source, zero]), scale], [result])

    def parameter(self, node: Any, value: np.ndarray) -> str:
        """A scale or a zero point as floats, which stretch along the axis that they are for."""
        value = np.asarray(value).astype(np.float32)
        if value.size == 1:
            return self.constant(value.reshape(()))
        rank = len(self.open_shapes[node.input[0]])
        if value.ndim == 1 and rank > 0:
            axis = self.attributes(node).get("axis", 1) % rank
            value = value.reshape([-1 if i == axis else 1 for i in range(rank)])
        return self.constant(value)
