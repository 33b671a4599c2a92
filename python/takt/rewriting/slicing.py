"""Slices, splits, means and multiplied channels, with the channels last: a part of
`rewriter`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..networks import open_sizes
from .channels_last import TO_FIRST
from .kernel_calls import make_kernel
from .packing import BLOCK, GROUPS_FEW

_MULTIPLIER_MAX = 4
_LINE_MIN = 12  # Taps of a window of one row or column.


class SlicingRewriter:
    """The part of the rewriter that knows slices, splits and means."""

    def on_slice(self, node: Any) -> bool:
        source, shape = node.input[0], self.sizes(node.input[0])
        out_shape = self.sizes(node.output[0])
        numbers = [self.constants.get(name) for name in node.input[1:] if name]
        if (source not in self.last or out_shape is None or len(shape) != 4
                or any(array is None for array in numbers)):
            return False
        if shape == out_shape and all((array > 0).all() for array in numbers[3:]):
            self.set_last(node.output[0], self.last[source])
            return True
        axes = numbers[2] if len(numbers) > 2 else np.arange(len(numbers[0]))
        turned = np.array([TO_FIRST[int(axis) % 4] for axis in axes], np.int64)
        steps = numbers[3] if len(numbers) > 3 else np.ones(len(axes), np.int64)
        inputs = [self.constant(array) for array in (numbers[0], numbers[1], turned, steps)]
        return self.copy_last(node, [self.last[source], *inputs])

    def on_expand(self, node: Any) -> bool:
        source, shape = node.input[0], self.shape(node.output[0])
        if source not in self.last or shape is None or len(shape) != 4:
            return False
        n, c, h, w = shape
        return self.copy_last(node, [self.last[source], self.constant(np.array([n, h, w, c], np.int64))])

    def on_split(self, node: Any) -> bool:
        source, attributes = node.input[0], self.attributes(node)
        shapes = [self.sizes(name) for name in node.output]
        if source not in self.last or any(shape is None or len(shape) != 4 for shape in shapes):
            return False
        axis = attributes.get("axis", 0) % 4
        if open_sizes.is_open(shape[axis] for shape in shapes):
            return False
        begin = 0
        for name, shape in zip(node.output, shapes):
            n, c, h, w = shape
            numbers = [begin, begin + shape[axis], TO_FIRST[axis]]
            begin += shape[axis]
            inputs = [self.constant(np.array([number], np.int64)) for number in numbers]
            twin = self.emit("Slice", [self.last[source], *inputs], self.fresh("last"), (n, h, w, c),
                             element=self.element_types[name])
            self.set_last(name, twin)
        return True

    def on_reducemean(self, node: Any) -> bool:
        """The mean of all pixels, with or without their dimensions, in one step or as
        `porter` writes it in two, columns first; or of rows or columns; or of channels."""
        shape, keeps = self.sizes(node.input[0]), self.attributes(node).get("keepdims", 1)
        axes, output, is_in_two = self.axes(node), node.output[0], False
        user = self.only_consumer(output)
        if axes == [2] and keeps and user is not None and user.op_type == "ReduceMean" and self.axes(user) == [3]:
            axes, is_in_two, keeps = [2, 3], True, self.attributes(user).get("keepdims", 1)
            output = user.output[0]
        if axes == [1] and keeps:
            return self.mean_of_channels(node)
        if axes not in ([2, 3], [2], [3]) or (axes != [2, 3] and not keeps):
            return False
        twin = self.mean_of_pixels(node.input[0], is_in_two, axes) or self.open_mean(node.input[0], axes)
        if twin is None or not keeps and open_sizes.is_open(shape[:2]):
            return False
        if is_in_two:
            self.done.add(id(user))
        if keeps:
            self.set_last(output, twin)
        else:
            sizes = self.constant(np.array(shape[:2], np.int64))
            self.emit("Reshape", [twin, sizes], output, shape[:2])
        return True

    def mean_of_channels(self, node: Any) -> bool:
        """The mean of the last dimension of the twin, which the compiler computes."""
        if node.input[0] not in self.last:
            return False
        if len(node.input) > 1:
            return self.copy_last(node, [self.last[node.input[0]], self.constant(np.array([3]))])
        return self.copy_last(node, [self.last[node.input[0]]], axes=[3])

    def on_reducesum(self, node: Any) -> bool:
        """The sum of pixels is their mean, times their number."""
        shape, axes = self.shape(node.input[0]), self.axes(node)
        if shape is None or axes not in ([2, 3], [2], [3]) or not self.attributes(node).get("keepdims", 1):
            return False
        twin = self.mean_of_pixels(node.input[0], False, axes)
        if twin is None:
            return False
        count = self.constant(np.float32(np.prod([shape[axis] for axis in axes])))
        n, c, h, w = (1 if axis in axes else size for axis, size in enumerate(shape))
        self.set_last(node.output[0], self.emit("Mul", [twin, count], self.fresh("sum"), (n, h, w, c)))
        return True

    def axes(self, node: Any) -> list[int] | None:
        """The axes of a reduction of a tensor of four dimensions, in order."""
        shape = self.sizes(node.input[0])
        return None if shape is None or len(shape) != 4 else self.reduced_axes(node, 4)

    def as_depthwise(self, node: Any, weights: np.ndarray, bias: np.ndarray,
                     shape: tuple[int, ...]) -> bool:
        """A convolution of groups of one channel, each with several results: one
        depthwise convolution for each, and then their results in turns. Where all results
        are one block, and the window is a line, one of all channels is quicker."""
        n, h, w, c, oh, ow, oc, *geometry, groups = shape
        times, last = oc // c, (n, oh, ow, oc)
        is_line = oc <= BLOCK and min(geometry[:2]) == 1 and max(geometry[:2]) >= _LINE_MIN
        if groups != c or c <= GROUPS_FEW or not 1 < times <= _MULTIPLIER_MAX or is_line:
            return False
        shuffle = self.shuffle_of(last, times, "f32")
        if shuffle is None:
            return False
        output, weights, bias = self.fold_scales(node.output[0], weights, bias, 2)
        output, end = self.fold_clamped(output)
        each, parts = (n, h, w, c, oh, ow, c, *geometry, c), []
        for i in range(times):
            function, packed = self.packed(weights[i::times], bias[i::times], c, True)
            parts.append(self.kernel(make_kernel(function, each, **end), [self.to_last(node.input[0]), *packed],
                                     self.fresh("part"), (n, oh, ow, c)))
        joined = self.emit("Concat", parts, self.fresh("parts"), last, axis=3)
        self.set_last(output, self.kernel(shuffle, [joined], self.fresh("conv"), last))
        return True
