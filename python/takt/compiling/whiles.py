"""Loops that a condition ends, in the importer's program.

The importer of the compiler takes all turns of a loop, and does not look at its condition. A loop of ONNX whose
condition is a tensor of one dimension becomes a loop of the compiler's dialect `scf`, which looks at it before each
turn.
"""

from __future__ import annotations

import re
from typing import Iterator

from . import states
from ..errors import CompileError
from ..rewriting import lowering

_LOOP = re.compile(
    r'(?P<indent> *)(?P<result>%[\w.]+)(?::\d+)? = torch\.operator "onnx\.Loop"\((?P<inputs>[^)]*)\)'
    r" : \((?P<types>!torch\.(?:none|vtensor<\[1?\],si64>), !torch\.vtensor<\[1\],i1>.*)\)"
    r" -> \(?(?P<results>[^)]*?)\)? \{ *$")
_BODY = re.compile(r" *\^bb\d+\((.*)\):$")
_END = re.compile(r" *torch\.operator_terminator (?P<names>.*) : (?P<types>.*)$")
_TENSOR = re.compile(r"!torch\.vtensor<\[([\d,?]*)\],(\w+)>")


def lower(mlir: str) -> str:
    """The program, whose loops with such conditions are the compiler's."""
    if not any(map(_LOOP.match, mlir.splitlines())):
        return mlir
    return "\n".join(_lowered(mlir.splitlines())) + "\n"


def _lowered(lines: list[str], depth: int = 0) -> list[str]:
    done: list[str] = []
    i = 0
    while i < len(lines):
        loop = _LOOP.match(lines[i])
        if loop is None:
            done.append(lines[i])
            i += 1
            continue
        indent = loop["indent"]
        end = next(k for k in range(i, len(lines)) if lines[k].rstrip() == indent + "}")
        stem = f"%takt.while{depth}.{len(done)}"
        *body, last = _lowered(lines[i + 2:end], depth + 1)
        done += _while(loop, lines[i + 1], body, last, stem)
        stop = next((k for k in range(end + 1, len(lines)) if not lines[k].startswith(indent)), len(lines))
        lines[end + 1:stop] = _renamed(lines[end + 1:stop], loop["result"], stem)
        i = end + 1
    return done


def _renamed(lines: list[str], result: str, stem: str) -> list[str]:
    """Lines that read the results of a loop by their new names."""
    pattern = re.compile(re.escape(result) + r"(?:#(\d+))?(?![\w.])")
    return [pattern.sub(lambda found: f"{stem}.{found[1] or 0}", line) for line in lines]


