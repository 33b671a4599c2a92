"""Operators in terms of those through which samples can be followed."""

import functools

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import parser  # noqa: E402

from takt.networks import counting, samples  # noqa: E402
from takt.porting import porter  # noqa: E402
from test_porter import floats, ort_run  # noqa: E402

IN_TERMS = functools.partial(porter.in_terms_of, samples.KNOWN)
# Rows of queries, keys and values; bytes; a signal.
CASES = {
    "heads": ("float[N,3,16] x", "y = com.microsoft.MultiHeadAttention<num_heads = 2>(x, x, x)"),
    "attention": ("float[N,2,3,8] x", "y = Attention<is_causal = 1>(x, x, x)"),
    "skipped norm": ("float[N,3,4] x", "y = com.microsoft.SkipLayerNormalization(x, x, four)"),
    "product": ("float[N,4] x", "y = com.microsoft.FusedMatMul<alpha = 0.5>(x, weights)"),
    "bytes": ("float[N,4] x", "b = QuantizeLinear(x, s, z) q = QLinearMatMul(b, s, z, codes, s, z, s, z) "
              "y = DequantizeLinear(q, s, z)"),
    "transform": ("float[N,8,1] x", "y = DFT<onesided = 1>(x, , axis)"),
    "frames": ("float[N,16] x", "y = STFT(x, step, window)"),
    "groups": ("float[N,4,3,3] x", "y = GroupNormalization<num_groups = 2>(x, four, four)"),
    "blocks": ("float[N,2,4,4] x", "n = Shape<start = 2, end = 3>(x) h = Squeeze(n) i = Range(zero, h, one) "
               "g = Gather<axis = 2>(x, i) b = Reshape(g, shape) y = Col2Im<strides = [2, 2]>(b, sizes, block)"),
    "triangle": ("float[N,3,3] x", "y = Trilu(x)"),
}
CONSTANTS = ("float[4] four = {1, 2, 3, 4}, float[4,2] weights = {1, 2, 3, 4, 5, 6, 7, 8}, float s = {0.1}, "
             "uint8 z = {100}, uint8[4,2] codes = {90, 100, 110, 120, 95, 105, 101, 99}, int64 step = {4}, "
             "float[8] window = {1, 2, 3, 4, 4, 3, 2, 1}, int64 axis = {1}, int64 zero = {0}, int64 one = {1}, "
             "int64[3] shape = {-1, 8, 4}, int64[2] sizes = {4, 4}, int64[2] block = {2, 2}")


def network(case):
    x, text = CASES[case]
    return parser.parse_model('<ir_version: 10, opset_import: ["" : 23, "com.microsoft" : 1]>\n'
                              f"net ({x}) => (float[N,...] y) <{CONSTANTS}> {{ {text} }}".replace(",...", ""))


@pytest.mark.parametrize("case", CASES)
def test_samples_are_followed(case):
    model = network(case)
    model.graph.output[0].type.tensor_type.ClearField("shape")
    if case != "triangle":
        with pytest.raises(counting.Unproved):
            samples.split(model)
    one = samples.split(model, IN_TERMS)
    x = floats(3, *(dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim[1:]))
    wanted = ort_run(model, {"x": x})[0]
    for i in range(3):
        found = ort_run(porter.port(one.model), {"x": x[i:i + 1]})[0]
        np.testing.assert_allclose(found, wanted[i:i + 1], rtol=1e-4, atol=1e-4)


LOOP = """y0 = SequenceEmpty() n = Shape<start = 1, end = 2>(x) count = Squeeze(n)
    all = Loop(count, yes, y0) <body = turn
        (int64 i, bool c, seq(float[N,4]) before) => (bool d, seq(float[N,4]) after) {
      d = Identity(c)
      row = Gather<axis = 1>(x, i)
      found = Relu(row)
      after = SequenceInsert(before, found)
    }> y = ConcatFromSequence<axis = 1, new_axis = 1>(all)"""


def test_loops_that_make_sequences():
    model = parser.parse_model('<ir_version: 10, opset_import: ["" : 17]>\nnet (float[N,3,4] x) => (float[N,3,4] y) '
                               f"<bool yes = {{1}}> {{ {LOOP} }}")
    one = samples.split(model, IN_TERMS)
    x = floats(2, 3, 4)
    np.testing.assert_array_equal(ort_run(porter.port(one.model), {"x": x[1:]})[0], np.maximum(x[1:], 0))


def test_loops_whose_turns_are_samples_are_not_split():
    model = parser.parse_model('<ir_version: 10, opset_import: ["" : 17]>\nnet (float[N,3,4] x) => (float[N,3,4] y) '
                               f"<bool yes = {{1}}> {{ {LOOP.replace('start = 1, end = 2', 'start = 0, end = 1')} }}")
    with pytest.raises(counting.Unproved):
        samples.split(model, IN_TERMS)


def test_what_mixes_samples_is_not_split():
    model = parser.parse_model('<ir_version: 10, opset_import: ["" : 23, "com.microsoft" : 1]>\nnet (float[N,4] x) => '
                               "(float[N,N] y) { y = com.microsoft.FusedMatMul<transB = 1>(x, x) }")
    with pytest.raises(counting.Unproved):
        samples.split(model, IN_TERMS)


def test_a_network_of_known_operators_stays():
    model = parser.parse_model('<ir_version: 10, opset_import: ["" : 23]>\nnet (float[N,4] x) => (float[N,4] y) '
                               "{ y = Relu(x) }")
    assert IN_TERMS(model) is model
