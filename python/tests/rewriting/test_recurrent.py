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


def layers(net, batch):
    """All results of layers of all kinds, in one tensor."""
    def state(hidden):
        if batch is not None:
            return net.weights(1, batch, hidden)
        one = net.constant(np.array([1]))
        form = net.node("Concat", one, net.node("Shape", "x", start=1, end=2), one, axis=0)
        return net.node("Expand", net.weights(1, 1, hidden), form)

    results = []
    for i, (kind, hidden, has_state) in enumerate(LAYERS):
        gates, names = GATES[kind], ["all", "next", "cell"][:3 if kind == "LSTM" else 2]
        of_state = net.random.standard_normal((1, gates * hidden, hidden)) * hidden**-0.5
        weights = [net.weights(1, gates * hidden, INPUTS), net.constant(of_state.astype(np.float32)),
                   net.weights(1, 2 * gates * hidden)]
        if has_state:
            weights += ["", *(state(hidden) for _ in names[1:])]
        own = {"linear_before_reset": 1} if kind == "GRU" else {}
        outputs = [f"{name}{i}" for name in names]
        net.nodes.append(onnx.helper.make_node(kind, ["x", *weights], outputs, hidden_size=hidden, **own))
        results += [net.node("Reshape", name, net.constant(np.array([-1]))) for name in outputs]
    return net.node("Concat", *results, axis=0)


def compiled(path, device):
    """The function of a network of open sizes, whose recurrent layers are calls, and a session of ONNX Runtime."""
    ort = pytest.importorskip("onnxruntime")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Sizes are open.
        artifact = takt.compile(path, cache=path.parent)
    assert artifact.recipe.name == "native", artifact.report
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return artifact.load(device=device).function(), session


@pytest.mark.parametrize("steps, batch, batches", [
    (None, BATCH, [BATCH] * 4), (None, None, [1, 2, 5, 8]), (6, None, [1, 2, 5, 8])])
def test_layers_of_open_sizes_are_loops_of_calls(needs_compiler, tmp_path, steps, batch, batches):
    net, path = Net(), tmp_path / "net.onnx"
    model = net.model([steps, batch, INPUTS], layers(net, batch))
    onnx.save(model, path)
    network, kernels = rewriter.rewrite(porter.port(model))
    found = collections.Counter(kernels[attribute.i].function for node in network.graph.node
                                if node.op_type == "TaktSteps" for attribute in node.attribute
                                if attribute.name == "kernel")
    assert found == {"takt_gru_steps_f32": 4, "takt_lstm_steps_f32": 2}
    function, session = compiled(path, "local-task")
    for own_steps, count in zip([steps] * 4 if steps else (1, 7, 300, 2), batches):
        x = np.random.default_rng(own_steps).standard_normal((own_steps, count, INPUTS)).astype(np.float32)
        np.testing.assert_allclose(function(x), session.run(None, {"x": x})[0], rtol=1e-4, atol=1e-5)
    states = sum(hidden * BATCH * (2 if kind == "LSTM" else 1) for kind, hidden, _ in LAYERS)
    if steps is None:
        assert function(np.zeros((0, BATCH, INPUTS), np.float32)).shape == (states,)
    if batch is None:
        assert function(np.zeros((steps or 2, 0, INPUTS), np.float32)).shape == (0,)


def test_states_of_another_number_of_sequences_are_for_no_kernel():
    """A call could read beyond them."""
    net = Net()
    net.nodes.append(onnx.helper.make_node(
        "GRU", ["x", net.weights(1, 96, INPUTS), net.weights(1, 96, 32), "", "",
                net.node("Unsqueeze", net.node("ReduceMean", "x", axes=[0, 2]), net.constant(np.array([0, 2])))],
        ["", "last"], hidden_size=32, linear_before_reset=1))
    network, kernels = rewriter.rewrite(porter.port(net.model([None, None, INPUTS], "last")))
    assert "TaktSteps" not in {node.op_type for node in network.graph.node}


def test_layers_of_one_size_have_states_of_their_own(needs_compiler, tmp_path):
    """One behind the other and beside each other, with no states before the first step."""
    def layer(net, x, inputs):
        weights = [net.weights(1, 4 * 32, size) for size in (inputs, 32)]
        output = net.node("LSTM", x, *weights, net.weights(1, 8 * 32), hidden_size=32)
        return net.node("Squeeze", output, net.constant(np.array([1])))

    for name, steps in (("behind", 6), ("beside", None)):
        net, path = Net(), tmp_path / f"{name}.onnx"
        x = layer(net, "x", INPUTS)
        y = layer(net, x, 32) if name == "behind" else net.node("Add", x, layer(net, "x", INPUTS))
        onnx.save(net.model([steps, None, INPUTS], y), path)
        function, session = compiled(path, "local-sync")
        for count in (1, 3, 8):
            x = np.random.default_rng(count).standard_normal((6, count, INPUTS)).astype(np.float32)
            np.testing.assert_allclose(function(x), session.run(None, {"x": x})[0], rtol=1e-4, atol=1e-5)
