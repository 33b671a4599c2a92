"""Networks for Takt's own kernels.

`rewrite()` takes an ONNX network and makes its convolutions, its products with
constant weights and its pools calls of kernels that the runtime has
(docs/native_kernels.md): tensors with the channels last, weights packed ahead
of time, bias, residual and clamp in the same pass. What it does not know stays
as it is, for the compiler.

`lower()` then puts the calls into the MLIR that the importer makes of it.
"""

from __future__ import annotations

import dataclasses
import math
import re
from typing import Any, Iterator, Union

import numpy as np

from . import attention, batches, boxes, branches, canonical, folding, quantized, recurrent, signed, slicing, tiled_calls

BLOCK = 16  # Output channels of a block of packed weights.
DOMAIN = "takt"
# A workgroup is some 30 us on a fast core: short enough to be preempted after.
_TILE_MACS = 3e6
_TILE_ELEMENTS = 64 << 10
# A network of fewer multiply-adds takes longer to start its calls.
_MACS_MIN = 1e4
# In the order of the kernels' numbers.
ACTIVATIONS = ("none", "silu", "sigmoid", "hard_swish", "hard_sigmoid", "tanh", "gelu")
_TAPS_MAX = 128
_BYTES_PER_CYCLE = 8  # Of weights, from a cache that cores share.
_CACHE_BYTES = 16 << 20
# With fewer input channels, half of the pairs would be empty.
_BF16_CHANNELS_MIN = 8
_BF16_PAIRS_MAX = 1 << 14
# How many products are done in the time of one product of floats.
_PRODUCTS = {"": 1, "bf16": 2, "bf16_tiles": 6}
_CHANNELS_MAX = 16384
_ROWS_MAX = 65536  # Of a product.
_STRETCHED_MAX = 96  # Pixels of a row.
_TO_LAST = [0, 2, 3, 1]
_TO_FIRST = [0, 3, 1, 2]

_UNARY = {
    "Relu", "Sigmoid", "Tanh", "LeakyRelu", "Elu", "HardSwish", "HardSigmoid", "Erf", "Exp",
    "Neg", "Abs", "Sqrt", "Softplus", "Identity", "Clip", "Mish", "Reciprocal", "Floor", "Ceil",
}
_BINARY = {"Add", "Sub", "Mul", "Div", "Max", "Min", "Pow"}


@dataclasses.dataclass(frozen=True)
class Kernel:
    """One function that a module's code imports, with one geometry."""

    function: str  # Such as takt_conv2d_f32.
    shape: tuple[int, ...]  # The 16 numbers of kernels::ConvShape.
    block_tiles: int
    pixel_tiles: int
    has_residual: bool = False
    activation: str = "none"  # Before the clamp.
    low: float = -math.inf
    high: float = math.inf
    count_padding: bool = False

    @property
    def is_pool(self) -> bool:
        return "pool" in self.function


AnyKernel = Union[Kernel, quantized.QuantizedKernel, tiled_calls.TiledCall]


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
    rewriter = _Rewriter(canonical.reduce(branches.merge(batches.split(signed.shift(folding.fold(model))))), precision)
    if not rewriter.run():
        return model, []
    return rewriter.result(), rewriter.kernels


