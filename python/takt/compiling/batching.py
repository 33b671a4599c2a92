"""A function of any number of samples, from those of a known number."""

from __future__ import annotations

import dataclasses
import math
import re
from typing import Generator, Iterable, Iterator, Mapping, Sequence, Tuple

from ..errors import CompileError
from ..rewriting import lowering

# The importer's function, up to its body.
_HEAD = re.compile(
    r"^  func\.func @(?P<name>[\w.$]+|\"[^\"]*\")\((?P<arguments>.*?)\) -> (?P<results>.*?)"
    r"(?P<attributes> attributes \{.*\})? \{$", re.MULTILINE)
_TENSOR = re.compile(r"!torch\.vtensor<\[([\d,]*)\],(\w+)>")
_RETURN = re.compile(r"^    return (?P<values>.*) : (?P<types>.*)$", re.MULTILINE)
# Behind the module: the values of its constants.
_RESOURCES = re.compile(
    r"^\{-#\n  dialect_resources: \{\n    builtin: \{\n(?P<lines>.*?)\n    \}\n  \}\n#-\}$",
    re.MULTILINE | re.DOTALL)
_MODULE = "module {\n"
_KERNEL = re.compile(r"@(takt_kernels|k\d+_\w+)")  # As `lowering` names executables and what they export.

Tensor = Tuple[str, str]  # The sizes, with commas, and the type of the elements.


@dataclasses.dataclass
class _Program:
    """The importer's program of `count` samples, in parts.

    before     what stands before the function.
    returned   what the function returns.
    resources  by name: the values of a constant, as they are written.
    """

    count: int
    before: str
    name: str
    arguments: list[tuple[str, Tensor]]
    results: list[Tensor]
    attributes: str
    body: str
    returned: list[str]
    resources: dict[str, str]

    @property
    def kinds(self) -> list[Tensor]:
        return [kind for _, kind in self.arguments]


def of_any_number(programs: Mapping[int, str], is_of_sample: Sequence[bool]) -> str:
    """The program whose function takes and returns N samples in the outermost dimension.

    programs      of the importer of ONNX, by the number of samples, which is the outermost
                  dimension of all results, and of some arguments. One is of a single sample.
    is_of_sample  these arguments; the others are the same for all samples.

    A single sample is computed as before. Several are computed one after the other, or as
    many at once as a program takes. All arguments of samples must have the same number of
    them; a call with others fails.
    """
    parts = [_parsed(count, programs[count]) for count in sorted(programs, reverse=True)]
    _share_resources(parts)
    return "".join([
        _MODULE,
        *(part.before for part in parts),
        _public(parts, is_of_sample),
        *(_private(part) for part in parts),
        "}\n",
        _resources({name: values for part in parts for name, values in part.resources.items()}),
    ])


def _parsed(count: int, mlir: str) -> _Program:
    if count > 1:  # The kernels of all programs are in one module.
        mlir = _KERNEL.sub(rf"@\1_x{count}", mlir)
    heads = list(_HEAD.finditer(mlir))
    ends = list(_RETURN.finditer(mlir, heads[-1].end())) if heads else []
    if not mlir.startswith(_MODULE) or not ends:
        raise CompileError("a program for any number of samples: the importer's text has no function")
    head, end = heads[-1], ends[-1]
    arguments = [(part.split(": ", 1)[0], _TENSOR.search(part)) for part in re.split(r", (?=%)", head["arguments"])]
    for name, found in arguments:
        if found is None:
            raise CompileError(f"a program for any number of samples: {name} of {head['name']} is no tensor")
    resources = _RESOURCES.search(mlir, end.end())
    lines = resources["lines"].split(",\n") if resources is not None else []
    return _Program(
        count=count,
        before=mlir[len(_MODULE):head.start()],
        name=head["name"],
        arguments=[(name, found.groups()) for name, found in arguments],
        results=_TENSOR.findall(head["results"]),
        attributes=head["attributes"] or "",
        body=mlir[head.end():end.start()],
        returned=end["values"].split(", "),
        resources=dict(line.strip().split(": ", 1) for line in lines),
    )


def _share_resources(parts: list[_Program]) -> None:
    """Constants of equal values get the same name, others get different ones."""
    names: dict[str, str] = {}
    for part in parts:
        new = {name: names.setdefault(values, f"takt_values_{len(names)}") for name, values in part.resources.items()}
        part.body = re.sub(r"dense_resource<([^>]*)>", lambda found: f"dense_resource<{new[found[1]]}>", part.body)
        part.resources = {new[name]: values for name, values in part.resources.items()}


