"""Non-maximum suppression by Takt's own kernel: a part of `rewriter`."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import tiled_calls

_BOXES_MAX = 1 << 16  # Of src/kernels/select_boxes.h.
_TILE_SCORES = 1 << 15


class BoxesRewriter:
    """The part of the rewriter that knows how boxes are selected."""

    def on_nonmaxsuppression(self, node: Any) -> bool:
        boxes, scores, *others = [*node.input, "", "", ""][:5]
        limits = [self.constants.get(name) for name in others]
        box_shape, score_shape = self.shape(boxes), self.shape(scores)
        if (box_shape is None or score_shape is None or not {boxes, scores} <= self.dynamic
                or not self.is_float(boxes) or not self.is_float(scores)
                or any(name and limit is None for name, limit in zip(others, limits))):
            return False
        most, overlap, least = (
            default if limit is None else limit.reshape(-1)[0] for limit, default in zip(limits, (0, 0, -np.inf)))
        batch, classes, count = score_shape
        most = min(max(int(most), 0), count)
        rows = batch * classes * most
        if count > _BOXES_MAX or rows == 0 or rows >= 1 << 24:
            return False
        is_centered = self.attributes(node).get("center_point_box", 0)
        lists = tiled_calls.TiledCall(
            "takt_select_box_lists_f32", ("f32", "f32", "i32"), (batch, classes, count, most, is_centered),
            (float(overlap), float(least)), 1, batch * classes, max(1, min(batch * classes, _TILE_SCORES // count)), 0)
        join = tiled_calls.TiledCall(
            "takt_join_box_lists", ("i32", "i32"), (batch, classes, count, most), (), 1, 1, 1, 0)
        kind = self.onnx.TensorProto.INT32
        found = self.kernel(lists, [self.to_first(boxes), self.to_first(scores)], self.fresh("boxes"),
                            (batch * classes, 1 + most), kind)
        found = self.kernel(join, [found], self.fresh("boxes"), (1 + rows, 3), kind)
        zero, one, both = (self.constant(np.array(each)) for each in ([0], [1], [0, 1]))
        # The first row says how many boxes follow.
        head = self.emit("Slice", [found, self.constant(np.array([0, 0])), self.constant(np.array([1, 1])), both],
                         self.fresh("boxes"))
        taken = self.emit("Reshape", [head, one], self.fresh("boxes"))
        taken = self.emit("Cast", [taken], self.fresh("boxes"), to=self.onnx.TensorProto.INT64)
        end = self.emit("Add", [taken, one], self.fresh("boxes"))
        selected = self.emit("Slice", [found, one, end, zero], self.fresh("boxes"))
        self.emit("Cast", [selected], node.output[0], to=self.onnx.TensorProto.INT64)
        return True