def pays(network: Any, kernels: list[AnyKernel]) -> bool:
    """Whether the calls of a network that rewrite() gave are quicker than what
    the compiler makes of it: not those of tiny networks."""
    calls = [node for node in network.graph.node if node.op_type == "TaktKernel"]
    multiply_adds = 0
    for node in calls:
        kernel = kernels[node.attribute[0].i]
        # The compiler's is a call of each gate in each step, or none that works.
        if kernel.function in ("takt_gru_f32", "takt_lstm_f32", "takt_select_boxes_f32"):
            return True
        if isinstance(kernel, tiled_calls.TiledCall):
            multiply_adds += kernel.multiply_adds
            continue
        n, _, _, c, oh, ow, oc, kh, kw, *_, groups = kernel.shape
        if "pool" not in kernel.function:
            multiply_adds += n * oh * ow * oc * kh * kw * (c // groups)
    return multiply_adds >= _MACS_MIN


class _Rewriter(quantized.QuantizedRewriter, attention.AttentionRewriter, boxes.BoxesRewriter,
                recurrent.RecurrentRewriter, slicing.SlicingRewriter):
    def __init__(self, model: Any, precision: str) -> None:
        import onnx

        self.onnx = onnx
        self.is_bf16 = precision.startswith("bf16")
        self.products = _PRODUCTS[precision]
        self.model = onnx.shape_inference.infer_shapes(model, data_prop=True)
        graph = self.model.graph
        self.constants: dict[str, np.ndarray] = {
            tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer
        }
        self.shapes: dict[str, tuple[int, ...] | None] = {
            name: array.shape for name, array in self.constants.items()
        }
        self.new_constants: dict[str, np.ndarray] = {}
        self.quantization = quantized.Quantization()
        self.element_types: dict[str, int] = {}
        for value in [*graph.input, *graph.value_info, *graph.output]:
            tensor = value.type.tensor_type
            dims = [d.dim_value if d.HasField("dim_value") else -1 for d in tensor.shape.dim]
            is_static = tensor.HasField("shape") and all(d >= 0 for d in dims)
            self.shapes[value.name] = tuple(dims) if is_static else None
            self.element_types[value.name] = tensor.elem_type
        self.nodes = [node for node in map(self.simplify, graph.node) if node is not None]
        self.dynamic = self.find_dynamic()
        self.results = {value.name for value in graph.output}
        self.count_consumers()
        self.kernels: list[AnyKernel] = []
        self.kernel_ids: dict[AnyKernel, int] = {}
        self.out: list[Any] = []
        self.new_values: dict[str, tuple[tuple[int, ...], int]] = {}
        # Where a tensor of channels first has its twin of channels last.
        self.last: dict[str, str] = {}
        self.made: set[str] = {value.name for value in graph.input} | set(self.constants)
        self.done: set[int] = set()  # id() of nodes that another one includes.
        self.ranges: dict[str, tuple[str, str]] = {}  # Floats, their bytes and ranges.
        self.count = 0
        self.find_quantized()
        self.find_attention()

    # What the graph says.

    def count_consumers(self) -> None:
        self.consumers: dict[str, list[Any]] = {}
        for node in self.nodes:
            for name in folding.reads(node):
                self.consumers.setdefault(name, []).append(node)

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

    def shape(self, name: str) -> tuple[int, ...] | None:
        return self.shapes.get(name)

    def attributes(self, node: Any) -> dict[str, Any]:
        return {a.name: self.onnx.helper.get_attribute_value(a) for a in node.attribute}

    def only_consumer(self, name: str) -> Any | None:
        users = self.consumers.get(name, [])
        return users[0] if len(users) == 1 and name not in self.results else None

    # What the new graph gets.

    def fresh(self, kind: str) -> str:
        self.count += 1
        return f"takt_{kind}_{self.count}"

    def constant(self, array: np.ndarray, kind: str = "constant") -> str:
        name = self.fresh(kind)
        self.new_constants[name] = np.asarray(array, order="C")
        self.made.add(name)
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
        index = self.kernel_ids.setdefault(kernel, len(self.kernel_ids))
        if index == len(self.kernels):
            self.kernels.append(kernel)
        return self.emit("TaktKernel", inputs, output, shape, DOMAIN, element, kernel=index)

    def to_last(self, name: str) -> str:
        """The twin of a tensor with the channels last."""
        if name not in self.last:
            if name in self.constants:
                self.last[name] = self.constant(self.constants[name].transpose(_TO_LAST))
            else:
                n, c, h, w = self.shapes[name]
                self.last[name] = self.emit(
                    "Transpose", [self.to_first(name)], self.fresh("last"), (n, h, w, c),
                    element=self.element_types[name], perm=_TO_LAST)
        return self.last[name]

    def to_first(self, name: str) -> str:
        """The tensor itself, as nodes that stay as they are read it."""
        if name and name not in self.made:
            self.emit("Transpose", [self.last[name]], name, perm=_TO_FIRST)
        return name

    def set_last(self, name: str, twin: str) -> None:
        self.last[name] = twin

    # The pass.

    def run(self) -> bool:
        for node in self.nodes:
            if id(node) in self.done:
                continue
            handler = getattr(self, f"on_{node.op_type.lower()}", None)
            if node.op_type in _UNARY:
                handler = self.on_unary
            elif node.op_type in _BINARY:
                handler = self.on_binary
            if node.domain in ("", "ai.onnx") and handler is not None and handler(node):
                continue
            for name in folding.reads(node):
                if name in self.last:
                    self.to_first(name)
            self.out.append(self.with_floats(node))
            self.made.update(node.output)
        for name in self.results:
            self.to_first(name)
        return bool(self.kernels)

    def result(self) -> Any:
        onnx = self.onnx
        graph = self.model.graph
        kept, used = folding.needed(self.out, self.results)
        initializers = [t for t in graph.initializer if t.name in used]
        initializers += [
            onnx.numpy_helper.from_array(array, name)
            for name, array in self.new_constants.items() if name in used
        ]
        values = [v for v in graph.value_info if v.name in self.made and v.name in used]
        values += [
            onnx.helper.make_tensor_value_info(name, element, shape)
            for name, (shape, element) in self.new_values.items() if name in used
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
        if node.input[0] not in self.dynamic:
            return False
        if weights is None or weights.dtype != np.float32 or weights.ndim != 4:
            return False
        if in_shape is None or out_shape is None or not self.is_float(node.input[0]):
            return False
        has_bias = len(node.input) > 2 and node.input[2] != ""
        bias = self.constants.get(node.input[2]) if has_bias else np.zeros(weights.shape[0], np.float32)
        if bias is None:
            return False
        geometry = self.window(node, weights.shape[2:], in_shape, out_shape)
        if geometry is None:
            return False
        groups = self.attributes(node).get("group", 1)
        shape = (in_shape[0], *in_shape[2:], in_shape[1], *out_shape[2:], out_shape[1], *geometry, groups)
        taps = weights.shape[2] * weights.shape[3]
        if (taps <= _TAPS_MAX and max(weights.shape[:2]) <= _CHANNELS_MAX
                and self.quantized_conv(node, bias, groups, shape)):
            return True
        weights, geometry = trim_taps(weights, geometry, in_shape, out_shape)
        shape = (*shape[:7], *geometry, groups)
        taps = weights.shape[2] * weights.shape[3]
        is_depthwise = groups == in_shape[1] == out_shape[1] and groups > 1
        if not is_depthwise and (taps > _TAPS_MAX or weights.shape[1] > _CHANNELS_MAX):
            return self.as_patches(node, weights, bias, in_shape, out_shape)
        if self.as_depthwise(node, weights, bias, shape):
            return True
        output = node.output[0]
        output, weights, bias = self.fold_normalization(output, weights, bias)
        output, residual, end = self.fold_end(output)
        n, (oc, oh, ow) = in_shape[0], out_shape[1:]
        inputs = [self.to_last(node.input[0])]
        if prefers_winograd(shape, self.products):
            function = "takt_winograd2d_f32"
            packed = [self.constant(each) for each in pack_winograd(weights, bias)]
        else:
            function, packed = self.packed(weights, bias, groups, is_depthwise, geometry[5])
        inputs += packed
        if residual is not None:
            inputs.append(self.to_last(residual))
        kernel = make_kernel(function, shape, **end)
        twin = self.kernel(kernel, inputs, self.fresh("conv"), (n, oh, ow, oc))
        self.set_last(output, twin)
        return True

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

    def as_patches(self, node: Any, weights: np.ndarray, bias: np.ndarray,
                   in_shape: tuple[int, ...], out_shape: tuple[int, ...]) -> bool:
        """A convolution whose windows do not overlap is a product with patches."""
        attributes = self.attributes(node)
        oc, ic, kh, kw = weights.shape
        n, c, h, w = in_shape
        strides = list(attributes.get("strides", [1, 1]))
        if (attributes.get("group", 1) != 1 or strides != [kh, kw] or h % kh or w % kw
                or any(attributes.get("pads", [0])) or n != 1 or ic * kh * kw > _CHANNELS_MAX):
            return False
        oh, ow = out_shape[2:]
        split = self.emit(
            "Reshape", [self.to_first(node.input[0]), self.constant(np.array([c, oh, kh, ow, kw]))],
            self.fresh("patches"), (c, oh, kh, ow, kw))
        turned = self.emit("Transpose", [split], self.fresh("patches"), (oh, ow, c, kh, kw),
                           perm=[1, 3, 0, 2, 4])
        rows = self.emit(
            "Reshape", [turned, self.constant(np.array([1, oh, ow, c * kh * kw]))],
            self.fresh("patches"), (1, oh, ow, c * kh * kw))
        flat = weights.reshape(oc, -1, 1, 1)
        shape = (1, oh, ow, c * kh * kw, oh, ow, oc, 1, 1, 1, 1, 1, 1, 0, 0, 1)
        function, packed = self.packed(flat, bias, 1, False)
        twin = self.kernel(make_kernel(function, shape), [rows, *packed], self.fresh("conv"),
                           (1, oh, ow, oc))
        self.set_last(node.output[0], twin)
        return True

    def window(self, node: Any, kernel: tuple[int, int], in_shape: tuple[int, ...],
               out_shape: tuple[int, ...]) -> tuple[int, ...] | None:
        """kernel, stride, dilation, pad_top, pad_left; None if it has another form."""
        if len(in_shape) != 4 or len(out_shape) != 4:
            return None
        attributes = self.attributes(node)
        strides = list(attributes.get("strides", [1, 1]))
        dilations = list(attributes.get("dilations", [1, 1]))
        pads = list(attributes.get("pads", [0, 0, 0, 0]))
        auto = attributes.get("auto_pad", b"NOTSET").decode()
        if auto in ("SAME_UPPER", "SAME_LOWER"):
            for i in range(2):
                reach = (kernel[i] - 1) * dilations[i] + 1
                total = max(0, (out_shape[2 + i] - 1) * strides[i] + reach - in_shape[2 + i])
                pads[i] = total // 2 if auto == "SAME_UPPER" else total - total // 2
        elif auto == "VALID":
            pads = [0, 0, 0, 0]
        if pads[0] < 0 or pads[1] < 0:
            return None
        return (*kernel, *strides, *dilations, pads[0], pads[1])

    def fold_normalization(self, output: str, weights: np.ndarray, bias: np.ndarray
                           ) -> tuple[str, np.ndarray, np.ndarray]:
        user = self.only_consumer(output)
        if user is None or user.op_type != "BatchNormalization" or len(user.output) != 1:
            return output, weights, bias
        parts = [self.constants.get(name) for name in user.input[1:5]]
        if any(part is None for part in parts):
            return output, weights, bias
        scale, shift, mean, variance = (part.astype(np.float64) for part in parts)
        factor = scale / np.sqrt(variance + self.attributes(user).get("epsilon", 1e-5))
        weights = (weights * factor.reshape(-1, 1, 1, 1)).astype(np.float32)
        bias = ((bias - mean) * factor + shift).astype(np.float32)
        self.done.add(id(user))
        return user.output[0], weights, bias

    def fold_end(self, output: str) -> tuple[str, str | None, dict[str, Any]]:
        """What follows: the sum with a tensor that is there already, an
        activation, and a clamp."""
        residual = None
        user = self.only_consumer(output)
        if user is not None and user.op_type == "Add":
            other = user.input[1] if user.input[0] == output else user.input[0]
            is_there = other in self.made or other in self.last
            if (is_there and other not in self.constants
                    and self.shape(other) == self.shape(output) and other != output):
                residual = other
                self.done.add(id(user))
                output = user.output[0]
        activation, output = self.fold_activation(output)
        user = self.only_consumer(output)
        low, high = -math.inf, math.inf
        limits = self.limits(user) if user is not None else None
        if limits is not None:
            low, high = limits
            self.done.add(id(user))
            output = user.output[0]
        end = {"has_residual": residual is not None, "activation": activation, "low": low, "high": high}
        return output, residual, end

    def fold_activation(self, x: str) -> tuple[str, str]:
        """The activation of `x` that a kernel has, and its result."""
        nodes, name, result = [], "none", x
        user = self.only_consumer(x)
        if user is not None:
            simple = {"Sigmoid": "sigmoid", "Tanh": "tanh", "HardSwish": "hard_swish"}
            if user.op_type in simple:
                nodes, name, result = [user], simple[user.op_type], user.output[0]
            elif self.is_hard_sigmoid(user):
                nodes, name, result = [user], "hard_sigmoid", user.output[0]
        elif x not in self.results:
            nodes, name, result = self.find_gate(x) or self.find_gelu(x) or (nodes, name, result)
        self.done.update(id(node) for node in nodes)
        return name, result

    def is_hard_sigmoid(self, node: Any) -> bool:
        attributes = self.attributes(node)
        return (node.op_type == "HardSigmoid" and abs(attributes.get("alpha", 0.2) - 1 / 6) < 1e-6
                and attributes.get("beta", 0.5) == 0.5)

    def find_gate(self, x: str) -> tuple[list[Any], str, str] | None:
        """x * sigmoid(x), or with a hard sigmoid."""
        users = self.consumers.get(x, [])
        if len(users) != 2:
            return None
        for gate, product in (users, users[::-1]):
            is_hard = self.is_hard_sigmoid(gate)
            if (product.op_type == "Mul" and (is_hard or gate.op_type == "Sigmoid")
                    and self.only_consumer(gate.output[0]) is product
                    and set(product.input) == {x, gate.output[0]}):
                return [gate, product], "hard_swish" if is_hard else "silu", product.output[0]
        return None

    def find_gelu(self, x: str) -> tuple[list[Any], str, str] | None:
        """x / 2 * (1 + erf(x / sqrt(2))), with the half at either end."""
        users = self.consumers.get(x, [])
        if len(users) != 2:
            return None
        for inner, outer in (users, users[::-1]):
            if not (self.scales(inner, x, "Mul", 0.5**0.5) or self.scales(inner, x, "Div", 2**0.5)):
                continue
            erf = self.only_consumer(inner.output[0])
            if erf is None or erf.op_type != "Erf":
                continue
            plus = self.only_consumer(erf.output[0])
            if plus is None or not self.scales(plus, erf.output[0], "Add", 1.0):
                continue
            product = self.only_consumer(plus.output[0])
            if product is None or product.op_type != "Mul":
                continue
            nodes = [inner, erf, plus, product]
            if self.scales(outer, x, "Mul", 0.5):
                if (self.only_consumer(outer.output[0]) is product
                        and set(product.input) == {outer.output[0], plus.output[0]}):
                    return [*nodes, outer], "gelu", product.output[0]
            elif outer is product and set(product.input) == {x, plus.output[0]}:
                half = self.only_consumer(product.output[0])
                if half is not None and self.scales(half, product.output[0], "Mul", 0.5):
                    return [*nodes, half], "gelu", half.output[0]
        return None

    def scales(self, node: Any, x: str, op: str, factor: float) -> bool:
        """Whether `node` is x and a constant number near `factor`."""
        if node.op_type != op or x not in node.input or (op == "Div" and node.input[0] != x):
            return False
        other = node.input[1] if node.input[0] == x else node.input[0]
        value = self.constants.get(other)
        return value is not None and value.size == 1 and abs(float(value.reshape(())) - factor) < 1e-5

    def limits(self, node: Any) -> tuple[float, float] | None:
        """The clamp that an activation is."""
        if node.op_type == "Relu":
            return 0.0, math.inf
        if node.op_type != "Clip":
            return None
        attributes = self.attributes(node)
        limits = [attributes.get("min", -math.inf), attributes.get("max", math.inf)]
        for i, name in enumerate(node.input[1:3]):
            if name == "":
                continue
            value = self.constants.get(name)
            if value is None or value.size != 1:
                return None
            limits[i] = float(value.reshape(()))
        return limits[0], limits[1]

    # Products with constant weights.

    def on_matmul(self, node: Any) -> bool:
        weights = self.constants.get(node.input[1])
        in_shape = self.shape(node.input[0])
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
        return self.product(self.to_first(node.input[0]), in_shape, weights, bias, output)

    def on_gemm(self, node: Any) -> bool:
        attributes = self.attributes(node)
        weights = self.constants.get(node.input[1])
        in_shape = self.shape(node.input[0])
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
            if value is None or value.size not in (1, bias.size):
                return False
            bias = bias + value.reshape(-1) * np.float32(attributes.get("beta", 1.0))
        if (attributes.get("alpha", 1.0) == 1.0
                and self.quantized_matmul(node, bool(attributes.get("transB", 0)), bias, in_shape,
                                          node.output[0])):
            return True
        return self.product(self.to_first(node.input[0]), in_shape, weights,
                            bias.astype(np.float32), node.output[0])

    def is_product(self, left: str, in_shape: tuple[int, ...], weights: np.ndarray) -> bool:
        rows = math.prod(in_shape[:-1])
        return (left in self.dynamic and self.is_float(left) and weights.dtype == np.float32
                and len(in_shape) >= 2 and 1 <= rows <= _ROWS_MAX and weights.shape[0] <= _CHANNELS_MAX
                and weights.shape[1] <= 65536)

    def product(self, left: str, in_shape: tuple[int, ...], weights: np.ndarray, bias: np.ndarray,
                output: str) -> bool:
        inner, outer = weights.shape
        rows = math.prod(in_shape[:-1])
        output, residual, end = self.fold_end(output)
        shape = (1, 1, rows, inner, 1, rows, outer, 1, 1, 1, 1, 1, 1, 0, 0, 1)
        function, packed = self.packed(weights.T[:, :, None, None], bias, 1, False)
        inputs = [left, *packed]
        if residual is not None:
            inputs.append(self.to_first(residual))
        kernel = make_kernel(function, shape, **end)
        self.kernel(kernel, inputs, output, (*in_shape[:-1], outer))
        return True

    # Pools.

    def on_maxpool(self, node: Any) -> bool:
        return self.quantized_max_pool(node) or (
            len(node.output) == 1 and self.pool(node, "takt_max_pool2d_f32", False))

    def on_averagepool(self, node: Any) -> bool:
        counts = bool(self.attributes(node).get("count_include_pad", 0))
        return self.pool(node, "takt_mean_pool2d_f32", counts)

    def on_globalaveragepool(self, node: Any) -> bool:
        twin = self.mean_of_pixels(node.input[0], False, [2, 3])
        if twin is not None:
            self.set_last(node.output[0], twin)
        return twin is not None

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
        if shape is None or not self.is_float(node.input[0]) or node.input[0] not in self.last:
            return False
        if self.attributes(node).get("ceil_mode", 0) and count_padding:
            return False
        n, _, _, c, oh, ow, *_ = shape
        twin = self.kernel(make_kernel(function, shape, count_padding=count_padding),
                           [self.to_last(node.input[0])], self.fresh("pool"), (n, oh, ow, c))
        self.set_last(node.output[0], twin)
        return True

    # What may be computed with the channels last as well.

    def on_unary(self, node: Any) -> bool:
        if node.input[0] not in self.last or len(node.output) != 1:
            return False
        if any(name and name not in self.constants for name in node.input[1:]):
            return False
        return self.copy_last(node, [self.last[node.input[0]], *node.input[1:]])

    def on_binary(self, node: Any) -> bool:
        if node.op_type == "Add" and self.quantized_add(node):
            return True
        shape = self.shape(node.output[0])
        if shape is None or len(shape) != 4 or not any(name in self.last for name in node.input):
            return False
        if any(name in self.made and name not in self.last and name not in self.constants
               and math.prod(self.shape(name) or (2,)) > 1 for name in node.input):
            # A tensor with channels first only: not worth a transpose.
            return False
        inputs = []
        for name in node.input:
            other = self.shape(name)
            if other is None:
                return False
            if math.prod(other) == 1:
                inputs.append(self.to_first(name) if name not in self.last else self.last[name])
            elif len(other) == 4:
                inputs.append(self.to_last(name))
            elif len(other) == 3 and name in self.constants:
                inputs.append(self.constant(self.constants[name][None].transpose(_TO_LAST)))
            else:
                return False
        return self.copy_last(node, inputs)

    def on_concat(self, node: Any) -> bool:
        shape = self.shape(node.output[0])
        if shape is None or len(shape) != 4 or not any(name in self.last for name in node.input):
            return False
        axis = self.attributes(node)["axis"] % 4
        if any(self.shape(name) is None for name in node.input):
            return False
        inputs = [self.to_last(name) for name in node.input]
        return self.copy_last(node, inputs, axis=_TO_FIRST[axis])

    def on_pad(self, node: Any) -> bool:
        pads = self.constants.get(node.input[1]) if len(node.input) > 1 else None
        if node.input[0] not in self.last or pads is None or pads.size != 8 or len(node.input) > 3:
            return False
        turned = np.array([*pads[:4][_TO_LAST], *pads[4:][_TO_LAST]], np.int64)
        return self.copy_last(
            node, [self.last[node.input[0]], self.constant(turned), *node.input[2:]])

    def on_reshape(self, node: Any) -> bool:
        return self.shuffle(node) or self.place(node) or self.flatten(node)

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

    def shuffle(self, node: Any) -> bool:
        """Channels of groups in turns: Reshape, Transpose, Reshape."""
        source, in_shape = node.input[0], self.shape(node.input[0])
        split = self.shape(node.output[0])
        turn = self.only_consumer(node.output[0])
        if (source not in self.last or in_shape is None or split is None or len(split) != 5
                or turn is None or turn.op_type != "Transpose"):
            return False
        join = self.only_consumer(turn.output[0])
        if (join is None or join.op_type != "Reshape" or self.shape(join.output[0]) != in_shape
                or list(self.attributes(turn).get("perm", [])) != [0, 2, 1, 3, 4]):
            return False
        n, c, h, w = in_shape
        _, groups, each = split[:3]
        element = self.element_types[source]
        if split[3:] != (h, w) or groups * each != c:
            return False
        a = self.emit("Reshape", [self.last[source], self.constant(np.array([n, h, w, groups, each]))],
                      self.fresh("shuffle"), (n, h, w, groups, each), element=element)
        b = self.emit("Transpose", [a], self.fresh("shuffle"), (n, h, w, each, groups),
                      element=element, perm=[0, 1, 2, 4, 3])
        twin = self.emit("Reshape", [b, self.constant(np.array([n, h, w, c]))],
                         self.fresh("shuffle"), (n, h, w, c), element=element)
        self.done.update((id(turn), id(join)))
        self.set_last(join.output[0], twin)
        return True

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
        return True

    def on_resize(self, node: Any) -> bool:
        return self.repeat(node) or self.interpolate(node)

    def interpolate(self, node: Any) -> bool:
        """Between the two nearest pixels, by a whole factor in each dimension."""
        source, in_shape = node.input[0], self.shape(node.input[0])
        out_shape = self.shape(node.output[0])
        attributes = self.attributes(node)
        if (source not in self.last or in_shape is None or out_shape is None
                or attributes.get("mode", b"nearest") != b"linear" or attributes.get("antialias", 0)
                or attributes.get("coordinate_transformation_mode", b"half_pixel")
                not in (b"half_pixel", b"pytorch_half_pixel")
                or out_shape[:2] != in_shape[:2] or not self.is_float(source)
                or out_shape[2] % in_shape[2] or out_shape[3] % in_shape[3]
                or 1 in in_shape[2:]):
            return False
        n, c, h, w = in_shape
        up, across = out_shape[2] // h, out_shape[3] // w
        # What is only a result needs no twin, whose transpose takes longer. A
        # row of few pixels is stretched by a product.
        if (node.output[0] in self.results and not self.consumers.get(node.output[0])
                and w <= _STRETCHED_MAX and n * c * h * up <= _ROWS_MAX):
            rows = self.stretch(self.to_first(source), list(in_shape), 2, up)
            weights = np.zeros((w, w * across), np.float32)
            for pixel in range(w):
                for neighbour, shares in zip((-1, 0, 1), _shares(across)):
                    other = min(max(pixel + neighbour, 0), w - 1)
                    weights[other, pixel * across:(pixel + 1) * across] += shares
            return self.product(rows, (n, c, h * up, w), weights,
                                np.zeros(w * across, np.float32), node.output[0])
        tall = self.stretch(self.last[source], [n, h, w, c], 1, up)
        self.set_last(node.output[0], self.stretch(tall, [n, h * up, w, c], 2, across))
        return True

    def stretch(self, x: str, shape: list[int], axis: int, factor: int) -> str:
        """Each pixel with its neighbours, in the parts that the places around
        its centre have of them."""
        if factor == 1:
            return x
        size = shape[axis]

        def emit(op: str, inputs: list[str], new: list[int], **attributes: Any) -> str:
            return self.emit(op, inputs, self.fresh("stretch"), tuple(new), **attributes)

        def resized(count: int) -> list[int]:
            return [*shape[:axis], count, *shape[axis + 1:]]

        def part(begin: int, end: int) -> str:
            bounds = [self.constant(np.array([v], np.int64)) for v in (begin, end, axis)]
            return emit("Slice", [x, *bounds], resized(end - begin))

        # The first and the last pixel have themselves as a neighbour.
        before = emit("Concat", [part(0, 1), part(0, size - 1)], shape, axis=axis)
        after = emit("Concat", [part(1, size), part(size - 1, size)], shape, axis=axis)
        split = [*shape[:axis], size, 1, *shape[axis + 1:]]
        wide = [*shape[:axis], size, factor, *shape[axis + 1:]]
        total = None
        for each, shares in zip((before, x, after), _shares(factor)):
            turned = shares.reshape(-1, *[1] * (3 - axis))
            scaled = emit("Mul", [emit("Reshape", [each, self.constant(np.array(split))], split),
                                  self.constant(turned)], wide)
            total = scaled if total is None else emit("Add", [total, scaled], wide)
        return emit("Reshape", [total, self.constant(np.array(resized(size * factor)))],
                    resized(size * factor))

    def repeat(self, node: Any) -> bool:
        """Pixels repeated a whole number of times."""
        source, in_shape = node.input[0], self.shape(node.input[0])
        out_shape = self.shape(node.output[0])
        attributes = self.attributes(node)
        if (source not in self.last or in_shape is None or out_shape is None
                or attributes.get("mode", b"nearest") != b"nearest"
                or out_shape[2] % in_shape[2] or out_shape[3] % in_shape[3]):
            return False
        mode = attributes.get("coordinate_transformation_mode", b"half_pixel")
        if mode not in (b"half_pixel", b"asymmetric", b"pytorch_half_pixel"):
            return False
        if mode == b"asymmetric" and attributes.get("nearest_mode", b"") != b"floor":
            return False
        n, c, h, w = in_shape
        element = self.element_types[source]
        up, across = out_shape[2] // h, out_shape[3] // w
        a = self.emit("Reshape", [self.last[source], self.constant(np.array([n, h, 1, w, 1, c]))],
                      self.fresh("resize"), (n, h, 1, w, 1, c), element=element)
        b = self.emit("Expand", [a, self.constant(np.array([n, h, up, w, across, c]))],
                      self.fresh("resize"), (n, h, up, w, across, c), element=element)
        twin = self.emit("Reshape", [b, self.constant(np.array([n, h * up, w * across, c]))],
                         self.fresh("resize"), (n, h * up, w * across, c), element=element)
        self.set_last(node.output[0], twin)
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
        shape = self.shape(node.output[0])
        if shape is None or len(shape) != 4:
            return False
        n, c, h, w = shape
        attributes = {**self.attributes(node), **changed}
        twin = self.emit(node.op_type, inputs, self.fresh("last"), (n, h, w, c),
                         element=self.element_types[node.output[0]], **attributes)
        self.set_last(node.output[0], twin)
        return True


def trim_taps(weights: np.ndarray, geometry: tuple[int, ...], in_shape: tuple[int, ...],
              out_shape: tuple[int, ...]) -> tuple[np.ndarray, tuple[int, ...]]:
    """Weights and geometry without the rows and columns of the window that lie
    outside the image wherever the window is, as those of far dilations do."""
    numbers = list(geometry)  # kernel, stride, dilation and padding, of rows and columns.
    for axis in range(2):
        taps, stride, dilation, pad = numbers[axis::2]
        size, last = in_shape[2 + axis], (out_shape[2 + axis] - 1) * stride
        useful = [i for i in range(taps) if -last <= i * dilation - pad < size]
        if not useful:
            return weights, geometry
        first = min(useful[0], pad // dilation)  # Padding is never negative.
        weights = weights[(slice(None),) * (2 + axis) + (slice(first, useful[-1] + 1),)]
        numbers[axis], numbers[6 + axis] = useful[-1] + 1 - first, pad - first * dilation
    return weights, tuple(numbers)


def pack(weights: np.ndarray, bias: np.ndarray, groups: int, is_depthwise: bool
         ) -> tuple[np.ndarray, np.ndarray]:
    """Weights [out][in][h][w] and bias in blocks of output channels."""
    outs, ins, height, width = weights.shape
    if is_depthwise:
        groups = 1
        weights = weights.reshape(outs, 1, height, width)
        ins = 1
    each = outs // groups
    blocks = -(-each // BLOCK)
    padded = np.zeros((groups, blocks * BLOCK, ins, height, width), np.float32)
    padded[:, :each] = weights.reshape(groups, each, ins, height, width)
    packed = padded.reshape(groups, blocks, BLOCK, ins, height, width).transpose(0, 1, 4, 5, 3, 2)
    padded_bias = np.zeros((groups, blocks * BLOCK), np.float32)
    padded_bias[:, :each] = bias.reshape(groups, each)
    return np.ascontiguousarray(packed), padded_bias


def join_rows(weights: np.ndarray, groups: int, dilation: int) -> np.ndarray:
    """The taps of a row as channels of one tap, where the kernel reads them so
    (ConvShape::HasJoinedRows() of src/kernels/conv2d.h)."""
    outs, ins, height, width = weights.shape
    if groups != 1 or dilation != 1 or height > 16 or width * ins > 64:
        return weights
    return weights.transpose(0, 3, 1, 2).reshape(outs, width * ins, height, 1)


def pack_pairs(packed: np.ndarray) -> np.ndarray:
    """Packed weights as bfloat16: the numbers of two input channels in the place of
    one, as the halves of a float."""
    *outer, ins, block = packed.shape
    even = np.zeros((*outer, ins + ins % 2, block), np.float32)
    even[..., :ins, :] = packed
    bits = even.view(np.uint32)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16  # Half to even.
    pairs = rounded.reshape(*outer, -1, 2, block)
    return np.ascontiguousarray(pairs[..., 0, :] | pairs[..., 1, :] << 16).view(np.float32)


def _shares(factor: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The parts that the places of a stretched pixel have of the pixel before, of
    itself, and of the one after it."""
    places = ((np.arange(factor) + 0.5) / factor - 0.5).astype(np.float32)  # From its centre.
    return np.maximum(-places, 0), 1 - np.abs(places), np.maximum(places, 0)


def squares_of(shape: tuple[int, ...]) -> int:
    """The squares of the result that Winograd's method computes at once."""
    n, _, _, _, oh, ow, *_ = shape
    return n * -(-oh // 4) * -(-ow // 4)


def prefers_winograd(shape: tuple[int, ...], products: int) -> bool:
    """Whether Winograd's method is quicker than so many products at once: by
    estimates of cycles for products, transformations and reading the weights."""
    (n, _, _, c, oh, ow, oc, *geometry, groups) = shape
    if tuple(geometry[:6]) != (3, 3, 1, 1, 1, 1) or groups != 1 or not 16 <= c <= 512 or oc < 9:
        return False
    blocks, squares = -(-oc // BLOCK), squares_of(shape)
    weights = c * blocks * BLOCK * 4  # Bytes of each product.
    direct = 9 * n * oh * ow * c * blocks / products + reading_of(9 * weights)
    quick = 36 * squares * c * blocks + reading_of(36 * weights) + squares * (14 * c + 192 * blocks)
    return quick < 0.8 * direct


def reading_of(weights: int) -> float:
    """Cycles to read so many bytes of weights. More than a cache holds come from memory."""
    return weights / (_BYTES_PER_CYCLE if weights <= _CACHE_BYTES else _BYTES_PER_CYCLE / 3)


def pack_winograd(weights: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Transformed weights as [blocks][36][in][BLOCK], and the bias in blocks."""
    matrix = np.array([[6, 0, 0], [-4, -4, -4], [-4, 4, -4], [1, 2, 4], [1, -2, 4], [0, 0, 24]]) / 24
    turned = np.einsum("ya,oiab,xb->oiyx", matrix, weights.astype(np.float64), matrix)
    packed, padded_bias = pack(turned.astype(np.float32), bias, 1, False)
    return packed[0].reshape(packed.shape[1], 36, *packed.shape[4:]), padded_bias


def make_kernel(function: str, shape: tuple[int, ...], **options: Any) -> Kernel:
    """The kernel with tiles of a size that suits it."""
    (n, _, _, c, oh, ow, oc, kh, kw, *_, groups) = shape
    pixels = n * oh * ow
    is_winograd = "winograd" in function
    is_wide = "conv2d" in function or is_winograd  # Every input channel of the group counts.
    blocks = groups * -(-(oc // groups) // BLOCK) if is_wide else -(-oc // BLOCK)
    padded = blocks * BLOCK if is_wide else oc
    if is_winograd:
        pixels, kh = squares_of(shape), 12  # 36 products.
    macs = pixels * padded * kh * kw * (c // groups if is_wide else 1)
    if is_wide:
        tiles = max(math.ceil(macs / _TILE_MACS), min(8, math.ceil(macs / (_TILE_MACS / 8))))
    else:
        tiles = max(math.ceil(macs / 9 / _TILE_ELEMENTS), min(4, math.ceil(macs / 9 / 8192)))
    weights = oc * kh * kw * (c // groups)
    if is_winograd:
        pixel_tiles = min(tiles, max(1, pixels // 6))
        block_tiles = _quads(blocks, max(1, round(tiles / pixel_tiles)))
    elif is_wide and weights > n * shape[1] * shape[2] * c:
        # Few pixels, many weights: each tile reads its own weights only.
        block_tiles = _quads(blocks, tiles)
        pixel_tiles = min(max(1, round(tiles / block_tiles)), max(1, pixels // 24))
    else:
        pixel_tiles = min(tiles, max(1, pixels // 14))
        block_tiles = _quads(blocks, max(1, round(tiles / pixel_tiles)))
    return Kernel(function, shape, block_tiles, pixel_tiles, **options)


def _quads(blocks: int, tiles: int) -> int:
    """At most so many tiles, whose blocks a micro kernel takes four at a time."""
    quads = -(-blocks // 4)
    return -(-quads // -(-quads // min(tiles, quads)))


# The importer's line of a kernel.
_OPERATOR = re.compile(
    r"^(?P<indent>\s*)(?P<result>%[\w.]+) = torch\.operator \"onnx\.(?:takt\.)?TaktKernel\"\((?P<inputs>[^)]*)\) "
    r"\{(?P<attributes>[^}]*)\} : \((?P<types>.*)\) -> (?P<type>!torch\.vtensor<.*>)\s*$"
)
_TENSOR = re.compile(r"!torch\.vtensor<\[([\d,\s]*)\],(\w+)>")


def lower(mlir: str, kernels: list[AnyKernel]) -> str:
    """Replaces the importer's calls of kernels by dispatches."""
    lines = []
    exports: dict[tuple[int, tuple[str, ...]], str] = {}
    for line in mlir.split("\n"):
        match = _OPERATOR.match(line)
        if match is None:
            lines.append(line)
            continue
        index = int(re.search(r"torch\.onnx\.kernel = (\d+)", match["attributes"]).group(1))
        inputs = [name.strip() for name in match["inputs"].split(",")]
        types = [_builtin(*found) for found in _TENSOR.findall(match["types"])]
        result_type = _builtin(*_TENSOR.match(match["type"]).groups())
        key = (index, (*types, result_type))
        name = exports.setdefault(key, f"k{len(exports)}_{kernels[index].function[5:]}")
        indent, result = match["indent"], match["result"]
        stem = f"%takt_{result[1:]}"  # A number alone takes no suffix.
        torch_types = re.findall(r"!torch\.vtensor<[^>]*>", match["types"])
        operands = []
        for i, (operand, torch_type, builtin) in enumerate(zip(inputs, torch_types, types)):
            operands.append(f"{stem}_{i}")
            lines.append(f"{indent}{operands[-1]} = torch_c.to_builtin_tensor {operand} : {torch_type} -> {builtin}")
        lines.append(
            f"{indent}{stem}_r = flow.dispatch @takt_kernels::@{name}({', '.join(operands)}) : "
            f"({', '.join(types)}) -> {result_type}")
        lines.append(
            f"{indent}{result} = torch_c.from_builtin_tensor {stem}_r : {result_type} -> {match['type']}")
    if not exports:
        return mlir
    begin = next(i for i, line in enumerate(lines) if line.startswith("module"))
    return "\n".join([*lines[: begin + 1], *_executable(exports, kernels), *lines[begin + 1:]])


def _builtin(dimensions: str, element: str) -> str:
    sizes = [d.strip() for d in dimensions.split(",") if d.strip()]
    # Integers have signs there, and none here.
    return "tensor<" + "".join(f"{d}x" for d in sizes) + element.removeprefix("s") + ">"


def _executable(exports: dict[tuple[int, tuple[str, ...]], str], kernels: list[AnyKernel]) -> Iterator[str]:
    yield "  stream.executable private @takt_kernels {"
    for (index, _), name in exports.items():
        kernel = kernels[index]
        yield f"    stream.executable.export public @{name} workgroups() -> (index, index, index) {{"
        x, y = kernel.pixel_tiles, kernel.block_tiles
        if not isinstance(kernel, Kernel):
            x, y = y, x
        yield f"      %x = arith.constant {x} : index"
        yield f"      %y = arith.constant {y} : index"
        yield "      %z = arith.constant 1 : index"
        yield "      stream.return %x, %y, %z : index, index, index"
        yield "    }"
    yield "    builtin.module {"
    used = {kernels[index].function: kernels[index] for index, _ in exports}
    for function in sorted(used):
        if isinstance(used[function], tiled_calls.TiledCall):
            types, result = ", ".join(tiled_calls.parameter_types(used[function])), ""
        elif function.endswith("_i8"):
            types, result = ", ".join(quantized.parameter_types()), ""
        else:
            types, result = ", ".join(_parameter_types("pool" in function)), "-> i32 "
        yield f"      func.func private @{function}({types}) {result}attributes {{llvm.bareptr = true}}"
    for (index, types), name in exports.items():
        kernel = kernels[index]
        if isinstance(kernel, quantized.QuantizedKernel):
            yield from quantized.function(name, kernel, types)
        elif isinstance(kernel, tiled_calls.TiledCall):
            yield from tiled_calls.function(name, kernel, types)
        else:
            yield from _function(name, kernel, types)
    yield "    }"
    yield "  }"


def _parameter_types(is_pool: bool) -> list[str]:
    memories = 2 if is_pool else 5
    # Memory and offset each; then the shape, a flag, and the tile.
    types = ["memref<f32>", "index"] * memories + ["index"] * (16 + 1 + 4)
    return types if is_pool else [*types, "f32", "f32"]


def _function(name: str, kernel: Kernel, types: tuple[str, ...]) -> Iterator[str]:
    bindings = ", ".join(f"%b{i}: !stream.binding" for i in range(len(types)))
    yield f"      func.func @{name}({bindings}) {{"
    yield "        %zero = arith.constant 0 : index"
    memories = []
    for i, tensor in enumerate(types):
        memory = tensor.replace("tensor", "memref")
        rank = memory.count("x")
        yield (f"        %m{i} = stream.binding.subspan %b{i}[%zero] : !stream.binding -> {memory}")
        parts = f"%p{i}, %o{i}" + (f", %s{i}:{rank}, %t{i}:{rank}" if rank else "")
        indices = ", ".join(["index"] * (2 * rank + 1))
        yield (f"        {parts} = iree_codegen.extract_strided_metadata %m{i} : {memory} -> "
               f"memref<f32>, {indices}")
        memories.append((f"%p{i}", f"%o{i}"))
    numbers = [*kernel.shape]
    if kernel.is_pool:
        order = [memories[0], memories[1]]
        numbers.append(int(kernel.count_padding))
    else:
        residual = memories[3] if kernel.has_residual else memories[2]
        order = [*memories[:3], residual, memories[-1]]
        # Bit 0: a residual; from bit 8: the activation.
        numbers.append(int(kernel.has_residual) | ACTIVATIONS.index(kernel.activation) << 8)
    arguments = [part for memory in order for part in memory]
    for i, number in enumerate(numbers):
        yield f"        %n{i} = arith.constant {number} : index"
        arguments.append(f"%n{i}")
    # Neighbours share weights, which a core then has in its cache.
    yield "        %x = stream.dispatch.workgroup.id[1] : index"
    yield "        %y = stream.dispatch.workgroup.id[0] : index"
    yield f"        %xs = arith.constant {kernel.block_tiles} : index"
    yield f"        %ys = arith.constant {kernel.pixel_tiles} : index"
    arguments += ["%x", "%xs", "%y", "%ys"]
    if not kernel.is_pool:
        for label, value in (("low", kernel.low), ("high", kernel.high)):
            bits = int(np.float32(value).view(np.uint32))
            yield f"        %{label} = arith.constant 0x{bits:08X} : f32"
            arguments.append(f"%{label}")
    yield (f"        %r = func.call @{kernel.function}({', '.join(arguments)}) : "
           f"({', '.join(_parameter_types(kernel.is_pool))}) -> i32")
    yield "        return"
    yield "      }"
