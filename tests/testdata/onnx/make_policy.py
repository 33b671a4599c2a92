#!/usr/bin/env python3
"""Writes policy.mlir: a small network as iree-import-onnx gives it.

Functions from ONNX carry no declaration (iree.abi.declaration), so a module says nothing of names, shapes and element
types. The weights are small whole numbers, so results are exact.

needs: onnx, iree-base-compiler 3.13.0 (iree-import-onnx on the PATH)
"""
import pathlib
import subprocess
import tempfile

import onnx
from onnx import TensorProto, helper

HERE = pathlib.Path(__file__).resolve().parent
HEADER = """\
// From make_policy.py: torque = max(joints w + b, 0), mean = mean(torque).
// Variants: cpu
"""


def main():
    weights = helper.make_tensor("w", TensorProto.FLOAT, [4, 3], [1, 0, -1, 0, 1, 0, 1, 1, 0, -1, 2, 0])
    bias = helper.make_tensor("b", TensorProto.FLOAT, [3], [0, 1, 2])
    graph = helper.make_graph(
        [
            helper.make_node("Gemm", ["joints", "w", "b"], ["sum"]),
            helper.make_node("Relu", ["sum"], ["torque"]),
            helper.make_node("ReduceMean", ["torque"], ["mean"], axes=[1], keepdims=1),
        ],
        "policy",
        [helper.make_tensor_value_info("joints", TensorProto.FLOAT, [1, 4])],
        [
            helper.make_tensor_value_info("torque", TensorProto.FLOAT, [1, 3]),
            helper.make_tensor_value_info("mean", TensorProto.FLOAT, [1, 1]),
        ],
        [weights, bias],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "policy.onnx"
        onnx.save(model, path)
        output = pathlib.Path(folder) / "policy.mlir"
        subprocess.run(["iree-import-onnx", path, "-o", output], check=True)
        (HERE / "policy.mlir").write_text(HEADER + output.read_text())


if __name__ == "__main__":
    main()
