"""Networks in fewer kinds of operations: one dimension, transposed convolutions, stretched images."""

import itertools

import numpy as np
import pytest

import takt
from test_native import Net, QuantizedNet, check_together, expected


def kinds(model):
    return {node.op_type for node in model.graph.node}


def check_reduced(tmp_path, net, shape, result, without=(), by="reduce"):
    """The network that `by` gives computes the same."""
    onnx = pytest.importorskip("onnx")
    from takt.networks import canonical

    path, reduced_path = tmp_path / "net.onnx", tmp_path / "reduced.onnx"
    net.save(path, shape, result)
    reduced = getattr(canonical, by)(onnx.load(path))
    onnx.checker.check_model(reduced, full_check=True)
    onnx.save(reduced, reduced_path)
    assert not kinds(reduced) & set(without)
    x = np.random.default_rng(4).standard_normal(shape).astype(np.float32)
    want, got = expected(path, x), expected(reduced_path, x)
    assert got.shape == want.shape and np.unique(want).size > 10
    assert np.abs(got - want).max() <= 1e-5 * np.ptp(want)
    return reduced


def test_weighted_means(needs_compiler, tmp_path):
    """A softmax over distances, and their mean: the last layers of detectors."""
    cases = {}
    for perm, has_bias in itertools.product([None, (0, 2, 1, 3)], [False, True]):
        net = Net()
        x = net.conv("x", 3, 32, kernel=1)
        if perm:
            shape = net.constant(np.array([1, 4, 8, 60]))
            x = net.node("Transpose", net.node("Reshape", x, shape), perm=perm)
        x = net.node("Softmax", x, axis=1)
        result = net.conv(x, 8 if perm else 32, 1, kernel=1, bias=has_bias)
        check_reduced(tmp_path, net, [1, 3, 6, 10], result, without={"Softmax", "Transpose"})
        cases[perm, has_bias] = net, [1, 3, 6, 10], result
    check_together(tmp_path, cases)


def test_weights_of_rows_that_the_network_computes(needs_compiler, tmp_path):
    pytest.importorskip("onnx")
    from takt.rewriting import rewriter

    net = Net()
    mean = net.node("Reshape", net.node("GlobalAveragePool", "x"), net.constant(np.array([1, 12])))
    weights = net.node("Reshape", net.node("MatMul", mean, net.weights(12, 20 * 6 * 5)),
                       net.constant(np.array([20, 6, 5])))
    result = net.node("Tanh", net.node("Conv", "x", weights, net.weights(20), pads=[2, 1], strides=[2], group=2))
    check_reduced(tmp_path, net, [1, 12, 70], result)
    rewritten, _ = rewriter.rewrite(net.model([1, 12, 70], result))
    assert "Conv" not in kinds(rewritten)
    check_together(tmp_path, {"": (net, [1, 12, 70], result)})


@pytest.mark.parametrize("change", ["axis", "outs", "stride"])
def test_other_softmaxes_stay(tmp_path, change):
    net = Net()
    x = net.node("Reshape", net.conv("x", 3, 32, kernel=1), net.constant(np.array([1, 4, 8, 60])))
    x = net.node("Transpose", x, perm=[0, 2, 1, 3])
    x = net.node("Softmax", x, axis=2 if change == "axis" else 1)
    result = net.conv(x, 8, 2 if change == "outs" else 1, kernel=1,
                      strides=[2, 2] if change == "stride" else [1, 1])
    reduced = check_reduced(tmp_path, net, [1, 3, 6, 10], result)
    assert "Softmax" in kinds(reduced)


