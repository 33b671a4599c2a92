"""Products of sizes that are divided by one of their factors, as PyTorch's exporter writes them: a part of `porter`.

The factor may be an open size, and zero, for which a call would have to look.
"""

from __future__ import annotations

from typing import Any, Callable

from ..networks import counts


class QuotientPorter:
    """The part of the porter that knows them."""

    def quotient_handlers(self) -> dict[tuple[str, str], Callable[[Any], bool]]:
        return {("", "Div"): self.on_quotient}

    def on_quotient(self, node: Any) -> bool:
        product, factor = node.input
        if factor in self.constants or self.types.get(factor) not in counts.WHOLE:
            return False
        rest = self.without_factor(product, factor)
        if rest is None:
            return False
        self.emit("Identity", [rest], node.output[0])
        return True

    def without_factor(self, product: str, factor: str) -> str | None:
        """The product of the other factors; None if `factor` is not one of them. All have one shape."""
        maker, shape = self.makers.get(product), self.shapes.get(product)
        if maker is None or maker.op_type != "Mul" or shape is None or None in shape:
            return None
        if any(self.shapes.get(name) != shape for name in maker.input):
            return None
        for name, other in (maker.input, maker.input[::-1]):
            if name == factor:
                return other
            rest = self.without_factor(name, factor)
            if rest is not None:
                return self.emit("Mul", [rest, other])
        return None
