"""Attention and recurrent layers by Takt's own kernels."""

import numpy as np
import pytest

import takt
from test_native import Net, QuantizedNet, expected

ROWS, HEADS, SIZE = 21, 3, 8


def check(tmp_path, net, shape, result, imports, tolerance, recipe="native"):
    path = tmp_path / "net.onnx"
    net.save(path, shape, result)
    artifact = takt.compile(path, cache=tmp_path, recipe=recipe)
    assert artifact.recipe.name == recipe, artifact.report
    assert imports in artifact.path.read_bytes()
    x = np.random.default_rng(4).standard_normal(shape).astype(np.float32)
    want = expected(path, x)
    for device in ("local-sync", "local-task"):
        got = np.asarray(artifact.load(device=device).function()(x))
        assert got.shape == want.shape and np.unique(want).size > 20
        assert np.abs(got - want).max() <= tolerance * np.ptp(want)


def heads(net, x, perm, rank):
    """Splits rows of three heads, with or without a batch."""
    shape = [1, ROWS, HEADS, SIZE] if rank == 4 else [ROWS, HEADS, SIZE]
    split = net.node("Reshape", x, net.constant(np.array(shape)))
    axes = perm if rank == 4 else [axis - 1 for axis in perm[1:]]
    return net.node("Transpose", split, perm=axes)


def attention(net, how, rank, added_to=lambda scores: scores):
    """Self-attention; how: where the scale is, and how keys are turned."""
    width = HEADS * SIZE
    q, k, v = (net.node("MatMul", "x", net.weights(width, width)) for _ in range(3))
    q, v = heads(net, q, [0, 2, 1, 3], rank), heads(net, v, [0, 2, 1, 3], rank)
    if how == "turned twice":
        k = heads(net, k, [0, 2, 1, 3], rank)
        k = net.node("Transpose", k, perm=[0, 1, 3, 2] if rank == 4 else [0, 2, 1])
    else:
        k = heads(net, k, [0, 2, 3, 1], rank)
    if how == "scaled before":
        q, k = (net.node("Mul", each, net.constant(np.float32(SIZE**-0.25))) for each in (q, k))
    scores = net.node("MatMul", q, k)
    if how == "divided":
        scores = net.node("Div", scores, net.constant(np.float32(SIZE**0.5)))
    elif how == "scaled":
        scores = net.node("Mul", net.constant(np.float32(SIZE**-0.5)), scores)
    scores = added_to(scores)
    x = net.node("MatMul", net.node("Softmax", scores, axis=-1), v)
    x = net.node("Transpose", x, perm=[0, 2, 1, 3] if rank == 4 else [1, 0, 2])
    x = net.node("Reshape", x, net.constant(np.array([1, ROWS, width])))
    return net.node("MatMul", x, net.weights(width, 5))


@pytest.mark.parametrize("rank", [3, 4])
@pytest.mark.parametrize("how", ["scaled", "divided", "plain", "turned twice", "scaled before"])
def test_attention_is_one_call(needs_compiler, tmp_path, how, rank):
    pytest.importorskip("onnx")
    net = Net()
    result = attention(net, how, rank)
    check(tmp_path, net, [1, ROWS, HEADS * SIZE], result, b"takt_attention_f32", 1e-5)


@pytest.mark.parametrize("mask", ["rows", "heads", "windows", "causal", "an input's"])
def test_attention_with_a_bias_is_one_call(needs_compiler, tmp_path, mask):
    pytest.importorskip("onnx")
    net = Net()
    random = np.random.default_rng(6)

    def added_to(scores):
        if mask == "causal":
            late = np.triu(np.full((ROWS, ROWS), -np.inf, np.float32), 1)
            return net.node("Add", net.constant(late), scores)
        if mask == "an input's":
            bias = net.node("ReduceMean", "x", axes=[2], keepdims=0)
            return net.node("Add", scores, net.node("Tanh", bias))
        shape = {"rows": [ROWS, ROWS], "heads": [1, HEADS, 1, ROWS], "windows": [HEADS, ROWS, ROWS]}[mask]
        scores = net.node("Add", scores, net.constant(random.standard_normal(shape).astype(np.float32)))
        if mask != "windows":
            return scores
        scores = net.node("Reshape", scores, net.constant(np.array([1, 1, HEADS, ROWS, ROWS])))
        late = random.standard_normal([1, 1, 1, ROWS, ROWS]).astype(np.float32)
        scores = net.node("Add", scores, net.constant(late))
        return net.node("Reshape", scores, net.constant(np.array([1, HEADS, ROWS, ROWS])))

    result = attention(net, "scaled", 4, added_to)
    check(tmp_path, net, [1, ROWS, HEADS * SIZE], result, b"takt_attention_bias_f32", 1e-5)


