"""Sizes of tensors that are known in calls alone."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import helper  # noqa: E402

from takt.networks import graphs, inference, open_sizes  # noqa: E402
from test_porter import model_of  # noqa: E402


def sizes_of(nodes, inputs, result, **constants):
    graph = graphs.Graph(model_of(nodes, inputs, {result: [None] * 4}, 17, **constants))
    inferred = graph.inferred
    shapes = {**inference.shapes_of(inferred), **{name: array.shape for name, array in graph.constants.items()}}
    return open_sizes.sizes_of(inferred, shapes, graph)


def weights(*shape):
    return np.ones(shape, np.float32)


def test_what_keeps_its_size_is_known_to_be_as_large():
    nodes = [helper.make_node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]),
             helper.make_node("Relu", ["a"], ["b"]),
             helper.make_node("Conv", ["b", "w"], ["c"], pads=[2, 2, 2, 2], dilations=[2, 2]),
             helper.make_node("Add", ["b", "c"], ["d"]),
             helper.make_node("Mul", ["slope", "d"], ["e"]),
             helper.make_node("Concat", ["e", "x"], ["f"], axis=1)]
    found = sizes_of(nodes, {"x": [1, 3, None, None]}, "f", w=weights(3, 3, 3, 3), slope=weights(3, 1, 1))
    n, _, h, w = found["x"]
    assert n == 1 and isinstance(h, open_sizes.Open) and h != w
    assert {name: found[name] for name in "abcde"} == dict.fromkeys("abcde", (1, 3, h, w))
    assert found["f"] == (1, 6, h, w)


def test_equal_windows_of_equal_sizes_give_equal_ones():
    nodes = [helper.make_node("Conv", ["x", "w"], ["a"], strides=[2, 2], pads=[1, 1, 1, 1]),
             helper.make_node("MaxPool", ["x"], ["b"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
             helper.make_node("MaxPool", ["x"], ["c"], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4, ceil_mode=1),
             helper.make_node("MaxPool", ["x"], ["d"], kernel_shape=[2, 2], strides=[2, 2]),
             helper.make_node("Concat", ["a", "b"], ["e"], axis=1),
             helper.make_node("Sum", ["a", "c", "d"], ["f"])]
    found = sizes_of(nodes, {"x": [1, 3, None, 8]}, "f", w=weights(3, 3, 3, 3))
    rows = {name: found[name][2] for name in "abcdf"}
    assert rows["a"] == rows["b"] and len(set(rows.values())) == 4, rows
    assert found["a"][3] == 4 and found["e"] == (1, 6, rows["a"], 4)


@pytest.mark.parametrize("x, y, count", [("h", "h", 1), ("h", "k", 4), (None, None, 4), ("?", "?", 4)])
def test_sizes_of_two_inputs_are_equal_if_they_have_one_name(x, y, count):
    """One of others may also be a single row."""
    nodes = [helper.make_node("Add", ["x", "y"], ["a"]), helper.make_node("Concat", ["x", "y"], ["b"], axis=1)]
    found = sizes_of(nodes, {"x": [1, 3, x, 8], "y": [1, 3, y, 8]}, "a")
    assert len({found[name][2] for name in "xyab"}) == count


def test_a_constant_of_rows_says_how_many_there_are_but_for_one():
    nodes = [helper.make_node("Add", ["x", "rows"], ["a"]), helper.make_node("Add", ["x", "row"], ["b"])]
    found = sizes_of(nodes, {"x": [1, 3, None, None]}, "a", rows=weights(5, 1), row=weights(1, 1))
    assert found["a"][2] not in (found["x"][2], 1) and found["a"][3] == found["x"][3]
    assert found["b"] == found["x"]


@pytest.mark.parametrize("scales, rows", [([1, 1, 2, 1], 20), ([1, 1, 1.5, 1], 15), ([1, 2, 0.75, 1], 7)])
def test_pixels_are_scaled_as_the_network_states(scales, rows):
    nodes = [helper.make_node("Resize", ["x", "", "scales"], [name]) for name in "ab"]
    found = sizes_of(nodes, {"x": [1, 3, None, 8]}, "a", scales=np.array(scales, np.float32))
    assert found["a"] == found["b"] and found["a"][2] != found["x"][2]
    assert open_sizes.scaled(open_sizes.Open("x", 10), scales[2]).nominal == rows


def test_a_resized_image_is_as_large_as_the_one_whose_sizes_it_gets():
    nodes = [helper.make_node("Conv", ["x", "w"], ["a"], strides=[2, 2]),
             helper.make_node("Shape", ["x"], ["sizes"]),
             helper.make_node("Slice", ["sizes", "two", "four"], ["own"]),
             helper.make_node("Concat", ["first", "own"], ["wanted"], axis=0),
             helper.make_node("Resize", ["a", "", "", "wanted"], ["b"])]
    found = sizes_of(nodes, {"x": [1, 3, None, None]}, "b", w=weights(5, 3, 1, 1), two=np.array([2]),
                     four=np.array([4]), first=np.array([1, 5]))
    assert found["b"] == (1, 5, *found["x"][2:]) != found["a"]


def test_products_of_sizes_are_equal_if_their_factors_are():
    h, w = (open_sizes.Open(name, 4) for name in "hw")
    rows = open_sizes.product([h, w])
    assert rows == open_sizes.product([w, 1, h]) and rows.nominal == 16
    assert open_sizes.product([rows, 6]) == open_sizes.product([2, h, open_sizes.product([3, w])])
    assert open_sizes.product([h, h]) != open_sizes.product([h]) == h and open_sizes.product([2, 3]) == 6
    nodes = [helper.make_node("Reshape", ["x", "tokens"], ["a"]), helper.make_node("Reshape", ["a", "heads"], ["b"]),
             helper.make_node("Reshape", ["x", "odd"], ["c"])]
    found = sizes_of(nodes, {"x": [1, 6, None, None]}, "b", tokens=np.array([1, 6, -1]),
                     heads=np.array([2, 3, -1, 1]), odd=np.array([1, 5, -1]))
    rows = open_sizes.product(found["x"][2:])
    assert found["a"] == (1, 6, rows) and found["b"] == (2, 3, rows, 1) and found["c"][2] != rows


def test_rows_of_a_sequence_stay_as_many():
    sequence = [helper.make_node("MatMul", ["x", "w"], ["a"]),
                helper.make_node("Reshape", ["a", "heads"], ["b"]),
                helper.make_node("Transpose", ["b"], ["c"], perm=[0, 2, 1, 3]),
                helper.make_node("Transpose", ["b"], ["d"], perm=[0, 2, 3, 1]),
                helper.make_node("MatMul", ["c", "d"], ["scores"]),
                helper.make_node("Softmax", ["scores"], ["e"]),
                helper.make_node("Squeeze", ["c", "first"], ["f"]),
                helper.make_node("Reshape", ["f", "rows"], ["g"]),
                helper.make_node("Gemm", ["g", "wide"], ["h"], transB=1),
                helper.make_node("Split", ["h"], ["i", "j"], axis=1, num_outputs=2),
                helper.make_node("Concat", ["g", "h"], ["k"], axis=1),
                helper.make_node("ReduceMean", ["d"], ["l"], axes=[1, -2]),
                helper.make_node("Sub", ["d", "l"], ["m"])]
    found = sizes_of(sequence, {"x": [1, None, 8]}, "scores", w=weights(8, 12), heads=np.array([1, -1, 3, 4]),
                     first=np.array([0]), rows=np.array([-1, 4]), wide=weights(6, 4))
    rows = found["x"][1]
    assert found["l"] == (1, 1, 1, rows) and found["m"] == found["d"]
    assert found["b"] == (1, rows, 3, 4) and found["d"] == (1, 3, 4, rows)
    assert found["scores"] == found["e"] == (1, 3, rows, rows)
    times = found["g"][0]
    assert times != rows and times == open_sizes.product([3, rows])
    assert found["h"] == (times, 6) and found["i"] == found["j"] == (times, 3) and found["k"] == (times, 10)


def test_what_is_taken_at_places_has_their_sizes():
    nodes = [helper.make_node("CumSum", ["x", "last"], ["a"], reverse=1), helper.make_node("IsNaN", ["a"], ["b"]),
             helper.make_node("GatherElements", ["x", "i"], ["c"], axis=1),
             helper.make_node("GatherND", ["x", "i"], ["d"]), helper.make_node("ScatterND", ["x", "i", "d"], ["e"]),
             helper.make_node("GatherND", ["x", "k"], ["f"], batch_dims=1),
             helper.make_node("Unsqueeze", ["f", "first"], ["g"])]
    whole = onnx.TensorProto.INT64
    found = sizes_of(nodes, {"x": ["n", "m", 3], "i": (whole, ["k", "l", 2]), "k": (whole, ["n", "l", 1])}, "g",
                     last=np.array(1), first=np.array([0]))
    n, m, _ = found["x"]
    k, l, _ = found["i"]
    assert found["a"] == found["b"] == found["e"] == (n, m, 3)
    assert found["c"] == (k, l, 2) and found["d"] == (k, l, 3) and found["f"] == (n, l, 3)


@pytest.mark.parametrize("begin, end, like", [
    (0, -1, "x"), (1, 2**63 - 1, "x"), (0, 2**63 - 1, "a"), (0, -2, None), (1, -1, None), (-1, 2**63 - 1, None),
    (0, 7, None), (1, 2**31 - 1, "x")])
def test_slices_of_open_sizes_are_shorter(begin, end, like):
    """One element can be cut off from a row of at least one."""
    nodes = [helper.make_node("MaxPool", ["x"], ["a"], kernel_shape=[1, 2], pads=[0, 1, 0, 1]),
             helper.make_node("Slice", ["a", "begin", "end", "axes"], ["b"]), helper.make_node("Relu", ["b"], ["c"])]
    found = sizes_of(nodes, {"x": [1, 3, 4, "w"]}, "c", begin=np.array([begin]), end=np.array([end]),
                     axes=np.array([-1]))
    assert found["x"] != found["a"]
    assert [name for name in "xa" if found[name] == found["b"]] == ([] if like is None else [like])


def test_numbers_of_shapes_are_followed():
    nodes = [helper.make_node("Shape", ["x"], ["a"]),
             helper.make_node("Gather", ["a", "two"], ["b"]),
             helper.make_node("Concat", ["b", "four"], ["c"], axis=0),
             helper.make_node("Reshape", ["x", "c"], ["d"]),
             helper.make_node("ConstantOfShape", ["c"], ["e"]),
             helper.make_node("Add", ["d", "e"], ["f"]),
             helper.make_node("Concat", ["x", "y"], ["joined"], axis=1),
             helper.make_node("Shape", ["y"], ["g"]),
             helper.make_node("Add", ["a", "g"], ["h"]),
             helper.make_node("Gather", ["h", "one"], ["rows"]),
             helper.make_node("Expand", ["row", "rows"], ["i"]),
             helper.make_node("Where", ["second", "ones", "b"], ["j"]),
             helper.make_node("Expand", ["row", "j"], ["k"]),
             helper.make_node("Squeeze", ["rows"], ["l"]),
             helper.make_node("Max", ["zero", "l"], ["m"]),
             helper.make_node("Range", ["zero", "m", "unit"], ["each"]),
             helper.make_node("Range", ["unit", "m", "unit"], ["others"])]
    found = sizes_of(nodes, {"x": ["n", "s", 4], "y": ["n", "t", 4]}, "f", two=np.array([0, 1]), one=np.array([1]),
                     four=np.array([2, 2]), row=weights(1),
                     second=np.array([False, True]), ones=np.array([1, 1]), zero=np.array(0), unit=np.array(1))
    assert found["each"] == found["i"] != found["others"]
    n, s, _ = found["x"]
    assert found["k"] == (n, 1)
    assert n != s and found["d"] == found["e"] == found["f"] == (n, s, 2, 2)
    assert found["joined"][1] == found["i"][0] and found["joined"][1] not in (s, found["y"][1])


def computed(sizes):
    """What is known of two rows, whose one length `sizes` computes from those of the inputs."""
    numbers = ", ".join(f"int64[1] c{i} = {{{i}}}" for i in range(9))
    text = f"""<ir_version: 8, opset_import: ["" : 17]>
        net (float[h,3] x, float[k,3] y) => (float[a] r, float[b] s) <{numbers}> {{
          n = Shape<start = 0, end = 1>(x) m = Shape<start = 0, end = 1>(y)
          {sizes} r = ConstantOfShape(p) q = Identity(p) s = ConstantOfShape(q) }}"""
    graph = graphs.Graph(onnx.parser.parse_model(text))
    found = open_sizes.sizes_of(graph.inferred, {}, graph)
    return found["r"][0], found["s"][0]


@pytest.mark.parametrize("sizes, is_equal", [
    ("p = Add(n, c2)", True), ("o = Sub(n, c1) i = Div(o, c4) p = Add(i, c1)", True), ("p = Mul(n, m)", True),
    ("i = Add(m, c1) o = Mul(n, c8) p = Div(o, i)", True), ("p = Sub(n, c1)", False), ("p = Sub(n, m)", False),
    ("p = Div(n, m)", False), ("o = Sub(n, c1) p = Mul(m, o)", False)])
def test_computed_sizes_are_equal_if_they_cannot_be_negative(sizes, is_equal):
    """A Reshape takes -1 for what is left."""
    first, second = computed(sizes)
    assert (first == second) == is_equal


def test_sizes_that_are_computed_alike_are_equal():
    alike = {"p = Add(n, c3)": "o = Add(c1, n) i = Add(o, c4) p = Sub(i, c2)", "p = Mul(n, m)": "p = Mul(m, n)",
             "o = Mul(n, m) p = Div(o, m)": "p = Identity(n)", "p = Div(n, c2)": "o = Div(n, c2) p = Mul(o, c1)"}
    for left, right in alike.items():
        assert computed(left)[0] == computed(right)[0], left
    assert computed("p = Add(n, c3)")[0] != computed("p = Add(n, c2)")[0]
    assert computed("p = Div(n, c3)")[0] != computed("p = Div(n, c2)")[0]


def test_windows_are_counted_as_exporters_count_them():
    """A short row would have less than no windows, but no tensor has."""
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        net (float[1,3,h,9] x, float[3,3,5,1] w) => (float[b,c,d,e,g] y, float[f] z)
            <int64[1] one = {1}, int64[1] two = {2}, int64[1] three = {3}, int64[1] five = {5}> {
          a = Conv<strides = [2, 1]>(x, w)
          v = MaxPool<kernel_shape = [2, 1], strides = [3, 1]>(a)
          n = Shape<start = 2, end = 3>(x) m = Sub(n, five) i = Div(m, two)
          k = Sub(i, one) j = Div(k, three) l = Add(one, j)
          form = Concat<axis = 0>(one, three, l, three, three) y = Reshape(v, form)
          o = Sub(l, two) z = ConstantOfShape(o) }""")
    graph = graphs.Graph(model)
    found = open_sizes.sizes_of(graph.inferred, {"w": (3, 3, 5, 1)}, graph)
    assert found["y"] == (1, 3, found["v"][2], 3, 3)
    assert found["z"][0].of == ("z", 0)  # It may be negative.