TRANSPOSED = [
    # kernel, attributes
    ((2, 2), {"strides": [2, 2]}),
    ((4, 4), {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
    ((3, 3), {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]}),
    ((3, 5), {"strides": [1, 3], "pads": [0, 1, 1, 2]}),
    ((3, 3), {}),
    ((5,), {"strides": [2], "pads": [2, 1]}),
    ((2,), {"strides": [2]}),
]


@pytest.mark.parametrize("kernel, attributes", TRANSPOSED)
@pytest.mark.parametrize("end", ["", "Relu"])
def test_transposed_convolutions(tmp_path, kernel, attributes, end):
    net = Net()
    x = net.node("ConvTranspose", "x", net.weights(6, 5, *kernel), net.weights(5), **attributes)
    if end:
        x = net.node(end, x)
    check_reduced(tmp_path, net, [1, 6, 7, 9][: 2 + len(kernel)], net.node("Neg", x), {"ConvTranspose"})


@pytest.mark.parametrize("kernel, attributes", TRANSPOSED)
def test_transposed_convolutions_of_any_size(tmp_path, kernel, attributes):
    onnx = pytest.importorskip("onnx")
    from takt.networks import canonical

    net, path, reduced_path = Net(), tmp_path / "net.onnx", tmp_path / "reduced.onnx"
    x = net.node("ConvTranspose", "x", net.weights(6, 5, *kernel), net.weights(5), **attributes)
    net.save(path, [1, 6, None, None][:2 + len(kernel)], net.node("Neg", net.node("Relu", x)))
    reduced = canonical.reduce(onnx.load(path))
    onnx.save(reduced, reduced_path)
    has_one_stride = len({*attributes.get("strides", [1])}) == 1
    assert ("ConvTranspose" not in kinds(reduced)) == has_one_stride
    for sizes in ((7, 9), (3, 4), (2, 5)):
        x = np.random.default_rng(1).standard_normal((1, 6, *sizes[:len(kernel)])).astype(np.float32)
        want, got = expected(path, x), expected(reduced_path, x)
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kernel, attributes, count", [
    ((4, 4), {"strides": [2, 2], "pads": [1] * 4}, 4),
    ((3, 3), {"strides": [2, 2], "pads": [1] * 4, "output_padding": [1, 1]}, 4),
    ((3, 3), {"strides": [2, 2], "pads": [0, 1, 1, 0]}, 4),
    ((8, 8), {"strides": [4, 4], "pads": [2] * 4}, 16),
    ((2, 2), {"strides": [2, 2]}, 1),  # Nothing is multiplied by 0.
    ((9, 9), {"strides": [2, 2], "pads": [4] * 4}, 4),
])
def test_many_channels_are_not_multiplied_by_zeros(tmp_path, kernel, attributes, count):
    net = Net()
    x = net.node("Relu", net.node("ConvTranspose", "x", net.weights(160, 16, *kernel), net.weights(16), **attributes))
    reduced = check_reduced(tmp_path, net, [2, 160, 5, 6], net.node("Neg", x), {"ConvTranspose"})
    found = [node.op_type for node in reduced.graph.node]
    assert found.count("Conv") == found.count("Relu") == count


def test_few_results_share_a_block(tmp_path):
    """One convolution of all places is quicker, though it multiplies many zeros."""
    net = Net()
    x = net.node("ConvTranspose", "x", net.weights(160, 3, 4, 4), net.weights(3), strides=[2, 2], pads=[1] * 4)
    reduced = check_reduced(tmp_path, net, [2, 160, 5, 6], net.node("Neg", x), {"ConvTranspose"})
    assert [node.op_type for node in reduced.graph.node].count("Conv") == 1


def test_bytes_of_many_channels_are_not_multiplied_by_zeros(tmp_path):
    net = QuantizedNet()
    x = net.quantize("x", 0.05, 3)
    weights = net.random.integers(-127, 128, (160, 16, 4, 4)).astype(np.int8)
    scales = net.constant((net.random.random(16) * 0.001 + 0.0005).astype(np.float32))
    w = net.node("DequantizeLinear", net.constant(weights), scales, net.constant(np.zeros(16, np.int8)), axis=1)
    x = net.node("ConvTranspose", x, w, strides=[2, 2], pads=[1] * 4)
    reduced = check_reduced(tmp_path, net, [1, 160, 5, 6], net.quantize(x, 0.1, -128), {"ConvTranspose"})
    assert [node.op_type for node in reduced.graph.node].count("Conv") == 4


@pytest.mark.parametrize("attributes", [
    {"strides": [3, 3]},  # More zeros than products.
    {"group": 2, "strides": [2, 2]},
    {"dilations": [2, 2]},
    {"strides": [2, 2], "auto_pad": "SAME_UPPER"},
])
def test_other_transposed_convolutions_stay(tmp_path, attributes):
    net = Net()
    kernel = 1 if attributes == {"strides": [3, 3]} else 3
    x = net.node("ConvTranspose", "x", net.weights(6, 3, kernel, kernel), **attributes)
    reduced = check_reduced(tmp_path, net, [1, 6, 7, 9], x)
    assert "ConvTranspose" in kinds(reduced)


