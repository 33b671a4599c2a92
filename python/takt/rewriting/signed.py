"""Quantized networks of unsigned bytes as ones of signed bytes, for rewriter.py.

A byte and its zero point lose 128 each, so that all values stay what they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..networks import graphs, inference

_SHIFT = 128


def shift(model: Any) -> Any:
    """An equivalent onnx.ModelProto without unsigned bytes; `model` itself if it has
    none, or uses them for more than to quantize. Its types must be inferred."""
    import onnx

    unsigned = onnx.TensorProto.UINT8
    graph = model.graph
    names = {name for name, element in inference.elements_of(graph).items() if element == unsigned}
    names |= {tensor.name for tensor in graph.initializer if tensor.data_type == unsigned}
    if not names or names & {value.name for value in [*graph.input, *graph.output]}:
        return model
    for node in graph.node:
        is_known = (node.op_type in graphs.MOVES or node.op_type in ("QuantizeLinear", "DequantizeLinear")
                    or node.op_type == "Resize" and _is_nearest(node))
        if names & {*node.input, *node.output} and node.op_type != "Constant" and (
                not is_known or node.domain not in ("", "ai.onnx")
                or any(attribute.name == "output_dtype" for attribute in node.attribute)):
            return model
    result = onnx.ModelProto()
    result.CopyFrom(model)
    graph = result.graph
    scales = {}
    for tensor in graph.initializer:
        if tensor.name in names:
            tensor.CopyFrom(_shifted(onnx, tensor))
        scales[tensor.name] = tuple(tensor.dims)
    for node in graph.node:
        if node.op_type == "Constant" and node.output[0] in names:
            node.attribute[0].t.CopyFrom(_shifted(onnx, node.attribute[0].t))
    for node in graph.node:
        is_unsigned = (node.op_type == "QuantizeLinear" and node.output[0] in names
                       or node.op_type == "DequantizeLinear" and node.input[0] in names)
        if is_unsigned and (len(node.input) < 3 or not node.input[2]):
            # Without a zero point it is 0.
            zero = np.full(scales.get(node.input[1], ()), -_SHIFT, np.int8)
            name = f"takt_zero_{node.output[0]}"
            graph.initializer.append(onnx.numpy_helper.from_array(zero, name))
            node.input[:] = [*node.input[:2], name]
    for value in graph.value_info:
        if value.name in names:
            value.type.tensor_type.elem_type = onnx.TensorProto.INT8
    return result


def _is_nearest(node: Any) -> bool:
    """Whether a Resize moves elements, and makes none of several."""
    modes = {attribute.name: attribute.s for attribute in node.attribute}
    return (modes.get("mode", b"nearest") == b"nearest"
            and modes.get("coordinate_transformation_mode") != b"tf_crop_and_resize")


def _shifted(onnx: Any, tensor: Any) -> Any:
    array = onnx.numpy_helper.to_array(tensor).astype(np.int16) - _SHIFT
    return onnx.numpy_helper.from_array(array.astype(np.int8), tensor.name)
