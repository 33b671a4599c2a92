"""What is done to images whose sizes are known in calls alone, in MLIR: for `lowering`."""

from __future__ import annotations

from typing import Iterator

from .kernel_calls import WINOGRAD, Kernel

_TILES_MAX = 1 << 20  # As kTilesMax in src/cpu/kernel_imports.cc.
_SQUARE = 4
_IN, _OUT = ("n", "h", "w"), ("n", "oh", "ow")


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


def dispatch(stem: str, name: str, kernel: Kernel, operands: list[str], types: list[str], result: str) -> list[str]:
    """The dispatch of such a kernel, with what computes the sizes of its result and the number of its tiles.

    stem    of the names of values: the result is `stem`_r.
    name    that `lowering` exports.
    result  the type of the result."""
    made = _Computation(stem)
    sizes = _sizes(made, kernel, operands[0], types[0])
    tiles = _tiles(made, kernel, sizes)
    numbers = [*(sizes[size] for size in open_sizes(kernel)), tiles]
    kinds = [_with_sizes(kind, sizes, _IN if i == 0 else _OUT) for i, kind in enumerate(types)]
    made.lines.append(
        f"{stem}_r = flow.dispatch @takt_kernels::@{name}[{tiles}]({', '.join([*operands, *numbers])}) : "
        f"({', '.join([*kinds, *['index'] * len(numbers)])}) -> {_with_sizes(result, sizes, _OUT)}")
    return made.lines


def repeat(stem: str, image: str, kind: str, result: str, up: int, across: int) -> list[str]:
    """Each pixel so many times below and beside itself."""
    made = _Computation(stem)
    *sizes, element = kind[len("tensor<"):-1].split("x")
    n, h, w, c = sizes
    wide = f"tensor<{'x'.join([n, h, str(up), w, str(across), c, element])}>"
    dims = [made.add(f"tensor.dim {image}, {made.number(axis)} : {kind}")
            for axis, size in enumerate(sizes) if size == "?"]
    empty = made.add(f"tensor.empty({', '.join(dims)}) : {wide}")
    whole, parallel = "(n, h, u, w, a, c)", ", ".join(['"parallel"'] * 6)
    lines = [
        f"{stem}_wide = linalg.generic {{indexing_maps = [affine_map<{whole} -> (n, h, w, c)>, "
        f"affine_map<{whole} -> {whole}>], iterator_types = [{parallel}]}} "
        f"ins({image} : {kind}) outs({empty} : {wide}) {{",
        f"^bb0(%in: {element}, %out: {element}):",
        f"  linalg.yield %in : {element}",
        f"}} -> {wide}",
        f"{stem}_r = tensor.collapse_shape {stem}_wide [[0], [1, 2], [3, 4], [5]] : {wide} into {result}",
    ]
    return [*made.lines, *lines]


def open_sizes(kernel: Kernel) -> list[str]:
    """The sizes that a call of the kernel finds, in the order in which its code gets them."""
    return list(dict.fromkeys(size for size in kernel.shape if isinstance(size, str)))


def memory(made: list[str], i: int, tensor: str, kernel: Kernel) -> str:
    """The type of a tensor in the kernel's code as memory, with the value of its size behind it; `made` gets lines."""
    parts = tensor[len("tensor<"):-1].split("x")
    if "?" not in parts:
        return tensor.replace("tensor", "memref")
    computation = _Computation(f"%a{i}")
    size = computation.number(1)
    for part, name in zip(parts[:-1], [*(_IN if i == 0 else _OUT), ""]):
        factor = f"%{name}" if part == "?" else computation.number(int(part))
        size = computation.compute("muli", size, factor)
    made += computation.lines
    return f"memref<?x{parts[-1]}>{{{size}}}"


def _sizes(made: _Computation, kernel: Kernel, image: str, kind: str) -> dict[str, str]:
    """The values of sizes by their names."""
    names = open_sizes(kernel)
    found = {size: made.add(f"tensor.dim {image}, {made.number(axis)} : {kind}")
             for axis, size in enumerate(_IN) if size in names}
    for axis, size in enumerate(_OUT[1:]):
        if size not in names:
            continue
        source = found[_IN[1 + axis]]
        taps, stride, dilation, before = kernel.shape[7 + axis:15:2]
        missing = before + kernel.pads_behind[axis] - dilation * (taps - 1) - 1
        if stride == 1 and missing == -1:
            found[size] = source
        else:  # (source + missing) / stride + 1 windows; none where a window is larger than the image.
            room = made.compute("maxsi", made.compute("addi", source, made.number(missing + stride)), made.number(0))
            found[size] = made.compute("divui", room, made.number(stride))
    return found


def _tiles(made: _Computation, kernel: Kernel, sizes: dict[str, str]) -> str:
    """The number of tiles of pixels: at least one."""
    n, oh, ow = (sizes[size] if isinstance(size, str) else made.number(size)
                 for size in (kernel.shape[0], *kernel.shape[4:6]))
    if kernel.function == WINOGRAD:
        oh, ow = (made.compute("ceildivui", size, made.number(_SQUARE)) for size in (oh, ow))
    pixels = made.compute("muli", made.compute("muli", n, oh), ow)
    tiles = made.compute("ceildivui", pixels, made.number(kernel.tile_pixels))
    return made.compute("minui", made.compute("maxui", tiles, made.number(1)), made.number(_TILES_MAX))


def _with_sizes(tensor: str, sizes: dict[str, str], names: tuple[str, ...]) -> str:
    """A type, with the values of its open sizes behind it."""
    parts = tensor[len("tensor<"):-1].split("x")[:-1]
    found = [sizes[name] for part, name in zip(parts, names) if part == "?"]
    return tensor + (f"{{{', '.join(found)}}}" if found else "")


def parameters(kernel: Kernel) -> Iterator[str]:
    """What the kernel's code takes behind its buffers."""
    yield from (f"%{size}: index" for size in open_sizes(kernel))
    yield "%ys: index"
