"""Convolutions of 1x1 before the images that they read are enlarged."""

import numpy as np
import pytest

from test_native import Net, check_together

onnx = pytest.importorskip("onnx")

from takt.rewriting import before_resize  # noqa: E402


def enlarged(net, x, factor, mode="linear", **attributes):
    scales = net.constant(np.array([1, 1, factor, factor], np.float32))
    return net.node("Resize", x, "", scales, mode=mode, **attributes)


def normalized(net, x, channels):
    values = [net.constant(net.random.uniform(0.5, 2, channels).astype(np.float32)) for _ in range(4)]
    return net.node("BatchNormalization", x, *values)


def pixels(model):
    """The height and width of the results of the convolutions of 1x1, in their order."""
    moved = onnx.shape_inference.infer_shapes(before_resize.move(model), strict_mode=True)
    shapes = {value.name: [d.dim_value for d in value.type.tensor_type.shape.dim]
              for value in (*moved.graph.value_info, *moved.graph.output)}
    weights = {tensor.name: tensor.dims for tensor in moved.graph.initializer}
    return [tuple(shapes[node.output[0]][2:]) for node in moved.graph.node
            if node.op_type == "Conv" and list(weights[node.input[1]][2:]) == [1, 1]]


def test_products_have_the_pixels_of_the_small_images(needs_compiler, tmp_path):
    cases = {}

    def add(name, net, result, sizes, shape=(2, 3, 12, 16)):
        cases[name] = net, list(shape), result
        assert pixels(net.model(list(shape), result)) == sizes, name

    net = Net()  # The head of SegFormer: images of several sizes, and a normalization behind the product.
    x = net.conv("x", 3, 48)
    half = net.conv(x, 48, 48, strides=[2, 2])
    quarter = net.conv(half, 48, 48, strides=[2, 2])
    whole = net.node("Concat", enlarged(net, quarter, 4.0), enlarged(net, half, 2.0), x, axis=1)
    y = net.node("Relu", normalized(net, net.conv(whole, 144, 32, kernel=1, bias=False), 32))
    add("sum", net, net.conv(y, 32, 4), [(3, 4), (6, 8), (12, 16)])

    net = Net()  # Two products of one concatenation, as detectors have them, and no image of full size.
    x = net.conv("x", 3, 40)
    both = net.node("Concat", *(enlarged(net, net.conv(x, 40, 40), 2.0, "nearest") for _ in range(2)), axis=1)
    add("two", net, net.node("Add", *(net.conv(both, 80, 24, kernel=1) for _ in range(2))), [(12, 16)] * 4)

    net = Net()  # Sizes in place of scales.
    sizes = net.constant(np.array([2, 24, 20, 31]))
    large = net.node("Resize", net.conv("x", 3, 24), "", "", sizes, mode="linear",
                     coordinate_transformation_mode="align_corners")
    add("sizes", net, net.conv(large, 24, 5, kernel=1), [(12, 16)])
    check_together(tmp_path, cases)


def test_a_resize_may_leave_its_sizes_empty():
    net = Net()
    scales = net.constant(np.array([1, 1, 2, 2], np.float32))
    large = net.node("Resize", "x", "", scales, "", mode="linear")
    assert pixels(net.model([1, 16, 6, 7], net.conv(large, 16, 4, kernel=1))) == [(6, 7)]


def test_others_stay():
    def stays(result, shape=(1, 16, 8, 8)):
        model = net.model(list(shape), result)
        return before_resize.move(model) is model

    net = Net()
    assert stays(net.conv(enlarged(net, "x", 2.0), 16, 4))  # 3x3.
    net = Net()
    assert stays(net.conv(enlarged(net, "x", 2.0), 16, 64, kernel=1))  # More numbers to resize.
    net = Net()
    assert stays(net.conv(enlarged(net, "x", 0.5), 16, 4, kernel=1))
    net = Net()
    assert stays(net.conv(enlarged(net, "x", 2.0, "cubic"), 16, 4, kernel=1))
    net = Net()
    large = enlarged(net, "x", 2.0)
    assert stays(net.node("Add", net.conv(large, 16, 16, kernel=1), large))
    net = Net()
    whole = net.node("Concat", enlarged(net, net.conv("x", 16, 80), 2.0), enlarged(net, "x", 2.0), axis=1)
    assert stays(net.node("Add", net.conv(whole, 96, 40, kernel=1), net.conv(whole, 96, 40)))  # It stays anyway.
