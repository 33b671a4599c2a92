"""Casts between integers that the importer of ONNX refuses, or leaves as they were."""

from __future__ import annotations

import re

from ..rewriting import lowering

_CAST = re.compile(
    r"^(?P<indent> *)(?P<result>%[\w.]+) = torch\.operator \"onnx\.Cast\"\((?P<source>%[\w.#]+)\) \{[^}]*\} : "
    r"\(!torch\.vtensor<\[(?P<shape>[\d,?]*)\],(?P<from>\w+)>\) -> !torch\.vtensor<\[[\d,?]*\],(?P<to>\w+)> *$",
    re.MULTILINE)
_REFUSED = {"si16", "ui16", "ui32", "ui64"}


def lower(mlir: str) -> str:
    """The importer's program, in which such a Cast is one of the compiler's."""
    return _CAST.sub(lambda found: _lowered(found) or found[0], mlir)


def _lowered(cast: re.Match) -> str | None:
    """The importer casts to no integer of these types, and does nothing where the sign alone differs."""
    source, target = cast["from"], cast["to"]
    if target not in _REFUSED and not (_is_integer(source) and source != target and source[1:] == target[1:]):
        return None
    shape, result = cast["shape"], cast["result"]
    kind = lowering.builtin(shape, source)
    name = f"%takt.{result[1:]}"
    lines = [f"{name} = torch_c.to_builtin_tensor {cast['source']} : !torch.vtensor<[{shape}],{source}> -> {kind}"]
    for i, (operation, element) in enumerate(_steps(source, target)):
        before, kind = kind, lowering.builtin(shape, element)
        lines.append(f"%takt.{result[1:]}.{i} = arith.{operation} {name} : {before} to {kind}")
        name = f"%takt.{result[1:]}.{i}"
    if len(lines) == 1:  # Otherwise the result of the function may be an argument, with its type.
        lines.append(f"{name}.0 = util.optimization_barrier {name} : {kind}")
        name = f"{name}.0"
    lines.append(f"{result} = torch_c.from_builtin_tensor {name} : {kind} -> !torch.vtensor<[{shape}],{target}>")
    return "\n".join(cast["indent"] + line for line in lines)


def _steps(source: str, target: str) -> list[tuple[str, str]]:
    """Operations of the dialect arith, with the elements of their results."""
    bits = int(target[2:])
    if not _is_integer(source) and source != "i1":
        if target == "ui64":
            return [("fptoui", "i64")]
        return [("fptosi", "i64"), ("trunci", f"i{bits}")]
    width = 1 if source == "i1" else int(source[2:])
    if width == bits:
        return []
    if width > bits:
        return [("trunci", f"i{bits}")]
    return [("extsi" if source[0] == "s" else "extui", f"i{bits}")]


def _is_integer(element: str) -> bool:
    return element[1:2] == "i"
