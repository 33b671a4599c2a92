"""Names for the tensors that a pass adds to a graph."""

from __future__ import annotations

from typing import Any, Iterator

from . import subgraphs


class Names:
    """Gives names that neither a graph nor one of its subgraphs has, each once."""

    def __init__(self, graph: Any) -> None:
        self.taken = set(names_of(graph))
        self.count = 0

    def fresh(self, kind: str) -> str:
        while True:
            self.count += 1
            name = f"takt_{kind}_{self.count}"
            if name not in self.taken:
                return name


def names_of(graph: Any) -> Iterator[str]:
    """All names of tensors in a graph and its subgraphs; some come more than once."""
    for value in [*graph.input, *graph.output, *graph.initializer]:
        yield value.name
    for tensor in graph.sparse_initializer:
        yield tensor.values.name
    for node in graph.node:
        yield from node.input
        yield from node.output
        for inner in subgraphs.subgraphs_of(node):
            yield from names_of(inner)


def beginnings_of(graph: Any) -> set[str]:
    """What stands before each "." of a name in the graph."""
    return {name[:i] for name in names_of(graph) for i, letter in enumerate(name) if letter == "."}
