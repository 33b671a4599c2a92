"""Networks whose operators the compiler does not take."""

import functools
import math
import warnings

import numpy as np
import pytest

import takt
import together

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

from takt.networks import subgraphs  # noqa: E402
from takt.porting import porter  # noqa: E402
from takt.rewriting import rewriter  # noqa: E402

RNG = np.random.default_rng(7)


def floats(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def model_of(nodes, inputs, results, opset=17, **constants):
    """`inputs`: shapes of floats by name, or (element, shape)."""
    def info(name, shape):
        element, shape = shape if isinstance(shape, tuple) else (TensorProto.FLOAT, shape)
        return helper.make_tensor_value_info(name, element, shape)

    graph = helper.make_graph(
        nodes, "net", [info(*each) for each in inputs.items()],
        [info(name, shape) for name, shape in results.items()],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()])
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)],
        ir_version=8)


def kinds(model):
    return [node.op_type for node in model.graph.node]


def run(model, feeds):
    return ReferenceEvaluator(model).run(None, feeds)


def shape_of(value):
    return [dim.dim_value for dim in value.type.tensor_type.shape.dim]


def check(model, feeds, gone, tolerance=1e-5):
    """The ported model computes the same without operators of the kind `gone`."""
    ported = porter.port(model)
    onnx.checker.check_model(ported)
    assert gone not in kinds(ported)
    wanted, found = run(model, feeds), run(ported, feeds)
    for a, b, value in zip(wanted, found, ported.graph.output):
        np.testing.assert_allclose(b, a, rtol=0, atol=tolerance * max(1, np.abs(a).max()))
        assert shape_of(value) == list(a.shape)
    return ported


@pytest.mark.parametrize("shape", [[2, 11], ["n", "m"]])
@pytest.mark.parametrize("mode, pads", [
    ("reflect", [0, 5, 0, 7]),
    ("edge", [1, 2, 0, 3]),
    ("edge", [0, -2, 0, 3]),
    ("edge", [0, -2, 0, -3]),
    ("reflect", [0, 4, 0, -3]),
])
def test_padding_copies_the_sides(shape, mode, pads):
    model = model_of([helper.make_node("Pad", ["x", "pads"], ["y"], mode=mode)],
                     {"x": shape}, {"y": None}, pads=np.array(pads))
    x = floats(2, 11)
    ported = porter.port(model)
    assert "Pad" not in kinds(ported)
    cut = x[:, max(-pads[1], 0):11 - max(-pads[3], 0)]
    wanted = np.pad(cut, [(pads[0], pads[2]), (max(pads[1], 0), max(pads[3], 0))], mode)
    np.testing.assert_array_equal(run(ported, {"x": x})[0], wanted)


def test_padding_with_zeros_stays():
    model = model_of([helper.make_node("Pad", ["x", "pads"], ["y"])],
                     {"x": [2, 11]}, {"y": None}, pads=np.array([0, 1, 0, 1]))
    assert kinds(porter.port(model)) == ["Pad"]


@pytest.mark.parametrize("shape", [[2, 40], [2, 40, 1]])
@pytest.mark.parametrize("onesided", [0, 1])
def test_transforms_of_frames_are_convolutions(shape, onesided):
    model = model_of([helper.make_node("STFT", ["x", "step", "window"], ["y"], onesided=onesided)],
                     {"x": shape}, {"y": None}, step=np.int64(4), window=np.hanning(16).astype(np.float32))
    x = floats(*shape)
    ported = porter.port(model)
    assert "STFT" not in kinds(ported)
    frames = np.stack([x.reshape(2, 40)[:, i:i + 16] for i in range(0, 25, 4)], 1) * np.hanning(16)
    wanted = np.fft.rfft(frames) if onesided else np.fft.fft(frames)
    found = run(ported, {"x": x})[0]
    np.testing.assert_allclose(found[..., 0] + 1j * found[..., 1], wanted, atol=1e-4)
    assert shape_of(ported.graph.output[0]) == list(found.shape)


@pytest.mark.parametrize("length", [12, 16, 9])
def test_transforms_are_products(length):
    model = model_of([helper.make_node("DFT", ["x", "length"], ["y"], axis=-2, onesided=1)],
                     {"x": [3, 12, 1]}, {"y": None}, length=np.int64(length))
    x = floats(3, 12, 1)
    found = run(porter.port(model), {"x": x})[0]
    np.testing.assert_allclose(
        found[..., 0] + 1j * found[..., 1], np.fft.rfft(x[..., 0], length, axis=1), atol=1e-4)


def test_parts_of_some_numbers_of_a_transform_are_read_as_they_are():
    """iree-compile 3.13 fails at some operators that read every second number."""
    model = model_of([helper.make_node("DFT", ["x"], ["f"], axis=1, onesided=1),
                      helper.make_node("Slice", ["f", "first", "last", "axes"], ["few"]),
                      helper.make_node("Gather", ["few", "one"], ["imaginary"], axis=-1),
                      helper.make_node("Gather", ["few", "zero"], ["real"], axis=3),
                      helper.make_node("Sub", ["real", "imaginary"], ["y"])],
                     {"x": [3, 12, 2, 1]}, {"y": None}, first=np.array([1]), last=np.array([5]), axes=np.array([-3]),
                     zero=np.int64(0), one=np.int64(1))
    ported = porter.port(model)
    assert sorted(kinds(ported)) == ["MatMul", "MatMul", "Reshape", "Slice", "Slice", "Sub", *["Transpose"] * 3]
    x = floats(3, 12, 2, 1)
    wanted = np.fft.rfft(x[..., 0], axis=1)[:, 1:5]
    np.testing.assert_allclose(run(ported, {"x": x})[0], wanted.real - wanted.imag, atol=1e-4)


@pytest.mark.parametrize("kind, gates", [("GRU", 3), ("LSTM", 4), ("RNN", 1)])
@pytest.mark.parametrize("direction, count", [("bidirectional", 2), ("reverse", 1)])
def test_layers_run_forwards(kind, gates, direction, count):
    steps, batch, width, hidden = 5, 2, 3, 4
    results = ["y", "h", "c"] if kind == "LSTM" else ["y", "h"]
    states = ["h0", "c0"] if kind == "LSTM" else ["h0"]
    own = {"linear_before_reset": 1} if kind == "GRU" else {}
    weights = {"w": floats(count, gates * hidden, width), "r": floats(count, gates * hidden, hidden),
               "b": floats(count, 2 * gates * hidden)}
    model = model_of(
        [helper.make_node(kind, ["x", "w", "r", "b", "", *states], results, direction=direction,
                          hidden_size=hidden, **own)],
        {"x": [steps, batch, width], **{name: [count, batch, hidden] for name in states}},
        {name: None for name in results}, **weights)
    ported = porter.port(model)
    layers = [node for node in ported.graph.node if node.op_type == kind]
    assert len(layers) == count
    assert not any(each.name == "direction" for node in layers for each in node.attribute)
    # Each direction for itself.
    x, h0, c0 = floats(steps, batch, width), floats(count, batch, hidden), floats(count, batch, hidden)
    feeds = {"x": x, "h0": h0} | ({"c0": c0} if kind == "LSTM" else {})
    found = run(ported, feeds)
    for i in range(count):
        is_backward = direction == "reverse" or i == 1
        single = model_of(
            [helper.make_node(kind, ["x", "w", "r", "b", "", *states], results, hidden_size=hidden, **own)],
            {"x": [steps, batch, width], **{name: [1, batch, hidden] for name in states}},
            {name: None for name in results}, **{name: each[i:i + 1] for name, each in weights.items()})
        ordered = x[::-1] if is_backward else x
        wanted = run(single, {name: ordered if name == "x" else each[i:i + 1] for name, each in feeds.items()})
        y = wanted[0][::-1] if is_backward else wanted[0]
        np.testing.assert_allclose(found[0][:, i:i + 1], y, atol=1e-5)
        for k in range(1, len(results)):
            np.testing.assert_allclose(found[k][i:i + 1], wanted[k], atol=1e-5)


def ort_run(model, feeds):
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


@pytest.mark.parametrize("kind, gates", [("GRU", 3), ("LSTM", 4), ("RNN", 1)])
@pytest.mark.parametrize("direction, count", [("forward", 1), ("bidirectional", 2), ("reverse", 1)])
def test_layers_end_with_their_sequences(kind, gates, direction, count):
    steps, batch, width, hidden = 6, 4, 3, 5
    results = ["y", "h", "c"] if kind == "LSTM" else ["y", "h"]
    states = ["h0", "c0"] if kind == "LSTM" else ["h0"]
    model = model_of(
        [helper.make_node(kind, ["x", "w", "r", "b", "lengths", *states], results, direction=direction,
                          hidden_size=hidden, **({"linear_before_reset": 1} if kind == "GRU" else {}))],
        {"x": [steps, batch, width], "lengths": (TensorProto.INT32, [batch])},
        {name: None for name in results}, w=floats(count, gates * hidden, width),
        r=floats(count, gates * hidden, hidden), b=floats(count, 2 * gates * hidden),
        **{name: floats(count, batch, hidden) for name in states})
    ported = porter.port(model)
    layers = [node for node in ported.graph.node if node.op_type == kind]
    assert len(layers) == count
    assert not any(len(node.input) > 4 and node.input[4] for node in layers)
    for lengths in ([6, 0, 3, 1], [6, 6, 6, 6]):
        feeds = {"x": floats(steps, batch, width), "lengths": np.array(lengths, np.int32)}
        for a, b in zip(ort_run(model, feeds), ort_run(ported, feeds)):
            np.testing.assert_allclose(b, a, atol=1e-5)


def test_a_cell_that_cannot_be_frozen_stays():
    weights = {"w": floats(1, 20, 3), "r": floats(1, 20, 5)}
    change = {"clip": 3.0}
    for outputs, is_kept in ((["y", "h", "c"], True), (["y", "h"], False)):
        model = model_of(
            [helper.make_node("LSTM", ["x", "w", "r", "", "lengths"], outputs, hidden_size=5, **change)],
            {"x": [6, 4, 3], "lengths": (TensorProto.INT32, [4])}, {name: None for name in outputs}, **weights)
        assert (kinds(porter.port(model)) == ["LSTM"]) == is_kept


@pytest.mark.parametrize("axes", [{}, {"time_axis": 1, "batch_axis": 0}])
def test_the_begin_of_a_sequence_is_reversed(axes):
    model = model_of([helper.make_node("ReverseSequence", ["x", "lengths"], ["y"], **axes)],
                     {"x": [5, 5, 2], "lengths": (TensorProto.INT64, [5])}, {"y": [5, 5, 2]})
    check(model, {"x": floats(5, 5, 2), "lengths": np.array([1, 5, 3, 2, 4])}, "ReverseSequence", 0)


def test_a_layer_whose_sequences_end_runs(tmp_path):
    model = model_of(
        [helper.make_node("LSTM", ["x", "w", "r", "", "lengths"], ["y", "h", "c"], hidden_size=16,
                          direction="bidirectional")],
        {"x": [6, 3, 8], "lengths": (TensorProto.INT32, [3])}, {"y": None, "h": None, "c": None},
        w=floats(2, 64, 8), r=floats(2, 64, 16))
    onnx.save(model, tmp_path / "net.onnx")
    feeds = {"x": floats(6, 3, 8), "lengths": np.array([2, 6, 5], np.int32)}
    found = takt.compile(tmp_path / "net.onnx", cache=tmp_path).load().net(feeds["x"], feeds["lengths"])
    for a, b in zip(ort_run(model, feeds), found):
        np.testing.assert_allclose(b, a, atol=1e-5)


@pytest.mark.parametrize("filters, taps, stride, pads, samples", [
    (20, 40, 16, [0, 0], 200),  # A step of 16 samples, and a kernel of three steps.
    (20, 48, 16, [5, 9], 201),
    (1, 33, 1, [16, 16], 70),   # Sixteen results in a step.
    (3, 64, 2, [0, 3], 333),
    (2, 40, 5, [0, 0], 60),     # Fewer results than a step has.
])
@pytest.mark.parametrize("rank", [1, 2])
def test_long_filters_have_many_channels(filters, taps, stride, pads, samples, rank):
    ones = [1] * (rank - 1)
    model = model_of(
        [helper.make_node("Conv", ["x", "w", "b"], ["y"], strides=[*ones, stride],
                          pads=[*[0] * (rank - 1), pads[0], *[0] * (rank - 1), pads[1]])],
        {"x": [2, 1, *ones, samples]}, {"y": None}, w=floats(filters, 1, *ones, taps), b=floats(filters))
    ported = check(model, {"x": floats(2, 1, *ones, samples)}, "none")
    weights = next(node.input[1] for node in ported.graph.node if node.op_type == "Conv")
    channels = next(tensor.dims[1] for tensor in ported.graph.initializer if tensor.name == weights)
    assert channels >= min(8, taps)


@pytest.mark.parametrize("opset", [17, 18])
@pytest.mark.parametrize("keepdims", [0, 1])
def test_means_of_large_images_are_taken_in_two_steps(opset, keepdims):
    axes = {"axes": [-1, 2]} if opset == 17 else {}
    inputs = ["x"] if opset == 17 else ["x", "axes"]
    model = model_of([helper.make_node("ReduceMean", inputs, ["y"], keepdims=keepdims, **axes)],
                     {"x": [1, 2, 64, 64]}, {"y": None}, opset, **({"axes": np.array([-1, 2])} if opset == 18 else {}))
    ported = check(model, {"x": floats(1, 2, 64, 64) + 10}, "none")
    assert kinds(ported)[:2] == ["ReduceMean", "ReduceMean"]


