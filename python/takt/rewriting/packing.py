"""Weights in the order in which the kernels read them (docs/native_kernels.md)."""

from __future__ import annotations

import math

import numpy as np

from ..networks import canonical

BLOCK = canonical.BLOCK  # Output channels of a block of packed weights.
TAPS_MAX = 128
GROUPS_FEW = 4
_JOINED_TAPS = 0.75  # Of the taps of single pixels, at most, for joined ones.
FOUR = 4  # Input channels of bytes, which are summed together.
# Fewer channels of a pixel than four are gathered in the time of so many products, and those of a block of results are
# copied in that of the others.
_GATHER_COST = 2.6
_COPY_COST = 5


def trim_taps(weights: np.ndarray, geometry: tuple[int, ...], in_shape: tuple[int, ...],
              out_shape: tuple[int, ...]) -> tuple[np.ndarray, tuple[int, ...]]:
    """Weights and geometry without the rows and columns of the window that lie
    outside the image wherever the window is, as those of far dilations do."""
    numbers = list(geometry)  # kernel, stride, dilation and padding, of rows and columns.
    for axis in range(2):
        taps, stride, dilation, pad = numbers[axis::2]
        size, last = in_shape[2 + axis], (out_shape[2 + axis] - 1) * stride
        useful = [i for i in range(taps) if -last <= i * dilation - pad < size]
        if not useful:
            return weights, geometry
        first = min(useful[0], pad // dilation)  # Padding is never negative.
        weights = weights[(slice(None),) * (2 + axis) + (slice(first, useful[-1] + 1),)]
        numbers[axis], numbers[6 + axis] = useful[-1] + 1 - first, pad - first * dilation
    return weights, tuple(numbers)


def pack(weights: np.ndarray, bias: np.ndarray, groups: int, is_depthwise: bool
         ) -> tuple[np.ndarray, np.ndarray]:
    """Weights [out][in][h][w] and bias in blocks of output channels."""
    outs, ins, height, width = weights.shape
    if is_depthwise:
        groups = 1
        weights = weights.reshape(outs, 1, height, width)
        ins = 1
    each = outs // groups
    blocks = -(-each // BLOCK)
    padded = np.zeros((groups, blocks * BLOCK, ins, height, width), np.float32)
    padded[:, :each] = weights.reshape(groups, each, ins, height, width)
    packed = padded.reshape(groups, blocks, BLOCK, ins, height, width).transpose(0, 1, 4, 5, 3, 2)
    padded_bias = np.zeros((groups, blocks * BLOCK), np.float32)
    padded_bias[:, :each] = bias.reshape(groups, each)
    return np.ascontiguousarray(packed), padded_bias


def join_groups(weights: np.ndarray, groups: int) -> tuple[np.ndarray, int]:
    """The weights as those of fewer groups, with zeros, where groups have fewer results than a block: a vector of few
    results takes as long as a full one. Few groups of one channel become one. Depthwise ones stay as they are."""
    outs, ins, height, width = weights.shape
    each = outs // groups
    if ins == each == 1 < groups:
        return weights, groups
    if ins == 1 and groups <= GROUPS_FEW:
        count = groups
    else:
        blocks = -(-each // BLOCK)
        count = max(n for n in range(1, groups + 1) if groups % n == 0 and -(-each * n // BLOCK) == blocks)
    if count == 1:
        return weights, groups
    joined = np.zeros((groups // count, count, each, count, ins, height, width), weights.dtype)
    own = np.arange(count)
    joined[:, own, :, own] = weights.reshape(groups // count, count, each, ins, height, width).swapaxes(0, 1)
    return joined.reshape(outs, count * ins, height, width), groups // count


def join_rows(weights: np.ndarray, groups: int, dilation: int) -> np.ndarray:
    """The taps of a row as channels of one tap, where the kernel reads them so
    (ConvShape::HasJoinedRows() of src/kernels/conv2d.h)."""
    outs, ins, height, width = weights.shape
    if groups != 1 or dilation != 1 or height > 16 or width * ins > 64:
        return weights
    return weights.transpose(0, 3, 1, 2).reshape(outs, width * ins, height, 1)


def pack_pairs(packed: np.ndarray) -> np.ndarray:
    """Packed weights as bfloat16: the numbers of two input channels in the place of
    one, as the halves of a float."""
    *outer, ins, block = packed.shape
    even = np.zeros((*outer, ins + ins % 2, block), np.float32)
    even[..., :ins, :] = packed
    bits = even.view(np.uint32)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16  # Half to even.
    pairs = rounded.reshape(*outer, -1, 2, block)
    return np.ascontiguousarray(pairs[..., 0, :] | pairs[..., 1, :] << 16).view(np.float32)


def pack_winograd(weights: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Transformed weights as [blocks][36][in][BLOCK], and the bias in blocks."""
    matrix = np.array([[6, 0, 0], [-4, -4, -4], [-4, 4, -4], [1, 2, 4], [1, -2, 4], [0, 0, 24]]) / 24
    turned = np.einsum("ya,oiab,xb->oiyx", matrix, weights.astype(np.float64), matrix)
    packed, padded_bias = pack(turned.astype(np.float32), bias, 1, False)
    return packed[0].reshape(packed.shape[1], 36, *packed.shape[4:]), padded_bias


def pack_bytes(weights: np.ndarray, groups: int, is_depthwise: bool) -> np.ndarray:
    """Weights [out][in][h][w] in blocks of output channels, fours of input ones."""
    outs, ins, height, width = weights.shape
    if is_depthwise:
        blocks = -(-outs // BLOCK)
        padded = np.zeros((blocks * BLOCK, height, width), np.int8)
        padded[:outs] = weights[:, 0]
        packed = padded.reshape(blocks, BLOCK, height, width).transpose(0, 2, 3, 1)
        return np.ascontiguousarray(packed)
    each = outs // groups
    blocks, fours = -(-each // BLOCK), -(-ins // FOUR)
    padded = np.zeros((groups, blocks * BLOCK, fours * FOUR, height, width), np.int8)
    padded[:, :each, :ins] = weights.reshape(groups, each, ins, height, width)
    split = padded.reshape(groups, blocks, BLOCK, fours, FOUR, height, width)
    return np.ascontiguousarray(split.transpose(0, 1, 5, 6, 3, 2, 4))


def join_pixels(weights: np.ndarray, shape: tuple[int, ...]) -> tuple[np.ndarray, tuple[int, ...]]:
    """A convolution of bytes with up to three channels as one whose channels are those of neighbouring pixels, fours
    together, as the kernels multiply them. The memory of both tensors is the same, if the rows of the image and of the
    result are filled up to whole groups of pixels; a result's channels come once for each of its pixels.

    weights  [out][in][h][w]
    shape    the 16 numbers of kernels::ConvShape
    returns  the weights and the shape; as they were, if pixels cannot be joined, or if that is not quicker.
    """
    n, h, w, c, oh, ow, oc, kh, kw, sh, sw, dh, dw, top, left, groups = shape
    pixels = FOUR // math.gcd(FOUR, c) if c < FOUR else 1  # Of the input.
    if pixels == 1 or pixels % sw or groups != 1 or dw != 1:
        return weights, shape
    results = pixels // sw
    first, last = -left // pixels, ((results - 1) * sw - left + kw - 1) // pixels
    groups_of_row, blocks = -(-ow // results), -(-oc // BLOCK)
    products = groups_of_row * kh * (last - first + 1) * (pixels * c // FOUR) * -(-results * oc // BLOCK)
    copied = ow * blocks * _COPY_COST if ow % results else 0
    if products + copied > ow * kh * kw * (blocks + _GATHER_COST):
        return weights, shape
    joined = np.zeros((results, oc, pixels, c, kh, last - first + 1), weights.dtype)
    for result in range(results):
        for x in range(kw):
            block, pixel = divmod(result * sw - left + x, pixels)
            joined[result, :, pixel, :, :, block - first] = weights[..., x]
    sizes = (n, h, -(-w // pixels), pixels * c, oh, groups_of_row, results * oc)
    return joined.reshape(results * oc, pixels * c, kh, -1), (*sizes, kh, last - first + 1, sh, 1, dh, 1, top, -first, 1)


def join_results(weights: np.ndarray, shape: tuple[int, ...]) -> tuple[np.ndarray, tuple[int, ...]]:
    """A convolution of few results as one whose results are those of neighbouring pixels, since a block of them takes
    as long as one. The memory of both results is the same.

    weights  [out][in][h][w]
    shape    the 16 numbers of kernels::ConvShape
    returns  the weights and the shape; as they were, if that would not be quicker.
    """
    n, h, w, c, oh, ow, oc, kh, kw, sh, sw, dh, dw, top, left, groups = shape
    pixels = max((each for each in range(1, BLOCK // oc + 1)
                  if ow % each == 0 and kh * (kw + (each - 1) * sw) <= TAPS_MAX), default=1)
    wide = kw + (pixels - 1) * sw
    if groups != 1 or dw != 1 or wide > _JOINED_TAPS * pixels * kw:
        return weights, shape
    joined = np.zeros((pixels, oc, c, kh, wide), weights.dtype)
    for pixel in range(pixels):
        joined[pixel, ..., pixel * sw:pixel * sw + kw] = weights
    sizes = (n, h, w, c, oh, ow // pixels, pixels * oc)
    return joined.reshape(-1, c, kh, wide), (*sizes, kh, wide, sh, pixels * sw, dh, 1, top, left, 1)


def with_room(weights: np.ndarray, factors: np.ndarray, bias: np.ndarray, room: np.ndarray
              ) -> tuple[np.ndarray, np.ndarray]:
    """The weights and their scales, coarser for the output channels whose bias has more than
    `room` steps. Tools give a channel of zeros, or nearly so, a tiny scale.

    bias  in units of the inputs' scale.
    """
    least = (np.abs(bias) / room * (1 + 1e-6)).astype(np.float32)
    coarser = np.maximum(factors, least)
    ratio = np.divide(factors, coarser, out=np.ones_like(coarser), where=coarser > 0)
    return np.rint(weights * ratio.reshape(-1, 1, 1, 1)).astype(weights.dtype), coarser
