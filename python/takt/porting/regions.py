"""RoiAlign as gathers of pixels: a part of `porter`."""

from __future__ import annotations

from typing import Any

import numpy as np


# How the four terms of a point are joined, and then the points of a bin.
_MODES = {b"avg": ("Add", "ReduceMean"), b"max": ("Max", "ReduceMax")}


class RegionPorter:
    """The part of the porter that knows it."""

    def on_roi_align(self, node: Any) -> bool:
        """The means of points of each region, each a sum of four pixels; or the greatest of
        the terms of these sums."""
        own, shape = self.attributes(node), self.shapes.get(node.input[0], [None])
        count = own.get("sampling_ratio", 0)
        if count <= 0 or None in shape or own.get("mode", b"avg") not in _MODES:
            return False
        images, channels, height, width = shape
        way = own.get("coordinate_transformation_mode", b"half_pixel" if self.opset >= 16 else b"output_half_pixel")
        is_half = way == b"half_pixel"
        pixels = self.emit("Transpose", [node.input[0]], perm=[0, 2, 3, 1])
        pixels = self.emit("Reshape", [pixels, self.constant([images * height * width, channels])])
        regions = self.emit("Mul", [node.input[1], self.constant(np.float32(own.get("spatial_scale", 1.0)))])
        if is_half:
            regions = self.emit("Sub", [regions, self.constant(np.float32(0.5))])
        rows, columns = (own.get(name, 1) for name in ("output_height", "output_width"))
        lines = [self.points(regions, axis, bins, count, size, is_half)
                 for axis, bins, size in ((1, rows, height), (0, columns, width))]
        first = self.emit("Mul", [self.emit("Cast", [node.input[2]], to=self.onnx.TensorProto.INT64),
                                  self.constant(np.asarray(height * width))])
        first = self.emit("Reshape", [first, self.constant([-1, 1, 1])])
        down, across = (self.constant([axis]) for axis in (2, 1))
        joined, reduced = _MODES[own.get("mode", b"avg")]
        total = ""
        for y, y_share in lines[0]:
            for x, x_share in lines[1]:
                line = self.emit("Mul", [y, self.constant(np.asarray(width))])
                index = self.emit("Add", [self.emit("Unsqueeze", [line, down]), self.emit("Unsqueeze", [x, across])])
                index = self.emit("Add", [index, first])  # [regions][rows of points][columns of points]
                share = self.emit("Mul", [self.emit("Unsqueeze", [y_share, down]),
                                          self.emit("Unsqueeze", [x_share, across])])
                share = self.emit("Unsqueeze", [share, self.constant([3])])
                part = self.emit("Mul", [self.emit("Gather", [pixels, index], axis=0), share])
                total = self.emit(joined, [total, part]) if total else part
        apart = self.emit("Reshape", [total, self.constant([-1, rows, count, columns, count, channels])])
        means = self.reduce(reduced, apart, [2, 4], keepdims=0)
        self.emit("Transpose", [means], node.output[0], perm=[0, 3, 1, 2])
        return True

    def points(self, regions: str, axis: int, bins: int, count: int, size: int, is_half: bool
               ) -> list[tuple[str, str]]:
        """The pixels before and behind the points along one axis, and their shares:
        [regions][bins * count]."""
        begin, end = (self.slice(regions, 1, i, i + 1) for i in (axis, axis + 2))
        length = self.emit("Sub", [end, begin])
        if not is_half:
            length = self.emit("Max", [length, self.constant(np.float32(1))])
        places = ((np.arange(bins * count) + 0.5) / (bins * count)).astype(np.float32).reshape(1, -1)
        at = self.emit("Add", [begin, self.emit("Mul", [length, self.constant(places)])])
        low, high, one = (self.constant(np.float32(value)) for value in (-1, size, 1))
        is_inside = self.emit("And", [self.emit("GreaterOrEqual", [at, low]), self.emit("LessOrEqual", [at, high])])
        kept = self.emit("Cast", [is_inside], to=self.onnx.TensorProto.FLOAT)
        at = self.emit("Clip", [at, self.constant(np.float32(0)), self.constant(np.float32(size - 1))])
        before = self.emit("Floor", [at])
        behind = self.emit("Sub", [at, before])
        after = self.emit("Min", [self.emit("Add", [before, one]), self.constant(np.float32(size - 1))])
        shares = (self.emit("Sub", [one, behind]), behind)
        return [(self.emit("Cast", [place], to=self.onnx.TensorProto.INT64), self.emit("Mul", [share, kept]))
                for place, share in zip((before, after), shares)]
