"""Concatenations that begin as others do."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import helper  # noqa: E402

from takt.rewriting import beginnings  # noqa: E402
from test_porter import floats, model_of, run  # noqa: E402


def concat(parts, result, axis=1):
    return helper.make_node("Concat", list(parts), [result], axis=axis)


def joins(model):
    return {node.output[0]: list(node.input) for node in model.graph.node if node.op_type == "Concat"}


def test_the_longest_beginning_is_one_part():
    nodes = [concat("ab", "p"), concat("abc", "q"), concat("abcd", "r"), concat("abd", "s"), concat("bc", "t"),
             concat("abc", "other", axis=0)]
    sizes = {"p": [2, 6], "q": [2, 9], "r": [2, 12], "s": [2, 9], "t": [2, 6], "other": [6, 3]}
    model = model_of(nodes, {name: [2, 3] for name in "abcd"}, sizes, 17)
    shared = beginnings.share(model)
    assert joins(shared) == {"p": ["a", "b"], "q": ["p", "c"], "r": ["q", "d"], "s": ["p", "d"], "t": ["b", "c"],
                             "other": ["a", "b", "c"]}
    feeds = {name: floats(2, 3) + i for i, name in enumerate("abcd")}
    for wanted, found in zip(run(model, feeds), run(shared, feeds), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_what_is_quantized_is_neither_shared_nor_made_of_others():
    numbers = {"scale": np.float32(0.05), "zero": np.int8(3)}
    nodes = [concat("ab", "p"), concat("abc", "q"),
             helper.make_node("QuantizeLinear", ["p", "scale", "zero"], ["bytes"])]
    results = {"bytes": (onnx.TensorProto.INT8, [2, 6]), "q": [2, 9]}
    model = model_of(nodes, {name: [2, 3] for name in "abc"}, results, 17, **numbers)
    assert beginnings.share(model) is model
