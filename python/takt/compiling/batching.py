"""A function of any number of samples, from one of a single sample."""

from __future__ import annotations

import math
import re
from typing import Iterable, Iterator, Sequence, Tuple

from ..rewriting import lowering

# The importer's function, up to its body.
_HEAD = re.compile(
    r"^  func\.func @(?P<name>[\w.$]+|\"[^\"]*\")\((?P<arguments>.*?)\) -> (?P<results>.*?)"
    r"(?P<attributes> attributes \{.*\})? \{$", re.MULTILINE)
_TENSOR = re.compile(r"!torch\.vtensor<\[([\d,]*)\],(\w+)>")
_RETURN = re.compile(r"^    return (?P<values>.*) : (?P<types>.*)$", re.MULTILINE)
_ONE = "takt_one_sample"

Tensor = Tuple[str, str]  # The sizes, with commas, and the type of the elements.


def of_any_number(mlir: str, is_of_sample: Sequence[bool]) -> str:
    """The program whose function takes and returns N samples in the outermost dimension.

    mlir          of the importer of ONNX, for one sample: the outermost dimension of
                  its results, and of some arguments, is 1.
    is_of_sample  these arguments; the others are the same for all samples.

    One sample is computed as before. Of several, each is computed by itself, one after
    the other. All arguments of samples must have the same number of them; a call with
    others fails.
    """
    head = list(_HEAD.finditer(mlir))[-1]
    attributes = head["attributes"] or ""
    arguments = [(part.split(": ", 1)[0], _TENSOR.search(part).groups())
                 for part in re.split(r", (?=%)", head["arguments"])]
    results = _TENSOR.findall(head["results"])
    end = list(_RETURN.finditer(mlir, head.end()))[-1]
    return "".join([
        mlir[: head.start()],
        _public(head["name"], [kind for _, kind in arguments], results, is_of_sample, attributes),
        _head_of_one(arguments, results, attributes),
        mlir[head.end():end.start()],
        _return_of_one(end, results),
        mlir[end.end():],
    ])


def _public(name: str, arguments: list[Tensor], results: list[Tensor], is_of_sample: Sequence[bool],
            attributes: str) -> str:
    """The function that is called."""
    opened = [_opened(kind) if varies else kind for kind, varies in zip(arguments, is_of_sample)]
    listed = ", ".join(f"%arg{i}: {_torch(kind)}" for i, kind in enumerate(opened))
    answer = [_opened(kind) for kind in results]
    lines = [f"  func.func @{name}({listed}) -> {_tuple(map(_torch, answer))}{attributes} {{"]
    lines += [f"    %t{i} = torch_c.to_builtin_tensor %arg{i} : {_torch(kind)} -> {_builtin(kind)}"
              for i, kind in enumerate(opened)]
    samples = [i for i, varies in enumerate(is_of_sample) if varies]
    lines += ["    %zero = arith.constant 0 : index", "    %one = arith.constant 1 : index"]
    lines += [f"    %n{i} = tensor.dim %t{i}, %zero : {_builtin(opened[i])}" for i in samples]
    number = f"%n{samples[0]}"
    for i in samples[1:]:
        lines += [f"    %same{i} = arith.cmpi eq, {number}, %n{i} : index",
                  f"    cf.assert %same{i}, \"arguments have different numbers of samples\""]
    whole = _tuple(map(_builtin, answer))
    lines += [f"    %is_one = arith.cmpi eq, {number}, %one : index",
              f"    %all:{len(results)} = scf.if %is_one -> {whole} {{",
              *_call_with_all(arguments, opened, results, is_of_sample),
              "    } else {",
              *_call_for_each(arguments, opened, results, is_of_sample, number),
              "    }"]
    lines += [f"    %r{i} = torch_c.from_builtin_tensor %all#{i} : {_builtin(kind)} -> {_torch(kind)}"
              for i, kind in enumerate(answer)]
    lines += [f"    return {_list('%r', len(answer))} : {', '.join(map(_torch, answer))}", "  }", ""]
    return "\n".join(lines)


def _call_with_all(arguments: list[Tensor], opened: list[Tensor], results: list[Tensor],
                   is_of_sample: Sequence[bool]) -> Iterator[str]:
    """The call for the only sample."""
    for i, varies in enumerate(is_of_sample):
        if varies:
            yield f"      %a{i} = tensor.cast %t{i} : {_builtin(opened[i])} to {_builtin(arguments[i])}"
    yield f"      %o:{len(results)} = {_call(is_of_sample, arguments, results)}"
    for i, kind in enumerate(results):
        # Results become parts of one buffer, and the compiler forgets that their offsets differ in
        # the loop. Behind a barrier each is a buffer of its own.
        yield f"      %p{i} = util.optimization_barrier %o#{i} : {_builtin(kind)}"
        yield f"      %d{i} = tensor.cast %p{i} : {_builtin(kind)} to {_builtin(_opened(kind))}"
    yield f"      scf.yield {_list('%d', len(results))} : {', '.join(_builtin(_opened(kind)) for kind in results)}"


