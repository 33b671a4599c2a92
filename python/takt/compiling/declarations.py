"""Reads the functions of MLIR, and adds names, declarations of inputs and results,
and annotations; names modules."""

from __future__ import annotations

import dataclasses
import re
from typing import Mapping

from . import programs
from ..errors import CompileError

_HEADER = re.compile(r'(?:^|\{)[ \t]*(?:func|util)\.func\s+(public\s+)?@("(?:[^"\\]|\\.)*"|[\w.$-]+)\s*\(', re.M)
# The module of a program, with the name that it may have.
_MODULE = re.compile(r'(?:builtin\.)?module(?:\s+@(?:"(?:[^"\\]|\\.)*"|[\w.$-]+))?(?=\s*(?:\{|attributes\b))')
_ALIAS_OR_COMMENT = re.compile(r"(?:[#!]|//)[^\n]*")
_TORCH_TENSOR = re.compile(r"!torch\.vtensor<\[([^\]]*)\],\s*(\w+)>$")
_TENSOR = re.compile(r"tensor<[^<>]*>$")
# SSA names that somebody has given: not %0, not %arg0.
_GIVEN_NAME = re.compile(r"%([A-Za-z_][\w.$-]*)$")
_NUMBERED_NAME = re.compile(r"%arg\d+$")
_LOCATION = re.compile(r'\bloc\("([^"]*)"\)')
_RESULT_OF_JAX = re.compile(r'jax\.result_info = "([^"]*)"')
# Operations that the compiler computes in place, and what may lead to some.
_IN_PLACE = re.compile(r"\b(?:dynamic_update_slice|insert|insert_slice|scatter|sort|while)\b")
_RETURN = re.compile(r"^[ \t]*(?:func\.|util\.)?return\b", re.M)
_BINDING = "!stream.binding"
_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}


@dataclasses.dataclass
class Value:
    """An input or a result of a function."""

    name: str | None  # As the program has it, if it has one.
    type: str
    end: int  # Of the type in the text.
    attributes: int | None  # The position after the { of its attributes.
    separator: str  # Between a new attribute and those that follow.
    has_name_attribute: bool
    ssa: str | None = None  # An input's name in the body.


@dataclasses.dataclass
class Function:
    """A public function with a body."""

    name: str
    inputs: list[Value]
    outputs: list[Value]
    has_parentheses: bool  # Around the results.
    body: int  # The position of the { of the body.
    attributes: int | None  # The position after "attributes {".
    attributes_end: int | None


def find_functions(text: str) -> list[Function]:
    """The public functions of a module, in its order; not those of its dispatches,
    which take bindings."""
    headers = _HEADER.finditer(text, 0, programs.end_of_code(text))
    found = (_read_function(text, header) for header in headers)
    return [f for f in found if f is not None and not any(value.type == _BINDING for value in f.inputs)]


def name_module(text: str, name: str) -> str | None:
    """The MLIR with a name for its module, which goes before the one that it has. None
    if the text leaves the module out and begins with what is in it."""
    at = _skip(text, 0)
    while (line := _ALIAS_OR_COMMENT.match(text, at)) is not None:
        at = _skip(text, line.end())
    module = _MODULE.match(text, at)
    return None if module is None else f"{text[:at]}module @{name}{text[module.end():]}"


def keep_arguments(text: str) -> str:
    """The MLIR, whose public functions do not write into their arguments. What the compiler changes in place is a
    copy of an argument only if the argument is read later."""
    if _IN_PLACE.search(text) is None:
        return text
    functions = find_functions(text)
    edits = []
    for function, following in zip(functions, [*functions[1:], None]):
        lines = "".join(f"    %takt.kept{i} = util.optimization_barrier {value.ssa} : {value.type}\n"
                        for i, value in enumerate(function.inputs)
                        if value.ssa is not None and _TENSOR.match(value.type))
        end = len(text) if following is None else following.body
        edits += [(found.start(), lines) for found in _RETURN.finditer(text, function.body, end)]
    for at, lines in reversed(edits):
        text = text[:at] + lines + text[at:]
    return text


