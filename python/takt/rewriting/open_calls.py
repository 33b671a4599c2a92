"""What is done to images whose sizes are known in calls alone, in MLIR: for `lowering`."""

from __future__ import annotations

import functools
import math
import re
from typing import Any, Iterator

from .kernel_calls import WINOGRAD, Kernel

_TILES_MAX = 1 << 20  # As kTilesMax in src/cpu/kernel_imports.cc.
_SQUARE = 4
_IN, _OUT = ("n", "h", "w"), ("n", "oh", "ow")
_LAST = "last"  # The fourth size of what a call takes element by element.
# By `auto_pad`: the names of the padding above and on the left that calls compute.
MARGINS = {b"SAME_UPPER": ("upper_h", "upper_w"), b"SAME_LOWER": ("lower_h", "lower_w")}
SIZES_MAX = 4  # A tensor whose rows a call counts has so many dimensions at most.
COUNT = "count"  # Of elements, in place of sizes.
ROWS = "rows"  # All of a tensor but its last dimension.
STEPS, RESULTS = "steps", "results"  # Of one call of a recurrent layer, and how many states it gives.
SEQUENCES = "sequences"  # That a recurrent layer has at once.
TILE_ROWS = "tile_rows"  # How many rows a tile has, where a call finds it.


class _Computation:
    """Lines that compute indices."""

    def __init__(self, stem: str) -> None:
        self.stem = stem
        self.lines: list[str] = []

    def number(self, value: int) -> str:
        return self.add(f"arith.constant {value} : index")

    def compute(self, operation: str, left: str, right: str) -> str:
        return self.add(f"arith.{operation} {left}, {right} : index")

    def add(self, operation: str) -> str:
        name = f"{self.stem}_i{len(self.lines)}"
        self.lines.append(f"{name} = {operation}")
        return name


def dispatch(stem: str, name: str, kernel: Any, operands: list[str], types: list[str], result: str) -> list[str]:
    """The dispatch of such a kernel, with what computes the sizes of its result and the number of its tiles.

    stem    of the names of values: the result is `stem`_r.
    name    that `lowering` exports.
    result  the type of the result."""
    made = _Computation(stem)
    sizes = _sizes(made, kernel, operands, types)
    tiles = _tiles(made, kernel, sizes)
    numbers = [*(sizes[size] for size in open_sizes(kernel)), tiles]
    workload = tiles
    if _open_parts(kernel) is not None:
        factor, size = kernel.open_parts
        workload += f", {made.compute('muli', sizes[size], made.number(factor))}"
    kinds = [_with_sizes(kind, sizes, _names(kernel, i, kind)) for i, kind in enumerate(types)]
    sized = _with_sizes(result, sizes, _names(kernel, len(types), result))
    if _image_of(kernel):  # The result is the first operand.
        sized = operands[0] + sized[len(result):]
    made.lines.append(
        f"{stem}_r = flow.dispatch @takt_kernels::@{name}[{workload}]({', '.join([*operands, *numbers])}) : "
        f"({', '.join([*kinds, *['index'] * len(numbers)])}) -> {sized}")
    return made.lines


