"""Operators of scikit-learn's networks."""

import numpy as np
import pytest

import takt

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from takt.networks import samples  # noqa: E402
from takt.porting import porter  # noqa: E402
from test_porter import ort_run  # noqa: E402

RNG = np.random.default_rng(11)
ML = "ai.onnx.ml"


def floats(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def network(kind, shapes, results=(TensorProto.FLOAT,), version=1, constants=None, **own):
    """One operator of ai.onnx.ml. shapes: by name of an input, with the type of its elements."""
    names = [f"y{i}" for i in range(len(results))]
    node = helper.make_node(kind, [*shapes, *(constants or {})], names, domain=ML, **own)
    graph = helper.make_graph(
        [node], "net",
        [helper.make_tensor_value_info(name, element, sizes) for name, (element, sizes) in shapes.items()],
        [helper.make_tensor_value_info(name, element, None) for name, element in zip(names, results)],
        [numpy_helper.from_array(value, name) for name, value in (constants or {}).items()])
    return helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", 17), helper.make_opsetid(ML, version)])


def check(kind, inputs, rtol=1e-5, atol=1e-6, **rest):
    """ONNX Runtime's results by operators of ONNX alone, for the inputs as they are and, if these are rows of
    samples, for any number of samples."""
    shapes = {name: (helper.np_dtype_to_tensor_dtype(value.dtype), list(value.shape)) for name, value in inputs.items()}
    model = network(kind, shapes, **rest)
    wanted = ort_run(model, inputs)
    networks = [porter.port(model)]
    if all(value.ndim > 1 for value in inputs.values()):
        open_shapes = {name: (element, ["n", *sizes[1:]]) for name, (element, sizes) in shapes.items()}
        networks.append(porter.in_standard(network(kind, open_shapes, **rest)))
        assert samples.split(networks[-1]) is not None
    for ported in networks:
        assert all(node.domain == "" for node in ported.graph.node)
        for a, b in zip(wanted, ort_run(ported, inputs), strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(b, a, rtol=rtol, atol=atol)


def stays(kind, shapes, **rest):
    """Whether the operator is not replaced."""
    ported = porter.in_standard(network(kind, shapes, **rest))
    return [node.op_type for node in ported.graph.node] == [kind]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int32])
@pytest.mark.parametrize("size", [1, 4])
def test_scaler(dtype, size):
    x = (10 * floats(3, 4)).astype(dtype)
    check("Scaler", {"x": x}, scale=floats(size), offset=floats(size))
    check("Scaler", {"x": x[0]}, scale=floats(size), offset=floats(size))


def test_doubles_are_centered_before_they_become_floats():
    x = 1.7e9 + RNG.standard_normal((3, 2))
    check("Scaler", {"x": x}, scale=[1.0, 2.0], offset=[1.7e9, 1.7e9])


@pytest.mark.parametrize("norm", ["MAX", "L1", "L2"])
def test_normalizer(norm):
    x = floats(4, 5)
    x[1] = 0
    x[2] = -abs(x[2])
    check("Normalizer", {"x": x}, norm=norm)
    check("Normalizer", {"x": x[0]}, norm=norm)
    check("Normalizer", {"x": (9 * x).astype(np.int64)}, norm=norm)


def test_binarizer():
    check("Binarizer", {"x": np.float32([[-1, 0.5, 0.25], [0.2, 3, np.inf]])}, threshold=0.25)


@pytest.mark.parametrize("replaced", [np.nan, 2.0])
@pytest.mark.parametrize("values", [[7.0], [7.0, 8.0, 9.0]])
def test_imputer(replaced, values):
    x = np.float32([[1, np.nan, 2], [2, 2, np.nan]])
    check("Imputer", {"x": x}, imputed_value_floats=values, replaced_value_float=replaced)
    whole = np.array([[1, -5, 2], [2, -5, -5]])
    check("Imputer", {"x": whole}, results=[TensorProto.INT64], imputed_value_int64s=[int(each) for each in values],
          replaced_value_int64=-5)


@pytest.mark.parametrize("x", [np.arange(12).reshape(3, 4), floats(3, 4), floats(4), floats(2, 3, 4)])
@pytest.mark.parametrize("places", [[2], [3, 0, 0]])
def test_extractor(x, places):
    check("ArrayFeatureExtractor", {"x": x}, results=[helper.np_dtype_to_tensor_dtype(x.dtype)],
          constants={"places": np.array(places)})


