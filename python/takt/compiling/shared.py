"""Tensors that several concatenations have, in the importer's program.

The compiler lets what makes a tensor write it where one of the concatenations has it, and can then
forget to copy it to another one, of which that part is whatever the memory had. So each of these
concatenations but the last one gets a copy of its own, except in the bodies of loops and branches, in
which the importer takes operations of its own alone.
"""

from __future__ import annotations

import collections
import re

from . import states

_OPERATOR = re.compile(
    r'^ {4}(?P<result>%[\w.]+) = torch\.operator "onnx\.(?P<kind>\w+)"\((?P<inputs>[^)]*)\)'
    r"(?P<rest> (?:\{[^}]*\} )?: \((?P<types>.*)\) -> .*)$")
_TENSOR = re.compile(r"!torch\.vtensor<\[([\d,?]*)\],(\w+)>")
_VIEWS = frozenset({"Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"})  # Of the same memory.


def keep_apart(mlir: str) -> str:
    """The program, in which the last concatenation alone has such a tensor itself."""
    lines = mlir.split("\n")
    operators = [_OPERATOR.match(line) if " torch.operator " in line else None for line in lines]
    sources: dict[str, str] = {}  # Of tensors that operators make: themselves, or what they are views of.
    readers: collections.defaultdict[str, list[str]] = collections.defaultdict(list)  # The concatenations of each.
    for operator in operators:
        if operator is None or operator["kind"] == "Constant":
            continue
        inputs = operator["inputs"].split(", ")
        is_view = operator["kind"] in _VIEWS
        if not is_view or inputs[0] in sources:
            sources[operator["result"]] = sources[inputs[0]] if is_view else operator["result"]
        if operator["kind"] == "Concat":
            for source in {sources[name] for name in inputs if name in sources}:
                readers[source].append(operator["result"])
    if not any(len(each) > 1 for each in readers.values()):
        return mlir
    changed: list[str] = []
    for line, operator in zip(lines, operators):
        if operator is not None and operator["kind"] == "Concat":
            inputs, kinds = operator["inputs"].split(", "), _TENSOR.findall(operator["types"])
            for i, (name, (shape, element)) in enumerate(zip(inputs, kinds)):
                if operator["result"] in readers[sources.get(name, "")][:-1]:
                    stem = f"%takt.shared{operator['result'][1:]}.{i}"
                    changed += (f"    {each}" for each in states.apart(name, shape, element, stem, f"{stem}.own"))
                    inputs[i] = f"{stem}.own"
            line = f'    {operator["result"]} = torch.operator "onnx.Concat"({", ".join(inputs)}){operator["rest"]}'
        changed.append(line)
    return "\n".join(changed)
