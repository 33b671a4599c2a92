"""Attention and norms of ONNX Runtime, which files have that it has optimized."""

import numpy as np
import pytest

import takt

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper

from takt.porting import porter
from test_porter import ort_run

RNG = np.random.default_rng(7)


def floats(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def check(kind, inputs, constants, results=("y",), domain="com.microsoft", order=None, atol=1e-5, **own):
    """ONNX Runtime's result by operators of ONNX alone."""
    names = order or [*inputs, *constants]
    node = helper.make_node(kind, names, list(results), domain=domain, **own)
    kinds = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int32): TensorProto.INT32,
             np.dtype(np.int64): TensorProto.INT64, np.dtype(np.uint8): TensorProto.UINT8}
    graph = helper.make_graph(
        [node], "net",
        [helper.make_tensor_value_info(name, kinds[value.dtype], value.shape) for name, value in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in results if name],
        [numpy_helper.from_array(value, name) for name, value in constants.items()])
    model = helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])
    ported = porter.port(model)
    assert kind not in {each.op_type for each in ported.graph.node}
    assert all(each.domain != "com.microsoft" for each in ported.graph.node)
    wanted, found = (ort_run(each, inputs) for each in (model, ported))
    for a, b in zip(wanted, found):
        np.testing.assert_allclose(b, a, rtol=1e-4, atol=atol)


def queries(size=16):
    return {"q": floats(2, 5, size), "k": floats(2, 7, size), "v": floats(2, 7, size)}


def test_several_heads():
    check("MultiHeadAttention", queries(), {}, num_heads=4)


def test_several_heads_with_a_bias_and_a_scale():
    check("MultiHeadAttention", queries(), {"b": floats(48)}, num_heads=4, scale=0.3)


@pytest.mark.parametrize("padding", [[[1, 1, 1, 0, 0, 0, 0], [1] * 7], [[0] * 7, [1] * 7], [3, 7], [0, 5]])
def test_several_heads_with_padding(padding):
    """All keys are seen where none is, by scores that ONNX Runtime rounds."""
    check("MultiHeadAttention", {**queries(), "p": np.array(padding, np.int32)}, {}, num_heads=4,
          order=["q", "k", "v", "", "p"], atol=1e-5 if all(map(np.any, padding)) else 1e-3)


def test_several_heads_with_added_scores():
    check("MultiHeadAttention", {**queries(), "s": floats(2, 4, 5, 7)}, {}, num_heads=4,
          order=["q", "k", "v", "", "", "s"])


def test_several_heads_with_padding_and_added_scores():
    padding = np.array([[1, 1, 1, 0, 0, 0, 0], [1] * 7], np.int32)
    for added in (floats(2, 4, 5, 7), floats(1, 1, 5, 7)):
        check("MultiHeadAttention", {**queries(), "p": padding, "s": added}, {"b": floats(48)}, num_heads=4,
              order=["q", "k", "v", "b", "p", "s"])


@pytest.mark.parametrize("own", [{}, {"unidirectional": 1}, {"scale": 0.2}])
def test_joint_attention(own):
    check("Attention", {"x": floats(2, 6, 8)}, {"w": floats(8, 48), "b": floats(48)}, num_heads=4, **own)


@pytest.mark.parametrize("padding", [[[1, 1, 1, 0, 0, 0], [1] * 6], [[0] * 6, [1] * 6], [4, 6], [0, 2]])
@pytest.mark.parametrize("own", [{}, {"unidirectional": 1}, {"mask_filter_value": -50.0}])
def test_joint_attention_with_padding(padding, own):
    check("Attention", {"x": floats(2, 6, 8), "p": np.array(padding, np.int32)},
          {"w": floats(8, 48), "b": floats(48)}, num_heads=4, order=["x", "w", "b", "p"],
          atol=1e-5 if all(map(np.any, padding)) else 1e-3, **own)


@pytest.mark.parametrize("own", [{}, {"unidirectional": 1}])
def test_joint_attention_with_a_past(own):
    check("Attention", {"x": floats(2, 6, 8), "past": floats(2, 2, 4, 3, 4)}, {"w": floats(8, 48), "b": floats(48)},
          results=("y", "present"), num_heads=4, order=["x", "w", "b", "", "past"], **own)


def test_joint_attention_that_leaves_a_past():
    check("Attention", {"x": floats(2, 6, 8)}, {"w": floats(8, 48), "b": floats(48)}, results=("y", "present"),
          num_heads=4, unidirectional=1)


