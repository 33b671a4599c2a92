"""The layouts of weights."""

import itertools

import numpy as np

from takt.rewriting.packing import join_groups, join_pixels


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
    """Where that is quicker; the rows of images and of results are filled up."""
    random = np.random.default_rng(1)
    joined = set()
    for c, kw, sw, dw, w in itertools.product((1, 2, 3, 4), (1, 2, 3, 5, 16), (1, 2, 3, 4), (1, 2), (8, 15, 1)):
        left = (kw - 1) * dw // 2
        ow = (w + 2 * left - (kw - 1) * dw - 1) // sw + 1
        shape = (2, 5, w, c, 3, ow, 6, 3, kw, 2, sw, 1, dw, 1, left, 1)
        weights = random.integers(-127, 128, (6, c, 3, kw)).astype(np.int8)
        x = random.integers(-128, 128, (2, 5, w, c))
        together, new_shape = join_pixels(weights, shape)
        if new_shape == shape:
            assert together is weights
            continue
        joined.add((c, kw, sw, dw, w))
        assert new_shape[3] % 4 == 0 and c < 4 and together.dtype == np.int8
        want = convolved(x, weights, shape)
        filled = np.pad(x, ((0, 0), (0, 0), (0, new_shape[2] * new_shape[3] // c - w), (0, 0)))
        found = convolved(filled, together, new_shape).reshape(2, 3, -1, 6)
        assert (found[:, :, :ow] == want).all() and 0 <= found.shape[2] - ow < 4, shape
    assert {(1, 3, 1, 1, 15), (2, 3, 1, 1, 8), (3, 3, 2, 1, 8), (3, 5, 1, 1, 8), (1, 16, 4, 1, 8)} <= joined
    # Too many zeros between the weights, or pixels that no group has.
    assert joined.isdisjoint({(3, 3, 1, 1, 8), (1, 3, 1, 1, 1), (1, 3, 3, 1, 8), (1, 3, 1, 2, 8), (4, 3, 1, 1, 8)})


def of_one_group(weights, groups):
    outs, ins, height, width = weights.shape
    wide = np.zeros((groups, outs // groups, groups, ins, height, width), weights.dtype)
    for group in range(groups):
        wide[group, :, group] = weights.reshape(groups, -1, ins, height, width)[group]
    return wide.reshape(outs, groups * ins, height, width)


def test_groups_of_few_results_are_joined():
    random = np.random.default_rng(2)
    want = {(32, 4, 4): 8, (32, 8, 8): 16, (32, 16, 16): 32, (6, 2, 5): 2, (5, 3, 4): 5, (7, 12, 24): 7, (12, 1, 2): 2,
            (4, 1, 8): 1, (8, 1, 1): 8, (1, 1, 3): 1, (12, 2, 6): 6, (10, 2, 8): 5}
    for (groups, ins, each), left in want.items():
        for kind in (np.float32, np.int8):
            weights = random.integers(-127, 128, (groups * each, ins, 3, 2)).astype(kind)
            joined, count = join_groups(weights, groups)
            assert count == left and joined.dtype == kind
            assert (of_one_group(joined, count) == of_one_group(weights, groups)).all()
            assert count == groups or -(-each // 16) == -(-len(joined) // count // 16) or ins == 1