def test_extractor_of_a_table():
    """Labels by the places that an ArgMax has found."""
    places = np.array([[2], [0], [1]])
    model = network("ArrayFeatureExtractor", {"labels": (TensorProto.INT64, [3]), "x": (TensorProto.INT64, [3, 1])},
                    results=[TensorProto.INT64])
    feeds = {"labels": np.array([5, 8, 9]), "x": places}
    np.testing.assert_array_equal(ort_run(porter.port(model), feeds)[0], ort_run(model, feeds)[0])


@pytest.mark.parametrize("kinds, keys, values, x", [
    (("int64s", "int64s"), [3, 5, -1], [30, 50, -10], np.array([[5, 3], [4, -1]])),
    (("int64s", "floats"), [3, 5, 5], [0.3, 0.5, 0.7], np.array([[5, 3], [4, 9]])),
    (("floats", "int64s"), [0.5, 2.0], [1, 2], np.float32([[0.5, 2], [np.nan, 0.4]])),
    (("floats", "floats"), [0.5, np.nan], [1.5, 2.5], np.float32([[0.5, 2], [np.nan, 0.4]])),
])
@pytest.mark.parametrize("has_default", [False, True])
def test_label_encoder(kinds, keys, values, x, has_default):
    own = {f"keys_{kinds[0]}": keys, f"values_{kinds[1]}": values}
    element = TensorProto.INT64 if kinds[1] == "int64s" else TensorProto.FLOAT
    if has_default:
        own[f"default_{kinds[1][:-1]}"] = 77 if kinds[1] == "int64s" else 7.5
    check("LabelEncoder", {"x": x}, results=[element], version=4, **own)


def test_label_encoder_of_tensors():
    own = {"keys_tensor": np.array([4.0, 2.0]), "values_tensor": np.array([1, 2], np.int64),
           "default_tensor": np.array([9], np.int64)}
    check("LabelEncoder", {"x": np.array([[2.0, 4, 5]])}, results=[TensorProto.INT64], version=4,
          **{name: numpy_helper.from_array(value) for name, value in own.items()})


@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.float64])
def test_one_hot_encoder(dtype):
    check("OneHotEncoder", {"x": np.array([[3, 1], [7, 4]], dtype)}, cats_int64s=[1, 3, 4])


def test_vectorizer():
    inputs = {"a": floats(3, 2), "b": np.arange(12).reshape(3, 4), "c": floats(3, 2, 3).astype(np.float64)}
    for name, size in (("a", 2), ("a", 4), ("b", 3), ("c", 6)):
        check("FeatureVectorizer", {name: inputs[name]}, inputdimensions=[size])
    check("FeatureVectorizer", {"a": floats(3, 2), "b": floats(3, 4)}, inputdimensions=[2, 3])


@pytest.mark.parametrize("nodes, message", [
    ([("ZipMap", ["x"], {"classlabels_int64s": [1, 2]})],
     "ZipMap.*options=\\{'zipmap': False\\}"),
    ([("LinearClassifier", ["x"], {"classlabels_strings": ["a", "b"], "coefficients": [1.0] * 8,
                                   "intercepts": [0.0] * 2})], "LinearClassifier.*strings.*whole numbers"),
    ([("ArrayFeatureExtractor", ["names", "places"], {})], "ArrayFeatureExtractor.*strings.*whole numbers"),
    ([("LabelEncoder", ["x"], {"keys_floats": [1.0], "values_strings": ["a"]})],
     "LabelEncoder.*strings.*whole numbers"),
])
def test_what_is_refused_says_what_to_do(tmp_path, nodes, message):
    graph = helper.make_graph(
        [helper.make_node(kind, inputs, ["y"] if kind != "LinearClassifier" else ["y", "z"], domain=ML, **own)
         for kind, inputs, own in nodes],
        "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])],
        [helper.make_value_info("y", helper.make_sequence_type_proto(
            helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, None))))
         if nodes[0][0] == "ZipMap" else helper.make_tensor_value_info("y", TensorProto.STRING, None)],
        [helper.make_tensor("names", TensorProto.STRING, [2], [b"a", b"b"]),
         numpy_helper.from_array(np.array([1]), "places")])
    model = helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", 17), helper.make_opsetid(ML, 3)])
    onnx.save(model, tmp_path / "net.onnx")
    with pytest.raises(takt.CompileError, match=message):
        takt.compile(tmp_path / "net.onnx", cache=tmp_path)
