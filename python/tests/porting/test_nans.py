"""Limits and signs of what is no number."""

import numpy as np
import pytest

import takt
import together

onnx = pytest.importorskip("onnx")

from onnx import parser  # noqa: E402

from takt.porting import nans  # noqa: E402

_CONSTANTS = "<float low = {-1}, float high = {1}>"


def network(text):
    return parser.parse_model('<ir_version: 8, opset_import: ["" : 17]>\n' + text)


def test_no_number_stays_none(needs_compiler, tmp_path):
    x, z = np.float32([np.nan, -3, 0.5, 3, -np.inf]), np.float32([0, np.nan, 1, 2, 0])
    with np.errstate(invalid="ignore"):
        wanted = {"Clip(x, low, high)": np.clip(x, -1, 1), "Clip(x, low)": np.maximum(x, -1),
                  "Clip(x, , high)": np.minimum(x, 1), "Max(x, low)": np.maximum(x, -1), "Min(high, x)": np.minimum(x, 1),
                  "Max(low, z, x)": np.maximum(np.maximum(x, z), -1), "Sign(x)": np.sign(x), "Min(x)": x}
    cases = {text: (network(f"net (float[5] x, float[5] z) => (float[5] y) {_CONSTANTS} {{ y = {text} }}"), [x, z])
             for text in wanted}
    for text, found in together.results(tmp_path, cases).items():
        np.testing.assert_array_equal(found, wanted[text], err_msg=text)


@pytest.mark.parametrize("recipe", ["native", "untiled"])
def test_no_number_passes_through_kernels(needs_compiler, tmp_path, recipe):
    w = np.random.default_rng(1).standard_normal((16, 8, 3, 3)).astype(np.float32)
    model = network("net (float[1,8,9,9] x) => (float[1,16,9,9] y) <float low = {0}, float high = {6}> "
                    "{ c = Conv<pads = [1,1,1,1]>(x, w) l = Clip(c, low, high) y = Max(l, low) }")
    model.graph.initializer.append(onnx.numpy_helper.from_array(w, "w"))
    onnx.save(model, tmp_path / "net.onnx")
    x = np.zeros((1, 8, 9, 9), np.float32)
    x[0, 3, 4, 4] = np.nan
    found = takt.compile(tmp_path / "net.onnx", cache=tmp_path, recipe=recipe).load().net(x)
    assert np.isnan(found[:, :, 3:6, 3:6]).all() and np.isnan(found).sum() == 16 * 9


@pytest.mark.parametrize("text", [
    "(int64[4] x) => (int64[4] y) <int64 low = {1}> { y = Clip(x, low) }",
    "(int8[4] x) => (float[4] y) <float s = {0.5}, float low = {1}> { f = DequantizeLinear(x, s) y = Clip(f, low) }",
    "(float[4] x) => (float[4] y) { y = Relu(x) }"])
def test_what_is_always_a_number_stays(text):
    model = network("net " + text)
    assert nans.keep(model) is model
