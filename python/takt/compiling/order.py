"""TopK of a part of a tensor, in the importer's program.

The compiler would compute the part together with the order, and refuses that where it is a part of an argument. So the
part is computed before.
"""

from __future__ import annotations

import re

from . import states

_TOP = re.compile(
    r'^(?P<indent> {4})(?P<begin>(?P<result>%[\w.]+)(?::\d+)? = torch\.operator "onnx\.TopK"\()(?P<source>%[\w.#]+)'
    r"(?P<rest>[^)]*\).*: \(!torch\.vtensor<\[(?P<shape>[\d,?]*)\],(?P<element>\w+)>.*)$", re.MULTILINE)
_PART = re.compile(r'^ {4}(%[\w.]+)(?::\d+)? = torch\.operator "onnx\.(?:Gather|Slice|Split)"', re.MULTILINE)


def keep_apart(mlir: str) -> str:
    """The program, in which each TopK of such a part reads a buffer of its own."""
    parts = set(_PART.findall(mlir))
    return _TOP.sub(lambda top: _kept(top) if top["source"].partition("#")[0] in parts else top[0], mlir)


def _kept(top: re.Match) -> str:
    stem = f"%takt.top{top['result'][1:]}"
    lines = [*states.apart(top["source"], top["shape"], top["element"], stem, f"{stem}.source"),
             f"{top['begin']}{stem}.source{top['rest']}"]
    return "\n".join(top["indent"] + line for line in lines)
