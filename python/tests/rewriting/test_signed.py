"""Unsigned bytes as signed ones."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper, parser  # noqa: E402

import test_folding  # noqa: E402
from takt.rewriting import signed  # noqa: E402
from takt.networks import folding  # noqa: E402


def model_of(nodes, result, element=TensorProto.FLOAT, **constants):
    return folding.fold(test_folding.model_of(nodes, [2, 3, 8], result, element, **constants))


def run(model, x):
    onnxruntime = pytest.importorskip("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    return session.run(None, {"x": x})[0]


def check(model):
    found = signed.shift(model)
    onnx.checker.check_model(found, full_check=True)
    types = {tensor.data_type for tensor in found.graph.initializer}
    types |= {value.type.tensor_type.elem_type for value in found.graph.value_info}
    assert TensorProto.UINT8 not in types and TensorProto.INT8 in types
    # Below and above the bytes, too.
    x = np.random.default_rng(1).uniform(-9, 9, (2, 3, 8)).astype(np.float32)
    want = run(model, x)
    np.testing.assert_array_equal(run(found, x), want)
    assert np.unique(want).size > 20


def test_bytes_that_are_moved():
    check(model_of(
        [
            helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["bytes"]),
            helper.make_node("Transpose", ["bytes"], ["turned"], perm=[1, 0, 2]),
            helper.make_node("DequantizeLinear", ["turned", "scale", "zero"], ["y"]),
        ], "y", scale=np.float32(0.04), zero=np.uint8(100)))


@pytest.mark.parametrize("value", [None, 0, 250])
def test_bytes_that_others_surround(value):
    constants = {} if value is None else {"value": np.uint8(value)}
    model = model_of(
        [
            helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["bytes"]),
            helper.make_node("Pad", ["bytes", "sides", *constants], ["wide"]),
            helper.make_node("DequantizeLinear", ["wide", "scale", "zero"], ["y"]),
        ], "y", scale=np.float32(0.04), zero=np.uint8(100), sides=np.array([0, 1, 0, 0, 0, 2]), **constants)
    if constants:
        check(model)
    else:  # By bytes of 0, which are no inputs.
        assert signed.shift(model) is model


def test_bytes_without_a_zero_point():
    check(model_of(
        [
            helper.make_node("QuantizeLinear", ["x", "scale"], ["bytes"]),
            helper.make_node("DequantizeLinear", ["bytes", "scale"], ["y"]),
        ], "y", scale=np.float32(0.04)))


@pytest.mark.parametrize("element, has_zero, is_shifted", [
    (0, True, True), (TensorProto.UINT8, True, True), (TensorProto.UINT8, False, True), (TensorProto.INT8, False, False)])
def test_bytes_whose_type_is_stated(element, has_zero, is_shifted):
    """ONNX Runtime states all attributes of the networks that it saves."""
    constants = {"scale": np.float32(0.04), **({"zero": np.uint8(100)} if has_zero else {})}
    model = test_folding.model_of(
        [
            helper.make_node("QuantizeLinear", ["x", *constants], ["bytes"], output_dtype=element, saturate=1),
            helper.make_node("DequantizeLinear", ["bytes", *constants], ["y"], block_size=0),
        ], [2, 3, 8], "y", **constants)
    model.opset_import[0].version = 21
    model = folding.fold(model)
    if is_shifted:
        check(model)
    else:
        assert signed.shift(model) is model


def test_constant_bytes_of_channels():
    check(model_of(
        [
            helper.make_node("DequantizeLinear", ["weights", "scales", "zeros"], ["factors"], axis=1),
            helper.make_node("Mul", ["x", "factors"], ["y"]),
        ], "y", weights=np.arange(0, 255, 11, dtype=np.uint8).reshape(1, 3, 8),
        scales=np.array([0.1, 0.2, 0.3], np.float32), zeros=np.array([0, 128, 255], np.uint8)))


@pytest.mark.parametrize("result", ["bytes", "y"])
def test_bytes_that_are_more_than_quantized_numbers_stay(result):
    nodes = [helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["bytes"])]
    if result == "y":
        nodes.append(helper.make_node("Cast", ["bytes"], ["y"], to=TensorProto.FLOAT))
    element = TensorProto.FLOAT if result == "y" else TensorProto.UINT8
    model = model_of(nodes, result, element, scale=np.float32(0.04), zero=np.uint8(100))
    assert signed.shift(model) is model


def test_other_bytes_beside_quantized_numbers_stay():
    """An image of bytes, as policies take it."""
    text = """<ir_version: 8, opset_import: ["" : 17]> net (float[2,3,8] x) => (uint8[2,3,8] y)
        <float scale = {0.04}, uint8 zero = {100}, float[1] tenth = {0.1}, uint8 other = {10}> {
            bytes = Cast<to = 2>(x)  f = Cast<to = 1>(bytes)  small = Mul(f, tenth)
            q = QuantizeLinear(small, scale, zero)  t = Transpose<perm = [1, 0, 2]>(q)  u = Transpose<perm = [1, 0, 2]>(t)
            d = DequantizeLinear(u, scale, zero)  y = QuantizeLinear(d, scale, other) }"""
    model = folding.fold(parser.parse_model(text))
    found = signed.shift(model)
    onnx.checker.check_model(found, full_check=True)
    kinds = {value.name: value.type.tensor_type.elem_type for value in found.graph.value_info}
    kinds |= {tensor.name: tensor.data_type for tensor in found.graph.initializer}
    unsigned = {name for name, kind in kinds.items() if kind == TensorProto.UINT8}
    assert unsigned == {"bytes", "other"}
    x = np.random.default_rng(1).uniform(0, 255, (2, 3, 8)).astype(np.float32)
    np.testing.assert_array_equal(run(found, x), run(model, x))


def test_networks_without_bytes_stay():
    model = model_of([helper.make_node("Relu", ["x"], ["y"])], "y")
    assert signed.shift(model) is model
