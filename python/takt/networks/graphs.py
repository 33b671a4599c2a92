"""What the graph of an ONNX network says, for passes that write another one."""

from __future__ import annotations

import collections
import functools
import math
from typing import Any, Iterable

import numpy as np

from . import inference, names, subgraphs

# They move elements, and compute nothing of them that a common factor or difference changes.
MOVES = {
    "Concat", "DepthToSpace", "Expand", "Flatten", "Gather", "Identity", "MaxPool", "Reshape", "Slice",
    "Split", "Squeeze", "Transpose", "Unsqueeze",
}


class NodeReader:
    """Reads the nodes of a graph.

    onnx       the module, which is imported when it is needed.
    constants  tensors whose values are known.
    consumers  the nodes that read each tensor, for only_consumer().
    results    the tensors that the graph gives, for the same.
    """

    onnx: Any
    constants: dict[str, np.ndarray]
    consumers: dict[str, list[Any]]
    results: set[str]

    def only_consumer(self, name: str) -> Any | None:
        """The node that reads a tensor, if it is the only one and the tensor is no result."""
        users = self.consumers.get(name, [])
        return users[0] if len(users) == 1 and name not in self.results else None

    def attributes(self, node: Any) -> dict[str, Any]:
        return {each.name: self.onnx.helper.get_attribute_value(each) for each in node.attribute}

    def reduced_axes(self, node: Any, rank: int) -> list[int] | None:
        """The axes of a reduction, in order; None: they are not known."""
        own = self.attributes(node)
        axes = own.get("axes", [])
        if len(node.input) > 1 and node.input[1]:
            axes = self.constants.get(node.input[1])
        if axes is None:
            return None
        if len(axes) == 0:
            return [] if own.get("noop_with_empty_axes", 0) else list(range(rank))
        return sorted(int(axis) % rank for axis in axes)

    def normalization(self, node: Any) -> tuple[np.ndarray, np.ndarray] | None:
        """By what a BatchNormalization multiplies each channel, and what it adds then; None: they are no constants."""
        parts = [self.constants.get(name) for name in node.input[1:5]]
        is_trained = len(node.output) == 1 and not self.attributes(node).get("training_mode", 0)
        if any(part is None for part in parts) or not is_trained:
            return None
        scale, shift, mean, variance = (part.astype(np.float64) for part in parts)
        factor = scale / np.sqrt(variance + self.attributes(node).get("epsilon", 1e-5))
        return factor, shift - mean * factor


