"""The sizes of images that are known in calls alone, and which of them are equal.

An open size stands for what it is computed from: two that are equal have the same value in each call.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Hashable, Mapping, Tuple, Union

import numpy as np

from . import elementwise, graphs, inference

_NOMINAL = 256  # Of the sizes of inputs. A guess, from which the sizes of tiles are made.
_SAME = elementwise.UNARY | {"BatchNormalization", "DequantizeLinear", "Dropout", "QuantizeLinear"}
_WINDOWS = {"AveragePool", "Conv", "MaxPool"}


@dataclasses.dataclass(frozen=True)
class Open:
    """A size that is known in calls alone.

    of       what it is computed from.
    nominal  what it may be.
    """

    of: Hashable
    nominal: int = dataclasses.field(compare=False)


Size = Union[int, Open]
Sizes = Tuple[Size, ...]


def nominal(size: Size) -> int:
    return size.nominal if isinstance(size, Open) else size


def sizes_of(graph: Any, shapes: Mapping[str, tuple[int, ...]], reader: graphs.NodeReader) -> dict[str, Sizes]:
    """The sizes [images, channels, height, width] of tensors that have open ones, but a known number of channels.

    graph   an onnx.GraphProto with the shapes that onnx infers.
    shapes  of what has no open sizes, with constants."""
    known = {name: sizes for name, sizes in inference.sizes_of(graph).items() if len(sizes) == 4 and name not in shapes}
    found: dict[str, Sizes] = {}
    for value in graph.input:
        if value.name in known:
            _note(found, value.name, known[value.name], _NOMINAL)
    for node in graph.node:
        name = node.output[0] if node.output else ""
        if name not in known:
            continue
        inputs = [found.get(each, shapes.get(each)) for each in node.input]
        own = _of_node(node, inputs, reader)
        if own is not None and len(own) == 4:
            # What onnx infers is known where this is open, or the other way round.
            known[name] = [size if stated is None else stated for size, stated in zip(own, known[name])]
        most = max((nominal(size) for sizes in inputs for size in (sizes or ())[2:]), default=1)
        _note(found, name, known[name], most)
    return found


def _note(found: dict[str, Sizes], name: str, sizes: list[Size | None], most: int) -> None:
    noted = tuple(Open((name, axis), 1 if axis == 0 else most) if size is None else size
                  for axis, size in enumerate(sizes))
    if any(isinstance(size, Open) for size in noted) and isinstance(noted[1], int) and all(noted):
        found[name] = noted


def _of_node(node: Any, inputs: list[Sizes | None], reader: graphs.NodeReader) -> list[Size | None] | None:
    """The sizes of its result, None where nothing is known; or None for all."""
    if not inputs or inputs[0] is None or node.domain not in ("", "ai.onnx"):
        return None
    kind, attributes = node.op_type, reader.attributes(node)
    if kind in _SAME:
        return list(inputs[0])
    if kind in elementwise.JOINING:
        return None if None in inputs else _broadcast(inputs)
    if len(inputs[0]) != 4:
        return None
    n, _, *sizes = inputs[0]
    if kind == "Concat" and attributes["axis"] % 4 == 1 and None not in inputs:
        return [size if all(each[axis] == size for each in inputs) and axis != 1 else None
                for axis, size in enumerate(inputs[0])]
    if kind == "Resize":
        factors = repetitions(node, reader)
        return None if factors is None else [n, None, *map(_times, sizes, factors)]
    if kind in _WINDOWS and attributes.get("auto_pad", b"NOTSET") == b"NOTSET":
        kernel = attributes["kernel_shape"] if kind != "Conv" else (inputs[1] or ())[2:]
        pads, strides, dilations = (list(attributes.get(key, [default] * count)) for key, default, count in (
            ("pads", 0, 4), ("strides", 1, 2), ("dilations", 1, 2)))
        return [n, None, *(_windows(size, taps, stride, step, before + after, attributes.get("ceil_mode", 0))
                           for size, taps, stride, step, before, after in zip(
                               sizes, kernel, strides, dilations, pads[:2], pads[2:]))]
    return None


def repetitions(node: Any, reader: graphs.NodeReader) -> tuple[int, int] | None:
    """By what a Resize multiplies rows and columns, if these are whole numbers that the network states."""
    scales = reader.constants.get([*node.input, "", ""][2])
    if scales is None or scales.shape != (4,) or any(scales != scales.astype(np.int64)) or any(scales[:2] != 1):
        return None
    return int(scales[2]), int(scales[3])


def _times(size: Size, factor: int) -> Size:
    if not isinstance(size, Open) or factor == 1:
        return size if factor == 1 else size * factor
    return Open((size, "times", factor), size.nominal * factor)


def _windows(size: Size | None, taps: int, stride: int, dilation: int, pads: int, is_ceil: int) -> Size | None:
    """How many windows a row of pixels has."""
    missing = pads - dilation * (taps - 1) - 1
    if size is None or (stride == 1 and missing == -1):
        return size
    if not isinstance(size, Open):
        return None if is_ceil else (size + missing) // stride + 1
    return Open((size, "windows", missing, stride, is_ceil), max(1, (size.nominal + missing) // stride + 1))


def _broadcast(shapes: list[Sizes]) -> list[Size | None]:
    """The sizes of what has an element of each of these tensors."""
    result: list[Size | None] = []
    for axis in range(-4, 0):
        sizes = {shape[axis] for shape in shapes if len(shape) >= -axis and shape[axis] != 1}
        result.append(1 if not sizes else sizes.pop() if len(sizes) == 1 else None)
    return result
