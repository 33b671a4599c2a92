"""What every ONNX file must keep."""

import numpy as np
import pytest

import takt

onnx = pytest.importorskip("onnx")

from onnx import helper, numpy_helper, parser  # noqa: E402

from takt.networks import checks  # noqa: E402

_HEAD = '<ir_version: 8, opset_import: ["" : 17, "own" : 1]>\n'


def parse(text):
    return parser.parse_model(_HEAD + text)


@pytest.mark.parametrize("text, message", [
    ("net (float[4] x) => (float[4] y) { b = Identity(c) c = Identity(b) y = Relu(x) }",
     "Identity: no node before it makes its input 'c'"),
    ("net (float[4] x) => (float[4] y) { [n] y = Add(x, gone) }", "Add 'n': no node before it makes its input 'gone'"),
    ("net (float[4] x) => (float[4] y) { y = Relu(x) y = Neg(x) }", "Neg: 'y' is made twice"),
    ("net (float[4] x) => (float[4] y) { x = Relu(x) y = Neg(x) }", "Relu: 'x' is made twice"),
    ("net (float[4] x) => (float[4] gone) { y = Neg(x) }", "graph 'net': no node makes the result 'gone'"),
    ("net (bool c, float[4] x) => (float[4] y) { y = If(c) <then_branch = a () => (float[4] p) { p = Relu(q) }, "
     "else_branch = b () => (float[4] q) { q = Neg(x) }> }", "Relu: no node before it makes its input 'q'"),
])
def test_graphs(text, message):
    with pytest.raises(takt.CompileError, match=f"^{message}"):
        checks.check(parse(text))


def test_branches_read_outer_tensors():
    checks.check(parse("net (bool c, float[4] x) => (float[4] y) { z = Relu(x) y = If(c) <then_branch = a () => "
                       "(float[4] p) { p = Relu(z) }, else_branch = b () => (float[4] p) { p = Neg(x) }> }"))


@pytest.mark.parametrize("text, message", [
    ("net (float[4] x, string[2] s) => (float[4] y) { y = Relu(x) }", "input 's': strings are not taken"),
    ("net (seq(float[4]) s) => (int64 y) { y = SequenceLength(s) }", "input 's': of type sequence; only tensors"),
    ("net (optional(float[4]) o) => (bool y) { y = OptionalHasElement(o) }", "input 'o': of type optional; only"),
    ("net (float[4] x) => (seq(float[4]) y) { y = SequenceConstruct(x) }", "result 'y': of type sequence; only"),
    ("net (float[4] x, int64[R] s) => (float y) { y = Reshape(x, s) }", "result 'y': the number of its dimensions"),
    ("net (float[4] x) => (float[4] y) { y = Relu(x) }", None),
])
def test_arguments_and_results(text, message):
    graph = parse(text).graph
    if message is None:
        return checks.check_values(graph)
    if "Reshape" in text:
        graph.output[0].type.tensor_type.ClearField("shape")
    with pytest.raises(takt.CompileError, match=f"^{message}"):
        checks.check_values(graph)


@pytest.mark.parametrize("change, message", [
    (lambda tensor: tensor.dims.__setitem__(0, 3), "tensor 'w': 16 bytes of values, expected 12"),
    (lambda tensor: tensor.dims.__setitem__(0, 1 << 40), "tensor 'w': 16 bytes of values, expected 4398046511104"),
    (lambda tensor: tensor.dims.__setitem__(0, -4), "tensor 'w': a dimension of -4"),
])
def test_values(change, message):
    model = parse("net (float[4] x) => (float[4] y) { y = Add(x, w) }")
    model.graph.initializer.append(numpy_helper.from_array(np.ones(4, np.float32), "w"))
    checks.check(model)
    change(model.graph.initializer[0])
    with pytest.raises(takt.CompileError, match=f"^{message}"):
        checks.check(model)


def function(name, *called):
    nodes = [helper.make_node(each, ["a"], ["b"], domain="own") for each in called]
    return helper.make_function("own", name, ["a"], ["b"], nodes or [helper.make_node("Relu", ["a"], ["b"])],
                                [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)])


def test_functions_do_not_call_themselves():
    model = parse("net (float[4] x) => (float[4] y) { y = own.f(x) }")
    model.functions.extend([function("f", "g", "h"), function("g", "h"), function("h")])
    checks.check(model)
    model.functions[2].CopyFrom(function("h", "f"))
    with pytest.raises(takt.CompileError, match="^function '[fgh]' calls itself"):
        checks.check(model)


def test_functions_of_the_file_are_compiled(needs_compiler, tmp_path):
    model = parse("net (float[4] x) => (float[4] y) { y = own.f(x) }")
    model.functions.extend([function("f", "g"), function("g")])
    onnx.save(model, tmp_path / "net.onnx")
    result = takt.compile(tmp_path / "net.onnx", cache=tmp_path / "cache").load().function()(np.float32([-1, 2, -3, 4]))
    np.testing.assert_array_equal(result, [0, 2, 0, 4])


@pytest.mark.parametrize("data", [b"", b"version https://git-lfs.github.com/spec/v1\n", b"<html>", b"\x08\x08\x12"])
def test_a_file_that_is_no_network_is_named(tmp_path, data):
    (tmp_path / "net.onnx").write_bytes(data)
    with pytest.raises(takt.CompileError, match="net.onnx"):
        takt.compile(tmp_path / "net.onnx", cache=tmp_path / "cache")


def test_weights_that_are_missing_are_named(tmp_path):
    model = parse("net (float[4] x) => (float[4] y) { y = Add(x, w) }")
    model.graph.initializer.append(numpy_helper.from_array(np.ones(4, np.float32), "w"))
    onnx.save(model, tmp_path / "net.onnx", save_as_external_data=True, location="weights", size_threshold=0)
    (tmp_path / "weights").unlink()
    with pytest.raises(takt.CompileError, match="(?s)net.onnx.*weights"):
        takt.compile(tmp_path / "net.onnx", cache=tmp_path / "cache")


@pytest.mark.parametrize("operator, message", [
    ("my.company.Relu(x)", "my.company::Relu 'y': not known"),
    ("com.microsoft.Relu(x)", "com.microsoft::Relu 'y': not known"),
    ("com.microsoft.nchwc.ReorderInput(x)", "save it at the level basic or extended"),
    ("If(c) <then_branch = a () => (float[4] p) { p = own.Relu(x) }, "
     "else_branch = b () => (float[4] p) { p = Neg(x) }>", "own::Relu 'p': not known"),
])
def test_operators_of_other_domains_are_named(tmp_path, operator, message):
    onnx.save(parse(f"net (bool c, float[4] x) => (float[4] y) {{ y = {operator} }}"), tmp_path / "net.onnx")
    with pytest.raises(takt.CompileError, match=message):
        takt.compile(tmp_path / "net.onnx", cache=tmp_path / "cache")


def test_the_importer_may_know_operators_of_onnx_runtime():
    checks.check_domains(parse("net (float[4] x) => (float[4] y) { y = com.microsoft.Inverse(x) }").graph)
    untyped = parse("net (float[4] x) => (float[4] y) { z = com.microsoft.Inverse(x) y = Neg(z) }").graph
    with pytest.raises(takt.CompileError, match="com.microsoft::Inverse 'z': not known with these attributes and types"):
        checks.check_domains(untyped)
