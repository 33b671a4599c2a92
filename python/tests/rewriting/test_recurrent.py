"""Recurrent layers of any number of steps."""

import collections
import warnings

import numpy as np
import pytest

import takt
from test_native import Net

onnx = pytest.importorskip("onnx")

from takt.porting import porter  # noqa: E402
from takt.rewriting import rewriter  # noqa: E402

BATCH, INPUTS = 2, 12
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
LAYERS = [("GRU", 32, False), ("GRU", 21, True), ("LSTM", 32, False), ("LSTM", 40, True), ("RNN", 24, True),
          ("GRU", 512, False)]


def layers(net):
    """All results of layers of all kinds, in one tensor."""
    results = []
    for i, (kind, hidden, has_state) in enumerate(LAYERS):
        gates, names = GATES[kind], ["all", "next", "cell"][:3 if kind == "LSTM" else 2]
        of_state = net.random.standard_normal((1, gates * hidden, hidden)) * hidden**-0.5
        weights = [net.weights(1, gates * hidden, INPUTS), net.constant(of_state.astype(np.float32)),
                   net.weights(1, 2 * gates * hidden)]
        if has_state:
            weights += ["", *(net.weights(1, BATCH, hidden) for _ in names[1:])]
        own = {"linear_before_reset": 1} if kind == "GRU" else {}
        outputs = [f"{name}{i}" for name in names]
        net.nodes.append(onnx.helper.make_node(kind, ["x", *weights], outputs, hidden_size=hidden, **own))
        results += [net.node("Reshape", name, net.constant(np.array([-1]))) for name in outputs]
    return net.node("Concat", *results, axis=0)


def test_layers_of_any_number_of_steps_are_loops_of_calls(needs_compiler, tmp_path):
    ort = pytest.importorskip("onnxruntime")
    net, path = Net(), tmp_path / "net.onnx"
    model = net.model([None, BATCH, INPUTS], layers(net))
    onnx.save(model, path)
    network, kernels = rewriter.rewrite(porter.port(model))
    found = collections.Counter(kernels[attribute.i].function for node in network.graph.node
                                if node.op_type == "TaktSteps" for attribute in node.attribute
                                if attribute.name == "kernel")
    assert found == {"takt_gru_steps_f32": 4, "takt_lstm_steps_f32": 2}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Sizes are open.
        artifact = takt.compile(path, cache=tmp_path)
    assert artifact.recipe.name == "native", artifact.report
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    function = artifact.load(device="local-task").function()
    for steps in (1, 7, 300, 2):
        x = np.random.default_rng(steps).standard_normal((steps, BATCH, INPUTS)).astype(np.float32)
        np.testing.assert_allclose(function(x), session.run(None, {"x": x})[0], rtol=1e-4, atol=1e-5)
    states = sum(hidden * BATCH * (2 if kind == "LSTM" else 1) for kind, hidden, _ in LAYERS)
    assert function(np.zeros((0, BATCH, INPUTS), np.float32)).shape == (states,)
