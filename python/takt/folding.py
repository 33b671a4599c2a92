"""What a network computes of constants alone, for rewriting.py.

Exporters leave shapes as chains of operations: Shape, Gather, Concat, Reshape.
`fold()` computes these chains, and with them the shapes of what follows, by the
reference implementation of the package onnx.
"""

from __future__ import annotations

from typing import Any, Iterable

import numpy as np

# These have subgraphs, depend on more than their inputs, or mean more than their
# result: the bytes of a quantized network are what its kernels take.
_KEPT = {
    "If", "Loop", "Scan", "QuantizeLinear", "DequantizeLinear", "RandomNormal", "RandomUniform",
    "RandomNormalLike", "RandomUniformLike", "Multinomial", "Bernoulli",
}
# Each round knows more shapes than the last one.
_ROUNDS_MAX = 16
# A result of more bytes than this must not be larger than its inputs.
_BYTES_MAX = 1 << 24
# These write the same values many times.
_SPREADING = {"ConstantOfShape", "Expand", "Tile"}
_SPREAD_BYTES_MAX = 1 << 20


def fold(model: Any) -> Any:
    """An equivalent onnx.ModelProto with all shapes that can be inferred. `model`
    is not changed."""
    import onnx

    for _ in range(_ROUNDS_MAX):
        model = onnx.shape_inference.infer_shapes(model, data_prop=True)
        if not _Round(model).run():
            break
    return model


class _Round:
    """Replaces, in the model, nodes by the constants that they compute."""

    def __init__(self, model: Any) -> None:
        import onnx
        import onnx.reference

        self.onnx = onnx
        self.graph = model.graph
        self.opsets = {each.domain: each.version for each in model.opset_import}
        self.constants: dict[str, np.ndarray] = {
            tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in self.graph.initializer}
        self.results = {value.name for value in self.graph.output}
        self.shapes: dict[str, tuple[int, ...]] = {}
        for value in [*self.graph.input, *self.graph.value_info]:
            tensor = value.type.tensor_type
            if tensor.HasField("shape") and all(d.HasField("dim_value") for d in tensor.shape.dim):
                self.shapes[value.name] = tuple(d.dim_value for d in tensor.shape.dim)

    def run(self) -> bool:
        """Whether something was replaced."""
        kept, new = [], {}
        is_inlined = False
        for node in self.graph.node:
            branch = self.branch(node)
            if branch is not None:
                kept.extend(branch)
                is_inlined = True
                continue
            values = self.compute(node)
            if values is None:
                kept.append(node)
                continue
            self.constants.update(values)
            if node.op_type == "Constant":
                kept.append(node)
            else:
                new.update(values)
        if not new and not is_inlined:
            return False
        used = {name for node in kept for name in inputs(node)}
        del self.graph.node[:]
        self.graph.node.extend(kept)
        self.graph.initializer.extend(
            self.onnx.numpy_helper.from_array(array, name)
            for name, array in new.items() if name in used)
        stale = [value for value in self.graph.value_info if value.name in new]
        for value in stale:
            self.graph.value_info.remove(value)
        return True

    def branch(self, node: Any) -> list[Any] | None:
        """The nodes of the branch that an If with a known condition takes; None for
        any other node."""
        if node.op_type != "If" or node.domain not in ("", "ai.onnx") or node.input[0] not in self.constants:
            return None
        key = "then_branch" if bool(self.constants[node.input[0]].reshape(-1)[0]) else "else_branch"
        graph = next(each.g for each in node.attribute if each.name == key)
        # Other branches may have the same names.
        prefix = f"{node.output[0]}."
        own = {tensor.name for tensor in graph.initializer}
        own.update(name for inner in graph.node for name in inner.output if name)
        renamed = {name: prefix + name for name in own}
        for tensor in graph.initializer:
            self.graph.initializer.add().CopyFrom(tensor)
            self.graph.initializer[-1].name = renamed[tensor.name]
        nodes = [_renamed(inner, renamed) for inner in graph.node]
        for result, name in zip(graph.output, node.output):
            source = renamed.get(result.name, result.name)
            nodes.append(self.onnx.helper.make_node("Identity", [source], [name]))
        return nodes

    def compute(self, node: Any) -> dict[str, np.ndarray] | None:
        """The node's results; None if they depend on an input, or are too large."""
        if node.domain not in ("", "ai.onnx") or node.op_type in _KEPT:
            return None
        if any(name in self.results for name in node.output):
            return None
        names = [name for name in node.input if name]
        if node.op_type in ("Shape", "Size") and names[0] in self.shapes:
            feeds = {names[0]: np.broadcast_to(np.float32(0), self.shapes[names[0]])}
        elif all(name in self.constants for name in names):
            feeds = {name: self.constants[name] for name in names}
        else:
            return None
        least = _SPREAD_BYTES_MAX if node.op_type in _SPREADING else _BYTES_MAX
        limit = max(least, sum(self.constants[name].nbytes for name in names if name in self.constants))
        if any(np.prod(self.shapes.get(name, ()), dtype=np.float64) > limit for name in node.output):
            return None
        try:
            values = self.evaluate(node, feeds)
        except Exception:  # What the reference does not know, the compiler may.
            return None
        if any(not isinstance(value, np.ndarray) or value.nbytes > limit for value in values.values()):
            return None
        return values

    def evaluate(self, node: Any, feeds: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        helper = self.onnx.helper
        outputs = [name for name in node.output if name]
        graph = helper.make_graph(
            [node], "node", [helper.make_value_info(name, self.onnx.TypeProto()) for name in feeds],
            [helper.make_value_info(name, self.onnx.TypeProto()) for name in outputs])
        evaluator = self.onnx.reference.ReferenceEvaluator(graph, opsets=self.opsets)
        return {name: np.asarray(value)
                for name, value in zip(outputs, evaluator.run(outputs, feeds))}


def _renamed(node: Any, names: dict[str, str]) -> Any:
    """With other names for some tensors, in its subgraphs, too. A subgraph has no
    tensor of its own with one of these names."""
    result = type(node)()
    result.CopyFrom(node)
    result.input[:] = [names.get(name, name) for name in node.input]
    result.output[:] = [names.get(name, name) for name in node.output]
    for attribute in result.attribute:
        for graph in [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]:
            inner = [_renamed(each, names) for each in graph.node]
            del graph.node[:]
            graph.node.extend(inner)
            for value in graph.output:
                value.name = names.get(value.name, value.name)
    return result


def needed(nodes: Iterable[Any], results: Iterable[str]) -> tuple[list[Any], set[str]]:
    """The nodes that the results depend on, in order, and the tensors that these read,
    with the results."""
    used, kept = set(results), []
    for node in reversed(list(nodes)):
        if any(name in used for name in node.output):
            kept.append(node)
            used |= inputs(node)
    return kept[::-1], used


def reads(node: Any) -> list[str]:
    """Its inputs, with what only its subgraphs read behind them."""
    return [*node.input, *sorted(inputs(node) - set(node.input))]


def inputs(node: Any) -> set[str]:
    """The tensors that a node reads, those of its subgraphs included."""
    names = set(node.input)
    for attribute in node.attribute:
        for graph in [attribute.g, *attribute.graphs]:
            for inner in graph.node:
                names |= inputs(inner)
    return names
