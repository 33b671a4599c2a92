"""Machines of support vectors (SVMRegressor, SVMClassifier), in operators of ONNX: a part of `porter`."""

from __future__ import annotations

import itertools
from typing import Any, Callable

import numpy as np

from . import classic


class VectorPorter:
    """The part of the porter that knows them."""

    def vector_handlers(self) -> dict[tuple[str, str], Callable[[Any], bool]]:
        return {
            (classic.DOMAIN, "SVMClassifier"): self.on_vector_classifier,
            (classic.DOMAIN, "SVMRegressor"): self.on_vector_regressor,
        }

    def on_vector_regressor(self, node: Any) -> bool:
        own, x = self.attributes(node), self.rows_of(node.input[0])
        if x is None:
            return False
        count, rho = own.get("n_supports", 0), np.float32(own["rho"])[:1]
        weights = np.float64(own["coefficients"])
        found = self.weighted(x, own, count, weights.reshape(count or -1, 1), rho)
        if own.get("one_class", 0):
            is_inside = self.emit("Greater", [found, self.number(0)])
            found = self.emit("Where", [is_inside, self.number(1), self.number(-1)])
        self.emit("Identity", [found], node.output[0])
        return True

    def weighted(self, x: str, own: dict[str, Any], count: int, weights: np.ndarray, bias: np.ndarray) -> str:
        """Sums [samples, sums] of what the kernel makes of each support vector.

        weights  [vectors, sums]; [features, sums] if there are no vectors."""
        x = self.as_floats(x)
        kernel = own.get("kernel_type", b"LINEAR").decode()
        if count:
            vectors = np.float64(own["support_vectors"]).reshape(count, -1)
            if kernel == "LINEAR":  # A sum of products with vectors is one with their sum.
                weights = vectors.T @ weights
            else:
                x = self.likeness(x, kernel, vectors.astype(np.float32), own.get("kernel_params", []))
        return self.emit("Gemm", [x, self.constant(weights.astype(np.float32)), self.constant(bias)])

    def likeness(self, x: str, kernel: str, vectors: np.ndarray, numbers: list[float]) -> str:
        """What the kernel makes of each sample and each vector, [samples, vectors]."""
        gamma, offset, degree = numbers or (0.0, 0.0, 0.0)
        if kernel == "RBF":
            column = self.emit("Unsqueeze", [x, self.constant([2])])
            apart = self.emit("Sub", [column, self.constant(vectors.T)])
            distance = self.emit("ReduceSum", [self.emit("Mul", [apart, apart]), self.constant([1])], keepdims=0)
            return self.emit("Exp", [self.emit("Mul", [distance, self.number(-gamma)])])
        scaled = self.constant((gamma * vectors.T.astype(np.float64)).astype(np.float32))
        found = self.emit("Add", [self.emit("MatMul", [x, scaled]), self.number(offset)])
        if kernel == "SIGMOID":
            return self.emit("Tanh", [found])
        if degree not in (2, 3):
            return self.emit("Pow", [found, self.number(degree)])
        square = self.emit("Mul", [found, found])
        return square if degree == 2 else self.emit("Mul", [square, found])

    def on_vector_classifier(self, node: Any) -> bool:
        own, x = self.attributes(node), self.rows_of(node.input[0])
        labels, counts = own.get("classlabels_ints", []), own.get("vectors_per_class", [])
        how = own.get("post_transform", b"NONE").decode()
        if x is None or own.get("classlabels_strings") or len(labels) < 2:
            return False
        if not sum(counts):
            return self.on_class_vectors(node, x, own, labels, how)
        if own.get("prob_a") or len(counts) != len(labels):
            return False
        weights, firsts, seconds = _duels(np.float64(own["coefficients"]), counts)
        bias = np.float32(own["rho"])[:weights.shape[1]]
        found = self.weighted(x, own, sum(counts), weights, bias)
        if len(labels) == 2:
            # The first class has won if the sum is positive.
            is_second = self.emit("Not", [self.emit("Greater", [found, self.number(0)])])
            scores = self.both_classes(found, how == "NONE", how)
            if scores is None:
                return False
            self.name_one(is_second, labels, node.output[0])
        else:
            is_first = self.emit("Cast", [self.emit("Greater", [found, self.number(0)])],
                                 to=self.onnx.TensorProto.FLOAT)
            # A class has a vote for each duel that it wins.
            votes = self.emit("Gemm", [is_first, self.constant((firsts - seconds).astype(np.float32)),
                                       self.constant(seconds.sum(0).astype(np.float32))])
            self.name_greatest(votes, labels, node.output[0])
            scores = self.transformed(found, how)
        self.emit("Identity", [scores], node.output[1])
        return True

    def on_class_vectors(self, node: Any, x: str, own: dict[str, Any], labels: list[int], how: str) -> bool:
        """A vector for each class, as of liblinear."""
        weights = np.float64(own["coefficients"]).reshape(len(labels), -1)
        bias = np.float32(own["rho"])[:1]
        found = self.weighted(x, own, 0, weights.T, bias)
        if len(labels) == 2:
            # Both scores can speak for the second class.
            limit, is_above = (0.5, "GreaterOrEqual") if (weights >= 0).all() else (0.0, "Greater")
            greatest = self.reduce("ReduceMax", found, [1])
            first, second = (self.slice(found, 1, i, i + 1) for i in range(2))
            is_second = self.emit("Or", [self.emit(is_above, [greatest, self.number(limit)]),
                                         self.emit("Greater", [second, first])])
            self.name_one(is_second, labels, node.output[0])
        else:
            self.name_greatest(found, labels, node.output[0])
        self.emit("Identity", [self.transformed(found, how)], node.output[1])
        return True


def _duels(coefficients: np.ndarray, counts: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each pair of classes: the weight of each vector [vectors, pairs], and which class is the first one and
    the second one, [pairs, classes]."""
    classes, ends = len(counts), np.cumsum(counts)
    table = coefficients.reshape(classes - 1, -1)
    pairs = list(itertools.combinations(range(classes), 2))
    weights = np.zeros((table.shape[1], len(pairs)))
    for number, (first, second) in enumerate(pairs):
        for each, row in ((first, second - 1), (second, first)):
            span = slice(ends[each] - counts[each], ends[each])
            weights[span, number] = table[row, span]
    firsts, seconds = (np.eye(classes)[list(each)] for each in zip(*pairs))
    return weights, firsts, seconds
