"""The shapes that a file states, and those that are inferred."""

import pytest

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper  # noqa: E402

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
