"""Spellings of ONNX."""

import numpy as np
import pytest

import takt

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper, numpy_helper, parser  # noqa: E402

from takt.networks import plain  # noqa: E402


def model_of(nodes, opset="", sparse=()):
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])], sparse_initializer=sparse)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(opset, 17)], ir_version=8)


def sparse(name, places):
    return helper.make_sparse_tensor(numpy_helper.from_array(np.float32([5, 7]), name),
                                     numpy_helper.from_array(np.array(places), name + "_i"), [4])


@pytest.mark.parametrize("attributes, expected", [
    ({"value_float": 2.0}, np.float32(2)), ({"value_floats": [1.0, 2.0]}, np.float32([1, 2])),
    ({"value_int": 3}, np.int64(3)), ({"value_ints": [3, 4]}, np.array([3, 4])),
    ({"sparse_value": sparse("s", [1, 3])}, np.float32([0, 5, 0, 7])),
])
def test_constants_are_tensors(attributes, expected):
    model = model_of([helper.make_node("Constant", [], ["y"], **attributes)])
    plain.spell(model)
    (attribute,) = model.graph.node[0].attribute
    value = numpy_helper.to_array(attribute.t)
    assert attribute.name == "value" and value.dtype == expected.dtype
    np.testing.assert_array_equal(value, expected)


@pytest.mark.parametrize("places", [[1, 3], [[1], [3]]])
def test_sparse_initializers_are_dense(places):
    model = model_of([helper.make_node("Add", ["x", "s"], ["y"])], sparse=[sparse("s", places)])
    plain.spell(model)
    assert not model.graph.sparse_initializer and model.graph.initializer[0].name == "s"
    np.testing.assert_array_equal(numpy_helper.to_array(model.graph.initializer[0]), [0, 5, 0, 7])


def test_a_sparse_tensor_that_stands_for_too_much_stays(monkeypatch):
    monkeypatch.setattr(plain, "_SPARSE_MAX", 3)
    model = model_of([helper.make_node("Clip", ["x", ""], ["y"])], sparse=[sparse("s", [1, 3])])
    plain.spell(model)
    assert [tensor.values.name for tensor in model.graph.sparse_initializer] == ["s"]
    assert not model.graph.initializer and list(model.graph.node[0].input) == ["x"]


def test_inputs_end_with_one_that_is_there():
    model = model_of([helper.make_node("Clip", ["x", "", ""], ["a"]), helper.make_node("Clip", ["a", "", "m"], ["y"])])
    plain.spell(model)
    assert [list(node.input) for node in model.graph.node] == [["x"], ["a", "", "m"]]


def test_a_node_that_no_result_depends_on_may_be_anything(needs_compiler, tmp_path):
    branch = parser.parse_graph("t () => (float[4] a) { s = Constant<value_string = \"hi\">() a = Neg(x) }")
    model = model_of([helper.make_node("Constant", [], ["s"], value_string="hi"),
                      helper.make_node("Identity", ["s"], ["t"]),
                      helper.make_node("If", ["i"], ["y"], then_branch=branch, else_branch=branch)])
    model.graph.input.append(helper.make_tensor_value_info("i", TensorProto.BOOL, []))
    onnx.save(model, tmp_path / "net.onnx")
    function = takt.compile(tmp_path / "net.onnx", cache=tmp_path / "cache").load(device="local-sync").function()
    np.testing.assert_array_equal(function(np.ones(4, np.float32), np.bool_(True)), -np.ones(4))


@pytest.mark.parametrize("name, plainly", [("__init", "init"), ("__notify", "notify"), ("__main", "__main")])
def test_the_graph_has_no_name_of_the_loader(name, plainly):
    model = model_of([helper.make_node("Relu", ["x"], ["y"])])
    model.graph.name = name
    plain.spell(model)
    assert model.graph.name == plainly


_DEFAULTS = """<ir_version: 10, opset_import: ["" : 17, "own" : 1]>
    net (bool c, float[4] x) => (float[4] y) {
        a = own.steep(x)
        b = own.steep <slope = 0.5> (a)
        y = If(c) <then_branch = t () => (float[4] p) { p = own.twice(b) },
                   else_branch = e () => (float[4] q) { q = own.twice <steepness = 3.0> (b) }>
    }
    <domain: "own", opset_import: ["" : 17]> steep <slope: float = 0.25> (s) => (t) {
        t = LeakyRelu <alpha: float = @slope> (s)
    }
    <domain: "own", opset_import: ["" : 17, "own" : 1]> twice <steepness: float = 2.0> (s) => (t) {
        u = own.steep <slope: float = @steepness> (s)
        t = own.steep(u)
    }"""