def test_attention_of_bfloat16(needs_compiler, tmp_path):
    pytest.importorskip("onnx")
    net = Net()
    result = attention(net, "scaled", 4)
    check(tmp_path, net, [1, ROWS, HEADS * SIZE], result, b"takt_attention_bf16", 0.02, "native_bf16")


def test_heads_that_are_apart_and_a_result_that_stays_so(needs_compiler, tmp_path):
    pytest.importorskip("onnx")
    net = Net()
    k = net.node("Transpose", net.node("Tanh", "x"), perm=[0, 1, 3, 2])
    weights = net.node("Softmax", net.node("MatMul", "x", k), axis=3)
    result = net.node("MatMul", weights, net.node("Sigmoid", "x"))
    check(tmp_path, net, [2, 3, 9, 16], result, b"takt_attention_f32", 1e-5)


@pytest.mark.parametrize("axis, calls", [(1, 1), (3, 1), (2, 0)])
def test_a_softmax_alone_is_a_call(needs_compiler, tmp_path, axis, calls):
    """With the channels last it is of channels, otherwise of the last dimension."""
    net = Net()
    x = net.conv("x", 3, 24)
    if axis != 1:
        x = net.node("Reshape", x, net.constant(np.array([1, 24, 28, 32])))
    path = tmp_path / "net.onnx"
    net.save(path, [1, 3, 32, 28], net.node("Softmax", x, axis=axis))
    artifact = takt.compile(path, cache=tmp_path, recipe="native")
    assert (b"takt_softmax_f32" in artifact.path.read_bytes()) == calls
    x = np.random.default_rng(4).standard_normal((1, 3, 32, 28)).astype(np.float32)
    want = expected(path, x)
    got = np.asarray(artifact.load().function()(x))
    assert got.shape == want.shape and np.abs(got - want).max() < 1e-6


@pytest.mark.parametrize("change", ["another reader", "another axis", "wide"])
def test_what_is_no_attention_stays_as_it_is(tmp_path, change):
    onnx = pytest.importorskip("onnx")
    from takt.rewriting import rewriter

    net = Net()
    shape = [1, 2, 6, 6] if change != "wide" else [1, 2, 6, 130]
    scores = net.node("MatMul", "x", net.node("Transpose", "x", perm=[0, 1, 3, 2]))
    weights = net.node("Softmax", scores, axis=2 if change == "another axis" else 3)
    result = net.node("MatMul", weights, "x")
    if change == "another reader":
        result = net.node("Concat", result, weights, axis=3)
    path = tmp_path / "net.onnx"
    net.save(path, shape, result)
    _, kernels = rewriter.rewrite(onnx.load(path))
    assert not kernels


@pytest.mark.parametrize("has_scale", [False, True])
def test_attention_of_bytes(needs_compiler, tmp_path, has_scale):
    pytest.importorskip("onnxruntime")
    net = QuantizedNet()
    width = HEADS * SIZE
    x = net.quantize("x", 0.03, 3)
    parts = []
    for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]):
        part = net.quantize(net.product("Gemm", x, 0.03, (width, width), 0, transB=1), 0.05, 5)
        part = net.quantize(net.node("Reshape", part, net.constant(np.array([1, ROWS, HEADS, SIZE]))),
                            0.05, 5)
        parts.append(net.quantize(net.node("Transpose", part, perm=perm), 0.05, 5))
    scores = net.quantize(net.node("MatMul", *parts[:2]), 0.6, -3)
    if has_scale:
        factor = net.constant(np.float32(SIZE**-0.5))
        scores = net.quantize(net.node("Mul", scores, factor), 0.22, 4)
    weights = net.quantize(net.node("Softmax", scores, axis=-1), 1 / 255, -128)
    x = net.quantize(net.node("MatMul", weights, parts[2]), 0.04, -6)
    x = net.quantize(net.node("Transpose", x, perm=[0, 2, 1, 3]), 0.04, -6)
    result = net.quantize(net.node("Reshape", x, net.constant(np.array([ROWS, width]))), 0.04, -6)
    # At most a step.
    check(tmp_path, net, [ROWS, width], result, b"takt_attention_i8", 1.01 / 255)


