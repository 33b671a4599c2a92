"""Kernels of images whose sizes are known in calls alone."""

import collections
import warnings

import numpy as np
import pytest

import takt
from test_native import Net, QuantizedNet, expected, functions

onnx = pytest.importorskip("onnx")

from takt.porting import porter  # noqa: E402
from takt.rewriting import rewriter  # noqa: E402


def blocks(net):
    """Convolutions of all kinds, sums, pools and means."""
    x = net.node("Relu", net.conv("x", 3, 16, strides=[2, 2]))
    y = net.node("Relu", net.conv(x, 16, 32, kernel=1))
    y = net.node("Clip", net.conv(y, 32, 32, groups=32), net.constant(np.float32(0)), net.constant(np.float32(6)))
    x = net.node("Add", x, net.conv(y, 32, 16, kernel=1))
    p = net.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    q = net.node("Sigmoid", net.conv(p, 16, 40, groups=8))
    r = net.node("Mul", q, net.conv(p, 16, 40, dilations=[2, 2], pads=[2] * 4))
    p = net.node("AveragePool", p, kernel_shape=[3, 3], pads=[1] * 4)
    parts = [net.constant(net.random.uniform(0.5, 2, 56).astype(np.float32)) for _ in range(4)]
    s = net.node("Relu", net.node("BatchNormalization", net.node("Concat", r, p, axis=1), *parts))
    u = net.conv(s, 56, 64)
    gate = net.node("Sigmoid", net.conv(net.node("GlobalAveragePool", u), 64, 64, kernel=1))
    return net.node("Mul", u, gate)


def results(folder, net, shape, result, sizes, recipe=None):
    """What takt.compile() makes of a network of an open `shape` gives at some sizes, and what is wanted."""
    pytest.importorskip("onnxruntime")
    path = folder / "net.onnx"
    net.save(path, shape, result)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Sizes are open.
        artifact = takt.compile(path, cache=folder, recipe=recipe)
    module = artifact.load(device="local-task")
    for size in sizes:
        x = np.random.default_rng(4).standard_normal(size).astype(np.float32)
        yield artifact, np.asarray(module.function()(x)), expected(path, x)


def test_kernels_take_images_of_each_size(needs_compiler, tmp_path):
    net = Net()
    result = blocks(net)
    calls, kernels = functions(net.model([1, 3, None, None], result))
    assert calls == collections.Counter({
        "takt_conv2d_f32": 6, "takt_winograd2d_f32": 1, "takt_depthwise2d_f32": 2, "takt_max_pool2d_f32": 1,
        "takt_mean_pool2d_f32": 2}), calls
    assert sum(getattr(kernel, "has_residual", False) for kernel in kernels) == 1
    sizes = [(1, 3, 64, 64), (1, 3, 33, 50), (1, 3, 7, 9), (1, 3, 1, 1)]
    for artifact, got, want in results(tmp_path, net, [1, 3, None, None], result, sizes):
        assert artifact.recipe.name == "native", artifact.report
        assert got.shape == want.shape and np.abs(got - want).max() <= 1e-5 * max(np.ptp(want), 1e-3)


@pytest.mark.parametrize("shape", [[1, 3, None, None], ["n", 3, "h", 40], [2, 3, 40, "w"]])
def test_patches_of_open_images_are_rows_of_a_product(needs_compiler, tmp_path, shape):
    net = Net()
    x = net.conv("x", 3, 20, 12, pads=[0] * 4, strides=[12, 12])
    result = net.conv(net.node("Relu", x), 20, 16, kernel=1)
    calls, kernels = functions(net.model(shape, result))
    assert calls == {"takt_conv2d_f32": 2} and kernels[0].shape[3] == 3 * 12 * 12, calls
    sizes = [tuple(size if isinstance(size, int) else known for size, known in zip(shape, each))
             for each in ((1, 3, 24, 48), (3 if shape[0] == "n" else 1, 3, 30, 47), (1, 3, 12, 12))]
    for artifact, got, want in results(tmp_path, net, shape, result, sizes):
        assert artifact.recipe.name == "native", artifact.report
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("own", [{"pads": [1] * 4, "strides": [12, 12]}, {"pads": [0] * 4, "strides": [12, 11]}])
def test_patches_that_overlap_or_are_padded_are_not(own):
    net = Net()
    calls, _ = functions(net.model([1, 3, None, None], net.conv("x", 3, 20, 12, **own)))
    assert not calls


def test_open_rows_may_be_several_pixels_of_channels(needs_compiler, tmp_path):
    net = Net()
    result = net.node("Relu", net.node("Add", net.node("MatMul", "x", net.weights(20002, 20)), net.weights(20)))
    calls, kernels = functions(net.model(["rows", 20002], result))
    assert calls == {"takt_conv2d_f32": 1} and kernels[0].shape[7:9] == (1, 2), calls
    sizes = [(rows, 20002) for rows in (1, 7, 33)]
    for artifact, got, want in results(tmp_path, net, ["rows", 20002], result, sizes):
        assert artifact.recipe.name == "native", artifact.report
        assert np.abs(got - want).max() <= 1e-5 * np.ptp(want)


def test_a_sum_is_part_of_a_call_only_where_sizes_are_equal(needs_compiler, tmp_path):
    net = Net()
    x = net.conv("x", 3, 16)
    y = net.node("Add", net.conv(x, 16, 16), net.node("MaxPool", x, kernel_shape=[2, 2], strides=[3, 3]))
    _, kernels = functions(net.model([1, 3, None, None], y))
    assert not any(getattr(kernel, "has_residual", False) for kernel in kernels)
    net = Net()
    x = net.conv("x", 3, 16)
    z = net.node("Add", net.conv(x, 16, 16), net.node("GlobalMaxPool", x))
    for _, got, want in results(tmp_path, net, [1, 3, None, None], z, [(1, 3, 6, 5), (1, 3, 1, 1)]):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-4)


