#!/usr/bin/env python3
"""Compiles random networks of the blocks that robots' networks have, and
compares what Takt computes with what ONNX Runtime computes without
optimizations.

A network is a chain of convolutions of images or volumes with norms and
activations, gates, pools, changes of size, attention, linear layers and recurrent layers, in which blocks
also use results of earlier ones. So it shows what rewrites make of neighbours,
which scripts/random_operators.py cannot. Its results are the last tensor and two
of those between. Floats may differ by 1e-3 of the greatest result, and with
--int8 by a tenth of it.

A finding prints the seed that repeats it. The last line is "N results agree, N
differ, N do not compile"; the exit code is 0 if none differs.

usage: scripts/random_networks.py [--seed=1] [--count=20] [--recipe=NAME]
                                  [--int8] [--samples] [--blocks=N] [--keep=DIRECTORY]
       --int8: quantize each network, as pairs of QuantizeLinear and
               DequantizeLinear
       --samples: leave the number of samples open, and call the networks with
               three; those in which samples mix are left out
       --blocks: blocks of a network (default: 1 to 12)
       --keep: leave the networks that differ or do not compile there

needs: the packages takt, onnx and onnxruntime, as build/venv has them after
scripts/test.sh --python
"""
import logging
import math
import pathlib
import shutil
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnxruntime import quantization

import takt
from takt.networks import counting, samples
from random_operators import Comparison, Network, flags

TOLERANCE, INT8_TOLERANCE = 1e-3, 0.1


class Chain(Network):
    """A network whose blocks use results of earlier ones."""

    def __init__(self, seed, is_open=False):
        super().__init__(seed)
        self.shapes = {}  # Of each tensor.
        self.is_open = is_open

    def tensor(self, kind, inputs, shape, **attributes):
        name = self.operator(kind, inputs, **attributes)
        self.shapes[name] = list(shape)
        return name

    def start(self, shape):
        name = self.floats(shape)
        self.shapes[name] = list(shape)
        return name

    def fitted(self, *shape, fan):
        return self.weights(*shape, scale=1 / math.sqrt(fan))

    def same(self, kind, x, *others, **attributes):
        """An operator whose result has the shape of `x`."""
        return self.tensor(kind, [x, *others], self.shapes[x], **attributes)

    def reshaped(self, x, *shape):
        sizes = [-1, *shape[1:]] if self.is_open else shape
        return self.tensor("Reshape", [x, self.constant(sizes)], shape)

    def turned(self, x, *order):
        shape = [self.shapes[x][axis] for axis in order]
        return self.tensor("Transpose", [x], shape, perm=order)


def activation(net, x):
    kind = net.one_of(
        "Relu", "Relu", "Relu", "Clip", "Silu", "HardSwish", "LeakyRelu", "Sigmoid", "Tanh", "Elu", "Gelu", "PRelu",
        "Mish", "HardSigmoid", "Erf", "Selu", "Softsign", "Where", None, None)
    if kind is None:
        return x
    if kind == "Clip":
        return net.same("Clip", x, net.number(0), net.number(6))
    if kind == "Silu":
        return net.same("Mul", x, net.same("Sigmoid", x))
    if kind == "Erf":
        inner = net.same("Add", net.same("Erf", net.same("Div", x, net.number(math.sqrt(2)))), net.number(1))
        return net.same("Mul", net.same("Mul", x, inner), net.number(0.5))
    if kind == "Where":
        halves = net.same("Mul", x, net.number(0.5))
        is_less = net.tensor("Less", [x, net.number(0)], net.shapes[x])
        return net.same("Where", is_less, halves, net.same("Mean", x, halves, x))
    if kind == "PRelu":
        shape = net.shapes[x]
        return net.same("PRelu", x, net.weights(*(shape[1:2] + [1] * (len(shape) - 2)), scale=0.2))
    return net.same(kind, x)


def joined(net, x, y):
    """`y`, added to `x` or not."""
    if net.shapes[x] != net.shapes[y] or net.happens(0.4):
        return y
    return net.tensor("Add", [x, y] if net.happens(0.5) else [y, x], net.shapes[x])


