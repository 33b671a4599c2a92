"""Attention and recurrent layers by Takt's own kernels."""

import itertools

import numpy as np
import pytest

from test_native import Net, QuantizedNet, check_together, compared, compiled

ROWS, HEADS, SIZE = 21, 3, 8


def check(tmp_path, net, shape, result, imports, tolerance, recipe="native"):
    """One network, which has a call of `imports`, gives the same results; it is in net.onnx afterwards."""
    check_calls(tmp_path, {"": (net, shape, result)}, imports, tolerance, recipe=recipe)


def check_calls(tmp_path, cases, imports, tolerance=1e-5, **options):
    """As check_together(); each network has a call of `imports`."""
    for case, (calls, _) in check_together(tmp_path, cases, tolerance, **options).items():
        assert calls[imports], f"{case}: {calls}"


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
    elif how == "exported":  # As by PyTorch's exporter.
        k = net.node("Reshape", heads(net, k, [0, 2, 1, 3], rank), net.constant(np.array([HEADS, ROWS, SIZE])))
        k = net.node("Transpose", k, perm=[0, 2, 1])
        k = net.node("Reshape", k, net.constant(np.array([1, HEADS, SIZE, ROWS])))
    else:
        k = heads(net, k, [0, 2, 3, 1], rank)
    if how in ("scaled before", "exported"):
        q, k = (net.node("Mul", each, net.constant(np.float32(SIZE**-0.25))) for each in (q, k))
    scores = net.node("MatMul", q, k)
    if how == "divided":
        scores = net.node("Div", scores, net.constant(np.float32(SIZE**0.5)))
    elif how == "scaled":
        scores = net.node("Mul", net.constant(np.float32(SIZE**-0.5)), scores)
    weights = net.node("Softmax", added_to(scores), axis=-1)
    if how == "exported":
        weights = net.node("Where", net.node("IsNaN", weights), net.constant(np.float32(0)), weights)
    x = net.node("MatMul", weights, v)
    x = net.node("Transpose", x, perm=[0, 2, 1, 3] if rank == 4 else [1, 0, 2])
    x = net.node("Reshape", x, net.constant(np.array([1, ROWS, width])))
    return net.node("MatMul", x, net.weights(width, 5))


def test_attention_is_one_call(needs_compiler, tmp_path):
    pytest.importorskip("onnx")
    cases = {}
    for how in ("scaled", "divided", "plain", "turned twice", "scaled before"):
        for rank in (3, 4):
            net = Net()
            cases[how, rank] = net, [1, ROWS, HEADS * SIZE], attention(net, how, rank)
    net = Net()
    cases["no mask"] = net, [1, ROWS, HEADS * SIZE], attention(net, "exported", 4, masked(net, "nothing"))
    check_calls(tmp_path, cases, "takt_attention_f32")


def masked(net, mask):
    """What adds a bias of this form to scores."""
    random = np.random.default_rng(6)

    def added_to(scores):
        if mask == "causal":
            late = np.triu(np.full((ROWS, ROWS), -np.inf, np.float32), 1)
            return net.node("Add", net.constant(late), scores)
        if mask == "nothing":
            return net.node("Add", scores, net.constant(np.zeros((ROWS, ROWS), np.float32)))
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

    return added_to


def test_attention_with_a_bias_is_one_call(needs_compiler, tmp_path):
    pytest.importorskip("onnx")
    cases = {}
    for mask in ("rows", "heads", "windows", "causal", "an input's"):
        net, how = Net(), "exported" if mask == "causal" else "scaled"
        cases[mask] = net, [1, ROWS, HEADS * SIZE], attention(net, how, 4, masked(net, mask))
    check_calls(tmp_path, cases, "takt_attention_bias_f32")


def test_attention_of_bfloat16(needs_compiler, tmp_path):
    pytest.importorskip("onnx")
    net = Net()
    result = attention(net, "scaled", 4)
    check(tmp_path, net, [1, ROWS, HEADS * SIZE], result, "takt_attention_bf16", 0.02, "native_bf16")


