"""Non-maximum suppression of boxes whose number a call finds: a part of `porter`.

Detectors suppress those boxes that have a score, for which the compiler has no code. The boxes
get company of no score, up to the most that there can be.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ..errors import CompileError
from ..networks import capacities, subgraphs

_KIND = "NonMaxSuppression"
_LEAST = np.finfo(np.float32).min  # Of a score.


class BoxPorter:
    """The part of the porter that knows them."""

    def box_handlers(self) -> dict[tuple[str, str], Callable[[Any], bool]]:
        return {("", _KIND): self.on_suppression, ("", "If"): self.on_no_boxes, ("", "GatherND"): self.on_chosen,
                ("", "TopK"): self.on_best}

    def capacities(self) -> capacities.Capacities:
        return capacities.Capacities(self.onnx, self.graph.node, self.shapes, self.constants)

    def on_suppression(self, node: Any) -> bool:
        boxes, scores, *others = [*node.input, "", "", ""][:5]
        if None not in self.shapes.get(boxes, [None]):
            return False
        known = self.capacities()
        places, rows = known.sizes.get(boxes, []), known.sizes.get(scores, [])
        if len(places) != 3 or len(rows) != 3:
            return False
        # A size that can be 1 at most is 1.
        batch, classes = (1 if rows[i] == 1 else size for i, size in enumerate(self.shapes.get(scores, [None] * 2)[:2]))
        count = capacities.least([places[1], rows[2]])
        if not batch or not classes or not count:
            return False
        boxes = self.with_company(boxes, np.zeros([batch, count, 4], np.float32), 1)
        scores = self.with_company(scores, np.full([batch, classes, count], -np.inf, np.float32), 2)
        least = self.constant(np.asarray(_LEAST))
        others[2] = self.emit("Max", [others[2], least]) if others[2] else least
        self.emit(_KIND, [boxes, scores, *others], node.output[0], **self.attributes(node))
        return True

    def with_company(self, name: str, company: np.ndarray, axis: int) -> str:
        """The tensor in the shape of `company`, of which it gets what it lacks along the axis."""
        both = self.emit("Concat", [name, self.constant(company)], axis=axis)
        return self.emit("Reshape", [self.slice(both, axis, 0, company.shape[axis]), self.constant(company.shape)])

    def on_best(self, node: Any) -> bool:
        """The best of some numbers: of as many as there can be, with numbers behind them that are worse than all."""
        source, count = node.input
        shape, own = self.shapes.get(source, []), self.attributes(node)
        axis = own.get("axis", -1) % max(1, len(shape))
        if shape.count(None) != 1 or shape[axis] is not None or not self.types.get(source):
            return False
        known = self.capacities()
        sizes, most = known.sizes[source], known.counts.get(count, [None])[0]
        if not sizes[axis] or not most:
            return False
        element = self.onnx.helper.tensor_dtype_to_np_dtype(self.types[source])
        ends = [-np.inf, np.inf] if element.kind == "f" else [np.iinfo(element).min, np.iinfo(element).max]
        company = np.full(sizes, ends[0 if own.get("largest", 1) else 1], element)
        found = [self.fresh("best") for _ in node.output]
        self.out.append(self.onnx.helper.make_node(
            "TopK", [self.with_company(source, company, axis), self.constant([min(most, sizes[axis])])], found, **own))
        end = self.emit("Reshape", [count, self.constant([1])])
        for each, name in zip(found, node.output):
            if name:
                self.emit("Slice", [each, self.constant([0]), end, self.constant([axis])], name)
        return True

    def on_chosen(self, node: Any) -> bool:
        """Numbers of a column that NonZero has chosen, from the whole matrix: the compiler fails at a gather from
        numbers that do not lie one behind the other."""
        column, turn = (self.makers.get(name) for name in node.input)
        part = None if column is None or column.op_type != "Squeeze" else self.makers.get(column.input[0])
        places = None if turn is None or turn.op_type != "Transpose" else self.makers.get(turn.input[0])
        if part is None or part.op_type != "Slice" or places is None or places.op_type != "NonZero":
            return False
        shape, bounds = self.shapes.get(part.input[0], []), [self.constants.get(name) for name in part.input[1:4]]
        sizes = self.shapes.get(part.output[0])
        if (len(shape) != 2 or None in shape or len(bounds) < 3 or any(each is None for each in bounds)
                or sizes != [shape[0], 1] or bounds[2].tolist() not in ([1], [-1])):
            return False
        first = self.constant(bounds[0] % shape[1])
        flat, rows = (self.emit("Reshape", [name, self.constant([-1])]) for name in (part.input[0], node.input[1]))
        places = self.emit("Add", [self.emit("Mul", [rows, self.constant([shape[1]])]), first])
        self.emit("Gather", [flat, places], node.output[0])
        return True

    def on_no_boxes(self, node: Any) -> bool:
        """PyTorch exports the suppression of no boxes as a branch that gives none, which the suppression gives, too."""
        own, condition = self.attributes(node), self.makers.get(node.input[0])
        while condition is not None and condition.op_type in ("Cast", "Identity"):
            condition = self.makers.get(condition.input[0])
        size = None if condition is None or condition.op_type != "Equal" else self.makers.get(condition.input[0])
        if size is None or size.op_type not in ("ReduceProd", "Size"):
            return False
        number, branches = self.constants.get(condition.input[1]), (own["then_branch"], own["else_branch"])
        if (number is None or number.any() or not self.is_nothing(branches[0])
                or not any(inner.op_type == _KIND for inner in branches[1].node)):
            return False
        self.out.append(subgraphs.renamed(node, {node.input[0]: self.constant(np.array(False))}))
        return True

    def is_nothing(self, branch: Any) -> bool:
        """Whether it gives a constant without an element, which is an initializer behind ONNX Runtime's optimizer."""
        constants = {inner.output[0]: inner.attribute[0].t for inner in branch.node if inner.op_type == "Constant"}
        constants.update((each.name, each) for each in branch.initializer)
        results = [constants.get(result.name) for result in branch.output]
        return (len(results) == 1 and results[0] is not None and list(results[0].dims) == [0]
                and all(inner.op_type == "Constant" for inner in branch.node))


def check(graph: Any, shapes: dict[str, list[int | None]]) -> None:
    """Throws a CompileError for boxes whose number has no limit that is known."""
    for node in graph.node:
        for inner in subgraphs.subgraphs_of(node):
            check(inner, shapes)
        if node.op_type == _KIND and None in shapes.get(node.input[0], [None]):
            raise CompileError(
                f"{_KIND} {node.name or node.output[0]!r}: how many boxes there can be is not known; export a TopK "
                "of a known number before it, or the raw boxes and scores as results")
