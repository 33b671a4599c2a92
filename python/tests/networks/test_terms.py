"""Sizes that follow from others."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import parser  # noqa: E402

from takt.networks import graphs, inference, terms  # noqa: E402


def stated(body, inputs="float[batch,16,12] x, float[batch,12] m", constants=""):
    """The model with what it says of its sizes."""
    model = parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 17]> net ({inputs}) => (float[n] y)
        <int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] minus = {{-1}}{constants}> {{ {body} }}""")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    inference.infer_shapes(model)
    terms.state_sizes(model)
    return model


def sizes(body, name, **own):
    return inference.sizes_of(stated(body, **own).graph)[name]


BATCH = "shape = Shape(x)  batch = Gather(shape, zero) "


def test_what_is_left_follows_from_the_other_sizes():
    """As nn.MultiheadAttention exports the mask of its keys."""
    wanted = BATCH + "to = Concat<axis = 0>(batch, minus, twelve)  y = Reshape(m, to)"
    assert sizes(wanted, "y", constants=", int64[1] twelve = {12}") == [None, 1, 12]
    wanted = BATCH + "heads = Mul(batch, four)  to = Concat<axis = 0>(heads, minus)  y = Reshape(x, to)"
    assert sizes(wanted, "y", constants=", int64[1] four = {4}") == [None, 48]
    # A rest is possible.
    assert sizes(wanted, "y", constants=", int64[1] four = {5}") == [None, None]


def test_what_is_repeated_has_the_sizes_of_both():
    constants = """, int64[2] tail = {5, 1}, int64[3] minuses = {-1, -1, -1}, int64[3] ones = {1, 1, 1},
        float[8] row = {1, 2, 3, 4, 5, 6, 7, 8}, int64[1] two = {2}"""
    found = stated(BATCH + """to = Concat<axis = 0>(batch, tail)  is_same = Equal(to, minuses)
        kept = Where(is_same, ones, to)  wide = Expand(row, kept)  y = Slice(wide, zero, one, two)""",
                   constants=constants)
    shapes = inference.sizes_of(found.graph)
    assert shapes["wide"] == [None, 5, 8] and shapes["y"] == [None, 5, 1]


def test_numbers_that_no_open_size_changes_are_constants():
    found = stated(BATCH + """all = Concat<axis = 0>(batch, zero)  last = Slice(shape, two, three)
        most = Max(last, zero)  y = ConstantOfShape(most)""", constants=", int64[1] two = {2}, int64[1] three = {3}")
    np.testing.assert_array_equal(graphs.constants_of(found.graph)["most"], [12])
    assert inference.sizes_of(found.graph)["y"] == [12]


def test_a_slice_of_an_open_size_may_be_empty():
    """A size that is stated and is not there is memory that is read behind the tensor."""
    assert sizes("y = Slice(x, zero, one, zero)", "y") == [None, 16, 12]
    assert sizes("y = Slice(x, zero, two, zero)", "y", constants=", int64[1] two = {2}") == [None, 16, 12]


def test_a_slice_by_limits_of_a_call_keeps_the_other_sizes():
    assert sizes(BATCH + "y = Slice(x, zero, batch, one)", "y") == [None, None, 12]
    assert sizes("shape = Shape(x) y = Slice(x, zero, shape, minus)", "y") == [None, 16, None]
    assert sizes("shape = Shape(x) a = Gather(shape, zero) y = Slice(x, zero, one, a)", "y") == [None, None, None]


@pytest.mark.parametrize("end, size", [
    ("end = Add(n, three)", 3), ("e = Add(n, three) end = Sub(e, two)", 1), ("e = Add(two, n) end = Max(n, e)", 2),
    ("e = Unsqueeze(n, zero) f = Add(e, one) end = Squeeze(f, zero)", 1), ("end = Add(n, n)", None),
    ("end = Sub(n, three)", None), ("end = Mul(n, two)", None), ("e = Add(n, k) f = Sub(e, k) end = Add(f, two)", 2),
    ("e = Mul(n, two) end = Sub(e, n)", 0), ("end = Add(k, n)", None), ("end = Max(n, k)", None)])
def test_a_range_from_an_open_number_on(end, size):
    """Positions behind those of the past, as decoders have them."""
    body = f"shape = Shape(x) b = Gather(shape, zero) n = Squeeze(b) {end} r = Range(n, end, step) y = Cast<to = 1>(r)"
    assert sizes(body, "y", inputs="float[batch,16] x, int64 k",
                 constants=", int64 two = {2}, int64 three = {3}, int64 step = {1}") == [size]


def test_a_range_over_another_size_that_is_known():
    body = """shape = Shape(m) s = Gather(shape, one) t = Squeeze(s) b = Gather(shape, zero) n = Squeeze(b)
        end = Add(n, t) r = Range(n, end, step) d = Sub(r, m) y = Cast<to = 1>(d)"""
    assert sizes(body, "y", inputs="int64[batch,12] m", constants=", int64 step = {1}") == [None, 12]
