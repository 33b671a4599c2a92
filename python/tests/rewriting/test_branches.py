"""Convolutions whose results are added."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import helper  # noqa: E402

from takt.rewriting import branches  # noqa: E402
from test_porter import floats, kinds, model_of, run  # noqa: E402

NORM = {"scale": floats(8), "shift": floats(8), "mean": floats(8), "variance": np.abs(floats(8)) + 0.5}


def conv(x, weights, y, bias="", **attributes):
    return helper.make_node("Conv", [x, weights, bias] if bias else [x, weights], [y], **attributes)


def add(a, b, y):
    return helper.make_node("Add", [a, b], [y])


def check(nodes, left, inputs=None, **constants):
    """Merging leaves operators of the kinds `left`, and what the model computes."""
    model = model_of(nodes, inputs or {"x": [1, 8, 7, 6]}, {"y": None}, **constants)
    merged = branches.merge(model)
    assert sorted(kinds(merged)) == sorted(left)
    names = inputs or {"x": [1, 8, 7, 6]}
    feeds = {name: floats(*shape) for name, shape in names.items()}
    for wanted, found in zip(run(model, feeds), run(merged, feeds)):
        np.testing.assert_allclose(found, wanted, atol=1e-5 * np.abs(wanted).max())
    return model, merged


def norm(x, y):
    return helper.make_node("BatchNormalization", [x, *NORM], [y])


@pytest.mark.parametrize("groups", [1, 8, 2])
def test_kernels_of_several_sizes_and_a_normalization(groups):
    check([conv("x", "wide", "a", "bias", pads=[1] * 4, group=groups), conv("x", "one", "b", group=groups),
           norm("x", "n"), add("a", "b", "s"), add("s", "n", "t"), add("t", "zero", "u"),
           helper.make_node("Relu", ["u"], ["y"])],
          ["Conv", "Relu"], wide=floats(8, 8 // groups, 3, 3), bias=floats(8), one=floats(8, 8 // groups, 1, 1),
          zero=floats(), **NORM)


def test_strides_and_sequences():
    check([conv("x", "wide", "a", pads=[2, 2], strides=[2]), conv("x", "one", "b", strides=[2]), add("a", "b", "y")],
          ["Conv"], {"x": [1, 8, 9]}, wide=floats(6, 8, 5), one=floats(6, 8, 1))


def test_the_tensor_itself_is_a_part_of_depthwise_ones_alone():
    check([conv("x", "w", "a", pads=[1] * 4, group=8), add("x", "a", "y")], ["Conv"], w=floats(8, 1, 3, 3))
    check([conv("x", "w", "a", pads=[1] * 4), add("x", "a", "y")], ["Conv", "Add"], w=floats(8, 8, 3, 3))


def test_other_terms_stay():
    check([conv("x", "w", "a", pads=[1] * 4), conv("x", "v", "b"), add("a", "z", "s"), add("s", "b", "y")],
          ["Conv", "Add"], {"x": [1, 8, 7, 6], "z": [1, 8, 7, 6]}, w=floats(8, 8, 3, 3), v=floats(8, 8, 1, 1))


@pytest.mark.parametrize("change", ["source", "stride", "pads", "dilation", "used", "even"])
def test_branches_that_differ_stay(change):
    """Another source, stride or window; a result that something else reads."""
    first, size = {"pads": [1] * 4}, 3
    if change == "pads":
        first = {"pads": [2, 1, 0, 1]}
    if change == "dilation":
        first = {"pads": [2] * 4, "dilations": [2, 2]}
    if change == "even":
        first, size = {"pads": [1, 1, 0, 0]}, 2
    if change == "stride":
        first["strides"] = [7, 7]
    source = "z" if change == "source" else "x"
    nodes = [conv(source, "w", "a", **first), conv("x", "v", "b"), add("a", "b", "s"),
             helper.make_node("Neg", ["a" if change == "used" else "s"], ["n"]), add("n", "s", "y")]
    inputs = {"x": [1, 8, 7, 6], "z": [1, 8, 7, 6]}
    if change == "stride":
        inputs["x"] = inputs["z"] = [1, 8, 1, 1]
    check(nodes, kinds(model_of(nodes, inputs, {"y": None})), inputs, w=floats(8, 8, size, size), v=floats(8, 8, 1, 1))