def test_the_mean_of_a_large_image_is_exact(needs_compiler, tmp_path):
    """The compiler's sum of so many pixels is wrong in the fifth digit."""
    model = model_of([helper.make_node("GlobalAveragePool", ["x"], ["y"])], {"x": [1, 4, 256, 256]}, {"y": None})
    path = tmp_path / "net.onnx"
    onnx.save(model, path)
    x = floats(1, 4, 256, 256) * 3 + 10
    found = takt.compile(path, cache=tmp_path).load().net(x)
    np.testing.assert_allclose(found, x.astype(np.float64).mean((2, 3), keepdims=True), rtol=1e-6)


def test_the_mean_of_a_large_image_is_a_call(needs_compiler, tmp_path):
    cases, x = {}, floats(1, 3, 96, 80)
    for keeps in (0, 1):
        model = model_of([helper.make_node("Conv", ["x", "w"], ["c"], pads=[1] * 4),
                          helper.make_node("ReduceMean", ["c"], ["y"], axes=[2, 3], keepdims=keeps)],
                         {"x": [1, 3, 96, 80]}, {"y": None}, w=floats(20, 3, 3, 3))
        cases[keeps] = model
        _, kernels = rewriter.rewrite(porter.port(model))
        assert "takt_mean_pool2d_f32" in [kernel.function for kernel in kernels], keeps
    whole = together.compiled(tmp_path, cases, "native")
    assert b"takt_mean_pool2d_f32" in whole.artifact.path.read_bytes()
    for keeps, found in whole.call({keeps: [x] for keeps in cases}).items():
        wanted = run(cases[keeps], {"x": x})[0]
        assert found.shape == wanted.shape, keeps
        np.testing.assert_allclose(found, wanted, atol=1e-5, err_msg=f"keepdims {keeps}")


def indices_of(*ranges):
    return np.stack(np.meshgrid(*[np.arange(*each) for each in ranges], indexing="ij"), -1)


@pytest.mark.parametrize("block", [[(0, 2), (1, 4)], [(1, 2)], [(0, 2), (0, 5), (2, 3)], [(0, 2), (0, 5), (0, 4)],
                                   [(-1, 0), (2, 5)]])
def test_blocks_that_are_set_are_put_in_between(block):
    indices = indices_of(*block)
    rest = [2, 5, 4][len(block):]
    model = model_of([helper.make_node("ScatterND", ["x", "i", "u"], ["y"])],
                     {"x": [2, 5, 4], "u": [*indices.shape[:-1], *rest]}, {"y": None}, i=indices)
    check(model, {"x": floats(2, 5, 4), "u": floats(*indices.shape[:-1], *rest)}, "ScatterND")


@pytest.mark.parametrize("indices", [indices_of((0, 4, 2)), indices_of((0, 2), (3, 1, -1)), np.array([[0], [2]])])
def test_other_places_are_scattered(indices):
    rest = [5, 4, 3][indices.shape[-1]:]
    model = model_of([helper.make_node("ScatterND", ["x", "i", "u"], ["y"])],
                     {"x": [5, 4, 3], "u": [*indices.shape[:-1], *rest]}, {"y": None}, i=indices)
    assert kinds(porter.port(model)) == ["ScatterND"]


@pytest.mark.parametrize("axis, sizes, first", [(1, [2, 1, 4], 2), (-2, [2, 1, 4], -1), (2, [2, 5, 2], 1),
                                                (0, [1, 3, 2], 1), (1, [2, 5, 4], 0)])
def test_elements_that_are_set_in_a_row_are_put_in_between(axis, sizes, first):
    places = np.indices(sizes)[axis] + first
    model = model_of([helper.make_node("ScatterElements", ["x", "i", "u"], ["y"], axis=axis)],
                     {"x": [2, 5, 4], "u": sizes}, {"y": None}, i=places)
    check(model, {"x": floats(2, 5, 4), "u": floats(*sizes)}, "ScatterElements")


@pytest.mark.parametrize("is_turned", [False, True])
def test_blocks_are_put_in_between_without_transpositions(is_turned):
    """As PyTorch exports x[:, :, 1:3] = u."""
    turn = functools.partial(helper.make_node, "Transpose", perm=[2, 0, 1])
    nodes = [turn(["x"], ["a"]), *([turn(["u"], ["b"])] if is_turned else []),
             helper.make_node("ScatterND", ["a", "i", "b" if is_turned else "u"], ["c"]),
             helper.make_node("Transpose", ["c"], ["y"], perm=[1, 2, 0])]
    given = [2, 5, 2] if is_turned else [2, 2, 5]
    model = model_of(nodes, {"x": [2, 5, 4], "u": given}, {"y": None}, i=np.array([[1], [2]]))
    ported = check(model, {"x": floats(2, 5, 4), "u": floats(*given)}, "ScatterND")
    assert kinds(ported).count("Transpose") == (0 if is_turned else 1)


@pytest.mark.parametrize("places", [[[0, 0, 0]], [[2, 1, 0]], [[0, 1, 1], [1, 2, 2]]])
def test_other_elements_are_scattered(places):
    model = model_of([helper.make_node("ScatterElements", ["x", "i", "u"], ["y"], axis=1)],
                     {"x": [2, 5], "u": list(np.shape(places))}, {"y": None}, i=np.array(places))
    assert kinds(porter.port(model)) == ["ScatterElements"]


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("indices", [2, -1, [1], [1, 2], [-2, -1], [0, 1, 2]])
def test_places_one_after_the_other_are_slices(axis, indices):
    indices = np.array(indices, np.int64)
    shape = list(np.take(np.zeros((3, 4, 5)), indices, axis).shape)
    gather = helper.make_node("Gather", ["x", "i"], ["y"], axis=axis)
    check(model_of([gather], {"x": [3, 4, 5]}, {"y": shape}, i=indices), {"x": floats(3, 4, 5)}, "Gather")


@pytest.mark.parametrize("indices", [[1, 0], [0, 2], [1, 1], [[1, 2]]])
def test_other_places_are_gathered(indices):
    indices = np.array(indices, np.int64)
    gather = helper.make_node("Gather", ["x", "i"], ["y"])
    assert "Gather" in kinds(porter.port(model_of([gather], {"x": [3, 4]}, {"y": [*indices.shape, 4]}, i=indices)))


def test_a_convolution_with_one_result_has_no_pixels_behind():
    model = model_of([helper.make_node("Conv", ["x", "w"], ["y"], strides=[2], pads=[1, 1])],
                     {"x": [1, 4, 2]}, {"y": None}, w=floats(3, 4, 3))
    ported = check(model, {"x": floats(1, 4, 2)}, "none")
    pads = next(each.ints for each in ported.graph.node[0].attribute if each.name == "pads")
    assert list(pads) == [1, 0]


@pytest.mark.parametrize("bias", [{}, {"b": np.arange(3, dtype=np.float32)}])
def test_a_convolution_of_padding_alone_is_its_bias(bias):
    network = model_of(
        [helper.make_node("Conv", ["x", "w", *bias], ["y"], pads=[2, 0, 0, 0], strides=[3, 1])],
        {"x": [2, 4, 1, 5]}, {"y": [2, 3, 1, 5]}, w=floats(3, 4, 1, 1), **bias)
    check(network, {"x": floats(2, 4, 1, 5)}, "Conv")


def check_compiled(folder, cases, check=np.testing.assert_array_equal):
    """Networks that are compiled at once give the results of ONNX Runtime."""
    given = {case: (model, feeds.values()) for case, (model, feeds) in cases.items()}
    for case, found in together.results(folder, given).items():
        check(found, ort_run(*cases[case])[0], err_msg=str(case))


def test_pools_end_with_their_last_window(needs_compiler, tmp_path):
    cases = {}
    for kind, own in (
            ("AveragePool", {"kernel_shape": [2, 2], "strides": [3, 3], "pads": [1, 0, 0, 0]}),
            ("MaxPool", {"kernel_shape": [1, 3], "strides": [1, 3], "ceil_mode": 1}),
            ("MaxPool", {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1, "pads": [1, 1, 0, 0]}),
            ("MaxPool", {"kernel_shape": [3, 2], "strides": [1, 4], "pads": [1, 0, 1, 0]})):
        model = model_of([helper.make_node(kind, ["x"], ["y"], **own)], {"x": [2, 3, 4, 4]}, {"y": None})
        cases[f"{kind} {own}"] = model, {"x": floats(2, 3, 4, 4)}
    check_compiled(tmp_path, cases, functools.partial(np.testing.assert_allclose, atol=1e-5))


