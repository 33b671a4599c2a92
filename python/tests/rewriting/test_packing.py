"""The layouts of weights."""

import itertools

import numpy as np

from takt.rewriting.packing import join_pixels


def convolved(x, weights, shape):
    """A convolution of images with the channels last; `shape`: the numbers of kernels::ConvShape."""
    n, h, w, c, oh, ow, oc, kh, kw, sh, sw, dh, dw, top, left, _ = shape
    bottom, right = (oh - 1) * sh + (kh - 1) * dh + 1, (ow - 1) * sw + (kw - 1) * dw + 1
    framed = np.zeros((n, max(bottom, h + top), max(right, w + left), c), np.int64)
    framed[:, top:top + h, left:left + w] = x.reshape(n, h, w, c)
    result = np.zeros((n, oh, ow, oc), np.int64)
    for y, x in itertools.product(range(kh), range(kw)):
        rows, columns = y * dh + sh * np.arange(oh), x * dw + sw * np.arange(ow)
        result += framed[:, rows][:, :, columns] @ weights[:, :, y, x].T.astype(np.int64)
    return result


def test_neighbouring_pixels_are_joined():
    random = np.random.default_rng(1)
    joined = 0
    for c, kw, sw, dw, w in itertools.product((1, 2, 3, 4), (1, 2, 3, 5, 7), (1, 2, 3, 4), (1, 2), (8, 12, 15)):
        left = (kw - 1) * dw // 2
        ow = (w - 1) // sw + 1
        shape = (2, 5, w, c, 3, ow, 6, 3, kw, 2, sw, 1, dw, 1, left, 1)
        weights = random.integers(-127, 128, (6, c, 3, kw)).astype(np.int8)
        x = random.integers(-128, 128, (2, 5, w, c))
        together, new_shape = join_pixels(weights, shape)
        if new_shape == shape:
            assert together is weights
            continue
        joined += 1
        assert new_shape[3] % 4 == 0 and c < 4 and together.dtype == np.int8
        want = convolved(x, weights, shape)
        assert (convolved(x, together, new_shape).reshape(want.shape) == want).all(), shape
    assert joined == 5 * 2 * (3 + 2 + 3)  # Windows, widths, and the strides of one to three channels.
