"""Random numbers."""

import numpy as np
import pytest

import takt

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper  # noqa: E402

from takt.networks import samples  # noqa: E402
from takt.porting import porter  # noqa: E402
from test_porter import ort_run  # noqa: E402

CHANCES = np.array([0.5, 0.05, 0.0, 0.3, 0.15], np.float32)
DRAWS = 4000


def network(kind, sizes, result, element=TensorProto.FLOAT, **own):
    node = helper.make_node(kind, ["x"] if sizes else [], ["y"], **own)
    inputs = [helper.make_tensor_value_info("x", element, sizes)] if sizes else []
    return helper.make_model(
        helper.make_graph([node], "net", inputs, [helper.make_tensor_value_info("y", result, None)]),
        ir_version=8, opset_imports=[helper.make_opsetid("", 18)])


@pytest.mark.parametrize("element", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("own, result", [({}, np.int32), ({"dtype": TensorProto.INT64}, np.int64)])
def test_places_have_the_chances_of_their_logarithms(element, own, result):
    with np.errstate(divide="ignore"):
        x = np.log(np.stack([CHANCES, CHANCES[::-1]]) * 3).astype(element)
    kinds = helper.np_dtype_to_tensor_dtype
    model = network("Multinomial", ["n", 5], kinds(np.dtype(result)), kinds(x.dtype), sample_size=DRAWS, **own)
    ported = porter.in_standard(model)
    assert "Multinomial" not in [node.op_type for node in ported.graph.node]
    y = ort_run(ported, {"x": x})[0]
    assert y.shape == (2, DRAWS) and y.dtype == result
    for row, chances in zip(y, (CHANCES, CHANCES[::-1])):
        found = np.bincount(row, minlength=5) / DRAWS
        # Five standard deviations.
        np.testing.assert_array_less(abs(found - chances), 5 * np.sqrt(chances * (1 - chances) / DRAWS) + 1e-9)


def test_one_place_of_each_sample():
    ported = porter.in_standard(network("Multinomial", ["n", 5], TensorProto.INT32))
    assert samples.split(ported) is not None
    y = ort_run(ported, {"x": np.zeros((3, 5), np.float32)})[0]
    assert y.shape == (3, 1) and y.dtype == np.int32


@pytest.mark.parametrize("kind, own", [
    ("RandomNormal", {"shape": [40, 50], "mean": 3.0, "scale": 0.5}),
    ("RandomNormal", {"shape": [40, 50], "mean": 3.0, "scale": 0.5, "dtype": TensorProto.DOUBLE}),
    ("RandomNormalLike", {"mean": 3.0, "scale": 0.5}),
    ("RandomNormalLike", {"mean": 3.0, "scale": 0.5, "dtype": TensorProto.FLOAT}),
    ("RandomUniformLike", {"low": 2.0, "high": 4.0}),
])
def test_floats(kind, own):
    element = own.get("dtype", TensorProto.FLOAT if kind == "RandomNormal" else TensorProto.DOUBLE)
    sizes = None if kind == "RandomNormal" else [40, 50]
    ported = porter.port(network(kind, sizes, element, TensorProto.DOUBLE, **own))
    drawn = [node for node in ported.graph.node if node.op_type in ("RandomNormalLike", "RandomUniformLike")]
    elements = {value.name: value.type.tensor_type.elem_type for value in ported.graph.value_info}
    elements["y"] = element
    assert len(drawn) == 1 and elements[drawn[0].output[0]] == TensorProto.FLOAT
    y = ort_run(ported, {"x": np.zeros((40, 50))} if sizes else {})[0]
    assert y.shape == (40, 50) and y.dtype == helper.tensor_dtype_to_np_dtype(element)
    assert abs(y.mean() - 3) < 0.1 and 0.3 < y.std() < 0.7


@pytest.mark.parametrize("kind, own", [
    ("Bernoulli", {}), ("Multinomial", {}), ("RandomNormal", {"shape": [2, 5]}), ("RandomNormalLike", {}),
    ("RandomUniform", {"shape": [2, 5]}), ("RandomUniformLike", {"dtype": TensorProto.FLOAT})])
def test_a_seed_has_no_effect(kind, own):
    """The compiler takes none."""
    result = TensorProto.INT32 if kind == "Multinomial" else TensorProto.FLOAT
    ported = porter.port(network(kind, None if "shape" in own else [2, 5], result, seed=0.0, **own))
    assert not [each.name for node in ported.graph.node for each in node.attribute if each.name == "seed"]
    found, = ort_run(ported, {} if "shape" in own else {"x": np.full((2, 5), 0.5, np.float32)})
    assert found.shape == ((2, 1) if kind == "Multinomial" else (2, 5))


def test_a_policy_that_samples(needs_compiler, tmp_path):
    nodes = [helper.make_node("RandomNormalLike", ["x"], ["noise"], scale=0.1),
             helper.make_node("Add", ["x", "noise"], ["noisy"]),
             helper.make_node("Multinomial", ["noisy"], ["y"], sample_size=8)]
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 5])],
                              [helper.make_tensor_value_info("y", TensorProto.INT32, None)])
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 18)])
    onnx.save(model, tmp_path / "net.onnx")
    function = takt.compile(tmp_path / "net.onnx", cache=tmp_path, recipe="plain").load(device="local-sync").net
    x = np.full((2, 5), -30, np.float32)
    x[0, 1] = x[1, 3] = x[1, 4] = 0
    drawn = np.stack([function(x) for _ in range(50)])
    assert drawn.shape == (50, 2, 8) and (drawn[:, 0] == 1).all()
    assert set(drawn[:, 1].ravel().tolist()) == {3, 4}
