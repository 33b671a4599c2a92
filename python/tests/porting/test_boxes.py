"""Boxes whose number a call finds."""

import numpy as np
import pytest

import takt

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

from onnx import parser  # noqa: E402

from takt.networks import inference  # noqa: E402
from takt.porting import boxes, porter  # noqa: E402

# As torchvision exports what it suppresses: not at all, if there are no boxes.
DETECTOR = """<ir_version: 8, opset_import: ["" : 17]>
    net (float[20,3] all_scores, float[20,4] all_boxes) => (float[n,4] y, float[n] w)
    <int64[1] axes = {0}, float least = {0.5}, int64 zero = {0}, int64[2] outer = {0, 1}, int64[1] most = {100},
     float[1] overlap = {0.5}, int64 two = {2}, int64 column = {1}> {
        scores = Gather<axis = 1>(all_scores, column)
        has_score = Greater(scores, least)  found = NonZero(has_score)  places = Transpose<perm = [1, 0]>(found)
        few_scores = GatherND(scores, places)  few_boxes = GatherND(all_boxes, places)
        shape = Shape(few_boxes)  size = ReduceProd<keepdims = 0>(shape)  is_none = Equal(size, zero)
        kept = If(is_none) <
            then_branch = nothing () => (int64[m] no) { no = Constant<value = int64[0] {}>() },
            else_branch = some () => (int64[m] yes) {
                b = Unsqueeze(few_boxes, axes)  s = Unsqueeze(few_scores, outer)
                chosen = NonMaxSuppression(b, s, most, overlap)
                numbers = Gather<axis = 1>(chosen, two)  yes = Identity(numbers) }>
        y = Gather(few_boxes, kept)  w = Gather(few_scores, kept) }"""


def inputs(least=0.0):
    rng = np.random.default_rng(3)
    corners = rng.random((20, 2), np.float32)
    return {"all_scores": (rng.random((20, 3), np.float32) + np.float32(least)),
            "all_boxes": np.concatenate([corners, corners + 0.5], 1)}


def run(model, feeds):
    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)


# As ONNX Runtime's optimizer writes the same.
OPTIMIZED = DETECTOR.replace("no = Constant<value = int64[0] {}>() }", "}").replace(
    "(int64[m] no) {", "(int64[m] no) <int64[0] no = {}> {")


@pytest.mark.parametrize("detector", [DETECTOR, OPTIMIZED])
def test_boxes_that_have_a_score_get_company(detector):
    model = parser.parse_model(detector)
    ported = porter.port(model)
    shapes = inference.sizes_of(inference.inferred_graph(ported))
    node, = (node for node in ported.graph.node if node.op_type == "NonMaxSuppression")
    assert [shapes[name] for name in node.input[:2]] == [[1, 20, 4], [1, 1, 20]]
    wanted, found = (run(each, inputs()) for each in (model, ported))
    assert 0 < len(wanted[1]) < (inputs()["all_scores"][:, 1] > 0.5).sum()
    for a, b in zip(wanted, found):
        np.testing.assert_array_equal(b, a)


def test_chosen_numbers_of_a_column_are_gathered_from_the_matrix():
    """iree-compile 3.13 fails where it gathers from numbers that do not lie one behind the other."""
    kinds = [node.op_type for node in porter.port(parser.parse_model(DETECTOR)).graph.node]
    assert kinds.count("GatherND") == 1


@pytest.mark.parametrize("largest, kind", [(1, 1), (0, 1), (1, 7)])
def test_the_best_of_some_are_the_best_of_as_many_as_there_can_be(largest, kind):
    model = parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 17]>
        net (float[20] x) => ({"float" if kind == 1 else "int64"}[n] y, int64[n] order)
        <float least = {{0.5}}, int64[1] axes = {{0}}, int64[1] most = {{7}}> {{
            is_chosen = Greater(x, least)  found = NonZero(is_chosen)  places = Squeeze(found, axes)
            some = Gather(x, places)  numbers = Cast<to = {kind}>(some)  size = Shape(some)
            both = Concat<axis = 0>(most, size)  count = ReduceMin<keepdims = 1>(both)
            y, order = TopK<largest = {largest}>(numbers, count) }}""")
    ported = porter.port(model)
    shapes = inference.sizes_of(inference.inferred_graph(ported))
    top, = (node for node in ported.graph.node if node.op_type == "TopK")
    assert (shapes[top.input[0]], shapes[top.output[0]]) == ([20], [7])
    x = np.random.default_rng(2).standard_normal(20).astype(np.float32) * 5
    for feeds in (x, -np.abs(x), np.where(x == x.max(), x, -1)):
        for a, b in zip(*(run(each, {"x": feeds.astype(np.float32)}) for each in (model, ported))):
            np.testing.assert_array_equal(b, a)


def test_no_boxes_are_none(needs_compiler, tmp_path):
    onnx.save(parser.parse_model(DETECTOR), tmp_path / "net.onnx")
    net = takt.compile(tmp_path / "net.onnx", cache=tmp_path).load().net
    assert [np.asarray(each).shape for each in net(*inputs(-2).values())] == [(0, 4), (0,)]
    for a, b in zip(run(parser.parse_model(DETECTOR), inputs()), net(*inputs().values())):
        np.testing.assert_array_equal(b, a)


def test_boxes_without_a_limit_are_refused(tmp_path):
    model = parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        net (float[1,n,4] b, float[1,1,n] s) => (int64[m,3] y)
        <int64[1] most = {100}, float[1] overlap = {0.5}> { y = NonMaxSuppression(b, s, most, overlap) }""")
    with pytest.raises(takt.CompileError, match="NonMaxSuppression 'y': how many boxes there can be is not known"):
        boxes.check(model.graph, inference.sizes_of(model.graph))
