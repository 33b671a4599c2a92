"""What a network computes of its number of samples alone, such as the shapes of tensors.

`check()` looks at what two copies of a network, of one sample and of several, compute of
constants. It accepts what is linear in the number of samples, or consists of copies, one for
each sample. So what is the same in both copies is the same for any number of samples.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Iterable

import numpy as np

from . import elementwise, graphs

# How far copies may differ that are computed in another order, as a part of the greatest value.
_ROUNDING = 1e-5

# What is linear in its inputs, or takes elements of them.
_LINEAR = {
    "Add", "Concat", "ConstantOfShape", "Expand", "Flatten", "Identity", "Neg", "Shape", "Squeeze", "Sub", "Sum",
    "Tile", "Transpose", "Unsqueeze",
}
_COMPARISONS = {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}
# Types that hold each number of samples.
_WIDE = (1, 6, 7, 11)  # float, int32, int64, double
_FLOATS = (1, 11)
# What finds places among samples, or counts them.
_PLACES = {"ArgMax", "ArgMin", "CumProd", "CumSum", "EyeLike", "Hardmax", "NonZero", "Range", "TopK", "Unique"}
# They take what is in each copy.
_TAKING = {"Gather", "GatherElements", "GatherND", "Slice", "Split", "Squeeze", "Unsqueeze", "Reshape", "Flatten"}
_MOVING = {*_TAKING, "Concat", "Identity", "Transpose"}
# The shape of their result follows from the shapes of what they read.
_SHAPED_ALIKE = elementwise.UNARY | elementwise.JOINING
# Reductions of copies that give what one copy gives.
_OF_COPIES = {"ReduceMax", "ReduceMean", "ReduceMin"}


class Unproved(Exception):
    """Samples may mix. The message says where."""


@dataclasses.dataclass(frozen=True)
class Copies:
    """A copy for each sample, along an axis: in each of so many groups one behind the other."""

    axis: int
    groups: int


def copies_in(several: np.ndarray, one: np.ndarray, count: int, rounds: bool = False) -> Copies | None:
    """How `several` has `count` copies of `one`.

    rounds  the same sums were added in another order, and may have cancelled out: differences
            count as a part of the greatest value.
    """
    axis = place_of_samples(several.shape, one.shape, count)
    if axis is None or rounds and one.dtype.kind != "f":
        return None
    before, size, behind = one.shape[:axis], one.shape[axis], one.shape[axis + 1:]
    for groups in dict.fromkeys((1, size)):
        apart = one.reshape(*before, groups, 1, size // groups, *behind)
        found = several.reshape(*before, groups, count, size // groups, *behind)
        if rounds:
            most = np.abs(one[np.isfinite(one)]).max(initial=0)
            is_equal = np.allclose(found, apart, rtol=0, atol=_ROUNDING * most, equal_nan=True)
        else:
            is_equal = np.array_equal(found, np.broadcast_to(apart, found.shape), equal_nan=one.dtype.kind == "f")
        if is_equal:
            return Copies(axis, groups)
    return None


def place_of_samples(several: tuple[int, ...], one: tuple[int, ...], count: int) -> int | None:
    """The only axis along which two shapes differ, if it has several samples in place of one."""
    if len(several) != len(one):
        return None
    differing = [axis for axis in range(len(one)) if several[axis] != one[axis]]
    if len(differing) != 1 or several[differing[0]] != one[differing[0]] * count:
        return None
    return differing[0]


def is_same_node(a: Any, b: Any) -> bool:
    fields = ("op_type", "domain", "input", "output", "attribute")
    return all(getattr(a, field) == getattr(b, field) for field in fields)


def axis_of_own_rows(several: np.ndarray, one: np.ndarray, rows: int, count: int) -> int | None:
    """The axis along which each copy has numbers of rows `rows` beyond those of the copy before: the `rows` rows
    of its own in a table of all samples."""
    if (one < 0).any() or (one >= rows).any():
        return None
    for axis in range(several.ndim):
        steps = np.arange(count).repeat(one.shape[axis]).reshape([-1] + [1] * (several.ndim - axis - 1)) * rows
        expected = np.concatenate([one] * count, axis) + steps
        if expected.shape == several.shape and np.array_equal(expected, several):
            return axis
    return None


def check(few: list[Any], nodes: list[Any], one: dict[str, np.ndarray], several: dict[str, np.ndarray], count: int,
          attributes: Callable[[Any], dict[str, Any]], read: Iterable[str] | None = None) -> dict[str, Copies]:
    """Those of the constants that have a copy for each sample. Throws Unproved if what is equal for one
    sample and for several may differ for others.

    few, nodes     that were computed of constants, in order, for one sample and for several.
    one, several   the constants of both copies, by name.
    count          of the samples of the larger copy.
    read           what the networks read of the constants; None: all.
    """
    checker = _Checker(few, one, several, count, attributes)
    nodes = nodes if read is None else _needed(nodes, read)
    for node in nodes:
        checker.visit(node)
    for node in nodes:
        for name in node.output:
            if name in one and name in several:
                checker.kind(name)
    return checker.copies


def _needed(nodes: list[Any], read: Iterable[str]) -> list[Any]:
    """Those of the nodes, in order, on whose results the tensors that are read depend. Of some results only the
    shape is read: where it follows from other shapes alone, any numbers may be in them."""
    used, shaped, kept = set(read), set(), []
    for node in reversed(nodes):
        if used.isdisjoint(node.output):
            if shaped.isdisjoint(node.output):
                continue
            if node.op_type in _SHAPED_ALIKE:
                shaped.update(node.input)
                continue
        kept.append(node)
        (shaped if node.op_type in ("Shape", "Size") else used).update(graphs.reads(node))
    return kept[::-1]


class _Checker:
    """Knows of each constant whether it is `fixed`, the same in both copies; `linear`, of the same
    shape and with other values; `copied`; or `counted`, with other sizes and values."""

    def __init__(self, few: list[Any], one: dict[str, np.ndarray], several: dict[str, np.ndarray], count: int,
                 attributes: Callable[[Any], dict[str, Any]]) -> None:
        self.makers = {name: node for node in few for name in node.output}
        self.one, self.several, self.count, self.attributes = one, several, count, attributes
        self.kinds: dict[str, str] = {"": "fixed"}
        self.copies: dict[str, Copies] = {}  # By the name of what is copied.

    def kind(self, name: str) -> str:
        if name not in self.kinds:
            self.kinds[name] = self.kind_of(name)
        return self.kinds[name]

    def kind_of(self, name: str) -> str:
        one, several = self.one[name], self.several[name]
        if one.shape == several.shape:
            return "fixed" if np.array_equal(one, several, equal_nan=one.dtype.kind == "f") else "linear"
        return "copied" if self.find_copies(name, rounds=False) else "counted"

    def find_copies(self, name: str, rounds: bool) -> bool:
        copies = copies_in(self.several[name], self.one[name], self.count, rounds)
        if copies is not None:
            self.kinds[name], self.copies[name] = "copied", copies
        return copies is not None

    def find_rounded_copies(self, node: Any) -> None:
        """Copies of a sum, or of what it becomes."""
        for name in filter(None, node.output):
            if self.kind(name) == "counted":
                self.find_copies(name, rounds=True)

    def visit(self, node: Any) -> None:
        if all(name not in self.one for name in node.output):
            return  # Nothing compares them.
        names = [name for name in node.input if name in self.several]
        other = self.makers.get(node.output[0])
        is_same = other is not None and is_same_node(node, other)
        if not is_same or any(name not in self.one for name in (*names, *filter(None, node.output))):
            raise Unproved(f"{node.op_type}, which makes {node.output[0]!r}, is another one for other samples")
        kinds = {self.kind(name) for name in names}
        if kinds <= {"fixed"}:
            return
        if node.op_type == "Resize":
            is_right = self.is_resized_apart(node)
        elif kinds <= {"fixed", "copied"}:
            is_right = self.is_of_copies(node)
        else:
            is_right = self.is_linear(node, names)
            if node.op_type in _MOVING and self.kind(names[0]) == "copied":
                self.find_rounded_copies(node)
        if not is_right:
            raise Unproved(f"{node.op_type}, which makes {node.output[0]!r}, counts samples")

    def is_of_copies(self, node: Any) -> bool:
        """Whether the node makes copies, or what each copy makes."""
        if node.op_type == "CumSum":
            axis = int(self.one[node.input[1]]) % self.one[node.input[0]].ndim
            return self.kind(node.input[0]) == "copied" and self.copies[node.input[0]].axis != axis
        if node.op_type in _PLACES:
            return False
        self.find_rounded_copies(node)
        kinds = {self.kind(name) for name in node.output if name}
        if node.op_type.startswith("Reduce") and "copied" not in kinds:
            return node.op_type in _OF_COPIES and kinds == {"fixed"} or node.op_type == "ReduceSum"
        if kinds == {"fixed"}:
            return node.op_type in _TAKING
        return node.op_type in ("Shape", "Size") or kinds <= {"copied"}

    def is_linear(self, node: Any, names: list[str]) -> bool:
        kind, first = node.op_type, names[0]
        fixed = [self.kind(name) == "fixed" for name in names]
        if kind == "Gather" and self.kind(names[1]) == "counted":
            return self.takes_own_rows(node)
        if kind == "Cast":
            is_float = self.one[first].dtype.kind == "f"
            return self.attributes(node)["to"] in (_FLOATS if is_float else _WIDE)
        if kind in ("Gather", "GatherElements", "GatherND", "Slice"):
            return all(fixed[1:]) and self.kind(first) == "linear"
        if kind == "Split":
            return self.kind(first) == "linear"
        if kind in ("ScatterElements", "ScatterND"):  # Such as m[:, 2:] = 1.
            return self.kind(first) == self.kind(node.output[0]) == "copied"
        if kind == "Reshape":
            return not fixed[0] or self.kind(node.output[0]) == "fixed"
        if kind == "Size":
            return self.kind(first) in ("linear", "copied")
        if kind == "Range":
            return self.one[first] == 0 == self.several[first] and fixed[2] and self.one[names[2]] == 1
        if kind == "Where":
            return fixed[0]
        if kind == "Mul":
            return sum(fixed) == len(fixed) - 1
        if kind == "Div":
            return self.divides(*names)
        if kind == "Mod":
            return self.starts_again(*names)
        if kind in _COMPARISONS:
            return self.is_decided(*names)
        if kind == "ReduceProd":
            return self.kind(first) == "linear" and np.sum(self.one[first] != self.several[first]) == 1
        return kind in _LINEAR

    def place_in(self, name: str) -> int | None:
        """The axis along which a constant has copies, one behind the other; None if it has none."""
        copies = self.copies.get(name) if self.kind(name) == "copied" else None
        return copies.axis if copies is not None and copies.groups == 1 else None

    def is_resized_apart(self, node: Any) -> bool:
        """Whether each copy is resized by itself."""
        place, scales = self.place_in(node.input[0]), node.input[2] if len(node.input) > 2 else ""
        if place is None or self.place_in(node.output[0]) != place or self.attributes(node).get("axes"):
            return False
        return not scales or self.kind(scales) == "fixed" and self.one[scales][place : place + 1].tolist() == [1]

    def takes_own_rows(self, node: Any) -> bool:
        data, indices = node.input
        place = self.place_in(data)
        if place is None or self.attributes(node).get("axis", 0) % self.one[data].ndim != place:
            return False
        rows = self.one[data].shape[place]
        return axis_of_own_rows(self.several[indices], self.one[indices], rows, self.count) is not None

    def divides(self, left: str, right: str) -> bool:
        """Always with the same result, or with the same rest."""
        (one, several), (divisor, other) = ((self.one[name], self.several[name]) for name in (left, right))
        if one.dtype.kind == "f" and self.kind(right) == "fixed" or self.starts_again(left, right):
            return True
        if one.dtype.kind not in "iu" or one.shape != several.shape or not divisor.all():
            return False
        if self.kind(right) == "fixed":
            two = one + (several - one) // (self.count - 1)
            return np.array_equal(one % divisor, two % divisor)
        if divisor.shape != other.shape or not other.all() or (one % divisor).any() or (several % other).any():
            return False
        return np.array_equal(one // divisor, several // other)

    def starts_again(self, left: str, right: str) -> bool:
        """Whether numbers from 0 on are divided by a part of those of one sample: each sample has
        the same rests, or the next quotients."""
        one, several, divisor = self.one[left], self.several[left], self.one[right]
        is_range = several.ndim == 1 and np.array_equal(several, np.arange(len(several)))
        return bool(is_range and divisor.size == 1 and divisor.item() > 0 and len(one) % divisor.item() == 0)

    def is_decided(self, left: str, right: str) -> bool:
        """Whether more samples take the two further apart: then one is always the greater one."""
        pairs = [(self.one[name], self.several[name]) for name in (left, right)]
        if any(one.shape != several.shape or one.dtype.kind == "b" for one, several in pairs):
            return False
        one, several = (np.subtract(a.astype(np.float64), b) for a, b in zip(*pairs))
        is_equal_always = (one == 0) & (several == 0)
        return bool(np.all(is_equal_always | ((one * several > 0) & (np.abs(several) >= np.abs(one)))))
