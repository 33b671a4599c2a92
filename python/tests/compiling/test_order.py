"""The order of a part of an argument."""

import numpy as np
import pytest

import together

onnx = pytest.importorskip("onnx")

from onnx import parser  # noqa: E402


def network(part):
    return parser.parse_model(f"""<ir_version: 10, opset_import: ["" : 17]>
        net (float[6,8] x) => (float[M,3] y, int64[M,3] i)
        <int64[1] k = {{3}}, int64[1] begin = {{1}}, int64[1] end = {{5}}, int64[1] zero = {{0}},
         int64[1] one = {{1}}> {{
          {part} y, i = TopK(part, k) }}""")


def test_a_part_of_an_argument_is_ordered(needs_compiler, tmp_path):
    x = np.random.default_rng(0).standard_normal((6, 8)).astype(np.float32)
    parts = {"part = Slice(x, begin, end, zero)": x[1:5], "part = Slice(x, begin, end, one)": x[:, 1:5],
             "part, rest = Split<axis = 0>(x)": x[:3]}
    found = together.results(tmp_path, {part: (network(part), [x]) for part in parts}, device="local-sync")
    for part, (y, places) in found.items():
        order = np.argsort(-parts[part])[:, :3]
        np.testing.assert_array_equal(places, order)
        np.testing.assert_array_equal(y, np.take_along_axis(parts[part], order, 1))
