"""The spellings of ONNX that no other pass has to know."""

from __future__ import annotations

import heapq
import math
from typing import Any

import numpy as np

from . import graphs, subgraphs

_RESERVED = {"__init", "__deinit", "__notify"}  # Functions of a module that its loader calls.
_NAME_BYTES_MAX = 128  # Of a graph: the compiler writes files whose names have it and some more in them.
_SPARSE_MAX = 1 << 28  # Elements that a sparse tensor stands for.


def spell(model: Any) -> None:
    """Gives each operator of ONNX the domain "", each constant a tensor, each node no more inputs than it has, and
    the graph a name that a function may have. Drops nodes that no result depends on. Changes `model`, an
    onnx.ModelProto."""
    model.graph.name = _name_of_function(model.graph.name)
    for opset in model.opset_import:
        if opset.domain == "ai.onnx":
            opset.domain = ""
    _spell_graph(model.graph)


def _name_of_function(name: str) -> str:
    """The name of a graph as that of a function, which the compiler writes files for."""
    if name in _RESERVED:
        return name.strip("_")
    return name.encode()[:_NAME_BYTES_MAX].decode(errors="ignore").replace("/", "_") or "main"


def order(model: Any) -> None:
    """Puts each node behind those that make what it reads, as ONNX Runtime does with the files that it quantizes. Nodes
    that wait for each other stay where they are. Changes `model`, an onnx.ModelProto."""
    for owner in (model.graph, *model.functions):
        _order_nodes(owner)


def state_defaults(model: Any) -> None:
    """Gives each call of a function of the file the attributes that it leaves out and for which the function has a
    default: onnx does not look at these where it puts the function's nodes in place of the call. Changes `model`, an
    onnx.ModelProto."""
    defaults = {(each.domain, each.name, each.overload): list(each.attribute_proto) for each in model.functions}
    if any(defaults.values()):
        for owner in (model.graph, *model.functions):
            _state_defaults(owner, defaults)


def _state_defaults(owner: Any, defaults: dict[tuple[str, str, str], list[Any]]) -> None:
    """The same for the nodes of a graph or of a function."""
    for node in owner.node:
        for inner in subgraphs.subgraphs_of(node):
            _state_defaults(inner, defaults)
        stated = {each.name for each in node.attribute}
        node.attribute.extend(each for each in defaults.get((node.domain, node.op_type, node.overload), ())
                              if each.name not in stated)


def _order_nodes(owner: Any) -> None:
    """The same for the nodes of a graph or of a function."""
    for node in owner.node:
        for inner in subgraphs.subgraphs_of(node):
            _order_nodes(inner)
    makers = {name: i for i, node in enumerate(owner.node) for name in node.output}
    waits = [{makers[name] for name in graphs.inputs(node) if name and name in makers} for node in owner.node]
    if all(before < i for i, needed in enumerate(waits) for before in needed):
        return
    readers: dict[int, list[int]] = {}
    for i, needed in enumerate(waits):
        for before in needed:
            readers.setdefault(before, []).append(i)
    ready, places = [i for i, needed in enumerate(waits) if not needed], []
    while ready:
        places.append(heapq.heappop(ready))  # As early as the file has it.
        for reader in readers.get(places[-1], ()):
            waits[reader].remove(places[-1])
            if not waits[reader]:
                heapq.heappush(ready, reader)
    if len(places) == len(waits):
        graphs.replace_nodes(owner, [owner.node[i] for i in places])


def _spell_graph(graph: Any) -> None:
    from onnx import numpy_helper

    large = []
    for tensor in graph.sparse_initializer:
        if math.prod(tensor.dims) > _SPARSE_MAX:
            large.append(tensor)
        else:
            graph.initializer.append(numpy_helper.from_array(_dense(tensor), tensor.values.name))
    del graph.sparse_initializer[:]
    graph.sparse_initializer.extend(large)
    for tensor in graph.initializer:
        _spell_tensor(tensor)
    graphs.drop_unused(graph)
    for node in graph.node:
        if node.domain == "ai.onnx":
            node.domain = ""
        while node.input and not node.input[-1]:
            del node.input[-1]
        if node.domain == "" and node.op_type == "Constant" and len(node.attribute) == 1:
            _spell_constant(node.attribute[0])
        for inner in subgraphs.subgraphs_of(node):
            _spell_graph(inner)


def _spell_tensor(tensor: Any) -> None:
    """The importer reads numbers of less than 32 bits from bytes only."""
    from onnx import numpy_helper

    if len(tensor.int32_data) > 0:
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor), tensor.name))


def _spell_constant(attribute: Any) -> None:
    from onnx import AttributeProto, numpy_helper

    if attribute.name in ("value_float", "value_floats"):
        value = np.array(attribute.f if attribute.name == "value_float" else attribute.floats, np.float32)
    elif attribute.name in ("value_int", "value_ints"):
        value = np.array(attribute.i if attribute.name == "value_int" else attribute.ints, np.int64)
    elif attribute.name == "sparse_value" and math.prod(attribute.sparse_tensor.dims) <= _SPARSE_MAX:
        value = _dense(attribute.sparse_tensor)
    elif attribute.name == "value":
        _spell_tensor(attribute.t)
        return
    else:
        return
    attribute.CopyFrom(AttributeProto(name="value", type=AttributeProto.TENSOR, t=numpy_helper.from_array(value)))


def _dense(tensor: Any) -> np.ndarray:
    """Indices are those of the flat tensor, or a row for each value."""
    from onnx import numpy_helper

    values, places = numpy_helper.to_array(tensor.values), numpy_helper.to_array(tensor.indices)
    dense = np.zeros(list(tensor.dims), values.dtype)
    if places.ndim == 2:
        dense[tuple(places.T)] = values
    else:
        dense.reshape(-1)[places] = values
    return dense
