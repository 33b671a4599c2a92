"""What modules compute that different recipes make."""

import numpy as np
import pytest

import takt

onnx = pytest.importorskip("onnx")

from onnx import numpy_helper, parser  # noqa: E402


@pytest.mark.parametrize("recipe", ["plain", "untiled", "native", "channels_last", "im2col", "tiled"])
def test_heads_of_few_channels(needs_compiler, tmp_path, recipe):
    """As Keras writes the values of an attention: the channels of a head are no multiple of a tile."""
    model = parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        net (float[1,32,32] x, float[2,32,32] p) => (float[2,32,5] y) <int64[4] apart = {1,32,2,5},
                                                                     int64[3] joined = {2,5,32}> {
          channels = MatMul(x, w)
          heads = Reshape(channels, apart)
          first = Transpose <perm = [0,2,3,1]> (heads)
          columns = Reshape(first, joined)
          values = Transpose <perm = [0,2,1]> (columns)
          y = MatMul(p, values)
        }""")
    random = np.random.default_rng(0)
    w, x, p = (random.standard_normal(shape).astype(np.float32) for shape in ((32, 10), (1, 32, 32), (2, 32, 32)))
    model.graph.initializer.append(numpy_helper.from_array(w, "w"))
    onnx.save(model, tmp_path / "net.onnx")
    function = takt.compile(tmp_path / "net.onnx", recipe=recipe, cache=tmp_path / "cache").load(
        device="local-sync").function()
    np.testing.assert_allclose(function(x, p), p @ (x @ w).reshape(32, 2, 5).transpose(1, 0, 2), atol=1e-3)
