"""Calls of functions that take buffers and numbers, for `rewriter`."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Iterable, Iterator, Mapping, Sequence

import numpy as np

from ..networks import open_sizes
from . import open_calls


@dataclasses.dataclass(frozen=True)
class OpenRows:
    """The rows of tiles whose work depends on a size that a call finds.

    rows      all of them: a number, the name of a size, or a product as in TiledCall.
    work      of a row, in the same form.
    most      of the work of a tile.
    multiple  A tile has so many rows, or a multiple of them.
    """

    rows: int | str | tuple[Any, ...]
    work: int | str | tuple[Any, ...]
    most: int
    multiple: int


@dataclasses.dataclass(frozen=True)
class TiledCall:
    """A function of the runtime, with all its numbers.

    A workgroup (x, y) calls it with its buffers, each as base, offset and size;
    `numbers`; x; the rows from y * tile_rows on, and how many; `factors`.
    Where sizes of images are known in calls alone, `numbers` begin with kernels::ConvShape and have names of sizes
    there, as kernel_calls.Kernel, or with the name of the number of elements. A row is a pixel, or an element.
    Of other tensors `axes` has the names of each buffer's open sizes, and a number may be a product: (factor, name...).
    """

    function: str  # Such as takt_attention_f32.
    buffers: tuple[str, ...]  # Element types; the last is of the result.
    numbers: tuple[int | str | tuple[Any, ...], ...]  # i32.
    factors: tuple[float, ...]  # f32.
    parts: int  # How many x there are.
    rows: int
    tile_rows: int
    multiply_adds: int
    pads_behind: tuple[int, int] = (0, 0)  # Below and on the right; only of open sizes.
    axes: tuple[tuple[str, ...], ...] = ()
    open_rows: OpenRows | None = None
    open_parts: tuple[int, str] | None = None  # As `parts`: a multiple of a size.

    @property
    def shape(self) -> tuple[int | str, ...]:
        return self.numbers

    @property
    def tile_pixels(self) -> int:
        return self.tile_rows

    @property
    def is_open(self) -> bool:
        return bool(self.axes) or any(isinstance(number, str) for number in self.numbers)

    @property
    def block_tiles(self) -> int:
        return self.parts

    @property
    def pixel_tiles(self) -> int:
        return -(-self.rows // self.tile_rows)


def names_of(sizes: Iterable[open_sizes.Size]) -> dict[open_sizes.Open, str]:
    """The names of open sizes in a call."""
    opened = dict.fromkeys(size for size in sizes if isinstance(size, open_sizes.Open))
    return {size: f"size{i}" for i, size in enumerate(opened)}


def product_of(sizes: open_sizes.Sizes, names: Mapping[open_sizes.Open, str]) -> int | tuple[Any, ...]:
    """The product of sizes as a number of a call."""
    factor = math.prod(size for size in sizes if isinstance(size, int))
    found = [names[size] for size in sizes if isinstance(size, open_sizes.Open)]
    return (factor, *found) if found else factor


def call_of_rows(function: str, buffers: Sequence[str], sizes: open_sizes.Sizes, numbers: tuple[open_sizes.Size, ...],
                 factors: tuple[float, ...], tile: int, work: int = 0) -> TiledCall | None:
    """A call that computes on each row of a tensor alone; None where it has too many numbers or dimensions.

    numbers  that follow the number of rows; sizes of the tensor may be open.
    tile     so many numbers, but at least one row.
    work     multiply-adds of a number."""
    is_open, count = open_sizes.is_open(sizes), math.prod(map(open_sizes.nominal, sizes))
    if not 0 < count < 2**31 or is_open and len(sizes) > open_calls.SIZES_MAX:
        return None
    if isinstance(sizes[-1], open_sizes.Open):
        names = names_of(sizes)
        axes, rows = tuple(names[size] for size in sizes if size in names), product_of(sizes[:-1], names)
        return TiledCall(
            function, tuple(buffers), (rows, *(names.get(number, number) for number in numbers)), factors, 1, 0, 0,
            work * count, axes=(axes, *[()] * (len(buffers) - 2), axes),
            open_rows=OpenRows(rows, names[sizes[-1]], tile, 1))
    rows, most = count // sizes[-1], max(1, tile // sizes[-1])
    if is_open:
        return TiledCall(function, tuple(buffers), (open_calls.ROWS, *numbers), factors, 1, 0, most, work * count)
    return TiledCall(function, tuple(buffers), (rows, *numbers), factors, 1, rows, even_rows(rows, most, 1),
                     work * count)


def even_rows(rows: int, most: int, multiple: int) -> int:
    """Rows of a tile: at most `most`, a multiple, and as many in each."""
    tiles = -(-rows // max(most, multiple))
    each = -(-rows // tiles)
    return min(rows, -(-each // multiple) * multiple)


def parameter_types(call: TiledCall) -> list[str]:
    types = [part for element in call.buffers for part in (f"memref<{element}>", "index", "index")]
    return [*types, *["i32"] * (len(call.numbers) + 3), *["f32"] * len(call.factors)]


def function(name: str, call: TiledCall, types: tuple[str, ...]) -> Iterator[str]:
    """The code of a workgroup: one call for one tile."""
    yield f"      func.func @{name}({', '.join(open_calls.parameters(call, len(types)))}) {{"
    yield "        %zero = arith.constant 0 : index"
    arguments = []
    for i, (element, tensor) in enumerate(zip(call.buffers, types)):
        lines, sized = open_calls.row(call, i, tensor)
        memory = sized.partition("{")[0]
        yield from (f"        {line}" for line in lines)
        yield (f"        %m{i} = stream.binding.subspan %b{i}[%zero] : "
               f"!stream.binding -> {sized}")
        yield (f"        %p{i}, %o{i}, %s{i}, %t{i} = iree_codegen.extract_strided_metadata %m{i} : "
               f"{memory} -> memref<{element}>, index, index, index")
        arguments += [f"%p{i}", f"%o{i}", f"%s{i}"]
    for i, number in enumerate(call.numbers):
        if isinstance(number, tuple):
            yield from _product(f"%n{i}", *number)
        elif isinstance(number, str):
            yield f"        %n{i} = arith.index_cast %{number} : index to i32"
        else:
            yield f"        %n{i} = arith.constant {number} : i32"
        arguments.append(f"%n{i}")
    yield "        %x_index = stream.dispatch.workgroup.id[0] : index"
    yield "        %x = arith.index_cast %x_index : index to i32"
    yield "        %y_index = stream.dispatch.workgroup.id[1] : index"
    yield "        %y = arith.index_cast %y_index : index to i32"
    if call.open_rows is None:
        yield f"        %own_rows = arith.constant {call.tile_rows} : i32"
    else:
        yield f"        %own_rows = arith.index_cast %{open_calls.TILE_ROWS} : index to i32"
    yield "        %begin = arith.muli %y, %own_rows : i32"
    arguments += ["%x", "%begin", "%own_rows"]
    for i, factor in enumerate(call.factors):
        bits = int(np.float32(factor).view(np.uint32))
        yield f"        %f{i} = arith.constant 0x{bits:08X} : f32"
        arguments.append(f"%f{i}")
    yield (f"        func.call @{call.function}({', '.join(arguments)}) : "
           f"({', '.join(parameter_types(call))}) -> ()")
    yield "        return"
    yield "      }"


def _product(result: str, factor: int, *sizes: str) -> Iterator[str]:
    """A product as i32, or the largest number there: a function of the runtime refuses that."""
    yield f"        {result}_0 = arith.constant {factor} : index"
    yield f"        {result}_most = arith.constant {2**31 - 1} : index"
    for i, size in enumerate(sizes):
        yield f"        {result}_{i + 1} = arith.muli {result}_{i}, %{size} : index"
    yield f"        {result}_limited = arith.minui {result}_{len(sizes)}, {result}_most : index"
    yield f"        {result} = arith.index_cast {result}_limited : index to i32"