def sequence(net):
    """Everything of one dimension between two operations that stay."""
    from onnx import numpy_helper

    x = net.node("Neg", "x")
    x = net.node("Conv", x, net.weights(12, 8, 3), net.weights(12), dilations=[2], pads=[4, 0])
    parts = [net.constant(np.abs(net.random.standard_normal(12)).astype(np.float32) + 0.5) for _ in range(4)]
    x = net.node("Relu", net.node("BatchNormalization", x, *parts))
    y = net.node("Conv", x, net.weights(12, 4, 3), group=3, auto_pad="SAME_UPPER")
    x = net.node("Add", x, net.node("Mul", y, net.constant(np.float32(0.5))))
    x = net.node("PRelu", x, net.weights(12, 1))
    groups = net.node("Reshape", x, net.constant(np.array([0, 3, -1])))
    # Exporters write such constants as nodes, here behind the Reshape.
    scale = net.node("Constant", value=numpy_helper.from_array(np.array([0.5, -1, 2], np.float32)))
    groups = net.node("InstanceNormalization", groups, scale, net.weights(3))
    x = net.node("Reshape", groups, net.constant(np.array([1, 12, 20])))
    x = net.node("Mul", x, net.weights(1, 12, 1))
    x = net.node("MaxPool", x, kernel_shape=[3], strides=[2], pads=[1, 1])
    x = net.node("InstanceNormalization", x, net.weights(12), net.weights(12))
    y = net.node("AveragePool", x, kernel_shape=[3], strides=[1], pads=[1, 1])
    x = net.node("Concat", net.node("Concat", x, y, axis=1), net.node("Concat", y, x, axis=-2), axis=2)
    x = net.node("ConvTranspose", x, net.weights(24, 6, 4), strides=[2], pads=[1, 1])
    return net.node("Softmax", x, axis=-1)


def test_tensors_of_one_dimension_are_images(tmp_path):
    net = Net()
    reduced = check_reduced(tmp_path, net, [1, 8, 20], sequence(net), {"ConvTranspose"})
    assert sum(node.op_type == "Reshape" for node in reduced.graph.node) == 6  # Two of them place pixels, two make groups.


@pytest.mark.parametrize("is_quantized", [False, True])
def test_norms_and_means_of_sequences(tmp_path, is_quantized):
    """Only the input and the result of norms are reshaped, and constants of bytes with them."""
    net = QuantizedNet()

    def number(*shape):
        if not is_quantized:
            return net.weights(*shape)
        own = net.random.integers(1, 128, shape).astype(np.int8)
        return net.integers(own, np.array(0.01, np.float32), 0)

    x = net.node("Conv", "x", net.weights(12, 8, 3))
    apart = net.node("Sub", x, net.node("ReduceMean", x, axes=[-2]))
    spread = net.node("ReduceMean", net.node("Mul", apart, apart), axes=[1])
    spread = net.node("Sqrt", net.node("Add", spread, number(1) if is_quantized else net.constant(np.float32(1e-5))))
    x = net.node("Add", net.node("Mul", net.node("Div", apart, spread), number(12, 1)), number(1, 12, 1))
    norm = net.node("Conv", x, net.weights(16, 12, 3))
    reduced = check_reduced(tmp_path, net, [1, 8, 20], norm)
    assert [node.op_type for node in reduced.graph.node].count("Reshape") == 2
    mean = net.node("Mul", net.node("ReduceMean", norm, axes=[2]), number(16, 1))
    for result in (mean, net.node("ReduceMean", norm, axes=[-1], keepdims=0)):
        reduced = check_reduced(tmp_path, net, [1, 8, 20], result)
        assert [node.op_type for node in reduced.graph.node].count("Reshape") == (2 if result == mean else 1)


