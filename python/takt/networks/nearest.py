"""Rounding to integers, in terms of what the compiler computes quickly.

Four quantizations of 49,152 numbers took 146 us with its code of Round, and 33 us with two sums: a float of 1.5 * 2^23
has no bits for fractions, so that adding it rounds, to even numbers between two, and subtracting it leaves the integer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_NO_FRACTIONS = np.float32(1.5 * 2**23)
MOST = 2**22  # Of numbers that are rounded so.


def emit_nearest(writer: Any, x: str, low: float = -MOST, high: float = MOST) -> str:
    """The nearest integers of float32 numbers. Numbers below `low` and NaNs become `low`, and those above `high` become
    `high`.

    writer     has emit(kind, inputs) and constant(array), which give names.
    low, high  integers of at most MOST.
    """
    least, most = (writer.constant(np.float32(each)) for each in (low, high))
    x = writer.emit("Where", [writer.emit("Greater", [x, least]), x, least])
    x = writer.emit("Clip", [x, "", most])
    for kind in ("Add", "Sub"):
        x = writer.emit(kind, [x, writer.constant(_NO_FRACTIONS)])
    return x