def test_padding_is_less_than_the_bytes_of_pools(needs_compiler, tmp_path):
    cases = {}
    for sides, own in (
            ([6, 6], {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER"}),
            ([4, 1], {"kernel_shape": [2, 2], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
            ([4, 3], {"kernel_shape": [2, 2], "strides": [2, 2], "pads": [1, 1, 1, 1], "ceil_mode": 1}),
            ([7], {"kernel_shape": [2], "strides": [2], "pads": [1, 0]}),
            ([4, 5, 5], {"kernel_shape": [2, 2, 2], "strides": [2, 2, 2], "pads": [1, 1, 1, 1, 0, 0]})):
        model = model_of([helper.make_node("MaxPool", ["x"], ["y"], **own)], {"x": [2, 3, *sides]}, {"y": None})
        for value in (*model.graph.input, *model.graph.output):
            value.type.tensor_type.elem_type = onnx.TensorProto.INT8
        cases[str(own)] = model, {"x": np.random.default_rng(1).integers(-128, -1, (2, 3, *sides), np.int8)}
    check_compiled(tmp_path, cases)


def test_channels_become_pixels(needs_compiler, tmp_path):
    check_compiled(tmp_path, {mode: (
        model_of([helper.make_node("DepthToSpace", ["x"], ["y"], blocksize=3, mode=mode)], {"x": [1, 9, 2, 1]},
                 {"y": [1, 1, 6, 3]}), {"x": floats(1, 9, 2, 1)}) for mode in ("DCR", "CRD")})


@pytest.mark.parametrize("shape, weights, group, convolutions, options", [
    ((2, 4, 5, 6), (4, 1, 4, 4), 4, 4, {"strides": [2, 2], "pads": [1] * 4}),
    ((1, 6, 5, 4), (6, 6, 3, 3), 3, 4, {"strides": [2, 2], "pads": [1] * 4, "output_padding": [1, 1]}),
    ((1, 4, 5, 4), (4, 9, 3, 5), 2, 6, {"strides": [2, 3], "pads": [0, 2, 1, 1]}),
    ((1, 4, 7), (4, 1, 5), 4, 2, {"strides": [2], "pads": [2, 1]}),
    ((1, 2, 3, 4, 3), (2, 1, 2, 3, 2), 2, 8, {"strides": [2, 2, 2]}),
    ((1, 4, 5, 6), (4, 1, 3, 3), 4, 4, {"strides": [2, 2], "dilations": [2, 1]}),
    ((1, 4, 5, 6), (4, 1, 2, 2), 4, 4, {"strides": [3, 3]}),
    # By one over images with zeros: no stride.
    ((1, 4, 5, 6), (4, 1, 3, 3), 4, 1, {"pads": [1] * 4}),
    ((1, 4, 5, 6), (4, 3, 3, 2), 1, 1, {"dilations": [2, 3], "pads": [2, 1, 1, 0]}),
])
def test_transposed_convolutions_of_groups(shape, weights, group, convolutions, options):
    network = model_of([helper.make_node("ConvTranspose", ["x", "w", "b"], ["y"], group=group, **options)],
                       {"x": list(shape)}, {"y": None}, w=floats(*weights), b=floats(weights[1] * group))
    ported = porter.port(network)
    assert kinds(ported).count("Conv") == convolutions and "ConvTranspose" not in kinds(ported)
    x = {"x": floats(*shape)}
    np.testing.assert_allclose(ort_run(ported, x)[0], ort_run(network, x)[0], rtol=0, atol=1e-4)


@pytest.mark.parametrize("shape, weights, group, options", [
    ((2, 4, 5, 6), (4, 1, 4, 4), 4, {"strides": [2, 2], "pads": [2, 1, 2, 1]}),
    ((1, 6, 5, 4), (6, 5, 3, 2), 3, {"strides": [2, 3], "pads": [1, 0, 0, 1], "output_padding": [1, 2]}),
    ((1, 4, 7), (4, 3, 5), 2, {"dilations": [2]}),
    ((1, 4, 5, 6), (4, 3, 4, 4), 1, {"strides": [2, 2], "pads": [1] * 4}),
    ((2, 4, 5, 6), (4, 3, 3, 4), 1, {"strides": [3, 2], "pads": [1, 1, 0, 2], "output_padding": [2, 1]}),
    ((1, 4, 5, 6), (4, 3, 3, 3), 1, {"pads": [1] * 4}),
    ((1, 4, 5, 6), (4, 3, 3, 2), 1, {"strides": [2, 1], "dilations": [2, 3], "pads": [2, 1, 1, 0]}),
])
def test_transposed_convolutions_of_groups_whose_weights_a_call_brings(needs_compiler, tmp_path, shape, weights, group,
                                                                       options):
    network = model_of([helper.make_node("ConvTranspose", ["x", "w", "b"], ["y"], group=group, **options)],
                       {"x": list(shape), "w": list(weights), "b": [weights[1] * group]}, {"y": None})
    assert "ConvTranspose" not in kinds(porter.port(network))
    feeds = {"x": floats(*shape), "w": floats(*weights), "b": floats(weights[1] * group)}
    check_compiled(tmp_path, {"": (network, feeds)}, functools.partial(np.testing.assert_allclose, atol=1e-4))


@pytest.mark.parametrize("shape, weights, group, options", [
    ((1, 6, 5, 4), (6, 4, 2, 2), 1, {"strides": [4, 4]}),
    ((2, 6, 5, 4), (6, 4, 1, 3), 1, {"strides": [3, 2], "pads": [2, 1, 0, 1], "output_padding": [2, 1]}),
    ((1, 6, 5, 4), (6, 2, 2, 1), 3, {"strides": [3, 3], "pads": [1, 0, 1, 2], "output_padding": [2, 0]}),
    ((1, 6, 9), (6, 5, 2), 1, {"strides": [5], "output_padding": [4]}),
    ((1, 6, 3, 4, 5), (6, 2, 1, 3, 3), 1, {"strides": [2, 2, 2]}),
])
@pytest.mark.parametrize("is_constant", [True, False])
def test_results_that_no_tap_reaches_are_zeros_between_the_others(shape, weights, group, options, is_constant):
    w = floats(*weights)
    given, constants = ({}, {"w": w}) if is_constant else ({"w": w}, {})
    network = model_of(
        [helper.make_node("ConvTranspose", ["x", "w", "b"], ["y"], group=group, kernel_shape=weights[2:], **options)],
        {"x": list(shape), **{name: list(each.shape) for name, each in given.items()}}, {"y": None}, **constants,
        b=floats(weights[1] * group))
    ported = porter.port(network)
    assert all(min(stride, taps) == stride for stride, taps in _strides_and_taps(ported))
    x = {"x": floats(*shape), **given}
    np.testing.assert_allclose(ort_run(ported, x)[0], ort_run(network, x)[0], rtol=0, atol=1e-4)


def _strides_and_taps(network):
    """Of each dimension of each transposed convolution."""
    for node in network.graph.node:
        if node.op_type == "ConvTranspose":
            own = {each.name: list(each.ints) for each in node.attribute}
            yield from zip(own["strides"], own["kernel_shape"])


@pytest.mark.parametrize("weights, group", [((6, 2, 3, 3), 3), ((8, 8, 3, 2), 2)])
def test_small_groups_of_transposed_convolutions_are_one(weights, group):
    network = model_of([helper.make_node("ConvTranspose", ["x", "w", "b"], ["y"], group=group, strides=[2, 2])],
                       {"x": [2, weights[0], 5, 4]}, {"y": None}, w=floats(*weights), b=floats(weights[1] * group))
    ported = porter.port(network)
    node, = ported.graph.node
    assert node.op_type == "ConvTranspose" and helper.get_node_attr_value(node, "group") == 1
    x = {"x": floats(2, weights[0], 5, 4)}
    np.testing.assert_allclose(ort_run(ported, x)[0], ort_run(network, x)[0], rtol=0, atol=1e-4)


def test_taps_that_lie_apart_have_zeros_between_them():
    network = model_of([helper.make_node("ConvTranspose", ["x", "w", "b"], ["y"], strides=[2, 3], dilations=[3, 1],
                                         pads=[1, 2, 1, 0], output_padding=[1, 2])],
                       {"x": [1, 4, 5, 6]}, {"y": None}, w=floats(4, 3, 3, 2), b=floats(3))
    ported = porter.port(network)
    assert all(each.name != "dilations" for node in ported.graph.node for each in node.attribute)
    x = {"x": floats(1, 4, 5, 6)}
    np.testing.assert_allclose(ort_run(ported, x)[0], ort_run(network, x)[0], rtol=0, atol=1e-4)


@pytest.mark.parametrize("way", ["SAME_UPPER", "SAME_LOWER", "VALID"])
@pytest.mark.parametrize("kind", ["Conv", "MaxPool", "AveragePool"])
def test_the_padding_of_windows_is_stated(kind, way):
    own = {"auto_pad": way, "strides": [2, 3], "kernel_shape": [4, 3]}
    network = model_of([helper.make_node(kind, ["x", "w"] if kind == "Conv" else ["x"], ["y"], **own)],
                       {"x": [2, 4, 7, 11]}, {"y": None}, w=floats(3, 4, 4, 3))
    ported = porter.port(network)
    assert all(each.name != "auto_pad" for each in ported.graph.node[0].attribute)
    x = floats(2, 4, 7, 11)
    np.testing.assert_allclose(ort_run(ported, {"x": x})[0], ort_run(network, {"x": x})[0], atol=1e-5)


@pytest.mark.parametrize("pads", [[0, 1, 0, -1], [-2, 0, 1, 0], [-1, -1, -1, -2]])
def test_negative_pads_cut(pads):
    network = model_of([helper.make_node("Pad", ["x", "pads"], ["y"])], {"x": [6, 9]}, {"y": None},
                       pads=np.array(pads))
    ported = porter.port(network)
    known = {tensor.name: numpy_helper.to_array(tensor) for tensor in ported.graph.initializer}
    assert all((known[node.input[1]] >= 0).all() for node in ported.graph.node if node.op_type == "Pad")
    x = floats(6, 9)
    assert (ort_run(ported, {"x": x})[0] == ort_run(network, {"x": x})[0]).all()


def test_a_known_branch_is_taken():
    def branch(name, kind):
        return helper.make_graph(
            [helper.make_node("Constant", [], ["same"], value=numpy_helper.from_array(np.float32(3))),
             helper.make_node(kind, ["x", "same"], ["result"])],
            name, [], [helper.make_tensor_value_info("result", TensorProto.FLOAT, None)])

    def choice(condition, output):
        return helper.make_node("If", [condition], [output], then_branch=branch("a", "Mul"),
                                else_branch=branch("b", "Add"))

    model = model_of(
        [helper.make_node("Shape", ["x"], ["sizes"]),
         helper.make_node("Size", ["sizes"], ["rank"]),
         helper.make_node("Equal", ["rank", "two"], ["is_matrix"]),
         helper.make_node("Not", ["is_matrix"], ["is_other"]),
         choice("is_matrix", "p"), choice("is_other", "q"),
         helper.make_node("Sub", ["p", "q"], ["y"])],
        {"x": [2, 3]}, {"y": None}, two=np.int64(2))
    check(model, {"x": floats(2, 3)}, "If")


def test_branches_that_are_chosen_in_a_call_are_ported(needs_compiler, tmp_path):
    """With a convolution that the compiler takes for a product."""
    def branch(name, weights):
        return helper.make_graph(
            [helper.make_node("Conv", ["x", weights, "b"], ["result"], strides=[2], pads=[1, 1])],
            name, [], [helper.make_tensor_value_info("result", TensorProto.FLOAT, [1, 3, 1])],
            [numpy_helper.from_array(np.ones(3, np.float32), "b")])

    w, v = floats(3, 4, 3), floats(3, 4, 3)
    model = model_of(
        [helper.make_node("If", ["is_first"], ["y"], then_branch=branch("a", "w"), else_branch=branch("b", "v"))],
        {"x": [1, 4, 2], "is_first": (TensorProto.BOOL, [])}, {"y": [1, 3, 1]}, w=w, v=v)
    path = tmp_path / "net.onnx"
    onnx.save(model, path)
    net = takt.compile(path, cache=tmp_path).load().net
    x = floats(1, 4, 2)
    padded = np.pad(x, [(0, 0), (0, 0), (1, 0)])
    for is_first, weights in ((True, w), (False, v)):
        wanted = np.einsum("nct,oct->no", padded, weights)[..., None] + 1
        np.testing.assert_allclose(net(x, np.array(is_first)), wanted, atol=1e-5)


def test_branches_know_the_constants_of_the_network():
    """A Constant node is one, as an initializer is."""
    def branch(name, kind):
        return helper.make_graph(
            [helper.make_node("ConstantOfShape", ["count"], ["zeros"], value=numpy_helper.from_array(np.array([0]))),
             helper.make_node("Concat", ["zeros", "sides"], ["pads"], axis=0),
             helper.make_node("Pad", ["x", "pads"], ["wide"], mode="reflect"),
             helper.make_node(kind, ["wide"], ["result"])],
            name, [], [helper.make_tensor_value_info("result", TensorProto.FLOAT, None)])

    model = model_of(
        [helper.make_node("Constant", [], ["sides"], value=numpy_helper.from_array(np.array([0, 2]), "other")),
         helper.make_node("If", ["is_first"], ["y"], then_branch=branch("a", "Neg"), else_branch=branch("b", "Exp"))],
        {"x": [3, 4], "is_first": (TensorProto.BOOL, [])}, {"y": None}, count=[2])
    ported = porter.port(model)
    for graph in subgraphs.subgraphs_of(ported.graph.node[-1]):
        assert not {"ConstantOfShape", "Pad"} & {node.op_type for node in graph.node}
    for is_first in (True, False):
        feeds = {"x": floats(3, 4), "is_first": np.array(is_first)}
        assert (ort_run(ported, feeds)[0] == ort_run(model, feeds)[0]).all()


def test_constants_of_old_files_are_inputs(needs_compiler, tmp_path):
    w, b = floats(3, 5), floats(5)
    model = model_of([helper.make_node("Identity", ["v"], ["w"]), helper.make_node("MatMul", ["x", "w"], ["p"]),
                      helper.make_node("Add", ["p", "b"], ["y"])],
                     {"x": [2, 3], "v": [3, 5], "b": [5]}, {"y": [2, 5]}, 9, v=w, b=b)
    model.ir_version = 3
    path = tmp_path / "net.onnx"
    onnx.save(model, path)
    net = takt.compile(path, cache=tmp_path).load().net
    assert [value["name"] for value in net.inputs] == ["x"]
    x = floats(2, 3)
    np.testing.assert_allclose(net(x), x @ w + b, atol=1e-5)


def test_wrong_shapes_of_results_are_replaced():
    model = model_of([helper.make_node("Relu", ["x"], ["y"])], {"x": [2, 3]}, {"y": [1, "n"]})
    assert shape_of(porter.port(model).graph.output[0]) == [2, 3]


@pytest.mark.parametrize("own", [{"mode": "linear"}, {"mode": "nearest", "nearest_mode": "floor",
                                                      "coordinate_transformation_mode": "asymmetric"}])
def test_sequences_are_resized_to_computed_lengths(needs_compiler, tmp_path, own):
    runtime = pytest.importorskip("onnxruntime")
    node = helper.make_node
    model = model_of(
        [node("Shape", ["x"], ["before"], end=2), node("Shape", ["x"], ["steps"], start=2),
         node("Mul", ["steps", "three"], ["more"]), node("Div", ["more", "two"], ["most"]),
         node("Concat", ["before", "most"], ["sizes"], axis=0), node("Resize", ["x", "", "", "sizes"], ["y"], **own)],
        {"x": ["n", 3, "steps"]}, {"y": [None] * 3}, three=[3], two=[2])
    onnx.save(model, tmp_path / "net.onnx")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Of open sizes.
        function = takt.compile(tmp_path / "net.onnx", cache=tmp_path).load(device="local-sync").function()
    session = runtime.InferenceSession(tmp_path / "net.onnx")
    for shape in ((1, 3, 1), (2, 3, 9), (3, 3, 40)):
        x = floats(*shape)
        np.testing.assert_allclose(function(x), session.run(None, {"x": x})[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("own, what", [
    ({"antialias": 1}, "antialias"), ({"axes": [2, 3]}, "axes"),
    ({"coordinate_transformation_mode": "half_pixel_symmetric"}, "half_pixel_symmetric"),
    ({"coordinate_transformation_mode": "tf_crop_and_resize"}, "tf_crop_and_resize")])
def test_a_resize_that_needs_known_sizes_says_so(own, what):
    scales = [2.0] * (2 if "axes" in own else 4)
    model = model_of(
        [helper.make_node("Resize", ["x", "", "scales"], ["y"], name="large", mode="linear", **own)],
        {"x": [1, 3, "rows", 8]}, {"y": [None] * 4}, opset=19, scales=np.array(scales, np.float32))
    with pytest.raises(takt.CompileError, match=f"Resize 'large': with {what} all of its sizes must be known"):
        porter.port(model)


@pytest.mark.parametrize("recipe", [None, "plain"])
def test_sizes_of_results_that_an_exporter_recorded_are_open(needs_compiler, tmp_path, recipe):
    """They were believed, and a call read beyond its tensors."""
    node = helper.make_node
    model = model_of(
        [node("Shape", ["x"], ["shape"]), node("ReduceProd", ["shape"], ["count"]), node("Relu", ["x"], ["r"]),
         node("Reshape", ["r", "count"], ["y"])], {"x": ["rows", "columns"]}, {"y": [6]})
    onnx.save(model, tmp_path / "net.onnx")
    for shapes in (None, {"rows": 4, "columns": 5}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Of open sizes.
            artifact = takt.compile(tmp_path / "net.onnx", cache=tmp_path, recipe=recipe, shapes=shapes)
        function = artifact.load(device="local-sync").function()
        for rows in (1, 4) if shapes is None else (4,):
            x = floats(rows, 5)
            np.testing.assert_array_equal(function(x), np.maximum(x, 0).reshape(-1))


@pytest.mark.parametrize("zero", [None, np.int8(3), np.arange(4, dtype=np.int8)])
def test_products_of_bytes_are_products_of_floats(zero):
    w = RNG.integers(-128, 127, (6, 4), np.int8)
    model = model_of(
        [helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "scale", "zero"]),
         helper.make_node("MatMulInteger", ["q", "w", "zero", "wz"] if zero is not None else ["q", "w", "zero"], ["i"]),
         helper.make_node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
         helper.make_node("Mul", ["f", "scale"], ["y"])],
        {"x": [3, 6]}, {"y": None}, 21, w=w, **({} if zero is None else {"wz": zero}))
    check(model, {"x": floats(3, 6)}, "MatMulInteger")


@pytest.mark.parametrize("scale, zero", [(np.float32(0.1), np.uint8(0)), (np.float32([0.1, 0.2]), np.uint8([9, 200]))])
@pytest.mark.parametrize("has_bias", [False, True])
def test_products_of_bytes_may_give_floats(scale, zero, has_bias):
    """ONNX Runtime writes them where no result is quantized."""
    inputs = ["q", "w", "s", "ws", "z", "wz", *(["b"] if has_bias else [])]
    model = model_of(
        [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
         helper.make_node("MatMulIntegerToFloat", inputs, ["y"], domain="com.microsoft")],
        {"x": [3, 6]}, {"y": [3, 2]}, 21, w=RNG.integers(0, 255, (6, 2), np.uint8), s=np.float32(0.02), ws=scale,
        z=np.uint8(128), wz=zero, **({"b": floats(2)} if has_bias else {}))
    ported, x = porter.port(model), {"x": floats(3, 6)}
    assert "MatMulIntegerToFloat" not in kinds(ported)
    np.testing.assert_allclose(ort_run(ported, x)[0], ort_run(model, x)[0], atol=1e-4)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("is_end", [False, True])
@pytest.mark.parametrize("group", [0, 1, 2, 3])  # Without a group, it is a product of matrices.
def test_bytes_less_their_zero_point_may_have_nine_bits(dtype, is_end, group):
    limits = np.iinfo(dtype)
    zeros = np.full(6, limits.max if is_end else limits.min, dtype)
    shape = (6, 6 // group, 3, 3) if group else (9, 6)
    w = RNG.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    w.ravel()[:2] = limits.min, limits.max
    zero = zeros[0] if group else np.where(np.arange(6) < 3, zeros, dtype(5))
    kind, own = ("ConvInteger", {"group": group}) if group else ("MatMulInteger", {})
    model = model_of(
        [helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "scale", "zero"]),
         helper.make_node(kind, ["q", "w", "zero", "wz"], ["i"], **own),
         helper.make_node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
         helper.make_node("Mul", ["scale", "s"], ["both"]), helper.make_node("Mul", ["f", "both"], ["y"])],
        {"x": [2, 6, 5, 5] if group else [4, 9]}, {"y": None}, 21, w=w, wz=zero, s=np.float32(0.01))
    ported = check(model, {"x": floats(2, 6, 5, 5) if group else floats(4, 9)}, kind)
    if group < 2:  # The zero point takes the product of a single result.
        constants = {each.name: each.dims for each in ported.graph.initializer}
        weights = [constants[node.input[0]] for node in ported.graph.node if node.op_type == "DequantizeLinear"]
        assert [6 in dims[:1 if group else 2] for dims in weights].count(True) == 1


def test_products_with_scales_of_the_call_have_signed_bytes():
    """Also those that ONNX Runtime has fused."""
    w = RNG.integers(-127, 127, (6, 4), np.int8)
    scale, bias = np.array([0.1, 0.2, 0.3, 0.4], np.float32), floats(4)
    shared = {"w": w, "s": scale, "wz": np.zeros(4, np.int8), "b": bias}
    whole = model_of([helper.make_node("DynamicQuantizeMatMul", ["x", "w", "s", "wz", "b"], ["y"], domain="com.microsoft")],
                     {"x": [3, 6]}, {"y": None}, 21, **shared)
    parts = model_of(
        [helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "scale", "zero"]),
         helper.make_node("MatMulIntegerToFloat", ["q", "w", "scale", "s", "zero", "wz", "b"], ["y"],
                          domain="com.microsoft")],
        {"x": [3, 6]}, {"y": None}, 21, **shared)
    x = floats(3, 6)
    step = (max(x.max(), 0) - min(x.min(), 0)) / 255
    for model in (whole, parts):
        ported = porter.port(model)
        assert not {"DynamicQuantizeMatMul", "DynamicQuantizeLinear", "MatMulIntegerToFloat"} & set(kinds(ported))
        casts = [node.attribute[0].i for node in ported.graph.node if node.op_type == "Cast"]
        assert casts.count(TensorProto.INT8) == 2
        wanted = np.rint(x / step) * step @ (w * scale) + bias
        np.testing.assert_allclose(run(ported, {"x": x})[0], wanted, atol=1.5 * step * np.abs(w * scale).sum(0).max() / 2)


def test_weights_of_nine_bits_are_two_products():
    """Unsigned weights with a zero point, as quantize_dynamic writes them on request."""
    model = model_of(
        [helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "scale", "zero"]),
         helper.make_node("MatMulInteger", ["q", "w", "zero", "wz"], ["i"]),
         helper.make_node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
         helper.make_node("Mul", ["f", "scale"], ["y"])],
        {"x": [3, 6]}, {"y": None}, 21, w=RNG.integers(0, 255, (6, 4), np.uint8), wz=np.uint8(9))
    ported = check(model, {"x": floats(3, 6)}, "DynamicQuantizeLinear")
    assert kinds(ported).count("MatMul") == 2