@pytest.mark.parametrize("past", [False, True])
def test_quantized_attention(past):
    # With greater ones, ONNX Runtime's sums saturate on a processor without VNNI.
    weights = RNG.integers(-64, 65, (8, 48)).astype(np.int8)
    inputs = {"x": RNG.integers(0, 256, (2, 6, 8)).astype(np.uint8)}
    if past:
        inputs["past"] = floats(2, 2, 4, 3, 4)
    check("QAttention", inputs, {
        "w": weights, "b": floats(48), "s": np.float32(0.02), "ws": np.float32(0.01), "z": np.uint8(100),
        "wz": np.int8(0)}, results=("y", "present"), num_heads=4,
        order=["x", "w", "b", "s", "ws", "", "z", "wz", *(["past"] if past else [])])


def test_simplified_norms():
    check("SimplifiedLayerNormalization", {"x": floats(2, 5, 8)}, {"g": floats(8)}, domain="", epsilon=1e-4, axis=-1)
    check("SkipSimplifiedLayerNormalization", {"x": floats(2, 5, 8), "s": floats(2, 5, 8)}, {"g": floats(8)},
          results=("y", "", "", "t"), epsilon=1e-4)


@pytest.mark.parametrize("interleaved", [0, 1])
def test_rotated_places(interleaved):
    places = RNG.integers(0, 9, (2, 5))
    check("RotaryEmbedding", {"x": floats(2, 5, 16), "p": places}, {"c": floats(9, 4), "s": floats(9, 4)},
          interleaved=interleaved)


@pytest.mark.parametrize("shape", [(2, 5, 16), (2, 2, 5, 8)])
@pytest.mark.parametrize("interleaved", [0, 1])
def test_rotated_places_behind_a_first_one(interleaved, shape):
    check("RotaryEmbedding", {"x": floats(*shape), "p": np.array([3])}, {"c": floats(9, 4), "s": floats(9, 4)},
          interleaved=interleaved)


def shared(steps, past, turns, has_one_input, batch=2):
    """Four heads of queries and two of keys, of 16 numbers each."""
    sources = [floats(batch, steps, count * 16) for count in (4, 2, 2)]
    inputs = {"q": np.concatenate(sources, 2)} if has_one_input else dict(zip("qkv", sources))
    inputs.update(pk=floats(batch, 2, past, 16), pv=floats(batch, 2, past, 16),
                  last=np.full(batch, past + steps - 1, np.int32), total=np.array(past + steps, np.int32))
    order = ["q", *(["", ""] if has_one_input else "kv"), "pk", "pv", "last", "total", *("cs" if turns else "")]
    return inputs, {each: floats(20, 8) for each in "cs" if turns}, order


@pytest.mark.parametrize("has_one_input, own", [
    (True, {}), (False, {"local_window_size": 2}), (True, {"do_rotary": 1, "rotary_interleaved": 1})])
def test_shared_heads_of_a_prompt(has_one_input, own):
    inputs, constants, order = shared(4, 0, "do_rotary" in own, has_one_input)
    check("GroupQueryAttention", inputs, constants, results=("y", "nk", "nv"), order=order, num_heads=4, kv_num_heads=2,
          **own)


def grouped(steps, buffer, lengths, own, has_one_input=False):
    """A GroupQueryAttention behind a past; `lengths` are those of the sequences with the new tokens."""
    batch = len(lengths)
    inputs, constants, order = shared(steps, buffer, "do_rotary" in own, has_one_input, batch)
    inputs["last"] = np.array(lengths, np.int32) - 1
    inputs["total"] = np.array(max(lengths), np.int32)
    node = helper.make_node("GroupQueryAttention", order, ["y", "nk", "nv"], domain="com.microsoft", num_heads=4,
                            kv_num_heads=2, **own)
    return node, inputs, constants


def model_of_grouped(node, inputs, constants, sizes=lambda name, shape: shape):
    graph = helper.make_graph(
        [node], "net", [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype),
                                                      sizes(name, value.shape)) for name, value in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in node.output],
        [numpy_helper.from_array(value, name) for name, value in constants.items()])
    return helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])


