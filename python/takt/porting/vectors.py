"""Machines of support vectors (SVMRegressor, SVMClassifier), in operators of ONNX: a part of `porter`."""

from __future__ import annotations

import itertools
from typing import Any, Callable

import numpy as np

from . import classic

# The shares of classes are found in rounds. ONNX Runtime stops after 100, but these end after 4 at most.
_ROUNDS = 6
_PRECISION = 0.005  # Of the shares of all classes together.
_LEAST_CHANCE = 1e-7

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
        """Computes the kernel of each sample with each vector, [samples, vectors]."""
        gamma, offset, degree = numbers or (0.0, 0.0, 0.0)
        if kernel == "RBF":
            # A sum of squares less a product keeps its digits if the numbers are near 0.
            middle = vectors.astype(np.float64).mean(0)
            vectors = vectors - middle
            x = self.emit("Sub", [x, self.floats(middle)])
            size = self.emit("ReduceSum", [self.emit("Mul", [x, x]), self.constant([1])])
            product = self.emit("MatMul", [x, self.floats(2 * gamma * vectors.T)])
            own = self.emit("Add", [self.emit("Mul", [size, self.number(gamma)]),
                                    self.floats(gamma * (vectors * vectors).sum(1))])
            nearness = self.emit("Min", [self.emit("Sub", [product, own]), self.number(0)])
            return self.emit("Exp", [nearness])
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
        if len(counts) != len(labels):
            return False
        weights, firsts, seconds = _duels(np.float64(own["coefficients"]), counts)
        bias = np.float32(own["rho"])[:weights.shape[1]]
        found = self.weighted(x, own, sum(counts), weights, bias)
        is_first = self.emit("Greater", [found, self.number(0)])
        if own.get("prob_a"):
            scores = self.transformed(self.shares(self.chances(found, own), firsts, seconds), how)
        elif len(labels) == 2:
            scores = self.both_classes(found, how == "NONE", how)
        else:
            scores = self.transformed(found, how)
        if scores is None:
            return False
        if len(labels) == 2:
            self.name_one(self.emit("Not", [is_first]), labels, node.output[0])
        else:  # A class has a vote for each duel that it wins.
            votes = self.emit("Gemm", [self.as_floats(is_first), self.floats(firsts - seconds),
                                       self.floats(seconds.sum(0))])
            self.name_greatest(votes, labels, node.output[0])
        self.emit("Identity", [scores], node.output[1])
        return True

    def floats(self, values: np.ndarray) -> str:
        return self.constant(values.astype(np.float32))

    def chances(self, sums: str, own: dict[str, Any]) -> str:
        """How probably the first class wins each duel, [samples, pairs]."""
        slope, start = (self.constant(np.float32(own[f"prob_{each}"])) for each in "ab")
        losses = self.emit("Sigmoid", [self.emit("Add", [self.emit("Mul", [sums, slope]), start])])
        chances = self.emit("Sub", [self.number(1), losses])
        return self.emit("Clip", [chances, self.number(_LEAST_CHANCE), self.number(1 - _LEAST_CHANCE)])

    def shares(self, chances: str, firsts: np.ndarray, seconds: np.ndarray) -> str:
        """The shares of the classes, [samples, classes], that fit the chances in all duels best.

        Source: Wu, Lin and Weng, Probability Estimates for Multi-class Classification by Pairwise Coupling,
        2004, algorithm 2."""
        classes = firsts.shape[1]
        others = self.emit("Sub", [self.number(1), chances])
        rows = self.rows_of_duels(chances, others, firsts, seconds)
        diagonal = [self.slice(row, 1, i, i + 1) for i, row in enumerate(rows)]
        shares = self.emit("Add", [self.emit("Mul", [diagonal[0], self.number(0)]),
                                   self.floats(np.full((1, classes), 1 / classes))])
        for _ in range(_ROUNDS):
            slopes = None
            for i, row in enumerate(rows):
                part = self.emit("Mul", [row, self.slice(shares, 1, i, i + 1)])
                slopes = part if slopes is None else self.emit("Add", [slopes, part])
            loss = self.emit("ReduceSum", [self.emit("Mul", [shares, slopes]), self.constant([1])])
            error = self.reduce("ReduceMax", self.emit("Abs", [self.emit("Sub", [slopes, loss])]), [1])
            # From here on a sample that is precise enough stays as it is.
            moves = self.as_floats(self.emit("GreaterOrEqual", [error, self.number(_PRECISION / classes)]))
            for i, (row, own) in enumerate(zip(rows, diagonal)):
                slope = self.slice(slopes, 1, i, i + 1)
                step = self.emit("Mul", [self.emit("Div", [self.emit("Sub", [loss, slope]), own]), moves])
                total = self.emit("Add", [step, self.number(1)])
                gain = self.emit("Mul", [step, self.emit("Add", [self.emit("Mul", [step, own]),
                                                                 self.emit("Mul", [slope, self.number(2)])])])
                loss = self.emit("Div", [self.emit("Div", [self.emit("Add", [loss, gain]), total]), total])
                slopes = self.emit("Div", [self.emit("Add", [slopes, self.emit("Mul", [step, row])]), total])
                moved = self.emit("Mul", [step, self.floats(np.eye(classes)[i:i + 1])])
                shares = self.emit("Div", [self.emit("Add", [shares, moved]), total])
        return shares

    def rows_of_duels(self, chances: str, others: str, firsts: np.ndarray, seconds: np.ndarray) -> list[str]:
        """The rows of the matrix of the quadratic form, each [samples, classes]."""
        classes = firsts.shape[1]
        table = self.emit("Concat", [self.emit("Mul", [others, others]), self.emit("Mul", [chances, chances]),
                                     self.emit("Mul", [chances, others])], axis=1)
        found = []
        for i in range(classes):
            own = np.eye(classes)[i]
            rivals = firsts[:, i:i + 1] * seconds + seconds[:, i:i + 1] * firsts
            weights = np.concatenate([firsts[:, i:i + 1] * own, seconds[:, i:i + 1] * own, -rivals])
            found.append(self.emit("MatMul", [table, self.floats(weights)]))
        return found

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
    """Returns the weight of each vector in each pair of classes, [vectors, pairs], and which class is the first
    and the second one of each pair, [pairs, classes]."""
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
