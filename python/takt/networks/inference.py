"""The shapes of a network, inferred without a copy of its weights."""

from __future__ import annotations

import math
from typing import Any

from . import elementwise

# The result has the sizes of the first input.
SAME_SIZES = elementwise.UNARY | {
    "BatchNormalization", "CumProd", "CumSum", "DequantizeLinear", "Dropout", "GroupNormalization", "Hardmax",
    "InstanceNormalization", "IsInf", "IsNaN", "LRN", "LayerNormalization", "LogSoftmax", "LpNormalization",
    "QuantizeLinear", "RMSNormalization", "ReverseSequence", "ScatterElements", "ScatterND", "Softmax", "Trilu",
}
# Shapes can depend on the values of constants of so many elements.
_ELEMENTS_MAX = 1024
_LIST_MAX = 1 << 16


def infer_shapes(model: Any) -> None:
    """Writes down all shapes that onnx infers in `model`, an onnx.ModelProto, and sizes that follow from those of
    results: a compiler refuses two tensors of the same sizes where one size is stated for one of them alone."""
    graph, inferred = model.graph, inferred_graph(model)
    for field in ("node", "output", "value_info"):
        del getattr(graph, field)[:]
        getattr(graph, field).extend(getattr(inferred, field))
    stated = {value.name: value.type.tensor_type.shape.dim for value in [*graph.value_info, *graph.output]
              if value.type.tensor_type.HasField("shape")}
    for node in reversed(graph.node):
        if node.op_type not in SAME_SIZES or not node.input or not node.output:
            continue
        own, result = (stated.get(name, ()) for name in (node.input[0], node.output[0]))
        if len(own) == len(result):
            for dim, after in zip(own, result):
                if after.HasField("dim_value") and not dim.HasField("dim_value"):
                    dim.dim_value = after.dim_value


def inferred_graph(model: Any, keeps_stated: bool = True) -> Any:
    """The graph with all shapes that onnx infers; large constants are inputs there.
    `model` is not changed.

    keeps_stated   whether the shapes that it states for results, and between, count as well."""
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
    if not keeps_stated:
        for value in [*light.graph.output, *light.graph.value_info]:
            value.type.tensor_type.ClearField("shape")
    return onnx.shape_inference.infer_shapes(light, data_prop=follows_values(light.graph)).graph


def drop_false_shapes(model: Any) -> None:
    """Removes stated shapes if some contradict the inputs: all between inputs and results, and those of the results
    that do. A tool that writes another batch into the inputs leaves such shapes behind."""
    graph = model.graph
    stated = {value.name: value for value in [*graph.value_info, *graph.output]
              if value.type.tensor_type.HasField("shape")}
    if not stated:
        return
    free = {dim.dim_param for value in graph.input for dim in value.type.tensor_type.shape.dim if dim.dim_param}
    try:
        inferred = inferred_graph(model, keeps_stated=False)
    except Exception:
        return  # Others say what is wrong with the network.
    false = {value.name for value in [*inferred.value_info, *inferred.output]
             if value.name in stated and _contradict(value, stated[value.name], free)}
    if not false:
        return
    kept = [value for value in graph.value_info if not value.type.HasField("tensor_type")]
    del graph.value_info[:]
    graph.value_info.extend(kept)
    for value in graph.output:
        if value.name in false:
            value.type.tensor_type.ClearField("shape")


def _contradict(inferred: Any, stated: Any, free: set[str]) -> bool:
    """free   names of sizes that differ from call to call."""
    if not inferred.type.tensor_type.HasField("shape"):
        return False
    pairs = [list(value.type.tensor_type.shape.dim) for value in (inferred, stated)]
    return len(pairs[0]) != len(pairs[1]) or any(
        wrong.HasField("dim_value") and (dim.dim_param in free or dim.HasField("dim_value"))
        and dim.dim_value != wrong.dim_value for dim, wrong in zip(*pairs))


def sizes_of(graph: Any) -> dict[str, list[int | None]]:
    """The sizes of each tensor whose rank the graph states, None for one that is open."""
    return {value.name: [dim.dim_value if dim.HasField("dim_value") else None for dim in
                         value.type.tensor_type.shape.dim]
            for value in [*graph.input, *graph.value_info, *graph.output]
            if value.type.tensor_type.HasField("shape")}


def shapes_of(graph: Any) -> dict[str, tuple[int, ...]]:
    """The shape of each tensor of which the graph states all sizes. A tensor may be empty."""
    return {name: tuple(size for size in sizes if size is not None)
            for name, sizes in sizes_of(graph).items() if None not in sizes}


def elements_of(graph: Any) -> dict[str, int]:
    """The type of each tensor's elements, as onnx.TensorProto numbers it; 0 where the graph does not state it."""
    return {value.name: value.type.tensor_type.elem_type for value in [*graph.input, *graph.value_info, *graph.output]}


def follows_values(graph: Any) -> bool:
    """Whether shapes may be inferred from lists of numbers as well, since all of these are short.
    With Range and Concat a small file can have lists of any length."""
    import onnx

    sizes = {value.name: math.prod(dim.dim_value for dim in value.type.tensor_type.shape.dim)
             for value in graph.input if len(value.type.tensor_type.shape.dim) == 1}
    sizes.update((tensor.name, math.prod(tensor.dims)) for tensor in graph.initializer if len(tensor.dims) <= 1)
    values = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer
              if math.prod(tensor.dims) == 1 and not tensor.external_data}
    for node in graph.node:
        # 0: it is no list.
        inputs = [sizes.get(name, 0) for name in node.input if name]
        size = sum(inputs) if node.op_type == "Concat" else max(inputs, default=0) if all(inputs) else 0
        if node.op_type == "Constant" and node.attribute and node.attribute[0].HasField("t"):
            dims = node.attribute[0].t.dims
            size = math.prod(dims) if len(dims) <= 1 else 0
            if size == 1:
                values[node.output[0]] = onnx.numpy_helper.to_array(node.attribute[0].t)
        if node.op_type == "Range":
            begin, end, step = (float(values[name].item()) if name in values else 0.0 for name in node.input)
            size = abs((end - begin) / step) if step else 0
        if node.op_type in ("Concat", "Range") and size > _LIST_MAX:
            return False
        sizes.update((name, size) for name in node.output)
    return True
