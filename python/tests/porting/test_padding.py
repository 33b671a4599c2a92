"""Windows whose padding follows from sizes that a call finds."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper, parser  # noqa: E402

import together  # noqa: E402
from takt.porting import porter  # noqa: E402
from test_porter import floats, ort_run, run  # noqa: E402

SIZES = ((12, 9), (7, 11), (6, 6), (2, 5))
POOLS = {
    f"{kind.lower()}_{way}_{'_'.join(own)}": (kind, {"kernel_shape": [3, 4], "strides": [2, 3], "auto_pad": way, **own})
    for way in ("SAME_UPPER", "SAME_LOWER") for kind, own in (
        ("MaxPool", {}), ("AveragePool", {}), ("AveragePool", {"count_include_pad": 1}), ("LpPool", {}))}


def network(kind, own, *weights):
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, "H", "W"])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", "C", "A", "B"])]
    node = helper.make_node(kind, ["x", *(["w"] if weights else [])], ["y"], **own)
    graph = helper.make_graph(
        [node], "net", inputs, outputs, [numpy_helper.from_array(each, "w") for each in weights])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("name", POOLS)
def test_a_call_computes_the_padding_of_pools(name):
    model = network(*POOLS[name])
    ported = porter.for_compiler(porter.port(model))
    assert all(each.name != "auto_pad" for node in ported.graph.node for each in node.attribute)
    for sizes in SIZES:
        x = {"x": floats(1, 3, *sizes)}
        np.testing.assert_allclose(ort_run(ported, x)[0], ort_run(model, x)[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind, own", [
    ("Conv", {"auto_pad": "SAME_UPPER"}), ("Conv", {"auto_pad": "SAME_LOWER"}),
    ("Conv", {"auto_pad": "VALID", "strides": [2, 2]}),
    ("MaxPool", {"auto_pad": "SAME_UPPER", "kernel_shape": [3, 2]})])
def test_padding_that_is_the_same_for_all_sizes_is_stated(kind, own):
    model = network(kind, own, *([floats(2, 3, 3, 4)] if kind == "Conv" else []))
    ported = porter.port(model)
    assert [node.op_type for node in ported.graph.node] == [kind]
    assert all(each.name != "auto_pad" for each in ported.graph.node[0].attribute)
    for sizes in SIZES[:3]:
        x = {"x": floats(1, 3, *sizes)}
        np.testing.assert_allclose(ort_run(ported, x)[0], ort_run(model, x)[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kernel, step, pad", [(3, 2, 0), (3, 2, 1), (2, 2, 0), (5, 3, 1), (2, 3, 0), (2, 3, 1)])
@pytest.mark.parametrize("counts_padding", [0, 1])
def test_means_of_open_sizes_may_round_up(needs_compiler, tmp_path, kernel, step, pad, counts_padding):
    """What lies behind the padding counts in no mean."""
    model = network("AveragePool", {
        "kernel_shape": [kernel, 2], "strides": [step, 1], "pads": [pad, 0] * 2, "ceil_mode": 1,
        "count_include_pad": counts_padding})
    module = together.compiled(tmp_path, {"alone": model})
    for rows in (8, 9, 10, 11, 12, 13):
        x = floats(1, 3, rows, 7)
        np.testing.assert_allclose(
            module.call({"alone": [x]})["alone"], ort_run(model, {"x": x})[0], rtol=1e-5, atol=1e-6)


def test_maxima_of_open_sizes_may_have_other_padding_at_the_end(needs_compiler, tmp_path):
    model = network("MaxPool", {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [0, 0, 1, 1]})
    module = together.compiled(tmp_path, {"alone": model})
    for sizes in SIZES:
        x = floats(1, 3, *sizes) - 5
        np.testing.assert_array_equal(module.call({"alone": [x]})["alone"], ort_run(model, {"x": x})[0])


@pytest.mark.parametrize("own", [{}, {"axes": [-1, 1]}])
def test_the_middle_of_open_sizes(needs_compiler, tmp_path, own):
    wanted = np.array([1, 3, 6, 9]) if not own else np.array([9, 3])
    node = helper.make_node("CenterCropPad", ["x", "wanted"], ["y"], **own)
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, "H", "W"])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", "C", "A", "B"])]
    graph = helper.make_graph([node], "net", inputs, outputs, [numpy_helper.from_array(wanted, "wanted")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    module = together.compiled(tmp_path, {"alone": model})
    for sizes in ((5, 7), (8, 12), (6, 20), (11, 9)):
        x = floats(1, 3, *sizes)
        np.testing.assert_array_equal(module.call({"alone": [x]})["alone"], ort_run(model, {"x": x})[0])


@pytest.mark.parametrize("kind", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("axis, keepdims", [(1, 1), (0, 0)])
def test_the_last_of_equal_ones_along_open_axes(needs_compiler, tmp_path, kind, axis, keepdims):
    node = helper.make_node(kind, ["x"], ["y"], axis=axis, keepdims=keepdims, select_last_index=1)
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["A", "B"])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.INT64, ["C", "D"][:1 + keepdims])]
    graph = helper.make_graph([node], "net", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    module = together.compiled(tmp_path, {"alone": model})
    for x in ([[1, 2, 2, 1], [3, 3, 0, 3]], [[2], [2], [1]]):
        x = np.array(x, np.float32)
        np.testing.assert_array_equal(module.call({"alone": [x]})["alone"], ort_run(model, {"x": x})[0])


@pytest.mark.parametrize("element", [np.int8, np.uint8])
@pytest.mark.parametrize("kind, last", [("ArgMax", 0), ("ArgMin", 0), ("ArgMax", 1)])
def test_the_places_of_the_greatest_bytes_are_those_of_floats(element, kind, last):
    node = helper.make_node(kind, ["x"], ["y"], axis=1, select_last_index=last)
    kind_of_bytes = helper.np_dtype_to_tensor_dtype(np.dtype(element))
    graph = helper.make_graph([node], "net", [helper.make_tensor_value_info("x", kind_of_bytes, [2, 5, 40])],
                              [helper.make_tensor_value_info("y", TensorProto.INT64, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    ported = porter.port(model)
    assert [each.op_type for each in ported.graph.node] == ["DequantizeLinear", kind]
    x = np.random.default_rng(1).integers(np.iinfo(element).min, np.iinfo(element).min + 9, (2, 5, 40)).astype(element)
    np.testing.assert_array_equal(ort_run(ported, {"x": x})[0], ort_run(model, {"x": x})[0])


def padded_conv(text, sides="0, 0, 1, 0, 0, 0, 2, 1", value="0.0", scale="0.05", result="y", channels=6):
    """A convolution whose image `text` makes."""
    return parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 19]>
        net (float[2,{channels},7,8] x) => (float[A,B,C,D] {result})
        <int64[8] sides = {{{sides}}}, float value = {{{value}}}, float s = {{0.05}}, float t = {{{scale}}},
         int8 z = {{-9}}, int8 none = {{-9}}, float[4,{channels},3,3] w> {{
            {text}
            y = Conv<strides = [2, 1], pads = [0, 1, 0, 0]>(image, w)
        }}""")


