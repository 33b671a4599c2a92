"""What follows a product and goes into its call: a part of `rewriter`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


_MOVES = {"Flatten", "Reshape", "Squeeze", "Transpose", "Unsqueeze"}


class EndingRewriter:
    """The part of the rewriter that knows normalizations, sums, activations and clamps."""

    def fold_scales(self, output: str, weights: np.ndarray, bias: np.ndarray, behind: int
                    ) -> tuple[str, np.ndarray, np.ndarray]:
        """Normalizations, and sums and products with a constant for each channel, which go into
        the weights, [channels] first, and the bias.

        behind    how many dimensions of `output` follow its channels.
        """
        while (found := self.scales_of(output, len(bias), behind)) is not None:
            user, factor, shift = found
            weights = (weights * factor.reshape(-1, *[1] * (weights.ndim - 1))).astype(np.float32)
            bias = (bias * factor + shift).astype(np.float32)
            self.done.add(id(user))
            output = user.output[0]
        return output, weights, bias

    def scales_of(self, output: str, channels: int, behind: int) -> tuple[Any, np.ndarray, np.ndarray] | None:
        """The only reader of `output`, if it multiplies each channel by a factor and adds a shift."""
        user = self.only_consumer(output)
        if user is None or len(user.output) != 1:
            return None
        if user.op_type == "BatchNormalization" and behind == 2:
            found = self.normalization(user)
            return None if found is None else (user, *found)
        if user.op_type not in ("Add", "Sub", "Mul", "Div"):
            return None
        other = user.input[1] if user.input[0] == output else user.input[0]
        value = self.constants.get(other)
        # One number for all channels may be a part of an activation.
        if (value is None or value.dtype != np.float32 or value.size != channels or channels == 1
                or value.ndim <= behind or value.shape[-1 - behind] != channels
                or self.sizes(user.output[0]) != self.sizes(output)
                or (user.op_type in ("Sub", "Div") and other != user.input[1])
                or (user.op_type == "Div" and not value.all())):
            return None
        value = value.reshape(-1).astype(np.float64)
        if user.op_type in ("Mul", "Div"):
            return user, value if user.op_type == "Mul" else 1 / value, np.zeros(channels)
        return user, np.ones(channels), value if user.op_type == "Add" else -value

    def fold_end(self, output: str) -> tuple[str, str | None, dict[str, Any]]:
        """What follows: the sum with a tensor that is there already, an
        activation, and a clamp."""
        residual = None
        user = self.only_consumer(output)
        if user is not None and user.op_type == "Add":
            other = user.input[1] if user.input[0] == output else user.input[0]
            is_there = other in self.made or other in self.last
            if (is_there and other not in self.constants and self.sizes(other) is not None
                    and self.sizes(other) == self.sizes(output) and other != output):
                residual = other
                self.done.add(id(user))
                output = user.output[0]
        output, end = self.fold_clamped(output)
        return output, residual, {"has_residual": residual is not None, **end}

    def fold_clamped(self, output: str) -> tuple[str, dict[str, Any]]:
        """As fold_end(), without a sum."""
        low, high = -math.inf, math.inf
        user = self.only_consumer(output)
        slope = self.slope(user) if user is not None else None
        if slope is not None:
            activation, output, low = "leaky_relu", user.output[0], slope
            self.done.add(id(user))
        else:
            activation, output = self.fold_activation(output)
            if activation == "none":
                activation = self.fold_activation_of_moved(output)
            user = self.only_consumer(output)
            limits = self.limits(user) if user is not None else None
            if limits is not None:
                low, high = limits
                self.done.add(id(user))
                output = user.output[0]
        return output, {"activation": activation, "low": low, "high": high}

    def fold_activation(self, x: str) -> tuple[str, str]:
        """The activation of `x` that a kernel has, and its result."""
        nodes, name, result = [], "none", x
        user = self.only_consumer(x)
        if user is not None:
            simple = {"Sigmoid": "sigmoid", "Tanh": "tanh", "HardSwish": "hard_swish"}
            if user.op_type == "Gelu":
                is_tanh = self.attributes(user).get("approximate", b"none") == b"tanh"
                nodes, name, result = [user], "gelu_tanh" if is_tanh else "gelu", user.output[0]
            elif user.op_type in simple:
                nodes, name, result = [user], simple[user.op_type], user.output[0]
            elif self.is_hard_sigmoid(user):
                nodes, name, result = [user], "hard_sigmoid", user.output[0]
        elif x not in self.results:
            nodes, name, result = self.find_gate(x) or self.find_gelu(x) or (nodes, name, result)
        self.done.update(id(node) for node in nodes)
        return name, result

    def fold_activation_of_moved(self, x: str) -> str:
        """The activation of the numbers of x after nodes that only move them. It may as well come before these nodes:
        the last of them then makes the result of the activation."""
        last, name = None, x
        while (node := self.only_consumer(name)) is not None and node.op_type in _MOVES:
            last, name = node, node.output[0]
        if last is None:
            return "none"
        activation, result = self.fold_activation(name)
        if activation != "none":
            last.output[0] = result
            self.makers[result] = last
        return activation

    def slope(self, node: Any) -> float | None:
        """By what `node` multiplies negative numbers, if that is all that it does."""
        if node.op_type == "LeakyRelu":
            return self.attributes(node).get("alpha", 0.01)
        value = self.constants.get(node.input[1]) if node.op_type == "PRelu" else None
        return float(value.reshape(())) if value is not None and value.size == 1 else None

    def is_hard_sigmoid(self, node: Any) -> bool:
        attributes = self.attributes(node)
        return (node.op_type == "HardSigmoid" and abs(attributes.get("alpha", 0.2) - 1 / 6) < 1e-6
                and attributes.get("beta", 0.5) == 0.5)

    def find_gate(self, x: str) -> tuple[list[Any], str, str] | None:
        """x * sigmoid(x), or with a hard sigmoid."""
        users = self.consumers.get(x, [])
        if len(users) != 2:
            return None
        for gate, product in (users, users[::-1]):
            is_hard = self.is_hard_sigmoid(gate)
            if (product.op_type == "Mul" and (is_hard or gate.op_type == "Sigmoid")
                    and self.only_consumer(gate.output[0]) is product
                    and set(product.input) == {x, gate.output[0]}):
                return [gate, product], "hard_swish" if is_hard else "silu", product.output[0]
        return None

    def find_gelu(self, x: str) -> tuple[list[Any], str, str] | None:
        """x / 2 * (1 + erf(x / sqrt(2))), with the half at x, at the sum or at the end; or with the tanh that is near
        that erf."""
        users = self.consumers.get(x, [])
        for find, name in ((self.find_erf, "gelu"), (self.find_tanh, "gelu_tanh")):
            inner = find(x, users)
            plus = self.only_consumer(inner[-1].output[0]) if inner else None
            if plus is None or not self.scales(plus, inner[-1].output[0], "Add", 1.0):
                continue
            outer = [user for user in users if all(user is not node for node in inner)]
            found = self.find_product(x, plus, outer[0]) if len(outer) == 1 else None
            if found is not None:
                return [*inner, plus, *found], name, found[-1].output[0]
        return None

    def find_erf(self, x: str, users: list[Any]) -> list[Any]:
        """The nodes of erf(x / sqrt(2)), in order; none if it is not there."""
        for scaled in users:
            if self.scales(scaled, x, "Mul", 0.5**0.5) or self.scales(scaled, x, "Div", 2**0.5):
                erf = self.only_consumer(scaled.output[0])
                return [scaled, erf] if erf is not None and erf.op_type == "Erf" else []
        return []

    def find_tanh(self, x: str, users: list[Any]) -> list[Any]:
        """The nodes of tanh(sqrt(2 / pi) * (x + 0.044715 x^3)), in order; none if it is not there."""
        nodes = [user for user in users if self.scales(user, x, "Pow", 3.0)]
        square = next((user for user in users if user.op_type == "Mul" and list(user.input) == [x, x]), None)
        if square is not None:
            nodes = [square, self.only_consumer(square.output[0])]
            if nodes[1] is None or nodes[1].op_type != "Mul" or set(nodes[1].input) != {x, square.output[0]}:
                return []
        if not nodes:
            return []
        for op, other in (("Mul", 0.044715), ("Add", x), ("Mul", (2 / math.pi)**0.5), ("Tanh", None)):
            last = nodes[-1].output[0]
            node = self.only_consumer(last)
            if (node is None or node.op_type != op or other == x and set(node.input) != {x, last}
                    or isinstance(other, float) and not self.scales(node, last, op, other)):
                return []
            nodes.append(node)
        return nodes

    def find_product(self, x: str, plus: Any, outer: Any) -> list[Any] | None:
        """The nodes of x / 2 times the sum `plus`, in order. `outer` is the other node that reads x."""
        product, total = self.only_consumer(plus.output[0]), plus.output[0]
        if product is None or product.op_type != "Mul":
            return None
        if self.scales(outer, x, "Mul", 0.5):
            is_last = (self.only_consumer(outer.output[0]) is product
                       and set(product.input) == {outer.output[0], total})
            return [outer, product] if is_last else None
        if self.scales(product, total, "Mul", 0.5):
            is_last = (self.only_consumer(product.output[0]) is outer and outer.op_type == "Mul"
                       and set(outer.input) == {x, product.output[0]})
            return [product, outer] if is_last else None
        half = self.only_consumer(product.output[0])
        is_last = (outer is product and set(product.input) == {x, total} and half is not None
                   and self.scales(half, product.output[0], "Mul", 0.5))
        return [product, half] if is_last else None

    def scales(self, node: Any, x: str, op: str, factor: float) -> bool:
        """Whether `node` is x and a constant number near `factor`."""
        if node.op_type != op or x not in node.input or (op in ("Div", "Pow") and node.input[0] != x):
            return False
        other = node.input[1] if node.input[0] == x else node.input[0]
        value = self.constants.get(other)
        return value is not None and value.size == 1 and abs(float(value.reshape(())) - factor) < 1e-5

    def limits(self, node: Any) -> tuple[float, float] | None:
        """The clamp that an activation is."""
        if node.op_type == "Relu":
            return 0.0, math.inf
        if node.op_type != "Clip":
            return None
        attributes = self.attributes(node)
        limits = [attributes.get("min", -math.inf), attributes.get("max", math.inf)]
        for i, name in enumerate(node.input[1:3]):
            if name == "":
                continue
            value = self.constants.get(name)
            if value is None or value.size != 1:
                return None
            limits[i] = float(value.reshape(()))
        return limits[0], limits[1]
