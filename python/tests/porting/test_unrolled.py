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


def open_layer(kind, direction="forward", has_lengths=False, is_batch_open=True, **own):
    """A layer with any number of steps, for two sequences or any number of them."""
    model, _ = layer(kind, directions=2 if direction == "bidirectional" else 1, direction=direction, **own)
    node, sizes = model.graph.node[0], model.graph.input[0].type.tensor_type.shape.dim
    sizes[0].dim_param = "steps"
    if is_batch_open:
        sizes[1].dim_param = "batch"
        node.input[5] = ""  # Its states are of two.
    if has_lengths:
        node.input[4] = "lengths"
        model.graph.input.append(helper.make_tensor_value_info(
            "lengths", TensorProto.INT32, ["batch" if is_batch_open else 2]))
    return model


def layer_of_any_batch(kind, steps, **own):
    """A layer of so many steps, for any number of sequences."""
    model = open_layer(kind, **own)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = steps
    return model


OPEN = [
    ("GRU", {}),
    ("GRU", {"linear_before_reset": 1, "is_batch_open": False}),
    ("GRU", {"direction": "bidirectional", "has_lengths": True}),
    ("RNN", {"direction": "reverse", "has_lengths": True, "activations": ["Relu"]}),
    ("RNN", {"direction": "bidirectional", "is_batch_open": False}),
    ("LSTM", {"direction": "bidirectional", "has_lengths": True}),
    ("LSTM", {"has_peepholes": True, "has_lengths": True, "is_batch_open": False}),
]


def arguments_of(model, steps, batch):
    inputs = {"x": 4 * floats(steps, batch, 5), "lengths": np.array([steps - 1, steps, 1][:batch], np.int32)}
    return [inputs[value.name] for value in model.graph.input]


@pytest.mark.parametrize("kind, own", OPEN, ids=lambda each: str(each)[:50])
def test_a_layer_of_any_number_of_steps(kind, own):
    model = open_layer(kind, **own)
    ported = porter.port(model)
    has_kernel = kind == "LSTM" and "has_peepholes" not in own or kind == "GRU" and "linear_before_reset" in own or (
        kind == "RNN" and "activations" not in own)
    assert (kind in {node.op_type for node in ported.graph.node}) == has_kernel
    ported = porter.for_compiler(ported)
    found = {node.op_type for node in ported.graph.node}
    assert kind not in found and "Loop" in found
    for steps, batch in ((4, 2), (1, 2), (9, 3 if own.get("is_batch_open", True) else 2)):
        feeds = dict(zip(("x", "lengths"), arguments_of(model, steps, batch)))
        for value, wanted in zip(ort_run(ported, feeds), ort_run(model, feeds)):
            np.testing.assert_allclose(value, wanted, rtol=1e-4, atol=1e-5)


def test_steps_that_nothing_reads_are_no_state():
    for outputs, states in ((["y", "last"], 2), (["", "last"], 1)):
        model = open_layer("GRU")
        model.graph.node[0].output[:] = outputs
        del model.graph.output[:2 - states]
        ported = porter.port(model)
        loop, = (node for node in ported.graph.node if node.op_type == "Loop")
        assert len(loop.output) == states
        x, = arguments_of(model, 4, 2)
        for value, wanted in zip(ort_run(ported, {"x": x}), ort_run(model, {"x": x})):
            np.testing.assert_allclose(value, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind, own", [("GRU", {}), ("RNN", {"activations": ["Relu"]})])
def test_known_steps_of_any_number_of_sequences_are_a_loop(kind, own):
    """If Takt has no kernel for the layer."""
    model = layer_of_any_batch(kind, 4, **own)
    ported = porter.port(model)
    assert kind not in {node.op_type for node in ported.graph.node}
    for batch in (1, 3):
        x, = arguments_of(model, 4, batch)
        for value, wanted in zip(ort_run(ported, {"x": x}), ort_run(model, {"x": x})):
            np.testing.assert_allclose(value, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind, own", [("GRU", {"linear_before_reset": 1}), ("LSTM", {}), ("RNN", {})])
def test_known_steps_of_any_number_of_sequences_are_for_kernels(kind, own):
    ported = porter.port(layer_of_any_batch(kind, 4, **own))
    assert kind in {node.op_type for node in ported.graph.node}


def test_any_number_of_steps_reaches_the_module(needs_compiler, tmp_path):
    model = open_layer("GRU", direction="bidirectional", has_lengths=True)
    onnx.save(model, tmp_path / "net.onnx")
    with pytest.warns(UserWarning, match="dimensions of inputs are open"):
        net = takt.compile(tmp_path / "net.onnx", cache=tmp_path).load().net
    for steps, batch in ((5, 2), (2, 3)):
        x, lengths = arguments_of(model, steps, batch)
        for value, wanted in zip(net(x, lengths), ort_run(model, {"x": x, "lengths": lengths})):
            np.testing.assert_allclose(value, wanted, rtol=1e-4, atol=1e-5)
