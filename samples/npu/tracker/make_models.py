#!/usr/bin/env python3
"""Makes the models of this sample: make_models.py

models/detector.vmfb   preparation of an image on the cores; an ONNX network in a program of the driver "openvino"
models/policy.vmfb     a perceptron on the cores

The weights are made by hand, so that the detector finds a red disk and the policy turns towards it. Needs the wheels
`iree-base-compiler`, `onnx` and `openvino`, and iree-compile on the PATH or beside this Python.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).resolve().parent
MAKE_PROGRAM = HERE.parents[2] / "drivers/openvino/make_program.py"
SIZE = 96  # Of the image.
CELLS = 24  # Of the map of heat, in each direction.
HIDDEN = 256

TARGET = ('#hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {cpu = "generic", cpu_features = "", '
          'native_vector_size = 16 : i64, target_triple = "x86_64-unknown-unknown-eabi-elf"}>')


def detector():
    """Redness, blurred; then the mean position by the softmax of it, and the highest value."""
    random = numpy.random.default_rng(1)

    def blur(out_count, in_count, size):
        weights = random.uniform(0.5, 1.5, (out_count, in_count, size, size))
        return weights / weights.sum(axis=(1, 2, 3), keepdims=True)

    redness = blur(32, 3, 3) * numpy.array([2, -1, -1]).reshape(1, 3, 1, 1)
    steps = (numpy.arange(CELLS) + 0.5) / CELLS * 2 - 1
    places = numpy.stack(numpy.meshgrid(steps, steps), axis=-1).reshape(CELLS * CELLS, 2)
    constants = {"w0": redness, "w1": blur(64, 32, 3), "w2": blur(64, 64, 3), "w3": blur(1, 64, 3), "places": places,
                 "sharpness": numpy.array(200.0)}
    nodes = [helper.make_node("Conv", ["image", "w0"], ["c0"], strides=[2, 2], pads=[0, 0, 1, 1]),
             helper.make_node("Relu", ["c0"], ["r0"]),
             helper.make_node("Conv", ["r0", "w1"], ["c1"], strides=[2, 2], pads=[0, 0, 1, 1]),
             helper.make_node("Relu", ["c1"], ["r1"]),
             helper.make_node("Conv", ["r1", "w2"], ["c2"], pads=[1, 1, 1, 1]),
             helper.make_node("Relu", ["c2"], ["r2"]),
             helper.make_node("Conv", ["r2", "w3"], ["c3"], pads=[1, 1, 1, 1]),
             helper.make_node("Flatten", ["c3"], ["heat"]),
             helper.make_node("ReduceMax", ["heat"], ["score"], axes=[1]),
             helper.make_node("Mul", ["heat", "sharpness"], ["sharp"]),
             helper.make_node("Softmax", ["sharp"], ["weights"], axis=1),
             helper.make_node("MatMul", ["weights", "places"], ["place"]),
             helper.make_node("Concat", ["place", "score"], ["target"], axis=1)]
    graph = helper.make_graph(
        nodes, "detector", [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, SIZE, SIZE])],
        [helper.make_tensor_value_info("target", TensorProto.FLOAT, [1, 3])],
        [numpy_helper.from_array(value.astype(numpy.float32), name) for name, value in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model


DETECTOR = f"""
#elf = {TARGET}
#npu = #hal.executable.target<"cuda", "npu-fb", {{}}>
#dev_cpu = #hal.device.target<"local", {{ordinal = 0 : index}}, [#elf]> : !hal.device
#dev_npu = #hal.device.target<"local", {{ordinal = 0 : index}}, [#npu]> : !hal.device
#layout = #hal.pipeline.layout<bindings = [
  #hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">, #hal.pipeline.binding<storage_buffer, Indirect>
], flags = Indirect>
module attributes {{hal.device.targets = {{cpu = #dev_cpu, npu = #dev_npu}}}} {{
  func.func @detect(%pixels: tensor<{SIZE}x{SIZE}x3xi8>) -> tensor<1x3xf32> {{
    %empty = tensor.empty() : tensor<1x3x{SIZE}x{SIZE}xf32>
    %image = linalg.generic {{
        indexing_maps = [affine_map<(n, c, y, x) -> (y, x, c)>, affine_map<(n, c, y, x) -> (n, c, y, x)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}}
        ins(%pixels : tensor<{SIZE}x{SIZE}x3xi8>) outs(%empty : tensor<1x3x{SIZE}x{SIZE}xf32>) {{
      ^bb0(%byte: i8, %out: f32):
        %number = arith.uitofp %byte : i8 to f32
        %scale = arith.constant 0.00392156862 : f32
        %value = arith.mulf %number, %scale : f32
        linalg.yield %value : f32
    }} -> tensor<1x3x{SIZE}x{SIZE}xf32>
    %there = flow.tensor.transfer %image : tensor<1x3x{SIZE}x{SIZE}xf32> to #hal.device.promise<@npu>
    %found = hal.dispatch.extern "detector"(%there) : (tensor<1x3x{SIZE}x{SIZE}xf32>) -> tensor<1x3xf32>
      count(%device: !hal.device) -> (index, index, index) {{
        %c1 = arith.constant 1 : index
        hal.return %c1, %c1, %c1 : index, index, index
      }}
      layout(#layout)
      objects({{#npu ordinal(0) = [#hal.executable.object<{{path = "detector.program"}}>]}})
    %target = flow.tensor.transfer %found : tensor<1x3xf32> to #hal.device.promise<@cpu>
    return %target : tensor<1x3xf32>
  }}
}}
"""


def policy():
    """Speed of two joints: 6 times the place of the target, which 2 * HIDDEN products approximate."""
    columns = numpy.zeros((4, HIDDEN))
    rows = numpy.zeros((HIDDEN, 2))
    half = HIDDEN // 2
    columns[0, :half] = columns[1, half:] = 0.25
    rows[:half, 0] = rows[half:, 1] = 6 / (0.25 * half)

    def dense(matrix):
        return "dense<[" + ", ".join("[" + ", ".join(f"{value:.8e}" for value in row) + "]" for row in matrix) + "]>"

    return f"""
#elf = {TARGET}
#dev_cpu = #hal.device.target<"local", [#elf]> : !hal.device
module attributes {{hal.device.targets = [#dev_cpu]}} {{
  func.func @act(%observation: tensor<1x4xf32>) -> tensor<1x2xf32> {{
    %w0 = arith.constant {dense(columns)} : tensor<4x{HIDDEN}xf32>
    %w1 = arith.constant {dense(rows)} : tensor<{HIDDEN}x2xf32>
    %zero = arith.constant 0.0 : f32
    %e0 = tensor.empty() : tensor<1x{HIDDEN}xf32>
    %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x{HIDDEN}xf32>) -> tensor<1x{HIDDEN}xf32>
    %p0 = linalg.matmul ins(%observation, %w0 : tensor<1x4xf32>, tensor<4x{HIDDEN}xf32>)
        outs(%z0 : tensor<1x{HIDDEN}xf32>) -> tensor<1x{HIDDEN}xf32>
    %h = math.tanh %p0 : tensor<1x{HIDDEN}xf32>
    %e1 = tensor.empty() : tensor<1x2xf32>
    %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x2xf32>) -> tensor<1x2xf32>
    %p1 = linalg.matmul ins(%h, %w1 : tensor<1x{HIDDEN}xf32>, tensor<{HIDDEN}x2xf32>)
        outs(%z1 : tensor<1x2xf32>) -> tensor<1x2xf32>
    return %p1 : tensor<1x2xf32>
  }}
}}
"""


def run(folder, *command):
    path = f"{pathlib.Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(command, check=True, cwd=folder, env={**os.environ, "PATH": path})


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        onnx.save(detector(), folder / "detector.onnx")
        run(folder, sys.executable, MAKE_PROGRAM, "detector.onnx", "detector.program", "--function=detector")
        (folder / "detector.mlir").write_text(DETECTOR)
        (folder / "policy.mlir").write_text(policy())
        run(folder, "iree-compile", "detector.mlir", "--iree-hal-executable-object-search-path=.",
            "--iree-hal-link-executables=false", "-o", HERE / "models/detector.vmfb")
        run(folder, "iree-compile", "policy.mlir", "-o", HERE / "models/policy.vmfb")


if __name__ == "__main__":
    main()
