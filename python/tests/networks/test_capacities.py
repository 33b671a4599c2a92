"""The most that sizes can be which a call finds."""

import pytest

onnx = pytest.importorskip("onnx")

from onnx import parser  # noqa: E402

from takt.networks import capacities, graphs, inference  # noqa: E402


def capacities_of(body):
    model = parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 17]> net (float[20] x, float[20,4] b) => (float[n] y) {{ {body} }}""")
    graph = inference.inferred_graph(model)
    return capacities.Capacities(onnx, graph.node, inference.sizes_of(graph), graphs.constants_of(graph))


CHOSEN = """zero = Constant<value = float {0}>()  axes = Constant<value = int64[1] {0}>()
    is_chosen = Greater(x, zero)  found = NonZero(is_chosen)  places = Squeeze(found, axes)
    scores = Gather(x, places)  boxes = Gather(b, places) """


def test_no_more_are_chosen_than_there_are():
    found = capacities_of(CHOSEN + "sums = Add(scores, scores)  both = Concat<axis = 0>(boxes, b)  y = Identity(sums)")
    assert found.sizes["scores"] == found.sizes["y"] == [20]
    assert found.sizes["boxes"] == [20, 4] and found.sizes["both"] == [40, 4]


def test_the_best_are_no_more_than_the_least_count():
    found = capacities_of(CHOSEN + """size = Shape(scores)  most = Constant<value = int64[1] {7}>()
        one = Constant<value = int64[1] {1}>()
        both = Concat<axis = 0>(most, size)  least = ReduceMin<keepdims = 0>(both)  count = Reshape(least, one)
        y, order = TopK(scores, count)  rows = Gather(b, order)""")
    assert found.counts["count"] == [7]
    assert found.sizes["y"] == [7] and found.sizes["rows"] == [7, 4]


def test_a_second_stage_has_as_many_rows_as_the_first_has_boxes():
    found = capacities_of(CHOSEN + """w = Constant<value = float[3,4] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}>()
        rows = Gemm<transB = 1>(boxes, w)  y = Flatten<axis = 0>(rows)""")
    assert found.sizes["rows"] == [20, 3]


def test_bytes_are_as_many_as_the_numbers_they_stand_for():
    found = capacities_of(CHOSEN + """step = Constant<value = float {0.1}>()  none = Constant<value = int8 {0}>()
        bytes = QuantizeLinear(scores, step, none)  y = DequantizeLinear(bytes, step, none)""")
    assert found.sizes["bytes"] == found.sizes["y"] == [20]


def test_what_a_call_states_has_no_limit():
    found = capacities_of("""minus = Constant<value = int64[1] {-1}>()  size = Cast<to = 7>(x)
        whole = ReduceMax<keepdims = 1>(size)  sum = Add(whole, minus)  y = ConstantOfShape(sum)""")
    assert found.sizes["y"] == [None]