def steps(stem: str, name: str, kernel: Any, operands: list[str], types: list[str], result: str, count: int,
          behind: int) -> list[str]:
    """A recurrent layer in a loop of dispatches. Each computes rows of the result from those before them. There is a
    turn for no steps as well: the compiler frees the state of a loop that can have no turn too early.

    operands  what the gates get from the input, weights, and last the state before the first step, and the cell.
    result    the type of the states: those before the first step, of each step, and `behind` further rows.
    count     the steps of a dispatch.
    behind    how many rows follow those of the steps: the cell's.
    """
    made, turn = _Computation(stem), _Computation(f"{stem}_t")
    first, states = f"{stem}_first", f"{stem}_all"
    befores, kinds = operands[-1 - behind:], types[-1 - behind:]
    zero, one, most = (made.number(value) for value in (0, 1, count))
    all_steps = made.add(f"tensor.dim {operands[0]}, {zero} : {types[0]}")
    end = made.compute("maxui", all_steps, one)
    found = {}
    if SEQUENCES in open_sizes(kernel):
        found[SEQUENCES] = made.add(f"tensor.dim {operands[0]}, {one} : {types[0]}")
        tiles = made.compute("ceildivui", found[SEQUENCES], made.number(kernel.tile_rows))
    else:
        tiles = made.number(kernel.pixel_tiles)
    # Behind a barrier, so that no two layers have one size: the compiler would give both one buffer for their states.
    height = made.add(f"util.optimization_barrier {made.compute('addi', all_steps, made.number(1 + behind))} : index")
    wide = ", ".join([height, *found.values()])
    empty = made.add(f"tensor.empty({wide}) : {result}")

    def rows(begin: str, count: str, kind: str) -> str:
        sequences, numbers = _dimensions(kind)[1:]
        return f"[{begin}, 0, 0] [{count}, {found.get(SEQUENCES, sequences)}, {numbers}] [1, 1, 1]"

    for row, (state, kind) in enumerate(zip(befores, kinds)):
        empty = made.add(f"tensor.insert_slice {state} into {empty}{rows(str(row), '1', kind)} : {kind} into {result}")
    made.lines += barrier(f"{stem}_s", empty, result)  # Else the compiler can forget where they are: compiling.states.
    own = turn.compute("minui", turn.compute("subi", all_steps, first), most)
    part = turn.add(f"tensor.extract_slice {operands[0]}{rows(first, own, types[0])} : {types[0]} to {types[0]}")
    given = [part, *operands[1:-1 - behind]]
    for row, kind in enumerate(kinds):
        place = turn.compute("addi", first, turn.number(row))
        given.append(turn.add(f"tensor.extract_slice {states}{rows(place, '1', kind)} : {result} to {kind}"))
    found |= {STEPS: own, RESULTS: turn.compute("addi", own, turn.number(behind))}
    tiles = turn.compute("minui", tiles, turn.compute("muli", own, tiles))
    numbers = [*(found[size] for size in open_sizes(kernel)), tiles]
    shown = [_with_sizes(kind, found, _names(kernel, i, kind)) for i, kind in enumerate(types)]
    new = turn.add(
        f"flow.dispatch @takt_kernels::@{name}[{tiles}]({', '.join([*given, *numbers])}) : "
        f"({', '.join([*shown, *['index'] * len(numbers)])}) -> "
        f"{_with_sizes(result, found, _names(kernel, len(types), result))}")
    written = turn.compute("minui", found[RESULTS], turn.compute("muli", own, turn.number(1 + behind)))
    new = turn.add(f"tensor.extract_slice {new}{rows(zero, written, result)} : {result} to {result}")
    place = rows(turn.compute("addi", first, one), written, result)
    put = turn.add(f"tensor.insert_slice {new} into {states}{place} : {result} into {result}")
    return [
        *made.lines,
        f"{stem}_r = scf.for {first} = {zero} to {end} step {most} iter_args({states} = {stem}_s_r) -> ({result}) {{",
        *(f"  {line}" for line in turn.lines),
        f"  scf.yield {put} : {result}",
        "}",
    ]


def of_any_rows(kind: str) -> str:
    """A type of tensors, with an open size of the outermost dimension."""
    return re.sub(r"^tensor<\d+x", "tensor<?x", kind)


def barrier(stem: str, operand: str, kind: str) -> list[str]:
    """The tensor `stem`_r, which is the operand in a buffer of its own, computed before what reads it. The compiler
    does not see its sizes behind a barrier."""
    if "?" not in kind:
        return [f"{stem}_r = util.optimization_barrier {operand} : {kind}"]
    made = _Computation(stem)
    sizes = _open_dims(made, operand, kind).values()
    apart = made.add(f"util.optimization_barrier {operand} : {kind}")
    return [*made.lines, f"{stem}_r = flow.tensor.tie_shape {apart} : {kind}{{{', '.join(sizes)}}}"]