def _resources(resources: Mapping[str, str]) -> str:
    if not resources:
        return ""
    lines = ",\n".join(f"      {name}: {values}" for name, values in resources.items())
    return f"\n{{-#\n  dialect_resources: {{\n    builtin: {{\n{lines}\n    }}\n  }}\n#-}}\n"


def _public(parts: list[_Program], is_of_sample: Sequence[bool]) -> str:
    """The function that is called."""
    one = parts[-1]
    opened = [_opened(kind) if varies else kind for kind, varies in zip(one.kinds, is_of_sample)]
    listed = ", ".join(f"%arg{i}: {_torch(kind)}" for i, kind in enumerate(opened))
    answer = [_opened(kind) for kind in one.results]
    lines = [f"  func.func @{one.name}({listed}) -> {_tuple(map(_torch, answer))}{one.attributes} {{"]
    lines += [f"    %t{i} = torch_c.to_builtin_tensor %arg{i} : {_torch(kind)} -> {_builtin(kind)}"
              for i, kind in enumerate(opened)]
    samples = [i for i, varies in enumerate(is_of_sample) if varies]
    lines += ["    %zero = arith.constant 0 : index", "    %one = arith.constant 1 : index"]
    lines += [f"    %n{i} = tensor.dim %t{i}, %zero : {_builtin(opened[i])}" for i in samples]
    number = f"%n{samples[0]}"
    for i in samples[1:]:
        lines += [f"    %same{i} = arith.cmpi eq, {number}, %n{i} : index",
                  f"    cf.assert %same{i}, \"arguments have different numbers of samples\""]
    lines += [f"    %is_one = arith.cmpi eq, {number}, %one : index",
              f"    %all:{len(answer)} = scf.if %is_one -> {_tuple(map(_builtin, answer))} {{",
              *_call_with_all(one, opened, is_of_sample),
              "    } else {",
              *_call_for_each(parts, opened, is_of_sample, number),
              "    }"]
    lines += [f"    %r{i} = torch_c.from_builtin_tensor %all#{i} : {_builtin(kind)} -> {_torch(kind)}"
              for i, kind in enumerate(answer)]
    lines += [f"    return {_list('%r', len(answer))} : {', '.join(map(_torch, answer))}", "  }", ""]
    return "\n".join(lines)


def _call_with_all(one: _Program, opened: list[Tensor], is_of_sample: Sequence[bool]) -> Iterator[str]:
    """The call for the only sample."""
    for i, varies in enumerate(is_of_sample):
        if varies:
            yield f"      %a{i} = tensor.cast %t{i} : {_builtin(opened[i])} to {_builtin(one.kinds[i])}"
    yield f"      %o:{len(one.results)} = {_call(one, is_of_sample)}"
    whole = [_builtin(_opened(kind)) for kind in one.results]
    for i, kind in enumerate(one.results):
        # Results become parts of one buffer, and the compiler forgets that their offsets differ in
        # the loops. Behind a barrier each is a buffer of its own.
        yield f"      %p{i} = util.optimization_barrier %o#{i} : {_builtin(kind)}"
        yield f"      %d{i} = tensor.cast %p{i} : {_builtin(kind)} to {whole[i]}"
    yield f"      scf.yield {_list('%d', len(whole))} : {', '.join(whole)}"


def _call_for_each(parts: list[_Program], opened: list[Tensor], is_of_sample: Sequence[bool],
                   number: str) -> Iterator[str]:
    """Loops of calls, which put the results one behind the other.

    The results of a sample are a row of bytes, the larger types first: iree-compile 3.13 makes
    wrong code for some loops that go through several tensors.
    """
    results = parts[-1].results
    order = sorted(range(len(results)), key=lambda i: -_bytes_of_element(results[i]))
    sizes = {i: _elements(results[i]) * _bytes_of_element(results[i]) for i in order}
    rows = f"tensor<?x{sum(sizes.values())}xi8>"
    yield f"      %filled = tensor.empty({number}) : {rows}"
    begin, filled = "%zero", "%filled"
    for k, part in enumerate(parts):
        begin, filled = yield from _loop(part, opened, is_of_sample, number, sizes, begin, filled, k + 2 < len(parts))
    offset = 0
    for i in order:
        yield (f"      %part{i} = tensor.extract_slice {filled}[0, {offset}] [{number}, {sizes[i]}] [1, 1] : "
               f"{rows} to tensor<?x{sizes[i]}xi8>")
        yield from _of_bytes(i, results[i], sizes[i], number)
        offset += sizes[i]
    whole = [_builtin(_opened(kind)) for kind in results]
    for i, kind in enumerate(whole):
        yield f"      %p{i} = util.optimization_barrier %l{i} : {kind}"
        yield f"      %d{i} = flow.tensor.tie_shape %p{i} : {kind}{{{number}}}"
    yield f"      scf.yield {_list('%d', len(results))} : {', '.join(whole)}"


