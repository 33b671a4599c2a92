"""Nodes with subgraphs, as the nodes of these."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from takt.porting import porter  # noqa: E402
from takt.networks import folding  # noqa: E402
from test_porter import ort_run  # noqa: E402

RNG = np.random.default_rng(11)


def floats(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def value(name, shape, element=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, element, shape)


def tensors(**constants):
    return [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()]


def model_of(nodes, inputs, results, **constants):
    graph = helper.make_graph(
        nodes, "net", [value(*each) for each in inputs.items()], [value(name, None) for name in results],
        tensors(**constants))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def loop_body(nodes, states, results, **constants):
    """A body that goes on as long as its number of turns says."""
    return helper.make_graph(
        [*nodes, helper.make_node("Identity", ["on"], ["still"])], "body",
        [value("turn", [], TensorProto.INT64), value("on", [], TensorProto.BOOL), *states],
        [value("still", [], TensorProto.BOOL), *results], tensors(**constants))


def check(model, feeds, kind):
    ported = porter.port(model)
    onnx.checker.check_model(ported)
    assert kind not in {node.op_type for node in ported.graph.node}
    for wanted, found in zip(ort_run(model, feeds), ort_run(ported, feeds)):
        np.testing.assert_allclose(found, wanted, atol=1e-6)
    return ported


def product_body():
    return loop_body(
        [helper.make_node("Constant", [], ["half"], value=numpy_helper.from_array(np.float32(0.5))),
         helper.make_node("MatMul", ["s", "w"], ["p"]), helper.make_node("Mul", ["p", "half"], ["q"]),
         helper.make_node("Cast", ["turn"], ["t"], to=TensorProto.FLOAT), helper.make_node("Add", ["q", "t"], ["next"]),
         helper.make_node("Sub", ["next", "x"], ["row"])],
        [value("s", [2, 4])], [value("next", [2, 4]), value("row", [2, 4])], w=floats(4, 4) * 0.3)


def test_the_turns_of_a_loop_follow_each_other():
    model = model_of([helper.make_node("Loop", ["count", "", "x"], ["y", "rows"], body=product_body())],
                     {"x": [2, 4]}, ["y", "rows"], count=np.int64(3))
    ported = check(model, {"x": floats(2, 4)}, "Loop")
    assert [node.op_type for node in ported.graph.node].count("MatMul") == 3
    # All turns share what is constant.
    assert sum(list(tensor.dims) == [4, 4] for tensor in ported.graph.initializer) == 1


@pytest.mark.parametrize("goes", [True, False])
def test_a_call_may_leave_out_all_turns(goes):
    body = loop_body([helper.make_node("Mul", ["s", "s"], ["next"])], [value("s", [2, 4])], [value("next", [2, 4])])
    model = model_of([helper.make_node("Loop", ["count", "goes", "x"], ["y"], body=body)], {"x": [2, 4]}, ["y"],
                     count=np.int64(3))
    model.graph.input.append(value("goes", [], TensorProto.BOOL))
    ported = check(model, {"x": floats(2, 4), "goes": np.array(goes)}, "Loop")
    assert [node.op_type for node in ported.graph.node].count("Where") == 1


def test_a_loop_in_a_loop():
    inner = loop_body([helper.make_node("Add", ["v", "s"], ["v2"])], [value("v", [2])], [value("v2", [2])])
    outer = loop_body([helper.make_node("Loop", ["three", "", "s"], ["sum"], body=inner)],
                      [value("s", [2])], [value("sum", [2])])
    # Names of their own in each graph.
    for i, name in enumerate(("turn", "on")):
        inner.input[i].name = f"inner_{name}"
    inner.node[1].input[0], inner.node[1].output[0] = "inner_on", "inner_still"
    inner.output[0].name = "inner_still"
    model = model_of([helper.make_node("Loop", ["two", "yes", "x"], ["y"], body=outer)], {"x": [2]}, ["y"],
                     two=np.int64(2), three=np.int64(3), yes=np.array(True))
    ported = check(model, {"x": floats(2)}, "Loop")
    assert [node.op_type for node in ported.graph.node].count("Add") == 6


def test_a_state_may_grow():
    body = loop_body(
        [helper.make_node("ReduceSum", ["s"], ["sum"], keepdims=1), helper.make_node("Tanh", ["sum"], ["tanh"]),
         helper.make_node("Concat", ["s", "tanh"], ["next"], axis=0)],
        [value("s", [None])], [value("next", [None])])
    model = model_of([helper.make_node("Loop", ["count", "yes", "x"], ["y"], body=body)], {"x": [4]}, ["y"],
                     count=np.int64(3), yes=np.array(True))
    ported = check(model, {"x": floats(4)}, "Loop")
    assert [dim.dim_value for dim in ported.graph.output[0].type.tensor_type.shape.dim] == [7]


def test_a_list_may_grow():
    body = loop_body(
        [helper.make_node("Sin", ["s"], ["next"]), helper.make_node("SequenceInsert", ["list", "next"], ["longer"])],
        [value("s", [4]), helper.make_tensor_sequence_value_info("list", TensorProto.FLOAT, None)],
        [value("next", [4]), helper.make_tensor_sequence_value_info("longer", TensorProto.FLOAT, None)])
    model = model_of(
        [helper.make_node("SequenceEmpty", [], ["none"]),
         helper.make_node("Loop", ["count", "", "x", "none"], ["last", "list_of_all"], body=body),
         helper.make_node("ConcatFromSequence", ["list_of_all"], ["y"], axis=0, new_axis=1)],
        {"x": [4]}, ["y"], count=np.int64(3))
    check(model, {"x": floats(4)}, "Loop")


def counting_loop(step, limit):
    """A loop that ends when a counter has reached 5, as tf2onnx writes the layers of Keras."""
    body = helper.make_graph(
        [helper.make_node("Add", ["i", step], ["next_i"]), helper.make_node("Less", ["next_i", "five"], ["is_less"]),
         helper.make_node("Less", ["turn", "ten"], ["is_early"]),
         helper.make_node("And", ["is_less", "is_early"], ["go"]),
         helper.make_node("Mul", ["s", "half"], ["next"]), helper.make_node("Add", ["next", "x"], ["row"]),
         helper.make_node("Cast", ["x"], ["whole"], to=TensorProto.INT64),
         helper.make_node("ReduceMax", ["whole"], ["most"], keepdims=0)],
        "body", [value("turn", [], TensorProto.INT64), value("on", [], TensorProto.BOOL),
                 value("i", [], TensorProto.INT64), value("s", [2])],
        [value("go", [], TensorProto.BOOL), value("next_i", [], TensorProto.INT64), value("next", [2]),
         value("row", [2])], tensors(five=np.int64(5), ten=np.int64(10), half=np.float32(0.5), two=np.int64(2)))
    loop = helper.make_node("Loop", [limit, "true", "zero", "x"], ["last_i", "last", "rows"], body=body)
    return model_of([loop], {"x": [2]}, ["last", "rows"], true=np.array(True), zero=np.int64(0),
                    many=np.int64(1000), one=np.int64(1))


@pytest.mark.parametrize("limit, turns", [("many", 3), ("", 3), ("one", 1)])
def test_a_loop_that_counts_is_opened(limit, turns):
    ported = check(counting_loop("two", limit), {"x": floats(2)}, "Loop")
    assert sum(node.op_type == "Mul" for node in ported.graph.node) == turns


def test_a_loop_that_counts_by_an_input_stays():
    assert "Loop" in {node.op_type for node in folding.fold(counting_loop("most", "many")).graph.node}


@pytest.mark.parametrize("turns, end", [("n", "on"), ("count", "less"), ("many", "on")])
def test_a_loop_of_unknown_or_many_turns_stays(turns, end):
    body = loop_body(
        [helper.make_node("Sin", ["s"], ["next"]), helper.make_node("ReduceMax", ["next"], ["most"], keepdims=0),
         helper.make_node("Less", ["most", "one"], ["less"])],
        [value("s", [4])], [value("next", [4])], one=np.float32(1))
    body.output[0].name = {"on": "still", "less": "less"}[end]
    model = model_of([helper.make_node("Loop", [turns, "yes", "x"], ["y"], body=body)], {"x": [4]}, ["y"],
                     count=np.int64(3), many=np.int64(1 << 40), yes=np.array(True))
    model.graph.input.append(value("n", [], TensorProto.INT64))
    assert [node.op_type for node in folding.fold(model).graph.node] == ["Loop"]


@pytest.mark.parametrize("axis, is_backward", [(0, 0), (1, 1), (-1, 0)])
def test_the_steps_of_a_scan(axis, is_backward):
    body = helper.make_graph(
        [helper.make_node("MatMul", ["s", "w"], ["p"]), helper.make_node("Add", ["p", "part"], ["next"]),
         helper.make_node("Tanh", ["next"], ["row"])], "body",
        [value("s", [3]), value("part", [3])], [value("next", [3]), value("row", [3])], tensors(w=floats(3, 3)))
    own = {"scan_input_axes": [axis], "scan_input_directions": [is_backward], "scan_output_axes": [axis],
           "scan_output_directions": [is_backward]}
    model = model_of(
        [helper.make_node("Scan", ["x", "rows"], ["y", "z"], body=body, num_scan_inputs=1, **own)],
        {"x": [3], "rows": [5, 3] if axis == 0 else [3, 5]}, ["y", "z"])
    check(model, {"x": floats(3), "rows": floats(5, 3) if axis == 0 else floats(3, 5)}, "Scan")


def test_names_of_a_branch_are_no_others():
    def branch(kind):
        return helper.make_graph([helper.make_node(kind, ["x"], ["t"])], kind, [], [value("t", [2])])

    nodes = [helper.make_node("Exp", ["x"], ["y.t"]),
             helper.make_node("If", ["c"], ["y"], then_branch=branch("Neg"), else_branch=branch("Abs")),
             helper.make_node("Add", ["y", "y.t"], ["z"])]
    model = model_of(nodes, {"x": [2]}, ["z"], c=np.array(True))
    x = floats(2)
    np.testing.assert_allclose(ort_run(folding.fold(model), {"x": x})[0], np.exp(x) - x, rtol=1e-6)
