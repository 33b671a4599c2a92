"""Images resized by whole factors, with the channels last: a part of `rewriter`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import tiled_calls
from .kernel_calls import DOMAIN, ROWS_MAX
from ..networks import open_sizes, sampling

_WAYS = {"align_corners", "asymmetric", "half_pixel", "pytorch_half_pixel"}
_TILE_NUMBERS = 1 << 16
_BLENDED_MIN = 8  # Channels, with fewer of which a call for each pixel does not pay.
_STRETCHED_MAX = 96  # Pixels of a row.
# Pixels of a row or column that becomes longer by a product, and of the result.
_PRODUCT_MAX = 128
_RESULT_MIN = 1 << 12


class StretchRewriter:
    """The part of the rewriter that knows Resize."""

    def on_resize(self, node: Any) -> bool:
        return self.repeat(node) or self.open_resize(node) or self.interpolate(node) or self.enlarge(node)

    def interpolate(self, node: Any) -> bool:
        """Between the two nearest pixels, along each dimension."""
        source, in_shape = node.input[0], self.shape(node.input[0])
        out_shape = self.shape(node.output[0])
        attributes = self.attributes(node)
        way = attributes.get("coordinate_transformation_mode", b"half_pixel").decode()
        if (source not in self.last or in_shape is None or out_shape is None
                or attributes.get("mode", b"nearest") != b"linear" or attributes.get("antialias", 0)
                or way not in _WAYS or out_shape[:2] != in_shape[:2] or not self.is_float(source)):
            return False
        n, c, h, w = in_shape
        if not way.endswith("half_pixel") or out_shape[2] % h or out_shape[3] % w or 1 in in_shape[2:]:
            return self.blend(node, in_shape, out_shape, way)
        up, across = out_shape[2] // h, out_shape[3] // w
        # What is only a result, or searched for the best channel, needs no twin, whose
        # transpose takes longer. A row of few pixels is stretched by a product.
        if (all(each.op_type in ("ArgMax", "ArgMin") for each in self.consumers.get(node.output[0], []))
                and w <= _STRETCHED_MAX and n * c * h * up <= ROWS_MAX):
            rows = self.stretch(self.to_first(source), list(in_shape), 2, up)
            weights = np.zeros((w, w * across), np.float32)
            for pixel in range(w):
                for neighbour, shares in zip((-1, 0, 1), _shares(across)):
                    other = min(max(pixel + neighbour, 0), w - 1)
                    weights[other, pixel * across:(pixel + 1) * across] += shares
            return self.product(rows, (n, c, h * up, w), weights,
                                np.zeros(w * across, np.float32), node.output[0])
        tall = self.stretch(self.last[source], [n, h, w, c], 1, up)
        self.set_last(node.output[0], self.stretch(tall, [n, h * up, w, c], 2, across))
        return True

    def enlarge(self, node: Any) -> bool:
        """Between the two nearest pixels, by a product along each dimension: with the channels first."""
        source, own = node.input[0], self.attributes(node)
        in_shape, out_shape = self.shape(source), self.shape(node.output[0])
        way = own.get("coordinate_transformation_mode", b"half_pixel").decode()
        scales = self.resize_scales(node)
        if (source not in self.dynamic or in_shape is None or out_shape is None or len(in_shape) != 4
                or own.get("mode", b"nearest") != b"linear" or way not in _WAYS or not self.is_float(source)
                or scales is None or any(own.get(name, 0) for name in ("antialias", "axes", "exclude_outside"))
                or out_shape[:2] != in_shape[:2] or math.prod(out_shape) < _RESULT_MIN):
            return False
        n, c, h, w = in_shape
        if (not all(size < out <= ROWS_MAX and size <= _PRODUCT_MAX for size, out in zip(in_shape[2:], out_shape[2:]))
                or n * c * max(w, out_shape[2]) > ROWS_MAX):
            return False
        shares = []
        for axis in (2, 3):
            first, share = _neighbours(in_shape, out_shape, axis, scales, way)
            matrix = np.zeros((in_shape[axis], out_shape[axis]), np.float32)
            every = np.arange(out_shape[axis])
            np.add.at(matrix, (first, every), 1 - share)
            np.add.at(matrix, (np.minimum(first + 1, in_shape[axis] - 1), every), share)
            shares.append(matrix)
        turned = self.emit("Transpose", [self.to_first(source)], self.fresh("enlarge"), (n, c, w, h), perm=[0, 1, 3, 2])
        tall = self.fresh("enlarge")
        self.product(turned, (n, c, w, h), shares[0], np.zeros(out_shape[2], np.float32), tall)
        back = self.emit("Transpose", [tall], self.fresh("enlarge"), (n, c, out_shape[2], w), perm=[0, 1, 3, 2])
        return self.product(back, (n, c, out_shape[2], w), shares[1], np.zeros(out_shape[3], np.float32),
                            node.output[0])

    def resize_scales(self, node: Any) -> np.ndarray | None:
        """The scales of a Resize; none, if they follow from the sizes. None: they are of some axes."""
        name = [*node.input, "", ""][2]
        scales = self.constants.get(name) if name else np.zeros(0, np.float32)
        return None if scales is None or scales.size not in (0, 4) else scales

    def blend(self, node: Any, in_shape: tuple[int, ...], out_shape: tuple[int, ...], way: str) -> bool:
        """By any factor, with the neighbours of each pixel found by their numbers."""
        scales = self.resize_scales(node)
        n, c, *sizes = in_shape
        if scales is None or c < _BLENDED_MIN or math.prod(out_shape) >= 1 << 31:
            return False
        twin, shape = self.last[node.input[0]], [n, *sizes, c]
        for axis in (1, 2):
            size, out_size = in_shape[axis + 1], out_shape[axis + 1]
            first, share = _neighbours(in_shape, out_shape, axis + 1, scales, way)
            if np.array_equal(first, np.arange(size)) and not share.any():
                continue
            shape[axis] = out_size
            outer, inner = math.prod(shape[:axis]), math.prod(shape[axis + 1:])
            call = tiled_calls.TiledCall(
                "takt_blend_f32", ("f32", "i32", "f32", "f32"), (outer, size, out_size, inner), (), 1,
                outer * out_size, tiled_calls.even_rows(outer * out_size, _TILE_NUMBERS // inner, 1),
                2 * math.prod(shape))
            operands = [twin, self.constant(first.astype(np.int32)), self.constant(share)]
            twin = self.kernel(call, operands, self.fresh("blend"), tuple(shape))
        self.set_last(node.output[0], twin)
        return True

    def stretch(self, x: str, shape: list[int], axis: int, factor: int) -> str:
        """Each pixel with its neighbours, in the parts that the places around
        its centre have of them."""
        if factor == 1:
            return x
        size = shape[axis]

        def emit(op: str, inputs: list[str], new: list[int], **attributes: Any) -> str:
            return self.emit(op, inputs, self.fresh("stretch"), tuple(new), **attributes)

        def resized(count: int) -> list[int]:
            return [*shape[:axis], count, *shape[axis + 1:]]

        def part(begin: int, end: int) -> str:
            bounds = [self.constant(np.array([v], np.int64)) for v in (begin, end, axis)]
            return emit("Slice", [x, *bounds], resized(end - begin))

        # The first and the last pixel have themselves as a neighbour.
        before = emit("Concat", [part(0, 1), part(0, size - 1)], shape, axis=axis)
        after = emit("Concat", [part(1, size), part(size - 1, size)], shape, axis=axis)
        split = [*shape[:axis], size, 1, *shape[axis + 1:]]
        wide = [*shape[:axis], size, factor, *shape[axis + 1:]]
        total = None
        for each, shares in zip((before, x, after), _shares(factor)):
            turned = shares.reshape(-1, *[1] * (3 - axis))
            scaled = emit("Mul", [emit("Reshape", [each, self.constant(np.array(split))], split),
                                  self.constant(turned)], wide)
            total = scaled if total is None else emit("Add", [total, scaled], wide)
        return emit("Reshape", [total, self.constant(np.array(resized(size * factor)))],
                    resized(size * factor))

    def repeat(self, node: Any) -> bool:
        """Pixels repeated a whole number of times."""
        source, in_shape = node.input[0], self.sizes(node.input[0])
        out_shape = self.sizes(node.output[0])
        attributes = self.attributes(node)
        if (source not in self.last or in_shape is None or out_shape is None
                or attributes.get("mode", b"nearest") != b"nearest"):
            return False
        is_open = open_sizes.is_open((*in_shape, *out_shape))
        if (open_sizes.repetitions(node, self) is None if is_open
                else out_shape[2] % in_shape[2] or out_shape[3] % in_shape[3]):
            return False
        mode = attributes.get("coordinate_transformation_mode", b"half_pixel")
        if mode not in (b"half_pixel", b"asymmetric", b"pytorch_half_pixel"):
            return False
        if mode == b"asymmetric" and attributes.get("nearest_mode", b"") != b"floor":
            return False
        n, c, h, w = in_shape
        element = self.element_types[source]
        if is_open:
            up, across = open_sizes.repetitions(node, self)
            self.set_last(node.output[0], self.emit(
                "TaktRepeat", [self.last[source]], self.fresh("resize"), (n, *out_shape[2:], c), DOMAIN, element,
                up=up, across=across))
            return True
        up, across = out_shape[2] // h, out_shape[3] // w
        a = self.emit("Reshape", [self.last[source], self.constant(np.array([n, h, 1, w, 1, c]))],
                      self.fresh("resize"), (n, h, 1, w, 1, c), element=element)
        b = self.emit("Expand", [a, self.constant(np.array([n, h, up, w, across, c]))],
                      self.fresh("resize"), (n, h, up, w, across, c), element=element)
        twin = self.emit("Reshape", [b, self.constant(np.array([n, h * up, w * across, c]))],
                         self.fresh("resize"), (n, h * up, w * across, c), element=element)
        self.set_last(node.output[0], twin)
        return True


def _neighbours(in_shape: tuple[int, ...], out_shape: tuple[int, ...], axis: int, scales: np.ndarray, way: str
                ) -> tuple[np.ndarray, np.ndarray]:
    """The pixel before each place along an axis, and the share of the one behind it."""
    size, out_size = in_shape[axis], out_shape[axis]
    scale = float(scales[axis]) if scales.size else out_size / size
    places = np.clip(sampling.places(size, out_size, scale, way), 0, size - 1)
    first = np.floor(places).astype(np.int64)
    return first, (places - first).astype(np.float32)


def _shares(factor: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The parts that the places of a stretched pixel have of the pixel before, of
    itself, and of the one after it."""
    places = ((np.arange(factor) + 0.5) / factor - 0.5).astype(np.float32)  # From its centre.
    return np.maximum(-places, 0), 1 - np.abs(places), np.maximum(places, 0)
