"""The nodes that an If, a Loop or a Scan stands for, for folding.py.

An If with a known condition is one of its branches. A Loop or a Scan with a known
number of turns is that many copies of its body, whose tensors may differ in shape. The
condition of a Loop may count.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator

import numpy as np

# Loops are not opened beyond this number of nodes in a graph.
NODES_MAX = 8192
# Begins the name of a loop that is not opened, since only its condition ends it.
KEPT = "takt.kept."


def opened(node: Any, constants: dict[str, np.ndarray], shapes: dict[str, tuple[int, ...]], room: int,
           opsets: dict[str, int], taken: Callable[[], set[str]]) -> Any:
    """What takes the place of a node: an onnx.GraphProto with its nodes and
    initializers; None for a node that stays.

    constants, shapes    what is known of the tensors that the node reads.
    room                 how many nodes a loop may become.
    opsets               of the network, by domain.
    taken                what stands before a "." in names of the network.
    """
    openers = {"If": _Opener.branch, "Loop": _Opener.loop, "Scan": _Opener.scan}
    if node.domain not in ("", "ai.onnx") or node.op_type not in openers or node.name.startswith(KEPT):
        return None
    opener = _Opener(node, constants, shapes, room, opsets)
    while opener.prefix in taken():
        opener.prefix += "_"
    return opener.result if openers[node.op_type](opener) else None


def never_ends(loop: Any, constants: dict[str, np.ndarray]) -> bool:
    """Whether all turns of a Loop are taken, since its condition is always true."""
    opener = _Opener(loop, constants, {}, 0, {})
    return opener.never_ends(opener.attributes["body"], loop.input[1])


def subgraphs_of(node: Any) -> Iterator[Any]:
    """The graphs that a node has, such as the branches of an If."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def evaluate(nodes: list[Any], feeds: dict[str, np.ndarray], results: list[str], opsets: dict[str, int]
             ) -> dict[str, Any]:
    """What the nodes compute of `feeds`, by the reference implementation of the package onnx. A
    sequence is a list."""
    return evaluator(nodes, list(feeds), results, opsets)(feeds)


def evaluator(nodes: list[Any], names: list[str], results: list[str], opsets: dict[str, int]
              ) -> Callable[[dict[str, np.ndarray]], dict[str, Any]]:
    """The same for many `feeds`, of which each has these names."""
    import onnx
    import onnx.reference

    helper = onnx.helper
    graph = helper.make_graph(
        nodes, "nodes", [helper.make_value_info(name, onnx.TypeProto()) for name in names],
        [helper.make_value_info(name, onnx.TypeProto()) for name in results])
    reference = onnx.reference.ReferenceEvaluator(graph, opsets=opsets)

    def run(feeds: dict[str, np.ndarray]) -> dict[str, Any]:
        with np.errstate(all="ignore"):  # Numbers may be infinite, or none.
            values = reference.run(results, feeds)
        return {name: value if isinstance(value, list) else np.asarray(value) for name, value in zip(results, values)}

    return run


