"""Rows of numbers of open lengths."""

import numpy as np
import pytest

import takt

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import parser  # noqa: E402

from takt.porting import porter  # noqa: E402
from test_porter import floats, kinds, ort_run  # noqa: E402


AXES = "N,M,H,W"


def network(element, text, rank=2, length="K"):
    sizes = AXES[:2 * rank - 1]
    return parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 18]>
        net (float[{sizes}] x, {element}[{length}] row) => (float[{sizes.lower()}] y) {{ z = Relu(x) y = {text} }}""")


@pytest.mark.parametrize("text, element, row, shape", [
    ("Tile(z, row)", "int64", np.array([2, 3]), (4, 9)), ("Expand(z, row)", "int64", np.array([2, 3]), (2, 3)),
    ("Reshape(z, row)", "int64", np.array([3, -1]), (3, 2)), ("Pad(z, row)", "int64", np.array([1, 0, 0, 2]), (3, 5)),
    ("Resize(z, , row)", "float", np.float32([1, 1, 2, 2]), (2, 3, 8, 10)),
    ("Resize(z, , , row)", "int64", np.array([2, 3, 8, 15]), (2, 3, 8, 15))])
def test_the_length_is_the_rank(needs_compiler, tmp_path, text, element, row, shape):
    model = network(element, text, len(shape))
    onnx.save(model, tmp_path / "net.onnx")
    with pytest.warns(UserWarning, match="are open"):
        function = takt.compile(tmp_path / "net.onnx", cache=tmp_path, timeout=60).load().net
    x = floats(*(2, 3, 4, 5)[:len(shape)])
    found = np.asarray(function(x, row))
    assert found.shape == shape
    known = network(element, text, len(shape), len(row))  # ONNX Runtime takes some rows for empty otherwise.
    np.testing.assert_array_equal(found, ort_run(known, {"x": x, "row": row})[0])


@pytest.mark.parametrize("text, element", [("Resize<axes = [1]>(z, , row)", "float"), ("Pad(z, row, , first)", "int64")])
def test_the_length_is_the_number_of_axes(text, element):
    model = network(element, text)
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([0]), "first"))
    row = np.float32([2]) if element == "float" else np.array([2, 1])
    # The length alone: a Resize of axes with open sizes is refused.
    ported, x = porter.port(model, concerns=lambda node: "row" in node.input), floats(2, 3)
    assert kinds(ported).count("Reshape") == 1
    np.testing.assert_array_equal(ort_run(ported, {"x": x, "row": row})[0], ort_run(model, {"x": x, "row": row})[0])
