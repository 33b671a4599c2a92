"""Scales of images, which give the sizes that ONNX Runtime finds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import graphs, inference


def round_up(model: Any) -> None:
    """Changes scales of `model` with which a compiler would give an image another size than ONNX Runtime does.

    A Resize has the whole part of a size times its scale, and ONNX Runtime rounds that product to a float first: 3
    times the float next to 5/3 is less than 5, and becomes 5. Such a scale becomes the next larger float."""
    while (nodes := _with_fractions(model.graph)) and _round_known(model, nodes):
        pass


def _with_fractions(graph: Any) -> list[tuple[Any, np.ndarray]]:
    """The nodes that resize by constant scales, not all of them whole numbers, and these scales."""
    nodes = [node for node in graph.node if node.op_type in ("Resize", "Upsample") and len(node.input) in (2, 3)]
    constants = graphs.constants_of(graph, elements_max=8) if nodes else {}
    found = [(node, constants.get(node.input[-1])) for node in nodes]
    return [(node, scales) for node, scales in found
            if scales is not None and scales.dtype == np.float32 and any(scales != np.floor(scales))]


def _round_known(model: Any, nodes: list[tuple[Any, np.ndarray]]) -> bool:
    """Changes the scales of images whose sizes are known. Returns whether it changed any: the images that are made of
    these have other sizes then."""
    import onnx

    sizes = inference.sizes_of(inference.inferred_graph(model, keeps_stated=False))
    has_changed = False
    for node, scales in nodes:
        before = sizes.get(node.input[0], [])
        axes = next((own.ints for own in node.attribute if own.name == "axes"), range(len(before)))
        if scales.shape != (len(axes),):
            continue
        sides = [before[axis] or 0 for axis in axes]
        wanted = [math.floor(side * float(scale)) < np.floor(np.float32(side) * scale)
                  for side, scale in zip(sides, scales)]
        if any(wanted):
            has_changed = True
            larger = np.where(wanted, np.nextafter(scales, np.float32(np.inf)), scales)
            node.input[-1] = f"{node.output[0]}.takt.scales.{len(model.graph.initializer)}"
            model.graph.initializer.append(onnx.numpy_helper.from_array(larger, node.input[-1]))
    return has_changed
