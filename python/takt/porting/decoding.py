"""Attention of a single step with a cache of fixed size, as ONNX Runtime has it: a part of `porter`."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

_KNOWN = {"mask_filter_value", "num_heads", "past_present_share_buffer", "scale"}


class DecodingPorter:
    """The part of the porter that knows it."""

    def decoding_handlers(self) -> dict[tuple[str, str], Callable[[Any], bool]]:
        return {("com.microsoft", "DecoderMaskedMultiHeadAttention"): self.on_step}

    def on_step(self, node: Any) -> bool:
        """The standard Attention. Its keys and values are those of the cache, in which the new ones come behind the
        past, or those of an encoder, which have heads. Searches along several beams are left as they are."""
        inputs = [*node.input, *[""] * 11][:11]
        query, key, value, padding, added, past, _, length, beams, ways, bias = inputs
        shapes = [self.shapes.get(name, [None]) for name in (query, key, value)]
        rank = 3 if past else 4
        if (set(self.attributes(node)) - _KNOWN or added or beams or ways or any(node.output[3:])
                or any(None in shape for shape in shapes) or len(shapes[1]) != rank or shapes[0][1] != 1
                or past and (padding or not length or not self.is_static(past))
                or not past and (bias or any(node.output[1:]))):
            return False
        own, (batch, _, width) = self.attributes(node), shapes[0]
        heads = [batch, own["num_heads"], 1, width // own["num_heads"]]
        sources = [query, key, value]
        if bias:
            sources = [self.emit("Add", [name, self.slice(bias, 0, i * width, (i + 1) * width)])
                       for i, name in enumerate(sources)]
        rows = self.noted(self.emit("Reshape", [sources[0], self.constant(heads)]), query, heads)
        if past:
            keys, values, mask = self.cached(sources[1:], inputs[5:7], length, heads)
        else:
            keys, values, mask = key, value, ""
            if padding:
                seen = self.emit("Cast", [padding], to=self.onnx.TensorProto.BOOL)
                mask = self.emit("Reshape", [seen, self.constant([batch, 1, 1, -1])])
                self.types[mask], self.shapes[mask] = self.onnx.TensorProto.BOOL, [batch, 1, 1, shapes[1][2]]
        found = self.fresh("step")
        numbers = {"scale": own["scale"]} if own.get("scale", 0) else {}
        if not self.on_attention(self.onnx.helper.make_node(
                "Attention", [rows, keys, values, mask], [found], **numbers)):
            return False
        self.emit("Reshape", [found, self.constant([batch, 1, width])], node.output[0])
        for name, output in zip((keys, values), node.output[1:3]):
            if output:
                self.emit("Identity", [name], output)
        return True

    def cached(self, new: list[str], pasts: list[str], length: str, heads: list[int]) -> tuple[str, str, str]:
        """Keys and values with the new ones in their place, and which of them are there."""
        count = self.shapes[pasts[0]][2]
        last = self.emit("Reshape", [self.emit("Cast", [length], to=self.onnx.TensorProto.INT64),
                                     self.constant([1, 1, 1, 1])])
        is_new = self.emit("Equal", [self.constant(np.arange(count).reshape(1, 1, -1, 1)), last])
        keys, values = (
            self.noted(self.emit("Where", [is_new, self.emit("Reshape", [name, self.constant(heads)]), past]), past,
                       self.shapes[past]) for name, past in zip(new, pasts))
        mask = self.emit("LessOrEqual", [self.constant(np.arange(count).reshape(1, 1, 1, -1)), last])
        self.types[mask], self.shapes[mask] = self.onnx.TensorProto.BOOL, [1, 1, 1, count]
        return keys, values, mask

    def noted(self, name: str, like: str, shape: list[int]) -> str:
        """Notes the shape of a tensor, whose type is that of another one."""
        self.types[name], self.shapes[name] = self.types[like], shape
        return name
