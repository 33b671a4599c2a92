"""What nodes read."""

import pytest

onnx = pytest.importorskip("onnx")

from onnx import parser  # noqa: E402

from takt.networks import graphs  # noqa: E402


def test_what_subgraphs_make_is_their_own():
    model = parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        net (bool c, float x, float z) => (float y) {
          y = If(c) <then_branch = a () => (float w) { v = Neg(x)  w = Neg(v) }, else_branch = b () => (float z) { }>
        }""")
    assert graphs.inputs(model.graph.node[0]) == {"c", "x", "z"}
