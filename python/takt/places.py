"""Where the maxima of pools were, and MaxUnpool, which puts them there: a part of `portable`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


# The name of a pool whose places are put right.
_POOL = "takt_places"


class PlacePorter:
    """The part of the porter that knows them."""

    def on_max_pool(self, node: Any) -> bool:
        """Places count over the whole tensor. The compiler counts them in each channel."""
        shape, own = self.shapes.get(node.input[0], [None]), self.attributes(node)
        is_turned = bool(own.pop("storage_order", 0))
        if len(node.output) < 2 or not node.output[1] or None in shape or node.name == _POOL:
            return False
        images, channels, *sides = shape
        if (images * channels == 1 and not is_turned) or (is_turned and len(sides) != 2):
            return False
        found, size = self.fresh("places"), math.prod(sides)
        self.out.append(self.onnx.helper.make_node(
            "MaxPool", [node.input[0]], [node.output[0], found], name=_POOL, **own))
        place = self.emit("Mod", [found, self.constant(np.asarray(size))])
        if is_turned:  # Columns first.
            height, width = (self.constant(np.asarray(side)) for side in sides)
            column = self.emit("Mul", [self.emit("Mod", [place, width]), height])
            place = self.emit("Add", [column, self.emit("Div", [place, width])])
        begins = np.arange(images * channels).reshape(images, channels, *[1] * len(sides)) * size
        self.emit("Add", [place, self.constant(begins)], node.output[1])
        return True

    def on_max_unpool(self, node: Any) -> bool:
        """Puts each number at its place in the tensor that was pooled; the others are 0. A
        stated size that is larger has more zeros behind it."""
        source, places, stated = [*node.input, ""][:3]
        shape = self.shapes.get(source, [None])
        if None in shape or (stated and stated not in self.constants):
            return False
        own = self.attributes(node)
        kernel, rank = own["kernel_shape"], len(own["kernel_shape"])
        strides, pads = own.get("strides", [1] * rank), own.get("pads", [0] * 2 * rank)
        margins = [kernel[i] - strides[i] - pads[i] - pads[rank + i] for i in range(rank)]
        sizes = shape[:2] + [size * stride + margin for size, stride, margin in zip(shape[2:], strides, margins)]
        element = self.onnx.helper.tensor_dtype_to_np_dtype(self.types[source])
        flat = self.constant([-1])
        zeros = self.emit("Expand", [self.constant(np.zeros(1, element)), self.constant([math.prod(sizes)])])
        numbers = [self.emit("Reshape", [each, flat]) for each in (places, source)]
        whole = self.emit("Reshape", [self.emit("ScatterElements", [zeros, *numbers], axis=0), self.constant(sizes)])
        missing = [0] * len(sizes)
        if stated:
            missing = [int(wanted) - size for wanted, size in zip(self.constants[stated], sizes)]
        self.emit("Pad", [whole, self.constant([0] * len(sizes) + missing)], node.output[0])
        return True
