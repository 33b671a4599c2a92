"""Calls of convolutions and tables of bytes: their geometry, and their MLIR."""

from __future__ import annotations

import dataclasses
from typing import Iterator

from . import open_calls
from .packing import BLOCK

# Some 50 us of a fast core.
_TILE_MACS = 6e6
_TILE_ELEMENTS = 128 << 10


@dataclasses.dataclass(frozen=True)
class ByteCall:
    """A function of int8 tensors, with one geometry. `shape` may have names of sizes, as in kernel_calls.Kernel."""

    function: str  # Such as takt_conv2d_i8.
    shape: tuple[int | str, ...]  # The 16 numbers of kernels::ConvShape.
    tile_pixels: int
    tile_blocks: int
    in_zero_point: int = 0
    out_zero_point: int = 0
    low: int = -128
    high: int = 127
    pads_behind: tuple[int, int] = (0, 0)  # Below and on the right; only of open sizes.

    @property
    def is_open(self) -> bool:
        return any(isinstance(size, str) for size in self.shape)

    @property
    def pixels(self) -> int:
        return self.shape[0] * self.shape[4] * self.shape[5]

    @property
    def blocks(self) -> int:
        groups = self.shape[15] if "conv2d" in self.function else 1
        return groups * -(-(self.shape[6] // groups) // BLOCK)

    @property
    def pixel_tiles(self) -> int:
        return -(-self.pixels // self.tile_pixels)

    @property
    def block_tiles(self) -> int:
        return -(-self.blocks // self.tile_blocks)


def tiled(kernel: ByteCall) -> ByteCall:
    """The kernel with tiles of a size that suits it."""
    shape = kernel.shape
    taps = shape[7] * shape[8]
    is_wide = "conv2d" in kernel.function
    macs_of_block = BLOCK * taps * (shape[3] // shape[15] if is_wide else 1)
    limit = _TILE_MACS if is_wide else _TILE_ELEMENTS * 9
    total = kernel.pixels * kernel.blocks * macs_of_block
    limit = min(limit, max(total / 8, limit / 8))
    blocks, pixels = kernel.blocks, kernel.pixels
    weights = kernel.blocks * macs_of_block
    if is_wide and weights > shape[1] * shape[2] * shape[3]:
        # Few pixels, many weights: each tile reads its own weights only.
        blocks = max(2, int(limit // (macs_of_block * pixels)))
        blocks = min(kernel.blocks, blocks + blocks % 2)
    pixels = max(14, int(limit // (macs_of_block * blocks)))
    pixels -= pixels % (84 if pixels > 84 else 14)
    return dataclasses.replace(
        kernel, tile_pixels=min(pixels, kernel.pixels), tile_blocks=blocks)


# Elements of the buffers of a call, in order: the input, the weights, the bias,
# the scales, the sums of weights, and the result.
_BUFFERS = ("i8", "i8", "i32", "f32", "i32", "i8")


def parameter_types() -> list[str]:
    types = [part for element in _BUFFERS for part in (f"memref<{element}>", "index", "index")]
    # The shape, the tile, what is quantized, and 0.
    return [*types, *["i32"] * (16 + 4 + 5), "f32"]


def function(name: str, kernel: ByteCall, types: tuple[str, ...]) -> Iterator[str]:
    """The code of a workgroup: one call for one tile."""
    yield f"      func.func @{name}({', '.join(open_calls.parameters(kernel, len(types)))}) {{"
    yield "        %zero = arith.constant 0 : index"
    # Which binding a buffer is; one that is absent is of no elements.
    used = [0, 1, 2, 3, 4 if "conv2d" in kernel.function else None, len(types) - 1]
    arguments = []
    for i, (element, binding) in enumerate(zip(_BUFFERS, used)):
        lines, sized = [], f"memref<1x{element}>"
        if binding is not None:
            lines, sized = open_calls.row(kernel, binding, types[binding])
        memory = sized.partition("{")[0]
        yield from (f"        {line}" for line in lines)
        yield (f"        %m{i} = stream.binding.subspan %b{binding or 0}[%zero] : "
               f"!stream.binding -> {sized}")
        yield (f"        %p{i}, %o{i}, %s{i}, %t{i} = iree_codegen.extract_strided_metadata %m{i} : "
               f"{memory} -> memref<{element}>, index, index, index")
        arguments += [f"%p{i}", f"%o{i}", "%zero" if binding is None else f"%s{i}"]
    for i, (axis, step) in enumerate((("x", kernel.tile_blocks), ("y", kernel.tile_pixels))):
        yield f"        %{axis} = stream.dispatch.workgroup.id[{i}] : index"
        yield f"        %{axis}_step = arith.constant {step} : index"
        yield f"        %{axis}_index = arith.muli %{axis}, %{axis}_step : index"
        yield f"        %{axis}_begin = arith.index_cast %{axis}_index : index to i32"
    numbers = [*kernel.shape, "y", kernel.tile_pixels, "x", kernel.tile_blocks,
               kernel.in_zero_point, kernel.out_zero_point, 0, kernel.low, kernel.high]
    for i, number in enumerate(numbers):
        if number in ("x", "y"):
            arguments.append(f"%{number}_begin")
            continue
        if isinstance(number, str):
            yield f"        %n{i} = arith.index_cast %{number} : index to i32"
            arguments.append(f"%n{i}")
            continue
        yield f"        %n{i} = arith.constant {number} : i32"
        arguments.append(f"%n{i}")
    yield "        %no_scale = arith.constant 0.0 : f32"
    yield (f"        func.call @{kernel.function}({', '.join(arguments)}, %no_scale) : "
           f"({', '.join(parameter_types())}) -> ()")
    yield "        return"
    yield "      }"
