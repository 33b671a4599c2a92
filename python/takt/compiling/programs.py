"""Programs of the importer of ONNX as parts, from which another program is made."""

from __future__ import annotations

import dataclasses
import re
from typing import Iterable, Iterator, Mapping, Sequence, Tuple

from ..errors import CompileError
from ..rewriting import lowering

# The importer's function, up to its body.
_HEAD = re.compile(
    r"^  func\.func @(?P<name>[\w.$]+|\"[^\"]*\")\((?P<arguments>.*?)\) -> (?P<results>.*?)"
    r"(?P<attributes> attributes \{.*\})? \{$", re.MULTILINE)
_TENSOR = re.compile(r"!torch\.vtensor<\[([\d,?]*)\],(\w+)>")
_RETURN = re.compile(r"^    return (?P<values>.*) : (?P<types>.*)$", re.MULTILINE)
# Behind the module: the values of its constants, which may be most of the text. An expression takes some 20 ns a byte.
_VALUES = "\n{-#"
_RESOURCES, _RESOURCES_END = f"{_VALUES}\n  dialect_resources: {{\n    builtin: {{\n", "\n    }\n  }\n#-}"
_MODULE = "module {\n"
_PRODUCT_BITS = 44  # Of the product of open sizes. The bytes of what has a tensor of them must be numbers of 63 bits.
_KERNEL = re.compile(r"@(takt_kernels|k\d+_\w+)")  # As `lowering` names executables and what they export.

Tensor = Tuple[str, str]  # The sizes, with commas, and the type of the elements.


@dataclasses.dataclass
class Program:
    """A program in parts. Its function becomes a private one of a larger program.

    function   what the private one is called.
    before     what stands before the function.
    name       of the function as it was read.
    returned   what the function returns.
    resources  by name: the values of a constant, as they are written.
    """

    function: str
    before: str
    name: str
    arguments: list[tuple[str, Tensor]]
    results: list[Tensor]
    attributes: str
    body: str
    returned: list[str]
    resources: dict[str, str]

    @property
    def kinds(self) -> list[Tensor]:
        return [kind for _, kind in self.arguments]


def end_of_code(mlir: str) -> int:
    """Where the values of the program's constants begin. They are long: what looks at the code alone leaves them."""
    begin = mlir.find(_VALUES)
    return len(mlir) if begin < 0 else begin


def parse(mlir: str, function: str, label: str = "") -> Program:
    """function  what the program's function is to be called; with another name if it has that one.
    label     for the names of its kernels, since those of all programs come to one module."""
    end_of_all = end_of_code(mlir)
    code = mlir[:end_of_all]
    if label:
        code = _KERNEL.sub(rf"@\1_{label}", code)
    heads = list(_HEAD.finditer(code))
    ends = list(_RETURN.finditer(code, heads[-1].end())) if heads else []
    if not code.startswith(_MODULE) or not ends:
        raise CompileError("joining programs: the importer's text has no function")
    head, end = heads[-1], ends[-1]
    arguments = [(part.split(": ", 1)[0], _TENSOR.search(part)) for part in re.split(r", (?=%)", head["arguments"])]
    for name, found in arguments:
        if found is None:
            raise CompileError(f"joining programs: {name} of {head['name']} is no tensor")
    return Program(
        function=f"{function}_" if head["name"] == function else function,
        before=code[len(_MODULE):head.start()],
        name=head["name"],
        arguments=[(name, found.groups()) for name, found in arguments],
        results=_TENSOR.findall(head["results"]),
        attributes=head["attributes"] or "",
        body=code[head.end():end.start()],
        returned=end["values"].split(", "),
        resources=_read_resources(mlir, end_of_all),
    )


def _read_resources(mlir: str, begin: int) -> dict[str, str]:
    if not mlir.startswith(_RESOURCES, begin):
        return {}
    first = begin + len(_RESOURCES)
    lines = (line.partition(": ") for line in mlir[first:mlir.index(_RESOURCES_END, first)].split(",\n"))
    return {name.strip(): values for name, _, values in lines}


def join(public: str, parts: Sequence[Program]) -> str:
    """The program of a function and of those that it calls. Their equal constants are there once."""
    _share_resources(parts)
    return "".join([
        _MODULE,
        *(part.before for part in parts),
        public,
        *(_private(part) for part in parts),
        "}\n",
        _resources({name: values for part in parts for name, values in part.resources.items()}),
    ])


