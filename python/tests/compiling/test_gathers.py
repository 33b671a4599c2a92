"""Gathers of open sizes."""

import numpy as np
import pytest

import takt
from takt.compiling import gathers

onnx = pytest.importorskip("onnx")

from onnx import parser  # noqa: E402


def test_a_mask_by_places_of_a_call_behind_a_product(needs_compiler, tmp_path):
    """24 is no multiple of the lanes of a vector: without a barrier the rest of them read at any address."""
    text = """net (bool[N,24] mask, int64[N,24,2] own, float[N,6,24,32] x) => (float[N,6,24,24] y) {
        places = Unsqueeze(own, axes) found = GatherND(mask, places) turned = Transpose<perm = [0, 1, 3, 2]>(x)
        products = MatMul(x, turned) y = Where(found, products, none) }"""
    model = parser.parse_model('<ir_version: 8, opset_import: ["" : 18]>' + text)
    model.graph.initializer.extend(onnx.numpy_helper.from_array(value, name) for name, value in (
        ("axes", np.array([1, 2])), ("none", np.float32(-9))))
    onnx.save(model, tmp_path / "net.onnx")
    with pytest.warns(UserWarning, match="open"):
        artifact = takt.compile(tmp_path / "net.onnx", cache=tmp_path, recipe="channels_last")
    assert artifact.recipe.name == "channels_last"
    rng = np.random.default_rng(0)
    mask, x = rng.random([3, 24]) < 0.7, rng.standard_normal([3, 6, 24, 32]).astype(np.float32)
    own = np.stack([np.arange(3)[:, None].repeat(24, 1), rng.integers(0, 24, [3, 24])], -1)
    expected = np.where(mask[own[..., 0], own[..., 1]][:, None, None], x @ x.swapaxes(2, 3), np.float32(-9))
    found = artifact.load().function()(mask, own, x)
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_gathers_of_known_sizes_and_of_loops_stay():
    line = ('    %1 = torch.operator "onnx.Gather"(%0, %2) {torch.onnx.axis = 0 : si64} : '
            "(!torch.vtensor<[4,8],f32>, !torch.vtensor<[?],si64>) -> !torch.vtensor<[3,8],f32> \n")
    assert gathers.keep_apart(line) == line
    assert gathers.keep_apart("  " + line.replace("[3,8]", "[?,8]")) == "  " + line.replace("[3,8]", "[?,8]")
    kept = gathers.keep_apart(line.replace("[3,8]", "[?,8]"))
    assert "util.optimization_barrier" in kept
    assert "%1 = torch_c.from_builtin_tensor %takt.gather1_r : tensor<?x8xf32>" in kept
