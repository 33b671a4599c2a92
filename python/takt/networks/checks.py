"""What every ONNX file must keep, before any pass reads it, and what the importer must not see."""

from __future__ import annotations

import math
from typing import Any

from . import inference, subgraphs
from ..errors import CompileError

# Elements of these types have so many bytes in a file, by the numbers of onnx.TensorProto.
_BYTES = {1: 4, 2: 1, 3: 1, 4: 2, 5: 2, 6: 4, 7: 8, 9: 1, 10: 2, 11: 8, 12: 4, 13: 8, 14: 8, 15: 16, 16: 2}


def check(model: Any) -> None:
    """Throws CompileError if `model`, an onnx.ModelProto, reads a tensor before it is made, makes one
    twice, has functions that call themselves, or values that do not fit their shape."""
    _check_functions(model)
    _check_graph(model.graph, [])


def _check_graph(graph: Any, outer: list[set[str]]) -> None:
    constants = {tensor.name for tensor in graph.initializer}
    constants.update(tensor.values.name for tensor in graph.sparse_initializer)
    known = {"", *constants, *(value.name for value in graph.input)}
    scopes = [*outer, known]
    for tensor in graph.initializer:
        _check_tensor(tensor)
    for node in graph.node:
        what = f"{node.op_type} {node.name!r}" if node.name else node.op_type
        for name in node.input:
            if not any(name in scope for scope in scopes):
                raise CompileError(f"{what}: no node before it makes its input {name!r}")
        for attribute in node.attribute:
            if attribute.HasField("t"):
                _check_tensor(attribute.t)
        for inner in subgraphs.subgraphs_of(node):
            _check_graph(inner, scopes)
        for name in node.output:
            if name and name in known:
                raise CompileError(f"{what}: {name!r} is made twice")
            known.add(name)
    for value in graph.output:
        if not any(value.name in scope for scope in scopes):
            raise CompileError(f"graph {graph.name!r}: no node makes the result {value.name!r}")


def check_domains(graph: Any) -> None:
    """Throws CompileError for an operator of another domain that the compiler's importer would take
    for one of ONNX, as it looks at names alone."""
    import onnx

    types = inference.elements_of(graph)
    for node in graph.node:
        for inner in subgraphs.subgraphs_of(node):
            check_domains(inner)
        # The importer knows some of ONNX Runtime's own, if the file states the types of their results.
        is_runtimes = node.domain == "com.microsoft" and not onnx.defs.has(node.op_type)
        if node.domain in ("", "ai.onnx") or is_runtimes and all(types.get(name) for name in node.output if name):
            continue
        raise CompileError(f"{node.domain}::{node.op_type} {node.name or node.output[0]!r}: "
                           f"{_reason(node, graph)}")


def check_values(graph: Any) -> None:
    """Throws CompileError for an argument or a result of the network that is no tensor of numbers, or a result whose
    rank is not known."""
    import onnx

    constants = {tensor.name for tensor in graph.initializer}
    arguments = [("input", value) for value in graph.input if value.name not in constants]
    for what, value in [*arguments, *(("result", value) for value in graph.output)]:
        kind = value.type.WhichOneof("value") or "tensor_type"
        tensor = value.type.tensor_type
        if kind != "tensor_type":
            said = f"of type {kind.removesuffix('_type')}; only tensors are taken"
        elif tensor.elem_type == onnx.TensorProto.STRING:
            said = "strings are not taken; keep them outside of the network"
        elif what == "result" and not tensor.HasField("shape"):
            said = "the number of its dimensions is not known; state its shape in the file"
        else:
            continue
        raise CompileError(f"{what} {value.name!r}: {said}")


def _reason(node: Any, graph: Any) -> str:
    """Why an operator is not taken, and what to do."""
    import onnx

    if node.domain == "com.microsoft.nchwc":
        return ("not known; ONNX Runtime has optimized the network for one processor: save it at the level basic or "
                "extended")
    if node.domain == "com.microsoft":
        return "not known with these attributes and types"
    if node.domain != "ai.onnx.ml":
        return "not known"
    if node.op_type == "ZipMap":
        return "maps are no tensors; export with options={'zipmap': False} (skl2onnx), which gives scores as a tensor"
    strings = {tensor.name for tensor in graph.initializer if tensor.data_type == onnx.TensorProto.STRING}
    strings.update(value.name for value in graph.input
                   if value.type.tensor_type.elem_type == onnx.TensorProto.STRING)
    if strings & set(node.input) or any("string" in each.name and each.strings for each in node.attribute):
        return ("strings are not taken; give classes and categories as whole numbers before fitting, and keep the "
                "names outside of the network")
    return "not known with these attributes and types"


def _check_tensor(tensor: Any) -> None:
    what = f"tensor {tensor.name!r}" if tensor.name else "a tensor"
    if any(size < 0 for size in tensor.dims):
        raise CompileError(f"{what}: a dimension of {min(tensor.dims)}")
    size = _BYTES.get(tensor.data_type)
    if not tensor.HasField("raw_data") or size is None:
        return
    expected = math.prod(tensor.dims) * size
    if len(tensor.raw_data) != expected:
        raise CompileError(f"{what}: {len(tensor.raw_data)} bytes of values, expected {expected}")


def _check_functions(model: Any) -> None:
    """Functions may only call those that are not on the way to themselves."""
    calls = {(each.domain, each.name, each.overload): [(node.domain, node.op_type, node.overload) for node in each.node]
             for each in model.functions}
    done: set[tuple[str, str, str]] = set()
    for first in calls:
        path: list[tuple[str, str, str]] = [first]  # From the first to the function that is looked at.
        left = [list(calls[first])]
        while path:
            if not left[-1]:
                left.pop()
                done.add(path.pop())
                continue
            called = left[-1].pop()
            if called in path:
                raise CompileError(f"function {called[1]!r} calls itself")
            if called in calls and called not in done:
                path.append(called)
                left.append(list(calls[called]))