def test_images_of_a_size_may_be_joined_with_open_ones(needs_compiler, tmp_path):
    """They have 3 rows in each call that is one of the network."""
    net = Net()
    x = net.conv("x", 3, 16)
    y = net.node("Reshape", net.node("MaxPool", x, kernel_shape=[1, 1], strides=[2, 2]),
                 net.constant(np.array([1, 16, 3, 5])))
    z = net.node("Concat", net.conv(x, 16, 24, strides=[2, 2]), net.conv(y, 16, 32), axis=1)
    shape = [1, 3, None, None]
    for artifact, got, want in results(tmp_path, net, shape, z, [(1, 3, 6, 10), (1, 3, 5, 9)], recipe="native"):
        assert artifact.recipe.name == "native", artifact.report
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-4)


def test_the_number_of_images_may_be_open_as_well(needs_compiler, tmp_path):
    net = Net()
    x = net.node("Relu", net.conv(net.conv("x", 3, 16), 16, 24, strides=[2, 1]))
    shape = ["images", 3, "height", 20]
    for _, got, want in results(tmp_path, net, shape, x, [(1, 3, 9, 20), (5, 3, 4, 20)], recipe="native"):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-4)


def test_images_that_are_smaller_than_a_window_are_an_error(needs_compiler, tmp_path):
    net = Net()
    result = net.conv(net.conv("x", 3, 16, pads=[0] * 4), 16, 16)
    net.save(tmp_path / "net.onnx", [1, 3, None, None], result)
    with pytest.warns(UserWarning, match="are open"):
        function = takt.compile(tmp_path / "net.onnx", cache=tmp_path, recipe="native").load().function()
    with pytest.raises(takt.Error):
        function(np.zeros((1, 3, 2, 8), np.float32))
    assert np.asarray(function(np.zeros((1, 3, 3, 8), np.float32))).shape == (1, 16, 1, 6)


@pytest.mark.parametrize("own", [{"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}, {}])
def test_pixels_are_repeated_with_the_channels_last(needs_compiler, tmp_path, own):
    net = Net()
    x = net.conv("x", 3, 16)
    scales = net.constant(np.array([1, 1, 2, 3], np.float32))
    y = net.node("Resize", net.conv(x, 16, 8, strides=[2, 2]), "", scales, **own)
    z = net.conv(net.node("Relu", y), 8, 8)
    shape, sizes = ["n", 3, None, None], [(1, 3, 6, 5), (2, 3, 1, 9), (1, 3, 17, 20)]
    for artifact, got, want in results(tmp_path, net, shape, z, sizes, recipe="native"):
        assert artifact.recipe.name == "native", artifact.report
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-4)
    rewritten, _ = rewriter.rewrite(porter.port(net.model(shape, z)))
    assert [node.op_type for node in rewritten.graph.node].count("Transpose") == 2


def test_parts_of_a_concatenation_are_written_there(needs_compiler, tmp_path):
    net = Net()
    x = net.conv("x", 3, 16, strides=[2, 2])
    pool = net.node("MaxPool", x, kernel_shape=[3, 3], pads=[1] * 4)
    result = net.node("Concat", net.conv(x, 16, 5, kernel=1), pool, net.conv(x, 16, 24), net.conv(pool, 16, 8), axis=1)
    shape = ["n", 3, None, None]
    _, kernels = functions(net.model(shape, result))
    assert [kernel.joined for kernel in kernels if getattr(kernel, "joined", None)] == [(0, 53), (21, 53), (45, 53)]
    sizes = [(1, 3, 9, 20), (2, 3, 4, 4), (1, 3, 40, 33)]
    for artifact, got, want in results(tmp_path, net, shape, result, sizes, recipe="native"):
        assert artifact.recipe.name == "native", artifact.report
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)
    # In a call, the parts may have other sizes than each other.
    net = Net()
    parts = [net.conv("x", 3, 16, strides=[2, 2]), net.conv(net.node("Slice", "x", *(
        net.constant(np.array([each])) for each in (1, 99, 2))), 3, 24, strides=[2, 2])]
    _, kernels = functions(net.model(shape, net.node("Concat", *parts, axis=1)))
    assert len(kernels) == 2 and not any(kernel.joined for kernel in kernels), kernels


def test_rows_of_a_concatenation_are_written_there(needs_compiler, tmp_path):
    net = Net()
    parts = [net.node("MatMul", "x", net.weights(24, width)) for width in (5, 24, 16)]
    result = net.node("Concat", *parts, axis=2)
    _, kernels = functions(net.model([1, None, 24], result))
    assert [kernel.joined for kernel in kernels if kernel.joined] == [(0, 45), (5, 45), (29, 45)]
    for artifact, got, want in results(tmp_path, net, [1, None, 24], result, [(1, 70, 24), (1, 0, 24)], recipe="native"):
        assert artifact.recipe.name == "native", artifact.report
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def test_parts_of_open_images_keep_the_channels_last(needs_compiler, tmp_path):
    """Splits, slices, means and shuffled channels."""
    net = Net()
    x = net.conv("x", 3, 24)
    parts = [f"part{i}" for i in range(2)]
    net.nodes.append(onnx.helper.make_node("Split", [x], parts, axis=1))
    bounds = (net.constant(np.array([each])) for each in (4, 10, 1))
    y = net.node("Concat", net.conv(parts[1], 12, 10), parts[0], net.node("Slice", x, *bounds), axis=1)
    y = net.node("Mul", y, net.node("Sigmoid", net.node("ReduceMean", y, axes=[2, 3])))
    y = net.node("Mul", y, net.node("ReduceMean", y, axes=[3]))
    sizes = net.node("Slice", net.node("Shape", y), net.constant(np.array([2])), net.constant(np.array([4])))
    split, whole = (net.node("Concat", net.constant(np.array(each)), sizes, axis=0) for each in ([1, 4, 7], [1, 28]))
    y = net.node("Transpose", net.node("Reshape", y, split), perm=[0, 2, 1, 3, 4])
    image = net.conv(net.node("Reshape", y, whole), 28, 5)
    means = net.node("ReduceMean", image, axes=[2, 3], keepdims=0)
    result = net.node("Add", image, net.node("Reshape", means, net.constant(np.array([1, 5, 1, 1]))))
    shape = [1, 3, None, None]
    calls, _ = functions(net.model(shape, result))
    assert calls["takt_shuffle_f32"] == 1 and calls["takt_mean_pool2d_f32"] == 3, calls
    rewritten, _ = rewriter.rewrite(porter.port(net.model(shape, result)))
    # Of the input, the result, and the means, which are of one pixel.
    assert [node.op_type for node in rewritten.graph.node].count("Transpose") == 3
    for artifact, got, want in results(tmp_path, net, shape, result, [(1, 3, 9, 20), (1, 3, 4, 4)], recipe="native"):
        assert artifact.recipe.name == "native", artifact.report
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def test_pools_may_round_up(needs_compiler, tmp_path):
    """A pool whose last window would begin behind the image is left to the compiler."""
    net = Net()
    x = net.conv("x", 3, 16)
    x = net.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
    x = net.node("AveragePool", x, kernel_shape=[3, 2], strides=[2, 2], pads=[0, 0, 1, 0], ceil_mode=1)
    y = net.node("MaxPool", net.conv(x, 16, 16), kernel_shape=[1, 2], strides=[2, 3], ceil_mode=1)
    calls, _ = functions(net.model([1, 3, None, None], y))
    assert (calls["takt_max_pool2d_f32"], calls["takt_mean_pool2d_f32"]) == (1, 1)
    sizes = [(1, 3, 12, 13), (1, 3, 9, 16), (1, 3, 14, 11), (1, 3, 17, 10)]
    for artifact, got, want in results(tmp_path, net, [1, 3, None, None], y, sizes, recipe="native"):
        assert artifact.recipe.name == "native", artifact.report
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("way", ["SAME_UPPER", "SAME_LOWER"])
def test_calls_compute_the_padding_that_auto_pad_means(needs_compiler, tmp_path, way):
    """Of networks that TensorFlow trained: with a step of two, it depends on the size."""
    net = Net()
    x = net.node("Relu", net.node("Conv", "x", net.weights(16, 3, 3, 3), auto_pad=way, strides=[2, 2]))
    x = net.node("Conv", x, net.weights(16, 1, 5, 5), group=16, auto_pad=way, strides=[2, 1])
    x = net.node("MaxPool", x, kernel_shape=[3, 2], auto_pad=way, strides=[2, 2])
    x = net.node("ConvTranspose", x, net.weights(16, 8, 3, 3), auto_pad=way, strides=[2, 2])
    result = net.node("AveragePool", x, kernel_shape=[2, 4], auto_pad=way, strides=[1, 3])
    shape = [1, 3, None, None]
    calls, _ = functions(net.model(shape, result))
    assert calls == collections.Counter({
        "takt_conv2d_f32": 2, "takt_depthwise2d_f32": 1, "takt_max_pool2d_f32": 1, "takt_mean_pool2d_f32": 1}), calls
    sizes = [(1, 3, 32, 48), (1, 3, 33, 47), (1, 3, 18, 31), (1, 3, 5, 3), (1, 3, 1, 1)]
    for artifact, got, want in results(tmp_path, net, shape, result, sizes):
        assert artifact.recipe.name == "native", artifact.report
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-5 * max(np.ptp(want), 1e-3))


