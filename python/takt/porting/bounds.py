"""Indices that a call brings with it stay within their tensors: the compiler's code reads and
writes wherever they point."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..networks import graphs, inference

_INDEXED = {"Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND"}


def bound(model: Any) -> Any:
    """An equivalent onnx.ModelProto. An index beyond a tensor, which ONNX does not allow, is the
    nearest one that is none. Integers are divided by 1 where a division has no result."""
    kinds = {node.op_type for node in model.graph.node}
    return _Bounder(model).run() if kinds & {*_INDEXED, "Div", "Mod"} else model


class _Bounder(graphs.Graph):
    def run(self) -> Any:
        self.out: list[Any] = []
        self.is_changed = False
        for node in self.graph.node:
            if node.domain in ("", "ai.onnx"):
                node = self.bounded(node)
            self.out.append(node)
        return self.written(self.out) if self.is_changed else self.model

    @functools.cached_property
    def types(self) -> dict[str, np.dtype]:
        graph = inference.inferred_graph(self.model)
        return {value.name: self.onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
                for value in [*graph.input, *graph.value_info, *graph.output] if value.type.tensor_type.elem_type}

    def bounded(self, node: Any) -> Any:
        if node.op_type not in (*_INDEXED, "Div", "Mod") or len(node.input) < 2 or node.input[1] in self.constants:
            return node
        kind = self.types.get(node.input[1])
        if kind is None or kind.kind not in "iu":
            return node
        if node.op_type in ("Div", "Mod"):
            return self.with_input(node, self.divisor(*node.input, kind))
        shape, places = self.shapes.get(node.input[0]), self.shapes.get(node.input[1])
        if not shape or not places or not all(shape):
            return node
        sizes = self.sizes(node, shape, places)
        lows, highs = (self.constant(np.array(each, kind)) for each in (-sizes, sizes - 1))
        return self.with_input(node, self.emit("Min", [self.emit("Max", [node.input[1], lows]), highs]))

    def divisor(self, number: str, divisor: str, kind: np.dtype) -> str:
        """1 where a processor would trap: for 0, and for -1 under the least number."""
        is_bad = self.emit("Equal", [divisor, self.constant(np.array(0, kind))])
        if kind.kind == "i":
            both = [self.emit("Equal", [name, self.constant(np.array(value, kind))])
                    for name, value in ((divisor, -1), (number, np.iinfo(kind).min))]
            is_bad = self.emit("Or", [is_bad, self.emit("And", both)])
        return self.emit("Where", [is_bad, self.constant(np.array(1, kind)), divisor])

    def sizes(self, node: Any, shape: tuple[int, ...], places: tuple[int, ...]) -> np.ndarray:
        """How many places there are for each index; a number, or one for each column."""
        own = self.attributes(node)
        if node.op_type.endswith("ND"):
            first = own.get("batch_dims", 0)
            return np.array(shape[first:first + places[-1]])
        return np.array(shape[own.get("axis", 0)])

    def with_input(self, node: Any, name: str) -> Any:
        self.is_changed = True
        changed = type(node)()
        changed.CopyFrom(node)
        changed.input[1] = name
        return changed

    def constant(self, value: np.ndarray) -> str:
        return self.initializer(self.names.fresh("bound"), value)

    def emit(self, kind: str, inputs: list[str]) -> str:
        name = self.names.fresh("bounded")
        self.out.append(self.onnx.helper.make_node(kind, inputs, [name], name=name))
        return name
