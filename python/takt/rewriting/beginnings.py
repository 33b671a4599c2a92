"""Concatenations that begin as others do, for rewriter.py.

In networks such as DenseNet each layer reads all before it, and joins them anew. What another concatenation has joined
already is one part of the next.
"""

from __future__ import annotations

from typing import Any

from ..networks import graphs


def share(model: Any) -> Any:
    """An equivalent onnx.ModelProto; `model` itself if nothing is to be done."""
    return _Sharer(model).run_with_types()


class _Sharer(graphs.Changer):
    def __init__(self, model: Any) -> None:
        super().__init__(model)
        # The results of concatenations, by their axes and what they join.
        self.joined: dict[tuple[int, tuple[str, ...]], str] = {}
        # Bytes of all parts of a tensor are cheaper than its floats.
        self.quantized = {node.input[0] for node in self.graph.node if node.op_type == "QuantizeLinear"}

    def changed(self, node: Any) -> Any:
        if node.op_type != "Concat" or node.output[0] in self.quantized:
            return node
        axis, parts = node.attribute[0].i, tuple(node.input)
        for count in range(len(parts) - 1, 1, -1):
            begin = self.joined.get((axis, parts[:count]))
            if begin is not None:
                self.is_changed = True
                node = self.onnx.helper.make_node("Concat", [begin, *parts[count:]], list(node.output), name=node.name,
                                                  axis=axis)
                break
        self.joined.setdefault((axis, parts), node.output[0])
        return node
