"""The greatest or least numbers by Takt's own kernels: a part of `rewriter`."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from ..networks import open_sizes
from . import tiled_calls

_TILE_NUMBERS = 1 << 15  # Of the rows or columns that a tile searches.
_INNER_MIN = 16  # Columns side by side.


class TopKRewriter:
    """The part of the rewriter that finds them."""

    def on_topk(self, node: Any) -> bool:
        """The compiler sorts each row, pair by pair."""
        source, shape, most = node.input[0], self.sizes(node.input[0]), self.constants.get(node.input[1])
        attributes = self.attributes(node)
        kinds = self.onnx.TensorProto
        integers = (kinds.INT64, kinds.INT32, kinds.INT16, kinds.INT8, kinds.UINT32, kinds.UINT16, kinds.UINT8)
        element = self.element_types.get(source)
        if not shape or most is None or source not in self.dynamic or element not in (kinds.FLOAT, *integers):
            return False
        axis = attributes.get("axis", -1) % len(shape)
        likely, most = list(map(open_sizes.nominal, shape)), int(most.reshape(-1)[0])
        count = likely[axis]
        rows = math.prod(likely) // max(1, count)
        is_fixed = isinstance(shape[axis], int)
        if most < 1 or is_fixed and most > count or rows * count >= 1 << 31:
            return False
        # The axis as the last one, and back.
        order = [i for i in range(len(shape)) if i != axis] + [axis]
        turned = [shape[i] for i in order[:-1]] + [most]
        numbers, wide = self.to_first(source), kinds.FLOAT if element == kinds.FLOAT else kinds.INT64
        if element not in (kinds.FLOAT, wide):
            numbers = self.emit("Cast", [numbers], self.fresh("top"), shape, element=wide, to=wide)
        if axis != len(shape) - 1:
            numbers = self.emit("Transpose", [numbers], self.fresh("top"), tuple(shape[i] for i in order),
                                element=wide, perm=order)
        kind = "f32" if wide == kinds.FLOAT else "i64"
        call = tiled_calls.TiledCall(
            f"takt_top_k_{kind}", (kind, "i32"), (rows, count, most, int(not attributes.get("largest", 1))), (), 1,
            rows, max(1, min(rows, _TILE_NUMBERS // count)), rows * count * count)
        if open_sizes.is_open(shape):
            call = self.of_open_sizes(call, shape, (shape[:axis] + shape[axis + 1:], shape[axis:axis + 1]), 1, [
                tuple(shape[i] for i in order), tuple(turned)])
        places = self.kernel(call, [numbers], self.fresh("top"), tuple(turned), kinds.INT32)
        values, found = node.output[0], node.output[1] or self.fresh("top")
        if axis == len(shape) - 1:
            self.emit("Cast", [places], found, to=kinds.INT64)
        else:
            places = self.emit("Cast", [places], self.fresh("top"), tuple(turned), element=kinds.INT64, to=kinds.INT64)
            self.emit("Transpose", [places], found, perm=[order.index(i) for i in range(len(shape))])
        if values:
            self.emit("GatherElements", [source, found], values, axis=axis)
        return True

    def on_argmax(self, node: Any) -> bool:
        return self.find_extremes(node, False)

    def on_argmin(self, node: Any) -> bool:
        return self.find_extremes(node, True)

    def find_extremes(self, node: Any, is_least: bool) -> bool:
        """Along an axis that is not the last: the compiler looks at one column after another."""
        source, shape, own = node.input[0], self.sizes(node.input[0]), self.attributes(node)
        if not shape or source not in self.dynamic or not self.is_float(source):
            return False
        axis, likely = own.get("axis", 0) % len(shape), list(map(open_sizes.nominal, shape))
        outer, count, inner = math.prod(likely[:axis]), likely[axis], math.prod(likely[axis + 1:])
        if inner < _INNER_MIN or not 0 < outer * count * inner < 1 << 31:
            return False
        call = tiled_calls.TiledCall(
            "takt_arg_max_f32", ("f32", "i32"),
            (outer, count, inner, int(is_least), own.get("select_last_index", 0)), (), 1, outer * inner,
            tiled_calls.even_rows(outer * inner, _TILE_NUMBERS // count, 64), math.prod(likely))
        if open_sizes.is_open(shape):
            parts = shape[:axis], shape[axis:axis + 1], shape[axis + 1:]
            call = self.of_open_sizes(call, shape, parts, 64, [shape, parts[0] + parts[2]])
        result = (*shape[:axis], *([1] if own.get("keepdims", 1) else []), *shape[axis + 1:])
        places = self.kernel(call, [self.to_first(source)], self.fresh("top"), result, self.onnx.TensorProto.INT32)
        self.emit("Cast", [places], node.output[0], to=self.onnx.TensorProto.INT64)
        return True

    def of_open_sizes(self, call: tiled_calls.TiledCall, shape: open_sizes.Sizes, parts: tuple[open_sizes.Sizes, ...],
                      multiple: int, tensors: list[open_sizes.Sizes]) -> tiled_calls.TiledCall:
        """The call that was made for what open sizes may be, for all that they may be.

        parts     Its first numbers are products of these. The second one is the axis along which it searches.
        multiple  A tile has so many rows, or a multiple of them.
        tensors   the sizes of its operand and of its result."""
        names = tiled_calls.names_of(shape)
        numbers = [tiled_calls.product_of(part, names) for part in parts]
        rows = tiled_calls.product_of(sum(parts[2:], parts[0]), names)
        return dataclasses.replace(
            call, numbers=(*numbers, *call.numbers[len(parts):]), rows=0, tile_rows=0,
            axes=tuple(tuple(names[size] for size in sizes if size in names) for sizes in tensors),
            open_rows=tiled_calls.OpenRows(rows, numbers[1], _TILE_NUMBERS, multiple))
