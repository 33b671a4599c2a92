"""Rows of numbers whose open length follows from the rank of a tensor: a part of `porter`.

The importer of the compiler takes repetitions in such a row for none. It does not know other operators with such a row,
or crashes at them.
"""

from __future__ import annotations

from typing import Any

from ..networks import subgraphs

_OF_RESULT = {"ConstantOfShape": 0, "Expand": 1, "Reshape": 1}  # The place of a row that has a number for each axis.
# The places of rows that have so many numbers for each axis.
_OF_SOURCE = {"Pad": {1: 2}, "Resize": {1: 2, 2: 1, 3: 1}, "Tile": {1: 1}}


class LengthPorter:
    """The part of the porter that states them."""

    def state_lengths(self, node: Any) -> bool:
        """Gives such rows the lengths that they have in each call."""
        lengths = {node.input[place]: length for place, length in self.lengths_of(node).items()
                   if place < len(node.input) and self.shapes.get(node.input[place]) == [None]}
        for name, length in lengths.items():
            lengths[name] = self.emit("Reshape", [name, self.constant([length])])
        if lengths:
            self.out.append(subgraphs.renamed(node, lengths))
        return bool(lengths)

    def lengths_of(self, node: Any) -> dict[int, int]:
        """The known lengths of such rows, by the places of a node's inputs."""
        if node.op_type in _OF_RESULT:
            sizes = self.shapes.get(node.output[0])
            return {} if sizes is None else {_OF_RESULT[node.op_type]: len(sizes)}
        rank = self.axes_count(node) if node.op_type in _OF_SOURCE else None
        return {} if rank is None else {place: count * rank for place, count in _OF_SOURCE[node.op_type].items()}

    def axes_count(self, node: Any) -> int | None:
        """The number of axes of its first input to which the node applies."""
        if node.op_type == "Resize" and self.attributes(node).get("axes"):
            return len(self.attributes(node)["axes"])
        if node.op_type == "Pad" and len(node.input) > 3 and node.input[3]:
            return self.shapes.get(node.input[3], [None])[0]
        sizes = self.shapes.get(node.input[0])
        return None if sizes is None else len(sizes)
