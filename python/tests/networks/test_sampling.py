"""Where samples of images lie."""

import numpy as np
import pytest

from takt.networks import sampling


@pytest.mark.parametrize("way, size, out_size, scale, wanted", [
    ("asymmetric", 2, 4, 2, [0, 0.5, 1, 1.5]),
    ("align_corners", 4, 7, 1.75, [0, 0.5, 1, 1.5, 2, 2.5, 3]),
    ("align_corners", 4, 1, 0.25, [0]),
    ("half_pixel", 2, 4, 2, [-0.25, 0.25, 0.75, 1.25]),
    ("half_pixel", 3, 1, 1 / 3, [1]),
    ("tf_half_pixel_for_nn", 2, 4, 2, [0.25, 0.75, 1.25, 1.75]),
    ("pytorch_half_pixel", 3, 1, 1 / 3, [0]),
    # A scale of which 1.5 pixels are left: what lies in the middle stays there.
    ("half_pixel_symmetric", 3, 7, 2.5, [-0.2, 0.2, 0.6, 1, 1.4, 1.8, 2.2]),
])
def test_places_are_those_of_the_operator(way, size, out_size, scale, wanted):
    np.testing.assert_allclose(sampling.places(size, out_size, scale, way), wanted, atol=1e-6)


def test_a_place_on_a_border_is_that_of_32_bits():
    """ONNX Runtime computes in 32 bits, where 5.5 / 2.2 is 2.5 and not a little less."""
    places = sampling.places(5, 11, np.float32(2.2), "half_pixel")
    assert places[5] == 2
    assert sampling.nearest(places, 5, {"nearest_mode": b"floor"})[5] == 2
    assert sampling.places(5, 7, 1.5, "half_pixel_symmetric")[3] == 2


@pytest.mark.parametrize("own, wanted", [
    ({}, [0, 0, 1, 2, 2]), ({"nearest_mode": b"round_prefer_ceil"}, [0, 1, 1, 2, 2]),
    ({"nearest_mode": b"floor"}, [0, 0, 1, 1, 2]), ({"nearest_mode": b"ceil"}, [0, 1, 1, 2, 2])])
def test_the_nearest_elements_lie_inside(own, wanted):
    found = sampling.nearest(np.array([-0.3, 0.5, 1, 1.6, 2.4]), 3, own)
    np.testing.assert_array_equal(found, wanted)
