"""Programs of any number of samples."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import takt
from takt.compiling import batching

onnx = pytest.importorskip("onnx")

from onnx import parser  # noqa: E402

_ROW, _BYTES, _BIT = "!torch.vtensor<[1,3],f32>", "!torch.vtensor<[1,2],si8>", "!torch.vtensor<[1],i1>"
_ATTRIBUTES = "attributes {torch.onnx_meta.opset_version = 17 : si64}"
_MLIR = f"""module {{
  func.func @net(%arg0: {_ROW}, %arg1: {_BYTES}) -> ({_ROW}, {_BIT}) {_ATTRIBUTES} {{
    %0:2 = torch.operator "onnx.A"(%arg0, %arg1) : ({_ROW}, {_BYTES}) -> {_ROW}, {_BIT}
    return %0#0, %0#1 : {_ROW}, {_BIT}
  }}
}}
"""


def compiled(text, tmp_path, recipe=None, **constants):
    """The function of a network in the text form of ONNX; nothing is warned of."""
    model = parser.parse_model('<ir_version: 8, opset_import: ["" : 17]>\n' + text)
    for name, value in constants.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(value, name))
    onnx.save(model, tmp_path / "net.onnx")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        artifact = takt.compile(tmp_path / "net.onnx", recipe=recipe, cache=tmp_path / "cache")
    return artifact.load().function()


def noise(*shape):
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


def test_only_the_dimension_of_samples_is_open():
    text = batching.of_any_number({1: _MLIR}, [0, None], [0, 0])
    assert "@net(%arg0: !torch.vtensor<[?,3],f32>, %arg1: !torch.vtensor<[1,2],si8>)" in text
    assert "-> (!torch.vtensor<[?,3],f32>, !torch.vtensor<[?],i1>)" in text
    assert "func.func private @takt_samples_1(%arg0.takt: tensor<1x3xf32>, %arg1.takt: tensor<1x2xi8>)" in text
    assert text.count(_ATTRIBUTES) == 2


def test_what_several_take_is_not_computed_one_by_one():
    some = _MLIR.replace("<[1,3]", "<[4,3]").replace("<[1],i1>", "<[4],i1>")
    text = batching.of_any_number({1: _MLIR, 4: some}, [0, None], [0, 0])
    assert [text.count(f"func.call @takt_samples_{count}(") for count in (1, 4)] == [1, 2]


def test_each_sample_has_its_result(needs_compiler, tmp_path):
    w = noise(4, 3, 3, 3)
    function = compiled(
        "net (float[N,3,8,8] x) => (float[N,4] y, int64[N] z) { c = Conv(x, w) r = Relu(c) m = GlobalAveragePool(r)"
        " y = Flatten(m) z = ArgMax<axis = 1, keepdims = 0>(y) }", tmp_path, w=w)
    for count in (0, 1, 2, 5):
        image = noise(count, 3, 8, 8)
        means, places = function(image)
        windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), (2, 3))
        expected = np.maximum(np.einsum("ncyxhw,kchw->nkyx", windows, w), 0).mean((2, 3))
        np.testing.assert_allclose(means, expected, rtol=1e-4, atol=1e-5, err_msg=str(count))
        assert places.shape == (count,) and np.array_equal(places, means.argmax(1) if count else np.zeros(0)), count


def test_results_of_all_types(needs_compiler, tmp_path):
    numbers = {name: onnx.helper.np_dtype_to_tensor_dtype(np.dtype({"float": "float32"}.get(name, name)))
               for name in ("float", "float16", "int8", "uint8", "int64", "bool")}
    results = ", ".join(f"{name}[N,4] y_{name}, {name}[N,4] z_{name}" for name in numbers)
    casts = " ".join(f"y_{name} = Cast<to = {number}>(a) z_{name} = Cast<to = {number}>(n)"
                     for name, number in numbers.items())
    function = compiled(f"net (float[N,4] x) => (float[N,2,4] w, {results}) {{ a = Abs(x) n = Floor(a) {casts} "
                        "u = Unsqueeze(x, one) w = Concat<axis = 1>(u, u) }", tmp_path, one=np.array([1], np.int64))
    x = noise(3, 4)
    w, *found = function(x)
    np.testing.assert_array_equal(w, np.stack([x, x], 1))
    for name, y, z in zip(numbers, found[::2], found[1::2], strict=True):
        assert y.dtype == z.dtype == {"float": "float32"}.get(name, name)
        np.testing.assert_array_equal(y, np.abs(x).astype(y.dtype), err_msg=name)
        np.testing.assert_array_equal(z, np.floor(np.abs(x)).astype(z.dtype), err_msg=name)


def test_results_have_their_own_places(needs_compiler, tmp_path):
    function = compiled(
        "net (float[N,8,11,15] x) => (float[N,8,13,19] padded, float[N,8,13,19] y) "
        "{ padded = Pad(x, pads) c = Conv(padded, w) y = Relu(c) }", tmp_path,
        pads=np.array([0, 0, 1, 2, 0, 0, 1, 2]), w=np.eye(8, dtype=np.float32)[:, :, None, None] * 2)
    for count in (1, 3):
        x = noise(count, 8, 11, 15)
        padded, y = function(x)
        expected = np.pad(x, ((0, 0), (0, 0), (1, 1), (2, 2)))
        np.testing.assert_array_equal(padded, expected, err_msg=str(count))
        np.testing.assert_allclose(y, np.maximum(2 * expected, 0), rtol=1e-6, err_msg=str(count))


@pytest.mark.parametrize("recipe", [None, "plain"])
def test_some_samples_are_computed_at_once(needs_compiler, tmp_path, recipe):
    v, w, b = noise(96, 160), noise(160, 5), noise(5)
    function = compiled(
        "net (float[N,96] x, float[1,96] s, float[N,96] z) => (float[N,5] y, int64[N] most) "
        "{ a = Mul(x, s) c = Add(a, z) h = MatMul(c, v) r = Relu(h) y = Gemm(r, w, b) "
        "most = ArgMax<axis = 1, keepdims = 0>(y) }", tmp_path, recipe, v=v, w=w, b=b)
    s = noise(1, 96)
    for count in (0, 1, 2, 3, 4, 5, 7, 15, 16, 17, 19, 20, 33, 64, 70):
        x, z = noise(count, 96), noise(count, 96)[:, ::-1]
        y, most = function(x, s, z)
        expected = np.maximum((x * s + z) @ v, 0) @ w + b
        np.testing.assert_allclose(y, expected, rtol=1e-3, atol=1e-3, err_msg=str(count))
        np.testing.assert_array_equal(most, y.argmax(1) if count else np.zeros(0))


def test_what_samples_share_is_given_once(needs_compiler, tmp_path):
    function = compiled("net (float[N,4] x, float[1,4] s) => (float[N,4] y) { y = Mul(x, s) }", tmp_path)
    x, s = noise(3, 4), noise(1, 4)
    np.testing.assert_array_equal(function(x, s), x * s)


def test_arguments_have_as_many_samples(needs_compiler, tmp_path):
    function = compiled("net (float[N,4] x, float[N,4] z) => (float[N,4] y) { y = Add(x, z) }", tmp_path)
    np.testing.assert_array_equal(function(noise(2, 4), noise(2, 4)), noise(2, 4) * 2)
    for counts in ((1, 2), (2, 1), (3, 2)):
        with pytest.raises(takt.FailedPrecondition, match="arguments have different numbers of samples"):
            function(noise(counts[0], 4), noise(counts[1], 4))


def test_the_function_declares_that_dimension_as_open(needs_compiler, tmp_path):
    function = compiled("net (float[N,4] x) => (float[N,4] y) { y = Relu(x) }", tmp_path)
    assert [value["shape"] for value in (*function.inputs, *function.outputs)] == [(None, 4), (None, 4)]
    with pytest.raises(takt.InvalidArgument, match=r"expected \?x4xf32"):
        function(noise(2, 5))


def test_samples_that_mix_are_compiled_as_they_are(needs_compiler, tmp_path):
    model = parser.parse_model('<ir_version: 8, opset_import: ["" : 17]>\n'
                               "net (float[N,4] x) => (float[M,4] y) { y = ReduceMean<axes = [0]>(x) }")
    onnx.save(model, tmp_path / "net.onnx")
    with pytest.warns(UserWarning, match="dimensions of inputs are open"):
        artifact = takt.compile(tmp_path / "net.onnx", cache=tmp_path / "cache")
    np.testing.assert_allclose(artifact.load().function()(noise(3, 4)), noise(3, 4).mean(0, keepdims=True), rtol=1e-5)


def test_what_the_compiler_refuses_is_said_with_the_open_sizes(needs_compiler, tmp_path):
    model = parser.parse_model('<ir_version: 8, opset_import: ["" : 17]>\n'
                               "net (float[N,4] x) => (float[N,4] y) { y = Relu(x) }")
    onnx.save(model, tmp_path / "net.onnx")
    with pytest.raises(takt.CompileError, match=r"dimensions of inputs are open \(x: Nx4\)"):
        takt.compile(tmp_path / "net.onnx", cache=tmp_path / "cache", flags=["--no-such-flag"])


def test_the_program_compiles_it(needs_compiler, tmp_path):
    model = parser.parse_model('<ir_version: 8, opset_import: ["" : 17]>\n'
                               "net (float[N,4] x) => (float[N,4] y) { y = Relu(x) }")
    onnx.save(model, tmp_path / "net.onnx")
    command = [sys.executable, "-m", "takt", "compile", tmp_path / "net.onnx", "-o", tmp_path / "net.vmfb"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0 and "open" not in done.stderr, done.stderr
    np.testing.assert_array_equal(takt.load(tmp_path / "net.vmfb").function()(noise(3, 4)), np.maximum(noise(3, 4), 0))


def test_a_kernel_is_used_where_the_compiler_has_no_code(needs_compiler, tmp_path):
    """Although so few numbers would not pay: it has no sort of a part of a tensor."""
    function = compiled(
        "net (float[9,2] x) => (float[9,1] y) { a, b = Split<axis = 1>(x) y, i = TopK<axis = 0>(a, k) }", tmp_path,
        k=np.array([9]))
    x = noise(9, 2)
    np.testing.assert_array_equal(function(x), -np.sort(-x[:, :1], 0))


def test_a_sample_of_several_is_sorted(needs_compiler, tmp_path):
    function = compiled(
        "net (float[N,9] x) => (float[N,3] y, int64[N,3] i, float[N,3] z) "
        "{ y, i = TopK(x, k) z = GatherElements<axis = 1>(x, i) }", tmp_path, "plain", k=np.array([3]))
    for count in (1, 4):
        x = noise(count, 9)
        y, i, z = function(x)
        np.testing.assert_array_equal(i, np.argsort(-x, 1, kind="stable")[:, :3])
        np.testing.assert_array_equal(y, np.take_along_axis(x, i, 1))
        np.testing.assert_array_equal(z, y)
        np.testing.assert_array_equal(x, noise(count, 9))


@pytest.mark.parametrize("kind, gates", [("GRU", 3), ("LSTM", 4)])
def test_states_of_layers_have_samples_in_their_second_dimension(needs_compiler, tmp_path, kind, gates):
    """A policy with a memory, as PyTorch exports it."""
    onnxruntime = pytest.importorskip("onnxruntime")
    cell, next_cell, cells = (", float[1,N,8] c", ", float[1,N,8] d", ", c") if kind == "LSTM" else ("", "", "")
    outputs = "steps, after, d" if kind == "LSTM" else "steps, after"
    way = "" if kind == "LSTM" else ", linear_before_reset = 1"
    function = compiled(
        f"net (float[N,6] x, float[1,N,8] h{cell}) => (float[N,3] y, float[1,N,8] after{next_cell}) {{"
        f" row = Unsqueeze(x, first) {outputs} = {kind}<hidden_size = 8{way}>(row, w, r, b, , h{cells})"
        " flat = Squeeze(steps, two) y = MatMul(flat, v) }",
        tmp_path, w=noise(1, gates * 8, 6), r=noise(1, gates * 8, 8), b=noise(1, gates * 16), v=noise(8, 3),
        first=np.array([0]), two=np.array([0, 1]))
    session = onnxruntime.InferenceSession(tmp_path / "net.onnx")
    for count in (1, 2, 5, 19):
        feeds = {"x": noise(count, 6), "h": noise(1, count, 8), "c": noise(1, count, 8) * 2}
        feeds = {value.name: feeds[value.name] for value in session.get_inputs()}
        for found, wanted in zip(function(*feeds.values()), session.run(None, feeds)):
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    assert [result.shape for result in function(*(value[..., :0, :] for value in feeds.values()))][0] == (0, 3)
