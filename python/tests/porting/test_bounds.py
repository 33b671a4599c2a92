"""Indices beyond their tensors."""

import warnings

import numpy as np
import pytest

import takt
import together

onnx = pytest.importorskip("onnx")

from onnx import parser  # noqa: E402

from takt.porting import bounds  # noqa: E402


def network(text):
    return parser.parse_model('<ir_version: 8, opset_import: ["" : 17]>\n' + text)


ROWS = np.arange(8, dtype=np.float32).reshape(4, 2)
FAR = 1 << 40


def test_what_is_read_is_the_nearest(needs_compiler, tmp_path):
    expected, cases = {}, {}
    for text, places, rows in (
            ("int64[3] i) => (float[3,2] y) { y = Gather(x, i) }", [FAR, -FAR, -1], ROWS[[3, 0, 3]]),
            ("int64[1,2] i) => (float[1,2] y) { y = GatherElements(x, i) }", [[FAR, -4]], [[6, 1]]),
            ("int64[2,2] i) => (float[2] y) { y = GatherND(x, i) }", [[FAR, -FAR], [1, FAR]], [6, 3])):
        cases[text], expected[text] = (network("net (float[4,2] x, " + text), [ROWS, np.array(places)]), rows
    for text, y in together.results(tmp_path, cases, device="local-sync").items():
        np.testing.assert_array_equal(y, expected[text], err_msg=text)


def test_what_is_read_of_open_sizes_is_the_nearest(needs_compiler, tmp_path):
    """Of three rows, in a call."""
    cases = {text: (network(f"net (float[N,2] x, {text}"), [ROWS[:3], np.array(places)]) for text, places in (
        ("int64[3] i) => (float[3,2] y) { y = Gather(x, i) }", [FAR, -FAR, -1]),
        ("int64[1,2] i) => (float[1,2] y) { y = GatherElements<axis = -2>(x, i) }", [[FAR, -3]]),
        ("int64[K,2] i) => (float[K] y) { y = GatherND(x, i) }", [[FAR, -FAR], [1, FAR]]),
        ("int32 i) => (float[2] y) { y = Gather(x, i) }", np.int32(1 << 30)))}
    for model, _ in cases.values():
        if not model.graph.input[1].type.tensor_type.HasField("shape"):
            model.graph.input[1].type.tensor_type.shape.SetInParent()
    with pytest.warns(UserWarning, match="open"):
        found = together.results(tmp_path, cases, device="local-sync")
    for y, rows in zip(found.values(), (ROWS[[2, 0, 2]], [[4, 1]], [4, 3], ROWS[2]), strict=True):
        np.testing.assert_array_equal(y, rows)


def test_what_is_written_stays_within(needs_compiler, tmp_path):
    cases = {}
    for kind, places in (("ScatterElements", [[FAR, -FAR]]), ("ScatterND", [[FAR]])):
        shape = ",".join(map(str, np.shape(places)))
        text = f"net (float[4,2] x, int64[{shape}] i, float[1,2] u) => (float[4,2] y) {{ y = {kind}(x, i, u) }}"
        cases[kind] = network(text), [ROWS, np.array(places), np.full((1, 2), 9, np.float32)]
    for kind, y in together.results(tmp_path, cases, device="local-sync").items():
        expected = ROWS.copy()
        expected[([3, 0], [0, 1]) if kind == "ScatterElements" else 3] = 9
        np.testing.assert_array_equal(y, expected, err_msg=kind)


def test_divisions_do_not_trap(needs_compiler, tmp_path):
    cases = {}
    for dtype in ("int32", "int64"):
        least = np.iinfo(dtype).min
        text = f"net ({dtype}[4] x, {dtype}[4] z) => ({dtype}[4] y, {dtype}[4] m) {{ y = Div(x, z) m = Mod(x, z) }}"
        cases[dtype] = network(text), [np.array([7, least, least, 7], dtype), np.array([0, -1, 2, -2], dtype)]
    for dtype, (y, m) in together.results(tmp_path, cases, device="local-sync").items():
        least = np.iinfo(dtype).min
        np.testing.assert_array_equal(y, [7, least, least // 2, -3], err_msg=dtype)
        assert m[2] == 0, dtype


def test_what_is_known_of_tensors_stays():
    """onnx does not infer the shapes of all, such as those of loops."""
    model = network("net (float[4,2] x, int64[3] i) => (float[3,2] y) { y = Gather(x, i) }")
    model.graph.value_info.append(onnx.helper.make_tensor_value_info("state", 1, [3]))
    assert [value.name for value in bounds.bound(model).graph.value_info] == ["state"]


def test_constants_are_left_as_they_are():
    model = network("net (float[4,2] x) => (float[1,2] y) { y = Gather(x, i) }")
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([2]), "i"))
    assert bounds.bound(model) is model


def test_sequences_end_within_their_steps(needs_compiler, tmp_path):
    model = network("net (float[4,2] x, int64[2] n) => (float[4,2] y) "
                    "{ y = ReverseSequence<time_axis = 0, batch_axis = 1>(x, n) }")
    y = together.result(tmp_path, model, [ROWS, np.array([2, FAR])], device="local-sync")
    np.testing.assert_array_equal(y[:, 0], [2, 0, 4, 6])