def test_heads_that_are_apart_and_a_result_that_stays_so(needs_compiler, tmp_path):
    pytest.importorskip("onnx")
    net = Net()
    k = net.node("Transpose", net.node("Tanh", "x"), perm=[0, 1, 3, 2])
    weights = net.node("Softmax", net.node("MatMul", "x", k), axis=3)
    result = net.node("MatMul", weights, net.node("Sigmoid", "x"))
    check(tmp_path, net, [2, 3, 9, 16], result, "takt_attention_f32", 1e-5)


def test_a_softmax_alone_is_a_call(needs_compiler, tmp_path):
    """With the channels last it is of channels, otherwise of the last dimension."""
    cases, wanted = {}, {1: 1, 3: 1, 2: 0}
    for axis in wanted:
        net = Net()
        x = net.conv("x", 3, 24)
        if axis != 1:
            x = net.node("Reshape", x, net.constant(np.array([1, 24, 28, 32])))
        cases[axis] = net, [1, 3, 32, 28], net.node("Softmax", x, axis=axis)
    found, pairs = compared(tmp_path, cases, devices=["local-task"])
    for axis, (calls, _) in found.items():
        assert calls["takt_softmax_f32"] == wanted[axis], axis
    for axis, want, got in pairs:
        assert np.abs(got - want).max() < 1e-6, axis


@pytest.mark.parametrize("operator, function, size, pays", [
    ("Softmax", "takt_softmax_f32", 1024, False), ("Softmax", "takt_softmax_f32", 4096, True),
    ("TopK", "takt_top_k_f32", 12, False), ("TopK", "takt_top_k_f32", 64, True)])
def test_long_rows_pay(operator, function, size, pays):
    onnx = pytest.importorskip("onnx")
    from takt.rewriting import rewriter

    is_top = operator == "TopK"
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(operator, ["x", "k"] if is_top else ["x"], ["y", "i"] if is_top else ["y"])], "net",
        [value("x", onnx.TensorProto.FLOAT, [1, size])], [value("y", onnx.TensorProto.FLOAT, None)],
        [onnx.numpy_helper.from_array(np.array([3]), "k")] if is_top else [])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    network, kernels = rewriter.rewrite(model)
    assert [kernel.function for kernel in kernels] == [function]
    assert rewriter.pays(network, kernels) == pays


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


def attention_of_bytes(net, has_scale, source="x"):
    width = HEADS * SIZE
    x = net.quantize(source, 0.03, 3)
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
    return net.quantize(net.node("Reshape", x, net.constant(np.array([ROWS, width]))), 0.04, -6)


def test_attention_of_bytes(needs_compiler, tmp_path):
    pytest.importorskip("onnxruntime")
    cases = {}
    for has_scale in (False, True):
        net = QuantizedNet()
        cases[f"with a scale: {has_scale}"] = net, [ROWS, HEADS * SIZE], attention_of_bytes(net, has_scale)
    check_calls(tmp_path, cases, "takt_attention_i8", 1.01 / 255)  # At most a step.


def queries_of_bytes(net):
    """A sum with the attention between constants, as DETR has it between its queries."""
    width = HEADS * SIZE
    queries = net.constant(net.random.standard_normal((ROWS, width)).astype(np.float32))
    known = net.quantize(net.node("Sigmoid", attention_of_bytes(net, True, queries)), 0.03, 2)
    own = net.quantize(net.product("Gemm", net.quantize("x", 0.03, 3), 0.03, (width, width), 0, transB=1), 0.05, 5)
    return net.quantize(net.node("Add", own, known), 0.03, 1)


def test_what_depends_on_constant_bytes_is_known(needs_compiler, tmp_path):
    pytest.importorskip("onnxruntime")
    net = QuantizedNet()
    case = net, [ROWS, HEADS * SIZE], queries_of_bytes(net)
    (calls, _), = check_together(tmp_path, {"": case}, 2.01 / 255).values()  # Two steps.
    assert dict(calls) == {"takt_conv2d_i8": 1}


