"""Transpositions for which the compiler makes slow code."""

from __future__ import annotations

import math
import re
from typing import Iterable, Sequence

# The compiler transposes tiles of up to 64 by 64 numbers. It takes 20 ns for each number where a side is longer than a
# vector of 16 numbers and no multiple of it. It transposes tiles of 16 by 16 as vectors.
_FLAG = "--iree-llvmcpu-distribution-size"
_SIDE = 16
_BYTES_MIN = 224 << 10  # Smaller ones take at most a quarter of that time for each number.
_TRANSPOSE = re.compile(rb'"onnx\.Transpose"[^\n]*?perm = \[([^\]]*)\][^\n]*?vtensor<\[([\d,]+)\],(f32|si8|ui8)>')


def flags_for(program: bytes, flags: Iterable[str]) -> list[str]:
    """The flags that this MLIR, which has operators of ONNX, needs besides `flags`."""
    if any(flag.split("=")[0] == _FLAG for flag in flags):
        return []
    resources = program.find(b"{-#")  # Behind the operators.
    for match in _TRANSPOSE.finditer(program, 0, len(program) if resources < 0 else resources):
        order = [int(part.split()[0]) for part in match[1].split(b",") if part.strip()]
        if _is_slow(order, [int(size) for size in match[2].split(b",")], 4 if match[3] == b"f32" else 1):
            return [f"{_FLAG}={_SIDE}"]
    return []


def _is_slow(order: Sequence[int], shape: Sequence[int], number_bytes: int) -> bool:
    if sorted(order) != list(range(len(shape))) or math.prod(shape) * number_bytes < _BYTES_MIN:
        return False
    # Axes that stay side by side are one.
    blocks = [[order[0]]]
    for axis in order[1:]:
        if axis == blocks[-1][-1] + 1:
            blocks[-1].append(axis)
        else:
            blocks.append([axis])
    inner = next(block for block in blocks if block[-1] == len(shape) - 1)
    sides = [math.prod(shape[axis] for axis in block) for block in (inner, blocks[-1])]
    return inner is not blocks[-1] and min(sides) > _SIDE and any(side % _SIDE for side in sides)
