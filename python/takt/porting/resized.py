"""Resize beyond what the compiler knows: a part of `porter`.

Each result along an axis is a sum of a few elements, and the axes follow each other.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from ..errors import CompileError
from ..networks import sampling

_GATHERS_MAX = 8  # With more elements a result, the axis is a product of matrices.
_MATRIX_MAX = 1 << 24


@dataclasses.dataclass
class _Axis:
    axis: int
    size: int
    out_size: int
    scale: float
    bounds: tuple[float, float]  # Of the part that is resized, from 0 to 1.


class ResizePorter:
    """The part of the porter that knows it."""

    def is_whole(self, name: str) -> bool:
        types = self.onnx.TensorProto
        return self.types.get(name) in (types.INT8, types.UINT8, types.INT16, types.UINT16, types.INT32)

    def resize_whole(self, node: Any) -> None:
        """Integers are resized as floats, whose fractions are cut off, as ONNX Runtime does."""
        source = self.emit("Cast", [node.input[0]], to=self.onnx.TensorProto.FLOAT)
        found = self.emit("Resize", [source, *node.input[1:]], **self.attributes(node))
        self.emit("Cast", [found], node.output[0], to=self.types[node.input[0]])

    def on_resize(self, node: Any) -> bool:
        own = {"mode": b"nearest", "coordinate_transformation_mode": b"half_pixel", **self.attributes(node)}
        mode, way = (own[key].decode() for key in ("mode", "coordinate_transformation_mode"))
        axes = self.axes_of(node, own, self.shapes.get(node.input[0], [None]), way)
        if axes is not None and (not axes or way != "tf_crop_and_resize"
                                 and all(each.size == each.out_size for each in axes)):
            self.emit("Identity", [node.input[0]], node.output[0])  # As ONNX Runtime does, whatever the scales are.
            return True
        rank = len(self.shapes.get(node.input[0], []))
        is_known = not (own.get("axes") or own.get("antialias", 0) or own.get("exclude_outside", 0)
                        or own.get("keep_aspect_ratio_policy", b"stretch") != b"stretch"
                        or way in ("tf_crop_and_resize", "tf_half_pixel_for_nn", "half_pixel_symmetric")
                        or (mode == "nearest" and way not in ("asymmetric", "half_pixel"))
                        or (mode == "cubic" and own.get("cubic_coeff_a", sampling.CUBIC) != sampling.CUBIC)
                        or rank > 4)
        is_float = self.types.get(node.input[0]) == self.onnx.TensorProto.FLOAT
        if mode != "nearest" and self.is_whole(node.input[0]):
            self.resize_whole(node)
            return True
        if is_known and self.resize_as_image(node, rank):
            return True
        unknown = [key for key in ("axes", "antialias", "exclude_outside") if own.get(key, 0)]
        if axes is None and (unknown or way in ("tf_crop_and_resize", "half_pixel_symmetric")):
            what = " and ".join(unknown) or way
            raise CompileError(f"Resize {node.name or node.output[0]!r}: with {what} all of its sizes must be known; "
                               "`shapes` gives those of inputs")
        if axes is None or mode != "nearest" and not is_float:
            return False
        if is_known and rank == 4 and all(each.axis > 1 for each in axes):
            return False
        if is_known and rank == 4 and len(axes) <= 2:
            self.resize_turned(node, axes)
            return True
        name, outside = node.input[0], np.zeros([1], bool)
        for each in axes:
            places = _places(each, way)
            if way == "tf_crop_and_resize":
                is_outside = (places < 0) | (places > each.size - 1)
                outside = outside | is_outside.reshape([-1 if i == each.axis else 1 for i in range(rank)])
            if mode == "nearest":
                name = self.gather(name, each.axis, sampling.nearest(places, each.size, own))
            else:
                name = self.blend(name, each, _weights(each, places, mode, own), rank)
        if outside.any():
            value = self.constant(np.asarray(own.get("extrapolation_value", 0.0), np.float32))
            name = self.emit("Where", [self.constant(outside), value, name])
        self.emit("Identity", [name], node.output[0])
        return True

    def resize_as_image(self, node: Any, rank: int) -> bool:
        """A sequence is an image that is one row high, and one without samples or channels has one of them. The
        compiler resizes these alone."""
        _, _, scales, sizes = [*node.input, *[""] * 3][:4]
        given = self.constants.get(sizes or scales)
        if given is None and rank == 3 and sizes:
            parts = [self.slice(sizes, 0, begin, end) for begin, end in ((0, 2), (2, 3))]
            wanted = self.emit("Concat", [parts[0], self.constant(np.array([1])), parts[1]], axis=0)
            self.emit_as_image(node, self.constant(np.array([2])), wanted, True)
            return True
        if rank not in (2, 3) or given is None or given.size != rank:
            return False
        before = self.shapes[node.input[0]] if sizes else [1] * rank
        is_kept = [size == own for size, own in zip(given.tolist(), before)]
        if rank == 3 and not is_kept[0]:
            return False
        places = [0, 1] if rank == 2 else [2] if is_kept[1] else [0]
        wanted = self.constant(np.insert(given, places if rank == 3 else [0, 0], 1))
        axes = self.constant(np.array(places))
        self.emit_as_image(node, axes, wanted, bool(sizes))
        return True

    def emit_as_image(self, node: Any, axes: str, wanted: str, are_sizes: bool) -> None:
        """axes  that the image has more.
        wanted  its sizes behind the Resize, or its scales."""
        image = self.emit("Unsqueeze", [node.input[0], axes])
        found = self.emit("Resize", [image, "", *(["", wanted] if are_sizes else [wanted])], **self.attributes(node))
        self.emit("Squeeze", [found, axes], node.output[0])

    def resize_turned(self, node: Any, axes: list[_Axis]) -> None:
        """The rows and the columns of an image with the channels last, for example, become its last dimensions."""
        changed = [each.axis for each in axes]
        changed = [axis for axis in range(4) if axis not in changed][:4 - len(changed)] + changed
        turned = self.emit("Transpose", [node.input[0]], perm=changed)
        given = [self.constant(self.constants[name][changed]) if self.constants.get(name, np.zeros(0)).size else ""
                 for name in node.input[2:]]
        found = self.emit("Resize", [turned, "", *(given if given[-1] else given[:1])], **self.attributes(node))
        self.emit("Transpose", [found], node.output[0], perm=np.argsort(changed).tolist())

    def axes_of(self, node: Any, own: dict[str, Any], shape: list[int | None], way: str) -> list[_Axis] | None:
        """The axes that change; None where something is not known."""
        _, roi, scales, sizes = [*node.input, *[""] * 3][:4]
        given = [self.constants.get(name) if name else None for name in (roi, scales, sizes)]
        if None in shape or any(name and value is None for name, value in zip((scales, sizes), given[1:])):
            return None
        rank = len(shape)
        axes = [axis % rank for axis in own.get("axes") or range(rank)]
        bounds = [(0.0, 1.0)] * len(axes)
        if way == "tf_crop_and_resize":
            if given[0] is None:
                return None
            bounds = list(zip(given[0].tolist()[:len(axes)], given[0].tolist()[len(axes):]))
        found = []
        if sizes and given[2] is not None and given[2].size:
            wanted = [int(size) for size in given[2]]
            factors = [size / shape[axis] for size, axis in zip(wanted, axes)]
            policy = own.get("keep_aspect_ratio_policy", b"stretch").decode()
            if policy != "stretch":
                factor = min(factors) if policy == "not_larger" else max(factors)
                factors = [factor] * len(axes)
                wanted = [math.floor(factor * shape[axis] + 0.5) for axis in axes]
        elif given[1] is not None and given[1].size:
            factors = [float(factor) for factor in given[1]]
            wanted = [math.floor(shape[axis] * factor) for factor, axis in zip(factors, axes)]
        else:
            return None
        for axis, size, factor, bound in zip(axes, wanted, factors, bounds):
            if size != shape[axis] or factor != 1 or bound != (0.0, 1.0):
                found.append(_Axis(axis, shape[axis], size, factor, bound))
        return found

    def blend(self, name: str, each: _Axis, weights: np.ndarray, rank: int) -> str:
        """Along one axis, products with a matrix [out_size][size]."""
        counts = (weights != 0).sum(1)
        if counts.max() > _GATHERS_MAX and weights.size <= _MATRIX_MAX:
            order = [i for i in range(rank) if i != each.axis] + [each.axis]
            turned = self.emit("Transpose", [name], perm=order)
            found = self.emit("MatMul", [turned, self.constant(np.ascontiguousarray(weights.T))])
            return self.emit("Transpose", [found], perm=[order.index(i) for i in range(rank)])
        order = np.argsort(weights == 0, axis=1, kind="stable")  # The others follow, with weights of zero.
        total = ""
        for k in range(int(counts.max())):
            places = order[:, k]
            share = weights[np.arange(each.out_size), places]
            share = self.constant(share.reshape([-1 if i == each.axis else 1 for i in range(rank)]))
            part = self.emit("Mul", [self.gather(name, each.axis, places), share])
            total = self.emit("Add", [total, part]) if total else part
        return total


def _places(each: _Axis, way: str) -> np.ndarray:
    """Where the results lie among the elements."""
    if way != "tf_crop_and_resize":
        return sampling.places(each.size, each.out_size, each.scale, way)
    x = np.arange(each.out_size)
    last = each.size - 1
    begin, end = each.bounds
    if each.out_size == 1:
        return 0.5 * (begin + end) * last + 0.0 * x
    return begin * last + x * (end - begin) * last / (each.out_size - 1)


def _weights(each: _Axis, places: np.ndarray, mode: str, own: dict[str, Any]) -> np.ndarray:
    """[out_size][size]: the share of each element. A wide filter averages what a smaller
    image leaves out (antialias)."""
    factor = min(each.scale, 1.0) if own.get("antialias", 0) else 1.0
    reach = 1 if mode == "linear" else 2
    begin = math.floor(-reach / factor) + 1
    near = np.arange(begin, reach - begin + 1)
    first = np.floor(places)
    distances = np.abs(near[None] - (places - first)[:, None]) * factor
    if mode == "linear":
        shares = np.clip(1 - distances, 0, 1)
    else:
        a, d = own.get("cubic_coeff_a", sampling.CUBIC), distances
        shares = np.where(d <= 1, ((a + 2) * d - (a + 3)) * d * d + 1,
                          np.where(d < 2, ((a * d - 5 * a) * d + 8 * a) * d - 4 * a, 0))
    elements = first[:, None].astype(np.int64) + near[None]
    if own.get("exclude_outside", 0):
        shares = np.where((elements >= 0) & (elements < each.size), shares, 0)
    shares = shares / shares.sum(1, keepdims=True)
    result = np.zeros((each.out_size, each.size))
    rows = np.broadcast_to(np.arange(each.out_size)[:, None], elements.shape)
    np.add.at(result, (rows, np.clip(elements, 0, each.size - 1)), shares)
    return result.astype(np.float32)
