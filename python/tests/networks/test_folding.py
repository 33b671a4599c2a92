"""What a network computes of constants alone."""

import math

import numpy as np
import pytest

import takt

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from takt.networks import folding, inference  # noqa: E402


def model_of(nodes, shape, result, element=TensorProto.FLOAT, **constants):
    graph = helper.make_graph(
        nodes, "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(result, element, None)],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def run(model, x):
    from onnx.reference import ReferenceEvaluator

    return ReferenceEvaluator(model).run(None, {"x": x})[0]


def pads_of_the_shape():
    """As exporters write a convolution whose result has the size of its input."""
    return model_of(
        [
            helper.make_node("Shape", ["x"], ["sizes"]),
            helper.make_node("Gather", ["sizes", "two"], ["height"]),
            helper.make_node("Mod", ["height", "stride"], ["rest"]),
            helper.make_node("Sub", ["stride", "rest"], ["pad"]),
            helper.make_node("Concat", ["zeros", "pad", "pad"], ["pads"], axis=0),
            helper.make_node("Pad", ["x", "pads"], ["padded"]),
            helper.make_node("Mul", ["scale", "raw"], ["weights"]),
            helper.make_node("Conv", ["padded", "weights"], ["y"], strides=[2, 2]),
        ],
        [1, 3, 9, 9], "y", two=np.array([2]), stride=np.array([2]), zeros=np.zeros(6, np.int64),
        scale=np.float32(0.5), raw=np.random.default_rng(5).standard_normal((16, 3, 3, 3)).astype(np.float32))


def test_shapes_and_weights_become_constants():
    model = pads_of_the_shape()
    folded = folding.fold(model)
    assert [node.op_type for node in folded.graph.node] == ["Pad", "Conv"]
    shape = folded.graph.output[0].type.tensor_type.shape
    assert [d.dim_value for d in shape.dim] == [1, 16, 4, 4]
    assert len(model.graph.node) == 8  # It is not changed.
    x = np.random.default_rng(1).standard_normal((1, 3, 9, 9)).astype(np.float32)
    np.testing.assert_array_equal(run(folded, x), run(model, x))


@pytest.mark.parametrize("table, is_known", [(np.full((8, 3), 2.5, np.float32), True),
                                             (np.append(np.zeros(23), 1).astype(np.float32).reshape(8, 3), False),
                                             (np.full((8, 3), np.nan, np.float32), False)])
def test_elements_that_are_all_the_same_are_known_wherever_they_are_taken(table, is_known):
    model = model_of([helper.make_node("Cast", ["x"], ["places"], to=TensorProto.INT64),
                      helper.make_node("Gather", ["table", "places"], ["rows"]),
                      helper.make_node("Neg", ["rows"], ["y"])], [2, 5], "y", table=table)
    folded = folding.fold(model)
    assert ("Gather" not in {node.op_type for node in folded.graph.node}) == is_known
    x = np.float32([[0, 1, 2, 3, 4], [7, 6, 5, -1, -8]])
    np.testing.assert_array_equal(run(folded, x), run(model, x))


def test_kernels_of_what_the_compiler_knows(needs_compiler, tmp_path):
    """A table that was not trained."""
    random = np.random.default_rng(3)
    model = model_of([helper.make_node("Cast", ["x"], ["places"], to=TensorProto.INT64),
                      helper.make_node("Gather", ["table", "places"], ["rows"]),
                      helper.make_node("Transpose", ["rows"], ["turned"], perm=[0, 2, 1]),
                      helper.make_node("Conv", ["turned", "w"], ["y"])], [1, 20], "y",
                     table=np.zeros((32, 16), np.float32), w=random.standard_normal((32, 16, 1)).astype(np.float32))
    onnx.save(model, tmp_path / "net.onnx")
    artifact = takt.compile(tmp_path / "net.onnx", cache=tmp_path / "cache")
    assert not artifact.report.get("failed")
    np.testing.assert_array_equal(artifact.load(device="local-sync").net(np.zeros((1, 20), np.float32)),
                                  np.zeros((1, 32, 20)))


def test_what_an_input_decides_stays():
    model = model_of(
        [helper.make_node("Shape", ["x"], ["sizes"]),
         helper.make_node("ConstantOfShape", ["sizes"], ["zero"]),
         helper.make_node("Add", ["x", "zero"], ["y"])],
        ["n", 4], "y")
    assert [node.op_type for node in folding.fold(model).graph.node] == ["Shape", "ConstantOfShape", "Add"]


def test_results_and_large_constants_stay():
    model = model_of(
        [helper.make_node("Mul", ["two", "two"], ["y"])], [1], "y", two=np.float32(2))
    assert len(folding.fold(model).graph.node) == 1
    model = model_of(
        [helper.make_node("ConstantOfShape", ["large"], ["zero"]),
         helper.make_node("Add", ["x", "zero"], ["y"])],
        [1], "y", large=np.array([1 << 22]))
    assert len(folding.fold(model).graph.node) == 2


def test_the_kernels_get_what_was_folded(needs_compiler, tmp_path):
    path = tmp_path / "net.onnx"
    model = pads_of_the_shape()
    onnx.save(onnx.shape_inference.infer_shapes(model, data_prop=True), path)
    artifact = takt.compile(path, cache=tmp_path, recipe="native")
    assert artifact.recipe.name == "native", artifact.report
    x = np.random.default_rng(2).standard_normal((1, 3, 9, 9)).astype(np.float32)
    with takt.Instance(workers=1) as robot:
        got = robot.load(artifact.path).function()(x)
    np.testing.assert_allclose(got, run(model, x), rtol=1e-5, atol=1e-5)


def test_a_sequence_is_no_constant():
    model = model_of(
        [helper.make_node("SequenceConstruct", ["a", "a"], ["list"]),
         helper.make_node("SequenceAt", ["list", "place"], ["b"]),
         helper.make_node("Add", ["x", "b"], ["y"])],
        [3], "y", a=np.ones(3, np.float32), place=np.int64(1))
    assert [node.op_type for node in folding.fold(model).graph.node] == ["SequenceConstruct", "SequenceAt", "Add"]


def test_lists_of_any_length_are_not_followed():
    names = ["o", *(f"c{i}" for i in range(40))]
    nodes = [helper.make_node("Concat", [a, a], [b], axis=0) for a, b in zip(names, names[1:])]
    nodes += [helper.make_node("ReduceSum", [names[-1]], ["s"], keepdims=0), helper.make_node("Add", ["x", "s"], ["y"])]
    model = model_of(nodes, [1], "y", o=np.ones(1024, np.float32))
    assert not inference.follows_values(model.graph)
    folded = folding.fold(model)
    assert sum(math.prod(tensor.dims) for tensor in folded.graph.initializer) < 1 << 24
    nodes = [helper.make_node("Range", ["zero", "far", "one"], ["r"]), helper.make_node("Cast", ["r"], ["f"], to=1),
             helper.make_node("ReduceSum", ["f"], ["s"], keepdims=0), helper.make_node("Add", ["x", "s"], ["y"])]
    model = model_of(nodes, [1], "y", zero=np.int64(0), far=np.int64(1 << 40), one=np.int64(1))
    assert not inference.follows_values(model.graph)
    model = model_of(nodes, [1], "y", zero=np.int64(0), far=np.int64(100), one=np.int64(1))
    assert inference.follows_values(model.graph)


def recurrence_of(steps):
    return model_of(
        [
            helper.make_node("ConstantOfShape", ["sizes"], ["ones"], value=numpy_helper.from_array(np.ones(1, np.float32))),
            helper.make_node("RNN", ["ones", "w", "r"], ["", "last"], hidden_size=1),
            helper.make_node("Shape", ["x"], ["shape"]),
            helper.make_node("Expand", ["last", "shape"], ["wide"]),
            helper.make_node("Add", ["wide", "x"], ["y"]),
        ],
        [1, 1, 4], "y", sizes=np.array([steps, 1, 1]), w=np.full((1, 1, 1), 0.5, np.float32),
        r=np.full((1, 1, 1), 0.25, np.float32))


def test_what_the_reference_computes_step_by_step_has_a_limit(monkeypatch):
    tried = []
    evaluate = folding.subgraphs.evaluate
    monkeypatch.setattr(folding.subgraphs, "evaluate", lambda nodes, *others: (
        tried.append(nodes[0].op_type), evaluate(nodes, *others))[1])
    assert [node.op_type for node in folding.fold(recurrence_of(20)).graph.node] == ["Add"]
    assert "RNN" in tried
    tried.clear()
    long = folding.fold(recurrence_of(folding._STEPS_MAX_US // 75 + 1))
    assert [node.op_type for node in long.graph.node][-3:] == ["RNN", "Expand", "Add"]
    assert "RNN" not in tried


def test_what_the_reference_does_not_know_is_tried_once(monkeypatch):
    tried = []
    evaluate = folding.subgraphs.evaluate

    def refuse(nodes, *others):
        tried.append(nodes[0].op_type)
        if nodes[0].op_type == "RNN":
            raise NotImplementedError
        return evaluate(nodes, *others)

    monkeypatch.setattr(folding.subgraphs, "evaluate", refuse)
    folding.fold(recurrence_of(20))
    assert tried.count("RNN") == 1


def test_constants_are_quantized_at_once():
    """As networks are whose weights were quantized in the network itself."""
    weights = np.random.default_rng(1).standard_normal((4, 4)).astype(np.float32)
    model = model_of(
        [
            helper.make_node("QuantizeLinear", ["w", "scale", "zero"], ["q"]),
            helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["d"]),
            helper.make_node("MatMul", ["x", "d"], ["y"]),
        ],
        [4, 4], "y", w=weights, scale=np.float32(0.02), zero=np.int8(3))
    folded = folding.fold(model)
    assert [node.op_type for node in folded.graph.node] == ["DequantizeLinear", "MatMul"]
    bytes_of = {tensor.name: numpy_helper.to_array(tensor) for tensor in folded.graph.initializer}["q"]
    assert bytes_of.dtype == np.int8
    np.testing.assert_array_equal(bytes_of, np.clip(np.rint(weights / np.float32(0.02)) + 3, -128, 127))


def quantized_queries(reader):
    """As DETR and its like have them: products of constant bytes, whose result an input meets."""
    from onnx import parser

    return parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 21]> net (float[1,4] x) => (float[2,4] y)
        <float s = {{0.5}}, int8 z = {{1}}, int8[2,4] q = {{1,2,3,4,5,6,7,8}},
         int8[4,4] w = {{1,0,2,0,0,4,0,1,3,1,1,1,0,0,2,9}}> {{
            queries = DequantizeLinear(q, s, z)   weights = DequantizeLinear(w, s, z)
            turned = Transpose<perm = [1, 0]>(weights)   {reader} }}""")


def test_what_constant_bytes_make_is_known():
    model = quantized_queries("""p = MatMul(queries, turned)   b = QuantizeLinear(p, s, z)
        r = DequantizeLinear(b, s, z)   a = Relu(r)   both = MatMul(x, turned)   y = Add(a, both)""")
    folded = folding.folded(model)
    assert [node.op_type for node in folded.model.graph.node] == [
        "DequantizeLinear", "DequantizeLinear", "Transpose", "DequantizeLinear", "MatMul", "Add"]
    assert [node.output[0] for node in folded.nodes] == ["queries", "weights", "turned", "p", "b", "r", "a"]
    x = np.float32([[1, -2, 3, 4]])
    np.testing.assert_array_equal(run(folded.model, x), run(model, x))


def test_floats_of_bytes_that_would_be_too_large_stay(monkeypatch):
    monkeypatch.setattr(folding, "_BYTES_MAX", 16)
    model = quantized_queries("p = MatMul(queries, turned)   y = Add(p, x)")
    folded = folding.folded(model)
    assert len(folded.model.graph.node) == 5 and {"p"} == folded.refused and not folded.nodes


def test_what_has_no_element_is_known(needs_compiler, tmp_path):
    """The last row of a triangle has nothing beside it, in solvers that are written row by row."""
    from onnx import parser

    model = parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]> net (float[1,6,6] L, float[1,6] x) => (float[1] y)
        <int64[1] six = {6}, int64[1] big = {4611686018427387904}, int64[1] one = {1}, int64 five = {5}> {
            rows = Slice(L, six, big, one)   row = Gather<axis = 2>(rows, five)   others = Slice(x, six, big, one)
            products = Mul(row, others)   sum = ReduceSum<keepdims = 0>(products, one)   last = Gather<axis = 1>(x, five)
            y = Sub(last, sum) }""")
    assert [node.op_type for node in folding.fold(model).graph.node] == ["Gather", "Sub"]
    onnx.save(model, tmp_path / "net.onnx")
    numbers = np.arange(6, dtype=np.float32).reshape(1, 6)
    found = takt.compile(tmp_path / "net.onnx", cache=tmp_path).load().net(np.ones((1, 6, 6), np.float32), numbers)
    np.testing.assert_array_equal(found, [5])
