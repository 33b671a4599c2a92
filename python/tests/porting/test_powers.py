"""Powers of integers."""

import numpy as np
import pytest

import takt

onnx = pytest.importorskip("onnx")

from onnx import helper, numpy_helper  # noqa: E402


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
