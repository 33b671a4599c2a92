"""What the graph of an ONNX network says, for passes that write another one."""

from __future__ import annotations

from typing import Any

import numpy as np


class Graph:
    """A graph with the shapes that onnx infers.

    constants  initializers and the values of Constant nodes.
    shapes     of the tensors whose dimensions are all known, constants included.
    makers     the node that makes each tensor.
    """

    def __init__(self, model: Any) -> None:
        import onnx

        self.onnx = onnx
        self.model = model
        self.graph = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
        self.constants: dict[str, np.ndarray] = {
            tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in self.graph.initializer}
        for node in self.graph.node:
            if node.op_type == "Constant" and node.attribute[0].name == "value":
                self.constants[node.output[0]] = onnx.numpy_helper.to_array(node.attribute[0].t)
        self.shapes: dict[str, tuple[int, ...]] = {name: array.shape for name, array in self.constants.items()}
        for value in [*self.graph.input, *self.graph.value_info, *self.graph.output]:
            dims = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
            if value.type.tensor_type.HasField("shape") and all(dims):
                self.shapes[value.name] = tuple(dims)
        self.makers: dict[str, Any] = {name: node for node in self.graph.node for name in node.output}
        self.results = {value.name for value in self.graph.output}
        self.new: list[Any] = []  # Initializers of the graph that is written.

    def attributes(self, node: Any) -> dict[str, Any]:
        return {each.name: self.onnx.helper.get_attribute_value(each) for each in node.attribute}

    def constant(self, name: str, value: np.ndarray) -> str:
        """A new initializer."""
        self.new.append(self.onnx.numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    def written(self, nodes: list[Any]) -> Any:
        """The model with these nodes, those left out that nothing needs."""
        used, kept = set(self.results), []
        for node in reversed(nodes):
            if any(name in used for name in node.output):
                kept.append(node)
                used.update(node.input)
        result = self.onnx.ModelProto()
        result.CopyFrom(self.model)
        del result.graph.node[:], result.graph.value_info[:]
        result.graph.node.extend(kept[::-1])
        result.graph.initializer.extend(self.new)
        return result