def annotate(
    text: str,
    reflection: Mapping[str, str] | None = None,
    *,
    of_function: Mapping[str, Mapping[str, str]] | None = None,
    names: Mapping[str | None, tuple[list[str], list[str]]] | None = None,
) -> str:
    """The MLIR with annotations and declarations of its public functions.

    reflection   attributes of all of them.
    of_function  further ones, by the function's name.
    names        of inputs and results, by the function's name; that of None is
                 the only function's. The others have the names of the program.
    """
    functions = find_functions(text)
    names, of_function = names or {}, of_function or {}
    known = {function.name for function in functions}
    for name in of_function:
        if name not in known:
            raise CompileError(
                f"annotations: there is no function {name!r}, but {', '.join(sorted(known)) or 'none'}"
            )
    edits: list[tuple[int, int, str]] = []
    for function in functions:
        given = names.get(function.name)
        if given is None and len(functions) == 1:
            given = names.get(None)
        attributes = {**(reflection or {}), **of_function.get(function.name, {})}
        edits += _declare(function, given, attributes)
        edits += _reflect(text, function, attributes)
    for begin, end, replacement in sorted(edits, reverse=True):
        text = text[:begin] + replacement + text[end:]
    return text


def _declare(
    function: Function, given: tuple[list[str], list[str]] | None, attributes: dict[str, str]
) -> list[tuple[int, int, str]]:
    """The compiler declares functions of tensors, and takes names from attributes
    of their values. It declares no function of PyTorch's types: a declaration
    is added to `attributes`."""
    inputs = _names(function.inputs, given[0] if given else [], "input")
    outputs = _names(function.outputs, given[1] if given else [], "output")
    values = [*zip(function.inputs, inputs), *zip(function.outputs, outputs)]
    if any(value.type.startswith("!torch.") for value, _ in values):
        types = [_declared_type(value.type) for value, _ in values]
        if None in types:
            return []
        texts = [f"%{name}: {type_}" for (_, name), type_ in zip(values, types)]
        first = ", ".join(texts[: len(inputs)])
        last = ", ".join(texts[len(inputs) :])
        attributes.setdefault("iree.abi.declaration", f"sync func @{function.name}({first}) -> ({last})")
        return []
    edits = []
    for i, (value, name) in enumerate(values):
        known = given or value.name is not None
        if not known or value.has_name_attribute or not _TENSOR.match(value.type):
            continue
        entry = f'iree.abi.name = "{name}"'
        if value.attributes is not None:
            edits.append((value.attributes, value.attributes, entry + value.separator))
        elif i >= len(inputs) and not function.has_parentheses:
            begin = value.end - len(value.type)
            edits.append((begin, value.end, f"({value.type} {{{entry}}})"))
        else:
            edits.append((value.end, value.end, f" {{{entry}}}"))
    return edits


def _names(values: list[Value], given: list[str], kind: str) -> list[str]:
    """Words that differ, one for each value."""
    names: list[str] = []
    use_given = len(given) == len(values)
    for i, value in enumerate(values):
        wanted = given[i] if use_given else value.name
        name = word(wanted) if wanted else f"{kind}{i}"
        if name in names:
            name = f"{name}_{i}"
        names.append(name)
    return names


def word(name: str) -> str:
    """`name` as a declaration can have it: state['w'] is state.w, a b is a_b."""
    name = re.sub(r"\[['\"]?([^\]'\"]*)['\"]?\]", r".\1", name).strip(".")
    return re.sub(r"[^\w.$-]", "_", name, flags=re.ASCII) or "_"


def _declared_type(text: str) -> str | None:
    match = _TORCH_TENSOR.match(text)
    if match:
        dimensions = [d.strip() for d in match.group(1).split(",") if d.strip()]
        return "tensor<" + "".join(f"{d}x" for d in dimensions) + match.group(2) + ">"
    return None if text.startswith("!torch.") else text


