"""Concatenations whose parts are written by kernels."""

import pytest

from test_native import Net, check_together

onnx = pytest.importorskip("onnx")

from takt.rewriting import rewriter  # noqa: E402


def joined(net, shape, result):
    """The kinds of a network's operators, and its kernels that write a part of a tensor."""
    model, kernels = rewriter.rewrite(net.model(shape, result))
    used = [kernels[node.attribute[0].i] for node in model.graph.node if node.op_type == "TaktKernel"]
    return [node.op_type for node in model.graph.node], [each for each in used if getattr(each, "joined", None)]


def test_kernels_write_their_channels(needs_compiler, tmp_path):
    """Branches of all kinds of kernels; parts that are read twice or that no kernel makes; products of rows."""
    cases, parts = {}, {}

    def add(name, net, shape, result, joined_parts, kinds=()):
        cases[name] = net, shape, result
        operators, kernels = joined(net, shape, result)
        assert [kernel.joined[0] for kernel in kernels] == joined_parts, name
        assert [kernel.is_tied for kernel in kernels] == [i > 0 for i in range(len(kernels))], name
        assert {kind for kind in operators if kind in ("Concat", "TaktUpdate")} == set(kinds), name

    net = Net()
    x = net.conv("x", 3, 16)
    branches = [net.node("Relu", net.conv(x, 16, 24, kernel=1)), net.conv(x, 16, 40),
                net.conv(x, 16, 16, groups=16), net.node("Sigmoid", net.conv(x, 16, 7))]
    y = net.node("Concat", *branches, axis=1)
    add("branches", net, [2, 3, 18, 17], net.conv(y, 87, 5), [0, 24, 64, 80])

    net = Net()
    x = net.conv("x", 3, 16)
    y = net.conv(x, 16, 12)
    z = net.node("Concat", net.node("MaxPool", x, kernel_shape=[3, 3], pads=[1] * 4), y, net.conv(y, 12, 20), x, axis=1)
    add("others", net, [1, 3, 12, 12], net.conv(z, 64, 8), [28], ["TaktUpdate"])

    net = Net()
    x = net.conv("x", 3, 16)
    whole = net.node("Concat", net.conv(x, 16, 8), net.node("Add", net.conv(x, 16, 8), net.conv(x, 16, 8)), axis=2)
    add("rows", net, [1, 3, 8, 8], whole, [], ["Concat"])  # Along the rows of pixels.

    net = Net()
    x = net.conv("x", 3, 16)
    a = net.conv(x, 16, 12)
    add("twice", net, [1, 3, 8, 8], net.node("Concat", a, a, net.conv(x, 16, 12), axis=1), [24], ["TaktUpdate"])
    check_together(tmp_path, cases)


def test_a_tensor_that_is_too_wide_is_no_part_of_a_kernel():
    """The function takes outputs of at most 2^20 elements from pixel to pixel."""
    for size, is_joined in (((1 << 20) - 16, True), ((1 << 20) - 15, False)):
        net = Net()
        product = net.node("MatMul", net.node("Slice", "x", *(net.constant([number]) for number in (0, 8, 1))),
                           net.weights(8, 16))
        _, kernels = joined(net, [1, size], net.node("Concat", product, "x", axis=1))
        assert bool(kernels) == is_joined, size
