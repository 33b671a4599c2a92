"""Quantizations of one tensor that give the same bytes."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper  # noqa: E402

from takt.rewriting import equals  # noqa: E402
from test_porter import floats, kinds, model_of, run  # noqa: E402

NUMBERS = {"scale": np.float32(0.05), "same": np.float32(0.05), "other": np.float32(0.1), "zero": np.int8(3),
           "equal": np.int8(3), "low": np.int8(-7)}


def quantize(source, scale, zero, result):
    return helper.make_node("QuantizeLinear", [source, scale, zero], [result])


def floats_of(source, scale, zero, result):
    return helper.make_node("DequantizeLinear", [source, scale, zero], [result])


@pytest.mark.parametrize("scale, zero, left", [
    ("scale", "zero", 1), ("same", "equal", 1), ("other", "zero", 2), ("scale", "low", 2),
])
def test_equal_quantizations_become_one(scale, zero, left):
    nodes = [helper.make_node("Relu", ["x"], ["r"]),
             quantize("r", "scale", "zero", "a"), floats_of("a", "scale", "zero", "p"),
             quantize("r", scale, zero, "b"), floats_of("b", scale, zero, "q"),
             helper.make_node("Sub", ["p", "q"], ["y"])]
    model = model_of(nodes, {"x": [4, 6]}, {"y": [4, 6]}, 21, **NUMBERS)
    merged = equals.merge(model)
    assert kinds(merged).count("QuantizeLinear") == left
    x = floats(4, 6)
    np.testing.assert_array_equal(run(merged, {"x": x}), run(model, {"x": x}))


def test_results_stay_and_subgraphs_read_what_is_left():
    then = helper.make_graph([floats_of("b", "scale", "zero", "p")], "then", [],
                             [helper.make_tensor_value_info("p", TensorProto.FLOAT, [4])])
    other = helper.make_graph([helper.make_node("Neg", ["x"], ["n"])], "other", [],
                              [helper.make_tensor_value_info("n", TensorProto.FLOAT, [4])])
    nodes = [quantize("x", "scale", "zero", "a"), quantize("x", "scale", "zero", "b"),
             quantize("x", "scale", "zero", "c"),
             helper.make_node("If", ["is"], ["y"], then_branch=then, else_branch=other)]
    results = {"a": (TensorProto.INT8, [4]), "y": [4], "c": (TensorProto.INT8, [4])}
    model = model_of(nodes, {"x": [4], "is": (TensorProto.BOOL, [])}, results, 21, **NUMBERS)
    merged = equals.merge(model)
    assert kinds(merged).count("QuantizeLinear") == 2
    feeds = {"x": floats(4), "is": np.array(True)}
    for wanted, found in zip(run(model, feeds), run(merged, feeds), strict=True):
        np.testing.assert_array_equal(found, wanted)
    single = model_of(nodes[:1], {"x": [4]}, {"a": (TensorProto.INT8, [4])}, 21, **NUMBERS)
    assert equals.merge(single) is single
