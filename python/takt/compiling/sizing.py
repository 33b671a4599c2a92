"""A function of a few sizes, from a program of each."""

from __future__ import annotations

from typing import Generator, Iterator, Sequence

from ..errors import CompileError
from . import programs
from .programs import Program, Tensor, builtin


def of_some_sizes(texts: Sequence[str], names: Sequence[str]) -> str:
    """The program whose function takes arguments of the sizes of any program of `texts`.

    texts  of the importer of ONNX: one network, with other sizes of some arguments in each.
    names  what the sizes of each program are called.

    A call is computed as the program of its sizes does it. A call with other sizes fails.
    """
    parts = [programs.parse(text, f"takt_sizes_{i}", f"s{i}" if i else "") for i, text in enumerate(texts)]
    arguments = _opened([part.kinds for part in parts], "argument")
    results = _opened([part.results for part in parts], "result")
    return programs.join(programs.public(parts[0], arguments, results, _body(parts, names, arguments, results)), parts)


def _opened(kinds: Sequence[Sequence[Tensor]], what: str) -> list[Tensor]:
    """The types of all programs as one: what differs is left open."""
    found = []
    for i, each in enumerate(zip(*kinds)):
        shapes = [shape.split(",") for shape, _ in each]
        if len({(len(shape), element) for shape, (_, element) in zip(shapes, each)}) > 1:
            raise CompileError(f"programs of some sizes: {what} {i} has several ranks or types: "
                               f"{', '.join(map(builtin, dict.fromkeys(each)))}")
        found.append((",".join(sizes[0] if len(set(sizes)) == 1 else "?" for sizes in zip(*shapes)), each[0][1]))
    return found


def _body(parts: Sequence[Program], names: Sequence[str], arguments: Sequence[Tensor],
          results: Sequence[Tensor]) -> Iterator[str]:
    places = [(i, axis) for i, (shape, _) in enumerate(arguments)
              for axis, size in enumerate(shape.split(",")) if size == "?"]
    for i, axis in places:
        yield f"    %axis{i}_{axis} = arith.constant {axis} : index"
        yield f"    %size{i}_{axis} = tensor.dim %t{i}, %axis{i}_{axis} : {builtin(arguments[i])}"
    fits = []
    for k, part in enumerate(parts):
        same = []
        for i, axis in places:
            same.append(f"%same{k}_{i}_{axis}")
            yield f"    %own{k}_{i}_{axis} = arith.constant {part.kinds[i][0].split(',')[axis]} : index"
            yield f"    {same[-1]} = arith.cmpi eq, %size{i}_{axis}, %own{k}_{i}_{axis} : index"
        fits.append((yield from _joined(f"%fits{k}", "andi", same)))
    fits_any = yield from _joined("%fits", "ori", fits)
    yield f"    cf.assert {fits_any}, {programs.quoted('the arguments have other sizes than ' + ' or '.join(names))}"
    yield from _choice(parts, fits, arguments, results)


def _joined(name: str, operation: str, bits: Sequence[str]) -> Generator[str, None, str]:
    """Returns what holds all bits together."""
    before = bits[0]
    for i, bit in enumerate(bits[1:]):
        yield f"    {name}_{i} = arith.{operation} {before}, {bit} : i1"
        before = f"{name}_{i}"
    return before


def _choice(parts: Sequence[Program], fits: Sequence[str], arguments: Sequence[Tensor],
            results: Sequence[Tensor]) -> Iterator[str]:
    """Calls the program of the sizes; the last one if they are of no other."""
    types = programs.tuple_of(map(builtin, results))
    last = len(parts) - 1
    for k, part in enumerate(parts[:-1]):
        yield f"    %all{k or ''}:{len(results)} = scf.if {fits[k]} -> {types} {{"
        yield from programs.branch(part, arguments, results)
        yield "    } else {"
    yield from programs.branch(parts[last], arguments, results)
    for k in reversed(range(1, last)):
        yield "    }"
        yield f"      scf.yield {', '.join(f'%all{k}#{i}' for i in range(len(results)))} : {types[1:-1]}"
    yield "    }"
