"""Convolutions of one tensor whose results are added, as one convolution: for rewriter.py.

Networks that were exported as they were trained have such branches (RepVGG, MobileOne,
FastViT): kernels of several sizes, a normalization, the tensor itself, a constant.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..networks import graphs


@dataclasses.dataclass
class _Branch:
    """A linear function of a tensor: weights [out][in of a group][...], and a bias."""

    name: str  # Of the result.
    source: str
    strides: tuple[int, ...]
    weights: np.ndarray
    bias: np.ndarray
    groups: int


def merge(model: Any) -> Any:
    """An equivalent onnx.ModelProto; `model` itself if nothing is to be done."""
    if not {"Add", "Conv"} <= {node.op_type for node in model.graph.node}:
        return model
    return _Merger(model).run()


class _Merger(graphs.Graph):
    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.users = graphs.reader_counts(self.graph.node)

    def run(self) -> Any:
        nodes, is_changed = [], False
        for node in self.graph.node:
            replaced = self.replace(node) if node.op_type == "Add" else None
            is_changed |= replaced is not None
            nodes += replaced or [node]
        return self.written(nodes) if is_changed else self.model

    def replace(self, root: Any) -> list[Any] | None:
        """The nodes of the sum that ends with `root`, in place of it."""
        name = root.output[0]
        terms = [each for side in root.input for each in self.terms(side)]
        branches = [branch for branch in map(self.branch, terms) if branch is not None]
        groups, left = [], list(terms)
        for first in branches:
            same = [each for each in branches if each.name in left and self.agree(first, each)]
            others = [found(term, first) for term in left for found in (self.identity, self.added)]
            same += [each for each in others if each is not None]
            if first.name in left and len(same) > 1:
                groups.append(same)
                left = [term for term in left if all(term != each.name for each in same)]
        shape = self.shapes.get(name) if groups else None
        if shape is None or any(self.shapes.get(term) != shape and term not in self.constants for term in terms):
            return None
        merged = [self.sum_of(same, f"{name}_branches_{i}") for i, same in enumerate(groups)]
        left += [node.output[0] for node in merged]
        for i, term in enumerate(left[1:], 1):
            output = name if i == len(left) - 1 else f"{name}_sum_{i}"
            merged.append(self.onnx.helper.make_node("Add", [left[0], term], [output], name=output))
            left[0] = output
        if len(left) == 1:
            merged[-1].output[0] = merged[-1].name = name
        return merged

    def terms(self, name: str) -> list[str]:
        """The terms of the sum `name`; `name` itself if it is no sum, or if other nodes
        read it, too."""
        maker = self.makers.get(name)
        if maker is None or maker.op_type != "Add" or self.users[name] > 1 or name in self.results:
            return [name]
        return [each for side in maker.input for each in self.terms(side)]

    def branch(self, name: str) -> _Branch | None:
        """The convolution whose only use is this sum; its window is centred."""
        maker = self.makers.get(name)
        if maker is None or maker.op_type != "Conv" or self.users[name] > 1 or name in self.results:
            return None
        weights = self.constants.get(maker.input[1])
        bias = self.constants.get(maker.input[2]) if len(maker.input) > 2 and maker.input[2] else 0.0
        attributes = self.attributes(maker)
        if weights is None or bias is None or weights.dtype != np.float32:
            return None
        kernel = weights.shape[2:]
        rank = len(kernel)
        half = [(size - 1) // 2 for size in kernel]
        if (any(size % 2 == 0 for size in kernel) or list(attributes.get("pads", [0] * 2 * rank)) != half * 2
                or any(each != 1 for each in attributes.get("dilations", []))
                or attributes.get("auto_pad", b"NOTSET") != b"NOTSET"):
            return None
        return _Branch(name, maker.input[0], tuple(attributes.get("strides", [1] * rank)), weights,
                       np.broadcast_to(bias, len(weights)), attributes.get("group", 1))

    def identity(self, name: str, other: _Branch) -> _Branch | None:
        """A normalization of the source of `other`, or the source itself, as a
        convolution of its groups. The source itself is taken by depthwise ones only:
        calls of the others add it in the same pass anyway."""
        channels = len(other.weights)
        if any(each != 1 for each in other.strides) or other.weights.shape[1] * other.groups != channels:
            return None
        scale, bias = np.ones(channels, np.float32), np.zeros(channels, np.float32)
        maker = self.makers.get(name)
        if name == other.source:
            if other.groups != channels:
                return None
        elif (maker is not None and maker.op_type == "BatchNormalization" and maker.input[0] == other.source
                and self.users[name] == 1 and name not in self.results):
            found = self.normalization(maker)
            if found is None:
                return None
            scale, bias = found
        else:
            return None
        inputs = other.weights.shape[1]
        weights = np.zeros((channels, inputs))
        weights[np.arange(channels), np.arange(channels) % inputs] = scale
        shape = (channels, inputs) + (1,) * (other.weights.ndim - 2)
        return _Branch(name, other.source, other.strides, weights.reshape(shape), bias, other.groups)

    def added(self, name: str, other: _Branch) -> _Branch | None:
        """A constant, of all channels or of each, as a part of the bias of `other`."""
        value = self.constants.get(name)
        channels = len(other.weights)
        each_channel = (channels,) + (1,) * (other.weights.ndim - 2)
        if value is None or value.dtype != np.float32 or not (
                value.size == 1 or value.shape[-len(each_channel):] == each_channel and value.size == channels):
            return None
        weights = np.zeros((channels, other.weights.shape[1]) + (1,) * (other.weights.ndim - 2))
        bias = np.broadcast_to(value.reshape(-1), channels)
        return _Branch(name, other.source, other.strides, weights, bias, other.groups)

    def agree(self, a: _Branch, b: _Branch) -> bool:
        return (a.source, a.strides, a.groups, a.weights.shape[:2]) == (b.source, b.strides, b.groups, b.weights.shape[:2])

    def sum_of(self, branches: list[_Branch], output: str) -> Any:
        first = branches[0]
        rank = first.weights.ndim - 2
        kernel = [max(each.weights.shape[2 + i] for each in branches) for i in range(rank)]
        weights, bias = 0.0, 0.0
        for each in branches:
            margins = [((size - own) // 2,) * 2 for size, own in zip(kernel, each.weights.shape[2:])]
            weights = weights + np.pad(each.weights.astype(np.float64), [(0, 0), (0, 0), *margins])
            bias = bias + each.bias.astype(np.float64)
        inputs = [first.source, self.initializer(f"{output}_weights", weights.astype(np.float32)),
                  self.initializer(f"{output}_bias", bias.astype(np.float32))]
        half = [(size - 1) // 2 for size in kernel]
        return self.onnx.helper.make_node(
            "Conv", inputs, [output], name=output, pads=half * 2, strides=list(first.strides),
            group=first.groups, kernel_shape=kernel)
