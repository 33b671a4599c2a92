"""Images whose sizes are known in calls alone: a part of `rewriter`."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..networks import open_images
from .kernel_calls import WINOGRAD, Kernel, has_winograd_parts, make_kernel, prefers_winograd, squares_of
from .packing import join_few_groups, pack_winograd

_TAPS_MAX = 128
_CHANNELS_MAX = 16384


class OpenRewriter:
    """The part of the rewriter that knows convolutions and pools of such images.

    Their kernels get sizes from the module, which also computes how many tiles a call has.
    """

    def open_conv(self, node: Any, weights: np.ndarray, bias: np.ndarray) -> bool:
        """A convolution, or a normalization as one of a pixel. What follows goes into the call as elsewhere."""
        found = self.open_geometry(node, weights.shape[2:])
        groups = self.attributes(node).get("group", 1) if node.op_type == "Conv" else len(weights)
        if found is None:
            return False
        numbers, sizes, pads_behind = found
        channels = sizes[3]
        weights, groups = join_few_groups(weights, groups)
        is_depthwise = groups == channels == len(weights) and groups > 1
        taps = weights.shape[2] * weights.shape[3]
        if not is_depthwise and (taps > _TAPS_MAX or weights.shape[1] > _CHANNELS_MAX):
            return False
        output, weights, bias = self.fold_scales(node.output[0], weights, bias, 2)
        output, residual, end = self.fold_end(output)
        numbers, sizes = (*numbers, groups), (*sizes, groups)
        if prefers_winograd(sizes, self.products) and not has_winograd_parts(sizes):
            function, packed = WINOGRAD, [*map(self.constant, pack_winograd(weights, bias))]
        else:
            function, packed = self.packed(weights, bias, groups, is_depthwise, sizes[12])
        inputs = [self.to_last(node.input[0]), *packed, *([] if residual is None else [self.to_last(residual)])]
        n, oc, oh, ow = self.open[node.output[0]]
        kernel = open_kernel(function, numbers, sizes, pads_behind, **end)
        self.set_last(output, self.kernel(kernel, inputs, self.fresh("conv"), (n, oh, ow, oc)))
        return True

    def open_pool(self, node: Any, function: str, count_padding: bool) -> bool:
        kernel = tuple(self.attributes(node).get("kernel_shape", ()))
        found = self.open_geometry(node, kernel)
        if (found is None or not self.is_float(node.input[0]) or node.input[0] not in self.last
                or any(self.attributes(node).get(key, 0) for key in ("ceil_mode", "storage_order"))):
            return False
        numbers, sizes, pads_behind = found
        n, c, oh, ow = self.open[node.output[0]]
        call = open_kernel(function, (*numbers, c), (*sizes, c), pads_behind, count_padding=count_padding)
        self.set_last(node.output[0], self.kernel(call, [self.to_last(node.input[0])], self.fresh("pool"), (n, oh, ow, c)))
        return True

    def open_mean(self, node: Any) -> bool:
        """The mean of all pixels."""
        source = node.input[0]
        if source not in self.open or source not in self.last or not self.is_float(source):
            return False
        n, c, h, w = self.open[source]
        behind = (c, 1, 1, c)
        numbers = (*_named((n, h, w), "nhw"), *behind, *_named((h, w), "hw"), 1, 1, 1, 1, 0, 0, c)
        sizes = tuple(map(open_images.nominal, (n, h, w, *behind, h, w, 1, 1, 1, 1, 0, 0, c)))
        call = open_kernel("takt_mean_pool2d_f32", numbers, sizes, (0, 0))
        self.set_last(node.output[0], self.kernel(call, [self.last[source]], self.fresh("pool"), (n, 1, 1, c)))
        return True

    def open_geometry(self, node: Any, kernel: tuple[int, ...]
                      ) -> tuple[tuple[int | str, ...], tuple[int, ...], tuple[int, int]] | None:
        """The numbers of kernels::ConvShape without the last, those that they may be, and the padding behind."""
        in_sizes, out_sizes = (self.open.get(name) for name in (node.input[0], node.output[0]))
        if in_sizes is None or out_sizes is None or len(kernel) != 2:
            return None
        geometry = self.window(node, kernel, in_sizes, out_sizes)
        pads_behind = tuple(self.attributes(node).get("pads", [0] * 4)[2:])
        if geometry is None or min(pads_behind) < 0:
            return None
        (n, c, h, w), (_, oc, oh, ow) = in_sizes, out_sizes
        if any(isinstance(out, open_images.Open) and isinstance(size, int) for size, out in ((h, oh), (w, ow))):
            return None
        numbers = (*_named((n, h, w), "nhw"), c, *_named((oh, ow), ("oh", "ow")), oc, *geometry)
        return numbers, tuple(map(open_images.nominal, (n, h, w, c, oh, ow, oc, *geometry))), pads_behind


def _named(sizes: Any, names: Any) -> list[int | str]:
    """Sizes, with these names in place of open ones."""
    return [name if isinstance(size, open_images.Open) else size for size, name in zip(sizes, names)]


def open_kernel(function: str, numbers: tuple[int | str, ...], sizes: tuple[int, ...], pads_behind: tuple[int, int],
                **options: Any) -> Kernel:
    """The kernel with tiles that suit `sizes`, which are what the open ones of `numbers` may be."""
    kernel = make_kernel(function, sizes, **options)
    n, _, _, _, oh, ow, *_ = sizes
    pixels = squares_of(sizes) if function == WINOGRAD else n * oh * ow
    return dataclasses.replace(kernel, shape=numbers, pads_behind=pads_behind, pixel_tiles=0,
                               tile_pixels=-(-pixels // kernel.pixel_tiles))
