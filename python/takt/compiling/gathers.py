"""Gathers of open sizes, and those of a column, in the importer's program.

The compiler computes a gather where its result is read, such as behind a product whose tiles
are larger than its rows. Where sizes are open, the numbers of the places that lie behind a row
are whatever the memory has, and the elements at these places are read. So a gather of open
sizes is computed before what reads it, except in the bodies of loops and branches, in which the
importer takes operations of its own alone.

The compiler takes many elements at once from where they are, and has no code for that where other
elements lie between them, as in a column of a table. So a column is copied before a gather from it.
"""

from __future__ import annotations

import re

from . import states

_GATHER = re.compile(
    r'^(?P<indent> {4})(?P<result>%[\w.]+)(?P<rest> = torch\.operator "onnx\.Gather(?:ND|Elements)?"\(.*-> '
    r'!torch\.vtensor<\[(?P<shape>[\d,]*\?[\d,?]*)\],(?P<element>\w+)>) *$',
    re.MULTILINE)
# An operator of tensors, at the level of the function itself.
_OPERATOR = re.compile(
    r'^ {4}(?P<result>%[\w.]+)(?::\d+)? = torch\.operator "onnx\.(?P<kind>\w+)"\((?P<inputs>%[^)]*)\) '
    r"(?:\{(?P<attributes>[^}]*)\} )?: \((?P<types>!torch\.vtensor<.*)\) -> "
    r"\(?!torch\.vtensor<\[(?P<after>[\d,?]*)\],", re.MULTILINE)
_TENSOR = re.compile(r"!torch\.vtensor<\[([\d,?]*)\],(\w+)>")
_VIEWS = {"Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"}
_PARTS = {"Gather", "Slice", "Split"}
_TAKING = {"CumSum", "Gather", "GatherElements", "GatherND", "Resize", "ScatterElements", "ScatterND", "Slice"}
_AXIS = re.compile(r"torch\.onnx\.axis = (-?\d+) ")
_SLICE_INPUTS = 5  # With steps.


def keep_apart(mlir: str) -> str:
    """The program, with such gathers, and the columns that are taken from, in buffers of their own."""
    operators = {operator["result"]: operator for operator in _OPERATOR.finditer(mlir)}

    def with_copies(operator: re.Match) -> str:
        inputs, lines, kinds = operator["inputs"].split(", "), [], _TENSOR.findall(operator["types"])
        is_part = (operator["kind"] == "Gather" and not kinds[1][0]
                   or operator["kind"] == "Slice" and len(inputs) < _SLICE_INPUTS)
        if operator["kind"] not in _TAKING or is_part:
            return operator[0]
        for i, (name, kind) in enumerate(zip(inputs, kinds)):
            # A scatter changes its first operand, which must not be what others read.
            if _is_apart(name, operators) and (i > 0 or not operator["kind"].startswith("Scatter")):
                stem = f"%takt.column{operator['result'][1:]}.{i}"
                lines += states.apart(name, *kind, stem, f"{stem}.source")
                inputs[i] = f"{stem}.source"
        begin, end = (operator[0][:operator.start("inputs") - operator.start()],
                      operator[0][operator.end("inputs") - operator.start():])
        return "".join(f"    {line}\n" for line in lines) + begin + ", ".join(inputs) + end

    return _GATHER.sub(_kept, _OPERATOR.sub(with_copies, mlir))


def _kept(gather: re.Match) -> str:
    stem = f"%takt.gather{gather['result'][1:]}"
    lines = [f"{stem}.found{gather['rest']}",
             *states.apart(f"{stem}.found", gather["shape"], gather["element"], stem, gather["result"])]
    return "\n".join(gather["indent"] + line for line in lines)


def _is_apart(name: str, operators: dict[str, re.Match]) -> bool:
    """Whether a tensor may be read from where other elements lie between its own."""
    is_part = is_turned = False
    while (operator := operators.get(name.partition("#")[0])) and operator["kind"] in _VIEWS | _PARTS:
        if operator["kind"] in _PARTS:
            if _is_column(operator):
                return True
            is_part = True
        is_turned |= operator["kind"] == "Transpose"
        name = operator["inputs"].split(", ")[0]
    return is_part and is_turned


def _is_column(part: re.Match) -> bool:
    """Whether a part has one of neighbouring elements, or such at a distance."""
    shapes = [shape for shape, _ in _TENSOR.findall(part["types"])]
    before, after = shapes[0].split(","), part["after"].split(",")
    last = max((i for i, size in enumerate(before) if size != "1"), default=0)
    if part["kind"] == "Gather":
        axis = _AXIS.search(part["attributes"] or "")
        return not shapes[1] and axis is not None and int(axis[1]) in (last, last - len(before))
    has_steps = part["kind"] == "Slice" and part["inputs"].count("%") == _SLICE_INPUTS
    return before[last] != after[last] and (after[last] == "1" or has_steps)