def test_convolutions_of_bytes_are_those_of_floats():
    w = RNG.integers(-128, 127, (4, 2, 3, 3), np.int8)
    model = model_of([helper.make_node("ConvInteger", ["x", "w", "xz", "wz"], ["y"], pads=[1, 1, 1, 1])],
                     {"x": (TensorProto.UINT8, [1, 2, 5, 5])}, {"y": (TensorProto.INT32, None)},
                     w=w, xz=np.uint8(7), wz=np.int8(2))
    x = RNG.integers(0, 255, (1, 2, 5, 5), np.uint8)
    ported = porter.port(model)
    assert "ConvInteger" not in kinds(ported)
    padded = np.pad(x.astype(int) - 7, [(0, 0), (0, 0), (1, 1), (1, 1)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    wanted = np.einsum("nchwij,ocij->nohw", windows, w.astype(int) - 2)
    np.testing.assert_array_equal(run(ported, {"x": x})[0], wanted)


# Operators of ONNX Runtime. Its results are stated by hand: no reference knows them.

def test_quantized_operators_are_what_they_stand_for():
    x, w = RNG.integers(0, 255, (1, 2, 5, 5), np.uint8), RNG.integers(-128, 127, (3, 2, 3, 3), np.int8)
    scales = {"xs": np.float32(0.02), "xz": np.uint8(120), "ws": np.array([0.01, 0.02, 0.03], np.float32),
              "wz": np.zeros(3, np.int8), "ys": np.float32(0.1), "yz": np.uint8(100)}
    bias = np.array([100, -50, 7], np.int32)
    model = model_of(
        [helper.make_node("QLinearConv", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"], ["y"])],
        {"x": (TensorProto.UINT8, [1, 2, 5, 5])}, {"y": (TensorProto.UINT8, None)}, 21, w=w, b=bias, **scales)
    ported = porter.port(model)
    assert "QLinearConv" not in kinds(ported)
    found = run(ported, {"x": x})[0]
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.int64) - 120, (3, 3), (2, 3))
    sums = np.einsum("nchwij,ocij->nohw", windows, w.astype(np.int64)) + bias.reshape(1, 3, 1, 1)
    real = sums * (0.02 * scales["ws"].astype(np.float64)).reshape(1, 3, 1, 1)
    wanted = np.clip(np.round(real / np.float32(0.1)) + 100, 0, 255)
    assert np.abs(found.astype(int) - wanted).max() <= 1


@pytest.mark.parametrize("node, wanted", [
    (("Gelu", {}), lambda x: x * 0.5 * (1 + np.vectorize(math.erf)(x / np.sqrt(2)))),
    (("FastGelu", {}), lambda x: x * 0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))),
    (("QuickGelu", {"alpha": 1.5}), lambda x: x / (1 + np.exp(-1.5 * x))),
])
def test_fused_functions_are_what_they_were_fused_from(node, wanted):
    kind, attributes = node
    model = model_of([helper.make_node(kind, ["x"], ["y"], domain="com.microsoft", **attributes)],
                     {"x": [4, 5]}, {"y": [4, 5]})
    x = floats(4, 5)
    np.testing.assert_allclose(run(porter.port(model), {"x": x})[0], wanted(x), atol=1e-5)


def test_a_fused_convolution_clips_and_adds():
    model = model_of(
        [helper.make_node("FusedConv", ["x", "w", "", "z"], ["y"], domain="com.microsoft",
                          activation="Clip", activation_params=[-0.5, 0.5])],
        {"x": [1, 2, 4, 4], "z": [1, 3, 4, 4]}, {"y": [1, 3, 4, 4]}, w=floats(3, 2, 1, 1))
    x, z = floats(1, 2, 4, 4), floats(1, 3, 4, 4)
    w = numpy_helper.to_array(model.graph.initializer[0])
    wanted = np.clip(np.einsum("nchw,oc->nohw", x, w[:, :, 0, 0]) + z, -0.5, 0.5)
    np.testing.assert_allclose(run(porter.port(model), {"x": x, "z": z})[0], wanted, atol=1e-5)


def test_a_fused_product_turns_and_scales():
    model = model_of(
        [helper.make_node("FusedMatMul", ["a", "b"], ["y"], domain="com.microsoft", transA=1, alpha=0.25)],
        {"a": [5, 3], "b": [5, 2]}, {"y": [3, 2]})
    a, b = floats(5, 3), floats(5, 2)
    np.testing.assert_allclose(run(porter.port(model), {"a": a, "b": b})[0], a.T @ b / 4, atol=1e-5)


def check_microsoft(model, feeds):
    """The same results as those of ONNX Runtime, by other operators."""
    ported = porter.port(model)
    assert not any(node.domain == "com.microsoft" for node in ported.graph.node)
    for wanted, found in zip(ort_run(model, feeds), ort_run(ported, feeds), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5 * max(1, np.abs(wanted).max()))


@pytest.mark.parametrize("zero, bits, ins, has_bias", [
    (None, 4, 64, False), (np.uint8, 4, 50, True), (np.float32, 4, 50, False), (None, 8, 32, False),
    (np.uint8, 8, 32, True)])
