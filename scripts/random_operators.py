#!/usr/bin/env python3
"""Compiles random ONNX operators, many in a network, and compares what Takt
computes with what ONNX Runtime computes without optimizations.

The operators have random shapes and attributes: convolutions, pools, products,
norms, recurrent layers, reductions, elementwise operators, and those that move
elements. A network that does not compile is cut in halves until the operator is
found. Floats may differ by 2e-4 of the greatest result, integers not at all.

A finding prints the seed and the number of the result, and --seed=N --only=K
repeats it. The last line is "N results agree, N differ, N do not compile"; the
exit code is 0 if none differs.

usage: scripts/random_operators.py [--seed=1] [--count=20] [--recipe=NAME]
                                   [--only=K]
       --count: networks of 24 operators each

needs: the packages takt, onnx and onnxruntime, as build/venv has them after
scripts/test.sh --python
"""
import argparse
import collections
import math
import pathlib
import random
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import takt

OPERATORS = 24
TOLERANCE = 2e-4
OPSET = 21


class Network:
    """A network that grows by operators, with the inputs of a call."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.nodes, self.inputs, self.constants = [], [], []
        self.feeds = {}
        self.results = []  # The name, and what it is.

    # Choices.

    def one_of(self, *values):
        return self.random.choice(values)

    def whole(self, low, high):
        return self.random.randint(low, high)

    def happens(self, share):
        return self.random.random() < share

    def sizes(self, count, low=1, high=7):
        return [self.whole(low, high) for _ in range(count)]

    # Tensors.

    def add_input(self, array):
        name = f"input{len(self.inputs)}"
        element = helper.np_dtype_to_tensor_dtype(array.dtype)
        self.inputs.append(helper.make_tensor_value_info(name, element, array.shape))
        self.feeds[name] = array
        return name

    def floats(self, shape, low=-2.0, high=2.0):
        return self.add_input(self.numbers.uniform(low, high, shape).astype(np.float32))

    def integers(self, shape, low, high):
        return self.add_input(np.asarray(self.numbers.integers(low, high, shape)))

    def constant(self, array, element=np.int64):
        name = f"constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(array, element, order="C"), name))
        return name

    def weights(self, *shape, scale=0.5):
        return self.constant(self.numbers.standard_normal(shape) * scale, np.float32)

    def number(self, value):
        return self.constant(np.asarray(value), np.float32)

    def operator(self, kind, inputs, count=1, **attributes):
        """The name of its result, or a list of `count` names."""
        names = [f"{kind.lower()}_{len(self.nodes)}_{i}" for i in range(count)]
        self.nodes.append(helper.make_node(kind, inputs, names, **attributes))
        return names if count > 1 else names[0]

    def result(self, kind, inputs, count=1, **attributes):
        """An operator whose results are the network's."""
        names = self.operator(kind, inputs, count, **attributes)
        for name in names if count > 1 else [names]:
            self.results.append((name, f"{kind} {attributes}"))

    # Which of the results a model has.

    def model(self, kept):
        names = [self.results[i][0] for i in kept]
        needed, nodes = set(names), []
        for node in reversed(self.nodes):
            if needed & set(node.output):
                nodes.insert(0, node)
                needed.update(node.input)
        graph = helper.make_graph(
            nodes, "net", [value for value in self.inputs if value.name in needed],
            [helper.make_empty_tensor_value_info(name) for name in names],
            [tensor for tensor in self.constants if tensor.name in needed])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)


