"""Where maxima are, and MaxUnpool, which puts them where they were: a part of `porter`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import padding

# The name of a pool whose places are put right.
_POOL = "takt_places"


class PlacePorter:
    """The part of the porter that knows them."""

    def on_max_pool(self, node: Any) -> bool:
        """Places count over the whole tensor. The compiler counts them in each channel, and
        with the padding if that is uneven."""
        source, shape, own = node.input[0], self.shapes.get(node.input[0], [None]), self.attributes(node)
        if len(node.output) < 2 or not node.output[1]:
            return self.on_volume_pool(node) or self.on_ending_pool(node) or self.on_uneven_maxima(node)
        if None in shape or node.name == _POOL:
            return False
        order = "F" if own.pop("storage_order", 0) else "C"
        images, channels, *sides = shape
        pads = own.setdefault("pads", [0] * 2 * len(sides))
        begins, ends = pads[:len(sides)], pads[len(sides):]
        is_even = begins == ends and not own.get("ceil_mode", 0)
        if images * channels == 1 and order == "C" and is_even:
            return False
        padded, results = sides, self.shapes.get(node.output[0], [None])[2:]
        if is_even:
            begins = [0] * len(sides)
        else:
            if None in results or not results:
                return False
            padded = self.reaches(own, results)
            source = self.padded(self.fitted(source, own, sides, results), self.types[source], own)
        found = self.fresh("places")
        self.out.append(self.onnx.helper.make_node("MaxPool", [source], [node.output[0], found], name=_POOL, **own))
        first = np.arange(images * channels).reshape(images, channels, *[1] * len(sides)) * math.prod(sides)
        place = self.constant(first)
        for axis, begin in enumerate(begins):
            step = math.prod(padded[axis + 1:])
            along = self.emit("Mod", [self.emit("Div", [found, self.constant(np.asarray(step))]),
                                      self.constant(np.asarray(padded[axis]))])
            along = self.emit("Sub", [along, self.constant(np.asarray(begin))])
            step = math.prod(sides[axis + 1:] if order == "C" else sides[:axis])
            place = self.emit("Add", [place, self.emit("Mul", [along, self.constant(np.asarray(step))])])
        self.emit("Identity", [place], node.output[1])
        return True

    def on_uneven_maxima(self, node: Any) -> bool:
        """Maxima whose padding differs at the two ends. The compiler fills it with zeros if they are integers, and
        does not know the sizes behind it if these are open. Takt's kernels know those of open images."""
        (source,), own = node.input, self.attributes(node)
        shape, kind = self.shapes.get(source, []), self.types.get(source)
        if not kind or not padding.is_uneven(own.get("pads", [])):
            return False
        is_integer = self.onnx.helper.tensor_dtype_to_np_dtype(kind).kind in "iu"
        is_left = self.leaves_layers and len(shape) == 4 and shape[1] is not None
        if not is_integer and (None not in shape or is_left):
            return False
        self.emit("MaxPool", [self.padded(source, kind, own)], node.output[0], **own)
        return True

    def padded(self, source: str, kind: int, own: dict[str, Any]) -> str:
        """`source` with the padding of the pool as the least numbers."""
        pads, rank = own["pads"], len(own["pads"]) // 2
        own["pads"] = [0] * 2 * rank
        return self.emit("Pad", [source, self.constant([0, 0, *pads[:rank], 0, 0, *pads[rank:]]),
                                 self.least(kind)])

    def least(self, kind: int) -> str:
        """The least number of a type of tensors."""
        element = self.onnx.helper.tensor_dtype_to_np_dtype(kind)
        return self.constant(np.asarray(
            -np.inf if np.issubdtype(element, np.floating) else np.iinfo(element).min, element))

    def margins(self, own: dict[str, Any], sides: list[int]) -> tuple[list[int], list[int]]:
        """The padding before and behind each side. `own` loses its `auto_pad`."""
        rank, way = len(sides), own.pop("auto_pad", b"NOTSET").decode()
        if not way.startswith("SAME"):
            pads = list(own.get("pads", [0] * 2 * rank)) if way == "NOTSET" else [0] * 2 * rank
            return pads[:rank], pads[rank:]
        results = [-(-side // stride) for side, stride in zip(sides, own.get("strides", [1] * rank))]
        totals = [max(reach - side, 0) for reach, side in zip(self.reaches(own, results), sides)]
        halves = [each // 2 for each in totals]
        others = [each - half for each, half in zip(totals, halves)]
        return (halves, others) if way == "SAME_UPPER" else (others, halves)

    def on_last_place(self, node: Any) -> bool:
        """An ArgMax or an ArgMin may ask for the last of equal ones. The compiler takes the first along an axis of open
        size. Bytes are whole floats, which kernels search."""
        source, own = node.input[0], self.attributes(node)
        shape = self.shapes.get(source)
        if self.types.get(source) in (self.onnx.TensorProto.INT8, self.onnx.TensorProto.UINT8):
            whole = self.emit("DequantizeLinear", [source, self.constant(np.asarray(1, np.float32))])
            self.emit(node.op_type, [whole], node.output[0], **own)
            return True
        if not own.pop("select_last_index", 0) or not shape:
            return False
        axis = own.get("axis", 0) % len(shape)
        if shape[axis] is not None:
            return False
        bounds = [self.constant([each]) for each in (-1, np.iinfo(np.int64).min, axis, -1)]
        place = self.emit(node.op_type, [self.emit("Slice", [source, *bounds])], **own)
        count = self.emit("Gather", [self.emit("Shape", [source]), self.constant(np.asarray(axis))])
        last = self.emit("Sub", [count, self.constant(np.asarray(1))])
        self.emit("Sub", [last, place], node.output[0])
        return True

    def on_max_unpool(self, node: Any) -> bool:
        """Puts each number at its place in the tensor that was pooled; the others are 0. A
        stated size that is larger has more zeros behind it."""
        source, places, stated = [*node.input, ""][:3]
        shape = self.shapes.get(source, [None])
        if None in shape or (stated and stated not in self.constants):
            return False
        own = self.attributes(node)
        kernel, rank = own["kernel_shape"], len(own["kernel_shape"])
        strides, pads = own.get("strides", [1] * rank), own.get("pads", [0] * 2 * rank)
        margins = [kernel[i] - strides[i] - pads[i] - pads[rank + i] for i in range(rank)]
        sizes = shape[:2] + [size * stride + margin for size, stride, margin in zip(shape[2:], strides, margins)]
        element = self.onnx.helper.tensor_dtype_to_np_dtype(self.types[source])
        flat = self.constant([-1])
        zeros = self.emit("Expand", [self.constant(np.zeros(1, element)), self.constant([math.prod(sizes)])])
        numbers = [self.emit("Reshape", [each, flat]) for each in (places, source)]
        whole = self.emit("Reshape", [self.emit("ScatterElements", [zeros, *numbers], axis=0), self.constant(sizes)])
        missing = [0] * len(sizes)
        if stated:
            missing = [int(wanted) - size for wanted, size in zip(self.constants[stated], sizes)]
        self.emit("Pad", [whole, self.constant([0] * len(sizes) + missing)], node.output[0])
        return True
