"""Several TopK in one network."""

import numpy as np
import pytest

import together

onnx = pytest.importorskip("onnx")

from onnx import parser  # noqa: E402

from takt.porting import tops  # noqa: E402


def network(text):
    return parser.parse_model('<ir_version: 8, opset_import: ["" : 17]>\n' + text)


def three(dtype, shape, axis):
    declared, results = ", ".join(map(str, shape)), ", ".join(["?"] * len(shape))
    return network(
        f"net ({dtype}[{declared}] x, {dtype}[{declared}] z) => (int64[{results}] i, {dtype}[{results}] v, "
        f"int64[{results}] k, int64[{results}] l) <int64[1] n = {{2}}> {{ u, i = TopK<axis = {axis}>(x, n) "
        f"v, k = TopK<axis = {axis}>(z, n) w, l = TopK<axis = {axis}, largest = 0>(x, n) }}")


@pytest.mark.parametrize("dtype", ["float", "double"])
def test_each_has_its_places(needs_compiler, tmp_path, dtype):
    cases = {}
    for shape, axis in (((4, 6), -1), ((4, 6), 0), ((6,), 0), ((2, 6, 3), 1)):
        random = np.random.default_rng(3)
        cases[shape, axis] = three(dtype, shape, axis), [
            random.standard_normal(shape).astype(np.float32 if dtype == "float" else np.float64) for _ in range(2)]
    for case, (i, v, k, l) in together.results(tmp_path, cases).items():
        (x, z), axis = cases[case][1], case[1]
        wanted = [np.argsort(values, axis, kind="stable").take(range(2), axis) for values in (-x, -z, x)]
        for found, places in zip((i, k, l), wanted):
            np.testing.assert_array_equal(found, places, err_msg=str(case))
        np.testing.assert_array_equal(v, np.take_along_axis(z, wanted[1], axis), err_msg=str(case))


def test_one_stays():
    model = network("net (float[4] x) => (float[2] y) <int64[1] n = {2}> { y, i = TopK(x, n) }")
    assert tops.separate(model) is model
