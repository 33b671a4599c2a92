"""Arrays for the inputs of calls."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Sequence

from .errors import InvalidArgument

if TYPE_CHECKING:
    import numpy as np

_ALIGNMENT = 64  # Of memory that a call uses where it lies, in bytes.


def empty(shape: int | Sequence[int], dtype: Any = "float32") -> np.ndarray:
    """A numpy array for an input that is written again and again, such as a camera's image. Its numbers are not set.

    A call uses such an array where it lies. It copies most of numpy's own large arrays, which begin 16 bytes behind a
    multiple of 64.
    """
    import numpy as np

    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(size < 0 for size in sizes):
        raise InvalidArgument(f"shape {sizes}: a size is below 0")
    byte_count = math.prod(sizes) * np.dtype(dtype).itemsize
    memory = np.empty(byte_count + _ALIGNMENT, np.uint8)
    begin = -memory.ctypes.data % _ALIGNMENT
    return memory[begin:begin + byte_count].view(dtype).reshape(sizes)
