"""Convolutions in one call with the depthwise convolution that follows."""

import dataclasses

import numpy as np
import pytest

from test_native import Net, check_together

onnx = pytest.importorskip("onnx")

from takt.rewriting import paired, rewriter  # noqa: E402
from takt.rewriting.kernel_calls import make_kernel  # noqa: E402


def calls(model):
    """The functions that a rewritten network calls, in their order."""
    model, kernels = rewriter.rewrite(model)
    return [kernels[node.attribute[0].i].function for node in model.graph.node if node.op_type == "TaktKernel"]


def test_large_images_between_stay_out_of_memory(needs_compiler, tmp_path):
    """Strides, activations, several images, channels that fill no block, and a first convolution of 3x3."""
    cases = {}

    def add(name, net, shape, result, functions):
        cases[name] = net, shape, result
        assert calls(net.model(shape, result)) == [f"takt_{each}_f32" for each in functions], name

    net = Net()
    x = net.node("Clip", net.conv("x", 5, 72, kernel=1), net.constant(np.float32(0)), net.constant(np.float32(2)))
    y = net.node("Relu", net.conv(x, 72, 72, groups=72, strides=[2, 2]))
    add("expanded", net, [1, 5, 80, 71], net.conv(y, 72, 6, kernel=1), ["conv2d_depthwise2d", "conv2d"])

    net = Net()
    x = net.node("HardSwish", net.conv("x", 3, 24, strides=[2, 2]))
    add("first", net, [2, 3, 300, 320], net.node("Sigmoid", net.conv(x, 24, 24, groups=24)), ["conv2d_depthwise2d"])

    net = Net()
    x = net.conv("x", 5, 64, kernel=1)
    y = net.conv(x, 64, 64, groups=64)
    add("read twice", net, [1, 5, 80, 80], net.node("Add", net.node("MaxPool", x, kernel_shape=[3, 3], pads=[1] * 4), y),
        ["conv2d", "depthwise2d", "max_pool2d"])
    check_together(tmp_path, cases)


def shape_of(n, size, channels, out_channels, kernel=1, stride=1, groups=1):
    pad, out = kernel // 2, -(-size // stride)
    return n, size, size, channels, out, out, out_channels, kernel, kernel, stride, stride, 1, 1, pad, pad, groups


def pair(size=128, channels=96, function="takt_conv2d_f32", stride=2, kernel=3, images=1, **options):
    conv = make_kernel(function, shape_of(1, size, 16, channels))
    depthwise = make_kernel("takt_depthwise2d_f32", shape_of(1, size, channels, channels, kernel, stride, channels))
    conv, depthwise = (dataclasses.replace(each, shape=(images, *each.shape[1:])) for each in (conv, depthwise))
    return paired.pair(dataclasses.replace(conv, **options), depthwise)


def test_only_what_goes_together_is_paired():
    call = pair()
    assert (call.parts, call.rows) == (2, 64)  # Three blocks each.
    assert pair(size=64) is not None and pair(size=63) is None  # 1.5 MB.
    assert pair(size=64, stride=1, kernel=7) is None  # Too many rows are computed twice.
    assert pair(has_residual=True) is None and pair(joined=(0, 200)) is None
    assert pair(function="takt_conv2d_bf16") is None
    assert pair(images="n") is None  # As many as a call brings.


def test_rows_between_fit_into_the_memory_for_them():
    for size, stride, kernel in ((128, 2, 3), (512, 2, 3), (1000, 1, 5), (680, 2, 3), (681, 2, 3)):
        call = pair(size, 128, stride=stride, kernel=kernel)
        if call is None:
            assert (3 * stride + kernel) * size * 64 > 384 << 10
            continue
        blocks = -(-8 // call.parts)
        assert (3 * stride + kernel) * size * 64 * blocks <= 384 << 10
        assert call.pixel_tiles * call.tile_rows >= call.rows
    assert pair(680, 128) is not None and pair(683, 128) is None
