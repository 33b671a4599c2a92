"""Sequences of tensors, as the tensors: a part of `porter`.

Exporters write a list that grows in a loop as SequenceInsert, and what splits a
tensor as SplitToSequence. Where the number of members is known, the readers of a
sequence read its members.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ..networks import folding, graphs, inference, names, subgraphs


class ListPorter:
    """The part of the porter that knows them. `lists` has the members of each sequence."""

    def list_handlers(self) -> dict[tuple[str, str], Callable[[Any], bool]]:
        makers = {
            "SequenceEmpty": lambda node: [],
            "SequenceConstruct": lambda node: list(node.input),
            "SequenceInsert": self.inserted,
            "SequenceErase": self.erased,
            "SplitToSequence": self.parts,
            "Identity": lambda node: self.lists.get(node.input[0]),
        }
        handlers = {("", kind): self.maker_of_list(make) for kind, make in makers.items()}
        return handlers | {
            ("", "SequenceAt"): self.on_member,
            ("", "SequenceLength"): self.on_length,
            ("", "SequenceMap"): self.on_each_member,
            ("", "ConcatFromSequence"): self.on_concat_members,
        }

    def maker_of_list(self, make: Callable[[Any], list[str] | None]) -> Callable[[Any], bool]:
        """A handler that keeps the node, which goes with the last one that reads it."""
        def handler(node: Any) -> bool:
            members = make(node)
            if members is not None:
                self.lists[node.output[0]] = members
            return False

        return handler

    def place(self, node: Any, index: int, default: int) -> int | None:
        """The place in a list that the node's input `index` says; None if it is not known."""
        if len(node.input) <= index or not node.input[index]:
            return default
        place = self.constants.get(node.input[index])
        return None if place is None else int(place.reshape(-1)[0])

    def inserted(self, node: Any) -> list[str] | None:
        members = self.lists.get(node.input[0])
        place = None if members is None else self.place(node, 2, len(members))
        return None if place is None else [*members[:place], node.input[1], *members[place:]]

    def erased(self, node: Any) -> list[str] | None:
        members, place = self.lists.get(node.input[0]), self.place(node, 1, -1)
        if not members or place is None:
            return None
        return [name for i, name in enumerate(members) if i != place % len(members)]

    def parts(self, node: Any) -> list[str] | None:
        attributes = self.attributes(node)
        shape = self.shapes.get(node.input[0])
        axis = attributes.get("axis", 0)
        if shape is None or shape[axis] is None:
            return None
        size = shape[axis]
        if len(node.input) < 2 or not node.input[1]:
            parts = [self.slice(node.input[0], axis, i, i + 1) for i in range(size)]
            shape = [1 if i == axis % len(shape) else each for i, each in enumerate(shape)]
            if not attributes.get("keepdims", 1):
                parts = [self.emit("Squeeze", [part, self.constant([axis])]) for part in parts]
                del shape[axis]
            self.shapes.update((part, list(shape)) for part in parts)
            return parts
        split = self.constants.get(node.input[1])
        if split is None:
            return None
        if split.ndim == 0:
            split = np.diff([*range(0, size, int(split)), size])
        ends = np.cumsum(split)
        return [self.slice(node.input[0], axis, int(end - count), int(end)) for count, end in zip(split, ends)]

    def on_member(self, node: Any) -> bool:
        members, place = self.lists.get(node.input[0]), self.place(node, 1, -1)
        if members and place is None:
            return self.on_computed_member(node, members)
        if members is None or place is None or not -len(members) <= place < len(members):
            return False
        self.emit("Identity", [members[place]], node.output[0])
        return True

    def on_computed_member(self, node: Any, members: list[str]) -> bool:
        """A row of all members, if these have the same shape."""
        shapes = [self.shapes.get(name, [None]) for name in members]
        if None in shapes[0] or any(shape != shapes[0] for shape in shapes):
            return False
        rows = [self.emit("Unsqueeze", [name, self.constant([0])]) for name in members]
        self.emit("Gather", [self.emit("Concat", rows, axis=0), node.input[1]], node.output[0], axis=0)
        return True

    def on_each_member(self, node: Any) -> bool:
        """SequenceMap: a copy of its body for each member. The node goes with the last one that reads it."""
        body, first = self.attributes(node)["body"], self.lists.get(node.input[0])
        if first is None or any(name not in self.lists and not self.types.get(name) for name in node.input):
            return False
        found: list[list[str]] = [[] for _ in node.output]
        for i in range(len(first)):
            own = {value.name: self.lists[name][i] if name in self.lists else name
                   for value, name in zip(body.input, node.input)}
            own.update((name, self.constant(array)) for name, array in graphs.constants_of(body).items())
            for each in body.node:
                own.update((name, self.fresh("member")) for name in each.output if name and name not in own)
                self.out.append(subgraphs.renamed(each, own))
            for members, value in zip(found, body.output):
                members.append(own.get(value.name, value.name))
        self.lists.update(zip(node.output, found))
        return False

    def on_length(self, node: Any) -> bool:
        members = self.lists.get(node.input[0])
        if members is None:
            return False
        self.emit("Identity", [self.constant(np.int64(len(members)))], node.output[0])
        return True

    def on_concat_members(self, node: Any) -> bool:
        members = self.lists.get(node.input[0])
        if not members:
            return False
        attributes = self.attributes(node)
        axis = attributes["axis"]
        if attributes.get("new_axis", 0):
            members = [self.emit("Unsqueeze", [name, self.constant([axis])]) for name in members]
        self.emit("Concat", members, node.output[0], axis=axis)
        return True


def open_loops(model: Any) -> None:
    """Puts the turns of each Loop that makes a sequence in its place, where their number is known."""
    loops = [node for node in model.graph.node if node.op_type == "Loop" and any(
        "Sequence" in inner.op_type for graph in subgraphs.subgraphs_of(node) for inner in graph.node)]
    if not loops:
        return
    known, graph = folding.folded(model), model.graph
    shapes, opsets = inference.shapes_of(known.model.graph), {each.domain: each.version for each in model.opset_import}
    nodes = []
    for node in graph.node:
        opened = None
        if node in loops:
            room = subgraphs.NODES_MAX - len(nodes)
            opened = subgraphs.opened(node, known.constants, shapes, room, opsets, lambda: names.beginnings_of(graph))
        nodes.extend([node] if opened is None else opened.node)
        graph.initializer.extend([] if opened is None else opened.initializer)
    kept = [type(node).FromString(node.SerializeToString()) for node in nodes]
    del graph.node[:]
    graph.node.extend(kept)
