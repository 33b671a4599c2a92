"""Parts and means of tensors with the channels last."""

import itertools

import numpy as np
import pytest

from test_native import Net, check_together

onnx = pytest.importorskip("onnx")

from onnx import helper  # noqa: E402

from takt.rewriting import rewriter  # noqa: E402


def check_without_transposes(tmp_path, cases):
    """Equal results, and the tensors keep their channels last on the way; {case: the kinds of the operators}."""
    kinds = {}
    for case, (net, shape, result) in cases.items():
        model, kernels = rewriter.rewrite(net.model(shape, result))
        kinds[case] = [node.op_type for node in model.graph.node]
        assert kernels and kinds[case].count("Transpose") <= 2, case  # Of the input and the result.
    check_together(tmp_path, cases)
    return kinds


def sliced(net, x, axis, begin, end, step=1):
    numbers = [net.constant(np.array([number])) for number in (begin, end, axis, step)]
    return net.node("Slice", x, *numbers)


def test_a_slice_keeps_the_channels_last(needs_compiler, tmp_path):
    cases, all_of_it = {}, (-3, 0, 24, 1)
    for case in ((1, 3, 9, 1), (1, -6, 1 << 40, 2), (2, 0, 8, 2), (3, 1, -1, 1), all_of_it):
        net = Net()
        x = sliced(net, net.conv("x", 3, 24), *case)
        ins = 24 if case[0] in (2, 3) or case == all_of_it else (6 if case[1] == 3 else 3)
        cases[case] = net, [1, 3, 16, 16], net.conv(x, ins, 20)
    for case, kinds in check_without_transposes(tmp_path, cases).items():
        assert ("Slice" in kinds) != (case == all_of_it), case  # All of a tensor is the tensor.


def test_parts_of_a_split(needs_compiler, tmp_path):
    net = Net()
    x = net.conv("x", 3, 24)
    parts = ["first", "second"]
    sizes = net.constant(np.array([10, 14]))
    net.nodes.append(helper.make_node("Split", [x, sizes], parts, axis=1))
    joined = net.node("Concat", net.conv("first", 10, 16), "second", axis=1)
    kinds = check_without_transposes(tmp_path, {"": (net, [1, 3, 12, 12], net.conv(joined, 30, 18))})
    assert "Split" not in kinds[""]


def test_means_and_sums_of_rows(needs_compiler, tmp_path):
    """As separable attention has them: weights for each pixel, a sum, and the sum for
    each pixel again."""
    cases = {}
    for kind, axis in itertools.product(["ReduceMean", "ReduceSum"], [2, 3]):
        net = Net()
        x = net.conv("x", 3, 25)
        parts = ["score", "rest"]
        net.nodes.append(helper.make_node("Split", [x, net.constant(np.array([1, 24]))], parts, axis=1))
        weighted = net.node("Mul", "rest", net.node("Softmax", "score", axis=3))
        axes = {"axes": [axis]} if kind == "ReduceMean" else {}
        inputs = [weighted] if kind == "ReduceMean" else [weighted, net.constant(np.array([axis]))]
        total = net.node(kind, *inputs, keepdims=1, **axes)
        spread = net.node("Expand", total, net.constant(np.array([1, 24, 12, 10])))
        cases[kind, axis] = net, [1, 3, 12, 10], net.conv(net.node("Mul", "rest", spread), 24, 18)
    for case, kinds in check_without_transposes(tmp_path, cases).items():
        assert not {"Softmax", case[0]} & set(kinds), case


def test_the_mean_of_all_pixels(needs_compiler, tmp_path):
    cases = {}
    for keepdims in (0, 1):
        net = Net()
        x = net.conv("x", 3, 24)
        mean = net.node("ReduceMean", x, axes=[2, -1], keepdims=keepdims)
        if keepdims:
            gate = net.node("Sigmoid", net.conv(mean, 24, 24, kernel=1))
            result = net.conv(net.node("Mul", x, gate), 24, 20)
        else:
            result = net.node("MatMul", mean, net.weights(24, 30))
        cases[f"keepdims {keepdims}"] = net, [1, 3, 14, 14], result
    for case, kinds in check_without_transposes(tmp_path, cases).items():
        assert "ReduceMean" not in kinds, case


@pytest.mark.parametrize("opset", [17, 18])
def test_the_mean_of_channels(needs_compiler, tmp_path, opset):
    """As norms of layers over the channels of images have it."""
    net = Net()
    of_channels = ([net.constant(np.array([1]))], {}) if opset == 18 else ([], {"axes": [1]})
    x = net.conv("x", 3, 24)
    apart = net.node("Sub", x, net.node("ReduceMean", x, *of_channels[0], **of_channels[1]))
    spread = net.node("ReduceMean", net.node("Mul", apart, apart), *of_channels[0], **of_channels[1])
    x = net.node("Div", apart, net.node("Sqrt", net.node("Add", spread, net.constant(np.float32(1e-5)))))
    result = net.conv(x, 24, 20)
    make = net.model
    net.model = lambda *own: make(*own, opset=opset)
    check_without_transposes(tmp_path, {"": (net, [1, 3, 14, 14], result)})


def test_several_results_of_each_channel(needs_compiler, tmp_path):
    cases = {}
    for times in (2, 3):
        net = Net()
        x = net.conv("x", 3, 20)
        x = net.conv(x, 20, 20 * times, kernel=7, groups=20, strides=[2, 2], bias=False)
        outs = 20 * times
        x = net.node("BatchNormalization", x, *(net.constant(
            net.random.uniform(0.5, 1.5, outs).astype(np.float32)) for _ in range(4)))
        cases[times] = net, [1, 3, 18, 18], net.conv(net.node("Relu", x), outs, 16)
    for times, kinds in check_without_transposes(tmp_path, cases).items():
        # One for each result, and their channels in turns; the ReLU is in the former.
        assert kinds.count("TaktKernel") == 3 + times and not {"Concat", "Relu"} & set(kinds)


def test_several_results_of_few_channels_are_one_convolution(needs_compiler, tmp_path):
    cases = {}
    for ins, outs, window in ((1, 4, [3, 3]), (3, 6, [3, 3]), (4, 12, [3, 3]), (8, 16, [22, 1])):
        net = Net()
        result = net.node("Relu", net.node("Conv", "x", net.weights(outs, 1, *window), group=ins))
        cases[ins, outs] = net, [1, ins, 40, 41], result
        _, kernels = rewriter.rewrite(net.model([1, ins, 40, 41], result))
        assert [kernel.function for kernel in kernels] == ["takt_conv2d_f32"], (ins, outs)
    check_together(tmp_path, cases)
