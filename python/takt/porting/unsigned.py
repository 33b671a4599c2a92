"""Unsigned integers, of which the compiler's importer computes some results as if they had a sign."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import CompileError
from ..networks import graphs

_KINDS = {"Abs", "Cast", "CastLike", "Clip", "Div", "MaxPool", "Mod", "Pow", "Sign", "TopK"}


def respect(model: Any) -> Any:
    """A model (onnx.ModelProto) of which the importer makes the right program. CompileError for what
    no wider type with a sign can compute."""
    if not any(node.op_type in _KINDS for node in model.graph.node):
        return model
    return _Respecter(model).run_with_types()


class _Respecter(graphs.Changer):
    def changed(self, node: Any) -> Any:
        if node.op_type.startswith("Cast"):
            return self.cast(node)
        kind = self.types.get(node.input[0]) if node.op_type in _KINDS else None
        if kind is None or kind.kind != "u":
            return node
        if node.op_type == "Abs":
            return self.last("Identity", [node.input[0]], node)
        if node.op_type == "Sign":
            return self.last("Min", [node.input[0], self.constant(np.ones((), kind))], node)
        if node.op_type == "Clip":
            return self.clip(node)
        if node.op_type == "TopK":
            return self.top(node)
        if kind != np.uint64 and node.op_type != "Pow":  # `bounds` has widened divisions.
            return self.widened(node, kind) if node.op_type == "MaxPool" else node
        raise CompileError(f"{node.op_type} {node.name or node.output[0]!r}: the compiler has none of {kind}")

    def cast(self, node: Any) -> Any:
        """A float becomes a byte with a sign first: 127 is the most."""
        source, target = (self.types.get(name) for name in (node.input[0], node.output[0]))
        if source is None or source.kind != "f" or target != np.uint8:
            return node
        wide = self.emit("Cast", [node.input[0]], to=self.onnx.TensorProto.INT32)
        return self.last("Cast", [wide], node, to=self.onnx.TensorProto.UINT8)

    def clip(self, node: Any) -> Any:
        source = node.input[0]
        least, most = (*node.input[1:], "", "")[:2]
        if least:
            source = self.emit("Max", [source, least])
        return self.last("Min", [source, most], node) if most else self.last("Identity", [source], node)

    def top(self, node: Any) -> Any:
        """The places by signed numbers, and the values from there."""
        values, places = (*node.output, "")[:2]
        wide = self.emit("Cast", [node.input[0]], to=self.onnx.TensorProto.INT64)
        found = self.with_inputs(node, {0: wide})
        found.output[:] = [self.names.fresh("takt_values"), places or self.names.fresh("takt_places")]
        if not values:
            return found
        self.out.append(found)
        axis = self.attributes(node).get("axis", -1)
        return self.onnx.helper.make_node("GatherElements", [node.input[0], found.output[1]], [values], axis=axis)

    def widened(self, node: Any, kind: np.dtype) -> Any:
        types = self.onnx.TensorProto
        wide = types.INT64 if kind == np.uint32 else types.INT32
        found = self.with_inputs(node, {0: self.emit("Cast", [node.input[0]], to=wide)})
        found.output[0] = self.names.fresh("takt_wide")
        self.out.append(found)
        return self.last("Cast", [found.output[0]], node, to=self.onnx.helper.np_dtype_to_tensor_dtype(kind))

    def last(self, kind: str, inputs: list[str], node: Any, **attributes: Any) -> Any:
        """A node that makes the first result of `node`."""
        self.is_changed = True
        return self.onnx.helper.make_node(kind, inputs, [node.output[0]], **attributes)
