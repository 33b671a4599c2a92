"""Recurrent layers with more than the compiler sees."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper

import takt
from takt.porting import porter, unrolled
from takt.errors import CompileError
from test_porter import ort_run

RNG = np.random.default_rng(5)
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def floats(*shape):
    return (RNG.standard_normal(shape) / 2).astype(np.float32)


def layer(kind, steps=4, has_peepholes=False, directions=1, **own):
    gates, hidden, size = GATES[kind], 6, 5
    constants = {"w": floats(directions, gates * hidden, size), "r": floats(directions, gates * hidden, hidden),
                 "b": floats(directions, 2 * gates * hidden), "h": floats(directions, 2, hidden)}
    inputs = ["x", "w", "r", "b", "", "h"]
    if has_peepholes:
        constants["p"] = floats(directions, 3 * hidden)
        inputs += ["", "p"]
    names = ["y", "last", "cell"] if kind == "LSTM" else ["y", "last"]
    node = helper.make_node(kind, inputs, names, hidden_size=hidden, **own)
    graph = helper.make_graph(
        [node], "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [steps, 2, size])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names],
        [numpy_helper.from_array(value, name) for name, value in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model, 4 * floats(steps, 2, size)


CASES = [
    ("LSTM", {"has_peepholes": True}),
    ("LSTM", {"has_peepholes": True, "clip": 0.5}),
    ("LSTM", {"has_peepholes": True, "direction": "bidirectional", "directions": 2}),
    ("LSTM", {"input_forget": 1}),
    ("LSTM", {"activations": ["HardSigmoid", "Softsign", "Tanh"]}),
    ("LSTM", {"activations": ["Sigmoid", "ScaledTanh", "Tanh"], "activation_alpha": [1.7159],
              "activation_beta": [0.6667]}),
    ("GRU", {"clip": 0.3, "linear_before_reset": 1}),
    ("GRU", {"activations": ["HardSigmoid", "Tanh"], "direction": "reverse"}),
    ("RNN", {"clip": 0.3}),
    ("RNN", {"activations": ["Affine"], "activation_alpha": [0.5], "activation_beta": [0.1]}),
    ("RNN", {"activations": ["LeakyRelu"], "activation_alpha": [0.2]}),
    ("RNN", {"activations": ["Elu"]}),
    # Those that Takt has no kernel for.
    ("GRU", {"linear_before_reset": 0}),
    ("RNN", {"activations": ["Relu"]}),
]


@pytest.mark.parametrize("kind, own", CASES, ids=lambda each: str(each)[:50])
def test_a_special_layer_goes_step_by_step(kind, own):
    model, x = layer(kind, **own)
    ported = porter.port(model)
    assert kind not in {node.op_type for node in ported.graph.node}
    for found, wanted in zip(ort_run(ported, {"x": x}), ort_run(model, {"x": x})):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_a_usual_layer_stays():
    model, _ = layer("LSTM", activations=["Sigmoid", "Tanh", "Tanh"])
    assert "LSTM" in {node.op_type for node in porter.port(model).graph.node}


def test_a_layer_of_many_steps_stays(monkeypatch):
    monkeypatch.setattr(unrolled, "_QUICK_NODES", 100)
    for kind, own in (("GRU", {}), ("RNN", {"activations": ["Relu"]})):
        assert (kind in {node.op_type for node in porter.port(layer(kind, **own)[0]).graph.node}) == (kind == "GRU")


def test_too_many_steps_are_refused(monkeypatch):
    monkeypatch.setattr(unrolled, "NODES_MAX", 100)
    with pytest.raises(CompileError, match="4 steps of such a layer are too many"):
        porter.port(layer("LSTM", has_peepholes=True)[0])


def test_peepholes_reach_the_module(needs_compiler, tmp_path):
    model, x = layer("LSTM", has_peepholes=True)
    onnx.save(model, tmp_path / "net.onnx")
    found = takt.compile(tmp_path / "net.onnx", cache=tmp_path).load().net(x)
    for value, wanted in zip(found, ort_run(model, {"x": x})):
        np.testing.assert_allclose(value, wanted, rtol=1e-4, atol=1e-5)
