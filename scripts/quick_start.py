#!/usr/bin/env python3
"""The Python quick start of README.md, from an ONNX file to a stream's results.

Writes policy.onnx into the current folder: two layers with random weights.
needs: pip install ".[compile]"
"""
import threading

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

import takt

random = numpy.random.default_rng(1)
weights = [random.standard_normal(shape).astype(numpy.float32) for shape in ((64, 32), (32, 12))]
graph = helper.make_graph(
    [
        helper.make_node("MatMul", ["observation", "w0"], ["hidden"]),
        helper.make_node("Relu", ["hidden"], ["active"]),
        helper.make_node("MatMul", ["active", "w1"], ["action"]),
    ],
    "policy",
    [helper.make_tensor_value_info("observation", TensorProto.FLOAT, [1, 64])],
    [helper.make_tensor_value_info("action", TensorProto.FLOAT, [1, 12])],
    [numpy_helper.from_array(each, f"w{i}") for i, each in enumerate(weights)],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
model.ir_version = 8
onnx.save(model, "policy.onnx")

observation = random.standard_normal((1, 64)).astype(numpy.float32)
expected = numpy.maximum(observation @ weights[0], 0) @ weights[1]
result_exists = threading.Event()
results = []


def drive(action):
    results.append(action)
    result_exists.set()


policy = takt.compile("policy.onnx").load()
action = policy(observation)
with takt.Instance(policy="job-shop") as robot:
    control = robot.stream(policy, period=5e-3, deadline=5e-3, criticality="hard", on_result=drive)
    control.set_input(observation)
    assert result_exists.wait(60), control.statistics
numpy.testing.assert_allclose(action, expected, rtol=1e-3, atol=1e-3)
numpy.testing.assert_allclose(results[0], expected, rtol=1e-3, atol=1e-3)
print("a call and a stream give what numpy computes:", action[0, :3])
