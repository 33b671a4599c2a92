"""Calls of kernels of images: their geometry, and how many tiles they have."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from .packing import BLOCK, TAPS_MAX

DOMAIN = "takt"  # Of the calls in a network.
SIZE_MAX = 1 << 28  # Of a dimension, as in src/kernels/conv2d_portable.cc.
CHANNELS_MAX = 16384
# A workgroup is some 30 us on a fast core: short enough to be preempted after.
TILE_MACS = 3e6
TILE_ELEMENTS = 64 << 10
# In the order of the kernels' numbers.
ACTIVATIONS = ("none", "silu", "sigmoid", "hard_swish", "hard_sigmoid", "tanh", "gelu", "leaky_relu", "gelu_tanh")
WINOGRAD = "takt_winograd2d_f32"
# Its first and its last part; takt_conv2d_f32 is between them.
WINOGRAD_INPUTS, WINOGRAD_SUMS = "takt_winograd_inputs_f32", "takt_winograd_sums_f32"
# Their results may be some channels of a wider tensor.
JOINING = ("takt_conv2d_f32", "takt_conv2d_bf16", "takt_depthwise2d_f32", WINOGRAD, WINOGRAD_SUMS)
JOINED_CHANNELS_MAX = 1 << 20  # As kOutputStrideMax in src/cpu/kernel_imports.cc.
# Weights from a cache that cores share, or from memory, that are read in the time of a vector of products.
_BYTES_PER_PRODUCT = 5
_OWN_CACHE_BYTES = 5 << 18
_WINOGRAD_CHANNELS_MAX = 512
_PARTS_BYTES_MAX = 16 << 20  # What the parts of Winograd's method write for each other.
_CALL_PRODUCTS = 1 << 15  # The time to start a kernel and to wait for its end.
_SQUARE_NUMBERS = 1536  # A step of Winograd's method has so many squares times channels.


@dataclasses.dataclass(frozen=True)
class Kernel:
    """One function that a module's code imports, with one geometry.

    Sizes that are known in calls alone have names in `shape`: n, h, w, oh, ow. Then a tile has `tile_pixels` pixels,
    or squares of Winograd's method, at most, and calls find out how many tiles there are.
    """

    function: str  # Such as takt_conv2d_f32.
    shape: tuple[int | str, ...]  # The 16 numbers of kernels::ConvShape.
    block_tiles: int
    pixel_tiles: int
    has_residual: bool = False
    activation: str = "none"  # Before the clamp.
    low: float = -math.inf  # "leaky_relu" has its slope here, and no lower limit.
    high: float = math.inf
    count_padding: bool = False
    joined: tuple[int, int] | None = None  # The result's first channel in a wider tensor, and the channels of that.
    is_tied: bool = False  # The first operand is the wider tensor, in which the others' channels stay.
    tile_pixels: int = 0
    pads_behind: tuple[int, int] = (0, 0)  # Below and on the right; only of open sizes.

    @property
    def is_open(self) -> bool:
        return any(isinstance(size, str) for size in self.shape)

    @property
    def is_pool(self) -> bool:
        return "pool" in self.function


def make_kernel(function: str, shape: tuple[int, ...], **options: Any) -> Kernel:
    """The kernel with tiles of a size that suits it."""
    (n, _, _, c, oh, ow, oc, kh, kw, *_, groups) = shape
    pixels = n * oh * ow
    if function in (WINOGRAD_INPUTS, WINOGRAD_SUMS):
        elements = squares_of(shape) * 36 * (c if function == WINOGRAD_INPUTS else oc)
        tiles = shared_tiles(math.ceil(elements / TILE_ELEMENTS))
        return Kernel(function, shape, 1, min(squares_of(shape), tiles), **options)
    is_winograd = function == WINOGRAD
    is_wide = "conv2d" in function or is_winograd  # Every input channel of the group counts.
    blocks = groups * -(-(oc // groups) // BLOCK) if is_wide else -(-oc // BLOCK)
    padded = blocks * BLOCK if is_wide else oc
    if is_winograd:
        pixels, kh = squares_of(shape), 12  # 36 products.
    macs = pixels * padded * kh * kw * (c // groups if is_wide else 1)
    if is_wide:
        tiles = max(math.ceil(macs / TILE_MACS), min(8, math.ceil(macs / (TILE_MACS / 8))))
    else:
        tiles = max(math.ceil(macs / 9 / TILE_ELEMENTS), min(4, math.ceil(macs / 9 / 8192)))
    tiles = shared_tiles(tiles)
    weights = oc * kh * kw * (c // groups)
    if is_winograd:
        pixel_tiles, block_tiles = _winograd_tiles(shape, tiles)
    elif is_wide and weights > n * shape[1] * shape[2] * c:
        # Few pixels, many weights: each tile reads its own weights only.
        block_tiles = _quads(blocks, tiles)
        pixel_tiles = min(max(1, round(tiles / block_tiles)), max(1, pixels // 24))
    else:
        pixel_tiles = min(tiles, max(1, pixels // 14))
        block_tiles = _quads(blocks, max(1, round(tiles / pixel_tiles)))
    return Kernel(function, shape, block_tiles, pixel_tiles, **options)


def shared_tiles(tiles: int) -> int:
    """At least so many tiles, which two and four workers share evenly."""
    return tiles if tiles < 3 else -(-tiles // 4) * 4


def squares_of(shape: tuple[int, ...]) -> int:
    """The squares of the result that Winograd's method computes at once."""
    n, _, _, _, oh, ow, *_ = shape
    return n * -(-oh // 4) * -(-ow // 4)


def _winograd_tiles(shape: tuple[int, ...], tiles: int) -> tuple[int, int]:
    """How many parts of the squares and of the blocks. The weights are read for each part of the squares, which are
    transformed for each part of the blocks."""
    squares, blocks, at_once = squares_of(shape), -(-shape[6] // BLOCK), _squares_at_once(shape)
    if _winograd_bytes(shape) > _OWN_CACHE_BYTES and at_once >= 12:
        pixel_tiles = -(-squares // at_once)
    else:
        pixel_tiles = min(tiles, max(1, squares // 6))
    return pixel_tiles, _quads(blocks, max(1, round(tiles / pixel_tiles)))


def _squares_at_once(shape: tuple[int, ...]) -> int:
    """In a step of the kernel, which reads the weights of its tile."""
    squares = _SQUARE_NUMBERS // shape[3]
    return min(squares // 6 * 6, 18) if squares > 6 else squares


def _winograd_bytes(shape: tuple[int, ...]) -> int:
    """The bytes of its weights."""
    return 36 * shape[3] * -(-shape[6] // BLOCK) * BLOCK * 4


def prefers_winograd(shape: tuple[int, ...], products: int) -> bool:
    """Whether Winograd's method is quicker than so many products at once: by estimates of the time, in vectors of
    products, for products, transformations and reading the weights."""
    (n, _, _, c, oh, ow, oc, *geometry, groups) = shape
    if tuple(geometry[:6]) != (3, 3, 1, 1, 1, 1) or groups != 1 or c < 16 or oc < 9:
        return False
    in_parts = has_winograd_parts(shape)
    if c > _WINOGRAD_CHANNELS_MAX and not in_parts:
        return False
    blocks, squares, weights = -(-oc // BLOCK), squares_of(shape), _winograd_bytes(shape)
    direct = max(9 * n * oh * ow * c * blocks / products, reading_of(weights // 4))
    quick = 36 * squares * c * blocks
    if in_parts:
        # The first squares of a product wait for its weights.
        return quick + reading_of(weights) + squares * (50 * c + 33 * oc) + 2 * _CALL_PRODUCTS < 0.7 * direct
    kernel = make_kernel(WINOGRAD, shape)
    each, larger = divmod(squares, kernel.pixel_tiles)
    steps, more_steps = (-(-count // _squares_at_once(shape)) for count in (each, each + 1))
    readings = (kernel.pixel_tiles - larger) * steps + larger * more_steps
    quick = max(quick, readings * reading_of(weights))
    quick += squares * (14 * c * kernel.block_tiles + 192 * blocks)
    return quick < 0.8 * direct


def has_winograd_parts(shape: tuple[int, ...]) -> bool:
    """Whether Winograd's method transforms all squares before it multiplies any: where one kernel would read the
    weights again for each few squares."""
    return (_squares_at_once(shape) < 12 and shape[6] % BLOCK == 0
            and 36 * 4 * squares_of(shape) * (shape[3] + shape[6]) <= _PARTS_BYTES_MAX)


def reading_of(weights: int) -> float:
    """The time to read so many bytes of weights, in that of vectors of products."""
    return weights / (_BYTES_PER_PRODUCT if weights > _OWN_CACHE_BYTES else 4 * _BYTES_PER_PRODUCT)


def _quads(blocks: int, tiles: int) -> int:
    """At most so many tiles, whose blocks a micro kernel takes four at a time."""
    quads = -(-blocks // 4)
    return -(-quads // -(-quads // min(tiles, quads)))
