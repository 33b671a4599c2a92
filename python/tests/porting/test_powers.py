"""Powers of integers and of floats."""

import numpy as np
import pytest

import together

onnx = pytest.importorskip("onnx")

from test_functions import network  # noqa: E402


def power(x, e):
    """As Python computes it, in 64 bits."""
    if e < 0:
        return x ** (-e % 2) if abs(x) == 1 else 0
    return (x ** e + (1 << 63)) % (1 << 64) - (1 << 63)


def test_powers_of_integers(needs_compiler, tmp_path):
    x, e = [0, 1, -1, -1, 2, -2, 3, -7, 5, 2, -3, 4], [0, 5, 70, 71, 30, 3, 0, 4, -1, 1, 3, 2]
    cases, wanted = {}, {}
    for dtype in ("int64", "int32"):
        for exponent in (1, 2, 7, 2.0, 2.5, None):
            base = np.array(x, dtype)
            if exponent is None:
                exponents, powers = np.array(e, dtype), list(map(power, x, e))
            elif isinstance(exponent, int):
                exponents, powers = np.array(exponent, dtype), [power(each, exponent) for each in x]
            else:
                base, exponents = np.abs(base), np.float32(exponent)
                powers = np.power(base.astype(np.float32), exponents).astype(dtype)
            case = f"{dtype} by {exponent}"
            cases[case] = network("Pow", base, exponents, constants=[] if exponent is None else [1])
            wanted[case] = np.array(powers, np.int64).astype(dtype)
    for case, found in together.results(tmp_path, cases).items():
        assert found.dtype == wanted[case].dtype, case
        np.testing.assert_array_equal(found, wanted[case], err_msg=case)


def test_powers_of_numbers_of_any_sign(needs_compiler, tmp_path):
    bases = np.float32([-3, -2, -1, -0.5, 0, 0.25, 1, 2, 7])
    x, y = map(np.ravel, np.meshgrid(bases, np.float32([-3, -2, -0.5, 0, 0.5, 1, 2, 5])))
    special = np.float32([[np.inf, 0], [np.nan, 0], [1, np.nan], [-1, np.nan], [np.nan, 1], [0, np.nan]])
    found = together.results(tmp_path, {
        **{constants: network("Pow", x, y, constants=constants) for constants in ((), (0,), (1,))},
        "special": network("Pow", special[:, 0].copy(), special[:, 1].copy())})
    np.testing.assert_array_equal(found.pop("special"), [1, 1, 1, np.nan, np.nan, np.nan])
    with np.errstate(all="ignore"):
        wanted = np.power(x.astype(np.float64), y)
    for constants, powers in found.items():
        np.testing.assert_allclose(powers, wanted, rtol=1e-5, err_msg=f"constants: {constants}")


def test_powers_by_integers(needs_compiler, tmp_path):
    x, y = np.float32([-3, -2, -1, 0, 2, -0.5]), np.int64([3, 2, 0, 0, 5, -1])
    cases = {constants: network("Pow", x, y, constants=constants) for constants in ((), (1,))}
    for constants, found in together.results(tmp_path, cases).items():
        np.testing.assert_allclose(found, [-27, 4, 1, 1, 32, -2], rtol=1e-6, err_msg=f"constants: {constants}")


_BASES = [-np.inf, -2, -1.5, -1, -0.0, 0, 0.5, 1, 2, np.inf, np.nan]
_EXPONENTS = [-np.inf, -3, -2, -0.5, -0.0, 0, 0.5, 1, 2, 2.5, 3, np.inf, np.nan]


def check_powers(found, x, y):
    with np.errstate(all="ignore"):
        wanted = np.power(x, y)
    about = f"{x} to the power of {y}"
    assert found.dtype == x.dtype, about
    np.testing.assert_allclose(found, wanted, rtol=1e-5 if x.dtype == np.float32 else 1e-13, err_msg=about)
    is_zero = wanted == 0
    np.testing.assert_array_equal(np.signbit(found[is_zero]), np.signbit(wanted[is_zero]), err_msg=about)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_powers_of_zeros_and_infinities(needs_compiler, tmp_path, dtype):
    x, y = (each.ravel().astype(dtype) for each in np.meshgrid(_BASES, _EXPONENTS))
    check_powers(together.result(tmp_path, *network("Pow", x, y)), x, y)


def test_powers_by_a_known_number(needs_compiler, tmp_path):
    x, exponents = np.float32(_BASES), np.float32([-2, -0.5, np.inf, np.nan])
    found = together.results(tmp_path, {i: network("Pow", x, y, constants=[1]) for i, y in enumerate(exponents)})
    for i, y in enumerate(exponents):
        check_powers(found[i], x, y)


def test_powers_of_a_known_number(needs_compiler, tmp_path):
    y, bases = np.float32(_EXPONENTS), [np.full(len(_EXPONENTS), base, np.float32) for base in (-1, 1, np.inf)]
    found = together.results(tmp_path, {i: network("Pow", x, y, constants=[0]) for i, x in enumerate(bases)})
    for i, x in enumerate(bases):
        check_powers(found[i], x, y)