def test_blocks_of_bits_are_floats(zero, bits, ins, has_bias):
    blocks, outs = -(-ins // 16), 5
    weights = {"w": RNG.integers(0, 256, (outs, blocks, 16 * bits // 8), np.uint8), "s": np.abs(floats(outs * blocks))}
    if zero == np.uint8:
        weights["z"] = RNG.integers(0, 256, outs * -(-blocks * bits // 8), np.uint8)
    elif zero == np.float32:
        weights["z"] = RNG.integers(0, 1 << bits, (outs, blocks)).astype(np.float32)
    inputs = ["x", "w", "s", "z" if zero else "", "", "b" if has_bias else ""]
    while not inputs[-1]:
        inputs.pop()
    if has_bias:
        weights["b"] = floats(outs)
    model = model_of([helper.make_node("MatMulNBits", inputs, ["y"], domain="com.microsoft", K=ins, N=outs, bits=bits,
                                       block_size=16)], {"x": [2, 3, ins]}, {"y": [2, 3, outs]}, **weights)
    check_microsoft(model, {"x": floats(2, 3, ins)})


@pytest.mark.parametrize("kind", ["INT4", "UINT4", "INT8"])
@pytest.mark.parametrize("block, axis", [(4, 0), (3, 1), (0, 1)])
def test_narrow_weights_and_blocks_are_floats(kind, block, axis):
    if kind == "INT8" and not block:
        pytest.skip("these stay bytes")
    low, high = {"INT4": (-8, 8), "UINT4": (0, 16), "INT8": (-128, 128)}[kind]
    weights = helper.make_tensor("w", getattr(TensorProto, kind), [8, 6], RNG.integers(low, high, 48))
    counts = [8, 6]
    counts[axis] //= block or 1
    counts = counts if block else [6]
    zeros = helper.make_tensor("z", getattr(TensorProto, kind), counts, RNG.integers(low, high, math.prod(counts)))
    nodes = [helper.make_node("DequantizeLinear", ["w", "s", "z"], ["v"], axis=axis, block_size=block),
             helper.make_node("MatMul", ["x", "v"], ["y"])]
    model = model_of(nodes, {"x": [3, 8]}, {"y": [3, 6]}, opset=21, s=np.abs(floats(*counts)))
    model.graph.initializer.extend([weights, zeros])
    x = floats(3, 8)
    assert kinds(porter.port(model)) == ["MatMul"]
    np.testing.assert_allclose(run(porter.port(model), {"x": x})[0], run(model, {"x": x})[0], rtol=0, atol=1e-4)


@pytest.mark.parametrize("has_segments, has_mask", [(True, True), (False, False), (True, False)])
def test_embeddings_are_sums_of_tables(has_segments, has_mask):
    integers = (TensorProto.INT32, [2, 5])
    names = ["words", "segments" if has_segments else "", "w", "p", "t" if has_segments else "", "gamma", "beta"]
    inputs = {"words": integers, **({"segments": integers} if has_segments else {}),
              **({"mask": integers} if has_mask else {})}
    node = helper.make_node("EmbedLayerNormalization", names + (["mask"] if has_mask else []), ["y", "count"],
                            domain="com.microsoft", epsilon=1e-5)
    tables = {"w": floats(9, 8), "p": floats(6, 8), "gamma": floats(8), "beta": floats(8)}
    if has_segments:
        tables["t"] = floats(2, 8)
    model = model_of([node], inputs, {"y": [2, 5, 8], "count": (TensorProto.INT32, [2])}, **tables)
    feeds = {"words": RNG.integers(0, 9, (2, 5)).astype(np.int32)}
    for name in inputs:
        feeds.setdefault(name, RNG.integers(0, 2, (2, 5)).astype(np.int32))
    check_microsoft(model, feeds)


@pytest.mark.parametrize("activation, numbers", [
    ("Relu", {}), ("Elu", {"alpha": 0.7}), ("LeakyRelu", {"alpha": 0.2}), ("HardSigmoid", {"alpha": 0.3, "beta": 0.4}),
    ("Tanh", {"alpha": 1.0}), ("Selu", {"alpha": 1.5, "gamma": 1.1}),
])
def test_a_fused_gemm_ends_with_its_activation(activation, numbers):
    own = {f"activation_{name}": value for name, value in numbers.items()}
    model = model_of([helper.make_node("FusedGemm", ["x", "w", "b"], ["y"], domain="com.microsoft", transB=1, alpha=0.5,
                                       activation=activation, **own)],
                     {"x": [4, 6]}, {"y": [4, 3]}, w=floats(3, 6), b=floats(3))
    check_microsoft(model, {"x": floats(4, 6)})


def test_a_quantized_convolution_of_onnx_runtime_has_its_channels_last():
    numbers = {"xs": np.float32(0.02), "xz": np.uint8(120), "ws": np.float32(0.01), "wz": np.int8(0),
               "ys": np.float32(0.1), "yz": np.uint8(100)}
    names = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"]
    model = model_of(
        [helper.make_node("QLinearConv", names, ["y"], domain="com.microsoft", channels_last=1, pads=[1, 1, 1, 1],
                          strides=[2, 1])],
        {"x": (TensorProto.UINT8, [1, 5, 6, 2])}, {"y": (TensorProto.UINT8, [1, 3, 6, 3])},
        w=RNG.integers(-128, 127, (3, 2, 3, 3)).astype(np.int8), b=np.array([100, -50, 7], np.int32), **numbers)
    feeds = {"x": RNG.integers(0, 255, (1, 5, 6, 2)).astype(np.uint8)}
    wanted, found = ort_run(model, feeds)[0], ort_run(porter.port(model), feeds)[0]
    assert np.abs(found.astype(int) - wanted).max() <= 1 and np.ptp(wanted) > 20


@pytest.mark.parametrize("kind, own", [
    ("NhwcMaxPool", {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 0, 1]}),
    ("QLinearGlobalAveragePool", {"channels_last": 1}),
    ("QLinearAveragePool", {"channels_last": 1, "kernel_shape": [3, 3], "pads": [1, 1, 1, 1]})])
def test_pools_of_onnx_runtime_have_their_channels_last(kind, own):
    numbers = {} if kind == "NhwcMaxPool" else {
        "xs": np.float32(0.02), "xz": np.uint8(120), "ys": np.float32(0.01), "yz": np.uint8(100)}
    model = model_of(
        [helper.make_node(kind, ["x", *numbers], ["y"], domain="com.microsoft", **own)],
        {"x": (TensorProto.UINT8, [2, 5, 6, 3])}, {"y": (TensorProto.UINT8, None)}, **numbers)
    feeds = {"x": RNG.integers(0, 255, (2, 5, 6, 3)).astype(np.uint8)}
    ported = porter.port(model)
    assert all(node.domain != "com.microsoft" for node in ported.graph.node)
    wanted, found = ort_run(model, feeds)[0], ort_run(ported, feeds)[0]
    assert np.abs(found.astype(int) - wanted).max() <= (0 if kind == "NhwcMaxPool" else 1) and np.ptp(wanted) > 5


def test_what_is_ported_compiles_and_runs(needs_compiler, tmp_path):
    model = model_of(
        [helper.make_node("Pad", ["x", "pads"], ["padded"], mode="reflect"),
         helper.make_node("STFT", ["padded", "step", "window"], ["frames"]),
         helper.make_node("ReduceSumSquare", ["frames"], ["power"], axes=[-1], keepdims=0)],
        {"x": [1, 1600]}, {"power": None}, pads=np.array([0, 200, 0, 200]), step=np.int64(160),
        window=np.hanning(400).astype(np.float32))
    path = tmp_path / "net.onnx"
    onnx.save(model, path)
    artifact = takt.compile(path, cache=tmp_path)
    assert "failed" not in artifact.report
    x = floats(1, 1600)
    padded = np.pad(x, [(0, 0), (200, 200)], "reflect")
    frames = np.stack([padded[:, i:i + 400] for i in range(0, 1601, 160)], 1) * np.hanning(400)
    wanted = np.abs(np.fft.rfft(frames)) ** 2
    np.testing.assert_allclose(artifact.load().net(x), wanted, atol=1e-4 * wanted.max())


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("direction, count", [("forward", 1), ("bidirectional", 2)])
def test_layers_of_bytes_become_layers_of_floats(tmp_path, per_channel, direction, count):
    onnxruntime = pytest.importorskip("onnxruntime")
    quantization = pytest.importorskip("onnxruntime.quantization")
    model = model_of(
        [helper.make_node("LSTM", ["x", "w", "r", "b"], ["y"], hidden_size=16, direction=direction)],
        {"x": [6, 1, 8]}, {"y": [6, count, 1, 16]}, w=floats(count, 64, 8) * 0.3, r=floats(count, 64, 16) * 0.2,
        b=floats(count, 128) * 0.1)
    onnx.save(model, tmp_path / "float.onnx")
    quantization.quantize_dynamic(
        tmp_path / "float.onnx", tmp_path / "net.onnx", per_channel=per_channel,
        weight_type=quantization.QuantType.QInt8, reduce_range=True)  # Else its sums saturate without VNNI.
    bytes_of = onnx.load(tmp_path / "net.onnx")
    assert kinds(bytes_of) == ["DynamicQuantizeLSTM"]
    ported = porter.port(bytes_of)
    assert set(kinds(ported)) & {"LSTM", "DynamicQuantizeLSTM"} == {"LSTM"}
    x = floats(6, 1, 8)
    session = onnxruntime.InferenceSession(str(tmp_path / "net.onnx"), providers=["CPUExecutionProvider"])
    wanted = session.run(None, {"x": x})[0]
    onnx.save(ported, tmp_path / "ported.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "ported.onnx"), providers=["CPUExecutionProvider"])
    # ONNX Runtime rounds the inputs to bytes, too.
    np.testing.assert_allclose(session.run(None, {"x": x})[0], wanted, atol=0.02 * np.ptp(wanted))


@pytest.mark.parametrize("per_channel", [False, True])
def test_a_network_of_quantized_operators_keeps_its_results(tmp_path, per_channel):
    onnxruntime = pytest.importorskip("onnxruntime")
    quantization = pytest.importorskip("onnxruntime.quantization")
    model = model_of(
        [helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1]),
         helper.make_node("LeakyRelu", ["c"], ["l"], alpha=0.1),
         helper.make_node("Sigmoid", ["l"], ["s"]),
         helper.make_node("Mul", ["l", "s"], ["m"]),
         helper.make_node("Add", ["m", "l"], ["a"]),
         helper.make_node("Concat", ["a", "l"], ["t"], axis=1),
         helper.make_node("AveragePool", ["t"], ["v"], kernel_shape=[2, 2], strides=[2, 2]),
         helper.make_node("GlobalAveragePool", ["v"], ["g"]),
         helper.make_node("Flatten", ["g"], ["f"]),
         helper.make_node("Gemm", ["f", "u", "d"], ["y"], transB=1)],
        {"x": [1, 3, 8, 8]}, {"y": [1, 10]}, w=floats(8, 3, 3, 3), b=floats(8), u=floats(10, 16), d=floats(10))
    onnx.save(model, tmp_path / "float.onnx")

    class Calibration(quantization.CalibrationDataReader):
        rows = iter([{"x": floats(1, 3, 8, 8)} for _ in range(4)])

        def get_next(self):
            return next(self.rows, None)

    quantization.quantize_static(
        tmp_path / "float.onnx", tmp_path / "net.onnx", Calibration(), per_channel=per_channel,
        quant_format=quantization.QuantFormat.QOperator)
    quantized = onnx.load(tmp_path / "net.onnx")
    assert {"QLinearConv", "QLinearAdd", "QGemm"} <= set(kinds(quantized))
    ported = porter.port(quantized)
    assert not [node.op_type for node in ported.graph.node if node.domain or node.op_type.startswith("QLinear")]
    onnx.save(ported, tmp_path / "ported.onnx")
    x = {"x": floats(1, 3, 8, 8)}
    wanted, found = (
        onnxruntime.InferenceSession(str(tmp_path / name), providers=["CPUExecutionProvider"]).run(None, x)[0]
        for name in ("net.onnx", "ported.onnx"))
    step = np.diff(np.unique(wanted)).min()
    assert np.abs(found - wanted).max() <= 2 * step + 1e-6


@pytest.mark.parametrize("shape, weights, options", [
    ((1, 4, 5, 7, 6), (6, 4, 3, 3, 3), {"pads": [1] * 6}),
    ((2, 3, 5, 9, 8), (4, 3, 3, 5, 5), {"pads": [1, 2, 2, 0, 2, 1], "strides": [1, 2, 2]}),
    ((2, 4, 9, 4, 4), (6, 4, 3, 1, 1), {"pads": [2, 0, 0, 1, 0, 0], "strides": [2, 1, 1],
                                        "dilations": [2, 1, 1]}),
    ((1, 4, 4, 5, 5), (4, 1, 3, 3, 3), {"pads": [1] * 6, "group": 4}),
    ((1, 4, 4, 5, 5), (6, 2, 2, 3, 3), {"group": 2}),
    ((1, 4, 4, 5, 5), (6, 4, 1, 3, 3), {"dilations": [1, 2, 2]}),
    ((2, 3, 7, 8, 8), (6, 3, 2, 4, 4), {"strides": [2, 4, 4]}),
    ((2, 3, 7, 4, 5), (6, 3, 3, 1, 1), {"strides": [2, 1, 1], "pads": [1, 0, 0, 1, 0, 0]}),
    ((1, 4, 7, 4, 5), (4, 1, 3, 1, 1), {"dilations": [2, 1, 1], "group": 4}),
    ((1, 3, 4, 4, 4), (6, 3, 3, 2, 2), {"strides": [3, 2, 2], "pads": [1, 0, 0, 1, 0, 0]}),
])
def test_volumes_are_convolved_as_images(shape, weights, options):
    network = model_of([helper.make_node("Conv", ["x", "w", "b"], ["y"], **options)],
                       {"x": list(shape)}, {"y": None}, w=floats(*weights), b=floats(weights[0]))
    check_volume(network, shape, "Conv")


@pytest.mark.parametrize("shape, weights, options", [
    ((1, 4, 3, 5, 6), (4, 3, 3, 3, 3), {"strides": [2] * 3, "pads": [1] * 6,
                                        "output_padding": [1] * 3}),
    ((2, 4, 3, 5, 6), (4, 3, 4, 4, 4), {"strides": [2] * 3, "pads": [1] * 6}),
    ((1, 4, 3, 5, 6), (4, 3, 3, 3, 3), {"strides": [1, 2, 2], "pads": [2, 1, 1, 0, 1, 0]}),
    ((1, 4, 3, 5, 6), (4, 3, 3, 2, 2), {"strides": [3, 2, 2], "dilations": [2, 1, 1]}),
])
def test_volumes_are_convolved_backwards_as_images(shape, weights, options):
    network = model_of([helper.make_node("ConvTranspose", ["x", "w", "b"], ["y"], **options)],
                       {"x": list(shape)}, {"y": None}, w=floats(*weights), b=floats(weights[1]))
    check_volume(network, shape, "ConvTranspose")


@pytest.mark.parametrize("kind, options", [
    ("MaxPool", {"kernel_shape": [2, 2, 2], "strides": [2, 2, 2]}),
    ("MaxPool", {"kernel_shape": [3, 3, 3], "strides": [2, 1, 2], "pads": [1] * 6}),
    ("MaxPool", {"kernel_shape": [2, 1, 1], "dilations": [2, 1, 1]}),
    ("AveragePool", {"kernel_shape": [2, 2, 3], "strides": [2, 2, 1]}),
    ("AveragePool", {"kernel_shape": [3, 3, 3], "strides": [2, 2, 2], "pads": [1] * 6}),
    ("AveragePool", {"kernel_shape": [3, 1, 2], "pads": [1, 0, 0, 0, 0, 1], "count_include_pad": 1}),
])
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("is_alone", [True, False])
def test_volumes_are_pooled_as_images(kind, options, count, is_alone):
    shape = (count, 3, 6, 7, 8)
    before = [] if is_alone else [helper.make_node("Conv", ["x", "w"], ["v"])]
    pool = helper.make_node(kind, ["x" if is_alone else "v"], ["y"], **options)
    network = model_of([*before, pool], {"x": list(shape)}, {"y": None}, w=floats(3, 3, 1, 1, 1))
    check_volume(network, shape, kind)
    assert kinds(porter.port(network)).count("Transpose") == (0 if is_alone else 2)


@pytest.mark.parametrize("volume, lengths", [
    ((8, 14, 14), [112]), ((16, 28, 28), [128]), ((7, 11, 13), [91]), ((5, 5, 5), []), ((2, 8, 73), [16]),
    ((1, 2, 211), []),
])
@pytest.mark.parametrize("kind", ["GlobalAveragePool", "ReduceMean"])
def test_means_of_volumes_are_those_of_rows(kind, volume, lengths):
    shape = (2, 3, *volume)
    own = {"axes": [-3, -2, -1]} if kind == "ReduceMean" else {}
    network = model_of([helper.make_node(kind, ["x"], ["y"], **own)], {"x": list(shape)}, {"y": None})
    ported = porter.port(network)
    constants = {each.name: numpy_helper.to_array(each) for each in ported.graph.initializer}
    rows = [constants[node.input[1]] for node in ported.graph.node if node.op_type == "Reshape"]
    assert [each[-1] for each in rows[:1]] == lengths
    x = {"x": floats(*shape)}
    np.testing.assert_allclose(ort_run(ported, x)[0], ort_run(network, x)[0], rtol=0, atol=1e-5)


@pytest.mark.parametrize("count", [1, 2])
def test_what_is_between_volumes_is_of_images(count):
    nodes = [
        helper.make_node("Conv", ["x", "first"], ["a"], pads=[1] * 6),
        helper.make_node("BatchNormalization", ["a", "scale", "shift", "mean", "spread"], ["b"]),
        helper.make_node("Clip", ["b", "low"], ["c"]),
        helper.make_node("Conv", ["c", "each"], ["d"], pads=[1] * 6, group=6),
        helper.make_node("Mul", ["d", "factors"], ["e"]),
        helper.make_node("Add", ["e", "c"], ["f"]),
        helper.make_node("GlobalAveragePool", ["f"], ["g"]),
        helper.make_node("Mul", ["f", "g"], ["h"]),
        helper.make_node("Concat", ["h", "c"], ["i"], axis=1),
        helper.make_node("Mul", ["i", "half"], ["j"]),
        helper.make_node("Conv", ["j", "last"], ["k"]),
        helper.make_node("ReduceMean", ["k", "axes"], ["y"], keepdims=0),
    ]
    shape = (count, 4, 5, 6, 7)
    network = model_of(
        nodes, {"x": list(shape)}, {"y": None}, opset=18, first=floats(6, 4, 3, 3, 3), scale=floats(6), shift=floats(6),
        mean=floats(6), spread=np.abs(floats(6)) + 1, low=np.float32(0), each=floats(6, 1, 3, 3, 3),
        factors=floats(6, 1, 1, 1), half=np.full([1, 1, 1, 1, 1], 0.5, np.float32), last=floats(5, 12, 1, 1, 1),
        axes=np.array([-1, 2, 3]))
    check_volume(network, shape, "Conv")
    turned = [node for node in porter.port(network).graph.node
              if node.op_type == "Transpose" and len(node.attribute[0].ints) == 5]
    assert len(turned) <= (1 if count == 1 else 4)


@pytest.mark.parametrize("kind, group", [("Conv", 1), ("Conv", 4), ("ConvTranspose", 1)])
def test_volumes_of_bytes_are_convolved_as_images(kind, group):
    scale, weights = np.float32(0.05), RNG.integers(-127, 128, (4, 4 // group, 3, 3, 3), np.int8)
    scales = np.linspace(0.01, 0.02, 4, dtype=np.float32)
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "scale"], ["a"]), helper.make_node("DequantizeLinear", ["a", "scale"], ["b"]),
        helper.make_node("DequantizeLinear", ["w", "scales"], ["v"], axis=0 if kind == "Conv" else 1),
        helper.make_node(kind, ["b", "v"], ["c"], pads=[1] * 6, group=group),
        helper.make_node("QuantizeLinear", ["c", "scale"], ["d"]), helper.make_node("DequantizeLinear", ["d", "scale"], ["y"]),
    ]
    model = model_of(nodes, {"x": [1, 4, 3, 5, 6]}, {"y": [1, 4, 3, 5, 6]}, opset=19, scale=scale, scales=scales, w=weights)
    ported = porter.port(model)
    inferred = onnx.shape_inference.infer_shapes(ported)
    ranks = {value.name: len(value.type.tensor_type.shape.dim) for value in inferred.graph.value_info}
    made = {name: node.op_type for node in ported.graph.node for name in node.output}
    windows = [node for node in ported.graph.node if node.op_type == kind]
    assert windows and all(ranks[node.output[0]] == 4 for node in windows)
    assert all(made[node.input[1]] == "DequantizeLinear" for node in windows)
    assert group > 1 or made[windows[0].input[0]] in ("DequantizeLinear", "Concat")
    x = floats(1, 4, 3, 5, 6)
    for a, b in zip(ort_run(model, {"x": x}), ort_run(ported, {"x": x})):
        assert np.abs(a - b).max() <= scale * 1.01


def test_volumes_of_weights_in_blocks_are_convolved_as_images():
    nodes = [helper.make_node("DequantizeLinear", ["w", "s"], ["v"], axis=1, block_size=2),
             helper.make_node("Conv", ["x", "v"], ["y"], pads=[1] * 6)]
    model = model_of(nodes, {"x": [1, 4, 3, 5, 6]}, {"y": [1, 6, 3, 5, 6]}, opset=21,
                     w=RNG.integers(-127, 128, (6, 4, 3, 3, 3), np.int8), s=np.abs(floats(6, 2, 3, 3, 3)) / 100)
    check_volume(model, (1, 4, 3, 5, 6), "Conv")


def test_no_part_of_the_porter_hides_a_method_of_another():
    own = [name for part in porter._Porter.__mro__ if part is not object
           for name, value in vars(part).items() if callable(value) and not name.startswith("__")]
    assert len(own) == len(set(own)), sorted({name for name in own if own.count(name) > 1})


def check_volume(network, shape, kind):
    """The same result by `kind` of images alone."""
    x = floats(*shape)
    ported = porter.port(network)
    onnx.checker.check_model(ported)
    inferred = onnx.shape_inference.infer_shapes(ported)
    ranks = {value.name: len(value.type.tensor_type.shape.dim)
             for value in [*inferred.graph.input, *inferred.graph.value_info, *inferred.graph.output]}
    assert {ranks[node.input[0]] for node in ported.graph.node if node.op_type == kind} == {4}
    runtime = pytest.importorskip("onnxruntime")
    wanted, found = (runtime.InferenceSession(each.SerializeToString()).run(None, {"x": x})[0]
                     for each in (network, ported))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5 * max(1, np.abs(wanted).max()))


def test_sequences_are_their_members():
    def node(kind, inputs, output, **attributes):
        return helper.make_node(kind, inputs, [output], **attributes)

    model = model_of(
        [node("SplitToSequence", ["x", "two"], "pairs", axis=1), node("SequenceErase", ["pairs", "zero"], "some"),
         node("SequenceAt", ["some", "last"], "a"), node("SequenceEmpty", [], "none"),
         node("SequenceInsert", ["none", "a"], "one"), node("SequenceInsert", ["one", "b", "zero"], "both"),
         node("Identity", ["both"], "same"), node("ConcatFromSequence", ["same"], "y", axis=0, new_axis=1),
         node("SequenceLength", ["pairs"], "count"), node("SplitToSequence", ["x"], "columns", axis=-1, keepdims=0),
         node("SequenceAt", ["columns", "last"], "z"), node("SplitToSequence", ["x", "sizes"], "rows"),
         node("SequenceConstruct", ["x", "b"], "xb"), node("SequenceAt", ["xb", "last"], "w"),
         node("SequenceAt", ["rows", "zero"], "v")],
        {"x": [3, 5], "b": [3, 1]},
        {"y": [2, 3, 1], "count": (TensorProto.INT64, []), "z": [3], "w": [3, 1], "v": [2, 5]},
        two=np.int64(2), zero=np.int64(0), last=np.int64(-1), sizes=np.array([2, 1]))
    ported = check(model, {"x": floats(3, 5), "b": floats(3, 1)}, "SequenceAt", 0)
    assert not any("Sequence" in kind for kind in kinds(ported))


def test_members_by_computed_places_and_of_maps():
    model = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["" : 17]>
        net (float[4,3] x, int64 i, float[3] s) => (float[3] y, float[4,3] z, float[8] w) {
          rows = SplitToSequence<axis = 0, keepdims = 0>(x)
          y = SequenceAt(rows, i)
          found, others = SequenceMap(rows, s, rows) <body = each (float[3] a, float[3] b, float[3] c) =>
              (float[3] d, float[2] e) <int64[1] zero = {0}, int64[1] two = {2}> {
            ab = Mul(a, b)
            d = Add(ab, c)
            e = Slice(d, zero, two)
          }>
          z = ConcatFromSequence<axis = 0, new_axis = 1>(found)
          w = ConcatFromSequence<axis = 0>(others)
        }""")
    ported = porter.port(model)
    assert not any("Sequence" in kind for kind in kinds(ported))
    for i in (2, -1):
        x, s = floats(4, 3), floats(3)
        y, z, w = run(ported, {"x": x, "i": np.array(i), "s": s})
        np.testing.assert_array_equal(y, x[i])
        np.testing.assert_allclose(z, x * s + x, rtol=1e-6)
        np.testing.assert_allclose(w, (x * s + x)[:, :2].ravel(), rtol=1e-6)


def test_a_sampled_grid_stays_in_its_image(needs_compiler, tmp_path):
    cases = {}
    for aligned in (0, 1):
        model = model_of(
            [helper.make_node("AffineGrid", ["x", "size"], ["grid"], align_corners=aligned),
             helper.make_node("GridSample", ["image", "grid"], ["y"], align_corners=aligned)],
            {"x": [2, 2, 3], "image": [2, 2, 6, 7]}, {"y": [2, 2, 5, 4]}, opset=20, size=np.array([2, 2, 5, 4]))
        feeds = {"x": floats(2, 2, 3), "image": floats(2, 2, 6, 7)}
        ported = check(model, feeds, "AffineGrid")
        assert "GridSample" not in kinds(ported)
        cases[aligned] = model, list(feeds.values())
    for aligned, found in together.results(tmp_path, cases).items():
        model, (x, image) = cases[aligned]
        wanted, = run(model, {"x": x, "image": image})
        np.testing.assert_allclose(found, wanted, atol=1e-5, err_msg=f"align_corners {aligned}")


@pytest.mark.parametrize("heads, groups, flat", [(2, 2, True), (4, 2, True), (4, 2, False)])
@pytest.mark.parametrize("mask", [None, "float", "bool"])
def test_attention_is_products_and_a_softmax(heads, groups, flat, mask):
    inputs = {name: [2, rows, count * 4] if flat else [2, count, rows, 4]
              for name, rows, count in (("q", 5, heads), ("k", 6, groups), ("v", 6, groups))}
    own = {"q_num_heads": heads, "kv_num_heads": groups} if flat else {}
    names = [*inputs, "mask"] if mask else list(inputs)
    feeds = {name: floats(*shape) for name, shape in inputs.items()}
    if mask:
        element = TensorProto.BOOL if mask == "bool" else TensorProto.FLOAT
        inputs["mask"] = (element, [5, 6])
        feeds["mask"] = np.eye(5, 6, dtype=bool) if mask == "bool" else floats(5, 6)
    model = model_of([helper.make_node("Attention", names, ["y"], is_causal=int(mask is None), **own)], inputs,
                     {"y": [2, 5, heads * 4] if flat else [2, heads, 5, 4]}, opset=23)
    check(model, feeds, "Attention")


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("flat, places, turned", [(True, False, 0), (False, True, 4)])
def test_rotary_embeddings_are_products(interleaved, flat, places, turned):
    half = (turned or 8) // 2
    own = {"num_heads": 2} if flat else {}
    model = model_of(
        [helper.make_node("RotaryEmbedding", ["x", "c", "s", "p"] if places else ["x", "c", "s"], ["y"],
                          interleaved=interleaved, rotary_embedding_dim=turned, **own)],
        {"x": [2, 5, 16] if flat else [2, 2, 5, 8]}, {"y": None}, opset=23,
        c=floats(9, half) if places else floats(2, 5, half), s=floats(9, half) if places else floats(2, 5, half),
        p=RNG.integers(0, 9, (2, 5)))
    check(model, {"x": floats(2, 5, 16) if flat else floats(2, 2, 5, 8)}, "RotaryEmbedding")


@pytest.mark.parametrize("axis", [-1, 1])
def test_norms_by_the_root_of_the_mean_square(axis):
    shape = [3, 4] if axis == 1 else [4]
    model = model_of([helper.make_node("RMSNormalization", ["x", "scale"], ["y"], axis=axis)], {"x": [2, 3, 4]},
                     {"y": [2, 3, 4]}, opset=23, scale=floats(*shape))
    check(model, {"x": floats(2, 3, 4)}, "RMSNormalization")


@pytest.mark.parametrize("opset, groups", [(18, 3), (21, 3), (21, 1), (21, 6)])
@pytest.mark.parametrize("size", [(), (4, 5)])
def test_norms_of_groups(opset, groups, size):
    count = groups if opset == 18 else 6
    model = model_of([helper.make_node("GroupNormalization", ["x", "scale", "bias"], ["y"], num_groups=groups)],
                     {"x": [2, 6, *size, 7]}, {"y": [2, 6, *size, 7]}, opset=opset, scale=floats(count),
                     bias=floats(count))
    check(model, {"x": floats(2, 6, *size, 7)}, "GroupNormalization")


@pytest.mark.parametrize("kind", ["ReduceL2", "ReduceLogSum", "ReduceLogSumExp"])
@pytest.mark.parametrize("shape, axes, keepdims", [([3, 1], [-1], 1), ([1], [0], 0), ([1, 1], [], 1)])
def test_reductions_of_single_numbers(kind, shape, axes, keepdims):
    own = {"axes": np.array(axes)} if axes else {}
    model = model_of([helper.make_node(kind, ["x", *own], ["y"], keepdims=keepdims)], {"x": shape}, {"y": None},
                     opset=18, **own)
    check(model, {"x": np.abs(floats(*shape)) + 0.1}, kind)


@pytest.mark.parametrize("kind", ["ReduceL2", "ReduceLogSum", "ReduceLogSumExp"])
def test_reductions_over_no_axis(kind):
    model = model_of([helper.make_node(kind, ["x"], ["y"], noop_with_empty_axes=1)], {"x": [3, 2]}, {"y": None},
                     opset=18)
    x = np.abs(floats(3, 2)) + 0.1
    (found,) = ort_run(porter.port(model), {"x": x})
    assert kind not in kinds(porter.port(model))
    np.testing.assert_allclose(found, ort_run(model, {"x": x})[0], rtol=1e-6)


def test_the_greatest_of_what_is_scattered(needs_compiler, tmp_path):
    cases = {}
    for kind in ("max", "min"):
        for axis, element in ((0, "float32"), (-1, "float32"), (0, "int64"), (-1, "int32")):
            shape, given = [4, 3], [6, 3] if axis == 0 else [4, 5]
            number = helper.np_dtype_to_tensor_dtype(np.dtype(element))
            model = model_of([helper.make_node("ScatterElements", ["x", "i", "u"], ["y"], axis=axis, reduction=kind)],
                             {"x": (number, shape), "i": (TensorProto.INT64, given), "u": (number, given)},
                             {"y": (number, shape)}, opset=18)
            cases[kind, axis, element] = model, {
                "x": (9 * floats(*shape)).astype(element), "i": RNG.integers(-3, 3, given),
                "u": (9 * floats(*given)).astype(element)}
    for element in ("float32", "int32"):  # Some rows, or some parts of them, get no update.
        number = helper.np_dtype_to_tensor_dtype(np.dtype(element))
        model = model_of([helper.make_node("ScatterElements", ["x", "i", "u"], ["y"], axis=1, reduction="min")],
                         {"x": (number, [4, 5, 3]), "i": (TensorProto.INT64, [2, 6, 2]), "u": (number, [2, 6, 2])},
                         {"y": (number, [4, 5, 3])}, opset=18)
        cases["of some rows", element] = model, {
            "x": (9 * floats(4, 5, 3)).astype(element), "i": RNG.integers(-5, 5, [2, 6, 2]),
            "u": (9 * floats(2, 6, 2)).astype(element)}
    model = model_of([helper.make_node("ScatterElements", ["x", "i", "u"], ["y"], reduction="max")],
                     {"x": [4], "i": (TensorProto.INT64, [6])}, {"y": [4]}, opset=18, u=floats(6))
    cases["of constants"] = model, {"x": floats(4), "i": RNG.integers(-3, 3, [6])}
    check_compiled(tmp_path, cases)


def test_a_condition_without_a_choice():
    model = model_of([helper.make_node("Greater", ["x", "z"], ["g"]), helper.make_node("Where", ["g", "x", "x"], ["w"]),
                      helper.make_node("Neg", ["w"], ["y"])], {"x": [3], "z": [3]}, {"y": [3]})
    assert kinds(check(model, {"x": floats(3), "z": floats(3)}, "Where")) == ["Neg"]
    wide = model_of([helper.make_node("Greater", ["x", "z"], ["g"]), helper.make_node("Where", ["g", "x", "x"], ["y"])],
                    {"x": [3], "z": [2, 3]}, {"y": [2, 3]})
    assert "Where" in kinds(porter.port(wide))


def test_a_condition_within_itself(needs_compiler, tmp_path):
    model = model_of(
        [helper.make_node("Abs", ["x"], ["a"]), helper.make_node("Greater", ["x", "limit"], ["g"]),
         helper.make_node("Neg", ["a"], ["n"]), helper.make_node("Exp", ["n"], ["e"]),
         helper.make_node("Where", ["g", "x", "e"], ["t"]), helper.make_node("Where", ["g", "x", "t"], ["y"]),
         helper.make_node("Mul", ["a", "half"], ["w"]), helper.make_node("Tanh", ["t"], ["m"])],
        {"x": [200]}, {name: [200] for name in ("y", "w", "m")}, limit=np.float32(1), half=np.float32(0.5))
    onnx.save(model, tmp_path / "net.onnx")
    x = floats(200) * 8
    for found, wanted in zip(takt.compile(tmp_path / "net.onnx", cache=tmp_path).load().net(x), run(model, {"x": x})):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape, sizes, wanted", [
    (["t", "b", 4, 8], [9, 2, 4, 8], [-1, 32]), (["t", "b", 4, "k"], [9, 2, 4, 8], [-1, 8]),
    (["t", "b", 4, 8], [9, 2, 4, 8], [3, -1, 32]), (["t", "b", 32], [9, 2, 32], [-1, 64]),
    (["t", "b", "k"], [6, 3, 4], [4, 6, 3]), (["t", "b", 1], [4, 6, 1], [6, 4]), (["t", 4, "k"], [6, 4, 6], [144, 1])])
def test_sizes_that_follow_from_two_open_ones(needs_compiler, tmp_path, shape, sizes, wanted):
    model = model_of([helper.make_node("Relu", ["x"], ["r"]),
                      helper.make_node("Reshape", ["r", "s"], ["z"], allowzero=1),
                      helper.make_node("Neg", ["z"], ["y"])],
                     {"x": shape}, {"y": [None] * len(wanted)}, s=np.array(wanted))
    onnx.save(model, tmp_path / "net.onnx")
    with pytest.warns(UserWarning, match="dimensions of inputs are open"):
        function = takt.compile(tmp_path / "net.onnx", cache=tmp_path).load().net
    x = floats(*sizes)
    np.testing.assert_array_equal(function(x), -np.maximum(x, 0).reshape(wanted))


def test_a_limit_of_softplus(needs_compiler, tmp_path):
    cases = {}
    for limit in (20, 15):
        model = model_of(
            [helper.make_node("Softplus", ["x"], ["t"]), helper.make_node("Greater", ["x", "limit"], ["g"]),
             helper.make_node("Where", ["g", "x", "t"], ["y"]), helper.make_node("Abs", ["x"], ["a"]),
             helper.make_node("Mul", ["a", "half"], ["w"]), helper.make_node("Tanh", ["t"], ["m"])],
            {"x": [200]}, {name: [200] for name in ("y", "w", "m")}, limit=np.float32(limit), half=np.float32(0.5))
        assert ("Where" in kinds(porter.port(model))) == (limit < 16)
        cases[limit] = model, [floats(200) * 8]
    for limit, results in together.results(tmp_path, cases).items():
        model, (x,) = cases[limit]
        for found, wanted in zip(results, run(model, {"x": x})):
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5, err_msg=f"limit {limit}")


@pytest.mark.parametrize("way", ["half_pixel", "align_corners", "asymmetric"])
def test_what_keeps_its_size_is_not_resized(way):
    resize = helper.make_node("Resize", ["x", "", "", "sizes"], ["y"], mode="linear",
                              coordinate_transformation_mode=way)
    after = helper.make_node("Relu", ["y"], ["z"])
    shape = [1, 2, 4, 5]
    model = model_of([resize, after], {"x": shape}, {"z": shape}, sizes=np.array(shape))
    assert kinds(check(model, {"x": floats(*shape)}, "Resize")) == ["Relu"]


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_what_keeps_its_sizes_by_other_scales_is_not_resized(mode):
    model = model_of([helper.make_node("Resize", ["x", "", "scales"], ["y"], mode=mode)], {"x": [1, 2, 4, 3]},
                     {"y": [1, 2, 4, 3]}, scales=np.array([1, 1, 1.2, 1.3], np.float32))
    ported, x = porter.port(model), {"x": floats(1, 2, 4, 3)}
    assert kinds(ported) == ["Identity"]
    np.testing.assert_array_equal(ort_run(model, x)[0], x["x"])


@pytest.mark.parametrize("mode, nearest", [("nearest", "floor"), ("nearest", "round_prefer_ceil"), ("linear", ""),
                                           ("cubic", "")])
def test_places_between_pixels_as_tensorflow_counts_them(mode, nearest):
    """As tf2onnx writes an UpSampling2D of Keras for opset 11."""
    own = {"nearest_mode": nearest} if nearest else {}
    model = model_of([helper.make_node("Resize", ["x", "", "scales"], ["y"], mode=mode, **own,
                                       coordinate_transformation_mode="tf_half_pixel_for_nn")],
                     {"x": [1, 2, 4, 5]}, {"y": [1, 2, 8, 3]}, opset=13, scales=np.array([1, 1, 2, 0.7], np.float32))
    ported, x = porter.port(model), {"x": floats(1, 2, 4, 5)}
    assert "Resize" not in kinds(ported)
    np.testing.assert_allclose(ort_run(ported, x)[0], ort_run(model, x)[0], atol=1e-5)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_places_that_are_the_same_from_both_sides(mode):
    """The compiler would add up 2 for the pixel that row 12 lies on."""
    model = model_of([helper.make_node("Resize", ["x", "", "scales"], ["y"], mode=mode,
                                       coordinate_transformation_mode="half_pixel_symmetric")],
                     {"x": [1, 2, 11, 5]}, {"y": [1, 2, 16, 3]}, opset=19,
                     scales=np.array([1, 1, 1.5, 0.7], np.float32))
    ported, x = porter.port(model), {"x": floats(1, 2, 11, 5)}
    assert "Resize" not in kinds(ported)
    np.testing.assert_allclose(ort_run(ported, x)[0], ort_run(model, x)[0], atol=1e-5)


def test_places_between_pixels_as_pytorch_counts_them():
    model = model_of([helper.make_node("Resize", ["x", "", "", "sizes"], ["y"], mode="nearest", nearest_mode="floor",
                                       coordinate_transformation_mode="pytorch_half_pixel")],
                     {"x": [1, 2, 4, 5]}, {"y": [1, 2, 7, 1]}, sizes=np.array([1, 2, 7, 1]))
    check(model, {"x": floats(1, 2, 4, 5)}, "Resize")


@pytest.mark.parametrize("count", [5, "n"])
@pytest.mark.parametrize("way, images", [("half_pixel", 1), ("output_half_pixel", 2)])
def test_regions_have_as_many_points_as_they_are_long(needs_compiler, tmp_path, way, images, count):
    node = helper.make_node("RoiAlign", ["x", "boxes", "places"], ["y"], output_height=3, output_width=2,
                            spatial_scale=0.5, coordinate_transformation_mode=way)
    model = model_of([node], {"x": [images, 4, 9, 12], "boxes": [count, 4], "places": (TensorProto.INT64, [count])},
                     {"y": [count, 4, 3, 2]})
    assert "RoiAlign" not in kinds(porter.port(model))
    # Within the image, of no size, from right to left, wider than the image, outside.
    boxes = np.array([[2, 3, 14, 16], [5, 5, 5, 5], [9, 8, 4, 3], [-40, -70, 90, 60], [30, 2, 60, 9]], np.float32)
    feeds = {"x": floats(images, 4, 9, 12), "boxes": boxes, "places": np.arange(5) % images}
    check_compiled(tmp_path, {way: (model, feeds)}, functools.partial(np.testing.assert_allclose, atol=1e-5))


def test_rows_whose_number_a_call_finds_are_not_expanded(needs_compiler, tmp_path):
    """The rows of an expert, which may get none."""
    from onnx import parser

    model = parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]> net (float[4] x) => (float[3] y)
        <float zero = {0}, int64[2] sizes = {1, 3}, int64[1] first = {0}> {
            is_chosen = Greater(x, zero)  places = NonZero(is_chosen)  turned = Transpose<perm = [1, 0]>(places)
            rows = GatherND(w, turned)  same = Expand(rows, sizes)  y = ReduceSum<keepdims = 0>(same, first) }""")
    table = floats(4, 3)
    model.graph.initializer.append(numpy_helper.from_array(table, "w"))
    onnx.save(model, tmp_path / "net.onnx")
    net = takt.compile(tmp_path / "net.onnx", cache=tmp_path).load().net
    for x in (np.float32([-1, 1, -1, 1]), np.full(4, -1, np.float32)):
        np.testing.assert_allclose(net(x), table[x > 0].sum(0), rtol=1e-6)


@pytest.mark.parametrize("sizes, stays", [
    ([1, 4], False), ([4], False), ([3, 1], False), ([2, 1, 4], True), ([2, 3, 1], True)])
def test_what_does_not_grow_is_not_expanded(sizes, stays):
    model = model_of([helper.make_node("Expand", ["x", "sizes"], ["wide"]), helper.make_node("Relu", ["wide"], ["y"])],
                     {"x": [3, 4] if len(sizes) < 3 else [1, 3, 4]}, {"y": None}, sizes=np.array(sizes))
    ported = porter.port(model)
    assert ("Expand" in kinds(ported)) == stays
    x = floats(*([3, 4] if len(sizes) < 3 else [1, 3, 4]))
    np.testing.assert_array_equal(run(ported, {"x": x})[0], run(model, {"x": x})[0])


def test_bytes_are_resized_as_floats_are(needs_compiler, tmp_path):
    cases = {}
    for element in ("uint8", "int8"):
        resize = helper.make_node("Resize", ["x", "", "scales"], ["y"], mode="linear")
        number = helper.np_dtype_to_tensor_dtype(np.dtype(element))
        model = model_of([resize], {"x": (number, [1, 2, 5, 4])}, {"y": (number, None)},
                         scales=np.float32([1, 1, 2, 4]))
        cases[element] = model, {"x": RNG.integers(-128, 128, (1, 2, 5, 4)).astype(element)}
    check_compiled(tmp_path, cases)


def test_sequences_and_single_channels_are_resized_as_images(needs_compiler, tmp_path):
    cases = {}
    for mode in ("nearest", "linear", "cubic"):
        for shape, factors in [((2, 3, 5), (1, 1, 2)), ((2, 4, 5), (1, 1.5, 2)), ((4, 5), (2, 1)), ((4, 5), (1.5, 2)),
                               ((2, 4, 5), (2, 1.5, 1))]:
            for sizes in (False, True):
                given = np.array([int(size * factor) for size, factor in zip(shape, factors)]) if sizes else np.float32(
                    factors)
                if mode == "cubic" and len(shape) != 2:  # ONNX Runtime takes no others.
                    continue
                inputs = ["x", "", "", "given"] if sizes else ["x", "", "given"]
                resize = helper.make_node("Resize", inputs, ["y"], mode=mode)
                model = model_of([resize], {"x": list(shape)}, {"y": None}, given=given)
                cases[mode, shape, factors, sizes] = model, {"x": floats(*shape)}
    check_compiled(tmp_path, cases, functools.partial(np.testing.assert_allclose, atol=1e-5))


def test_rows_and_columns_are_resized_before_the_channels(needs_compiler, tmp_path):
    cases = {}
    for mode, sizes in (("linear", (2, 9, 3, 3)), ("nearest", (2, 9, 3, 3)), ("linear", (2, 4, 11, 3)),
                        ("nearest", (3, 4, 5, 5)), ("nearest", (4, 8, 10, 6))):
        for is_scaled in (False, True):
            given = np.float32(sizes) / np.float32([2, 4, 5, 3]) if is_scaled else np.array(sizes)
            resize = helper.make_node("Resize", ["x", "", *([] if is_scaled else [""]), "given"], ["y"], mode=mode)
            model = model_of([resize], {"x": [2, 4, 5, 3]}, {"y": None}, given=given)
            cases[mode, sizes, is_scaled] = model, {"x": floats(2, 4, 5, 3)}
    check_compiled(tmp_path, cases, functools.partial(np.testing.assert_allclose, atol=1e-5))


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("way", ["asymmetric", "half_pixel"])
def test_volumes_are_resized_along_each_axis(mode, way):
    model = model_of([helper.make_node("Resize", ["x", "", "scales"], ["y"], mode=mode, nearest_mode="floor",
                                       coordinate_transformation_mode=way)],
                     {"x": [1, 2, 3, 4, 5]}, {"y": [1, 2, 6, 8, 5]}, scales=np.array([1, 1, 2, 2, 1], np.float32))
    check(model, {"x": floats(1, 2, 3, 4, 5)}, "Resize")


def test_what_is_only_passed_on_is_read_where_it_is_made():
    nodes = [
        helper.make_node("Identity", ["x"], ["a"]), helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Cast", ["b"], ["c"], to=TensorProto.FLOAT), helper.make_node("Neg", ["c"], ["d"]),
        helper.make_node("Identity", ["d"], ["y"]), helper.make_node("Identity", ["d"], ["z"]),
        helper.make_node("Identity", ["x"], ["same"]), helper.make_node("Abs", ["d"], ["last"])]
    model = model_of(nodes, {"x": [3]}, {"y": [3], "z": [3], "same": [3], "last": [3]})
    ported = porter.port(model)
    onnx.checker.check_model(ported, full_check=True)
    assert sorted(node.op_type for node in ported.graph.node) == ["Abs", "Identity", "Identity", "Neg", "Relu"]
    x = np.array([1, -2, 3], np.float32)
    for a, b in zip(ort_run(model, {"x": x}), ort_run(ported, {"x": x})):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("power", [1, 2, 3])
def test_pools_of_powers(power):
    model = model_of([helper.make_node("LpPool", ["x"], ["y"], p=power, kernel_shape=[2, 3], strides=[2, 1],
                                       pads=[0, 1, 0, 1])], {"x": [1, 2, 6, 6]}, {"y": [1, 2, 3, 6]})
    ported = porter.port(model)
    assert "LpPool" not in kinds(ported)
    x = floats(1, 2, 6, 6)
    for a, b in zip(ort_run(model, {"x": x}), ort_run(ported, {"x": x})):
        np.testing.assert_allclose(b, a, atol=1e-5)


@pytest.mark.parametrize("size, own", [
    ([9], {"kernel_shape": [4], "strides": [2], "ceil_mode": 1}),
    ([8, 7], {"kernel_shape": [3, 2], "strides": [2, 1], "dilations": [2, 1]}),
    ([9, 10], {"kernel_shape": [2, 3], "strides": [2, 3], "dilations": [2, 2], "pads": [1, 0, 1, 1], "ceil_mode": 1})])
def test_pools_of_powers_with_wide_windows(size, own):
    model = model_of([helper.make_node("LpPool", ["x"], ["y"], p=3, **own)], {"x": [1, 2, *size]}, {"y": None},
                     opset=18)
    x = floats(1, 2, *size)
    ported = porter.port(model)
    onnx.checker.check_model(ported)
    assert "LpPool" not in kinds(ported) and all(
        each.name != "ceil_mode" for node in ported.graph.node for each in node.attribute)
    np.testing.assert_allclose(ort_run(ported, {"x": x})[0], ort_run(model, {"x": x})[0], rtol=1e-5)


@pytest.mark.parametrize("own", [
    {"mode": "nearest", "coordinate_transformation_mode": "half_pixel_symmetric"},
    {"mode": "cubic", "cubic_coeff_a": -0.5}])
@pytest.mark.parametrize("factors", [[1.7, 1.3], [0.6, 0.45], [2, 0.5]])
def test_images_of_other_sizes(own, factors):
    model = model_of([helper.make_node("Resize", ["x", "", "scales"], ["y"], **own)], {"x": [1, 2, 5, 7]}, {"y": None},
                     opset=19, scales=np.float32([1, 1, *factors]))
    ported, x = porter.port(model), floats(1, 2, 5, 7)
    assert "Resize" not in kinds(ported)
    np.testing.assert_allclose(ort_run(ported, {"x": x})[0], ort_run(model, {"x": x})[0], rtol=0, atol=1e-5)


def test_products_of_nothing(needs_compiler, tmp_path):
    cases, wanted = {}, {}
    for kind, own in (("MatMul", {}), ("Gemm", {"transA": 1}), ("Gemm", {"beta": 0.5})):
        bias = {"c": floats(4)} if "beta" in own else {}
        nodes = [helper.make_node(kind, ["x", "w", *bias], ["y"], **own)]
        shape, case = [0, 3] if "transA" in own else [3, 0], f"{kind} {own}"
        model = model_of(nodes, {"x": shape, "w": [0, 4]}, {"y": [3, 4]}, **bias)
        cases[case] = model, [np.zeros(shape, np.float32), floats(0, 4)]
        wanted[case] = np.broadcast_to(0.5 * bias.get("c", np.float32(0)), (3, 4))
    for case, found in together.results(tmp_path, cases).items():
        np.testing.assert_array_equal(found, wanted[case], err_msg=case)


def test_no_part_of_the_porter_hides_another():
    names = [name for part in porter._Porter.__mro__[:-1] for name in vars(part) if not name.startswith("__")]
    assert sorted(names) == sorted(set(names))


def test_softsign():
    model = model_of([helper.make_node("Softsign", ["x"], ["y"])], {"x": [3, 4]}, {"y": [3, 4]})
    check(model, {"x": floats(3, 4)}, "Softsign")


@pytest.mark.parametrize("own", [{}, {"axis": 1}])
def test_what_a_condition_chooses(own):
    model = model_of([helper.make_node("Compress", ["x", "chosen"], ["y"], **own)],
                     {"x": [3, 4], "chosen": (TensorProto.BOOL, [4])}, {"y": None})
    ported = porter.port(model)
    assert "Compress" not in kinds(ported)
    feeds = {"x": floats(3, 4), "chosen": np.array([True, False, True, True])}
    np.testing.assert_array_equal(run(ported, feeds)[0], run(model, feeds)[0])


def test_members_of_several_shapes_stay_where_the_place_is_not_known():
    model = model_of(
        [helper.make_node("SequenceConstruct", ["x", "w"], ["list"]),
         helper.make_node("SequenceAt", ["list", "i"], ["y"])],
        {"x": [3], "w": [2], "i": (TensorProto.INT64, [])}, {"y": None})
    assert kinds(porter.port(model)) == ["SequenceConstruct", "SequenceAt"]


def test_places_of_maxima_count_over_all_channels(needs_compiler, tmp_path):
    cases, orders = {}, {}
    for shape, options in (
            ([2, 3, 8, 6], {}), ([1, 2, 8, 6], {"storage_order": 1}), ([1, 3, 8], {}), ([1, 2, 4, 4, 6], {}),
            ([1, 2, 9, 7], {"pads": [1, 0, 0, 1]}), ([2, 1, 9, 8], {"ceil_mode": 1, "pads": [1, 0, 0, 0]}),
            ([1, 1, 9, 7], {"auto_pad": "SAME_LOWER"})):
        window, case = [2] * (len(shape) - 2), f"{shape} {options}"
        network = model_of(
            [helper.make_node("MaxPool", ["x"], ["top", "place"], kernel_shape=window, strides=window, **options),
             helper.make_node("Relu", ["top"], ["y"])],
            {"x": shape}, {"y": None, "place": (TensorProto.INT64, None)})
        cases[case] = network, [floats(*shape)]
        orders[case] = "F" if "storage_order" in options else "C"
    for case, (tops, places) in together.results(tmp_path, cases).items():
        x, = cases[case][1]
        for index in np.ndindex(*places.shape):
            plane, at = divmod(int(places[index]), math.prod(x.shape[2:]))
            assert plane == index[0] * x.shape[1] + index[1], case
            assert max(x[index[:2]].ravel(orders[case])[at], 0) == tops[index], case


def test_a_size_that_is_left_is_a_constant():
    """The compiler would take the open size beside a known one for the same, and read beyond the tensor."""
    from onnx import parser

    model = parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        net (float[batch,16,12] x, float[batch,12] m) => (float[batch,16,12] y)
        <int64[1] zero = {0}, int64[2] rest = {-1, 12}> {
            shape = Shape(x)  batch = Gather(shape, zero)  to = Concat<axis = 0>(batch, rest)
            mask = Reshape(m, to)  y = Add(x, mask) }""")
    ported = porter.port(model)
    assert kinds(ported) == ["Reshape", "Add"]
    feeds = {"x": floats(3, 16, 12), "m": floats(3, 12)}
    np.testing.assert_array_equal(run(ported, feeds)[0], feeds["x"] + feeds["m"][:, None])


@pytest.mark.parametrize("sizes, own", [([1, 4, -1, 0], {"allowzero": 1}), ([-1, 0], {})])
def test_no_size_follows_of_no_elements(sizes, own):
    model = model_of([helper.make_node("Reshape", ["x", "sizes"], ["y"], **own)], {"x": [4, 0]}, {"y": None},
                     sizes=np.array(sizes))
    with pytest.raises(takt.CompileError, match="Reshape 'y': of no elements, no size follows for the -1 of"):
        porter.port(model)


def test_no_elements_have_a_shape():
    model = model_of([helper.make_node("Reshape", ["x", "sizes"], ["y"])], {"x": [0, 4]}, {"y": [0, 2]},
                     sizes=np.array([-1, 2]))
    assert run(porter.port(model), {"x": floats(0, 4)})[0].shape == (0, 2)


@pytest.mark.parametrize("batch, is_reshaped", [("2", True), ("N", False)])
def test_the_last_step_of_an_open_number(batch, is_reshaped):
    model = onnx.parser.parse_model(f"""<ir_version: 10, opset_import: ["" : 17]>
        net (float[{batch},T,4] x) => (float[{batch},4] y) <int64[1] last = {{-1}}, int64[1] end = {{{2 ** 63 - 1}}},
                                                         int64[1] one = {{1}}> {{
          step = Slice(x, last, end, one)
          y = Squeeze(step, one)
        }}""")
    ported = porter.port(model)
    assert ("Reshape" in kinds(ported)) == is_reshaped and ("Squeeze" in kinds(ported)) != is_reshaped
    x = floats(2, 5, 4)
    np.testing.assert_array_equal(run(ported, {"x": x})[0], x[:, -1])


@pytest.mark.parametrize("shape, axes", [(["n", 1, "m", 1], [-3, -1]), ([1, 1, "n"], [-3, -2])])
def test_axes_from_the_end_are_dropped(needs_compiler, tmp_path, shape, axes):
    model = model_of([helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Squeeze", ["r", "axes"], ["y"])],
                     {"x": shape}, {"y": [None] * (len(shape) - 2)}, axes=np.array(axes))
    onnx.save(model, tmp_path / "net.onnx")
    x = floats(*(size if isinstance(size, int) else 3 + i for i, size in enumerate(shape)))
    with pytest.warns(UserWarning, match="are open"):
        function = takt.compile(tmp_path / "net.onnx", cache=tmp_path, timeout=60).load().net
    np.testing.assert_array_equal(function(x), np.maximum(x, 0).squeeze(tuple(axes)))


@pytest.mark.parametrize("nodes, shape, given", [
    ([helper.make_node("FusedMatMul", ["x", "x"], ["r"], domain="com.microsoft", transB=1)], [1, 4], [1, 4]),
    ([helper.make_node("Relu", ["x"], ["r"])], ["n"], [1]),
])
def test_what_is_squeezed_may_have_no_known_rank_or_no_neighbour(nodes, shape, given):
    model = model_of([*nodes, helper.make_node("Squeeze", ["r", "axes"], ["y"])], {"x": shape}, {"y": None},
                     axes=np.array([0]))
    failed = []
    ported = porter.port(model, failed)
    assert failed == []
    x = floats(*given)
    np.testing.assert_allclose(run(ported, {"x": x})[0], ort_run(model, {"x": x})[0], rtol=1e-6)


@pytest.mark.parametrize("shape, axis", [(["n", 4, "m"], 2), (["n", 4, "m"], -1), (["m", 4, "n"], 0),
                                         (["n", "m", 4], 1), (["n", "m", "k"], 1), (["n", "m"], 1)])
def test_an_open_size_of_one_is_dropped(needs_compiler, tmp_path, shape, axis):
    model = model_of([helper.make_node("Slice", ["x", "first", "end", "axes"], ["part"]),
                      helper.make_node("Squeeze", ["part", "axes"], ["row"]), helper.make_node("Neg", ["row"], ["y"])],
                     {"x": shape}, {"y": [None] * (len(shape) - 1)}, first=np.array([1]), end=np.array([2]),
                     axes=np.array([axis]))
    onnx.save(model, tmp_path / "net.onnx")
    x = floats(*(size if isinstance(size, int) else 3 + i for i, size in enumerate(shape)))
    with pytest.warns(UserWarning, match="are open"):
        function = takt.compile(tmp_path / "net.onnx", cache=tmp_path).load().net
    np.testing.assert_array_equal(function(x), -x.take(1, axis))
