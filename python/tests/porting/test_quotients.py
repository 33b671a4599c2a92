"""Products of sizes that are divided by a factor."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import parser  # noqa: E402

from takt.porting import porter  # noqa: E402
from test_porter import kinds, run  # noqa: E402


def network(text, element="int64", shape=""):
    return parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 17]>
        net ({element}{shape} a, {element}{shape} b, {element}{shape} c) => ({element}{shape} y) {{ {text} }}""")


@pytest.mark.parametrize("text, products", [
    ("p = Mul(a, b) y = Div(p, a)", 0), ("p = Mul(a, b) y = Div(p, b)", 0),
    ("p = Mul(a, b) q = Mul(p, c) y = Div(q, a)", 1), ("p = Mul(a, b) q = Mul(c, p) y = Div(q, c)", 1),
    ("p = Mul(a, b) q = Mul(a, c) r = Mul(p, q) y = Div(r, c)", 2)])
def test_factors_are_left_out(text, products):
    model = network(text)
    ported = porter.port(model)
    assert kinds(ported).count("Mul") == products and "Div" not in kinds(ported)
    feeds = {name: np.array(value) for name, value in zip("abc", (3, -5, 7))}
    assert run(ported, feeds) == run(model, feeds)


@pytest.mark.parametrize("model", [
    network("p = Mul(a, b) y = Div(p, c)"), network("p = Add(a, b) y = Div(p, a)"),
    network("p = Mul(a, b) y = Div(a, p)"), network("p = Mul(a, b) y = Div(p, a)", "float"),
    network("p = Mul(a, b) y = Div(p, a)", shape="[n]")])
def test_other_quotients_stay(model):
    assert "Div" in kinds(porter.port(model))
