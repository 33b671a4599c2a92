"""Limits and signs of NaN: the compiler's importer makes a number of them."""

from __future__ import annotations

from typing import Any

from ..networks import graphs

_KINDS = {"Clip", "Max", "Min", "Sign"}


def keep(model: Any) -> Any:
    """An equivalent onnx.ModelProto, whose limits and signs of no numbers are none either; `model` itself
    if it has none of floats."""
    if not any(node.op_type in _KINDS for node in model.graph.node):
        return model
    return _Keeper(model).run_with_types()


class _Keeper(graphs.Changer):
    def changed(self, node: Any) -> Any:
        if node.op_type not in _KINDS or node.domain not in ("", "ai.onnx"):
            return node
        given = node.input if node.op_type in ("Max", "Min") else node.input[:1]
        unsure = [name for name in given if self.may_be_none(name)]
        if not unsure:
            return node
        limited = self.with_inputs(node, {})
        limited.output[0] = self.names.fresh("takt_limited")
        self.out.append(limited)
        found = limited.output[0]
        for name in unsure[1:]:
            found = self.emit("Where", [self.emit("IsNaN", [name]), name, found])
        self.is_changed = True
        is_none = self.emit("IsNaN", [unsure[0]])
        return self.onnx.helper.make_node("Where", [is_none, unsure[0], found], [node.output[0]])

    def may_be_none(self, name: str) -> bool:
        kind, maker = self.types.get(name), self.makers.get(name)
        return (kind is not None and kind.kind == "f" and name not in self.constants
                and (maker is None or maker.op_type != "DequantizeLinear"))
