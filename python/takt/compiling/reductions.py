"""Reductions along axes of open sizes, in the importer's program.

Behind a product of tiled data, the compiler would compute such a reduction with the product's
last steps, in memory of the stack that has no limit, and refuses that. So what is reduced is
computed before, except in the bodies of loops and branches (gathers.py).
"""

from __future__ import annotations

import re

from . import states

_REDUCTION = re.compile(
    r'^(?P<indent> {4})(?P<begin>(?P<result>%[\w.]+) = torch\.operator '
    r'"onnx\.(?P<kind>Softmax|ArgMax|ArgMin|Reduce\w+)"\()'
    r'(?P<source>%[\w.#]+)(?P<rest>[^)]*\) (?:\{(?P<attributes>[^}]*)\} )?: '
    r'\(!torch\.vtensor<\[(?P<before>[\d,?]*)\],(?P<element>\w+)>.*-> !torch\.vtensor<\[(?P<after>[\d,?]*)\],\w+> *)$',
    re.MULTILINE)
_AXIS = re.compile(r"torch\.onnx\.axis = (-?\d+) ")


def keep_apart(mlir: str) -> str:
    """The program, in which such reductions read buffers of their own."""
    return _REDUCTION.sub(_kept, mlir)


def _kept(reduction: re.Match) -> str:
    if not _is_open(reduction):
        return reduction[0]
    stem = f"%takt.reduction{reduction['result'][1:]}"
    lines = [*states.apart(reduction["source"], reduction["before"], reduction["element"], stem, f"{stem}.source"),
             f"{reduction['begin']}{stem}.source{reduction['rest']}"]
    return "\n".join(reduction["indent"] + line for line in lines)


def _is_open(reduction: re.Match) -> bool:
    """Whether it reduces an axis of open size."""
    sizes = reduction["before"].split(",")
    if reduction["kind"] != "Softmax":
        return sizes.count("?") > reduction["after"].split(",").count("?")
    axis = _AXIS.search(reduction["attributes"] or "")
    return sizes[-1 if axis is None else int(axis[1])] == "?"
