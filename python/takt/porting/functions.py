"""Functions of numbers for which the compiler's own code is wrong: a part of `porter`."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Callable

import numpy as np

from .doubles import parts

BOUNDED = "takt.bounded."  # Begins the name of a node for whose numbers the compiler's code is right.
_TURN = 2 * math.pi
_PARTS = 4
_PART_BITS = 11  # A part of a turn has so few that its product with a count of 12 bits is exact.
_COUNT = 4096.0
_MANY = 4096  # Numbers whose sum loses a digit.
_LONG = 1024  # An axis of so many numbers is added up in two steps.
_LARGE = 1e9  # The square of a greater number adds one to nothing.
_SMALL = 0.02  # Of a smaller number, four members of the series of an area hyperbolic sine are all that counts.
_SMALL_FACTORS = [1, -1 / 6, 3 / 40, -15 / 336]


class FunctionPorter:
    """The part of the porter that knows them."""

    def function_handlers(self) -> dict[tuple[str, str], Callable[[Any], bool]]:
        return {
            ("", "Acosh"): self.on_acosh,
            ("", "Asinh"): self.on_asinh,
            ("", "Cos"): self.on_angle,
            ("", "Gemm"): self.on_nothing_added,
            ("", "Mod"): self.on_rest,
            ("", "ReduceL1"): self.on_sum,
            ("", "ReduceL2"): self.on_sum,
            ("", "ReduceLogSumExp"): self.on_log_sum_exp,
            ("", "ReduceSum"): self.on_sum,
            ("", "ReduceSumSquare"): self.on_sum,
            ("", "Sin"): self.on_angle,
            ("", "Tan"): self.on_angle,
        }

    def number(self, value: float | list[float], like: str = "") -> str:
        """A constant, one number or a row, of the type of the tensor `like`; "": of floats."""
        kind = self.types[like] if like else self.onnx.TensorProto.FLOAT
        return self.constant(np.asarray(value, self.onnx.helper.tensor_dtype_to_np_dtype(kind)))

    def bounded_name(self) -> str:
        return BOUNDED + self.fresh("node")

    def is_single(self, name: str) -> bool:
        return self.types.get(name) == self.onnx.TensorProto.FLOAT

    def is_double(self, name: str) -> bool:
        return self.types.get(name) == self.onnx.TensorProto.DOUBLE

    def on_angle(self, node: Any) -> bool:
        """Reduces an angle to half a turn: the compiler's polynomials lose a digit for each factor of ten.

        Source: Cody and Waite, Software Manual for the Elementary Functions, 1980. Whole turns are
        subtracted in parts, whose products with the count are exact."""
        angle = node.input[0]
        if self.is_double(angle):
            return self.on_double_angle(node)
        if not self.is_single(angle) or node.name.startswith(BOUNDED):
            return False
        turns = self.emit("Round", [self.emit("Mul", [angle, self.number(1 / _TURN)])])
        high = self.emit("Mul", [self.emit("Round", [self.emit("Mul", [turns, self.number(1 / _COUNT)])]),
                                 self.number(_COUNT)])
        low = self.emit("Sub", [turns, high])
        rest = angle
        for part in map(self.number, parts(Fraction(_TURN), _PART_BITS, _PARTS)):
            for count in (high, low):
                rest = self.emit("Sub", [rest, self.emit("Mul", [count, part])])
        self.emit(node.op_type, [rest], node.output[0], name=self.bounded_name())
        return True

    def on_log_sum_exp(self, node: Any) -> bool:
        """Subtracts the greatest number first: the compiler computes e to the power of 89, which is infinite."""
        if self.on_single_numbers(node):
            return True
        shape = self.shapes.get(node.input[0])
        axes = None if shape is None else self.reduced_axes(node, len(shape))
        source = node.input[0]
        if axes is None or not shape or not (self.is_single(source) or self.is_double(source)):
            return False
        if not axes:  # The sums are of single numbers, and log(exp(x)) is x.
            self.emit("Identity", [source], node.output[0])
            return True
        most = self.reduce("ReduceMax", source, axes)
        is_finite = self.emit("Less", [self.emit("Abs", [most]), self.number(math.inf, source)])
        most = self.emit("Where", [is_finite, most, self.number(0, source)])
        total = self.emit("ReduceSum", [self.emit("Exp", [self.emit("Sub", [source, most])]),
                                        self.constant(axes)], keepdims=1)
        found = self.emit("Add", [self.emit("Log", [total]), most])
        if self.attributes(node).get("keepdims", 1):
            self.emit("Identity", [found], node.output[0])
        else:
            self.emit("Squeeze", [found, self.constant(axes)], node.output[0])
        return True

    def on_nothing_added(self, node: Any) -> bool:
        """A factor of zero leaves out what is added, also where that is no number."""
        own = self.attributes(node)
        if self.on_empty_product(node):
            return True
        if own.pop("beta", 1.0) != 0 or len(node.input) < 3 or not node.input[2]:
            return False
        self.emit("Gemm", list(node.input[:2]), node.output[0], **own)
        return True

    def on_sum(self, node: Any) -> bool:
        """Adds many numbers as sums of sums: the compiler adds one after the other, and a float has seven digits.
        A mean of integers becomes a quotient, since the compiler has no such mean."""
        if node.op_type == "ReduceL2" and self.on_single_numbers(node):
            return True
        source, shape = node.input[0], self.shapes.get(node.input[0], [None])
        axes = None if None in shape else self.reduced_axes(node, len(shape))
        kinds, kind = self.onnx.TensorProto, self.types.get(source)
        is_mean = node.op_type == "ReduceMean"
        is_quotient = is_mean and kind in (kinds.INT32, kinds.INT64)
        if not axes or not (is_quotient or kind == kinds.FLOAT):
            return False
        count = math.prod(shape[axis] for axis in axes)
        if count < 1 or not is_quotient and (count < _MANY or node.name.startswith(BOUNDED)):
            return False
        if node.op_type == "ReduceL1":
            source = self.emit("Abs", [source])
        elif node.op_type in ("ReduceL2", "ReduceSumSquare"):
            source = self.emit("Mul", [source, source])
        total = self.sum_of_sums(source, shape, axes)
        if is_quotient:
            total = self.emit("Div", [total, self.constant(np.asarray(
                count, self.onnx.helper.tensor_dtype_to_np_dtype(kind)))])
        elif is_mean:
            total = self.emit("Mul", [total, self.number(1 / count)])
        elif node.op_type == "ReduceL2":
            total = self.emit("Sqrt", [total])
        kept = self.attributes(node).get("keepdims", 1)
        result = [1 if axis in axes else size for axis, size in enumerate(shape) if kept or axis not in axes]
        self.emit("Reshape", [total, self.constant(np.array(result, np.int64))], node.output[0])
        return True

    def sum_of_sums(self, name: str, shape: list[int], axes: list[int]) -> str:
        """Along one axis after the other, each in two steps if it is long."""
        def add(name: str, axis: int) -> str:
            return self.emit("ReduceSum", [name, self.constant([axis])], name=self.bounded_name(), keepdims=0)

        shape = list(shape)
        for axis in reversed(axes):
            size = shape[axis]
            factor = next(each for each in range(math.isqrt(size), 0, -1) if size % each == 0)
            if size >= _LONG and factor > 1:
                apart = [*shape[:axis], size // factor, factor, *shape[axis + 1:]]
                name = add(self.emit("Reshape", [name, self.constant(np.array(apart, np.int64))]), axis + 1)
            name = add(name, axis)
            del shape[axis]
        return name

    def on_rest(self, node: Any) -> bool:
        """The rest of a division by infinity is the number itself."""
        source, divisor = node.input
        known = self.constants.get(divisor)
        is_float = self.is_single(source) or self.is_double(source)
        if (not self.attributes(node).get("fmod", 0) or not is_float or node.name.startswith(BOUNDED)
                or known is not None and np.isfinite(known).all()):
            return False
        infinite = self.number(math.inf, source)
        is_itself = self.emit("And", [self.emit("Equal", [self.emit("Abs", [divisor]), infinite]),
                                      self.emit("Less", [self.emit("Abs", [source]), infinite])])
        rest = self.emit("Mod", [source, divisor], name=self.bounded_name(), fmod=1)
        self.emit("Where", [is_itself, source, rest], node.output[0])
        return True

    def on_asinh(self, node: Any) -> bool:
        """Computes it for the size, and then adds the sign: for a negative number the compiler takes the logarithm
        of a difference, which loses its digits."""
        source = node.input[0]
        if not (self.is_single(source) or self.is_double(source)):
            return False
        size = self.emit("Abs", [source])
        found = self.logarithm(size, 1, source)
        square = self.emit("Mul", [size, size])
        series = self.number(_SMALL_FACTORS[-1], source)
        for factor in _SMALL_FACTORS[-2::-1]:
            series = self.emit("Add", [self.emit("Mul", [series, square]), self.number(factor, source)])
        is_small = self.emit("Less", [size, self.number(_SMALL, source)])
        found = self.emit("Where", [is_small, self.emit("Mul", [size, series]), found])
        is_negative = self.emit("Less", [source, self.number(0, source)])
        self.emit("Where", [is_negative, self.emit("Neg", [found]), found], node.output[0])
        return True

    def on_acosh(self, node: Any) -> bool:
        source = node.input[0]
        if not (self.is_single(source) or self.is_double(source)):
            return False
        is_none = self.emit("Less", [source, self.number(1, source)])
        found = self.logarithm(source, -1, source)
        self.emit("Where", [is_none, self.number(math.nan, source), found], node.output[0])
        return True

    def logarithm(self, size: str, added: int, like: str) -> str:
        """log(x + sqrt(x * x + added)), also where the square is infinite."""
        is_large = self.emit("Greater", [size, self.number(_LARGE, like)])
        usual = self.emit("Where", [is_large, self.number(1, like), size])
        root = self.emit("Sqrt", [self.emit("Add", [self.emit("Mul", [usual, usual]), self.number(added, like)])])
        found = self.emit("Log", [self.emit("Add", [usual, root])])
        of_large = self.emit("Add", [self.emit("Log", [size]), self.number(math.log(2), like)])
        return self.emit("Where", [is_large, of_large, found])
