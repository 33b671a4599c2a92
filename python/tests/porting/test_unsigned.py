"""Integers without a sign, whose highest bit is set."""

import numpy as np
import pytest

import takt

onnx = pytest.importorskip("onnx")

from onnx import parser  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

from takt.porting import unsigned  # noqa: E402


def network(text):
    return parser.parse_model('<ir_version: 8, opset_import: ["" : 17]>\n' + text)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("text", [
    "(kind[1,2,4,4] y) <kind a = {20}, kind b = {200}> { y = Clip(x, a, b) }",
    "(kind[1,2,4,4] y) <kind a = {20}> { y = Clip(x, a) }",
    "(kind[1,2,4,4] y) <kind b = {200}> { y = Clip(x, , b) }",
    "(kind[1,2,4,4] y) { y = Abs(x) }",
    "(kind[1,2,2,4] y, int64[1,2,2,4] i) <int64[1] k = {2}> { y, i = TopK <axis = 2> (x, k) }",
])
def test_the_highest_bit_is_no_sign(needs_compiler, tmp_path, dtype, text):
    model = network(f"net (kind[1,2,4,4] x) => {text}".replace("kind", np.dtype(dtype).name))
    check(model, dtype, tmp_path)


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32])
def test_signs(needs_compiler, tmp_path, dtype):
    check(network("net (kind[1,2,4,4] x) => (kind[1,2,4,4] y) { y = Sign(x) }".replace("kind", np.dtype(dtype).name)),
          dtype, tmp_path)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("attributes", ["kernel_shape = [2,2]", "kernel_shape = [3,3], pads = [1,1,1,1]"])
def test_the_largest_number_of_a_window(needs_compiler, tmp_path, attributes, dtype):
    height, kind = 3 if "pads" not in attributes else 4, np.dtype(dtype).name
    model = network(f"net ({kind}[1,2,4,4] x) => ({kind}[1,2,{height},{height}] y) "
                    f"{{ y = MaxPool <{attributes}> (x) }}")
    check(model, dtype, tmp_path)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("kind", ["Div", "Mod"])
def test_quotients(needs_compiler, tmp_path, kind, dtype):
    name = np.dtype(dtype).name
    onnx.save(network(f"net ({name}[3] x, {name}[3] z) => ({name}[3] y) {{ y = {kind}(x, z) }}"), tmp_path / "net.onnx")
    x, z = np.array([np.iinfo(dtype).max, np.iinfo(dtype).max - 1, 7], dtype), np.array([2, 128, 3], dtype)
    found = takt.compile(tmp_path / "net.onnx", cache=tmp_path / "cache").load().net(x, z)
    np.testing.assert_array_equal(found, x // z if kind == "Div" else x % z)
    assert found.dtype == dtype


@pytest.mark.parametrize("text", ["Cast <to = 2> (x)", "CastLike(x, b)"])
def test_a_float_becomes_a_byte(needs_compiler, tmp_path, text):
    onnx.save(network(f"net (float[6] x) => (uint8[6] y) <uint8 b = {{0}}> {{ y = {text} }}"), tmp_path / "net.onnx")
    function = takt.compile(tmp_path / "net.onnx", cache=tmp_path / "cache").load(device="local-sync").function()
    np.testing.assert_array_equal(
        function(np.array([0, 1.9, 127, 128.5, 254.9, 255], np.float32)), [0, 1, 127, 128, 254, 255])


def check(model, dtype, tmp_path):
    onnx.save(model, tmp_path / "net.onnx")
    x = np.random.default_rng(3).permutation(np.linspace(0, np.iinfo(dtype).max, 32).astype(dtype)).reshape(1, 2, 4, 4)
    function = takt.compile(tmp_path / "net.onnx", cache=tmp_path / "cache").load(device="local-sync").function()
    expected = ReferenceEvaluator(model).run(None, {"x": x})
    results = function(x)
    for own, other in zip(results if isinstance(results, tuple) else (results,), expected):
        np.testing.assert_array_equal(own, other)


@pytest.mark.parametrize("kind", ["Div", "Mod", "Pow"])
def test_what_the_compiler_has_not_is_named(tmp_path, kind):
    onnx.save(network(f"net (uint64[4] x, uint64[4] z) => (uint64[4] y) {{ y = {kind}(x, z) }}"), tmp_path / "net.onnx")
    with pytest.raises(takt.CompileError, match=f"{kind} 'y': the compiler has none of uint64"):
        takt.compile(tmp_path / "net.onnx", cache=tmp_path / "cache")


def test_other_networks_stay_as_they_are():
    model = network("net (float[1,2,4,4] x) => (float[1,2,3,3] y) { y = MaxPool <kernel_shape = [2,2]> (x) }")
    assert unsigned.respect(model) is model
