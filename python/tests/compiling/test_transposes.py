"""Large transpositions whose sides are no multiples of a vector."""

import pytest

import takt
from takt.compiling import transposes

np = pytest.importorskip("numpy")

SMALLER = ["--iree-llvmcpu-distribution-size=16"]


def program(order, shape, element="f32"):
    result = ",".join(str(shape[axis]) for axis in order)
    perm = ", ".join(f"{axis} : si64" for axis in order)
    return (f'%1 = torch.operator "onnx.Transpose"(%0) {{torch.onnx.perm = [{perm}]}} : (!torch.vtensor<'
            f'[{",".join(map(str, shape))}],{element}>) -> !torch.vtensor<[{result}],{element}>\n').encode()


@pytest.mark.parametrize("order, shape, is_slow", [
    ((0, 3, 1, 2), (1, 64, 128, 20), True),
    ((0, 2, 3, 1), (1, 20, 64, 128), True),
    ((0, 3, 1, 2), (1, 64, 128, 32), False),
    ((0, 3, 1, 2), (1, 64, 512, 3), False),
    ((0, 3, 1, 2), (1, 8, 8, 20), False),  # Small.
    ((0, 2, 1), (1, 1460, 39), False),
    ((0, 2, 1), (1, 1480, 39), True),
    ((0, 2, 3, 1), (1, 32, 60, 60), False),  # 3600 pixels side by side.
    ((0, 2, 3, 1), (1, 32, 61, 61), True),
    ((0, 2, 1, 3), (1, 200, 40, 60), False),  # Rows stay as they are.
    ((2, 1, 0), (40, 50, 60), True),
    ((0, 1, 2), (40, 50, 60), False),
    ((0, 3, 1, 2), ("?", 64, 128, 20), False),
    ((0, 5, 1, 2), (1, 64, 128, 20), False),  # Not what the operator has.
])
def test_slow_ones_get_smaller_tiles(order, shape, is_slow):
    if max(order) < len(shape):
        line = program(order, shape)
    else:
        line = program(range(len(shape)), shape).replace(b"3 : si64", b"5 : si64")
    assert transposes.flags_for(b"module {\n" + line + b"}", ["--iree-opt-level=O3"]) == (SMALLER if is_slow else [])


def test_given_tiles_and_other_numbers_stay():
    line = program((0, 3, 1, 2), (1, 64, 128, 20))
    assert transposes.flags_for(line, ["--iree-llvmcpu-distribution-size=32"]) == []
    assert transposes.flags_for(b"{-#" + line, []) == []
    assert transposes.flags_for(program((0, 3, 1, 2), (1, 64, 128, 20), "si8"), []) == []  # Fewer bytes.
    assert transposes.flags_for(program((0, 3, 1, 2), (1, 128, 128, 20), "si8"), []) == SMALLER
    assert transposes.flags_for(program((0, 3, 1, 2), (1, 64, 128, 20), "si64"), []) == []


def test_smaller_tiles_give_the_same_results(needs_compiler, tmp_path):
    onnx = pytest.importorskip("onnx")
    value, shape = onnx.helper.make_tensor_value_info, [1, 61, 67, 20]
    nodes = [onnx.helper.make_node("Transpose", ["x"], ["y"], perm=[0, 3, 1, 2]),
             onnx.helper.make_node("Relu", ["y"], ["a"]),
             onnx.helper.make_node("Transpose", ["a"], ["z"], perm=[0, 2, 3, 1])]
    graph = onnx.helper.make_graph(nodes, "net", [value("x", 1, shape)], [value("a", 1, None), value("z", 1, None)])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9),
              tmp_path / "net.onnx")
    x = np.random.default_rng(3).standard_normal(shape).astype(np.float32)
    first, last = takt.compile(tmp_path / "net.onnx", cache=tmp_path).load().net(x)
    np.testing.assert_array_equal(first, np.maximum(x, 0).transpose(0, 3, 1, 2))
    np.testing.assert_array_equal(last, np.maximum(x, 0))
