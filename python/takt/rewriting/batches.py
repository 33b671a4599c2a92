"""Products of a batch of constant matrices as one product for each of them: for rewriter.py.

Ensembles of networks have them, with the same operations between the products. The
members stay apart up to where something needs them together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..networks import elementwise, graphs

_MEMBERS_MAX = 16
_BY_ROW = elementwise.UNARY | elementwise.JOINING | {"Softmax", "LayerNormalization"}


def split(model: Any) -> Any:
    """An equivalent onnx.ModelProto; `model` itself if nothing is to be done."""
    if all(node.op_type != "MatMul" for node in model.graph.node):
        return model
    return _Splitter(model).run()


class _Splitter(graphs.Graph):
    def __init__(self, model: Any) -> None:
        super().__init__(model)
        # Tensors [members][rows][columns] that are apart, as [rows][columns] each.
        self.members: dict[str, list[str]] = {}
        self.made: set[str] = set()
        self.out: list[Any] = []

    def run(self) -> Any:
        for node in self.graph.node:
            if node.domain in ("", "ai.onnx") and (self.product(node) or self.elementwise(node)):
                continue
            for name in graphs.reads(node):
                self.join(name)
            self.out.append(node)
        if not self.members:
            return self.model
        for value in self.graph.output:
            self.join(value.name)
        return self.written(self.out)

    def product(self, node: Any) -> bool:
        if node.op_type != "MatMul":
            return False
        left, weights = node.input[0], self.constants.get(node.input[1])
        shape = self.shapes.get(left)
        if (weights is None or weights.ndim != 3 or weights.dtype != np.float32 or shape is None
                or not 1 < len(weights) <= _MEMBERS_MAX or len(shape) not in (2, 3)):
            return False
        lefts = self.apart(left, len(weights))
        if lefts is None:
            return False
        self.members[node.output[0]] = [
            self.emit("MatMul", [each, self.value(matrix)]) for each, matrix in zip(lefts, weights)]
        return True

    def apart(self, name: str, count: int) -> list[str] | None:
        """The members of `name`, or the same matrix for all of them."""
        if name in self.members:
            return self.members[name]
        shape = self.shapes[name]
        maker = self.makers.get(name)
        if maker is not None and maker.op_type == "Expand" and self.shapes.get(maker.input[0]) == (1, *shape[1:]):
            name, shape = maker.input[0], (1, *shape[1:])
        if len(shape) == 2:
            return [name] * count
        if shape[0] == 1:
            matrix = self.emit("Reshape", [name, self.value(np.array(shape[1:], np.int64))])
            return [matrix] * count
        if shape[0] != count:
            return None
        return [self.emit("Gather", [name, self.value(np.int64(i))], axis=0) for i in range(count)]

    def elementwise(self, node: Any) -> bool:
        """An operation on members alone, or with constants that are the same for
        each row."""
        found = next((name for name in node.input if name in self.members), None)
        if found is None or len(node.output) != 1 or node.op_type not in _BY_ROW:
            return False
        attributes = self.attributes(node)
        if attributes.get("axis", -1) not in (-1, 2):
            return False
        if "axis" in attributes:
            attributes["axis"] = -1
        count = len(self.members[found])
        inputs = [self.operands(name, count) if name else [""] * count for name in node.input]
        if any(each is None or len(each) != count for each in inputs):
            return False
        if self.shapes.get(node.output[0]) != self.shapes.get(found):
            return False
        self.members[node.output[0]] = [self.emit(node.op_type, list(each), **attributes) for each in zip(*inputs)]
        self.shapes[node.output[0]] = self.shapes[found]
        return True

    def operands(self, name: str, count: int) -> list[str] | None:
        if name in self.members:
            return self.members[name]
        value = self.constants.get(name)
        if value is None:
            return None
        if value.ndim < 3:
            return [name] * count
        if value.ndim > 3 or len(value) not in (1, count):
            return None
        # A row that all rows of a member share has no dimension for them.
        parts = [part[0] if part.shape[0] == 1 else part for part in value]
        names = [self.value(part) for part in parts]
        return names * count if len(value) == 1 else names

    def join(self, name: str) -> None:
        """Makes the tensor itself, where it is needed."""
        if name not in self.members or name in self.made:
            return
        axis = self.value(np.array([0], np.int64))
        parts = [self.emit("Unsqueeze", [each, axis]) for each in self.members[name]]
        self.out.append(self.onnx.helper.make_node("Concat", parts, [name], name=name, axis=0))
        self.made.add(name)

    def emit(self, kind: str, inputs: list[str], **attributes: Any) -> str:
        name = self.names.fresh("member")
        self.out.append(self.onnx.helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def value(self, value: np.ndarray) -> str:
        return self.initializer(self.names.fresh("member"), value)
