"""Integers without a sign, whose highest bit is set."""

import numpy as np
import pytest

import takt
import together

onnx = pytest.importorskip("onnx")

from onnx import parser  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

from takt.porting import unsigned  # noqa: E402


def network(text):
    return parser.parse_model('<ir_version: 8, opset_import: ["" : 17]>\n' + text)


def check(tmp_path, text, dtypes, cases):
    """Networks of numbers of each type, one for each {word: what it stands for} of `cases`; `kind` is the type."""
    given = {}
    for dtype in dtypes:
        x = np.random.default_rng(3).permutation(np.linspace(0, np.iinfo(dtype).max, 32).astype(dtype))
        for words in cases:
            own = text
            for word, meaning in {**words, "kind": dtype}.items():
                own = own.replace(word, str(meaning))
            given[own] = network(own), [x.reshape(1, 2, 4, 4)]
    for case, found in together.results(tmp_path, given, device="local-sync").items():
        model, (x,) = given[case]
        expected = ReferenceEvaluator(model).run(None, {"x": x})
        for own, other in zip(found if isinstance(found, tuple) else (found,), expected, strict=True):
            np.testing.assert_array_equal(own, other, err_msg=case)


def test_the_highest_bit_is_no_sign(needs_compiler, tmp_path):
    check(tmp_path, "net (kind[1,2,4,4] x) => REST", ["uint8", "uint16", "uint32"], [{"REST": rest} for rest in (
        "(kind[1,2,4,4] y) <kind a = {20}, kind b = {200}> { y = Clip(x, a, b) }",
        "(kind[1,2,4,4] y) <kind a = {20}> { y = Clip(x, a) }",
        "(kind[1,2,4,4] y) <kind b = {200}> { y = Clip(x, , b) }",
        "(kind[1,2,4,4] y) { y = Abs(x) }",
        "(kind[1,2,2,4] y, int64[1,2,2,4] i) <int64[1] k = {2}> { y, i = TopK <axis = 2> (x, k) }")])


def test_signs(needs_compiler, tmp_path):
    check(tmp_path, "net (kind[1,2,4,4] x) => (kind[1,2,4,4] y) { y = Sign(x) }", ["uint16", "uint32"], [{}])


def test_the_largest_number_of_a_window(needs_compiler, tmp_path):
    text = "net (kind[1,2,4,4] x) => (kind[1,2,SIZE,SIZE] y) { y = MaxPool <WINDOW> (x) }"
    check(tmp_path, text, ["uint8", "uint16"], [
        {"SIZE": 3, "WINDOW": "kernel_shape = [2,2]"}, {"SIZE": 4, "WINDOW": "kernel_shape = [3,3], pads = [1,1,1,1]"}])


def test_quotients(needs_compiler, tmp_path):
    cases, wanted = {}, {}
    for dtype in ("uint8", "uint16", "uint32"):
        most = np.iinfo(dtype).max
        x, z = np.array([most, most - 1, 7], dtype), np.array([2, 128, 3], dtype)
        for kind in ("Div", "Mod"):
            text = f"net ({dtype}[3] x, {dtype}[3] z) => ({dtype}[3] y) {{ y = {kind}(x, z) }}"
            cases[text], wanted[text] = (network(text), [x, z]), x // z if kind == "Div" else x % z
    for text, found in together.results(tmp_path, cases).items():
        np.testing.assert_array_equal(found, wanted[text], err_msg=text)
        assert found.dtype == wanted[text].dtype, text


def test_a_float_becomes_a_byte(needs_compiler, tmp_path):
    x = np.array([0, 1.9, 127, 128.5, 254.9, 255], np.float32)
    cases = {text: (network(f"net (float[6] x) => (uint8[6] y) <uint8 b = {{0}}> {{ y = {text} }}"), [x])
             for text in ("Cast <to = 2> (x)", "CastLike(x, b)")}
    for text, found in together.results(tmp_path, cases, device="local-sync").items():
        np.testing.assert_array_equal(found, [0, 1, 127, 128, 254, 255], err_msg=text)


@pytest.mark.parametrize("kind", ["Div", "Mod", "Pow"])
def test_what_the_compiler_has_not_is_named(tmp_path, kind):
    onnx.save(network(f"net (uint64[4] x, uint64[4] z) => (uint64[4] y) {{ y = {kind}(x, z) }}"), tmp_path / "net.onnx")
    with pytest.raises(takt.CompileError, match=f"{kind} 'y': the compiler has none of uint64"):
        takt.compile(tmp_path / "net.onnx", cache=tmp_path / "cache")


def test_other_networks_stay_as_they_are():
    model = network("net (float[1,2,4,4] x) => (float[1,2,3,3] y) { y = MaxPool <kernel_shape = [2,2]> (x) }")
    assert unsigned.respect(model) is model
