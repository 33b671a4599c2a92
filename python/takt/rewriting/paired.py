"""Convolutions in one call with the depthwise convolution that follows: a part of `rewriter`."""

from __future__ import annotations

import math
from typing import Any

from ..networks import graphs
from .kernel_calls import ACTIVATIONS, DOMAIN, TILE_ELEMENTS, TILE_MACS, Kernel, shared_tiles
from .packing import BLOCK
from .tiled_calls import TiledCall, even_rows

# This part of the image between two convolutions stays in a core's cache when they are two calls. A byte of the rest
# is written and read in the time of _PRODUCTS_PER_BYTE products.
_CACHED_BYTES = 1 << 20
_PRODUCTS_PER_BYTE = 2
_BYTES_MIN = 3 << 19  # A smaller image does not pay for computing rows in steps.
# As kConvDepthwiseScratchBytes in src/kernels/conv2d_depthwise.h.
_SCRATCH_BYTES = 384 << 10
_BLOCKS_AT_ONCE = 4  # As micro kernels take them.
_ROWS_AT_ONCE = 4  # Fewer rows of the result spend more time on the calls of the kernels.


class PairedRewriter:
    """The part of the rewriter that keeps the image between two convolutions out of memory."""

    def pair_kernels(self) -> None:
        """Replaces a depthwise convolution and the one that it reads, in the nodes that were emitted, by one call.

        The node of the first convolution stays, and nothing reads it any longer.
        """
        readers = graphs.reader_counts(self.out)
        makers = {node.output[0]: node for node in self.out}
        for node in self.out:
            depthwise = self.called_kernel(node)
            if depthwise is None or depthwise.function != "takt_depthwise2d_f32":
                continue
            maker = makers.get(node.input[0])
            conv = self.called_kernel(maker) if maker is not None else None
            if conv is None or readers[node.input[0]] != 1 or node.input[0] in self.results:
                continue
            call = pair(conv, depthwise)
            if call is None:
                continue
            node.CopyFrom(self.onnx.helper.make_node(
                "TaktKernel", [*maker.input, *node.input[1:]], node.output, name=node.name, domain=DOMAIN,
                kernel=self.index_of(call)))

    def called_kernel(self, node: Any) -> Kernel | None:
        """The kernel that a node calls, if it is one of images."""
        kernel = self.kernels[node.attribute[0].i] if node.op_type == "TaktKernel" else None
        return kernel if isinstance(kernel, Kernel) else None


def pair(conv: Kernel, depthwise: Kernel) -> TiledCall | None:
    """The call of both; None where they do not go together, or where it brings nothing."""
    n, _, _, c, h, w, oc, kh, kw, *_, groups = conv.shape
    _, _, _, _, oh, ow, _, window_h, window_w, stride_h, _, dilation_h, *_ = depthwise.shape
    if (conv.function != "takt_conv2d_f32" or groups != 1 or depthwise.shape[:4] != (n, h, w, oc)
            or _is_special(conv) or _is_special(depthwise)):
        return None
    bytes_between = n * h * w * oc * 4
    reach = (window_h - 1) * dilation_h + 1
    blocks = math.ceil(oc / BLOCK)
    rows_at_once = reach + (_ROWS_AT_ONCE - 1) * stride_h
    blocks_at_once = min(_BLOCKS_AT_ONCE, _SCRATCH_BYTES // (rows_at_once * w * BLOCK * 4))
    if blocks_at_once == 0:
        return None
    parts = math.ceil(blocks / blocks_at_once)
    macs_of_row = w * blocks * BLOCK * c * kh * kw
    macs, depthwise_macs = n * h * macs_of_row, n * oh * ow * oc * window_h * window_w
    tiles = shared_tiles(math.ceil(macs / TILE_MACS + depthwise_macs / 9 / TILE_ELEMENTS / 2))
    rows = n * oh
    tile_rows = even_rows(rows, math.ceil(rows / max(1, round(tiles / parts))), 1)
    twice = max(0, reach - stride_h) * (math.ceil(rows / tile_rows) - 1)  # Rows that two tiles compute.
    if (bytes_between < _BYTES_MIN
            or twice * macs_of_row >= _PRODUCTS_PER_BYTE * (bytes_between - _CACHED_BYTES)):
        return None
    numbers = (*conv.shape, *depthwise.shape, ACTIVATIONS.index(conv.activation),
               ACTIVATIONS.index(depthwise.activation), parts)
    factors = (conv.low, conv.high, depthwise.low, depthwise.high)
    return TiledCall("takt_conv2d_depthwise2d_f32", ("f32",) * 6, numbers, factors, parts, rows, tile_rows,
                     macs + depthwise_macs)


def _is_special(kernel: Kernel) -> bool:
    return kernel.has_residual or kernel.joined is not None or kernel.is_open
