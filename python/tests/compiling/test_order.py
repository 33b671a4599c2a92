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


@pytest.mark.parametrize("part", ["part = Gather<axis = 1>(x, places)", "first, part = Split<axis = 1>(x)"])
def test_others_read_the_part_as_it_was(needs_compiler, tmp_path, part):
    """The compiler sorts in place."""
    onnxruntime = pytest.importorskip("onnxruntime")
    model = parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 17]>
        net (float[3,10,3] x, int64[5] places) => (float[3,1,3] y, float[3,2,3] t, float[3,5,3] z)
        <int64[1] one = {{1}}, int64[1] two = {{2}}, int64[3,1] turned = {{2, 0, 1}}> {{
            {part} y, i = TopK<axis = 1>(part, one) t, j = TopK<axis = 1, largest = 0>(part, two)
            negative = Neg(part) z = ScatterND(part, turned, negative) }}""")
    x = np.random.default_rng(0).standard_normal((3, 10, 3)).astype(np.float32)
    arguments = {"x": x, "places": np.array([3, 1, 9, 0, 4])}
    wanted = onnxruntime.InferenceSession(model.SerializeToString()).run(None, arguments)
    for found, want in zip(together.result(tmp_path, model, arguments.values()), wanted):
        np.testing.assert_array_equal(found, want)