@pytest.mark.parametrize("name, plainly", [("", "main"), ("torch/jit/net", "torch_jit_net"), ("ü" * 200, "ü" * 64)])
def test_the_graph_may_have_any_name(needs_compiler, tmp_path, name, plainly):
    model = model_of([helper.make_node("Relu", ["x"], ["y"])])
    model.graph.name = name
    onnx.save(model, tmp_path / "net.onnx")
    module = takt.compile(tmp_path / "net.onnx", cache=tmp_path / "cache").load(device="local-sync")
    np.testing.assert_array_equal(module.function(plainly)(np.float32([-2, -1, 0, 3])), [0, 0, 0, 3])


def test_functions_have_their_defaults(needs_compiler, tmp_path):
    onnx.save(parser.parse_model(_DEFAULTS), tmp_path / "net.onnx")
    function = takt.compile(tmp_path / "net.onnx", cache=tmp_path / "cache").load(device="local-sync").function()
    x = np.float32([-2, -1, 0, 3])
    np.testing.assert_array_equal(function(np.bool_(True), x), [-0.125, -0.0625, 0, 3])
    np.testing.assert_array_equal(function(np.bool_(False), x), [-0.1875, -0.09375, 0, 3])


_UNORDERED = """<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
    net (bool c, float[4] x) => (float[4] y) {
        y = If(c) <then_branch = a () => (float[4] p) { p = Neg(q) q = Abs(z) },
                   else_branch = b () => (float[4] r) { r = own.twice(x) }>
        u = Relu(x)
        z = Sub(x, u)
    }
    <domain: "own", opset_import: ["" : 17]> twice (s) => (t) { t = Neg(n) n = Add(s, s) }"""


def test_nodes_come_behind_those_that_make_what_they_read():
    model = parser.parse_model(_UNORDERED)
    plain.order(model)
    assert [node.op_type for node in model.graph.node] == ["Relu", "Sub", "If"]
    branch = model.graph.node[2].attribute[0].g
    assert [node.op_type for node in (*branch.node, *model.functions[0].node)] == ["Abs", "Neg", "Add", "Neg"]
    ordered = model.SerializeToString(deterministic=True)
    plain.order(model)
    assert model.SerializeToString(deterministic=True) == ordered


def test_nodes_that_wait_for_each_other_stay():
    model = model_of([helper.make_node("Add", ["x", "b"], ["y"]), helper.make_node("Add", ["y", "x"], ["b"]),
                      helper.make_node("Relu", ["c"], ["d"]), helper.make_node("Relu", ["x"], ["c"])])
    plain.order(model)
    assert [node.output[0] for node in model.graph.node] == ["y", "b", "d", "c"]


def test_a_network_whose_nodes_are_in_no_order_is_compiled(needs_compiler, tmp_path):
    onnx.save(parser.parse_model(_UNORDERED), tmp_path / "net.onnx")
    function = takt.compile(tmp_path / "net.onnx", cache=tmp_path / "cache").load(device="local-sync").function()
    x = np.float32([-2, -1, 0, 3])
    np.testing.assert_array_equal(function(np.bool_(True), x), [-2, -1, 0, 0])
    np.testing.assert_array_equal(function(np.bool_(False), x), [4, 2, 0, -6])


def test_such_networks_are_compiled(needs_compiler, tmp_path):
    nodes = [helper.make_node("Constant", [], ["c"], value_floats=[1.0, 2.0, 3.0, 4.0], domain="ai.onnx"),
             helper.make_node("Add", ["x", "c"], ["a"], domain="ai.onnx"),
             helper.make_node("Clip", ["a", ""], ["b"], domain="ai.onnx"),
             helper.make_node("Mul", ["b", "s"], ["y"], domain="ai.onnx")]
    onnx.save(model_of(nodes, "ai.onnx", [sparse("s", [1, 3])]), tmp_path / "net.onnx")
    function = takt.compile(tmp_path / "net.onnx", cache=tmp_path / "cache").load(device="local-sync").function()
    np.testing.assert_array_equal(function(np.ones(4, np.float32)), [0, 15, 0, 35])