def test_no_call_depends_on_constants_alone(monkeypatch):
    """The compiler would run it, which it cannot."""
    pytest.importorskip("onnx")
    from takt.networks import folding
    from takt.rewriting import rewriter

    monkeypatch.setattr(folding, "_KEPT", {*folding._KEPT, "MatMul", "Gemm"})
    net = QuantizedNet()
    rewritten, kernels = rewriter.rewrite(net.model([ROWS, HEADS * SIZE], queries_of_bytes(net)))
    found = {"x"}
    for node in rewritten.graph.node:
        if not found.isdisjoint(node.input):
            found.update(node.output)
        assert node.op_type != "TaktKernel" or node.output[0] in found, kernels[node.attribute[0].i]
    assert kernels


def test_layer_norms_and_sums_of_bytes(needs_compiler, tmp_path):
    pytest.importorskip("onnxruntime")
    net = QuantizedNet()
    x = net.quantize("x", 0.03, 3)
    y = net.quantize(net.product("Gemm", x, 0.03, (37, 24), 0, transB=1), 0.05, 5)
    z = net.quantize(net.product("Gemm", x, 0.03, (37, 24), 0, transB=1), 0.06, -4)
    x = net.quantize(net.node("Add", y, z), 0.08, 1)
    x = net.node("LayerNormalization", x, net.weights(37), net.weights(37), axis=-1)
    result = net.quantize(net.node("Add", net.quantize(x, 0.03, 2), y), 0.05, -1)
    check(tmp_path, net, [21, 24], result, "takt_layer_norm_i8", 1.01 / 255)


def check_layers(tmp_path, kind, layers, imports, **attributes):
    """Recurrent layers, with and without a first state: tuples (has_state, hidden); each result of each."""
    onnx = pytest.importorskip("onnx")
    gates, results = {"RNN": 1, "GRU": 3, "LSTM": 4}[kind], ["all", "next", "cell"][:3 if kind == "LSTM" else 2]
    steps, batch, inputs = 5, 2, 12
    cases = {}
    for has_state, hidden in layers:
        for result in results:
            net = Net()
            weights = [net.weights(1, gates * hidden, inputs), net.weights(1, gates * hidden, hidden),
                       net.weights(1, 2 * gates * hidden)]
            if has_state:
                weights += ["", *(net.weights(1, batch, hidden) for _ in results[1:])]
            net.nodes.append(onnx.helper.make_node(kind, ["x", *weights], results, hidden_size=hidden, **attributes))
            cases[has_state, hidden, result] = net, [steps, batch, inputs], net.node("Tanh", result)
    check_calls(tmp_path, cases, imports)


def test_a_gru_is_one_call(needs_compiler, tmp_path):
    check_layers(tmp_path, "GRU", [(False, 32), (True, 32), (False, 24), (True, 21)], "takt_gru_steps_f32",
                 linear_before_reset=1)


def test_an_rnn_is_a_call_of_a_gru(needs_compiler, tmp_path):
    check_layers(tmp_path, "RNN", [(False, 32), (True, 21)], "takt_gru_steps_f32")


def test_an_lstm_is_one_call(needs_compiler, tmp_path):
    check_layers(tmp_path, "LSTM", [(False, 32), (True, 32), (False, 24), (True, 21)], "takt_lstm_steps_f32")


def found_places(net, chosen, size):
    """Places that the network computes, of what the caller gives."""
    zeros = net.node("Mul", net.node("ReduceSum", "x", keepdims=0), net.constant(np.float32(0)))
    return net.node("Clip", net.node("Add", net.constant(np.array(chosen)), net.node("Cast", zeros, to=7)),
                    net.constant(np.array(-size)), net.constant(np.array(size - 1)))