def with_same_sizes(mlir: str, dimensions: Mapping[str, Sequence[tuple[int, int]]]) -> str:
    """The importer's program, whose calls fail where these axes of arguments have several sizes.

    dimensions  by what a size is called: the arguments that have it, by number, and their axes.
    """
    shared = {name: places for name, places in dimensions.items() if len(places) > 1}
    heads = list(_HEAD.finditer(mlir, 0, end_of_code(mlir))) if shared else []
    if not heads:
        return mlir
    arguments = re.findall(r"(%[\w.]+): (!torch\.[^%]*)(?:, |$)", heads[-1]["arguments"])
    lines = [line for name, places in shared.items() for line in _same_sizes(name, places, arguments)]
    end = heads[-1].end()
    return mlir[:end] + "".join(f"\n    {line}" for line in lines) + mlir[end:]


def _same_sizes(name: str, places: Sequence[tuple[int, int]], arguments: Sequence[tuple[str, str]]) -> Iterator[str]:
    first = ""
    for i, axis in places:
        argument, kind = arguments[i]
        found, size = _TENSOR.search(kind), f"%takt.size{i}_{axis}"
        if found is None or found[1].split(",")[axis] != "?":
            continue
        yield f"{size}.axis = torch.constant.int {axis}"
        yield (f"{size} = torch.aten.size.int {argument}, {size}.axis : {torch(found.groups())}, !torch.int -> "
               "!torch.int")
        if first:
            yield f"{size}.same = torch.aten.eq.int {first}, {size} : !torch.int, !torch.int -> !torch.bool"
            yield f"torch.runtime.assert {size}.same, {quoted(f'dimension {name} has several sizes')}"
        first = first or size


def quoted(text: str) -> str:
    """A string of MLIR."""
    return '"' + "".join(c if c.isascii() and c.isprintable() and c not in '"\\' else
                         "".join(f"\\{byte:02X}" for byte in c.encode()) for c in text) + '"'


def public(like: Program, arguments: Sequence[Tensor], results: Sequence[Tensor], body: Iterable[str]) -> str:
    """A function with the name of that of `like`. Its body has the arguments as %t0, %t1 and so on, and makes %all.

    What the compiler changes in place is a copy of an argument only if the argument is read later."""
    listed = ", ".join(f"%arg{i}: {torch(kind)}" for i, kind in enumerate(arguments))
    return "\n".join([
        f"  func.func @{like.name}({listed}) -> {tuple_of(map(torch, results))}{like.attributes} {{",
        *(f"    %t{i} = torch_c.to_builtin_tensor %arg{i} : {torch(kind)} -> {builtin(kind)}"
          for i, kind in enumerate(arguments)),
        *body,
        *(f"    %kept{i} = util.optimization_barrier %t{i} : {builtin(kind)}" for i, kind in enumerate(arguments)),
        *(f"    %r{i} = torch_c.from_builtin_tensor %all#{i} : {builtin(kind)} -> {torch(kind)}"
          for i, kind in enumerate(results)),
        f"    return {list_of('%r', len(results))} : {', '.join(map(torch, results))}",
        "  }",
        "",
    ])


def branch(part: Program, arguments: Sequence[Tensor], results: Sequence[Tensor]) -> Iterator[str]:
    """What an scf.if does and yields if %t0, %t1 and so on have the sizes of `part`, which the types leave open."""
    operands = []
    for i, (kind, own) in enumerate(zip(arguments, part.kinds)):
        operands.append(f"%t{i}" if kind == own else f"%a{i}")
        if kind != own:
            yield f"      %a{i} = tensor.cast %t{i} : {builtin(kind)} to {builtin(own)}"
    yield f"      %o:{len(part.results)} = {call(part, operands)}"
    names = []
    for i, (kind, own) in enumerate(zip(results, part.results)):
        # Results become parts of one buffer, and the compiler forgets that their offsets differ in
        # loops. Behind a barrier each is a buffer of its own.
        yield f"      %p{i} = util.optimization_barrier %o#{i} : {builtin(own)}"
        names.append(f"%p{i}" if kind == own else f"%d{i}")
        if kind != own:
            yield f"      %d{i} = tensor.cast %p{i} : {builtin(own)} to {builtin(kind)}"
    yield f"      scf.yield {', '.join(names)} : {', '.join(map(builtin, results))}"


