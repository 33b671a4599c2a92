"""Filters of signals, for `porter`.

A convolution of one channel with a long kernel moves by `stride` samples for each
result. Samples that lie a step of `stride` apart never meet one weight, so the
samples of a step are channels of their own, and the kernel becomes a short one
over many channels, which is what kernels for convolutions are quick at:
https://en.wikipedia.org/wiki/Polyphase_matrix. With few filters or a short
stride, a step is that of several results, each of which has its own copy of the
weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_TAPS_MIN = 33  # With fewer, the kernels of convolutions do as well.
_CHANNELS_MIN = 8
_FILTERS_MIN = 16


class FilterPorter:
    """The part of the porter that knows them."""

    def on_filter(self, node: Any) -> bool:
        attributes = self.attributes(node)
        source, weights, bias = [*node.input, ""][:3]
        shape, kernel, result = (self.shapes.get(name) for name in (source, weights, node.output[0]))
        if (shape is None or kernel is None or result is None or None in [*shape, *kernel, *result]
                or len(shape) not in (3, 4) or not len(shape) == len(kernel) == len(result)
                or shape[1] != 1 or kernel[-1] < _TAPS_MIN or attributes.get("group", 1) != 1):
            return False
        rank = len(shape) - 2
        pads = attributes.get("pads", [0] * 2 * rank)
        if rank == 2 and (shape[2], kernel[2], pads[0], pads[2]) != (1, 1, 0, 0):
            return False
        stride, taps = attributes.get("strides", [1] * rank)[-1], kernel[-1]
        batch, samples, filters, frames = shape[0], shape[-1], kernel[0], result[-1]
        fixed = [self.constants.get(name) for name in (weights, bias) if name]
        if attributes.get("dilations", [1] * rank)[-1] != 1 or any(array is None for array in fixed):
            return False
        copies = 1
        while copies < frames and (copies * filters < _FILTERS_MIN or copies * stride < _CHANNELS_MIN):
            copies *= 2
        step = copies * stride
        steps = -(-frames // copies)
        short = -(-(taps + (copies - 1) * stride) // step)
        signal = self.emit("Reshape", [source, self.constant([batch, samples])])
        signal = self.fit(signal, samples, pads[rank - 1], (steps + short - 1) * step)
        signal = self.emit("Reshape", [signal, self.constant([batch, steps + short - 1, step])])
        in_steps = _in_steps(fixed[0].reshape(filters, taps), copies, stride, short)
        found = self.emit("Conv", [
            self.emit("Transpose", [signal], perm=[0, 2, 1]), self.constant(in_steps),
            *(self.constant(np.tile(array, copies)) for array in fixed[1:])])
        if copies > 1:
            turned = self.emit("Transpose", [found], perm=[0, 2, 1])
            each = self.emit("Reshape", [turned, self.constant([batch, steps * copies, filters])])
            found = self.emit("Transpose", [self.slice(each, 1, 0, frames)], perm=[0, 2, 1])
        self.emit("Reshape", [found, self.constant(result)], node.output[0])
        return True

    def fit(self, name: str, size: int, begin: int, length: int) -> str:
        """Rows of `length`: after `begin` zeros, as much as there is, and zeros."""
        end = length - begin - size
        if end < 0:
            name, end = self.slice(name, 1, 0, size + end), 0
        if begin == 0 and end == 0:
            return name
        return self.emit("Pad", [name, self.constant([0, begin, 0, end])])


def _in_steps(weights: np.ndarray, copies: int, stride: int, short: int) -> np.ndarray:
    """[filters][taps] as [copies * filters][samples of a step][short]."""
    filters, taps = weights.shape
    step = copies * stride
    shifted = np.zeros((copies, filters, short * step), weights.dtype)
    for i in range(copies):
        shifted[i, :, i * stride:i * stride + taps] = weights
    return shifted.reshape(copies * filters, short, step).transpose(0, 2, 1)
