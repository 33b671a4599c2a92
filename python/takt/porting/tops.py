"""Several operators TopK in one network."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..networks import graphs


def separate(model: Any) -> Any:
    """An equivalent onnx.ModelProto, in which no two TopK have tensors of the same sizes; `model` itself if
    that is so. The compiler sorts the places of all of these in one tensor."""
    if sum(node.op_type == "TopK" for node in model.graph.node) < 2:
        return model
    return _Separator(model).run_with_types()


class _Separator(graphs.Changer):
    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.count = 0  # How many TopK came before.

    def changed(self, node: Any) -> Any:
        """Each gets more rows than the last one."""
        if node.op_type != "TopK":
            return node
        rank = len(self.open_shapes.get(node.input[0], []))
        self.count += 1
        if self.count == 1 or rank == 0:
            return node
        axis, more = self.attributes(node).get("axis", -1) % rank, self.count - 1
        source, is_row = node.input[0], rank == 1
        if is_row:
            source, axis, rank = self.emit("Unsqueeze", [source, self.constant(np.array([0]))]), 1, 2
        other = 0 if axis else 1
        pads = np.zeros(2 * rank, np.int64)
        pads[rank + other] = more
        found = self.with_inputs(node, {0: self.emit("Pad", [source, self.constant(pads)])})
        for attribute in found.attribute:
            if attribute.name == "axis":
                attribute.i = axis
        found.output[:] = [name and self.names.fresh("takt_top") for name in node.output]
        self.out.append(found)
        made = []
        for name, wide in zip(node.output, found.output):
            if name:
                bounds = (self.constant(np.array([value])) for value in (0, -more, other))
                rows = [wide, *bounds]
                if is_row:
                    rows = [self.emit("Slice", rows), self.constant(np.array([0]))]
                made.append(self.onnx.helper.make_node("Squeeze" if is_row else "Slice", rows, [name]))
        self.out.extend(made[:-1])
        return made[-1]
