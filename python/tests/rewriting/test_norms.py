"""Normalizations of images whose channels are last."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from takt.porting import porter  # noqa: E402
from takt.rewriting import rewriter  # noqa: E402
from test_native import Net, QuantizedNet, check_together, compared, compiled, functions  # noqa: E402
from test_opened import results  # noqa: E402

CHANNELS = 24


def of_channels(net, channels=CHANNELS):
    return net.constant((net.random.random(channels) + 0.5).astype(np.float32))


def batch_norm(net, x):
    return net.node("BatchNormalization", x, *(of_channels(net) for _ in range(4)))


def instance_norm(net, x, channels=CHANNELS):
    scale, bias = (of_channels(net, channels) for _ in range(2))
    return net.node("InstanceNormalization", x, scale, bias, epsilon=1e-3)


def group_norm(groups, channels=CHANNELS):
    def add(net, x):
        """As PyTorch's exporter writes it."""
        ones, zeros = (net.constant(np.full(groups, value, np.float32)) for value in (1, 0))
        parts = net.node("Reshape", x, net.constant(np.array([0, groups, -1])))
        x = net.node("Reshape", net.node("InstanceNormalization", parts, ones, zeros), net.node("Shape", x))
        for op in ("Mul", "Add"):
            x = net.node(op, x, net.constant(net.random.standard_normal((channels, 1, 1)).astype(np.float32)))
        return x
    return add


NORMS = {"batch": batch_norm, "instance": instance_norm,
         **{f"{groups} groups": group_norm(groups) for groups in (1, 3)}}


def between(add, has_pixels=True):
    """A network with a norm between sums of convolutions and another one."""
    net = Net()
    x = net.conv("x", 3, CHANNELS, strides=[2, 2] if has_pixels else [40, 40])
    x = net.node("Add", x, net.node("Sigmoid", x))
    return net, net.conv(net.node("Relu", add(net, x)), CHANNELS, 33)


def test_groups_of_bytes_are_normalized(needs_compiler, tmp_path):
    """As ONNX Runtime quantizes a norm of groups: bytes are between all operators. Of images and of sequences."""
    pytest.importorskip("onnxruntime")
    cases = {}
    for groups, size in [(2, [11, 14]), (3, [11, 14]), (6, [11, 14]), (1, [40]), (3, [40])]:
        net, rank = QuantizedNet(), len(size)
        x = net.quantize("x", 0.03, 9)
        x = net.product("Conv", x, 0.03, (CHANNELS, 3, *[3] * rank), 0, pads=[1] * (2 * rank))
        x = net.quantize(x, 0.1, 5)
        parts = net.quantize(net.node("Reshape", x, net.constant(np.array([0, groups, -1]))), 0.1, 5)
        ones, zeros = (net.constant(np.full(groups, value, np.float32)) for value in (1, 0))
        x = net.quantize(net.node("InstanceNormalization", parts, ones, zeros), 0.03, -3)
        x = net.quantize(net.node("Reshape", x, net.constant(np.array([0, CHANNELS, *size]))), 0.03, -3)
        x = net.quantize(net.node("Mul", x, net.weights(CHANNELS, *[1] * rank)), 0.02, 3)
        y = net.quantize(net.product("Conv", x, 0.02, (8, CHANNELS, *[1] * rank), 0), 0.05, 5)
        cases[groups, rank] = net, [2, 3, *size], y
        network, _ = rewriter.rewrite(net.model(*cases[groups, rank][1:]))
        assert "InstanceNormalization" not in {node.op_type for node in network.graph.node}, (groups, size)
    found, pairs = compared(tmp_path, cases, devices=["local-task"])
    for case, want, got in pairs:
        assert found[case][0]["takt_mean_pool2d_f32"] == 2, case
        assert np.unique(want).size > 20, case
        assert np.abs(got - want).max() <= 0.051, case


def test_norms_agree(needs_compiler, tmp_path):
    cases = {}
    for name, add in NORMS.items():
        net, result = between(add)
        cases[name] = net, [2, 3, 90, 70] if name == "1 groups" else [2, 3, 30, 22], result
    net, result = between(group_norm(3), False)
    cases["one pixel"] = net, [2, 3, 30, 22], result
    check_together(tmp_path, cases)


