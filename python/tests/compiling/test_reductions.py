"""Reductions along axes of open sizes."""

import numpy as np
import pytest

import takt
from takt.compiling import reductions

onnx = pytest.importorskip("onnx")

from onnx import parser  # noqa: E402


def test_the_mean_of_tokens_behind_a_product(needs_compiler, tmp_path):
    """As sentence encoders have it. The compiler refused the stack that it would take."""
    text = """net (float[batch,steps,24] x, float[batch,steps,1] mask) => (float[batch,16] y) {
        p = MatMul(x, w) q = Add(p, b) n = LayerNormalization(q, scale) m = Mul(n, mask)
        y = ReduceSum<keepdims = 0>(m, axis) }"""
    model = parser.parse_model('<ir_version: 8, opset_import: ["" : 18]>' + text)
    rng = np.random.default_rng(0)
    w, b, scale = (rng.standard_normal(shape).astype(np.float32) for shape in ([24, 16], [16], [16]))
    model.graph.initializer.extend(onnx.numpy_helper.from_array(value, name) for name, value in (
        ("w", w), ("b", b), ("scale", scale), ("axis", np.array([1]))))
    onnx.save(model, tmp_path / "net.onnx")
    with pytest.warns(UserWarning, match="open"):
        artifact = takt.compile(tmp_path / "net.onnx", cache=tmp_path, recipe="channels_last")
    assert artifact.recipe.name == "channels_last", artifact.report
    net = artifact.load().function()
    for batch, steps in ((2, 5), (1, 17)):
        x, mask = rng.standard_normal([batch, steps, 24]).astype(np.float32), np.ones([batch, steps, 1], np.float32)
        q = x @ w + b
        q -= q.mean(-1, keepdims=True)
        expected = (q / np.sqrt(q.var(-1, keepdims=True) + 1e-5) * scale).sum(1)
        np.testing.assert_allclose(net(x, mask), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("text, is_apart", [
    ('"onnx.Softmax"(%0) {torch.onnx.axis = -1 : si64} : (!torch.vtensor<[4,?],f32>) -> '
     '!torch.vtensor<[4,?],f32>', True),
    ('"onnx.Softmax"(%0) {torch.onnx.axis = 0 : si64} : (!torch.vtensor<[4,?],f32>) -> '
     '!torch.vtensor<[4,?],f32>', False),
    ('"onnx.ReduceSum"(%0, %1) : (!torch.vtensor<[?,?,4],f32>, !torch.vtensor<[1],si64>) -> '
     '!torch.vtensor<[?,1,4],f32>', True),
    ('"onnx.ReduceSum"(%0, %1) {torch.onnx.keepdims = 0 : si64} : (!torch.vtensor<[?,4],f32>, '
     '!torch.vtensor<[1],si64>) -> !torch.vtensor<[?],f32>', False),
    ('"onnx.ArgMax"(%0) {torch.onnx.axis = 1 : si64} : (!torch.vtensor<[?,?],f32>) -> '
     '!torch.vtensor<[?,1],si64>', True),
])
def test_known_sizes_stay(text, is_apart):
    line = f"    %2 = torch.operator {text}"
    kept = reductions.keep_apart(line)
    assert ("util.optimization_barrier" in kept) == is_apart
    assert is_apart or kept == line
    assert not is_apart or "(%takt.reduction2.source" in kept.split("\n")[-1]
