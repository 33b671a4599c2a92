"""A function of any number of samples, from those of a known number."""

from __future__ import annotations

import math
import re
from typing import Generator, Iterator, Mapping, Sequence

from . import programs
from .programs import Program, Tensor, builtin


def of_any_number(texts: Mapping[int, str], axes: Sequence[int | None], result_axes: Sequence[int]) -> str:
    """The program whose function takes and returns N samples.

    texts        of the importer of ONNX, by the number of samples, which is a dimension of all
                 results, and of some arguments. One is of a single sample.
    axes         by argument: this dimension, or None for one that is the same for all samples.
                 All dimensions before it are of size 1.
    result_axes  by result: this dimension.

    A single sample is computed as before. Several are computed one after the other, or as
    many at once as a program takes; if they are too few for the smallest of these, with copies
    of the last one. All arguments of samples must have the same number of them; a call with
    others fails.
    """
    parts = {count: programs.parse(texts[count], f"takt_samples_{count}", f"x{count}" if count > 1 else "")
             for count in sorted(texts, reverse=True)}
    one = parts[1]
    arguments = [kind if axis is None else _opened(kind, axis) for kind, axis in zip(one.kinds, axes)]
    results = list(map(_opened, one.results, result_axes))
    body = _body(parts, arguments, results, axes, result_axes)
    return programs.join(programs.public(one, arguments, results, body), list(parts.values()))


def _body(parts: Mapping[int, Program], arguments: Sequence[Tensor], results: Sequence[Tensor],
          axes: Sequence[int | None], result_axes: Sequence[int]) -> Iterator[str]:
    samples = [i for i, axis in enumerate(axes) if axis is not None]
    yield "    %zero = arith.constant 0 : index"
    yield "    %one = arith.constant 1 : index"
    for i in samples:
        yield f"    %axis{i} = arith.constant {axes[i]} : index"
        yield f"    %n{i} = tensor.dim %t{i}, %axis{i} : {builtin(arguments[i])}"
    number = f"%n{samples[0]}"
    for i in samples[1:]:
        yield f"    %same{i} = arith.cmpi eq, {number}, %n{i} : index"
        yield f"    cf.assert %same{i}, \"arguments have different numbers of samples\""
    yield f"    %is_one = arith.cmpi eq, {number}, %one : index"
    yield f"    %all:{len(results)} = scf.if %is_one -> {programs.tuple_of(map(builtin, results))} {{"
    yield from programs.branch(parts[1], arguments, results)
    yield "    } else {"
    least = min((count for count in parts if count > 1), default=0)
    if least:
        # Without samples, %last is the greatest number.
        yield f"      %last = arith.subi {number}, %one : index"
        yield f"      %most = arith.constant {least - 1} : index"
        yield "      %is_few = arith.cmpi ult, %last, %most : index"
        yield f"      %more:{len(results)} = scf.if %is_few -> {programs.tuple_of(map(builtin, results))} {{"
        yield from _call_with_copies(least, parts, arguments, results, axes, result_axes, number)
        yield "      } else {"
    yield from _call_for_each(parts, arguments, results, axes, number)
    if least:
        yield "      }"
        yield (f"      scf.yield {', '.join(f'%more#{i}' for i in range(len(results)))} : "
               f"{', '.join(map(builtin, results))}")
    yield "    }"


