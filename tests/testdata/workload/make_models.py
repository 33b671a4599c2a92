#!/usr/bin/env python3
"""Writes the robot workload as MLIR: four small models with random weights.

  perception  CNN, image 1x192x192x3 f32 -> 1x16 f32; long, low rate
  policy      MLP, observation 1x64 f32 -> action 1x12 f32; short, high rate
  estimator   GRU cell, 1x24 f32 -> 1x64 f32; its hidden state is a global
  gemm_i8     64x512 i8 by 512x512 i8 -> 64x512 i32; inner products

The weights come from fixed seeds, so the files are the same each time.

usage: make_models.py DIRECTORY      needs: numpy
"""
import pathlib
import sys

import numpy as np

HEADERS = {
    "perception": """\
// A convolutional network of five layers and a classifier.
// Variants: cpu
// Run: --function=detect --input=1x192x192x3xf32=0.5
""",
    "policy": """\
// A perceptron of three layers.
// Variants: cpu
// Run: --function=act --input=1x64xf32=0.5
""",
    "estimator": """\
// A recurrent cell that keeps its hidden state.
// Variants: cpu
// Run: --function=update --input=1x24xf32=0.5
""",
    "gemm_i8": """\
// Inner products of bytes.
// Variants: cpu vmvx.tiled
// Run: --function=project --input=64x512xi8=3
""",
}

ACTIVATIONS = {
    None: "linalg.yield %s : f32",
    "relu": """%zero = arith.constant 0.0 : f32
      %r = arith.maximumf %s, %zero : f32
      linalg.yield %r : f32""",
    "tanh": """%r = math.tanh %s : f32
      linalg.yield %r : f32""",
    "sigmoid": """%o = arith.constant 1.0 : f32
      %ng = arith.negf %s : f32
      %e = math.exp %ng : f32
      %d = arith.addf %e, %o : f32
      %r = arith.divf %o, %d : f32
      linalg.yield %r : f32""",
}

ROW = "affine_map<(i, j) -> (i, j)>"
COLUMN = "affine_map<(i, j) -> (j)>"
VOLUME = "affine_map<(a, b, c, d) -> (a, b, c, d)>"


def tensor(shape, element="f32"):
    return f"tensor<{'x'.join(map(str, shape))}x{element}>"


def dense(array):
    element = {"float32": "f32", "int8": "i8"}[str(array.dtype)]
    data = array.tobytes().hex().upper()
    return f'arith.constant dense<"0x{data}"> : {tensor(array.shape, element)}'


def weights(rng, *shape):
    fan_in = shape[-2] if len(shape) < 3 else np.prod(shape[:-1])
    return (rng.standard_normal(shape) / np.sqrt(fan_in)).astype(np.float32)


def elementwise(maps, rank, ins, types, out, out_type, arguments, body):
    """A linalg.generic whose every dimension is parallel."""
    parallel = ", ".join(['"parallel"'] * rank)
    return f"""linalg.generic {{
        indexing_maps = [{", ".join(maps)}],
        iterator_types = [{parallel}]}}
        ins({ins} : {types}) outs({out} : {out_type}) {{
    ^bb0({arguments}):
      {body}
    }} -> {out_type}"""


def linear(n, x, rows, inner, columns, rng, activation=None):
    """Lines for `%n = activation(%x . weights + bias)`."""
    weight = weights(rng, inner, columns)
    bias = (rng.standard_normal(columns) * 0.1).astype(np.float32)
    left, right = tensor([rows, inner]), tensor([inner, columns])
    out = tensor([rows, columns])
    body = "%s = arith.addf %a, %b : f32\n      " + ACTIVATIONS[activation]
    return f"""
    %{n}_w = {dense(weight)}
    %{n}_b = {dense(bias)}
    %{n}_c0 = arith.constant 0.0 : f32
    %{n}_e = tensor.empty() : {out}
    %{n}_z = linalg.fill ins(%{n}_c0 : f32) outs(%{n}_e : {out}) -> {out}
    %{n}_m = linalg.matmul ins(%{x}, %{n}_w : {left}, {right})
        outs(%{n}_z : {out}) -> {out}
    %{n} = """ + elementwise(
        [ROW, COLUMN, ROW], 2, f"%{n}_m, %{n}_b",
        f"{out}, {tensor([columns])}", f"%{n}_e", out,
        "%a: f32, %b: f32, %u: f32", body)


