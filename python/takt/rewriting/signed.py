"""Quantized networks of unsigned bytes as ones of signed bytes, for rewriter.py.

A byte and its zero point lose 128 each, so that all values stay what they are. Bytes that
come from the caller, go to it, or are read by other operators than those of quantized
networks stay unsigned, with all that move between these places.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..networks import graphs, inference

_SHIFT = 128
_RESULTS = {"QuantizeLinear": 2, "DequantizeLinear": 1}  # The types UINT8 and FLOAT of onnx.TensorProto.


def shift(model: Any) -> Any:
    """An equivalent onnx.ModelProto with signed bytes where unsigned ones only quantize;
    `model` itself if it has no such bytes. Its types must be inferred."""
    import onnx

    names = _quantized(onnx, model.graph)
    if not names:
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
        if not is_unsigned:
            continue
        stated = [attribute for attribute in node.attribute if attribute.name != "output_dtype"]
        del node.attribute[:]
        node.attribute.extend(stated)
        if len(node.input) < 3 or not node.input[2]:
            # Without a zero point it is 0.
            zero = np.full(scales.get(node.input[1], ()), -_SHIFT, np.int8)
            name = f"takt_zero_{node.output[0]}"
            graph.initializer.append(onnx.numpy_helper.from_array(zero, name))
            node.input[:] = [*node.input[:2], name]
    for value in graph.value_info:
        if value.name in names:
            value.type.tensor_type.elem_type = onnx.TensorProto.INT8
    return result


def _quantized(onnx: Any, graph: Any) -> set[str]:
    """The tensors of unsigned bytes that only quantize, as all do that the same nodes read or make."""
    unsigned = onnx.TensorProto.UINT8
    names = {name for name, element in inference.elements_of(graph).items() if element == unsigned}
    names |= {tensor.name for tensor in graph.initializer if tensor.data_type == unsigned}
    others = names & {value.name for value in [*graph.input, *graph.output]}
    next_of = {name: name for name in names}  # On the way to the one that stands for all that belong together.

    def last(name: str) -> str:
        while next_of[name] != name:
            next_of[name] = next_of[next_of[name]]
            name = next_of[name]
        return name

    for node in graph.node:
        own = sorted(names & graphs.inputs(node) | names.intersection(node.output))
        if not own or node.op_type == "Constant":
            continue
        if not _is_known(node):
            others.update(own)
        for name in own[1:]:
            next_of[last(name)] = last(own[0])
    taken = {last(name) for name in others}
    return {name for name in names if last(name) not in taken}


def _is_known(node: Any) -> bool:
    """Whether a node of bytes quantizes them, is the end of that, or moves them."""
    return ((node.op_type in graphs.MOVES or node.op_type in ("QuantizeLinear", "DequantizeLinear")
             or node.op_type == "Resize" and _is_nearest(node)
             or node.op_type == "Pad" and "" not in [*node.input, ""][2:3]) and node.domain in ("", "ai.onnx")
            and all(attribute.name != "output_dtype" or attribute.i in (0, _RESULTS.get(node.op_type))
                    for attribute in node.attribute))


def _is_nearest(node: Any) -> bool:
    """Whether a Resize moves elements, and makes none of several."""
    modes = {attribute.name: attribute.s for attribute in node.attribute}
    return (modes.get("mode", b"nearest") == b"nearest"
            and modes.get("coordinate_transformation_mode") != b"tf_crop_and_resize")


def _shifted(onnx: Any, tensor: Any) -> Any:
    array = onnx.numpy_helper.to_array(tensor).astype(np.int16) - _SHIFT
    return onnx.numpy_helper.from_array(array.astype(np.int8), tensor.name)
