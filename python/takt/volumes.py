"""Convolutions of three dimensions, for `portable`.

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
        shape, result, kernel = self.shapes[source], self.shapes[node.output[0]], self.constants[weights]
        group = self.attributes(node).get("group", 1)
        pads, strides, dilations = self.window_of(node)
        filters, channels, taps = kernel.shape[:3]
        images = self.images(source, shape, (pads[0], pads[3]))
        flat = kernel.transpose(0, 2, 1, 3, 4)
        if group == 1 and strides[0] == taps and dilations[0] == 1:  # Each image once, in their order.
            joined = self.slice(images, 1, 0, taps * result[2])
        else:
            steps = [self.step(images, tap * dilations[0], strides[0], result[2]) for tap in range(taps)]
            if group == 1:  # Whole images one after another.
                joined = self.emit("Concat", steps, axis=2)
            else:  # The taps of a channel, which stay in its group.
                axis = self.constant([3])
                joined = self.emit("Concat", [self.emit("Unsqueeze", [step, axis]) for step in steps], axis=3)
                flat = kernel
        rows = self.emit("Reshape", [joined, self.constant(
            [shape[0] * result[2], shape[1] * taps, *shape[3:]])])
        found = self.emit(
            "Conv", [rows, self.constant(flat.reshape(filters, channels * taps, *kernel.shape[3:])),
                     *([bias] if bias else [])],
            group=group, kernel_shape=list(kernel.shape[3:]), strides=list(strides[1:]),
            dilations=list(dilations[1:]), pads=[pads[i] for i in (1, 2, 4, 5)])
        by_batch = self.emit("Reshape", [found, self.constant(
            [shape[0], result[2], filters, *result[3:]])])
        self.emit("Transpose", [by_batch], node.output[0], perm=[0, 2, 1, 3, 4])
        return True

    def on_volume_transpose(self, node: Any) -> bool:
        """A transposed convolution. Every `stride`-th image of a result meets the
        same taps, so these images are one transposed convolution of images."""
        attributes = self.attributes(node)
        if (not self.has_volumes(node) or "output_shape" in attributes
                or attributes.get("group", 1) != 1):
            return False
        source, weights, bias = [*node.input, ""][:3]
        shape, result, kernel = self.shapes[source], self.shapes[node.output[0]], self.constants[weights]
        pads, strides, dilations = self.window_of(node)
        phases = [_Phase(kernel.shape[2], strides[0], dilations[0], pads[0] + first)
                  for first in range(strides[0])]
        if any(not phase.taps for phase in phases):
            return False  # Images of the bias alone.
        count = -(-result[2] // strides[0])
        before = max(0, -min(min(phase.begins) for phase in phases))
        after = max(0, max(max(phase.begins) for phase in phases) + count - shape[2])
        images = self.images(source, shape, (before, after))
        found = []
        for phase in phases:
            steps = [self.step(images, before + begin, 1, count) for begin in phase.begins]
            rows = self.emit("Reshape", [self.emit("Concat", steps, axis=2), self.constant(
                [shape[0] * count, shape[1] * len(steps), *shape[3:]])])
            flat = np.concatenate([kernel[:, :, tap] for tap in phase.taps])
            each = self.emit(
                "ConvTranspose", [rows, self.constant(flat), *([bias] if bias else [])],
                kernel_shape=list(kernel.shape[3:]), strides=list(strides[1:]),
                dilations=list(dilations[1:]), pads=[pads[i] for i in (1, 2, 4, 5)],
                output_padding=list(attributes.get("output_padding", [0] * 3)[1:]))
            found.append(self.emit("Reshape", [each, self.constant(
                [shape[0], count, 1, result[1], *result[3:]])]))
        turns = self.emit("Concat", found, axis=2)
        joined = self.emit("Reshape", [turns, self.constant(
            [shape[0], count * strides[0], result[1], *result[3:]])])
        if count * strides[0] > result[2]:
            joined = self.slice(joined, 1, 0, result[2])
        self.emit("Transpose", [joined], node.output[0], perm=[0, 2, 1, 3, 4])
        return True

    def has_volumes(self, node: Any) -> bool:
        """Whether all shapes are known, and the weights and the padding."""
        shapes = [self.shapes.get(name, []) for name in (node.input[0], node.output[0])]
        return (node.input[1] in self.constants and self.constants[node.input[1]].ndim == 5
                and all(len(shape) == 5 and None not in shape for shape in shapes)
                and self.attributes(node).get("auto_pad", b"NOTSET") == b"NOTSET")

    def window_of(self, node: Any) -> tuple[list[int], list[int], list[int]]:
        """The padding, the strides and the dilations."""
        attributes = self.attributes(node)
        return (attributes.get("pads", [0] * 6), attributes.get("strides", [1] * 3),
                attributes.get("dilations", [1] * 3))

    def images(self, name: str, shape: list[int], pads: tuple[int, int]) -> str:
        """The tensor as [batch][images][channels][rows][columns], with `pads` images of
        zeros at its ends."""
        turned = self.emit("Transpose", [name], perm=[0, 2, 1, 3, 4])
        if pads == (0, 0):
            return turned
        return self.emit("Pad", [turned, self.constant([0, pads[0], 0, 0, 0, 0, pads[1], 0, 0, 0])])

    def step(self, images: str, begin: int, stride: int, count: int) -> str:
        """Every `stride`-th image from `begin` on, `count` in all."""
        end = begin + (count - 1) * stride + 1
        return self.emit("Slice", [images, *map(self.constant, ([begin], [end], [1], [stride]))])


class _Phase:
    """The taps of every `stride`-th image of a transposed convolution's result, and
    the image of the input that each tap meets first.

    first    the first of these images, counted before the padding is cut off.
    """

    def __init__(self, taps: int, stride: int, dilation: int, first: int) -> None:
        self.taps = [tap for tap in range(taps) if (first - tap * dilation) % stride == 0]
        self.begins = [(first - tap * dilation) // stride for tap in self.taps]
