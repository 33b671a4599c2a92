"""Convolutions of more taps than a call has."""

import numpy as np
import pytest

from test_native import Net, check_together

onnx = pytest.importorskip("onnx")

from takt.rewriting import parted, rewriter  # noqa: E402
from takt.rewriting.kernel_calls import TAPS_MAX  # noqa: E402


def test_windows_of_many_taps_are_several_calls(needs_compiler, tmp_path):
    """Padding wider than a part, a stride, dilations, groups with a sum behind, few channels in a row, and computed
    weights."""
    cases, counts = {}, {}

    def add(name, count, net, shape, result):
        cases[name], counts[name] = (net, shape, result), count
        rewritten, _ = rewriter.rewrite(net.model(shape, result))
        assert "Conv" not in {node.op_type for node in rewritten.graph.node}, name

    def convolved(x, ins, outs, size, **attributes):
        weights = net.weights(outs, ins // attributes.get("group", 1), *size)
        return net.node("Conv", x, weights, net.weights(outs), **attributes)

    net = Net()
    add("padded", 2, net, [2, 6, 20, 22], net.node("Relu", convolved("x", 6, 20, (15, 14), pads=[12, 7, 2, 6])))
    net = Net()
    add("strided", 5, net, [1, 5, 40, 44], convolved("x", 5, 8, (24, 22), pads=[3, 0, 4, 5], strides=[2, 2]))
    net = Net()
    x = convolved("x", 8, 8, (12, 12), dilations=[1, 2], pads=[5, 11, 6, 11], group=2)
    add("grouped", 2, net, [1, 8, 18, 30], net.node("Tanh", net.node("Add", x, "x")))
    net = Net()
    add("row", 12, net, [1, 3, 1, 500], net.node("Relu", convolved("x", 3, 16, (1, 251), pads=[0, 125, 0, 125])))
    net = Net()
    template = net.node("Slice", net.node("Relu", "x"), *(
        net.constant(np.array(each)) for each in ([2, 3], [14, 17], [2, 3])))
    templates = net.node("Concat", template, net.node("Neg", template), axis=0)
    add("computed", 2, net, [1, 8, 30, 40], net.node("Relu", net.node("Conv", "x", templates, pads=[6, 7, 5, 6])))
    for name, (calls, _) in check_together(tmp_path, cases).items():
        assert calls["takt_conv2d_f32"] == counts[name], name


def test_parts_have_all_taps_once():
    for height, width, channels in ((24, 24, 8), (1, 251, 1), (17, 30, 2), (3, 300, 0)):
        seen = np.zeros((height, width), int)
        for top, bottom, left, right in parted._parts(height, width, channels):
            assert (bottom - top) * (right - left) <= TAPS_MAX
            seen[top:bottom, left:right] += 1
        assert (seen == 1).all(), (height, width, channels)
