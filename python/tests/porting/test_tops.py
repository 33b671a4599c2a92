"""Several TopK in one network."""

import numpy as np
import pytest

import takt

onnx = pytest.importorskip("onnx")

from onnx import parser  # noqa: E402

from takt.porting import tops  # noqa: E402


def network(text):
    return parser.parse_model('<ir_version: 8, opset_import: ["" : 17]>\n' + text)


@pytest.mark.parametrize("dtype", ["float", "double"])
@pytest.mark.parametrize("shape, axis", [((4, 6), -1), ((4, 6), 0), ((6,), 0), ((2, 6, 3), 1)])
def test_each_has_its_places(needs_compiler, tmp_path, dtype, shape, axis):
    declared, results = ", ".join(map(str, shape)), ["?"] * len(shape)
    model = network(
        f"net ({dtype}[{declared}] x, {dtype}[{declared}] z) => (int64[{', '.join(results)}] i, "
        f"{dtype}[{', '.join(results)}] v, int64[{', '.join(results)}] k, int64[{', '.join(results)}] l) "
        f"<int64[1] n = {{2}}> {{ u, i = TopK<axis = {axis}>(x, n) v, k = TopK<axis = {axis}>(z, n) "
        f"w, l = TopK<axis = {axis}, largest = 0>(x, n) }}")
    onnx.save(model, tmp_path / "net.onnx")
    random = np.random.default_rng(3)
    x, z = (random.standard_normal(shape).astype(np.float32 if dtype == "float" else np.float64) for _ in range(2))
    function = takt.compile(tmp_path / "net.onnx", cache=tmp_path, recipe="plain").load().net
    wanted = [np.argsort(values, axis, kind="stable").take(range(2), axis) for values in (-x, -z, x)]
    i, v, k, l = function(x, z)
    for found, places in zip((i, k, l), wanted):
        np.testing.assert_array_equal(found, places)
    np.testing.assert_array_equal(v, np.take_along_axis(z, wanted[1], axis))


def test_one_stays():
    model = network("net (float[4] x) => (float[2] y) <int64[1] n = {2}> { y, i = TopK(x, n) }")
    assert tops.separate(model) is model