def _while(loop: re.Match, begin: str, body: list[str], end: str, stem: str) -> Iterator[str]:
    """The lines of a loop. What it carries on is the number of the turn and its states, behind a first turn."""
    head, last, indent = _BODY.match(begin), _END.match(end), loop["indent"]
    (number, number_type), (is_on, is_on_type), *arguments = [each.split(": ", 1) for each in _parts(head[1])]
    (limit, limit_type), (first, first_type), *given = zip(loop["inputs"].split(", "), _parts(loop["types"]))
    kinds = [kind for _, kind in arguments]
    builtins = [_builtin(kind) for kind in kinds]
    carried = ", ".join(["i64", *builtins])

    def listed(name: str) -> list[str]:
        return [f"{stem}.{name}", *(f"{stem}.{name}{i}" for i in range(len(kinds)))]

    def goes_on(indent: str, condition: str, kind: str, number: str, result: str) -> Iterator[str]:
        """Whether the turn of this number comes."""
        if limit_type == "!torch.none":
            yield from _number(indent, condition, kind, result)
            return
        yield from _number(indent, condition, kind, f"{result}.alone")
        yield f"{indent}{result}.has_more = arith.cmpi slt, {number}, {stem}.limit : i64"
        yield f"{indent}{result} = arith.andi {result}.alone, {result}.has_more : i1"

    begins, befores, afters, others = map(listed, ("begin", "before", "after", "other"))
    for i, ((name, old), kind) in enumerate(zip(given, kinds)):
        if "?" in old:
            shape, element = _tensor(old)
            yield from (indent + each for each in states.apart(name, shape, element, f"{stem}.of{i}", f"{stem}.own{i}"))
            name = f"{stem}.own{i}"
        yield from _converted(indent, name, old, kind, begins[1 + i])
    if limit_type != "!torch.none":
        yield from _number(indent, limit, limit_type, f"{stem}.limit")
    for name, value in ((begins[0], 0), (f"{stem}.one", 1)):
        yield f"{indent}{name} = arith.constant {value} : i64"
    yield from goes_on(indent, first, first_type, begins[0], f"{stem}.begins")
    yield f"{indent}{stem}:{len(befores)} = scf.if {stem}.begins -> ({carried}) {{"
    pairs = ", ".join(f"{before} = {value}" for before, value in zip(befores, begins))
    yield f"{indent}  {stem}.turns:{len(befores)} = scf.while ({pairs}) : ({carried}) -> ({carried}) {{"
    yield f"{indent}    {stem}.on = arith.constant true"
    for name, kind, value in ((number, number_type, befores[0]), (is_on, is_on_type, f"{stem}.on")):
        builtin = _builtin(kind)
        yield f"{indent}    {value}.of = tensor.from_elements {value} : {builtin}"
        yield f"{indent}    {name} = torch_c.from_builtin_tensor {value}.of : {builtin} -> {kind}"
    read = set(re.findall(r"%[\w.]+", "\n".join([*body, end])))
    for (name, kind), before, builtin in zip(arguments, befores[1:], builtins):
        if name not in read:  # The compiler would forget it before a turn, but not behind one.
            yield f"{indent}    {before}.kept = util.optimization_barrier {before} : {builtin}"
        yield f"{indent}    {name} = torch_c.from_builtin_tensor {before} : {builtin} -> {kind}"
    yield from (f"    {each}" for each in body)
    (after, after_type), *results = zip(last["names"].split(", "), _parts(last["types"]))
    for i, ((name, old), kind) in enumerate(zip(results, kinds)):
        yield from _converted(indent + "    ", name, old, kind, afters[1 + i])
    yield f"{indent}    {afters[0]} = arith.addi {befores[0]}, {stem}.one : i64"
    yield from goes_on(indent + "    ", after, after_type, afters[0], f"{stem}.goes_on")
    yield f"{indent}    scf.condition({stem}.goes_on) {', '.join(afters)} : {carried}"
    yield f"{indent}  }} do {{"
    yield f"{indent}  ^bb0({', '.join(f'{name}: {kind}' for name, kind in zip(others, ['i64', *builtins]))}):"
    yield f"{indent}    scf.yield {', '.join(others)} : {carried}"
    yield f"{indent}  }}"
    yield f"{indent}  scf.yield {', '.join(f'{stem}.turns#{i}' for i in range(len(befores)))} : {carried}"
    yield f"{indent}}} else {{"
    yield f"{indent}  scf.yield {', '.join(begins)} : {carried}"
    yield f"{indent}}}"
    for i, (old, new) in enumerate(zip(kinds, _parts(loop["results"]))):
        name = f"{stem}.{i}" if old == new else f"{stem}.{i}.own"
        yield f"{indent}{name} = torch_c.from_builtin_tensor {stem}#{i + 1} : {builtins[i]} -> {old}"
        if old != new:
            yield f"{indent}{stem}.{i} = torch.tensor_static_info_cast {name} : {old} to {new}"


def _number(indent: str, name: str, kind: str, result: str) -> Iterator[str]:
    """The only element of a tensor."""
    builtin = _builtin(kind)
    index = ""
    if _tensor(kind)[0]:
        index = f"{result}.index"
        yield f"{indent}{index} = arith.constant 0 : index"
    yield f"{indent}{result}.of = torch_c.to_builtin_tensor {name} : {kind} -> {builtin}"
    yield f"{indent}{result} = tensor.extract {result}.of[{index}] : {builtin}"


def _converted(indent: str, name: str, old: str, new: str, result: str) -> Iterator[str]:
    """A tensor of the type `old` in the compiler's dialects, with the sizes that `new` states."""
    if old != new:
        yield f"{indent}{result}.cast = torch.tensor_static_info_cast {name} : {old} to {new}"
        name = f"{result}.cast"
    yield f"{indent}{result} = torch_c.to_builtin_tensor {name} : {new} -> {_builtin(new)}"


def _builtin(kind: str) -> str:
    return lowering.builtin(*_tensor(kind))


def _tensor(kind: str) -> tuple[str, str]:
    """The sizes and the type of elements of a torch.vtensor."""
    tensor = _TENSOR.fullmatch(kind)
    if tensor is None:
        raise CompileError(f"a loop that a condition ends: the compiler has no state of the type {kind}")
    return tensor[1], tensor[2]


def _parts(types: str) -> list[str]:
    """The types that commas outside of brackets separate."""
    return re.split(r", (?=[!%])", types.strip())