def test_layer_norms_and_sums_of_bytes(needs_compiler, tmp_path):
    pytest.importorskip("onnxruntime")
    net = QuantizedNet()
    x = net.quantize("x", 0.03, 3)
    y = net.quantize(net.product("Gemm", x, 0.03, (37, 24), 0, transB=1), 0.05, 5)
    z = net.quantize(net.product("Gemm", x, 0.03, (37, 24), 0, transB=1), 0.06, -4)
    x = net.quantize(net.node("Add", y, z), 0.08, 1)
    x = net.node("LayerNormalization", x, net.weights(37), net.weights(37), axis=-1)
    result = net.quantize(net.node("Add", net.quantize(x, 0.03, 2), y), 0.05, -1)
    check(tmp_path, net, [21, 24], result, b"takt_layer_norm_i8", 1.01 / 255)


@pytest.mark.parametrize("output", [0, 1])
@pytest.mark.parametrize("has_state, hidden", [(False, 32), (True, 32), (False, 24), (True, 21)])
def test_a_gru_is_one_call(needs_compiler, tmp_path, has_state, hidden, output):
    onnx = pytest.importorskip("onnx")
    net = Net()
    steps, batch, inputs = 5, 2, 12
    weights = [net.weights(1, 3 * hidden, inputs), net.weights(1, 3 * hidden, hidden),
               net.weights(1, 6 * hidden)]
    if has_state:
        weights += ["", net.weights(1, batch, hidden)]
    node = onnx.helper.make_node(
        "GRU", ["x", *weights], ["all", "next"], hidden_size=hidden, linear_before_reset=1)
    net.nodes.append(node)
    result = net.node("Tanh", ["all", "next"][output])
    check(tmp_path, net, [steps, batch, inputs], result, b"takt_gru_tile_f32", 1e-5)


@pytest.mark.parametrize("output", [0, 1])
@pytest.mark.parametrize("has_state, hidden", [(False, 32), (True, 21)])
def test_an_rnn_is_a_call_of_a_gru(needs_compiler, tmp_path, has_state, hidden, output):
    onnx = pytest.importorskip("onnx")
    net = Net()
    steps, batch, inputs = 5, 2, 12
    weights = [net.weights(1, hidden, inputs), net.weights(1, hidden, hidden), net.weights(1, 2 * hidden)]
    if has_state:
        weights += ["", net.weights(1, batch, hidden)]
    net.nodes.append(onnx.helper.make_node("RNN", ["x", *weights], ["all", "next"], hidden_size=hidden))
    result = net.node("Tanh", ["all", "next"][output])
    check(tmp_path, net, [steps, batch, inputs], result, b"takt_gru_tile_f32", 1e-5)


@pytest.mark.parametrize("output", [0, 1, 2])
@pytest.mark.parametrize("has_state, hidden", [(False, 32), (True, 32), (False, 24), (True, 21)])
def test_an_lstm_is_one_call(needs_compiler, tmp_path, has_state, hidden, output):
    onnx = pytest.importorskip("onnx")
    net = Net()
    steps, batch, inputs = 5, 2, 12
    weights = [net.weights(1, 4 * hidden, inputs), net.weights(1, 4 * hidden, hidden),
               net.weights(1, 8 * hidden)]
    if has_state:
        weights += ["", net.weights(1, batch, hidden), net.weights(1, batch, hidden)]
    net.nodes.append(onnx.helper.make_node(
        "LSTM", ["x", *weights], ["all", "next", "cell"], hidden_size=hidden))
    result = net.node("Tanh", ["all", "next", "cell"][output])
    check(tmp_path, net, [steps, batch, inputs], result, b"takt_lstm_tile_f32", 1e-5)


