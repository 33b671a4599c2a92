"""Networks of 16 bits without a sign."""

import numpy as np
import pytest

import takt

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

from takt.porting import words  # noqa: E402


def quantized(domain="", between="Transpose", result="y"):
    """A product of words by weights of words, one scale for each of its results."""
    constants = {
        "scale": np.float32(1e-4), "zero": np.uint16(30000), "scales": np.float32([2e-4, 1e-4, 3e-4]),
        "zeros": np.uint16([0, 65535, 40000]), "w": np.random.default_rng(2).integers(0, 65536, (4, 3)).astype(np.uint16),
    }
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["q"], domain=domain),
        helper.make_node(between, ["q"], ["t"]),
        helper.make_node("DequantizeLinear", ["t", "scale", "zero"], ["d"], domain=domain),
        helper.make_node("DequantizeLinear", ["w", "scales", "zeros"], ["v"], axis=1, domain=domain),
        helper.make_node("MatMul", ["d", "v"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 4])],
        [helper.make_tensor_value_info(result, TensorProto.FLOAT if result == "y" else TensorProto.UINT16, None)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()])
    return helper.make_model(
        graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)])


@pytest.mark.parametrize("domain", ["", "com.microsoft"])
def test_words_become_rounded_floats(domain):
    model = words.in_floats(quantized(domain))
    assert not {node.op_type for node in model.graph.node} & {"QuantizeLinear", "DequantizeLinear"}
    x = np.linspace(-9, 9, 16, dtype=np.float32).reshape(4, 4)  # The ends are beyond the words.
    own, = ReferenceEvaluator(model).run(None, {"x": x})
    expected, = ReferenceEvaluator(quantized()).run(None, {"x": x})
    np.testing.assert_allclose(own, expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("shape", [(), (1,)])
def test_one_scale_needs_no_shape(shape):
    """That of what other domains give is not known yet."""
    model = quantized()
    model.graph.node.insert(0, helper.make_node("Gelu", ["x"], ["gelu"], domain="com.microsoft"))
    model.graph.node[1].input[0] = "gelu"
    for tensor in model.graph.initializer[:2]:
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).reshape(shape), tensor.name))
    assert not {node.op_type for node in words.in_floats(model).graph.node} & {"QuantizeLinear", "DequantizeLinear"}


def test_networks_without_words_stay():
    model = quantized()
    for tensor in model.graph.initializer:
        if tensor.data_type == TensorProto.UINT16:
            values = numpy_helper.to_array(tensor).astype(np.int32) - 32768
            tensor.CopyFrom(numpy_helper.from_array(values.astype(np.int16), tensor.name))
    assert words.in_floats(model) is model


@pytest.mark.parametrize("between, result", [("Sign", "y"), ("Transpose", "t"), ("Transpose", "q")])
def test_what_is_more_than_moved_stays_what_it_is(needs_compiler, tmp_path, between, result):
    model = quantized(between=between, result=result)
    onnx.save(model, tmp_path / "net.onnx")
    x = np.linspace(-9, 9, 16, dtype=np.float32).reshape(4, 4)
    found = takt.compile(tmp_path / "net.onnx", cache=tmp_path / "cache").load(device="local-sync").function()(x)
    expected, = ReferenceEvaluator(model).run(None, {"x": x})
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-3 if result == "y" else 0)


def test_they_compile(needs_compiler, tmp_path):
    onnx.save(quantized(), tmp_path / "net.onnx")
    function = takt.compile(tmp_path / "net.onnx", cache=tmp_path / "cache").load(device="local-sync").function()
    x = np.linspace(-2, 2, 16, dtype=np.float32).reshape(4, 4)
    expected, = ReferenceEvaluator(quantized()).run(None, {"x": x})
    np.testing.assert_allclose(function(x), expected, rtol=1e-4, atol=1e-3)
