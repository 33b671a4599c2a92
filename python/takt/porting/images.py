"""Pools, sums and activations of volumes, computed on their images: a part of `porter`.

A volume [n, c, d, h, w] is a row of d images for each n. The operators between
convolutions take the images of all volumes, [n * d, c, h, w], so that nothing is
transposed between them.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

_POINTWISE = {
    "Add", "Clip", "Div", "Elu", "Erf", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Mish", "Mul", "PRelu",
    "Relu", "Sigmoid", "Softplus", "Sub", "Tanh",
}
_QUANTIZED = {"QuantizeLinear", "DequantizeLinear"}
_ROW_MAX = 128  # Numbers of a row of sums, which fit into a core's registers.
_VECTOR = 16


class ImagePorter:
    """The part of the porter that knows volumes as images."""

    def image_handlers(self) -> dict[tuple[str, str], Callable[[Any], bool]]:
        return {
            **{("", kind): self.on_pointwise for kind in _POINTWISE},
            **{("", kind): self.on_scaled_images for kind in ("BatchNormalization", "QuantizeLinear")},
            ("", "Concat"): self.on_joined_images,
        }

    def volume_shape(self, name: str) -> list[int] | None:
        """n, c, d, h and w; None: they are not known, or it is no volume."""
        shape = self.shapes.get(name, [])
        return shape if len(shape) == 5 and None not in shape else None

    def images_of(self, name: str) -> str:
        """The images of a volume of known shape."""
        if name not in self.images:
            n, c, d, h, w = self.shapes[name]
            maker = self.makers.get(name)
            if maker is not None and maker.op_type in _QUANTIZED and self.volume_shape(maker.input[0]):
                inputs = [self.images_of(maker.input[0]), *maker.input[1:]]
                self.images[name] = self.emit(maker.op_type, inputs, **self.attributes(maker))
                return self.images[name]
            turned = self.emit("Transpose", [name], perm=[0, 2, 1, 3, 4])
            self.images[name] = self.emit("Reshape", [turned, self.constant([n * d, c, h, w])])
        return self.images[name]

    def set_images(self, name: str, images: str, shape: list[int]) -> None:
        """Makes `name` the volume that has these images."""
        n, c, d, h, w = shape
        self.images[name] = images
        apart = self.emit("Reshape", [images, self.constant([n, d, c, h, w])])
        self.emit("Transpose", [apart], name, perm=[0, 2, 1, 3, 4])

    def step(self, images: str, shape: list[int], begin: int, stride: int, count: int) -> str:
        """Every `stride`-th image of each volume from `begin` on, `count` of each.

        shape    of the volumes.
        """
        n, c, d, h, w = shape
        if (begin, stride, count) == (0, 1, d):
            return images
        bounds = [[begin], [begin + (count - 1) * stride + 1], [min(n - 1, 1)], [stride]]
        found = self.emit("Slice", [self.apart(images, shape), *map(self.constant, bounds)])
        return self.together(found, [n, c, count, h, w])

    def with_ends(self, images: str, shape: list[int], pads: tuple[int, int],
                  value: str = "") -> tuple[str, list[int]]:
        """The images with `pads` more of `value`, or of zeros, before and behind those of each volume,
        and the volumes' shape then."""
        n, c, d, h, w = shape
        if pads == (0, 0):
            return images, shape
        rank, axis = (5, 1) if n > 1 else (4, 0)
        sides = [0] * 2 * rank
        sides[axis], sides[rank + axis] = pads
        inputs = [self.apart(images, shape), self.constant(sides)]
        padded = self.emit("Pad", inputs + ([value] if value else []))
        shape = [n, c, d + sum(pads), h, w]
        return self.together(padded, shape), shape

    def apart(self, images: str, shape: list[int]) -> str:
        """The images of each volume as [n, d, c, h, w]. Those of one volume stay."""
        n, c, d, h, w = shape
        return self.emit("Reshape", [images, self.constant([n, d, c, h, w])]) if n > 1 else images

    def together(self, apart: str, shape: list[int]) -> str:
        """The images of all volumes, from what `apart` gave."""
        n, c, d, h, w = shape
        return self.emit("Reshape", [apart, self.constant([n * d, c, h, w])]) if n > 1 else apart

    # Elements and channels.

    def on_pointwise(self, node: Any) -> bool:
        shape = self.volume_shape(node.output[0])
        if shape is None or not any(name in self.images for name in node.input):
            return False
        inputs = [self.beside(name, shape) for name in node.input]
        if None in inputs:
            return False
        self.set_images(node.output[0], self.emit(node.op_type, inputs, **self.attributes(node)), shape)
        return True

    def beside(self, name: str, shape: list[int]) -> str | None:
        """What images take for `name` where volumes of `shape` are computed."""
        own = self.shapes.get(name)
        if not name or own == shape and name in self.images:
            return self.images.get(name, "")
        if own is None or None in own or own == shape:
            return None
        is_one = all(size == 1 for size in own)
        whole = [1] * (5 - len(own)) + own
        if not is_one and (whole[0] > 1 or whole[2:] != [1, 1, 1] or whole[1] != shape[1]):
            return None
        return self.emit("Reshape", [name, self.constant([1] if is_one else [1, shape[1], 1, 1])])

    def on_scaled_images(self, node: Any) -> bool:
        """An operator whose other inputs are numbers for each channel, or for all."""
        shape = self.volume_shape(node.output[0])
        if shape is None or node.input[0] not in self.images or len(node.output) > 1:
            return False
        found = self.emit(node.op_type, [self.images[node.input[0]], *node.input[1:]], **self.attributes(node))
        self.set_images(node.output[0], found, shape)
        return True

    def on_joined_images(self, node: Any) -> bool:
        shape = self.volume_shape(node.output[0])
        if (shape is None or self.attributes(node)["axis"] % 5 != 1
                or any(name not in self.images for name in node.input)):
            return False
        found = self.emit("Concat", [self.images[name] for name in node.input], axis=1)
        self.set_images(node.output[0], found, shape)
        return True

    # Pools.

    def on_volume_pool(self, node: Any) -> bool:
        """A pool of each image, and then one along the images of each volume. Those of a volume alone stay where they
        are: the pool along them comes first, so that each image has fewer pixels to pool."""
        source, own = node.input[0], self.attributes(node)
        shape, result = map(self.volume_shape, (source, node.output[0]))
        is_mean = node.op_type == "AveragePool"
        if shape is None or result is None or own.get("ceil_mode", 0) or is_mean and not self.known(source):
            return False
        taps, stride, dilation, before, behind = (
            own.get(name, [default] * 6)[i] for name, default, i in (
                ("kernel_shape", 1, 0), ("strides", 1, 0), ("dilations", 1, 0), ("pads", 0, 0), ("pads", 0, 3)))
        flat = {name: own[name][1:] for name in ("kernel_shape", "strides", "dilations") if name in own}
        flat["pads"] = [own.get("pads", [0] * 6)[i] for i in (1, 2, 4, 5)]
        counts_padding = own.get("count_include_pad", 0)
        if is_mean:
            flat["count_include_pad"] = counts_padding
        maker = self.makers.get(source)
        is_alone = source not in self.images and (maker is None or maker.op_type not in _QUANTIZED)
        if is_alone:  # Each channel is a volume.
            n, c, d, h, w = shape
            volumes, images = [n * c, 1, d, h, w], self.emit("Reshape", [source, self.constant([n * c * d, 1, h, w])])
        else:
            volumes = [*result[:2], shape[2], *result[3:]]
            images = self.emit(node.op_type, [self.images_of(source)], **flat)
        rows, reach = self.with_ends(images, volumes, (before, behind),
                                     "" if is_mean else self.least(self.types[source]))
        found = ""
        for tap in range(taps):
            each = self.step(rows, reach, tap * dilation, stride, result[2])
            found = self.emit("Add" if is_mean else "Max", [found, each]) if found else each
        if is_mean:
            places = np.arange(result[2])[:, None] * stride - before + np.arange(taps) * dilation
            is_inside = (places >= 0) & (places < shape[2])
            counts = np.full(result[2], taps) if counts_padding else is_inside.sum(1)
            shares = np.tile(1 / np.maximum(counts, 1), volumes[0]).astype(np.float32)
            shares = shares[:1] if (counts == counts[0]).all() else shares.reshape(-1, 1, 1, 1)
            found = self.emit("Mul", [found, self.constant(shares)])
        if is_alone:
            rows = self.emit("Reshape", [found, self.constant([n, c * result[2], h, w])])
            self.emit("Reshape", [self.emit(node.op_type, [rows], **flat), self.constant(result)], node.output[0])
        else:
            self.set_images(node.output[0], found, result)
        return True

    def on_mean_of_volumes(self, node: Any) -> bool:
        """The mean of each volume's images, and then that of these. Of a volume alone, each channel is some rows
        of numbers: the mean of these rows comes first, which the compiler computes as vectors."""
        source = node.input[0]
        shape, result = self.volume_shape(source), self.shapes.get(node.output[0], [None])
        if shape is None or None in result:
            return False
        if node.op_type == "ReduceMean" and self.reduced_axes(node, 5) != [2, 3, 4]:
            return False
        n, c, d, h, w = shape
        if source in self.images:
            means = self.emit("GlobalAveragePool", [self.images[source]])
            means = self.mean(self.emit("Reshape", [means, self.constant([n, d, c])]), 1)
        else:
            width = _row_of(d * h * w)
            if not _VECTOR <= width < d * h * w:
                return False
            rows = self.emit("Reshape", [source, self.constant([n * c, d * h * w // width, width])])
            means = self.mean(self.mean(rows, 1), 2)
        self.emit("Reshape", [means, self.constant(result)], node.output[0])
        return True


def _row_of(count: int) -> int:
    """The length of rows into which so many numbers are cut: whole vectors if that can be."""
    lengths = [length for length in range(1, _ROW_MAX + 1) if count % length == 0]
    return max(lengths, key=lambda length: (length % _VECTOR == 0, length)) if count > _ROW_MAX else count