def _call_with_copies(n: int, parts: Mapping[int, Program], arguments: Sequence[Tensor], opened: Sequence[Tensor],
                      axes: Sequence[int | None], result_axes: Sequence[int], number: str) -> Iterator[str]:
    """One call for `n` samples, some of which are copies of the last one, whose number is %last."""
    part = parts[n]
    for k in range(n):
        yield f"      %k{k} = arith.constant {k} : index"
        yield f"      %at{k} = arith.minui %k{k}, %last : index"
    operands = []
    for i, axis in enumerate(axes):
        operands.append(f"%t{i}" if axis is None else f"%a{i}")
        if axis is not None:
            one = parts[1].kinds[i]
            for k in range(n):
                yield (f"      %s{i}_{k} = tensor.extract_slice %t{i}{_place(one, axis, f'%at{k}')} : "
                       f"{builtin(arguments[i])} to {builtin(one)}")
            yield (f"      %a{i} = tensor.concat dim({axis}) {programs.list_of(f'%s{i}_', n)} : "
                   f"({', '.join([builtin(one)] * n)}) -> {builtin(part.kinds[i])}")
    yield f"      %o:{len(part.results)} = {programs.call(part, operands)}"
    for i, (kind, axis) in enumerate(zip(part.results, result_axes)):
        sizes = [number if k == axis else size for k, size in enumerate(kind[0].split(","))]
        yield f"      %p{i} = util.optimization_barrier %o#{i} : {builtin(kind)}"
        yield (f"      %d{i} = tensor.extract_slice %p{i}[{', '.join('0' for _ in sizes)}] [{', '.join(sizes)}] "
               f"[{', '.join('1' for _ in sizes)}] : {builtin(kind)} to {builtin(opened[i])}")
    yield f"      scf.yield {programs.list_of('%d', len(opened))} : {', '.join(map(builtin, opened))}"


def _call_for_each(parts: Mapping[int, Program], arguments: Sequence[Tensor], opened: Sequence[Tensor],
                   axes: Sequence[int | None], number: str) -> Iterator[str]:
    """Loops of calls, which put the results one behind the other.

    The results of a sample are a row of bytes, the larger types first: iree-compile 3.13 makes
    wrong code for some loops that go through several tensors.
    """
    results = parts[1].results
    order = sorted(range(len(results)), key=lambda i: -_bytes_of_element(results[i]))
    sizes = {i: _elements(results[i]) * _bytes_of_element(results[i]) for i in order}
    rows = f"tensor<?x{sum(sizes.values())}xi8>"
    yield f"      %filled = tensor.empty({number}) : {rows}"
    begin, filled = "%zero", "%filled"
    counts = [count for count in parts if count > 1] or [1]  # The smallest of several takes all that is left.
    for count in counts:
        begin, filled = yield from _loop(
            count, parts[count], arguments, axes, number, sizes, begin, filled, leaves_rest=count != counts[-1])
    offset = 0
    for i in order:
        yield (f"      %part{i} = tensor.extract_slice {filled}[0, {offset}] [{number}, {sizes[i]}] [1, 1] : "
               f"{rows} to tensor<?x{sizes[i]}xi8>")
        yield from _of_bytes(i, opened[i], sizes[i], number)
        offset += sizes[i]
    whole = list(map(builtin, opened))
    for i, kind in enumerate(whole):
        yield f"      %p{i} = util.optimization_barrier %l{i} : {kind}"
        yield f"      %d{i} = flow.tensor.tie_shape %p{i} : {kind}{{{number}}}"
    yield f"      scf.yield {programs.list_of('%d', len(results))} : {', '.join(whole)}"