@pytest.mark.parametrize("shape, axis, chosen, has_table", [
    ((6, 8, 128), 0, [5, 0, -6, 2, 2], True), ((2, 9, 4, 160), 1, [[8, -9], [3, 99]], False)])
def test_long_rows_are_taken_as_one(needs_compiler, tmp_path, shape, axis, chosen, has_table):
    net = Net()
    # The places are numbers that the network computes, of what the caller gives.
    zeros = net.node("Cast", net.node("Mul", net.node("ReduceSum", "x", keepdims=0), net.constant(np.float32(0))), to=7)
    places = net.node("Clip", net.node("Add", net.constant(np.array(chosen)), zeros),
                      net.constant(np.array(-shape[axis])), net.constant(np.array(shape[axis] - 1)))
    source = net.weights(*shape) if has_table else net.node("Tanh", "x")
    check(tmp_path, net, shape, net.node("Gather", source, places, axis=axis), b"takt_gather_f32", 1e-6)


# Steps and hidden units for: a call of a few steps; a call for each step, in tiles of lanes; tiles of rows.
@pytest.mark.parametrize("steps, batch, hidden, calls", [
    (19, 1, 256, (4, 5)), (3, 2, 512, (3, 3)), (6, 13, 80, (1, 1))])
@pytest.mark.parametrize("kind, output", [("GRU", 0), ("LSTM", 1), ("LSTM", 2)])
def test_calls_of_long_layers_are_short(needs_compiler, tmp_path, kind, steps, batch, hidden, calls, output):
    onnx = pytest.importorskip("onnx")
    from takt.rewriting import rewriter

    net = Net()
    inputs, gates = 6, {"GRU": 3, "LSTM": 4}[kind]
    of_state = net.random.standard_normal((1, gates * hidden, hidden)) * hidden**-0.5
    weights = [net.weights(1, gates * hidden, inputs), net.constant(of_state.astype(np.float32)),
               net.weights(1, 2 * gates * hidden)]
    outputs = ["all", "next", "cell"][:gates - 1]
    options = {"linear_before_reset": 1} if kind == "GRU" else {}
    net.nodes.append(onnx.helper.make_node(kind, ["x", *weights], outputs, hidden_size=hidden, **options))
    result = net.node("Tanh", outputs[output])
    check(tmp_path, net, [steps, batch, inputs], result, f"takt_{kind.lower()}_tile_f32".encode(), 1e-5)
    rewritten, kernels = rewriter.rewrite(onnx.load(tmp_path / "net.onnx"))
    functions = [kernels[node.attribute[0].i].function for node in rewritten.graph.node if node.op_type == "TaktKernel"]
    assert sum("_tile_" in each for each in functions) == calls[gates - 3]


@pytest.mark.parametrize("change", [{"direction": "reverse"}, {"input_forget": 1}, {"clip": 3.0}])
def test_other_lstms_stay_with_the_compiler(tmp_path, change):
    onnx = pytest.importorskip("onnx")
    from takt.rewriting import rewriter

    net = Net()
    net.nodes.append(onnx.helper.make_node(
        "LSTM", ["x", net.weights(1, 64, 4), net.weights(1, 64, 16)], ["all"], hidden_size=16, **change))
    path = tmp_path / "net.onnx"
    net.save(path, [3, 1, 4], net.node("Tanh", "all"))
    _, kernels = rewriter.rewrite(onnx.load(path))
    assert not kernels


def test_other_grus_stay_with_the_compiler(tmp_path):
    onnx = pytest.importorskip("onnx")
    from takt.rewriting import rewriter

    net = Net()
    net.nodes.append(onnx.helper.make_node(
        "GRU", ["x", net.weights(1, 48, 4), net.weights(1, 48, 16)], ["all"], hidden_size=16,
        linear_before_reset=0))
    path = tmp_path / "net.onnx"
    net.save(path, [3, 1, 4], net.node("Tanh", "all"))
    _, kernels = rewriter.rewrite(onnx.load(path))
    assert not kernels


