"""Linear models of scikit-learn's networks."""

import warnings

import numpy as np
import pytest

import takt

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper  # noqa: E402

from test_classic import ML, check, floats, stays  # noqa: E402
from test_porter import ort_run  # noqa: E402

TRANSFORMS = ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT"]


@pytest.mark.parametrize("how", TRANSFORMS)
@pytest.mark.parametrize("targets", [1, 3])
def test_linear_regressor(how, targets):
    # PROBIT is of numbers from 0 to 1.
    coefficients, x = abs(floats(4 * targets)) / 30, abs(floats(5, 4))
    check("LinearRegressor", {"x": x}, coefficients=coefficients, intercepts=[0.1] * targets, targets=targets,
          post_transform=how)
    check("LinearRegressor", {"x": x[0]}, coefficients=coefficients, targets=targets, post_transform=how)


@pytest.mark.parametrize("how", TRANSFORMS)
@pytest.mark.parametrize("labels, count", [([4, 9], 1), ([4, 9], 2), ([0, 1, 2], 3), ([7, 5, 6], 3)])
def test_linear_classifier(how, labels, count):
    own = {"coefficients": floats(4 * count), "intercepts": floats(count), "classlabels_ints": labels,
           "post_transform": how}
    x = floats(30, 4)
    if how == "PROBIT":
        own["coefficients"], own["intercepts"], x = abs(own["coefficients"]) / 90, [0.2] * count, abs(x)
    shapes, results = {"x": (TensorProto.FLOAT, [30, 4])}, [TensorProto.INT64, TensorProto.FLOAT]
    if how == "PROBIT" and (count, len(labels)) == (1, 2):
        assert stays("LinearClassifier", shapes, results=results, **own)
        return
    check("LinearClassifier", {"x": x}, results=results, **own)


def test_softmax_of_zeros():
    check("LinearRegressor", {"x": np.float32([[0, 1, -2], [0, 0, 0.5]])}, coefficients=np.eye(3).reshape(-1),
          targets=3, post_transform="SOFTMAX_ZERO")


def pipeline(sizes):
    """The network is as skl2onnx writes it: the types between the two nodes are not known at first."""
    nodes = [
        helper.make_node("Scaler", ["x"], ["a"], domain=ML, scale=[2.0] * 4, offset=[1.0] * 4),
        helper.make_node("Normalizer", ["a"], ["b"], domain=ML, norm="L2"),
        helper.make_node("LinearClassifier", ["b"], ["label", "scores"], domain=ML, coefficients=floats(12),
                         intercepts=floats(3), classlabels_ints=[3, 1, 2], post_transform="SOFTMAX"),
    ]
    graph = helper.make_graph(
        nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, sizes)],
        [helper.make_tensor_value_info("label", TensorProto.INT64, [sizes[0]]),
         helper.make_tensor_value_info("scores", TensorProto.FLOAT, [sizes[0], 3])])
    return helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", 17), helper.make_opsetid(ML, 1)])


def test_any_number_of_samples(needs_compiler, tmp_path):
    model = pipeline([None, 4])
    onnx.save(model, tmp_path / "net.onnx")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        module = takt.compile(tmp_path / "net.onnx", cache=tmp_path, recipe="plain")
    function = module.load(device="local-sync").net
    for count in (1, 3):
        x = floats(count, 4)
        for a, b in zip(ort_run(model, {"x": x}), function(x), strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-5)
