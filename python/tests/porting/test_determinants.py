"""Determinants of matrices."""

import numpy as np
import pytest

import takt

onnx = pytest.importorskip("onnx")

from onnx import parser  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

from takt.porting import porter  # noqa: E402


def network(sizes, element="float"):
    results = ",".join(map(str, sizes[:-2]))
    return parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 17]>
        net ({element}[{",".join(map(str, sizes))}] x) => ({element}[{results}] y) {{ y = Det(x) }}""")


def matrices(*shape):
    """The first one's first element is zero."""
    x = np.random.default_rng(3).standard_normal(shape)
    x.reshape(-1)[0] = 0
    return x


@pytest.mark.parametrize("element, tolerance", [("float", 1e-4), ("double", 1e-12)])
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 3), (4, 4), (5, 4, 4), (2, 3, 9, 9)])
def test_determinants(shape, element, tolerance):
    x = matrices(*shape).astype({"float": np.float32, "double": np.float64}[element])
    model = porter.port(network(shape, element))
    onnx.checker.check_model(model)
    assert "Det" not in {node.op_type for node in model.graph.node}
    found, = ReferenceEvaluator(model).run(None, {"x": x})
    np.testing.assert_allclose(found, np.linalg.det(x), rtol=tolerance, atol=tolerance)


def test_rows_of_zeros():
    x = matrices(5, 5).astype(np.float32)
    x[2] = 0
    assert ReferenceEvaluator(porter.port(network((5, 5)))).run(None, {"x": x})[0] == 0


@pytest.mark.parametrize("sizes", [("n", 4, "m"), ("n", "m", 2)])
def test_the_number_of_matrices_may_be_open(needs_compiler, tmp_path, sizes):
    onnx.save(network(sizes), tmp_path / "net.onnx")
    with pytest.warns(UserWarning, match="are open"):
        function = takt.compile(tmp_path / "net.onnx", cache=tmp_path).load().net
    size = next(each for each in sizes[1:] if isinstance(each, int))
    x = matrices(3, size, size).astype(np.float32)
    np.testing.assert_allclose(function(x), np.linalg.det(x), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("sizes", [("n", "n"), (33, 33)])
def test_other_matrices_are_refused(sizes):
    with pytest.raises(takt.CompileError, match="Det 'y': the size of its matrices must be known"):
        porter.port(network(sizes))
