"""Transposed convolutions that the compiler does not take, or is slow at, for `porter`.

Those of groups, or with weights that a call brings, are convolutions for each place in a
stride, or over images with zeros between the pixels. A few small groups are one with zeros
among its weights. Results that no tap reaches are put between the others. Col2Im is one of
groups, whose weights are ones.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, Callable, Sequence

import numpy as np

from ..networks.phases import Phases

_OUTS_FEW = 16  # Output channels that Takt's kernels compute at once. They compute as many for each smaller group.
_Taking = Callable[[Sequence[Sequence[int]]], str]  # Weights with these taps in each dimension.


class TransposedPorter:
    """The part of the porter that knows them."""

    def on_transposed(self, node: Any) -> bool:
        return (self.on_stated_size(node) or self.on_gaps(node) or self.on_volume_transpose(node)
                or self.on_dilated(node) or self.on_grouped(node) or self.on_uneven(node))

    def on_stated_size(self, node: Any) -> bool:
        """The padding in place of the size that follows from it."""
        own = self.attributes(node)
        way = own.pop("auto_pad", b"NOTSET").decode()
        sizes = own.pop("output_shape", None)
        source, weights = (self.shapes.get(name, [None]) for name in node.input[:2])
        if (way == "NOTSET" and sizes is None) or None in weights or (sizes is not None and None in source):
            return False
        rank = len(weights) - 2
        if way == "VALID" and sizes is None:
            own["pads"] = [0] * 2 * rank
        else:
            strides, dilations, more = (list(own.get(name, [default] * rank)) for name, default in (
                ("strides", 1), ("dilations", 1), ("output_padding", 0)))
            begins, ends = [], []
            for i in range(rank):
                taps = (weights[2 + i] - 1) * dilations[i] + 1
                total = more[i] + taps - strides[i]  # A result is as many times as large as the image.
                if sizes is not None:
                    total += strides[i] * source[2 + i] - sizes[i - rank]
                more[i] += max(0, -total)
                total = max(0, total)
                begins.append(total // 2 if way == "SAME_UPPER" else total - total // 2)
                ends.append(total - begins[i])
            own["pads"], own["output_padding"] = [*begins, *ends], more
        self.emit("ConvTranspose", list(node.input), node.output[0], **own)
        return True

    def on_gaps(self, node: Any) -> bool:
        """Zeros between the results of each pixel, where its taps are fewer than the stride."""
        own = self.attributes(node)
        shape, taps, result = (self.shapes.get(name, [None]) for name in (*node.input[:2], node.output[0]))
        rank = len(shape) - 2
        strides, pads, more = (own.get(name, default) for name, default in (
            ("strides", [1] * rank), ("pads", [0] * 2 * rank), ("output_padding", [0] * rank)))
        if None in (*shape, *taps, *result) or max(own.get("dilations", [1])) > 1:
            return False
        apart = [i for i in range(rank) if taps[2 + i] < strides[i]]
        if not apart:
            return False
        near = [min(pair) for pair in zip(strides, taps[2:])]
        own.update(strides=near, pads=[0 if i % rank in apart else pad for i, pad in enumerate(pads)],
                   output_padding=[0 if i in apart else size for i, size in enumerate(more)])
        found = self.emit("ConvTranspose", list(node.input[:2]), **own)
        sizes = [*result[:2], *(shape[2 + i] * near[i] if i in apart else result[2 + i] for i in range(rank))]
        found = self.spread(found, sizes, strides, near, apart)
        for i in apart:
            first, last, size = pads[i], pads[i] + result[2 + i], shape[2 + i] * strides[i]
            if last > size:
                found = self.emit("Pad", [found, self.constant(
                    [*[0] * (len(shape) + 2 + i), last - size, *[0] * (rank - 1 - i)])])
            if first or last < size:
                found = self.slice(found, 2 + i, first, last)
        if len(node.input) > 2 and node.input[2]:
            bias = self.emit("Reshape", [node.input[2], self.constant([1, -1, *[1] * rank])])
            found = self.emit("Add", [found, bias])
        self.emit("Identity", [found], node.output[0])
        return True

    def on_uneven(self, node: Any) -> bool:
        """What is cut off at one side alone is cut off behind."""
        own, result = self.attributes(node), self.shapes.get(node.output[0], [None])
        rank = len(result) - 2
        pads = own.get("pads", [0] * 2 * rank)
        begins, ends = pads[:rank], pads[rank:]
        if begins == ends or None in result:
            return False
        least = [min(pair) for pair in zip(begins, ends)]
        found = self.emit("ConvTranspose", list(node.input), **{**own, "pads": [*least, *least]})
        for i in range(rank):
            if begins[i] != ends[i]:
                first = begins[i] - least[i]
                found = self.slice(found, 2 + i, first, first + result[2 + i])
        self.emit("Identity", [found], node.output[0])
        return True

    def on_dilated(self, node: Any) -> bool:
        """Taps that lie apart have zeros between them, if the pixels of the image lie apart as well."""
        own, kernel = self.attributes(node), self.value_of(node.input[1])
        dilations = own.pop("dilations", [1])
        if max(dilations) == 1 or max(own.get("strides", [1])) == 1 or kernel is None:
            return False
        sizes = [(taps - 1) * dilation + 1 for taps, dilation in zip(kernel.shape[2:], dilations)]
        wide = np.zeros((*kernel.shape[:2], *sizes), kernel.dtype)
        wide[(..., *(slice(None, None, dilation) for dilation in dilations))] = kernel
        self.emit("ConvTranspose", [node.input[0], self.constant(wide), *node.input[2:]], node.output[0],
                  **{**own, "kernel_shape": sizes})
        return True

    def on_grouped(self, node: Any) -> bool:
        """One of groups, or of taps that lie apart, or whose weights a call brings."""
        own = self.attributes(node)
        group = own.get("group", 1)
        shape, taps = (self.shapes.get(name, [None]) for name in node.input[:2])
        kernel = self.value_of(node.input[1])
        if None in shape or (None in taps if kernel is None else group == max(own.get("dilations", [1])) == 1):
            return False
        if kernel is not None and self.as_one_group(node, own, kernel):
            return True
        taps = taps if kernel is None else kernel.shape
        rank = len(shape) - 2
        strides, dilations, more = (own.get(name, [default] * rank) for name, default in (
            ("strides", 1), ("dilations", 1), ("output_padding", 0)))
        pads = own.get("pads", [0] * 2 * rank)
        reaches = [dilations[i] * (taps[2 + i] - 1) for i in range(rank)]
        begins = [reaches[i] - pads[i] for i in range(rank)]
        ends = [reaches[i] - pads[rank + i] + more[i] - (strides[i] - 1) for i in range(rank)]
        take = self.weights_of_call(node.input[1], taps, group) if kernel is None else self.weights_of(kernel, group)
        if max(strides) > 1 == max(dilations) and self.by_phases(node, take, taps, strides, pads):
            return True
        turned = take([range(count)[::-1] for count in taps[2:]])
        source = self.spread(node.input[0], shape, strides, [1] * rank, range(rank))
        for i in range(rank):
            low, high = max(0, -begins[i]), max(0, -ends[i])
            if low or high:
                source = self.slice(source, 2 + i, low, shape[2 + i] * strides[i] - high)
        self.emit("Conv", [source, turned, *node.input[2:]], node.output[0], group=group,
                  kernel_shape=list(taps[2:]), dilations=list(dilations),
                  pads=[max(0, pad) for pad in (*begins, *ends)])
        return True

    def weights_of(self, kernel: np.ndarray, group: int) -> _Taking:
        """The constant weights of a transposed convolution, as those of a convolution with these taps in each
        dimension."""
        weights = kernel.reshape(group, -1, *kernel.shape[1:]).swapaxes(1, 2)
        weights = weights.reshape(group * kernel.shape[1], -1, *kernel.shape[2:])
        return lambda taps: self.constant(weights[np.ix_(*map(range, weights.shape[:2]), *taps)])

    def weights_of_call(self, weights: str, shape: list[int], group: int) -> _Taking:
        """The same of weights that a call brings."""
        apart = self.emit("Reshape", [weights, self.constant([group, shape[0] // group, *shape[1:]])])
        swapped = self.emit("Transpose", [apart], perm=[0, 2, 1, *range(3, 1 + len(shape))])
        joined = self.emit("Reshape", [swapped, self.constant([group * shape[1], shape[0] // group, *shape[2:]])])

        def take(taps: Sequence[Sequence[int]]) -> str:
            found = joined
            for i, places in enumerate(taps):
                if list(places) != list(range(shape[2 + i])):
                    found = self.gather(found, 2 + i, np.array(places))
            return found

        return take

    def as_one_group(self, node: Any, own: dict[str, Any], kernel: np.ndarray) -> bool:
        """All groups as one, if that takes Takt's kernels no more products."""
        group, ins, outs = own.get("group", 1), len(kernel), kernel.shape[1]
        if (not 1 < group < ins or group * outs > _OUTS_FEW or max(own.get("dilations", [1])) > 1
                or max(own.get("strides", [1])) == 1):
            return False
        whole = np.zeros((ins, group, *kernel.shape[1:]), kernel.dtype)
        whole[np.arange(ins), np.arange(ins) * group // ins] = kernel
        weights = self.constant(whole.reshape(ins, group * outs, *kernel.shape[2:]))
        self.emit("ConvTranspose", [node.input[0], weights, *node.input[2:]], node.output[0], **{**own, "group": 1})
        return True

    def by_phases(self, node: Any, take: _Taking, kernel: Sequence[int], strides: list[int], pads: list[int]) -> bool:
        """A convolution for the pixels of each place in a stride, which meet the same
        weights, and a move of the results into their places."""
        sizes, results = self.shapes[node.input[0]][2:], self.shapes.get(node.output[0], [None])
        if None in results:
            return False
        rank, channels, group = len(sizes), results[1], self.attributes(node).get("group", 1)
        axes = [Phases(kernel[2 + i], strides[i], pads[i], sizes[i], results[2 + i]) for i in range(rank)]
        alone = [axis.alone() for axis in axes]
        if not all(phase is not None and phase.is_padded for axis in alone for phase in axis):
            return False
        counts = [axis.count for axis in axes]
        parts = []
        for places in itertools.product(*alone):
            own = take([[place.tap_of(place.phases[0], i) for i in range(place.taps)] for place in places])
            parts.append(self.emit(
                "Conv", [node.input[0], own, *node.input[2:]], group=group,
                kernel_shape=[p.taps for p in places],
                pads=[*(p.pad_begin for p in places), *(p.pad_end for p in places)]))
        joined = self.emit("Concat", parts, axis=1)
        apart = self.emit("Reshape", [joined, self.constant([results[0], *strides, channels, *counts])])
        moved = self.emit("Transpose", [apart], perm=[
            0, 1 + rank, *(axis for i in range(rank) for axis in (2 + rank + i, 1 + i))])
        whole = [count * stride for count, stride in zip(counts, strides)]
        found = self.emit("Reshape", [moved, self.constant([results[0], channels, *whole])])
        for i in range(rank):
            if whole[i] != results[2 + i]:
                found = self.slice(found, 2 + i, 0, results[2 + i])
        self.emit("Identity", [found], node.output[0])
        return True

    def spread(self, name: str, shape: list[int], strides: Sequence[int], near: Sequence[int],
               axes: Sequence[int]) -> str:
        """In each of some directions, `near` pixels with zeros behind them up to the stride."""
        axes = [i for i in axes if strides[i] > near[i]]
        if not axes:
            return name
        apart, ends, sizes = [*shape[:2]], [0, 0], list(shape)
        for i, size in enumerate(shape[2:]):
            is_apart = i in axes
            apart += [size // near[i], near[i]] if is_apart else [size]
            ends += [0, strides[i] - near[i]] if is_apart else [0]
            sizes[2 + i] = size // near[i] * strides[i] if is_apart else size
        name = self.emit("Reshape", [name, self.constant(apart)])
        name = self.emit("Pad", [name, self.constant([*[0] * len(apart), *ends])])
        return self.emit("Reshape", [name, self.constant(sizes)])

    def value_of(self, name: str) -> np.ndarray | None:
        """A constant, also of bytes with a scale."""
        maker = self.makers.get(name)
        if name in self.constants or maker is None or maker.op_type != "DequantizeLinear":
            return self.constants.get(name)
        parts = [self.constants.get(each) for each in maker.input]
        if any(part is None for part in parts) or self.attributes(maker).get("block_size", 0):
            return None
        axis = self.attributes(maker).get("axis", 1)
        wide = [1] * parts[0].ndim
        wide[axis] = -1
        scale, zero = (part.astype(np.float32).reshape(wide if part.size > 1 else [1] * parts[0].ndim)
                       for part in (parts[1], parts[2] if len(parts) > 2 else np.zeros(1)))
        return ((parts[0].astype(np.float32) - zero) * scale).astype(parts[1].dtype)

    def on_col2im(self, node: Any) -> bool:
        sizes, block = (self.constants.get(name) for name in node.input[1:])
        shape, own = self.shapes.get(node.input[0], [None]), self.attributes(node)
        if sizes is None or block is None or None in shape or len(sizes) > 2:
            return False
        rank = len(sizes)
        strides, dilations = (own.get(name, [1] * rank) for name in ("strides", "dilations"))
        pads = own.get("pads", [0] * 2 * rank)
        places, more = [], []
        for i in range(rank):
            room = int(sizes[i]) + pads[i] + pads[rank + i] - dilations[i] * (int(block[i]) - 1) - 1
            places.append(room // strides[i] + 1)
            more.append(room % strides[i])
        taps = math.prod(int(size) for size in block)
        channels = shape[1] // taps
        ones = np.tile(np.eye(taps), (channels, 1)).reshape(channels * taps, 1, *block).astype(
            self.onnx.helper.tensor_dtype_to_np_dtype(self.types[node.input[0]]))
        apart = self.emit("Reshape", [node.input[0], self.constant([shape[0], shape[1], *places])])
        self.emit("ConvTranspose", [apart, self.constant(ones)], node.output[0], group=channels,
                  kernel_shape=list(block), strides=list(strides), dilations=list(dilations), pads=list(pads),
                  output_padding=more)
        return True
