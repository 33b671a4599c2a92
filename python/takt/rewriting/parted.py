"""Convolutions of more taps than a call has: a part of `rewriter`."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import numpy as np

from .kernel_calls import TAPS_MAX, make_kernel
from .packing import BLOCK

# As kConvJoinedMax and kConvJoinedRowsMax in src/kernels/conv2d.h: rows of so few numbers are read as one.
_JOINED_MAX = 64
_JOINED_ROWS_MAX = 16
_FEW_CHANNELS = 4

Part = tuple[int, int, int, int]  # The first row and the one behind the last, and the same of columns.


class PartedRewriter:
    """The part of the rewriter that adds the results of parts of a window, each of which is a call."""

    def in_parts(self, node: Any, weights: np.ndarray, bias: np.ndarray, shape: tuple[int, ...]) -> bool:
        output, weights, bias = self.fold_scales(node.output[0], weights, bias, 2)

        def packed(part: Part, is_first: bool) -> tuple[str, list[str]]:
            top, bottom, left, right = part
            return self.packed(weights[:, :, top:bottom, left:right], bias if is_first else np.zeros_like(bias),
                               shape[15], False, shape[12])

        return self.add_parts(node.input[0], output, shape, packed)

    def computed_in_parts(self, node: Any, weights: str, bias: str, shape: tuple[int, ...]) -> bool:
        """in_parts() with weights that the network computes, for whole blocks of channels."""
        wide, ins = shape[6] + -shape[6] % BLOCK, shape[3]
        zeros = self.constant(np.zeros(wide, np.float32))

        def packed(part: Part, is_first: bool) -> tuple[str, list[str]]:
            top, bottom, left, right = part
            taps = (wide, ins, bottom - top, right - left)
            cut = self.window_of(weights, 2, part, taps)
            return "takt_conv2d_f32", [self.packed_in_calls(cut, taps), bias if is_first else zeros]

        return self.add_parts(node.input[0], node.output[0], shape, packed)

    def add_parts(self, source: str, output: str, shape: tuple[int, ...],
                  packed: Callable[[Part, bool], tuple[str, list[str]]]) -> bool:
        n, h, w, c, oh, ow, oc, kh, kw, *step, down, across, top, left, groups = shape
        output, residual, end = self.fold_end(output)
        image = self.to_last(source)
        total = None if residual is None else self.to_last(residual)
        parts = [part for part in _parts(kh, kw, 0 if groups > 1 or across > 1 else c)
                 if part[0] * down - top < h and part[2] * across - left < w]  # Others meet the padding alone.
        for part in parts:
            y, x = part[0] * down - top, part[2] * across - left
            begins, pads = (max(y, 0), max(x, 0)), (max(-y, 0), max(-x, 0))
            size = (h - begins[0], w - begins[1])
            function, constants = packed(part, part is parts[0])
            cut = self.window_of(image, 1, (begins[0], h, begins[1], w), (n, *size, c)) if any(begins) else image
            window = (part[1] - part[0], part[3] - part[2], *step, down, across, *pads, groups)
            own = dict(end if part is parts[-1] else {}, has_residual=total is not None)
            kernel = make_kernel(function, (n, *size, c, oh, ow, oc, *window), **own)
            inputs = [cut, *constants, *([] if total is None else [total])]
            total = self.kernel(kernel, inputs, self.fresh("conv"), (n, oh, ow, oc))
        self.set_last(output, total)
        return True

    def window_of(self, name: str, axis: int, part: Part, shape: tuple[int, ...]) -> str:
        """Some rows and columns of a tensor that has rows along the axis, and columns along the next one."""
        bounds = [[part[0], part[2]], [part[1], part[3]], [axis, axis + 1]]
        limits = (self.constant(np.array(each)) for each in bounds)
        return self.emit("Slice", [name, *limits], self.fresh("part"), shape)


def _parts(height: int, width: int, channels: int) -> Iterator[Part]:
    """Parts of a window, as even as it goes, each of which a call has."""
    is_joined = 0 < channels <= _FEW_CHANNELS
    columns = _even(width, _JOINED_MAX // channels if is_joined else TAPS_MAX)
    widest = max(right - left for left, right in columns)
    most = TAPS_MAX // widest
    for top, bottom in _even(height, min(most, _JOINED_ROWS_MAX) if is_joined else most):
        for left, right in columns:
            yield top, bottom, left, right


def _even(size: int, most: int) -> list[tuple[int, int]]:
    """Ranges of at most so many, as even as it goes."""
    count = -(-size // most)
    bounds = [size * i // count for i in range(count + 1)]
    return list(zip(bounds, bounds[1:]))
