"""Scans that do the same with each row."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import parser  # noqa: E402

from takt.networks import samples  # noqa: E402
from takt.porting import porter  # noqa: E402
from test_classic import floats  # noqa: E402
from test_porter import ort_run  # noqa: E402


def distances(body, result="d[J, N]"):
    """The scan makes one row of distances for each query."""
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 18]>\n' + f"net (float[N, 4] x) => (float[N, J] y) {{ s, d = "
        f"Scan<num_scan_inputs = 1, body = b (float[N, 4] q, float[4] r) => (float[N, 4] p, float[N] o) "
        f"<int64[1] a = {{1}}, float h = {{0.5}}, float[4] w = {{1, 2, 0.5, 3}}> {{ {body} }}>(x, t) "
        "y = Transpose<perm = [1, 0]>(d) }")
    model.graph.initializer.append(onnx.numpy_helper.from_array(floats(6, 4), "t"))
    return model


@pytest.mark.parametrize("body", [
    "p = Identity(q) e = Sub(q, r) f = ReduceSumSquare<keepdims = 0>(e, a) o = Identity(f)",
    "p = Identity(q) e = Sub(r, q) f = Abs(e) g = Mul(f, w) o = ReduceSum<keepdims = 0>(g, a)",
    "p = Identity(q) e = Sub(q, r) f = Abs(e) g = Pow(f, h) k = ReduceSum(g, a) o = ReduceMax<keepdims = 0>(k, a)",
    "n = Constant<value = int64[1] {0}>() p = Identity(q) c = ReduceMax<keepdims = 0>(q, a) m = Mul(r, w) "
    "z = ReduceSum<keepdims = 0>(m, n) o = Add(c, z)",
])
def test_all_rows_at_once(body):
    model = distances(body)
    ported = porter.in_standard(model)
    assert "Scan" not in {node.op_type for node in ported.graph.node}
    assert samples.split(ported) is not None
    x = floats(5, 4)
    np.testing.assert_allclose(ort_run(ported, {"x": x})[0], ort_run(model, {"x": x})[0], rtol=1e-5)


@pytest.mark.parametrize("body", [
    "p = Add(q, r) e = Sub(q, r) o = ReduceSumSquare<keepdims = 0>(e, a)",  # The state changes.
    "p = Identity(q) o = ReduceSumSquare<keepdims = 0>(q, a)",  # It is the same for each row.
    "p = Identity(q) e = Softmax(r) g = Mul(e, q) o = ReduceSumSquare<keepdims = 0>(g, a)",  # Of an unknown operator.
])
def test_other_scans_stay(body):
    ported = porter.in_standard(distances(body))
    assert "Scan" in {node.op_type for node in ported.graph.node}
