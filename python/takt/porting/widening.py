"""Networks of half floats, as networks of floats: for importers.py.

A CPU computes in floats, so a compiled network would convert each element before and
behind each operator, and no kernel of Takt takes half floats. The inputs and the
results of the network keep their types.
"""

from __future__ import annotations

from typing import Any, Iterator

from ..networks import subgraphs

# Attributes that name the type of an element.
_TYPES = {"dtype", "output_datatype", "output_dtype", "precision", "softmax_precision", "stash_type", "to"}


def widen(model: Any) -> Any:
    """An equivalent onnx.ModelProto without float16 and bfloat16 between its inputs and its
    results; `model` itself if it has none, or lists of them as inputs or results."""
    import onnx

    halves = {onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16}
    if not any(kind in halves for kind in _types(onnx, model.graph)):
        return model
    ends = [*model.graph.input, *model.graph.output]
    if any(not value.type.HasField("tensor_type") for value in ends):
        return model
    return _Widening(onnx, halves, model).run()


def _types(onnx: Any, graph: Any) -> Iterator[int]:
    """The types that a graph and its subgraphs name."""
    yield from (tensor.data_type for tensor in graph.initializer)
    yield from (value.type.tensor_type.elem_type for value in [*graph.input, *graph.output])
    for node in graph.node:
        for each in node.attribute:
            if each.type == onnx.AttributeProto.TENSOR:
                yield each.t.data_type
            elif each.name in _TYPES:
                yield each.i
            elif each.type == onnx.AttributeProto.GRAPH:
                yield from _types(onnx, each.g)


class _Widening:
    def __init__(self, onnx: Any, halves: set[int], model: Any) -> None:
        self.onnx, self.halves = onnx, halves
        self.model = onnx.ModelProto()
        self.model.CopyFrom(model)

    def run(self) -> Any:
        graph, helper, wide = self.model.graph, self.onnx.helper, {}
        constants = {tensor.name for tensor in graph.initializer}
        kinds = {value.name: value.type.tensor_type.elem_type for value in [*graph.input, *graph.output]
                 if value.name not in constants}
        for name, kind in kinds.items():
            if kind in self.halves:
                wide[name] = f"{name}_takt_float"
        self.graph(graph)
        for function in self.model.functions:
            self.nodes(function.node)
        for value in [*graph.input, *graph.output]:  # Their own types again.
            if value.name in wide:
                value.type.tensor_type.elem_type = kinds[value.name]
        inputs = {value.name for value in graph.input}
        casts = [helper.make_node("Cast", [name], [wide[name]], to=self.onnx.TensorProto.FLOAT)
                 for name in wide if name in inputs]
        nodes = [*casts, *(subgraphs.renamed(node, wide) for node in graph.node), *(
            helper.make_node("Cast", [wide[value.name]], [value.name], to=kinds[value.name])
            for value in graph.output if value.name in wide and value.name not in inputs)]
        del graph.node[:]
        graph.node.extend(nodes)
        return self.model

    def graph(self, graph: Any) -> None:
        for i, tensor in enumerate(graph.initializer):
            if tensor.data_type in self.halves:
                graph.initializer[i].CopyFrom(self.tensor(tensor))
        for value in [*graph.input, *graph.output]:
            self.type(value.type)
        del graph.value_info[:]  # They are inferred again.
        self.nodes(graph.node)

    def nodes(self, nodes: Any) -> None:
        for node in nodes:
            for each in node.attribute:
                if each.type == self.onnx.AttributeProto.TENSOR and each.t.data_type in self.halves:
                    each.t.CopyFrom(self.tensor(each.t))
                elif each.type == self.onnx.AttributeProto.GRAPH:
                    self.graph(each.g)
                elif each.name in _TYPES and each.i in self.halves:
                    each.i = self.onnx.TensorProto.FLOAT

    def tensor(self, tensor: Any) -> Any:
        array = self.onnx.numpy_helper.to_array(tensor).astype("float32")
        return self.onnx.numpy_helper.from_array(array, tensor.name)

    def type(self, kind: Any) -> None:
        """Of a tensor, or of a list of them."""
        if kind.HasField("tensor_type"):
            if kind.tensor_type.elem_type in self.halves:
                kind.tensor_type.elem_type = self.onnx.TensorProto.FLOAT
        elif kind.HasField("sequence_type"):
            self.type(kind.sequence_type.elem_type)
        elif kind.HasField("optional_type"):
            self.type(kind.optional_type.elem_type)
