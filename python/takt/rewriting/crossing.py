"""Convolutions of rows and of columns that change places, for rewriter.py.

A convolution of windows of one row, and behind it one of windows of one column, may come in either order if each
channel is convolved alone. Networks for the signals of electrodes (EEGNet) have the longer one first, on all rows. The
other one leaves a single row.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..networks import graphs

# A depthwise convolution takes so many times as long for each multiply-add as another one.
_DEPTHWISE_COST = 3


def exchange(model: Any) -> Any:
    """An equivalent onnx.ModelProto; `model` itself if nothing is to be done."""
    if sum(node.op_type == "Conv" for node in model.graph.node) < 2:
        return model
    return _Exchanger(model).run()


class _Exchanger(graphs.Changer):
    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.consumers = graphs.consumers_of(self.graph.node)

    def changed(self, node: Any) -> Any:
        found = self.pair(node) if self.is_separate(node) else None
        if found is None:
            return node
        first, weights, bias = found
        own = self.constants[node.input[1]].astype(np.float64)
        times = len(own) // len(weights)
        bias = np.repeat(bias, times) * own.sum((1, 2, 3)) + self.bias(node)
        early = {**self.attributes(node), "group": self.attributes(first).get("group", 1)}
        source = self.emit("Conv", [first.input[0], self.constant(own.astype(np.float32))], **early)
        constants = (np.repeat(weights, times, axis=0), bias)
        late = {**self.attributes(first), "group": len(own)}
        names = [self.constant(each.astype(np.float32)) for each in constants]
        return self.onnx.helper.make_node("Conv", [source, *names], node.output, name=node.output[0], **late)

    def pair(self, node: Any) -> tuple[Any, np.ndarray, np.ndarray] | None:
        """The convolution before this one, if it is to come behind it. Its weights and its bias, with a normalization
        that is between both."""
        maker, norm = self.makers.get(node.input[0]), None
        if maker is not None and maker.op_type == "BatchNormalization":
            norm, maker = maker, self.makers.get(maker.input[0])
        if (maker is None or not self.is_separate(maker) or self.only_consumer(node.input[0]) is not node
                or not self.pays(maker, node)):
            return None
        weights, bias = self.constants[maker.input[1]].astype(np.float64), self.bias(maker)
        if norm is None:
            return maker, weights, bias
        found = self.normalization(norm) if self.only_consumer(maker.output[0]) is norm else None
        if found is None:
            return None
        return maker, weights * found[0].reshape(-1, 1, 1, 1), bias * found[0] + found[1]

    def bias(self, node: Any) -> np.ndarray:
        outs = len(self.constants[node.input[1]])
        return self.constants[node.input[2]].astype(np.float64) if len(node.input) > 2 else np.zeros(outs)

    def pays(self, first: Any, second: Any) -> bool:
        """Whether both commute, and are quicker in the other order."""
        windows = [self.constants[node.input[1]].shape[2:] for node in (first, second)]
        shapes = [self.shapes.get(name) for name in (first.input[0], first.output[0], second.output[0])]
        axis = next((i for i in (0, 1) if self.is_still(first, i) and self.is_still(second, 1 - i)), None)
        # The padding of the second one would have no bias of the first one.
        if axis is None or any(self.attributes(second).get("pads", [0])) or any(shape is None for shape in shapes):
            return False
        source, between, result = shapes
        taps, own = map(math.prod, windows)
        pixels = source[3 - axis] * result[2 + axis]
        before = math.prod(between) * taps + _DEPTHWISE_COST * math.prod(result) * own
        behind = result[0] * pixels * result[1] * own + _DEPTHWISE_COST * math.prod(result) * taps
        return 2 * behind < before

    def is_still(self, node: Any, axis: int) -> bool:
        """Whether a convolution computes each row from that row alone, or each column (axis 1)."""
        own = self.attributes(node)
        pads = own.get("pads", [0] * 4)
        return (self.constants[node.input[1]].shape[2 + axis] == 1 and own.get("strides", [1, 1])[axis] == 1
                and not pads[axis] and not pads[2 + axis])

    def is_separate(self, node: Any) -> bool:
        """Whether a node is a convolution of floats that has constant weights and computes each channel from one."""
        weights = self.constants.get(node.input[1]) if node.op_type == "Conv" else None
        return (weights is not None and weights.dtype == np.float32 and weights.ndim == 4 and weights.shape[1] == 1
                and (len(node.input) < 3 or node.input[2] in self.constants)
                and self.attributes(node).get("auto_pad", b"NOTSET") in (b"NOTSET", b"VALID"))
