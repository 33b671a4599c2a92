"""Gathers of open sizes, in the importer's program.

The compiler computes a gather where its result is read, such as behind a product whose tiles
are larger than its rows. Where sizes are open, the numbers of the places that lie behind a row
are whatever the memory has, and the elements at these places are read. So a gather of open
sizes is computed before what reads it, except in the bodies of loops and branches, in which the
importer takes operations of its own alone.
"""

from __future__ import annotations

import re

from . import states

_GATHER = re.compile(
    r'^(?P<indent> {4})(?P<result>%[\w.]+)(?P<rest> = torch\.operator "onnx\.Gather(?:ND|Elements)?"\(.*-> '
    r'!torch\.vtensor<\[(?P<shape>[\d,]*\?[\d,?]*)\],(?P<element>\w+)>) *$',
    re.MULTILINE)


def keep_apart(mlir: str) -> str:
    """The program, with the results of such gathers in buffers of their own."""
    return _GATHER.sub(_kept, mlir)


def _kept(gather: re.Match) -> str:
    stem = f"%takt.gather{gather['result'][1:]}"
    lines = [f"{stem}.found{gather['rest']}",
             *states.apart(f"{stem}.found", gather["shape"], gather["element"], stem, gather["result"])]
    return "\n".join(gather["indent"] + line for line in lines)
