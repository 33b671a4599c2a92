"""What a network computes of its number of samples."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import parser  # noqa: E402

from takt.networks import counting, samples  # noqa: E402

_N = "n = Shape<end = 1>(x) "


def check(body, result="float[N,4] y", inputs="float[N,4] x", **constants):
    model = parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : 18]>\nnet ({inputs}) => ({result}) {{ {_N + body} }}')
    for name, value in constants.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(value), name))
    return samples.split(model)


def ints(*values):
    return np.array(values, np.int64)


def table(*columns):
    return np.array([columns], np.float32)


@pytest.mark.parametrize("body, constants", [
    # Linear in the number of samples, and what the shapes of tensors are made of.
    ("s = Concat<axis = 0>(n, four) y = Reshape(x, s)", {"four": ints(4)}),
    ("m = Mul(n, four) d = Div(m, four) s = Concat<axis = 0>(d, four) y = Reshape(x, s)", {"four": ints(4)}),
    ("m = Mul(n, two) a = Add(m, one) d = Div(a, two) s = Concat<axis = 0>(d, four) y = Reshape(x, s)",
     {"one": ints(1), "two": ints(2), "four": ints(4)}),
    ("d = Div(n, n) s = Concat<axis = 0>(d, four) r = Expand(row, s) y = Add(x, r)",
     {"four": ints(4), "row": table(1, 2, 3, 4)}),
    # PyTorch's expand(): a size of -1 is that of the tensor.
    ("s = Concat<axis = 0>(n, four) e = Equal(s, least) w = Where(e, one, s) r = Expand(row, w) y = Add(x, r)",
     {"four": ints(4), "least": ints(-1, -1), "one": ints(1, 1), "row": table(1, 2, 3, 4)}),
    # Copies, and what each copy makes.
    ("s = Concat<axis = 0>(n, four) r = Expand(row, s) m = MatMul(r, w) t = Tanh(m) y = Add(x, t)",
     {"four": ints(4), "row": table(1, 2, 3, 4), "w": np.eye(4, dtype=np.float32)}),
    ("s = Concat<axis = 0>(n, four) r = Expand(row, s) c = CumSum(r, one) y = Add(x, c)",
     {"four": ints(4), "row": table(1, 2, 3, 4), "one": np.array(1)}),
    ("s = Concat<axis = 0>(n, four) r = Expand(row, s) m = ReduceMean(r, zero) y = Add(x, m)",
     {"four": ints(4), "row": table(1, 2, 3, 4), "zero": ints(0)}),
])
def test_what_follows_the_number_is_proved(body, constants):
    assert check(body, **constants) is not None


@pytest.mark.parametrize("body, constants, operator", [
    ("m = Mod(n, two) f = Cast<to = 1>(m) y = Mul(x, f)", {"two": ints(2)}, "Mod"),
    ("m = Max(n, eight) f = Cast<to = 1>(m) y = Div(x, f)", {"eight": ints(8)}, "Max"),
    ("g = Greater(n, eight) f = Cast<to = 1>(g) y = Add(x, f)", {"eight": ints(8)}, "Greater"),
    ("d = Div(n, eight) f = Cast<to = 1>(d) y = Add(x, f)", {"eight": ints(8)}, "Div"),
    ("m = Mul(n, n) f = Cast<to = 1>(m) y = Add(x, f)", {}, "Mul"),
    ("b = Cast<to = 3>(n) f = Cast<to = 1>(b) y = Add(x, f)", {}, "Cast"),
    ("s = Squeeze(n) r = Range(zero, s, one) d = Div(r, eight) f = Cast<to = 1>(d) c = Unsqueeze(f, last) "
     "y = Add(x, c)",
     {"zero": np.array(0), "one": np.array(1), "eight": ints(8), "last": ints(1)}, "Div"),
    ("s = Concat<axis = 0>(n, one) o = Expand(row, s) c = CumSum(o, zero) f = Floor(c) y = Add(x, f)",
     {"one": ints(1), "row": table(0.1), "zero": np.array(0)}, "CumSum"),
    # Python's int(N / 2), arange(N)[::2], chunks that are rounded up, steps and whole counts.
    ("f = Cast<to = 1>(n) h = Mul(f, half) i = Cast<to = 7>(h) g = Cast<to = 1>(i) y = Add(x, g)",
     {"half": np.float32([0.5])}, "Cast"),
    ("s = Squeeze(n) r = Range(zero, s, one) t = Slice(r, first, most) m = ReduceMax(t) f = Cast<to = 1>(m) "
     "y = Add(x, f)",
     {"zero": np.array(0), "one": np.array(1), "first": ints(0), "most": ints(5)}, "Slice"),
    ("s = Squeeze(n) r = Range(zero, s, two) m = ReduceMax(r) f = Cast<to = 1>(m) y = Add(x, f)",
     {"zero": np.array(0), "two": np.array(2)}, "Range"),
    ("s = Squeeze(n) r = Range(zero, far, s) m = ReduceMax(r) f = Cast<to = 1>(m) y = Add(x, f)",
     {"zero": np.array(0), "far": np.array(14)}, "Range"),
    ("s = Concat<axis = 0>(n, four) r = Expand(row, s) z = Resize(r, , scales) y = Add(x, z)",
     {"four": ints(4), "row": table(1, 2, 3, 4), "scales": np.array([1.1, 1], np.float32)}, "Resize"),
    ("c = Concat<axis = 0>(n, n) z = ConstantOfShape(c) k = Size(z) f = Cast<to = 1>(k) y = Add(x, f)", {}, "Size"),
    ("c = Concat<axis = 0>(n, rest) r = Reshape(row, c) k = Shape<start = 1>(r) f = Cast<to = 1>(k) y = Add(x, f)",
     {"rest": ints(-1), "row": np.zeros(14, np.float32)}, "Reshape"),
    ("t = Slice(rows, zero, n) y = Add(x, t)", {"rows": np.repeat(table(1), 9, 0), "zero": ints(0)}, "Slice"),
])
def test_what_another_number_may_change_is_not(body, constants, operator):
    with pytest.raises(counting.Unproved, match=f"^{operator}, which makes '.*', counts samples"):
        check(body, **constants)


def test_a_loop_over_the_samples_is_not_proved():
    body = ("t = Squeeze(n) l = Loop(t, , one) <body = b (int64 i, bool c, float[1] v) => (bool d, float[1] w) "
            "{ d = Identity(c) w = Sub(one, v) }> y = Mul(x, l)")
    with pytest.raises(counting.Unproved, match="is another one for other samples"):
        check(body, one=np.ones(1, np.float32))


def test_the_number_of_a_sample_is_kept():
    body = ("s = Squeeze(n) r = Range(zero, s, one) a = Add(r, far) f = Cast<to = 1>(a) c = Unsqueeze(f, last) "
            "y = Add(x, c)")
    with pytest.raises(counting.Unproved, match="may mix samples"):
        check(body, zero=np.array(0), one=np.array(1), far=np.array(1000000), last=ints(1))


@pytest.mark.parametrize("body, constants", [
    # Masks that are written in part, one of several, and places in rows of each sample.
    ("s = Concat<axis = 0>(n, four) m = ConstantOfShape(s) f = Gather<axis = 0>(m, first) y = Add(x, f)",
     {"four": ints(4), "first": np.array(0)}),
    ("s = Squeeze(n) m = Mul(s, four) r = Range(zero, m, one) p = Mod(r, four) c = Concat<axis = 0>(n, width) "
     "q = Reshape(p, c) f = Cast<to = 1>(q) y = Add(x, f)",
     {"four": np.array(4), "zero": np.array(0), "one": np.array(1), "width": ints(4)}),
])
def test_what_each_sample_takes_is_proved(body, constants):
    assert check(body, **constants) is not None


def test_copies_are_compared_value_by_value():
    several = np.array([[0, 1e9], [1, 1e9]], np.float32)
    assert counting.copies_in(several, several[:1], 2) is None
    assert counting.copies_in(several[[0, 0]], several[:1], 2) == counting.Copies(0, 1)
    # Sums that cancel out differ by roundings.
    near = several[[0, 0]] + np.float32([[1e-3, 0], [0, 0]])
    assert counting.copies_in(near, several[:1], 2) is None
    assert counting.copies_in(near, several[:1], 2, rounds=True) == counting.Copies(0, 1)
    rows = np.arange(6).reshape(3, 2)
    assert counting.copies_in(rows.repeat(2, 0), rows, 2) == counting.Copies(0, 3)


@pytest.mark.parametrize("body, inputs, constants", [
    # Rows of other samples: two of data for each sample's one of indices.
    ("d = Reshape(u, two) y = GatherElements<axis = 1>(d, x)", "int64[N,4] x, float[N,2,4] u", {"two": ints(-1, 4)}),
    # A place beyond the sample's own rows, and one that wraps.
    ("a = ArgMax<axis = 1, keepdims = 0>(x) s = Squeeze(n) r = Range(zero, s, one) o = Mul(r, two) i = Add(a, o) "
     "t = Reshape(x, pairs) y = Gather(t, i)", "float[N,4] x",
     {"zero": np.array(0), "one": np.array(1), "two": np.array(2), "pairs": ints(-1, 2)}),
    ("a = ArgMax<axis = 1, keepdims = 0>(x) b = Cast<to = 3>(a) c = Cast<to = 7>(b) s = Squeeze(n) "
     "r = Range(zero, s, one) o = Mul(r, four) i = Add(c, o) t = Reshape(x, ones) y = Gather(t, i)", "float[N,4] x",
     {"zero": np.array(0), "one": np.array(1), "four": np.array(4), "ones": ints(-1, 1)}),
    ("y = Resize(x, , scales)", "float[N,4] x", {"scales": np.array([1.1, 1], np.float32)}),
])
def test_rows_of_other_samples_are_not_proved(body, inputs, constants):
    with pytest.raises(counting.Unproved, match="may mix samples"):
        check(body, "float[A,B] y", inputs, **constants)


def test_a_resize_of_named_axes_counts_the_samples_where_they_are():
    body = "y = Resize<axes = [1]>(x, , scales)"
    assert check(body, "float[N,8] y", scales=np.array([2], np.float32)) is not None
    body = "z = Concat<axis = 0>(n, eight) y = Resize<axes = [0, 1]>(x, , , z)"
    assert check(body, "float[N,8] y", eight=ints(8)) is not None
