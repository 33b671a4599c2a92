"""Which recipe fits the convolutions of an ONNX network."""

from __future__ import annotations

import math
from typing import Any

# Elements of the matrices that im2col writes, for each multiply-add. More of
# them, and writing takes longer than the faster product saves: few channels on
# large images. docs/performance.md has the networks on both sides.
_IM2COL_ELEMENTS_MAX = 0.01
# Networks of depthwise convolutions with 1x1 convolutions between them need no
# im2col: this part of their multiply-adds is in the latter.
_POINTWISE_PART_MIN = 0.5


def recipe_of(model: Any) -> str | None:
    """The recipe for an onnx.ModelProto of floats; None: it has no convolutions
    of known shapes."""
    from onnx import shape_inference

    graph = shape_inference.infer_shapes(model).graph
    weights = {tensor.name: list(tensor.dims) for tensor in graph.initializer}
    shapes = {
        value.name: [dimension.dim_value for dimension in value.type.tensor_type.shape.dim]
        for value in (*graph.value_info, *graph.input, *graph.output)
    }
    multiply_adds = im2col_elements = pointwise = 0
    has_depthwise = False
    for node in graph.node:
        if node.op_type != "Conv":
            continue
        kernel = weights.get(node.input[1])
        out = shapes.get(node.output[0])
        if not kernel or len(kernel) < 3 or not out or not all(out[2:]):
            continue
        outputs, depth, *window = kernel
        pixels, taps = math.prod(out[2:]), math.prod(window)
        count = outputs * depth * taps * pixels
        multiply_adds += count
        groups = next((a.i for a in node.attribute if a.name == "group"), 1)
        if groups > 1:
            has_depthwise = has_depthwise or depth == 1
        elif taps == 1:
            pointwise += count
        else:
            im2col_elements += depth * taps * pixels
    if multiply_adds == 0:
        return None
    if im2col_elements > _IM2COL_ELEMENTS_MAX * multiply_adds:
        return "channels_last"
    if has_depthwise and pointwise > _POINTWISE_PART_MIN * multiply_adds:
        return "channels_last"
    return "im2col"
