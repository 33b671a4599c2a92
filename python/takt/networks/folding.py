"""What a network computes of constants alone, for rewriter.py.

Exporters leave shapes as chains of operations: Shape, Gather, Concat, Reshape.
`fold()` computes these chains, and with them the shapes of what follows, by the
reference implementation of the package onnx. An If, a Loop or a Scan whose condition
or number of turns is known is replaced by the nodes that it stands for (subgraphs.py).
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

import numpy as np

from . import graphs, image_scales, inference, subgraphs
from .names import beginnings_of

# These have subgraphs, or depend on more than their inputs.
_KEPT = {
    "If", "Loop", "Scan", "RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike",
    "Multinomial", "Bernoulli",
}
# Each round knows more shapes than the last one.
_ROUNDS_MAX = 64
# A result of more bytes than this must not be larger than its inputs.
_BYTES_MAX = 1 << 24
# These write the same values many times.
_SPREADING = {"ConstantOfShape", "Expand", "Tile"}
_SPREAD_BYTES_MAX = 1 << 20
# The reference computes these step by step in Python. In microseconds, for each element of
# the indices if there are any, or else of the largest input.
_STEP_US = {
    "GatherElements": 2, "GatherND": 2, "ScatterElements": 2, "ScatterND": 2, "TensorScatter": 2,
    "AveragePool": 30, "Col2Im": 6, "Conv": 3, "ConvTranspose": 70, "DeformConv": 500, "GRU": 75, "GridSample": 500,
    "LRN": 30, "LSTM": 75, "LpPool": 30, "MaxPool": 30, "MaxUnpool": 30, "NonMaxSuppression": 30, "RNN": 75,
    "RoiAlign": 30,
}
_TAKING = {"Gather", "GatherElements", "GatherND"}
_INDEXED = {"GatherElements", "GatherND", "ScatterElements", "ScatterND", "TensorScatter"}
_STEPS_MAX_US = 20_000_000  # Of one network.


@dataclasses.dataclass
class Folded:
    """A network, and what was computed for it.

    constants  by name: those of the network and of `nodes`.
    nodes      that were replaced by constants, or make floats of constant bytes for
               those that were, in order. The latter stay: the bytes are what
               kernels of a quantized network take.
    refused    results of nodes that read constants and stay: too large, too slow, or
               unknown to the reference.
    us_left    what the steps of the reference may still take.
    """

    model: Any
    constants: dict[str, np.ndarray] = dataclasses.field(default_factory=dict)
    nodes: list[Any] = dataclasses.field(default_factory=list)
    refused: set[str] = dataclasses.field(default_factory=set)
    us_left: int = _STEPS_MAX_US


def fold(model: Any, samples: int = 1) -> Any:
    """An equivalent onnx.ModelProto with all shapes that can be inferred. `model`
    is not changed. The limits of sizes are for each of so many samples."""
    return folded(model, samples).model


def folded(model: Any, samples: int = 1) -> Folded:
    """The same, with what was computed."""
    result = Folded(type(model)())
    result.model.CopyFrom(model)
    for _ in range(_ROUNDS_MAX):
        image_scales.round_up(result.model)
        inference.infer_shapes(result.model)
        if not _Round(result, samples).run():
            break
    return result


class _Round:
    """Replaces, in the model, nodes by the constants that they compute."""

    def __init__(self, folded: Folded, samples: int) -> None:
        import onnx

        self.onnx = onnx
        self.folded = folded
        self.samples = samples
        self.graph = folded.model.graph
        self.opsets = {each.domain: each.version for each in folded.model.opset_import}
        self.computed = folded.nodes
        self.constants = folded.constants
        for tensor in self.graph.initializer:
            if tensor.name not in self.constants:
                self.constants[tensor.name] = onnx.numpy_helper.to_array(tensor)
        self.results = {value.name for value in self.graph.output}
        self.shapes = inference.shapes_of(self.graph)
        self.elements = inference.elements_of(self.graph)
        self.dequantizing: dict[str, Any] = {}  # The nodes that make floats of constant bytes, by their results.

    def run(self) -> bool:
        """Whether something was replaced."""
        kept, new = [], {}
        is_opened = False
        room = subgraphs.NODES_MAX - len(self.graph.node)
        for node in self.graph.node:
            inner = subgraphs.opened(node, self.constants, self.shapes, room, self.opsets,
                                     lambda: self.beginnings)
            if inner is not None:
                room -= len(inner.node)
                kept.extend(inner.node)
                self.graph.initializer.extend(inner.initializer)
                is_opened = True
                continue
            values = self.compute(node)
            if values is None:
                kept.append(node)
                continue
            self.constants.update(values)
            if node.op_type == "Constant":
                kept.append(node)
            else:
                new.update(values)
                self.computed.append(node)
        if not new and not is_opened:
            return False
        used = {name for node in kept for name in graphs.inputs(node)}
        del self.graph.node[:]
        self.graph.node.extend(kept)
        self.graph.initializer.extend(
            self.onnx.numpy_helper.from_array(array, name)
            for name, array in new.items() if name in used)
        known = [value for value in self.graph.value_info if value.name not in new]
        del self.graph.value_info[:]
        self.graph.value_info.extend(known)
        return True

    @functools.cached_property
    def beginnings(self) -> set[str]:
        return beginnings_of(self.graph)

    def compute(self, node: Any) -> dict[str, np.ndarray] | None:
        """The node's results; None if they depend on the elements of an input, or are too large."""
        if node.domain not in ("", "ai.onnx") or node.op_type in _KEPT:
            return None
        if any(name in self.results for name in node.output):
            return None
        if node.op_type == "Constant":
            name, attribute = node.output[0], node.attribute[0]
            if name in self.constants:
                return {name: self.constants[name]}
            if attribute.name == "value":
                return {name: self.onnx.numpy_helper.to_array(attribute.t)}
        if self.is_empty(node):
            return {name: np.zeros(self.shapes[name], self.onnx.helper.tensor_dtype_to_np_dtype(self.elements[name]))
                    for name in node.output if name}
        if node.op_type in _TAKING and node.output[0] in self.shapes:
            taken = self.taken(node.input[0], self.shapes[node.output[0]])
            if taken is not None:
                return {node.output[0]: taken}
        if self.folded.refused.intersection(node.output):
            return None
        names = [name for name in node.input if name]
        if node.op_type in ("Shape", "Size") and names[0] in self.shapes:
            feeds = {names[0]: np.broadcast_to(np.float32(0), self.shapes[names[0]])}
        elif all(name in self.constants or name in self.dequantizing for name in names):
            if node.op_type == "DequantizeLinear" or (
                    node.op_type in graphs.MOVES and not self.dequantizing.keys().isdisjoint(names)):
                self.dequantizing.update((name, node) for name in node.output)
                return None
            if not all(map(self.is_known, names)):
                self.folded.refused.update(name for name in node.output if name)
                return None
            feeds = {name: self.constants[name] for name in names}
        else:
            return None
        values = self.evaluate(node, feeds) if self.is_quick(node) else None
        if values is None:
            self.folded.refused.update(name for name in node.output if name)
        return values

    def is_known(self, name: str) -> bool:
        """Whether the elements of a constant, or of floats that a node makes of one, can be known."""
        if name in self.constants:
            return True
        node = self.dequantizing[name]
        names = [each for each in node.input if each]
        if not all(map(self.is_known, names)) or not self.is_quick(node):
            return False
        values = self.evaluate(node, {each: self.constants[each] for each in names})
        self.constants.update(values or {})
        self.computed += [] if values is None else [node]
        return values is not None

    def is_empty(self, node: Any) -> bool:
        """Whether the results have no element, whatever the inputs are."""
        return all(0 in self.shapes.get(name, ()) and self.elements.get(name) for name in node.output if name)

    def taken(self, name: str, shape: tuple[int, ...]) -> np.ndarray | None:
        """Elements of a constant, as many as `shape` states, if it has all elements the same. The compiler knows as
        well that they are the same wherever they are taken, and would run the kernels that read them, which it
        cannot."""
        source = self.constants.get(name)
        if source is None or source.size == 0 or math.prod(shape) * source.itemsize > _SPREAD_BYTES_MAX * self.samples:
            return None
        first = source.flat[0]
        return np.full(shape, first) if source.flat[-1] == first and (source == first).all() else None

    def is_quick(self, node: Any) -> bool:
        """Whether the reference computes the node, whose inputs are known, in little time."""
        if node.op_type not in _STEP_US:
            return True
        names = node.input[1:2] if node.op_type in _INDEXED else node.input
        steps = max((self.constants[name].size for name in names if name), default=0)
        cost_us = _STEP_US[node.op_type] * steps
        if cost_us > self.folded.us_left:
            return False
        self.folded.us_left -= cost_us
        return True

    def evaluate(self, node: Any, feeds: dict[str, np.ndarray]) -> dict[str, np.ndarray] | None:
        """The node's results of `feeds`; None if they are too large, or unknown to the reference."""
        least = _SPREAD_BYTES_MAX if node.op_type in _SPREADING else _BYTES_MAX
        read = sum(self.constants[name].nbytes for name in feeds.keys() & self.constants.keys())
        limit = max(least * self.samples, read)
        if any(np.prod(self.shapes.get(name, ()), dtype=np.float64) > limit for name in node.output):
            return None
        opsets = self.opsets
        if node.op_type == "DequantizeLinear":  # Older ones mean the same; the reference has none.
            opsets = {**opsets, "": max(opsets.get("", 1), 21)}
        try:
            values = subgraphs.evaluate([node], feeds, [name for name in node.output if name], opsets)
        except Exception:  # What the reference does not know, the compiler may.
            return None
        if any(not isinstance(value, np.ndarray) or value.nbytes > limit for value in values.values()):
            return None
        return values
