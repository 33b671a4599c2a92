"""Layers of experts."""

import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from takt.porting import porter  # noqa: E402
from test_porter import kinds  # noqa: E402
from test_scores import check, floats  # noqa: E402

ROWS, SIZE, UNITS, EXPERTS = 5, 8, 6, 4


@pytest.mark.parametrize("kind", ["relu", "gelu", "silu", "identity", "swiglu"])
@pytest.mark.parametrize("count, is_normal, has_bias", [(1, 0, True), (2, 1, False), (3, 0, True)])
def test_rows_choose_experts(kind, count, is_normal, has_bias):
    width = 2 * UNITS if kind == "swiglu" else UNITS
    weights = {"w1": floats(EXPERTS, width, SIZE), "w2": floats(EXPERTS, SIZE, UNITS)}
    if has_bias:
        weights |= {"b1": floats(EXPERTS, width), "b2": floats(EXPERTS, SIZE)}
    order = ["x", "r", *(["w1", "b1", "w2", "b2"] if has_bias else ["w1", "", "w2"])]
    check("MoE", {"x": floats(1, ROWS, SIZE), "r": floats(ROWS, EXPERTS)}, weights, order=order, k=count,
          activation_type=kind, normalize_routing_weights=is_normal,
          **({"swiglu_fusion": 1} if kind == "swiglu" else {}))


def test_other_layers_stay():
    text = """<ir_version: 10, opset_import: ["" : 17, "com.microsoft" : 1]>
        net (float[5,8] x, float[5,4] r, float[4,6,8] w, float[4,8,6] v, float[4,6,8] u) => (float[5,8] y) {
          y = com.microsoft.MoE<k = 2, activation_type = "silu">(x, r, w, , v, , u)
        }"""
    assert kinds(porter.port(onnx.parser.parse_model(text))) == ["MoE"]
