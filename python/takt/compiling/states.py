"""States of loops whose sizes are open, in the importer's program.

The compiler lays what a part of a program gives into one buffer, and its analysis of
ranges takes a place in it for 0 if the size of what comes before has no limit. In loops
it forgets the place then, and reads another tensor. So a state before the first turn is
a buffer of its own.
"""

from __future__ import annotations

import re
from typing import Iterator

from ..rewriting import lowering, open_calls

_LOOP = re.compile(
    r'^(?P<indent> *)%[\w.:]+ = torch\.operator "onnx\.Loop"\((?P<inputs>[^)]*)\) : \((?P<types>.*?)\) -> ',
    re.MULTILINE)
_TENSOR = re.compile(r"!torch\.vtensor<\[([\d,?]*)\],(\w+)>")
_STATES = 2  # They come behind the number of turns and the condition.


def keep_apart(mlir: str) -> str:
    """The program, whose loops have such states."""
    return _LOOP.sub(_kept, mlir)


def _kept(loop: re.Match) -> str:
    names, kinds = loop["inputs"].split(", "), _TENSOR.findall(loop["types"])
    if "!torch.list" in loop["types"] or len(names) != len(kinds):  # A sequence is among them.
        return loop[0]
    lines: list[str] = []
    for i, (shape, element) in enumerate(kinds):
        if i >= _STATES and "?" in shape:
            stem = f"%takt.loop{loop.start()}.{i}"
            lines += apart(names[i], shape, element, stem, f"{stem}.state")
            names[i] = f"{stem}.state"
    begin = loop[0][:loop.start("inputs") - loop.start()]
    end = loop[0][loop.end("inputs") - loop.start():]
    return "".join(f"{loop['indent']}{line}\n" for line in lines) + begin + ", ".join(names) + end


def apart(name: str, shape: str, element: str, stem: str, result: str) -> Iterator[str]:
    """Lines that make the tensor `result`, which is `name` in a buffer of its own."""
    torch, builtin = f"!torch.vtensor<[{shape}],{element}>", lowering.builtin(shape, element)
    yield f"{stem} = torch_c.to_builtin_tensor {name} : {torch} -> {builtin}"
    yield from open_calls.barrier(stem, stem, builtin)
    yield f"{result} = torch_c.from_builtin_tensor {stem}_r : {builtin} -> {torch}"