def call(part: Program, operands: Iterable[str]) -> str:
    kinds = ", ".join(map(builtin, part.kinds))
    return f"func.call @{part.function}({', '.join(operands)}) : ({kinds}) -> {tuple_of(map(builtin, part.results))}"


def keep_arguments(mlir: str) -> str:
    """The program, whose function does not write into its arguments, and takes no sizes beyond a limit."""
    try:
        part = parse(mlir, "takt_body")
    except CompileError:  # An argument may be a sequence. Then the compiler's own error is the better one.
        return mlir
    return join(public(part, part.kinds, part.results, _limited_call(part)), [part])


def _limited_call(part: Program) -> Iterator[str]:
    """Calls the part with %t0, %t1 and so on, whose open sizes have a limit. Without one, the compiler's analysis of
    ranges takes the place of a state that is rounded up for 0, and reads another tensor in its place."""
    open_count = max((shape.split(",").count("?") for shape, _ in part.kinds), default=0)
    limit = 1 << _PRODUCT_BITS // max(2, open_count)  # Products may have a size twice.
    yield f"    %limit = arith.constant {limit} : index"
    operands = []
    for i, (shape, element) in enumerate(part.kinds):
        sizes = []
        for axis, size in enumerate(shape.split(",")):
            if size != "?":
                continue
            at, kind = f"{i}_{axis}", builtin((shape, element))
            yield f"    %axis{at} = arith.constant {axis} : index"
            yield f"    %size{at} = tensor.dim %t{i}, %axis{at} : {kind}"
            yield f"    %fits{at} = arith.cmpi ule, %size{at}, %limit : index"
            yield f"    cf.assert %fits{at}, \"an open size is greater than {limit}\""
            yield f"    %few{at} = util.assume.int %size{at}<umin = 0, umax = {limit}> : index"
            sizes.append(f"%few{at}")
        operands.append(f"%sized{i}" if sizes else f"%t{i}")
        if sizes:
            yield f"    %sized{i} = flow.tensor.tie_shape %t{i} : {kind}{{{', '.join(sizes)}}}"
    yield f"    %all:{len(part.results)} = {call(part, operands)}"


def _share_resources(parts: Sequence[Program]) -> None:
    """Constants of equal values get the same name, others get different ones."""
    names: dict[str, str] = {}
    for part in parts:
        new = {name: names.setdefault(values, f"takt_values_{len(names)}") for name, values in part.resources.items()}
        part.body = re.sub(r"dense_resource<([^>]*)>", lambda found: f"dense_resource<{new[found[1]]}>", part.body)
        part.resources = {new[name]: values for name, values in part.resources.items()}


def _resources(resources: Mapping[str, str]) -> str:
    if not resources:
        return ""
    lines = ",\n".join(f"      {name}: {values}" for name, values in resources.items())
    return f"{_RESOURCES}{lines}{_RESOURCES_END}\n"


def _private(part: Program) -> str:
    listed = ", ".join(f"{name}.takt: {builtin(kind)}" for name, kind in part.arguments)
    lines = [f"  func.func private @{part.function}({listed}) -> {tuple_of(map(builtin, part.results))}"
             f"{part.attributes} {{"]
    lines += [f"    {name} = torch_c.from_builtin_tensor {name}.takt : {builtin(kind)} -> {torch(kind)}"
              for name, kind in part.arguments]
    end = [f"    %takt.result{i} = torch_c.to_builtin_tensor {name} : {torch(kind)} -> {builtin(kind)}"
           for i, (name, kind) in enumerate(zip(part.returned, part.results))]
    end += [f"    return {list_of('%takt.result', len(end))} : {', '.join(map(builtin, part.results))}", "  }", ""]
    return "\n".join(lines) + part.body + "\n".join(end)


def torch(kind: Tensor) -> str:
    return f"!torch.vtensor<[{kind[0]}],{kind[1]}>"


def builtin(kind: Tensor) -> str:
    return lowering.builtin(*kind)


def tuple_of(kinds: Iterable[str]) -> str:
    return f"({', '.join(kinds)})"


def list_of(stem: str, count: int) -> str:
    return ", ".join(f"{stem}{i}" for i in range(count))
