"""Calls of kernels of images: their geometry, and how many tiles they have."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from .packing import BLOCK

ROWS_MAX = 65536  # Of a product.
# A workgroup is some 30 us on a fast core: short enough to be preempted after.
_TILE_MACS = 3e6
_TILE_ELEMENTS = 64 << 10
# In the order of the kernels' numbers.
ACTIVATIONS = ("none", "silu", "sigmoid", "hard_swish", "hard_sigmoid", "tanh", "gelu")
_BYTES_PER_CYCLE = 8  # Of weights, from a cache that cores share.
_CACHE_BYTES = 16 << 20


@dataclasses.dataclass(frozen=True)
class Kernel:
    """One function that a module's code imports, with one geometry."""

    function: str  # Such as takt_conv2d_f32.
    shape: tuple[int, ...]  # The 16 numbers of kernels::ConvShape.
    block_tiles: int
    pixel_tiles: int
    has_residual: bool = False
    activation: str = "none"  # Before the clamp.
    low: float = -math.inf
    high: float = math.inf
    count_padding: bool = False

    @property
    def is_pool(self) -> bool:
        return "pool" in self.function


def make_kernel(function: str, shape: tuple[int, ...], **options: Any) -> Kernel:
    """The kernel with tiles of a size that suits it."""
    (n, _, _, c, oh, ow, oc, kh, kw, *_, groups) = shape
    pixels = n * oh * ow
    is_winograd = "winograd" in function
    is_wide = "conv2d" in function or is_winograd  # Every input channel of the group counts.
    blocks = groups * -(-(oc // groups) // BLOCK) if is_wide else -(-oc // BLOCK)
    padded = blocks * BLOCK if is_wide else oc
    if is_winograd:
        pixels, kh = squares_of(shape), 12  # 36 products.
    macs = pixels * padded * kh * kw * (c // groups if is_wide else 1)
    if is_wide:
        tiles = max(math.ceil(macs / _TILE_MACS), min(8, math.ceil(macs / (_TILE_MACS / 8))))
    else:
        tiles = max(math.ceil(macs / 9 / _TILE_ELEMENTS), min(4, math.ceil(macs / 9 / 8192)))
    weights = oc * kh * kw * (c // groups)
    if is_winograd:
        pixel_tiles = min(tiles, max(1, pixels // 6))
        block_tiles = _quads(blocks, max(1, round(tiles / pixel_tiles)))
    elif is_wide and weights > n * shape[1] * shape[2] * c:
        # Few pixels, many weights: each tile reads its own weights only.
        block_tiles = _quads(blocks, tiles)
        pixel_tiles = min(max(1, round(tiles / block_tiles)), max(1, pixels // 24))
    else:
        pixel_tiles = min(tiles, max(1, pixels // 14))
        block_tiles = _quads(blocks, max(1, round(tiles / pixel_tiles)))
    return Kernel(function, shape, block_tiles, pixel_tiles, **options)


def squares_of(shape: tuple[int, ...]) -> int:
    """The squares of the result that Winograd's method computes at once."""
    n, _, _, _, oh, ow, *_ = shape
    return n * -(-oh // 4) * -(-ow // 4)


def prefers_winograd(shape: tuple[int, ...], products: int) -> bool:
    """Whether Winograd's method is quicker than so many products at once: by
    estimates of cycles for products, transformations and reading the weights."""
    (n, _, _, c, oh, ow, oc, *geometry, groups) = shape
    if tuple(geometry[:6]) != (3, 3, 1, 1, 1, 1) or groups != 1 or not 16 <= c <= 512 or oc < 9:
        return False
    blocks, squares = -(-oc // BLOCK), squares_of(shape)
    weights = c * blocks * BLOCK * 4  # Bytes of each product.
    direct = 9 * n * oh * ow * c * blocks / products + reading_of(9 * weights)
    quick = 36 * squares * c * blocks + reading_of(36 * weights) + squares * (14 * c + 192 * blocks)
    return quick < 0.8 * direct


def reading_of(weights: int) -> float:
    """Cycles to read so many bytes of weights. More than a cache holds come from memory."""
    return weights / (_BYTES_PER_CYCLE if weights <= _CACHE_BYTES else _BYTES_PER_CYCLE / 3)


def _quads(blocks: int, tiles: int) -> int:
    """At most so many tiles, whose blocks a micro kernel takes four at a time."""
    quads = -(-blocks // 4)
    return -(-quads // -(-quads // min(tiles, quads)))