def assert_same_tokens(found, wanted, lengths):
    """What is behind the end of a sequence is undefined."""
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-4, atol=1e-5)
    for a, b in zip(found[1:], wanted[1:]):
        assert a.shape == b.shape
        for row, other, length in zip(a, b, lengths):
            np.testing.assert_allclose(row[:, :length], other[:, :length], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("steps, buffer, lengths", [
    (1, 3, [4]), (3, 4, [7]), (1, 6, [7, 4, 2]), (1, 9, [5]), (2, 9, [7]), (1, 9, [9, 3])])
@pytest.mark.parametrize("has_one_input, own", [
    (False, {}), (True, {"do_rotary": 1}), (False, {"do_rotary": 1, "rotary_interleaved": 1}),
    (False, {"local_window_size": 2}), (False, {"softcap": 2.0, "scale": 0.3})])
def test_grouped_heads_with_a_past(steps, buffer, lengths, has_one_input, own):
    """A past of the longest sequence, or a buffer with room."""
    node, inputs, constants = grouped(steps, buffer, lengths, own, has_one_input)
    model = model_of_grouped(node, inputs, constants)
    ported = porter.port(model)
    assert all(each.domain != "com.microsoft" for each in ported.graph.node)
    assert_same_tokens(ort_run(ported, inputs), ort_run(model, inputs), lengths)


def test_grouped_heads_of_open_sizes(needs_compiler, tmp_path):
    """One module takes a prompt, and the tokens behind it."""
    def sizes(name, shape):
        if name in ("last", "total"):
            return ["batch"] if shape else []
        return ["batch", 2, "past", 16] if name in ("pk", "pv") else ["batch", "steps", shape[2]]

    own, net = {"do_rotary": 1}, None
    for steps, buffer, lengths in ((5, 0, [5]), (1, 5, [6]), (3, 6, [9]), (4, 0, [4, 4]), (1, 4, [5, 3]), (1, 8, [4])):
        node, inputs, constants = grouped(steps, buffer, lengths, own)
        constants = {name: np.random.default_rng(4).standard_normal(each.shape).astype(np.float32)
                     for name, each in constants.items()}
        model = model_of_grouped(node, inputs, constants, sizes)
        if net is None:
            onnx.save(model, tmp_path / "net.onnx")
            net = takt.compile(tmp_path / "net.onnx", cache=tmp_path).load().net
        assert_same_tokens(list(map(np.asarray, net(*inputs.values()))), ort_run(model, inputs), lengths)


@pytest.mark.parametrize("rank, groups, past, mask, own", [
    (4, 4, False, None, {}), (4, 4, False, np.float32, {"is_causal": 1}), (3, 2, False, None, {"is_causal": 1}),
    (4, 2, True, None, {"is_causal": 1}), (3, 4, True, bool, {}), (3, 2, True, np.float32, {"softcap": 2.0}),
])
def test_attention_of_open_sizes(rank, groups, past, mask, own):
    heads, size = 4, 8

    def shape(count, *sizes):
        return [sizes[0], count, sizes[1], size] if rank == 4 else [*sizes, count * size]

    shapes = {"q": shape(heads, "b", "s"), "k": shape(groups, "b", "t"), "v": shape(groups, "b", "t")}
    if mask:
        shapes["m"] = ["s", "u"]
    if past:
        shapes.update(dict.fromkeys(("pk", "pv"), ["b", groups, "p", size]))
    names = [name if name in shapes else "" for name in ("q", "k", "v", "m", "pk", "pv")]
    results = ["y", "keys", "values"] if past else ["y"]
    if rank == 3:
        own = {"q_num_heads": heads, "kv_num_heads": groups, **own}
    value = helper.make_tensor_value_info
    model = helper.make_model(helper.make_graph(
        [helper.make_node("Attention", names, results, **own)], "net",
        [value(name, TensorProto.BOOL if name == "m" and mask is bool else TensorProto.FLOAT, sizes)
         for name, sizes in shapes.items()],
        [value(name, TensorProto.FLOAT, [None] * (rank if name == "y" else 4)) for name in results]),
        ir_version=10, opset_imports=[helper.make_opsetid("", 23)])
    ported = porter.port(model)
    assert "Attention" not in {node.op_type for node in ported.graph.node}
    for sizes in ({"b": 1, "s": 1, "t": 1, "p": 2}, {"b": 2, "s": 7, "t": 4, "p": 1}, {"b": 3, "s": 1, "t": 1, "p": 5}):
        sizes["u"] = sizes["t"] + sizes["p"] * past
        inputs = {name: floats(*(sizes.get(each, each) for each in shape)) for name, shape in shapes.items()}
        if mask is bool:
            inputs["m"] = inputs["m"] > 0
            inputs["m"][:, 0] = True
        for a, b in zip(ort_run(model, inputs), ort_run(ported, inputs), strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-4, atol=1e-5)


def test_a_norm_of_open_sizes():
    model = helper.make_model(helper.make_graph(
        [helper.make_node("RMSNormalization", ["x", "scale"], ["y"])], "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["b", "s", 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(floats(8), "scale")]), ir_version=10, opset_imports=[helper.make_opsetid("", 23)])
    ported = porter.port(model)
    assert "RMSNormalization" not in {node.op_type for node in ported.graph.node}
    x = floats(2, 3, 8)
    np.testing.assert_allclose(ort_run(ported, {"x": x})[0], ort_run(model, {"x": x})[0], rtol=1e-5, atol=1e-6)
