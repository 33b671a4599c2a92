"""Operators of ONNX Runtime."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper, parser  # noqa: E402

from takt.porting import porter  # noqa: E402

RNG = np.random.default_rng(5)


def model_of(kind, inputs, constants=None, element=TensorProto.FLOAT, **attributes):
    """One node; `inputs` by name, floats or bytes."""
    constants = constants or {}
    graph = helper.make_graph(
        [helper.make_node(kind, [*inputs, *constants], ["y"], domain="com.microsoft", **attributes)], "net",
        [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
         for name, value in inputs.items()],
        [helper.make_tensor_value_info("y", element, None)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()])
    return helper.make_model(
        graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])


def check(model, inputs):
    expected, found = (
        onnxruntime.InferenceSession(each.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, inputs)[0]
        for each in (model, porter.port(model)))
    assert not {node.domain for node in porter.port(model).graph.node} - {""}
    np.testing.assert_allclose(found.astype(float), expected, rtol=0, atol=1 if expected.dtype == np.uint8 else 1e-4)


def floats(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("a, b, attributes", [
    (floats(5, 3, 8), floats(3, 8, 2), {"transBatchA": 1}),
    (floats(3, 5, 8), floats(8, 3, 2), {"transBatchB": 1}),
    (floats(8, 3, 5), floats(2, 3, 8), {"transBatchA": 1, "transA": 1, "transBatchB": 1, "transB": 1}),
    (floats(8, 5), floats(8, 2), {"transA": 1, "alpha": 0.5}),
])
def test_products_of_what_is_turned(a, b, attributes):
    check(model_of("FusedMatMul", {"a": a, "b": b}, **attributes), {"a": a, "b": b})


@pytest.mark.parametrize("turn", ["transA", "transB", "transBatchA"])
def test_products_of_what_another_operator_of_the_runtime_makes(turn):
    model = parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
        net (float[4,4,4] x, float[4] b) => (float[4,4,4] y) {{
            g = com.microsoft.BiasGelu(x, b)  y = com.microsoft.FusedMatMul<{turn} = 1>(g, g) }}""")
    check(model, {"x": floats(4, 4, 4), "b": floats(4)})


@pytest.mark.parametrize("upper", [0, 1])
def test_triangles(upper):
    inputs = {"x": floats(2, 4, 5)}
    check(model_of("Trilu", inputs, {"k": np.array(-1)}, upper=upper), inputs)


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("padding", ["zeros", "border"])
def test_samples_of_a_grid(mode, padding):
    inputs = {"x": floats(1, 2, 6, 6), "grid": 1.3 * floats(1, 4, 4, 2)}
    check(model_of("GridSample", inputs, mode=mode, padding_mode=padding), inputs)


@pytest.mark.parametrize("opset, axis", [(11, 1), (11, -1), (13, 1), (13, -1)])
def test_softmax_of_bytes(opset, axis):
    x = RNG.integers(0, 256, (2, 3, 10)).astype(np.uint8)
    check(model_of("QLinearSoftmax", {"x": x}, {"s": np.float32(0.05), "z": np.uint8(128), "t": np.float32(1 / 256),
                                               "o": np.uint8(0)}, element=TensorProto.UINT8, opset=opset, axis=axis),
          {"x": x})


@pytest.mark.parametrize("turns", [0, 1])
def test_grouped_heads_of_a_prompt(turns):
    steps, size = 5, 16
    inputs = {"q": floats(1, steps, 4 * size), "k": floats(1, steps, 2 * size), "v": floats(1, steps, 2 * size)}
    model = model_of("GroupQueryAttention", inputs, num_heads=4, kv_num_heads=2, do_rotary=turns)
    node = model.graph.node[0]
    extra = {"last": np.array([steps - 1], np.int32), "total": np.array(steps, np.int32)}
    if turns:
        extra.update(cosines=floats(16, size // 2), sines=floats(16, size // 2))
    node.input.extend(["", "", *extra])
    node.output.extend(["keys", "values"])
    model.graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in extra.items())
    check(model, inputs)


@pytest.mark.parametrize("bits, zeros", [(4, False), (4, True), (8, False)])
def test_rows_of_a_table_of_bits(bits, zeros):
    table = RNG.integers(0, 256, (20, 64 * bits // 8)).astype(np.uint8)
    constants = {"scales": np.abs(floats(20, 2))}
    if zeros:
        constants["zeros"] = RNG.integers(0, 256, (20, 1)).astype(np.uint8)
    places = {"places": np.array([[3, 7, 1]])}
    model = model_of("GatherBlockQuantized", places, constants, block_size=32, bits=bits, gather_axis=0, quantize_axis=1)
    model.graph.node[0].input.insert(0, "table")
    model.graph.initializer.append(numpy_helper.from_array(table, "table"))
    check(model, places)


@pytest.mark.parametrize("quant_type", [0, 1])
def test_blocks_of_floats_of_four_bits(quant_type):
    weights = {"w": RNG.integers(0, 256, 64 * 32 // 2).astype(np.uint8), "sizes": np.abs(floats(64 * 32 // 16))}
    x = floats(3, 64)
    check(model_of("MatMulBnb4", {"x": x}, weights, K=64, N=32, block_size=16, quant_type=quant_type), {"x": x})


def test_one_of_two_quantized_numbers():
    inputs = {"c": RNG.random((3, 4)) < 0.5, "x": RNG.integers(0, 256, (3, 4)).astype(np.uint8)}
    constants = {"xs": np.float32(0.1), "xz": np.uint8(3), "other": RNG.integers(0, 256, (3, 4)).astype(np.uint8),
                 "ys": np.float32(0.2), "yz": np.uint8(7), "zs": np.float32(0.15), "zz": np.uint8(9)}
    model = model_of("QLinearWhere", inputs, constants, TensorProto.UINT8)
    model.graph.node[0].input[:] = ["c", "x", "xs", "xz", "other", "ys", "yz", "zs", "zz"]
    check(model, inputs)


@pytest.mark.parametrize("back, is_left", [([0, 3, 1, 2], False), ([0, 2, 3, 1], True)])
def test_what_is_turned_back_is_left_out(back, is_left):
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> net (float[2,3,4,5] x) => (float[A,B,C,D] y) '
        f"{{ t = Transpose<perm = [0, 2, 3, 1]>(x) u = Transpose<perm = {back}>(t) y = Relu(u) }}")
    assert ("Transpose" in {node.op_type for node in porter.port(model).graph.node}) == is_left
    check(model, {"x": RNG.standard_normal((2, 3, 4, 5)).astype(np.float32)})


@pytest.mark.parametrize("element", [np.int8, np.uint8])
@pytest.mark.parametrize("ins", [6, 300])
def test_convolutions_of_bytes_of_a_call(element, ins):
    inputs = {"x": RNG.integers(0, 256, (1, ins, 5, 6)).astype(np.uint8),
              "w": RNG.integers(0, 256, (4, ins, 3, 3)).astype(np.uint8).view(element)}
    model = model_of("ConvInteger", inputs, {"x_zero": np.uint8(120), "w_zero": np.array(7, element)},
                     TensorProto.INT32, pads=[1, 0, 1, 2])
    model.graph.node[0].domain = ""
    assert "ConvInteger" not in {node.op_type for node in porter.port(model).graph.node}
    check(model, inputs)
