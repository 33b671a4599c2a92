"""Machines of support vectors."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import TensorProto  # noqa: E402

from test_classic import check, floats  # noqa: E402
from test_linear import TRANSFORMS  # noqa: E402

KERNELS = [("LINEAR", None), ("RBF", [0.3, 0, 0]), ("POLY", [0.4, 0.2, 3]), ("POLY", [0.4, 0.2, 2]),
           ("POLY", [0.1, 3.0, 4]), ("SIGMOID", [0.2, -0.1, 0])]
RESULTS = [TensorProto.INT64, TensorProto.FLOAT]


def kernel_of(kernel):
    kind, numbers = kernel
    return {"kernel_type": kind, "kernel_params": [float(each) for each in numbers or (0.1, 0.0, 0.0)]}


@pytest.mark.parametrize("kernel", KERNELS)
def test_regressor(kernel):
    own = {"support_vectors": floats(7 * 4), "coefficients": floats(7), "rho": [0.25], "n_supports": 7}
    x = floats(5, 4)
    check("SVMRegressor", {"x": x}, rtol=1e-4, **own, **kernel_of(kernel))
    check("SVMRegressor", {"x": x[0]}, rtol=1e-4, **own, **kernel_of(kernel))


def test_distances_of_numbers_far_from_zero():
    vectors = 1000 + floats(7 * 4)
    check("SVMRegressor", {"x": 1000 + floats(5, 4)}, rtol=1e-4, atol=1e-5, support_vectors=vectors,
          coefficients=floats(7), rho=[0.25], n_supports=7, **kernel_of(("RBF", [0.3, 0, 0])))


def test_regressor_without_vectors():
    check("SVMRegressor", {"x": floats(5, 4)}, coefficients=floats(4), rho=[0.25], n_supports=0,
          **kernel_of(("LINEAR", None)))


def test_one_class():
    check("SVMRegressor", {"x": floats(20, 4)}, support_vectors=floats(7 * 4), coefficients=floats(7), rho=[0.1],
          n_supports=7, one_class=1, **kernel_of(("RBF", [0.3, 0, 0])))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("counts", [[3, 4], [2, 4, 3], [1, 2, 3, 2]])
def test_classifier(kernel, counts):
    total, classes = sum(counts), len(counts)
    own = {"support_vectors": floats(total * 4), "coefficients": floats((classes - 1) * total),
           "rho": floats(classes * (classes - 1) // 2), "vectors_per_class": counts,
           "classlabels_ints": [9, 7, 8, 5][:classes]}
    check("SVMClassifier", {"x": floats(40, 4)}, results=RESULTS, rtol=1e-4, atol=1e-5, **own, **kernel_of(kernel))


@pytest.mark.parametrize("how", TRANSFORMS[:-1])
@pytest.mark.parametrize("counts", [[3, 4], [2, 4, 3]])
def test_classifier_with_a_transform(how, counts):
    total, classes = sum(counts), len(counts)
    own = {"support_vectors": floats(total * 4), "coefficients": floats((classes - 1) * total),
           "rho": floats(classes * (classes - 1) // 2), "vectors_per_class": counts,
           "classlabels_ints": list(range(classes)), "post_transform": how}
    check("SVMClassifier", {"x": floats(40, 4)}, results=RESULTS, rtol=1e-4, atol=1e-5, **own,
          **kernel_of(("RBF", [0.3, 0, 0])))


@pytest.mark.parametrize("is_positive", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
def test_classifier_without_vectors(is_positive, classes):
    coefficients = floats(4 * classes)
    own = {"coefficients": abs(coefficients) if is_positive else coefficients, "rho": [0.1],
           "classlabels_ints": [9, 7, 8][:classes]}
    check("SVMClassifier", {"x": floats(40, 4)}, results=RESULTS, **own, **kernel_of(("RBF", None)))


@pytest.mark.parametrize("how", ["NONE", "SOFTMAX"])
@pytest.mark.parametrize("counts", [[3, 4], [2, 4, 3], [3, 3, 2, 4, 2]])
@pytest.mark.parametrize("size", [0.1, 1, 30])
def test_probabilities(counts, how, size):
    total, classes = sum(counts), len(counts)
    pairs = classes * (classes - 1) // 2
    own = {"support_vectors": floats(total * 4), "coefficients": size * floats((classes - 1) * total),
           "rho": floats(pairs), "vectors_per_class": counts, "classlabels_ints": list(range(3, 3 + classes)),
           "prob_a": -1 - abs(floats(pairs)), "prob_b": floats(pairs), "post_transform": how}
    check("SVMClassifier", {"x": floats(100, 4)}, results=RESULTS, rtol=1e-3, atol=2e-5, **own,
          **kernel_of(("RBF", [0.3, 0, 0])))