@pytest.mark.parametrize("shape, axis, most, largest, dtype", [
    ((1, 300), -1, 12, 1, "float32"), ((4, 7, 50), 1, 3, 0, "float32"), ((2, 5, 6), 0, 2, 1, "float32"),
    ((1, 8, 6, 5), 1, 8, 1, "float32"), ((3, 40), -1, 40, 0, "int64"), ((3, 40, 2), 1, 7, 1, "int32"),
    ((3, 40), 0, 2, 0, "uint8")])
def test_the_greatest_numbers_are_found(needs_compiler, tmp_path, shape, axis, most, largest, dtype):
    onnxruntime = pytest.importorskip("onnxruntime")
    onnx = pytest.importorskip("onnx")
    from takt.rewriting import rewriter

    results, kind = [*shape], onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    results[axis] = most
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("TopK", ["x", "k"], ["values", "places"], axis=axis, largest=largest)], "net",
        [onnx.helper.make_tensor_value_info("x", kind, shape)],
        [onnx.helper.make_tensor_value_info("values", kind, results),
         onnx.helper.make_tensor_value_info("places", 7, results)],
        [onnx.numpy_helper.from_array(np.array([most]), "k")])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    assert len(rewriter.rewrite(model)[1]) == 1
    path = tmp_path / "net.onnx"
    onnx.save(model, path)
    # Some are equal, and some differ by less than a float does.
    x = (np.round(np.random.default_rng(5).standard_normal(shape) * 9) + 100).astype(dtype)
    x += np.dtype(dtype).type((1 << 60) if dtype == "int64" else 0)
    want = list(onnxruntime.InferenceSession(path).run(None, {"x": x})) if dtype != "uint8" else None
    if want is None:  # ONNX Runtime has no TopK of bytes.
        places = np.argsort(x, axis, kind="stable").take(range(most), axis)
        want = [np.take_along_axis(x, places, axis), places]
    for a, b in zip(want, takt.compile(path, cache=tmp_path, recipe="native").load().net(x)):
        np.testing.assert_array_equal(b, a)


@pytest.mark.parametrize("kind, shape, own", [
    ("ArgMax", (1, 21, 12, 10), {"axis": 1, "keepdims": 0}), ("ArgMin", (2, 7, 90), {"axis": -2}),
    ("ArgMax", (5, 40), {"axis": 0, "select_last_index": 1})])
def test_the_places_of_the_greatest_are_found(needs_compiler, tmp_path, kind, shape, own):
    onnxruntime = pytest.importorskip("onnxruntime")
    onnx = pytest.importorskip("onnx")
    from takt.rewriting import rewriter

    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(kind, ["x"], ["y"], **own)], "net",
        [onnx.helper.make_tensor_value_info("x", 1, shape)], [onnx.helper.make_tensor_value_info("y", 7, None)])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    assert len(rewriter.rewrite(model)[1]) == 1
    path = tmp_path / "net.onnx"
    onnx.save(model, path)
    x = np.round(np.random.default_rng(5).standard_normal(shape) * 9).astype(np.float32)  # Some are equal.
    want = onnxruntime.InferenceSession(path).run(None, {"x": x})[0]
    np.testing.assert_array_equal(takt.compile(path, cache=tmp_path, recipe="native").load().net(x), want)


@pytest.mark.parametrize("way, sizes", [
    ("align_corners", (16, 18)), ("align_corners", (21, 9)), ("align_corners", (1, 30)), ("asymmetric", (16, 18)),
    ("half_pixel", (13, 20)), ("half_pixel", (5, 6)), ("pytorch_half_pixel", (1, 11)), ("half_pixel", (12, 18))])
def test_images_are_resized_by_any_factor(needs_compiler, tmp_path, way, sizes):
    net = Net()
    wide = net.node("Resize", net.conv("x", 3, 16), "", "", net.constant(np.array([1, 16, *sizes])),
                    mode="linear", coordinate_transformation_mode=way)
    check(tmp_path, net, (1, 3, 8, 9), net.conv(wide, 16, 8), b"takt_blend_f32", 1e-5)