def test_long_rows_are_taken_as_one(needs_compiler, tmp_path):
    cases = {}
    for shape, axis, chosen, has_table in (
            ((6, 8, 128), 0, [5, 0, -6, 2, 2], True), ((2, 9, 4, 160), 1, [[8, -9], [3, 99]], False)):
        net = Net()
        places = found_places(net, chosen, shape[axis])
        source = net.weights(*shape) if has_table else net.node("Tanh", "x")
        cases[shape] = net, shape, net.node("Gather", source, places, axis=axis)
        if axis == 0:
            each = net.node("Unsqueeze", places, net.constant(np.array([1])))
            cases["pairs"] = net, shape, net.node("GatherND", source, each)
    check_calls(tmp_path, cases, "takt_gather_f32", 1e-6)


def test_matrices_that_places_choose(needs_compiler, tmp_path):
    """The experts of tokens, on either side of the product."""
    cases = {}
    for kind, is_left in itertools.product(("Gather", "GatherND"), (True, False)):
        net = Net()
        places = found_places(net, [3, 0, 1, 3, -4], 4)
        if kind == "GatherND":
            places = net.node("Unsqueeze", places, net.constant(np.array([1])))
        matrices = net.node(kind, net.weights(*((4, 48, 20) if is_left else (4, 20, 48))), places)
        vectors = net.node("Unsqueeze", net.node("Tanh", "x"), net.constant(np.array([2 if is_left else 1])))
        product = net.node("MatMul", *((matrices, vectors) if is_left else (vectors, matrices)))
        cases[kind, is_left] = net, (5, 20), net.node("Tanh", product)
    check_calls(tmp_path, cases, "takt_conv2d_f32")


def test_sampled_pixels_are_computed_as_rows(needs_compiler, tmp_path):
    """What reads them may have any order: a sum over points, and a convolution."""
    from takt.porting import porter
    from takt.rewriting import rewriter

    cases = {}
    for kind in ("sum", "convolution", "few channels"):
        net, channels = Net(), 3 if kind == "few channels" else 12
        grid = net.constant(net.random.uniform(-1.2, 1.2, (2, 70, 16, 2)).astype(np.float32))
        image = net.conv("x", 3, channels)
        points = net.node("GridSample", image, net.node("Add", grid, net.node("ReduceMean", image)))
        if kind == "convolution":
            result = net.conv(points, channels, 5)
        else:
            result = net.node("ReduceSum", net.node("Mul", points, net.weights(70, 16)), net.constant(np.array([-1])))
        left = [node.op_type for node in rewriter.rewrite(
            porter.port(net.model([2, 3, 6, 5], result)))[0].graph.node]
        assert left.count("TaktBarrier") == (0 if kind == "few channels" else 1), (kind, left)
        cases[kind] = net, (2, 3, 6, 5), result
    check_calls(tmp_path, cases, "takt_conv2d_f32")


# Steps and hidden units for: a call of a few steps; a call for each step, in tiles of lanes; tiles of rows.
@pytest.mark.parametrize("steps, batch, hidden, calls", [
    (19, 1, 256, (4, 5)), (3, 2, 512, (3, 3)), (6, 13, 80, (1, 1))])
def test_calls_of_long_layers_are_short(needs_compiler, tmp_path, steps, batch, hidden, calls):
    onnx = pytest.importorskip("onnx")
    inputs, cases = 6, {}
    for kind, output in (("GRU", 0), ("LSTM", 1), ("LSTM", 2)):
        net = Net()
        gates = {"GRU": 3, "LSTM": 4}[kind]
        of_state = net.random.standard_normal((1, gates * hidden, hidden)) * hidden**-0.5
        weights = [net.weights(1, gates * hidden, inputs), net.constant(of_state.astype(np.float32)),
                   net.weights(1, 2 * gates * hidden)]
        outputs = ["all", "next", "cell"][:gates - 1]
        options = {"linear_before_reset": 1} if kind == "GRU" else {}
        net.nodes.append(onnx.helper.make_node(kind, ["x", *weights], outputs, hidden_size=hidden, **options))
        cases[kind, output] = net, [steps, batch, inputs], net.node("Tanh", outputs[output])
    for case, (found, _) in check_together(tmp_path, cases).items():
        assert found[f"takt_{case[0].lower()}_steps_f32"] == calls[case[0] == "LSTM"], case


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


