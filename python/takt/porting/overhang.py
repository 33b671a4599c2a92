"""Pools whose last window would begin behind the image, which is none."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..networks import graphs

_KINDS = {"AveragePool", "LpPool", "MaxPool"}


def cut(model: Any) -> Any:
    """An equivalent onnx.ModelProto without such windows; `model` itself if it has none. The shape inference
    of onnx counts them (with `ceil_mode`), and ONNX and ONNX Runtime do not."""
    while True:  # The sizes of further pools follow from the first one's.
        if not any(node.op_type in _KINDS for node in model.graph.node):
            return model
        result = _Cutter(model).run()
        if result is model:
            return model
        for value in result.graph.output:
            value.type.tensor_type.ClearField("shape")
        model = result


class _Cutter(graphs.Changer):
    def changed(self, node: Any) -> Any:
        if node.op_type not in _KINDS or self.is_changed:
            return node
        own = self.attributes(node)
        sizes = self.open_shapes.get(node.input[0], [])[2:]
        if (not own.get("ceil_mode", 0) or not sizes or None in sizes
                or own.get("auto_pad", b"NOTSET") != b"NOTSET"):
            return node
        rank, kernel = len(sizes), own["kernel_shape"]
        strides, dilations = (own.get(name, [1] * rank) for name in ("strides", "dilations"))
        pads = list(own.get("pads", [0] * 2 * rank))
        is_cut = False
        for i, size in enumerate(sizes):
            taps = (kernel[i] - 1) * dilations[i] + 1
            last = -(-(size + pads[i] + pads[rank + i] - taps) // strides[i])
            if last > 0 and last * strides[i] >= size + pads[i]:
                is_cut = True
                last -= 1
            own_end = last * strides[i] + taps - size - pads[i]
            pads[rank + i] = max(0, own_end)
        if not is_cut:
            return node
        del own["ceil_mode"]
        stated, inputs = own.get("pads", [0] * 2 * rank), list(node.input)
        if own.get("count_include_pad", 0) and any(new > old for old, new in zip(stated, pads)):
            # What windows reach behind the padding does not count, and the padding does.
            around = [min(pair) for pair in zip(stated, pads)]
            places = [0, 0, *around[:rank], 0, 0, *around[rank:]]
            inputs = [self.emit("Pad", [node.input[0], self.constant(np.array(places))])]
            own["count_include_pad"], pads = 0, [new - old for old, new in zip(around, pads)]
        own["pads"] = pads
        self.is_changed = True
        return self.onnx.helper.make_node(node.op_type, inputs, list(node.output), name=node.name, **own)
