"""Limits that a call finds."""

import numpy as np
import pytest

import takt
import together

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import parser  # noqa: E402

from takt.porting import porter  # noqa: E402
from test_loops import compiled  # noqa: E402
from test_porter import floats, ort_run  # noqa: E402

NUMBERS = ", ".join(f"int64{shape} {name}" for name, shape in [
    ("begin", ""), ("limit", ""), ("step", ""), ("first", "[1]"), ("last", "[1]"), ("by", "[1]"), ("rows", "[2]"),
    ("pads", "[4]")])
# Slices and ranges of other steps, and padding of other rows than columns.
NET = f"""(float[6,9] x, {NUMBERS}) => (int64[R] y, float[A,B] a, float[C,D] b, float[E,F] c, int64[G] d, int64[H] e)
    <int64[1] axis = {{1}}, int64[1] zeroth = {{0}}, int64[1] back = {{-2}}, int64 three = {{3}}, int64 less = {{-3}}>
  {{
  y = Range(begin, limit, step)
  a = Slice(x, first, last, axis, by)
  b = Slice(x, first, last, axis, back)
  padded = Pad(x, rows, , zeroth)
  c = Pad(padded, pads)
  d = Range(begin, limit, three)
  e = Range(begin, limit, less)
}}"""
CALLS = [
    (3, 0, 1, 100, -100, -1, [0, 0], [0, 1, 0, -1]),
    (0, 3, 1, 2, 100, 1, [1, -2], [-2, 0, 1, 0]),
    (3, -4, -2, -100, 100, 2, [-2, -1], [-1, -1, -1, -2]),
    (-7, 5, -1, -1, 0, -3, [2, 1], [1, 2, 3, 4]),
    (2, 2, 1, 9, -10, -1, [0, 0], [0, 0, 0, 0]),
    (4, 5, 3, 3, 3, 1, [0, 1], [0, 0, 0, 0]),
]


def test_they_are_those_of_onnx(needs_compiler, tmp_path):
    net = compiled(tmp_path, NET)
    model = onnx.load(tmp_path / "net.onnx")
    names = [value.name for value in model.graph.input]
    x = floats(6, 9)
    for begin, limit, step, first, last, by, rows, pads in CALLS:
        values = [x, *map(np.array, (begin, limit, step, [first], [last], [by], rows, pads))]
        for a, b in zip(ort_run(model, dict(zip(names, values))), net(*values), strict=True):
            np.testing.assert_array_equal(b, a)


def test_a_range_of_floats():
    model = parser.parse_model('<ir_version: 10, opset_import: ["" : 17]>\n'
                                    "net (float a, float b, float c) => (float[N] y) { y = Range(a, b, c) }")
    ported = porter.port(model)
    assert len(ported.graph.node) > 1
    for values in ((0.5, 3, 1), (3, 0.5, 1), (3, 0.5, -0.4), (0, 1, -1)):
        inputs = {name: np.array(value, np.float32) for name, value in zip("abc", values)}
        np.testing.assert_allclose(ort_run(ported, inputs)[0], ort_run(model, inputs)[0])


# Kinds of tokens that are cut to their number, and the place of a token behind those of the past.
OPEN = {
    "kinds": ("(int64[batch,steps] ids, float[batch,steps,3] x) => (float[batch,steps,3] y) "
              "<int64[1] zero = {0}, int64[1] one = {1}, int64[1,6] all = {0, 1, 1, 0, 1, 0}, "
              "float[2,3] table = {1, 2, 3, 4, 5, 6}>",
              "s = Shape(ids) n = Shape<start = 1>(ids) part = Slice(all, zero, n, one) wide = Expand(part, s) "
              "t = Gather(table, wide) y = Add(x, t)"),
    "past": ("(float[1,1,6] x, float[1,2,past,3] k) => (float[1,2,1,past] y) <int64 one = {1}, int64[1] zero = {0}, "
             "int64[4] heads = {1, 1, -1, 3}, float[4,6] table = {" + ", ".join(map(str, range(24))) + "}>",
             "s = Shape<start = 2, end = 3>(k) n = Squeeze(s) m = Add(n, one) r = Range(n, m, one) "
             "t = Gather(table, r) u = Unsqueeze(t, zero) h = Add(x, u) a = Reshape(h, heads) "
             "q = Transpose<perm = [0, 2, 1, 3]>(a) b = Transpose<perm = [0, 1, 3, 2]>(k) y = MatMul(q, b)"),
}


def test_sizes_beside_limits_of_a_call_are_known(needs_compiler, tmp_path):
    cases = {case: parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> net {head} {{ {body} }}')
             for case, (head, body) in OPEN.items()}
    with pytest.warns(UserWarning, match="open"):
        whole = together.compiled(tmp_path, cases)
    for batch, steps, past in ((2, 5, 3), (1, 4, 1), (3, 1, 2)):
        given = {"kinds": [np.zeros([batch, steps], np.int64), floats(batch, steps, 3)],
                 "past": [floats(1, 1, 6), floats(1, 2, past, 3)]}
        for case, found in whole.call(given).items():
            names = [value.name for value in cases[case].graph.input]
            np.testing.assert_allclose(found, ort_run(cases[case], dict(zip(names, given[case])))[0], rtol=1e-5)


@pytest.mark.parametrize("begin, end, axis", [(-1, 2**63 - 1, 1), (0, 1, 2), (-2, -1, -1), (1, 2, -2)])
def test_one_of_an_open_number_meets_all(needs_compiler, tmp_path, begin, end, axis):
    """Positions are divided by the last one, as encodings of pixels have them."""
    onnx.save(parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 17]>
        net (float[n,h,w] x) => (float[a,b,c] y) <int64[1] begin = {{{begin}}}, int64[1] end = {{{end}}},
                                                  int64[1] axis = {{{axis}}}, float more = {{9.0}}> {{
          part = Slice(x, begin, end, axis) wide = Add(part, more) y = Div(x, wide) }}"""), tmp_path / "net.onnx")
    with pytest.warns(UserWarning, match="are open"):
        function = takt.compile(tmp_path / "net.onnx", cache=tmp_path).load().net
    for shape in ((2, 3, 4), (1, 5, 2)):
        x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
        bounds = [slice(None)] * 3
        bounds[axis] = slice(begin, end)
        np.testing.assert_allclose(function(x), x / (x[tuple(bounds)] + 9), rtol=1e-5)
    if axis == 1 and begin < 0:
        with pytest.raises(takt.Error):
            function(np.zeros((1, 0, 2), np.float32))


@pytest.mark.parametrize("begin, end, count", [(-1, 0, 0), (0, 2, 0), (-1, 2**63 - 1, 1), (-1, 2**31 - 1, 1), (-2, 2**63 - 1, 0)])
def test_other_parts_of_open_axes_stay(begin, end, count):
    model = parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 17]>
        net (float[n,h] x) => (float[a,b] y, float[c,d] z) <int64[1] begin = {{{begin}}}, int64[1] end = {{{end}}},
                                                            int64[1] axis = {{1}}> {{
          part = Slice(x, begin, end, axis) y = Mul(x, part) z = Slice(x, begin, end, axis) }}""")
    assert [node.op_type for node in porter.port(model).graph.node].count("Squeeze") == count