def place(stem: str, image: str, kind: str, result: str, stride: int, is_inner: bool) -> list[str]:
    """Squares of pixels, which are the outer part of the channels or the inner one, in their places."""
    made = _Computation(stem)
    *sizes, channels, element = kind[len("tensor<"):-1].split("x")
    each = str(int(channels) // stride**2)
    square = [str(stride)] * 2
    parts = [each, *square] if is_inner else [*square, each]
    wide = f"tensor<{'x'.join([*sizes, *parts, element])}>"
    dims = _open_dims(made, image, kind)
    whole = ", ".join([*(dims.get(axis, size) for axis, size in enumerate(sizes)), *parts])
    split = made.add(
        f"tensor.expand_shape {image} [[0], [1], [2], [3, 4, 5]] output_shape [{whole}] : {kind} into {wide}")
    axes = "n, h, w, c, u, a" if is_inner else "n, h, w, u, a, c"
    return _placed(made, split, wide, axes, (*sizes, stride, stride, each), dims, result)


def update(stem: str, whole: str, part: str, types: list[str], channel: int) -> list[str]:
    """A copy of a tensor into the channels of a wider one from `channel` on.

    types  of the wider tensor, and of the other."""
    made, sizes = _Computation(stem), _dimensions(types[1])
    dims = _open_dims(made, part, types[1])
    corner = ", ".join([*["0"] * (len(sizes) - 1), str(channel)])
    wide = ", ".join(dims.get(axis, size) for axis, size in enumerate(sizes))
    return [*made.lines, f"{stem}_r = tensor.insert_slice {part} into {whole}[{corner}] [{wide}] "
                         f"[{', '.join('1' * len(sizes))}] : {types[1]} into {types[0]}"]


def repeat(stem: str, image: str, kind: str, result: str, up: int, across: int) -> list[str]:
    """Each pixel so many times below and beside itself."""
    made = _Computation(stem)
    *sizes, channels, _ = kind[len("tensor<"):-1].split("x")
    dims = _open_dims(made, image, kind)
    return _placed(made, image, kind, "n, h, w, c", (*sizes, up, across, channels), dims, result)


def _open_dims(made: _Computation, tensor: str, kind: str) -> dict[int, str]:
    """The values of its open sizes by their axes."""
    return {axis: made.add(f"tensor.dim {tensor}, {made.number(axis)} : {kind}")
            for axis, size in enumerate(_dimensions(kind)) if size == "?"}


def _placed(made: _Computation, source: str, kind: str, axes: str, sizes: tuple[Any, ...], dims: dict[int, str],
            result: str) -> list[str]:
    """Lines that make an image of h * u rows and w * a columns.

    axes   those of the source, by their names.
    sizes  n, h, w, u, a and c; `dims` has the values of those that are open.
    """
    n, h, w, u, a, c = map(str, sizes)
    element = kind[:-1].rpartition("x")[2]
    wide = f"tensor<{'x'.join([n, h, u, w, a, c, element])}>"
    empty = made.add(f"tensor.empty({', '.join(dims.values())}) : {wide}")
    whole, parallel = "(n, h, u, w, a, c)", ", ".join(['"parallel"'] * 6)
    stem = made.stem
    return [
        *made.lines,
        f"{stem}_wide = linalg.generic {{indexing_maps = [affine_map<{whole} -> ({axes})>, "
        f"affine_map<{whole} -> {whole}>], iterator_types = [{parallel}]}} "
        f"ins({source} : {kind}) outs({empty} : {wide}) {{",
        f"^bb0(%in: {element}, %out: {element}):",
        f"  linalg.yield %in : {element}",
        f"}} -> {wide}",
        f"{stem}_r = tensor.collapse_shape {stem}_wide [[0], [1, 2], [3, 4], [5]] : {wide} into {result}",
    ]


def is_lower(margin: str) -> int:
    """1 if the margin has what is left of an odd number, else 0."""
    return int(margin in MARGINS[b"SAME_LOWER"])


def open_sizes(kernel: Any) -> list[str]:
    """The sizes that a call of the kernel finds, in the order in which its code gets them."""
    axes = (size for names in getattr(kernel, "axes", ()) for size in names)
    names = dict.fromkeys([*(size for size in kernel.shape if isinstance(size, str)), *axes])
    return [*names, *([TILE_ROWS] if _open_rows(kernel) is not None else [])]


def _open_rows(kernel: Any) -> Any:
    return getattr(kernel, "open_rows", None)


def _open_parts(kernel: Any) -> Any:
    return getattr(kernel, "open_parts", None)


def found_tiles(kernel: Any, pixels: str, blocks: str) -> list[str]:
    """Those of the axes `pixels` and `blocks` of a grid whose lengths a call finds, in the order of the dispatch."""
    return [*([pixels] if kernel.is_open else []), *([blocks] if _open_parts(kernel) is not None else [])]


def _image_of(kernel: Any) -> int:
    """The binding of the image: behind the wider tensor into which the kernel writes its channels, if there is one."""
    return int(getattr(kernel, "is_tied", False))


def _names(kernel: Any, binding: int, tensor: str) -> list[str]:
    """The names of the sizes of a binding, "" for one that is known."""
    axes = getattr(kernel, "axes", ())
    if not axes:
        return [*(_IN if binding == _image_of(kernel) else _OUT), _LAST]
    names = iter(axes[binding])
    return [next(names) if size == "?" else "" for size in _dimensions(tensor)]


def _dimensions(tensor: str) -> list[str]:
    return tensor[len("tensor<"):-1].split("x")[:-1]


def row(kernel: Any, binding: int, tensor: str) -> tuple[list[str], str]:
    """A tensor in the code of a kernel as a row of memory: lines that compute its size, and its type with that size."""
    sizes, element = _dimensions(tensor), tensor[:-1].rpartition("x")[2].removeprefix("tensor<")
    if "?" not in sizes:
        return [], f"memref<{math.prod(map(int, sizes))}x{element}>"
    if COUNT in open_sizes(kernel):
        return [], f"memref<?x{element}>{{%{COUNT}}}"
    made = _Computation(f"%a{binding}")
    if ROWS in open_sizes(kernel):
        size = made.compute("muli", f"%{ROWS}", made.number(int(sizes[-1])))
        return made.lines, f"memref<?x{element}>{{{size}}}"
    size = made.number(1)
    for part, name in zip(sizes, _names(kernel, binding, tensor)):
        size = made.compute("muli", size, f"%{name}" if part == "?" else made.number(int(part)))
    return made.lines, f"memref<?x{element}>{{{size}}}"


def _sizes(made: _Computation, kernel: Any, operands: list[str], types: list[str]) -> dict[str, str]:
    """The values of sizes by their names."""
    if getattr(kernel, "axes", ()):
        return _named_sizes(made, kernel, operands, types)
    image, kind = (each[_image_of(kernel)] for each in (operands, types))
    names, sizes = open_sizes(kernel), _dimensions(kind)
    found = {name: made.add(f"tensor.dim {image}, {made.number(axis)} : {kind}")
             for axis, (name, size) in enumerate(zip((*_IN, _LAST), sizes)) if size == "?"}
    whole = {COUNT: sizes, ROWS: sizes[:-1]}
    for product in (each for each in whole if each in names):
        found[product] = made.number(1)
        for name, size in zip((*_IN, _LAST), whole[product]):
            found[product] = made.compute(
                "muli", found[product], found[name] if size == "?" else made.number(int(size)))
        return {**found, **{out: found[name] for name, out in zip(_IN, _OUT) if name in found}}
    for axis, size in enumerate(_OUT[1:]):
        if size not in names:
            continue
        source = found[_IN[1 + axis]]
        taps, stride, dilation, before = kernel.shape[7 + axis:15:2]
        if isinstance(before, str):
            found[size] = made.compute("ceildivui", source, made.number(stride))
            reach = made.compute("muli", found[size], made.number(stride))
            reach = made.compute("addi", reach, made.number(dilation * (taps - 1) + 1 - stride))
            total = made.compute("maxsi", made.compute("subi", reach, source), made.number(0))
            total = made.compute("addi", total, made.number(is_lower(before)))
            found[before] = made.compute("divui", total, made.number(2))
            continue
        missing = before + kernel.pads_behind[axis] - dilation * (taps - 1) - 1
        if stride == 1 and missing == -1:
            found[size] = source
        else:  # (source + missing) / stride + 1 windows; none where a window is larger than the image.
            room = made.compute("maxsi", made.compute("addi", source, made.number(missing + stride)), made.number(0))
            found[size] = made.compute("divui", room, made.number(stride))
    return found


def _named_sizes(made: _Computation, kernel: Any, operands: list[str], types: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for binding, (operand, kind) in enumerate(zip(operands, types)):
        for axis, name in enumerate(_names(kernel, binding, kind)):
            if name and name not in found:
                found[name] = made.add(f"tensor.dim {operand}, {made.number(axis)} : {kind}")
    opened = kernel.open_rows
    if opened is not None:
        work = _product(made, opened.work, found)
        if not isinstance(opened.work, int):
            work = made.compute("maxui", work, made.number(1))
        work = made.compute("muli", work, made.number(opened.multiple))
        parts = made.compute("divui", made.number(opened.most), work)
        found[TILE_ROWS] = made.compute("muli", made.compute("maxui", parts, made.number(1)),
                                        made.number(opened.multiple))
    return found


def _tiles(made: _Computation, kernel: Any, sizes: dict[str, str]) -> str:
    """The number of tiles of pixels, or of elements: at least one, which says that images are smaller than a window."""
    opened = _open_rows(kernel)
    if opened is not None:
        pixels = _product(made, opened.rows, sizes)
    else:
        pixels = sizes.get(COUNT) or sizes.get(ROWS) or _pixels(made, kernel, sizes)
    tiles = made.compute("ceildivui", pixels, sizes.get(TILE_ROWS) or made.number(kernel.tile_pixels))
    if ROWS not in sizes and opened is None:
        tiles = made.compute("maxui", tiles, made.number(1))
    # Equal parts may be larger; those of other calls may not.
    return made.compute("minui", tiles, made.number(_TILES_MAX)) if isinstance(kernel, Kernel) else tiles


def _product(made: _Computation, factors: Any, sizes: dict[str, str]) -> str:
    """A number, the value of a size, or the product of several of these."""
    if isinstance(factors, str):
        return sizes[factors]
    if isinstance(factors, int):
        return made.number(factors)
    first, *rest = (_product(made, factor, sizes) for factor in factors)
    return functools.reduce(lambda found, each: made.compute("muli", found, each), rest, first)


def _pixels(made: _Computation, kernel: Any, sizes: dict[str, str]) -> str:
    """The pixels of the result, or the squares of Winograd's method."""
    n, oh, ow = (sizes[size] if isinstance(size, str) else made.number(size)
                 for size in (kernel.shape[0], *kernel.shape[4:6]))
    if kernel.function == WINOGRAD:
        oh, ow = (made.compute("ceildivui", size, made.number(_SQUARE)) for size in (oh, ow))
    return made.compute("muli", made.compute("muli", n, oh), ow)


def _with_sizes(tensor: str, sizes: dict[str, str], names: tuple[str, ...]) -> str:
    """A type, with the values of its open sizes behind it."""
    found = [sizes[name] for size, name in zip(_dimensions(tensor), names) if size == "?"]
    return tensor + (f"{{{', '.join(found)}}}" if found else "")


def parameters(kernel: Any, buffers: int) -> Iterator[str]:
    """What the kernel's code takes: its buffers, open sizes, and then the number of tiles."""
    yield from (f"%b{i}: !stream.binding" for i in range(buffers))
    if kernel.is_open:
        yield from (f"%{size}: index" for size in open_sizes(kernel))
        yield "%ys: index"
