"""Images that are resized to sizes which calls alone know."""

import numpy as np
import pytest

from test_native import Net, QuantizedNet, functions
from test_opened import results

onnx = pytest.importorskip("onnx")

WAYS = [
    {"mode": "linear"},
    {"mode": "linear", "coordinate_transformation_mode": "align_corners"},
    {"mode": "linear", "coordinate_transformation_mode": "asymmetric"},
    {"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"},
    {"nearest_mode": "ceil"},
    {"nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"},
    {"nearest_mode": "round_prefer_ceil", "coordinate_transformation_mode": "align_corners"},
    {"coordinate_transformation_mode": "pytorch_half_pixel"},
    {"nearest_mode": "floor", "coordinate_transformation_mode": "tf_half_pixel_for_nn"},
]
SIZES = [(1, 3, 16, 12), (1, 3, 7, 10), (1, 3, 1, 5), (1, 3, 2, 1)]


def sizes_of(net, name, channels):
    """The sizes of an image, with other channels."""
    own = net.node("Slice", net.node("Shape", name), net.constant(np.array([2])), net.constant(np.array([4])))
    return net.node("Concat", net.constant(np.array([1, channels])), own, axis=0)


def check(found, each, count):
    """Each group of channels is what one Resize gave."""
    for artifact, got, want in found:
        assert artifact.recipe.name == "native", artifact.report
        assert got.shape == want.shape
        for i in range(count):
            np.testing.assert_allclose(got[:, i * each:(i + 1) * each], want[:, i * each:(i + 1) * each], rtol=1e-4,
                                       atol=1e-5, err_msg=f"{i} of {want.shape}")


def calls_of(net, result):
    calls, _ = functions(net.model([1, 3, None, None], result))
    return calls["takt_blend_f32"], calls["takt_gather_f32"]


def test_images_become_as_large_as_others(needs_compiler, tmp_path):
    """With the channels last."""
    net = Net()
    small, large = net.conv("x", 3, 9, strides=[3, 2]), net.conv("x", 3, 9)
    parts = [net.node("Resize", small, "", "", sizes_of(net, large, 9), **own) for own in WAYS]
    scales = [[1, 1, 2, 2], [1, 1, 1.5, 2.5]]
    scaled = [net.node("Resize", small, "", net.constant(np.array(each, np.float32)), mode="linear") for each in scales]
    parts += [net.node("Resize", each, "", "", sizes_of(net, large, 9)) for each in scaled]
    one = net.node("GlobalAveragePool", small)
    parts.append(net.node("Resize", one, "", "", sizes_of(net, large, 9), mode="linear"))
    result = net.node("Concat", large, *parts, axis=1)
    assert calls_of(net, result) == (14, 14)
    check(results(tmp_path, net, [1, 3, None, None], result, SIZES, recipe="native"), 9, 13)


def test_results_with_the_channels_first_are_resized_there(needs_compiler, tmp_path):
    net = Net()
    small = net.conv("x", 3, 5, strides=[2, 2])
    parts = [net.node("Resize", small, "", "", sizes_of(net, "x", 5), **own) for own in WAYS[::3]]
    plain = net.node("Resize", "x", "", "", sizes_of(net, small, 3), mode="linear")
    parts.append(net.node("Pad", net.node("Resize", plain, "", "", sizes_of(net, "x", 3), mode="linear"),
                          net.constant(np.array([0, 2, 0, 0, 0, 0, 0, 0]))))
    result = net.node("Concat", *parts, axis=1)
    assert calls_of(net, result) == (8, 2)
    check(results(tmp_path, net, [1, 3, None, None], result, SIZES, recipe="native"), 5, 4)


def test_bytes_are_resized_to_the_nearest(needs_compiler, tmp_path):
    net = QuantizedNet()
    x = net.quantize("x", 0.05, 3)
    image = net.quantize(net.product("Conv", x, 0.05, (12, 3, 3, 3), 0, pads=[1] * 4, strides=[2, 2]), 0.05, -7)
    up = net.quantize(net.node("Resize", image, "", "", sizes_of(net, "x", 12)), 0.05, -7)
    plain = net.quantize(net.node("Resize", x, "", "", sizes_of(net, image, 3)), 0.05, 3)
    plain = net.quantize(net.node("Resize", plain, "", "", sizes_of(net, "x", 3)), 0.05, 3)
    result = net.node("Concat", net.product("Conv", up, 0.05, (5, 12, 1, 1), 0), plain, axis=1)
    calls, _ = functions(net.model([1, 3, None, None], result))
    assert calls["takt_gather_i8"] == 6 and not calls["takt_gather_f32"], calls
    check(results(tmp_path, net, [1, 3, None, None], result, SIZES, recipe="native"), 5, 2)


def test_cubic_ones_are_sums_of_three_blends(needs_compiler, tmp_path):
    """With the channels last, and with the channels first."""
    net = Net()
    small, large = net.conv("x", 3, 9, strides=[3, 2]), net.conv("x", 3, 9)
    ways = [{}, *({"coordinate_transformation_mode": way} for way in (
        "align_corners", "asymmetric", "pytorch_half_pixel")), {"cubic_coeff_a": -0.5}]
    parts = [net.node("Resize", small, "", "", sizes_of(net, large, 9), mode="cubic", **own) for own in ways]
    scaled = net.node("Resize", small, "", net.constant(np.array([1, 1, 1.5, 2.5], np.float32)), mode="cubic")
    parts.append(net.node("Resize", scaled, "", "", sizes_of(net, large, 9)))
    few = net.node("Resize", "x", "", "", sizes_of(net, small, 3), mode="cubic")
    few = net.node("Pad", net.node("Resize", few, "", "", sizes_of(net, "x", 3), mode="cubic"),
                   net.constant(np.array([0, 6, 0, 0, 0, 0, 0, 0])))
    result = net.node("Concat", large, *parts, few, axis=1)
    assert calls_of(net, result) == (48, 2)
    check(results(tmp_path, net, [1, 3, None, None], result, SIZES, recipe="native"), 9, 8)


def test_sizes_that_floats_give_leave_the_channels_known(needs_compiler, tmp_path):
    """As exporters write a factor that is found again."""
    net = Net()
    x = net.conv("x", 3, 16)
    own = net.node("Slice", net.node("Shape", x), net.constant(np.array([2])), net.constant(np.array([4])))
    wide = net.node("Floor", net.node("Mul", net.node("Cast", own, to=1), net.constant(np.float32(1.5))))
    channels = net.node("Slice", net.node("Shape", x), net.constant(np.array([0])), net.constant(np.array([2])))
    sizes = net.node("Concat", channels, net.node("Cast", wide, to=7), axis=0)
    result = net.conv(net.node("Resize", x, "", "", sizes, mode="linear"), 16, 8)
    calls, _ = functions(net.model([1, 3, None, None], result))
    assert calls == {"takt_conv2d_f32": 2, "takt_blend_f32": 2}, calls
    check(results(tmp_path, net, [1, 3, None, None], result, SIZES), 8, 1)
