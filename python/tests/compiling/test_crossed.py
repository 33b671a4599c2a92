"""Tensors that an operator reads along different axes."""

import numpy as np
import pytest

import takt
from takt.compiling import crossed

onnx = pytest.importorskip("onnx")

from onnx import parser  # noqa: E402

# The distances of all pairs of points; rows and columns of a normalized matrix; which points have the same cell, by
# names that a reshape gives; the order of greatest elements, of as many points as a call has.
CASES = {
    "float[2,32,3] x) => (float[2,32,32] y)": """square = Mul(x, x) s = ReduceSum<keepdims = 1>(square, last)
        t = Transpose<perm = [0, 2, 1]>(s) turned = Transpose<perm = [0, 2, 1]>(x) product = MatMul(x, turned)
        twice = Add(product, product) a = Sub(s, twice) y = Add(a, t)""",
    "float[8,8] x) => (float[8,8] y)": "p = Softmax(x) t = Transpose<perm = [1, 0]>(p) d = Sub(p, t) y = Abs(d)",
    "float[64,8] x) => (float[64,64] y)": """s = ReduceMin<keepdims = 0>(x, last) a = Reshape(s, rows)
        e = Neg(s) b = Reshape(e, columns) y = Mul(a, b)""",
    "float[n,5] x) => (bool[n,n] y)": """s = ReduceMax<keepdims = 0>(x, last) a = Unsqueeze(s, first)
        b = Unsqueeze(s, last) y = Less(a, b)""",
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore:.*open:UserWarning")
def test_rows_of_other_tiles_are_there(needs_compiler, tmp_path, case):
    onnxruntime = pytest.importorskip("onnxruntime")
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]>net ({case} {{ {CASES[case]} }}')
    model.graph.initializer.extend(onnx.numpy_helper.from_array(np.array(value), name) for name, value in (
        ("first", [0]), ("last", [-1]), ("rows", [64, 1]), ("columns", [1, -1])))
    onnx.save(model, tmp_path / "net.onnx")
    net = takt.compile(tmp_path / "net.onnx", cache=tmp_path).load().function()
    session = onnxruntime.InferenceSession(tmp_path / "net.onnx")
    shape = [size.dim_value or 33 for size in model.graph.input[0].type.tensor_type.shape.dim]
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    np.testing.assert_allclose(net(x), session.run(None, {"x": x})[0], atol=1e-5)


def program(*operators):
    """Lines as the importer writes them, of operators as "kind(inputs) shapes of the inputs -> shape"."""
    lines = []
    for i, operator in enumerate(operators):
        call, _, kinds = operator.partition(" ")
        kind, _, inputs = call[:-1].partition("(")
        before, _, after = kinds.partition(" -> ")
        types = ", ".join(f"!torch.vtensor<{shape},f32>" for shape in before.split())
        attributes = "{torch.onnx.perm = [1 : si64, 0 : si64]} " if kind == "Transpose" else ""
        lines.append(f'    %{i} = torch.operator "onnx.{kind}"({inputs.replace(",", ", ")}) {attributes}: ({types}) -> '
                     f"!torch.vtensor<{after},f32> ")
    return "\n".join(lines)


def test_one_order_stays():
    """A sum for each row, by two ways; each argument; a kernel's result, which nothing is computed together with."""
    same = program("ReduceSum(%arg0) [4,8] -> [4]", "Unsqueeze(%0) [4] -> [4,1]", "Reshape(%0) [4] -> [4,1]",
                   "Mul(%arg0,%1) [4,8] [4,1] -> [4,8]", "Sub(%3,%2) [4,8] [4,1] -> [4,8]")
    argument = program("Exp(%arg0) [8,8] -> [8,8]", "Transpose(%0) [8,8] -> [8,8]", "Add(%0,%1) [8,8] [8,8] -> [8,8]")
    kernel = argument.replace("onnx.Exp", "onnx.takt.TaktKernel")
    for each in (same, argument, kernel):
        assert crossed.keep_apart(each) == each


def test_readers_read_what_is_apart():
    text = program("ReduceSum(%arg0) [8,3] -> [8,1]", "Transpose(%0) [8,1] -> [1,8]", "Relu(%0) [8,1] -> [8,1]",
                   "Add(%1,%2) [1,8] [8,1] -> [8,8]") + "\n    return %0 : !torch.vtensor<[8,1],f32>"
    kept = crossed.keep_apart(text).split("\n")
    barrier = next(i for i, line in enumerate(kept) if "util.optimization_barrier" in line)
    assert kept[0] == text.split("\n")[0]
    assert not any("%0" in line for line in kept[barrier:] if "%takt.apart0 =" not in line)
    assert sum("%takt.apart0" in line for line in kept) == 4  # Where it is made, two operators, and the result.
