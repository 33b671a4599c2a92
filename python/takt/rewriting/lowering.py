"""The calls of kernels that `rewriter` makes, in the MLIR that the importer makes of its network."""

from __future__ import annotations

import re
from typing import Iterator, Union

import numpy as np

from . import byte_calls, open_calls, tiled_calls
from .kernel_calls import ACTIVATIONS, Kernel

AnyKernel = Union[Kernel, byte_calls.ByteCall, tiled_calls.TiledCall]

# The importer's line of a kernel, of images whose pixels are repeated, or of a tensor that is to be computed before
# what reads it.
_OPERATOR = re.compile(
    r"^(?P<indent>\s*)(?P<result>%[\w.]+) = torch\.operator "
    r"\"onnx\.(?:takt\.)?Takt(?P<kind>Kernel|Barrier|Place|Repeat|Steps|Update)\""
    r"\((?P<inputs>[^)]*)\) (?:\{(?P<attributes>[^}]*)\} )?: \((?P<types>.*)\) -> (?P<type>!torch\.vtensor<.*>)\s*$"
)
_TENSOR = re.compile(r"!torch\.vtensor<\[([\d,?\s]*)\],(\w+)>")


def lower(mlir: str, kernels: list[AnyKernel]) -> str:
    """Replaces the importer's calls of kernels by dispatches."""
    lines = []
    exports: dict[tuple[int, tuple[str, ...]], str] = {}
    for line in mlir.split("\n"):
        match = _OPERATOR.match(line)
        if match is None:
            lines.append(line)
            continue
        inputs = [name.strip() for name in match["inputs"].split(",")]
        types = [builtin(*found) for found in _TENSOR.findall(match["types"])]
        result_type = builtin(*_TENSOR.match(match["type"]).groups())
        indent, result = match["indent"], match["result"]
        stem = f"%takt_{result[1:]}"  # A number alone takes no suffix.
        torch_types = re.findall(r"!torch\.vtensor<[^>]*>", match["types"])
        operands = []
        for i, (operand, torch_type, kind) in enumerate(zip(inputs, torch_types, types)):
            operands.append(f"{stem}_{i}")
            lines.append(f"{indent}{operands[-1]} = torch_c.to_builtin_tensor {operand} : {torch_type} -> {kind}")
        if match["kind"] == "Barrier":
            lines += [indent + line for line in open_calls.barrier(stem, operands[0], result_type)]
        elif match["kind"] == "Repeat":
            factors = (_attribute(match["attributes"], name) for name in ("up", "across"))
            lines += [indent + line for line in open_calls.repeat(stem, operands[0], types[0], result_type, *factors)]
        elif match["kind"] == "Place":
            stride, is_inner = (_attribute(match["attributes"], name) for name in ("stride", "is_inner"))
            lines += [indent + line for line in open_calls.place(
                stem, operands[0], types[0], result_type, stride, bool(is_inner))]
        elif match["kind"] == "Update":
            channel = _attribute(match["attributes"], "channel")
            lines += [indent + line for line in open_calls.update(stem, *operands, types, channel)]
        else:
            if match["kind"] == "Steps":  # Of known ones, a call computes some.
                given, kind = operands[0], types[0]
                operands[0], types[0] = f"{stem}_given", open_calls.of_any_rows(kind)
                lines.append(f"{indent}{operands[0]} = tensor.cast {given} : {kind} to {types[0]}")
            index = _attribute(match["attributes"], "kernel")
            is_tied = getattr(kernels[index], "is_tied", False)
            bindings = tuple(types) if is_tied else (*types, result_type)
            name = exports.setdefault((index, bindings), f"k{len(exports)}_{_title(kernels[index])}")
            if match["kind"] == "Steps":
                count, behind = (_attribute(match["attributes"], name) for name in ("steps", "behind"))
                call = open_calls.steps(stem, name, kernels[index], operands, types, result_type, count, behind)
                lines += [indent + line for line in call]
            elif kernels[index].is_open:
                call = open_calls.dispatch(stem, name, kernels[index], operands, types, result_type)
                lines += [indent + line for line in call]
            else:
                lines.append(
                    f"{indent}{stem}_r = flow.dispatch @takt_kernels::@{name}({', '.join(operands)}) : "
                    f"({', '.join(types)}) -> {operands[0] if is_tied else result_type}")
        lines.append(
            f"{indent}{result} = torch_c.from_builtin_tensor {stem}_r : {result_type} -> {match['type']}")
    if not exports:
        return mlir
    begin = next(i for i, line in enumerate(lines) if line.startswith("module"))
    return "\n".join([*lines[: begin + 1], *_executable(exports, kernels), *lines[begin + 1:]])


def _title(kernel: AnyKernel) -> str:
    """Its name in traces: its function, and of a convolution or a pool the window, the input channels that a result
    channel has, the result channels, and the height and width of the result."""
    title = kernel.function.removeprefix("takt_")
    if "2d" not in title:
        return title
    shape = kernel.numbers[:16] if isinstance(kernel, tiled_calls.TiledCall) else kernel.shape
    _, _, _, c, oh, ow, oc, kh, kw, *_, groups = shape
    window, result = ("open" if isinstance(height, str) or isinstance(width, str) else f"{height}x{width}"
                      for height, width in ((kh, kw), (oh, ow)))
    return f"{title}_{window}_{c // groups}to{oc}_{result}"


def _attribute(attributes: str, name: str) -> int:
    return int(re.search(rf"torch\.onnx\.{name} = (\d+)", attributes).group(1))


