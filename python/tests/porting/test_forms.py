"""Reshapes that keep open sizes."""

import numpy as np
import pytest

import takt

onnx = pytest.importorskip("onnx")

from onnx import numpy_helper, parser  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

from takt.porting import forms  # noqa: E402


def network(form, result, opset=17):
    return parser.parse_model(f"""<ir_version: 8, opset_import: ["" : {opset}]>
        net (float[b,s,8] x, float[s,k] y) => (float[{result}] z) <int64[1] two = {{2}}, int64[1] eight = {{8}},
            int64[1] minus = {{-1}}, int64[1] four = {{4}}> {{
          b = Shape<start = 0, end = 1>(x) s = Shape<start = 1, end = 2>(x) k = Shape<start = 1, end = 2>(y)
          m = Mul(b, s) form = Concat<axis = 0>({form}) z = Reshape<allowzero = 1>(x, form) }}""")


@pytest.mark.parametrize("form, result, stated", [
    ("b, s, two, four", "b,s,2,4", [0, 0, 2, 4]), ("b, s, minus, four", "b,s,2,4", [0, 0, 2, 4]),
    ("b, minus, eight", "b,s,8", [0, 0, 8]), ("s, b, eight", "s,b,8", None), ("b, two, s, four", "b,2,s,4", None),
    ("b, k, two, four", "b,k,2,4", None), ("m, eight", "m,8", [-1, 8]), ("m, two, four", "m,2,4", None)])
def test_sizes_that_stay_are_copied(form, result, stated):
    model = network(form, result)
    changed = forms.state(model)
    constants = {tensor.name: numpy_helper.to_array(tensor).tolist() for tensor in changed.graph.initializer}
    assert constants.get(changed.graph.node[-1].input[1]) == stated
    feeds = {"x": np.arange(48, dtype=np.float32).reshape(2, 3, 8), "y": np.ones((3, 3), np.float32)}
    np.testing.assert_array_equal(*(ReferenceEvaluator(each).run(None, feeds)[0] for each in (model, changed)))


def test_a_form_that_is_known_stays():
    model = network("two, four", "2,4")
    model.graph.initializer.append(numpy_helper.from_array(np.array([2, -1]), "known"))
    model.graph.node[-1].input[1] = "known"
    assert forms.state(model) is model


@pytest.mark.parametrize("form, result, own", [("b, s, two, four", "b,s,2,4", (2, 4)), ("m, eight", "m,8", None)])
def test_sizes_may_be_zero_in_a_call(needs_compiler, tmp_path, form, result, own):
    onnx.save(network(form, result), tmp_path / "net.onnx")
    with pytest.warns(UserWarning, match="are open"):
        function = takt.compile(tmp_path / "net.onnx", cache=tmp_path).load().net
    for sizes in ((2, 3), (0, 3), (2, 0), (1, 1)):
        x = np.random.default_rng(1).standard_normal((*sizes, 8)).astype(np.float32)
        wanted = x.reshape(*sizes, *own) if own else x.reshape(sizes[0] * sizes[1], 8)
        np.testing.assert_array_equal(function(x, np.ones((sizes[1], 3), np.float32)), wanted)


def test_one_size_alone_can_be_left():
    model = parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        net (float[b,2,s,4] x) => (float[m,s,4] z) <int64[1] minus = {-1}, int64[1] four = {4}> {
          s = Shape<start = 2, end = 3>(x) form = Concat<axis = 0>(minus, s, four) z = Reshape(x, form) }""")
    assert forms.state(model) is model