def test_sizes_that_do_not_follow_can_be_given():
    nodes = [helper.make_node("Add", ["x", "y"], ["a"]), helper.make_node("Relu", ["a"], ["b"])]
    graph = graphs.Graph(model_of(nodes, {"x": [None, 4], "y": [None, 4]}, {"b": [None] * 2}, 17))
    found = open_sizes.sizes_of(graph.inferred, {}, graph)
    assert found["b"] == found["a"] != found["x"] and open_sizes.may_be_equal(found["a"], found["x"])
    found = open_sizes.sizes_of(graph.inferred, {}, graph, {"a": found["x"]})
    assert found["b"] == found["x"] and not open_sizes.may_be_equal(found["b"], (4, 4))


def test_sizes_before_computed_ones_are_known():
    node = helper.make_node
    nodes = [node("Shape", ["x"], ["shape"]), node("Slice", ["shape", "zero", "two"], ["before"]),
             node("Slice", ["shape", "two", "four"], ["behind"]), node("Neg", ["behind"], ["less"]),
             node("Mod", ["less", "eight"], ["more"]), node("Concat", ["before", "more"], ["wanted"], axis=0),
             node("Resize", ["x", "", "", "wanted"], ["y"]),
             node("Concat", ["zeros", "more"], ["pads"], axis=0), node("Pad", ["x", "pads"], ["z"])]
    found = sizes_of(nodes, {"x": [None, 3, None, None]}, "y", zero=[0], two=[2], four=[4], eight=[8], zeros=[0] * 6)
    for name in "yz":
        assert found[name][:2] == found["x"][:2] and all(size not in found["x"] for size in found[name][2:]), name
