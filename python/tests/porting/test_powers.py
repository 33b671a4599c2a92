"""Powers of integers and of floats."""

import numpy as np
import pytest

import takt

onnx = pytest.importorskip("onnx")

from onnx import helper, numpy_helper  # noqa: E402

from test_functions import compiled  # noqa: E402


def power(x, e):
    """As Python computes it, in 64 bits."""
    if e < 0:
        return x ** (-e % 2) if abs(x) == 1 else 0
    return (x ** e + (1 << 63)) % (1 << 64) - (1 << 63)


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
@pytest.mark.parametrize("exponent", [1, 2, 7, 2.0, 2.5, None])
def test_powers_of_integers(needs_compiler, tmp_path, dtype, exponent):
    number = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    is_given, constants = exponent is None, []
    if not is_given:
        constants = [numpy_helper.from_array(np.asarray(
            exponent, dtype if isinstance(exponent, int) else np.float32), "e")]
    graph = helper.make_graph(
        [helper.make_node("Pow", ["x", "e"], ["y"])], "net",
        [helper.make_tensor_value_info("x", number, [12]),
         *([helper.make_tensor_value_info("e", number, [12])] if is_given else [])],
        [helper.make_tensor_value_info("y", number, [12])], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "net.onnx")
    function = takt.compile(tmp_path / "net.onnx", cache=tmp_path).load().net
    x = np.array([0, 1, -1, -1, 2, -2, 3, -7, 5, 2, -3, 4], dtype)
    if is_given:
        e = np.array([0, 5, 70, 71, 30, 3, 0, 4, -1, 1, 3, 2], dtype)
        wanted, found = [power(int(a), int(b)) for a, b in zip(x, e)], function(x, e)
    elif isinstance(exponent, int):
        wanted, found = [power(int(a), exponent) for a in x], function(x)
    else:
        x = np.abs(x)
        wanted, found = np.power(x.astype(np.float32), np.float32(exponent)).astype(dtype), function(x)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.array(wanted, np.int64).astype(dtype))


@pytest.mark.parametrize("constants", [[], [0], [1]])
def test_powers_of_numbers_of_any_sign(needs_compiler, tmp_path, constants):
    bases = np.float32([-3, -2, -1, -0.5, 0, 0.25, 1, 2, 7])
    x, y = map(np.ravel, np.meshgrid(bases, np.float32([-3, -2, -0.5, 0, 0.5, 1, 2, 5])))
    found = compiled(tmp_path, "Pow", x, y, constants=constants)
    with np.errstate(all="ignore"):
        wanted = np.power(x.astype(np.float64), y)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    special = np.float32([[np.inf, 0], [np.nan, 0], [1, np.nan], [-1, np.nan], [np.nan, 1], [0, np.nan]])
    np.testing.assert_array_equal(compiled(tmp_path, "Pow", special[:, 0].copy(), special[:, 1].copy()),
                                  [1, 1, 1, np.nan, np.nan, np.nan])


@pytest.mark.parametrize("constants", [[], [1]])
def test_powers_by_integers(needs_compiler, tmp_path, constants):
    x, y = np.float32([-3, -2, -1, 0, 2, -0.5]), np.int64([3, 2, 0, 0, 5, -1])
    np.testing.assert_allclose(compiled(tmp_path, "Pow", x, y, constants=constants), [-27, 4, 1, 1, 32, -2], rtol=1e-6)


_BASES = [-np.inf, -2, -1.5, -1, -0.0, 0, 0.5, 1, 2, np.inf, np.nan]
_EXPONENTS = [-np.inf, -3, -2, -0.5, -0.0, 0, 0.5, 1, 2, 2.5, 3, np.inf, np.nan]


def check_powers(found, x, y):
    with np.errstate(all="ignore"):
        wanted = np.power(x, y)
    assert found.dtype == x.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-5 if x.dtype == np.float32 else 1e-13)
    is_zero = wanted == 0
    np.testing.assert_array_equal(np.signbit(found[is_zero]), np.signbit(wanted[is_zero]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_powers_of_zeros_and_infinities(needs_compiler, tmp_path, dtype):
    x, y = (each.ravel().astype(dtype) for each in np.meshgrid(_BASES, _EXPONENTS))
    check_powers(compiled(tmp_path, "Pow", x, y), x, y)


@pytest.mark.parametrize("exponent", [-2, -0.5, np.inf, np.nan])
def test_powers_by_a_known_number(needs_compiler, tmp_path, exponent):
    x, y = np.float32(_BASES), np.float32(exponent)
    check_powers(compiled(tmp_path, "Pow", x, y, constants=[1]), x, y)


@pytest.mark.parametrize("base", [-1, 1, np.inf])
def test_powers_of_a_known_number(needs_compiler, tmp_path, base):
    x, y = np.full(len(_EXPONENTS), base, np.float32), np.float32(_EXPONENTS)
    check_powers(compiled(tmp_path, "Pow", x, y, constants=[0]), x, y)
