import pathlib

import numpy as np
import pytest

import takt
from takt.compiling.compiler import compiler_version

TESTDATA = pathlib.Path(__file__).parents[2] / "tests" / "testdata"


@pytest.fixture
def testdata():
    return TESTDATA


@pytest.fixture
def simple():
    """mul(4xf32, 4xf32) and double(?x2xf32), on the calling thread."""
    return takt.load(TESTDATA / "api/simple_mul.vmfb", device="local-sync")


@pytest.fixture(scope="session")
def needs_compiler():
    try:
        compiler_version()
    except takt.CompileError as error:
        pytest.skip(str(error))


@pytest.fixture
def mlp(tmp_path):
    """An ONNX file: relu(observation @ w + b), 1x8 to 1x3."""
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper, numpy_helper

    random = np.random.default_rng(1)
    weights = random.standard_normal((8, 3)).astype(np.float32)
    bias = random.standard_normal(3).astype(np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["observation", "w"], ["product"]),
            helper.make_node("Add", ["product", "b"], ["sum"]),
            helper.make_node("Relu", ["sum"], ["action"]),
        ],
        "policy",
        [helper.make_tensor_value_info("observation", TensorProto.FLOAT, [1, 8])],
        [helper.make_tensor_value_info("action", TensorProto.FLOAT, [1, 3])],
        [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(bias, "b")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    path = tmp_path / "policy.onnx"
    onnx.save(model, path)

    def expected(observation):
        return np.maximum(observation @ weights + bias, 0)

    return path, expected
