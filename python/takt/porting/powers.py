"""Powers of integers, of which the compiler has none: a part of `porter`."""

from __future__ import annotations

from typing import Any

import numpy as np

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