def _loop(part: _Program, opened: list[Tensor], is_of_sample: Sequence[bool], number: str, sizes: dict[int, int],
          begin: str, filled: str, leaves_rest: bool) -> Generator[str, None, tuple[str, str]]:
    """Calls for the samples from `begin` on, `part.count` each. Returns where the next loop begins,
    and what is filled until then.

    sizes        by result, in the order of a row: the bytes of a sample.
    leaves_rest  to the next loop: the samples behind the last whole call. Otherwise the last
                 call begins with some that are done, if there are as many at all.
    """
    n, size = part.count, sum(sizes.values())
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
    for i, varies in enumerate(is_of_sample):
        if varies:
            yield (f"        %a{i} = tensor.extract_slice %t{i}{_place(part.kinds[i], first)} : "
                   f"{_builtin(opened[i])} to {_builtin(part.kinds[i])}")
    yield f"        %o:{len(part.results)} = {_call(part, is_of_sample)}"
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
    yield f"        %q{i} = util.optimization_barrier %o#{i} : {_builtin(kind)}"
    source = f"%q{i}"
    if stored != kind:
        source = f"%byte{i}"
        yield f"        {source} = arith.extui %q{i} : {_builtin(kind)} to {_builtin(stored)}"
    yield f"        %c{i} = flow.tensor.bitcast {source} : {_builtin(stored)} -> {target}"


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


def _call(part: _Program, is_of_sample: Sequence[bool]) -> str:
    """The call with samples, %a, of each argument that has samples."""
    names = [f"%a{i}" if varies else f"%t{i}" for i, varies in enumerate(is_of_sample)]
    kinds = ", ".join(map(_builtin, part.kinds))
    return f"func.call @{_function(part)}({', '.join(names)}) : ({kinds}) -> {_tuple(map(_builtin, part.results))}"


def _place(kind: Tensor, first: str) -> str:
    """The offsets, sizes and strides of the samples from `first` on."""
    sizes = kind[0].split(",")
    offsets = [first] + ["0"] * (len(sizes) - 1)
    return f"[{', '.join(offsets)}] [{', '.join(sizes)}] [{', '.join('1' for _ in sizes)}]"


def _function(part: _Program) -> str:
    """The name of the private function: another one than that of the public one."""
    name = f"takt_samples_{part.count}"
    return f"{name}_" if part.name == name else name


def _private(part: _Program) -> str:
    """The function of a known number of samples."""
    listed = ", ".join(f"{name}.takt: {_builtin(kind)}" for name, kind in part.arguments)
    lines = [f"  func.func private @{_function(part)}({listed}) -> {_tuple(map(_builtin, part.results))}"
             f"{part.attributes} {{"]
    lines += [f"    {name} = torch_c.from_builtin_tensor {name}.takt : {_builtin(kind)} -> {_torch(kind)}"
              for name, kind in part.arguments]
    end = [f"    %takt.result{i} = torch_c.to_builtin_tensor {name} : {_torch(kind)} -> {_builtin(kind)}"
           for i, (name, kind) in enumerate(zip(part.returned, part.results))]
    end += [f"    return {_list('%takt.result', len(end))} : {', '.join(map(_builtin, part.results))}", "  }", ""]
    return "\n".join(lines) + part.body + "\n".join(end)


def _torch(kind: Tensor) -> str:
    return f"!torch.vtensor<[{kind[0]}],{kind[1]}>"


def _builtin(kind: Tensor) -> str:
    return lowering.builtin(*kind)


def _bytes_of_element(kind: Tensor) -> int:
    return max(1, int(re.sub(r"\D", "", kind[1])) // 8)


def _elements(kind: Tensor) -> int:
    """Of one sample."""
    return math.prod(int(size) for size in kind[0].split(",")[1:])


def _opened(kind: Tensor) -> Tensor:
    return re.sub(r"^1\b", "?", kind[0]), kind[1]


def _tuple(kinds: Iterable[str]) -> str:
    return f"({', '.join(kinds)})"


def _list(stem: str, count: int) -> str:
    return ", ".join(f"{stem}{i}" for i in range(count))
