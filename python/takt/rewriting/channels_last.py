"""What may be computed with the channels last as well: a part of `rewriter`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..networks import open_sizes
from . import tiled_calls
from .kernel_calls import DOMAIN

_SHUFFLED_NUMBERS = 128 << 10  # Of a tile.
# The axes of [n, c, h, w] as [n, h, w, c], and back.
TO_LAST = [0, 2, 3, 1]
TO_FIRST = [0, 3, 1, 2]


class ChannelsLastRewriter:
    """The part of the rewriter that computes on twins whose channels are last."""

    def on_unary(self, node: Any) -> bool:
        if node.input[0] not in self.last or len(node.output) != 1:
            return False
        if any(name and name not in self.constants for name in node.input[1:]):
            return False
        return self.copy_last(node, [self.last[node.input[0]], *node.input[1:]])

    def on_elementwise(self, node: Any) -> bool:
        if node.op_type == "Add" and (self.quantized_add(node) or self.added_row(node)):
            return True
        if node.op_type == "Mul" and self.floats_in_steps(node):
            return True
        if node.op_type in ("Add", "Mul") and self.channels_of_bytes(node):
            return True
        shape = self.sizes(node.output[0])
        if shape is None or len(shape) != 4 or not any(name in self.last for name in node.input):
            return False
        if any(name in self.made and name not in self.last and name not in self.constants
               and (self.shape(name) is None or math.prod(self.shape(name)[-2:]) > 1) for name in node.input):
            # An image with channels first only: not worth a transpose.
            return False
        inputs, is_image = [], math.prod(map(open_sizes.nominal, shape[2:])) > 1
        for name in node.input:
            other = self.sizes(name)
            if other is None:
                return False
            if all(size == 1 for size in other):
                inputs.append(self.to_first(name) if name not in self.last else self.last[name])
            elif len(other) == 4:
                is_apart = is_image and other[2:] == (1, 1) and name not in self.constants
                inputs.append(self.found_once(name) if is_apart else self.to_last(name))
            elif len(other) == 3 and name in self.constants:
                inputs.append(self.constant(self.constants[name][None].transpose(TO_LAST)))
            else:
                return False
        is_copied = self.copy_last(node, inputs)
        if is_copied and sum(math.prod(map(open_sizes.nominal, self.sizes(name))) > 1 for name in node.input) > 1:
            self.combined.add(self.last[node.output[0]])
        return is_copied

    def found_once(self, name: str) -> str:
        """What a tensor has for each channel, behind a barrier: the compiler would find it again for each pixel."""
        if name not in self.apart:
            self.apart[name] = self.emit("TaktBarrier", [self.to_last(name)], self.fresh("apart"),
                                         self.twin_shape(name), DOMAIN, self.element_types[name])
        return self.apart[name]

    def on_concat(self, node: Any) -> bool:
        shape = self.sizes(node.output[0])
        if shape is None or len(shape) != 4 or not any(name in self.last for name in node.input):
            return False
        axis = self.attributes(node)["axis"] % 4
        if any(self.sizes(name) is None for name in node.input):
            return False
        inputs = [self.to_last(name) for name in node.input]
        return self.copy_last(node, inputs, axis=TO_FIRST[axis])

    def on_pad(self, node: Any) -> bool:
        pads = self.constants.get(node.input[1]) if len(node.input) > 1 else None
        if node.input[0] not in self.last or pads is None or pads.size != 8 or len(node.input) > 3:
            return False
        turned = np.array([*pads[:4][TO_LAST], *pads[4:][TO_LAST]], np.int64)
        return self.copy_last(
            node, [self.last[node.input[0]], self.constant(turned), *node.input[2:]])

    def on_reshape(self, node: Any) -> bool:
        return (self.norm_of_groups(node) or self.image_of_tokens(node) or self.tokens_of_image(node)
                or self.rows_of_images(node) or self.shuffle(node) or self.place(node) or self.place_row(node)
                or self.flatten(node))

    def on_flatten(self, node: Any) -> bool:
        return self.flatten(node)

    def flatten(self, node: Any) -> bool:
        """Of one pixel: its channels are in the same order either way."""
        in_shape, out_shape = self.shape(node.input[0]), self.shape(node.output[0])
        if (node.input[0] not in self.last or in_shape is None or out_shape is None
                or in_shape[2] * in_shape[3] != 1):
            return False
        self.emit("Reshape", [self.last[node.input[0]], self.constant(np.array(out_shape, np.int64))],
                  node.output[0])
        return True

    def image_of_tokens(self, node: Any) -> bool:
        """The pixels of an image, each a row of channels: Transpose, Reshape."""
        turn, sizes = self.makers.get(node.input[0]), self.sizes(node.output[0])
        if turn is None or not self.turns_tokens(turn) or sizes is None or len(sizes) != 4:
            return False
        tokens, (n, c, h, w) = turn.input[0], sizes
        # Attention may have taken them in.
        if self.sizes(tokens) != (n, open_sizes.product((h, w)), c) or tokens not in self.made:
            return False
        last, element = (n, h, w, c), self.element_types[node.output[0]]
        if not open_sizes.is_open(sizes):
            self.set_last(node.output[0], self.reshaped(tokens, last, element))
            return True
        int64 = self.onnx.TensorProto.INT64
        wanted = self.emit("Gather", [node.input[1], self.constant(np.array(TO_LAST))], self.fresh("sizes"), (4,),
                           element=int64, axis=0)
        self.set_last(node.output[0], self.emit("Reshape", [tokens, wanted], self.fresh("last"), last, element=element))
        return True

    def tokens_of_image(self, node: Any) -> bool:
        """The same way back: Reshape, Transpose. Of an open image, there may be two Reshapes."""
        source, sizes = node.input[0], self.sizes(node.input[0])
        if source not in self.last or self.last[source] in self.placed or sizes is None:
            return False
        flat = len(self.sizes(node.output[0]) or ()) == 1
        split = self.only_consumer(node.output[0]) if flat else node
        turn = self.only_consumer(split.output[0]) if split is not None and split.op_type == "Reshape" else None
        n, c, h, w = sizes
        if (turn is None or not self.turns_tokens(turn) or not isinstance(n, int)
                or self.sizes(split.output[0]) != (n, c, open_sizes.product((h, w)))):
            return False
        self.done.update((id(split), id(turn)))
        twin, element = self.last[source], self.element_types[source]
        if open_sizes.is_open(sizes):  # The compiler does not know a size that follows from two open ones.
            twin = self.emit("Reshape", [twin, self.constant(np.array([-1]))], self.fresh("tokens"),
                             (open_sizes.product(sizes),), element=element)
        self.emit("Reshape", [twin, self.constant(np.array([n, -1, c]))], turn.output[0])
        return True

    def turns_tokens(self, node: Any) -> bool:
        return node.op_type == "Transpose" and list(self.attributes(node).get("perm", [])) == [0, 2, 1]

    def shuffle(self, node: Any) -> bool:
        """Channels of groups in turns: Reshape, Transpose, Reshape."""
        source, in_shape = node.input[0], self.sizes(node.input[0])
        split = self.sizes(node.output[0])
        turn = self.only_consumer(node.output[0])
        if (source not in self.last or in_shape is None or split is None or len(split) != 5
                or turn is None or turn.op_type != "Transpose"):
            return False
        join = self.only_consumer(turn.output[0])
        if (join is None or join.op_type != "Reshape" or self.sizes(join.output[0]) != in_shape
                or list(self.attributes(turn).get("perm", [])) != [0, 2, 1, 3, 4]):
            return False
        n, c, h, w = in_shape
        _, groups, each = split[:3]
        element = self.element_types[source]
        if split[3:] != (h, w) or open_sizes.is_open((groups, each)) or groups * each != c:
            return False
        type_name = self.element_name(source)
        if type_name is None:
            return False
        call = self.shuffle_of((n, h, w, c), groups, type_name)
        if call is None:
            return False
        twin = self.kernel(call, [self.last[source]], self.fresh("shuffle"), (n, h, w, c), element)
        self.done.update((id(turn), id(join)))
        self.set_last(join.output[0], twin)
        return True

    def shuffle_of(self, shape: open_sizes.Sizes, groups: int, type_name: str) -> tiled_calls.TiledCall | None:
        """The call that takes the channels of groups in turns, of a tensor whose channels are last."""
        kinds, numbers = (type_name,) * 2, (groups, shape[-1] // groups)
        return tiled_calls.call_of_rows(f"takt_shuffle_{type_name}", kinds, shape, numbers, (), _SHUFFLED_NUMBERS, 1)

    # Rows of images, as `porter` convolves volumes along them.

    def rows_of_images(self, node: Any) -> bool:
        """Each image as a row of pixels, for the convolution behind: Reshape, Transpose."""
        source, in_shape, split = node.input[0], self.shape(node.input[0]), self.shape(node.output[0])
        turn = self.only_consumer(node.output[0])
        if (source not in self.last or in_shape is None or split is None or len(split) != 4
                or turn is None or not self.is_turn(turn)):
            return False
        n, d, c, pixels = split
        if (n * d, c, pixels) != (*in_shape[:2], in_shape[2] * in_shape[3]):
            return False
        self.done.add(id(turn))
        self.set_last(turn.output[0], self.reshaped(self.last[source], (n, d, pixels, c)))
        return True

    def images_behind(self, name: str) -> tuple[str, tuple[int, ...] | None]:
        """The images that are made of the rows `name`, and their shape with the channels last;
        `name` and None if none are. The nodes that make them are done."""
        turn, shape = self.only_consumer(name), self.shape(name)
        if turn is None or shape is None or not self.is_turn(turn):
            return name, None
        join = self.only_consumer(turn.output[0])
        images = self.shape(join.output[0]) if join is not None and join.op_type == "Reshape" else None
        n, c, d, _ = shape
        if images is None or len(images) != 4 or images[:2] != (n * d, c):
            return name, None
        self.done.update((id(turn), id(join)))
        return join.output[0], (n * d, *images[2:], c)

    def is_turn(self, node: Any) -> bool:
        return node.op_type == "Transpose" and list(self.attributes(node).get("perm", [])) == [0, 2, 1, 3]

    def reshaped(self, twin: str, shape: tuple[int, ...], element: int = 1) -> str:
        return self.emit("Reshape", [twin, self.constant(np.array(shape, np.int64))], self.fresh("last"), shape,
                         element=element)

    def place(self, node: Any) -> bool:
        """Channels that become pixels: Reshape, Transpose, Reshape."""
        source, in_shape = node.input[0], self.shape(node.input[0])
        split = self.shape(node.output[0])
        turn = self.only_consumer(node.output[0])
        if (source not in self.last or in_shape is None or split is None or len(split) != 6
                or turn is None or turn.op_type != "Transpose"):
            return False
        join = self.only_consumer(turn.output[0])
        if join is None or join.op_type != "Reshape":
            return False
        n, c, h, w = in_shape
        perm = list(self.attributes(turn).get("perm", []))
        if perm == [0, 3, 4, 1, 5, 2]:
            up, across, each = split[1:4]
            parts, perm = (up, across, each), [0, 1, 3, 2, 4, 5]
        elif perm == [0, 1, 4, 2, 5, 3]:
            each, up, across = split[1:4]
            parts, perm = (each, up, across), [0, 1, 4, 2, 5, 3]
        else:
            return False
        if (split[4:] != (h, w) or each * up * across != c
                or self.shape(join.output[0]) != (n, each, h * up, w * across)):
            return False
        element = self.element_types[source]
        a = self.emit("Reshape", [self.last[source], self.constant(np.array([n, h, w, *parts]))],
                      self.fresh("place"), (n, h, w, *parts), element=element)
        b = self.emit("Transpose", [a], self.fresh("place"), (n, h, up, w, across, each),
                      element=element, perm=perm)
        twin = self.emit("Reshape", [b, self.constant(np.array([n, h * up, w * across, each]))],
                         self.fresh("place"), (n, h * up, w * across, each), element=element)
        self.done.update((id(turn), id(join)))
        self.set_last(join.output[0], twin)
        self.placed.add(twin)
        return True

    def on_lrn(self, node: Any) -> bool:
        """Local response normalization: sums of shifted squares over channels."""
        source, in_shape = node.input[0], self.shape(node.input[0])
        attributes = self.attributes(node)
        size = attributes.get("size", 0)
        if source not in self.last or in_shape is None or not 1 <= size <= 9:
            return False
        n, c, h, w = in_shape
        shape = (n, h, w, c)
        x = self.last[source]
        square = self.emit("Mul", [x, x], self.fresh("lrn"), shape)
        before = (size - 1) // 2
        pads = np.array([0, 0, 0, before, 0, 0, 0, size - 1 - before], np.int64)
        padded = self.emit("Pad", [square, self.constant(pads)], self.fresh("lrn"),
                           (n, h, w, c + size - 1))
        total = None
        for i in range(size):
            part = self.emit(
                "Slice", [padded, *(self.constant(np.array([v], np.int64)) for v in (i, i + c, 3))],
                self.fresh("lrn"), shape)
            total = part if total is None else self.emit("Add", [total, part], self.fresh("lrn"), shape)
        scale = np.float32(attributes.get("alpha", 1e-4) / size)
        scaled = self.emit("Mul", [total, self.constant(scale)], self.fresh("lrn"), shape)
        base = self.emit("Add", [scaled, self.constant(np.float32(attributes.get("bias", 1.0)))],
                         self.fresh("lrn"), shape)
        beta = attributes.get("beta", 0.75)
        if beta == 0.75:  # Two square roots are much faster than a power.
            root = self.emit("Sqrt", [base], self.fresh("lrn"), shape)
            fourth = self.emit("Sqrt", [root], self.fresh("lrn"), shape)
            power = self.emit("Mul", [root, fourth], self.fresh("lrn"), shape)
        else:
            power = self.emit("Pow", [base, self.constant(np.float32(beta))], self.fresh("lrn"), shape)
        self.set_last(node.output[0], self.emit("Div", [x, power], self.fresh("lrn"), shape))
        return True

    def copy_last(self, node: Any, inputs: list[str], **changed: Any) -> bool:
        """The same operation on twins."""
        shape = self.sizes(node.output[0])
        if shape is None or len(shape) != 4:
            return False
        n, c, h, w = shape
        attributes = {**self.attributes(node), **changed}
        twin = self.emit(node.op_type, inputs, self.fresh("last"), (n, h, w, c),
                         element=self.element_types[node.output[0]], **attributes)
        if self.combined.intersection(inputs):
            self.combined.add(twin)
        self.set_last(node.output[0], twin)
        return True
