"""What is computed with the channels last."""

import numpy as np
import pytest

from test_native import Net, QuantizedNet, check_together, compared, gelu

pytest.importorskip("onnx")

from takt.rewriting import rewriter  # noqa: E402


def shuffled(net, x, channels, groups, size, after=lambda x: x):
    """The channels of groups in turns; `after` each of the three operators."""
    split = net.node("Reshape", x, net.constant(np.array([1, groups, channels // groups, size, size])))
    turned = net.node("Transpose", after(split), perm=[0, 2, 1, 3, 4])
    return after(net.node("Reshape", after(turned), net.constant(np.array([1, channels, size, size]))))


def test_shuffles_of_channels_are_calls(needs_compiler, tmp_path):
    pytest.importorskip("onnxruntime")
    cases = {}
    for groups in (2, 3, 4):
        net = Net()
        x = shuffled(net, net.conv("x", 3, 48), 48, groups, 12)
        cases[groups] = net, [1, 3, 12, 12], net.conv(x, 48, 16, groups=2)
        for is_unsigned in (False, True):
            net = QuantizedNet(is_unsigned)
            x = net.quantize("x", 0.03, 3)
            x = net.quantize(net.product("Conv", x, 0.03, (48, 3, 3, 3), 0, pads=[1] * 4), 0.05, 4)
            x = shuffled(net, x, 48, groups, 12, lambda x, net=net: net.quantize(x, 0.05, 4))
            x = net.quantize(net.product("Conv", x, 0.05, (24, 24, 1, 1), 0, group=2), 0.1, -7)
            cases[groups, is_unsigned] = net, [1, 3, 12, 12], x
    found, pairs = compared(tmp_path, cases)
    for case, (calls, _) in found.items():
        assert calls["takt_shuffle_f32" if isinstance(case, int) else "takt_shuffle_i8"] == 1, case
    for case, want, got in pairs:
        assert np.unique(want).size > 20, case
        assert np.abs(got - want).max() <= (1e-5 * np.ptp(want) if isinstance(case, int) else 0.101), case


def test_an_activation_of_moved_numbers_is_one_of_the_convolution(needs_compiler, tmp_path):
    """As the depthwise convolution between two products of a transformer has it, and rows that were split."""
    def tokens(activate):
        net = Net()
        image = net.conv(net.conv("x", 3, 24), 24, 24, groups=24)
        rows = net.node("Transpose", net.node("Reshape", image, net.constant(np.array([1, 24, 80]))), perm=[0, 2, 1])
        return net, [1, 3, 8, 10], net.node("MatMul", activate(net, rows), net.weights(24, 7))

    cases = {"gelu": tokens(gelu), "tanh": tokens(lambda net, x: net.node("Tanh", x)),
             "gelu_tanh": tokens(lambda net, x: gelu(net, x, kind="pow"))}
    net = Net()
    split = net.node("Reshape", net.node("MatMul", "x", net.weights(10, 24)), net.constant(np.array([4, 6, 24])))
    cases["sigmoid"] = net, [24, 10], net.node("MatMul", net.node("Sigmoid", split), net.weights(24, 7))
    net = Net()
    image = net.conv("x", 3, 24)
    rows = net.node("Transpose", net.node("Reshape", image, net.constant(np.array([1, 24, 80]))), perm=[0, 2, 1])
    cases["read twice"] = net, [1, 3, 8, 10], net.node("Add", rows, gelu(net, rows))
    for case, (_, kernels) in check_together(tmp_path, cases).items():
        activations = {kernel.activation for kernel in kernels}
        assert activations == ({"none", case} if case != "read twice" else {"none"}), case


@pytest.mark.parametrize("halved", ["x", "sum", "end"])
@pytest.mark.parametrize("kind", ["erf", "pow", "mul"])
def test_a_gelu_is_part_of_a_call_wherever_its_half_is(kind, halved):
    net = Net()
    result = net.node("MatMul", gelu(net, net.node("MatMul", "x", net.weights(8, 24)), halved, kind), net.weights(24, 5))
    model, kernels = rewriter.rewrite(net.model([1, 7, 8], result))
    assert [kernel.activation for kernel in kernels] == ["gelu" if kind == "erf" else "gelu_tanh", "none"]
    assert {node.op_type for node in model.graph.node} == {"TaktKernel"}


def test_the_operator_gelu_is_part_of_a_call():
    import onnx

    for approximate in ("none", "tanh"):
        graph = onnx.parser.parse_graph(
            f'net (float[7, 8] x, float[8, 24] w) => (float[7, 24] y) {{ m = MatMul(x, w) y = Gelu <approximate = '
            f'"{approximate}"> (m) }}')
        graph.initializer.append(onnx.numpy_helper.from_array(np.ones((8, 24), np.float32), "w"))
        del graph.input[1]
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)])
        _, kernels = rewriter.rewrite(model)
        assert [kernel.activation for kernel in kernels] == ["gelu" if approximate == "none" else "gelu_tanh"]


def test_products_of_channels_make_images(needs_compiler, tmp_path):
    """A block of ConvNeXt: the factors of channels and the sum, with the channels first, are part of the last product."""
    cases = {}
    for count in (1, 2):
        net = Net()
        x = net.conv("x", 3, 16)
        for _ in range(count):
            y = net.node("Transpose", net.conv(x, 16, 16, kernel=7, groups=16), perm=[0, 2, 3, 1])
            y = net.node("Add", net.node("MatMul", y, net.weights(16, 40)), net.weights(40))
            y = net.node("Add", net.node("MatMul", gelu(net, y, "sum"), net.weights(40, 16)), net.weights(16))
            y = net.node("Mul", net.node("Transpose", y, perm=[0, 3, 1, 2]), net.weights(16, 1, 1))
            x = net.node("Add", y, x)
        cases[count] = net, [2, 3, 9, 11], net.conv(x, 16, 4)
    for count, (calls, kernels) in check_together(tmp_path, cases).items():
        assert calls == {"takt_conv2d_f32": 2 + 2 * count, "takt_depthwise2d_f32": count}
        assert any(kernel.has_residual for kernel in kernels)


def test_what_several_tensors_give_is_computed_before_its_channels_come_first(needs_compiler, tmp_path):
    pytest.importorskip("onnxruntime")
    cases = {}
    for kind in ("combined", "activation after that", "activation"):
        net = Net()
        image = net.conv("x", 3, 20)
        means = net.node("Sigmoid", net.node("GlobalAveragePool", image))
        y = net.node("MaxPool", image, kernel_shape=[2, 2]) if kind == "activation" else net.node("Mul", image, means)
        cases[kind] = net, [1, 3, 9, 10], y if kind == "combined" else net.node("Tanh", y)
        network, _ = rewriter.rewrite(net.model(*cases[kind][1:]))
        barriers = [node.op_type for node in network.graph.node].count("TaktBarrier")
        assert barriers == (0 if kind == "activation" else 2), kind  # One is behind the numbers of channels.
    check_together(tmp_path, cases)
    net = QuantizedNet(False)
    x = net.quantize("x", 0.03, 3)
    parts = [net.quantize(net.product("Conv", x, 0.03, (20, 3, 1, 1), 0), 0.05, 4) for _ in range(2)]
    network, _ = rewriter.rewrite(net.model([1, 3, 9, 10], net.quantize(net.node("Mul", *parts), 0.1, 0)))
    assert [node.op_type for node in network.graph.node].count("TaktBarrier") == 1


def test_channels_are_chosen_by_what_the_network_computes(needs_compiler, tmp_path):
    """By truth values, one for each channel."""
    cases = {}
    for count in (1, 2):
        net = Net()
        image = net.conv("x", 3, 20)
        is_bright = net.node("Greater", net.node("GlobalAveragePool", image), net.constant(np.float32(0)))
        chosen = net.node("Where", is_bright, image, net.node("Sigmoid", image))
        cases[count] = net, [count, 3, 9, 10], net.conv(chosen, 20, 8)
    for count, (calls, _) in check_together(tmp_path, cases).items():
        assert calls["takt_conv2d_f32"] == 2, count
