"""Normalizations of images whose channels are last: a part of `rewriter`."""

from __future__ import annotations

import math
from typing import Any, Sequence

import numpy as np

from ..networks import open_sizes
from .kernel_calls import DOMAIN, make_kernel
from .packing import BLOCK

# Of more pixels the mean is that of parts' means: sums of too many numbers would be rounded too often.
_PIXELS_MAX = 256
_WEIGHT_MAX = 127


class NormRewriter:
    """The part of the rewriter that knows norms of layers, batches, instances and groups."""

    def find_norms(self) -> None:
        """Puts a LayerNormalization in place of the nodes that files of older opsets have for it, where a call finds
        how many rows there are. Where the sizes are known, the compiler makes one loop of the nodes."""
        makers = {name: node for node in self.nodes for name in node.output}
        replaced: dict[int, Any] = {}
        for node in self.nodes:
            found = self.match_norm(node, makers) if node.op_type == "Div" else None
            if found is None:
                continue
            source, epsilon, parts = found
            size, last = self.open[source][-1], node
            rows = {"Mul": np.ones(size, np.float32), "Add": np.zeros(size, np.float32)}
            for kind in rows:
                behind = self.row_behind(last, kind, size)
                if behind is not None:
                    replaced[id(last)] = None
                    last, rows[kind] = behind
            replaced.update((id(each), None) for each in parts)
            replaced[id(last)] = self.onnx.helper.make_node(
                "LayerNormalization", [source, *map(self.known, rows.values())], last.output, axis=-1, epsilon=epsilon)
        self.nodes = [kept for node in self.nodes if (kept := replaced.get(id(node), node)) is not None]
        self.count_consumers()

    def match_norm(self, division: Any, makers: dict[str, Any]) -> tuple[str, float, list[Any]] | None:
        """Input and epsilon of (x - mean) / sqrt(mean((x - mean)^2) + epsilon), and the nodes before the division."""
        apart, root = (makers.get(name) for name in division.input)
        total = self.maker_of(root, "Sqrt", makers)
        mean = self.maker_of(total, "Add", makers)
        square = self.maker_of(mean, "ReduceMean", makers)
        if apart is None or apart.op_type != "Sub" or square is None or square.op_type not in ("Pow", "Mul"):
            return None
        source, center = apart.input[0], makers.get(apart.input[1])
        epsilon, power = (self.constants.get(name) for name in (total.input[1], square.input[1]))
        is_square = power is not None and power.size == 1 and power == 2 if square.op_type == "Pow" else (
            square.input[1] == apart.output[0])
        parts = [center, apart, square, mean, total, root]
        if (not is_square or square.input[0] != apart.output[0] or epsilon is None or epsilon.size != 1
                or center is None or center.op_type != "ReduceMean" or center.input[0] != source
                or source not in self.open or not isinstance(self.open[source][-1], int) or not self.is_float(source)
                or not all(self.is_mean_of_rows(each, source) for each in (center, mean))
                or any(self.consumers.get(each.output[0], []) != users for each, users in (
                    (center, [apart]), (square, [mean]), (mean, [total]), (total, [root]), (root, [division])))
                or {id(user) for user in self.consumers[apart.output[0]]} != {id(square), id(division)}
                or any(each.output[0] in self.results for each in parts)):
            return None
        return source, float(epsilon.reshape(())), parts

    def maker_of(self, node: Any | None, kind: str, makers: dict[str, Any]) -> Any | None:
        """The node that makes the first input of a node, if the latter is of this kind."""
        return makers.get(node.input[0]) if node is not None and node.op_type == kind else None

    def is_mean_of_rows(self, node: Any, source: str) -> bool:
        own, rank = self.attributes(node), len(self.open[source])
        axes = own.get("axes") if len(node.input) < 2 else self.constants.get(node.input[1])
        return axes is not None and own.get("keepdims", 1) == 1 and [int(axis) % rank for axis in axes] == [rank - 1]

    def row_behind(self, node: Any, kind: str, size: int) -> tuple[Any, np.ndarray] | None:
        """The Mul or Add that alone reads a node's result, and the constant row that it joins with it."""
        user, name = self.only_consumer(node.output[0]), node.output[0]
        if user is None or user.op_type != kind:
            return None
        row = self.constants.get(user.input[1] if user.input[0] == name else user.input[0])
        if row is None or row.size != size or row.shape[-1:] != (size,) or row.dtype != np.float32:
            return None
        return user, row.reshape(-1)

    def on_batchnormalization(self, node: Any) -> bool:
        """A factor and a shift for each channel: a depthwise convolution of a pixel. Behind a convolution they go into
        its weights. Of bytes that become floats, the compiler computes them with what makes floats of bytes."""
        source, found = node.input[0], self.normalization(node)
        if found is None:
            return False
        if source in self.open and source in self.last and source not in self.quantization.tensors:
            weights, bias = (each.astype(np.float32) for each in found)
            return self.is_float(source) and self.open_conv(node, weights.reshape(-1, 1, 1, 1), bias)
        if not self.is_float_image(source):
            return False
        (n, channels, *size), (factor, shift) = self.sizes(source), found
        if self.norm_of_bytes(node, factor, shift):
            return True
        if channels == 1 or source in self.quantization.tensors:
            self.set_last(node.output[0], self.scaled(self.last[source], self.constant(factor.astype(np.float32)),
                                                      shift, self.twin_shape(source)))
            return True
        weights, bias = (each.astype(np.float32) for each in found)
        function, packed = self.packed(weights.reshape(-1, 1, 1, 1), bias, channels, True)
        output, residual, end = self.fold_end(node.output[0])
        kernel = make_kernel(function, (n, *size, channels, *size, channels, 1, 1, 1, 1, 1, 1, 0, 0, channels), **end)
        inputs = [self.last[source], *packed, *([] if residual is None else [self.to_last(residual)])]
        self.set_last(output, self.kernel(kernel, inputs, self.fresh("conv"), (n, *size, channels)))
        return True

    def norm_of_bytes(self, node: Any, factor: np.ndarray, shift: np.ndarray) -> bool:
        """A depthwise convolution of a pixel, of bytes that become bytes again: all weights are as large as they can
        be, so that the shift has the smallest steps."""
        source = node.input[0]
        n, channels, *size = self.sizes(source)
        if source not in self.quantization.tensors or source in self.open or channels == 1:
            return False
        weights = np.where(factor < 0, -_WEIGHT_MAX, _WEIGHT_MAX).astype(np.int8).reshape(-1, 1, 1, 1)
        factors = np.maximum(np.abs(factor) / _WEIGHT_MAX, np.finfo(np.float32).tiny).astype(np.float32)
        shape = (n, *size, channels, *size, channels, 1, 1, 1, 1, 1, 1, 0, 0, channels)
        return self.quantized_product(node, weights, factors, shift.astype(np.float32), channels, shape, None,
                                      node.output[0])

    def channels_of_bytes(self, node: Any) -> bool:
        """A sum or a product of an image of bytes with a constant of each channel, whose result is bytes."""
        for source, other in (node.input, reversed(node.input)):
            value = self.constants.get(other)
            if value is None or not self.is_float_image(source):
                continue
            channels = self.sizes(source)[1]
            if value.shape not in ((channels, 1, 1), (1, channels, 1, 1)) or value.dtype != np.float32:
                continue
            own = value.reshape(-1)
            factor, shift = (own, np.zeros_like(own)) if node.op_type == "Mul" else (np.ones_like(own), own)
            ordered = self.onnx.helper.make_node(node.op_type, [source, other], node.output)
            return self.end_in_bytes(node.output[0]) is not None and self.norm_of_bytes(ordered, factor, shift)
        return False

    def on_instancenormalization(self, node: Any) -> bool:
        source = node.input[0]
        if not self.is_float_image(source):
            return False
        return self.normalize(source, node, self.sizes(source)[1], node.output[0])

    def norm_of_groups(self, node: Any) -> bool:
        """Groups of channels are instances: Reshape, InstanceNormalization, Reshape. Around the norm of bytes there are
        a DequantizeLinear and a QuantizeLinear."""
        source, groups, is_bytes = node.input[0], self.sizes(node.output[0]), self.is_bytes(node.input[0])
        kinds = ("DequantizeLinear", "InstanceNormalization", "QuantizeLinear", "Reshape")
        behind = self.nodes_behind(node.output[0], kinds if is_bytes else kinds[1::2])
        if behind is None or not self.is_image(source) or groups is None or len(groups) != 3:
            return False
        shape, output, norm = self.sizes(source), behind[-1].output[0], behind[-3 if is_bytes else 0]
        if (self.sizes(output) != shape or groups[0] != shape[0] or not isinstance(groups[1], int)
                or shape[1] % groups[1]):
            return False
        if not is_bytes:
            is_done = self.is_float(source) and self.normalize(source, norm, groups[1], output)
        else:
            is_done = self.normalize_bytes(source, behind, groups[1], output)
        if is_done:
            self.done.update(map(id, behind))
        return is_done

    def nodes_behind(self, name: str, kinds: Sequence[str]) -> list[Any] | None:
        """The nodes of these kinds that follow each other, each as the only reader of the result before."""
        found = []
        for kind in kinds:
            user = self.only_consumer(name)
            if user is None or user.op_type != kind:
                return None
            found.append(user)
            name = user.output[0]
        return found

    def normalize_bytes(self, source: str, behind: list[Any], groups: int, output: str) -> bool:
        """normalize() of bytes, with the results in bytes."""
        to_floats, norm, to_bytes, _ = behind
        if any(self.quantization.scale_of(each, self.constants) is None for each in (to_floats, to_bytes)):
            return False
        sizes, types = self.sizes(source), self.onnx.TensorProto
        floats, normed, image = self.fresh("floats"), self.fresh("normed"), self.twin_shape(source)
        for name in (floats, normed):
            self.note(name, [source], sizes, types.FLOAT)
        self.set_last(floats, self.emit("DequantizeLinear", [self.last[source], *to_floats.input[1:]],
                                        self.fresh("floats"), image))
        if not self.normalize(floats, norm, groups, normed):
            return False
        self.set_last(output, self.emit("QuantizeLinear", [self.last[normed], *to_bytes.input[1:]], self.fresh("bytes"),
                                        image, element=types.INT8))
        return True

    def is_image(self, name: str) -> bool:
        return name in self.last and open_sizes.is_image(self.sizes(name)) and isinstance(self.sizes(name)[0], int)

    def is_float_image(self, name: str) -> bool:
        return self.is_image(name) and self.is_float(name)

    def twin_shape(self, name: str) -> tuple[int, ...]:
        n, c, h, w = self.sizes(name)
        return n, h, w, c

    def scaled(self, twin: str, factor: str, shift: np.ndarray, shape: tuple[int, ...]) -> str:
        twin = self.emit("Mul", [twin, factor], self.fresh("norm"), shape)
        if not shift.any():
            return twin
        return self.emit("Add", [twin, self.constant(shift.astype(np.float32))], self.fresh("norm"), shape)

    def normalize(self, source: str, norm: Any, groups: int, output: str) -> bool:
        """Makes `output` the image of which each group of channels has the mean 0 and the variance 1, times the scale
        of `norm` and plus its bias, which groups have, if these are known."""
        parts = [self.constants.get(name) for name in norm.input[1:]]
        if any(part is None for part in parts):
            return False
        n, c, h, w = self.sizes(source)
        image, channels = (n, h, w, c), (n, 1, 1, c)
        scale, bias = (np.repeat(part, c // groups).astype(np.float32) for part in parts)

        def add(op: str, *inputs: str, sizes: open_sizes.Sizes = channels) -> str:
            return self.emit(op, list(inputs), self.fresh("norm"), sizes)

        means = self.means_of_groups(self.last[source], image, groups)
        apart = add("Sub", self.last[source], means, sizes=image)
        spread = self.means_of_groups(add("Mul", apart, apart, sizes=image), image, groups)
        root = add("Sqrt", add("Add", spread, self.constant(np.float32(self.attributes(norm).get("epsilon", 1e-5)))))
        if not open_sizes.is_open(image) or n != 1 or c % BLOCK:
            factor = add("Div", self.constant(scale.reshape(1, 1, 1, c)), root)
            self.set_last(output, self.scaled(apart, factor, bias, image))
            return True
        output, scale, bias = self.fold_scales(output, scale.reshape(c, 1), bias, 2)
        factor = add("Div", self.constant(scale.reshape(1, 1, 1, c)), root)
        shift = add("Sub", self.constant(bias.reshape(1, 1, 1, c)), add("Mul", means, factor))
        self.set_last_scaled(output, self.last[source], image, factor, shift)
        return True

    def means_of_groups(self, pixels: str, image: open_sizes.Sizes, groups: int) -> str:
        """[n, 1, 1, c]: the mean of each channel's group."""
        n, h, w, c = image
        is_open = open_sizes.is_open(image)
        means, columns = pixels, (n, h, 1, c)
        if is_open:
            means = self.open_means(pixels, image, 2)
        if open_sizes.is_open(columns):
            means = self.open_means(means, columns, 1)
        else:
            for parts, count in _parts(h if is_open else h * w):
                shape = (n, parts, count, c, parts, 1, c, 1, count, 1, 1, 1, 1, 0, 0, c)
                means = self.kernel_of("takt_mean_pool2d_f32", shape, [means], (n, 1, parts, c))
        if groups == c:
            return means
        parts, sizes = (n, groups, c // groups), self.constant(np.array([n, 1, 1, c]))
        split = self.emit("Reshape", [means, self.constant(np.array(parts))], self.fresh("groups"), parts)
        mean = self.emit("ReduceSum", [split, self.constant(np.array([2]))], self.fresh("groups"), (n, groups, 1))
        mean = self.emit("Mul", [mean, self.constant(np.float32(groups / c))], self.fresh("groups"), (n, groups, 1))
        wide = self.emit("Expand", [mean, self.constant(np.array(parts))], self.fresh("groups"), parts)
        means = self.emit("Reshape", [wide, sizes], self.fresh("groups"), (n, 1, 1, c))
        if not is_open and c // groups % BLOCK == 0:
            return means
        # Else the compiler would take the channels of the image by groups.
        return self.emit("TaktBarrier", [means], self.fresh("apart"), (n, 1, 1, c), DOMAIN)


def _parts(pixels: int) -> list[tuple[int, int]]:
    """How many parts have their means taken in each step, and of how many pixels."""
    parts = max(each for each in range(1, math.isqrt(pixels) + 1) if pixels % each == 0)
    return [(parts, pixels // parts), (1, parts)] if pixels > _PIXELS_MAX and parts > 1 else [(1, pixels)]
