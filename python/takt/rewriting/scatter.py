"""Numbers at places of a tensor by Takt's own kernels: a part of `rewriter`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import tiled_calls

_TILE_NUMBERS = 1 << 16  # A tile writes so many numbers of the tensor.
_COPIES_MIN = 4  # Numbers of a tile for each place, since each tile looks at all places.
# In the order of kernels::ScatterReduction.
_REDUCTIONS = (b"none", b"add", b"mul", b"min", b"max")
_SLOWER = 8  # The compiler's code for an update takes as long as so many multiply-adds.


_ROW_MIN = 64  # Numbers of a row that is taken as one.
_TAKEN_MIN = 1 << 12


class ScatterRewriter:
    """The part of the rewriter that takes them from there, and puts them there."""

    def on_gather(self, node: Any) -> bool:
        source, name = node.input
        data, places = self.shape(source), self.shape(name)
        if not data or places is None or name not in self.dynamic or not self.is_float(source):
            return False
        axis, kinds = self.attributes(node).get("axis", 0) % len(data), self.onnx.TensorProto
        outer, size, inner, count = math.prod(data[:axis]), data[axis], math.prod(data[axis + 1:]), math.prod(places)
        if (inner < _ROW_MIN or outer * count * inner < _TAKEN_MIN
                or max(outer * size * inner, outer * count * inner) >= 1 << 31):
            return False
        call = tiled_calls.TiledCall(
            "takt_gather_f32", ("f32", "i32", "f32"), (outer, size, inner, count), (), 1, outer * count,
            max(1, min(outer * count, _TILE_NUMBERS // inner)), outer * count * inner)
        small = self.emit("Cast", [self.to_first(name)], self.fresh("places"), places, element=kinds.INT32,
                          to=kinds.INT32)
        found = self.kernel(call, [self.to_first(source), small], self.fresh("rows"),
                            (*data[:axis], *places, *data[axis + 1:]))
        self.emit("Identity", [found], node.output[0])
        return True

    def on_scatterelements(self, node: Any) -> bool:
        data, places, updates = (self.shape(name) for name in node.input)
        if not data or not places or places != updates:
            return False
        axis = self.attributes(node).get("axis", 0) % len(data)
        if [*places[:axis], data[axis], *places[axis + 1:]] != list(data):
            return False
        shape = (math.prod(data[:axis]), data[axis], math.prod(data[axis + 1:]), places[axis])
        return self.scatter(node, shape, self.to_first(node.input[1]), places)

    def on_scatternd(self, node: Any) -> bool:
        data, places = (self.shape(name) for name in node.input[:2])
        if not data or not places or not self.shape(node.input[2]):
            return False
        depth, count = places[-1], math.prod(places[:-1])
        if not 1 <= depth <= len(data):
            return False
        name, kinds = self.to_first(node.input[1]), self.onnx.TensorProto
        if depth > 1:
            # Places that count from the end, and then one number for each place.
            sizes = np.array(data[:depth])
            wrapped = self.emit("Add", [name, self.constant(sizes)], self.fresh("places"), places, element=kinds.INT64)
            is_back = self.emit("Less", [name, self.constant(np.array(0))], self.fresh("places"), places,
                                element=kinds.BOOL)
            name = self.emit("Where", [is_back, wrapped, name], self.fresh("places"), places, element=kinds.INT64)
            strides = np.append(np.cumprod(sizes[:0:-1])[::-1], 1)
            name = self.emit("Mul", [name, self.constant(strides)], self.fresh("places"), places, element=kinds.INT64)
            name = self.emit("ReduceSum", [name, self.constant(np.array([-1]))], self.fresh("places"), places[:-1],
                             element=kinds.INT64, keepdims=0)
        shape = (1, math.prod(data[:depth]), math.prod(data[depth:]), count)
        return self.scatter(node, shape, name, places[:-1] if depth > 1 else places)

    def scatter(self, node: Any, shape: tuple[int, int, int, int], places: str, place_shape: tuple[int, ...]) -> bool:
        """shape: elements before the axis, along it and behind it, and updates along it."""
        outer, size, inner, count = shape
        source, _, updates = node.input
        is_wide = math.prod(place_shape) != count
        reduction, kinds = self.attributes(node).get("reduction", b"none"), self.onnx.TensorProto
        is_used = any(name in self.dynamic for name in (source, places, updates))
        total, most = outer * size * inner * count, max(outer * size * inner, outer * count * inner)
        if (reduction not in _REDUCTIONS or not is_used or not total or most >= 1 << 31
                or not self.is_float(source) or not self.is_float(updates)):
            return False
        number = _REDUCTIONS.index(reduction)
        numbers = count * inner if is_wide else count
        call = tiled_calls.TiledCall(
            "takt_scatter_f32" if number < 2 else "takt_scatter_reduced_f32", ("f32", "i32", "f32", "f32"),
            (outer, size, inner, count, number, int(is_wide)), (), 1, outer * size,
            max(1, min(outer * size, max(_TILE_NUMBERS, _COPIES_MIN * numbers) // inner)),
            _SLOWER * outer * count * inner)
        small = self.emit("Cast", [places], self.fresh("places"), place_shape, element=kinds.INT32, to=kinds.INT32)
        found = self.kernel(call, [self.to_first(source), small, self.to_first(updates)], self.fresh("scatter"),
                            self.shape(source))
        self.emit("Identity", [found], node.output[0])
        return True
