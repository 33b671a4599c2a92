"""Numbers at places of a tensor by Takt's own kernels: a part of `rewriter`."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ..networks import open_sizes
from . import open_calls, tiled_calls
from .channels_last import TO_FIRST
from .kernel_calls import CHANNELS_MAX, DOMAIN, make_kernel
from .packing import BLOCK, pack

_TILE_NUMBERS = 1 << 16  # A tile writes so many numbers of the tensor.
_COPIES_MIN = 4  # Numbers of a tile for each place, since each tile looks at all places.
# In the order of kernels::ScatterReduction.
_REDUCTIONS = (b"none", b"add", b"mul", b"min", b"max")
_SLOWER = 8  # The compiler's code for an update takes as long as so many multiply-adds.


_ROW_MIN = 64  # Numbers of a row that is taken as one.
_TAKEN_MIN = 1 << 12
_SAMPLED_MIN = 1 << 14  # Numbers of pixels whose places are found once: a dispatch takes its time, too.


class ScatterRewriter:
    """The part of the rewriter that takes them from there, and puts them there."""

    def on_gather(self, node: Any) -> bool:
        data, places = map(self.sizes, node.input)
        if not data or places is None:
            return False
        axis = self.attributes(node).get("axis", 0) % len(data)
        if open_sizes.is_open((*data, *places)):
            return self.open_gather(node, data, axis, places)
        return self.gather(node, data, axis, places)

    def on_gathernd(self, node: Any) -> bool:
        """With one number for each place, in the first dimension."""
        data, places = map(self.shape, node.input)
        return (bool(data) and bool(places) and places[-1] == 1 and not self.attributes(node).get("batch_dims", 0)
                and self.gather(node, data, 0, places[:-1]))

    def gather(self, node: Any, data: tuple[int, ...], axis: int, places: tuple[int, ...]) -> bool:
        source, name = node.input
        if name not in self.dynamic or not self.is_float(source):
            return False
        outer, size, inner, count = math.prod(data[:axis]), data[axis], math.prod(data[axis + 1:]), math.prod(places)
        if (inner < _ROW_MIN or outer * count * inner < _TAKEN_MIN
                or max(outer * size * inner, outer * count * inner) >= 1 << 31):
            return False
        found = self.rows_at(self.to_first(source), name, (outer, size, inner, count),
                             (*data[:axis], *places, *data[axis + 1:]))
        self.emit("Identity", [found], node.output[0])
        return True

    def open_gather(self, node: Any, data: open_sizes.Sizes, axis: int, places: open_sizes.Sizes) -> bool:
        """Rows of a known length, of tensors of which other sizes are open."""
        outer, inner, result = data[:axis], data[axis + 1:], (*data[:axis], *places, *data[axis + 1:])
        source, name = node.input
        count, numbers = (math.prod(map(open_sizes.nominal, sizes)) for sizes in (result, data))
        if (name not in self.dynamic or not self.is_float(source) or open_sizes.is_open(inner)
                or math.prod(inner) < _ROW_MIN or max(count, numbers) >= 1 << 31 or len(result) > open_calls.SIZES_MAX):
            return False
        names = tiled_calls.names_of((*data, *places))
        product = functools.partial(tiled_calls.product_of, names=names)
        call = tiled_calls.TiledCall(
            "takt_gather_f32", ("f32", "i32", "f32"),
            (product(outer), product((data[axis],)), math.prod(inner), product(places)), (), 1, 0, 0, count,
            axes=tuple(tuple(names[each] for each in sizes if each in names) for sizes in (data, places, result)),
            open_rows=tiled_calls.OpenRows(product((*outer, *places)), math.prod(inner), _TILE_NUMBERS, 1))
        self.emit("Identity", [self.rows_by(call, self.to_first(source), name, result)], node.output[0])
        return True

    def rows_at(self, source: str, name: str, sizes: tuple[int, int, int, int], shape: tuple[int, ...]) -> str:
        """Rows at the places that `name` has. `sizes`: outer ones, rows, a row's numbers, places."""
        outer, _, inner, count = sizes
        call = tiled_calls.TiledCall(
            "takt_gather_f32", ("f32", "i32", "f32"), sizes, (), 1, outer * count,
            max(1, min(outer * count, _TILE_NUMBERS // inner)), outer * count * inner)
        return self.rows_by(call, source, name, shape)

    def rows_by(self, call: tiled_calls.TiledCall, source: str, name: str, shape: open_sizes.Sizes) -> str:
        """The rows that a call takes from the places that `name` has."""
        int32 = self.onnx.TensorProto.INT32
        small = self.emit("Cast", [self.to_first(name)], self.fresh("places"), self.sizes(name), element=int32,
                          to=int32)
        return self.kernel(call, [source, small], self.fresh("rows"), shape)

    def on_transpose(self, node: Any) -> bool:
        """Pixels that `canonical` has made of a GridSample, a row of channels for each: they are computed as rows. In a
        loop over what reads them, the compiler would find their places again for each channel. And bytes whose channels
        ONNX Runtime had last."""
        if self.is_bytes(node.input[0]) and list(self.attributes(node).get("perm", [])) == TO_FIRST:
            self.set_last(node.output[0], self.to_first(node.input[0]))
            return True
        rows = self.makers.get(node.input[0])
        shape = self.shape(node.input[0])
        if (rows is None or rows.op_type != "Reshape" or list(self.attributes(node).get("perm", [])) != TO_FIRST
                or shape is None or shape[3] < 8 or math.prod(shape) < _SAMPLED_MIN
                or not self.is_sum_of_rows(rows.input[0])
                or self.shape(rows.input[0]) != (math.prod(shape[:3]), shape[3])):
            return False
        apart = self.emit("TaktBarrier", [self.to_first(rows.input[0])], self.fresh("apart"),
                          self.shape(rows.input[0]), DOMAIN)
        self.set_last(node.output[0], self.reshaped(apart, shape))
        return True

    def is_sum_of_rows(self, name: str) -> bool:
        """Whether that is a sum of rows of a matrix, each with its share."""
        while (maker := self.makers.get(name)) is not None and maker.op_type in ("Add", "Mul"):
            name = maker.input[0]
        return maker is not None and maker.op_type == "Gather" and len(self.shape(maker.input[0]) or ()) == 2

    def gathered_product(self, node: Any) -> bool:
        """Vectors, each of which is multiplied by a constant matrix that its place names, as by an expert of a mixture.
        The matrices are packed before they are chosen."""
        for side in range(2):
            maker, vectors = self.makers.get(node.input[side]), node.input[1 - side]
            if maker is None or maker.op_type not in ("Gather", "GatherND") or not self.is_float(vectors):
                continue
            matrices, places = self.constants.get(maker.input[0]), self.shape(maker.input[1])
            attributes, is_pairs = self.attributes(maker), maker.op_type == "GatherND"
            if (matrices is None or matrices.ndim != 3 or matrices.dtype != np.float32 or not places
                    or places[1:] != ((1,) if is_pairs else ()) or attributes.get("axis", 0)
                    or attributes.get("batch_dims", 0) or maker.input[1] not in self.dynamic):
                continue
            matrices = matrices if side == 0 else matrices.swapaxes(1, 2)
            (experts, outs, ins), count = matrices.shape, places[0]
            wanted = (count, ins, 1) if side == 0 else (count, 1, ins)
            if self.shape(vectors) != wanted or outs % BLOCK or ins > CHANNELS_MAX or count * outs * ins >= 1 << 31:
                continue
            packed, _ = pack(matrices.reshape(-1, ins, 1, 1), np.zeros(experts * outs, np.float32), experts, False)
            own = self.rows_at(self.constant(packed.reshape(experts, -1)), maker.input[1],
                               (1, experts, outs * ins, count), (count, outs * ins))
            kernel = make_kernel("takt_conv2d_f32", (
                1, 1, 1, count * ins, 1, 1, count * outs, 1, 1, 1, 1, 1, 1, 0, 0, count))
            self.kernel(kernel, [self.to_first(vectors), own, self.constant(np.zeros(count * outs, np.float32))],
                        node.output[0], self.shape(node.output[0]))
            return True
        return False

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
