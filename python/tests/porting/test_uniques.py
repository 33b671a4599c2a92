"""Unique by comparisons of each with each."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import parser  # noqa: E402

import takt  # noqa: E402
from takt.porting import porter  # noqa: E402
from test_porter import kinds, ort_run  # noqa: E402

_RNG = np.random.default_rng(8)


def network(x, attributes):
    return parser.parse_model(f'<ir_version: 10, opset_import: ["" : 18]>\nnet ({x} x) => ({x.split("[")[0]}[...] y, '
                              "int64[A] first, int64[B] inverse, int64[C] counts) "
                              f"{{ y, first, inverse, counts = Unique{attributes}(x) }}".replace("[...]", ""))


@pytest.mark.parametrize("x, attributes, most", [
    ("int64[40]", "", 9), ("float[5,6]", "<sorted = 0>", 9), ("int64[30]", "<sorted = 0>", 99),
    ("float[20,3]", "<axis = 0>", 2), ("int64[2,20,2]", "<axis = -2, sorted = 0>", 2), ("float[1]", "", 2)])
def test_what_is_there_once(x, attributes, most):
    model = network(x, attributes)
    ported = porter.port(model)
    assert "Unique" not in kinds(ported)
    value = model.graph.input[0].type.tensor_type
    given = _RNG.integers(-most, most, [dim.dim_value for dim in value.shape.dim]).astype(
        onnx.helper.tensor_dtype_to_np_dtype(value.elem_type))
    for found, wanted in zip(ort_run(ported, {"x": given}), ort_run(model, {"x": given})):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("x, message", [
    ("int64[N]", "Unique 'y': the number of its elements must be known"),
    ("int64[3000]", "Unique 'y': 3000 elements or rows of 1 are not taken")])
def test_others_are_refused(x, message):
    with pytest.raises(takt.CompileError, match=message):
        porter.port(network(x, ""))


def test_they_reach_the_module(needs_compiler, tmp_path):
    model = network("float[12,2]", "<axis = 0>")
    model.graph.output[0].type.tensor_type.shape.CopyFrom(
        onnx.helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, ["N", 2]).tensor_type.shape)
    onnx.save(model, tmp_path / "net.onnx")
    net = takt.compile(tmp_path / "net.onnx", cache=tmp_path).load().net
    for most in (1, 3):
        given = _RNG.integers(-most, most, [12, 2]).astype(np.float32)
        for found, wanted in zip(net(given), ort_run(model, {"x": given})):
            np.testing.assert_array_equal(found, wanted)
