"""Sizes that follow from others, where a network leaves some of them open."""

from __future__ import annotations

import collections
import functools
import math
from typing import Any, NamedTuple, Optional

import numpy as np

from . import counts, graphs, inference

_ROUNDS_MAX = 64  # Each round knows more sizes than the last one.


class Term(NamedTuple):
    """A number: a known one times open sizes."""

    factor: int
    names: tuple[str, ...] = ()  # In order; one may come several times.

    def times(self, other: Term) -> Term:
        return Term(self.factor * other.factor, tuple(sorted(self.names + other.names)))

    def over(self, other: Term) -> Term | None:
        """None: it may have a rest."""
        names = collections.Counter(self.names)
        names.subtract(other.names)
        if not other.factor or self.factor % other.factor or min(names.values(), default=0) < 0:
            return None
        return Term(self.factor // other.factor, tuple(sorted(names.elements())))


Number = Optional[Term]
# Terms that are added up: their factors, by their names. ("", tensor): a number of which nothing is known.
_Sum = dict[tuple[str, ...], int]


def state_sizes(model: Any) -> bool:
    """Writes down sizes that onnx does not infer, such as what is left for the -1 of a Reshape, shapes that
    follow from these, and numbers of shapes that do not depend on open sizes. Returns whether there were any."""
    for i in range(_ROUNDS_MAX):
        known = inference.shapes_of(model.graph)
        if all(name in known for name in inference.elements_of(model.graph)) or not _Sizes(model.graph).run():
            return i > 0
        inference.infer_shapes(model)
    return True


class _Sizes(counts.Counts):
    def __init__(self, graph: Any) -> None:
        import onnx

        super().__init__(onnx, graphs.constants_of(graph, counts.COUNTS_MAX))
        self.graph = graph
        for tensor in graph.initializer:
            self.sizes[tensor.name] = list(map(self.known, tensor.dims))
        self.values = {value.name: value for value in [*graph.input, *graph.value_info, *graph.output]}
        self.sums: dict[str, _Sum] = {}  # Numbers that are no terms.
        self.has_changed = False

    def run(self) -> bool:
        """Whether sizes were written down that were not there."""
        for name, value in self.values.items():
            if value.type.tensor_type.HasField("shape"):
                self.sizes.setdefault(name, [self.size_of(name, i, dim) for i, dim in
                                             enumerate(value.type.tensor_type.shape.dim)])
        self.follow(self.graph.node)
        self.keep_numbers()
        return self.has_changed

    def keep_numbers(self) -> None:
        """Makes constants of numbers that are known."""
        found, kept = {}, {"", *(value.name for value in self.graph.output)}
        for node in self.graph.node:
            name = node.output[0] if node.output else ""
            numbers, sizes = (each.get(name, [None]) for each in (self.counts, self.sizes))
            if node.op_type == "Constant" or name in kept or name not in self.values or any(
                    each is None or each.names for each in (*numbers, *sizes)):
                continue
            element = self.onnx.helper.tensor_dtype_to_np_dtype(self.values[name].type.tensor_type.elem_type)
            shape = [each.factor for each in sizes]
            if element.kind in "bi" and math.prod(shape) == len(numbers):
                values = np.array([each.factor for each in numbers], element).reshape(shape)
                found[name] = self.onnx.numpy_helper.from_array(values, name)
        if found:
            self.has_changed = True
            nodes = [node for node in self.graph.node if not set(node.output).intersection(found)]
            self.graph.initializer.extend(found.values())
            del self.graph.node[:]
            self.graph.node.extend(nodes)

    def known(self, number: int) -> Number:
        return Term(number)

    def size_of(self, name: str, axis: int, dim: Any) -> Term:
        if dim.HasField("dim_value"):
            return Term(dim.dim_value)
        return Term(1, (dim.dim_param or f"{name}.{axis}",))

    def computed(self, node: Any) -> list[Number] | None:
        kind = node.op_type
        if kind == "Mul":
            return self.each(node, product)
        if kind == "Div":
            return self.each(node, lambda pair: None if None in pair else pair[0].over(pair[1]))
        if kind in ("Add", "Sub"):
            return self.each(node, lambda pair: self.added(kind, *pair))
        if kind == "Max" and len(node.input) == 2:
            return self.each(node, self.greater)
        if kind == "Equal":
            return self.each(node, self.equal)
        if kind == "Where":
            return self.each(node, lambda three: None if three[0] is None else three[1 if three[0].factor else 2])
        return None

    def added(self, kind: str, left: Number, right: Number) -> Number:
        if None in (left, right) or left.names or right.names:
            return None
        return Term(left.factor + right.factor if kind == "Add" else left.factor - right.factor)

    def greater(self, pair: tuple[Number, Number]) -> Number:
        if None in pair or any(each.names for each in pair):
            return None
        return max(pair)

    def equal(self, pair: tuple[Number, Number]) -> Number:
        """1, if they are. A size is not negative."""
        if pair[0] is not None and pair[0] == pair[1]:
            return Term(1)
        if None in pair or all(each.names for each in pair):
            return None
        is_other = not any(each.names for each in pair) or any(not each.names and each.factor < 0 for each in pair)
        return Term(0) if is_other else None

    def sum_of(self, name: str) -> _Sum:
        counts = self.counts.get(name, [None])
        if len(counts) == 1 and counts[0] is not None:
            return {counts[0].names: counts[0].factor}
        return self.sums.get(name, {("", name): 1})

    def difference(self, left: _Sum, right: _Sum) -> Number:
        """The first less the second; None: that is no term."""
        found = {names: left.get(names, 0) - right.get(names, 0) for names in {**left, **right}}
        terms = [Term(factor, names) for names, factor in found.items() if factor] or [Term(0)]
        return terms[0] if len(terms) == 1 and "" not in terms[0].names else None

    def note_sum(self, node: Any) -> None:
        kind, sums = node.op_type, [self.sum_of(name) for name in node.input]
        if kind in ("Identity", "Reshape", "Squeeze", "Unsqueeze") or (
                kind == "Cast" and self.attributes(node)["to"] in counts.WHOLE):
            self.sums[node.output[0]] = sums[0]
        elif kind in ("Add", "Sub"):
            sign = 1 if kind == "Add" else -1
            self.sums[node.output[0]] = {
                names: sums[0].get(names, 0) + sign * sums[1].get(names, 0) for names in {**sums[0], **sums[1]}}
        elif kind == "Max" and len(sums) == 2:
            for one, other in (sums, sums[::-1]):
                more = self.difference(one, other)
                if more is not None and more.factor >= 0:
                    self.sums[node.output[0]] = one

    def visit(self, node: Any) -> None:
        self.note_sum(node)
        name = node.output[0]
        rules = {"ConstantOfShape": self.on_shape, "Expand": self.on_expand, "Range": self.on_range,
                 "Reshape": self.on_reshape, "Slice": self.on_slice}
        found = rules[node.op_type](node) if node.op_type in rules else None
        value = self.values.get(name)
        if found is None or value is None:
            return
        stated = value.type.tensor_type
        dims = list(stated.shape.dim) if stated.HasField("shape") else [type(stated.shape).Dimension() for _ in found]
        if len(dims) != len(found):
            return
        is_new = not stated.HasField("shape")
        for dim, size in zip(dims, found):
            if size is not None and not size.names and size.factor >= 0 and not dim.HasField("dim_value"):
                dim.dim_value, is_new = size.factor, True
        if is_new:
            self.has_changed = True
            if not stated.HasField("shape"):
                stated.shape.dim.extend(dims)
        self.sizes[name] = [self.size_of(name, i, dim) if size is None else size
                            for i, (dim, size) in enumerate(zip(dims, found))]

    def on_shape(self, node: Any) -> list[Number] | None:
        return self.counts.get(node.input[0])

    def on_range(self, node: Any) -> list[Number] | None:
        begin, end, step = map(self.sum_of, node.input)
        size = self.difference(end, begin) if self.difference(step, {}) == Term(1) else None
        return None if size is None or size.factor < 0 else [size]

    def on_slice(self, node: Any) -> list[Number] | None:
        own, names = self.sizes.get(node.input[0]), [*node.input[1:], "", ""][:4]
        if own is None or names[2] and names[2] not in self.constants:
            return None
        starts, ends, axes, steps = (self.constants[name].tolist() if name in self.constants else [] for name in names)
        found: list[Number] = list(own)
        if any(name and name not in self.constants for name in names):
            for axis in axes or range(len(own)):
                found[axis] = None
            return found
        for i, (start, end) in enumerate(zip(starts, ends)):
            axis = axes[i] % len(own) if axes else i
            size, step = own[axis], steps[i] if steps else 1
            is_known = size is not None and step > 0 and not size.names  # An open size may be zero.
            found[axis] = Term(len(range(size.factor)[start:end:step])) if is_known else None
        return found

    def on_expand(self, node: Any) -> list[Number] | None:
        own, wanted = self.sizes.get(node.input[0]), self.counts.get(node.input[1])
        if own is None or wanted is None:
            return None
        rank = max(len(own), len(wanted))
        pairs = zip(*([Term(1)] * (rank - len(each)) + each for each in (own, wanted)))
        return [self.wider(*pair) for pair in pairs]

    def wider(self, own: Number, wanted: Number) -> Number:
        """The size of both, of which one is repeated if it is 1."""
        for one, other in ((own, wanted), (wanted, own)):
            if one == Term(1) or one == other or other is not None and not other.names and other.factor > 1:
                return other
        return None

    def on_reshape(self, node: Any) -> list[Number] | None:
        own, wanted = self.sizes.get(node.input[0]), self.counts.get(node.input[1])
        if wanted is None or own is None or self.attributes(node).get("allowzero", 0):
            return None
        wanted = [own[i] if size == Term(0) and i < len(own) else size for i, size in enumerate(wanted)]
        if Term(-1) not in wanted:
            return wanted
        whole, others = product(own), product(size for size in wanted if size != Term(-1))
        rest = None if None in (whole, others) else whole.over(others)
        return [rest if size == Term(-1) else size for size in wanted]


def product(numbers: Any) -> Number:
    numbers = list(numbers)
    if None in numbers:
        return None
    return functools.reduce(Term.times, numbers, Term(1))
