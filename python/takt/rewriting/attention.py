"""Attention for Takt's own kernels: a part of `rewriter`.

softmax(scale * Q K^T + bias) V, in floats or in bytes (QDQ, without a bias), becomes
one call. The transpositions around it become strides.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Tuple, Union

import numpy as np

from ..networks import open_sizes
from . import tiled_calls

# The limits of src/kernels/attention.h and attention_i8.h.
_SIZE_MAX = 128
_I8_KEYS_MAX = 1 << 15
# Some 60 us of a fast core.
_TILE_MACS = 3e6
_I8_TILE_MACS = 5e6
_MICRO_ROWS = 6
# In the order of the call: query, key, value, logits, powers and the result.
_I8_BUFFERS = ("i8", "i8", "i8", "i8", "i32", "i8")
# So many have a sum of 32 bits of the largest powers.
_FEW_KEYS = 512
_MASK_MAX = 1 << 22  # Numbers.
_SOFTMAX_SLOWER = 4  # The compiler's code for a number takes as long as so many multiply-adds.
# Numbers of a tile of a softmax, and of a softmax that is worth a call.
_TILE_SOFTMAX = 32 << 10
_SOFTMAX_MIN = 512
_APART_MIN = 32  # Numbers that are apart: so many are worth two transpositions.


# A number, or its product with sizes that a call finds: (number, size...).
Stride = Union[int, Tuple[Any, ...]]


@dataclasses.dataclass(frozen=True)
class View:
    """A tensor of any layout: element (batch, head, row, column) is at the sum of
    the products with the strides."""

    source: str
    strides: tuple[Stride, Stride, Stride, Stride]


@dataclasses.dataclass
class Match:
    """One attention of a graph."""

    nodes: list[Any]  # All that it replaces, in any order.
    query: str
    key: str
    value: str
    output: str
    scale: float = 1.0
    bias: str | None = None  # Added to the scores.
    # Of bytes: what follows the sums, and what the bytes mean.
    logits: np.ndarray | None = None
    score: Any = None  # Scales, as quantized.Scale.
    logit: Any = None
    weight: Any = None
    result: Any = None
    scales: tuple[Any, Any, Any] | None = None  # Of query, key and value.


class AttentionRewriter:
    """The part of the rewriter that knows attention."""

    def find_attention(self) -> None:
        """Puts a node TaktAttention in place of the nodes of each attention."""
        self.makers = {name: node for node in self.nodes for name in node.output}
        self.attentions: dict[str, Any] = {}
        self.bias_sizes: dict[str, open_sizes.Sizes] = {}  # To be checked, by the result of the attention.
        self.powers_of: dict[str, tuple[float, open_sizes.Open]] = {}  # The scale and the keys of bytes, also by it.
        self.checked: dict[tuple[str, open_sizes.Sizes], str] = {}  # What checked_bias() made.
        replaced: dict[int, Any] = {}
        for node in self.nodes:
            match = self.match_attention(node) if node.op_type == "Softmax" else None
            call = self.plan_attention(match) if match is not None else None
            if call is None:
                continue
            inputs, kernel, output, shape = call
            made = self.onnx.helper.make_node("TaktAttention", inputs, [output])
            self.attentions[output] = kernel, shape
            for each in match.nodes:
                replaced[id(each)] = made if output in each.output else None
        self.nodes = [found for node in self.nodes
                      if (found := replaced.get(id(node), node)) is not None]
        self.count_consumers()

    def match_attention(self, softmax: Any) -> Match | None:
        shape = self.sizes(softmax.output[0])
        if shape is None or len(shape) not in (3, 4):
            return None
        if self.attributes(softmax).get("axis", -1) not in (-1, len(shape) - 1):
            return None
        if softmax.input[0] in self.quantization.tensors:
            return self.match_bytes(softmax)
        return self.match_floats(softmax)

    def single_maker(self, name: str) -> Any | None:
        """The node that makes `name`, if nothing else reads it."""
        users = self.consumers.get(name, [])
        return self.makers.get(name) if len(users) == 1 and name not in self.results else None

    def match_floats(self, softmax: Any) -> Match | None:
        found = self.scores_of(softmax.input[0])
        weights, guard = self.guarded(softmax.output[0])
        product = self.only_consumer(weights)
        if (found is None or product is None or product.op_type != "MatMul"
                or product.input[0] != weights or product.input[1] == weights):
            return None
        scale, bias, nodes = found
        if not all(self.is_float(name) for name in (*nodes[-1].input, product.input[1])):
            return None
        operands = []
        for name in nodes[-1].input:  # Often it is these that are scaled.
            node = self.single_maker(name)
            factor = self.factor_of(node) if node is not None and node.op_type in ("Mul", "Div") else None
            if factor is not None:
                nodes.append(node)
                scale, name = scale * factor[0], factor[1]
            operands.append(name)
        return Match([softmax, *guard, *nodes, product], *operands, product.input[1], product.output[0],
                     scale, bias)

    def guarded(self, name: str) -> tuple[str, list[Any]]:
        """The weights `name`, and no nodes; or zeros in place of their NaN, and the nodes that put them there. A query
        whose keys are all masked has such weights, and a call gives zeros for it anyway."""
        users = {user.op_type: user for user in self.consumers.get(name, [])}
        if set(users) != {"IsNaN", "Where"} or len(self.consumers[name]) != 2 or name in self.results:
            return name, []
        found, choice = users["IsNaN"], users["Where"]
        zero = self.constants.get(choice.input[1])
        if (self.only_consumer(found.output[0]) is not choice or choice.input[0] != found.output[0]
                or choice.input[2] != name or zero is None or zero.size != 1 or zero.any()):
            return name, []
        return choice.output[0], [found, choice]

    def scores_of(self, name: str) -> tuple[float, str | None, list[Any]] | None:
        """Scale, bias and nodes, the product last, of scale * Q K^T + bias."""
        shape = self.sizes(name)
        node = self.single_maker(name)
        nodes, masks, bias = [], [], None
        while node is not None and node.op_type in ("Add", "Reshape"):
            nodes.append(node)
            if node.op_type == "Reshape":
                node = self.single_maker(node.input[0])
                continue
            other = [i for i in range(2) if self.leads_to_product(node.input[1 - i])]
            if not other or bias is not None:
                return None
            added = node.input[other[0]]
            if added in self.constants and self.sizes(node.output[0]) is not None:
                if self.constants[added].any():  # Else it masks nothing.
                    masks.append((added, self.sizes(node.output[0])))
            else:
                bias = added
            node = self.single_maker(node.input[1 - other[0]])
        scale = 1.0
        if node is not None and node.op_type in ("Mul", "Div"):
            found = self.factor_of(node)
            if found is None:
                return None
            scale, source = found
            nodes.append(node)
            node = self.single_maker(source)
        if node is None or node.op_type != "MatMul" or not open_sizes.may_be_equal(self.sizes(node.output[0]), shape):
            return None
        if masks:
            bias = self.joined_masks(masks, shape) if bias is None else None
            if bias is None:
                return None
        return scale, bias, [*nodes, node]

    def leads_to_product(self, name: str) -> bool:
        node = self.single_maker(name)
        while node is not None and node.op_type in ("Add", "Reshape", "Mul", "Div"):
            node = next((below for each in node.input
                         if (below := self.single_maker(each)) is not None), None)
        return node is not None and node.op_type == "MatMul"

    def joined_masks(self, masks: list[Any], shape: open_sizes.Sizes) -> str | None:
        """The constant that all masks add, each to scores of a shape of its own."""
        if len(masks) == 1 and masks[0][1] == shape:
            return masks[0][0]
        if open_sizes.is_open(shape):
            return None
        if math.prod(shape) > _MASK_MAX or not all(self.is_float(name) for name, _ in masks):
            return None
        total = np.zeros(shape, np.float32)
        for name, added_to in masks:
            total += np.broadcast_to(self.constants[name], added_to).reshape(shape)
        return self.known(total)

    def bias_view(self, name: str, scores: open_sizes.Sizes) -> View | None:
        """A bias, repeated where it has one row, head or image for all."""
        shape = self.sizes(name)
        if shape is None or not self.is_float(name) or len(shape) > len(scores) or shape[-1:] != scores[-1:]:
            return None
        shape = (1,) * (len(scores) - len(shape)) + tuple(shape)
        if any(own not in (1, whole) for own, whole in zip(shape, scores)):
            return None
        strides = [0 if own == 1 and i < len(shape) - 1 else stride
                   for i, (own, stride) in enumerate(zip(shape, dense_strides(shape)))]
        return View(name, with_batch(strides))

    def open_bias_view(self, name: str, scores: open_sizes.Sizes) -> tuple[View | None, open_sizes.Sizes]:
        """As bias_view(), and the sizes of the bias in calls that do not fail: checked_bias() is for those that are not
        known to be these."""
        sizes = self.sizes(name)
        if sizes is None or not self.is_float(name) or len(sizes) > len(scores):
            return None, ()
        wide = (1,) * (len(scores) - len(sizes)) + tuple(sizes)
        wanted = tuple(1 if own == 1 and i < len(wide) - 1 else whole
                       for i, (own, whole) in enumerate(zip(wide, scores)))
        if not open_sizes.may_be_equal(wide, wanted):
            return None, ()
        strides = [0 if own == 1 and i < len(wanted) - 1 else stride
                   for i, (own, stride) in enumerate(zip(wanted, dense_strides(wanted)))]
        return View(name, with_batch(strides)), wanted

    def factor_of(self, node: Any) -> tuple[float, str] | None:
        """The constant that a Mul or Div scales by, and what it scales."""
        for i, name in enumerate(node.input):
            value = self.constants.get(name)
            if value is None or value.size != 1 or (node.op_type == "Div" and i == 0):
                continue
            factor = float(value.reshape(()))
            if not math.isfinite(factor) or factor == 0:
                return None
            return factor if node.op_type == "Mul" else 1 / factor, node.input[1 - i]
        return None

    def on_softmax(self, node: Any) -> bool:
        """A softmax that is no part of an attention, if its numbers lie side by side, or many numbers
        apart: the compiler would add these up anew for each result that is read elsewhere."""
        name, output = node.input[0], node.output[0]
        sizes, axis = self.sizes(name), self.attributes(node).get("axis", -1)
        if not sizes or name not in self.dynamic or not self.is_float(name):
            return False
        axis %= len(sizes)
        # One channel lies alike with the channels first and last.
        is_row = axis == 3 and sizes[1] == 1 and not open_sizes.is_open(sizes)
        is_last = name in self.last and (axis == 1 or is_row)
        size, is_apart = sizes[axis], axis != len(sizes) - 1
        if not is_last and (math.prod(map(open_sizes.nominal, sizes)) < _SOFTMAX_MIN
                            or is_apart and open_sizes.nominal(size) < _APART_MIN):
            return False
        order = [*(i for i in range(len(sizes)) if i != axis), axis]
        if is_last:
            order = [0, 2, 3, 1]
        sides = tuple(sizes[i] for i in order)
        call = tiled_calls.call_of_rows("takt_softmax_f32", ("f32", "f32"), sizes if is_row else sides, (size,), (),
                                        _TILE_SOFTMAX, _SOFTMAX_SLOWER)
        if call is None:
            return False
        if is_last:
            self.set_last(output, self.kernel(call, [self.last[name]], self.fresh("softmax"), sides))
        elif is_apart:
            turned = self.emit("Transpose", [self.to_first(name)], self.fresh("turned"), sides, perm=order)
            result = self.kernel(call, [turned], self.fresh("softmax"), sides)
            self.emit("Transpose", [result], output, perm=[order.index(i) for i in range(len(sizes))])
        else:
            self.kernel(call, [self.to_first(name)], output, sizes)
        return True

    def match_bytes(self, softmax: Any) -> Match | None:
        source, logit = self.quantization.tensors[softmax.input[0]]
        before = self.single_maker(softmax.input[0])
        node = self.single_maker(source)
        if before is None or node is None:
            return None
        nodes, logits = [softmax, before, node], np.arange(-128, 128)
        if node.op_type == "TaktMap":
            logits = self.tables[source]
            node = self.single_maker(node.input[0])
            nodes.append(node)
        if node is None or node.op_type != "QuantizeLinear" or (np.diff(logits) < 0).any():
            return None
        score = self.quantization.scale_of(node, self.constants)
        product = self.single_maker(node.input[0])
        # Softmax, to bytes and back, product, to bytes.
        after = [self.only_consumer(softmax.output[0])]
        for op in ("QuantizeLinear", "DequantizeLinear", "MatMul", "QuantizeLinear"):
            if after[-1] is None or after[-1].op_type != op:
                return None
            after.append(self.only_consumer(after[-1].output[0]))
        to_bytes, back, second, end = after[:4]
        weight = self.quantization.scale_of(to_bytes, self.constants)
        result = self.quantization.scale_of(end, self.constants)
        if (product is None or product.op_type != "MatMul" or second.input[0] != back.output[0]
                or None in (score, weight, result)
                or self.quantization.scale_of(back, self.constants) != weight):
            return None
        operands = [*product.input, second.input[1]]
        if any(name not in self.quantization.tensors for name in operands):
            return None
        names, scales = zip(*(self.quantization.tensors[name] for name in operands))
        return Match([*nodes, product, to_bytes, back, second, end], *names, end.output[0],
                     logits=logits, score=score, logit=logit, weight=weight, result=result,
                     scales=scales)

    # From a match to a call.

    def view(self, name: str, is_transposed: bool = False) -> View | None:
        """`name` as [batch][heads][rows][columns], its rows and columns exchanged
        if `is_transposed`; looks through a transposition."""
        shape = self.sizes(name)
        if shape is None or len(shape) not in (3, 4):
            return None
        if is_transposed and (rows := self.rows_of(name, shape)) is not None:
            return self.view(rows)
        strides = dense_strides(shape)
        node = self.makers.get(name)
        source = name
        if node is not None and node.op_type == "Transpose":
            perm = self.attributes(node).get("perm")
            below = self.sizes(node.input[0])
            if perm is not None and below is not None:
                turned = [dense_strides(below)[axis] for axis in perm]
                if is_transposed or turned[-1] == 1:
                    strides, source = turned, node.input[0]
        if is_transposed:
            strides[-2:] = strides[:-3:-1]
        return View(source, with_batch(strides))

    def rows_of(self, name: str, shape: open_sizes.Sizes) -> str | None:
        """What `name` is with rows and columns exchanged, if they were exchanged while batch and heads were one
        dimension, as PyTorch's exporter writes it: Reshape, Transpose, Reshape."""
        nodes = []
        for op in ("Reshape", "Transpose", "Reshape"):
            node = self.makers.get(nodes[-1].input[0] if nodes else name)
            if node is None or node.op_type != op:
                return None
            nodes.append(node)
        *outer, columns, rows = shape
        _, turn, split = nodes
        if (not self.turns_tokens(turn) or self.sizes(turn.input[0]) != (open_sizes.product(outer), rows, columns)
                or self.sizes(split.input[0]) != (*outer, rows, columns)):
            return None
        return split.input[0]

    def end_of(self, name: str, nodes: list[Any]) -> View | None:
        """Where the result goes: what `name` is transposed to, if it is that only."""
        view = View(name, with_batch(dense_strides(self.sizes(name))))
        node = self.only_consumer(name)
        if node is None or node.op_type != "Transpose":
            return view
        perm = self.attributes(node).get("perm")
        below = self.sizes(node.output[0])
        if perm is None or below is None or perm[-1] != len(perm) - 1:
            return view
        strides = [0] * len(perm)
        for axis, stride in zip(perm, dense_strides(below)):
            strides[axis] = stride
        nodes.append(node)
        return View(node.output[0], with_batch(strides))

    def plan_attention(self, match: Match) -> tuple[list[str], Any, str, tuple[int, ...]] | None:
        """Inputs, kernel, output and its shape; None if no kernel does it."""
        shapes = [self.sizes(name) for name in (match.query, match.key, match.value, match.output)]
        if any(shape is None or len(shape) != len(shapes[0]) for shape in shapes):
            return None
        *outer, queries, size = shapes[0]
        keys, value_size = shapes[2][-2:]
        if (len(shapes[0]) not in (3, 4) or any(list(shape[:-2]) != outer for shape in shapes[:3])
                or shapes[1][-2:] != (size, keys)):
            return None
        if not any(name in self.dynamic for name in (match.query, match.key, match.value)):
            return None
        batch, heads = outer if len(outer) == 2 else (1, *outer)
        is_bytes = match.scales is not None
        is_open = open_sizes.is_open((batch, queries, keys))
        if not all(isinstance(count, int) for count in (heads, size, value_size)):
            return None
        if max(size, value_size) > _SIZE_MAX or min(size, value_size) < 1 or not is_open and min(queries, keys) < 1:
            return None
        if is_bytes and (size % 4 or open_sizes.nominal(keys) > _I8_KEYS_MAX):
            return None
        views = [self.view(match.query), self.view(match.key, True), self.view(match.value)]
        if any(view is None for view in views) or views[0].strides[3] != 1 or views[2].strides[3] != 1:
            return None
        if shapes[3] != (*outer, queries, value_size):
            if not open_sizes.may_be_equal(shapes[3], (*outer, queries, value_size)):
                return None
            self.state_sizes(match.output, (*outer, queries, value_size))
        factors = attention_factors(match) if is_bytes else (match.scale,)
        if factors is None:
            return None
        end = self.end_of(match.output, match.nodes)
        if is_open:
            return self.plan_open_attention(match, shapes, [*views, end], factors)
        strides = [stride for view in (*views, end) for stride in view.strides]
        if max(strides) >= 2**31:
            return None
        geometry = (batch, heads, queries, keys, size, value_size, *strides)
        macs_of_row = keys * (size + value_size)
        rows = tiled_calls.even_rows(
            queries, int((_I8_TILE_MACS if is_bytes else _TILE_MACS) // macs_of_row), _MICRO_ROWS)
        make = tiled_calls.TiledCall
        macs = batch * heads * queries * macs_of_row
        sources = [view.source for view in views]
        output_shape = self.sizes(end.source)
        if not is_bytes:
            function = "takt_attention_bf16" if self.is_bf16 else "takt_attention_f32"
            if match.bias is not None:
                bias = self.bias_view(match.bias, (*outer, queries, keys))
                if bias is None:
                    return None
                function = "takt_attention_bias_f32"
                sources.append(bias.source)
                geometry += bias.strides
            call = make(function, ("f32",) * (len(sources) + 1), geometry, factors, batch * heads, queries, rows, macs)
            return sources, call, end.source, output_shape
        call = make("takt_attention_i8", _I8_BUFFERS, geometry + zero_points(match), factors, batch * heads, queries,
                    rows, macs)
        tables = [self.constant(match.logits.astype(np.int8)),
                  self.constant(powers(match.logit.scale, keys))]
        return [*sources, *tables], call, end.source, output_shape

    def plan_open_attention(self, match: Match, shapes: list[open_sizes.Sizes], views: list[View],
                            factors: tuple[float, ...]) -> Any:
        """As plan_attention(), where queries or keys are counted in calls."""
        *outer, queries, size = shapes[0]
        keys, value_size = shapes[2][-2:]
        batch, heads = outer if len(outer) == 2 else (1, *outer)
        is_bytes = match.scales is not None
        function = "takt_attention_bf16" if self.is_bf16 else "takt_attention_f32"
        tensors = [self.sizes(view.source) for view in views]
        if match.bias is not None:
            bias, sizes = self.open_bias_view(match.bias, (*outer, queries, keys))
            if bias is None:
                return None
            if self.sizes(match.bias) != sizes:
                self.bias_sizes[views[3].source] = sizes
            function, views = "takt_attention_bias_f32", [*views, bias]
            tensors.append(sizes)
        names = tiled_calls.names_of(size for sizes in tensors for size in sizes)
        # Where there is one head or image, any stride leads to it.
        strides = [0 if count == 1 and not isinstance(stride, int) else stride
                   for view in views for count, stride in zip((batch, heads, 0, 0), view.strides)]
        if any(size not in names for stride in strides if isinstance(stride, tuple) for size in stride[1:]):
            return None
        numbers = [names.get(number, number) for number in (batch, heads, queries, keys, size, value_size)]
        geometry = (*numbers, *((stride[0], *(names[size] for size in stride[1:])) if isinstance(stride, tuple)
                                else stride for stride in strides))
        # In the order of its buffers, the result is the last.
        order = [0, 1, 2, *range(4, len(views)), 3]
        axes = [tuple(names[size] for size in tensors[i] if size in names) for i in order]
        sources, buffers = [views[i].source for i in order[:-1]], ("f32",) * len(views)
        if is_bytes:
            function, buffers, geometry = "takt_attention_i8", _I8_BUFFERS, geometry + zero_points(match)
            axes[3:3] = [(), ()]
            sources += [self.constant(match.logits.astype(np.int8)),
                        self.constant(powers(match.logit.scale, open_sizes.nominal(keys)))]
            if keys in names:
                self.powers_of[views[3].source] = match.logit.scale, keys
        work = size + value_size
        rows = tiled_calls.OpenRows(
            names.get(queries, queries), (work, names[keys]) if keys in names else work * keys,
            int(_I8_TILE_MACS if is_bytes else _TILE_MACS), _MICRO_ROWS)
        call = tiled_calls.TiledCall(
            function, buffers, geometry, factors, heads * open_sizes.nominal(batch), 0, 0,
            math.prod(map(open_sizes.nominal, (batch, heads, queries, keys, work))), axes=tuple(axes), open_rows=rows,
            open_parts=(heads, names[batch]) if batch in names else None)
        return sources, call, views[3].source, tensors[3]

    def on_taktattention(self, node: Any) -> bool:
        kernel, shape = self.attentions[node.output[0]]
        element = self.onnx.TensorProto.FLOAT
        if kernel.function.endswith("i8"):
            element = self.onnx.TensorProto.INT8
        inputs = [self.to_first(name) for name in node.input]
        if node.output[0] in self.bias_sizes:
            query, key, _, bias = node.input
            inputs[3] = self.checked_bias(query, key, bias, self.bias_sizes[node.output[0]])
        if node.output[0] in self.powers_of:
            inputs[4] = self.open_powers(inputs[2], *self.powers_of[node.output[0]])
        self.kernel(kernel, inputs, node.output[0], shape, element)
        return True

    def open_powers(self, value: str, scale: float, keys: open_sizes.Open) -> str:
        """What powers() gives for few keys, by so many that the sum of all keys has 32 bits, too."""
        types = self.onnx.TensorProto
        place = self.sizes(value).index(keys)

        def add(op: str, *inputs: str, element: int = types.INT64, size: int = 1, **attributes: Any) -> str:
            return self.emit(op, list(inputs), self.fresh("powers"), (size,), element=element, **attributes)

        count = add("Add", add("Shape", value, start=place, end=place + 1), self.constant(np.array([_FEW_KEYS - 1])))
        parts = add("Max", add("Div", count, self.constant(np.array([_FEW_KEYS]))), self.constant(np.array([1])))
        by = add("Cast", parts, element=types.FLOAT, to=types.FLOAT)
        of_few = self.constant(powers(scale, _FEW_KEYS).astype(np.float32))
        return add("Cast", add("Div", of_few, by, element=types.FLOAT, size=256), element=types.INT32, size=256,
                   to=types.INT32)

    def checked_bias(self, query: str, key: str, bias: str, sizes: open_sizes.Sizes) -> str:
        """The bias with zeros of these sizes added: a call fails there if it has others."""
        if (bias, sizes) not in self.checked:
            name = bias
            for axis, size in enumerate(sizes):
                if isinstance(size, open_sizes.Open):
                    source = query if size in self.sizes(query) else key
                    zeros = self.line_of_zeros(source, size, [-1 if i == axis else 1 for i in range(len(sizes))])
                    name = self.emit("Add", [name, zeros], self.fresh("bias"), sizes)
            self.checked[bias, sizes] = name
        return self.checked[bias, sizes]

    def line_of_zeros(self, source: str, count: open_sizes.Open, form: list[int]) -> str:
        """Zeros in this form, as many as a tensor has numbers along the axis of this size."""
        sizes = self.sizes(source)
        place = sizes.index(count)
        others = np.array([i for i in range(len(sizes)) if i != place], np.int64)
        bounds = map(self.constant, (0 * others, 0 * others + 1, others))
        first = self.emit("Slice", [source, *bounds], self.fresh("line"))
        line = self.emit("Reshape", [first, self.constant(np.array(form, np.int64))], self.fresh("line"))
        is_less = self.emit("Less", [line, line], self.fresh("line"))
        return self.emit("Cast", [is_less], self.fresh("line"), to=self.onnx.TensorProto.FLOAT)


def dense_strides(shape: open_sizes.Sizes) -> list[Stride]:
    return [_product(shape[i + 1:]) for i in range(len(shape))]


def _product(sizes: open_sizes.Sizes) -> Stride:
    factor = math.prod(size for size in sizes if isinstance(size, int))
    opened = [size for size in sizes if isinstance(size, open_sizes.Open)]
    if not opened:
        return factor
    return (factor, *opened)


def with_batch(strides: list[Stride]) -> tuple[Stride, ...]:
    """Those of four dimensions; a tensor of three is one image."""
    return (0, *strides) if len(strides) == 3 else tuple(strides)


def zero_points(match: Match) -> tuple[int, ...]:
    """Those of an attention of bytes, in the order of its call."""
    query, key, value = match.scales
    return (query.zero_point, key.zero_point, match.score.zero_point, match.weight.zero_point, value.zero_point,
            match.result.zero_point)


def attention_factors(match: Match) -> tuple[float, ...] | None:
    """Those of an attention of bytes; None if no kernel takes them."""
    query, key, value = match.scales
    # ONNX Runtime takes the whole part of it, so that its weights are up to 0.4 % too small; results are compared with
    # its own.
    weight = math.floor(np.float32(1) / np.float32(match.weight.scale))
    if weight < 1:
        return None
    return product_scale(query, key, match.score), weight, product_scale(match.weight, value, match.result)


def product_scale(left: Any, right: Any, result: Any) -> float:
    """In the order in which other runtimes round, to give the same bytes."""
    return float(np.float32(left.scale) * np.float32(right.scale) / np.float32(result.scale))


def powers(scale: float, keys: int) -> np.ndarray:
    """e^(-i * scale) as integers, such that the sum of `keys` has 32 bits; as ONNX
    Runtime's QLinearSoftmax has them."""
    one = min((2**32 - 1) / keys, 0x7FFFFF)
    return (one * np.exp(-np.arange(256) * float(np.float32(scale)))).astype(np.int32)
