"""Random numbers: a part of `porter`.

The compiler has evenly distributed and normal floats of the shape of another tensor. It takes the logarithms of a
Multinomial for probabilities, and writes beyond the result where there are several samples. It takes no seed.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

_SMALLEST, _LARGEST = 2.0**-25, 1 - 2.0**-24  # Limits of what is drawn, so that both logarithms are finite.


class ChancePorter:
    """The part of the porter that knows them."""

    def chance_handlers(self) -> dict[tuple[str, str], Callable[[Any], bool]]:
        return {
            ("", "Bernoulli"): self.on_seeded,
            ("", "Multinomial"): self.on_multinomial,
            ("", "RandomNormal"): self.on_normal,
            ("", "RandomNormalLike"): self.on_other_floats,
            ("", "RandomUniform"): self.on_seeded,
            ("", "RandomUniformLike"): self.on_other_floats,
        }

    def on_multinomial(self, node: Any) -> bool:
        """The place of the greatest sum of a logarithm and a number of Gumbel's distribution.

        Source: Maddison, Tarlow and Minka, A* Sampling, 2014."""
        own, logarithms, kinds = self.attributes(node), node.input[0], self.onnx.TensorProto
        count = own.get("sample_size", 1)
        if self.types.get(logarithms) != kinds.FLOAT:
            logarithms = self.emit("Cast", [logarithms], to=kinds.FLOAT)
        if count != 1:
            logarithms = self.emit("Unsqueeze", [logarithms, self.constant([1])])
            logarithms = self.emit("Add", [logarithms, self.constant(np.zeros((1, count, 1), np.float32))])
        drawn = self.emit("RandomUniformLike", [logarithms], dtype=kinds.FLOAT, low=0.0, high=1.0)
        drawn = self.emit("Min", [self.emit("Max", [drawn, self.number(_SMALLEST)]), self.number(_LARGEST)])
        for _ in range(2):
            drawn = self.emit("Neg", [self.emit("Log", [drawn])])
        places = self.emit("ArgMax", [self.emit("Add", [logarithms, drawn])], axis=-1, keepdims=int(count == 1))
        self.emit("Cast", [places], node.output[0], to=own.get("dtype", kinds.INT32))
        return True

    def on_seeded(self, node: Any) -> bool:
        own = self.attributes(node)
        if own.pop("seed", None) is None:
            return False
        self.emit(node.op_type, list(node.input), node.output[0], **own)
        return True

    def on_normal(self, node: Any) -> bool:
        own = self.attributes(node)
        own.pop("seed", None)
        shape = self.constant(np.zeros(own.pop("shape"), np.float32))
        self.emit("RandomNormalLike", [shape], node.output[0], **{"dtype": self.onnx.TensorProto.FLOAT, **own})
        return True

    def on_other_floats(self, node: Any) -> bool:
        """Those of other types are floats first."""
        own, like, single = self.attributes(node), node.input[0], self.onnx.TensorProto.FLOAT
        has_seed = own.pop("seed", None) is not None
        kind = own.pop("dtype", self.types.get(like, 0))
        if kind == 0 or not has_seed and kind == self.types.get(like) == single:
            return False
        if self.types.get(like) != single:
            like = self.emit("Cast", [like], to=single)
        if kind == single:
            self.emit(node.op_type, [like], node.output[0], **own)
        else:
            self.emit("Cast", [self.emit(node.op_type, [like], **own)], node.output[0], to=kind)
        return True