@pytest.mark.parametrize("axis", [1, -1, 0])
def test_parts_of_sequences(tmp_path, axis):
    """Parts of channels and of pixels are parts of images."""
    from onnx import helper

    net = Net()
    x, size = net.node("Conv", "x", net.weights(12, 8, 3)), {1: 12, -1: 18, 0: 2}[axis]
    parts, sizes = ["first", "second"], net.constant(np.array([size // 2, size - size // 2]))
    net.nodes.append(helper.make_node("Split", [x, sizes], parts, axis=axis))
    x = net.node("Mul", "first", net.node("Sigmoid", "second"))
    bounds = (net.constant(np.array(each)) for each in ([1, 1], [1 << 40, -1], [-2, 2], [2, 1]))
    x = net.node("Slice", x, *bounds)
    x = net.node("Conv", x, net.weights(6, 3 if axis == 1 else 6, 1))
    reduced = check_reduced(tmp_path, net, [2, 8, 20], x)
    assert [node.op_type for node in reduced.graph.node].count("Reshape") == (2 if axis else 4)


@pytest.mark.parametrize("is_quantized", [False, True])
def test_norms_of_bands(tmp_path, is_quantized):
    """Rows in bands, which are channels of a normalization."""
    net = QuantizedNet()
    x = net.quantize(net.conv("x", 3, 6), 0.05, 3) if is_quantized else net.conv("x", 3, 6)
    x = net.node("Reshape", x, net.constant(np.array([2, 18, 4, -1])))
    values = [net.constant(net.random.uniform(0.5, 2, 18).astype(np.float32)) for _ in range(4)]
    if is_quantized:
        x = net.quantize(x, 0.05, 3)
        steps = net.random.integers(1, 128, 18).astype(np.int8)
        values[:2] = [net.integers(steps, np.array(0.01, np.float32), 0) for _ in range(2)]
    x = net.node("Relu", net.node("BatchNormalization", x, *values))
    x = net.quantize(x, 0.1, -128) if is_quantized else x
    x = net.conv(net.node("Reshape", x, net.constant(np.array([2, 6, 12, -1]))), 6, 4)
    check_reduced(tmp_path, net, [2, 3, 12, 10], x, {"Reshape", "BatchNormalization"})


@pytest.mark.parametrize("change", ["other", "axis", "bands", "read"])
def test_other_norms_between_reshapes_stay(tmp_path, change):
    """Another tensor behind the norm, an operator along rows, bands that are no rows, or a norm that others read."""
    net = Net()
    x = net.conv("x", 3, 6)
    split = [2, 3, 24, 10] if change == "bands" else [2, 36, 2, 10]
    x = net.node("Reshape", x, net.constant(np.array(split)))
    values = [net.constant(net.random.uniform(0.5, 2, split[1]).astype(np.float32)) for _ in range(4)]
    norm = net.node("BatchNormalization", x, *values)
    inner = net.node("Softmax", norm, axis=2) if change == "axis" else norm
    back = net.node("Reshape", inner, net.constant(np.array([2, 6, 12, 10] if change != "other" else [2, 6, 10, 12])))
    x = net.conv(back, 6, 4)
    if change == "read":
        x = net.node("Add", x, net.node("ReduceMax", norm, keepdims=0))
    reduced = check_reduced(tmp_path, net, [2, 3, 12, 10], x)
    assert {"Reshape", "BatchNormalization"} <= kinds(reduced)


def test_sequences_compile(needs_compiler, tmp_path):
    pytest.importorskip("onnx")
    net = Net()
    calls, _ = check_together(tmp_path, {"": (net, [1, 8, 20], sequence(net))})[""]
    assert calls["takt_conv2d_f32"] and calls["takt_max_pool2d_f32"]


def test_a_pooled_sequence(needs_compiler, tmp_path):
    pytest.importorskip("onnx")
    net = Net()
    x = net.node("Relu", net.node("Conv", "x", net.weights(24, 8, 5), strides=[2]))
    x = net.node("Flatten", net.node("GlobalAveragePool", x))
    check_together(tmp_path, {"": (net, [1, 8, 64], net.node("MatMul", x, net.weights(24, 30)))})


def test_sequences_of_bytes(needs_compiler, tmp_path):
    pytest.importorskip("onnx")
    net = QuantizedNet()
    x = net.quantize("x", 0.05, 3)
    weights = net.random.integers(-127, 128, (24, 8, 3)).astype(np.int8)
    scales = net.constant((net.random.random(24) * 0.01 + 0.001).astype(np.float32))
    w = net.node("DequantizeLinear", net.constant(weights), scales, net.constant(np.zeros(24, np.int8)), axis=0)
    x = net.quantize(net.node("Relu", net.node("Conv", x, w, pads=[1, 1])), 0.1, -128)
    path = tmp_path / "net.onnx"
    net.save(path, [1, 8, 40], x)
    artifact = takt.compile(path, cache=tmp_path, recipe="native")
    assert b"takt_conv2d_i8" in artifact.path.read_bytes()
    data = np.random.default_rng(4).standard_normal((1, 8, 40)).astype(np.float32)
    got = np.asarray(artifact.load(device="local-sync").function()(data))
    assert np.abs(got - expected(path, data)).max() <= 0.1 * 1.01  # A step.


def test_transposed_convolutions_compile(needs_compiler, tmp_path):
    pytest.importorskip("onnx")
    cases = {}
    for kernel, attributes in (TRANSPOSED[0], TRANSPOSED[2], TRANSPOSED[5]):
        net = Net()
        x = net.node("ConvTranspose", "x", net.weights(6, 20, *kernel), net.weights(20), **attributes)
        x = net.node("Conv", net.node("LeakyRelu", x), net.weights(18, 20, *kernel))
        cases[kernel] = net, [1, 6, 7, 9][: 2 + len(kernel)], x
    for kernel, (calls, _) in check_together(tmp_path, cases).items():
        assert calls["takt_conv2d_f32"], kernel


def test_stretched_images(needs_compiler, tmp_path):
    pytest.importorskip("onnx")
    cases = {}
    for factors, is_last in itertools.product([(2, 2), (8, 4), (3, 5), (1, 2)], [True, False]):
        net = Net()
        x = net.node("Resize", net.conv("x", 3, 20), "", net.constant(np.array([1, 1, *factors], np.float32)),
                     mode="linear", coordinate_transformation_mode="half_pixel")
        cases[factors, is_last] = net, [1, 3, 7, 9], x if is_last else net.conv(x, 20, 5)
    check_together(tmp_path, cases)


def test_stretched_images_whose_best_channel_is_searched(needs_compiler, tmp_path):
    """Their channels come first before they are large."""
    onnx = pytest.importorskip("onnx")
    from takt.rewriting import rewriter

    net = Net()
    x = net.node("Resize", net.conv("x", 3, 20), "", net.constant(np.array([1, 1, 8, 4], np.float32)),
                 mode="linear", coordinate_transformation_mode="half_pixel")
    path = tmp_path / "net.onnx"
    net.save(path, [1, 3, 7, 9], net.node("Cast", net.node("ArgMax", x, axis=1), to=1))
    network, kernels = rewriter.rewrite(onnx.load(path))
    assert [kernel.function for kernel in kernels] == ["takt_conv2d_f32", *["takt_blend_f32"] * 2,
                                                          "takt_arg_max_f32"]
    assert [node.op_type for node in network.graph.node].count("Transpose") == 2  # Of the convolution.
    x = np.random.default_rng(4).standard_normal((1, 3, 7, 9)).astype(np.float32)
    found = np.asarray(takt.compile(path, cache=tmp_path, recipe="native").load().function()(x))
    assert (found == expected(path, x)).mean() > 0.99


def test_a_sampled_grid_is_gathers(needs_compiler, tmp_path):
    """Points inside the image, on its edges, and far outside."""
    pytest.importorskip("onnx")
    cases = {}
    for padding, (aligned, images) in itertools.product(["zeros", "border"], [(0, 1), (1, 1), (1, 3)]):
        net = Net()
        image = net.conv("x", 3, 8)
        points = net.node("Mul", net.conv("x", 3, 2), net.constant(np.float32(0.8)))
        grid = net.node("Transpose", points, perm=[0, 2, 3, 1])
        result = net.node("GridSample", image, grid, mode="bilinear", padding_mode=padding, align_corners=aligned)
        check_reduced(tmp_path, net, [images, 3, 12, 17], result, {"GridSample"}, "sample")
        cases[padding, aligned, images] = net, [images, 3, 12, 17], net.conv(result, 8, 5)
    check_together(tmp_path, cases)