def normed(net, x):
    channels, kind = net.shapes[x][1], net.one_of("Batch", "Batch", "Instance", "Group", None, None, None)
    scale, bias = net.weights(channels), net.weights(channels)
    if kind == "Batch":
        spread = net.constant(net.numbers.uniform(0.5, 1.5, channels), np.float32)
        return net.same("BatchNormalization", x, scale, bias, net.weights(channels), spread)
    if kind == "Instance" and math.prod(net.shapes[x][2:]) > 3:
        return net.same("InstanceNormalization", x, scale, bias)
    if kind == "Group" and channels % 2 == 0 and math.prod(net.shapes[x][2:]) > 3:
        return net.same("GroupNormalization", x, scale, bias, num_groups=2)
    return x


def windows(net, x, kernel, stride, dilation=1):
    """Attributes of a window of an image or a volume, and the size of its result. Windows
    of volumes may be as long in depth alone, or in the other directions."""
    size = net.shapes[x][2:]
    is_long = net.one_of([True] * len(size), [len(size) < 3] + [True] * (len(size) - 1), [True] + [len(size) < 3] * 2)
    kernel, stride, dilation, before, after = zip(*(
        (kernel, stride, dilation, *sides) if is_long[i] else (1, 1, 1, 0, 0)
        for i, sides in enumerate([padding(net, dilation * (kernel - 1))] * len(size))))
    size = [(each + a + b - d * (k - 1) - 1) // s + 1
            for each, k, s, d, a, b in zip(size, kernel, stride, dilation, before, after)]
    if min(size) < 1:
        return None, None
    own = {"kernel_shape": kernel, "strides": stride, "dilations": dilation, "pads": before + after}
    return own, size


