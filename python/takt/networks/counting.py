"""What a network computes of its number of samples alone, such as the shapes of tensors.

`check()` looks at what two copies of a network, of one sample and of several, compute of
constants. It accepts what is linear in the number of samples, or consists of copies, one for
each sample. So what is the same in both copies is the same for any number of samples.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

# How far copies may differ that are computed in another order, as a part of each value.
_ROUNDING = 1e-5

# What is linear in its inputs, or takes elements of them.
_LINEAR = {
    "Add", "Cast", "Concat", "ConstantOfShape", "Expand", "Flatten", "Identity", "Neg", "Range", "Reshape", "Shape",
    "Size", "Split", "Squeeze", "Sub", "Sum", "Tile", "Transpose", "Unsqueeze",
}
_COMPARISONS = {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}
# Types that hold each number of samples.
_WIDE = (1, 6, 7, 11)  # float, int32, int64, double
# What finds places among samples, or counts them.
_PLACES = {"ArgMax", "ArgMin", "CumProd", "CumSum", "EyeLike", "Hardmax", "NonZero", "OneHot", "Range", "TopK", "Unique"}
# Reductions of copies that give what one copy gives.
_OF_COPIES = {"ReduceMax", "ReduceMean", "ReduceMin"}


class Unproved(Exception):
    """Samples may mix. The message says where."""


def is_copy(several: np.ndarray, one: np.ndarray, count: int) -> bool:
    """Whether `several` has `count` copies of `one` behind each other, along some axis."""
    place = place_of_samples(several.shape, one.shape, count)
    return place is not None and is_equal(several, np.concatenate([one] * count, place))


def place_of_samples(several: tuple[int, ...], one: tuple[int, ...], count: int) -> int | None:
    """The only axis along which two shapes differ, if it has several samples in place of one."""
    if len(several) != len(one):
        return None
    differing = [axis for axis in range(len(one)) if several[axis] != one[axis]]
    if len(differing) != 1 or several[differing[0]] != one[differing[0]] * count:
        return None
    return differing[0]


def is_equal(a: np.ndarray, b: np.ndarray) -> bool:
    """But for roundings: the same sums are added in another order in a product of another size."""
    if a.dtype.kind != "f":
        return np.array_equal(a, b)
    return np.allclose(a, b, rtol=_ROUNDING, atol=1e-30, equal_nan=True)


def is_copy_but_for_sums(several: np.ndarray, one: np.ndarray, count: int) -> bool:
    """The same where sums may have cancelled out: differences count as a part of the greatest value."""
    place = place_of_samples(several.shape, one.shape, count)
    if place is None or one.dtype.kind != "f":
        return False
    most = np.abs(one[np.isfinite(one)]).max(initial=0)
    return np.allclose(several, np.concatenate([one] * count, place), rtol=0, atol=_ROUNDING * most, equal_nan=True)


def axis_of_own_rows(several: np.ndarray, one: np.ndarray, rows: int, count: int) -> int | None:
    """Along which axis each copy has numbers of rows `rows` beyond those of the copy before: the rows
    of its own in a table of all samples."""
    for axis in range(several.ndim):
        steps = np.arange(count).repeat(one.shape[axis]).reshape([-1] + [1] * (several.ndim - axis - 1)) * rows
        expected = np.concatenate([one] * count, axis) + steps
        if expected.shape == several.shape and np.array_equal(expected, several) and (one >= 0).all():
            return axis
    return None


def check(nodes: list[Any], one: dict[str, np.ndarray], several: dict[str, np.ndarray], count: int,
          attributes: Callable[[Any], dict[str, Any]]) -> set[str]:
    """Which of the constants have a copy for each sample. Throws Unproved if what is equal for one
    sample and for several may differ for others.

    nodes          that were computed of constants, in order.
    one, several   the constants of both copies, by name.
    count          of the samples of the larger copy.
    """
    checker = _Checker(one, several, count, attributes)
    for node in nodes:
        checker.visit(node)
    return {name for node in nodes for name in node.output
            if name in one and name in several and checker.kind(name) == "copied"}


class _Checker:
    """Knows of each constant whether it is `fixed`, the same in both copies; `linear`, of the same
    shape and with other values; `copied`; or `counted`, with other sizes and values."""

    def __init__(self, one: dict[str, np.ndarray], several: dict[str, np.ndarray], count: int,
                 attributes: Callable[[Any], dict[str, Any]]) -> None:
        self.one, self.several, self.count, self.attributes = one, several, count, attributes
        self.kinds: dict[str, str] = {"": "fixed"}

    def kind(self, name: str) -> str:
        if name not in self.kinds:
            self.kinds[name] = self.kind_of(self.one[name], self.several[name])
        return self.kinds[name]

    def kind_of(self, one: np.ndarray, several: np.ndarray) -> str:
        if one.shape == several.shape:
            return "fixed" if np.array_equal(one, several, equal_nan=one.dtype.kind == "f") else "linear"
        return "copied" if is_copy(several, one, self.count) else "counted"

    def visit(self, node: Any) -> None:
        names = [name for name in node.input if name in self.several]
        if any(name not in self.one for name in (*names, *filter(None, node.output))):
            return  # Nothing compares them.
        kinds = {self.kind(name) for name in names}
        if kinds <= {"fixed"}:
            return
        if kinds <= {"fixed", "copied"}:
            is_right = self.is_of_copies(node)
        else:
            is_right = self.is_linear(node, names)
        if not is_right:
            raise Unproved(f"{node.op_type}, which makes {node.output[0]!r}, counts samples")

    def is_of_copies(self, node: Any) -> bool:
        """Whether the node makes copies, or what each copy makes."""
        if node.op_type == "CumSum":
            axis = int(self.one[node.input[1]]) % self.one[node.input[0]].ndim
            return self.place_in(node.input[0]) not in (None, axis)
        if node.op_type in _PLACES:
            return False
        for name in filter(None, node.output):
            if self.kind(name) == "counted" and is_copy_but_for_sums(self.several[name], self.one[name], self.count):
                self.kinds[name] = "copied"
        kinds = {self.kind(name) for name in node.output if name}
        if node.op_type.startswith("Reduce") and "copied" not in kinds:
            return node.op_type in _OF_COPIES and kinds == {"fixed"} or node.op_type == "ReduceSum"
        return node.op_type in ("Shape", "Size") or kinds <= {"copied"}

    def is_linear(self, node: Any, names: list[str]) -> bool:
        kind = node.op_type
        if kind == "Resize":
            return self.is_resized_apart(node)
        if kind == "Gather" and self.kind(names[1]) == "counted":
            return self.takes_own_rows(node)
        if kind == "Cast":
            return self.attributes(node)["to"] in _WIDE
        if kind in ("Gather", "GatherElements", "GatherND", "Slice"):
            return all(self.kind(name) == "fixed" for name in names[1:])
        if kind == "Where":
            return self.kind(names[0]) == "fixed"
        if kind == "Mul":
            return sum(self.kind(name) != "fixed" for name in names) == 1
        if kind == "Div":
            return self.divides(*names)
        if kind in _COMPARISONS:
            return self.is_decided(*names)
        if kind == "ReduceProd":
            return self.kind(names[0]) == "linear" and np.sum(self.one[names[0]] != self.several[names[0]]) == 1
        return kind in _LINEAR

    def place_in(self, name: str) -> int | None:
        """The axis along which a constant has copies; None if it has none."""
        if self.kind(name) != "copied":
            return None
        return place_of_samples(self.several[name].shape, self.one[name].shape, self.count)

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
        if one.dtype.kind == "f" and self.kind(right) == "fixed":
            return True
        if one.dtype.kind not in "iu" or one.shape != several.shape or not divisor.all():
            return False
        if self.kind(right) == "fixed":
            two = one + (several - one) // (self.count - 1)
            return np.array_equal(one % divisor, two % divisor)
        if divisor.shape != other.shape or not other.all() or (one % divisor).any() or (several % other).any():
            return False
        return np.array_equal(one // divisor, several // other)

    def is_decided(self, left: str, right: str) -> bool:
        """Whether more samples take the two further apart: then one is always the greater one."""
        pairs = [(self.one[name], self.several[name]) for name in (left, right)]
        if any(one.shape != several.shape or one.dtype.kind == "b" for one, several in pairs):
            return False
        one, several = (np.subtract(a.astype(np.float64), b) for a, b in zip(*pairs))
        is_equal_always = (one == 0) & (several == 0)
        return bool(np.all(is_equal_always | ((one * several > 0) & (np.abs(several) >= np.abs(one)))))
