"""Functions of doubles."""

import math

import numpy as np
import pytest

import takt

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

from takt.porting import porter  # noqa: E402

_RNG = np.random.default_rng(3)
_FUNCTIONS = {
    "Acos": np.arccos, "Acosh": np.arccosh, "Asin": np.arcsin, "Asinh": np.arcsinh, "Atan": np.arctan, "Cos": np.cos,
    "Erf": np.vectorize(math.erf), "Sin": np.sin, "Tan": np.tan, "Tanh": np.tanh}


def network(x, *kinds):
    graph = helper.make_graph(
        [helper.make_node(kind, ["x"], [kind]) for kind in kinds], "net",
        [helper.make_tensor_value_info("x", TensorProto.DOUBLE, x.shape)],
        [helper.make_tensor_value_info(kind, TensorProto.DOUBLE, x.shape) for kind in kinds])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def check(found, kind, x):
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(found, _FUNCTIONS[kind](x), rtol=1e-13, err_msg=kind)


@pytest.mark.parametrize("kind", _FUNCTIONS)
def test_digits_of_doubles(kind):
    sizes = np.concatenate([10 ** _RNG.uniform(-12, 0, 500), _RNG.uniform(0, 9, 3000), _RNG.uniform(0, 1e5, 300)])
    x = np.concatenate([sizes, -sizes])
    found, = ReferenceEvaluator(porter.port(network(x, kind))).run(None, {"x": x})
    check(found, kind, x)


def test_they_compile(needs_compiler, tmp_path):
    x = np.array([-np.inf, -1e8, -3, -1, -0.1, 0, 0.1, 0.7, 1, 3, 6.5, 1e5, np.inf, np.nan])
    onnx.save(network(x, *_FUNCTIONS), tmp_path / "net.onnx")
    results = takt.compile(tmp_path / "net.onnx", cache=tmp_path).load().net(x)
    for kind, found in zip(_FUNCTIONS, results):
        check(found, kind, x)