def of_constants(nodes, inputs, results, opset=17, **constants):
    """A network; inputs, results: (type, shape) by name."""
    from onnx import helper, numpy_helper

    declared = [[helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)
                 for name, (dtype, shape) in values.items()] for values in (inputs, results)]
    graph = helper.make_graph(nodes, "net", *declared, [
        numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def test_the_greatest_numbers_are_found(needs_compiler, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    onnx = pytest.importorskip("onnx")
    models, inputs = {}, {}
    for case in (((1, 300), -1, 12, 1, "float32"), ((4, 7, 50), 1, 3, 0, "float32"), ((2, 5, 6), 0, 2, 1, "float32"),
                 ((1, 8, 6, 5), 1, 8, 1, "float32"), ((3, 40), -1, 40, 0, "int64"), ((3, 40, 2), 1, 7, 1, "int32"),
                 ((3, 40), 0, 2, 0, "uint8")):
        shape, axis, most, largest, dtype = case
        results = [*shape]
        results[axis] = most
        models[case] = of_constants(
            [onnx.helper.make_node("TopK", ["x", "k"], ["values", "places"], axis=axis, largest=largest)],
            {"x": (dtype, shape)}, {"values": (dtype, results), "places": ("int64", results)}, k=[most])
        # Some are equal, and some differ by less than a float does.
        inputs[case] = (np.round(np.random.default_rng(5).standard_normal(shape) * 9) + 100).astype(dtype)
        inputs[case] += np.dtype(dtype).type((1 << 60) if dtype == "int64" else 0)
    whole, found = compiled(tmp_path, models)
    results = whole.call({case: [x] for case, x in inputs.items()})
    for case, x in inputs.items():
        _, axis, most, _, dtype = case
        assert len(found[case][1]) == 1, case
        if dtype != "uint8":
            want = onnxruntime.InferenceSession(models[case].SerializeToString()).run(None, {"x": x})
        else:  # ONNX Runtime has no TopK of bytes.
            places = np.argsort(x, axis, kind="stable").take(range(most), axis)
            want = [np.take_along_axis(x, places, axis), places]
        for a, b in zip(want, results[case], strict=True):
            np.testing.assert_array_equal(b, a, err_msg=str(case))


def test_the_places_of_the_greatest_are_found(needs_compiler, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    onnx = pytest.importorskip("onnx")
    models, inputs = {}, {}
    for kind, shape, own in (
            ("ArgMax", (1, 21, 12, 10), {"axis": 1, "keepdims": 0}), ("ArgMin", (2, 7, 90), {"axis": -2}),
            ("ArgMax", (5, 40), {"axis": 0, "select_last_index": 1})):
        case = f"{kind} {own}"
        models[case] = of_constants([onnx.helper.make_node(kind, ["x"], ["y"], **own)], {"x": ("float32", shape)},
                                    {"y": ("int64", None)})
        # Some are equal.
        inputs[case] = np.round(np.random.default_rng(5).standard_normal(shape) * 9).astype(np.float32)
    whole, found = compiled(tmp_path, models)
    for case, got in whole.call({case: [x] for case, x in inputs.items()}).items():
        assert len(found[case][1]) == 1, case
        want, = onnxruntime.InferenceSession(models[case].SerializeToString()).run(None, {"x": inputs[case]})
        np.testing.assert_array_equal(got, want, err_msg=case)


def test_numbers_are_added_up_along_axes(needs_compiler, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    onnx = pytest.importorskip("onnx")
    models, inputs = {}, {}
    for shape, axis, own in (
            ((2, 21, 12, 10), 1, {}), ((2, 700, 90), -2, {"reverse": 1}), ((50, 1030), 0, {"exclusive": 1}),
            ((3, 5, 17), 1, {"exclusive": 1, "reverse": 1})):
        case = f"{shape} {own}"
        models[case] = of_constants([onnx.helper.make_node("CumSum", ["x", "axis"], ["y"], **own)],
                                    {"x": ("float32", shape)}, {"y": ("float32", None)}, axis=np.array(axis))
        inputs[case] = np.random.default_rng(5).standard_normal(shape).astype(np.float32)
        inputs[case][(0,) * len(shape)] = np.inf
    whole, found = compiled(tmp_path, models)
    for case, got in whole.call({case: [x] for case, x in inputs.items()}).items():
        assert [call.function for call in found[case][1]] == ["takt_cum_sum_f32"], case
        want, = onnxruntime.InferenceSession(models[case].SerializeToString()).run(None, {"x": inputs[case]})
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5, err_msg=case)


def test_images_are_resized_by_any_factor(needs_compiler, tmp_path):
    cases = {}
    for way, sizes in (
            ("align_corners", (16, 18)), ("align_corners", (21, 9)), ("align_corners", (1, 30)),
            ("asymmetric", (16, 18)), ("half_pixel", (13, 20)), ("half_pixel", (5, 6)),
            ("pytorch_half_pixel", (1, 11)), ("half_pixel", (12, 18))):
        net = Net()
        wide = net.node("Resize", net.conv("x", 3, 16), "", "", net.constant(np.array([1, 16, *sizes])),
                        mode="linear", coordinate_transformation_mode=way)
        cases[way, sizes] = net, (1, 3, 8, 9), net.conv(wide, 16, 8)
    check_calls(tmp_path, cases, "takt_blend_f32")


@pytest.mark.parametrize("scales, repeats", [((2, 3), 3), ((2, 2), 4), ((2.2, 1.5), 0)])
def test_pixels_are_repeated_where_these_are_the_nearest(needs_compiler, tmp_path, scales, repeats):
    from takt.porting import porter
    from takt.rewriting import rewriter

    net = Net()
    image, factors = net.conv("x", 3, 8), net.constant(np.array([1, 1, *scales], np.float32))
    found = [net.node("Resize", image, "", factors, nearest_mode=nearest, coordinate_transformation_mode=way)
             for way in ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")
             for nearest in ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")]
    result = net.node("Concat", *found, axis=1)
    shape = [1, 3, 2, 7]  # 2.2 makes four rows of two.
    check_together(tmp_path, {scales: (net, shape, result)}, devices=["local-task"])
    network, _ = rewriter.rewrite(porter.port(net.model(shape, result)))
    assert [node.op_type for node in network.graph.node].count("Expand") == repeats


def test_images_of_any_channels_are_resized_with_the_channels_first(needs_compiler, tmp_path):
    images = {}
    for channels, height, width, sizes in ((1, 8, 9, (64, 72)), (3, 40, 41, (75, 20)), (5, 50, 60, (31, 90)),
                                           (17, 9, 30, (40, 30))):
        for own in ({}, {"coordinate_transformation_mode": "align_corners"},
                    {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
                    {"mode": "nearest", "nearest_mode": "ceil"}, {"mode": "nearest"}):
            own = {"mode": "linear", **own}
            if own["mode"] == "nearest" and sizes[0] * sizes[1] < height * width:
                continue
            net = Net()
            image = net.node("Sigmoid", "x") if channels < 5 else net.conv("x", channels, channels)
            wide = net.node("Resize", image, "", "", net.constant(np.array([1, channels, *sizes])), **own)
            images[own["mode"], *own.values(), sizes] = net, (1, channels, height, width), net.node("Sigmoid", wide)
    for mode, function in (("linear", "takt_blend_f32"), ("nearest", "takt_gather_f32")):
        check_calls(tmp_path, {key: case for key, case in images.items() if key[0] == mode}, function)


def test_smaller_images_of_few_channels_stay_as_they_lie(needs_compiler, tmp_path):
    net = Net()
    image = net.node("Cast", net.node("Transpose", "x", perm=[0, 3, 1, 2]), to=1)
    small = net.node("Resize", image, "", "", net.constant(np.array([1, 3, 33, 48])), mode="linear")
    check(tmp_path, net, (1, 60, 80, 3), net.conv(small, 3, 16), "takt_blend_f32", 1e-4)


def test_scales_of_channels_go_into_the_weights(needs_compiler, tmp_path):
    onnx = pytest.importorskip("onnx")
    from takt.rewriting import rewriter

    cases = {}
    for is_image in (True, False):
        for kinds in (("Mul", "Add"), ("Sub", "Div"), ("Add", "Mul", "Sub")):
            net = Net()
            x = net.conv("x", 6, 16) if is_image else net.node("MatMul", "x", net.weights(7, 16))
            for kind in kinds:
                factors = net.random.uniform(0.5, 2, (16, 1, 1) if is_image else 16).astype(np.float32)
                x = net.node(kind, x, net.constant(factors))
            cases[kinds, is_image] = net, (1, 6, 5, 7), net.node("Relu", x)
            rewritten, calls = rewriter.rewrite(net.model(*cases[kinds, is_image][1:]))
            left = {node.op_type for node in rewritten.graph.node}
            assert len(calls) == 1 and not left & {*kinds, "Relu"}, (kinds, is_image)
    check_calls(tmp_path, cases, "takt_conv2d_f32")


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
    check(tmp_path, net, (2, 35, 12), result, "takt_conv2d_f32", 1e-5)
    rewritten, _ = rewriter.rewrite(onnx.load(tmp_path / "net.onnx"))
    turns = [node for node in rewritten.graph.node if node.op_type == "Transpose"]
    assert not any(node.output[0] in other.input for node in turns for other in rewritten.graph.node)


def test_boxes_are_selected(needs_compiler, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    onnx = pytest.importorskip("onnx")
    models, feeds = {}, {}
    for limits in ((10, 0.5, 0.1), (10 ** 18, 0.4, None)):
        for batch, classes, centered in ((1, 1, 0), (2, 3, 1)):
            most, overlap, least = limits
            constants = {"most": np.int64(most), "overlap": np.float32(overlap)}
            if least is not None:
                constants["least"] = np.float32(least)
            models[limits, batch] = of_constants(
                [onnx.helper.make_node("NonMaxSuppression", ["boxes", "scores", *constants], ["found"],
                                       center_point_box=centered),
                 onnx.helper.make_node("Gather", ["found", "last"], ["numbers"], axis=1)],
                {"boxes": ("float32", [batch, 60, 4]), "scores": ("float32", [batch, classes, 60])},
                {"found": ("int64", [None, 3]), "numbers": ("int64", [None])}, **constants, last=np.int64(2))
            rng = np.random.default_rng(5)
            feeds[limits, batch] = {"boxes": rng.random((batch, 60, 4)).astype(np.float32),
                                    "scores": rng.random((batch, classes, 60)).astype(np.float32)}
    whole, _ = compiled(tmp_path, models)
    for case, results in whole.call({case: own.values() for case, own in feeds.items()}).items():
        want = onnxruntime.InferenceSession(models[case].SerializeToString()).run(None, feeds[case])
        for a, b in zip(want, results, strict=True):
            np.testing.assert_array_equal(b, a, err_msg=str(case))
    # None at all, where there is a least score.
    without = {case: [own["boxes"], np.zeros_like(own["scores"])] for case, own in feeds.items()}
    for case, (found, numbers) in whole.call(without).items():
        assert case[0][2] is None or (found.shape == (0, 3) and numbers.shape == (0,)), case


def test_numbers_are_put_into_a_tensor(needs_compiler, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    onnx = pytest.importorskip("onnx")
    models, feeds = {}, {}
    for kind, shape, places, own in (
            ("ScatterElements", (6, 40), (9, 40), {"reduction": "add"}),
            ("ScatterElements", (3, 8, 5), (3, 11, 5), {"axis": 1}),
            ("ScatterElements", (7, 30), (7, 12), {"axis": -1}),
            ("ScatterND", (20, 6, 4), (9, 1), {"reduction": "add"}), ("ScatterND", (8, 9, 5), (6, 2), {}),
            ("ScatterND", (8, 9, 5), (2, 6, 3), {"reduction": "add"}),
            ("ScatterElements", (5, 40), (9, 40), {"reduction": "max"}),
            ("ScatterElements", (7, 31), (7, 12), {"axis": -1, "reduction": "mul"}),
            ("ScatterND", (20, 6, 3), (9, 1), {"reduction": "min"})):
        updates = places if kind == "ScatterElements" else (*places[:-1], *shape[places[-1]:])
        case = kind, shape, places
        models[case] = onnx.shape_inference.infer_shapes(of_constants(
            [onnx.helper.make_node("Neg", ["x"], ["n"]), onnx.helper.make_node(kind, ["n", "i", "u"], ["y"], **own)],
            {"x": ("float32", shape), "i": ("int64", places), "u": ("float32", updates)}, {"y": ("float32", shape)},
            18))
        random = np.random.default_rng(5)
        limits = shape[own.get("axis", 0)] if kind == "ScatterElements" else np.array(shape[:places[-1]])
        # Without a sum, ONNX leaves the order of equal places open.
        indices = random.integers(-limits, limits, places)
        feeds[case] = {"x": random.standard_normal(shape).astype(np.float32), "i": indices,
                       "u": random.standard_normal(updates).astype(np.float32)}
    whole, found = compiled(tmp_path, models)
    for case, got in whole.call({case: own.values() for case, own in feeds.items()}).items():
        assert len(found[case][1]) == 1, case
        want, = onnxruntime.InferenceSession(models[case].SerializeToString()).run(None, feeds[case])
        np.testing.assert_allclose(got, want, atol=1e-5, err_msg=str(case))


# A template in each channel; one in all channels; a mixture of kernels, as in a network of experts; kernels for each
# of some samples, which are groups; kernels for an image that is constant, as the first one of a generator is.
def test_weights_that_the_network_computes(needs_compiler, tmp_path):
    pytest.importorskip("onnx")
    from takt.rewriting import rewriter

    cases = {}
    for case in ((40, 1, 6, 40, False, False), (1, 40, 6, 1, True, False), (24, 40, 3, 1, True, False),
                 (24, 10, 3, 4, True, False), (32, 20, 3, 2, False, False), (16, 40, 3, 1, True, True)):
        outs, ins, size, groups, has_bias, is_constant = case
        net = Net()
        features = net.node("Relu", net.conv("x", 3, 40))
        mean = net.node("Reshape", net.node("GlobalAveragePool", features), net.constant(np.array([1, 40])))
        weights = net.node("Reshape", net.node("MatMul", mean, net.weights(40, outs * ins * size * size)),
                           net.constant(np.array([outs, ins, size, size])))
        bias = [net.weights(outs)] if has_bias else []
        image = net.weights(1, 40, 20, 17) if is_constant else features
        result = net.node("Tanh", net.node("Conv", image, weights, *bias, group=groups, pads=[1, 0, 0, 1]))
        cases[case] = net, [1, 3, 20, 17], result
        rewritten, _ = rewriter.rewrite(net.model(*cases[case][1:]))
        assert "Conv" not in {node.op_type for node in rewritten.graph.node}, case
    for case, (calls, _) in check_together(tmp_path, cases).items():
        assert calls["takt_conv2d_f32" if case[2] == 3 else "takt_depthwise2d_f32"], case


def test_weights_of_a_call():
    onnx = pytest.importorskip("onnx")
    from takt.rewriting import rewriter

    model = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["" : 18]>
        net (float[1,4,12,12] x, float[8,4,3,3] w, float[8] b) => (float[1,8,10,10] y) { y = Conv(x, w, b) }""")
    rewritten, kernels = rewriter.rewrite(model)
    assert "Conv" not in {node.op_type for node in rewritten.graph.node}
    assert rewriter.pays(rewritten, kernels)
