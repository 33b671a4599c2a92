"""Linear models of scikit-learn's networks, and what models make of scores: a part of `porter`."""

from __future__ import annotations

import math
from typing import Any, Callable, Sequence

import numpy as np

from . import classic

_SMALLEST_SCORE = np.float32(1e-7)  # SOFTMAX_ZERO takes smaller ones for zeros.
# ONNX Runtime approximates the inverse of erf with these.
_PROBIT_CURVE = 0.147
_PROBIT_START = 2 / (3.14159 * _PROBIT_CURVE)


class LinearPorter:
    """The part of the porter that knows them."""

    def linear_handlers(self) -> dict[tuple[str, str], Callable[[Any], bool]]:
        return {
            (classic.DOMAIN, "LinearClassifier"): self.on_linear_classifier,
            (classic.DOMAIN, "LinearRegressor"): self.on_linear_regressor,
        }

    def on_linear_regressor(self, node: Any) -> bool:
        own, x = self.attributes(node), self.rows_of(node.input[0])
        if x is None:
            return False
        targets, how = own.get("targets", 1), own.get("post_transform", b"NONE").decode()
        scores = self.linear(x, own["coefficients"], own.get("intercepts", []), targets)
        if targets > 1 or how == "PROBIT":  # ONNX Runtime has the others for several scores alone.
            scores = self.transformed(scores, how)
        self.emit("Identity", [scores], node.output[0])
        return True

    def linear(self, x: str, coefficients: Sequence[float], intercepts: Sequence[float], targets: int) -> str:
        """Scores [samples, targets]. Intercepts: none, or one for each target."""
        weights = self.constant(np.float32(coefficients).reshape(targets, -1))
        bias = [self.constant(np.float32(intercepts))] if len(intercepts) == targets else []
        return self.emit("Gemm", [self.as_floats(x), weights, *bias], transB=1)

    def on_linear_classifier(self, node: Any) -> bool:
        own, x = self.attributes(node), self.rows_of(node.input[0])
        labels, intercepts = own.get("classlabels_ints", []), own.get("intercepts", [])
        how, count = own.get("post_transform", b"NONE").decode(), len(intercepts)
        is_pair = count == 1 and len(labels) == 2
        if x is None or own.get("classlabels_strings") or len(labels) < 2 or not is_pair and count != len(labels):
            return False
        raw = self.linear(x, own["coefficients"], intercepts, count)
        scores = self.both_classes(raw, False, how) if is_pair else self.transformed(raw, how)
        if scores is None:
            return False
        if is_pair:
            self.name_one(self.emit("Greater", [raw, self.number(0)]), labels, node.output[0])
        else:
            self.name_greatest(raw, labels, node.output[0])
        self.emit("Identity", [scores], node.output[1])
        return True

    # Scores of all models.

    def transformed(self, scores: str, how: str) -> str:
        """Scores [samples, classes] after the operator's `post_transform`."""
        if how == "LOGISTIC":
            return self.emit("Sigmoid", [scores])
        if how == "SOFTMAX":
            return self.emit("Softmax", [scores], axis=1)
        if how == "SOFTMAX_ZERO":
            return self.softmax_but_zeros(scores)
        return self.probit(scores) if how == "PROBIT" else scores

    def softmax_but_zeros(self, scores: str) -> str:
        """Takes the softmax over the scores that are not zero. Zeros stay zero."""
        greatest = self.reduce("ReduceMax", scores, [1])
        powers = self.emit("Exp", [self.emit("Sub", [scores, greatest])])
        zeros = self.emit("Mul", [scores, self.emit("Exp", [self.emit("Neg", [greatest])])])
        counts = self.emit("Greater", [self.emit("Abs", [scores]), self.constant(_SMALLEST_SCORE)])
        shares = self.emit("Where", [counts, powers, zeros])
        return self.emit("Div", [shares, self.emit("ReduceSum", [shares, self.constant([1])])])

    def probit(self, scores: str) -> str:
        one = self.number(1)
        x = self.emit("Sub", [self.emit("Mul", [scores, self.number(2)]), one])
        log = self.emit("Log", [self.emit("Mul", [self.emit("Sub", [one, x]), self.emit("Add", [one, x])])])
        start = self.emit("Add", [self.emit("Mul", [log, self.number(0.5)]), self.number(_PROBIT_START)])
        under = self.emit("Sub", [self.emit("Mul", [start, start]),
                                  self.emit("Mul", [log, self.number(1 / _PROBIT_CURVE)])])
        size = self.emit("Sqrt", [self.emit("Sub", [self.emit("Sqrt", [under]), start])])
        is_below = self.emit("Less", [x, self.number(0)])
        signed = self.emit("Where", [is_below, self.emit("Neg", [size]), size])
        return self.emit("Mul", [signed, self.number(math.sqrt(2))])

    def both_classes(self, score: str, is_centered: bool, how: str) -> str | None:
        """Scores [samples, 2] from that of the second class, [samples, 1].

        is_centered  a score of 0 is as good for the one class as for the other; else one of 0.5 is."""
        if how == "PROBIT":
            return None  # ONNX Runtime leaves the second one as it was in memory.
        is_centered = is_centered or how == "LOGISTIC"
        other = self.emit("Neg", [score]) if is_centered else self.emit("Sub", [self.number(1), score])
        both = self.emit("Concat", [other, score], axis=1)
        return self.emit("Sigmoid", [both]) if how == "LOGISTIC" else both

    def name_greatest(self, scores: str, labels: Sequence[int], output: str) -> None:
        """The label of the greatest score of each sample, the first of equal ones."""
        self.name_places(self.emit("ArgMax", [scores], axis=1, keepdims=0), labels, output)

    def name_places(self, places: str, labels: Sequence[int], output: str) -> None:
        if list(labels) == list(range(len(labels))):
            self.emit("Identity", [places], output)
        else:
            self.emit("Gather", [self.constant(np.array(labels, np.int64)), places], output, axis=0)

    def name_one(self, is_second: str, labels: Sequence[int], output: str) -> None:
        """One of two labels, by a condition [samples, 1]."""
        first, second = (self.constant(np.int64(label)) for label in labels)
        row = self.emit("Squeeze", [is_second, self.constant([1])])
        self.emit("Where", [row, second, first], output)
