"""Kernels that write the parts of a concatenation where they belong: a part of `rewriter`."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from ..networks import graphs, open_sizes
from .kernel_calls import DOMAIN, JOINED_CHANNELS_MAX, JOINING, Kernel


@dataclasses.dataclass(frozen=True)
class _Part:
    """An input of a concatenation along the channels."""

    name: str
    channel: int  # Its first in the result.


class JoinedRewriter:
    """The part of the rewriter that removes copies behind kernels.

    The first kernel makes the whole tensor and writes its channels. The next one takes that tensor, writes its own
    channels of it, and so on. Parts that no kernel makes, or that others read as well, are copied at the end.
    """

    def join_results(self) -> None:
        """Replaces concatenations along the channels in the nodes that were emitted."""
        self.emitted_readers = graphs.reader_counts(self.out)
        self.emitted_kernels = {node.output[0]: (i, node) for i, node in enumerate(self.out)
                                if node.op_type == "TaktKernel"}
        copies = {id(node): self.join_parts(node) for node in self.out if node.op_type == "Concat"}
        self.out = [each for node in self.out for each in copies.get(id(node), [node])]

    def join_parts(self, concat: Any) -> list[Any]:
        """The nodes that take the place of a concatenation."""
        shape = self.joined_shape(concat)
        if shape is None:
            return [concat]
        parts, channel = [], 0
        for name in concat.input:
            parts.append(_Part(name, channel))
            channel += self.emitted_shape(name)[-1]
        kernels = {part.name: part for part in parts if list(concat.input).count(part.name) == 1}
        emitted = sorted(self.emitted_kernels[name] for name in kernels if name in self.emitted_kernels)
        makers = [node for _, node in emitted if self.writes_parts(node)]
        rest = [part for part in parts if all(part.name != maker.output[0] for maker in makers)]
        joined = None
        for i, maker in enumerate(makers):
            part = kernels[maker.output[0]]
            is_last = i == len(makers) - 1 and not rest
            kernel = dataclasses.replace(self.kernels[maker.attribute[0].i], joined=(part.channel, shape[-1]),
                                         is_tied=joined is not None)
            inputs = [*([joined] if joined is not None else []), *maker.input]
            joined = self.joined_name(concat, is_last, shape)
            maker.CopyFrom(self.onnx.helper.make_node(
                "TaktKernel", inputs, [joined], name=joined, domain=DOMAIN, kernel=self.index_of(kernel)))
        return self.copies(concat, joined, rest, shape) if makers else [concat]

    def copies(self, concat: Any, joined: str, rest: list[_Part], shape: open_sizes.Sizes) -> list[Any]:
        """The nodes that copy the other parts into the tensor `joined`."""
        copies = []
        for i, part in enumerate(rest):
            result = self.joined_name(concat, i == len(rest) - 1, shape)
            copies.append(self.onnx.helper.make_node("TaktUpdate", [joined, part.name], [result], name=result,
                                                     domain=DOMAIN, channel=part.channel))
            joined = result
        return copies

    def joined_name(self, concat: Any, is_last: bool, shape: open_sizes.Sizes) -> str:
        """A name for the tensor with some of its parts; with the last one it is the concatenation."""
        name = concat.output[0] if is_last else self.fresh("joined")
        self.new_values[name] = (shape, self.onnx.TensorProto.FLOAT)
        self.made.add(name)
        return name

    def joined_shape(self, concat: Any) -> open_sizes.Sizes | None:
        """The sizes of a concatenation of floats along the last dimension; None if it is another, too wide for the
        kernels, or if a call could find parts of different sizes."""
        shapes = [self.emitted_shape(name) for name in [*concat.output, *concat.input]]
        elements = {self.emitted_element(name) for name in concat.input}
        if any(shape is None for shape in shapes) or elements != {self.onnx.TensorProto.FLOAT}:
            return None
        rank = len(shapes[0])
        if (any(shape[:-1] != shapes[0][:-1] for shape in shapes) or open_sizes.is_open(shape[-1] for shape in shapes)
                or shapes[0][-1] > JOINED_CHANNELS_MAX):
            return None
        return shapes[0] if self.attributes(concat)["axis"] % rank == rank - 1 else None

    def writes_parts(self, node: Any) -> bool:
        """Whether a node is a kernel whose result only the concatenation reads, and which can write it elsewhere."""
        name = node.output[0]
        if self.emitted_readers[name] != 1 or name in self.results:
            return False
        kernel = self.kernels[node.attribute[0].i]
        if (not isinstance(kernel, Kernel) or kernel.function not in JOINING or kernel.has_residual
                or kernel.joined is not None):
            return False
        n, _, _, _, oh, ow, oc, *_ = kernel.shape
        shape = self.emitted_shape(name)
        return shape[-1] == oc and (kernel.is_open or math.prod(shape[:-1]) == n * oh * ow)

    def emitted_shape(self, name: str) -> open_sizes.Sizes | None:
        return self.new_values[name][0] if name in self.new_values else self.sizes(name)

    def emitted_element(self, name: str) -> int | None:
        return self.new_values[name][1] if name in self.new_values else self.element_types.get(name)
