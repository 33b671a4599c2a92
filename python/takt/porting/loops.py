"""Loops whose number of turns is not known: a part of `porter`.

The compiler has those whose results are states alone, of shapes that stay the same. Its importer does not look at the
condition of a loop: `compiling.whiles` does, if it is a tensor of one dimension.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import CompileError
from ..networks import graphs, inference, subgraphs


class LoopPorter:
    """The part of the porter that knows them."""

    def on_loop(self, node: Any) -> bool:
        """Leaves out what each turn gives and nothing reads, and states the shapes of the states, and a first
        condition: the compiler takes no loop without one."""
        body, states = self.attributes(node)["body"], len(node.input) - 2
        kept = [i for i, name in enumerate(node.output) if i < states or self.is_read(name)]
        changed = self.onnx.NodeProto()
        changed.CopyFrom(node)
        inner = next(each.g for each in changed.attribute if each.name == "body")
        if len(kept) + 1 != len(inner.output):
            changed.output[:] = [node.output[i] for i in kept]
            outputs = [body.output[0], *(body.output[i + 1] for i in kept)]
            del inner.output[:]
            inner.output.extend(outputs)
            nodes, _ = graphs.needed(body.node, [value.name for value in outputs])
            del inner.node[:]
            inner.node.extend(nodes)
        if not changed.input[1]:
            changed.input[1] = self.constant(np.array(True))
        self.state_shapes(changed, inner, states)
        if (len(kept) == states and not subgraphs.never_ends(changed, self.constants)
                and not node.name.startswith(subgraphs.KEPT)):
            self.end_by_condition(changed, inner)
        if changed == node:
            return False
        self.out.append(changed)
        return True

    def end_by_condition(self, node: Any, body: Any) -> None:
        """Makes the condition a tensor of one dimension."""
        line = self.constant(np.array([1]))
        goes_on = self.fresh("goes_on")
        body.node.append(self.onnx.helper.make_node("Reshape", [body.output[0].name, line], [goes_on]))
        for name, value, shape in ((body.input[1].name, body.input[1], []), (goes_on, body.output[0], [1])):
            value.CopyFrom(self.onnx.helper.make_tensor_value_info(name, self.onnx.TensorProto.BOOL, shape))
        node.input[1] = self.emit("Reshape", [node.input[1], line])
        node.name = subgraphs.KEPT + node.name

    def state_shapes(self, node: Any, body: Any, states: int) -> None:
        """If a turn does not change the shapes of the states, the results have these as well. What is open may
        change."""
        given = [self.outer_value(name, value.name) for name, value in zip(node.input[2:], body.input[2:])]
        if None in given:
            return
        model = self.onnx.ModelProto(ir_version=8, opset_import=[self.onnx.helper.make_opsetid("", self.opset)])
        model.graph.CopyFrom(body)
        del model.graph.input[2:], model.graph.value_info[:]
        model.graph.input.extend(given)
        read = {name for each in body.node for name in graphs.inputs(each)} - {value.name for value in body.input}
        for name in sorted(read & self.shapes.keys()):
            if name in self.constants:
                model.graph.initializer.append(self.onnx.numpy_helper.from_array(self.constants[name], name))
            elif (value := self.outer_value(name, name)) is not None:
                model.graph.input.append(value)
        for value in model.graph.output:
            value.type.tensor_type.ClearField("shape")
        inference.infer_shapes(model)
        found = inference.sizes_of(model.graph)
        if any(not self.stays(self.shapes[name], found.get(after.name))
               for name, after in zip(node.input[2:], body.output[1:])):
            return
        stated = inference.sizes_of(body)
        results = {value.name for value in body.output}
        values = [value for value in body.value_info if value.name not in results]  # Those may lack a shape.
        del body.value_info[:]
        body.value_info.extend(values)
        for i, value in enumerate(given):
            for inner in (body.input[2 + i], body.output[1 + i]):
                if stated.get(inner.name) != self.shapes[node.input[2 + i]]:
                    inner.type.CopyFrom(value.type)
            for result in self.graph.output:
                if result.name == node.output[i] and None not in self.shapes[node.input[2 + i]]:
                    result.type.CopyFrom(value.type)
            if node.output[i] and node.output[i] not in self.shapes:
                self.graph.value_info.add(name=node.output[i]).type.CopyFrom(value.type)

    @staticmethod
    def stays(before: list[int | None], after: list[int | None] | None) -> bool:
        return after is not None and len(after) == len(before) and all(
            size is None or size == new for size, new in zip(before, after))

    def outer_value(self, name: str, inner: str) -> Any | None:
        """A tensor of known rank by the name that it has in a body."""
        shape, kind = self.shapes.get(name), self.types.get(name, 0)
        return None if shape is None or not kind else self.onnx.helper.make_tensor_value_info(inner, kind, shape)


def check(graph: Any, known: dict[str, np.ndarray] | None = None) -> None:
    """Throws CompileError for a loop that the compiler has not, or does not end.

    known    constants of the graphs around this one.
    """
    constants = {**(known or {}), **graphs.constants_of(graph)}
    for node in graph.node:
        for inner in subgraphs.subgraphs_of(node):
            check(inner, constants)
        if node.domain not in ("", "ai.onnx") or node.op_type not in ("Loop", "Scan"):
            continue
        name = node.name.removeprefix(subgraphs.KEPT) or next(filter(None, node.output), "")
        what = f"{node.op_type} {name!r}"
        if node.op_type == "Scan":
            raise CompileError(f"{what}: its number of turns must be known, and not too large")
        rows = list(filter(None, node.output[len(node.input) - 2:]))
        if rows:
            raise CompileError(f"{what}: its number of turns must be known, and not too large, for what each turn "
                               f"gives ({', '.join(rows)})")
        if subgraphs.never_ends(node, constants):
            continue
        if not node.name.startswith(subgraphs.KEPT):
            raise CompileError(f"{what}: the compiler does not see the condition that ends it")
        body = next(subgraphs.subgraphs_of(node))
        listing = next((each.op_type for each in body.node if each.op_type.startswith("Sequence")), None)
        if listing is not None:
            raise CompileError(f"{what}: a condition ends it, and the compiler has no sequences ({listing}) in such "
                               "loops")
