"""Tensors that several concatenations have."""

import numpy as np
import pytest

import takt
from takt.compiling import shared

onnx = pytest.importorskip("onnx")

from onnx import parser  # noqa: E402

# Features with an argument and with what is computed; the same as channels of a batch of one, with other readers; a
# product with its tangents and with a transposed argument.
CASES = {
    "float[4,6] x) => (float[8,6] y, float[8,6] z)": """a = Softmax<axis = 0>(x) c = Neg(x) y = Concat<axis = 0>(a, x)
        z = Concat<axis = 0>(a, c)""",
    "float[1,4,6] x) => (float[1,8,6] y, float[1,8,6] z)": """a = Softmax<axis = 2>(x) c = Neg(x)
        p = Concat<axis = 1>(a, x) q = Concat<axis = 1>(a, c) y = Softmax<axis = 2>(p) z = Softmax<axis = 2>(q)""",
    "float[6,6] x) => (float[12,6] y, float[12,6] z)": """t = Transpose<perm = [1, 0]>(x) a = MatMul(x, t) b = Tanh(a)
        y = Concat<axis = 0>(a, b) z = Concat<axis = 0>(a, t)""",
}


@pytest.mark.parametrize("case", CASES)
def test_each_concatenation_has_all(needs_compiler, tmp_path, case):
    onnxruntime = pytest.importorskip("onnxruntime")
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]>net ({case} {{ {CASES[case]} }}')
    onnx.save(model, tmp_path / "net.onnx")
    net = takt.compile(tmp_path / "net.onnx", cache=tmp_path).load().function()
    session = onnxruntime.InferenceSession(tmp_path / "net.onnx")
    shape = [size.dim_value for size in model.graph.input[0].type.tensor_type.shape.dim]
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    for found, expected in zip(net(x), session.run(None, {"x": x})):
        np.testing.assert_allclose(found, expected, atol=1e-5)


def concat(result, *inputs):
    kinds = ", ".join(["!torch.vtensor<[4,6],f32>"] * len(inputs))
    return (f'    %{result} = torch.operator "onnx.Concat"({", ".join(inputs)}) {{torch.onnx.axis = 0 : si64}} : '
            f"({kinds}) -> !torch.vtensor<[{4 * len(inputs)},6],f32> ")


def test_what_one_concatenation_has_stays():
    """Arguments as well: nothing makes them."""
    exp = '    %0 = torch.operator "onnx.Exp"(%arg0) : (!torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> '
    for lines in ((exp, concat(1, "%0", "%arg0", "%0"), concat(2, "%arg0", "%arg0")),
                  (exp, concat(1, "%0", "%arg0"), exp.replace("%0", "%2").replace("%arg0", "%0"))):
        text = "\n".join(lines)
        assert shared.keep_apart(text) == text


@pytest.mark.parametrize("view", ["", "Reshape"])
def test_all_but_the_last_get_their_own(view):
    exp = '    %0 = torch.operator "onnx.Exp"(%arg0) : (!torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> '
    viewed = [exp.replace("%0", "%3").replace("%arg0", "%0").replace("Exp", view)] if view else []
    text = "\n".join([exp, *viewed, concat(1, "%0", "%arg0"), concat(2, "%arg0", "%3" if view else "%0")])
    kept = shared.keep_apart(text)
    assert kept.count("util.optimization_barrier") == 1
    assert "(%takt.shared1.0.own, %arg0)" in kept and kept.endswith(concat(2, "%arg0", "%3" if view else "%0"))
