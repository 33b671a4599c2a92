"""Programs of a few sizes."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import takt
from takt.compiling import sizing

onnx = pytest.importorskip("onnx")

from onnx import parser  # noqa: E402


def program(size, result="1,1", name="net"):
    row, answer = f"!torch.vtensor<[1,{size}],f32>", f"!torch.vtensor<[{result}],f32>"
    return (f"module {{\n  func.func @{name}(%arg0: {row}) -> {answer} {{\n"
            f'    %0 = torch.operator "onnx.A"(%arg0) : ({row}) -> {answer}\n'
            f"    return %0 : {answer}\n  }}\n}}\n")


def saved(tmp_path):
    """A network of open sizes whose weights count for each of them."""
    model = parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
net (float[1,seq,24] x, float[1,past,24] p, float[4] s) => (float[1,total,32] y, float[4] t, int64[1,seq] most) {
    both = Concat<axis = 1>(p, x) y = MatMul(both, w) t = Neg(s) most = ArgMax<axis = 2, keepdims = 0>(x) }""")
    model.graph.initializer.append(onnx.numpy_helper.from_array(noise(24, 32), "w"))
    onnx.save(model, tmp_path / "net.onnx")
    return tmp_path / "net.onnx"


def noise(*shape):
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


def check(function, seq, past):
    x, p = noise(1, seq, 24), noise(1, past, 24)[:, :, ::-1]
    y, t, most = function(x, p, noise(4))
    np.testing.assert_allclose(y, np.concatenate([p, x], 1) @ noise(24, 32), rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(t, -noise(4))
    np.testing.assert_array_equal(most, x.argmax(2))


def test_only_what_differs_is_open():
    text = sizing.of_some_sizes([program(4), program(6), program(9)], ["a=4", "a=6", 'a="9'])
    assert "func.func @net(%arg0: !torch.vtensor<[1,?],f32>) -> (!torch.vtensor<[1,1],f32>) {" in text
    assert [text.count(f"func.func private @takt_sizes_{i}(") for i in range(4)] == [1, 1, 1, 0]
    assert "the arguments have other sizes than a=4 or a=6 or a=\\229" in text


def test_programs_of_other_kinds_are_refused():
    with pytest.raises(takt.CompileError, match="result 0 has several ranks or types: tensor<1x1xf32>, tensor<1xf32>"):
        sizing.of_some_sizes([program(4), program(6, "1")], ["a=4", "a=6"])


@pytest.mark.parametrize("recipe", [None, "plain"])
def test_a_call_has_one_of_the_sizes(needs_compiler, tmp_path, recipe):
    sets = [{"seq": 16, "past": 3}, {"seq": 5, "past": 3}, {"seq": 64, "past": 10}]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        artifact = takt.compile(saved(tmp_path), shapes=sets, recipe=recipe, cache=tmp_path)
    function = artifact.load().function()
    for each in (*sets, sets[0]):
        check(function, **each)
    for seq, past in ((16, 10), (5, 4), (6, 3)):
        with pytest.raises(takt.FailedPrecondition, match="the arguments have other sizes than "
                                                          "seq=16, past=3 or seq=5, past=3 or seq=64, past=10"):
            check(function, seq, past)


def test_equal_weights_are_there_once(needs_compiler, tmp_path):
    path, sets = saved(tmp_path), [{"seq": 8, "past": 8}, {"seq": 16, "past": 8}]
    each, both = [takt.compile(path, shapes=shapes, cache=tmp_path).path.read_bytes() for shapes in (sets[0], sets)]
    weight = noise(24, 32)[0, :8].tobytes()  # A part that kernels do not reorder.
    assert both.count(weight) == each.count(weight) == 1


@pytest.mark.parametrize("sets, reason", [
    ([{"seq": 16, "past": 3}, {"seq": 5}], "leave nothing open; with seq=5 there is p: 1xpastx24"),
    ([{"seq": 16, "past": 3}, {"past": 3, "x": (1, 16, 24)}], "two sets mean the same sizes as past=3, x=1x16x24"),
    ([{"seq": 16, "past": 3}, {"seq": 16, "depth": 3}], "no input and no dimension 'depth'"),
])
def test_sets_that_do_not_fit_are_refused(needs_compiler, tmp_path, sets, reason):
    with pytest.raises(ValueError, match="shapes: .*" + reason):
        takt.compile(saved(tmp_path), shapes=sets, cache=tmp_path)


def test_what_measures_calls_needs_one_size(needs_compiler, tmp_path):
    for options in ({"tune": True}, {"npu": "host"}):
        with pytest.raises(ValueError, match="give one set of shapes"):
            takt.compile(saved(tmp_path), shapes=[{"seq": 1, "past": 1}, {"seq": 2, "past": 1}], **options)


def test_the_program_takes_several_sizes(needs_compiler, tmp_path):
    subprocess.run([sys.executable, "-m", "takt", "compile", saved(tmp_path), "-o", tmp_path / "net.vmfb",
                    "--shape=past=3", "--shape=seq=16", "--shape=seq=5"], check=True)
    function = takt.load(tmp_path / "net.vmfb").function()
    check(function, 16, 3)
    check(function, 5, 3)
