"""Functions of doubles, for which the compiler calls a library that a module has not: a part of `porter`."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Callable

import numpy as np

_PARTS = 4
_PART_BITS = 26  # A part of a quarter of a turn has so few that its product with a count of 27 bits is exact.
_COUNT = 2.0 ** 27
# A quarter of a turn. The sine of the double that is next to pi is what it lacks.
_QUARTER = (Fraction(math.pi) + Fraction(math.sin(math.pi))) / 2
_SINE = [(-1) ** i / math.factorial(2 * i + 1) for i in range(9)]
_COSINE = [(-1) ** i / math.factorial(2 * i) for i in range(9)]
_ARC = [(-1) ** i / (2 * i + 1) for i in range(12)]
_ERROR = [2 / math.sqrt(math.pi) * (-1) ** i / (math.factorial(i) * (2 * i + 1)) for i in range(20)]
_FRACTIONS = 10  # Of the continued fraction of a hyperbolic tangent.
_TAIL_DEGREE = 24
_TAIL_ENDS = (0.25, 2 / 3)  # 1 / (1 + x / 2) of 6 and of 1.


class DoublePorter:
    """The part of the porter that knows them."""

    def double_handlers(self) -> dict[tuple[str, str], Callable[[Any], bool]]:
        handlers = {"Acos": self.arc_cosine, "Asin": self.arc_sine, "Atan": self.arc_tangent,
                    "Erf": self.error_function, "Tanh": self.hyperbolic_tangent}
        return {("", "Gelu"): self.on_double_gelu, ("", "Mish"): self.on_double_mish,
                **{("", kind): lambda node, handler=handler: self.on_double(node, handler)
                   for kind, handler in handlers.items()}}

    def on_double(self, node: Any, handler: Callable[[str], str]) -> bool:
        if not self.is_double(node.input[0]):
            return False
        self.emit("Identity", [handler(node.input[0])], node.output[0])
        return True

    def on_double_gelu(self, node: Any) -> bool:
        source = node.input[0]
        if not self.is_double(source):
            return False
        if self.attributes(node).get("approximate", b"none") == b"tanh":
            cube = self.emit("Mul", [source, self.polynomial(self.emit("Mul", [source, source]), [1, 0.044715])])
            share = self.emit("Tanh", [self.emit("Mul", [cube, self.double(math.sqrt(2 / math.pi))])])
        else:
            share = self.emit("Erf", [self.emit("Mul", [source, self.double(math.sqrt(0.5))])])
        half = self.emit("Mul", [source, self.double(0.5)])
        self.emit("Mul", [half, self.emit("Add", [share, self.double(1)])], node.output[0])
        return True

    def on_double_mish(self, node: Any) -> bool:
        source = node.input[0]
        if not self.is_double(source):
            return False
        self.emit("Mul", [source, self.emit("Tanh", [self.emit("Softplus", [source])])], node.output[0])
        return True

    def double(self, value: float) -> str:
        return self.constant(np.float64(value))

    def polynomial(self, x: str, factors: list[float]) -> str:
        found = self.double(factors[-1])
        for factor in factors[-2::-1]:
            found = self.emit("Add", [self.emit("Mul", [found, x]), self.double(factor)])
        return found

    def odd(self, x: str, factors: list[float]) -> str:
        """Returns x * polynomial(x * x)."""
        return self.emit("Mul", [x, self.polynomial(self.emit("Mul", [x, x]), factors)])

    def signed(self, source: str, found: str) -> str:
        """Gives `found`, the result for the size of `source`, the sign of `source`."""
        is_negative = self.emit("Less", [source, self.double(0)])
        return self.emit("Where", [is_negative, self.emit("Neg", [found]), found])

    def on_double_angle(self, node: Any) -> bool:
        """Reduces the angle to an eighth of a turn, after Cody and Waite as for floats, and uses polynomials."""
        angle, one, two, half = node.input[0], self.double(1), self.double(2), self.double(0.5)
        count = self.emit("Floor", [self.emit("Add", [self.emit("Mul", [angle, self.double(1 / _QUARTER)]), half])])
        high = self.emit("Floor", [self.emit("Add", [self.emit("Mul", [count, self.double(1 / _COUNT)]), half])])
        high = self.emit("Mul", [high, self.double(_COUNT)])
        low, rest = self.emit("Sub", [count, high]), angle
        for part in map(self.double, parts(_QUARTER, _PART_BITS, _PARTS)):
            for each in (high, low):
                rest = self.emit("Sub", [rest, self.emit("Mul", [each, part])])
        sine, cosine = self.odd(rest, _SINE), self.polynomial(self.emit("Mul", [rest, rest]), _COSINE)
        if node.op_type == "Cos":
            count = self.emit("Add", [count, one])
        halves = self.emit("Mul", [count, half])
        is_odd = self.emit("Less", [self.emit("Floor", [halves]), halves])
        if node.op_type == "Tan":
            sine, cosine = self.emit("Div", [sine, cosine]), self.emit("Neg", [self.emit("Div", [cosine, sine])])
            self.emit("Where", [is_odd, cosine, sine], node.output[0])
            return True
        turns = self.emit("Mul", [self.emit("Floor", [halves]), half])
        is_below = self.emit("Less", [self.emit("Floor", [turns]), turns])
        found = self.emit("Where", [is_odd, cosine, sine])
        self.emit("Where", [is_below, self.emit("Neg", [found]), found], node.output[0])
        return True

    def hyperbolic_tangent(self, x: str) -> str:
        """A continued fraction of small numbers, and exponentials of others."""
        one, square = self.double(1), self.emit("Mul", [x, x])
        small = self.double(2 * _FRACTIONS + 1)
        for i in range(_FRACTIONS - 1, -1, -1):
            small = self.emit("Add", [self.double(2 * i + 1), self.emit("Div", [square, small])])
        small = self.emit("Div", [x, small])
        size = self.emit("Abs", [x])
        power = self.emit("Exp", [self.emit("Mul", [size, self.double(-2)])])
        large = self.emit("Div", [self.emit("Sub", [one, power]), self.emit("Add", [one, power])])
        is_small = self.emit("Less", [size, self.double(0.5)])
        return self.emit("Where", [is_small, small, self.signed(x, large)])

    def arc_tangent(self, x: str) -> str:
        """A series of a quarter of the angle, which is at most half a right one."""
        size, one = self.emit("Abs", [x]), self.double(1)
        is_large = self.emit("Greater", [size, one])
        part = self.emit("Where", [is_large, self.emit("Div", [one, size]), size])
        for _ in range(2):
            root = self.emit("Sqrt", [self.emit("Add", [one, self.emit("Mul", [part, part])])])
            part = self.emit("Div", [part, self.emit("Add", [one, root])])
        found = self.emit("Mul", [self.odd(part, _ARC), self.double(4)])
        other = self.emit("Sub", [self.double(math.pi / 2), found])
        return self.signed(x, self.emit("Where", [is_large, other, found]))

    def arc_sine(self, x: str) -> str:
        one = self.double(1)
        square = self.emit("Mul", [self.emit("Sub", [one, x]), self.emit("Add", [one, x])])
        tangent = self.emit("Div", [x, self.emit("Add", [one, self.emit("Sqrt", [square])])])
        return self.emit("Mul", [self.arc_tangent(tangent), self.double(2)])

    def arc_cosine(self, x: str) -> str:
        one = self.double(1)
        square = self.emit("Div", [self.emit("Sub", [one, x]), self.emit("Add", [one, x])])
        return self.emit("Mul", [self.arc_tangent(self.emit("Sqrt", [square])), self.double(2)])

    def error_function(self, x: str) -> str:
        """A series of numbers up to 1; of others what is left to 1, as a product with exp(-x * x)."""
        size, one = self.emit("Abs", [x]), self.double(1)
        is_small = self.emit("LessOrEqual", [size, one])
        begin, end = _TAIL_ENDS
        place = self.emit("Div", [one, self.emit("Add", [one, self.emit("Mul", [size, self.double(0.5)])])])
        place = self.emit("Sub", [self.emit("Mul", [place, self.double(2 / (end - begin))]),
                                  self.double((end + begin) / (end - begin))])
        twice = self.emit("Add", [place, place])
        factors = _tail()
        after, found = self.double(0), self.double(factors[-1])
        for factor in factors[-2:0:-1]:  # Clenshaw's sum of Chebyshev polynomials.
            following = self.emit("Sub", [self.emit("Mul", [twice, found]), after])
            after, found = found, self.emit("Add", [following, self.double(factor)])
        tail = self.emit("Add", [self.emit("Sub", [self.emit("Mul", [place, found]), after]), self.double(factors[0])])
        power = self.emit("Exp", [self.emit("Neg", [self.emit("Mul", [size, size])])])
        large = self.emit("Sub", [one, self.emit("Mul", [power, tail])])
        return self.emit("Where", [is_small, self.odd(x, _ERROR), self.signed(x, large)])


def parts(number: Fraction, bits: int, count: int) -> list[float]:
    """Numbers of so many bits that make up `number`, the greatest first."""
    found = []
    for _ in range(count):
        unit = Fraction(2) ** (math.floor(math.log2(abs(number))) + 1 - bits)
        part = math.trunc(number / unit) * unit
        found.append(float(part))
        number -= part
    return found


def _tail() -> list[float]:
    """The factors of Chebyshev polynomials whose sum is erfc(x) * exp(x * x), in the place of 1 / (1 + x / 2)
    between _TAIL_ENDS."""
    begin, end = _TAIL_ENDS

    def value(place: float) -> float:
        x = 2 / (begin + (place + 1) / 2 * (end - begin)) - 2
        return math.erfc(x) * math.exp(x * x)

    return np.polynomial.chebyshev.chebinterpolate(np.vectorize(value), _TAIL_DEGREE).tolist()
