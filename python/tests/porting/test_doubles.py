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


_ACTIVATIONS = {
    "Gelu(x)": lambda x: x / 2 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
    'Gelu<approximate = "tanh">(x)':
        lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "Mish(x)": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "Softsign(x)": lambda x: x / (1 + np.abs(x)),
    "Swish<alpha = 2.0>(x)": lambda x: x / (1 + np.exp(-2 * x)),
    "RMSNormalization<epsilon = 0.5>(x, s)": lambda x: x / np.sqrt((x * x).mean(1, keepdims=True) + 0.5) * _SCALES,
    "GroupNormalization<num_groups = 2, epsilon = 0.5>(x, s, s)": lambda x: _in_groups(x) * _SCALES + _SCALES,
}
_SCALES = np.array([1.0, 2, 3, 4])


def _in_groups(x):
    parts = x.reshape(-1, 2, 2)
    return ((parts - parts.mean(2, keepdims=True)) / np.sqrt(parts.var(2, keepdims=True) + 0.5)).reshape(x.shape)


@pytest.mark.parametrize("text", _ACTIVATIONS)
def test_activations_and_norms_of_doubles(text):
    model = onnx.parser.parse_model('<ir_version: 10, opset_import: ["" : 24]>\nnet (double[N,4] x) => (double[N,4] y) '
                                    f"<double[4] s = {{1, 2, 3, 4}}> {{ y = {text} }}")
    x = 4 * _RNG.standard_normal((20, 4))
    ported = porter.port(model)
    assert text.split("<")[0].split("(")[0] not in {node.op_type for node in ported.graph.node}
    found, = ReferenceEvaluator(ported).run(None, {"x": x})
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, _ACTIVATIONS[text](x), rtol=1e-13, atol=1e-13)


def test_they_compile(needs_compiler, tmp_path):
    x = np.array([-np.inf, -1e8, -3, -1, -0.1, 0, 0.1, 0.7, 1, 3, 6.5, 1e5, np.inf, np.nan])
    onnx.save(network(x, *_FUNCTIONS), tmp_path / "net.onnx")
    results = takt.compile(tmp_path / "net.onnx", cache=tmp_path).load().net(x)
    for kind, found in zip(_FUNCTIONS, results):
        check(found, kind, x)
