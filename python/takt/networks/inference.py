"""The shapes of a network, inferred without a copy of its weights."""

from __future__ import annotations

import math
from typing import Any

# Shapes can depend on the values of constants of so many elements.
_ELEMENTS_MAX = 1024


def infer_shapes(model: Any) -> None:
    """Writes down all shapes that onnx infers in `model`, an onnx.ModelProto."""
    graph, inferred = model.graph, inferred_graph(model)
    for field in ("node", "output", "value_info"):
        del getattr(graph, field)[:]
        getattr(graph, field).extend(getattr(inferred, field))


def inferred_graph(model: Any) -> Any:
    """The graph with all shapes that onnx infers; large constants are inputs there.
    `model` is not changed."""
    import onnx

    graph = model.graph
    light = onnx.ModelProto(ir_version=model.ir_version, opset_import=model.opset_import, functions=model.functions)
    light.graph.CopyFrom(onnx.GraphProto(name=graph.name, node=graph.node, input=graph.input, output=graph.output,
                                         value_info=graph.value_info))
    inputs = {value.name for value in graph.input}
    for tensor in graph.initializer:
        if math.prod(tensor.dims) <= _ELEMENTS_MAX:
            light.graph.initializer.append(tensor)
        elif tensor.name not in inputs:
            light.graph.input.append(
                onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    return onnx.shape_inference.infer_shapes(light, data_prop=True).graph
