"""Networks by Takt's own kernels: recipe native."""

import collections
import re
import warnings

import numpy as np
import pytest

import takt
import together
from takt.compiling import recipes


class Net:
    """Writes a small network."""

    def __init__(self):
        self.random = np.random.default_rng(3)
        self.nodes, self.constants, self.count = [], [], 0

    def constant(self, array):
        from onnx import numpy_helper

        self.count += 1
        self.constants.append(numpy_helper.from_array(np.asarray(array), f"c{self.count}"))
        return f"c{self.count}"

    def weights(self, *shape):
        scale = (2 / max(1, int(np.prod(shape[1:])))) ** 0.5
        return self.constant((self.random.standard_normal(shape) * scale).astype(np.float32))

    def node(self, op, *inputs, **attributes):
        from onnx import helper

        self.count += 1
        name = f"t{self.count}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def conv(self, x, ins, outs, kernel=3, groups=1, bias=True, **attributes):
        inputs = [x, self.weights(outs, ins // groups, kernel, kernel)]
        if bias:
            inputs.append(self.weights(outs))
        attributes.setdefault("pads", [kernel // 2] * 4)
        return self.node("Conv", *inputs, group=groups, **attributes)

    def model(self, in_shape, result, opset=17):
        import onnx
        from onnx import TensorProto, helper

        graph = helper.make_graph(
            self.nodes,
            "net",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, in_shape)],
            [helper.make_tensor_value_info(result, TensorProto.FLOAT, None)],
            self.constants,
        )
        opsets = [helper.make_opsetid(*each) for each in (("", opset), ("com.microsoft", 1))]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        return onnx.shape_inference.infer_shapes(model, strict_mode=True)

    def save(self, path, in_shape, result):
        import onnx

        onnx.save(self.model(in_shape, result), path)


def residual_block(net):
    """A first layer, a depthwise one, a sum, clamps, a pool and a product."""
    x = net.node("Relu", net.conv("x", 3, 20, strides=[2, 2]))
    y = net.node("Clip", net.conv(x, 20, 20, groups=20), net.constant(np.float32(0)),
                 net.constant(np.float32(6)))
    x = net.node("Relu", net.node("Add", net.conv(y, 20, 20, kernel=1), x))
    x = net.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    x = net.node("Flatten", net.node("GlobalAveragePool", x))
    return net.node("Add", net.node("MatMul", x, net.weights(20, 7)), net.weights(7))


def normalized(net):
    """A normalization after convolutions of groups, and one of dilations."""
    x = net.conv("x", 3, 32, bias=False, strides=[2, 2])
    parts = [net.constant(np.abs(net.random.standard_normal(32)).astype(np.float32) + 0.5)
             for _ in range(4)]
    x = net.node("Relu", net.node("BatchNormalization", x, *parts))
    x = net.conv(net.conv(x, 32, 48, groups=4), 48, 48, groups=12)
    return net.conv(x, 48, 5, dilations=[2, 2], pads=[2, 2, 2, 2])


def joined(net):
    """Scales that are joined: Concat, Resize, an average, activations."""
    a = net.conv("x", 3, 24, strides=[2, 2])
    a = net.node("Mul", a, net.node("Sigmoid", a))
    b = net.node("AveragePool", a, kernel_shape=[2, 2], strides=[2, 2])
    scales = net.constant(np.array([1, 1, 2, 2], np.float32))
    b = net.node("Resize", net.conv(b, 24, 8, kernel=1), "", scales, mode="nearest")
    return net.conv(net.node("Concat", a, b, axis=1), 32, 6)


def activated(net):
    """Each activation that a call may have, behind a convolution or a product."""
    x = net.conv("x", 3, 20, strides=[2, 2])
    x = net.node("Mul", net.node("Sigmoid", x), x)
    x = net.node("HardSwish", net.conv(x, 20, 20, groups=20))
    x = net.node("Tanh", net.conv(x, 20, 20, kernel=1))
    x = net.node("HardSigmoid", net.conv(x, 20, 33), alpha=1 / 6, beta=0.5)
    x = net.node("Sigmoid", net.conv(x, 33, 16))
    x = net.node("LeakyRelu", net.conv(x, 16, 16), alpha=0.1)
    x = net.node("PRelu", net.conv(x, 16, 16, groups=16), net.constant(np.full([1, 1, 1], 0.25, np.float32)))
    x = net.node("Flatten", net.node("GlobalAveragePool", x))
    x = net.node("MatMul", x, net.weights(16, 24))
    return gelu(net, x)


def gelu(net, x, halved="x", kind="erf"):
    """The form of the exporters of PyTorch: halved is "x", "end" or, as the newer one has it, "sum". The kind is "erf",
    or "pow" or "mul" for a tanh with such a cube."""
    def times(name, factor):
        return net.node("Mul", net.constant(np.float32(factor)), name)

    def half(name, place):
        return times(name, 0.5) if place == halved else name

    if kind == "erf":
        inner = net.node("Erf", net.node("Div", x, net.constant(np.float32(2**0.5))))
    else:
        cube = (net.node("Pow", x, net.constant(np.float32(3))) if kind == "pow"
                else net.node("Mul", x, net.node("Mul", x, x)))
        inner = net.node("Tanh", times(net.node("Add", x, times(cube, 0.044715)), (2 / np.pi)**0.5))
    plus = half(net.node("Add", inner, net.constant(np.float32(1))), "sum")
    return half(net.node("Mul", half(x, "x"), plus), "end")


def test_activations_are_part_of_calls(tmp_path):
    onnx = pytest.importorskip("onnx")
    from takt.rewriting import rewriter

    net = Net()
    path = tmp_path / "net.onnx"
    net.save(path, [1, 3, 32, 28], activated(net))
    network, kernels = rewriter.rewrite(onnx.load(path))
    slopes = [kernel.low for kernel in kernels if not kernel.is_pool and kernel.activation == "leaky_relu"]
    assert slopes == [pytest.approx(0.1), 0.25]
    assert [kernel.activation for kernel in kernels if not kernel.is_pool] == [
        "silu", "hard_swish", "tanh", "hard_sigmoid", "sigmoid", "leaky_relu", "leaky_relu", "gelu"]
    left = {node.op_type for node in network.graph.node}
    assert left == {"TaktKernel", "Transpose", "Reshape"}


@pytest.mark.parametrize("bias, calls", [((5, 1), 0), ((5,), 1), ((1, 5), 1), ((), 1)])
def test_a_bias_of_rows_is_none_of_columns(tmp_path, bias, calls):
    onnx = pytest.importorskip("onnx")
    from takt.rewriting import rewriter

    net = Net()
    y = net.node("Gemm", "x", net.weights(7, 5), net.constant(np.ones(bias, np.float32)))
    net.save(tmp_path / "net.onnx", [5, 7], y)
    assert len(rewriter.rewrite(onnx.load(tmp_path / "net.onnx"))[1]) == calls


NETS = [residual_block, normalized, joined, activated]


def expected(path, x):
    """What ONNX Runtime computes; onnx's own evaluator where it is not installed."""
    import onnx

    try:
        import onnxruntime
    except ImportError:
        from onnx.reference import ReferenceEvaluator

        return ReferenceEvaluator(str(path)).run(None, {"x": x})[0]
    options = onnxruntime.SessionOptions()
    if not {"Conv", "Gemm", "MatMul"}.isdisjoint(node.op_type for node in onnx.load(path).graph.node):
        # Without VNNI it saturates sums of products of bytes. The option makes unsigned bytes of signed ones, and sums
        # of two tensors of these are rounded otherwise.
        options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except onnxruntime.capi.onnxruntime_pybind11_state.Fail:  # It cannot change weights of two products.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


def functions(model, precision=""):
    """How many calls of each of Takt's kernels there are of a network, and its kernels."""
    from takt.porting import porter
    from takt.rewriting import rewriter

    network, kernels = rewriter.rewrite(porter.port(model), precision)
    calls = (kernels[node.attribute[0].i] for node in network.graph.node if node.op_type == "TaktKernel")
    return collections.Counter(kernel.function for kernel in calls), kernels


def compiled(folder, models, recipe="native"):
    """Networks by case, compiled at once, and {case: (the number of calls of each kernel, kernels)}. Each has the calls
    there that it has alone."""
    found = {case: functions(model, recipes.RECIPES[recipe].precision) for case, model in models.items()}
    calls = sum((calls for calls, _ in found.values()), collections.Counter())
    assert functions(together.join(models.values()), recipes.RECIPES[recipe].precision)[0] == calls
    whole = together.compiled(folder, models, recipe)
    module = whole.artifact.path.read_bytes()
    assert all(function.encode() in module for function in calls), calls
    return whole, found


def compared(folder, cases, recipe="native", devices=("local-sync", "local-task")):
    """Networks, {case: (net, the shape of its input, its result)}, that are compiled at once. Gives `found` of
    compiled(), and the tuples (case, the numbers wanted, those got) of each device."""
    import onnx

    models, inputs, wanted = {}, {}, {}
    for case, (net, shape, result) in cases.items():
        models[case] = net.model(shape, result)
        inputs[case] = np.random.default_rng(4).standard_normal(shape).astype(np.float32)
        onnx.save(models[case], folder / "net.onnx")
        wanted[case] = expected(folder / "net.onnx", inputs[case])
    whole, found = compiled(folder, models, recipe)
    pairs = []
    for device in devices:
        for case, got in whole.call({case: [x] for case, x in inputs.items()}, device=device).items():
            assert got.shape == wanted[case].shape, case
            pairs.append((case, wanted[case], got))
    return found, pairs


def check_together(folder, cases, tolerance=1e-5, **options):
    """The same results up to `tolerance` of their range; gives `found` of compiled()."""
    found, pairs = compared(folder, cases, **options)
    for case, want, got in pairs:
        assert np.unique(want).size > 20, case
        assert np.abs(got - want).max() <= tolerance * np.ptp(want), case
    return found


def test_float_networks_agree(needs_compiler, tmp_path):
    pytest.importorskip("onnx")
    cases = {}
    for build in NETS:
        net = Net()
        cases[build.__name__] = net, [1, 3, 32, 28], build(net)
    found, pairs = compared(tmp_path, cases)
    for case, (calls, _) in found.items():
        assert calls["takt_conv2d_f32"], case
    for case, want, got in pairs:
        assert np.abs(got - want).max() < 1e-3 * np.ptp(want), case


def test_bfloat16_is_asked_for(needs_compiler, tmp_path):
    pytest.importorskip("onnx")
    cases = {}
    for build in (residual_block, joined):
        net = Net()
        cases[build.__name__] = net, [1, 3, 32, 28], build(net)
    found, pairs = compared(tmp_path, cases, "native_bf16", ["local-sync"])
    for case, (calls, _) in found.items():
        assert calls["takt_conv2d_bf16"], case
    assert b"takt_conv2d_bf16" not in takt.compile(tmp_path / "joined.onnx", cache=tmp_path).path.read_bytes()
    for case, want, got in pairs:  # Eight bits of each number.
        assert 0 < np.abs(got - want).max() < 0.02 * np.ptp(want), case


@pytest.mark.parametrize("recipe", ["native", "native_bf16"])
def test_convolutions_by_winograd_agree(needs_compiler, tmp_path, recipe, monkeypatch):
    pytest.importorskip("onnx")
    monkeypatch.setattr("takt.compiling.targets._has_tiles", lambda name: False)  # For which it is not quicker.
    net = Net()
    a = net.node("Conv", "x", net.weights(40, 32, 3, 3), net.weights(40), pads=[1, 1, 1, 1])
    b = net.node("Conv", net.node("Relu", a), net.weights(40, 40, 3, 3), pads=[1, 1, 1, 1])
    path = tmp_path / "net.onnx"
    net.save(path, [1, 32, 30, 41], net.node("Relu", net.node("Add", b, a)))
    artifact = takt.compile(path, cache=tmp_path, recipe=recipe)
    assert artifact.recipe.name == recipe, artifact.report
    module = artifact.path.read_bytes()
    assert b"takt_winograd2d_f32" in module and b"takt_conv2d" not in module
    x = np.random.default_rng(4).standard_normal((1, 32, 30, 41)).astype(np.float32)
    want = expected(path, x)
    for device in ("local-sync", "local-task"):
        got = np.asarray(artifact.load(device=device).function()(x))
        assert np.abs(got - want).max() < 2e-5 * np.ptp(want)


def test_convolutions_by_winograd_in_parts_agree(needs_compiler, tmp_path):
    pytest.importorskip("onnx")
    net = Net()
    a = net.node("Conv", "x", net.weights(192, 24, 3, 3), net.weights(192), pads=[1, 1, 1, 1])
    b = net.node("Sigmoid", a)
    c = net.node("Conv", b, net.weights(192, 192, 3, 3), net.weights(192), pads=[1, 1, 1, 1])
    path = tmp_path / "net.onnx"
    net.save(path, [2, 24, 17, 22], net.node("Relu", net.node("Add", c, b)))
    artifact = takt.compile(path, cache=tmp_path, recipe="native")
    assert artifact.recipe.name == "native", artifact.report
    module = artifact.path.read_bytes()
    for function in (b"takt_winograd2d_f32", b"takt_winograd_inputs_f32", b"takt_winograd_sums_f32"):
        assert function in module
    x = np.random.default_rng(4).standard_normal((2, 24, 17, 22)).astype(np.float32)
    want = expected(path, x)
    for device in ("local-sync", "local-task"):
        got = np.asarray(artifact.load(device=device).function()(x))
        assert np.abs(got - want).max() < 2e-5 * np.ptp(want)


def test_winograd_is_taken_where_it_is_quicker():
    from takt.rewriting.rewriter import prefers_winograd

    def shape(size, ins, outs, geometry=(3, 3, 1, 1, 1, 1, 1, 1), groups=1):
        return (1, size, size, ins, size, size, outs, *geometry, groups)

    assert prefers_winograd(shape(56, 64, 64), 1) and prefers_winograd(shape(56, 64, 64), 2)
    assert not prefers_winograd(shape(56, 64, 64), 6)
    assert prefers_winograd(shape(128, 16, 16), 1) and not prefers_winograd(shape(128, 16, 16), 2)
    assert not prefers_winograd(shape(7, 512, 512), 1)  # Too many weights for so few pixels.
    assert not prefers_winograd(shape(10, 512, 1024), 1)  # More weights than a cache holds.
    # All of these were measured.
    assert all(prefers_winograd(shape(*each), 1) for each in [
        (28, 256, 256), (20, 160, 160), (28, 128, 256), (14, 256, 256), (14, 384, 384), (28, 512, 512), (16, 1024, 512)])
    assert not any(prefers_winograd(shape(*each), 1) for each in [
        (10, 256, 256), (8, 512, 512), (14, 256, 64), (10, 192, 192)])
    # Without its parts, it reads the weights again for some squares each.
    assert not prefers_winograd(shape(14, 384, 383), 1) and not prefers_winograd(shape(40, 1024, 1000), 1)
    assert not prefers_winograd(shape(56, 3, 64), 1)
    assert not prefers_winograd(shape(56, 64, 64, groups=2), 1)
    assert not prefers_winograd(shape(56, 64, 64, (3, 3, 2, 2, 1, 1, 1, 1)), 1)
    assert not prefers_winograd(shape(56, 64, 64, (1, 1, 1, 1, 1, 1, 0, 0)), 1)


def test_weights_are_packed_in_pairs_of_bfloat16():
    from takt.rewriting.rewriter import join_rows, pack_pairs

    packed = np.full((1, 1, 1, 1, 3, 16), 1.0, np.float32)
    packed[..., 1, :] = -2.0
    bits = pack_pairs(packed).view(np.uint32)
    assert bits.shape == (1, 1, 1, 1, 2, 16)
    assert (bits[..., 0, :] == 0xC0003F80).all() and (bits[..., 1, :] == 0x3F80).all()
    weights = np.arange(2 * 3 * 2 * 5).reshape(2, 3, 2, 5)
    rows = join_rows(weights, 1, 1)
    assert rows.shape == (2, 15, 2, 1) and rows[1, 7, 1, 0] == weights[1, 1, 1, 2]
    assert join_rows(weights, 1, 2) is weights


class QuantizedNet(Net):
    """Writes a network with what a quantizer puts around its operators (QDQ)."""

    def __init__(self, is_unsigned=False):
        super().__init__()
        self.is_unsigned = is_unsigned

    def quantize(self, x, scale, zero_point):
        byte = np.uint8(zero_point + 128) if self.is_unsigned else np.int8(zero_point)
        pair = [self.constant(np.float32(scale)), self.constant(byte)]
        return self.node("DequantizeLinear", self.node("QuantizeLinear", x, *pair), *pair)

    def integers(self, array, scale, axis):
        zero_points = np.zeros(scale.shape, array.dtype)
        return self.node("DequantizeLinear", self.constant(array), self.constant(scale),
                         self.constant(zero_points), axis=axis)

    def product(self, op, x, in_scale, shape, axis, **attributes):
        """A Conv or Gemm of per-channel weights, with a bias in 32 bits."""
        outs = shape[axis]
        weights = self.random.integers(-127, 128, shape).astype(np.int8)
        scale = self.random.uniform(0.002, 0.004, outs).astype(np.float32)
        bias = self.random.integers(-2000, 2000, outs).astype(np.int32)
        return self.node(
            op, x, self.integers(weights, scale, axis),
            self.integers(bias, (scale * np.float32(in_scale)).astype(np.float32), 0), **attributes)


def test_functions_of_bytes_are_tables(needs_compiler, tmp_path):
    """Whatever a quantized network computes of one tensor by elements is a table of 256 bytes."""
    pytest.importorskip("onnxruntime")
    cases = {}
    for op in ["PRelu", "LeakyRelu", "Elu", "Selu", "Celu", "ThresholdedRelu", "Softsign", "Sin", "Cos", "Atan",
               "Round"]:
        net = QuantizedNet()
        inputs = [net.constant(np.array([[-0.25]], np.float32))] if op == "PRelu" else []
        cases[op] = net, [2, 5, 30], net.quantize(net.node(op, net.quantize("x", 0.02, 9), *inputs), 0.03, 3)
    net = QuantizedNet()
    moved = net.node("Transpose", net.node("Exp", net.quantize("x", 0.02, 9)), perm=[2, 0, 1])
    cases["before a move"] = net, [2, 5, 30], net.quantize(moved, 0.03, 3)
    found, pairs = compared(tmp_path, cases, devices=["local-sync"])
    for case, want, got in pairs:
        assert found[case][0] == {"takt_map_i8": 1}, case
        assert np.abs(got - want).max() <= 0.031, case


def test_an_infinite_scale_of_constants_is_no_warning():
    """A mask of minus infinity, as ONNX Runtime quantizes it."""
    pytest.importorskip("onnx")
    from takt.rewriting import rewriter

    net = QuantizedNet()
    mask = net.integers(np.array([[0, -1, 0, -1]], np.int8), np.array(np.inf, np.float32), 0)
    result = net.node("Add", net.node("MatMul", "x", net.weights(4, 4)), mask)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rewriter.rewrite(net.model([1, 4], result))


def quantized(net):
    """Convolutions of all kinds, a sum, moves of bytes and a product."""
    x = net.quantize("x", 0.03, 3)
    x = net.product("Conv", x, 0.03, (20, 3, 3, 3), 0, pads=[1] * 4, strides=[2, 2])
    x = net.quantize(net.node("Relu", x), 0.05, -128)
    y = net.product("Conv", x, 0.05, (20, 1, 3, 3), 0, pads=[1] * 4, group=20)
    y = net.quantize(y, 0.06, 5)
    z = net.quantize(net.product("Conv", y, 0.06, (20, 5, 1, 1), 0, group=4), 0.04, -7)
    x = net.quantize(net.node("Add", z, x), 0.05, -20)
    pool = net.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    scales = net.constant(np.array([1, 1, 2, 2], np.float32))
    up = net.quantize(net.node("Resize", net.quantize(pool, 0.05, -20), "", scales, mode="nearest"),
                      0.05, -20)
    x = net.quantize(net.node("Concat", up, y, axis=1), 0.06, -3)
    x = net.quantize(net.node("GlobalAveragePool", x), 0.02, 1)
    x = net.quantize(net.node("Flatten", x), 0.02, 1)
    return net.quantize(net.product("Gemm", x, 0.02, (7, 40), 0, transB=1), 0.01, 2)


def quantized_grey(net):
    """First layers of images with one channel and of two channels, with a stride and without one."""
    x = net.quantize("x", 0.03, 3)
    x = net.quantize(net.product("Conv", x, 0.03, (2, 1, 5, 5), 0, pads=[2] * 4, strides=[2, 2]), 0.05, -7)
    x = net.quantize(net.product("Conv", x, 0.05, (20, 2, 3, 3), 0, pads=[1] * 4), 0.04, 9)
    return net.quantize(net.product("Conv", x, 0.04, (7, 20, 1, 1), 0), 0.01, 2)


def test_quantized_networks_agree(needs_compiler, tmp_path):
    pytest.importorskip("onnxruntime")  # Without it nothing evaluates opset 17.
    cases = {}
    for is_unsigned in (False, True):
        net = QuantizedNet(is_unsigned)
        cases[f"unsigned: {is_unsigned}"] = net, [1, 3, 32, 28], quantized(net)
    net = QuantizedNet()
    cases["grey"] = net, [2, 1, 20, 24], quantized_grey(net)
    net = QuantizedNet()
    cases["odd"] = net, [2, 1, 21, 25], quantized_grey(net)
    found, pairs = compared(tmp_path, cases)
    for case, (calls, _) in found.items():
        kinds = {"takt_conv2d_i8", "takt_depthwise2d_i8", "takt_add_i8", "takt_max_pool2d_i8"}
        assert ({"takt_conv2d_i8"} if case in ("grey", "odd") else kinds) <= calls.keys(), case
    for case, want, got in pairs:
        assert np.unique(want).size > 3, case
        assert np.abs(got - want).max() <= 3.01 * 0.01, case  # Steps of the last scale.


@pytest.mark.parametrize("rows", [21, None])
def test_bytes_are_pooled_as_they_are(needs_compiler, tmp_path, rows):
    """In files that ONNX Runtime writes no floats are around a pool."""
    pytest.importorskip("onnxruntime")
    cases = {}
    for is_unsigned in (False, True):
        net = QuantizedNet(is_unsigned)
        x = net.product("Conv", net.quantize("x", 0.05, 3), 0.05, (20, 3, 3, 3), 0, pads=[1] * 4)
        byte = np.uint8(100) if is_unsigned else np.int8(-28)
        steps = [net.constant(np.float32(0.05)), net.constant(byte)]
        x = net.node("MaxPool", net.node("QuantizeLinear", x, *steps), kernel_shape=[3, 2], strides=[2, 1],
                     pads=[1, 0, 0, 1])
        x = net.product("Conv", net.node("DequantizeLinear", x, *steps), 0.05, (8, 20, 1, 1), 0)
        cases[is_unsigned] = net, [1, 3, rows, 24], net.quantize(x, 0.3, 5)
        assert functions(net.model(*cases[is_unsigned][1:]))[0]["takt_max_pool2d_i8"] == 1, is_unsigned
    if rows is not None:
        for case, want, got in compared(tmp_path, cases)[1]:
            assert np.unique(want).size > 20 and np.abs(got - want).max() <= 0.31, case


def test_channels_that_onnx_runtime_had_last_stay_there(needs_compiler, tmp_path):
    """It turns an image of bytes once, and its operators of bytes have the channels last until they come first again."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    net, domain = QuantizedNet(), "com.microsoft"
    steps = {name: [net.constant(np.float32(scale)), net.constant(np.int8(zero))]
             for name, scale, zero in (("x", 0.05, 3), ("conv", 0.05, -9), ("leaky", 0.04, -30), ("end", 0.2, 5))}

    def conv(x, before, after, outs, ins, size):
        weights = net.constant(net.random.integers(-127, 128, (outs, ins, size, size)).astype(np.int8))
        scales = net.constant(net.random.uniform(0.002, 0.004, outs).astype(np.float32))
        zeros, bias = net.constant(np.zeros(outs, np.int8)), net.constant(np.full(outs, 99, np.int32))
        return net.node("QLinearConv", x, *steps[before], weights, scales, zeros, *steps[after], bias, domain=domain,
                        channels_last=1, pads=[size // 2] * 4)

    x = net.node("Transpose", net.node("QuantizeLinear", "x", *steps["x"]), perm=[0, 2, 3, 1])
    x = conv(x, "x", "conv", 20, 3, 3)
    x = net.node("QLinearLeakyRelu", x, *steps["conv"], *steps["leaky"], domain=domain, alpha=0.1)
    x = net.node("NhwcMaxPool", x, domain=domain, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    x = net.node("Transpose", conv(x, "leaky", "end", 24, 20, 1), perm=[0, 3, 1, 2])
    model = net.model([1, 3, 20, 24], net.node("DequantizeLinear", x, *steps["end"]))
    calls, _ = functions(model)
    assert calls["takt_conv2d_i8"] == 2 and calls["takt_max_pool2d_i8"] == 1, calls
    onnx.save(model, tmp_path / "net.onnx")
    x = np.random.default_rng(4).standard_normal((1, 3, 20, 24)).astype(np.float32)
    want = expected(tmp_path / "net.onnx", x)
    got = np.asarray(takt.compile(tmp_path / "net.onnx", cache=tmp_path).load(device="local-sync").function()(x))
    assert np.unique(want).size > 20 and np.abs(got - want).max() <= 0.21


def test_a_bias_of_many_steps_is_kept(needs_compiler, tmp_path):
    pytest.importorskip("onnxruntime")
    cases = {}
    for scale in (1.2e-7, 1e-9):
        for zero_point in (0, 100):
            net = QuantizedNet()
            weights = net.random.integers(-127, 128, (20, 8, 3, 3)).astype(np.int8)
            scales = np.full(20, 0.003, np.float32)
            weights[3], weights[4, 0], scales[3:5] = 3, 0, scale
            bias = np.zeros(20, np.float32)
            bias[3:5] = 20, -9
            x = net.quantize("x", 0.03, zero_point)
            x = net.node("Conv", x, net.integers(weights, scales, 0), net.constant(bias))
            cases[scale, zero_point] = net, [1, 8, 9, 9], net.quantize(x, 0.25, 1)
    found, pairs = compared(tmp_path, cases, devices=["local-sync"])
    for case, (calls, _) in found.items():
        assert calls["takt_conv2d_i8"], case
    for case, want, got in pairs:
        assert (got[0, 3] == 20).all() and (got[0, 4] == -9).all(), case
        # ONNX Runtime makes integers of all biases, in steps that are too small for these two.
        assert np.abs(np.delete(got - want, [3, 4], 1)).max() <= 1.01 * 0.25, case


def bytes_to_floats(net, outs):
    """Products whose results nobody quantizes, in a convolution, a Gemm, and a sum."""
    x = net.node("Tanh", net.product("Conv", net.quantize("x", 0.03, 3), 0.03, (20, 3, 3, 3), 0, pads=[1] * 4))
    x = net.quantize(net.node("GlobalAveragePool", x), 0.002, 9)
    x = net.quantize(net.node("Flatten", x), 0.002, 9)
    x = net.product("Gemm", x, 0.002, (24, 20), 0, transB=1)
    x = net.quantize(x, 0.01, -7)
    weights = net.random.integers(-127, 128, (24, outs)).astype(np.int8)
    x = net.node("MatMul", x, net.integers(weights, net.random.uniform(0.002, 0.004, outs).astype(np.float32), 1))
    return net.node("Add", x, net.weights(outs))


def test_products_of_bytes_may_end_in_floats(needs_compiler, tmp_path):
    pytest.importorskip("onnxruntime")
    cases = {}
    for outs in (1, 7):
        net = QuantizedNet()
        cases[outs] = net, [1, 3, 32, 28], bytes_to_floats(net, outs)
    found, pairs = compared(tmp_path, cases, devices=["local-task"])
    for outs, (calls, _) in found.items():
        assert calls["takt_conv2d_i8_f32"] and not calls["takt_conv2d_f32"], outs
    for outs, want, got in pairs:
        assert np.abs(got - want).max() < 1e-5 * max(1, np.ptp(want)), outs


def long_rows(net, inner, is_gemm):
    """A product of rows of so many numbers, with a sum and an activation behind it."""
    if is_gemm:
        x = net.node("Gemm", "x", net.weights(52, inner), net.weights(52), transB=1)
    else:
        x = net.node("Add", net.node("MatMul", "x", net.weights(inner, 52)), net.weights(52))
    return net.node("Relu", x)


def test_rows_of_a_product_may_be_several_pixels_of_channels(needs_compiler, tmp_path):
    """A call has at most 16,384 channels."""
    pytest.importorskip("onnx")
    cases, windows = {}, {(1, 20002): (1, 2), (3, 49155): (1, 5), (2, 3, 20002): (1, 2)}
    for shape in windows:
        net = Net()
        cases[shape] = net, shape, long_rows(net, shape[-1], len(shape) == 2)
    for shape, (_, kernels) in check_together(tmp_path, cases, devices=["local-task"]).items():
        assert [kernel.shape[7:9] for kernel in kernels] == [windows[shape]], shape


def test_rows_of_bytes_may_be_several_pixels_of_channels(needs_compiler, tmp_path):
    pytest.importorskip("onnxruntime")
    cases = {}
    for is_byte in (True, False):
        net = QuantizedNet()
        x = net.product("Gemm", net.quantize("x", 0.03, 3), 0.03, (20, 20002), 0, transB=1)
        cases[is_byte] = net, [2, 20002], net.quantize(x, 0.4, -7) if is_byte else x
    found, pairs = compared(tmp_path, cases, devices=["local-task"])
    assert [found[each][0]["takt_conv2d_i8" if each else "takt_conv2d_i8_f32"] for each in cases] == [1, 1], found
    for is_byte, want, got in pairs:
        assert np.ptp(want) > 10 and np.abs(got - want).max() <= (0.41 if is_byte else 1e-5 * np.ptp(want)), is_byte


def test_few_results_share_a_block(needs_compiler, tmp_path):
    """Results of neighbouring pixels, with a sum and an activation behind them, as bytes, and as floats of bytes."""
    pytest.importorskip("onnxruntime")
    from takt.rewriting import rewriter

    cases = {}
    net = Net()
    x = net.conv("x", 3, 20)
    y = net.node("Add", net.conv(x, 20, 3, kernel=5), net.node("Relu", net.conv(x, 20, 3)))
    cases["floats"] = net, [2, 3, 12, 20], net.node("Sigmoid", y)
    for case, columns in (("bytes", 24), ("odd", 25)):
        net = QuantizedNet()
        x = net.quantize("x", 0.05, 3)
        x = net.quantize(net.product("Conv", x, 0.05, (20, 1, 3, 9), 0, pads=[1, 4, 1, 4]), 0.07, -3)
        y = net.quantize(net.product("Conv", x, 0.07, (3, 20, 3, 3), 0, pads=[1] * 4), 0.09, 2)
        y = net.product("Conv", y, 0.09, (20, 3, 5, 5), 0, pads=[2] * 4)
        z = net.product("Conv", x, 0.07, (1, 20, 1, 5), 0, pads=[0, 2, 0, 2])
        cases[case] = net, [2, 1, 12, columns], net.node("Add", y, z)
    wanted = {"floats": [20, 3 * 5, 3 * 5], "bytes": [20 * 4, 3 * 4, 20 * 4, 12], "odd": [20 * 4, 3 * 5, 20 * 4, 5]}
    for case, (net, shape, result) in cases.items():
        _, kernels = rewriter.rewrite(net.model(shape, result))
        outs = [kernel.shape[6] for kernel in kernels if "conv2d" in kernel.function]
        assert outs == wanted[case], case
    for case, want, got in compared(tmp_path, cases)[1]:
        assert np.unique(want).size > 20, case
        # A byte may be rounded the other way.
        assert np.abs(got - want).max() <= (1e-5 if case == "floats" else 0.02) * np.ptp(want), case


def test_products_of_two_tensors_of_bytes_are_left_as_floats(needs_compiler, tmp_path):
    """Of integers the compiler would make code that takes minutes to compile."""
    from takt.rewriting import rewriter

    pytest.importorskip("onnxruntime")
    net = QuantizedNet()
    x = net.quantize(net.product("Conv", net.quantize("x", 0.03, 3), 0.03, (8, 3, 3, 3), 0, pads=[1] * 4), 0.05, -7)
    left = net.quantize(net.node("Reshape", x, net.constant(np.array([8, 4, 224]))), 0.05, -7)
    right = net.quantize(net.node("Transpose", left, perm=[0, 2, 1]), 0.05, -7)
    path = tmp_path / "net.onnx"
    net.save(path, [1, 3, 32, 28], net.quantize(net.node("MatMul", left, right), 5.0, -100))
    import onnx

    network, kernels = rewriter.rewrite(onnx.load(path))
    makers = {node.output[0]: node for node in network.graph.node}
    product = next(node for node in network.graph.node if node.op_type == "MatMul")
    functions = [kernels[makers[name].attribute[0].i].function for name in product.input]
    assert functions == ["takt_dequantize_f32"] * 2
    artifact = takt.compile(path, cache=tmp_path, recipe="native")
    x = np.random.default_rng(4).standard_normal((1, 3, 32, 28)).astype(np.float32)
    want = expected(path, x)
    got = np.asarray(artifact.load().function()(x))
    assert np.unique(want).size > 3 and np.abs(got - want).max() <= 5.01


def scaled_products(net, kind, shape):
    """What quantize_dynamic() writes, with weights of a shape."""
    is_convolution = kind == "ConvInteger"
    q, scale, zero = (f"{kind}_{part}" for part in ("q", "scale", "zero"))
    x = net.conv("x", 3, 20) if is_convolution else net.node("MatMul", "x", net.weights(28, 40))
    from onnx import TensorProto, helper

    weights = net.constant(net.random.integers(-127, 128, shape).astype(np.int8))
    outs = shape[0 if is_convolution else -1]
    has_scales = kind == "MatMulInteger" and len(shape) == 2
    factors = net.constant(net.random.uniform(0.002, 0.004, outs if has_scales else 1).astype(np.float32))
    net.nodes.append(helper.make_node("DynamicQuantizeLinear", [x], [q, scale, zero]))
    zeros = net.constant(np.zeros(outs if has_scales else (), np.int8))
    window = {"pads": [1] * 4, "group": 20 // shape[1]} if is_convolution else {}
    x = net.node(kind, q, weights, zero, zeros, **window)
    x = net.node("Mul", net.node("Cast", x, to=TensorProto.FLOAT), net.node("Mul", scale, factors))
    return net.node("Add", x, net.weights(*((1, outs, 1, 1) if is_convolution else (outs,))))


def test_scales_may_be_found_in_each_call(needs_compiler, tmp_path):
    """There is a call for the product of bytes, or one for the bytes, which others compute with."""
    pytest.importorskip("onnxruntime")
    shape, models = [1, 3, 32, 28], {}
    cases = {"product": ("MatMulInteger", (40, 24)), "image": ("ConvInteger", (24, 20, 3, 3)),
             "depthwise": ("ConvInteger", (20, 1, 3, 3)), "batch": ("MatMulInteger", (3, 40, 24))}
    for case, given in cases.items():
        net = Net()
        models[case] = net.model(shape, scaled_products(net, *given))
        net.save(tmp_path / f"{case}.onnx", shape, models[case].graph.output[0].name)
    whole, found = compiled(tmp_path, models)
    for case, (calls, _) in found.items():
        assert calls["takt_range_f32"] == calls["takt_quantize_i8"] == 1, case
        assert calls["takt_conv2d_i8_f32"] == (case in ("product", "image")), case
    for x in (np.random.default_rng(4).standard_normal(shape), np.full(shape, 1e-3), np.zeros(shape)):
        x = x.astype(np.float32)
        for case, got in whole.call({case: [x] for case in models}).items():
            want = expected(tmp_path / f"{case}.onnx", x)
            # A value between two steps may be rounded the other way.
            assert np.abs(got - want).max() <= 2e-3 * max(1, np.ptp(want)), case


def test_positive_part_of_a_sum_of_bytes(needs_compiler, tmp_path):
    pytest.importorskip("onnxruntime")
    cases = {}
    for zero_point in (-128, -100):
        net = QuantizedNet()
        x = net.quantize("x", 0.03, 3)
        y = net.quantize(net.product("Conv", x, 0.03, (24, 3, 3, 3), 0), 0.05, 5)
        z = net.quantize(net.product("Conv", x, 0.03, (24, 3, 3, 3), 0), 0.04, -7)
        sums = net.node("Relu", net.node("Sum", y, z))
        cases[zero_point] = net, [1, 3, 12, 10], net.quantize(sums, 0.05, zero_point)
    found, pairs = compared(tmp_path, cases, devices=["local-task"])
    for zero_point, (calls, _) in found.items():
        # Only the least byte stands for all that is negative.
        assert calls["takt_add_i8"] == (zero_point == -128), zero_point
    for zero_point, want, got in pairs:
        assert np.unique(want).size > 3 and want.min() == 0, zero_point
        assert np.abs(got - want).max() <= 1.01 * 0.05, zero_point


def test_bytes_have_fours_of_channels(needs_compiler, tmp_path):
    pytest.importorskip("onnxruntime")
    cases = {}
    for channels, wide, kernel, pads, strides in (
            (6, 8, (3, 3), [1] * 4, [1, 1]), (9, 12, (5, 4), [2, 0, 1, 3], [3, 2]), (2, 4, (2, 3), [0] * 4, [1, 2]),
            (18, 20, (1, 7), [0, 3, 0, 3], [1, 1]), (6, 6, (1, 1), [0] * 4, [1, 1])):
        net = QuantizedNet()
        x = net.product("Conv", net.quantize("x", 0.03, 3), 0.03, (10, channels, *kernel), 0, pads=pads,
                        strides=strides)
        x = net.quantize(net.node("Relu", x), 0.05, -100)
        x = net.product("Conv", x, 0.05, (12, 10, 3, 3), 0, pads=[1] * 4)
        cases[channels, wide, *kernel] = net, [2, channels, 11, 13], net.quantize(x, 0.06, 5)
    found, pairs = compared(tmp_path, cases, devices=["local-sync"])
    for case, (_, kernels) in found.items():
        assert [each.shape[3] for each in kernels if each.function == "takt_conv2d_i8"] == [case[1], 12], case
    for case, want, got in pairs:
        assert np.unique(want).size > 20, case
        assert np.abs(got - want).max() <= 1.01 * 0.06, case


def test_channels_are_joined_where_they_are(needs_compiler, tmp_path):
    pytest.importorskip("onnx")
    net = Net()
    a = net.node("Relu", net.conv("x", 3, 32))
    b = net.node("Relu", net.conv(a, 32, 32))
    c = net.node("Relu", net.conv(a, 32, 16, kernel=1))
    x = net.node("Concat", net.node("Add", a, b), c, axis=1)
    path = tmp_path / "net.onnx"
    net.save(path, [1, 3, 32, 28], net.conv(x, 48, 8))
    artifact = takt.compile(path, cache=tmp_path, recipe="native")
    transposes = re.findall(
        rb"dispatch_[0-9]+_[a-z_]*transpose_[0-9x]+_f32", artifact.path.read_bytes())
    # The input and the result have their channels first.
    assert len(set(transposes)) == 2, transposes


def test_elementwise_operators_keep_the_channels_last(needs_compiler, tmp_path):
    pytest.importorskip("onnxruntime")
    net = Net()
    a = net.node("PRelu", net.conv("x", 3, 16), net.weights(16, 1, 1))
    b = net.node("Sum", a, net.node("Selu", a), net.node("ThresholdedRelu", a, alpha=0.5))
    is_more = net.node("Not", net.node("LessOrEqual", a, net.node("Sin", b)))
    c = net.node("Where", is_more, a, net.node("Mean", a, b))
    d = net.node("Cast", net.node("Cast", is_more, to=7), to=1)
    path = tmp_path / "net.onnx"
    net.save(path, [1, 3, 16, 12], net.conv(net.node("Mod", net.node("Add", c, d), net.constant(np.float32(3)), fmod=1),
                                            16, 8))
    artifact = takt.compile(path, cache=tmp_path, recipe="native")
    transposes = re.findall(rb"dispatch_[0-9]+_[a-z_]*transpose_[0-9x]+_f32", artifact.path.read_bytes())
    assert len(set(transposes)) == 2, transposes  # As above.
    x = np.random.default_rng(4).standard_normal((1, 3, 16, 12)).astype(np.float32)
    np.testing.assert_allclose(artifact.load().function()(x), expected(path, x), atol=1e-4)


def test_normalizations_before_convolutions_are_calls(needs_compiler, tmp_path):
    """As in DenseNet, with an activation or a sum behind them. The first has more than one reader before it."""
    pytest.importorskip("onnxruntime")
    net = Net()

    def normalize(x, channels):
        parts = [net.constant(net.random.uniform(0.5, 2, channels).astype(np.float32)) for _ in range(4)]
        return net.node("BatchNormalization", x, *parts, epsilon=1e-3)

    x = net.conv("x", 3, 20)
    y = net.conv(net.node("Relu", normalize(x, 20)), 20, 20)
    z = net.conv(net.node("Add", normalize(net.node("Concat", x, y, axis=1), 40), net.conv(y, 20, 40)), 40, 8)
    alone = normalize(net.conv(z, 8, 1), 1)  # One channel; it goes into the convolution's weights.
    found = check_together(tmp_path, {"net": (net, [2, 3, 9, 7], net.node("Concat", z, alone, axis=1))})
    assert found["net"][0]["takt_depthwise2d_f32"] == 2, found


@pytest.mark.parametrize("is_of_bytes", [False, True])
def test_normalizations_of_bytes_are_left_to_the_compiler(is_of_bytes):
    pytest.importorskip("onnx")
    net = QuantizedNet()
    x = net.product("Conv", net.quantize("x", 0.03, 3), 0.03, (8, 3, 3, 3), 0, pads=[1] * 4)
    x = net.node("MaxPool", x, kernel_shape=[3, 3])
    parts = [net.constant(net.random.uniform(0.5, 2, 8).astype(np.float32)) for _ in range(4)]
    y = net.node("BatchNormalization", net.quantize(x, 0.05, -7) if is_of_bytes else x, *parts)
    calls, _ = functions(net.model([1, 3, 9, 7], y))
    assert calls["takt_depthwise2d_f32"] == (0 if is_of_bytes else 1), calls


def test_normalizations_between_bytes_are_depthwise_convolutions(needs_compiler, tmp_path):
    """Factors have any size and sign, and of one channel a shift alone is left."""
    pytest.importorskip("onnxruntime")
    cases = {}
    for end in ("", "Relu"):
        net = QuantizedNet()
        x = net.product("Conv", net.quantize("x", 0.03, 3), 0.03, (20, 3, 3, 3), 0, pads=[1] * 4)
        x = net.quantize(x, 0.05, -7)
        x = net.quantize(net.node("MaxPool", x, kernel_shape=[3, 3]), 0.05, -7)
        factor, shift = (net.random.uniform(-2, 2, 20).astype(np.float32) for _ in range(2))
        factor[:3] = 0, 1e-20, 30
        parts = [net.constant(each) for each in (factor, shift, np.full(20, 0.1, np.float32), np.ones(20, np.float32))]
        x = net.node("BatchNormalization", x, *parts)
        x = net.quantize(net.node(end, x) if end else x, 0.06, -128 if end else 9)
        cases[end] = net, [2, 3, 12, 14], x
    found, pairs = compared(tmp_path, cases)
    for end, (calls, _) in found.items():
        assert calls["takt_depthwise2d_i8"] == 1, end
    for end, want, got in pairs:
        assert np.unique(want).size > 20, end
        assert np.abs(got - want).max() <= 0.06 * 1.01 and (got != want).mean() < 0.01, end  # A step, here and there.


def test_pixels_are_in_their_places_before_channels_come_first(needs_compiler, tmp_path):
    """The compiler would do both at once, a number at a time."""
    pytest.importorskip("onnx")
    from takt.networks import canonical
    from takt.rewriting import rewriter

    cases = {}
    for is_result in (True, False):
        net = Net()
        y = net.node("ConvTranspose", net.conv("x", 3, 16), net.weights(16, 5, 2, 2), strides=[2, 2])
        cases[is_result] = net, [1, 3, 6, 8], y if is_result else net.conv(y, 5, 4)
        network, _ = rewriter.rewrite(canonical.reduce(net.model(*cases[is_result][1:])))
        assert any(node.op_type == "TaktBarrier" for node in network.graph.node) == is_result
    _, pairs = compared(tmp_path, cases, devices=["local-task"])
    for is_result, want, got in pairs:
        np.testing.assert_allclose(got, want, atol=1e-4, err_msg=f"a result: {is_result}")


def test_what_depends_on_one_tensor_becomes_a_table(needs_compiler, tmp_path):
    pytest.importorskip("onnxruntime")
    net = QuantizedNet()
    x = net.quantize(net.product("Conv", net.quantize("x", 0.03, 3), 0.03, (24, 3, 3, 3), 0), 0.05, 5)
    gate = net.quantize(net.node("Sigmoid", x), 1 / 256, -128)
    x = net.quantize(net.node("Mul", x, gate), 0.04, -20)
    half = net.constant(np.array([0.5], np.float32))
    x = net.quantize(net.node("Mul", net.node("Tanh", x), half), 0.01, 7)
    path = tmp_path / "net.onnx"
    net.save(path, [1, 3, 130, 30], net.quantize(net.node("Neg", x), 0.02, 1))
    artifact = takt.compile(path, cache=tmp_path, recipe="native")
    assert artifact.recipe.name == "native", artifact.report
    assert b"takt_map_i8" in artifact.path.read_bytes()
    x = np.random.default_rng(5).standard_normal((1, 3, 130, 30)).astype(np.float32)
    want = expected(path, x)
    got = np.asarray(artifact.load(device="local-sync").function()(x))
    assert np.unique(want).size > 20
    assert np.abs(got - want).max() <= 2.01 * 0.02  # Steps of the last scale.


def test_weights_are_packed_in_blocks_and_fours():
    from takt.rewriting.packing import pack_bytes

    weights = np.arange(20 * 5 * 1 * 2, dtype=np.int64).astype(np.int8).reshape(20, 5, 1, 2)
    packed = pack_bytes(weights, 1, False)
    assert packed.shape == (1, 2, 1, 2, 2, 16, 4)
    assert packed[0, 1, 0, 1, 1, 3, 0] == weights[19, 4, 0, 1]
    assert not packed[0, 1, 0, 1, 1, 3, 1:].any()  # There is no sixth input channel,
    assert not packed[0, 1, :, :, :, 4:].any()  # and no 21st output channel.


def test_inputs_and_results_keep_their_names(needs_compiler, tmp_path):
    pytest.importorskip("onnx")
    net = Net()
    path = tmp_path / "net.onnx"
    result = net.conv("x", 3, 16)
    net.save(path, [1, 3, 16, 16], result)
    artifact = takt.compile(path, cache=tmp_path, recipe="native", deadline=0.25)
    assert artifact.recipe.name == "native", artifact.report
    function = artifact.load().net
    assert [value["name"] for value in function.inputs] == ["x"]
    assert [value["name"] for value in function.outputs] == [result]
    assert function.attribute("takt.deadline_ns") == "250000000"


def test_a_network_without_products_is_compiled_as_before(needs_compiler, tmp_path):
    pytest.importorskip("onnx")
    net = Net()
    path = tmp_path / "net.onnx"
    net.save(path, [1, 3, 8, 8], net.node("Relu", net.node("Tanh", "x")))
    before = takt.compile(path, cache=tmp_path, recipe="channels_last")
    after = takt.compile(path, cache=tmp_path, recipe="native")
    assert after.path == before.path
    assert "nothing for Takt's kernels" in after.report["failed"]["native"]


@pytest.mark.parametrize("size, is_native", [(64, True), (8, False)])
def test_the_default_is_native_where_it_pays(needs_compiler, tmp_path, size, is_native):
    pytest.importorskip("onnx")
    net = Net()
    path = tmp_path / "net.onnx"
    net.save(path, [1, 3, size, size], net.node("Sigmoid", net.conv("x", 3, 1)))
    artifact = takt.compile(path, cache=tmp_path)
    assert (artifact.recipe.name == "native") == is_native
    assert "failed" not in artifact.report


@pytest.mark.parametrize("size, recipe", [(40, "native"), (6, "untiled")])
def test_pools_alone_are_calls_where_it_pays(needs_compiler, tmp_path, size, recipe):
    pytest.importorskip("onnx")
    net = Net()
    path = tmp_path / "net.onnx"
    net.save(path, [1, 2, size, size], net.node("MaxPool", "x", kernel_shape=[3, 3], pads=[1] * 4))
    assert takt.compile(path, cache=tmp_path).recipe.name == recipe


def test_rows_may_be_long(needs_compiler, tmp_path):
    """Sounds have such rows, and the words of a language."""
    pytest.importorskip("onnx")
    net, long = Net(), 70_000
    x = net.node("Relu", net.node("Conv", "x", net.weights(16, 1, 10), strides=[2]))
    x = net.node("Conv", x, net.weights(16, 1, 3), group=16)
    cases = {"sound": (net, [1, 1, 2 * long], net.node("AveragePool", x, kernel_shape=[5], strides=[5]))}
    net = Net()
    cases["rows"] = net, [long, 16], net.node("MatMul", "x", net.weights(16, 4))
    net = Net()
    cases["words"] = net, [3, 16], net.node("MatMul", "x", net.weights(16, long))
    net = QuantizedNet()
    x = net.product("Conv", net.quantize("x", 0.03, 9), 0.03, (16, 1, 5), 0)
    cases["bytes"] = net, [1, 1, long], net.quantize(x, 0.1, 5)
    found, pairs = compared(tmp_path, cases, devices=["local-task"])
    assert all(kernels for _, kernels in found.values())
    for case, want, got in pairs:
        assert np.abs(got - want).max() <= (0.101 if case == "bytes" else 1e-5 * np.ptp(want)), case


def test_taps_outside_the_image_are_left_out(needs_compiler, tmp_path):
    pytest.importorskip("onnx")
    cases, left = {}, {(12, 12): (3, 3), (20, 20): (1, 1), (20, 17): (2, 2)}
    for dilation, pad in left:
        net = Net()
        x = net.conv("x", 3, 24)
        result = net.conv(x, 24, 20, dilations=[dilation] * 2, pads=[pad] * 4,
                          strides=[2, 1] if dilation == 12 else [1, 1])
        cases[dilation, pad] = net, [1, 3, 16, 16], result
    for case, (_, kernels) in check_together(tmp_path, cases, devices=["local-task"]).items():
        assert kernels[1].shape[7:9] == left[case], case


def test_patches_are_rows_of_a_product(needs_compiler, tmp_path):
    pytest.importorskip("onnx")
    cases, products = {}, {}
    for shape, dilations, count in (
            ((1, 3, 48, 24), [1, 1], 1), ((2, 3, 55, 26), [1, 1], 1),
            ((1, 3, 36, 36), [2, 2], 2)):  # Two parts of the taps.
        net = Net()
        cases[shape] = net, shape, net.conv("x", 3, 20, 12, pads=[0] * 4, strides=[12, 12], dilations=dilations)
        products[shape] = count
    for shape, (_, kernels) in check_together(tmp_path, cases, devices=["local-task"]).items():
        assert len(kernels) == products[shape], shape


def test_many_taps_are_few_of_patches(needs_compiler, tmp_path):
    pytest.importorskip("onnx")
    cases = {}
    for shape, kernel, strides, pads in (
            ((1, 3, 64, 56), 16, [8, 8], [0, 0, 0, 0]), ((2, 3, 61, 50), 16, [8, 8], [3, 4, 5, 6]),
            ((1, 5, 40, 33), 13, [2, 3], [6, 0, 6, 1]), ((1, 2, 30, 40), 12, [1, 6], [0, 0, 0, 0]),
            ((1, 2, 14, 14), 20, [4, 4], [5, 5, 5, 5])):
        net = Net()
        cases[shape] = net, shape, net.conv("x", shape[1], 20, kernel, pads=pads, strides=strides)
    for shape, (_, kernels) in check_together(tmp_path, cases, devices=["local-task"]).items():
        assert len(kernels) == 1, shape


def test_patches_of_bytes_stay_bytes(needs_compiler, tmp_path):
    pytest.importorskip("onnxruntime")
    cases = {}
    for shape, kernel, strides, pads in (
            ((1, 3, 48, 24), 12, [12, 12], [0, 0, 0, 0]), ((2, 3, 55, 26), 12, [12, 12], [0, 0, 0, 0]),
            ((1, 3, 61, 50), 16, [8, 8], [3, 4, 5, 6])):
        for ends_in_bytes in (False, True):
            net = QuantizedNet()
            x = net.product("Conv", net.quantize("x", 0.03, 9), 0.03, (20, 3, kernel, kernel), 0, strides=strides,
                            pads=pads)
            cases[shape, ends_in_bytes] = net, shape, net.quantize(x, 0.1, 5) if ends_in_bytes else x
    found, pairs = compared(tmp_path, cases, devices=["local-task"])
    for (shape, ends_in_bytes), (calls, _) in found.items():
        assert list(calls) == ["takt_conv2d_i8" if ends_in_bytes else "takt_conv2d_i8_f32"], shape
    for (shape, ends_in_bytes), want, got in pairs:
        assert np.unique(want).size > 20, shape
        assert np.abs(got - want).max() <= (0.101 if ends_in_bytes else 1e-5 * np.ptp(want)), shape


def test_volumes_are_convolved_along_their_images(needs_compiler, tmp_path):
    """As a convolution of rows, which ends with the activation and the sum behind it."""
    pytest.importorskip("onnx")
    from takt.porting import porter
    from takt.rewriting import rewriter

    cases = {}
    for count in (1, 2):
        net, shape, flat = Net(), (count, 3, 5, 12, 10), {"pads": [0, 1, 1, 0, 1, 1]}
        x = net.node("Relu", net.node("Conv", "x", net.weights(16, 3, 1, 3, 3), net.weights(16), **flat))
        y = net.node("Conv", x, net.weights(16, 16, 3, 1, 1), net.weights(16), pads=[1, 0, 0, 1, 0, 0])
        y = net.node("Conv", net.node("Relu", y), net.weights(16, 16, 3, 1, 1), pads=[1, 0, 0, 1, 0, 0])
        y = net.node("Relu", net.node("Add", x, y))
        cases[count] = net, shape, net.node("Conv", y, net.weights(7, 16, 2, 1, 1), strides=[2, 1, 1])
        network, kernels = rewriter.rewrite(porter.port(net.model(*cases[count][1:])))
        assert len(kernels) == 4, count
        assert {node.op_type for node in network.graph.node} == {"TaktKernel", "Transpose", "Reshape"}, count
    check_together(tmp_path, cases, devices=["local-task"])


def test_constant_nodes_keep_their_rank(needs_compiler, tmp_path):
    """PyTorch writes numbers as nodes, and shapes that it has inferred."""
    onnx = pytest.importorskip("onnx")
    net = Net()
    path = tmp_path / "net.onnx"
    half = net.node("Constant", value=onnx.numpy_helper.from_array(np.float32(0.5)))
    x = net.node("Mul", net.conv("x", 3, 16), half)
    net.save(path, [1, 3, 32, 32], net.node("Softmax", x, axis=1))
    artifact = takt.compile(path, cache=tmp_path, recipe="native")
    assert artifact.recipe.name == "native", artifact.report


def test_a_network_that_cannot_be_rewritten_is_compiled_as_before(
        needs_compiler, tmp_path, monkeypatch):
    pytest.importorskip("onnx")
    from takt.rewriting import rewriter

    def refuse(*_):
        raise TypeError("no such thing")

    monkeypatch.setattr(rewriter, "rewrite", refuse)
    net = Net()
    path = tmp_path / "net.onnx"
    net.save(path, [1, 3, 16, 16], net.conv("x", 3, 16))
    artifact = takt.compile(path, cache=tmp_path)
    assert artifact.recipe.name != "native"
    assert "TypeError: no such thing" in artifact.report["failed"]["native"]


def test_a_subgraph_may_read_what_calls_compute(tmp_path):
    """The tensor is there with the channels first, and no call has taken it in."""
    onnx = pytest.importorskip("onnx")
    from onnx import helper
    from takt.rewriting import rewriter

    def branch(name, kind):
        result = helper.make_tensor_value_info(f"{name}_y", onnx.TensorProto.FLOAT, None)
        return helper.make_graph([helper.make_node(kind, [x], [result.name])], name, [], [result])

    net = Net()
    x = net.conv("x", 3, 16)
    positive = net.node("Relu", x)
    some = net.node("ReduceMax", "x", keepdims=0)
    is_large = net.node("Greater", some, net.constant(np.float32(1)))
    chosen = net.node("If", is_large, then_branch=branch("then", "Neg"), else_branch=branch("else", "Abs"))
    path = tmp_path / "net.onnx"
    net.save(path, [1, 3, 16, 16], net.node("Add", positive, chosen))
    network, kernels = rewriter.rewrite(onnx.load(path))
    made = {name for node in network.graph.node for name in node.output}
    assert kernels and x in made


def test_the_rest_may_be_compiled_otherwise(needs_compiler, tmp_path):
    """If the compiler fails with the flags of `native`, the calls stay."""
    pytest.importorskip("onnx")
    import dataclasses

    net = Net()
    path = tmp_path / "net.onnx"
    net.save(path, [1, 3, 16, 16], net.conv("x", 3, 16))
    wrong = dataclasses.replace(recipes.RECIPES["native"], flags=("--no-such-flag",))
    artifact = takt.compile(path, cache=tmp_path, recipe=wrong)
    assert artifact.recipe.name == "native_plain" and list(artifact.report["failed"]) == ["native"]
    assert b"takt_conv2d_f32" in artifact.path.read_bytes()


def test_programs_that_are_no_networks_are_not_rewritten(needs_compiler, tmp_path):
    mlir = """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = arith.addf %x, %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }"""
    artifact = takt.compile(mlir, cache=tmp_path, recipe="native")
    assert artifact.recipe.name == "channels_last"
    assert artifact.load().f([1, 2, 3, 4]).tolist() == [2, 4, 6, 8]


def test_other_architectures_are_compiled(needs_compiler, tmp_path):
    pytest.importorskip("onnx")
    net = Net()
    path = tmp_path / "net.onnx"
    net.save(path, [1, 3, 16, 16], residual_block(net))
    for target in ("x86_64", "aarch64:cortex-a76", "riscv64"):
        artifact = takt.compile(path, cache=tmp_path, recipe="native", target=target)
        assert artifact.recipe.name == "native", artifact.report


def test_the_recipe_is_written_and_read(tmp_path):
    path = tmp_path / "native.json"
    path.write_text(recipes.RECIPES["native"].to_json())
    assert recipes.find(path, is_quantized=False) == recipes.RECIPES["native"]


def test_softmax_of_numbers_that_lie_apart(needs_compiler, tmp_path):
    cases = {}
    for count in (40, 8):
        net = Net()
        x = net.node("MatMul", "x", net.weights(24, 20))
        weights = net.node("Transpose", net.node("Softmax", x, axis=1), perm=[0, 2, 1])
        cases[count] = net, [4, count, 24], net.node("MatMul", weights, x)
    found, pairs = compared(tmp_path, cases, devices=["local-sync"])
    for count, (calls, _) in found.items():
        assert calls["takt_softmax_f32"] == (count == 40), count
    for count, want, got in pairs:
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5, err_msg=str(count))


def test_large_windows_are_those_of_columns_and_rows(needs_compiler, tmp_path):
    cases = {}
    for channels, attributes in (
            (1, {"kernel_shape": [9, 9], "pads": [4] * 4}),
            (3, {"kernel_shape": [3, 5], "pads": [1, 2, 0, 1], "strides": [2, 1]}),
            (5, {"kernel_shape": [3, 3], "dilations": [2, 1], "strides": [1, 3]}),
            (20, {"kernel_shape": [5, 5], "pads": [2] * 4}),
            (20, {"kernel_shape": [7, 5], "pads": [3, 2, 1, 0], "strides": [3, 2], "dilations": [1, 2]})):
        net = Net()
        x = net.node("Relu", net.conv("x", 4, channels, pads=[1] * 4))
        cases[f"{channels} {attributes}"] = net, [2, 4, 19, 23], net.node("MaxPool", x, **attributes)
    found, pairs = compared(tmp_path, cases, devices=["local-sync"])
    for case, (_, kernels) in found.items():
        assert sum(kernel.function == "takt_max_pool2d_f32" for kernel in kernels) == 2, case
    for case, want, got in pairs:
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5, err_msg=case)


def test_means_of_few_channels_are_those_of_columns_and_rows(needs_compiler, tmp_path):
    cases = {}
    for count, channels, attributes in (
            (2, 1, {"kernel_shape": [9, 7], "pads": [4, 3, 4, 3]}),
            (2, 3, {"kernel_shape": [3, 5], "pads": [1, 2, 0, 1], "count_include_pad": 1}),
            (2, 2, {"kernel_shape": [4, 4]}),
            (1, 3, {"kernel_shape": [3, 3], "strides": [2, 2]}),
            (1, 20, {"kernel_shape": [5, 5], "pads": [2] * 4})):
        net = Net()
        x = net.node("Relu", net.conv("x", 4, channels, pads=[1] * 4))
        cases[f"{count} {channels} {attributes}"] = net, [2, 4, 19, 23], net.node("AveragePool", x, **attributes)
    found, pairs = compared(tmp_path, cases, devices=["local-sync"])
    for case, (_, kernels) in found.items():
        assert sum(kernel.function == "takt_mean_pool2d_f32" for kernel in kernels) == int(case.split()[0]), case
    for case, want, got in pairs:
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5, err_msg=case)
