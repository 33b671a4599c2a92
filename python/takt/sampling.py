"""GridSample as gathers of pixels: a part of `canonical`.

The compiler's own form of it reads pixels outside the image before it leaves them out.
"""

from __future__ import annotations

from typing import Any

import numpy as np


_PIXELS_MAX = 1 << 24  # Floats count so far.


class SamplingReducer:
    """The part of the reducer that knows GridSample."""

    def grid_sample(self, node: Any) -> bool:
        """Linear: the sum of four pixels, each by its share."""
        attributes = self.attributes(node)
        image, grid = (self.shapes.get(name, ()) for name in node.input)
        mode = attributes.get("mode", b"bilinear")
        padding = attributes.get("padding_mode", b"zeros")
        if (len(image) != 4 or len(grid) != 4 or image[2] * image[3] > _PIXELS_MAX
                or mode not in (b"bilinear", b"linear") or padding not in (b"zeros", b"border")):
            return False
        images, channels, height, width = image
        _, out_height, out_width, _ = grid
        count = images * out_height * out_width
        turned = self.emit("Transpose", [self.restore(node.input[0])], perm=[0, 2, 3, 1])
        pixels = self.reshape(turned, [images * height * width, channels])
        first = np.arange(images).repeat(out_height * out_width) * (height * width)
        points = self.reshape(self.restore(node.input[1]), [count, 2])
        is_aligned = bool(attributes.get("align_corners", 0))
        axes = [self.corners(points, axis, size, is_aligned, padding == b"border")
                for axis, size in ((0, width), (1, height))]
        total = None
        for column, column_share in axes[0]:
            for row, row_share in axes[1]:
                index = self.binary_of("Add", self.binary_of("Mul", row, np.float32(width)), column)
                index = self.emit("Cast", [self.reshape(index, [count])], to=7)  # int64
                # Also of points that are no numbers.
                last = self.constant(np.array(height * width - 1, np.int64))
                index = self.emit("Clip", [index, self.constant(np.array(0, np.int64)), last])
                if images > 1:
                    index = self.emit("Add", [index, self.constant(first)])
                share = self.emit("Mul", [column_share, row_share])
                part = self.emit("Mul", [self.emit("Gather", [pixels, index], axis=0), share])
                total = part if total is None else self.emit("Add", [total, part])
        result = self.reshape(total, [images, out_height, out_width, channels])
        self.emit("Transpose", [result], node.output[0], perm=[0, 3, 1, 2])
        return True

    def corners(self, points: str, axis: int, size: int, is_aligned: bool, is_border: bool
                ) -> list[tuple[str, str]]:
        """The pixels before and after each point, and their shares: [count, 1]."""
        at = self.emit("Slice", [points, *(self.constant(np.array([number], np.int64))
                                           for number in (axis, axis + 1, 1))])
        # From -1 to 1: the centres of the first and the last pixel, or their edges.
        scale = (size - 1) / 2 if is_aligned else size / 2
        at = self.binary_of("Mul", self.binary_of("Add", at, np.float32(1)), np.float32(scale))
        if not is_aligned:
            at = self.binary_of("Sub", at, np.float32(0.5))
        if is_border:
            at = self.clipped(at, size)
        first = self.emit("Floor", [at])
        after = self.emit("Sub", [at, first])
        found = []
        for place, share in ((first, self.emit("Sub", [self.constant(np.float32(1)), after])),
                             (self.binary_of("Add", first, np.float32(1)), after)):
            inside = self.clipped(place, size)
            if not is_border:  # A pixel that was moved is outside.
                equal = self.emit("Cast", [self.emit("Equal", [inside, place])], to=1)  # float
                share = self.emit("Mul", [share, equal])
            found.append((inside, share))
        return found

    def clipped(self, name: str, size: int) -> str:
        return self.emit("Clip", [name, self.constant(np.float32(0)), self.constant(np.float32(size - 1))])

    def binary_of(self, op: str, name: str, number: Any) -> str:
        other = number if isinstance(number, str) else self.constant(number)
        return self.emit(op, [name, other])