def conv(n, x, size, channels, filters, stride, rng):
    """A 3x3 valid convolution, NHWC by HWCF, then a rectifier.

    Returns its lines and the size of its output.
    """
    weight = weights(rng, 3, 3, channels, filters)
    out_size = (size - 3) // stride + 1
    left = tensor([1, size, size, channels])
    right = tensor([3, 3, channels, filters])
    out = tensor([1, out_size, out_size, filters])
    body = f"""%r = arith.maximumf %a, %{n}_c0 : f32
      linalg.yield %r : f32"""
    return f"""
    %{n}_w = {dense(weight)}
    %{n}_c0 = arith.constant 0.0 : f32
    %{n}_e = tensor.empty() : {out}
    %{n}_z = linalg.fill ins(%{n}_c0 : f32) outs(%{n}_e : {out}) -> {out}
    %{n}_m = linalg.conv_2d_nhwc_hwcf {{
        dilations = dense<1> : tensor<2xi64>,
        strides = dense<{stride}> : tensor<2xi64>}}
        ins(%{x}, %{n}_w : {left}, {right}) outs(%{n}_z : {out}) -> {out}
    %{n} = """ + elementwise(
        [VOLUME, VOLUME], 4, f"%{n}_m", out, f"%{n}_e", out,
        "%a: f32, %u: f32", body), out_size


def perception(rng):
    lines, size, channels, x = [], 192, 3, "image"
    layers = [(32, 2), (64, 2), (96, 1), (128, 2), (128, 2)]
    for index, (filters, stride) in enumerate(layers):
        text, size = conv(f"conv{index}", x, size, channels, filters, stride,
                          rng)
        lines.append(text)
        channels, x = filters, f"conv{index}"
    flat = size * size * channels
    lines.append(f"""
    %flat = tensor.collapse_shape %{x} [[0], [1, 2, 3]]
        : {tensor([1, size, size, channels])} into {tensor([1, flat])}""")
    lines.append(linear("fc", "flat", 1, flat, 16, rng))
    return f"""module @perception {{
  func.func @detect(%image: tensor<1x192x192x3xf32>) -> tensor<1x16xf32> {{\
{"".join(lines)}
    return %fc : tensor<1x16xf32>
  }}
}}
"""


def policy(rng):
    layers = (linear("h0", "obs", 1, 64, 256, rng, "tanh")
              + linear("h1", "h0", 1, 256, 256, rng, "tanh")
              + linear("out", "h1", 1, 256, 12, rng))
    return f"""module @policy {{
  func.func @act(%obs: tensor<1x64xf32>) -> tensor<1x12xf32> {{{layers}
    return %out : tensor<1x12xf32>
  }}
}}
"""


def estimator(rng):
    state = tensor([1, 64])

    def mix(n, operation, a, b):
        return f"\n    %{n} = " + elementwise(
            [ROW] * 3, 2, f"%{a}, %{b}", f"{state}, {state}", "%e64", state,
            "%p: f32, %q: f32, %u: f32",
            f"%s = {operation} %p, %q : f32\n      linalg.yield %s : f32")

    def concat(n, b):
        return f"""
    %{n} = tensor.concat dim(1) %x, %{b}
        : (tensor<1x24xf32>, tensor<1x64xf32>) -> tensor<1x88xf32>"""

    cell = (concat("xh", "h")
            + linear("up", "xh", 1, 88, 64, rng, "sigmoid")
            + linear("gate", "xh", 1, 88, 64, rng, "sigmoid")
            + mix("rh", "arith.mulf", "gate", "h") + concat("xrh", "rh")
            + linear("cand", "xrh", 1, 88, 64, rng, "tanh")
            + mix("diff", "arith.subf", "cand", "h")
            + mix("step", "arith.mulf", "up", "diff")
            + mix("next", "arith.addf", "h", "step"))
    return f"""module @estimator {{
  util.global private mutable @hidden = dense<0.0> : {state}
  func.func @update(%x: tensor<1x24xf32>) -> {state} {{
    %h = util.global.load @hidden : {state}
    %e64 = tensor.empty() : {state}{cell}
    util.global.store %next, @hidden : {state}
    return %next : {state}
  }}
  func.func @reset() {{
    %zero = arith.constant dense<0.0> : {state}
    util.global.store %zero, @hidden : {state}
    return
  }}
}}
"""


def gemm_i8(rng):
    weight = rng.integers(-128, 128, (512, 512)).astype(np.int8)
    left, right = tensor([64, 512], "i8"), tensor([512, 512], "i8")
    out = tensor([64, 512], "i32")
    return f"""module @gemm_i8 {{
  func.func @project(%x: {left}) -> {out} {{
    %w = {dense(weight)}
    %c0 = arith.constant 0 : i32
    %e = tensor.empty() : {out}
    %z = linalg.fill ins(%c0 : i32) outs(%e : {out}) -> {out}
    %y = linalg.matmul ins(%x, %w : {left}, {right}) outs(%z : {out}) -> {out}
    return %y : {out}
  }}
}}
"""


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for seed, make in enumerate([perception, policy, estimator, gemm_i8]):
        text = HEADERS[make.__name__] + make(np.random.default_rng(seed))
        (out / f"{make.__name__}.mlir").write_text(text)


if __name__ == "__main__":
    main()
