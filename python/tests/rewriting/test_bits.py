"""Products with weights of four and of eight bits."""

import numpy as np
import pytest

import takt
from test_native import Net, check_together
from test_opened import results

onnx = pytest.importorskip("onnx")

from takt.rewriting import bits, rewriter  # noqa: E402

RANDOM = np.random.default_rng(5)


def of_bits(inputs, columns, block, zero=8, low=0, high=15):
    """Floats that codes from `low` to `high` mean, with scales of both signs; `zero` None: one for each block."""
    codes = RANDOM.integers(low, high, (inputs, columns), endpoint=True)
    shape = inputs // block, columns
    scales = RANDOM.uniform(-0.1, 0.1, shape).astype(np.float32)
    zeros = RANDOM.integers(0, 15, shape, endpoint=True) if zero is None else np.full(shape, zero)
    return ((codes - zeros.repeat(block, 0)).astype(np.float32) * scales.repeat(block, 0)).astype(np.float32)


def meant(found):
    block = len(found.codes) // len(found.scales)
    zeros = found.zeros if found.zeros.size == 1 else found.zeros.repeat(block, 0)
    return (found.codes - zeros.astype(np.float64)) * found.scales.repeat(block, 0)


@pytest.mark.parametrize("zero, low, high", [(8, 0, 15), (8, 1, 15), (8, 6, 10), (None, 0, 15), (0, 0, 15), (7, 6, 6)])
@pytest.mark.parametrize("inputs, columns, block", [(16, 16, 16), (96, 32, 32), (512, 1040, 128), (2304, 16, 256)])
def test_codes_of_blocks_are_found(inputs, columns, block, zero, low, high):
    weights = of_bits(inputs, columns, block, zero, low, high)
    found = bits.find(weights)
    assert found.codes.dtype == np.uint8 and found.codes.max() < 16
    assert len(found.scales) <= inputs // block or high - low < 15
    assert found.zeros.size == (found.scales.size if zero in (None, 0) else 1)
    assert np.abs(meant(found) - weights).max() <= 3e-7 * np.abs(weights).max()


@pytest.mark.parametrize("zero, low, high", [(128, 0, 255), (128, 1, 255), (128, 9, 250), (100, 0, 255)])
def test_codes_of_eight_bits_are_two_of_four(zero, low, high):
    weights = of_bits(96, 32, 32, zero, low, high)
    assert bits.find(weights) is None
    found = bits.find(weights, 256)
    assert found.zeros.size == (1 if zero == 128 else found.scales.size)
    assert np.abs(meant(found) - weights).max() <= 3e-7 * np.abs(weights).max()
    halves = found.halves()
    assert halves.codes.max() < 16 and halves.codes.shape == (192, 32)
    upper, lower = np.split(meant(halves), 2)
    assert np.abs(upper + lower - weights).max() <= 1e-6 * np.abs(weights).max()


def test_other_weights_have_no_codes():
    weights = of_bits(64, 32, 32)
    assert bits.find(weights) is not None
    weights[40, 7] += 1e-3
    assert bits.find(weights) is None
    assert bits.find(RANDOM.standard_normal((64, 32)).astype(np.float32)) is None
    assert bits.find(RANDOM.integers(-16, 16, (64, 32)).astype(np.float32)) is None
    assert bits.find(of_bits(24, 16, 8)) is None
    for bad in (np.nan, np.inf):
        weights = of_bits(64, 32, 32)
        weights[3, 3] = bad
        assert bits.find(weights) is None


def test_sums_of_inputs_leave_nothing_where_weights_are_zeros():
    assert bits.find(np.eye(64, dtype=np.float32)) is None
    weights = of_bits(64, 32, 32)
    weights[:32, 5] = 0
    found = bits.find(weights)
    assert found.scales[0, 5] == 0 and (meant(found) == 0)[:32, 5].all()


