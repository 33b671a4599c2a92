"""The operator Attention (opset 23 on), and those of ONNX Runtime, in older ones: a part of `porter`."""

from __future__ import annotations

import math
from typing import Any, Callable, Sequence

import numpy as np

_LEAST = -1e30  # The score of what may not be seen, and of all below it.

_GROUPED = {"do_rotary", "kv_num_heads", "local_window_size", "num_heads", "rotary_interleaved", "scale", "softcap"}
_KNOWN = {"is_causal", "kv_num_heads", "left_window_size", "q_num_heads", "qk_matmul_output_mode",
          "right_window_size", "scale", "softcap", "softmax_precision"}


class AttentionPorter:
    """The part of the porter that knows it."""

    def attention_handlers(self) -> dict[tuple[str, str], Callable[[Any], bool]]:
        return {
            ("", "Attention"): self.on_attention,
            ("com.microsoft", "Attention"): self.on_joint_attention,
            ("com.microsoft", "QAttention"): self.on_quantized_attention,
            ("com.microsoft", "MultiHeadAttention"): self.on_several_heads,
            ("com.microsoft", "GroupQueryAttention"): self.on_grouped_heads,
        }

    def on_attention(self, node: Any) -> bool:
        names = [*node.input, *[""] * 7][:7]
        query, key, value, mask, past_key, past_value, lengths = names
        if set(self.attributes(node)) - _KNOWN or not _Attention.is_known(self, node, names):
            return False
        call = _Attention(self, node)
        q, k, v = (call.heads_of(name, kind) for name, kind in ((query, "q"), (key, "kv"), (value, "kv")))
        if past_key:
            k = self.emit("Concat", [past_key, k], axis=2)
            v = self.emit("Concat", [past_value, v], axis=2)
        for name, output in zip((k, v), node.output[1:3]):
            if output:
                self.emit("Identity", [name], output)
        first, count = self.shapes[past_key][2] if past_key else 0, self.shapes[key][-2]
        call.key_count = None if None in (first, count) else first + count
        k, v = call.repeated(k, key), call.repeated(v, value)
        scores = call.scores_of(q, k)
        bias, is_seen = call.bias_of(mask, lengths, past_key)
        biased = self.emit("Add", [scores, bias]) if bias else scores
        shares = call.softmax(biased)
        result = self.emit("MatMul", [shares, v])
        if is_seen:  # A row that sees nothing is zero.
            result, shares = (self.emit("Where", [is_seen, name, call.number(0)]) for name in (result, shares))
        if len(self.shapes[query]) == 3:
            result = self.emit("Transpose", [result], perm=[0, 2, 1, 3])
            result = self.emit("Reshape", [result, self.constant([0, 0, -1])])
        self.emit("Identity", [result], node.output[0])
        if any(node.output[3:]):
            self.emit("Identity", [{2: biased, 3: shares}.get(call.mode, scores)], node.output[3])
        return True

    def on_several_heads(self, node: Any) -> bool:
        """MultiHeadAttention of ONNX Runtime, whose queries, keys and values are apart."""
        query, key, value, bias, padding, added, past_key, past_value = [*node.input, *[""] * 8][:8]
        sources = [query, key, value]
        if not all(map(self.is_static, sources)) or any(len(self.shapes[name]) != 3 for name in sources):
            return False
        if bias:
            sizes = np.cumsum([0, *(self.shapes[name][2] for name in sources)])
            sources = [self.like(name, self.emit("Add", [name, self.slice(bias, 0, int(begin), int(end))]))
                       for name, begin, end in zip(sources, sizes, sizes[1:])]
        return self.on_heads(node, sources, padding, added, (past_key, past_value), node.output[1:])

    def on_grouped_heads(self, node: Any) -> bool:
        """GroupQueryAttention of ONNX Runtime. The numbers of batches, of tokens, and of past keys may be open."""
        query, key, value, past_key, past_value, last, total, cosines, sines, places, *more = [
            *node.input, *[""] * 14][:14]
        own, sources = self.attributes(node), [query, key, value] if key else [query]
        pasts = [self.shapes.get(name, []) for name in (past_key, past_value) if name]
        if ({name for name, number in own.items() if number} - _GROUPED or any(more)
                or any(len(shape) != 4 for shape in pasts)
                or any(len(self.shapes.get(name, [])) != 3 or not self.shapes[name][2] for name in sources)):
            return False
        counts = [own["num_heads"], own["kv_num_heads"], own["kv_num_heads"]]
        if not key:
            size = self.shapes[query][2] // sum(counts)
            ends = np.cumsum([0, *counts]) * size
            sources = [self.like(query, self.slice(query, 2, int(begin), int(end)), int(end - begin))
                       for begin, end in zip(ends, ends[1:])]
        call = _Grouped(self, sources, counts, own)
        if any(shape[2] != 0 for shape in pasts):
            call.begin_behind(past_key, last, total)
        if own.get("do_rotary", 0):
            sources[:2] = self.turned_heads(sources[:2], counts, places or call.places(), cosines, sines, own)
        heads = [call.heads(name, count) for name, count in zip(sources, counts)]
        if call.past:
            heads[1:] = [call.placed(past, new) for past, new in zip((past_key, past_value), heads[1:])]
        for name, output in zip(heads[1:], node.output[1:3]):
            if output:
                self.emit("Identity", [name], output)
        call.attend(heads, node.output[0])
        return True

    def turned_heads(self, sources: list[str], counts: list[int], places: str, cosines: str, sines: str,
                     own: dict[str, Any]) -> list[str]:
        """Queries and keys by the angles of their places."""
        return [self.like(name, self.emit("RotaryEmbedding", [name, places, cosines, sines], domain="com.microsoft",
                                          num_heads=count, interleaved=own.get("rotary_interleaved", 0)))
                for name, count in zip(sources, counts)]

    def on_joint_attention(self, node: Any) -> bool:
        """Attention of ONNX Runtime: one product makes queries, keys and values."""
        source, weights, bias, padding, past, added, *more = [*node.input, *[""] * 7][:7]
        if not all(map(self.is_static, (source, weights))) or any(more):
            return False
        joint = self.emit("MatMul", [source, weights])
        if bias:
            joint = self.emit("Add", [joint, bias])
        self.types[joint] = self.types[source]
        return self.on_product(node, joint, padding, past, added)

    def on_quantized_attention(self, node: Any) -> bool:
        """QAttention: an Attention of bytes, whose product becomes floats."""
        source, weights, bias, scale, w_scale, padding, zero, w_zero, past = [*node.input, *[""] * 9][:9]
        if not all(map(self.is_static, (source, weights))):
            return False
        joint, maker = self.fresh("MatMul"), self.makers.get(source)
        if maker is None or list(maker.output) != [source, scale, zero] or not self.scaled_product(
                "MatMul", maker.input[0], weights, self.constants.get(w_scale), w_zero, bias, joint, {}):
            if w_zero and self.shapes.get(w_scale) != self.shapes.get(w_zero):
                return False
            floats = [self.emit("DequantizeLinear", list(filter(None, names)), axis=axis)
                      for names, axis in (([source, scale, zero], 0), ([weights, w_scale, w_zero], 1))]
            self.emit("Add", [self.emit("MatMul", floats), bias], joint)
        self.types[joint] = self.onnx.TensorProto.FLOAT
        return self.on_product(node, joint, padding, past, "")

    def on_product(self, node: Any, joint: str, padding: str, past: str, added: str) -> bool:
        """Queries, keys and values in one tensor; keys and values of the past, too, and those of the result."""
        source, weights = node.input[:2]
        width = self.shapes[weights][-1]
        self.shapes[joint] = [*self.shapes[source][:-1], width]
        ends = np.cumsum([0, *(self.attributes(node).get("qkv_hidden_sizes") or [width // 3] * 3)])
        sources = [self.like(joint, self.slice(joint, 2, int(begin), int(end)), int(end - begin))
                   for begin, end in zip(ends, ends[1:])]
        pasts = ["", ""]
        if past:
            if not self.is_static(past):
                return False
            for i in range(2):
                pasts[i] = self.emit("Reshape", [self.slice(past, 0, i, i + 1), self.constant(self.shapes[past][1:])])
                self.shapes[pasts[i]] = self.shapes[past][1:]
        present = [self.fresh("present"), self.fresh("present")] if any(node.output[1:]) else []
        if not self.on_heads(node, sources, padding, added, pasts, present):
            return False
        if present:
            rows = [self.emit("Unsqueeze", [name, self.constant([0])]) for name in present]
            self.emit("Concat", rows, node.output[1], axis=0)
        return True

    def like(self, name: str, made: str, size: int | None = None) -> str:
        """Notes the type and the shape of what was made of a tensor."""
        self.types[made] = self.types[name]
        self.shapes[made] = [*self.shapes[name][:-1], self.shapes[name][-1] if size is None else size]
        return made

    def on_heads(self, node: Any, sources: list[str], padding: str, added: str, past: Sequence[str],
                 present: list[str]) -> bool:
        """The standard Attention with the terms of ONNX Runtime's.

        padding   of [batch][keys], false where a key is none; or [batch], how many keys there are.
        added     what is added to the scores.
        """
        own, shape = self.attributes(node), self.shapes.get(padding, [])
        known = {"num_heads", "scale", "unidirectional", "qkv_hidden_sizes", "mask_filter_value"}
        if set(own) - known or None in shape or len(shape) > 2 or (added and not self.is_static(added)):
            return False
        mask = added
        if padding:
            count, seen = shape[-1], self.emit("Cast", [padding], to=self.onnx.TensorProto.BOOL)
            if len(shape) == 1:
                parts = [self.shapes[sources[1]][1], self.shapes[past[0]][2] if past[0] else 0]
                if None in parts or shape[0] != self.shapes[sources[0]][0]:
                    return False
                count, element = sum(parts), self.onnx.helper.tensor_dtype_to_np_dtype(self.types[padding])
                seen = self.emit("Less", [self.constant(np.arange(count, dtype=element)),
                                          self.emit("Unsqueeze", [padding, self.constant([1])])])
            # A row that sees no key sees all of them, as the least score is a finite one.
            least = own.get("mask_filter_value", -10000.0)
            hidden = self.emit("Where", [seen, *(self.number(each, sources[0]) for each in (0.0, least))])
            mask = self.emit("Reshape", [hidden, self.constant([shape[0], 1, 1, count])])
            self.types[mask], self.shapes[mask] = self.types[sources[0]], [shape[0], 1, 1, count]
            if added:
                whole = np.broadcast_shapes(self.shapes[mask], self.shapes[added])
                mask = self.emit("Add", [mask, added])
                self.types[mask], self.shapes[mask] = self.types[added], list(whole)
        heads = own["num_heads"]
        numbers = {"scale": own["scale"]} if own.get("scale", 0) else {}
        return self.on_attention(self.onnx.helper.make_node(
            "Attention", [*sources, mask, *past], [node.output[0], *present], q_num_heads=heads, kv_num_heads=heads,
            is_causal=own.get("unidirectional", 0), **numbers))

    def is_static(self, name: str) -> bool:
        return None not in self.shapes.get(name, [None])


class _Attention:
    """One node of it. The numbers of batches, of rows and of keys may be open."""

    @staticmethod
    def is_known(porter: Any, node: Any, names: list[str]) -> bool:
        """Whether all that its terms need is known: the heads and their size, and with lengths all sizes."""
        query, key, value, mask, past_key, _, lengths = names
        if all(map(porter.is_static, filter(None, names))):
            return True
        own, shapes = porter.attributes(node), [porter.shapes.get(name, []) for name in (query, key, value)]
        rank = len(shapes[0])
        counts = ("q_num_heads", "kv_num_heads")
        return (not lengths and rank in (3, 4) and all(len(shape) == rank and shape[-1] for shape in shapes)
                and all(own.get(name) or (rank == 4 and shape[1]) for name, shape in zip(counts, shapes))
                and not (past_key and len(porter.shapes.get(past_key, [])) != 4)
                and (not mask or mask in porter.types and bool(porter.shapes.get(mask))))

    def __init__(self, porter: Any, node: Any) -> None:
        self.porter = porter
        self.own = porter.attributes(node)
        self.query, self.key = query, key = node.input[:2]
        self.shape = porter.shapes[query]
        self.is_flat = len(self.shape) == 3
        self.counts = {kind: self.own.get(f"{kind}_num_heads", porter.shapes[name][1])
                       for kind, name in (("q", query), ("kv", key))}
        self.row_count = self.shape[-2]
        self.key_count: int | None = 0
        self.dtype = porter.onnx.helper.tensor_dtype_to_np_dtype(porter.types[query])
        self.mode = self.own.get("qk_matmul_output_mode", 0)
        # A result with the bias has the true one.
        self.least = -math.inf if self.mode == 2 and any(node.output[3:]) else _LEAST
        if self.dtype == np.float16 and self.least == _LEAST:
            self.least = float(np.finfo(np.float16).min) / 2  # Two of them are still a number.
        self.blind = max(self.least, _LEAST) / 2  # The bias of what a row does not see is below.

    def number(self, value: float) -> str:
        return self.porter.constant(np.asarray(value, self.dtype))

    def heads_of(self, name: str, kind: str) -> str:
        """[batch][heads][tokens][size]"""
        if not self.is_flat:
            return name
        split = self.porter.emit("Reshape", [name, self.porter.constant([0, 0, self.counts[kind], -1])])
        return self.porter.emit("Transpose", [split], perm=[0, 2, 1, 3])

    def repeated(self, name: str, source: str) -> str:
        """Each head of keys or values, made of `source`, as often as heads of queries share it."""
        heads, groups = self.counts["q"], self.counts["kv"]
        if heads == groups:
            return name
        wide = self.porter.emit("Unsqueeze", [name, self.porter.constant([2])])
        wide = self.porter.emit("Expand", [wide, self.porter.constant([1, 1, heads // groups, 1, 1])])
        size = self.porter.shapes[source][-1] // (groups if self.is_flat else 1)
        return self.porter.emit("Reshape", [wide, self.porter.constant([0, heads, -1, size])])

    def scores_of(self, q: str, k: str) -> str:
        size = self.shape[-1] // (self.counts["q"] if self.is_flat else 1)
        scale = self.own.get("scale", 1 / math.sqrt(size))
        scores = self.porter.emit("MatMul", [q, self.porter.emit("Transpose", [k], perm=[0, 1, 3, 2])])
        scores = self.porter.emit("Mul", [scores, self.number(scale)])
        cap = self.own.get("softcap", 0.0)
        if cap:
            bent = self.porter.emit("Tanh", [self.porter.emit("Div", [scores, self.number(cap)])])
            scores = self.porter.emit("Mul", [bent, self.number(cap)])
        return scores

    def bias_of(self, mask: str, lengths: str, past: str) -> tuple[str, str]:
        """What is added to the scores, and which rows see a key; "": nothing, all.

        lengths   how many keys of each batch are valid, the rows of queries the last of them.
        past      the keys before the first row's.
        """
        porter, is_open = self.porter, None in (self.row_count, self.key_count)
        if not is_open and not lengths and (not mask or mask in porter.constants):
            return self.fixed_bias(self.window(past), porter.constants.get(mask))
        seen = []
        if lengths:
            seen.append(self.valid(lengths))
        elif self.bounds() != (-1, -1):
            seen.append(self.open_window(past) if is_open else porter.constant(self.window(past)))
        if not seen and not mask:
            return "", ""
        is_additive = mask and porter.types[mask] != porter.onnx.TensorProto.BOOL
        if mask and not is_additive:
            seen.append(self.padded(mask, np.asarray(False)))
        bias = ""
        if seen:
            together = seen[0]
            for name in seen[1:]:
                together = porter.emit("And", [together, name])
            bias = porter.emit("Where", [together, self.number(0), self.number(self.least)])
        if is_additive:
            given = self.padded(mask, np.asarray(-math.inf, self.dtype))
            bias = porter.emit("Add", [bias, given]) if bias else given
        return bias, porter.emit("Greater", [porter.reduce("ReduceMax", bias, [-1]), self.number(self.blind)])

    def fixed_bias(self, window: np.ndarray, mask: np.ndarray | None) -> tuple[str, str]:
        """bias_of() where all of it is known."""
        if mask is None and window.all():
            return "", ""
        bias = np.where(window, 0, self.least).astype(self.dtype)
        if mask is not None:
            given = np.where(mask, 0, self.least).astype(self.dtype) if mask.dtype == bool else mask
            missing = [(0, 0)] * (given.ndim - 1) + [(0, self.key_count - given.shape[-1])]
            bias = bias + np.pad(given, missing, constant_values=self.least)
        is_seen = bias.max(-1, keepdims=True) > self.blind
        return self.porter.constant(bias), "" if is_seen.all() else self.porter.constant(is_seen)

    def window(self, past: str) -> np.ndarray:
        """[rows][keys]: which keys a row may see."""
        first = self.porter.shapes[past][2] if past else 0
        ahead = np.arange(self.key_count) - (np.arange(self.row_count)[:, None] + first)
        left, right = self.bounds()
        return ((left < 0) | (-ahead <= left)) & ((right < 0) | (ahead <= right))

    def open_window(self, past: str) -> str:
        """window(), computed by the network."""
        porter = self.porter
        rows, new = (porter.emit("Shape", [name], start=-2, end=-1) for name in (self.query, self.key))
        first = porter.emit("Shape", [past], start=2, end=3) if past else porter.constant([0])
        keys, places = (porter.emit("Range", [porter.constant(np.array(0)), self.scalar(count),
                                              porter.constant(np.array(1))])
                        for count in (porter.emit("Add", [first, new]), rows))
        places = porter.emit("Unsqueeze", [porter.emit("Add", [places, first]), porter.constant([1])])
        ahead, seen = porter.emit("Sub", [keys, places]), []
        for count, sign in zip(self.bounds(), (-1, 1)):
            if count >= 0:
                edge = porter.constant(np.array(sign * count))
                seen.append(porter.emit("LessOrEqual" if sign > 0 else "GreaterOrEqual", [ahead, edge]))
        return seen[0] if len(seen) == 1 else porter.emit("And", seen)

    def scalar(self, name: str) -> str:
        return self.porter.emit("Squeeze", [name, self.porter.constant([0])])

    def bounds(self) -> tuple[int, int]:
        """How many keys before and behind its own place a row may see; -1: all."""
        left, right = (self.own.get(f"{side}_window_size", -1) for side in ("left", "right"))
        return left, 0 if self.own.get("is_causal", 0) else right

    def valid(self, lengths: str) -> str:
        """[batch][1][rows or 1][keys]: which keys a row may see."""
        porter = self.porter
        ends = porter.emit("Reshape", [lengths, porter.constant([-1, 1, 1, 1])])
        keys = porter.constant(np.arange(self.key_count))
        result = porter.emit("Less", [keys, ends])
        places = porter.emit("Add", [ends, porter.constant(
            np.arange(self.row_count).reshape(1, 1, -1, 1) - self.row_count)])
        left, right = self.bounds()
        for kind, count in (("Less", right), ("Greater", left)):
            if count >= 0:
                sign = 1 if kind == "Less" else -1
                edge = porter.emit("Add", [places, porter.constant(np.asarray(sign * (count + 1)))])
                result = porter.emit("And", [result, porter.emit(kind, [keys, edge])])
        return result

    def padded(self, mask: str, value: np.ndarray) -> str:
        """With a value for the keys that a mask does not reach."""
        shape = self.porter.shapes[mask]
        missing = 0 if None in (self.key_count, *shape) else self.key_count - shape[-1]
        if missing <= 0:
            return mask
        rest = self.porter.constant(np.full((*shape[:-1], missing), value))
        return self.porter.emit("Concat", [mask, rest], axis=-1)

    def softmax(self, scores: str) -> str:
        porter, wanted = self.porter, self.own.get("softmax_precision", 0)
        own = porter.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(self.dtype))
        if wanted in (0, own):
            return porter.emit("Softmax", [scores], axis=-1)
        found = porter.emit("Softmax", [porter.emit("Cast", [scores], to=wanted)], axis=-1)
        return porter.emit("Cast", [found], to=own)


class _Grouped:
    """One GroupQueryAttention, whose tokens follow those of a past, if there is one."""

    def __init__(self, porter: Any, sources: list[str], counts: list[int], own: dict[str, Any]) -> None:
        self.porter, self.counts, self.own = porter, counts, own
        self.query, self.past = sources[0], ""
        self.size = porter.shapes[self.query][2] // counts[0]
        self.steps = self.count_of(self.query, 1)
        self.rows = self.own_rows = self.numbers(self.steps)  # The places of all keys, and of the new ones.
        self.moved_rows = ""  # What rows_of_places() has made.
        self.first = porter.constant(np.zeros((1, 1), np.int64))  # [batch or 1][1]: the place of the first token.

    def begin_behind(self, past: str, last: str, total: str) -> None:
        """`last` says where the last token of each batch is. Where all tokens are new there is no past, and sequences
        that are shorter than others end with tokens that count for nothing."""
        porter = self.porter
        self.past = past
        batch = porter.shapes[self.query][0]
        column = porter.constant([batch, 1]) if batch is not None else porter.emit(
            "Concat", [self.count_of(self.query, 0), porter.constant([1])], axis=0)
        end = porter.emit("Add", [self.reshaped(last, column), porter.constant([1])])
        before = porter.emit("Sub", [end, self.steps])
        total = self.reshaped(total, porter.constant([1]))
        self.first = porter.emit("Where", [porter.emit("Equal", [total, self.steps]), porter.constant([0]), before])
        self.rows = self.numbers(porter.emit("Max", [self.count_of(past, 2), total]))

    def count_of(self, name: str, axis: int) -> str:
        """A size of a tensor, as a tensor of one number."""
        count = self.porter.shapes[name][axis]
        if count is None:
            return self.porter.emit("Shape", [name], start=axis, end=axis + 1)
        return self.porter.constant([count])

    def reshaped(self, name: str, shape: str) -> str:
        return self.porter.emit("Reshape", [
            self.porter.emit("Cast", [name], to=self.porter.onnx.TensorProto.INT64), shape])

    def numbers(self, count: str) -> str:
        """[1][count]: from 0 on."""
        porter = self.porter
        if count in porter.constants:
            return porter.constant(np.arange(porter.constants[count][0])[None])
        ends = [porter.constant(np.array(0)), porter.emit("Squeeze", [count, porter.constant([0])]),
                porter.constant(np.array(1))]
        return porter.emit("Unsqueeze", [porter.emit("Range", ends), porter.constant([0])])

    def places(self) -> str:
        """[batch or 1][tokens]"""
        places = self.porter.emit("Add", [self.first, self.own_rows])
        self.porter.shapes[places] = [self.porter.shapes[self.query][0] if self.past else 1,
                                      self.porter.shapes[self.query][1]]
        self.porter.types[places] = self.porter.onnx.TensorProto.INT64
        return places

    def heads(self, name: str, count: int) -> str:
        """[batch][heads][tokens][size]"""
        porter = self.porter
        split = porter.emit("Reshape", [name, porter.constant([0, 0, count, self.size])])
        heads = porter.emit("Transpose", [split], perm=[0, 2, 1, 3])
        batch, steps, _ = porter.shapes[name]
        porter.shapes[heads], porter.types[heads] = [batch, count, steps, self.size], porter.types[name]
        return heads

    def placed(self, past: str, new: str) -> str:
        """Keys or values of all tokens, the new ones at their places. The past may be a buffer that has room for them;
        what is behind them stays."""
        porter = self.porter
        both = porter.emit("Concat", [past, new], axis=2)
        if not self.moved_rows:
            self.moved_rows = self.rows_of_places(past)
        flat = porter.emit("Reshape", [both, porter.constant([-1, self.size])])
        rows = porter.emit("Gather", [flat, self.moved_rows], axis=0)
        batch, count, steps, _ = porter.shapes[new]
        porter.shapes[rows], porter.types[rows] = [batch, count, None, self.size], porter.types[new]
        return rows

    def rows_of_places(self, past: str) -> str:
        """[batch][heads][places]: where a place is, among the rows of all heads of the past and of the new tokens."""
        porter = self.porter
        before, end = self.count_of(past, 2), porter.emit("Add", [self.first, self.steps])
        behind = porter.emit("Add", [before, porter.emit("Sub", [self.rows, self.first])])
        is_new = porter.emit("And", [porter.emit("GreaterOrEqual", [self.rows, self.first]),
                                     porter.emit("Less", [self.rows, end])])
        own = porter.emit("Where", [is_new, behind, self.rows])
        count = porter.emit("Add", [before, self.steps])
        own = porter.emit("Min", [own, porter.emit("Sub", [count, porter.constant([1])])])
        batch = porter.shapes[self.query][0]
        heads = porter.constant([batch * self.counts[1]]) if batch is not None else porter.emit(
            "Mul", [self.count_of(self.query, 0), porter.constant([self.counts[1]])])
        begins = porter.emit("Reshape", [porter.emit("Mul", [self.numbers(heads), count]),
                                         porter.constant([-1, self.counts[1], 1])])
        return porter.emit("Add", [begins, porter.emit("Unsqueeze", [own, porter.constant([1])])])

    def attend(self, heads: list[str], output: str) -> None:
        """Each token sees itself and those before it, or the nearest of these. The queries that share a head of keys
        follow each other as the rows of one head."""
        porter, (queries, keys, values), places = self.porter, heads, self.places()
        own, shared = porter.shapes[queries], self.counts[0] // self.counts[1]
        if shared > 1:
            queries = porter.emit("Reshape", [queries, porter.constant([0, self.counts[1], -1, self.size])])
            porter.types[queries] = porter.types[heads[0]]
            porter.shapes[queries] = [own[0], self.counts[1], None if own[2] is None else own[2] * shared, self.size]
            places = porter.emit("Expand", [porter.emit("Unsqueeze", [places, porter.constant([1])]),
                                            porter.constant([1, shared, 1])])
            places = porter.emit("Reshape", [places, porter.constant([0, -1])])
        numbers = {name: self.own[name] for name in ("scale", "softcap") if self.own.get(name, 0)}
        node = porter.onnx.helper.make_node("Attention", [queries, keys, values], [output], **numbers)
        call = _Attention(porter, node)
        columns = porter.emit("Unsqueeze", [places, porter.constant([1, 3])])
        seen = porter.emit("LessOrEqual", [self.rows, columns])
        window = self.own.get("local_window_size", -1)
        if window > 0:
            edge = porter.emit("Sub", [columns, porter.constant([window])])
            seen = porter.emit("And", [seen, porter.emit("Greater", [self.rows, edge])])
        bias = porter.emit("Where", [seen, call.number(0), call.number(call.least)])
        scores = porter.emit("Add", [call.scores_of(queries, keys), bias])
        result = porter.emit("MatMul", [call.softmax(scores), values])
        if shared > 1:
            result = porter.emit("Reshape", [result, porter.constant([0, self.counts[0], -1, self.size])])
        result = porter.emit("Transpose", [result], perm=[0, 2, 1, 3])
        porter.emit("Reshape", [result, porter.constant([0, 0, self.counts[0] * self.size])], output)
