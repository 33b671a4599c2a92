"""Sizes for the open dimensions of ONNX networks."""

import subprocess
import sys

import numpy as np
import pytest

import takt

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper  # noqa: E402

from takt.porting import porter  # noqa: E402
from takt.networks import static_shapes  # noqa: E402


def pooled(shape):
    """The largest value of each half of the rows; a result of two dimensions."""
    graph = helper.make_graph(
        [
            helper.make_node("MaxPool", ["image"], ["small"], kernel_shape=[2, 2], strides=[2, 2]),
            helper.make_node("Flatten", ["small"], ["flat"]),
        ],
        "net",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("flat", TensorProto.FLOAT, ["batch", None])],
        value_info=[helper.make_tensor_value_info("small", TensorProto.FLOAT, ["batch", 3, "h2", "w2"])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def sizes(value):
    return [dim.dim_value for dim in value.type.tensor_type.shape.dim]


@pytest.mark.parametrize("shapes", [
    {"image": (2, 3, 4, 6)},
    {"batch": 2, "h": 4, "w": 6},
    {"image": (2, 3, 4, 6), "batch": 2},
])
def test_inputs_and_results_get_their_sizes(shapes):
    model = pooled(["batch", 3, "h", "w"])
    fixed = static_shapes.fix(model, shapes)
    assert sizes(fixed.graph.input[0]) == [2, 3, 4, 6]
    assert sizes(porter.port(fixed).graph.output[0]) == [2, 18]
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"


@pytest.mark.parametrize("shape", [[None, 3, None, None], ["?", 3, "?", "?"], [0, 3, -1, -1], None])
def test_dimensions_without_a_name_are_open(shape):
    fixed = static_shapes.fix(pooled(shape), {"image": (1, 3, 4, 6)})
    assert sizes(fixed.graph.input[0]) == [1, 3, 4, 6]


@pytest.mark.parametrize("shapes, reason", [
    ({"picture": (1, 3, 4, 4)}, "no input 'picture'; it has 'image'"),
    ({"depth": 4}, "no dimension 'depth'; its inputs are 'image', its dimensions 'batch', 'h'"),
    ({"image": (1, 3, 4)}, "'image' has 4 dimensions, not the 3 of"),
    ({"image": (1, 4, 4, 4)}, "dimension 1 of 'image' is 3 in the network, not 4"),
    ({"image": (1, 3, 4, 4), "batch": 2}, "'batch' cannot be both 1 and 2"),
    ({"image": (1, 3, -1, 4)}, "-1 is no size for 'h'"),
    ({"image": (1, 3, 1 << 40, 4)}, "is no size for 'h'"),
    ({"image": (1, 3, 4.0, 4)}, "4.0 is no size for 'h'"),
])
def test_what_does_not_fit_is_refused(shapes, reason):
    with pytest.raises(ValueError, match="shapes: .*" + reason):
        static_shapes.fix(pooled(["batch", 3, "h", "w"]), shapes)


@pytest.mark.parametrize("text, parsed", [
    ("image=1x3x4x6", {"image": (1, 3, 4, 6)}),
    ("batch=2", {"batch": 2}),
    ("serving=default:0=8x2", {"serving=default:0": (8, 2)}),
])
def test_flags_are_read(text, parsed):
    assert static_shapes.parse([text]) == [parsed]
    assert [static_shapes.described(parsed)] == [text]


def test_a_name_that_comes_again_begins_a_set():
    flags = ["batch=1", "seq=16", "past=8", "seq=64", "past=9", "seq=99"]
    assert static_shapes.parse(flags) == [{"batch": 1, "seq": 16, "past": 8}, {"batch": 1, "seq": 64, "past": 9},
                                          {"batch": 1, "seq": 99, "past": 9}]


@pytest.mark.parametrize("shapes, sets", [
    (None, []), ({}, []), ([], []), ([{}], []), ({"h": 4}, [{"h": 4}]), ([{"h": 4}, {}], [{"h": 4}, {}]),
])
def test_sets_of_shapes(shapes, sets):
    assert static_shapes.sets_of(shapes) == sets


def test_a_set_of_shapes_has_names():
    with pytest.raises(TypeError, match="shapes 4: expected a dictionary, or a list of some"):
        static_shapes.sets_of([{"h": 4}, 4])


@pytest.mark.parametrize("text", ["", "image", "image=", "=1x2", "image=1x", "image=1xa"])
def test_wrong_flags_are_refused(text):
    with pytest.raises(ValueError, match="expected NAME=1x3x640x640"):
        static_shapes.parse([text])


def test_a_module_declares_the_sizes(needs_compiler, tmp_path):
    path = tmp_path / "net.onnx"
    onnx.save(pooled(["batch", 3, "h", "w"]), path)
    module = takt.compile(path, shapes={"image": (2, 3, 4, 6)}, cache=tmp_path).load()
    assert [list(value["shape"]) for value in module.net.inputs] == [[2, 3, 4, 6]]
    assert [list(value["shape"]) for value in module.net.outputs] == [[2, 18]]
    image = np.arange(144, dtype=np.float32).reshape(2, 3, 4, 6)
    assert module.net(image)[0].tolist() == image[0, :, 1::2, 1::2].ravel().tolist()


def test_open_dimensions_are_warned_of(needs_compiler, tmp_path):
    path = tmp_path / "net.onnx"
    onnx.save(pooled(["batch", 3, None, 6]), path)
    with pytest.warns(UserWarning, match=r"are open \(image: batchx3x\?x6\): give their sizes"):
        module = takt.compile(path, cache=tmp_path).load()
    assert module.net.inputs[0]["shape"] == (None, 3, None, 6)
    done = subprocess.run([sys.executable, "-m", "takt", "compile", path, "-o", tmp_path / "net.vmfb"],
                          capture_output=True, text=True, check=True)
    assert done.stderr.startswith("takt: warning: dimensions of inputs are open (image: batchx3x?x6)")


def test_the_program_takes_shapes(needs_compiler, tmp_path):
    path = tmp_path / "net.onnx"
    onnx.save(pooled(["batch", 3, "h", "w"]), path)
    command = [sys.executable, "-m", "takt", "compile", path, "-o", tmp_path / "net.vmfb"]
    done = subprocess.run([*command, "--shape=batch=1", "--shape=h=4", "--shape=w=6"], check=True)
    assert done.returncode == 0
    assert list(takt.load(tmp_path / "net.vmfb").net.inputs[0]["shape"]) == [1, 3, 4, 6]
    done = subprocess.run([*command, "--shape=depth=1"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "no dimension 'depth'" in done.stderr


def test_shapes_are_for_onnx_files(needs_compiler):
    with pytest.raises(ValueError, match="shapes: they are for .onnx and .tflite files"):
        takt.compile("func.func @f() { return }\n", shapes={"x": (1,)})


def test_names_have_places():
    """Paddle writes "?" for any open size."""
    x, y, w = (helper.make_tensor_value_info(name, 1, shape) for name, shape in (
        ("x", ["b", 3, "b"]), ("y", [None, "?", "b", "k"]), ("w", ["b"])))
    graph = helper.make_graph([], "net", [w, x, y], [], [helper.make_tensor("w", 1, [2], [0.0, 0.0])])
    assert static_shapes.places_of_names(helper.make_model(graph)) == {"b": [(0, 0), (0, 2), (1, 2)], "k": [(1, 3)]}
