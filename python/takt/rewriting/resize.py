"""Images resized to sizes that the network states: a part of `rewriter`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import tiled_calls
from .kernel_calls import DOMAIN
from .open_resize import LAST_AXES, TILE_NUMBERS, TWIN_MIN, WAYS
from ..networks import open_sizes, sampling

_RESULT_MIN = 1 << 12  # Numbers.
_ANY_SIZE = 4  # Pixels, of which those at both ends have two others between them.


class ResizeRewriter:
    """The part of the rewriter that knows Resize."""

    def on_resize(self, node: Any) -> bool:
        return self.repeat(node) or self.open_resize(node) or self.by_places(node)

    def by_places(self, node: Any) -> bool:
        """Resizes by any factor. The numbers of the pixels that each result is made of are constants."""
        source, own = node.input[0], self.attributes(node)
        in_shape, out_shape, scales = self.shape(source), self.shape(node.output[0]), self.resize_scales(node)
        mode = own.get("mode", b"nearest")
        if (source not in self.dynamic or in_shape is None or out_shape is None or len(in_shape) != 4
                or _way(own) not in WAYS or mode not in (b"linear", b"nearest") or not self.is_float(source)
                or scales is None or any(own.get(name, 0) for name in ("antialias", "axes", "exclude_outside"))
                or out_shape[:2] != in_shape[:2] or not 0 < math.prod(out_shape) < 1 << 31):
            return False
        n, c, h, w = in_shape
        is_smaller = math.prod(out_shape) < math.prod(in_shape)
        users = {user.op_type for user in self.consumers.get(node.output[0], [])}
        if is_smaller and mode == b"nearest":
            return False
        if source in self.last and (is_smaller or c >= TWIN_MIN and users and not users <= LAST_AXES):
            twin, shape = self.last[source], (n, h, w, c)
            for axis in (2, 3):
                twin, shape = self.along_places(node, scales, axis, twin, shape, axis - 1)
            self.set_last(node.output[0], twin)
            return True
        if math.prod(out_shape) < _RESULT_MIN:
            return False
        # A column is a number at a time: of as few rows as there are.
        image, shape = self.to_first(source), in_shape
        for axis in (2, 3) if out_shape[2] < h else (3, 2):
            image, shape = self.along_places(node, scales, axis, image, shape, axis)
        self.emit("Identity", [image], node.output[0], out_shape)
        return True

    def along_places(self, node: Any, scales: np.ndarray, axis: int, image: str, shape: tuple[int, ...], place: int
                     ) -> tuple[str, tuple[int, ...]]:
        """The image with one axis resized, and its sizes.

        axis   of the operator's input.
        shape  of `image`, of which it is the axis `place`."""
        own = self.attributes(node)
        in_shape, out_shape = self.shape(node.input[0]), self.shape(node.output[0])
        size, out_size = in_shape[axis], out_shape[axis]
        places = _places(own, scales, axis, size, out_size)
        outer, inner = math.prod(shape[:place]), math.prod(shape[place + 1:])
        if own.get("mode", b"nearest") == b"nearest":
            first, share = sampling.nearest(places, size, own).astype(np.int32), np.zeros(0, np.float32)
            function, numbers = "takt_gather_f32", (outer, size, inner, out_size)
        else:
            places = np.clip(places, 0, size - 1)
            first = np.floor(places).astype(np.int32)
            share = (places - first).astype(np.float32)
            function, numbers = "takt_blend_f32", (outer, size, out_size, inner)
        if np.array_equal(first, np.arange(size)) and not share.any():
            return image, shape
        operands = [image, self.constant(first), *([self.constant(share)] if share.size else [])]
        shape = (*shape[:place], out_size, *shape[place + 1:])
        call = tiled_calls.TiledCall(
            function, ("f32", "i32", *["f32"] * (len(operands) - 1)), numbers, (), 1, outer * out_size,
            tiled_calls.even_rows(outer * out_size, TILE_NUMBERS // inner, 1), 2 * math.prod(shape))
        return self.kernel(call, operands, self.fresh("resize"), shape), shape

    def resize_scales(self, node: Any) -> np.ndarray | None:
        """The scales of a Resize; none, if they follow from the sizes. None: they are of some axes."""
        name = [*node.input, "", ""][2]
        scales = self.constants.get(name) if name else np.zeros(0, np.float32)
        return None if scales is None or scales.size not in (0, 4) else scales

    def repeat(self, node: Any) -> bool:
        """Pixels repeated a whole number of times."""
        source, in_shape = node.input[0], self.sizes(node.input[0])
        out_shape = self.sizes(node.output[0])
        attributes = self.attributes(node)
        if (source not in self.last or in_shape is None or out_shape is None
                or attributes.get("mode", b"nearest") != b"nearest"):
            return False
        is_open = open_sizes.is_open((*in_shape, *out_shape))
        if is_open:
            factors = open_sizes.repetitions(node, self)
        else:
            factors = out_shape[2] // in_shape[2], out_shape[3] // in_shape[3]
        if factors is None or not self.repeats(node, in_shape, out_shape, factors):
            return False
        up, across = factors
        n, c, h, w = in_shape
        element = self.element_types[source]
        if is_open:
            self.set_last(node.output[0], self.emit(
                "TaktRepeat", [self.last[source]], self.fresh("resize"), (n, *out_shape[2:], c), DOMAIN, element,
                up=up, across=across))
            return True
        a = self.emit("Reshape", [self.last[source], self.constant(np.array([n, h, 1, w, 1, c]))],
                      self.fresh("resize"), (n, h, 1, w, 1, c), element=element)
        b = self.emit("Expand", [a, self.constant(np.array([n, h, up, w, across, c]))],
                      self.fresh("resize"), (n, h, up, w, across, c), element=element)
        twin = self.emit("Reshape", [b, self.constant(np.array([n, h * up, w * across, c]))],
                         self.fresh("resize"), (n, h * up, w * across, c), element=element)
        self.set_last(node.output[0], twin)
        return True

    def repeats(self, node: Any, in_shape: open_sizes.Sizes, out_shape: open_sizes.Sizes, factors: tuple[int, int]
                ) -> bool:
        """Whether a Resize to the nearest pixels takes each of them so many times, along rows and along columns."""
        own, scales = self.attributes(node), self.resize_scales(node)
        way, is_open = _way(own), open_sizes.is_open((*in_shape, *out_shape))
        if scales is None or way not in WAYS or is_open and way == "align_corners" or out_shape[:2] != in_shape[:2]:
            return False
        for axis, factor in zip((2, 3), factors):
            size, out_size = in_shape[axis], out_shape[axis]
            if open_sizes.is_open((size, out_size)):
                size, out_size = _ANY_SIZE, _ANY_SIZE * factor
            taken = sampling.nearest(_places(own, scales, axis, size, out_size), size, own)
            if not np.array_equal(taken, np.repeat(np.arange(size), factor)):
                return False
        return True


def _way(own: dict[str, Any]) -> str:
    return own.get("coordinate_transformation_mode", b"half_pixel").decode()


def _places(own: dict[str, Any], scales: np.ndarray, axis: int, size: int, out_size: int) -> np.ndarray:
    """The places of the results of a Resize with the attributes `own` among the `size` pixels along an axis.

    scales   as resize_scales() gives them."""
    scale = float(scales[axis]) if scales.size else out_size / size
    return sampling.places(size, out_size, scale, _way(own))
