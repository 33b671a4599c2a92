"""Indices beyond their tensors."""

import warnings

import numpy as np
import pytest

import takt

onnx = pytest.importorskip("onnx")

from onnx import parser  # noqa: E402

from takt.porting import bounds  # noqa: E402


def network(text):
    return parser.parse_model('<ir_version: 8, opset_import: ["" : 17]>\n' + text)


def call(text, tmp_path, *inputs):
    onnx.save(network(text), tmp_path / "net.onnx")
    return takt.compile(tmp_path / "net.onnx", cache=tmp_path / "cache").load(device="local-sync").function()(*inputs)


ROWS = np.arange(8, dtype=np.float32).reshape(4, 2)
FAR = 1 << 40


@pytest.mark.parametrize("text, places, expected", [
    ("int64[3] i) => (float[3,2] y) { y = Gather(x, i) }", [FAR, -FAR, -1], ROWS[[3, 0, 3]]),
    ("int64[1,2] i) => (float[1,2] y) { y = GatherElements(x, i) }", [[FAR, -4]], [[6, 1]]),
    ("int64[2,2] i) => (float[2] y) { y = GatherND(x, i) }", [[FAR, -FAR], [1, FAR]], [6, 3]),
])
def test_what_is_read_is_the_nearest(needs_compiler, tmp_path, text, places, expected):
    y = call("net (float[4,2] x, " + text, tmp_path, ROWS, np.array(places))
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("kind, places", [("ScatterElements", [[FAR, -FAR]]), ("ScatterND", [[FAR]])])
def test_what_is_written_stays_within(needs_compiler, tmp_path, kind, places):
    places = np.array(places)
    shape = ",".join(map(str, places.shape))
    y = call(f"net (float[4,2] x, int64[{shape}] i, float[1,2] u) => (float[4,2] y) {{ y = {kind}(x, i, u) }}",
             tmp_path, ROWS, places, np.full((1, 2), 9, np.float32))
    expected = ROWS.copy()
    expected[([3, 0], [0, 1]) if kind == "ScatterElements" else 3] = 9
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_divisions_do_not_trap(needs_compiler, tmp_path, dtype):
    least = np.iinfo(dtype).min
    x, z = np.array([7, least, least, 7], dtype), np.array([0, -1, 2, -2], dtype)
    name = np.dtype(dtype).name
    y, m = call(f"net ({name}[4] x, {name}[4] z) => ({name}[4] y, {name}[4] m) {{ y = Div(x, z) m = Mod(x, z) }}",
                tmp_path, x, z)
    np.testing.assert_array_equal(y, [7, least, least // 2, -3])
    assert m[2] == 0


def test_constants_are_left_as_they_are():
    model = network("net (float[4,2] x) => (float[1,2] y) { y = Gather(x, i) }")
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([2]), "i"))
    assert bounds.bound(model) is model


def test_sequences_end_within_their_steps(needs_compiler, tmp_path):
    y = call("net (float[4,2] x, int64[2] n) => (float[4,2] y) "
             "{ y = ReverseSequence<time_axis = 0, batch_axis = 1>(x, n) }", tmp_path, ROWS, np.array([2, FAR]))
    np.testing.assert_array_equal(y[:, 0], [2, 0, 4, 6])


@pytest.mark.parametrize("dims, places, expected", [
    ("", FAR, ROWS[3]), ("", -1, ROWS[3]), ("A,B", [[FAR, 0]], ROWS[[[3, 0]]]),
])
def test_indices_of_any_shape_stay_within(needs_compiler, tmp_path, dims, places, expected):
    kind = f"int64[{dims}]" if dims else "int64"
    model = network(f"net (float[4,2] x, {kind} i) => (float[{dims + ',2' if dims else '2'}] y) {{ y = Gather(x, i) }}")
    if not dims:
        model.graph.input[1].type.tensor_type.shape.SetInParent()
    onnx.save(model, tmp_path / "net.onnx")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Of open sizes.
        function = takt.compile(tmp_path / "net.onnx", cache=tmp_path / "cache").load(device="local-sync").function()
    np.testing.assert_array_equal(function(ROWS, np.array(places)), expected)


@pytest.mark.parametrize("dtype", [np.uint8])
@pytest.mark.parametrize("is_constant", [False, True])
def test_unsigned_numbers_are_divided_as_such(needs_compiler, tmp_path, dtype, is_constant):
    most = np.iinfo(dtype).max
    x, z = np.array([most, most - 55, 7, most], dtype), np.array([3, 2, 2, most], dtype)
    name = np.dtype(dtype).name
    given = "" if is_constant else f", {name}[4] z"
    model = network(f"net ({name}[4] x{given}) => ({name}[4] y, {name}[4] m) {{ y = Div(x, z) m = Mod(x, z) }}")
    if is_constant:
        model.graph.initializer.append(onnx.numpy_helper.from_array(z, "z"))
    onnx.save(model, tmp_path / "net.onnx")
    function = takt.compile(tmp_path / "net.onnx", cache=tmp_path / "cache").load(device="local-sync").function()
    y, m = function(x) if is_constant else function(x, z)
    np.testing.assert_array_equal(y, x // z)
    np.testing.assert_array_equal(m, x % z)