def test_calls_compute_the_padding_of_bytes(needs_compiler, tmp_path):
    net = QuantizedNet()
    same = {"auto_pad": "SAME_UPPER", "strides": [2, 2]}
    x = net.product("Conv", net.quantize("x", 0.05, 3), 0.05, (16, 3, 3, 3), 0, **same)
    x = net.node("MaxPool", net.quantize(x, 0.05, -7), kernel_shape=[3, 3], **same)
    result = net.product("Conv", net.quantize(x, 0.05, -7), 0.05, (8, 16, 1, 1), 0)
    shape = [1, 3, None, None]
    calls, _ = functions(net.model(shape, result))
    assert calls == {"takt_conv2d_i8": 1, "takt_max_pool2d_i8": 1, "takt_conv2d_i8_f32": 1}, calls
    for artifact, got, want in results(tmp_path, net, shape, result, [(1, 3, 32, 48), (1, 3, 33, 46), (1, 3, 6, 9)]):
        assert artifact.recipe.name == "native", artifact.report
        assert got.shape == want.shape and np.abs(got - want).max() <= 1e-5 * np.ptp(want)


def test_tokens_and_pixels_are_the_same_memory(needs_compiler, tmp_path):
    """Attention of a whole image to a smaller one, as in SegFormer."""
    net = Net()

    def tokens(image, channels):
        rows = net.node("Reshape", image, net.constant(np.array([1, channels, -1])))
        return net.node("Transpose", rows, perm=[0, 2, 1])

    def heads(x, order):
        return net.node("Transpose", net.node("Reshape", x, net.constant(np.array([1, -1, 2, 16]))), perm=order)

    def product(x):
        return net.node("MatMul", x, net.constant(net.random.standard_normal((32, 32)).astype(np.float32) / 6))

    x = net.conv("x", 3, 32, strides=[2, 2])
    few = tokens(net.conv(x, 32, 32, kernel=2, strides=[2, 2], pads=[0] * 4), 32)
    query, key, value = (product(each) for each in (tokens(x, 32), few, few))
    scores = net.node("MatMul", heads(query, [0, 2, 1, 3]), heads(key, [0, 2, 3, 1]))
    found = net.node("MatMul", net.node("Softmax", scores, axis=-1), heads(value, [0, 2, 1, 3]))
    found = net.node("Reshape", net.node("Transpose", found, perm=[0, 2, 1, 3]), net.constant(np.array([1, -1, 32])))
    image = net.node("Reshape", net.node("Transpose", product(found), perm=[0, 2, 1]), net.node("Shape", x))
    result = net.node("Relu", net.conv(image, 32, 8))
    shape = [1, 3, None, None]
    calls, _ = functions(net.model(shape, result))
    assert calls["takt_attention_f32"] == 1 and calls["takt_conv2d_f32"] == 7
    for artifact, got, want in results(tmp_path, net, shape, result, [(1, 3, 9, 20), (1, 3, 4, 4)], recipe="native"):
        assert artifact.recipe.name == "native", artifact.report
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)
    rewritten, _ = rewriter.rewrite(porter.port(net.model(shape, result)))
    assert [node.op_type for node in rewritten.graph.node].count("Transpose") == 3  # One for the Shape alone.


