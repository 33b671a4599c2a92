"""Images resized to sizes that are known in calls alone: a part of `rewriter`.

The call itself computes which pixels lie around each place along an axis. Kernels then take these rows and columns.
"""

from __future__ import annotations

import functools
import math
from typing import Any, Callable, Iterator

import numpy as np

from ..networks import open_sizes, sampling
from . import tiled_calls

WAYS = {"align_corners", "asymmetric", "half_pixel", "pytorch_half_pixel", "tf_half_pixel_for_nn"}
TILE_NUMBERS = 1 << 16
TWIN_MIN = 8  # Channels, with fewer of which a larger image is resized with the channels first.
LAST_AXES = {"ArgMax", "ArgMin", "Sigmoid", "Softmax"}  # They read a result with the channels first.
_NEAREST = {  # A number that is added to a place, and the operator that makes a pixel of the sum.
    b"floor": (0, "Floor"), b"ceil": (0, "Ceil"), b"round_prefer_floor": (-0.5, "Ceil"),
    b"round_prefer_ceil": (0.5, "Floor"),
}


class OpenResizeRewriter:
    """The part of the rewriter that knows Resize of open sizes."""

    def open_resize(self, node: Any) -> bool:
        source, output, own = node.input[0], node.output[0], self.attributes(node)
        sizes, wanted = self.sizes(source), self.sizes(output)
        way = own.get("coordinate_transformation_mode", b"half_pixel").decode()
        mode = own.get("mode", b"nearest")
        if (not open_sizes.is_image(sizes) or not open_sizes.is_image(wanted) or sizes[:2] != wanted[:2]
                or not open_sizes.is_open((*sizes, *wanted)) or way not in WAYS
                or not self.is_float(source) and (mode != b"nearest" or self.element_name(source) != "i8")
                or mode not in (b"nearest", b"linear", b"cubic") or self.targets(node) is None
                or any(own.get(name, 0) for name in ("antialias", "axes", "exclude_outside"))
                or own.get("keep_aspect_ratio_policy", b"stretch") != b"stretch"):
            return False
        users = {user.op_type for user in self.consumers.get(output, [])}
        n, c, h, w = sizes
        if source in self.last and c >= TWIN_MIN and users and not users <= LAST_AXES:
            twin, shape = self.last[source], (n, h, w, c)
            for axis in (2, 3):
                twin, shape = self.along(node, axis, twin, shape, axis - 1)
            self.set_last(output, twin)
            return True
        # The kernels copy what lies side by side: first columns, of all rows and channels, and then whole rows.

        def turn(name: str, shape: open_sizes.Sizes, perm: list[int]) -> str:
            return self.emit("Transpose", [name], self.fresh("resize"), shape, element=self.element_types[source],
                             perm=perm)

        turned, shape = (n, w, h, c), (n, c, h, wanted[3])
        is_last = source in self.last
        image = turn(self.last[source] if is_last else self.to_first(source), turned,
                     [0, 2, 1, 3] if is_last else [0, 3, 2, 1])
        wide, turned = self.along(node, 3, image, turned, 1)
        tall, _ = self.along(node, 2, turn(wide, shape, [0, 3, 2, 1]), shape, 2)
        self.emit("Identity", [tall], output, wanted)
        return True

    def targets(self, node: Any) -> tuple[str, np.ndarray | None] | None:
        """The name of the sizes of the result, or else its scales."""
        _, _, scales, sizes = [*node.input, "", "", ""][:4]
        if sizes and self.constants.get(sizes, np.ones(4)).shape == (4,):
            return sizes, None
        found = self.constants.get(scales)
        return ("", found) if found is not None and found.shape == (4,) else None

    def along(self, node: Any, axis: int, image: str, shape: open_sizes.Sizes, place: int
              ) -> tuple[str, open_sizes.Sizes]:
        """The image with one axis resized, and its sizes.

        axis   of the operator's input.
        shape  of `image`, of which it is the axis `place`."""
        size, wanted = shape[place], self.sizes(node.output[0])[axis]
        result = (*shape[:place], wanted, *shape[place + 1:])
        names = tiled_calls.names_of((*shape, wanted))
        product = functools.partial(tiled_calls.product_of, names=names)
        outer, inner, count = product(shape[:place]), product(shape[place + 1:]), product((wanted,))
        element, kind = self.element_types[node.input[0]], self.element_name(node.input[0])
        along = (names[wanted],) if wanted in names else ()
        axes = [tuple(names[each] for each in sizes if each in names) for sizes in (shape, result)]

        def take(places: str, shares: str) -> str:
            function, buffers, operands = f"takt_gather_{kind}", (kind, "i32", kind), [image, places]
            numbers = (outer, product((size,)), inner, count)
            if shares:
                function, buffers, operands = "takt_blend_f32", ("f32", "i32", "f32", "f32"), [*operands, shares]
                numbers = (outer, product((size,)), count, inner)
            call = tiled_calls.TiledCall(
                function, buffers, numbers, (), 1, 0, 0, 2 * math.prod(map(open_sizes.nominal, result)),
                axes=(axes[0], *[along] * (len(operands) - 1), axes[1]),
                open_rows=tiled_calls.OpenRows(product(result[:place + 1]), inner, TILE_NUMBERS, 1))
            return self.kernel(call, operands, self.fresh("resize"), result, element)

        found = [take(*each) for each in self.neighbours(node, axis, image, place)]
        if len(found) > 1:  # As `_cubic` has them.
            both = self.emit("Add", found[:2], self.fresh("resize"), result)
            found = [self.emit("Sub", [both, found[2]], self.fresh("resize"), result)]
        return found[0], result

    def neighbours(self, node: Any, axis: int, image: str, place: int) -> tuple[str, str]:
        """For each result along an axis the pixel before it, and the share of the one behind it; or the nearest pixel
        and "". networks.sampling says where the results lie."""
        own, wanted = self.attributes(node), self.sizes(node.output[0])[axis]
        way = own.get("coordinate_transformation_mode", b"half_pixel").decode()
        types = self.onnx.TensorProto

        def add(op: str, *operands: str | float, element: int = types.FLOAT,
                shape: open_sizes.Sizes = (wanted,), **attributes: Any) -> str:
            inputs = [each if isinstance(each, str) else self.constant(np.float32(each)) for each in operands]
            return self.emit(op, inputs, self.fresh("place"), shape, element=element, **attributes)

        number = functools.partial(add, shape=())

        one = self.emit("Shape", [image], self.fresh("size"), (1,), element=types.INT64, start=place, end=place + 1)
        whole = self.emit("Squeeze", [one, self.constant(np.array([0]))], self.fresh("size"), (), element=types.INT64)
        size = number("Cast", whole, to=types.FLOAT)
        sizes, scales = self.targets(node)
        if sizes:
            part = self.constant(np.array(axis))
            count = self.emit("Gather", [sizes, part], self.fresh("size"), (), element=types.INT64, axis=0)
            out_size = number("Cast", count, to=types.FLOAT)
            scale: str | float = number("Div", out_size, size)
        else:
            scale = float(scales[axis])
            out_size = number("Floor", number("Mul", size, scale))
            count = number("Cast", out_size, element=types.INT64, to=types.INT64)
        bounds = [self.constant(np.array(each)) for each in (0, 1)]
        each = add("Cast", add("Range", bounds[0], count, bounds[1], element=types.INT64), to=types.FLOAT)
        last = number("Sub", size, 1)
        if way == "asymmetric":
            found = add("Div", each, scale)
        elif way == "align_corners":
            found = add("Div", add("Mul", each, last), number("Max", number("Sub", out_size, 1), 1))
        else:
            found = add("Div", add("Add", each, 0.5), scale)
            if way != "tf_half_pixel_for_nn":
                found = add("Sub", found, 0.5)
            if way == "pytorch_half_pixel":  # A single result is the first pixel.
                found = add("Mul", found, number("Min", number("Sub", out_size, 1), 1))

        def inside(pixel: str) -> str:
            return add("Min", add("Max", pixel, 0), last)

        mode = own.get("mode", b"nearest")
        if mode == b"cubic":
            coefficient = own.get("cubic_coeff_a", sampling.CUBIC)
            pairs = [(inside(pixel), share) for pixel, share in _cubic(add, found, coefficient)]
        elif mode == b"linear":
            pairs = [_linear(add, inside(found))]
        else:
            shift, rounding = _NEAREST[own.get("nearest_mode", b"round_prefer_floor")]
            pairs = [(inside(add(rounding, add("Add", found, shift))), "")]
        return [(add("Cast", pixel, element=types.INT32, to=types.INT32), share) for pixel, share in pairs]


def _linear(add: Callable[..., str], place: str) -> tuple[str, str]:
    """The pixel before a place, and the share of the one behind it."""
    first = add("Floor", place)
    return first, add("Sub", place, first)


def _cubic(add: Callable[..., str], place: str, a: float) -> Iterator[tuple[str, str]]:
    """The same of three pairs of pixels, which begin with the first, the third and the second one of the four around a
    place. The sum of the first two pairs without the last one is what the four give.

    a    the coefficient of the filter."""
    pixel, t = _linear(add, place)
    rest = add("Sub", 1, t)
    # The shares of the first, the fourth and the third of the four.
    before = add("Mul", add("Mul", add("Mul", t, rest), rest), a)
    last = add("Mul", add("Mul", add("Mul", t, t), rest), a)
    behind = add("Add", add("Mul", add("Mul", add("Sub", add("Mul", rest, a + 2), a + 3), rest), rest), 1)
    shares = [(-1, add("Sub", 1, before)), (1, last), (0, add("Sub", add("Sub", 1, last), behind))]
    for shift, share in shares:
        first = add("Add", pixel, shift)
        is_inside = add("Add", add("Min", add("Max", first, -1), 0), 1)  # Before the image, both are its first pixel.
        yield first, add("Mul", share, is_inside)
