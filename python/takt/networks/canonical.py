"""A network in fewer kinds of operations, for rewriter.py and porter.py.

`reduce()` takes tensors of one dimension for images that are one row high: their
convolutions, their pools, and what lies between these. A transposed convolution
becomes a convolution with a result for each pixel of a stride, and a softmax before
a convolution with one result a weighted mean. `sample()` turns GridSample into gathers of pixels.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, Sequence

import numpy as np

from . import elementwise, graphs, sampling
from .phases import Phases

_UNARY = elementwise.UNARY | {"Dropout", "QuantizeLinear", "DequantizeLinear"}
_POOLS = {"MaxPool", "AveragePool", "GlobalAveragePool", "BatchNormalization"}
# What may come before the pixels of a stride are put in their places.
_BEFORE_PLACES = {"Relu", "LeakyRelu", "Clip", "Sigmoid", "Tanh", "HardSwish", "QuantizeLinear"}
# Of a transposed convolution: products with zeros, by the others.
_WASTE_MAX = 4.0
_NOMINAL = 64  # Of an open size.
# Such products for each result that cost more than to join the results of phases.
_WASTED_LEAST = 128
BLOCK = 16  # Results that a product computes at once.


def reduce(model: Any) -> Any:
    """An equivalent onnx.ModelProto; `model` itself if nothing is to be done."""
    kinds = {node.op_type for node in model.graph.node}
    if not kinds & {"Conv", "ConvTranspose"}:
        return model
    return _Reducer(model).run()


def sample(model: Any) -> Any:
    """An equivalent onnx.ModelProto without a linear GridSample: for all recipes, since
    the compiler's own code for it reads outside of images."""
    if not any(node.op_type == "GridSample" for node in model.graph.node):
        return model
    return _Sampler(model).run()


