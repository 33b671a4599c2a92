"""Reshapes whose open sizes are those of the tensor that is reshaped.

The compiler computes the numbers of a shape like those of other tensors, all of them in one piece of code, which a
network with many shapes makes too large.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..networks import graphs, open_sizes


def state(model: Any) -> Any:
    """An equivalent onnx.ModelProto, whose Reshapes state that they keep sizes; `model` itself if it has no such
    ones."""
    constants = graphs.constants_of(model.graph)
    if not any(node.op_type == "Reshape" and node.input[1] not in constants for node in model.graph.node):
        return model
    return _Stater(model).run_with_types()


class _Stater(graphs.Changer):
    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.open = open_sizes.sizes_of(self.inferred, self.shapes, self)

    def changed(self, node: Any) -> Any:
        if node.op_type != "Reshape" or node.input[1] in self.constants:
            return node
        before, after = (self.open.get(name, self.shapes.get(name, ())) for name in (node.input[0], node.output[0]))
        if not after or 0 in after:
            return node
        form = [0 if size in before[i:i + 1] and isinstance(size, open_sizes.Open) else size
                for i, size in enumerate(after)]
        place = next((i for i, size in enumerate(form) if isinstance(size, open_sizes.Open)), None)
        if place is not None:
            # One size for those of some axes.
            behind = after[place + 1:]
            joined = before[place:len(before) - len(behind)]
            if (before[:place] != after[:place] or before[len(before) - len(behind):] != behind
                    or open_sizes.is_open(behind) or open_sizes.product(joined) != form[place]):
                return node
            form[place] = -1
        result = self.with_inputs(node, {1: self.constant(np.array(form, np.int64))})
        del result.attribute[:]  # 0 stands for the size that is kept.
        return result
