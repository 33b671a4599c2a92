"""Networks for Takt's own kernels.

`rewrite()` takes an ONNX network and makes its convolutions, its products with
constant weights and its pools calls of kernels that the runtime has
(docs/native_kernels.md): tensors with the channels last, weights packed ahead
of time, bias, residual and clamp in the same pass. What it does not know stays
as it is, for the compiler. `lowering` then puts the calls into the MLIR that the
importer makes of the network.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator

import numpy as np

from . import (attention, batches, before_resize, beginnings, bits, boxes, branches, centered, channels_last,
               crossing, endings, equals, joined, norms, open_resize, opened, paired, parted, quantized, recurrent,
               resize, rounding, scatter, signed, slicing, sums, tiled_calls, top_k)
from ..networks import canonical, elementwise, folding, graphs, inference, levels, names, open_sizes
from .channels_last import TO_FIRST, TO_LAST
from .kernel_calls import (CHANNELS_MAX, DOMAIN, SIZE_MAX, TAPS_MAX, WINOGRAD, WINOGRAD_INPUTS, WINOGRAD_SUMS,
                           has_winograd_parts, make_kernel, prefers_winograd, squares_of)
from .lowering import AnyKernel
from .opened import of_rows, product_shape, product_window, row_taps
from .packing import BLOCK, join_groups, join_results, join_rows, pack, pack_pairs, pack_winograd, trim_taps

# A network of fewer multiply-adds takes longer to start its calls.
_MACS_MIN = 1e4
_POOL_FACTOR = 8  # Multiply-adds that take as long as one number of a window.
_PAIR_FACTOR = 8  # Multiply-adds that take as long as the compiler's comparison of two numbers of a TopK.
# With fewer input channels, half of the pairs would be empty.
_BF16_CHANNELS_MIN = 8
_BF16_PAIRS_MAX = 1 << 14
_OPEN_SIZE = 64  # What a size may be that is known in calls alone.
# How many products are done in the time of one product of floats.
_PRODUCTS = {"": 1, "bf16": 2, "bf16_tiles": 6}
# A pool of a larger window is one of its columns and one of its rows.
_ALONE_MIN = 9  # Numbers of the window of a pool for which an image gets its channels last.
_WINDOW_MIN = 25


def rewrite(model: Any, precision: str = "") -> tuple[Any, list[AnyKernel]]:
    """The network in terms of kernels, and those kernels.

    model    an onnx.ModelProto of opset 13 or later; not changed.
    precision
             "bf16": products of floats round what they multiply to bfloat16.
             "bf16_tiles": the same for a processor with AMX.
    returns  the new model, in which node i of domain "takt" has the attribute
             `kernel`, an index of the list. The list is empty if there is
             nothing that a kernel could do; then the model is the old one.
    """
    # Folding copies the model, and the other passes change the copy.
    signed_model = beginnings.share(equals.merge(centered.center(signed.shift(folding.fold(model)))))
    branched = before_resize.move(crossing.exchange(branches.merge(batches.split(signed_model))))
    rewriter = _Rewriter(canonical.reduce(branched), precision)
    if not rewriter.run():
        return model, []
    return rounding.spell_out(rewriter.result()), rewriter.kernels


def pays(network: Any, kernels: list[AnyKernel]) -> bool:
    """Whether the calls of a network that rewrite() gave are quicker than what
    the compiler makes of it: not those of tiny networks."""
    calls = [node for node in network.graph.node if node.op_type == "TaktKernel"]
    if any(node.op_type == "TaktSteps" for node in network.graph.node):
        return True
    multiply_adds = 0
    for node in calls:
        kernel = kernels[node.attribute[0].i]
        # The compiler's is a call of each gate in each step, or none that works.
        if kernel.function in ("takt_gru_steps_f32", "takt_lstm_steps_f32", "takt_select_box_lists_f32"):
            return True
        if isinstance(kernel, tiled_calls.TiledCall):
            multiply_adds += kernel.multiply_adds * (_PAIR_FACTOR if "top_k" in kernel.function else 1)
            continue
        n, _, _, c, oh, ow, oc, kh, kw, *_, groups = (
            size if isinstance(size, int) else _OPEN_SIZE for size in kernel.shape)
        # The compiler's pools take one number after the other.
        factor = _POOL_FACTOR if "pool" in kernel.function else 1
        multiply_adds += factor * n * oh * ow * oc * kh * kw * (c // groups)
    return multiply_adds >= _MACS_MIN


class _Rewriter(quantized.QuantizedRewriter, attention.AttentionRewriter, bits.BitsRewriter, boxes.BoxesRewriter,
                channels_last.ChannelsLastRewriter, endings.EndingRewriter, joined.JoinedRewriter,
                norms.NormRewriter, open_resize.OpenResizeRewriter, opened.OpenRewriter, paired.PairedRewriter,
                parted.PartedRewriter, recurrent.RecurrentRewriter, scatter.ScatterRewriter, slicing.SlicingRewriter,
                resize.ResizeRewriter, sums.SumRewriter, top_k.TopKRewriter, graphs.NodeReader):
    def __init__(self, model: Any, precision: str) -> None:
        import onnx

        self.onnx = onnx
        self.is_bf16 = precision.startswith("bf16")
        self.products = _PRODUCTS[precision]
        self.rounds_to_bytes = levels.are_bytes(model)
        self.has_bytes = levels.has_bytes(model)
        self.doubled: dict[str, str] = {}  # Tensors whose rows come twice.
        self.model = model
        graph = model.graph
        inference.infer_shapes(model)
        self.constants: dict[str, np.ndarray] = {
            tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer
        }
        self.shapes: dict[str, tuple[int, ...]] = {
            **{name: array.shape for name, array in self.constants.items()}, **inference.shapes_of(graph)}
        self.new_constants: dict[str, np.ndarray] = {}
        self.quantization = quantized.Quantization()
        self.element_types = inference.elements_of(graph)
        self.nodes = [node for node in map(self.simplify, graph.node) if node is not None]
        self.stated: dict[str, open_sizes.Sizes] = {}  # That do not follow from those of the inputs.
        self.open = open_sizes.sizes_of(graph, self.shapes, self, self.stated)  # Where some are known in calls alone.
        self.dynamic = self.find_dynamic()
        self.results = {value.name for value in graph.output}
        self.count_consumers()
        self.unfold_products()
        self.kernels: list[AnyKernel] = []
        self.kernel_ids: dict[AnyKernel, int] = {}
        self.out: list[Any] = []
        self.new_values: dict[str, tuple[tuple[int, ...], int]] = {}
        # Where a tensor of channels first has its twin of channels last.
        self.last: dict[str, str] = {}
        self.placed: set[str] = set()  # Twins whose pixels were put in their places.
        self.combined: set[str] = set()  # Twins that operators made of several tensors, and what follows.
        self.made: set[str] = {value.name for value in graph.input} | set(self.constants)
        self.done: set[int] = set()  # id() of nodes that another one includes.
        self.ranges: dict[str, str] = {}  # Of floats, and the bytes of these.
        self.bytes: dict[str, str] = {}
        self.apart: dict[str, str] = {}  # Numbers that calls find, behind a barrier.
        self.names = names.Names(graph)
        self.find_norms()
        self.find_quantized()
        self.find_attention()

    # What the graph says.

    def count_consumers(self) -> None:
        self.consumers = graphs.consumers_of(self.nodes)

    def simplify(self, node: Any) -> Any | None:
        """The node as its simplest equivalent; None for one that is a constant."""
        helper = self.onnx.helper
        if node.op_type == "Sum" and len(node.input) == 2:
            return helper.make_node("Add", node.input, node.output, name=node.name)
        if node.op_type == "Dropout" and not any(self.is_used(name) for name in node.output[1:]):
            return helper.make_node("Identity", node.input[:1], node.output[:1], name=node.name)
        attributes = self.attributes(node)
        value = None
        if node.op_type == "Constant" and "value" in attributes:
            value = self.onnx.numpy_helper.to_array(attributes["value"])
        elif all(name in self.constants for name in node.input) and node.input:
            first = self.constants[node.input[0]]
            if node.op_type == "Identity":
                value = first
            elif node.op_type == "Transpose":
                value = first.transpose(attributes.get("perm"))
            elif node.op_type == "Reshape":
                sizes = [first.shape[i] if d == 0 else int(d)
                         for i, d in enumerate(self.constants[node.input[1]])]
                value = first.reshape(sizes)
            elif node.op_type == "DequantizeLinear":
                value = self.quantization.constant(node, self.constants, attributes.get("axis", 1))
        if value is None:
            return node
        self.constants[node.output[0]] = value
        self.shapes[node.output[0]] = value.shape
        self.new_constants[node.output[0]] = np.asarray(value, order="C")
        return None

    def is_used(self, name: str) -> bool:
        graph = self.model.graph
        return any(name == value.name for value in graph.output) or any(
            name in node.input for node in graph.node)

    def find_dynamic(self) -> set[str]:
        """Tensors that depend on an input. The compiler computes the others
        itself, which it cannot where Takt's kernels are among them."""
        found = {v.name for v in self.model.graph.input if v.name not in self.constants}
        for node in self.nodes:
            if any(name in found for name in node.input):
                found.update(node.output)
        return found

    def is_float(self, name: str) -> bool:
        if name in self.constants:
            return self.constants[name].dtype == np.float32
        return self.element_types.get(name) == self.onnx.TensorProto.FLOAT

    def element_name(self, name: str) -> str | None:
        """The type as functions of the runtime have it in their names: "f32", or "i8" for all bytes."""
        types = self.onnx.TensorProto
        return {types.FLOAT: "f32", types.INT8: "i8", types.UINT8: "i8"}.get(self.element_types.get(name))

    def shape(self, name: str) -> tuple[int, ...] | None:
        return self.shapes.get(name)

    def sizes(self, name: str) -> open_sizes.Sizes | None:
        """Its shape, or its sizes of which some are open."""
        return self.shapes[name] if name in self.shapes else self.open.get(name)

    def state_sizes(self, name: str, sizes: open_sizes.Sizes) -> None:
        """Gives a tensor these sizes, of which some are open."""
        self.stated[name] = sizes
        self.open.update(open_sizes.sizes_of(self.model.graph, self.shapes, self, self.stated))

    # What the new graph gets.

    def fresh(self, kind: str) -> str:
        return self.names.fresh(kind)

    def constant(self, array: np.ndarray, kind: str = "constant") -> str:
        name = self.fresh(kind)
        self.new_constants[name] = np.asarray(array, order="C")
        self.made.add(name)
        return name

    def known(self, array: np.ndarray) -> str:
        """A constant for nodes that are still to be rewritten."""
        name = self.constant(array)
        self.constants[name], self.shapes[name] = array, array.shape
        return name

    def emit(self, op: str, inputs: list[str], output: str, shape: tuple[int, ...] | None = None,
             domain: str = "", element: int = 1, **attributes: Any) -> str:
        self.out.append(
            self.onnx.helper.make_node(op, inputs, [output], name=output, domain=domain, **attributes)
        )
        if shape is not None:
            self.new_values[output] = (shape, element)
        self.made.add(output)
        return output

    def kernel(self, kernel: AnyKernel, inputs: list[str], output: str,
               shape: tuple[int, ...], element: int = 1) -> str:
        return self.emit("TaktKernel", inputs, output, shape, DOMAIN, element, kernel=self.index_of(kernel))

    def index_of(self, kernel: AnyKernel) -> int:
        index = self.kernel_ids.setdefault(kernel, len(self.kernel_ids))
        if index == len(self.kernels):
            self.kernels.append(kernel)
        return index

    def to_last(self, name: str) -> str:
        """The twin of a tensor with the channels last."""
        if name not in self.last:
            if name in self.constants:
                self.last[name] = self.constant(self.constants[name].transpose(TO_LAST))
            else:
                n, c, h, w = self.sizes(name)
                self.last[name] = self.emit(
                    "Transpose", [self.to_first(name)], self.fresh("last"), (n, h, w, c),
                    element=self.element_types[name], perm=TO_LAST)
        return self.last[name]

    def to_first(self, name: str) -> str:
        """The tensor itself, as nodes that stay as they are read it."""
        if name and name not in self.made:
            twin = self.last[name]
            if twin in self.placed or twin in self.combined:  # It is slow to compute and to transpose at once.
                n, c, h, w = self.sizes(name)
                twin = self.emit("TaktBarrier", [twin], self.fresh("apart"), (n, h, w, c), DOMAIN,
                                 self.element_types[name])
            self.emit("Transpose", [twin], name, perm=TO_FIRST)
        return name

    def set_last(self, name: str, twin: str) -> None:
        self.last[name] = twin

    # The pass.

    def run(self) -> bool:
        for node in self.nodes:
            if id(node) in self.done:
                continue
            handler = getattr(self, f"on_{node.op_type.lower()}", None)
            if node.op_type in elementwise.UNARY:
                handler = self.on_unary
            elif node.op_type in elementwise.JOINING:
                handler = self.on_elementwise
            if node.domain in ("", "ai.onnx") and handler is not None and handler(node):
                continue
            for name in graphs.reads(node):
                if name in self.last:
                    self.to_first(name)
            self.out.append(self.with_floats(node))
            self.made.update(node.output)
        for name in self.results:
            self.to_first(name)
        self.join_results()
        self.pair_kernels()
        return bool(self.kernels)

    def open_values(self) -> Iterator[tuple[str, tuple[open_sizes.Sizes, int]]]:
        """The sizes and types of tensors that keep their names, of which open_sizes knows more than onnx."""
        for value in self.model.graph.value_info:
            if value.name in self.open and value.name in self.made:
                yield value.name, (self.open[value.name], value.type.tensor_type.elem_type)

    def result(self) -> Any:
        onnx = self.onnx
        graph = self.model.graph
        kept, used = graphs.needed(self.out, self.results)
        initializers = [t for t in graph.initializer if t.name in used]
        initializers += [
            onnx.numpy_helper.from_array(array, name)
            for name, array in self.new_constants.items() if name in used
        ]
        values = [v for v in graph.value_info if v.name in self.made and v.name in used and v.name not in self.open]
        values += [
            onnx.helper.make_tensor_value_info(
                name, element, [size if isinstance(size, int) else None for size in shape])
            for name, (shape, element) in [*self.new_values.items(), *self.open_values()] if name in used
        ]
        constants = set(self.constants)
        inputs = [v for v in graph.input if v.name not in constants]
        new = onnx.helper.make_graph(
            kept, graph.name, inputs, list(graph.output), initializers, value_info=values)
        opsets = [o for o in self.model.opset_import if o.domain != DOMAIN]
        result = onnx.helper.make_model(
            new, opset_imports=[*opsets, onnx.helper.make_opsetid(DOMAIN, 1)],
            ir_version=self.model.ir_version)
        result.metadata_props.extend(self.model.metadata_props)
        return result

    # Convolutions.

    def on_conv(self, node: Any) -> bool:
        weights = self.constants.get(node.input[1])
        in_shape, out_shape = self.shape(node.input[0]), self.shape(node.output[0])
        if node.input[1] in self.dynamic:
            return self.computed_conv(node)
        if (node.input[0] not in self.dynamic or weights is None or weights.dtype != np.float32
                or weights.ndim != 4):
            return False
        is_open = node.output[0] in self.open
        if not is_open and (in_shape is None or out_shape is None) or not self.is_float(node.input[0]):
            return False
        has_bias = len(node.input) > 2 and node.input[2] != ""
        bias = self.constants.get(node.input[2]) if has_bias else np.zeros(weights.shape[0], np.float32)
        if bias is None:
            return False
        if is_open:
            return self.open_conv(node, weights, bias)
        geometry = self.window(node, weights.shape[2:], in_shape, out_shape)
        if geometry is None:
            return False
        groups = self.attributes(node).get("group", 1)
        shape = (in_shape[0], *in_shape[2:], in_shape[1], *out_shape[2:], out_shape[1], *geometry, groups)
        taps = weights.shape[2] * weights.shape[3]
        if (taps <= TAPS_MAX and max(weights.shape[:2]) <= CHANNELS_MAX
                and self.quantized_conv(node, bias, groups, shape)):
            return True
        weights, geometry = trim_taps(weights, geometry, in_shape, out_shape)
        shape = (*shape[:7], *geometry, groups)
        if self.as_depthwise(node, weights, bias, shape):
            return True
        weights, groups = join_groups(weights, groups)
        shape = (*shape[:15], groups)
        taps = weights.shape[2] * weights.shape[3]
        is_depthwise = groups == in_shape[1] == out_shape[1] and groups > 1
        if not is_depthwise and weights.shape[1] > CHANNELS_MAX:
            return False
        if not is_depthwise and taps > TAPS_MAX:
            return self.as_patches(node, weights, bias, shape) or self.in_parts(node, weights, bias, shape)
        n, (oc, oh, ow) = in_shape[0], out_shape[1:]
        output, images = self.images_behind(node.output[0])
        output, weights, bias = self.fold_scales(output, weights, bias, 2)
        output, residual, end = self.fold_end(output)
        source = self.to_last(node.input[0])
        if not prefers_winograd(shape, self.products):
            if not is_depthwise:
                weights, shape = join_results(weights, shape)
                bias = np.tile(bias, len(weights) // oc)
            function, packed = self.packed(weights, bias, groups, is_depthwise, geometry[5])
            inputs = [source, *packed]
        elif has_winograd_parts(shape):
            function, inputs = WINOGRAD_SUMS, self.winograd_products(source, weights, bias, shape)
        else:
            function, inputs = WINOGRAD, [source, *map(self.constant, pack_winograd(weights, bias))]
        if residual is not None:
            inputs.append(self.to_last(residual))
            if images:
                inputs[-1] = self.reshaped(inputs[-1], (n, oh, ow, oc))
        kernel = make_kernel(function, shape, **end)
        twin = self.kernel(kernel, inputs, self.fresh("conv"), (n, oh, ow, oc))
        self.set_last(output, self.reshaped(twin, images) if images else twin)
        return True

    def winograd_products(self, source: str, weights: np.ndarray, bias: np.ndarray, shape: tuple[int, ...]
                          ) -> list[str]:
        """The sums that the last part of Winograd's method transforms, and the bias. They are the products of the
        transformed squares, which are pixels: each of 36 positions is a group of channels."""
        squares, ins, outs = squares_of(shape), 36 * shape[3], 36 * shape[6]
        transformed = self.kernel(make_kernel(WINOGRAD_INPUTS, shape), [source], self.fresh("squares"),
                                  (1, squares, 1, ins))
        packed, packed_bias = pack_winograd(weights, bias)
        product = make_kernel("takt_conv2d_f32", (1, squares, 1, ins, squares, 1, outs, 1, 1, 1, 1, 1, 1, 0, 0, 36))
        sums = self.kernel(
            product, [transformed, self.constant(np.ascontiguousarray(packed.swapaxes(0, 1))),
                      self.constant(np.zeros(outs, np.float32))], self.fresh("products"), (1, squares, 1, outs))
        return [sums, self.constant(packed_bias)]

    def computed_conv(self, node: Any) -> bool:
        """A convolution whose weights the network computes or gets, such as the correlation with a template: they are
        packed in each call. That with a single template is the sum over the channels of a depthwise one. The groups of
        one may be the samples of a batch, each with weights of its own."""
        source, name, bias = [*node.input, ""][:3]
        in_shape, out_shape, shape = map(self.shape, (source, node.output[0], name))
        if (in_shape is None or out_shape is None or shape is None or len(shape) != 4
                or not self.is_float(source) or not self.is_float(name) or bias and not self.is_float(bias)):
            return False
        geometry, groups = self.window(node, shape[2:], in_shape, out_shape), self.attributes(node).get("group", 1)
        (n, channels), (outs, ins, height, width), (oh, ow) = in_shape[:2], shape, out_shape[2:]
        is_summed = groups == outs == 1
        is_depthwise = is_summed or groups == channels == outs > 1
        if is_summed:
            outs, ins, groups = channels, 1, channels
        if geometry is None or not is_depthwise and ins > CHANNELS_MAX:
            return False
        has_parts = not is_depthwise and height * width > TAPS_MAX
        if has_parts and groups > 1:
            return False
        parts = 1 if is_depthwise else groups
        wide = outs // parts + -(outs // parts) % BLOCK
        long = self.in_blocks(self.to_first(name), (outs, ins, height, width), parts, wide)
        added = self.constant(np.zeros(parts * wide, np.float32))
        if bias:
            added = self.in_blocks(self.to_first(bias), (1 if is_summed else outs,), parts, wide)
        conv = (n, *in_shape[2:], channels, oh, ow, outs, *geometry, groups)
        if has_parts:
            return self.computed_in_parts(node, long, added, conv)
        function = "takt_depthwise2d_f32" if is_depthwise else "takt_conv2d_f32"
        packed = self.packed_in_calls(long, (parts * wide, ins, height, width))
        twin = self.kernel(make_kernel(function, conv), [self.to_last(source), packed, added], self.fresh("conv"),
                           (n, oh, ow, outs))
        if is_summed:
            twin = self.emit("ReduceSum", [twin, self.constant(np.array([3]))], self.fresh("sums"), (n, oh, ow, 1))
        self.set_last(node.output[0], twin)
        return True

    def packed_in_calls(self, weights: str, shape: tuple[int, ...]) -> str:
        """Computed weights of whole blocks in the order of the kernels."""
        wide, ins, height, width = shape
        blocks = self.emit("Reshape", [weights, self.constant(np.array([wide // BLOCK, BLOCK, ins, height, width]))],
                           self.fresh("blocks"))
        return self.emit("Transpose", [blocks], self.fresh("packed"), (wide // BLOCK, height, width, ins, BLOCK),
                         perm=[0, 3, 4, 2, 1])

    def in_blocks(self, name: str, shape: tuple[int, ...], parts: int, wide: int) -> str:
        """A tensor of this shape, whose first dimension has equal parts, with zeros behind each part up to `wide`."""
        each, rest = shape[0] // parts, shape[1:]
        count, whole = wide - each, (parts * wide, *rest)
        if name in self.constants:
            apart = self.constants[name].reshape(parts, each, *rest)
            return self.constant(np.pad(apart, [(0, 0), (0, count), *[(0, 0)] * len(rest)]).reshape(whole))
        apart = self.emit("Reshape", [name, self.constant(np.array([parts, each, *rest]))], self.fresh("apart"))
        if count:
            zeros = [0] * len(rest)
            pads = self.constant(np.array([0, 0, *zeros, 0, count, *zeros]))
            apart = self.emit("Pad", [apart, pads], self.fresh("long"))
        return self.emit("Reshape", [apart, self.constant(np.array(whole))], self.fresh("blocks"), whole)

    def packed(self, weights: np.ndarray, bias: np.ndarray, groups: int, is_depthwise: bool,
               dilation: int = 1) -> tuple[str, list[str]]:
        """The function for such weights, and the constants that it takes."""
        function = "takt_depthwise2d_f32" if is_depthwise else "takt_conv2d_f32"
        packed, packed_bias = pack(weights, bias, groups, is_depthwise)
        if self.is_bf16 and not is_depthwise:
            joined = join_rows(weights, groups, dilation)
            ins, height, width = joined.shape[1:]
            if ins >= _BF16_CHANNELS_MIN and -(-ins // 2) * height * width <= _BF16_PAIRS_MAX:
                function = "takt_conv2d_bf16"
                packed = pack_pairs(pack(joined, bias, groups, False)[0])
        return function, [self.constant(packed), self.constant(packed_bias)]

    def as_patches(self, node: Any, weights: np.ndarray, bias: np.ndarray, shape: tuple[int, ...]) -> bool:
        """A convolution of many taps is one of few taps over patches as large as its stride,
        whose pixels are channels. Where windows do not overlap, that is a product."""
        n, h, w, c, oh, ow, oc, kh, kw, sh, sw, *dilations, top, left, groups = shape
        th, tw = -(-kh // sh), -(-kw // sw)
        if groups != 1 or dilations != [1, 1] or th * tw > TAPS_MAX or c * sh * sw > CHANNELS_MAX:
            return False
        ph, pw, channels = oh + th - 1, ow + tw - 1, c * sh * sw
        quantized, found = self.quantized_weights(node, 0), self.quantization.tensors.get(node.input[0])
        # Groups that were joined and taps that were left out are so in the floats alone.
        is_quantized = quantized is not None and found is not None and quantized[0].shape == weights.shape
        source, zero, factors = node.input[0], 0, None
        if is_quantized:
            (source, scale), (weights, factors) = found, quantized
            zero = scale.zero_point
        element = self.element_types[source]
        images = self.framed(self.to_first(source), (n, c, h, w), [top, left], (ph * sh, pw * sw), zero, element)
        split = self.emit("Reshape", [images, self.constant(np.array([n, c, ph, sh, pw, sw]))],
                          self.fresh("patches"), (n, c, ph, sh, pw, sw), element=element)
        turned = self.emit("Transpose", [split], self.fresh("patches"), (n, ph, pw, c, sh, sw), element=element,
                           perm=[0, 2, 4, 1, 3, 5])
        patches = self.emit("Reshape", [turned, self.constant(np.array([n, ph, pw, channels]))],
                            self.fresh("patches"), (n, ph, pw, channels), element=element)
        whole = np.pad(weights, ((0, 0), (0, 0), (0, th * sh - kh), (0, tw * sw - kw)))
        own = whole.reshape(oc, c, th, sh, tw, sw).transpose(0, 1, 3, 5, 2, 4).reshape(oc, channels, th, tw)
        of_patches = (n, ph, pw, channels, oh, ow, oc, th, tw, 1, 1, 1, 1, 0, 0, 1)
        if is_quantized:
            floats = self.fresh("floats")
            self.last[patches], self.quantization.tensors[floats] = patches, (patches, scale)
            return self.quantized_product(self.with_inputs(node, [floats, *node.input[1:]]), own, factors, bias, 1,
                                          of_patches, None, node.output[0])
        function, packed = self.packed(own, bias, 1, False)
        twin = self.kernel(make_kernel(function, of_patches), [patches, *packed], self.fresh("conv"), (n, oh, ow, oc))
        self.set_last(node.output[0], twin)
        return True

    def framed(self, images: str, shape: tuple[int, ...], begins: list[int], sizes: tuple[int, int], zero: int,
               element: int) -> str:
        """Images with zeros before them, and as many behind as make these sizes, or cut off there.

        zero      what stands for 0 in elements of the type `element`.
        """
        kept = [min(size - begin, old) for size, begin, old in zip(sizes, begins, shape[2:])]
        if kept != list(shape[2:]):
            bounds = [[0, 0], kept, [2, 3]]
            images = self.emit("Slice", [images, *(self.constant(np.array(each)) for each in bounds)],
                               self.fresh("patches"), (*shape[:2], *kept), element=element)
        ends = [size - begin - old for size, begin, old in zip(sizes, begins, kept)]
        if any((*begins, *ends)):
            pads = self.constant(np.array([0, 0, *begins, 0, 0, *ends]))
            value = self.constant(np.array(zero, self.onnx.helper.tensor_dtype_to_np_dtype(element)))
            images = self.emit("Pad", [images, pads, value], self.fresh("patches"), (*shape[:2], *sizes),
                               element=element)
        return images

    def window(self, node: Any, kernel: tuple[int, int], in_shape: tuple[int, ...],
               out_shape: tuple[int, ...]) -> tuple[int, ...] | None:
        """kernel, stride, dilation, pad_top, pad_left; None if it has another form."""
        if len(in_shape) != 4 or len(out_shape) != 4:
            return None
        attributes = self.attributes(node)
        strides = list(attributes.get("strides", [1, 1]))
        dilations = list(attributes.get("dilations", [1, 1]))
        pads = list(attributes.get("pads", [0, 0, 0, 0]))
        if attributes.get("auto_pad", b"NOTSET") != b"NOTSET":
            return None  # `porter` states it where the shapes are known.
        if pads[0] < 0 or pads[1] < 0:
            return None
        return (*kernel, *strides, *dilations, pads[0], pads[1])


    # Products with constant weights.

    def on_matmul(self, node: Any) -> bool:
        if self.gathered_product(node):
            return True
        weights = self.constants.get(node.input[1])
        in_shape = self.sizes(node.input[0])
        if (weights is None or weights.ndim != 2 or in_shape is None
                or not self.is_product(node.input[0], in_shape, weights)):
            return False
        bias = np.zeros(weights.shape[1], np.float32)
        output = node.output[0]
        user = self.only_consumer(output)
        if user is not None and user.op_type == "Add":
            other = user.input[1] if user.input[0] == output else user.input[0]
            value = self.constants.get(other)
            if value is not None and value.shape == bias.shape:
                bias, output = value.astype(np.float32), user.output[0]
                self.done.add(id(user))
        if self.quantized_matmul(node, False, bias, in_shape, output):
            return True
        if self.product_of_bits(self.to_first(node.input[0]), in_shape, weights, bias, output):
            return True
        return self.product(self.to_first(node.input[0]), in_shape, weights, bias, output)

    def on_gemm(self, node: Any) -> bool:
        attributes = self.attributes(node)
        weights = self.constants.get(node.input[1])
        in_shape = self.sizes(node.input[0])
        if weights is None or in_shape is None or attributes.get("transA", 0):
            return False
        if attributes.get("transB", 0):
            weights = weights.T
        if not self.is_product(node.input[0], in_shape, weights):
            return False
        weights = weights * np.float32(attributes.get("alpha", 1.0))
        bias = np.zeros(weights.shape[1], np.float32)
        if len(node.input) > 2 and node.input[2]:
            value = self.constants.get(node.input[2])
            if value is None or math.prod(value.shape[:-1]) != 1 or value.size not in (1, bias.size):
                return False  # None, or one for each row.
            bias = bias + value.reshape(-1) * np.float32(attributes.get("beta", 1.0))
        if (attributes.get("alpha", 1.0) == 1.0
                and self.quantized_matmul(node, bool(attributes.get("transB", 0)), bias, in_shape,
                                          node.output[0])):
            return True
        operands = self.to_first(node.input[0]), in_shape, weights, bias.astype(np.float32), node.output[0]
        return self.product_of_bits(*operands) or self.product(*operands)

    def is_product(self, left: str, in_shape: open_sizes.Sizes, weights: np.ndarray) -> bool:
        taps = row_taps(weights.shape[0])
        if left in self.open:
            is_right = in_shape[-1] == weights.shape[0] and 2 <= len(in_shape) <= 4
        else:
            is_right = len(in_shape) >= 2 and 1 <= math.prod(in_shape[:-1]) * taps <= SIZE_MAX
        return (is_right and taps > 0 and left in self.dynamic and self.is_float(left) and weights.dtype == np.float32
                and weights.shape[1] <= SIZE_MAX)

    def product(self, left: str, in_shape: open_sizes.Sizes, weights: np.ndarray, bias: np.ndarray,
                output: str) -> bool:
        shape, opened = product_shape(in_shape, weights.shape[1])
        turn = self.only_consumer(output)
        is_image = (len(in_shape) == 4 and turn is not None and turn.op_type == "Transpose"
                    and list(self.attributes(turn).get("perm", [])) == TO_FIRST)
        if is_image:
            output = turn.output[0]
            self.done.add(id(turn))
        output, turned, bias = self.fold_scales(output, weights.T, bias, 2 if is_image else 0)
        output, residual, end = self.fold_end(output)
        function, packed = self.packed(product_window(turned), bias, 1, False)
        inputs = [left, *packed]
        if residual is not None:
            inputs.append(self.to_last(residual) if is_image else self.to_first(residual))
        kernel = of_rows(make_kernel(function, shape, **end), opened)
        out_shape = (*in_shape[:-1], weights.shape[1])
        if is_image:
            self.set_last(output, self.kernel(kernel, inputs, self.fresh("conv"), out_shape))
        else:
            self.kernel(kernel, inputs, output, out_shape)
        return True

    # Pools.

    def on_maxpool(self, node: Any) -> bool:
        return self.quantized_max_pool(node) or (
            len(node.output) == 1 and self.pool(node, "takt_max_pool2d_f32", False))

    def on_averagepool(self, node: Any) -> bool:
        counts = bool(self.attributes(node).get("count_include_pad", 0))
        return self.pool(node, "takt_mean_pool2d_f32", counts)

    def on_globalaveragepool(self, node: Any) -> bool:
        twin = self.mean_of_pixels(node.input[0], False, [2, 3]) or self.open_mean(node.input[0], [2, 3])
        if twin is None:
            return False
        self.set_last(node.output[0], twin)
        return True

    def mean_of_pixels(self, name: str, is_in_two: bool, axes: list[int]) -> str | None:
        """The twin without the dimensions `axes` (2 and 3, or one of them); None if
        there are no pixels with the channels last. In two steps it is the mean of rows'
        means."""
        in_shape = self.shape(name)
        if in_shape is None or len(in_shape) != 4 or name not in self.last or not self.is_float(name):
            return None
        n, c, h, w = in_shape
        pixels = self.to_last(name)
        if is_in_two:
            shape = (n, h, w, c, h, 1, c, 1, w, 1, 1, 1, 1, 0, 0, c)
            pixels, w = self.kernel_of("takt_mean_pool2d_f32", shape, [pixels], (n, h, 1, c)), 1
        kernel = (h if 2 in axes else 1, w if 3 in axes else 1)
        out = (h // kernel[0], w // kernel[1])
        shape = (n, h, w, c, *out, c, *kernel, 1, 1, 1, 1, 0, 0, c)
        return self.kernel_of("takt_mean_pool2d_f32", shape, [pixels], (n, *out, c))

    def kernel_of(self, function: str, shape: tuple[int, ...], inputs: list[str],
                  out_shape: tuple[int, ...]) -> str:
        return self.kernel(make_kernel(function, shape), inputs, self.fresh("conv"), out_shape)

    def pool_shape(self, node: Any) -> tuple[int, ...] | None:
        """The 16 numbers of kernels::ConvShape for a pool of images."""
        in_shape, out_shape = self.shape(node.input[0]), self.shape(node.output[0])
        attributes = self.attributes(node)
        kernel = tuple(attributes.get("kernel_shape", ()))
        if in_shape is None or out_shape is None or len(kernel) != 2 or attributes.get("storage_order", 0):
            return None
        geometry = self.window(node, kernel, in_shape, out_shape)
        if geometry is None:
            return None
        n, c, h, w = in_shape
        return (n, h, w, c, *out_shape[2:], c, *geometry, c)

    def pool(self, node: Any, function: str, count_padding: bool) -> bool:
        shape = self.pool_shape(node)
        if shape is None:
            return self.open_pool(node, function, count_padding)
        if not self.is_float(node.input[0]) or node.input[0] not in self.dynamic:
            return False
        n, _, w, c, oh, ow, _, kh, kw, *strides = shape
        is_few, is_max = c < BLOCK, "max" in function
        is_apart = ((is_max or is_few and strides[:2] == [1, 1])
                    and kh * kw >= (_ALONE_MIN if is_few else _WINDOW_MIN) and max(w, oh) * c <= CHANNELS_MAX)
        # The compiler's is quicker than two transpositions for the smallest windows alone.
        if node.input[0] not in self.last and not is_apart and (is_few or kh * kw < _ALONE_MIN):
            return False
        if self.attributes(node).get("ceil_mode", 0) and count_padding:
            return False
        pixels = self.to_last(node.input[0])

        def pooled(name: str, shape: tuple[int, ...]) -> str:
            n, _, _, _, oh, ow, c, *_ = shape
            return self.kernel(make_kernel(function, shape, count_padding=count_padding), [name], self.fresh("pool"),
                               (n, oh, ow, c))

        if is_apart:
            twin = self.pool_of_lines(pixels, shape, pooled) if is_few else self.pool_in_two(pixels, shape, pooled)
        else:
            twin = pooled(pixels, shape)
        self.set_last(node.output[0], twin)
        return True

    def pool_in_two(self, pixels: str, shape: tuple[int, ...], pooled: Callable[[str, tuple[int, ...]], str]) -> str:
        """A large window: the maxima of columns, and of these those of rows."""
        n, h, w, c, oh, ow, _, kh, kw, sh, sw, dh, dw, top, left, _ = shape
        pixels = pooled(pixels, (n, h, w, c, oh, w, c, kh, 1, sh, 1, dh, 1, top, 0, c))
        return pooled(pixels, (n, oh, w, c, oh, ow, c, 1, kw, 1, sw, 1, dw, 0, left, c))

    def pool_of_lines(self, pixels: str, shape: tuple[int, ...], pooled: Callable[[str, tuple[int, ...]], str]) -> str:
        """The same of few channels, or means: the kernel takes the numbers of a line for channels."""
        n, h, w, c, oh, ow, _, kh, kw, sh, sw, dh, dw, top, left, _ = shape
        for size, result, width, window in ((h, oh, w, (kh, 1, sh, 1, dh, 1, top, 0)),
                                            (w, ow, oh, (kw, 1, sw, 1, dw, 1, left, 0))):
            line = width * c
            pixels = pooled(self.reshaped(pixels, (n, size, 1, line)),
                            (n, size, 1, line, result, 1, line, *window, line))
            pixels = self.emit("Transpose", [self.reshaped(pixels, (n, result, width, c))], self.fresh("turned"),
                               (n, width, result, c), perm=[0, 2, 1, 3])
        return pixels
