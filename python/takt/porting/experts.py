"""Layers of experts, as ONNX Runtime has them: a part of `porter`."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

_KNOWN = {"activation_alpha", "activation_beta", "activation_type", "k", "normalize_routing_weights", "swiglu_fusion"}
_NEIGHBOURS = 1  # Of swiglu_fusion: the numbers of the gate and of the value take turns.


class ExpertPorter:
    """The part of the porter that knows them."""

    def expert_handlers(self) -> dict[tuple[str, str], Callable[[Any], bool]]:
        return {("com.microsoft", "MoE"): self.on_experts}

    def on_experts(self, node: Any) -> bool:
        """MoE: all experts compute all rows, of which those that a row has not chosen have no weight."""
        source, router, first, first_bias, second, second_bias, *more = [*node.input, *[""] * 6][:len(node.input) + 6]
        own, shapes = self.attributes(node), [self.shapes.get(name, [None]) for name in (source, router, first, second)]
        kind = own.get("activation_type", b"relu").decode()
        if (any(more) or set(own) - _KNOWN or any(None in shape for shape in shapes) or not self.known(source)
                or shapes[2][2] != shapes[0][-1] or shapes[3][1] != shapes[0][-1]
                or kind not in ("relu", "gelu", "silu", "identity", "swiglu")
                or kind == "swiglu" and own.get("swiglu_fusion", 0) != _NEIGHBOURS):
            return False
        rows = self.emit("Reshape", [source, self.constant([1, -1, shapes[0][-1]])])
        inner = self.activated(kind, self.of_all(rows, first, first_bias), own, shapes[2])
        found = self.of_all(inner, second, second_bias)
        shares = self.emit("Unsqueeze", [self.emit("Transpose", [self.shares_of(router, own)], perm=[1, 0]),
                                         self.constant([2])])
        total = self.emit("ReduceSum", [self.emit("Mul", [found, shares]), self.constant([0])], keepdims=0)
        self.emit("Reshape", [total, self.constant(shapes[0])], node.output[0])
        return True

    def of_all(self, rows: str, weights: str, bias: str) -> str:
        """[experts][rows][units]"""
        found = self.emit("MatMul", [rows, self.emit("Transpose", [weights], perm=[0, 2, 1])])
        return self.emit("Add", [found, self.emit("Unsqueeze", [bias, self.constant([1])])]) if bias else found

    def shares_of(self, router: str, own: dict[str, Any]) -> str:
        """[rows][experts]: 0 for what a row has not chosen."""
        count = self.shapes[router][-1]
        values, chosen = self.fresh("TopK"), self.fresh("TopK")
        self.out.append(self.onnx.helper.make_node(
            "TopK", [router, self.constant([own.get("k", 1)])], [values, chosen], axis=-1))
        chosen = self.emit("Unsqueeze", [chosen, self.constant([2])])
        is_it = self.emit("Equal", [chosen, self.constant(np.arange(count))])
        is_chosen = self.reduce("ReduceMax", self.emit("Cast", [is_it], to=self.types[router]), [1], keepdims=0)
        shares = self.emit("Mul", [self.emit("Softmax", [router], axis=-1), is_chosen])
        if own.get("normalize_routing_weights", 0):
            shares = self.emit("Div", [shares, self.emit("ReduceSum", [shares, self.constant([-1])])])
        return shares

    def activated(self, kind: str, name: str, own: dict[str, Any], shape: list[int]) -> str:
        if kind == "relu":
            return self.emit("Relu", [name])
        if kind == "silu":
            return self.swish(name, 1.0)
        if kind == "gelu":
            return self.emit("FastGelu", [name], domain="com.microsoft")
        if kind == "swiglu":
            gate, value = (self.emit("Slice", [name, *map(self.constant, ([i], [shape[1]], [2], [2]))]) for i in (0, 1))
            beta = own.get("activation_beta", 0.0)
            value = self.emit("Add", [value, self.number(beta)]) if beta else value
            return self.emit("Mul", [self.swish(gate, own.get("activation_alpha", 1.0)), value])
        return name
