"""ONNX's own cases of operators that are put in other terms, computed by ONNX's reference."""

import functools

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
loader = pytest.importorskip("onnx.backend.test.loader")
pytest.importorskip("onnx.reference")

from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

from takt import canonical, portable


@functools.cache
def cases():
    with np.errstate(all="ignore"):
        return {case.name: case for case in loader.load_model_tests(kind="node")}


def check(case, port, gone):
    """All but the first input is a constant where that is what a network has."""
    feeds, results = case.data_sets[0]
    names = [value.name for value in case.model.graph.input]
    ported = port(case.model)
    assert gone not in {node.op_type for node in ported.graph.node}
    found = ReferenceEvaluator(ported).run(None, dict(zip(names, feeds)))
    tolerance = 1e-2 if any(np.asarray(each).dtype == np.float16 for each in results) else 1e-5
    for value, wanted in zip(found, results):
        assert value.shape == wanted.shape and value.dtype == wanted.dtype
        np.testing.assert_allclose(value, wanted, rtol=max(case.rtol, tolerance), atol=tolerance)


def named(prefix, without=()):
    return [name for name in sorted(cases()) if name.startswith(prefix) and not any(part in name for part in without)]


# Numbers that are neither float32 nor float16 stay, and those of a graph that is expanded already.
@pytest.mark.parametrize("name", named("test_attention", ("expanded", "bf16", "bfloat16")))
def test_attention(name):
    check(cases()[name], portable.port, "Attention")


@pytest.mark.parametrize("name", named("test_gridsample"))
def test_grid_sample(name):
    check(cases()[name], canonical.sample, "GridSample")