def add_convolution(net):
    rank, channels = net.one_of(1, 2, 2, 2, 3), net.one_of(1, 2, 3, 4, 6, 8, 12, 16, 17)
    groups = net.one_of(1, 1, 1, 2, 3, channels)
    groups = groups if channels % groups == 0 else 1
    outs = groups * net.one_of(1, 2, 3, 5, 8, 16)
    kernel = [net.one_of(1, 1, 2, 3, 3, 5) for _ in range(rank)]
    dilations = [net.one_of(1, 1, 1, 2) for _ in range(rank)]
    own = {"kernel_shape": kernel, "group": groups, "strides": [net.one_of(1, 1, 2, 3) for _ in range(rank)]}
    if net.happens(0.2):
        own["auto_pad"], dilations = net.one_of("SAME_UPPER", "SAME_LOWER", "VALID"), [1] * rank
    else:
        own["pads"] = net.sizes(2 * rank, 0, 2)
    sides = [(taps - 1) * step + net.whole(1, 9) for taps, step in zip(kernel, dilations)]
    inputs = [net.floats([net.one_of(1, 1, 2), channels, *sides]), net.weights(outs, channels // groups, *kernel)]
    inputs += [net.weights(outs)] if net.happens(0.7) else []
    ends = ["Relu", "Sigmoid", "HardSwish", "LeakyRelu", "Tanh"]
    if net.happens(0.4):
        net.result(net.one_of(*ends), [net.operator("Conv", inputs, dilations=dilations, **own)])
    else:
        net.result("Conv", inputs, dilations=dilations, **own)


def add_transposed_convolution(net):
    rank, groups = net.one_of(1, 2, 2, 3), net.one_of(1, 1, 1, 2)
    channels, outs = groups * net.one_of(1, 2, 3, 4, 8), net.one_of(1, 2, 3, 8)
    strides = [net.one_of(1, 2, 2, 3) for _ in range(rank)]
    kernel = [net.whole(1, 4) for _ in range(rank)]
    pads = [net.whole(0, min(1, taps - 1)) for taps in kernel * 2]
    rest = [net.whole(0, stride - 1) if net.happens(0.4) else 0 for stride in strides]
    inputs = [net.floats([net.one_of(1, 2), channels, *net.sizes(rank, 3)]), net.weights(channels, outs, *kernel)]
    inputs += [net.weights(outs * groups)] if net.happens(0.6) else []
    net.result("ConvTranspose", inputs, kernel_shape=kernel, strides=strides, group=groups, pads=pads,
               output_padding=rest, dilations=[net.one_of(1, 1, 1, 2) for _ in range(rank)])


def add_pool(net):
    if net.happens(0.2):
        net.result(net.one_of("GlobalAveragePool", "GlobalMaxPool"),
                   [net.floats(net.sizes(2, 1, 4) + net.sizes(net.whole(1, 3), 1, 9))])
        return
    kind, rank = net.one_of("MaxPool", "MaxPool", "AveragePool", "AveragePool", "LpPool"), net.one_of(1, 2, 2, 2, 3)
    kernel = net.sizes(rank, 1, 4)
    own = {"kernel_shape": kernel, "strides": [net.whole(1, max(1, taps)) for taps in kernel],
           "pads": [net.whole(0, taps // 2) for taps in kernel * 2]}
    if kind != "LpPool" and net.happens(0.3):
        own["ceil_mode"] = 1
    if kind == "AveragePool":
        own["count_include_pad"] = net.whole(0, 1)
    sides = [taps + net.whole(2, 8) for taps in kernel]
    net.result(kind, [net.floats([net.one_of(1, 2), net.whole(1, 5), *sides])],
               2 if kind == "MaxPool" and net.happens(0.5) else 1, **own)


UNARY = {
    **dict.fromkeys(
        ["Abs", "Ceil", "Floor", "Exp", "Neg", "Sign", "Sin", "Cos", "Tan", "Atan", "Sinh", "Cosh", "Asinh", "Erf",
         "Relu", "Sigmoid", "Softplus", "Softsign", "Tanh", "Selu", "HardSwish", "Mish", "Reciprocal", "Identity"], {}),
    "Elu": {"alpha": 0.7}, "Celu": {"alpha": 1.3}, "ThresholdedRelu": {"alpha": 0.4}, "LeakyRelu": {"alpha": 0.2},
    "HardSigmoid": {"alpha": 0.3, "beta": 0.4}, "Shrink": {"lambd": 1.0, "bias": 0.5}, "Gelu": {"approximate": "tanh"},
}


def add_unary(net):
    kind = net.one_of(*UNARY, "Sqrt", "Log", "Asin", "Acos", "Softmax", "LogSoftmax", "Hardmax")
    shape = net.sizes(net.whole(1, 4))
    if kind in ("Softmax", "LogSoftmax", "Hardmax"):
        net.result(kind, [net.floats(shape)], axis=net.whole(-len(shape), len(shape) - 1))
    elif kind in UNARY:
        net.result(kind, [net.floats(shape, -3, 3)], **UNARY[kind])
    else:
        low, high = (0.1, 9) if kind in ("Sqrt", "Log") else (-0.99, 0.99)
        net.result(kind, [net.floats(shape, low, high)])


def add_binary(net):
    kind = net.one_of("Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Mean", "Sum", "Where", "Mod", "Less", "Equal")
    sides = net.sizes(net.whole(1, 4))
    shapes = [[side if net.happens(0.75) else 1 for side in sides] for _ in range(2)]
    shapes[1] = shapes[1][net.whole(0, len(sides) - 1):] if net.happens(0.4) else shapes[1]
    if net.happens(0.5):
        shapes.reverse()
    if kind == "Equal" or (kind in ("Add", "Sub", "Mul", "Div", "Max", "Min", "Mod") and net.happens(0.3)):
        low = 1 if kind in ("Div", "Mod") else -9
        net.result(kind, [net.integers(shapes[0], -20, 20), net.integers(shapes[1], low, 9)])
        return
    low = 0.3 if kind in ("Div", "Pow", "Mod") else -2
    inputs = [net.floats(shapes[0], low if kind == "Pow" else -2), net.floats(shapes[1], low)]
    if kind == "Where":
        inputs.insert(0, net.operator("Greater", [inputs[0], net.number(0.0)]))
    net.result(kind, inputs, **({"fmod": 1} if kind == "Mod" else {}))


def add_reduction(net):
    kind = net.one_of("Mean", "Sum", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare", "ArgMax",
                      "ArgMin")
    shape = net.sizes(net.whole(1, 4))
    rank, keeps = len(shape), net.whole(0, 1)
    if kind.startswith("Arg"):
        net.result(kind, [net.floats(shape)], axis=net.whole(-rank, rank - 1), keepdims=keeps,
                   select_last_index=net.whole(0, 1))
        return
    axes = [axis - rank * net.whole(0, 1) for axis in sorted(net.random.sample(range(rank), net.whole(1, rank)))]
    low = 0.3 if kind == "LogSum" else -2
    net.result("Reduce" + kind, [net.floats(shape, low), net.constant(axes)], keepdims=keeps)


def add_product(net):
    rows, columns, inner = net.sizes(3, 1, 33)
    if net.happens(0.35):
        turned = net.sizes(2, 0, 1)
        left = [inner, rows] if turned[0] else [rows, inner]
        right = [columns, inner] if turned[1] else [inner, columns]
        inputs = [net.floats(left), net.weights(*right) if net.happens(0.6) else net.floats(right)]
        if net.happens(0.7):
            inputs.append(net.weights(*net.one_of([columns], [rows, columns], [1], [rows, 1])))
        net.result("Gemm", inputs, transA=turned[0], transB=turned[1], alpha=net.one_of(1.0, 0.5),
                   beta=net.one_of(1.0, 2.0))
    elif net.happens(0.25):
        equation = net.one_of("bij,bjk->bik", "bhqd,bhkd->bhqk", "i,j->ij", "ij,ij->i", "bchw,co->bohw", "ijk,kl->ijl")
        side = collections.defaultdict(lambda: net.whole(1, 6))
        net.result("Einsum", [net.floats([side[letter] for letter in part])
                              for part in equation.split("->")[0].split(",")], equation=equation)
    else:
        first, second = net.one_of(([], []), ([2], [2]), ([3], []), ([], [2]), ([2, 3], [3]), ([2, 1], [3]))
        right = [*second, inner, columns]
        net.result("MatMul", [net.floats([*first, rows, inner]),
                              net.weights(*right) if net.happens(0.5) else net.floats(right)])


def add_norm(net):
    kind = net.one_of("BatchNormalization", "InstanceNormalization", "LayerNormalization", "LpNormalization", "LRN",
                      "GroupNormalization")
    if kind == "LayerNormalization":
        shape = net.sizes(net.whole(2, 4), 2, 8)
        axis = net.whole(-len(shape), -1)
        net.result(kind, [net.floats(shape), net.weights(*shape[axis:]), net.weights(*shape[axis:])], axis=axis)
        return
    channels = net.one_of(1, 2, 4, 6)
    shape = [net.whole(1, 2), channels, *net.sizes(2 if kind == "LRN" else net.one_of(1, 2, 2, 3), 2)]
    scale, mean = net.weights(channels), net.weights(channels)
    if kind == "BatchNormalization":
        variance = net.constant(net.numbers.uniform(0.5, 2, channels), np.float32)
        net.result(kind, [net.floats(shape), scale, mean, mean, variance])
    elif kind == "LpNormalization":
        net.result(kind, [net.floats(shape)], axis=net.whole(-len(shape), len(shape) - 1), p=net.whole(1, 2))
    elif kind == "LRN":
        net.result(kind, [net.floats(shape)], size=net.one_of(1, 3, 5), alpha=0.1, beta=0.75, bias=1.5)
    else:
        groups = [each for each in (1, 2, 3) if channels % each == 0]
        own = {"num_groups": net.one_of(*groups)} if kind == "GroupNormalization" else {}
        net.result(kind, [net.floats(shape), scale, mean], epsilon=1e-3, **own)


def add_recurrent(net):
    kind, direction = net.one_of("LSTM", "GRU", "RNN"), net.one_of("forward", "reverse", "bidirectional")
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind]
    count = 2 if direction == "bidirectional" else 1
    steps, batch, inputs, hidden = *net.sizes(3, 1, 5), net.one_of(3, 4, 16, 16)
    operands = [net.floats([steps, batch, inputs]), net.weights(count, gates * hidden, inputs, scale=0.4),
                net.weights(count, gates * hidden, hidden, scale=0.4),
                net.weights(count, 2 * gates * hidden, scale=0.4)]
    if net.happens(0.6):
        operands += ["", net.floats([count, batch, hidden])]
        operands += [net.floats([count, batch, hidden])] if kind == "LSTM" else []
    own = {"linear_before_reset": net.whole(0, 1)} if kind == "GRU" else {}
    net.result(kind, operands, 3 if kind == "LSTM" else 2, hidden_size=hidden, direction=direction, **own)


def add_slice(net, shape):
    axes = net.random.sample(range(len(shape)), net.whole(1, len(shape)))
    bounds = []
    for axis in axes:
        side, step = shape[axis], net.one_of(1, 1, 2, 3, -1, -2)
        if step > 0:
            bounds.append((net.whole(-side, side - 1), net.one_of(net.whole(1, side), 2**62, side + 3), step))
        else:
            bounds.append((net.whole(0, side + 1), net.one_of(-2**62, net.whole(-side - 1, -1)), step))
    begins, ends, steps = zip(*bounds)
    net.result("Slice", [net.floats(shape), *map(net.constant, (begins, ends, axes, steps))])


def add_gather(net, shape):
    axis = net.whole(0, len(shape) - 1)
    side = shape[axis]
    if net.happens(0.5):
        net.result("Gather", [net.floats(shape), net.integers(net.sizes(net.whole(0, 2)), -side, side)], axis=axis)
    else:
        sizes = [net.whole(1, each) for each in shape]
        sizes[axis] = net.whole(1, 6)
        net.result("GatherElements", [net.floats(shape), net.integers(sizes, -side, side)], axis=axis)


def add_scatter(net, shape):
    depth = net.whole(1, len(shape))
    places = net.random.sample(list(np.ndindex(*shape[:depth])), net.whole(1, math.prod(shape[:depth])))
    net.result("ScatterND", [net.floats(shape), net.constant(places), net.floats([len(places), *shape[depth:]])],
               reduction=net.one_of("none", "none", "add"))


def add_padding(net, shape):
    mode = net.one_of("constant", "reflect", "edge")
    pads = net.sizes(2 * len(shape), -1 if mode == "constant" else 0, 2)
    inputs = [net.floats([side + 2 for side in shape]), net.constant(pads)]
    net.result("Pad", inputs + ([net.number(1.5)] if mode == "constant" else []), mode=mode)


def add_pixels(net, _):
    block, sides = net.one_of(2, 3), net.sizes(2, 1, 4)
    if net.happens(0.5):
        channels = block**2 * net.whole(1, 3)
        net.result("DepthToSpace", [net.floats([net.whole(1, 2), channels, *sides])], blocksize=block,
                   mode=net.one_of("DCR", "CRD"))
    else:
        net.result("SpaceToDepth", [net.floats([net.whole(1, 2), net.whole(1, 3), *(block * side for side in sides)])],
                   blocksize=block)


def add_resize(net, _):
    shape = [net.whole(1, 2), net.whole(1, 4), *net.sizes(2, 2)]
    own = net.one_of({"mode": "linear"}, {"mode": "cubic"}, {"mode": "nearest", "nearest_mode": "floor"},
                     {"mode": "nearest", "nearest_mode": "round_prefer_ceil"})
    way = net.one_of("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")
    if net.happens(0.5):
        inputs = ["", "", net.constant(shape[:2] + net.sizes(2, 1, 12))]
    else:
        inputs = ["", net.constant([1, 1, net.one_of(0.5, 1.5, 2, 3), net.one_of(0.5, 1.5, 2, 3)], np.float32)]
    net.result("Resize", [net.floats(shape), *inputs], coordinate_transformation_mode=way, **own)


def add_turn(net, shape):
    order = list(range(len(shape)))
    net.random.shuffle(order)
    net.result("Transpose", [net.floats(shape)], perm=order)


def add_parts(net, shape):
    axis = net.whole(0, len(shape) - 1)
    parts = net.sizes(net.whole(2, 4), 1, 4)
    each = [[part if i == axis else side for i, side in enumerate(shape)] for part in parts]
    if net.happens(0.5):
        net.result("Concat", [net.floats(part) for part in each], axis=axis - len(shape) * net.whole(0, 1))
    else:
        whole = [sum(parts) if i == axis else side for i, side in enumerate(shape)]
        net.result("Split", [net.floats(whole), net.constant(parts)], len(parts), axis=axis)


def add_order(net, shape):
    axis = net.whole(0, len(shape) - 1)
    kind = net.one_of("TopK", "CumSum", "Tile", "Expand")
    if kind == "TopK":
        net.result(kind, [net.floats(shape), net.constant([net.whole(1, shape[axis])])], 2, axis=axis,
                   largest=net.whole(0, 1))
    elif kind == "CumSum":
        net.result(kind, [net.floats(shape), net.constant(np.asarray(axis))], exclusive=net.whole(0, 1),
                   reverse=net.whole(0, 1))
    elif kind == "Tile":
        net.result(kind, [net.floats(shape), net.constant(net.sizes(len(shape), 1, 3))])
    else:
        net.result(kind, [net.floats([side if net.happens(0.5) else 1 for side in shape]), net.constant(shape)])


MOVES = [add_slice, add_slice, add_gather, add_scatter, add_padding, add_pixels, add_resize, add_turn, add_parts,
         add_order]


def add_move(net):
    net.one_of(*MOVES)(net, net.sizes(net.whole(1, 4)))


MAKERS = {
    add_convolution: 6, add_transposed_convolution: 3, add_pool: 5, add_unary: 5, add_binary: 5, add_reduction: 4,
    add_product: 4, add_norm: 3, add_recurrent: 2, add_move: 10,
}


def make_network(seed):
    net = Network(seed)
    for maker in net.random.choices(list(MAKERS), list(MAKERS.values()), k=OPERATORS):
        maker(net)
    return net


class Comparison:
    """Counts what agrees, and prints what does not."""

    def __init__(self, recipe, folder):
        self.options = {"recipe": recipe} if recipe else {}
        self.path, self.cache = folder / "net.onnx", folder / "cache"
        self.counts = collections.Counter()

    def wanted(self, model, feeds):
        """The results of ONNX Runtime, whose types the model then states; None: it refuses the model."""
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        try:
            found = onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, feeds)
        except Exception:  # It has no one class for its errors.
            return None
        for value, array in zip(model.graph.output, found):
            element = helper.np_dtype_to_tensor_dtype(array.dtype)
            value.CopyFrom(helper.make_tensor_value_info(value.name, element, array.shape))
        return found

    def run(self, net, seed, kept):
        model = net.model(kept)
        feeds = {value.name: net.feeds[value.name] for value in model.graph.input}
        wanted = self.wanted(model, feeds)
        error = "ONNX Runtime"
        if wanted is not None:
            onnx.save(model, self.path)
            try:
                found = takt.compile(self.path, cache=self.cache, **self.options).load().net(*feeds.values())
            except takt.Error as failure:
                error = str(failure).replace("\n", " ")
            else:
                return self.compare(net, seed, kept, found if isinstance(found, (list, tuple)) else [found], wanted)
        if len(kept) == 1:
            if wanted is not None:
                self.say("do not compile", net, seed, kept[0], error[:200])
            return None
        half = len(kept) // 2
        self.run(net, seed, kept[:half])
        self.run(net, seed, kept[half:])

    def compare(self, net, seed, kept, found, wanted):
        for number, a, b in zip(kept, map(np.asarray, found), wanted):
            if a.shape != b.shape or a.dtype != b.dtype:
                self.say("differ", net, seed, number, f"{a.dtype}{list(a.shape)}, not {b.dtype}{list(b.shape)}")
                continue
            difference = np.abs(a.astype(np.float64) - b.astype(np.float64))
            bound = TOLERANCE * max(1.0, float(np.abs(b).max(initial=0))) if b.dtype == np.float32 else 0
            if not (difference <= bound).all():
                self.say("differ", net, seed, number, f"by {difference.max():.3g}")
            else:
                self.counts["agree"] += 1

    def say(self, what, net, seed, number, text):
        self.counts[what] += 1
        print(f"{what}: --seed={seed} --only={number}: {net.results[number][1]}: {text}", flush=True)


def flags(text):
    """Those of each script that compares random networks."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--recipe")
    return parser


def main():
    parser = flags(__doc__)
    parser.add_argument("--only", type=int)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(given.recipe, pathlib.Path(folder))
        for seed in range(given.seed, given.seed + (given.count if given.only is None else 1)):
            net = make_network(seed)
            comparison.run(net, seed, range(len(net.results)) if given.only is None else [given.only])
    counts = comparison.counts
    print(f"{counts['agree']} results agree, {counts['differ']} differ, {counts['do not compile']} do not compile")
    return counts["differ"] > 0


if __name__ == "__main__":
    sys.exit(main())