def _reflect(text: str, function: Function, attributes: Mapping[str, str]) -> list[tuple[int, int, str]]:
    if not attributes:
        return []
    entries = [f'"{key}" = "{_escaped(value)}"' for key, value in attributes.items()]
    if function.attributes is None:
        whole = f"attributes {{iree.reflection = {{{', '.join(entries)}}}}} "
        return [(function.body, function.body, whole)]
    old = re.compile(r"iree\.reflection\s*=\s*\{").search(text, function.attributes, function.attributes_end)
    if old is None:
        entry = f"iree.reflection = {{{', '.join(entries)}}}"
        is_empty = not text[function.attributes : function.attributes_end - 1].strip()
        return [(function.attributes, function.attributes, entry + ("" if is_empty else ", "))]
    # Its own entries stay, but for those that are given here.
    end = _closing(text, old.end() - 1)
    kept = [
        entry
        for entry in (part.strip() for part in _split(text, old.end(), end - 1))
        if entry and entry.partition("=")[0].strip().strip('"') not in attributes
    ]
    return [(old.end(), end - 1, ", ".join(entries + kept))]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _read_function(text: str, match: re.Match) -> Function | None:
    end = _closing(text, match.end() - 1)
    inputs = [_read_value(text, *span) for span in _spans(text, match.end(), end - 1)]
    at = _skip(text, end)
    outputs: list[Value] = []
    has_parentheses = False
    if text.startswith("->", at):
        at = _skip(text, at + 2)
        if text[at : at + 1] == "(":
            has_parentheses = True
            end = _closing(text, at)
            outputs = [_read_value(text, *span) for span in _spans(text, at + 1, end - 1)]
        else:
            end = _end_of_type(text, at)
            outputs = [Value(None, text[at:end], end, None, "", False)]
        at = _skip(text, end)
    attributes = attributes_end = None
    if text.startswith("attributes", at):
        attributes = text.index("{", at) + 1
        attributes_end = _closing(text, attributes - 1)
        at = _skip(text, attributes_end)
    if text[at : at + 1] != "{":  # Declared here, defined elsewhere.
        return None
    name = match.group(2).strip('"')
    return Function(name, inputs, outputs, has_parentheses, at, attributes, attributes_end)


def _read_value(text: str, begin: int, end: int) -> Value:
    """%name: type {attributes} loc("..."), of which only the type must be there."""
    name = ssa = None
    begin = _skip(text, begin)
    colon = text.find(":", begin, end)
    if text[begin] == "%" and colon >= 0:
        ssa = text[begin:colon].strip()
        given = _GIVEN_NAME.match(ssa)
        name = given.group(1) if given and not _NUMBERED_NAME.match(ssa) else None
        begin = _skip(text, colon + 1)
    type_end = _end_of_type(text, begin)
    at = _skip(text, type_end)
    attributes = None
    inside = ""
    if at < end and text[at] == "{":
        attributes = at + 1
        inside = text[at + 1 : _closing(text, at) - 1]
    path = _RESULT_OF_JAX.search(inside)
    if path:
        name = _name_of_result(path.group(1))
    located = _LOCATION.search(text, at, end)
    if located and name is None:
        name = located.group(1)
    separator = ", " if inside.strip() else ""
    return Value(name, text[begin:type_end], type_end, attributes, separator, "iree.abi.name" in inside, ssa)


def _name_of_result(path: str) -> str:
    """result['action'] is action, result[1] is output1."""
    path = path.removeprefix("result")
    number = re.fullmatch(r"\[(\d+)\]", path)
    return f"output{number.group(1)}" if number else path or "result"


def _end_of_type(text: str, at: int) -> int:
    """The end of a type without blanks outside its brackets."""
    while at < len(text) and not text[at].isspace() and text[at] not in ",){":
        at = _closing(text, at) if text[at] in "<([" else at + 1
    return at


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _closing(text: str, at: int) -> int:
    """The position after the bracket that closes the one at `at`."""
    expected = [_PAIRS[text[at]]]
    begin = at
    while expected:
        at += 1
        if at >= len(text):
            raise CompileError(f"MLIR: {text[begin:begin + 60]!r} is not closed")
        c = text[at]
        if c == '"':
            at += 1
            while at < len(text) and text[at] != '"':
                at += 2 if text[at] == "\\" else 1
        elif c == expected[-1] and not (c == ">" and text[at - 1] == "-"):
            expected.pop()
        elif c in _PAIRS:
            expected.append(_PAIRS[c])
    return at + 1


def _spans(text: str, begin: int, end: int) -> list[tuple[int, int]]:
    """The parts between commas that are in no brackets."""
    spans = []
    at = start = begin
    while at < end:
        c = text[at]
        if c == ",":
            spans.append((start, at))
            start = at + 1
        if c == '"':
            at += 1
            while at < end and text[at] != '"':
                at += 2 if text[at] == "\\" else 1
        at = _closing(text, at) if c in _PAIRS else at + 1
    if text[start:end].strip():
        spans.append((start, end))
    return spans


def _split(text: str, begin: int, end: int) -> list[str]:
    return [text[a:b] for a, b in _spans(text, begin, end)]
