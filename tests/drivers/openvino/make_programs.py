#!/usr/bin/env python3
"""Makes the programs of these tests, with the wheels `onnx` and `openvino`: make_programs.py

programs/ then has matmul (an ONNX model with two inputs and two outputs), affine (an IR with weights), dynamic (a model
whose batch is 3 by the program), loop (as many steps as an input says) and outside (an initializer in another file).
"""
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy
import onnx
import openvino
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).resolve().parent
MAKE_PROGRAM = HERE.parents[2] / "drivers/openvino/make_program.py"


def value(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model(nodes, inputs, outputs, initializers=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    made.ir_version = 8
    return made


def matmul():
    return model([helper.make_node("MatMul", ["x", "w"], ["y"]),
                  helper.make_node("ArgMax", ["y"], ["best"], axis=1, keepdims=0)],
                 [value("x", [2, 3]), value("w", [3, 4])],
                 [value("y", [2, 4]), value("best", [2], TensorProto.INT64)])


def affine():
    weights = [numpy_helper.from_array(numpy.array([2, 3, 5, 7], numpy.float32), "scale"),
               numpy_helper.from_array(numpy.array([1, 0, -1, 4], numpy.float32), "bias")]
    return model([helper.make_node("Mul", ["x", "scale"], ["m"]), helper.make_node("Add", ["m", "bias"], ["y"])],
                 [value("x", [1, 4])], [value("y", [1, 4])], weights)


def dynamic():
    return model([helper.make_node("Neg", ["x"], ["y"])], [value("x", ["batch", 2])], [value("y", ["batch", 2])])


def loop():
    body = helper.make_graph(
        [helper.make_node("MatMul", ["a", "a"], ["product"]), helper.make_node("Tanh", ["product"], ["a_out"]),
         helper.make_node("Identity", ["go"], ["go_out"])], "body",
        [value("i", [], TensorProto.INT64), value("go", [], TensorProto.BOOL), value("a", [64, 64])],
        [value("go_out", [], TensorProto.BOOL), value("a_out", [64, 64])])
    return model([helper.make_node("Loop", ["count", "yes", "x"], ["last"], body=body),
                  helper.make_node("Reshape", ["last", "shape"], ["y"])],
                 [value("count", [], TensorProto.INT64), value("x", [64, 64])], [value("y", [64, 64])],
                 [numpy_helper.from_array(numpy.array(True), "yes"),
                  numpy_helper.from_array(numpy.array([64, 64]), "shape")])


def outside(path):
    made = affine()
    tensor = made.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", path
    return made


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, made, options in [("matmul", matmul(), []), ("dynamic", dynamic(), ["--shape=x=3,2"]),
                                    ("loop", loop(), [])]:
            source = folder / f"{name}.onnx"
            onnx.save(made, source)
            write(source, name, options)
        onnx.save(affine(), folder / "source.onnx")
        openvino.save_model(openvino.Core().read_model(folder / "source.onnx"), folder / "affine.xml",
                            compress_to_fp16=False)
        write(folder / "affine.xml", "affine", [])
        # The header of a program that is right but for its model.
        onnx.save(affine(), folder / "plain.onnx")
        write(folder / "plain.onnx", "outside", [])
        program = HERE / "programs/outside.program"
        content = outside("/etc/hostname").SerializeToString()
        data = bytearray(program.read_bytes()[:128 + 2 * 128])
        struct.pack_into("<Q", data, 24, len(content))
        program.write_bytes(data + content)


def write(source, name, options):
    subprocess.run([sys.executable, MAKE_PROGRAM, source, HERE / f"programs/{name}.program", *options], check=True)


if __name__ == "__main__":
    main()