@pytest.mark.parametrize("is_image", [True, False])
@pytest.mark.parametrize("kinds", [("Mul", "Add"), ("Sub", "Div"), ("Add", "Mul", "Sub")])
def test_scales_of_channels_go_into_the_weights(needs_compiler, tmp_path, is_image, kinds):
    onnx = pytest.importorskip("onnx")
    from takt.rewriting import rewriter

    net = Net()
    x = net.conv("x", 6, 16) if is_image else net.node("MatMul", "x", net.weights(7, 16))
    for kind in kinds:
        x = net.node(kind, x, net.constant(net.random.uniform(0.5, 2, (16, 1, 1) if is_image else 16).astype(np.float32)))
    check(tmp_path, net, (1, 6, 5, 7), net.node("Relu", x), b"takt_conv2d_f32", 1e-5)
    rewritten, calls = rewriter.rewrite(onnx.load(tmp_path / "net.onnx"))
    assert len(calls) == 1 and not {node.op_type for node in rewritten.graph.node} & {*kinds, "Relu"}


def test_other_constants_stay_what_they_are(tmp_path):
    onnx = pytest.importorskip("onnx")
    from takt.rewriting import rewriter

    net = Net()
    x = net.node("Mul", net.conv("x", 6, 16), net.weights(16, 5, 1))  # Of rows.
    net.save(tmp_path / "net.onnx", (1, 6, 5, 16), net.node("Sub", net.weights(16, 1, 1), net.conv(x, 16, 16)))
    rewritten, _ = rewriter.rewrite(onnx.load(tmp_path / "net.onnx"))
    assert {"Mul", "Sub"} <= {node.op_type for node in rewritten.graph.node}


def test_tokens_become_images_and_tokens_again(needs_compiler, tmp_path):
    onnx = pytest.importorskip("onnx")
    from takt.rewriting import rewriter

    net = Net()
    tokens = net.node("MatMul", "x", net.weights(12, 16))
    image = net.node("Reshape", net.node("Transpose", tokens, perm=[0, 2, 1]), net.constant(np.array([2, 16, 5, 7])))
    rows = net.node("Reshape", net.conv(image, 16, 24), net.constant(np.array([2, 24, 35])))
    result = net.node("MatMul", net.node("Transpose", rows, perm=[0, 2, 1]), net.weights(24, 8))
    check(tmp_path, net, (2, 35, 12), result, b"takt_conv2d_f32", 1e-5)
    rewritten, _ = rewriter.rewrite(onnx.load(tmp_path / "net.onnx"))
    turns = [node for node in rewritten.graph.node if node.op_type == "Transpose"]
    assert not any(node.output[0] in other.input for node in turns for other in rewritten.graph.node)


@pytest.mark.parametrize("limits", [(10, 0.5, 0.1), (10 ** 18, 0.4, None)])
@pytest.mark.parametrize("batch, classes, centered", [(1, 1, 0), (2, 3, 1)])
def test_boxes_are_selected(needs_compiler, tmp_path, limits, batch, classes, centered):
    onnxruntime = pytest.importorskip("onnxruntime")
    onnx = pytest.importorskip("onnx")
    most, overlap, least = limits
    constants = {"most": np.int64(most), "overlap": np.float32(overlap)}
    if least is not None:
        constants["least"] = np.float32(least)
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("NonMaxSuppression", ["boxes", "scores", *constants], ["found"],
                               center_point_box=centered),
         onnx.helper.make_node("Gather", ["found", "last"], ["numbers"], axis=1)], "net",
        [onnx.helper.make_tensor_value_info("boxes", 1, [batch, 60, 4]),
         onnx.helper.make_tensor_value_info("scores", 1, [batch, classes, 60])],
        [onnx.helper.make_tensor_value_info("found", 7, [None, 3]),
         onnx.helper.make_tensor_value_info("numbers", 7, [None])],
        [onnx.numpy_helper.from_array(np.asarray(value), name)
         for name, value in (constants | {"last": np.int64(2)}).items()])
    path = tmp_path / "net.onnx"
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), path)
    rng = np.random.default_rng(5)
    boxes, scores = (rng.random(shape).astype(np.float32) for shape in ((batch, 60, 4), (batch, classes, 60)))
    want = onnxruntime.InferenceSession(path).run(None, {"boxes": boxes, "scores": scores})
    function = takt.compile(path, cache=tmp_path).load().net
    for a, b in zip(want, function(boxes, scores)):
        np.testing.assert_array_equal(b, a)
    # None at all.
    if least is not None:
        found, numbers = function(boxes, np.zeros_like(scores))
        assert np.asarray(found).shape == (0, 3) and np.asarray(numbers).shape == (0,)


