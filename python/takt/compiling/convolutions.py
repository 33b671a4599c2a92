"""Which recipe fits an ONNX network, by its convolutions and its weights."""

from __future__ import annotations

import math
from typing import Any

from ..networks import inference

# Elements of the matrices that im2col writes, for each multiply-add. More of
# them, and writing takes longer than the faster product saves: few channels on
# large images. docs/performance.md has the networks on both sides.
_IM2COL_ELEMENTS_MAX = 0.01
# Networks of fewer weights have products so small that tiled data gain nothing.
_SMALL_WEIGHTS = 1_000_000
# The same where sizes are open, since Takt's own kernels take no products there.
_SMALL_OPEN_WEIGHTS = 1 << 15
# A product of fewer multiply-adds, or with a side that is shorter, gains nothing by tiled data. Without them, the
# compiler's code for larger ones is up to 24 times slower where their sides are no multiples of 16.
_PRODUCT_MULTIPLY_ADDS, _PRODUCT_SIDE = 1 << 16, 16
_TURNING = {"GRU", "If", "LSTM", "Loop", "RNN", "Scan"}  # The data of products in them would be tiled in each turn.


def recipe_of_products(model: Any, is_open: bool) -> str | None:
    """The recipe for an onnx.ModelProto without convolutions; None: it has some, or many weights of known sizes.

    is_open  sizes of its tensors are not known."""
    kinds = {node.op_type for node in model.graph.node}
    if any("Conv" in kind for kind in kinds):
        return None
    weights = sum(math.prod(tensor.dims) for tensor in model.graph.initializer)
    if not is_open or kinds & _TURNING:
        if weights >= _SMALL_WEIGHTS:
            return None
        return "untiled" if kinds & _TURNING or not _has_large_products(model) else "open"
    return "untiled" if weights < _SMALL_OPEN_WEIGHTS else "open"


def _has_large_products(model: Any) -> bool:
    """Whether some product of two matrices gains by tiled data."""
    graph = inference.inferred_graph(model)
    sizes = inference.sizes_of(graph)
    sizes.update((tensor.name, list(tensor.dims)) for tensor in graph.initializer)
    for node in graph.node:
        if node.op_type not in ("Gemm", "MatMul"):
            continue
        left, out = (sizes.get(name) or [] for name in (node.input[0], node.output[0]))
        is_turned = any(each.name == "transA" and each.i for each in node.attribute)
        sides = [*out[-2:], *left[-2 if is_turned else -1:][:1]]
        if len(sides) == 3 and all(sides) and min(sides) > _PRODUCT_SIDE and (
                math.prod(sides) >= _PRODUCT_MULTIPLY_ADDS):
            return True
    return False


def recipe_of(model: Any) -> str | None:
    """The recipe for an onnx.ModelProto of floats; None: it has no convolutions
    of known shapes."""
    graph = inference.inferred_graph(model)
    sizes = inference.sizes_of(graph)
    sizes.update((tensor.name, list(tensor.dims)) for tensor in model.graph.initializer)
    multiply_adds = im2col_elements = 0
    has_depthwise = False
    for node in graph.node:
        if node.op_type != "Conv":
            continue
        kernel, out = (sizes.get(name) for name in (node.input[1], node.output[0]))
        if not kernel or None in kernel or len(kernel) < 3 or not out or not all(out[2:]):
            continue
        outputs, depth, *window = kernel
        pixels, taps = math.prod(size or 0 for size in out[2:]), math.prod(window)
        multiply_adds += outputs * depth * taps * pixels
        groups = next((a.i for a in node.attribute if a.name == "group"), 1)
        if groups > 1:
            has_depthwise = has_depthwise or depth == 1
        elif taps > 1:
            im2col_elements += depth * taps * pixels
    if multiply_adds == 0:
        return None
    # Depthwise convolutions are no products of matrices.
    if has_depthwise or im2col_elements > _IM2COL_ELEMENTS_MAX * multiply_adds:
        return "channels_last"
    return "im2col"