def test_an_image_of_one_color_is_normalized_to_the_shifts(needs_compiler, tmp_path):
    """Its variance is zero, so what its mean is rounded by counts some 300 times."""
    models, feeds, shifts = {}, {}, {}
    for shape in ([1, 3, 32, 32], [1, 3, 1, 3000]):
        net, case = Net(), str(shape)
        x = net.node("Conv", "x", net.constant(net.random.standard_normal((CHANNELS, 3, 1, 1)).astype(np.float32)))
        shifts[case] = net.random.standard_normal(CHANNELS).astype(np.float32)
        result = net.node("InstanceNormalization", x, of_channels(net), net.constant(shifts[case]))
        models[case], feeds[case] = net.model(shape, result), [np.full(shape, 0.7, np.float32)]
    whole, _ = compiled(tmp_path, models)
    for case, got in whole.call(feeds, device="local-sync").items():
        wide = np.broadcast_to(shifts[case].reshape(-1, 1, 1), got.shape[1:])
        np.testing.assert_allclose(got[0], wide, rtol=0, atol=1e-3 * np.ptp(wide))


@pytest.mark.parametrize("name", NORMS)
def test_the_channels_stay_last(name):
    net, result = between(NORMS[name])
    network, _ = rewriter.rewrite(porter.port(net.model([2, 3, 30, 22], result)))
    kinds = [node.op_type for node in network.graph.node]
    assert kinds.count("Transpose") == 2  # Of the network's input and its result.
    assert not any("Normalization" in kind for kind in kinds)


def scaled_bytes(shape, is_second):
    """A factor and a shift of each channel, with a quantizer around each."""
    net = QuantizedNet()
    x = net.quantize(net.product("Conv", net.quantize("x", 0.05, 3), 0.05, (CHANNELS, 3, 3, 3), 0), 0.05, -7)
    for op, scale in (("Mul", 0.06), ("Add", 0.07)):
        row = net.constant(net.random.standard_normal(shape).astype(np.float32))
        x = net.quantize(net.node(op, *([row, x] if is_second else [x, row])), scale, 5)
    return net, net.quantize(net.product("Conv", x, 0.07, (8, CHANNELS, 1, 1), 0), 0.3, 5)


def test_factors_and_shifts_of_bytes_are_depthwise(needs_compiler, tmp_path):
    pytest.importorskip("onnxruntime")
    cases = {}
    channels = CHANNELS, 1, 1
    for case in ((channels, False), ((1, *channels), True), ((1, 1, 18), False), ((2, *channels), False)):
        net, result = scaled_bytes(*case)
        cases[case] = net, [2, 3, 20, 20], result
    found, pairs = compared(tmp_path, cases, devices=["local-sync"])
    calls = [counts["takt_depthwise2d_i8"] for counts, _ in found.values()]
    assert calls == [2, 2, 0, 0]  # Rows of columns, and factors of each image, are no channels.
    for case, want, got in pairs:
        assert np.unique(want).size > 20 and np.abs(got - want).max() <= 0.61, case


def test_norms_of_computed_numbers_stay():
    net = Net()
    x = net.conv("x", 3, CHANNELS)
    mean = net.node("ReduceMean", x, axes=[0, 2, 3], keepdims=0)
    x = net.node("InstanceNormalization", net.node("Sigmoid", x), mean, of_channels(net))
    network, _ = rewriter.rewrite(net.model([1, 3, 30, 22], net.conv(x, CHANNELS, 7)))
    assert any(node.op_type == "InstanceNormalization" for node in network.graph.node)


def open_norms(net):
    """Norms of 32 channels, which are part of a call, and of 24."""
    x = net.conv("x", 3, 32, strides=[2, 2])
    x = net.node("Relu", instance_norm(net, x, 32))
    y = net.node("Add", net.conv(x, 32, 32), x)
    y = net.node("Mul", y, net.node("Sigmoid", group_norm(4, 32)(net, y)))
    y = group_norm(3)(net, net.conv(y, 32, CHANNELS))
    return net.conv(instance_norm(net, net.node("Relu", y)), CHANNELS, 7)


@pytest.mark.parametrize("height", [1, 5])
def test_norms_of_images_whose_width_alone_is_open_agree(needs_compiler, tmp_path, height):
    net = Net()
    result = net.conv(instance_norm(net, net.conv("x", 3, CHANNELS)), CHANNELS, 7)
    for artifact, got, want in results(tmp_path, net, [1, 3, height, None], result,
                                       [(1, 3, height, 20), (1, 3, height, 33)], recipe="native"):
        assert artifact.recipe.name == "native", artifact.report
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("images", [1, "images"])
def test_norms_of_images_of_each_size_agree(needs_compiler, tmp_path, images):
    net, shape = Net(), [images, 3, None, None]
    result = open_norms(net)
    sizes = [(1, 3, 20, 13), (1, 3, 3, 90)] if images == 1 else [(1, 3, 9, 9), (3, 3, 8, 5)]
    for artifact, got, want in results(tmp_path, net, shape, result, sizes, recipe="native"):
        assert artifact.recipe.name == "native", artifact.report
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)
    calls, _ = functions(net.model(shape, result))
    assert (calls["takt_depthwise2d_f32"], calls["takt_mean_pool2d_f32"]) == ((2, 16) if images == 1 else (0, 0))
