"""Inverse of ONNX Runtime."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import parser  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

from takt.porting import porter  # noqa: E402


def ported(shape):
    sizes = ",".join(map(str, shape))
    return porter.port(parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
        net (float[{sizes}] x) => (float[{sizes}] y) {{ y = com.microsoft.Inverse(x) }}"""))


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 3), (4, 4), (5, 4, 4), (2, 3, 2, 2)])
def test_small_matrices_are_inverted(shape):
    x = np.random.default_rng(3).standard_normal(shape).astype(np.float32)
    model = ported(shape)
    onnx.checker.check_model(model)
    assert not any(node.domain for node in model.graph.node)
    found, = ReferenceEvaluator(model).run(None, {"x": x})
    np.testing.assert_allclose(found, np.linalg.inv(x.astype(np.float64)), rtol=2e-4, atol=1e-4)


def test_rotations_are_inverted_exactly():
    x = np.eye(4, dtype=np.float32)[[2, 0, 1, 3]]
    np.testing.assert_array_equal(ReferenceEvaluator(ported((4, 4))).run(None, {"x": x})[0], x.T)


def test_larger_matrices_stay():
    assert [node.op_type for node in ported((5, 5)).graph.node] == ["Inverse"]
