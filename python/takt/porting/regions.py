"""RoiAlign as gathers of pixels, or as products: a part of `porter`."""

from __future__ import annotations

from typing import Any

import numpy as np


# How the four terms of a point are joined, and then the points of a bin.
_MODES = {b"avg": ("Add", "AveragePool"), b"max": ("Max", "MaxPool")}

_POINTS_MORE = 6  # Points that follow from sizes are more than half a pixel apart, and lie on both sides of an image.
_ROWS_MAX = 1 << 28  # The numbers of all regions after the first of two products: 1 GiB.


class RegionPorter:
    """The part of the porter that knows it."""

    def on_roi_align(self, node: Any) -> bool:
        """The means of points of each region, each a sum of four pixels; or the greatest of the terms of these sums.
        Without a count of points there are as many as the region is long."""
        own, shape = self.attributes(node), self.shapes.get(node.input[0], [None])
        count = own.get("sampling_ratio", 0)
        if None in shape or own.get("mode", b"avg") not in _MODES:
            return False
        images, channels, height, width = shape
        rows, columns = (own.get(name, 1) for name in ("output_height", "output_width"))
        most = self.shapes.get(node.input[1], [None])[0] or 1
        if count <= 0 and (own.get("mode", b"avg") != b"avg" or most * rows * width * channels > _ROWS_MAX):
            return False
        way = own.get("coordinate_transformation_mode", b"half_pixel" if self.opset >= 16 else b"output_half_pixel")
        is_half = way == b"half_pixel"
        regions = self.emit("Mul", [node.input[1], self.constant(np.float32(own.get("spatial_scale", 1.0)))])
        if is_half:
            regions = self.emit("Sub", [regions, self.constant(np.float32(0.5))])
        pixels = self.emit("Transpose", [node.input[0]], perm=[0, 2, 3, 1])
        if count <= 0:
            self.dense_regions(node, pixels, regions, shape, (rows, columns), is_half)
            return True
        pixels = self.emit("Reshape", [pixels, self.constant([images * height * width, channels])])
        lines = [self.points(regions, axis, bins, count, size, is_half)
                 for axis, bins, size in ((1, rows, height), (0, columns, width))]
        first = self.emit("Mul", [self.emit("Cast", [node.input[2]], to=self.onnx.TensorProto.INT64),
                                  self.constant(np.asarray(height * width))])
        first = self.emit("Reshape", [first, self.constant([-1, 1, 1])])
        down, across = (self.constant([axis]) for axis in (2, 1))
        joined, pool = _MODES[own.get("mode", b"avg")]
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
        points = self.emit("Transpose", [total], perm=[0, 3, 1, 2])
        self.emit(pool, [points], node.output[0], kernel_shape=[count, count], strides=[count, count])
        return True

    def points(self, regions: str, axis: int, bins: int, count: int, size: int, is_half: bool
               ) -> list[tuple[str, str]]:
        """The pixels before and behind the points along one axis, and their shares:
        [regions][bins * count]."""
        begin, length = self.extent(regions, axis, is_half)
        places = ((np.arange(bins * count) + 0.5) / (bins * count)).astype(np.float32).reshape(1, -1)
        at = self.emit("Add", [begin, self.emit("Mul", [length, self.constant(places)])])
        at, kept = self.within(at, size)
        one = self.constant(np.float32(1))
        before = self.emit("Floor", [at])
        behind = self.emit("Sub", [at, before])
        after = self.emit("Min", [self.emit("Add", [before, one]), self.constant(np.float32(size - 1))])
        shares = (self.emit("Sub", [one, behind]), behind)
        return [(self.emit("Cast", [place], to=self.onnx.TensorProto.INT64), self.emit("Mul", [share, kept]))
                for place, share in zip((before, after), shares)]

    def extent(self, regions: str, axis: int, is_half: bool) -> tuple[str, str]:
        """Where regions begin along one axis, and how long they are: [regions][1]."""
        begin, end = (self.slice(regions, 1, i, i + 1) for i in (axis, axis + 2))
        length = self.emit("Sub", [end, begin])
        return begin, length if is_half else self.emit("Max", [length, self.constant(np.float32(1))])

    def within(self, at: str, size: int) -> tuple[str, str]:
        """Places that are moved into the image, and 1 for those that were less than a pixel outside it."""
        low, high = (self.constant(np.float32(value)) for value in (-1, size))
        is_inside = self.emit("And", [self.emit("GreaterOrEqual", [at, low]), self.emit("LessOrEqual", [at, high])])
        kept = self.emit("Cast", [is_inside], to=self.onnx.TensorProto.FLOAT)
        return self.emit("Clip", [at, self.constant(np.float32(0)), self.constant(np.float32(size - 1))]), kept

    def dense_regions(self, node: Any, pixels: str, regions: str, shape: list[int], bins: tuple[int, int],
                      is_half: bool) -> None:
        """The means of as many points as a bin is long and wide: products with the shares of rows, and of columns.
        How many points there are is known in the call alone."""
        images, channels, height, width = shape
        down = self.dense_shares(regions, 1, bins[0], height, is_half)
        across = self.dense_shares(regions, 0, bins[1], width, is_half)
        if images > 1:
            is_own = self.emit("Equal", [self.emit("Reshape", [node.input[2], self.constant([-1, 1, 1, 1])]),
                                         self.constant(np.arange(images).reshape(1, 1, images, 1))])
            is_own = self.emit("Cast", [is_own], to=self.onnx.TensorProto.FLOAT)
            down = self.emit("Mul", [self.emit("Unsqueeze", [down, self.constant([2])]), is_own])
        down = self.emit("Reshape", [down, self.constant([-1, images * height])])
        lines = self.emit("Reshape", [pixels, self.constant([images * height, width * channels])])
        found = self.emit("MatMul", [down, lines])
        found = self.emit("Reshape", [found, self.constant([-1, bins[0], width, channels])])
        found = self.emit("MatMul", [self.emit("Unsqueeze", [across, self.constant([1])]), found])
        self.emit("Transpose", [found], node.output[0], perm=[0, 3, 1, 2])

    def dense_shares(self, regions: str, axis: int, bins: int, size: int, is_half: bool) -> str:
        """How much each pixel along one axis counts: [regions][bins][size]. The points of a bin are a pixel apart at
        most, so not more of them lie in the image than it has pixels, but for both ends."""
        zero, half, one = (self.constant(np.float32(value)) for value in (0, 0.5, 1))
        begin, length = (self.emit("Unsqueeze", [name, self.constant([2])])
                         for name in self.extent(regions, axis, is_half))
        width = self.emit("Div", [length, self.constant(np.float32(bins))])
        count = self.emit("Ceil", [width])
        some = self.emit("Max", [count, one])
        step = self.emit("Div", [width, some])
        starts = self.constant(np.arange(bins, dtype=np.float32).reshape(1, -1, 1))
        start = self.emit("Add", [begin, self.emit("Mul", [width, starts])])
        # Two points before the first one in the image.
        before = self.emit("Div", [self.emit("Sub", [self.constant(np.float32(-1)), start]), step])
        before = self.emit("Floor", [self.emit("Sub", [before, self.constant(np.float32(2))])])
        before = self.emit("Where", [self.emit("Greater", [count, zero]), before, zero])
        numbers = self.constant(np.arange(size + _POINTS_MORE, dtype=np.float32).reshape(1, 1, -1))
        number = self.emit("Add", [self.emit("Max", [before, zero]), numbers])
        at = self.emit("Add", [start, self.emit("Mul", [self.emit("Add", [number, half]), step])])
        at, kept = self.within(at, size)
        is_own = self.emit("Cast", [self.emit("Less", [number, count])], to=self.onnx.TensorProto.FLOAT)
        share = self.emit("Div", [self.emit("Mul", [is_own, kept]), some])
        away = self.emit("Abs", [self.emit("Sub", [self.emit("Unsqueeze", [at, self.constant([3])]),
                                                   self.constant(np.arange(size, dtype=np.float32))])])
        near = self.emit("Max", [self.emit("Sub", [one, away]), zero])
        terms = self.emit("Mul", [near, self.emit("Unsqueeze", [share, self.constant([3])])])
        return self.emit("ReduceSum", [terms, self.constant([2])], keepdims=0)