def padding(net, reach):
    before = net.one_of(reach // 2, reach // 2, reach // 2, 0, 1 if reach else 0)
    return before, net.one_of(before, before, before, reach - before if reach > before else 0)


def convolution(net, x):
    batch, channels = net.shapes[x][:2]
    outs = net.one_of(channels, channels, 4, 6, 8, 12, 16, 24)
    groups = net.one_of(1, 1, 1, channels, channels, 2)
    if channels % groups or groups == 1:
        groups = 1
    elif outs % groups:
        outs = channels
    dilation = net.one_of(1, 1, 1, 1, 2)
    kernel = net.one_of(1, 1, 3, 3, 3, 5, 2)
    stride = net.one_of(1, 1, 1, 2)
    if net.happens(0.05):  # As the patches of a transformer that overlap.
        kernel, stride, dilation = net.one_of(12, 13), net.one_of(4, 6), 1
    own, size = windows(net, x, kernel, stride, dilation)
    if own is None:
        return x
    own["group"] = groups
    taps = math.prod(own["kernel_shape"])
    inputs = [x, net.fitted(outs, channels // groups, *own["kernel_shape"], fan=channels // groups * taps)]
    if net.happens(0.6):
        inputs.append(net.weights(outs, scale=0.3))
    y = net.tensor("Conv", inputs, [batch, outs, *size], **own)
    y = normed(net, y)
    if net.happens(0.5):
        return activation(net, joined(net, x, y))
    return joined(net, x, activation(net, y))


def gate(net, x):
    """A squeeze and an excitation."""
    batch, channels = net.shapes[x][:2]
    ones = [1] * (len(net.shapes[x]) - 2)
    if net.happens(0.5):
        y = net.tensor("GlobalAveragePool", [x], [batch, channels, *ones])
    else:
        axes = net.constant(list(range(2, len(net.shapes[x]))))
        y = net.tensor("ReduceMean", [x, axes], [batch, channels, *ones], keepdims=1)
    inner = net.one_of(2, 4, 8)
    for ins, outs in (channels, inner), (inner, channels):
        y = net.tensor("Conv", [y, net.fitted(outs, ins, *ones, fan=ins), net.weights(outs)], [batch, outs, *ones])
        y = net.same("Relu", y) if outs == inner else net.same(net.one_of("Sigmoid", "HardSigmoid"), y)
    return net.same("Mul", x, y)


def pool(net, x):
    kernel = net.one_of(2, 3, 3, 5)
    own, size = windows(net, x, kernel, net.one_of(1, 2, kernel))
    if own is None or any(pad >= k for pad, k in zip(own["pads"], own["kernel_shape"] * 2)):
        return x
    del own["dilations"]
    kind = net.one_of("MaxPool", "AveragePool")
    if kind == "AveragePool":
        own["count_include_pad"] = net.one_of(0, 1)
    return net.tensor(kind, [x], net.shapes[x][:2] + size, **own)


def size_change(net, x):
    batch, channels, *size = net.shapes[x]
    kind = net.one_of("Resize", "Resize", "ConvTranspose", "ConvTranspose", "Pad", "Slice", "Pixels")
    if kind in ("Resize", "ConvTranspose") and math.prod(size) > 500:
        return x
    if kind == "Resize":
        mode = net.one_of("nearest", "linear")
        places = net.one_of("asymmetric", "half_pixel", "align_corners") if mode == "linear" else "asymmetric"
        own = {"mode": mode, "coordinate_transformation_mode": places}
        if mode == "nearest":
            own["nearest_mode"] = "floor"
        scales = net.constant([1, 1] + [2] * len(size), np.float32)
        return net.tensor("Resize", [x, "", scales], [batch, channels, *(2 * each for each in size)], **own)
    if kind == "ConvTranspose":
        outs, (kernel, pad) = net.one_of(channels, 4, 8), net.one_of((2, 0), (4, 1), (3, 1), (3, 0), (8, 3))
        group = net.one_of(1, 1, math.gcd(channels, outs))
        size = [2 * (each - 1) + kernel - 2 * pad for each in size]
        weights = net.fitted(channels, outs // group, *([kernel] * len(size)), fan=channels * kernel / group)
        own = {"strides": [2] * len(size), "kernel_shape": [kernel] * len(size), "pads": [pad] * (2 * len(size)),
               "group": group}
        y = net.tensor("ConvTranspose", [x, weights, net.weights(outs)], [batch, outs, *size], **own)
        return activation(net, normed(net, y)) if min(size) > 0 else x
    if kind == "Pad":
        pads = [0, 0] + net.sizes(len(size), 0, 2) + [0, 0] + net.sizes(len(size), 0, 2)
        size = [each + a + b for each, a, b in zip(size, pads[2:2 + len(size)], pads[-len(size):])]
        mode = net.one_of("constant", "constant", "edge")
        return net.tensor("Pad", [x, net.constant(pads)], [batch, channels, *size], mode=mode)
    if kind == "Slice" and min(size) > 2:
        first, step = net.one_of(0, 1), net.one_of(1, 2)
        size = [len(range(first, each - 1, step)) for each in size]
        axes = list(range(2, 2 + len(size)))
        bounds = [[first] * len(axes), [-1] * len(axes), axes, [step] * len(axes)]
        return net.tensor("Slice", [x, *map(net.constant, bounds)], [batch, channels, *size])
    if kind == "Pixels" and len(size) == 2:
        if channels % 4 == 0:
            size = [2 * each for each in size]
            mode = net.one_of("DCR", "CRD")
            return net.tensor("DepthToSpace", [x], [batch, channels // 4, *size], blocksize=2, mode=mode)
        if not any(each % 2 for each in size):
            return net.tensor("SpaceToDepth", [x], [batch, channels * 4, *(each // 2 for each in size)], blocksize=2)
    return x


def mixture(net, x):
    """Channels that are cut, shuffled, joined with those of another tensor, or scaled."""
    batch, channels, *size = net.shapes[x]
    kind = net.one_of("Shuffle", "Split", "Concat", "Concat", "Scale", "Softmax", "Other")
    if kind == "Shuffle" and channels % 2 == 0:
        rank = len(size)
        y = net.turned(net.reshaped(x, batch, 2, channels // 2, *size), 0, 2, 1, *range(3, 3 + rank))
        return net.reshaped(y, batch, channels, *size)
    if kind == "Split" and channels % 2 == 0:
        a, b = net.operator("Split", [x], 2, axis=1, num_outputs=2)
        net.shapes[a] = net.shapes[b] = [batch, channels // 2, *size]
        b = convolution(net, b)
        if net.shapes[b][2:] == size:
            return net.tensor("Concat", [a, b], [batch, channels // 2 + net.shapes[b][1], *size], axis=1)
        return b
    if kind in ("Concat", "Other"):
        fitting = [name for name, shape in net.shapes.items() if shape[0] == batch and shape[2:] == size]
        y = net.one_of(*fitting)
        if kind == "Other" and net.shapes[y][1] in (1, channels):
            return net.same(net.one_of("Add", "Mul", "Sub"), x, y)
        names = net.one_of([x, y], [y, x], [x, y, x])
        outs = sum(net.shapes[name][1] for name in names)
        return net.tensor("Concat", names, [batch, outs, *size], axis=1) if outs < 64 else x
    if kind == "Scale":
        shape = net.one_of([1, channels] + [1] * len(size), [1], [channels] + [1] * len(size))
        return net.same(net.one_of("Mul", "Add", "Sub", "Div"), x, net.constant(
            net.numbers.uniform(0.5, 1.5, shape), np.float32))
    if kind == "Softmax":
        return net.same("Softmax", x, axis=1)
    return x


def norm_of_layers(net, x):
    """A norm over the last axis, as one operator or as several."""
    width = net.shapes[x][-1]
    if net.happens(0.6):
        return net.same("LayerNormalization", x, net.weights(width), net.weights(width), axis=-1, epsilon=1e-5)
    outer = net.shapes[x][:-1] + [1]
    away = net.same("Sub", x, net.tensor("ReduceMean", [x, net.constant([-1])], outer))
    square = net.same("Pow", away, net.number(2)) if net.happens(0.5) else net.same("Mul", away, away)
    spread = net.tensor("ReduceMean", [square, net.constant([-1])], outer)
    root = net.same("Sqrt", net.same("Add", spread, net.number(1e-5)))
    y = net.same("Div", away, root)
    return net.same("Add", net.same("Mul", y, net.weights(width)), net.weights(width))


def linear(net, x, outs):
    batch, steps, width = net.shapes[x]
    weights = net.fitted(width, outs, fan=width)
    if net.happens(0.25):
        flat = net.reshaped(x, batch * steps, width)
        y = net.tensor("Gemm", [flat, net.fitted(outs, width, fan=width), net.weights(outs)], [batch * steps, outs],
                       transB=1)
        return net.reshaped(y, batch, steps, outs)
    y = net.tensor("MatMul", [x, weights], [batch, steps, outs])
    if net.happens(0.7):
        y = net.tensor("Add", [y, net.weights(outs)] if net.happens(0.5) else [net.weights(outs), y], net.shapes[y])
    return y


def attention(net, x):
    batch, steps, width = net.shapes[x]
    heads = net.one_of(1, 2, 4)
    if width % heads:
        return x
    size = width // heads
    source = norm_of_layers(net, x) if net.happens(0.5) else x
    if net.happens(0.4):  # One product for all three.
        whole = linear(net, source, 3 * width)
        whole = net.turned(net.reshaped(whole, batch, steps, 3, heads, size), 2, 0, 3, 1, 4)
        parts = []
        for place in range(3):
            parts.append(net.tensor("Gather", [whole, net.constant(place)], [batch, heads, steps, size], axis=0))
        q, k, v = parts
        k = net.turned(k, 0, 1, 3, 2)
    else:
        q, k, v = (net.reshaped(linear(net, source, width), batch, steps, heads, size) for _ in range(3))
        q, k, v = net.turned(q, 0, 2, 1, 3), net.turned(k, 0, 2, 3, 1), net.turned(v, 0, 2, 1, 3)
    scale = net.number(1 / math.sqrt(size))
    if net.happens(0.3):
        q = net.same("Mul", q, scale)
    scores = net.tensor("MatMul", [q, k], [batch, heads, steps, steps])
    if net.happens(0.5):
        scores = net.same("Mul", scores, scale)
    if net.happens(0.4):
        mask = np.triu(np.full((steps, steps), -1e9 if net.happens(0.7) else -np.inf), 1)
        scores = net.same("Add", scores, net.constant(mask, np.float32))
    weights = net.same("Softmax", scores, axis=-1)
    y = net.turned(net.tensor("MatMul", [weights, v], [batch, heads, steps, size]), 0, 2, 1, 3)
    y = linear(net, net.reshaped(y, batch, steps, width), width)
    return joined(net, x, y)


def perceptron(net, x):
    width = net.shapes[x][-1]
    source = norm_of_layers(net, x) if net.happens(0.5) else x
    inner = net.one_of(width, 2 * width, 8, 17)
    y = linear(net, source, inner)
    if net.happens(0.3):
        other = linear(net, source, inner)
        y = net.same("Mul", net.same("Mul", y, net.same("Sigmoid", y)), other)
    else:
        y = activation(net, y) if net.happens(0.7) else net.same("Gelu", y, approximate=net.one_of("none", "tanh"))
    y = joined(net, x, linear(net, y, width))
    return norm_of_layers(net, y) if net.happens(0.3) else y


def recurrence(net, x):
    batch, steps, width = net.shapes[x]
    kind, size, directions = net.one_of("GRU", "LSTM"), net.one_of(4, 8), net.one_of(1, 1, 2)
    gates = {"GRU": 3, "LSTM": 4}[kind]
    inputs = [net.turned(x, 1, 0, 2), net.fitted(directions, gates * size, width, fan=width),
              net.fitted(directions, gates * size, size, fan=size)]
    if net.happens(0.8):
        inputs.append(net.weights(directions, 2 * gates * size))
    own = {"hidden_size": size, "direction": "forward" if directions == 1 else "bidirectional"}
    if kind == "GRU":
        own["linear_before_reset"] = net.one_of(0, 1)
    y = net.tensor(kind, inputs, [steps, directions, batch, size], **own)
    return net.reshaped(net.turned(y, 2, 0, 1, 3), batch, steps, directions * size)


def tokens(net, x):
    """Steps that are cut, doubled or turned to channels and back."""
    batch, steps, width = net.shapes[x]
    kind = net.one_of("Slice", "Concat", "Conv", "Mean", "Scale")
    if kind == "Slice" and steps > 2:
        bounds = [[1], [steps], [1]]
        return net.tensor("Slice", [x, *map(net.constant, bounds)], [batch, steps - 1, width])
    if kind == "Concat" and batch == 1:
        return net.tensor("Concat", [net.weights(1, 2, width), x], [1, steps + 2, width], axis=1)
    if kind == "Conv":
        y = convolution(net, net.turned(x, 0, 2, 1))
        return net.turned(y, 0, 2, 1)
    if kind == "Mean":
        y = net.tensor("ReduceMean", [x, net.constant([1])], [batch, 1, width], keepdims=1)
        return net.same("Sub", x, y)
    return net.same(net.one_of("Mul", "Add"), x, net.weights(width))


IMAGES = {convolution: 8, gate: 1, pool: 1, size_change: 2, mixture: 3}
STEPS = {attention: 3, perceptron: 3, recurrence: 1, tokens: 2}


def next_block(net, x):
    shape = net.shapes[x]
    is_image = len(shape) > 3
    if is_image and net.happens(0.06) and math.prod(shape[2:]) < 150:
        batch, channels, *size = shape
        return net.turned(net.reshaped(x, batch, channels, math.prod(size)), 0, 2, 1)
    kinds = IMAGES if is_image else STEPS
    return net.random.choices(list(kinds), list(kinds.values()))[0](net, x)


def make_network(seed, blocks, is_open=False):
    net = Chain(seed, is_open)
    batch = net.one_of(1, 1, 1, 1, 2, 3)
    if is_open:
        batch = 3
    if net.happens(0.2):
        x = net.start([batch, net.one_of(1, 3, 4, 8), *(net.whole(3, 9) for _ in range(3))])
    elif net.happens(0.75):
        x = net.start([batch, net.one_of(3, 3, 4, 8, 16), net.whole(4, 18), net.whole(4, 18)])
    else:
        x = net.start([batch, net.whole(2, 20), net.one_of(4, 8, 12, 16, 32)])
    between = []
    for _ in range(blocks or net.whole(1, 12)):
        previous = x
        x = next_block(net, x)
        if x != previous:
            between.append(x)
    while not between:
        between.append(next_block(net, x) if len(net.shapes[x]) > 3 else perceptron(net, x))
        between = [name for name in between if name != x]
    kept = dict.fromkeys([between[-1], *net.random.sample(between, min(2, len(between)))])
    net.results = [(name, name) for name in kept]
    return net


def quantized(net, path):
    """The file at `path`, quantized by the values that the inputs of `net` give."""

    class Reader(quantization.CalibrationDataReader):
        def __init__(self):
            self.feeds = iter([net.feeds])

        def get_next(self):
            return next(self.feeds, None)

    kind = quantization.QuantType
    out = path.with_suffix(".int8.onnx")
    logging.disable(logging.WARNING)
    quantization.quantize_static(
        str(path), str(out), Reader(), quant_format=quantization.QuantFormat.QDQ, per_channel=net.happens(0.7),
        activation_type=net.one_of(kind.QInt8, kind.QUInt8), weight_type=kind.QInt8,
        extra_options={"WeightSymmetric": True, "ActivationSymmetric": net.happens(0.3)})
    return onnx.load(out)


def with_open_samples(model):
    """The network with the outermost dimension of its inputs open."""
    for value in [*model.graph.input, *model.graph.output]:
        value.type.tensor_type.shape.dim[0].dim_param = "N"
    return model


def away(found, wanted):
    """The greatest difference, as a part of the greatest number."""
    return float(np.abs(found - wanted).max(initial=0) / max(1e-3, np.abs(wanted).max(initial=0)))


class NetworkComparison(Comparison):
    """Counts networks, by the greatest difference of their results."""

    def check(self, net, seed, is_int8, keep):
        model = net.model(range(len(net.results)))
        feeds = {value.name: net.feeds[value.name] for value in model.graph.input}
        wanted = self.wanted(model, feeds)
        onnx.save(model, self.path)
        if wanted is not None and is_int8:
            try:
                model = quantized(net, self.path)
            except (ValueError, RuntimeError) as refusal:  # Of a tensor that nothing gives a scale.
                return self.report("not quantized", seed, str(refusal))
            wanted = self.wanted(model, feeds)
            onnx.save(model, self.path)
        if wanted is None:
            return self.report("ONNX Runtime refuses", seed, "")
        if net.is_open:
            model = with_open_samples(model)
            try:
                samples.split(model)
            except counting.Unproved:
                self.counts["mix samples"] += 1
                return None
            onnx.save(model, self.path)
        try:
            found = takt.compile(self.path, cache=self.cache, **self.options).load()
            found = found.net(*feeds.values())
        except takt.Error as failure:
            outcome, text = "do not compile", str(failure).replace("\n", " ")[:300]
        else:
            found = found if isinstance(found, (list, tuple)) else [found]
            tolerance = max(INT8_TOLERANCE, 2 * self.own_difference(model, feeds, wanted)) if is_int8 else TOLERANCE
            outcome, text = self.outcome(found, wanted, tolerance)
        self.counts[outcome] += 1
        if outcome != "agree":
            self.report(outcome, seed, text)
            if keep:
                shutil.copy(self.path, keep / f"{seed}.onnx")

    def own_difference(self, model, feeds, wanted):
        """Of ONNX Runtime with its optimizations from itself."""
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        found = onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, feeds)
        return max(map(away, found, wanted))

    def outcome(self, found, wanted, tolerance):
        for number, (a, b) in enumerate(zip(map(np.asarray, found), wanted, strict=True)):
            if a.shape != b.shape:
                return "differ", f"result {number}: {list(a.shape)}, not {list(b.shape)}"
            if not away(a, b) <= tolerance:
                return "differ", f"result {number} {list(b.shape)}: by {away(a, b):.3g} of the greatest"
        return "agree", ""

    def report(self, what, seed, text):
        print(f"{what}: --seed={seed} --count=1: {text}", flush=True)


def main():
    parser = flags(__doc__)
    parser.add_argument("--int8", action="store_true")
    parser.add_argument("--samples", action="store_true")
    parser.add_argument("--blocks", type=int)
    parser.add_argument("--keep", type=pathlib.Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        comparison = NetworkComparison(given.recipe, pathlib.Path(folder))
        for seed in range(given.seed, given.seed + given.count):
            comparison.check(make_network(seed, given.blocks, given.samples), seed, given.int8, given.keep)
    counts = comparison.counts
    if given.samples:
        print(f"{counts['mix samples']} networks mix samples")
    print(f"{counts['agree']} networks agree, {counts['differ']} differ, {counts['do not compile']} do not compile")
    return counts["differ"] > 0


if __name__ == "__main__":
    sys.exit(main())