class Graph(NodeReader):
    """A graph, and what a pass has for a new one.

    constants  initializers and the values of Constant nodes.
    makers     the node that makes each tensor.
    names      for new tensors.
    """

    def __init__(self, model: Any) -> None:
        import onnx

        self.onnx = onnx
        self.model = model
        self.graph = model.graph
        self.constants = constants_of(self.graph)
        self.makers: dict[str, Any] = {name: node for node in self.graph.node for name in node.output}
        self.results = {value.name for value in self.graph.output}
        self.names = names.Names(self.graph)
        self.new: list[Any] = []  # Initializers of the graph that is written.

    @functools.cached_property
    def inferred(self) -> Any:
        """The graph with all shapes and types that onnx infers."""
        return inference.inferred_graph(self.model)

    @functools.cached_property
    def types(self) -> dict[str, np.dtype]:
        """The type of each tensor's elements, where it is known."""
        types = {name: array.dtype for name, array in self.constants.items()}
        types.update((name, self.onnx.helper.tensor_dtype_to_np_dtype(element))
                     for name, element in inference.elements_of(self.inferred).items() if element)
        return types

    @functools.cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes that onnx infers, where all sizes are known and none is 0; those of constants
        as well. A large network takes a while, so they are inferred when they are needed."""
        inferred = inference.shapes_of(self.inferred)
        return {**{name: array.shape for name, array in self.constants.items()},
                **{name: shape for name, shape in inferred.items() if all(shape)}}

    @functools.cached_property
    def open_shapes(self) -> dict[str, list[int | None]]:
        """The sizes of each tensor whose rank is known, None for one that is open."""
        constants = {name: list(array.shape) for name, array in self.constants.items()}
        return {**constants, **inference.sizes_of(self.inferred)}

    def initializer(self, name: str, value: np.ndarray) -> str:
        """A new initializer."""
        self.new.append(self.onnx.numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    def written(self, nodes: list[Any]) -> Any:
        """The model with those of these nodes that its results need."""
        result = self.onnx.ModelProto()
        result.CopyFrom(self.model)
        del result.graph.node[:], result.graph.value_info[:]
        # Constants come first: a node may have been moved before those that it reads.
        ordered = sorted(nodes, key=lambda node: node.op_type != "Constant")
        result.graph.node.extend(needed(ordered, self.results)[0])
        result.graph.initializer.extend(self.new)
        # onnx does not infer what loops with open sizes give.
        inner = {name for node in result.graph.node if any(each.HasField("g") for each in node.attribute)
                 for name in node.output}
        result.graph.value_info.extend(value for value in self.graph.value_info if value.name in inner)
        return result


class Changer(Graph):
    """A graph some of whose nodes are replaced, one after the other.

    out         the nodes that are written.
    is_changed  whether they differ from those that were there.
    """

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.out: list[Any] = []
        self.is_changed = False

    def run(self) -> Any:
        """The model with what takes the place of each node of ONNX's own operators; the model
        itself if all of them stay."""
        for node in self.graph.node:
            if node.domain in ("", "ai.onnx"):
                node = self.changed(node)
            self.out.append(node)
        return self.written(self.out) if self.is_changed else self.model

    def run_with_types(self) -> Any:
        """The same where no tensor changes, with the types of all: onnx does not infer those of Takt's kernels."""
        result = self.run()
        if result is not self.model:
            result.graph.value_info.extend(self.model.graph.value_info)
        return result

    def changed(self, node: Any) -> Any:
        """The node with the results of `node`, behind those that it adds to `out`; or `node` itself."""
        raise NotImplementedError

    def with_inputs(self, node: Any, names: dict[int, str]) -> Any:
        self.is_changed = True
        changed = type(node)()
        changed.CopyFrom(node)
        for i, name in names.items():
            changed.input[i] = name
        return changed

    def constant(self, value: np.ndarray) -> str:
        return self.initializer(self.names.fresh("takt_constant"), value)

    def emit(self, kind: str, inputs: list[str], **attributes: Any) -> str:
        """A new node before the one that takes the place of another one."""
        self.is_changed = True
        name = self.names.fresh(f"takt_{kind}")
        self.out.append(self.onnx.helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name


def one_scale(node: Any, constants: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray] | None:
    """The scale and the zero point of a QuantizeLinear or DequantizeLinear, if they are constants and those of all
    elements. Both are scalars."""
    found = [constants.get(name) for name in node.input[1:]]
    if len(found) != 2 or any(each is None or each.size != 1 for each in found):
        return None
    scale, zero = (each.reshape(()) for each in found)
    return scale, zero


def constants_of(graph: Any, elements_max: int | None = None) -> dict[str, np.ndarray]:
    """Initializers, and the values of Constant nodes, of at most so many elements."""
    from onnx import numpy_helper

    return {name: numpy_helper.to_array(tensor) for name, tensor in tensors_of(graph).items()
            if elements_max is None or math.prod(tensor.dims) <= elements_max}


def tensors_of(graph: Any) -> dict[str, Any]:
    """The same as they are in the file. The tensor of a Constant node need not have its name."""
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            tensors[node.output[0]] = node.attribute[0].t
    return tensors


def needed(nodes: Iterable[Any], results: Iterable[str]) -> tuple[list[Any], set[str]]:
    """The nodes that the results depend on, in order, and the tensors that these read,
    with the results."""
    used, kept = set(results), []
    for node in reversed(list(nodes)):
        if any(name in used for name in node.output):
            kept.append(node)
            used |= inputs(node)
    return kept[::-1], used


def replace_nodes(owner: Any, nodes: Iterable[Any]) -> None:
    """Gives a graph or a function these nodes, of which some may be its own."""
    kept = [type(node).FromString(node.SerializeToString()) for node in nodes]
    del owner.node[:]
    owner.node.extend(kept)


def drop_unused(graph: Any) -> set[str]:
    """Drops nodes that the results do not depend on. Returns the tensors that are read, with the results."""
    kept, used = needed(graph.node, (value.name for value in graph.output))
    del graph.node[:]
    graph.node.extend(kept)
    return used


def reads(node: Any) -> list[str]:
    """Its inputs, with what only its subgraphs read behind them."""
    return [*node.input, *sorted(inputs(node) - set(node.input))]


def consumers_of(nodes: Iterable[Any]) -> dict[str, list[Any]]:
    """The nodes that read each tensor. One that reads it twice is there twice."""
    consumers: dict[str, list[Any]] = {}
    for node in nodes:
        for name in reads(node):
            consumers.setdefault(name, []).append(node)
    return consumers


def reader_counts(nodes: Iterable[Any]) -> collections.Counter[str]:
    """How often the nodes read each tensor."""
    return collections.Counter(name for node in nodes for name in reads(node))


def inputs(node: Any) -> set[str]:
    """The tensors that a node reads; those too that its subgraphs read of the graphs around them."""
    read = set(node.input)
    for graph in subgraphs.subgraphs_of(node):
        own = {each.name for each in (*graph.input, *graph.initializer)}
        own.update(name for inner in graph.node for name in inner.output)
        read.update({value.name for value in graph.output}.union(*map(inputs, graph.node)) - own)
    return read
