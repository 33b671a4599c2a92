"""Pools whose last window would begin behind the image."""

import numpy as np
import pytest

import together

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

from onnx import parser  # noqa: E402

from takt.porting import overhang  # noqa: E402


def network(text):
    return parser.parse_model('<ir_version: 8, opset_import: ["" : 17]>\n' + text)


def pooled_twice(kind, size, kernel, stride, pads, dilation):
    dilations = f", dilations = [{dilation}, {dilation}]" if dilation > 1 else ""
    attributes = (f"kernel_shape = [{kernel}, {kernel}], strides = [{stride}, {stride}], ceil_mode = 1, "
                  f"pads = [{pads[0]}, {pads[0]}, {pads[1]}, {pads[1]}]{dilations}")
    return network(f"net (float[1,2,{size},{size}] x) => (float[?,?,?,?] y) "
                   f"{{ r = Relu(x) p = {kind}<{attributes}>(r) y = {kind}<kernel_shape = [2,2], strides = [2,2], "
                   "ceil_mode = 1, pads = [1,1,0,0]>(p) }")


def test_there_is_no_window_in_the_padding(needs_compiler, tmp_path):
    cases = {}
    for case in [*((kind, *each, 1) for kind in ("MaxPool", "AveragePool")
                   for each in ((11, 2, 3, (1, 0)), (7, 2, 2, (1, 1)), (9, 3, 2, (1, 1)), (8, 1, 3, (0, 0)))),
                 ("MaxPool", 13, 2, 5, (1, 1), 2)]:
        x = np.random.default_rng(3).standard_normal((1, 2, case[1], case[1])).astype(np.float32)
        cases[case] = pooled_twice(*case), [x]
    for case, found in together.results(tmp_path, cases).items():
        model, (x,) = cases[case]
        wanted = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0]
        np.testing.assert_allclose(found, wanted, atol=1e-6, err_msg=str(case))


def test_the_padding_counts_and_what_is_behind_it_does_not(needs_compiler, tmp_path):
    """No window of rows begins behind the padding, and the last one of columns reaches behind it."""
    model = network("net (float[1,2,10,13] x) => (float[?,?,?,?] y) { y = AveragePool<kernel_shape = [2,3], "
                    "strides = [3,2], pads = [1,2,1,1], ceil_mode = 1, count_include_pad = 1>(x) }")
    x = np.random.default_rng(3).standard_normal((1, 2, 10, 13)).astype(np.float32)
    wanted = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0]
    found = together.results(tmp_path, {"": (model, [x])})[""]
    np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_other_pools_stay():
    model = network("net (float[1,2,8,8] x) => (float[1,2,4,4] y) "
                    "{ y = MaxPool<kernel_shape = [2,2], strides = [2,2], ceil_mode = 1>(x) }")
    assert overhang.cut(model) is model


def test_nodes_without_inputs_stay_beside_pools():
    model = network("net (float[1,2,9,9] x) => (float[?,?,?,?] y) "
                    "{ c = Constant<value_float = 2.0>() p = MaxPool<kernel_shape = [1,1], strides = [3,3], "
                    "ceil_mode = 1>(x) y = Mul(p, c) }")
    kinds = [node.op_type for node in overhang.cut(model).graph.node]
    assert kinds == ["Constant", "MaxPool", "Mul"]


def test_sizes_behind_operators_of_other_domains_are_known(needs_compiler, tmp_path):
    """The form in which ONNX Runtime saves an optimized network of bytes."""
    model = network("net (float[1,2,9,9] x) => (float[?,?,?,?] y) <float s = {0.05}, int8 z = {3}> "
                    "{ b = QuantizeLinear(x, s, z) "
                    "m = com.microsoft.QLinearAveragePool<kernel_shape = [2,2], strides = [2,2]>(b, s, z, s, z) "
                    "p = MaxPool<kernel_shape = [3,3], strides = [3,3], pads = [2,2,2,2], ceil_mode = 1>(m) "
                    "f = DequantizeLinear(p, s, z) "
                    "y = MaxPool<kernel_shape = [2,2], strides = [1,1]>(f) }")
    model.opset_import.append(onnx.helper.make_opsetid("com.microsoft", 1))
    x = np.random.default_rng(3).standard_normal((1, 2, 9, 9)).astype(np.float32)
    wanted = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0]
    found = together.results(tmp_path, {"": (model, [x])})[""]
    np.testing.assert_allclose(found, wanted, atol=1e-6)
