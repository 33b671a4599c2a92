"""Quantizations of one tensor that give the same bytes, as one: for rewriter.py.

Some tools write a QuantizeLinear for each reader of a tensor. Then no product ends in bytes,
because several nodes read what it gives.
"""

from __future__ import annotations

from typing import Any

from ..networks import graphs, subgraphs


def merge(model: Any) -> Any:
    """An equivalent onnx.ModelProto; `model` itself if nothing is to be done."""
    return _Merger(model).run()


class _Merger(graphs.Graph):
    def run(self) -> Any:
        first: dict[Any, str] = {}
        names: dict[str, str] = {}  # Tensors, and the equal ones that are read in place of them.
        nodes = []
        for node in self.graph.node:
            if names:
                node = subgraphs.renamed(node, names)
            nodes.append(node)
            key = self.key(node)
            if key is None:
                continue
            kept = first.setdefault(key, node.output[0])
            if kept != node.output[0] and node.output[0] not in self.results:
                names[node.output[0]] = kept
        return self.written(nodes) if names else self.model

    def key(self, node: Any) -> Any | None:
        """A key that nodes share if they give the same bytes; None: the node is no quantization by constants."""
        if node.op_type != "QuantizeLinear" or node.domain not in ("", "ai.onnx"):
            return None
        numbers = [self.constants.get(name) for name in node.input[1:] if name]
        if any(array is None for array in numbers):
            return None
        attributes = sorted(attribute.SerializeToString() for attribute in node.attribute)
        return (node.input[0], *((array.dtype, array.shape, array.tobytes()) for array in numbers), *attributes)
