"""Powers, of which the compiler has none of integers, and wrong ones of floats: a part of `porter`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .functions import BOUNDED

_FACTORS_MAX = 64  # A higher power of other numbers than -1, 0 and 1 has more than 64 bits.


class PowerPorter:
    """The part of the porter that knows them."""

    def on_power(self, node: Any) -> bool:
        base, exponent = node.input
        kinds = self.onnx.TensorProto
        kind, other = self.types.get(base), self.types.get(exponent)
        if kind not in (kinds.INT32, kinds.INT64) or other is None:
            return self.float_power(node)
        known = self.constants.get(exponent)
        if known is not None and known.size == 1 and known.ndim == 0 and float(known) in range(1, _FACTORS_MAX):
            self.emit("Identity", [self.repeated_product(base, int(known))], node.output[0])
        elif other in (kinds.INT32, kinds.INT64):
            wide = [name if self.types[name] == kinds.INT64 else self.emit("Cast", [name], to=kinds.INT64)
                    for name in (base, exponent)]
            self.emit("Cast", [self.power(*wide)], node.output[0], to=kind)
        else:
            floats = self.emit("Pow", [self.emit("Cast", [base], to=other), exponent])
            self.emit("Cast", [floats], node.output[0], to=kind)
        return True

    def float_power(self, node: Any) -> bool:
        """A power of numbers of any sign: the compiler computes a power with an exponent that is no known number as
        exp(y * log(x)), and knows neither infinity nor the sign of zero."""
        base, exponent = node.input
        if node.name.startswith(BOUNDED) or not (self.is_single(base) or self.is_double(base)):
            return False
        bases, known = self.constants.get(base), self.constants.get(exponent)
        if known is not None and known.size == 1:
            value = float(known.reshape(()))
            if value == 0.5 or value >= 0 and value.is_integer():
                return False
            if value.is_integer() and -value <= _FACTORS_MAX:
                power = self.emit("Pow", [base, self.number(-value, base)])
                one = self.constant(np.ones(known.shape, self.onnx.helper.tensor_dtype_to_np_dtype(self.types[base])))
                self.emit("Div", [one, power], node.output[0])
                return True
        elif bases is not None and (np.isfinite(bases) & (bases > 0) & (bases != 1)).all():
            return False
        self.any_power(base, self.as_type_of(base, exponent), node.output[0])
        return True

    def as_type_of(self, base: str, exponent: str) -> str:
        kind = self.types[base]
        if self.types.get(exponent) == kind:
            return exponent
        if exponent in self.constants:
            return self.constant(self.constants[exponent].astype(self.onnx.helper.tensor_dtype_to_np_dtype(kind)))
        return self.emit("Cast", [exponent], to=kind)

    def any_power(self, base: str, exponent: str, output: str) -> None:
        """The power of the size, with the sign that follows."""
        zero, one, two, infinity, none = (self.number(value, base) for value in (0, 1, 2, math.inf, math.nan))
        size = self.emit("Abs", [base])
        found = self.emit("Pow", [size, exponent], name=self.bounded_name())
        half = self.emit("Div", [exponent, two])
        is_whole = self.emit("Equal", [self.emit("Floor", [exponent]), exponent])
        is_even = self.emit("Equal", [self.emit("Floor", [half]), half])
        # Also that of zeros, whose reciprocals are infinite.
        is_below = self.emit("Less", [base, zero])
        has_sign = self.emit("Or", [is_below, self.emit("Less", [self.emit("Div", [one, base]), zero])])
        is_odd = self.emit("And", [is_whole, self.emit("Not", [is_even])])
        found = self.emit("Where", [self.emit("And", [has_sign, is_odd]), self.emit("Neg", [found]), found])
        is_finite = self.emit("Less", [size, infinity])
        is_root = self.emit("And", [self.emit("And", [is_below, is_finite]), self.emit("Not", [is_whole])])
        found = self.emit("Where", [is_root, none, found])
        is_endless = self.emit("Equal", [self.emit("Abs", [exponent]), infinity])
        is_one = self.emit("And", [self.emit("Equal", [size, one]), is_endless])
        is_one = self.emit("Or", [is_one, self.emit("Equal", [base, one])])
        is_one = self.emit("Or", [is_one, self.emit("Equal", [exponent, zero])])
        self.emit("Where", [is_one, one, found], output)

    def repeated_product(self, base: str, count: int) -> str:
        """By squares, from the highest bit of the count on."""
        result = base
        for bit in f"{count:b}"[1:]:
            result = self.emit("Mul", [result, result])
            if bit == "1":
                result = self.emit("Mul", [result, base])
        return result

    def power(self, base: str, exponent: str) -> str:
        """Integers of 64 bits, as a product of the squares that the bits of the exponent say."""
        zero, one, two, most = (self.constant(np.int64(value)) for value in (0, 1, 2, _FACTORS_MAX))
        # That of -1, 0 and 1 depends on the last bit of a higher exponent alone.
        rest = self.emit("Abs", [exponent])
        is_odd = self.emit("Mod", [rest, two])
        rest = self.emit("Min", [rest, self.emit("Add", [most, is_odd])])
        result, square = one, base
        for i in range(_FACTORS_MAX.bit_length()):
            bit = self.emit("Equal", [self.emit("Mod", [rest, two]), one])
            result = self.emit("Mul", [result, self.emit("Where", [bit, square, one])])
            rest = self.emit("Div", [rest, two])
            if i + 1 < _FACTORS_MAX.bit_length():
                square = self.emit("Mul", [square, square])
        # The reciprocal of another number than -1 and 1 has no whole part.
        is_unit = self.emit("Equal", [self.emit("Abs", [base]), one])
        reciprocal = self.emit("Where", [is_unit, result, zero])
        return self.emit("Where", [self.emit("Less", [exponent, zero]), reciprocal, result])
