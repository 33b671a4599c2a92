"""GridSample as gathers of pixels: a part of `canonical`.

The compiler's own form of it reads pixels outside the image before it leaves them out,
and knows neither cubic sampling nor reflection nor volumes.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, Callable

import numpy as np

_PIXELS_MAX = 1 << 24  # Floats count so far.

# The shares of the pixels around a point, from the first before it on: polynomials in its
# distance behind the pixel before it, the highest power first.
CUBIC = -0.75  # The coefficient of the cubic filter, as ONNX says.
_SHARES = {
    "linear": (0, [[-1, 1], [1, 0]]),
    "cubic": (-1, [
        [CUBIC, -2 * CUBIC, CUBIC, 0],
        [CUBIC + 2, -CUBIC - 3, 0, 1],
        [-CUBIC - 2, 2 * CUBIC + 3, -CUBIC, 0],
        [-CUBIC, CUBIC, 0, 0],
    ]),
}
_MODES = {"bilinear": "linear", "bicubic": "cubic"}  # Of opset 16.


class SamplingReducer:
    """The part of the reducer that knows GridSample."""

    def grid_sample(self, node: Any) -> bool:
        """The sum of the pixels around each point, each by its share."""
        attributes = self.attributes(node)
        image, grid = (self.shapes.get(name, ()) for name in node.input)
        mode = attributes.get("mode", b"linear").decode()
        mode = _MODES.get(mode, mode)
        padding = attributes.get("padding_mode", b"zeros").decode()
        rank = len(image) - 2
        if (rank not in (2, 3) or len(grid) != rank + 2 or math.prod(image[2:]) > _PIXELS_MAX
                or mode not in ("nearest", "linear", "cubic")):
            return False
        images, channels, *sizes = image
        per_image, out_sizes = math.prod(sizes), grid[1:-1]
        count = images * math.prod(out_sizes)
        turned = self.emit("Transpose", [self.restore(node.input[0])], perm=[0, *range(2, rank + 2), 1])
        pixels = self.reshape(turned, [images * per_image, channels])
        first = np.arange(images).repeat(math.prod(out_sizes)) * per_image
        points = self.reshape(self.restore(node.input[1]), [count, rank])
        is_aligned = bool(attributes.get("align_corners", 0))
        # The last dimension of the image is the first number of a point.
        axes = [self.around(self.coordinate(points, rank - 1 - axis, size, is_aligned), size, mode, padding, is_aligned)
                for axis, size in enumerate(sizes)]
        total = None
        for corner in itertools.product(*axes):
            index, share = corner[0]
            for size, (place, other) in zip(sizes[1:], corner[1:]):
                index = self.binary_of("Add", self.binary_of("Mul", index, np.float32(size)), place)
                share = other if share is None else self.emit("Mul", [share, other]) if other else share
            index = self.emit("Cast", [self.reshape(index, [count])], to=7)  # int64
            # Also of points that are no numbers.
            last = self.constant(np.array(per_image - 1, np.int64))
            index = self.emit("Clip", [index, self.constant(np.array(0, np.int64)), last])
            if images > 1:
                index = self.emit("Add", [index, self.constant(first)])
            part = self.emit("Gather", [pixels, index], axis=0)
            part = self.emit("Mul", [part, share]) if share else part
            total = part if total is None else self.emit("Add", [total, part])
        result = self.reshape(total, [images, *out_sizes, channels])
        self.emit("Transpose", [result], node.output[0], perm=[0, rank + 1, *range(1, rank + 1)])
        return True

    def coordinate(self, points: str, number: int, size: int, is_aligned: bool) -> str:
        """Where the points lie on an axis, in pixels: [count, 1]."""
        at = self.emit("Slice", [points, *(self.constant(np.array([each], np.int64))
                                           for each in (number, number + 1, 1))])
        # From -1 to 1: the centres of the first and the last pixel, or their edges.
        scale = (size - 1) / 2 if is_aligned else size / 2
        at = self.binary_of("Mul", self.binary_of("Add", at, np.float32(1)), np.float32(scale))
        return at if is_aligned else self.binary_of("Sub", at, np.float32(0.5))

    def around(self, at: str, size: int, mode: str, padding: str, is_aligned: bool) -> list[tuple[str, str | None]]:
        """The pixels around each point, and their shares, None: the whole."""
        if mode == "nearest":
            return [self.inside(self.emit("Round", [at]), None, size, padding, is_aligned)]
        before = self.emit("Floor", [at])
        behind = self.emit("Sub", [at, before])
        begin, shares = _SHARES[mode]
        found = []
        for i, polynomial in enumerate(shares):
            share = self.constant(np.float32(polynomial[0]))
            for factor in polynomial[1:]:
                share = self.emit("Mul", [share, behind])
                share = self.binary_of("Add", share, np.float32(factor)) if factor else share
            place = self.binary_of("Add", before, np.float32(begin + i)) if begin + i else before
            found.append(self.inside(place, share, size, padding, is_aligned))
        return found

    def inside(self, place: str, share: str | None, size: int, padding: str, is_aligned: bool
               ) -> tuple[str, str | None]:
        """The pixel of the image that stands for one, and its share."""
        if padding == "reflection":
            last = 2 * size - 2 if is_aligned else 2 * size - 1  # That a period has.
            period = self.constant(np.float32(max(last + (0 if is_aligned else 1), 1)))
            turns = self.emit("Floor", [self.emit("Div", [place, period])])
            place = self.emit("Sub", [place, self.emit("Mul", [turns, period])])
            place = self.emit("Min", [place, self.emit("Sub", [self.constant(np.float32(last)), place])])
        kept = self.emit("Clip", [place, self.constant(np.float32(0)), self.constant(np.float32(size - 1))])
        if padding == "zeros":  # A pixel that was moved is outside.
            equal = self.emit("Cast", [self.emit("Equal", [kept, place])], to=1)  # float
            share = self.emit("Mul", [share, equal]) if share else equal
        return kept, share

    def binary_of(self, op: str, name: str, number: Any) -> str:
        other = number if isinstance(number, str) else self.constant(number)
        return self.emit(op, [name, other])


def places(size: int, out_size: int, scale: float, way: str) -> np.ndarray:
    """Where the results of Resize lie among the `size` elements of an axis.

    way    its coordinate_transformation_mode, but for tf_crop_and_resize.
    """
    # Steps and their order are those of ONNX Runtime: a place may lie on the border between two elements.
    x, size_f, out_size_f, scale_f = np.arange(out_size, dtype=np.float32), *map(np.float32, (size, out_size, scale))
    half = np.float32(0.5)
    if way == "asymmetric":
        return x / scale_f
    if way == "align_corners":
        return x * (size_f - 1) / (out_size_f - 1) if out_size > 1 else 0 * x
    if way == "pytorch_half_pixel" and out_size == 1:
        return 0 * x
    if way == "tf_half_pixel_for_nn":
        return (x + half) / scale_f
    offset = size_f / 2 * (1 - out_size_f / (scale_f * size_f)) if way == "half_pixel_symmetric" else np.float32(0)
    return offset + (x + half) / scale_f - half


def nearest(places: np.ndarray, size: int, own: dict[str, Any]) -> np.ndarray:
    """The elements of an axis that a Resize with the attributes `own` takes for these places."""
    way = own.get("nearest_mode", b"round_prefer_floor").decode()
    return np.clip(_NEAREST[way](places), 0, size - 1).astype(np.int64)


_NEAREST: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "round_prefer_floor": lambda places: np.ceil(places - 0.5),
    "round_prefer_ceil": lambda places: np.floor(places + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}
