"""Arrays for the inputs of calls."""

import numpy as np
import pytest

import takt


def test_a_shape_has_no_size_below_0():
    with pytest.raises(takt.InvalidArgument, match="below 0"):
        takt.empty((4, -1))


@pytest.mark.parametrize("shape, dtype", [((1, 3, 224, 224), np.float32), ((5,), np.int8), (7, np.float64), ((), np.int64),
                                          ((0, 4), np.float16), ([2, 3], "uint8")])
def test_an_array_begins_at_a_multiple_of_64_bytes(shape, dtype):
    arrays = [takt.empty(shape, dtype) for _ in range(8)]  # Most of numpy's own begin elsewhere.
    for array in arrays:
        like = np.empty(shape, dtype)
        assert (array.shape, array.dtype) == (like.shape, like.dtype) and array.flags.c_contiguous
        assert array.ctypes.data % 64 == 0 or array.size == 0
        array[...] = 3
    assert all((array == 3).all() for array in arrays)
    assert takt.empty(4).dtype == np.float32
