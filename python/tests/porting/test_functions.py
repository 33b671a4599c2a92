"""Functions of numbers of all sizes."""

import numpy as np
import pytest

import takt
import together

onnx = pytest.importorskip("onnx")

from onnx import helper, numpy_helper  # noqa: E402

_SIZES = np.float32([0, 1e-6, 0.01, 0.03, 0.5, 1, 3, 88, 1e3, 12345.678, 1e5, 1e7, 9.9e7])
_BOTH = np.concatenate([_SIZES, -_SIZES])


def network(kind, *inputs, opset=17, constants=(), **attributes):
    """An operator, and its arguments: those of `inputs` whose places are not among `constants`."""
    names = ["x", "z"][:len(inputs)]
    graph = helper.make_graph(
        [helper.make_node(kind, names, ["y"], **attributes)], "net",
        [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(each.dtype), each.shape)
         for i, (name, each) in enumerate(zip(names, inputs)) if i not in constants],
        [helper.make_tensor_value_info("y", helper.np_dtype_to_tensor_dtype(inputs[0].dtype), None)],
        [numpy_helper.from_array(inputs[i], names[i]) for i in constants])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return model, [each for i, each in enumerate(inputs) if i not in constants]


def test_angles_of_many_turns(needs_compiler, tmp_path):
    kinds, none = ["Sin", "Cos", "Tan"], np.float32([np.inf, np.nan])
    found = together.results(tmp_path, {
        (kind, name): network(kind, x) for kind in kinds for name, x in (("numbers", _BOTH), ("none", none))})
    for kind in kinds:
        wanted = getattr(np, kind.lower())(_BOTH.astype(np.float64))
        np.testing.assert_allclose(found[kind, "numbers"], wanted, rtol=1e-5, atol=2e-6, err_msg=kind)
        assert np.isnan(found[kind, "none"]).all(), kind


def test_inverses_of_hyperbolic_functions(needs_compiler, tmp_path):
    inputs = {"Asinh": np.concatenate([_BOTH, np.float32([1e19, -1e30, np.inf, -np.inf])]),
              "Acosh": np.float32([1, 1.5, 10, 1e8, 1e12, 1e30, np.inf, 0.5, -1e8, -np.inf])}
    found = together.results(tmp_path, {kind: network(kind, x) for kind, x in inputs.items()})
    for kind, x in inputs.items():
        wanted = {"Asinh": np.arcsinh, "Acosh": np.arccosh}[kind](x.astype(np.float64))
        np.testing.assert_allclose(found[kind], wanted, rtol=1e-5, err_msg=kind)


def test_sums_of_large_exponentials(needs_compiler, tmp_path):
    x = np.random.default_rng(3).standard_normal((2, 3, 4)).astype(np.float32) * 200
    x[0, 0], x[1, :, 1] = -np.inf, np.inf
    cases = {(axes, keepdims): network("ReduceLogSumExp", x, keepdims=keepdims, **({"axes": axes} if axes else {}))
             for axes in ((1,), (0, 2), None) for keepdims in (0, 1)}
    for (axes, keepdims), found in together.results(tmp_path, cases).items():
        wanted = np.logaddexp.reduce(x.astype(np.float64), axes, keepdims=bool(keepdims))
        np.testing.assert_allclose(found, wanted, rtol=1e-6, err_msg=f"axes {axes}, keepdims {keepdims}")
        assert found.shape == np.shape(wanted), (axes, keepdims)


def test_sums_of_large_exponentials_of_doubles(needs_compiler, tmp_path):
    x = np.array([[1000.0, 1001, 3], [-2000, -2000, -2001]])
    found = together.result(tmp_path, *network("ReduceLogSumExp", x, axes=[1], keepdims=0))
    np.testing.assert_allclose(found, np.logaddexp.reduce(x, 1), rtol=1e-14)


def test_no_axes_are_no_sum(needs_compiler, tmp_path):
    x = np.float32([[1, 2, 300]])
    found = together.result(tmp_path, *network(
        "ReduceLogSumExp", x, np.zeros(0, np.int64), opset=18, constants=[1], noop_with_empty_axes=1))
    np.testing.assert_array_equal(found, x)


def test_sums_of_many_numbers(needs_compiler, tmp_path):
    operators = [("ReduceMean", (0, 1), 1), ("ReduceSum", (1,), 0), ("ReduceL1", (-1,), 1), ("ReduceL2", (1, 0), 0),
                 ("ReduceSumSquare", (0, 1), 0)]
    inputs = {shape: np.random.default_rng(3).random(shape).astype(np.float32) + 0.1
              for shape in ((2, 100001), (64, 4096), (3, 65537))}
    cases = {(kind, axes, keepdims, shape): network(kind, x, np.array(axes), opset=18, constants=[1], keepdims=keepdims)
             for kind, axes, keepdims in operators for shape, x in inputs.items()}
    for case, found in together.results(tmp_path, cases).items():
        kind, axes, keepdims, shape = case
        x = inputs[shape]
        exact = {"ReduceL2": np.square, "ReduceSumSquare": np.square}.get(kind, np.abs)(x.astype(np.float64))
        wanted = exact.sum(axes, keepdims=bool(keepdims))
        wanted = {"ReduceMean": wanted / x.size, "ReduceL2": np.sqrt(wanted)}.get(kind, wanted)
        np.testing.assert_allclose(found, wanted, rtol=1e-4 if shape[1] == 65537 else 2e-6, err_msg=str(case))
        assert found.shape == np.shape(wanted), case


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rests_by_infinity(needs_compiler, tmp_path, dtype):
    x, y = np.array([3, -7.5, np.inf, 5, 0], dtype), np.array([np.inf, -np.inf, np.inf, 3, np.inf], dtype)
    found = together.result(tmp_path, *network("Mod", x, y, fmod=1))
    np.testing.assert_array_equal(found, [3, -7.5, np.nan, 2, 0])


def test_means_of_integers(needs_compiler, tmp_path):
    cases = {dtype: network("ReduceMean", np.array([[1, 2, 4], [-1, -2, -5]], dtype), axes=[1], keepdims=0)
             for dtype in ("int32", "int64")}
    for dtype, found in together.results(tmp_path, cases).items():
        np.testing.assert_array_equal(found, [2, -2], err_msg=dtype)
        assert found.dtype == dtype


def test_what_is_added_no_times_is_left_out(needs_compiler, tmp_path):
    x, w = np.float32([[1, 2]]), np.float32([[3, 5], [4, 6]])
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w", "c"], ["y"], beta=0.0, alpha=2.0, transB=1)], "net",
        [helper.make_tensor_value_info("x", 1, [1, 2]), helper.make_tensor_value_info("c", 1, [2])],
        [helper.make_tensor_value_info("y", 1, [1, 2])], [numpy_helper.from_array(w, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "net.onnx")
    found = takt.compile(tmp_path / "net.onnx", cache=tmp_path).load().net(x, np.float32([np.nan, np.inf]))
    np.testing.assert_array_equal(found, 2 * x @ w.T)