class _Opener:
    def __init__(self, node: Any, constants: dict[str, np.ndarray], shapes: dict[str, tuple[int, ...]],
                 room: int, opsets: dict[str, int]) -> None:
        import onnx

        self.opsets = opsets
        self.onnx = onnx
        self.node = node
        self.known = constants
        self.shapes = shapes
        self.room = room
        self.attributes = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
        self.prefix = next(name for name in node.output if name)
        self.result = onnx.GraphProto()
        self.count = 0
        self.has_constants = False

    def branch(self) -> bool:
        condition = self.known.get(self.node.input[0])
        if condition is None:
            return False
        graph = self.attributes["then_branch" if bool(condition.reshape(-1)[0]) else "else_branch"]
        for source, name in zip(self.copy(graph, [], ""), self.node.output):
            self.emit("Identity", [source], name)
        return True

    def loop(self) -> bool:
        body = self.attributes["body"]
        turns, condition, *states = self.node.input
        count, known = self.known.get(turns), self.known.get(condition)
        if count is not None and int(count) <= 0 or known is not None and not known.reshape(-1)[0]:
            return self.without_turns(body, list(states))
        is_given = self.keeps_condition(body, condition)
        if is_given and not self.keeps_shapes(body):
            return False
        if not is_given and not self.never_ends(body, condition):
            count = self.count_turns(body, count, condition, list(states))
        if count is None or not self.fits(body, int(count)):
            return False
        before = list(states)
        true = self.constant(np.array(True))
        states, rows = self.turns(
            body, int(count), list(states), lambda turn: [self.constant(np.array(turn, np.int64)), true], 1)
        if is_given:  # All turns, or none.
            states = [self.emit("Where", [condition, *both]) for both in zip(states, before)]
        self.give(states, rows, [0] * len(rows))
        return True

    def without_turns(self, body: Any, states: list[str]) -> bool:
        """The states as they are, and no rows, of the shapes that the body states."""
        rows = []
        for value, name in zip(body.output[1 + len(states):], self.node.output[len(states):]):
            tensor = value.type.tensor_type
            if name and not (tensor.HasField("shape") and all(dim.HasField("dim_value") for dim in tensor.shape.dim)):
                return False
            sizes = [dim.dim_value for dim in tensor.shape.dim]
            rows.append(np.zeros([0, *sizes], self.onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type or 1)))
        self.give(states, [], [])
        for row, name in zip(rows, self.node.output[len(states):]):
            if name:
                self.emit("Identity", [self.constant(row)], name)
        return True

    def never_ends(self, body: Any, condition: str) -> bool:
        """Whether the condition is true before and after each turn."""
        if not condition:
            return True
        known = self.known.get(condition)
        if known is None or not known.reshape(-1)[0]:
            return False
        name, makers = self.next_condition(body)
        if name == body.input[1].name or name == condition:
            return True
        values = {tensor.name: tensor for tensor in body.initializer}
        if name in makers and makers[name].op_type == "Constant" and makers[name].attribute[0].name == "value":
            values[name] = makers[name].attribute[0].t
        return name in values and bool(self.onnx.numpy_helper.to_array(values[name]).reshape(-1)[0])

    def keeps_condition(self, body: Any, condition: str) -> bool:
        """Whether the condition is that of the call before and after each turn: the importer of the compiler
        does not look at it."""
        name, _ = self.next_condition(body)
        return condition not in ("", *self.known) and name in (body.input[1].name, condition)

    def keeps_shapes(self, body: Any) -> bool:
        """Whether the results are states alone, whose shapes stay the same."""
        befores, afters = list(body.input)[2:], list(body.output)[1:]

        def sizes(value: Any) -> list[int]:
            return [dim.dim_value for dim in value.type.tensor_type.shape.dim]

        return len(befores) == len(afters) and all(
            before.type.tensor_type.HasField("shape") and after.type.tensor_type.HasField("shape")
            and 0 not in sizes(before) and sizes(before) == sizes(after) for before, after in zip(befores, afters))

    def next_condition(self, body: Any) -> tuple[str, dict[str, Any]]:
        """What the condition after a turn is a copy of, and the makers of all tensors."""
        makers = {name: node for node in body.node for name in node.output}
        name = body.output[0].name
        while name in makers and makers[name].op_type == "Identity":
            name = makers[name].input[0]
        return name, makers

    def count_turns(self, body: Any, limit: Any, condition: str, states: list[str]) -> int | None:
        """How many turns a loop takes whose condition depends on known numbers alone, such as
        a counter among its states; None: that is not known."""
        known = self.known.get(condition)
        if known is None or not known.reshape(-1)[0]:
            return None
        most = self.room // max(len(body.node), 1)
        if limit is not None:
            most = min(most, int(limit))
        turns = self.turns_until_false(body, most, states)
        if turns is None or turns <= most:
            return turns
        return None if limit is None else int(limit)

    def turns_until_false(self, body: Any, most: int, states: list[str]) -> int | None:
        """The number of turns behind which a condition that depends on known numbers alone is false; most + 1: they
        are more than `most`. None: that is not known."""
        number, goes_on, *arguments = [value.name for value in body.input]
        values = {name: self.known[state] for name, state in zip(arguments, states) if state in self.known}
        following = {name: value.name for name, value in zip(arguments, body.output[1:])}
        while True:  # A state is known in all turns if the next one follows from known ones.
            results = [body.output[0].name, *(following[name] for name in values)]
            nodes, missing = self.needed(body, results, {number, goes_on, *values})
            lost = [name for name in values if following[name] in missing]
            if not lost:
                break
            for name in lost:
                del values[name]
        if body.output[0].name in missing:
            return None
        try:
            step = self.evaluator(body, nodes, [number, goes_on, *values], results)
            for turn in range(most):
                is_true, *new = step({number: np.array(turn, np.int64), goes_on: np.array(True), **values})
                if not is_true.reshape(-1)[0]:
                    return turn + 1
                values = dict(zip(values, new))
        except Exception:  # What the reference of the package onnx does not know.
            return None
        return most + 1

    def needed(self, body: Any, results: list[str], given: set[str]) -> tuple[list[Any], set[str]]:
        """The nodes that make the results, and which results need what is not known."""
        known = {"", *given, *self.known, *(tensor.name for tensor in body.initializer)}
        for node in body.node:
            if all(name in known for name in node.input) and not any(each.HasField("g") for each in node.attribute):
                known.update(node.output)
        wanted, nodes = set(results) & known, []
        for node in reversed(body.node):
            if wanted.intersection(node.output):
                nodes.append(node)
                wanted.update(node.input)
        return nodes[::-1], set(results) - known

    def evaluator(self, body: Any, nodes: list[Any], names: list[str], results: list[str]
                  ) -> Callable[[dict[str, np.ndarray]], list[np.ndarray]]:
        """Computes the results of values by name, with what is known."""
        values = {tensor.name: self.onnx.numpy_helper.to_array(tensor) for tensor in body.initializer}
        for name in {name for node in nodes for name in node.input} | set(results):
            if name in self.known and name not in names:
                values.setdefault(name, self.known[name])
        made = {name for node in nodes for name in node.output}
        wanted = [name for name in dict.fromkeys(results) if name in made]
        run = evaluator(nodes, [*values, *names], wanted, self.opsets)

        def step(feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
            found = {**values, **feeds}
            found.update(run(found))
            return [found[name] for name in results]

        return step

    def scan(self) -> bool:
        body = self.attributes["body"]
        sources = list(self.node.input)[-self.attributes["num_scan_inputs"]:]
        states = list(self.node.input)[:-len(sources)]

        def listed(name: str, count: int) -> list[int]:
            return list(self.attributes.get(name, [0] * count))

        axes = listed("scan_input_axes", len(sources))
        shape = self.shapes.get(sources[0])
        if shape is None or not self.fits(body, shape[axes[0]]):
            return False
        count = shape[axes[0]]
        is_backward = listed("scan_input_directions", len(sources))

        def parts(turn: int) -> list[str]:
            return [
                self.emit("Gather", [source, self.constant(np.array(count - 1 - turn if back else turn))], axis=axis)
                for source, axis, back in zip(sources, axes, is_backward)]

        states, rows = self.turns(body, count, states, parts, 0)
        for row, back in zip(rows, listed("scan_output_directions", len(rows))):
            if back:
                row.reverse()
        self.give(states, rows, listed("scan_output_axes", len(rows)))
        return True

    def turns(self, body: Any, count: int, states: list[str], parts: Callable[[int], list[str]],
              skipped: int) -> tuple[list[str], list[list[str]]]:
        """The states behind the last turn, and of each other result what each turn gives.

        parts      the arguments of a turn that are no states. Those of a Loop come
                   before the states, and those of a Scan behind them.
        skipped    how many results come before the states.
        """
        rows = []
        for turn in range(count):
            own = parts(turn)
            arguments = [*own, *states] if skipped else [*states, *own]
            results = self.copy(body, arguments, f"{turn}.")[skipped:]
            states = results[:len(states)]
            rows.append(results[len(states):])
        return states, [list(row) for row in zip(*rows)]

    def fits(self, body: Any, count: int) -> bool:
        return 0 < count <= self.room // max(len(body.node), 1)

    def give(self, states: list[str], rows: list[list[str]], axes: list[int]) -> None:
        """The results of the node: the last states, and the rows of the turns along a new axis."""
        outputs = list(self.node.output)
        for source, name in zip(states, outputs):
            if name:
                self.emit("Identity", [source], name)
        for row, name, axis in zip(rows, outputs[len(states):], axes):
            if name:
                dims = self.constant(np.array([axis], np.int64))
                parts = [self.emit("Unsqueeze", [part, dims]) for part in row]
                self.emit("Concat", parts, name, axis=axis)

    # The graph that is made.

    def copy(self, graph: Any, arguments: list[str], turn: str) -> list[str]:
        """Adds the nodes of a subgraph, and returns its results. Another subgraph may have the
        same names. All turns share their constants."""
        constants = [inner for inner in graph.node if inner.op_type == "Constant"]
        others = [inner for inner in graph.node if inner.op_type != "Constant"]
        shared = [tensor.name for tensor in graph.initializer]
        shared.extend(name for inner in constants for name in inner.output)
        names = {name: f"{self.prefix}.{name}" for name in shared}
        names.update((name, f"{self.prefix}.{turn}{name}") for inner in others for name in inner.output if name)
        names.update((value.name, argument) for value, argument in zip(graph.input, arguments))
        if not self.has_constants:
            self.has_constants = True
            for tensor in graph.initializer:
                self.result.initializer.add().CopyFrom(tensor)
                self.result.initializer[-1].name = names[tensor.name]
            self.result.node.extend(renamed(inner, names) for inner in constants)
        self.result.node.extend(renamed(inner, names) for inner in others)
        return [names.get(value.name, value.name) for value in graph.output]

    def fresh(self) -> str:
        self.count += 1
        return f"{self.prefix}.takt.{self.count}"

    def constant(self, value: np.ndarray) -> str:
        name = self.fresh()
        self.result.initializer.append(self.onnx.numpy_helper.from_array(value, name))
        return name

    def emit(self, kind: str, inputs: list[str], output: str = "", **attributes: Any) -> str:
        output = output or self.fresh()
        self.result.node.append(self.onnx.helper.make_node(kind, inputs, [output], **attributes))
        return output


def renamed(node: Any, names: dict[str, str]) -> Any:
    """With other names for some tensors, in its subgraphs, too. A subgraph has no
    tensor of its own with one of these names."""
    result = type(node)()
    result.CopyFrom(node)
    result.input[:] = [names.get(name, name) for name in node.input]
    result.output[:] = [names.get(name, name) for name in node.output]
    for graph in subgraphs_of(result):
        inner = [renamed(each, names) for each in graph.node]
        del graph.node[:]
        graph.node.extend(inner)
        for value in graph.output:
            value.name = names.get(value.name, value.name)
    return result