def _call_for_each(arguments: list[Tensor], opened: list[Tensor], results: list[Tensor],
                   is_of_sample: Sequence[bool], number: str) -> Iterator[str]:
    """A loop of calls, which puts the results one behind the other.

    The results of a sample are a row of bytes, the larger types first: iree-compile 3.13 makes
    wrong code for some loops that go through several tensors.
    """
    order = sorted(range(len(results)), key=lambda i: -_bytes_of_element(results[i]))
    sizes = {i: math.prod(_sizes(results[i])) * _bytes_of_element(results[i]) for i in order}
    size = sum(sizes.values())
    row, rows = f"tensor<1x{size}xi8>", f"tensor<?x{size}xi8>"
    yield f"      %nothing = tensor.empty({number}) : {rows}"
    yield (f"      %filled = scf.for %i = %zero to {number} step %one iter_args(%before = %nothing) -> "
           f"({rows}) {{")
    for i, varies in enumerate(is_of_sample):
        if varies:
            yield (f"        %a{i} = tensor.extract_slice %t{i}{_place(arguments[i])} : "
                   f"{_builtin(opened[i])} to {_builtin(arguments[i])}")
    yield f"        %o:{len(results)} = {_call(is_of_sample, arguments, results)}"
    for i in order:
        yield from _to_bytes(i, results[i], sizes[i])
    parts = ", ".join(f"tensor<1x{sizes[i]}xi8>" for i in order)
    yield (f"        %row = tensor.concat dim(1) {', '.join(f'%c{i}' for i in order)} : "
           f"({parts}) -> {row}")
    yield (f"        %after = tensor.insert_slice %row into %before[%i, 0] [1, {size}] [1, 1] : {row} into {rows}")
    yield f"        scf.yield %after : {rows}"
    yield "      }"
    begin = 0
    for i in order:
        yield (f"      %part{i} = tensor.extract_slice %filled[0, {begin}] [{number}, {sizes[i]}] [1, 1] : "
               f"{rows} to tensor<?x{sizes[i]}xi8>")
        yield from _of_bytes(i, results[i], sizes[i], number)
        begin += sizes[i]
    whole = [_builtin(_opened(kind)) for kind in results]
    for i, kind in enumerate(whole):
        yield f"      %p{i} = util.optimization_barrier %l{i} : {kind}"
        yield f"      %d{i} = flow.tensor.tie_shape %p{i} : {kind}{{{number}}}"
    yield f"      scf.yield {_list('%d', len(results))} : {', '.join(whole)}"


def _to_bytes(i: int, kind: Tensor, size: int) -> Iterator[str]:
    """A result of the call as %c."""
    stored = _stored(kind)
    # Without the barrier the compiler writes a result into the row before there is one.
    yield f"        %q{i} = util.optimization_barrier %o#{i} : {_builtin(kind)}"
    source = f"%q{i}"
    if stored != kind:
        source = f"%byte{i}"
        yield f"        {source} = arith.extui %q{i} : {_builtin(kind)} to {_builtin(stored)}"
    yield f"        %c{i} = flow.tensor.bitcast {source} : {_builtin(stored)} -> tensor<1x{size}xi8>"


def _of_bytes(i: int, kind: Tensor, size: int, number: str) -> Iterator[str]:
    """The results of all samples as %l, from %part."""
    stored = _stored(kind)
    target = f"%l{i}" if stored == kind else f"%byte{i}"
    yield (f"      {target} = flow.tensor.bitcast %part{i} : tensor<?x{size}xi8>{{{number}}} -> "
           f"{_builtin(_opened(stored))}{{{number}}}")
    if stored != kind:
        yield f"      %l{i} = arith.trunci {target} : {_builtin(_opened(stored))} to {_builtin(_opened(kind))}"


def _stored(kind: Tensor) -> Tensor:
    """A bit has a byte."""
    return kind if kind[1] != "i1" else (kind[0], "i8")


def _call(is_of_sample: Sequence[bool], arguments: list[Tensor], results: list[Tensor]) -> str:
    """The call with a sample, %a, of each argument that has samples."""
    names = [f"%a{i}" if varies else f"%t{i}" for i, varies in enumerate(is_of_sample)]
    kinds = ", ".join(map(_builtin, arguments))
    return f"func.call @{_ONE}({', '.join(names)}) : ({kinds}) -> {_tuple(map(_builtin, results))}"


def _place(kind: Tensor) -> str:
    """The offsets, sizes and strides of sample %i."""
    sizes = kind[0].split(",")
    offsets = ["%i"] + ["0"] * (len(sizes) - 1)
    return f"[{', '.join(offsets)}] [{', '.join(sizes)}] [{', '.join('1' for _ in sizes)}]"


def _head_of_one(arguments: list[tuple[str, Tensor]], results: list[Tensor], attributes: str) -> str:
    listed = ", ".join(f"{name}.takt: {_builtin(kind)}" for name, kind in arguments)
    lines = [f"  func.func private @{_ONE}({listed}) -> {_tuple(map(_builtin, results))}{attributes} {{"]
    lines += [f"    {name} = torch_c.from_builtin_tensor {name}.takt : {_builtin(kind)} -> {_torch(kind)}"
              for name, kind in arguments]
    return "\n".join(lines)


def _return_of_one(end: re.Match, results: list[Tensor]) -> str:
    names = end["values"].split(", ")
    lines = [f"    %takt.result{i} = torch_c.to_builtin_tensor {name} : {_torch(kind)} -> {_builtin(kind)}"
             for i, (name, kind) in enumerate(zip(names, results))]
    lines.append(f"    return {_list('%takt.result', len(results))} : {', '.join(map(_builtin, results))}")
    return "\n".join(lines)


def _torch(kind: Tensor) -> str:
    return f"!torch.vtensor<[{kind[0]}],{kind[1]}>"


def _builtin(kind: Tensor) -> str:
    return lowering.builtin(*kind)


def _bytes_of_element(kind: Tensor) -> int:
    return max(1, int(re.sub(r"\D", "", kind[1])) // 8)


def _sizes(kind: Tensor) -> list[int]:
    return [int(size) for size in kind[0].split(",")]


def _opened(kind: Tensor) -> Tensor:
    return re.sub(r"^1\b", "?", kind[0]), kind[1]


def _tuple(kinds: Iterable[str]) -> str:
    return f"({', '.join(kinds)})"


def _list(stem: str, count: int) -> str:
    return ", ".join(f"{stem}{i}" for i in range(count))
