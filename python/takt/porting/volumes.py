"""Convolutions of three dimensions, for `porter`.

Networks for video and stereo vision have them. iree-compile makes plain loops of
them, and does not take those of groups. A volume is a row of images: an image of
the result depends on `taps` of them, which become the channels of one image. So a
convolution of images computes the same, in one pass.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class VolumePorter:
    """The part of the porter that knows them."""

    def on_volume_conv(self, node: Any) -> bool:
        if not self.has_volumes(node):
            return False
        source, weights, bias = [*node.input, ""][:3]
        result, kernel = self.shapes[node.output[0]], self.volume_weights(weights)
        group = self.attributes(node).get("group", 1)
        pads, strides, dilations = self.window_of(node)
        filters, channels, taps = kernel.shape[:3]
        if taps > 1 and kernel.shape[3:] == (1, 1) == tuple(strides[1:]) and not any(pads[1:3] + pads[4:]):
            return self.on_rows_of_images(node, self.weights_like(weights, kernel[..., 0]), taps)
        images, shape = self.with_ends(self.images_of(source), self.shapes[source], (pads[0], pads[3]))
        flat = {"group": group, **self.flat_window(node, kernel)}
        bias, count = [bias] if bias else [], result[2]
        whole = [shape[0] * count, shape[1] * taps, *shape[3:]]
        if group == 1 < taps == strides[0] and dilations[0] == 1:  # Each image once, in their order.
            rows = self.emit("Reshape", [self.step(images, shape, 0, 1, taps * count), self.constant(whole)])
        else:
            steps = [self.step(images, shape, tap * dilations[0], strides[0], count) for tap in range(taps)]
            if group == filters == shape[1] > 1:
                self.set_images(node.output[0], self.sum_of_taps(steps, weights, bias, flat), result)
                return True
            if group == 1:
                rows = self.joined(steps)
            else:  # The taps of a channel one after another, which stay in its group.
                axis = self.constant([2])
                apart = [self.emit("Unsqueeze", [step, axis]) for step in steps]
                rows = self.emit("Reshape", [self.emit("Concat", apart, axis=2), self.constant(whole)])
        if group == 1:  # Whole images one after another.
            kernel = kernel.transpose(0, 2, 1, 3, 4)
        kernel = kernel.reshape(filters, channels * taps, *kernel.shape[3:])
        found = self.emit("Conv", [rows, self.weights_like(weights, kernel), *bias], **flat)
        self.set_images(node.output[0], found, result)
        return True

    def joined(self, steps: list[str]) -> str:
        """The channels of several images one after another."""
        return self.emit("Concat", steps, axis=1) if len(steps) > 1 else steps[0]

    def on_rows_of_images(self, node: Any, weights: str, taps: int) -> bool:
        """A convolution along the images alone: each image is one row of pixels."""
        source, bias = node.input[0], list(node.input[2:])
        (n, c, d, h, w), result = self.shapes[source], self.shapes[node.output[0]]
        pads, strides, dilations = self.window_of(node)
        apart = self.emit("Reshape", [self.images_of(source), self.constant([n, d, c, h * w])])
        found = self.emit(
            "Conv", [self.emit("Transpose", [apart], perm=[0, 2, 1, 3]), weights, *bias],
            group=self.attributes(node).get("group", 1), kernel_shape=[taps, 1],
            strides=[strides[0], 1], dilations=[dilations[0], 1], pads=[pads[0], 0, pads[3], 0])
        turned = self.emit("Transpose", [found], perm=[0, 2, 1, 3])
        images = self.emit("Reshape", [turned, self.constant([n * result[2], result[1], h, w])])
        self.set_images(node.output[0], images, result)
        return True

    def sum_of_taps(self, steps: list[str], weights: str, bias: list[str], flat: dict[str, Any]) -> str:
        """A depthwise convolution, as one of images for each tap."""
        kernel, found = self.volume_weights(weights), ""
        for tap, step in enumerate(steps):
            own = self.weights_like(weights, kernel[:, :, tap])
            if found:
                found = self.emit("Add", [self.emit("Conv", [step, own], **flat), found])
            else:
                found = self.emit("Conv", [step, own, *bias], **flat)
        return found

    def on_volume_transpose(self, node: Any) -> bool:
        """A transposed convolution. Every `stride`-th image of a result meets the
        same taps, so these images are one transposed convolution of images."""
        attributes = self.attributes(node)
        if (not self.has_volumes(node) or "output_shape" in attributes
                or attributes.get("group", 1) != 1):
            return False
        source, weights, bias = [*node.input, ""][:3]
        shape, result, kernel = self.shapes[source], self.shapes[node.output[0]], self.volume_weights(weights)
        pads, strides, dilations = self.window_of(node)
        phases = [_Phase(kernel.shape[2], strides[0], dilations[0], pads[0] + first)
                  for first in range(strides[0])]
        if any(not phase.taps for phase in phases):
            return False  # Images of the bias alone.
        count = -(-result[2] // strides[0])
        before = max(0, -min(min(phase.begins) for phase in phases))
        after = max(0, max(max(phase.begins) for phase in phases) + count - shape[2])
        images, shape = self.with_ends(self.images_of(source), shape, (before, after))
        found = []
        for phase in phases:
            steps = [self.step(images, shape, before + begin, 1, count) for begin in phase.begins]
            flat = np.concatenate([kernel[:, :, tap] for tap in phase.taps])
            each = self.emit(
                "ConvTranspose", [self.joined(steps), self.weights_like(weights, flat), *([bias] if bias else [])],
                **self.flat_window(node, kernel), output_padding=list(attributes.get("output_padding", [0] * 3)[1:]))
            found.append(self.emit("Reshape", [each, self.constant(
                [shape[0] * count, 1, result[1], *result[3:]])]))
        turns = self.emit("Concat", found, axis=1)
        whole = [shape[0], result[1], count * strides[0], *result[3:]]
        joined = self.emit("Reshape", [turns, self.constant([whole[0] * whole[2], whole[1], *whole[3:]])])
        self.set_images(node.output[0], self.step(joined, whole, 0, 1, result[2]), result)
        return True

    def has_volumes(self, node: Any) -> bool:
        """Whether all shapes are known, and the weights and the padding."""
        kernel = self.volume_weights(node.input[1])
        return (kernel is not None and kernel.ndim == 5
                and all(self.volume_shape(name) for name in (node.input[0], node.output[0]))
                and self.attributes(node).get("auto_pad", b"NOTSET") == b"NOTSET")

    def volume_weights(self, name: str) -> np.ndarray | None:
        """Constant weights, as floats or as the bytes that stand for them; None for bytes whose
        blocks have scales, which become floats first."""
        maker = self.makers.get(name)
        if maker is not None and maker.op_type == "DequantizeLinear":
            if self.attributes(maker).get("block_size", 0):
                return None
            name = maker.input[0]
        return self.constants.get(name)

    def weights_like(self, name: str, values: np.ndarray) -> str:
        """Other weights that stand for what the weights `name` do, by the scales of the same axis."""
        maker, own = self.makers.get(name), self.constant(values)
        if maker is None or maker.op_type != "DequantizeLinear":
            return own
        return self.emit("DequantizeLinear", [own, *maker.input[1:]], **self.attributes(maker))

    def window_of(self, node: Any) -> tuple[list[int], list[int], list[int]]:
        """The padding, the strides and the dilations."""
        attributes = self.attributes(node)
        return (attributes.get("pads", [0] * 6), attributes.get("strides", [1] * 3),
                attributes.get("dilations", [1] * 3))

    def flat_window(self, node: Any, kernel: np.ndarray) -> dict[str, list[int]]:
        """The attributes of the window in each image."""
        pads, strides, dilations = self.window_of(node)
        return {"kernel_shape": list(kernel.shape[3:]), "strides": list(strides[1:]),
                "dilations": list(dilations[1:]), "pads": [pads[i] for i in (1, 2, 4, 5)]}


class _Phase:
    """The taps of every `stride`-th image of a transposed convolution's result, and
    the image of the input that each tap meets first.

    first    the first of these images, counted before the padding is cut off.
    """

    def __init__(self, taps: int, stride: int, dilation: int, first: int) -> None:
        self.taps = [tap for tap in range(taps) if (first - tap * dilation) % stride == 0]
        self.begins = [(first - tap * dilation) // stride for tap in self.taps]