@pytest.mark.parametrize("dims, cases", [
    ("", [(FAR, ROWS[3]), (-1, ROWS[3])]), ("A,B", [([[FAR, 0]], ROWS[[[3, 0]]])]),
])
def test_indices_of_any_shape_stay_within(needs_compiler, tmp_path, dims, cases):
    kind = f"int64[{dims}]" if dims else "int64"
    model = network(f"net (float[4,2] x, {kind} i) => (float[{dims + ',2' if dims else '2'}] y) {{ y = Gather(x, i) }}")
    if not dims:
        model.graph.input[1].type.tensor_type.shape.SetInParent()
    onnx.save(model, tmp_path / "net.onnx")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Of open sizes.
        function = takt.compile(tmp_path / "net.onnx", cache=tmp_path / "cache").load(device="local-sync").function()
    for places, expected in cases:
        np.testing.assert_array_equal(function(ROWS, np.array(places)), expected)


def test_unsigned_numbers_are_divided_as_such(needs_compiler, tmp_path):
    x, z = np.array([255, 200, 7, 255], np.uint8), np.array([3, 2, 2, 255], np.uint8)
    text = "uint8[4] z) => (uint8[4] y, uint8[4] m) { y = Div(x, z) m = Mod(x, z) }"
    given, known = network(f"net (uint8[4] x, {text}"), network(f"net (uint8[4] x, {text}")
    del known.graph.input[1]
    known.graph.initializer.append(onnx.numpy_helper.from_array(z, "z"))
    cases = {"given": (given, [x, z]), "known": (known, [x])}
    for case, (y, m) in together.results(tmp_path, cases, device="local-sync").items():
        np.testing.assert_array_equal(y, x // z, err_msg=f"a divisor that is {case}")
        np.testing.assert_array_equal(m, x % z, err_msg=f"a divisor that is {case}")


@pytest.mark.parametrize("divisor, is_bounded", [("Add(one, rows)", False), ("Identity(rows)", True),
                                                 ("Sub(rows, one)", True), ("Identity(i)", True)])
def test_what_sizes_are_divided_by_has_no_limit_if_it_is_positive(divisor, is_bounded):
    model = network(f"""net (float[N,2] x, int64[1] i) => (int64[1] y) <int64[1] one = {{1}}> {{
        rows = Shape<start = 0, end = 1>(x) d = {divisor} y = Div(i, d) }}""")
    assert ("Where" in [node.op_type for node in bounds.bound(model).graph.node]) == is_bounded


@pytest.mark.parametrize("numbers", [
    "n = Neg(rows) q = Mod(n, m)", "n = Sub(three, rows) q = Mod(n, m)", "n = Neg(rows) q = Mod<fmod = 1>(n, m) ",
    "n = Neg(rows) d = Div(n, m) q = Neg(d)", "d = Div(rows, less) q = Neg(d)", "d = Mod(rows, less) q = Neg(d)",
    "n = Neg(rows) q = Mod<fmod = 1>(n, less)", "n = Neg(rows) q = Div(n, less)", "n = Neg(rows) q = Mod(n, less)",
    "n = Neg(rows) k = Squeeze(n, zero) j = Squeeze(m, zero) l = Mod(k, j) q = Unsqueeze(l, zero)"])
def test_sizes_are_made_of_quotients_and_rests_of_negative_numbers(needs_compiler, tmp_path, numbers):
    """The compiler rounds a quotient down and a rest to 0 where sizes are made of them."""
    runtime = pytest.importorskip("onnxruntime")
    model = network(f"""net (float[N,2] x) => (float[M,2] y)
        <int64[1] zero = {{0}}, int64[1] three = {{3}}, int64[1] m = {{8}}, int64[1] less = {{-8}}> {{
        rows = Shape<start = 0, end = 1>(x) {numbers} e = Add(q, m) f = Add(e, m)
        pads = Concat<axis = 0>(f, zero, zero, zero) y = Pad(x, pads) }}""")
    onnx.save(model, tmp_path / "net.onnx")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Of open sizes.
        function = takt.compile(tmp_path / "net.onnx", cache=tmp_path / "cache").load(device="local-sync").function()
    session = runtime.InferenceSession(tmp_path / "net.onnx")
    for count in (1, 3, 8, 9, 20):
        x = np.ones((count, 2), np.float32)
        np.testing.assert_array_equal(function(x), session.run(None, {"x": x})[0], err_msg=str(count))


@pytest.mark.parametrize("numbers", ["Identity(rows)", "Sub(rows, one)", "Add(i, one)"])
def test_quotients_of_what_is_not_negative_stay(numbers):
    model = network(f"""net (float[N,2] x, int64[70] i) => (int64[n] y) <int64[1] one = {{1}}, int64[1] m = {{8}}> {{
        rows = Shape<start = 0, end = 1>(x) n = {numbers} y = Div(n, m) }}""")
    assert "Max" not in [node.op_type for node in bounds.bound(model).graph.node]