def _loop(n: int, part: Program, arguments: Sequence[Tensor], axes: Sequence[int | None], number: str,
          sizes: dict[int, int], begin: str, filled: str, leaves_rest: bool) -> Generator[str, None, tuple[str, str]]:
    """Calls for the samples from `begin` on, `n` each. Returns where the next loop begins,
    and what is filled until then.

    sizes        by result, in the order of a row: the bytes of a sample.
    leaves_rest  to the next loop: the samples behind the last whole call. Otherwise the last
                 call begins with some that are done, if there are as many at all.
    """
    size = sum(sizes.values())
    rows = f"tensor<?x{size}xi8>"
    yield f"      %count{n} = arith.constant {n} : index"
    if n == 1:
        end = number
    elif leaves_rest:
        yield f"      %rest{n} = arith.remui {number}, %count{n} : index"
        yield f"      %end{n} = arith.subi {number}, %rest{n} : index"
        end = f"%end{n}"
    else:
        yield f"      %suffices{n} = arith.cmpi uge, {number}, %count{n} : index"
        yield f"      %end{n} = arith.select %suffices{n}, {number}, {begin} : index"
        yield f"      %last{n} = arith.subi {number}, %count{n} : index"
        end = f"%end{n}"
    yield (f"      %filled{n} = scf.for %i = {begin} to {end} step %count{n} iter_args(%before = {filled}) -> "
           f"({rows}) {{")
    first = "%i"
    if n > 1 and not leaves_rest:
        first = "%first"
        yield f"        {first} = arith.minui %i, %last{n} : index"
    operands = [f"%t{i}" if axis is None else f"%a{i}" for i, axis in enumerate(axes)]
    for i, axis in enumerate(axes):
        if axis is None:
            continue
        kind = builtin(part.kinds[i])
        yield (f"        %a{i} = tensor.extract_slice %t{i}{_place(part.kinds[i], axis, first)} : "
               f"{builtin(arguments[i])} to {kind}")
        if "onnx.TopK" in part.body:  # The compiler has no sort of a part of a tensor.
            operands[i] = f"%own{i}"
            yield f"        %own{i} = util.optimization_barrier %a{i} : {kind}"
    yield f"        %o:{len(part.results)} = {programs.call(part, operands)}"
    for i in sizes:
        yield from _to_bytes(i, part.results[i], f"tensor<{n}x{sizes[i]}xi8>")
    kinds = ", ".join(f"tensor<{n}x{sizes[i]}xi8>" for i in sizes)
    yield (f"        %row = tensor.concat dim(1) {', '.join(f'%c{i}' for i in sizes)} : "
           f"({kinds}) -> tensor<{n}x{size}xi8>")
    yield (f"        %after = tensor.insert_slice %row into %before[{first}, 0] [{n}, {size}] [1, 1] : "
           f"tensor<{n}x{size}xi8> into {rows}")
    yield f"        scf.yield %after : {rows}"
    yield "      }"
    return end, f"%filled{n}"


def _to_bytes(i: int, kind: Tensor, target: str) -> Iterator[str]:
    """A result of the call as %c, of type `target`."""
    stored = _stored(kind)
    # Without the barrier the compiler writes a result into the row before there is one.
    yield f"        %q{i} = util.optimization_barrier %o#{i} : {builtin(kind)}"
    source = f"%q{i}"
    if stored != kind:
        source = f"%byte{i}"
        yield f"        {source} = arith.extui %q{i} : {builtin(kind)} to {builtin(stored)}"
    yield f"        %c{i} = flow.tensor.bitcast {source} : {builtin(stored)} -> {target}"


def _of_bytes(i: int, kind: Tensor, size: int, number: str) -> Iterator[str]:
    """The results of all samples, of type `kind`, as %l, from %part."""
    stored = _stored(kind)
    target = f"%l{i}" if stored == kind else f"%byte{i}"
    yield (f"      {target} = flow.tensor.bitcast %part{i} : tensor<?x{size}xi8>{{{number}}} -> "
           f"{builtin(stored)}{{{number}}}")
    if stored != kind:
        yield f"      %l{i} = arith.trunci {target} : {builtin(stored)} to {builtin(kind)}"


def _stored(kind: Tensor) -> Tensor:
    """A bit has a byte."""
    return kind if kind[1] != "i1" else (kind[0], "i8")


def _place(kind: Tensor, axis: int, first: str) -> str:
    """The offsets, sizes and strides of the samples from `first` on."""
    sizes = kind[0].split(",")
    offsets = [first if i == axis else "0" for i in range(len(sizes))]
    return f"[{', '.join(offsets)}] [{', '.join(sizes)}] [{', '.join('1' for _ in sizes)}]"


def _bytes_of_element(kind: Tensor) -> int:
    return max(1, int(re.sub(r"\D", "", kind[1])) // 8)


def _elements(kind: Tensor) -> int:
    return math.prod(map(int, kind[0].split(",")))


def _opened(kind: Tensor, axis: int) -> Tensor:
    sizes = kind[0].split(",")
    sizes[axis] = "?"
    return ",".join(sizes), kind[1]