def builtin(dimensions: str, element: str) -> str:
    """The type of a torch.vtensor in the dialects of the compiler."""
    sizes = [d.strip() for d in dimensions.split(",") if d.strip()]
    # Integers have signs there, and none here.
    return "tensor<" + "".join(f"{d}x" for d in sizes) + re.sub("^[su](?=i)", "", element) + ">"


def _executable(exports: dict[tuple[int, tuple[str, ...]], str], kernels: list[AnyKernel]) -> Iterator[str]:
    yield "  stream.executable private @takt_kernels {"
    for (index, _), name in exports.items():
        kernel = kernels[index]
        pixels, blocks = ("x", "y") if isinstance(kernel, Kernel) else ("y", "x")
        found = open_calls.found_tiles(kernel, pixels, blocks)
        arguments = ", ".join(f"%{axis}: index" for axis in found)
        yield f"    stream.executable.export public @{name} workgroups({arguments}) -> (index, index, index) {{"
        for axis in ("x", "y"):
            if axis not in found:
                tiles = kernel.pixel_tiles if axis == pixels else kernel.block_tiles
                yield f"      %{axis} = arith.constant {tiles} : index"
        yield "      %z = arith.constant 1 : index"
        yield "      stream.return %x, %y, %z : index, index, index"
        yield "    }"
    yield "    builtin.module {"
    used = {kernels[index].function: kernels[index] for index, _ in exports}
    for function in sorted(used):
        if isinstance(used[function], tiled_calls.TiledCall):
            types, result = ", ".join(tiled_calls.parameter_types(used[function])), ""
        elif function.endswith("_i8"):
            types, result = ", ".join(byte_calls.parameter_types()), ""
        else:
            types, result = ", ".join(_parameter_types("pool" in function)), "-> i32 "
        yield f"      func.func private @{function}({types}) {result}attributes {{llvm.bareptr = true}}"
    for (index, types), name in exports.items():
        kernel = kernels[index]
        if isinstance(kernel, byte_calls.ByteCall):
            yield from byte_calls.function(name, kernel, types)
        elif isinstance(kernel, tiled_calls.TiledCall):
            yield from tiled_calls.function(name, kernel, types)
        else:
            yield from _function(name, kernel, types)
    yield "    }"
    yield "  }"


def _parameter_types(is_pool: bool) -> list[str]:
    memories = 2 if is_pool else 5
    # Memory and offset each; then the shape, a flag, and the tile.
    types = ["memref<f32>", "index"] * memories + ["index"] * (16 + 1 + 4)
    return types if is_pool else [*types, "f32", "f32"]


def _function(name: str, kernel: Kernel, types: tuple[str, ...]) -> Iterator[str]:
    yield f"      func.func @{name}({', '.join(open_calls.parameters(kernel, len(types)))}) {{"
    yield "        %zero = arith.constant 0 : index"
    memories = []
    for i, tensor in enumerate(types):
        lines, sized = open_calls.row(kernel, i, tensor) if "?" in tensor else ([], tensor.replace("tensor", "memref"))
        yield from (f"        {line}" for line in lines)
        memory = sized.partition("{")[0]
        rank = memory.count("x")
        yield (f"        %m{i} = stream.binding.subspan %b{i}[%zero] : !stream.binding -> {sized}")
        parts = f"%p{i}, %o{i}" + (f", %s{i}:{rank}, %t{i}:{rank}" if rank else "")
        indices = ", ".join(["index"] * (2 * rank + 1))
        yield (f"        {parts} = iree_codegen.extract_strided_metadata %m{i} : {memory} -> "
               f"memref<f32>, {indices}")
        memories.append((f"%p{i}", f"%o{i}"))
    numbers = [*kernel.shape]
    if kernel.is_pool:
        order = [memories[0], memories[1]]
        numbers.append(int(kernel.count_padding))
    else:
        output = memories.pop(0 if kernel.is_tied else -1)
        operands = memories
        if kernel.joined is not None:
            yield f"        %first = arith.constant {kernel.joined[0]} : index"
            yield f"        %joined = arith.addi {output[1]}, %first : index"
            output = (output[0], "%joined")
        residual = operands.pop() if kernel.has_residual else operands[-1]
        # The parts of Winograd's method have no weights, or no bias either.
        operands += operands[-1:] * (3 - len(operands))
        order = [*operands, residual, output]
        # Bit 0: a residual; from bit 8: the activation; from bit 16: the channels of a wider result.
        channels = kernel.joined[1] if kernel.joined is not None else 0
        numbers.append(int(kernel.has_residual) | ACTIVATIONS.index(kernel.activation) << 8 | channels << 16)
    arguments = [part for memory in order for part in memory]
    for i, number in enumerate(numbers):
        if isinstance(number, str):
            arguments.append(f"%{number}")
            continue
        yield f"        %n{i} = arith.constant {number} : index"
        arguments.append(f"%n{i}")
    # Neighbours share weights, which a core then has in its cache.
    yield "        %x = stream.dispatch.workgroup.id[1] : index"
    yield "        %y = stream.dispatch.workgroup.id[0] : index"
    yield f"        %xs = arith.constant {kernel.block_tiles} : index"
    if not kernel.is_open:
        yield f"        %ys = arith.constant {kernel.pixel_tiles} : index"
    arguments += ["%x", "%xs", "%y", "%ys"]
    if not kernel.is_pool:
        for label, value in (("low", kernel.low), ("high", kernel.high)):
            bits = int(np.float32(value).view(np.uint32))
            yield f"        %{label} = arith.constant 0x{bits:08X} : f32"
            arguments.append(f"%{label}")
    yield (f"        %r = func.call @{kernel.function}({', '.join(arguments)}) : "
           f"({', '.join(_parameter_types(kernel.is_pool))}) -> i32")
    yield "        return"
    yield "      }"
