"""Padding that follows from sizes, of `auto_pad` and of CenterCropPad: a part of `porter`."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from ..networks import graphs, open_sizes

KINDS = {"AveragePool", "Conv", "LpPool", "MaxPool"}
_CHANNELS_MIN = 2  # Kernels read the pixels of one channel of floats together, which borders hinder.
_AHEAD = np.zeros(2, np.int64)  # Samples and channels have no padding.


def is_padded_pool(node: Any) -> bool:
    """Whether it is a pool with padding, or a mean with windows behind it, that depends on the size of the image, or
    a maximum with another padding at the end."""
    return node.op_type in KINDS - {"Conv"} and any(
        each.name == "auto_pad" and each.s.startswith(b"SAME")
        or each.name == "ceil_mode" and each.i and node.op_type == "AveragePool"
        or each.name == "pads" and node.op_type == "MaxPool" and is_uneven(each.ints) for each in node.attribute)


def is_uneven(pads: Sequence[int]) -> bool:
    """Whether the padding before and behind some side differs."""
    half = len(pads) // 2
    return list(pads[:half]) != list(pads[half:])


class PaddingPorter:
    """The part of the porter that knows them."""

    def state_padding(self, node: Any) -> bool:
        """States the padding that `auto_pad` means."""
        own, shape = self.attributes(node), self.shapes.get(node.input[0], [None])
        way = own.get("auto_pad", b"NOTSET")
        if way == b"NOTSET":
            return False
        if node.op_type == "Conv":
            kernel = self.shapes.get(node.input[1], [None])
            if None in kernel:
                return False
            own["kernel_shape"] = kernel[2:]
        rank = len(own["kernel_shape"])
        if None not in shape:
            begins, ends = self.margins(own, shape[2:])
        elif way == b"VALID" or max(own.get("strides", [1])) == 1:
            begins, ends = self.margins(own, [1] * rank)  # They are the same for all sizes.
        else:
            return self.pad_open(node, own)
        self.out.append(self.onnx.helper.make_node(
            node.op_type, node.input, node.output, **{**own, "pads": begins + ends}))
        return True

    def take_zeros(self, node: Any) -> bool:
        """A convolution pads its image itself where a Pad with zeros is before it, as files from TensorFlow have it.
        Zeros stay zeros where the image is quantized in between."""
        own, pair, name = self.attributes(node), [], node.input[0]
        while (maker := self.makers.get(name)) is not None and self.only_consumer(name) is not None:
            if maker.op_type != ("QuantizeLinear" if pair else "DequantizeLinear") or len(pair) > 1:
                break
            pair.append(maker)
            name = maker.input[0]
        pads = self.zeros_around(maker) if maker is not None and len(pair) != 1 else None
        weights = self.shapes.get(node.input[1], [None])
        if pads is None or not pads.any() or None in weights or len(weights) != 2 + pads.shape[1]:
            return False
        is_few = not pair and own.get("group", 1) == 1 and weights[1] < _CHANNELS_MIN
        if (is_few or self.only_consumer(name) is None
                or own.pop("auto_pad", b"NOTSET") not in (b"NOTSET", b"VALID")):
            return False
        pads = pads + np.reshape(own.get("pads", [0] * pads.size), pads.shape)
        reach = (np.array(weights[2:]) - 1) * own.get("dilations", [1] * pads.shape[1]) + 1
        if (pads >= reach).any() or any(self.scale_of(each) is None for each in pair):
            return False
        image, before = maker.input[0], self.makers.get(maker.input[0])
        if pair and (before is None or before.op_type != "DequantizeLinear"
                     or self.scale_of(before) != self.scale_of(pair[0])):
            for each in reversed(pair):
                image = self.emit(each.op_type, [image, *each.input[1:]], **self.attributes(each))
        self.emit("Conv", [image, *node.input[1:]], node.output[0], **{**own, "pads": pads.reshape(-1).tolist()})
        return True

    def zeros_around(self, node: Any) -> np.ndarray | None:
        """How many zeros a Pad puts before and behind the rows and columns of an image; None: it is no such Pad."""
        if node.op_type != "Pad" or self.attributes(node).get("mode", b"constant") != b"constant":
            return None
        pads, value = self.constants.get(node.input[1]), [*node.input, ""][2]
        maker = self.makers.get(value)
        if maker is not None and maker.op_type == "DequantizeLinear":  # Of a byte.
            byte, scale = self.constants.get(maker.input[0]), self.scale_of(maker)
            is_zero = byte is not None and scale is not None and byte.size == 1 and int(byte.reshape(())) == scale[1]
        else:
            is_zero = not value or value in self.constants and not self.constants[value].any()
        if any(node.input[3:]) or pads is None or len(pads) < 6 or not is_zero:
            return None
        pads = pads.reshape(2, -1)
        return None if (pads < 0).any() or pads[:, :2].any() else pads[:, 2:]

    def scale_of(self, node: Any) -> tuple[float, int, Any] | None:
        """The one scale, the zero point and the type of what a node quantizes, if these are known."""
        found = graphs.one_scale(node, self.constants)
        return None if found is None else (float(found[0]), int(found[1]), found[1].dtype)

    def pad_open(self, node: Any, own: dict[str, Any]) -> bool:
        """A pool whose padding a call computes. That of convolutions the compiler knows, and Takt's kernels know that
        of images."""
        shape = self.shapes.get(node.input[0], ())
        is_left = self.leaves_layers and node.op_type != "LpPool" and len(shape) == 4 and shape[1] is not None
        if node.op_type == "Conv" or len(node.output) > 1 or is_left:
            return False
        (source,), (output,), rank = node.input, node.output, len(own["kernel_shape"])
        is_upper = own.pop("auto_pad") == b"SAME_UPPER"
        pads = self.emit("Concat", self.open_margins(own, self.sides(source, rank), is_upper), axis=0)
        zero = self.number(0, source)
        filling = self.least(self.types[source]) if node.op_type == "MaxPool" else zero
        padded = self.emit("Pad", [source, pads, filling])
        if node.op_type != "AveragePool" or own.pop("count_include_pad", 0):
            self.emit(node.op_type, [padded], output, **own)
            return True
        self.emit_means(padded, self.emit("Pad", [self.ones_like(source), pads, zero]), own, output)
        return True

    def sides(self, source: str, rank: int) -> str:
        """The sizes of an image behind its samples and channels."""
        return self.emit("Slice", [self.emit("Shape", [source]), *map(self.constant, ([2], [2 + rank]))])

    def ones_like(self, source: str) -> str:
        """A tensor of the sizes and the type of another one, whose numbers are all 1."""
        return self.emit("Add", [self.zeros_like(source, self.types[source]), self.number(1, source)])

    def emit_means(self, source: str, counted: str, own: dict[str, Any], output: str) -> None:
        """Means of what counts: the share of a window that does is a mean of ones."""
        self.emit("Div", [self.emit("AveragePool", [each], **own) for each in (source, counted)], output)

    def on_open_overhang(self, node: Any) -> bool:
        """Windows of means that reach behind the padding of an open size, where nothing counts. Takt's kernels know
        those that count no padding."""
        own, source = self.attributes(node), node.input[0]
        kernel, rank = np.array(own["kernel_shape"]), len(own["kernel_shape"])
        strides, dilations = (np.array(own.get(name, [1] * rank)) for name in ("strides", "dilations"))
        begins, ends = np.array(own.pop("pads", [0] * 2 * rank)).reshape(2, rank)
        counts_padding = own.pop("count_include_pad", 0)
        rows = map(open_sizes.rows_behind, kernel.tolist(), strides.tolist(), dilations.tolist(), ends.tolist())
        is_left = self.leaves_layers and rank == 2 and not counts_padding and None not in rows
        if "auto_pad" in own or is_left:
            return False
        del own["ceil_mode"]
        reach, padding = (kernel - 1) * dilations + 1, begins + ends
        sides = self.sides(source, rank)
        steps = self.by("Div", self.by("Add", sides, padding - reach + strides - 1), strides)
        last = self.by("Mul", steps, strides)  # The last window's place. It is none if it is behind the image.
        is_behind = self.by("GreaterOrEqual", last, self.by("Add", sides, begins))
        is_behind = self.emit("Cast", [is_behind], to=self.onnx.TensorProto.INT64)
        last = self.by("Sub", last, self.by("Mul", is_behind, strides))
        more = self.by("Max", self.by("Sub", self.by("Add", last, reach - padding), sides), 0)
        around = self.constant(np.array([0, 0, *begins, 0, 0, *ends]))
        behind = self.emit("Concat", [self.constant(np.zeros(4 + rank, np.int64)), more], axis=0)
        padded = []
        for tensor, value in ((source, 0), (self.ones_like(source), counts_padding)):
            inside = self.emit("Pad", [tensor, around, self.number(value, source)])
            padded.append(self.emit("Pad", [inside, behind, self.number(0, source)]))
        self.emit_means(*padded, own, node.output[0])
        return True

    def open_margins(self, own: dict[str, Any], sides: str, is_upper: bool) -> list[str]:
        """What the padding is joined of, as `Pad` takes it."""
        kernel = np.array(own["kernel_shape"])
        strides, dilations = (np.array(own.get(name, [1] * len(kernel))) for name in ("strides", "dilations"))

        last = self.by("Div", self.by("Sub", sides, 1), strides)  # The last window's place.
        reach = self.by("Add", self.by("Mul", last, strides), (kernel - 1) * dilations + 1)
        half, other = self.halves(self.by("Max", self.by("Sub", reach, sides), 0))
        ahead = self.constant(_AHEAD)
        return [ahead, half, ahead, other] if is_upper else [ahead, other, ahead, half]

    def halves(self, total: str) -> list[str]:
        """Two parts; of an odd number, the second one is larger."""
        half = self.by("Div", total, 2)
        return [half, self.by("Sub", total, half)]

    def by(self, kind: str, left: str, right: Any) -> str:
        """An operation on a tensor and another one or a constant."""
        return self.emit(kind, [left, right if isinstance(right, str) else self.constant(np.asarray(right))])

    def on_center(self, node: Any) -> bool:
        """The middle of a tensor of open sizes, of which the compiler takes wrong ones."""
        source, wanted = node.input
        shape = self.shapes.get(source)
        if not shape or None not in shape:
            return False
        rank = len(shape)
        axes = [axis % rank for axis in self.attributes(node).get("axes", range(rank))]
        sizes = self.emit("Shape", [source])
        given = [self.by("Gather", wanted, [axes.index(i)]) if i in axes else self.by("Gather", sizes, [i])
                 for i in range(rank)]
        wanted = self.emit("Concat", given, axis=0)
        kept = self.by("Min", sizes, wanted)
        first, _ = self.halves(self.by("Sub", sizes, kept))
        part = self.emit("Slice", [source, first, self.by("Add", first, kept)])
        pads = self.emit("Concat", self.halves(self.by("Sub", wanted, kept)), axis=0)
        self.emit("Pad", [part, pads, self.number(0, source)], node.output[0])
        return True
