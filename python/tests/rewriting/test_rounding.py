"""Quantizations that are left to the compiler."""

import collections

import numpy as np
import pytest

from test_native import Net, QuantizedNet, compared

onnx = pytest.importorskip("onnx")

from takt.rewriting import rounding  # noqa: E402


def kinds_of(model):
    return collections.Counter(node.op_type for node in model.graph.node)


@pytest.mark.parametrize("kind, zero", [
    ("int8", 0), ("int8", -128), ("int8", 17), ("uint8", 0), ("uint8", 200), ("int16", -9), ("uint16", 7)])
def test_bytes_are_those_of_a_quantization(kind, zero):
    """Of numbers between two steps and beyond the range, of either sign."""
    onnxruntime = pytest.importorskip("onnxruntime")
    model = onnx.helper.make_model(onnx.parser.parse_graph(
        f"net (float[n] x) => ({kind}[n] y) <float scale = {{0.037}}, {kind} zero = {{{zero}}}> "
        "{ y = QuantizeLinear(x, scale, zero) }"),
        opset_imports=[onnx.helper.make_opsetid("", 21)], ir_version=10)
    found = rounding.spell_out(model)
    assert kinds_of(found)["QuantizeLinear"] == 0
    steps = np.arange(-600, 600, 3) / 2
    for x in (steps * np.float32(0.037), steps * 1e6, np.array([np.nan, np.inf, -np.inf, 1])):
        want, got = (onnxruntime.InferenceSession(each.SerializeToString(), providers=["CPUExecutionProvider"]).run(
            None, {"x": x.astype(np.float32)})[0] for each in (model, found))
        assert np.unique(want).size > 1
        np.testing.assert_array_equal(got, want)


def test_bytes_between_loops_stay_floats():
    net = QuantizedNet()
    x = net.node("Mul", net.quantize("x", 0.03, 5), net.weights(16, 1, 1))
    y = net.node("Relu", net.quantize(x, 0.04, -7))
    assert kinds_of(rounding.spell_out(net.model([1, 16, 9, 9], y))) == {
        "Div": 2, "Greater": 2, "Where": 2, "Clip": 2, "Add": 2, "Sub": 2, "Mul": 3, "Relu": 1}
    z = net.node("MatMul", net.quantize(x, 0.04, -7), net.weights(9, 9))
    found = kinds_of(rounding.spell_out(net.model([1, 16, 9, 9], z)))
    assert (found["Cast"], found["DequantizeLinear"]) == (1, 1)


def test_a_network_without_quantizations_stays():
    net = Net()
    model = net.model([1, 4, 5, 5], net.node("Relu", "x"))
    assert rounding.spell_out(model) is model
    vector = net.node("QuantizeLinear", "x", net.constant(np.ones(4, np.float32)), net.constant(np.zeros(4, np.int8)),
                      axis=1)
    model = net.model([1, 4, 5, 5], net.node("DequantizeLinear", vector, net.constant(np.float32(1)),
                                             net.constant(np.int8(0))))
    assert rounding.spell_out(model) is model


def test_chains_of_quantizations_agree(needs_compiler, tmp_path):
    """Factors of channels, some of which the network computes, with bytes between all operators."""
    pytest.importorskip("onnxruntime")
    net = QuantizedNet()
    x = net.quantize("x", 0.03, 9)
    y = net.quantize(net.product("Conv", x, 0.03, (20, 3, 3, 3), 0, pads=[1, 1, 1, 1]), 0.1, 5)
    gate = net.quantize(net.node("Sigmoid", net.node("GlobalAveragePool", y)), 0.004, -128)
    y = net.quantize(net.node("Mul", y, gate), 0.06, 3)
    y = net.quantize(net.node("Relu", net.quantize(net.node("Add", y, net.weights(20, 1, 1)), 0.07, -2)), 0.05, -9)
    y = net.quantize(net.product("Conv", y, 0.05, (8, 20, 1, 1), 0), 0.1, 5)
    found, pairs = compared(tmp_path, {"chain": (net, [2, 3, 11, 14], y)}, devices=["local-task"])
    assert found["chain"][0]["takt_conv2d_i8"] == 2
    for case, want, got in pairs:
        assert np.unique(want).size > 20, case
        assert np.abs(got - want).max() <= 0.101, case
