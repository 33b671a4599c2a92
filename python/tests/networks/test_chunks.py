"""How many samples are computed at once."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import parser  # noqa: E402

from takt.networks import chunks  # noqa: E402


def sizes(text, **constants):
    model = parser.parse_model('<ir_version: 8, opset_import: ["" : 17]>\n' + text)
    for name, value in constants.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(value, name))
    return chunks.sizes(model)


def zeros(*shape):
    return np.zeros(shape, np.float32)


@pytest.mark.parametrize("text", [
    "net (float[1,8] x) => (float[1,4] y) { y = MatMul(x, w) }",
    "net (float[1,8] x) => (float[1,8] y) { y = Gemm<transB = 1>(x, w) }",
    "net (float[1,15,8] x) => (float[1,15,4] y) { y = MatMul(x, w) }",
])
def test_products_of_few_rows_are_computed_at_once(text):
    assert sizes(text, w=zeros(8, 4)) == (16, 4)


def test_many_samples_share_many_weights_of_a_short_network():
    net = "net (float[1,64] x) => (float[1,64] y) { y = MatMul(x, w) }"
    assert sizes(net, w=zeros(64, 64)) == (64, 16, 4)
    long = " ".join(f"t{i + 1} = Relu(t{i})" for i in range(32))
    assert sizes(net.replace("y = MatMul", f"t0 = Neg(x) {long} y = MatMul"), w=zeros(64, 64)) == (16, 4)


def test_products_of_many_rows_are_not():
    assert sizes("net (float[1,16,8] x) => (float[1,16,4] y) { y = MatMul(x, w) }", w=zeros(8, 4)) == ()


@pytest.mark.parametrize("operator", ["Conv", "ConvTranspose"])
def test_convolutions_use_their_weights_at_each_place(operator):
    net = f"net (float[1,8,5,5] x) => (float[1,8,5,5] y) {{ y = {operator}(x, w) }}"
    assert sizes(net, w=zeros(8, 8, 1, 1)) == ()
    assert sizes(net.replace("5,5", "2,2"), w=zeros(8, 8, 1, 1)) == (16, 4)


def test_what_counts_are_the_uses_of_most_weights():
    net = ("net (float[1,4,8,8] x) => (float[1,WIDTH] y) "
           "{ c = Conv<pads = [1, 1, 1, 1]>(x, w) f = Flatten(c) y = MatMul(f, v) }")
    assert sizes(net.replace("WIDTH", "32"), w=zeros(4, 4, 3, 3), v=zeros(256, 32)) == (64, 16, 4)
    assert sizes(net.replace("WIDTH", "1"), w=zeros(4, 4, 3, 3), v=zeros(256, 1)) == ()


def test_a_state_uses_its_weights_in_each_step():
    net = "net (float[STEPS,1,8] x) => (float[STEPS,1,1,16] y) { y = GRU<hidden_size = 16>(x, w, r) }"
    weights = {"w": zeros(1, 48, 8), "r": zeros(1, 48, 16)}
    assert sizes(net.replace("STEPS", "10"), **weights) == (16, 4)
    assert sizes(net.replace("STEPS", "16"), **weights) == ()


def test_weights_of_bytes_count():
    net = "net (float[1,8] x) => (float[1,4] y) { f = DequantizeLinear(w, s, z) y = MatMul(x, f) }"
    assert sizes(net, w=np.zeros((8, 4), np.int8), s=np.float32(0.1), z=np.int8(0)) == (16, 4)


def test_rows_of_tables_are_looked_for_at_once():
    net = "net (float[1,8] x) => (float[1,3] y) { i = ArgMax<axis = 1, keepdims = 0>(x) y = Gather(DATA) }"
    assert sizes(net.replace("DATA", "t, i"), t=zeros(8, 3)) == (16, 4)
    assert sizes(net.replace("DATA", "x, t"), t=np.zeros(3, np.int64)) == ()


def test_a_network_without_weights_has_no_gain():
    assert sizes("net (float[1,8] x) => (float[1,8] y) { y = Relu(x) }") == ()
    assert sizes("net (float[1,8] x, float[8,4] v) => (float[1,4] y) { y = MatMul(x, v) }") == ()