class _Reducer(graphs.Graph):
    def __init__(self, model: Any) -> None:
        super().__init__(model)
        graph = self.graph
        self.opset = {each.domain: each.version for each in model.opset_import}.get("", 1)
        self.dequantized: dict[str, Any] = {}  # Constants of bytes, by their node.
        self.consumers = graphs.consumers_of(graph.node)
        for node in graph.node:
            if node.op_type == "DequantizeLinear" and all(name in self.constants for name in node.input):
                self.dequantized[node.output[0]] = node
        for node in graph.node:
            if node.op_type == "BatchNormalization":
                self.constants.update((name, self.floats(name)) for name in node.input[1:] if name in self.dequantized)
        self.images: dict[str, str] = {}  # Tensors of rank 3, and their images.
        self.made = {value.name for value in graph.input} | set(self.constants)
        self.done: set[int] = set()
        self.out: list[Any] = []
        self.is_changed = False

    def run(self) -> Any:
        for node in self.graph.node:
            if id(node) in self.done:
                continue
            if node.domain in ("", "ai.onnx") and self.replace(node):
                self.is_changed = True
                continue
            for name in node.input:
                self.restore(name)
            self.out.append(node)
            self.made.update(node.output)
        if not self.is_changed:
            return self.model
        for name in self.results:
            self.restore(name)
        return self.written(self.out)

    def replace(self, node: Any) -> bool:
        kind = node.op_type
        if kind == "ConvTranspose":
            return self.transposed(node)
        if kind in ("Transpose", "Softmax") and self.weighted_mean(node):
            return True
        if kind == "Reshape" and self.norm_of_bands(node):
            return True
        if not node.input or not self.is_row(node.input[0]):
            return False
        if kind == "Split":
            return node.input[0] in self.images and self.split(node)
        if len(node.output) != 1:
            return False
        if kind == "Conv":
            return self.convolution(node)
        if kind == "Reshape":
            return self.norm_of_groups(node)
        if kind in _POOLS:
            return self.pool(node)
        if not any(name in self.images for name in node.input):
            return False
        if kind == "InstanceNormalization":  # Not of groups of channels, which are no images.
            return self.pool(node)
        if kind in _UNARY:
            return self.unary(node)
        if kind in elementwise.JOINING:
            return self.joining(node)
        if kind == "ReduceMean":
            return self.mean(node)
        if kind == "Slice":
            return self.slice(node)
        return kind == "Concat" and self.concat(node)

    # What the new graph gets.

    def constant(self, array: Any) -> str:
        return self.initializer(self.names.fresh("constant"), array)

    def emit(self, op: str, inputs: list[str], output: str | None = None, **attributes: Any) -> str:
        output = output or self.names.fresh("canonical")
        self.out.append(self.onnx.helper.make_node(op, inputs, [output], name=output, **attributes))
        self.made.add(output)
        return output

    def reshape(self, name: str, shape: Any, output: str | None = None) -> str:
        return self.emit("Reshape", [name, self.constant(np.array(shape, np.int64))], output)

    def is_row(self, name: str) -> bool:
        """Whether it is a tensor [n, c, l] of which some sizes may be open."""
        return len(self.open_shapes.get(name, ())) == 3

    def image(self, name: str) -> str:
        """[n, c, l] as [n, c, 1, l]."""
        if name not in self.images:
            maker = self.makers.get(name)
            if maker is not None and maker.op_type == "DequantizeLinear" and self.is_scalar(maker.input[1:]):
                # Before it, so that the kernels of bytes see it.
                inputs = [self.image(maker.input[0]), *maker.input[1:]]
                self.images[name] = self.emit("DequantizeLinear", inputs)
            elif name in self.shapes:
                n, c, length = self.shapes[name]
                self.images[name] = self.reshape(self.restore(name), (n, c, 1, length))
            else:
                self.images[name] = self.emit("Unsqueeze", [self.restore(name), self.constant(np.array([2]))])
        return self.images[name]

    def is_scalar(self, names: Any) -> bool:
        """Constants of one number, or none."""
        return all(np.size(self.constants.get(name, (0, 0))) == 1 for name in names if name)

    def restore(self, name: str) -> str:
        """The tensor of rank 3, for a node that stays."""
        if name and name not in self.made and name in self.images:
            if name in self.shapes:
                self.reshape(self.images[name], self.shapes[name], name)
            else:
                self.emit("Squeeze", [self.images[name], self.constant(np.array([2]))], name)
        return name

    # Of one dimension.

    def weights(self, name: str, change: Any, axis: int = 0) -> str | None:
        """Constant weights that `change` has turned, quantized as they were."""
        if name in self.constants:
            return self.constant(change(self.constants[name]))
        node = self.dequantized.get(name)
        if node is None:
            return None
        inputs = [self.constant(change(self.constants[node.input[0]])), *node.input[1:]]
        return self.emit("DequantizeLinear", inputs, **{**self.attributes(node), "axis": axis})

    def floats(self, name: str) -> np.ndarray:
        """The floats of a dequantized tensor of one dimension."""
        value, scale, *zeros = (self.constants[each].astype(np.float32) for each in self.dequantized[name].input)
        return (value - (zeros[0] if zeros else 0)) * scale

    def in_two(self, node: Any) -> dict[str, Any]:
        """The attributes of a window in two dimensions."""
        attributes = self.attributes(node)
        for key in ("kernel_shape", "strides", "dilations"):
            if key in attributes:
                attributes[key] = [1, *attributes[key]]
        if "pads" in attributes:
            begin, end = attributes["pads"]
            attributes["pads"] = [0, begin, 0, end]
        if "output_padding" in attributes:
            attributes["output_padding"] = [0, *attributes["output_padding"]]
        return attributes

    def convolution(self, node: Any) -> bool:
        weights = self.weights(node.input[1], lambda w: w[:, :, None, :])
        if not self.is_row(node.output[0]) or weights is None and not self.is_row(node.input[1]):
            return False
        weights = weights or self.image(node.input[1])  # Those that a call computes.
        self.images[node.output[0]] = self.emit(
            "Conv", [self.image(node.input[0]), weights, *node.input[2:]], **self.in_two(node))
        return True

    def pool(self, node: Any) -> bool:
        if not self.is_row(node.output[0]):
            return False
        self.images[node.output[0]] = self.emit(
            node.op_type, [self.image(node.input[0]), *node.input[1:]], **self.in_two(node))
        return True

    def norm_of_groups(self, node: Any) -> bool:
        """Groups of channels are instances: Reshape, InstanceNormalization, Reshape. Bytes may be between them."""
        source, groups, between = node.input[0], self.shapes.get(node.output[0]), []
        back = self.only_consumer(node.output[0])
        while back is not None and self.is_of_groups(back):
            between.append(back)
            back = self.only_consumer(back.output[0])
        if (source not in self.images or groups is None or back is None or back.op_type != "Reshape"
                or self.shapes.get(back.output[0]) != self.shapes[source]
                or [each.op_type for each in between].count("InstanceNormalization") != 1):
            return False
        (n, c, length), name = self.shapes[source], self.reshape(self.images[source], groups)
        for each in between:
            name = self.emit(each.op_type, [name, *each.input[1:]], **self.attributes(each))
        self.images[back.output[0]] = self.reshape(name, (n, c, 1, length))
        self.done |= {id(each) for each in (*between, back)}
        return True

    def is_of_groups(self, node: Any) -> bool:
        """Whether it is a norm of groups, or a quantizer before or behind one."""
        if node.op_type == "InstanceNormalization":
            return all(name in self.made or name in self.constants for name in node.input[1:])
        return node.op_type in ("QuantizeLinear", "DequantizeLinear") and self.is_scalar(node.input[1:])

    def norm_of_bands(self, node: Any) -> bool:
        """Bands of rows are channels of a BatchNormalization, between two Reshapes, as networks for spectra have it:
        a factor and a shift for each channel and row."""
        source, (shape, split) = node.input[0], (self.shapes.get(each, ()) for each in (node.input[0], node.output[0]))
        if (len(shape) != 4 or len(split) != 4 or split == shape or (split[0], split[3]) != (shape[0], shape[3])
                or split[1] % shape[1]):
            return False
        nodes, name = [], node.output[0]
        while (user := self.only_consumer(name)) is not None and self.is_of_bands(user):
            nodes.append(user)
            name = user.output[0]
        if (user is None or user.op_type != "Reshape" or self.shapes.get(user.output[0]) != shape
                or all(each.op_type != "BatchNormalization" for each in nodes)):
            return False
        source = self.restore(source)
        for each in nodes:
            if each.op_type != "BatchNormalization":
                source = self.emit(each.op_type, [source, *each.input[1:]], **self.attributes(each))
                continue
            for op, value in zip(("Mul", "Add"), self.normalization(each)):
                rows = np.repeat(value, split[2]).reshape(1, *shape[1:3], 1)
                source = self.emit(op, [source, self.constant(rows.astype(np.float32))])
        self.out[-1].output[0] = self.out[-1].name = user.output[0]
        self.made.add(user.output[0])
        self.done |= {id(each) for each in (*nodes, user)}
        return True

    def is_of_bands(self, node: Any) -> bool:
        """Whether it computes on bands of rows without seeing other ones."""
        if node.op_type == "BatchNormalization":
            return self.normalization(node) is not None
        return node.op_type in _UNARY and len(node.output) == 1 and self.is_scalar(node.input[1:])

    def unary(self, node: Any) -> bool:
        if node.input[0] not in self.images or not self.is_scalar(node.input[1:]):
            return False
        self.images[node.output[0]] = self.emit(
            node.op_type, [self.images[node.input[0]], *node.input[1:]], **self.attributes(node))
        return True

    def joining(self, node: Any) -> bool:
        inputs = []
        for name in node.input:
            value = self.constants.get(name)
            if value is not None and value.ndim <= 1 and value.size == 1:
                inputs.append(name)
            elif value is not None and value.ndim in (2, 3):
                inputs.append(self.constant(np.expand_dims(value, -2)))
            elif name in self.dequantized and self.is_scalar(self.dequantized[name].input[1:]):
                of_bytes = self.constants[self.dequantized[name].input[0]]
                if of_bytes.ndim not in (2, 3) and of_bytes.size > 1:
                    return False
                inputs.append(name if of_bytes.size == 1 and of_bytes.ndim < 2 else
                              self.weights(name, lambda each: np.expand_dims(each, -2)))
            elif value is None and self.is_row(name):
                inputs.append(self.image(name))
            else:
                return False
        self.images[node.output[0]] = self.emit(node.op_type, inputs, **self.attributes(node))
        return True

    def split(self, node: Any) -> bool:
        axis = self.attributes(node).get("axis", 0) % 3
        if axis == 0 or not all(map(self.is_row, node.output)):
            return False
        parts = [self.names.fresh("canonical") for _ in node.output]
        own = {**self.attributes(node), "axis": 3 if axis == 2 else axis}
        self.out.append(self.onnx.helper.make_node("Split", [self.image(node.input[0]), *node.input[1:]], parts, **own))
        self.made.update(parts)
        self.images.update(zip(node.output, parts))
        return True

    def slice(self, node: Any) -> bool:
        axes = self.constants.get(node.input[3]) if len(node.input) > 3 else None
        if axes is None or not self.is_row(node.output[0]):
            return False
        turned = self.constant(np.where(axes % 3 == 2, 3, axes % 3))
        inputs = [self.image(node.input[0]), *node.input[1:3], turned, *node.input[4:]]
        self.images[node.output[0]] = self.emit("Slice", inputs)
        return True

    def mean(self, node: Any) -> bool:
        """A mean of channels, as norms of sequences have it, or one of the pixels of a row."""
        axes, keeps = self.reduced_axes(node, 3), self.attributes(node).get("keepdims", 1)
        if axes != [2] and (axes != [1] or not keeps):
            return False
        inputs, own = [self.image(node.input[0])], {"keepdims": keeps}
        axes = [1] if axes == [1] else [2, 3]
        if self.opset >= 18:
            inputs.append(self.constant(np.array(axes)))
        else:
            own["axes"] = axes
        mean = self.emit("ReduceMean", inputs, None if keeps else node.output[0], **own)
        if keeps:
            self.images[node.output[0]] = mean
        return True

    def concat(self, node: Any) -> bool:
        if not all(map(self.is_row, node.input)):
            return False
        axis = self.attributes(node)["axis"] % 3
        self.images[node.output[0]] = self.emit(
            "Concat", [self.image(name) for name in node.input], axis=3 if axis == 2 else axis)
        return True

    # Of a detector: where a side is, from how likely each distance is.

    def weighted_mean(self, node: Any) -> bool:
        """Softmax over channels, behind a Transpose or not, and a convolution 1x1
        with one result. The pixels stay innermost, so that vectors are of pixels."""
        softmax = self.only_consumer(node.output[0]) if node.op_type == "Transpose" else node
        if softmax is None or softmax.op_type != "Softmax":
            return False
        conv = self.only_consumer(softmax.output[0])
        shape = self.shapes.get(softmax.input[0], ())
        if (conv is None or conv.op_type != "Conv" or len(shape) != 4
                or self.attributes(softmax).get("axis", -1) not in (1, -3)):
            return False
        attributes = self.attributes(conv)
        weights = self.constants.get(conv.input[1])
        if (weights is None or weights.shape != (1, shape[1], 1, 1) or any(attributes.get("pads", ()))
                or set(attributes.get("strides", [1])) != {1}):
            return False
        axis = 1
        if softmax is not node:
            perm = list(self.attributes(node)["perm"])
            axis = perm[1]
            if axis == 3 or sorted([perm[0], *perm[2:]]) != [perm[0], *perm[2:]]:
                return False
        x = self.restore(node.input[0])
        inputs, reduced = [x], {"axes": [axis]}
        if self.opset >= 18:
            inputs, reduced = [x, self.constant(np.array([axis]))], {}
        powers = self.emit("Exp", [self.emit("Sub", [x, self.emit("ReduceMax", inputs, **reduced)])])
        in_place = weights.reshape([-1 if i == axis else 1 for i in range(4)])
        # In this order the compiler fuses what it vectorizes.
        sum_of_powers = self.emit("ReduceSum", [powers, self.constant(np.array([axis]))], keepdims=0)
        weighed = self.emit("Mul", [powers, self.constant(in_place)])
        total = self.emit("ReduceSum", [weighed, self.constant(np.array([axis]))], keepdims=0)
        mean = self.emit("Div", [total, sum_of_powers])
        if len(conv.input) > 2 and conv.input[2]:
            mean = self.emit("Add", [mean, conv.input[2]])
        self.reshape(mean, (shape[0], 1, *shape[2:]), conv.output[0])
        self.done |= {id(softmax), id(conv)}
        return True

    # Pixels of a stride.

    def place(self, name: str, shape: tuple[int, ...], strides: tuple[int, ...], output: str | None) -> str:
        """Puts results of strides, the outer part of the channels, into their places."""
        n, c, h, w = shape
        up, across = strides
        turned = self.emit("Transpose", [self.reshape(name, (n, up, across, c, h, w))], perm=[0, 3, 4, 1, 5, 2])
        return self.reshape(turned, (n, c, h * up, w * across), output)

    def transposed(self, node: Any) -> bool:
        in_shape, out_shape = (self.open_shapes.get(name) for name in (node.input[0], node.output[0]))
        if in_shape is None or out_shape is None or len(in_shape) not in (3, 4):
            return False
        is_image = len(in_shape) == 4
        attributes = self.attributes(node) if is_image else self.in_two(node)
        if not is_image:
            in_shape, out_shape = ((*s[:2], 1, s[2]) for s in (in_shape, out_shape))
        strides = attributes.get("strides", [1, 1])
        is_open = None in in_shape
        if is_open and (in_shape[1] is None or (len({*strides}) > 1 if is_image else in_shape[0] is None)):
            return False
        if (attributes.get("group", 1) != 1 or max(attributes.get("dilations", [1])) > 1
                or attributes.get("auto_pad", b"NOTSET") != b"NOTSET" or "output_shape" in attributes):
            return False
        found = self.constants.get(node.input[1])
        if found is None and node.input[1] in self.dequantized:
            found = self.constants[self.dequantized[node.input[1]].input[0]]
        if found is None or (node.input[1] in self.dequantized and found.dtype != np.int8):
            return False
        kernel = found.shape[2:] if is_image else (1, *found.shape[2:])
        pads = attributes.get("pads", [0, 0, 0, 0])
        if is_open:  # Any size has the same phases.
            more = attributes.get("output_padding", [0, 0])
            in_shape = [in_shape[0], in_shape[1], *(size or _NOMINAL for size in in_shape[2:])]
            out_shape = [*out_shape[:2], *(
                (in_shape[2 + i] - 1) * strides[i] + kernel[i] + more[i] - pads[i] - pads[2 + i] for i in range(2))]
        axes = [Phases(kernel[i], strides[i], pads[i], in_shape[2 + i], out_shape[2 + i]) for i in range(2)]
        waste = math.prod(axis.taps * axis.stride for axis in axes) / math.prod(kernel)
        if waste > _WASTE_MAX or not all(axis.is_padded for axis in axes):
            return False
        return self.place_strides(node, found, axes, in_shape, out_shape, is_open)

    def place_strides(self, node: Any, weights: np.ndarray, axes: list[Phases],
                      in_shape: Sequence[int], out_shape: Sequence[int], is_open: bool) -> bool:
        is_image = not self.is_row(node.input[0])
        source = self.restore(node.input[0]) if is_image else self.image(node.input[0])
        parts = self.parts_of(axes, in_shape[1], out_shape[1])
        biases = [self.bias_of(node, len(part[0].phases) * len(part[1].phases)) for part in parts]
        if None in biases:
            return False
        names = []
        for part, bias in zip(parts, biases):
            def turn(value: np.ndarray, part: tuple[Phases, ...] = part) -> np.ndarray:
                return _of_strides(value[:, :, None, :] if value.ndim == 3 else value, part)

            rows, columns = part
            turned = (self.constant(turn(weights)) if node.input[1] in self.constants else self.tiled(
                self.dequantized[node.input[1]], turn, len(rows.phases) * len(columns.phases)))
            names.append(self.emit(
                "Conv", [source, turned, *([bias] if bias else [])], kernel_shape=[rows.taps, columns.taps],
                strides=[1, 1], pads=[rows.pad_begin, columns.pad_begin, rows.pad_end, columns.pad_end]))
        names, output = self.activated(names, node.output[0])
        name = names[0] if len(names) == 1 else self.emit("Concat", names, axis=1)
        rows, columns = axes
        shape = (in_shape[0], out_shape[1], rows.count, columns.count)
        whole = (rows.count * rows.stride, columns.count * columns.stride)
        is_whole = whole == tuple(out_shape[2:])
        place = self.place_open if is_open else self.place
        placed = place(name, shape, (rows.stride, columns.stride), output if is_image and is_whole else None)
        if not is_whole:
            ends = [size if not is_open else size - full or np.iinfo(np.int64).max
                    for size, full in zip(out_shape[2:], whole)]
            bounds = [self.constant(np.array(v, np.int64)) for v in ((0, 0), ends, (2, 3))]
            placed = self.emit("Slice", [placed, *bounds], output if is_image else None)
        if not is_image:
            self.images[output] = placed
        return True

    def place_open(self, name: str, shape: tuple[int, ...], strides: tuple[int, ...], output: str | None) -> str:
        """As place(), of images of any height and width with one stride, or of rows of any length."""
        n, c, _, _ = shape
        up, across = strides
        if up == across:
            return self.emit("DepthToSpace", [name], output, blocksize=up)
        turned = self.emit("Transpose", [self.reshape(name, (n, across, c, -1))], perm=[0, 2, 3, 1])
        return self.reshape(turned, (n, c, 1, -1), output)

    def parts_of(self, axes: list[Phases], channels: int, outs: int) -> list[tuple[Phases, ...]]:
        """The phases that one convolution computes: all, or one each. Phases meet different
        taps; together they take all of these, many of them 0. But they share blocks of results."""
        alone = [axis.alone() for axis in axes]
        if not all(phase is not None and phase.is_padded for axis in alone for phase in axis):
            return [tuple(axes)]
        phases, kernel = (math.prod(each) for each in zip(*((axis.stride, axis.kernel) for axis in axes)))
        together = math.prod(axis.taps for axis in axes) * -(-outs * phases // BLOCK)
        wasted = (together - kernel * -(-outs // BLOCK)) * BLOCK * channels / (outs * phases)
        return [tuple(axes)] if wasted < _WASTED_LEAST else list(itertools.product(*alone))

    def bias_of(self, node: Any, copies: int) -> str | None:
        """The bias for so many phases; "": there is none; None: it is not known."""
        bias = node.input[2] if len(node.input) > 2 else ""
        if bias in self.constants:
            return self.constant(np.tile(self.constants[bias], copies))
        if bias in self.dequantized:
            return self.tiled(self.dequantized[bias], lambda value: np.tile(value, copies), copies)
        return None if bias else ""

    def activated(self, names: list[str], output: str) -> tuple[list[str], str]:
        """What follows `output` and may come before the places; and its result."""
        user = self.only_consumer(output)
        while user is not None and user.op_type in _BEFORE_PLACES and self.is_scalar(user.input[1:]):
            names = [self.emit(user.op_type, [name, *user.input[1:]], **self.attributes(user)) for name in names]
            self.done.add(id(user))
            output = user.output[0]
            if user.op_type == "QuantizeLinear":
                break
            user = self.only_consumer(output)
        return names, output

    def tiled(self, node: Any, change: Any, copies: int) -> str:
        """The DequantizeLinear of changed bytes, with a scale for each copy."""
        inputs = [self.constant(change(self.constants[node.input[0]]))]
        for name in node.input[1:]:
            value = self.constants[name]
            inputs.append(self.constant(np.tile(value, copies)) if value.size > 1 else name)
        return self.emit("DequantizeLinear", inputs, axis=0)


class _Sampler(sampling.SamplingReducer, _Reducer):
    def replace(self, node: Any) -> bool:
        return node.op_type == "GridSample" and self.grid_sample(node)


def _of_strides(weights: np.ndarray, axes: tuple[Phases, ...]) -> np.ndarray:
    """Weights [in][out][h][w] as [phases * out][in][taps][taps]."""
    rows, columns = axes
    ins, outs = weights.shape[:2]
    result = np.zeros((len(rows.phases), len(columns.phases), outs, ins, rows.taps, columns.taps), weights.dtype)
    for i, up in enumerate(rows.phases):
        for j, across in enumerate(columns.phases):
            for y in range(rows.taps):
                for x in range(columns.taps):
                    tap = rows.tap_of(up, y), columns.tap_of(across, x)
                    if None not in tap:
                        result[i, j, :, :, y, x] = weights[:, :, tap[0], tap[1]].T
    return result.reshape(-1, ins, rows.taps, columns.taps)
