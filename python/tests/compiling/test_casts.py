"""Casts between numbers of all types."""

import numpy as np
import pytest

import together
from takt.compiling import casts

onnx = pytest.importorskip("onnx")

from onnx import helper  # noqa: E402

_INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


def values(dtype, is_positive):
    if dtype == "bool":
        return np.array([False, True, True])
    if dtype.startswith("float"):
        return np.array([0.0, 1.75, 120.25 if is_positive else -120.25], dtype)
    limits = np.iinfo(dtype)
    return np.array([limits.min, limits.max, 7], dtype)


def test_integers_of_all_types(needs_compiler, tmp_path):
    cases = {}
    for target in _INTEGERS:
        sources = [kind for kind in ["bool", *_INTEGERS, "float16", "float32", "float64"] if kind != target]
        number = {kind: helper.np_dtype_to_tensor_dtype(np.dtype(kind)) for kind in (*sources, target)}
        graph = helper.make_graph(
            [helper.make_node("Cast", [f"x_{kind}"], [f"y_{kind}"], to=number[target]) for kind in sources], "net",
            [helper.make_tensor_value_info(f"x_{kind}", number[kind], [3]) for kind in sources],
            [helper.make_tensor_value_info(f"y_{kind}", number[target], [3]) for kind in sources])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        cases[target] = model, [values(kind, target.startswith("u")) for kind in sources]
    for target, found in together.results(tmp_path, cases).items():
        for x, y in zip(cases[target][1], found, strict=True):
            about = f"{x.dtype} to {target}"
            assert y.dtype == target, about
            np.testing.assert_array_equal(y, x.astype(target), err_msg=about)


def test_other_casts_stay():
    line = ('    %1 = torch.operator "onnx.Cast"(%0) {torch.onnx.to = 1 : si64} : '
            "(!torch.vtensor<[2],ui16>) -> !torch.vtensor<[2],f32> \n")
    assert casts.lower(line) == line
    assert casts.lower(line.replace("f32", "si32")) == line.replace("f32", "si32")
    assert "onnx.Cast" not in casts.lower(line.replace("f32", "si16"))
