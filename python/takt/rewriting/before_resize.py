"""Products of pixels before an image is enlarged, for rewriter.py.

A convolution of 1x1 and a Resize whose weights sum to 1 may change places, and the convolution then has fewer pixels.
Where it reads a concatenation with enlarged images, as heads of segmentation networks do, it becomes a sum of
convolutions.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..networks import graphs

# A number of an image is resized, or added to another one, in the time of these multiply-adds.
_NUMBER_COST = 24


@dataclasses.dataclass(frozen=True)
class _Part:
    """Some input channels of a convolution."""

    name: str
    channels: slice
    resize: Any | None  # The node that makes it, if the convolution is to come before that node.


def move(model: Any) -> Any:
    """An equivalent onnx.ModelProto; `model` itself if nothing is to be done."""
    if not {"Conv", "Resize"} <= {node.op_type for node in model.graph.node}:
        return model
    return _Mover(model).run()


class _Mover(graphs.Changer):
    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.consumers = graphs.consumers_of(self.graph.node)

    def changed(self, node: Any) -> Any:
        if node.op_type == "Conv":
            follower = self.only_consumer(node.output[0])
            is_last = (follower is None or follower.op_type != "BatchNormalization"
                       or self.normalization(follower) is None)
            return self.moved(node, node) if is_last and self.is_pixelwise(node) else node
        maker = self.makers.get(node.input[0]) if node.op_type == "BatchNormalization" else None
        if maker is None or self.only_consumer(node.input[0]) is not node or not self.is_pixelwise(maker):
            return node
        return self.moved(maker, node) if self.normalization(node) is not None else node

    def moved(self, conv: Any, last: Any) -> Any:
        """The node with the results of `last`, which is the convolution or its normalization."""
        parts = self.parts(conv)
        if all(part.resize is None for part in parts):
            return last
        weights, bias = self.weights(conv, last)
        rest = [part for part in parts if part.resize is None]
        terms = []
        for part in parts:
            if part.resize is not None:
                # The bias goes into one of the terms.
                own_bias = [] if rest or terms else [bias]
                small = self.product(part.resize.input[0], weights[:, part.channels], own_bias)
                terms.append(self.emit("Resize", self.resize_inputs(part.resize, small, len(bias)),
                                       **self.attributes(part.resize)))
        if rest:
            names = [part.name for part in rest]
            source = names[0] if len(names) == 1 else self.emit("Concat", names, axis=1)
            own = np.concatenate([weights[:, part.channels] for part in rest], axis=1)
            terms.append(self.product(source, own, [bias]))
        if len(terms) == 1:
            result = self.out.pop()
        else:
            total = terms[0]
            for term in terms[1:-1]:
                total = self.emit("Add", [total, term])
            result = self.onnx.helper.make_node("Add", [total, terms[-1]], [""])
        result.output[0] = result.name = last.output[0]
        return result

    def product(self, source: str, weights: np.ndarray, bias: list[np.ndarray]) -> str:
        constants = [self.constant(each.astype(np.float32)) for each in (weights, *bias)]
        return self.emit("Conv", [source, *constants], kernel_shape=[1, 1])

    def is_pixelwise(self, node: Any) -> bool:
        """Whether a node is a convolution of 1x1 in floats with constant weights."""
        weights = self.constants.get(node.input[1]) if node.op_type == "Conv" else None
        attributes = self.attributes(node)
        return (weights is not None and weights.dtype == np.float32 and weights.shape[2:] == (1, 1)
                and (len(node.input) < 3 or node.input[2] in self.constants) and attributes.get("group", 1) == 1
                and set(attributes.get("strides", [1])) == {1} and not any(attributes.get("pads", [0]))
                and attributes.get("auto_pad", b"NOTSET") in (b"NOTSET", b"VALID"))

    def weights(self, conv: Any, last: Any) -> tuple[np.ndarray, np.ndarray]:
        weights = self.constants[conv.input[1]].astype(np.float64)
        bias = self.constants[conv.input[2]] if len(conv.input) > 2 else np.zeros(len(weights))
        if last is conv:
            return weights, bias
        factor, addend = self.normalization(last)
        return weights * factor.reshape(-1, 1, 1, 1), bias * factor + addend

    def parts(self, conv: Any) -> list[_Part]:
        """The input channels of a convolution of 1x1."""
        source = conv.input[0]
        outs, ins = self.constants[conv.input[1]].shape[:2]
        concat = self.makers.get(source)
        if (concat is None or concat.op_type != "Concat" or self.attributes(concat)["axis"] not in (1, -3)
                or source in self.results or not all(map(self.is_pixelwise, self.consumers[source]))):
            return [self.part(source, slice(0, ins), outs, conv, 0)]
        parts, begin = [], 0
        for name in concat.input:
            shape = self.shapes.get(name)
            if shape is None or len(shape) != 4:
                return []
            parts.append(self.part(name, slice(begin, begin + shape[1]), outs, concat, outs))
            begin += shape[1]
        return parts

    def part(self, name: str, channels: slice, outs: int, reader: Any, added: int) -> _Part:
        """A part that `reader` reads. Its product with `outs` results, of which `added` are added to those of other
        parts, comes before a Resize if that pays."""
        resize, shape = self.makers.get(name), self.shapes.get(name)
        if (resize is None or resize.op_type != "Resize" or self.only_consumer(name) is not reader
                or not self.enlarges(resize)):
            return _Part(name, channels, None)
        ins, pixels = shape[1], shape[2] * shape[3]
        own = self.shapes[resize.input[0]]
        saved = outs * ins * (pixels - own[2] * own[3])
        cost = _NUMBER_COST * pixels * (max(0, outs - ins) + added)
        return _Part(name, channels, resize if saved > cost else None)

    def enlarges(self, node: Any) -> bool:
        """Whether a Resize makes an image larger, with weights that sum to 1."""
        own, shape = self.shapes.get(node.input[0]), self.shapes.get(node.output[0])
        attributes = self.attributes(node)
        return (own is not None and shape is not None and len(shape) == 4 and own[:2] == shape[:2]
                and all(before <= after for before, after in zip(own, shape)) and own != shape
                and attributes.get("mode", b"nearest") in (b"linear", b"nearest") and "axes" not in attributes
                and attributes.get("coordinate_transformation_mode", b"half_pixel") != b"tf_crop_and_resize"
                and all(name in self.constants for name in node.input[2:] if name))

    def resize_inputs(self, node: Any, source: str, channels: int) -> list[str]:
        """Its inputs for an image of other channels."""
        inputs = [source, *node.input[1:]]
        if len(inputs) > 3 and inputs[3]:
            sizes = self.constants[inputs[3]].copy()
            sizes[1] = channels
            inputs[3] = self.constant(sizes)
        return inputs
