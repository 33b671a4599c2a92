"""DeformConv as a GridSample and a convolution: a part of `porter`."""

from __future__ import annotations

from typing import Any

import numpy as np


class DeformedPorter:
    """The part of the porter that knows it."""

    def on_deformed(self, node: Any) -> bool:
        """Each tap of each result is a point of the image; these points are sampled as
        images of their own, which become the channels of a convolution of single pixels."""
        source, weights, offsets, bias, mask = [*node.input, "", ""][:5]
        shape, kernel, result = (self.shapes.get(name, [None]) for name in (source, weights, node.output[0]))
        if None in [*shape, *kernel, *result] or len(shape) != 4:
            return False
        own = self.attributes(node)
        groups, parts = own.get("group", 1), own.get("offset_group", 1)
        images, channels, height, width = shape
        rows, columns = kernel[2:]
        taps, count = rows * columns, result[2] * result[3]
        start = self.first_points(own, (rows, columns), tuple(result[2:]))
        # [images][part][tap][y, x][results]
        moves = self.emit("Reshape", [offsets, self.constant([images, parts, taps, 2, count])])
        places = self.emit("Add", [moves, self.constant(start)])
        # As GridSample counts: from -1 to 1 between the edges of the image.
        sizes = np.array([height, width], np.float32).reshape(2, 1)
        places = self.emit("Mul", [self.emit("Add", [places, self.constant(np.float32(0.5))]),
                                   self.constant(2 / sizes)])
        places = self.emit("Sub", [places, self.constant(np.float32(1))])
        across = self.emit("Gather", [places, self.constant([1, 0])], axis=3)
        grid = self.emit("Transpose", [across], perm=[0, 1, 2, 4, 3])
        # The parts of the channels are images, too.
        grid = self.emit("Reshape", [grid, self.constant([images * parts, taps, count, 2])])
        pixels = self.emit("Reshape", [source, self.constant([images * parts, channels // parts, height, width])])
        found = self.emit("GridSample", [pixels, grid], mode="bilinear" if self.opset < 20 else "linear",
                          padding_mode="zeros", align_corners=0)
        if mask:
            weighed = self.emit("Reshape", [mask, self.constant([images * parts, 1, taps, count])])
            found = self.emit("Mul", [found, weighed])
        found = self.emit("Reshape", [found, self.constant([images, channels * taps, *result[2:]])])
        flat = self.emit("Reshape", [weights, self.constant([kernel[0], kernel[1] * taps, 1, 1])])
        self.emit("Conv", [found, flat, *([bias] if bias else [])], node.output[0], group=groups, kernel_shape=[1, 1])
        return True

    def first_points(self, own: dict[str, Any], kernel: tuple[int, int], result: tuple[int, int]) -> np.ndarray:
        """[taps][y, x][results]: where the taps lie that are not moved."""
        strides, dilations = (own.get(name, [1, 1]) for name in ("strides", "dilations"))
        pads = own.get("pads", [0] * 4)
        lines = [np.arange(result[i])[None] * strides[i] - pads[i] + np.arange(kernel[i])[:, None] * dilations[i]
                 for i in range(2)]  # [tap][result] of each direction.
        y = np.broadcast_to(lines[0][:, None, :, None], (*kernel, *result))
        x = np.broadcast_to(lines[1][None, :, None, :], (*kernel, *result))
        points = np.stack([y, x], 2)  # [rows][columns][y, x][rows][columns]
        return points.reshape(kernel[0] * kernel[1], 2, -1).astype(np.float32)
