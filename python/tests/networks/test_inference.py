"""The shapes that a file states, and those that are inferred."""

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from takt.networks import inference  # noqa: E402


def network(x, between, y):
    """Two nodes, with these shapes stated."""
    value = helper.make_tensor_value_info
    nodes = [helper.make_node("Neg", ["x"], ["a"]), helper.make_node("NonZero", ["a"], ["b"]),
             helper.make_node("Abs", ["b"], ["c"]), helper.make_node("Relu", ["a"], ["y"])]
    graph = helper.make_graph(nodes, "net", [value("x", TensorProto.FLOAT, x)], [
        value("y", TensorProto.FLOAT, y), value("c", TensorProto.INT64, [2, 3])], value_info=[
        value("a", TensorProto.FLOAT, between), value("b", TensorProto.INT64, [2, 3])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


@pytest.mark.parametrize("x, between, y, is_kept, left", [
    ([4, 8], [4, 8], [4, 8], True, [4, 8]),
    (["n", 8], ["n", 8], ["n", 8], True, [None, 8]),
    (["n", 8], ["m", 8], [None, 8], True, [None, 8]),
    ([4, 8], ["n", 8], ["n", 8], True, [None, 8]),
    ([4, 8], [1, 8], [4, 8], False, [4, 8]),
    ([4, 8], [4, 8], [1, 8], False, None),
    (["n", 8], ["n", 8], [1, 8], False, None),
    ([4, 8], [32], [4, 8], False, [4, 8]),
])
def test_shapes_that_contradict_the_inputs_do_not_count(x, between, y, is_kept, left):
    model = network(x, between, y)
    inference.drop_false_shapes(model)
    assert [value.name for value in model.graph.value_info] == (["a", "b"] if is_kept else [])
    sizes = inference.sizes_of(model.graph)
    assert sizes.get("y") == left and sizes["c"] == [2, 3]


def test_sizes_of_results_hold_for_what_they_are_made_of():
    """That is: for all that has the same sizes."""
    value = helper.make_tensor_value_info
    nodes = [helper.make_node("Expand", ["x", "sizes"], ["a"]), helper.make_node("Relu", ["a"], ["b"]),
             helper.make_node("Softmax", ["b"], ["y"])]
    graph = helper.make_graph(
        nodes, "net", [value("x", TensorProto.FLOAT, [1, 8]), value("sizes", TensorProto.INT64, [2])],
        [value("y", TensorProto.FLOAT, [3, "n"])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    inference.infer_shapes(model)
    found = inference.sizes_of(model.graph)
    assert found["a"] == found["b"] == found["y"] == [3, 8]


@pytest.mark.parametrize("size, result", [(3, 5), (3, 10), (11, 23), (8, 12), (80, 153), (7, 3)])
def test_sizes_are_those_that_onnxruntime_rounds(size, result):
    """The size of the second image follows from that of the first."""
    onnxruntime = pytest.importorskip("onnxruntime")
    value = helper.make_tensor_value_info
    scale, back = np.float32(result) / np.float32(size), np.float32(size) / np.float32(result)
    given = [numpy_helper.from_array(np.float32([1, 1, scale, 1]), "s"),
             numpy_helper.from_array(np.float32([1, 1, back, scale]), "t")]
    nodes = [helper.make_node("Resize", ["x", "", "s"], ["a"]), helper.make_node("Resize", ["a", "", "t"], ["y"])]
    graph = helper.make_graph(nodes, "net", [value("x", TensorProto.FLOAT, [1, 1, size, size])],
                              [value("y", TensorProto.FLOAT, None)], given)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    x = np.zeros((1, 1, size, size), np.float32)
    wanted, = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    inference.round_scales(model)
    inference.infer_shapes(model)
    assert inference.shapes_of(model.graph)["y"] == wanted.shape
    after = [numpy_helper.to_array(tensor) for tensor in model.graph.initializer]
    for before, name in zip(given, (node.input[2] for node in model.graph.node)):
        found = next(each for tensor, each in zip(model.graph.initializer, after) if tensor.name == name)
        np.testing.assert_allclose(found, numpy_helper.to_array(before), rtol=3e-7)
