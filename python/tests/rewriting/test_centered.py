"""Constant weights of bytes with a zero point."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import helper  # noqa: E402

from takt.rewriting import centered  # noqa: E402
from test_native import QuantizedNet, compared  # noqa: E402
from test_porter import floats, kinds, model_of, run  # noqa: E402

RANDOM = np.random.default_rng(6)
SHAPES = {"Conv": ([2, 12, 7, 6], (10, 12, 3, 3), 0), "Gemm": ([5, 60], (10, 60), 0),
          "MatMul": ([2, 5, 60], (60, 10), 1)}


def product(kind, zero, changes=(), group=1, least=-128):
    """A product of dequantized bytes, and the shape of its input."""
    shape, sizes, axis = SHAPES[kind]
    sizes = (sizes[0], sizes[1] // group, *sizes[2:])
    whole = RANDOM.integers(least, 128, sizes).astype(np.int8)
    scale = np.float32(0.01) if np.ndim(zero) == 0 else RANDOM.uniform(0.01, 0.02, 10).astype(np.float32)
    own = {"Conv": {"pads": [1] * 4, "group": group}, "Gemm": {"transB": 1}, "MatMul": {}}[kind]
    bias = [] if kind == "MatMul" else ["b"]
    nodes = [helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["q"]),
             helper.make_node("DequantizeLinear", ["q", "xs", "xz"], ["f"]),
             helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["v"], axis=axis),
             helper.make_node(kind, ["f", "v", *bias], ["y"], **{**own, **dict(changes)})]
    return model_of(nodes, {"x": shape}, {"y": None}, 19, xs=np.float32(0.03), xz=np.int8(3), w=whole, ws=scale,
                    wz=np.asarray(zero, np.int8), **({"b": floats(10)} if bias else {})), shape


def check(model, shape, count):
    """So many products, of weights without a zero point, give the same."""
    changed = centered.center(model)
    feeds = {"x": floats(*shape)}
    wanted, found = (run(each, feeds)[0] for each in (model, changed))
    np.testing.assert_allclose(found, wanted, atol=1e-5 * np.abs(wanted).max())
    assert sum(kinds(changed).count(kind) for kind in SHAPES) == count
    constants = {each.name: onnx.numpy_helper.to_array(each) for each in changed.graph.initializer}
    own = [node.input for node in changed.graph.node
           if node.op_type == "DequantizeLinear" and node.input[0] in constants]
    assert len(own) == count and not any(constants[zero].any() for _, _, zero in own)


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("zero", [-7, RANDOM.integers(-30, 30, 10)])
def test_the_zero_point_is_a_product_of_its_own(kind, zero):
    check(*product(kind, zero), 2)


@pytest.mark.parametrize("kind", SHAPES)
def test_bytes_that_stay_bytes_without_it(kind):
    check(*product(kind, 20, least=-100), 1)


def test_others_stay_unless_they_are_bytes():
    """Products of groups and one with a factor stay."""
    check(*product("Conv", 20, group=2, least=-100), 1)
    for model, _ in (product("Conv", -7, group=2), product("Gemm", -7, {"alpha": 2.0})):
        assert centered.center(model) is model


def test_weights_without_a_zero_point_stay():
    model, _ = product("Conv", 0)
    assert centered.center(model) is model


def test_unsigned_weights_are_multiplied_as_bytes(needs_compiler, tmp_path):
    pytest.importorskip("onnxruntime")
    net = QuantizedNet(is_unsigned=True)
    x = net.quantize(net.conv("x", 3, 12), 0.05, 3)
    for outs, ins in ((16, 12), (20, 16)):
        whole = net.constant(net.random.integers(0, 256, (outs, ins, 3, 3)).astype(np.uint8))
        scale, zero = net.constant(np.float32(0.003)), net.constant(np.uint8(110))
        weights = net.node("DequantizeLinear", whole, scale, zero)
        x = net.quantize(net.node("Relu", net.node("Conv", x, weights, pads=[1] * 4)), 0.06, -128)
    found, pairs = compared(tmp_path, {"": (net, [1, 3, 12, 10], x)})
    assert found[""][0]["takt_conv2d_i8_f32"] == 4
    for _, want, got in pairs:
        assert np.unique(want).size > 20 and np.abs(got - want).max() <= 0.06 * 1.01  # A step.