def test_words_have_the_order_of_the_kernel():
    found = bits.find(of_bits(64, 48, 16, None))
    words, scales, zeros = bits.pack(found)
    assert (words.shape, scales.shape, zeros.shape) == ((3, 8, 16), (3, 4, 16), (3, 4, 16))
    for k, n in ((0, 0), (5, 17), (63, 47), (30, 20)):
        word = int(words[n // 16, k // 8, n % 16]) >> (k % 4 * 8 + k % 8 // 4 * 4)
        assert word & 15 == found.codes[k, n]
        assert scales[n // 16, k // 16, n % 16] == found.scales[k // 16, n]
        assert zeros[n // 16, k // 16, n % 16] == found.zeros[k // 16, n]


def layered(net, x):
    """Products with a bias, with a zero for each block, and of a Gemm."""
    x = net.node("Add", net.node("MatMul", x, net.constant(of_bits(64, 96, 32))), net.weights(96))
    x = net.node("MatMul", net.node("Tanh", x), net.constant(of_bits(96, 128, 16, None)))
    return net.node("MatMul", net.node("Relu", x), net.constant(of_bits(128, 32, 128)))


def test_products_of_bits_agree(needs_compiler, tmp_path):
    cases = {}
    for name, shape in {"row": [1, 64], "rows": [3, 13, 64]}.items():
        net = Net()
        cases[name] = net, shape, layered(net, "x")
    net = Net()
    x = net.node("Gemm", "x", net.constant(of_bits(64, 48, 32).T.copy()), net.weights(48), transB=1)
    cases["gemm"] = net, [37, 64], x
    net = Net()
    x = net.node("MatMul", "x", net.constant(of_bits(64, 299, 32, None)))
    cases["vocabulary"] = net, [2, 5, 64], net.node("Relu", net.node("Add", x, net.weights(299)))
    counts = {"row": 3, "rows": 3, "gemm": 1, "vocabulary": 1}
    for name, (calls, _) in check_together(tmp_path, cases).items():
        assert calls == {"takt_product_i4_f32": counts[name]}, name


def test_products_of_bits_of_open_rows_agree(needs_compiler, tmp_path):
    net = Net()
    result = layered(net, "x")
    sizes = [(1, 1, 64), (2, 1, 64), (3, 50, 64)]
    for artifact, got, want in results(tmp_path, net, ["n", "s", 64], result, sizes, "native"):
        assert artifact.recipe.name == "native", artifact.report
        assert got.shape == want.shape and np.abs(got - want).max() <= 1e-5 * np.ptp(want)
    _, kernels = rewriter.rewrite(net.model(["n", "s", 64], result))
    assert [kernel.function for kernel in kernels] == ["takt_product_i4_f32"] * 3


def test_few_columns_of_no_whole_group_stay_floats():
    net = Net()
    result = net.node("MatMul", "x", net.constant(of_bits(64, 24, 32)))
    _, kernels = rewriter.rewrite(net.model([300, 64], result))
    assert [kernel.function for kernel in kernels] == ["takt_conv2d_f32"]


def of_level(level, random, bits=4, rows=5):
    from onnx import TensorProto, helper, numpy_helper

    node = helper.make_node("MatMulNBits", ["x", "w", "s"], ["y"], domain="com.microsoft", K=64, N=32, bits=bits,
                            block_size=32, **({} if level is None else {"accuracy_level": level}))
    weights = {"w": random.integers(0, 256, (32, 2, 4 * bits), np.uint8), "s": random.uniform(0.1, 1, 64).astype(np.float32)}
    graph = helper.make_graph(
        [node], "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [rows, 32])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


@pytest.mark.parametrize("bits", [4, 8])
def test_inputs_are_bytes_where_the_network_says_so(needs_compiler, tmp_path, bits):
    """As in ONNX Runtime, whose results of the two levels are some hundredths apart."""
    runtime = pytest.importorskip("onnxruntime")
    x = np.random.default_rng(6).standard_normal((5, 64)).astype(np.float32)
    found = {}
    for level in (None, 4):
        model = of_level(level, np.random.default_rng(7), bits)
        path = tmp_path / f"net{level}.onnx"
        onnx.save(model, path)
        artifact = takt.compile(path, cache=tmp_path, recipe="native")
        got = np.asarray(artifact.load(device="local-sync").function()(x))
        want = runtime.InferenceSession(path).run(None, {"x": x})[0]
        assert np.abs(got - want).max() <= 1e-5 * np.ptp(want), level
        found[level] = got
    assert np.abs(found[None] - found[4]).max() > 1e-3 * np.ptp(found[4])


@pytest.mark.parametrize("bits, level, rows, is_call", [
    (4, None, 300, True), (8, None, 4, True), (8, None, 5, False), (8, 4, 300, True)])
def test_few_rows_or_bytes_read_weights_of_eight_bits(needs_compiler, tmp_path, bits, level, rows, is_call):
    onnx.save(of_level(level, np.random.default_rng(7), bits, rows), tmp_path / "net.onnx")
    artifact = takt.compile(tmp_path / "net.onnx", cache=tmp_path, recipe="native")
    assert (b"takt_product_i4_f32" in artifact.path.read_bytes()) == is_call
