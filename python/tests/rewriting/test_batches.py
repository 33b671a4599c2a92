"""Products of a batch of constant matrices."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import helper  # noqa: E402

from takt.rewriting import batches  # noqa: E402
from test_porter import floats, kinds, model_of, run  # noqa: E402


def check(nodes, shape, opset=17, **constants):
    model = model_of(nodes, {"x": shape}, {"y": None}, opset, **constants)
    result = batches.split(model)
    feeds = {"x": floats(*shape)}
    for wanted, found in zip(run(model, feeds), run(result, feeds)):
        np.testing.assert_allclose(found, wanted, atol=1e-5 * np.abs(wanted).max())
    return kinds(result)


def node(kind, *names, **attributes):
    return helper.make_node(kind, list(names[:-1]), [names[-1]], **attributes)


@pytest.mark.parametrize("shape", [[3, 5, 8], [1, 5, 8], [5, 8]])
def test_members_stay_apart_between_products(shape):
    """The operations and constants between them, too; the result is joined."""
    left = check(
        [node("MatMul", "x", "w", "a"), node("Add", "a", "row", "b"), node("Sigmoid", "b", "g"), node("Mul", "b", "g", "c"),
         node("Mul", "c", "half", "d"), node("MatMul", "d", "v", "e"), node("Add", "each", "e", "y")],
        shape, w=floats(3, 8, 6), v=floats(3, 6, 4), row=floats(3, 1, 6), half=np.float32(0.5), each=floats(1, 5, 4))
    assert left.count("MatMul") == 6 and left.count("Sigmoid") == 3 and left[-1] == "Concat"
    assert left.count("Concat") == 1


def test_a_repeated_input_is_taken_once():
    left = check([node("Expand", "x", "sizes", "r"), node("MatMul", "r", "w", "y")], [1, 5, 8], w=floats(3, 8, 6),
                 sizes=np.array([3, 5, 8]))
    assert "Gather" not in left and left.count("MatMul") == 3


def test_other_operations_need_the_tensor():
    left = check([node("MatMul", "x", "w", "a"), node("Relu", "a", "b"), node("ReduceSum", "b", "axes", "s", keepdims=1),
                  node("Sub", "b", "s", "y")], [2, 5, 8], w=floats(2, 8, 6), axes=np.array([0]))
    assert left.count("MatMul") == 2 and left.count("Relu") == 2 and left.count("Concat") == 1


@pytest.mark.parametrize("weights", [(8, 6), (1, 8, 6), (2, 3, 8, 6), (17, 8, 6)])
def test_what_is_no_batch_of_a_few_stays(weights):
    model = model_of([node("MatMul", "x", "w", "y")], {"x": [17, 5, 8] if weights[0] == 17 else [1, 5, 8]}, {"y": None},
                     w=floats(*weights))
    assert batches.split(model) is model


def branch(name, *nodes):
    return helper.make_graph(list(nodes), name, [], [helper.make_tensor_value_info(nodes[-1].output[0], 1, None)])


def test_subgraphs_read_the_tensor_and_keep_what_they_read():
    model = model_of(
        [node("MatMul", "x", "w", "a"), node("Neg", "x", "n"),
         node("If", "is", "y", then_branch=branch("then", node("Relu", "a", "r")),
              else_branch=branch("else", node("ReduceSum", "n", "s", keepdims=0)))],
        {"x": [2, 5, 8], "is": (onnx.TensorProto.BOOL, [])}, {"y": None}, w=floats(2, 8, 6))
    result = batches.split(model)
    assert kinds(result).count("MatMul") == 2 and "Neg" in kinds(result)
    for choice in (True, False):
        feeds = {"x": floats(2, 5, 8), "is": np.array(choice)}
        np.testing.assert_allclose(run(result, feeds)[0], run(model, feeds)[0], rtol=1e-5, atol=1e-5)