def test_kernels_of_bytes_take_images_of_each_size(needs_compiler, tmp_path):
    """Products that end in bytes and in floats, sums, tables, pools and moves."""
    net = QuantizedNet()

    def conv(x, ins, outs, **attributes):
        return net.quantize(net.product("Conv", x, 0.05, (outs, ins, 3, 3), 0, pads=[1] * 4, **attributes), 0.05, -7)

    x = conv(net.quantize("x", 0.05, 3), 3, 16, strides=[2, 2])
    y = net.quantize(net.node("Mul", x, net.node("Sigmoid", x)), 0.05, -7)
    y = conv(y, 1, 16, group=16)
    x = net.quantize(net.node("Add", x, y), 0.05, -7)
    x = net.quantize(net.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), 0.05, -7)
    up = net.node("Resize", conv(x, 4, 8, group=4), "", net.constant(np.array([1, 1, 2, 2], np.float32)),
                  coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    joined = net.quantize(net.node("Concat", net.quantize(up, 0.05, -7), net.quantize(up, 0.05, -7), axis=1), 0.06, 5)
    result = net.product("Conv", joined, 0.06, (24, 16, 1, 1), 0)
    calls, kernels = functions(net.model([1, 3, None, None], result))
    assert calls == collections.Counter({
        "takt_conv2d_i8": 2, "takt_depthwise2d_i8": 1, "takt_map_i8": 2, "takt_add_i8": 1, "takt_max_pool2d_i8": 1,
        "takt_conv2d_i8_f32": 1}), calls
    sizes = [(1, 3, 64, 64), (1, 3, 33, 50), (1, 3, 1, 3)]
    for artifact, got, want in results(tmp_path, net, [1, 3, None, None], result, sizes):
        assert artifact.recipe.name == "native", artifact.report
        assert np.abs(got - want).max() <= 1e-5 * np.ptp(want)


def attention(net, x, memory, mask=None, width=32, heads=2, is_joined=False):
    """Several heads that look at `memory`, as PyTorch's exporters write them.

    is_joined  the keys are transposed with images and heads in one dimension.
    """
    def split(source, order):
        rows = net.node("Add", net.node("MatMul", source, net.weights(width, width)), net.weights(width))
        batch = net.node("Shape", rows, start=0, end=2)
        form = net.node("Concat", batch, net.constant(np.array([heads, width // heads])), axis=0)
        return net.node("Transpose", net.node("Reshape", rows, form), perm=order)

    def turned(keys):
        outer, rows, columns = (net.node("Shape", keys, start=i, end=k) for i, k in ((0, 2), (2, 3), (3, 4)))
        joined = net.node("Concat", net.constant(np.array([-1])), rows, columns, axis=0)
        columns_first = net.node("Transpose", net.node("Reshape", keys, joined), perm=[0, 2, 1])
        return net.node("Reshape", columns_first, net.node("Concat", outer, columns, rows, axis=0))

    keys = turned(split(memory, [0, 2, 1, 3])) if is_joined else split(memory, [0, 2, 3, 1])
    scores = net.node("MatMul", split(x, [0, 2, 1, 3]), keys)
    scores = net.node("Mul", scores, net.constant(np.float32((width // heads)**-0.5)))
    if mask is not None:
        scores = net.node("Add", scores, mask)
    found = net.node("MatMul", net.node("Softmax", scores, axis=-1), split(memory, [0, 2, 1, 3]))
    found = net.node("Transpose", found, perm=[0, 2, 1, 3])
    form = net.node("Concat", net.node("Shape", found, start=0, end=2), net.constant(np.array([width])), axis=0)
    return net.node("MatMul", net.node("Reshape", found, form), net.weights(width, width))


def sequence(net):
    """Layers of a transformer: with a mask of the caller's numbers, and over more rows than its own."""
    def norm(source):
        return net.node("LayerNormalization", source, net.weights(32), net.weights(32), axis=-1)

    sums = net.node("ReduceMean", "x", axes=[2], keepdims=1)
    mask = net.node("Unsqueeze", net.node("Transpose", sums, perm=[0, 2, 1]), net.constant(np.array([1])))
    x = net.node("Add", "x", attention(net, norm("x"), norm("x"), mask))
    x = net.node("Add", x, attention(net, norm(x), net.node("Concat", x, norm(x), axis=1)))
    wide = net.node("Relu", net.node("Add", net.node("MatMul", norm(x), net.weights(32, 64)), net.weights(64)))
    return net.node("Add", x, net.node("MatMul", wide, net.weights(64, 32)))


@pytest.mark.parametrize("shape", [[1, None, 32], ["batch", "rows", 32]])
def test_kernels_take_any_number_of_rows(needs_compiler, tmp_path, shape):
    net = Net()
    result = sequence(net)
    calls, kernels = functions(net.model(shape, result))
    assert calls == {"takt_conv2d_f32": 10, "takt_attention_f32": 1, "takt_attention_bias_f32": 1,
                     "takt_layer_norm_f32": 5}, calls
    assert sum(getattr(kernel, "has_residual", False) for kernel in kernels) == 2  # Two calls have one kernel.
    sizes = [(1, 1, 32), (1, 7, 32), (1, 300, 32), (1, 0, 32) if shape[0] == 1 else (3, 50, 32)]
    for artifact, got, want in results(tmp_path, net, shape, result, sizes):
        assert artifact.recipe.name == "native", artifact.report
        assert got.shape == want.shape
        spread = np.ptp(want) if want.size else 0
        assert np.abs(got - want).max(initial=0) <= 1e-5 * max(spread, 1e-3)


def plain_norm(net, x, square, *, is_scaled=True):
    """A norm of layers in the nodes that files of older opsets have."""
    apart = net.node("Sub", x, net.node("ReduceMean", x, axes=[-1]))
    squares = net.node("Mul", apart, apart) if square == "Mul" else net.node("Pow", apart, net.constant(np.float32(2)))
    spread = net.node("Add", net.node("ReduceMean", squares, axes=[2]), net.constant(np.float32(1e-3)))
    found = net.node("Div", apart, net.node("Sqrt", spread))
    return net.node("Add", net.node("Mul", found, net.weights(24)), net.weights(24)) if is_scaled else found


@pytest.mark.parametrize("shape", [[1, None, 24], ["batch", "rows", 24]])
def test_norms_and_softmax_take_any_number_of_rows(needs_compiler, tmp_path, shape):
    net = Net()
    parts = [plain_norm(net, "x", "Pow"), plain_norm(net, net.node("Relu", "x"), "Mul", is_scaled=False),
             net.node("Softmax", "x"),
             net.node("LayerNormalization", "x", net.weights(24), axis=-1, epsilon=1e-2)]
    result = net.node("Concat", *parts, axis=2)
    calls, _ = functions(net.model(shape, result))
    assert calls == {"takt_layer_norm_f32": 3, "takt_softmax_f32": 1}, calls
    sizes = [(1, 5, 24), (1, 0, 24) if shape[0] == 1 else (3, 70, 24)]
    for artifact, got, want in results(tmp_path, net, shape, result, sizes, recipe="native"):
        assert artifact.recipe.name == "native", artifact.report
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("axis", [-1, 1])
def test_softmax_takes_rows_of_any_size(needs_compiler, tmp_path, axis):
    net = Net()
    result = net.node("Softmax", "x", axis=axis)
    calls, _ = functions(net.model([None, "rows", "numbers"], result))
    assert calls == {"takt_softmax_f32": 1}, calls
    for artifact, got, want in results(tmp_path, net, [None, "rows", "numbers"], result,
                                       [(1, 5, 7), (3, 70, 33), (2, 1, 1), (2, 0, 3), (2, 3, 0)], recipe="native"):
        assert artifact.recipe.name == "native", artifact.report
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("axis, operator, keepdims", [(1, "ArgMax", 1), (-2, "ArgMin", 0), (2, "ArgMax", 1)])
def test_the_greatest_number_is_found_along_axes_of_images_of_each_size(needs_compiler, tmp_path, axis, operator,
                                                                        keepdims):
    net, shape = Net(), [None, 3, "rows", "columns"]
    x = net.conv("x", 3, 8, kernel=1)
    places = net.node(operator, x, axis=axis, keepdims=keepdims, select_last_index=keepdims)
    result = net.node("Mul", net.node("Cast", places, to=1), net.constant(np.float32(0.5)))
    calls, _ = functions(net.model(shape, result))
    assert calls == {"takt_conv2d_f32": 1, "takt_arg_max_f32": 1}, calls
    for artifact, got, want in results(tmp_path, net, shape, result,
                                       [(1, 3, 7, 9), (3, 3, 1, 1), (2, 3, 200, 150)], recipe="native"):
        assert artifact.recipe.name == "native", artifact.report
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("axis, shape", [(1, [None, "rows", "columns"]), (0, ["rows", 24]), (-2, ["batch", 7, 90])])
def test_numbers_of_each_size_are_added_up(needs_compiler, tmp_path, axis, shape):
    net = Net()
    result = net.node("CumSum", "x", net.constant(np.array(axis)), exclusive=axis % 2)
    calls, _ = functions(net.model(shape, result))
    assert calls == {"takt_cum_sum_f32": 1}, calls
    sizes = [tuple(size if isinstance(size, int) else count for size in shape) for count in (3, 1, 300)]
    for artifact, got, want in results(tmp_path, net, shape, result, sizes, recipe="native"):
        assert artifact.recipe.name == "native", artifact.report
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("axis, shape", [(-1, [None, 4, "columns"]), (1, [None, "rows", 24]), (2, ["batch", 3, 24])])
def test_the_greatest_numbers_of_rows_of_each_size_are_found(needs_compiler, tmp_path, axis, shape):
    net = Net()
    net.nodes.append(onnx.helper.make_node("TopK", ["x", net.constant(np.array([3]))], ["values", "places"], axis=axis))
    result = net.node("Add", "values", net.node("Cast", "places", to=1))
    calls, _ = functions(net.model(shape, result))
    assert calls == {"takt_top_k_f32": 1}, calls
    sizes = [tuple(size if isinstance(size, int) else count for size in shape) for count in (3, 7, 300)]
    for artifact, got, want in results(tmp_path, net, shape, result, sizes, recipe="native"):
        assert artifact.recipe.name == "native", artifact.report
        np.testing.assert_array_equal(got, want)


def test_what_is_no_norm_of_layers_stays():
    def spoiled(change):
        """`change` of the nodes of a norm, by their operators."""
        net = Net()
        result = plain_norm(net, "x", "Pow")
        change({node.op_type: node for node in net.nodes}, net)
        return functions(net.model([1, None, 24], result))[0]

    def add_reader(nodes, net):
        place = net.nodes.index(nodes["Mul"])
        net.nodes[place:place] = [onnx.helper.make_node("Neg", [nodes["Sqrt"].output[0]], ["y"]),
                                  onnx.helper.make_node("Add", [nodes["Div"].output[0], "y"], ["z"])]
        nodes["Mul"].input[0] = "z"

    def cube(nodes, net):
        nodes["Pow"].input[1] = net.constant(np.float32(3))

    def other(nodes, net):
        nodes["Sub"].input[0] = net.node("Relu", "x")
        net.nodes.insert(0, net.nodes.pop())

    assert spoiled(lambda nodes, net: None) == {"takt_layer_norm_f32": 1}
    for change in (add_reader, cube, other):
        assert not spoiled(change), change


def test_norms_of_bytes_take_any_number_of_rows(needs_compiler, tmp_path):
    net = QuantizedNet()
    norm = net.node("LayerNormalization", net.quantize("x", 0.05, 3), net.weights(16), net.weights(16), axis=-1)
    result = net.node("Relu", net.quantize(norm, 0.05, -7))
    calls, _ = functions(net.model([1, None, 16], result))
    assert calls["takt_layer_norm_i8"] == 1 and "takt_layer_norm_f32" not in calls
    for artifact, got, want in results(tmp_path, net, [1, None, 16], result, [(1, 9, 16), (1, 0, 16)], recipe="native"):
        assert artifact.recipe.name == "native", artifact.report
        assert got.shape == want.shape and np.abs(got - want).max(initial=0) <= 0.0501


@pytest.mark.parametrize("shape", [[1, None, 32], ["batch", "rows", 32]])
def test_each_head_may_have_a_bias_of_its_own(needs_compiler, tmp_path, shape):
    net = Net()
    near = net.node("MatMul", "x", net.node("Transpose", "x", perm=[0, 2, 1]))
    near = net.node("Mul", net.node("Unsqueeze", near, net.constant(np.array([1]))), net.weights(1, 2, 1, 1))
    result = attention(net, "x", "x", near)
    calls, _ = functions(net.model(shape, result))
    assert calls["takt_attention_bias_f32"] == 1, calls
    sizes = [(1, 7, 32), (1, 1, 32) if shape[0] == 1 else (3, 40, 32)]
    for artifact, got, want in results(tmp_path, net, shape, result, sizes, recipe="native"):
        assert artifact.recipe.name == "native", artifact.report
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", [[1, None, 32], ["batch", "rows", 32]])
def test_attention_of_bytes_takes_any_number_of_keys(needs_compiler, tmp_path, shape):
    net = QuantizedNet()
    x = net.quantize("x", 0.03, 3)

    def heads(perm):
        weights = net.random.integers(-127, 128, (32, 32)).astype(np.int8)
        part = net.node("MatMul", x, net.integers(weights, np.full(32, 0.004, np.float32), 1))
        part = net.node("Reshape", net.quantize(part, 0.05, 5), net.constant(np.array([0, 0, 2, 16])))
        return net.quantize(net.node("Transpose", net.quantize(part, 0.05, 5), perm=perm), 0.05, 5)

    scores = net.quantize(net.node("MatMul", heads([0, 2, 1, 3]), heads([0, 2, 3, 1])), 0.3, -3)
    scores = net.quantize(net.node("Mul", scores, net.constant(np.float32(0.25))), 0.08, 4)
    weights = net.quantize(net.node("Softmax", scores, axis=-1), 1 / 255, -128)
    y = net.quantize(net.node("MatMul", weights, heads([0, 2, 1, 3])), 0.03, -6)
    y = net.quantize(net.node("Transpose", y, perm=[0, 2, 1, 3]), 0.03, -6)
    y = net.quantize(net.node("Reshape", y, net.constant(np.array([0, 0, 32]))), 0.03, -6)
    result = net.node("Relu", y)
    calls, _ = functions(net.model(shape, result))
    assert calls == {"takt_conv2d_i8": 3, "takt_attention_i8": 1}, calls
    sizes = [(1, 7, 32), (1, 700, 32), (1, 2100, 32)] if shape[0] == 1 else [(3, 40, 32), (2, 1, 32), (0, 4, 32)]
    for artifact, got, want in results(tmp_path, net, shape, result, sizes, recipe="native"):
        assert artifact.recipe.name == "native", artifact.report
        error = np.abs(got - want)
        # Many keys may have one score, and are rounded to the same side.
        assert got.shape == want.shape and error.max(initial=0) <= 3.001 * 0.03
        assert (error > 1e-5).sum() <= 0.01 * error.size


@pytest.mark.parametrize("shape", [[1, None, 32], ["batch", "rows", 32]])
def test_keys_may_be_transposed_with_images_and_heads_in_one(needs_compiler, tmp_path, shape):
    net = Net()
    result = attention(net, "x", net.node("Relu", "x"), is_joined=True)
    calls, _ = functions(net.model(shape, result))
    assert calls == {"takt_conv2d_f32": 4, "takt_attention_f32": 1}, calls
    sizes = [(1, 7, 32), (1, 1, 32) if shape[0] == 1 else (3, 40, 32)]
    for artifact, got, want in results(tmp_path, net, shape, result, sizes, recipe="native"):
        assert artifact.recipe.name == "native", artifact.report
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def test_a_mask_of_other_sizes_is_an_error(needs_compiler, tmp_path):
    """A call finds whether a mask has the sizes of the scores."""
    net = Net()
    fewer = net.node("Slice", "x", *(net.constant(np.array([each])) for each in (1, 99, 1)))
    mask = net.node("Transpose", net.node("ReduceMean", fewer, axes=[2], keepdims=1), perm=[0, 2, 1])
    scores = net.node("Add", net.node("MatMul", "x", net.node("Transpose", "x", perm=[0, 2, 1])), mask)
    result = net.node("MatMul", net.node("MatMul", net.node("Softmax", scores, axis=-1), "x"), net.weights(6, 8))
    net.save(tmp_path / "net.onnx", [1, None, 6], result)
    calls, _ = functions(net.model([1, None, 6], result))
    assert calls == {"takt_conv2d_f32": 1, "takt_attention_bias_f32": 1}, calls
    with pytest.warns(UserWarning, match="are open"):
        function = takt.compile(tmp_path / "net.onnx", cache=tmp_path).load().function()
    with pytest.raises(takt.Error, match="mismatched size"):
        function(np.zeros((1, 9, 6), np.float32))


def wave(net):
    """Convolutions of one dimension, with a sequence that is made shorter and longer again."""
    x = net.node("Relu", net.node("Conv", "x", net.weights(24, 6, 5), net.weights(24), pads=[2, 2]))
    y = net.node("Conv", x, net.weights(24, 1, 3), group=24, strides=[2], pads=[1, 1])
    y = net.node("Relu", net.node("MaxPool", y, kernel_shape=[3], pads=[1, 1]))
    y = net.node("ConvTranspose", y, net.weights(24, 16, 4), net.weights(16), strides=[2], pads=[1, 1])
    y = net.node("LeakyRelu", net.node("Slice", y, *(net.constant(np.array([each])) for each in (0, -1, 2))), alpha=0.1)
    return net.node("Conv", net.node("ConvTranspose", y, net.weights(16, 8, 3), strides=[2], pads=[1, 1]),
                    net.weights(6, 8, 3), dilations=[3], pads=[3, 3])


def test_kernels_take_sequences_of_any_length(needs_compiler, tmp_path):
    net = Net()
    shape, result = [1, 6, None], wave(net)
    calls, _ = functions(net.model(shape, result))
    assert calls == {"takt_conv2d_f32": 4, "takt_depthwise2d_f32": 1, "takt_max_pool2d_f32": 1}, calls
    for artifact, got, want in results(tmp_path, net, shape, result, [(1, 6, 2), (1, 6, 33), (1, 6, 500)]):
        assert artifact.recipe.name == "native", artifact.report
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_transposed_convolutions_take_images_of_each_size(needs_compiler, tmp_path):
    net = Net()
    x = net.node("Relu", net.conv("x", 3, 16, strides=[2, 2]))
    x = net.node("Relu", net.node("ConvTranspose", x, net.weights(16, 8, 2, 2), net.weights(8), strides=[2, 2]))
    x = net.node("ConvTranspose", x, net.weights(8, 5, 3, 3), strides=[2, 2], pads=[1, 1, 1, 1])
    shape, sizes = ["n", 3, None, None], [(1, 3, 2, 3), (2, 3, 9, 6), (1, 3, 40, 31)]
    calls, _ = functions(net.model(shape, x))
    assert calls == {"takt_conv2d_f32": 3}, calls
    for artifact, got, want in results(tmp_path, net, shape, x, sizes):
        assert artifact.recipe.name == "native", artifact.report
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_channels_become_pixels_in_both_orders(needs_compiler, tmp_path):
    net = Net()
    x = net.conv("x", 3, 24)
    parts = [net.node("DepthToSpace", x, blocksize=2, mode=mode) for mode in ("DCR", "CRD")]
    y = net.node("Concat", *parts, net.node("DepthToSpace", x, blocksize=2), axis=1)
    rewritten, _ = rewriter.rewrite(porter.port(net.model([1, 3, None, None], y)))
    assert [node.op_type for node in rewritten.graph.node].count("TaktPlace") == 3
    for artifact, got, want in results(tmp_path, net, [1, 3, None, None], y, [(1, 3, 5, 7)], recipe="native"):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_rows_of_which_little_is_known_make_no_tiny_tiles():
    """Here they are the outermost of four sizes, which often is 1."""
    net = Net()
    states = net.node("Reshape", "x", net.constant(np.array([-1, 2, 1, 16])))
    rows = net.node("Reshape", net.node("Transpose", states, perm=[0, 2, 1, 3]), net.constant(np.array([0, 0, -1])))
    product = net.node("MatMul", rows, net.weights(32, 48))
    wave = net.node("Conv", net.node("Transpose", rows, perm=[1, 2, 0]), net.weights(24, 32, 3), pads=[1, 1])
    wave = net.node("Transpose", wave, perm=[2, 0, 1])
    calls, kernels = functions(net.model([None, 2, 1, 16], net.node("Concat", product, wave, axis=2)))
    assert calls == {"takt_conv2d_f32": 2} and all(kernel.tile_pixels >= 32 for kernel in kernels)


@pytest.mark.parametrize("shape", [[1, None, 16], ["batch", None, 16]])
def test_kernels_of_bytes_take_any_number_of_rows(needs_compiler, tmp_path, shape):
    net = QuantizedNet()

    def product(x):
        weights = net.random.integers(-127, 128, (16, 16)).astype(np.int8)
        return net.node("MatMul", x, net.integers(weights, np.full(16, 0.003, np.float32), 1))

    x = net.quantize("x", 0.05, 3)
    y = net.quantize(product(x), 0.05, -7)
    y = net.quantize(net.node("Mul", y, net.node("Sigmoid", y)), 0.05, -7)
    result = product(net.quantize(net.node("Add", x, y), 0.05, -7))
    calls, _ = functions(net.model(shape, result))
    assert calls == {"takt_conv2d_i8": 1, "takt_conv2d_i8_f32": 1, "takt_map_i8": 1, "takt_add_i8": 1}, calls
    for artifact, got, want in results(tmp_path, net, shape, result, [(1, 1, 16), (1, 40, 16), (1, 300, 16)]):
        assert artifact.recipe.name == "native", artifact.report
        # A byte before the last product may be rounded to the other side.
        error = np.abs(got - want)
        assert error.max() <= 1.001 * 0.05 * 127 * 0.003 and (error > 1e-5).mean() < 0.01


def test_bytes_of_four_open_sizes_stay_where_they_are(needs_compiler, tmp_path):
    net, shape = QuantizedNet(), [None, 2, "rows", "columns"]
    x = net.quantize("x", 0.05, 3)
    y = net.quantize(net.node("Softmax", x), 0.004, -128)
    x = net.quantize(net.node("Mul", x, net.node("Sigmoid", x)), 0.05, -7)
    result = net.node("Relu", net.quantize(net.node("Add", x, y), 0.05, -7))
    model = net.model(shape, result)
    calls, _ = functions(model)
    assert calls == {"takt_map_i8": 1, "takt_softmax_f32": 1, "takt_add_i8": 1}, calls
    assert "Transpose" not in {node.op_type for node in rewriter.rewrite(porter.port(model))[0].graph.node}
    for artifact, got, want in results(tmp_path, net, shape, result, [(3, 2, 5, 7), (1, 2, 1, 1), (1, 2, 300, 200)],
                                       recipe="native"):
        assert artifact.recipe.name == "native", artifact.report
        assert got.shape == want.shape and np.abs(got - want).max() <= 1.001 * 0.05
        assert (np.abs(got - want) > 1e-5).mean() < 0.01


@pytest.mark.parametrize("shape", [[4, 9, 48], ["batch", "rows", 48]])
def test_a_row_is_added_to_rows_of_bytes(needs_compiler, tmp_path, shape):
    net = QuantizedNet()
    rows = [net.integers(net.random.integers(-127, 128, form).astype(np.int8), np.float32(0.02), 0)
            for form in ((48,), (1, 1, 48))]
    x = net.quantize(net.node("Add", net.quantize("x", 0.05, 3), rows[0]), 0.06, -7)
    result = net.node("Relu", net.quantize(net.node("Relu", net.node("Add", rows[1], x)), 0.03, -128))
    calls, _ = functions(net.model(shape, result))
    assert calls == {"takt_add_row_i8": 2}, calls
    sizes = [(4, 9, 48)] if shape[0] == 4 else [(3, 5, 48), (1, 1, 48), (2, 900, 48), (0, 3, 48)]
    for artifact, got, want in results(tmp_path, net, shape, result, sizes, recipe="native"):
        assert artifact.recipe.name == "native", artifact.report
        assert got.shape == want.shape and np.abs(got - want).max(initial=0) <= 1.001 * 0.06
        assert (np.abs(got - want) > 1e-5).sum() <= 0.01 * got.size


@pytest.mark.parametrize("shape, scale", [((24, 1), 0.02), ((2, 24), 0.02), ((24,), np.inf)])
def test_what_is_no_row_of_bytes_is_not_added(shape, scale):
    net = QuantizedNet()
    added = net.integers(np.ones(shape, np.int8), np.float32(scale), 0)
    calls, _ = functions(net.model([2, 2, 24] if shape[-1] == 24 else [2, 24, 24],
                                   net.quantize(net.node("Add", net.quantize("x", 0.05, 3), added), 0.06, -7)))
    assert "takt_add_row_i8" not in calls


def test_several_moves_between_two_scales_are_of_bytes(needs_compiler, tmp_path):
    net, shape = QuantizedNet(), [None, "rows", 48]
    parts = net.node("Reshape", net.quantize("x", 0.05, 3), net.constant(np.array([0, 0, 3, 16])))
    parts = net.node("Transpose", parts, perm=[2, 0, 1, 3])
    part = net.node("Slice", parts, *(net.constant(np.array([each])) for each in (1, 2, 0)))
    part = net.node("Squeeze", part, net.constant(np.array([0])))
    result = net.node("Relu", net.quantize(part, 0.04, -7))
    model = net.model(shape, result)
    calls, _ = functions(model)
    assert calls == {"takt_map_i8": 1}, calls
    kinds = [node.op_type for node in rewriter.rewrite(porter.port(model))[0].graph.node]
    assert kinds.count("DequantizeLinear") == 1, kinds
    for artifact, got, want in results(tmp_path, net, shape, result, [(3, 5, 48), (1, 1, 48), (2, 300, 48)],
                                       recipe="native"):
        assert artifact.recipe.name == "native", artifact.report
        np.testing.assert_allclose(got, want, atol=1e-6)


def test_scales_of_any_number_of_rows_are_found_in_calls(needs_compiler, tmp_path):
    net = Net()
    net.nodes.append(onnx.helper.make_node("DynamicQuantizeLinear", ["x"], ["bytes", "scale", "zero"]))
    # With greater ones, ONNX Runtime's sums saturate on a processor without VNNI.
    weights = net.random.integers(-64, 65, (48, 32)).astype(np.int8)
    sums = net.node("Cast", net.node("MatMulInteger", "bytes", net.constant(weights), "zero"), to=1)
    result = net.node("Mul", sums, net.node("Mul", "scale", net.constant(np.float32(0.004))))
    shape = [1, None, 48]
    calls, _ = functions(net.model(shape, result))
    assert calls == {"takt_range_f32": 1, "takt_quantize_i8": 1, "takt_conv2d_i8_f32": 1}, calls
    for artifact, got, want in results(tmp_path, net, shape, result, [(1, 1, 48), (1, 40, 48), (1, 3000, 48)]):
        assert artifact.recipe.name == "native", artifact.report
        assert np.abs(got - want).max() <= 1e-5 * np.ptp(want)


@pytest.mark.parametrize("shape", [[1, 6, None], ["batch", 6, None]])
def test_what_follows_a_recurrent_layer_has_its_sizes(needs_compiler, tmp_path, shape):
    """A layer with an open number of sequences is a loop, and with one sequence a loop of calls."""
    net = Net()
    turned = net.node("Transpose", net.node("AveragePool", "x", kernel_shape=[3], pads=[1, 1]), perm=[2, 0, 1])
    net.nodes.append(onnx.helper.make_node(
        "LSTM", [turned, net.weights(2, 32, 6), net.weights(2, 32, 8), net.weights(2, 64)], ["all"], hidden_size=8,
        direction="bidirectional"))
    x = net.node("Reshape", net.node("Transpose", "all", perm=[0, 2, 1, 3]), net.constant(np.array([0, 0, -1])))
    x = net.node("Transpose", x, perm=[1, 2, 0])
    gate = net.node("MatMul", net.node("ReduceMean", x, axes=[2], keepdims=0), net.weights(16, 16))
    x = net.node("Mul", x, net.node("Unsqueeze", net.node("Sigmoid", gate), net.constant(np.array([2]))))
    x = net.node("Transpose", net.node("Conv", x, net.weights(16, 16, 3), pads=[1, 1]), perm=[0, 2, 1])
    result = net.node("MatMul", x, net.weights(16, 5))
    sizes = [(1, 6, 1), (1, 6, 40)] if shape[0] == 1 else [(1, 6, 7), (3, 6, 20)]
    for artifact, got, want in results(tmp_path, net, shape, result, sizes):
        assert artifact.recipe.name == "native", artifact.report
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape, axis, sizes", [
    (["n", 5, 64], 0, [(1, 5, 64), (7, 5, 64)]),
    (["n", "s", 64], 1, [(1, 3, 64), (2, 40, 64)]),
    ([3, "s", 128], 1, [(3, 1, 128), (3, 9, 128)])])
def test_rows_of_open_tensors_are_gathered_by_calls(needs_compiler, tmp_path, shape, axis, sizes):
    """At places that the call computes, one of which counts from the end."""
    net = Net()
    most = net.node("ReduceMax", net.node("Abs", "x"), keepdims=0)
    first = net.node("Cast", net.node("Min", most, net.constant(np.array(0, np.float32))), to=onnx.TensorProto.INT64)
    places = net.node("Add", net.node("Unsqueeze", first, net.constant(np.array([0]))),
                      net.constant(np.array([[0, -1], [-1, 0]])))
    result = net.node("Relu", net.node("Gather", "x", places, axis=axis))
    calls, _ = functions(net.model(shape, result))
    assert calls["takt_gather_f32"] == 1
    for artifact, got, want in results(tmp_path, net, shape, result, sizes, "native"):
        assert artifact.recipe.name == "native", artifact.report
        np.testing.assert_array_equal(got, want)
