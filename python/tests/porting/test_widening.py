"""Networks of half floats are compiled as networks of floats."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

import takt  # noqa: E402
from takt.porting import porter, widening  # noqa: E402

RNG = np.random.default_rng(7)


def of_type(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def weights(name, *shape, kind=TensorProto.FLOAT16):
    array = (RNG.standard_normal(shape) * 0.3).astype(helper.tensor_dtype_to_np_dtype(kind))
    return numpy_helper.from_array(array, name)


def convolution(kind=TensorProto.FLOAT16):
    """x goes through a convolution, a cast and an activation, to y; and x itself is a result."""
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w", "b"], ["a"], pads=[1] * 4),
         helper.make_node("Cast", ["a"], ["wide"], to=TensorProto.FLOAT),
         helper.make_node("Sigmoid", ["wide"], ["part"]),
         helper.make_node("Cast", ["part"], ["narrow"], to=kind),
         helper.make_node("Mul", ["a", "narrow"], ["y"])],
        "net", [of_type("x", kind, [1, 3, 8, 8])], [of_type("y", kind, [1, 16, 8, 8])],
        [weights("w", 16, 3, 3, 3, kind=kind), weights("b", 16, kind=kind)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def types(model):
    return {value.name: value.type.tensor_type.elem_type for value in [*model.graph.input, *model.graph.output]}


@pytest.mark.parametrize("kind", [TensorProto.FLOAT16, TensorProto.BFLOAT16])
def test_only_the_ends_stay_half_floats(kind):
    model = convolution(kind)
    before = model.SerializeToString()
    wide = widening.widen(model)
    assert model.SerializeToString() == before
    assert types(wide) == {"x": kind, "y": kind}
    assert {tensor.data_type for tensor in wide.graph.initializer} == {TensorProto.FLOAT}
    onnx.checker.check_model(wide, full_check=True)
    ported = porter.port(wide)
    assert [node.op_type for node in ported.graph.node] == ["Cast", "Conv", "Sigmoid", "Mul", "Cast"]


def test_a_network_of_floats_is_itself():
    model = convolution(TensorProto.FLOAT)
    assert widening.widen(model) is model


def test_half_floats_are_computed_as_floats(needs_compiler, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    path = tmp_path / "net.onnx"
    onnx.save(convolution(), path)
    artifact = takt.compile(path, cache=tmp_path, recipe="native")
    assert artifact.recipe.name == "native", artifact.report
    x = RNG.standard_normal([1, 3, 8, 8]).astype(np.float16)
    found = np.asarray(artifact.load().net(x))
    wanted = runtime.InferenceSession(str(path)).run(None, {"x": x})[0]
    assert found.dtype == np.float16 and found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=0, atol=4e-3 * np.abs(wanted).max())


def test_branches_are_widened(needs_compiler, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    half = TensorProto.FLOAT16

    def branch(kind, name):
        return helper.make_graph([helper.make_node(kind, ["x", "w"], [name])], name, [], [of_type(name, half, [4])])

    graph = helper.make_graph(
        [helper.make_node("If", ["is_sum"], ["y"], then_branch=branch("Add", "sum"),
                          else_branch=branch("Mul", "product"))],
        "net", [of_type("x", half, [4]), of_type("is_sum", TensorProto.BOOL, [])], [of_type("y", half, [4])],
        [weights("w", 4)])
    path = tmp_path / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    net = takt.compile(path, cache=tmp_path).load().net
    session, x = runtime.InferenceSession(str(path)), np.array([1, -2, 0.5, 3], np.float16)
    for is_sum in (True, False):
        wanted = session.run(None, {"x": x, "is_sum": np.array(is_sum)})[0]
        np.testing.assert_allclose(np.asarray(net(x, np.array(is_sum))), wanted, rtol=2e-3)
