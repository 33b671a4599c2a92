"""Scans that do the same with each row, as what they do with all rows at once: a part of `porter`.

The distances that skl2onnx writes for neighbours and Gaussian processes are such scans.
"""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

from ..networks import graphs

_ELEMENTWISE = {"Abs", "Add", "Div", "Exp", "Max", "Min", "Mul", "Neg", "Pow", "Sqrt", "Sub"}
_REDUCTIONS = {"ReduceL1", "ReduceL2", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum", "ReduceSumSquare"}


class _Value(NamedTuple):
    """A tensor that stands for one of the body. With rows, it has an axis for these before the `rank` others."""

    name: str
    rank: int
    has_rows: bool


class MapPorter:
    """The part of the porter that knows them."""

    def map_handlers(self) -> dict[tuple[str, str], Callable[[Any], bool]]:
        return {("", "Scan"): self.on_map}

    def on_map(self, node: Any) -> bool:
        """A scan of one tensor that leaves its one state as it is."""
        own = self.attributes(node)
        body, count = own.pop("body"), own.pop("num_scan_inputs")
        if (count != 1 or any(len(each) != 2 for each in (node.input, node.output, body.output))
                or any(map(any, own.values())) or any(name not in self.shapes for name in node.input)):
            return False
        state, row = (value.name for value in body.input)
        known = {name: _Value(self.constant(array), array.ndim, False)
                 for name, array in graphs.constants_of(body).items()}
        known[state] = _Value(node.input[0], len(self.shapes[node.input[0]]), False)
        known[row] = _Value(node.input[1], len(self.shapes[node.input[1]]) - 1, True)
        for each in body.node:
            value = known.get(each.output[0]) or self.of_all_rows(each, known)
            if value is None:
                return False
            known[each.output[0]] = value
        last, found = (known.get(value.name) for value in body.output)
        if last != known[state] or found is None or not found.has_rows:
            return False
        for value, output in zip((last, found), node.output):
            if output:
                self.emit("Identity", [value.name], output)
        return True

    def of_all_rows(self, node: Any, known: dict[str, _Value]) -> _Value | None:
        """Emits a node of the body for all rows. None: it may not do the same with each row."""
        values = [known.get(name) for name in node.input]
        if None in values or len(node.output) != 1:
            return None
        first, own = values[0], self.attributes(node)
        if node.op_type == "Identity":
            return first
        if node.op_type in _ELEMENTWISE:
            rank, has_rows = max(value.rank for value in values), any(value.has_rows for value in values)
            names = [self.of_rank(value, rank) for value in values]
            return _Value(self.emit(node.op_type, names, **own), rank, has_rows)
        axes = own.get("axes") if len(values) < 2 else self.constants.get(values[1].name)
        if node.op_type not in _REDUCTIONS or axes is None or len(axes) == 0:
            return None
        places = [int(axis) % first.rank + first.has_rows for axis in axes]
        keeps = own.get("keepdims", 1)
        if node.op_type == "ReduceSum":
            name = self.emit(node.op_type, [first.name, self.constant(places)], keepdims=keeps)
        else:
            name = self.reduce(node.op_type, first.name, places, keepdims=keeps)
        return _Value(name, first.rank if keeps else first.rank - len(places), first.has_rows)

    def of_rank(self, value: _Value, rank: int) -> str:
        """Adds axes behind that of the rows, up to `rank`, so that the value broadcasts as in the body."""
        if not value.has_rows or value.rank == rank:
            return value.name
        return self.emit("Unsqueeze", [value.name, self.constant(list(range(1, 1 + rank - value.rank)))])
