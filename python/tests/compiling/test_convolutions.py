"""The choice of a recipe by the convolutions of a network."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from takt.compiling import convolutions  # noqa: E402


def network(*layers, size=16, channels=64):
    """Of (outputs, window, groups)."""
    nodes, weights, depth = [], [], channels
    for i, (outputs, window, groups) in enumerate(layers):
        values = np.zeros((outputs, depth // groups, window, window), np.float32)
        weights.append(numpy_helper.from_array(values, f"w{i}"))
        pad = [window // 2] * 4
        nodes.append(helper.make_node("Conv", [f"x{i}", f"w{i}"], [f"x{i + 1}"], group=groups, pads=pad))
        depth = outputs
    shape = [1, channels, size, size]
    inputs = [helper.make_tensor_value_info("x0", TensorProto.FLOAT, shape)]
    outputs = [helper.make_tensor_value_info(f"x{len(layers)}", TensorProto.FLOAT, None)]
    return helper.make_model(helper.make_graph(nodes, "network", inputs, outputs, weights))


def test_many_channels_are_worth_im2col():
    assert convolutions.recipe_of(network((256, 3, 1), (256, 1, 1))) == "im2col"


def test_few_channels_are_not():
    assert convolutions.recipe_of(network((16, 3, 1), (16, 3, 1), channels=16)) == "channels_last"


def test_depthwise_convolutions_are_not():
    assert convolutions.recipe_of(network((384, 1, 1), (384, 3, 384), (64, 1, 1))) == "channels_last"
    assert convolutions.recipe_of(network((256, 1, 8), (256, 1, 1))) == "im2col"


def test_weights_of_a_call_count():
    model = network((256, 3, 1), (256, 1, 1))
    for weights in model.graph.initializer:
        model.graph.input.append(helper.make_tensor_value_info(weights.name, TensorProto.FLOAT, weights.dims))
    del model.graph.initializer[:]
    assert convolutions.recipe_of(model) == "im2col"


def test_without_convolutions_there_is_no_choice():
    assert convolutions.recipe_of(network()) is None


def test_products_go_by_weights():
    def products(rows, columns, kind="MatMul"):
        weights = numpy_helper.from_array(np.zeros((rows, columns), np.float32), "w")
        inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", rows])]
        outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", columns])]
        graph = helper.make_graph([helper.make_node(kind, ["x", "w"], ["y"])], "network", inputs, outputs, [weights])
        return helper.make_model(graph)

    choose = convolutions.recipe_of_products
    assert [choose(products(64, 64), is_open) for is_open in (False, True)] == ["untiled", "untiled"]
    assert [choose(products(256, 256), is_open) for is_open in (False, True)] == ["untiled", "open"]
    assert [choose(products(1000, 1000), is_open) for is_open in (False, True)] == [None, "open"]
    assert choose(products(256, 256, "GRU"), True) == "untiled"
    assert choose(network((16, 3, 1)), True) is None


@pytest.mark.parametrize("left, right, recipe", [
    ((8, 197, 64), (8, 64, 197), "open"),
    ((100, 64), (64, 10), "untiled"),  # Few columns.
    ((8, 32, 32), (8, 32, 32), "untiled"),  # Few multiply-adds.
])
def test_large_products_of_two_results_are_tiled(left, right, recipe):
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in
              (("x", left), ("y", right))]
    outputs = [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)]
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "y"], ["z"])], "network", inputs, outputs)
    assert convolutions.recipe_of_products(helper.make_model(graph), False) == recipe


def test_a_turned_product_counts_by_its_own_sides():
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (8, 500)) for name in "xy"]
    outputs = [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)]
    graph = helper.make_graph([helper.make_node("Gemm", ["x", "y"], ["z"], transA=1)], "network", inputs, outputs)
    assert convolutions.recipe_of_products(helper.make_model(graph), False) == "untiled"
