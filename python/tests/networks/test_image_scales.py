"""Images get the sizes that ONNX Runtime finds from scales."""

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from takt.networks import image_scales, inference  # noqa: E402


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
    image_scales.round_up(model)
    inference.infer_shapes(model)
    assert inference.shapes_of(model.graph)["y"] == wanted.shape
    after = [numpy_helper.to_array(tensor) for tensor in model.graph.initializer]
    for before, name in zip(given, (node.input[2] for node in model.graph.node)):
        found = next(each for tensor, each in zip(model.graph.initializer, after) if tensor.name == name)
        np.testing.assert_allclose(found, numpy_helper.to_array(before), rtol=3e-7)