@pytest.mark.parametrize("kind, shape, places, own", [
    ("ScatterElements", (6, 40), (9, 40), {"reduction": "add"}), ("ScatterElements", (3, 8, 5), (3, 11, 5), {"axis": 1}),
    ("ScatterElements", (7, 30), (7, 12), {"axis": -1}), ("ScatterND", (20, 6, 4), (9, 1), {"reduction": "add"}),
    ("ScatterND", (8, 9, 5), (6, 2), {}), ("ScatterND", (8, 9, 5), (2, 6, 3), {"reduction": "add"})])
def test_numbers_are_put_into_a_tensor(needs_compiler, tmp_path, kind, shape, places, own):
    onnxruntime = pytest.importorskip("onnxruntime")
    onnx = pytest.importorskip("onnx")
    from takt.rewriting import rewriter

    updates = places if kind == "ScatterElements" else (*places[:-1], *shape[places[-1]:])
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Neg", ["x"], ["n"]), onnx.helper.make_node(kind, ["n", "i", "u"], ["y"], **own)], "net",
        [onnx.helper.make_tensor_value_info("x", 1, shape), onnx.helper.make_tensor_value_info("i", 7, places),
         onnx.helper.make_tensor_value_info("u", 1, updates)], [onnx.helper.make_tensor_value_info("y", 1, shape)])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=8)
    assert len(rewriter.rewrite(onnx.shape_inference.infer_shapes(model))[1]) == 1
    path = tmp_path / "net.onnx"
    onnx.save(model, path)
    random = np.random.default_rng(5)
    if kind == "ScatterElements":
        limits = shape[own.get("axis", 0)]
    else:
        limits = np.array(shape[:places[-1]])
    # Without a sum, ONNX leaves the order of equal places open.
    indices = random.integers(-limits, limits, places)
    feeds = {"x": random.standard_normal(shape).astype(np.float32), "i": indices,
             "u": random.standard_normal(updates).astype(np.float32)}
    want = onnxruntime.InferenceSession(path).run(None, feeds)[0]
    found = takt.compile(path, cache=tmp_path, recipe="native").load().net(*feeds.values())
    np.testing.assert_allclose(found, want, atol=1e-5)


# A template in each channel; one in all channels; a mixture of kernels, as in a network of experts.
@pytest.mark.parametrize("outs, ins, size, groups, has_bias", [
    (32, 1, 6, 32, False), (1, 32, 6, 1, True), (16, 32, 3, 1, True)])
def test_weights_that_the_network_computes(needs_compiler, tmp_path, outs, ins, size, groups, has_bias):
    onnx = pytest.importorskip("onnx")
    from takt.rewriting import rewriter

    net = Net()
    features = net.node("Relu", net.conv("x", 3, 32))
    mean = net.node("Reshape", net.node("GlobalAveragePool", features), net.constant(np.array([1, 32])))
    weights = net.node("Reshape", net.node("MatMul", mean, net.weights(32, outs * ins * size * size)),
                       net.constant(np.array([outs, ins, size, size])))
    bias = [net.weights(outs)] if has_bias else []
    result = net.node("Tanh", net.node("Conv", features, weights, *bias, group=groups, pads=[1, 0, 0, 1]))
    function = b"takt_conv2d_f32" if size == 3 else b"takt_depthwise2d_f32"
    check(tmp_path, net, [1, 3, 20, 17], result, function, 1e-5)
    rewritten, _ = rewriter.rewrite(onnx.load(tmp_path / "net.onnx"))
    assert "Conv" not in {node.op_type for node in rewritten.graph.node}
