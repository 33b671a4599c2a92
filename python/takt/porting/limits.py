"""Limits that a call finds: where a slice begins, how far a range and padding go. A part of `porter`.

The compiler's code for these reads beyond a tensor, or asks for all memory, where ONNX cuts off or gives nothing.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ..networks import counts, elementwise
from .functions import BOUNDED

LAST = np.iinfo(np.int64).max  # The end of a slice that cuts nothing off.


class LimitPorter:
    """The part of the porter that knows them."""

    def limit_handlers(self) -> dict[tuple[str, str], Callable[[Any], bool]]:
        return {("", "Range"): self.on_range}

    def on_range(self, node: Any) -> bool:
        """Ends where it begins, if the limit lies before that."""
        begin, limit, step = node.input
        if node.name.startswith(BOUNDED) or all(name in self.constants for name in node.input):
            return False
        steps = self.constants.get(step)
        if steps is None:
            way = self.emit("Mul", [self.emit("Sub", [limit, begin]), self.emit("Sign", [step])])
            is_ahead = self.emit("Greater", [way, self.emit("Sub", [begin, begin])])
            limit = self.emit("Where", [is_ahead, limit, begin])
        else:
            limit = self.emit("Max" if steps > 0 else "Min", [limit, begin])
        self.emit("Range", [begin, limit, step], node.output[0], name=self.bounded_name())
        return True

    def on_computed_begin(self, node: Any, steps: np.ndarray | None) -> bool:
        """Begins at the last element, where the one to begin with is behind it."""
        if node.name.startswith(BOUNDED) or steps is not None and (steps > 0).all():
            return False
        source, begin, end, axes, step = node.input
        sizes = self.emit("Shape", [source])
        if axes:
            sizes = self.emit("Gather", [sizes, axes], axis=0)
        last = self.emit("Min", [begin, self.emit("Sub", [sizes, self.constant([1])])])
        begin = self.emit("Where", [self.emit("Less", [step, self.constant([0])]), last, begin])
        self.emit("Slice", [source, begin, end, axes, step], node.output[0], name=self.bounded_name())
        return True

    def on_computed_pad(self, node: Any) -> bool:
        """Cuts off before what negative pads cut off: the compiler takes these for none, or reads beyond the tensor."""
        if node.name.startswith(BOUNDED):
            return False
        pads, zero = node.input[1], self.constant([0])
        (count,) = self.shapes.get(pads) or [None]
        if count is None:
            return False
        cut = self.emit("Min", [pads, zero])
        before, behind = self.slice(cut, 0, 0, count // 2), self.slice(cut, 0, count // 2, count)
        last = self.emit("Where", [self.emit("Less", [behind, zero]), behind, self.constant([LAST])])
        axes = [node.input[3]] if len(node.input) > 3 and node.input[3] else []
        source = self.emit("Slice", [node.input[0], self.emit("Neg", [before]), last, *axes])
        self.emit("Pad", [source, self.emit("Max", [pads, zero]), *node.input[2:]], node.output[0],
                  name=self.bounded_name())
        return True

    def on_single_part(self, node: Any) -> bool:
        """The first or the last element along an open axis, which meets tensors with more of them: the compiler takes
        the open size of the part for theirs. A call with no element fails."""
        bounds = [self.constants.get(name) for name in node.input[1:]]
        sizes = self.shapes.get(node.input[0])
        if (node.name.startswith(BOUNDED) or sizes is None or len(bounds) < 3 or any(each is None for each in bounds)
                or not any(user.op_type in elementwise.JOINING for user in self.consumers.get(node.output[0], []))):
            return False
        axes = [int(axis) % len(sizes) for axis, *ends in zip(bounds[2], *bounds[:2], *bounds[3:])
                if sizes[int(axis) % len(sizes)] is None and _has_one(*map(int, ends))]
        if not axes:
            return False
        part = self.emit("Slice", list(node.input), name=self.bounded_name())
        places = self.constant(sorted(axes))
        self.emit("Unsqueeze", [self.emit("Squeeze", [part, places]), places], node.output[0])
        return True


def _has_one(begin: int, end: int, step: int = 1) -> bool:
    """Whether a slice has one element, if it has any."""
    return step > 0 and (end - begin == 1 and (begin < 0) == (end < 0) or begin == -1 and end >= counts.SLICE_END)
