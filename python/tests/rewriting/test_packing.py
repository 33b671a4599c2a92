"""The layouts of weights."""

import itertools

import numpy as np

from takt.rewriting.packing import join_groups, join_pixels, join_results


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
    sizes = (1, 2, 3, 4), (1, 2, 3, 5, 16), (1, 2, 3, 4), (1, 2), (8, 15, 1), (6, 40)
    for c, kw, sw, dw, w, outs in itertools.product(*sizes):
        left = (kw - 1) * dw // 2
        ow = (w + 2 * left - (kw - 1) * dw - 1) // sw + 1
        shape = (2, 5, w, c, 3, ow, outs, 3, kw, 2, sw, 1, dw, 1, left, 1)
        weights = random.integers(-127, 128, (outs, c, 3, kw)).astype(np.int8)
        x = random.integers(-128, 128, (2, 5, w, c))
        together, new_shape = join_pixels(weights, shape)
        if new_shape == shape:
            assert together is weights
            continue
        joined.add((c, kw, sw, dw, w, outs))
        assert new_shape[3] % 4 == 0 and c < 4 and together.dtype == np.int8
        want = convolved(x, weights, shape)
        filled = np.pad(x, ((0, 0), (0, 0), (0, new_shape[2] * new_shape[3] // c - w), (0, 0)))
        found = convolved(filled, together, new_shape).reshape(2, 3, -1, outs)
        assert (found[:, :, :ow] == want).all() and 0 <= found.shape[2] - ow < 4, shape
    assert {(1, 3, 1, 1, 15, 6), (3, 3, 1, 1, 8, 6), (3, 3, 2, 1, 8, 40), (3, 5, 1, 1, 8, 40), (1, 16, 4, 1, 8, 40)
            } <= joined
    # Too many zeros between the weights, or pixels that no group has.
    assert joined.isdisjoint({(3, 3, 1, 1, 8, 40), (1, 3, 1, 1, 1, 40), (1, 3, 3, 1, 8, 6), (1, 3, 1, 2, 8, 6),
                              (4, 3, 1, 1, 8, 6)})


def test_results_of_neighbouring_pixels_are_joined():
    """Where they are few, and whole groups of pixels make a row."""
    random = np.random.default_rng(2)
    joined = {}
    for oc, kw, sw, ow in itertools.product((1, 3, 8, 9), (1, 2, 3, 7), (1, 2, 3), (7, 8, 12, 48)):
        shape = (2, 5, ow * sw, 4, 3, ow, oc, 3, kw, 2, sw, 1, 1, 1, kw // 2, 1)
        weights = random.integers(-127, 128, (oc, 4, 3, kw)).astype(np.int8)
        together, new_shape = join_results(weights, shape)
        if new_shape == shape:
            assert together is weights
            continue
        assert together.shape == (new_shape[6], 4, 3, new_shape[8]) and new_shape[6] <= 16
        assert together[0].size <= 128 * 4  # A kernel has no more taps.
        joined[oc, kw, sw, ow] = new_shape[6] // oc
        x = random.integers(-128, 128, (2, 5, ow * sw, 4))
        want = convolved(x, weights, shape)
        assert (convolved(x, together, new_shape).reshape(want.shape) == want).all(), shape
    assert joined[1, 3, 1, 48] == 16 and joined[1, 3, 1, 12] == 12 and joined[3, 3, 1, 12] == 4
    assert joined[8, 3, 1, 8] == 2 and joined[1, 7, 2, 12] == 12
    # No two pixels in a block, none of which share taps, or no whole groups.
    assert joined.keys().isdisjoint({(9, 3, 1, 8), (1, 1, 1, 8), (1, 3, 3, 8), (8, 3, 1, 7)})


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
