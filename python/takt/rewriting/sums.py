"""Sums along an axis up to each number by Takt's own kernel: a part of `rewriter`."""

from __future__ import annotations

import math
from typing import Any

from ..networks import open_sizes
from . import tiled_calls

_TILE_NUMBERS = 1 << 14  # Of the columns that a tile adds up, at least.
_TILES = 8  # Fewer of them have longer pieces of rows, which a core fetches ahead.
_INNER_MIN = 16  # Columns side by side.
_COLUMNS = 64  # A tile has so many, or a multiple of them.
_COLUMNS_MAX = 4096  # Whose last sums stay in a core's cache.


class SumRewriter:
    """The part of the rewriter that finds them."""

    def on_cumsum(self, node: Any) -> bool:
        """Along an axis that is not the last: the compiler adds one number after another."""
        source, shape, axis = node.input[0], self.sizes(node.input[0]), self.constants.get(node.input[1])
        if not shape or axis is None or source not in self.dynamic or not self.is_float(source):
            return False
        at, own = int(axis.reshape(-1)[0]) % len(shape), self.attributes(node)
        likely = list(map(open_sizes.nominal, shape))
        outer, count, inner = math.prod(likely[:at]), likely[at], math.prod(likely[at + 1:])
        if inner < _INNER_MIN or not 0 < outer * count * inner < 1 << 31:
            return False
        columns = max(_TILE_NUMBERS // count, min(inner, outer * inner // _TILES, _COLUMNS_MAX))
        call = tiled_calls.TiledCall(
            "takt_cum_sum_f32", ("f32", "f32"), (outer, count, inner, own.get("exclusive", 0), own.get("reverse", 0)),
            (), 1, outer * inner, tiled_calls.even_rows(outer * inner, columns, _COLUMNS), math.prod(likely))
        if open_sizes.is_open(shape):
            parts = shape[:at], shape[at:at + 1], shape[at + 1:]
            call = self.of_open_sizes(call, shape, parts, _COLUMNS, [shape, shape])
        self.kernel(call, [self.to_first(source)], node.output[0], shape)
        return True
