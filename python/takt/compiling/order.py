"""TopK of a part of a tensor, in the importer's program.

The compiler would compute the part together with the order, and refuses that where it is a part of an argument. So the
part is computed before. It is so for all that read it: the compiler sorts in place, and copies the part for that if it
sees the others.
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
    tops = {top["source"]: top for top in _TOP.finditer(mlir) if top["source"].partition("#")[0] in parts}
    if not tops:
        return mlir
    made = {f"    {source.partition('#')[0]}": [] for source in tops}
    for source, top in tops.items():
        stem = f"%takt.top{top['result'][1:]}"
        made[f"    {source.partition('#')[0]}"] += states.apart(
            source, top["shape"], top["element"], stem, f"{stem}.source")
    others = re.compile("|".join(rf"{re.escape(source)}(?![\w.#:])" for source in tops))
    lines: list[str] = []
    for line in mlir.split("\n"):
        name = line.partition(" = ")[0].partition(":")[0]
        if name in made:
            lines += [line, *(f"    {each}" for each in made[name])]
        else:
            lines.append(others.sub(lambda found: f"%takt.top{tops[found[0]]['result'][1:]}.source", line))
    return "\n".join(lines)
