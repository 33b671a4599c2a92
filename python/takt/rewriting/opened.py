"""Images, and rows of products, whose sizes are known in calls alone: a part of `rewriter`."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from ..networks import open_sizes
from . import open_calls, tiled_calls
from .kernel_calls import (CHANNELS_MAX, DOMAIN, TAPS_MAX, WINOGRAD, Kernel, has_winograd_parts, make_kernel,
                           prefers_winograd, squares_of)
from .packing import BLOCK, join_groups, pack_winograd


@dataclasses.dataclass(frozen=True)
class OpenShape:
    """The shape of a convolution or a pool.

    numbers  those of kernels::ConvShape, with the names that open sizes have in kernel_calls.Kernel.
    nominal  what they may be.
    result   the sizes of the result, with the channels last.
    """

    numbers: tuple[int | str, ...]
    nominal: tuple[int, ...]
    pads_behind: tuple[int, int]
    result: open_sizes.Sizes

    def with_groups(self, groups: int) -> OpenShape:
        return dataclasses.replace(self, numbers=(*self.numbers[:-1], groups), nominal=(*self.nominal[:-1], groups))

    def opened(self, call: Any) -> Any:
        """The call that was made for the nominal shape, for each shape."""
        if isinstance(call, tiled_calls.TiledCall):
            return dataclasses.replace(call, numbers=(*self.numbers, *call.numbers[len(self.numbers):]),
                                       pads_behind=self.pads_behind, rows=0)
        if isinstance(call, Kernel):
            n, _, _, _, oh, ow, *_ = self.nominal
            pixels = squares_of(self.nominal) if call.function == WINOGRAD else n * oh * ow
            call = dataclasses.replace(call, pixel_tiles=0, tile_pixels=-(-pixels // call.pixel_tiles))
        return dataclasses.replace(call, shape=self.numbers, pads_behind=self.pads_behind)


class OpenRewriter:
    """The part of the rewriter that knows convolutions and pools of such images.

    Their kernels get sizes from the module, which also computes how many tiles a call has.
    """

    def unfold_products(self) -> None:
        """Drops the Reshapes around a product of an open tensor that make one dimension of its rows. Then what follows
        can be part of the call."""
        makers = {name: node for node in self.nodes for name in node.output}
        replaced: dict[int, Any] = {}
        for node in self.nodes:
            if node.op_type != "MatMul" or node.input[0] not in self.open or node.input[1] not in self.constants:
                continue
            back, source = self.only_consumer(node.output[0]), node.input[0]
            if back is None or back.op_type != "Reshape":
                continue
            wanted = self.open.get(back.output[0], ())
            while source in makers and makers[source].op_type == "Reshape":
                source = makers[source].input[0]
                if 2 < len(wanted) <= 4 and self.sizes(source) == (*wanted[:-1], self.sizes(node.input[0])[-1]):
                    replaced[id(node)] = self.onnx.helper.make_node(
                        "MatMul", [source, node.input[1]], back.output, name=node.name)
                    replaced[id(back)] = None
                    break
        self.nodes = [kept for node in self.nodes if (kept := replaced.get(id(node), node)) is not None]
        self.count_consumers()

    def open_conv(self, node: Any, weights: np.ndarray, bias: np.ndarray) -> bool:
        """A convolution, or a normalization as one of a pixel. What follows goes into the call as elsewhere."""
        groups = self.attributes(node).get("group", 1) if node.op_type == "Conv" else len(weights)
        shape = self.open_shape(node, weights.shape[2:], groups)
        if shape is None:
            return False
        taps = weights.shape[2] * weights.shape[3]
        if (node.op_type == "Conv" and taps <= TAPS_MAX and max(weights.shape[:2]) <= CHANNELS_MAX
                and self.quantized_conv(node, bias, groups, shape.nominal, shape)):
            return True
        weights, groups = join_groups(weights, groups)
        shape = shape.with_groups(groups)
        is_depthwise = groups == shape.nominal[3] == len(weights) and groups > 1
        if not is_depthwise and weights.shape[1] > CHANNELS_MAX:
            return False
        if not is_depthwise and taps > TAPS_MAX:
            return self.open_patches(node, weights, bias, shape)
        output, weights, bias = self.fold_scales(node.output[0], weights, bias, 2)
        output, residual, end = self.fold_end(output)
        if prefers_winograd(shape.nominal, self.products) and not has_winograd_parts(shape.nominal):
            function, packed = WINOGRAD, [*map(self.constant, pack_winograd(weights, bias))]
        else:
            function, packed = self.packed(weights, bias, groups, is_depthwise, shape.nominal[12])
        inputs = [self.to_last(node.input[0]), *packed, *([] if residual is None else [self.to_last(residual)])]
        self.set_last(output, self.open_call(make_kernel(function, shape.nominal, **end), shape, inputs))
        return True

    def open_patches(self, node: Any, weights: np.ndarray, bias: np.ndarray, shape: OpenShape) -> bool:
        """As as_patches(), where windows do not overlap and no pixels are padded: a product of the channels of all
        pixels of each window. What is left of an image behind the last one is cut off."""
        n, oh, ow, oc = shape.result
        _, c, kh, kw = weights.shape
        channels = c * kh * kw
        if shape.numbers[7:] != (kh, kw, kh, kw, 1, 1, 0, 0, 1) or any(shape.pads_behind) or channels > CHANNELS_MAX:
            return False
        source, integers = self.to_first(node.input[0]), {"element": self.onnx.TensorProto.INT64}
        number = [self.constant(np.array([each])) for each in (c, kh, kw)]
        sizes = [self.emit("Shape", [source], self.fresh("patches"), (1,), start=axis, end=axis + 1, **integers)
                 for axis in (0, 2, 3)]
        counts, ends = [], []
        for size, taps in zip(sizes[1:], number[1:]):
            counts.append(self.emit("Div", [size, taps], self.fresh("patches"), (1,), **integers))
            ends.append(self.emit("Mul", [counts[-1], taps], self.fresh("patches"), (1,), **integers))
        end = self.emit("Concat", ends, self.fresh("patches"), (2,), axis=0, **integers)
        whole = [open_sizes.product(pair) for pair in ((oh, kh), (ow, kw))]
        bounds = [self.constant(np.array([0, 0])), end, self.constant(np.array([2, 3]))]
        images = self.emit("Slice", [source, *bounds], self.fresh("patches"), (n, c, *whole))
        form = self.emit("Concat", [sizes[0], number[0], counts[0], number[1], counts[1], number[2]],
                         self.fresh("patches"), (6,), axis=0, **integers)
        split = self.emit("Reshape", [images, form], self.fresh("patches"), (n, c, oh, kh, ow, kw))
        turned = self.emit("Transpose", [split], self.fresh("patches"), (n, oh, ow, c, kh, kw), perm=[0, 2, 4, 1, 3, 5])
        patches = self.emit("Reshape", [turned, self.constant(np.array([0, 0, 0, channels]))], self.fresh("patches"),
                            (n, oh, ow, channels))
        function, packed = self.packed(weights.reshape(oc, channels, 1, 1), bias, 1, False)
        rest = (oc, 1, 1, 1, 1, 1, 1, 0, 0, 1)
        numbers = (*_named((n, oh, ow), "nhw"), channels, *_named((oh, ow), ("oh", "ow")), *rest)
        nominal = (*map(_many, (n, oh, ow)), channels, *map(_many, (oh, ow)), *rest)
        pixels = OpenShape(numbers, nominal, (0, 0), shape.result)
        self.set_last(node.output[0], self.open_call(make_kernel(function, nominal), pixels, [patches, *packed]))
        return True

    def open_pool(self, node: Any, function: str, count_padding: bool) -> bool:
        shape = self.open_pool_shape(node)
        if shape is None or not self.is_float(node.input[0]) or node.input[0] not in self.last:
            return False
        kernel = make_kernel(function, shape.nominal, count_padding=count_padding)
        self.set_last(node.output[0], self.open_call(kernel, shape, [self.last[node.input[0]]]))
        return True

    def open_pool_shape(self, node: Any) -> OpenShape | None:
        own, kernel = self.attributes(node), tuple(self.attributes(node).get("kernel_shape", ()))
        shape = None if own.get("storage_order", 0) else self.open_shape(node, kernel, None)
        if shape is None or not own.get("ceil_mode", 0):
            return shape
        if own.get("count_include_pad", 0):
            return None
        rows = tuple(map(open_sizes.rows_behind, *(shape.numbers[i:i + 2] for i in (7, 9, 11)), shape.pads_behind))
        return None if None in rows else dataclasses.replace(shape, pads_behind=rows)

    def open_mean(self, source: str, axes: list[int]) -> str | None:
        """The twin of an open image with the mean of its pixels along `axes`, 2 and 3 or one of them; None if it has no
        twin."""
        if source not in self.open or source not in self.last or not self.is_float(source):
            return None
        n, c, h, w = self.open[source]
        return self.open_means(self.last[source], (n, h, w, c), *(axis - 1 for axis in axes))

    def set_last_scaled(self, output: str, pixels: str, image: open_sizes.Sizes, factor: str, shift: str) -> None:
        """Makes the twin of `output` an image of these sizes, each channel times a factor and plus a shift that the
        call computes: a depthwise convolution of a pixel, into which goes what follows."""
        n, h, w, c = image
        numbers = (*_named((n, h, w), "nhw"), c, *_named((h, w), ("oh", "ow")), c, 1, 1, 1, 1, 1, 1, 0, 0, c)
        sizes = (*image, h, w, c, 1, 1, 1, 1, 1, 1, 0, 0, c)
        shape = OpenShape(numbers, tuple(map(open_sizes.nominal, sizes)), (0, 0), image)
        output, residual, end = self.fold_end(output)
        packed = [self.reshaped(name, form) for name, form in (
            (factor, (1, c // BLOCK, 1, 1, 1, BLOCK)), (shift, (1, c)))]
        inputs = [pixels, *packed, *([] if residual is None else [self.to_last(residual)])]
        self.set_last(output, self.open_call(make_kernel("takt_depthwise2d_f32", shape.nominal, **end), shape, inputs))

    def open_means(self, pixels: str, image: open_sizes.Sizes, *axes: int) -> str:
        """The means along `axes`, 1 and 2 or one of them, of an image with the channels last, of these sizes."""
        n, h, w, c = image
        result = tuple(1 if axis in axes else size for axis, size in enumerate(image))
        window = tuple(image[axis] if axis in axes else 1 for axis in (1, 2))
        numbers = (*_named((n, h, w), "nhw"), c, *_named(result[1:3], ("oh", "ow")), c, *_named(window, "hw"),
                   1, 1, 1, 1, 0, 0, c)
        sizes = (*image, *result[1:3], c, *window, 1, 1, 1, 1, 0, 0, c)
        shape = OpenShape(numbers, tuple(map(open_sizes.nominal, sizes)), (0, 0), result)
        return self.open_call(make_kernel("takt_mean_pool2d_f32", shape.nominal), shape, [pixels])

    def on_depthtospace(self, node: Any) -> bool:
        """Channels that become pixels. canonical.reduce() writes it for transposed convolutions, too."""
        source, sizes = node.input[0], self.open.get(node.output[0])
        if source not in self.last or sizes is None:
            return False
        own = self.attributes(node)
        stride, is_inner = own["blocksize"], own.get("mode", b"DCR") == b"CRD"
        n, c, h, w = sizes
        self.set_last(node.output[0], self.emit(
            "TaktPlace", [self.last[source]], self.fresh("place"), (n, h, w, c), DOMAIN, self.element_types[source],
            stride=stride, is_inner=int(is_inner)))
        return True

    def place_row(self, node: Any) -> bool:
        """As on_depthtospace(), for a row of pixels, in the form Reshape, Transpose, Reshape. With the channels last
        they are in their places already."""
        source, split = node.input[0], self.open.get(node.output[0], ())
        turn = self.only_consumer(node.output[0])
        join = None if turn is None or turn.op_type != "Transpose" else self.only_consumer(turn.output[0])
        sizes = None if join is None or join.op_type != "Reshape" else self.open.get(join.output[0])
        if (source not in self.last or sizes is None or len(split) != 4 or not open_sizes.is_image(sizes)
                or list(self.attributes(turn)["perm"]) != [0, 2, 3, 1]):
            return False
        n, stride, c, w = split
        if self.open.get(source) != (n, stride * c, 1, w) or sizes[:3] != (n, c, 1):
            return False
        self.done.update((id(turn), id(join)))
        twin = self.emit("Reshape", [self.last[source], self.constant(np.array([n, 1, -1, c]))], self.fresh("place"),
                         (n, 1, sizes[3], c), element=self.element_types[source])
        self.set_last(join.output[0], twin)
        return True

    def open_call(self, call: Any, shape: OpenShape, inputs: list[str], element: int = 1) -> str:
        return self.kernel(shape.opened(call), inputs, self.fresh("conv"), shape.result, element)

    def open_shape(self, node: Any, kernel: tuple[int, ...], groups: int | None) -> OpenShape | None:
        """The shape of a convolution or a pool; None if a kernel does not take it.

        groups   None where each channel is a group.
        """
        in_sizes, out_sizes = (self.open.get(name) for name in (node.input[0], node.output[0]))
        if not open_sizes.is_image(in_sizes) or not open_sizes.is_image(out_sizes) or len(kernel) != 2:
            return None
        geometry, pads_behind = self.open_window(node, kernel, in_sizes, out_sizes)
        (n, c, h, w), (_, oc, oh, ow) = in_sizes, out_sizes
        if geometry is None or min(pads_behind) < 0:
            return None
        if any(isinstance(out, open_sizes.Open) and isinstance(size, int) for size, out in ((h, oh), (w, ow))):
            return None
        groups = c if groups is None else groups
        numbers = (*_named((n, h, w), "nhw"), c, *_named((oh, ow), ("oh", "ow")), oc, *geometry, groups)
        rows, columns, out_rows, out_columns = map(_many, (h, w, oh, ow))
        likely = (each if isinstance(each, int) else taps // 2 for each, taps in zip(geometry, (*kernel,) * 4))
        nominal = (open_sizes.nominal(n), rows, columns, c, out_rows, out_columns, oc, *likely, groups)
        return OpenShape(numbers, nominal, pads_behind, (n, oh, ow, oc))

    def open_window(self, node: Any, kernel: tuple[int, ...], image: open_sizes.Sizes, result: open_sizes.Sizes
                    ) -> tuple[tuple[int | str, ...] | None, tuple[int, ...]]:
        """As window(), and the padding behind. `auto_pad` gives names to the padding that a call computes."""
        own = self.attributes(node)
        names = open_calls.MARGINS.get(own.get("auto_pad", b"NOTSET"))
        if names is None:
            return self.window(node, kernel, image, result), tuple(own.get("pads", [0] * 4)[2:])
        strides, dilations = (own.get(name, [1, 1]) for name in ("strides", "dilations"))
        begins, behind = list(names), [0, 0]
        for i, (size, count) in enumerate(zip(image[2:], result[2:])):
            if isinstance(size, int):
                total = max(0, (count - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1 - size)
                begins[i] = (total + open_calls.is_lower(names[i])) // 2
                behind[i] = total - begins[i]
        return (*kernel, *strides, *dilations, *begins), tuple(behind)


def product_shape(sizes: open_sizes.Sizes, outer: int) -> tuple[tuple[int, ...], OpenShape | None]:
    """A product with constant weights as a convolution over the rows of its left operand: the shape that it may have,
    and the open shape, or None where the number of rows is known. A row is a pixel, or as many as `row_taps` says.

    sizes  of the left operand.
    outer  the columns of the weights.
    """
    *rows, inner = map(open_sizes.nominal, sizes)
    taps = row_taps(inner)

    def shape(images: int | str, width: int | str, pixels: int | str) -> tuple[Any, ...]:
        return (images, 1, width, inner // taps, 1, pixels, outer, 1, taps, 1, taps, 1, 1, 0, 0, 1)

    def opened(count: int | str) -> tuple[Any, ...]:
        return shape(1, count, count) if taps == 1 else shape(count, taps, 1)

    if not open_sizes.is_open(sizes):
        return shape(1, math.prod(rows) * taps, math.prod(rows)), None
    nominal = opened(max(math.prod(rows), open_sizes.NOMINAL))  # Else a size of which little is known makes tiny tiles.
    return nominal, OpenShape(opened(open_calls.ROWS), nominal, (0, 0), (*sizes[:-1], outer))


def row_taps(inner: int) -> int:
    """How many pixels of the channels that a call has are a row of so many numbers; 0: there is no such number."""
    return next((taps for taps in range(1, TAPS_MAX + 1) if inner % taps == 0 and inner // taps <= CHANNELS_MAX), 0)


def product_window(weights: np.ndarray) -> np.ndarray:
    """The weights [out][in] of a product as those of the convolution that `product_shape` tells."""
    outs, ins = weights.shape
    return weights.reshape(outs, row_taps(ins), -1).transpose(0, 2, 1)[:, :, None, :]


def _many(size: open_sizes.Size) -> int:
    """What a size of an image may be. Tiles of one pixel would come of an open size of which nothing is known."""
    return open_sizes.nominal(size) if isinstance(size, int) or size.nominal > 1 else open_sizes.NOMINAL


def of_rows(call: Any, shape: OpenShape | None) -> Any:
    """A call of the nominal shape, for any number of rows if `shape` is not None."""
    return call if shape is None else shape.opened(call)


def _named(sizes: Any, names: Any) -> list[int | str]:
    """Sizes, with these names in place of open ones."""
    return [name if isinstance(size, open_sizes.Open) else size for size, name in zip(sizes, names)]
