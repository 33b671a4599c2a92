#!/usr/bin/env python3
"""Writes networks of the kinds that robots run, as ONNX with seeded random weights.

They are others than those by which Takt's kernels were chosen: detectors, classifiers,
segmentation, policies, estimators, diffusion. benchmarks/networks.py measures them.
Weights are random, so the results mean nothing and the speed does.

usage: make_networks.py OUT [--only NAME,NAME] [--int8]
       --int8  also NAME.int8.onnx, quantized by onnxruntime (QDQ, per channel)
needs: onnx, numpy; for --int8 onnxruntime
"""
import argparse
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SEED = 5


class Net:
    def __init__(self):
        self.random = np.random.default_rng(SEED)
        self.nodes, self.constants = [], []

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def floats(self, *values):
        return self.constant(np.array(values, np.float32))

    def number(self, value):
        return self.constant(np.float32(value))

    def shape(self, *dims):
        return self.constant(np.array(dims, np.int64))

    def weights(self, *shape):
        scale = (2 / max(1, int(np.prod(shape[1:])))) ** 0.5
        return self.constant((self.random.standard_normal(shape) * scale).astype(np.float32))

    def zeros(self, *shape):
        return self.constant(np.zeros(shape, np.float32))

    def ones(self, *shape):
        return self.constant(np.ones(shape, np.float32))

    def op(self, kind, *inputs, outputs=1, **attributes):
        names = [f"t{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def activate(self, x, kind):
        if kind == "Silu":
            return self.op("Mul", x, self.op("Sigmoid", x))
        return self.op(kind, x) if kind else x

    def conv(self, x, ins, outs, size=3, stride=1, act="Relu", groups=1, **attributes):
        attributes.setdefault("pads", [size // 2] * 4)
        x = self.op("Conv", x, self.weights(outs, ins // groups, size, size), self.zeros(outs),
                    strides=[stride] * 2, group=groups, **attributes)
        return self.activate(x, act)

    def conv1d(self, x, ins, outs, size=1, act="Relu", **attributes):
        x = self.op("Conv", x, self.weights(outs, ins, size), self.zeros(outs), **attributes)
        return self.activate(x, act)

    def dense(self, x, ins, outs, act=None):
        x = self.op("MatMul", x, self.constant(
            (self.random.standard_normal((ins, outs)) * ins**-0.5).astype(np.float32)))
        return self.activate(self.op("Add", x, self.zeros(outs)), act)

    def norm(self, x, size):
        return self.op("LayerNormalization", x, self.ones(size), self.zeros(size), axis=-1)

    def group_norm(self, x, shape, groups=8):
        x = self.op("Reshape", x, self.shape(1, groups, -1))
        x = self.op("InstanceNormalization", x, self.ones(groups), self.zeros(groups))
        x = self.op("Reshape", x, self.shape(*shape))
        scale = (1, shape[1], *[1] * (len(shape) - 2))
        return self.op("Add", self.op("Mul", x, self.ones(*scale)), self.zeros(*scale))

    def heads(self, x, rows, size, count, perm):
        x = self.op("Reshape", x, self.shape(1, rows, count, size // count))
        return self.op("Transpose", x, perm=perm)

    def attention(self, x, rows, size, count, mask=None):
        q, k, v = (self.heads(self.dense(x, size, size), rows, size, count, perm)
                   for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
        scores = self.op("Mul", self.op("MatMul", q, k), self.number((size // count) ** -0.5))
        if mask is not None:
            scores = self.op("Add", scores, mask)
        x = self.op("MatMul", self.op("Softmax", scores, axis=-1), v)
        x = self.op("Reshape", self.op("Transpose", x, perm=[0, 2, 1, 3]), self.shape(1, rows, size))
        return self.dense(x, size, size)

    def pooled(self, x):
        return self.op("Flatten", self.op("GlobalAveragePool", x))

    def save(self, path, shape, result):
        graph = helper.make_graph(
            self.nodes, path.stem, [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(result, TensorProto.FLOAT, None)], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(onnx.shape_inference.infer_shapes(model, strict_mode=True), str(path))


def gelu(n, x):
    erf = n.op("Erf", n.op("Mul", x, n.number(0.5**0.5)))
    return n.op("Mul", n.op("Mul", x, n.number(0.5)), n.op("Add", erf, n.number(1)))


def convnext(n):
    size = 64
    x = n.conv("x", 3, size, 4, 4, act=None, pads=[0] * 4)
    for stage in range(3):
        for _ in range(2):
            y = n.conv(x, size, size, 7, act=None, groups=size)
            y = n.norm(n.op("Transpose", y, perm=[0, 2, 3, 1]), size)
            y = n.dense(gelu(n, n.dense(y, size, 4 * size)), 4 * size, size)
            x = n.op("Add", x, n.op("Transpose", y, perm=[0, 3, 1, 2]))
        if stage < 2:
            x, size = n.conv(x, size, 2 * size, 2, 2, act=None, pads=[0] * 4), 2 * size
    return [1, 3, 128, 128], n.dense(n.op("ReduceMean", x, axes=[2, 3], keepdims=0), size, 100)


def deeplab(n):
    x = n.conv(n.conv(n.conv("x", 3, 32, 3, 2), 32, 64, 3, 2), 64, 128, 3, 2)
    parts = [n.conv(x, 128, 64, 1)]
    parts += [n.conv(x, 128, 64, 3, dilations=[d, d], pads=[d] * 4) for d in (2, 4, 6)]
    y = n.conv(n.op("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2]), 128, 64, 1)
    parts.append(n.op("Resize", y, "", n.floats(1, 1, 2, 2), mode="linear"))
    x = n.conv(n.conv(n.op("Concat", *parts, axis=1), 320, 64, 1), 64, 19, 1, act=None)
    return [1, 3, 256, 256], n.op("Resize", x, "", n.floats(1, 1, 8, 8), mode="linear")


def diffusion_1d(n):
    def block(x, ins, outs, length):
        y = n.group_norm(n.conv1d(x, ins, outs, 5, None, pads=[2, 2]), (1, outs, length))
        return n.op("Mul", y, n.op("Tanh", n.op("Softplus", y)))

    skip = block(block("x", 16, 128, 16), 128, 128, 16)
    x = n.conv1d(skip, 128, 256, 3, None, strides=[2], pads=[1, 1])
    x = block(block(x, 256, 256, 8), 256, 256, 8)
    x = n.op("ConvTranspose", x, n.weights(256, 128, 4), n.zeros(128), strides=[2], pads=[1, 1])
    x = block(n.op("Concat", x, skip, axis=1), 256, 128, 16)
    return [1, 16, 16], n.conv1d(x, 128, 16, 1, None)


def diffusion_2d(n):
    def block(x, ins, outs, side):
        return n.activate(n.group_norm(n.conv(x, ins, outs, act=None), (1, outs, side, side)), "Silu")

    def up(x, ins, outs):
        return n.op("ConvTranspose", x, n.weights(ins, outs, 4, 4), n.zeros(outs), strides=[2, 2], pads=[1] * 4)

    first = block("x", 4, 32, 32)
    second = block(n.conv(first, 32, 64, 3, 2, act=None), 64, 64, 16)
    x = block(n.conv(second, 64, 128, 3, 2, act=None), 128, 128, 8)
    x = block(n.op("Concat", up(x, 128, 64), second, axis=1), 128, 64, 16)
    x = block(n.op("Concat", up(x, 64, 32), first, axis=1), 64, 32, 32)
    return [1, 4, 32, 32], n.conv(x, 32, 4, 1, act=None)


def efficientnet(n):
    x, size = n.conv("x", 3, 32, 3, 2, "Silu"), 32
    for factor, outs, kernel, stride in [
            (1, 16, 3, 1), (6, 24, 3, 2), (6, 24, 3, 1), (6, 40, 5, 2), (6, 40, 5, 1), (6, 80, 3, 2),
            (6, 80, 3, 1), (6, 112, 5, 1), (6, 192, 5, 2), (6, 192, 5, 1)]:
        wide = size * factor
        y = n.conv(x, size, wide, 1, act="Silu") if factor > 1 else x
        y = n.conv(y, wide, wide, kernel, stride, "Silu", wide)
        gate = n.conv(n.op("GlobalAveragePool", y), wide, size // 4, 1, act="Silu")
        y = n.op("Mul", y, n.conv(gate, size // 4, wide, 1, act="Sigmoid"))
        y = n.conv(y, wide, outs, 1, act=None)
        x, size = n.op("Add", x, y) if stride == 1 and size == outs else y, outs
    return [1, 3, 192, 192], n.dense(n.pooled(n.conv(x, size, 640, 1, act="Silu")), 640, 1000)


def keywords(n):
    x = n.conv("x", 1, 64, 4, 2, pads=[1] * 4)
    for _ in range(4):
        x = n.conv(n.conv(x, 64, 64, groups=64), 64, 64, 1)
    return [1, 1, 49, 10], n.dense(n.pooled(x), 64, 12)


def lstm_estimator(n):
    hidden = 128
    _, last = n.op("LSTM", "x", n.weights(1, 4 * hidden, 32), n.weights(1, 4 * hidden, hidden),
                   n.weights(1, 8 * hidden), outputs=2, hidden_size=hidden)
    return [10, 1, 32], n.dense(n.op("Squeeze", last, n.shape(0)), hidden, 16)


def mobilenet_v3(n):
    x, size = n.conv("x", 3, 16, 3, 2, "HardSwish"), 16
    for kernel, wide, outs, is_gated, act, stride in [
            (3, 16, 16, 1, "Relu", 2), (3, 72, 24, 0, "Relu", 2), (3, 88, 24, 0, "Relu", 1),
            (5, 96, 40, 1, "HardSwish", 2), (5, 240, 40, 1, "HardSwish", 1), (5, 120, 48, 1, "HardSwish", 1),
            (5, 288, 96, 1, "HardSwish", 2), (5, 576, 96, 1, "HardSwish", 1)]:
        y = n.conv(n.conv(x, size, wide, 1, act=act), wide, wide, kernel, stride, act, wide)
        if is_gated:
            gate = n.conv(n.op("GlobalAveragePool", y), wide, wide // 4, 1)
            gate = n.op("HardSigmoid", n.conv(gate, wide // 4, wide, 1, act=None), alpha=1 / 6, beta=0.5)
            y = n.op("Mul", y, gate)
        y = n.conv(y, wide, outs, 1, act=None)
        x, size = n.op("Add", x, y) if stride == 1 and size == outs else y, outs
    x = n.dense(n.pooled(n.conv(x, size, 576, 1, act="HardSwish")), 576, 1024, "HardSwish")
    return [1, 3, 224, 224], n.dense(x, 1024, 1000)


def pointnet(n):
    x, size = "x", 3
    for outs in (64, 64, 128, 512):
        x, size = n.conv1d(x, size, outs), outs
    return [1, 3, 1024], n.dense(n.dense(n.op("ReduceMax", x, axes=[2], keepdims=0), 512, 256, "Relu"), 256, 40)


def resnet18(n):
    def block(x, ins, outs, size=3, stride=1, act="Relu"):
        x = n.conv(x, ins, outs, size, stride, act=None)
        x = n.op("BatchNormalization", x, n.ones(outs), n.zeros(outs), n.zeros(outs), n.ones(outs))
        return n.activate(x, act)

    x, size = n.op("MaxPool", block("x", 3, 64, 7, 2), kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), 64
    for outs, stride in [(64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)]:
        y = block(block(x, size, outs, 3, stride), outs, outs, act=None)
        x = n.op("Relu", n.op("Add", y, x if size == outs else block(x, size, outs, 1, stride, None)))
        size = outs
    return [1, 3, 224, 224], n.dense(n.pooled(x), 512, 1000)


def rl_policy(n):
    x, size = "x", 48
    for outs in (512, 256, 128):
        x, size = n.dense(x, size, outs, "Elu"), outs
    return [1, 48], n.dense(x, size, 12, "Tanh")


def tcn(n):
    x, size = "x", 16
    for dilation in (1, 2, 4, 8, 16):
        y = x
        for ins in (size, 64):
            y = n.conv1d(y, ins, 64, 3, dilations=[dilation], pads=[2 * dilation, 0])
        x, size = n.op("Relu", n.op("Add", y, x if size == 64 else n.conv1d(x, size, 64, 1, None))), 64
    return [1, 16, 128], n.conv1d(x, 64, 8, 1, None)


def transformer(n):
    """Causal, with norms and gates as they are exported piece by piece."""
    rows, size = 64, 256
    mask = n.constant(np.triu(np.full((rows, rows), -1e9, np.float32), 1)[None, None])

    def norm(x):
        mean = n.op("ReduceMean", n.op("Pow", x, n.number(2)), axes=[-1], keepdims=1)
        return n.op("Mul", n.op("Div", x, n.op("Sqrt", n.op("Add", mean, n.number(1e-6)))), n.ones(size))

    x = "x"
    for _ in range(6):
        x = n.op("Add", x, n.attention(norm(x), rows, size, 4, mask))
        y = norm(x)
        y = n.op("Mul", n.dense(y, size, 683, "Silu"), n.dense(y, size, 683))
        x = n.op("Add", x, n.dense(y, 683, size))
    return [1, rows, size], n.dense(norm(x), size, 512)


def yolo_v8(n):
    def conv(x, ins, outs, size=3, stride=1):
        return n.conv(x, ins, outs, size, stride, "Silu")

    def stage(x, size, count):
        parts = list(n.op("Split", conv(x, size, size, 1), n.shape(size // 2, size // 2), outputs=2, axis=1))
        for _ in range(count):
            y = conv(conv(parts[-1], size // 2, size // 2), size // 2, size // 2)
            parts.append(n.op("Add", parts[-1], y))
        return conv(n.op("Concat", *parts, axis=1), size // 2 * (2 + count), size, 1)

    def up(x):
        return n.op("Resize", x, "", n.floats(1, 1, 2, 2), mode="nearest",
                    coordinate_transformation_mode="asymmetric", nearest_mode="floor")

    x = stage(conv(conv("x", 3, 16, 3, 2), 16, 32, 3, 2), 32, 1)
    third = stage(conv(x, 32, 64, 3, 2), 64, 2)
    fourth = stage(conv(third, 64, 128, 3, 2), 128, 2)
    fifth = stage(conv(fourth, 128, 256, 3, 2), 256, 1)
    fourth = conv(n.op("Concat", up(fifth), fourth, axis=1), 384, 128, 1)
    third = conv(n.op("Concat", up(fourth), third, axis=1), 192, 64, 1)
    heads = []
    for x, size, side in ((third, 64, 32), (fourth, 128, 16), (fifth, 256, 8)):
        boxes = n.conv(conv(x, size, 64), 64, 64, 1, act=None)
        classes = n.conv(conv(x, size, 80), 80, 80, 1, act=None)
        heads.append(n.op("Reshape", n.op("Concat", boxes, classes, axis=1), n.shape(1, 144, side * side)))
    boxes, classes = n.op("Split", n.op("Concat", *heads, axis=2), n.shape(64, 80), outputs=2, axis=1)
    count = 32**2 + 16**2 + 8**2
    x = n.op("Transpose", n.op("Reshape", boxes, n.shape(1, 4, 16, count)), perm=[0, 2, 1, 3])
    x = n.op("Conv", n.op("Softmax", x, axis=1), n.constant(np.arange(16, dtype=np.float32).reshape(1, 16, 1, 1)))
    x = n.op("Reshape", x, n.shape(1, 4, count))
    return [1, 3, 256, 256], n.op("Concat", x, n.op("Sigmoid", classes), axis=1)


def yolo_leaky(n):
    def conv(x, ins, outs, size=3, stride=1):
        return n.op("LeakyRelu", n.conv(x, ins, outs, size, stride, act=None), alpha=0.1)

    x = conv(conv(conv("x", 3, 16, 3, 2), 16, 32, 3, 2), 32, 32)
    x = conv(conv(conv(conv(x, 32, 64, 3, 2), 64, 64), 64, 128, 3, 2), 128, 64, 1)
    parts = [x]
    for _ in range(3):
        parts.append(n.op("MaxPool", parts[-1], kernel_shape=[5, 5], strides=[1, 1], pads=[2] * 4))
    x = conv(n.op("Concat", *parts, axis=1), 256, 128, 1)
    x = n.op("ConvTranspose", x, n.weights(128, 64, 2, 2), n.zeros(64), strides=[2, 2])
    return [1, 3, 320, 320], n.conv(conv(x, 64, 64), 64, 85, 1, act="Sigmoid")


NETWORKS = (convnext, deeplab, diffusion_1d, diffusion_2d, efficientnet, keywords, lstm_estimator, mobilenet_v3,
            pointnet, resnet18, rl_policy, tcn, transformer, yolo_leaky, yolo_v8)


def quantize(path, shape):
    from onnxruntime import quantization

    class Reader(quantization.CalibrationDataReader):
        def __init__(self):
            random = np.random.default_rng(SEED)
            self.feeds = iter([{"x": random.standard_normal(shape).astype(np.float32)} for _ in range(4)])

        def get_next(self):
            return next(self.feeds, None)

    quantization.quantize_static(
        str(path), str(path.with_suffix(".int8.onnx")), Reader(), quant_format=quantization.QuantFormat.QDQ,
        per_channel=True, activation_type=quantization.QuantType.QInt8, weight_type=quantization.QuantType.QInt8,
        extra_options={"WeightSymmetric": True})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", default="", help="names of networks")
    parser.add_argument("--int8", action="store_true")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    only = [name for name in args.only.split(",") if name]
    for build in NETWORKS:
        if only and build.__name__ not in only:
            continue
        net, path = Net(), args.out / f"{build.__name__}.onnx"
        shape, result = build(net)
        net.save(path, shape, result)
        if args.int8:
            quantize(path, shape)
        print(path, flush=True)


if __name__ == "__main__":
    main()
