"""Convolutions of rows and of columns in the other order."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import helper  # noqa: E402

from takt.rewriting import crossing  # noqa: E402
from test_porter import floats, model_of, run  # noqa: E402

NORM = {"scale": floats(8), "shift": floats(8), "mean": floats(8), "variance": np.abs(floats(8)) + 0.5}


def nodes(is_normed, first, second, biases=("b", "c")):
    """A convolution, a normalization if there is to be one, and a convolution of each of 8 channels."""
    made = [helper.make_node("Conv", ["x", "w", *biases[:1]], ["a"], **first)]
    if is_normed:
        made.append(helper.make_node("BatchNormalization", ["a", *NORM], ["n"]))
    last = ["n" if is_normed else "a", "v", *biases[1:]]
    return [*made, helper.make_node("Conv", last, ["y"], group=8, **second)]


def exchanged(made, shape, w, v):
    """Whether both changed their places; then the result is as it was."""
    ins = {"w": floats(*w), "v": floats(*v), "b": floats(8), "c": floats(v[0]), **NORM}
    model = model_of(made, {"x": shape}, {"y": None}, **ins)
    changed = crossing.exchange(model)
    feeds = {"x": floats(*shape)}
    wanted, found = (run(each, feeds)[0] for each in (model, changed))
    np.testing.assert_allclose(found, wanted, atol=1e-5 * np.abs(wanted).max())
    windows = [helper.get_attribute_value(each) for node in changed.graph.node for each in node.attribute
               if each.name == "kernel_shape"]
    return windows == [list(v[2:]), list(w[2:])]


ROW, COLUMN = {"kernel_shape": [1, 16], "pads": [0, 8, 0, 8]}, {"kernel_shape": [12, 1]}


@pytest.mark.parametrize("is_normed", [False, True])
@pytest.mark.parametrize("biases", [("b", "c"), ("b",), ()])
def test_the_one_that_leaves_a_row_comes_first(is_normed, biases):
    assert exchanged(nodes(is_normed, ROW, COLUMN, biases), [2, 1, 12, 40], [8, 1, 1, 16], [16, 1, 12, 1])


def test_strides_dilations_and_groups():
    row = {**ROW, "strides": [1, 2], "dilations": [1, 2], "pads": [0, 3, 0, 5]}
    assert exchanged(nodes(False, row, COLUMN), [1, 1, 12, 60], [8, 1, 1, 16], [8, 1, 12, 1])
    of_groups = {**ROW, "group": 4}
    assert exchanged(nodes(True, of_groups, {**COLUMN, "strides": [3, 1]}), [1, 4, 14, 40], [8, 1, 1, 16],
                     [16, 1, 12, 1])
    turned = {"kernel_shape": [16, 1], "pads": [8, 0, 8, 0]}
    assert exchanged(nodes(False, turned, {"kernel_shape": [1, 12]}), [1, 1, 40, 12], [8, 1, 16, 1], [16, 1, 1, 12])


@pytest.mark.parametrize("change", ["slower", "padded", "row", "stride", "activation", "result", "channels"])
def test_others_stay(change):
    row, column, w, v, shape = dict(ROW), dict(COLUMN), [8, 1, 1, 16], [16, 1, 12, 1], [1, 1, 12, 40]
    if change == "slower":  # As many rows as before: the first one has fewer channels.
        column, v, shape = {"kernel_shape": [2, 1]}, [32, 1, 2, 1], [1, 1, 40, 40]
    if change == "padded":
        column["pads"] = [1, 0, 1, 0]
    if change == "row":
        row, w = {"kernel_shape": [2, 16], "pads": [0, 8, 1, 8]}, [8, 1, 2, 16]
    if change == "stride":
        column["strides"] = [1, 2]
    if change == "channels":
        w, shape = [8, 3, 1, 16], [1, 3, 12, 40]
    made = nodes(False, row, column)
    if change == "activation":
        made[-1].input[0] = "r"
        made.insert(1, helper.make_node("Relu", ["a"], ["r"]))
    if change == "result":
        made[-1].output[0] = "s"
        made += [helper.make_node("ReduceMax", ["a"], ["m"], keepdims=0), helper.make_node("Add", ["s", "m"], ["y"])]
    assert not exchanged(made, shape, w, v)
