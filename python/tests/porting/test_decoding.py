"""Attention of a single step with a cache."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")


from takt.porting import porter  # noqa: E402
from test_porter import kinds  # noqa: E402
from test_scores import check, floats  # noqa: E402

KIND = "DecoderMaskedMultiHeadAttention"


@pytest.mark.parametrize("own, has_bias", [({}, False), ({"scale": 0.3}, True)])
@pytest.mark.parametrize("length", [0, 3, 8])
def test_a_step_with_a_cache(own, has_bias, length):
    inputs = {name: floats(2, 1, 16) for name in "qkv"} | {name: floats(2, 4, 9, 4) for name in ("pk", "pv")}
    inputs["length"] = np.array([length], np.int32)
    order = ["q", "k", "v", "", "", "pk", "pv", "length", *(["", "", "b"] if has_bias else [])]
    check(KIND, inputs, {"b": floats(48)} if has_bias else {}, results=("y", "nk", "nv"), order=order, num_heads=4,
          past_present_share_buffer=1, **own)


@pytest.mark.parametrize("has_padding", [False, True])
def test_a_step_with_an_encoder(has_padding):
    inputs = {"q": floats(2, 1, 16), "k": floats(2, 4, 7, 4), "v": floats(2, 4, 7, 4)}
    if has_padding:
        inputs["seen"] = np.array([[1, 1, 1, 1, 1, 0, 0], [1, 1, 0, 1, 1, 1, 1]], np.int32)
    check(KIND, inputs, {}, order=["q", "k", "v", *(["seen"] if has_padding else [])], num_heads=4)


def test_beams_stay():
    text = """<ir_version: 10, opset_import: ["" : 17, "com.microsoft" : 1]>
        net (float[2,1,16] q, float[2,4,9,4] past, int32[1] length, int32[1] beams, int32[1,2,9] ways) =>
            (float[2,1,16] y, float[2,4,9,4] k, float[2,4,9,4] v) {
          y, k, v = com.microsoft.DecoderMaskedMultiHeadAttention<num_heads = 4, past_present_share_buffer = 1>
            (q, q, q, , , past, past, length, beams, ways)
        }"""
    assert kinds(porter.port(onnx.parser.parse_model(text))) == [KIND]