def with_weights(model, channels=6):
    model.graph.initializer.append(numpy_helper.from_array(floats(4, channels, 3, 3), "w"))
    return model


@pytest.mark.parametrize("text, scale", [
    ("image = Pad(x, sides, value)", "0.05"), ("image = Pad(x, sides)", "0.05"),
    ("""q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z) zero = DequantizeLinear(none, s, z)
        p = Pad(d, sides, zero) r = QuantizeLinear(p, t, z) image = DequantizeLinear(r, t, z)""", "0.05"),
    ("""q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z)
        p = Pad(d, sides) r = QuantizeLinear(p, t, z) image = DequantizeLinear(r, t, z)""", "0.1")])
def test_convolutions_take_the_zeros_before_them(text, scale):
    model = with_weights(padded_conv(text, scale=scale))
    ported = porter.port(model)
    conv = ported.graph.node[-1]
    assert "Pad" not in {node.op_type for node in ported.graph.node}
    assert sum(node.op_type == "QuantizeLinear" for node in ported.graph.node) == text.count("q =") + (scale == "0.1")
    assert [each.ints for each in conv.attribute if each.name == "pads"] == [[1, 1, 2, 1]]
    x = floats(2, 6, 7, 8)
    np.testing.assert_allclose(run(ported, {"x": x})[0], run(model, {"x": x})[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("own", [
    {"value": "0.5"}, {"sides": "0, 1, 0, 0, 0, -1, 0, 0"}, {"sides": "0, 0, 3, 0, 0, 0, 0, 0"}, {"result": "image"},
    {"channels": 1}])
def test_other_padding_stays(own):
    model = with_weights(padded_conv("image = Pad(x, sides, value)", **own), own.get("channels", 6))
    assert "Pad" in {node.op_type for node in porter.port(model).graph.node}
