"""Quantized networks (QDQ) for Takt's own kernels: the int8 side of `rewriter`.

A product between DequantizeLinear and QuantizeLinear becomes one of integers
with 32-bit sums, whose result is scaled and rounded in the same pass. What only
moves elements is done on the bytes. What is computed of one tensor, element by
element, becomes a table of 256 bytes.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from . import byte_calls, open_calls, tiled_calls
from ..porting import scales
from ..networks import elementwise, graphs, open_sizes
from .kernel_calls import DOMAIN
from .opened import OpenShape, of_rows, product_shape, product_window
from .packing import BLOCK, FOUR, join_groups, join_pixels, join_results, pack_bytes, with_room

# Operators of one input that only move elements, so that they may be applied
# before or after quantization.
_MOVERS = {"Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze", "Resize", "Slice"}
# Those whose result has each element once: they may as well come behind what is done by elements.
_REORDERS = _MOVERS - {"Resize", "Slice"}
# Operators that compute each element of the result from elements at the same place.
_POINTWISE = (elementwise.UNARY - {"Cast", "Not"}) | {"Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "PRelu"}
_PRODUCTS = {"MatMul", "Gemm", "Conv", "ConvTranspose", "Einsum"}
# Steps that there are for a bias, beside the sum of products, in 32 bits.
_BIAS_STEPS_MIN = 1 << 24
# Some 20 us of a fast core.
_TILE_BYTES = 32 << 10
_ROWS_MAX = 2**31 - 1  # Of a tile.
# As in src/kernels/rows_i8.h.
_NORM_SIZE_MAX = 1 << 16


@dataclasses.dataclass(frozen=True)
class Scale:
    """What the bytes of a tensor mean: scale * (byte - zero_point)."""

    scale: float
    zero_point: int


class Quantization:
    """What a graph says of quantized tensors.

    tensors    float tensors that are bytes dequantized: the bytes, their scale.
    stepped    tensors in steps of a scale that is found in each call, and the
               tensors before the steps.
    constants  the same of constants: the integers, scales, zero points, and of
               which dimension the scales are.
    """

    def __init__(self) -> None:
        self.tensors: dict[str, tuple[str, Scale]] = {}
        self.stepped: dict[str, str] = {}
        self.constants: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray, int]] = {}

    def scale_of(self, node: Any, constants: dict[str, np.ndarray]) -> Scale | None:
        """Of a QuantizeLinear or DequantizeLinear of int8 with one scale."""
        found = graphs.one_scale(node, constants)
        if found is None:
            return None
        scale, zero_point = found
        if zero_point.dtype != np.int8 or scale.dtype != np.float32 or not scale > 0:
            return None
        return Scale(float(scale), int(zero_point))

    def constant(self, node: Any, constants: dict[str, np.ndarray], axis: int) -> np.ndarray | None:
        """The floats that a DequantizeLinear makes of a constant."""
        value, scale = constants[node.input[0]], constants.get(node.input[1])
        if scale is None or scale.ndim > 1 or value.dtype not in (np.int8, np.uint8, np.int32):
            return None
        zero_point = np.zeros(1, value.dtype)
        if len(node.input) > 2 and node.input[2]:
            found = constants.get(node.input[2])
            if found is None:
                return None
            zero_point = found
        if zero_point.size not in (1, scale.size):
            return None
        axis = axis % max(1, value.ndim)
        self.constants[node.output[0]] = value, scale, zero_point, axis
        shape = [1] * value.ndim
        if scale.size > 1:
            if value.ndim == 0 or scale.size != value.shape[axis]:
                return None
            shape[axis] = scale.size
        zeros = zero_point.astype(np.int64).reshape(shape if zero_point.size > 1 else [1] * value.ndim)
        factors = scale.reshape(shape if scale.size > 1 else [1] * value.ndim)
        with np.errstate(invalid="ignore", over="ignore"):  # A mask of -inf has an infinite scale.
            return ((value.astype(np.int64) - zeros) * factors.astype(np.float64)).astype(np.float32)


class QuantizedRewriter:
    """The part of the rewriter that knows quantization."""

    def find_quantized(self) -> None:
        """Notes what is dequantized, and lets moves of elements move bytes."""
        nodes = []
        dropped: set[int] = set()
        self.steps_of: dict[str, list[str]] = {}  # The scale and the zero point of floats that were bytes.
        for node in self.nodes:
            if id(node) in dropped:
                continue
            moved = self.move_bytes(node, dropped)
            for each in moved or [node]:
                nodes.append(each)
                if each.op_type == "DequantizeLinear" and self.is_bytes(each.input[0]):
                    scale = self.quantization.scale_of(each, self.constants)
                    if scale is not None:
                        self.quantization.tensors[each.output[0]] = each.input[0], scale
                        self.steps_of[each.output[0]] = list(each.input[1:])
        nodes = self.map_bytes(nodes)
        self.find_stepped(nodes)
        self.nodes, _ = graphs.needed(nodes, self.results)
        self.count_consumers()

    def find_stepped(self, nodes: list[Any]) -> None:
        finder = scales.StepFinder(self.onnx, nodes, self.constants)
        for node in nodes:
            source = finder.find(node.output[0]) if node.op_type == "Mul" else None
            if source in self.shapes or len(self.open.get(source, ())) in range(1, 5):
                self.quantization.stepped[node.output[0]] = source
        self.stepped_sources = set(self.quantization.stepped.values())

    def is_bytes(self, name: str) -> bool:
        return self.element_types.get(name) == self.onnx.TensorProto.INT8

    def move_bytes(self, node: Any, dropped: set[int]) -> list[Any] | None:
        """Nodes in place of `node` and of the QuantizeLinear after it, which is
        dropped. None if `node` is none that only moves what was dequantized."""
        if node.op_type not in _MOVERS | {"Concat"} or len(node.output) != 1:
            return None
        if node.op_type == "Resize" and self.attributes(node).get("mode", b"nearest") != b"nearest":
            return None
        data = list(node.input) if node.op_type == "Concat" else [node.input[0]]
        user = self.only_consumer(node.output[0])
        if any(name not in self.quantization.tensors for name in data):
            return self.moved_behind(node, user, dropped)
        if user is not None and len(data) == 1 and self.moves_to_bytes(user):
            return self.moved_bytes(node)
        if user is None or user.op_type != "QuantizeLinear":
            return None
        scale = self.quantization.scale_of(user, self.constants)
        if scale is None:
            return None
        helper, made, names = self.onnx.helper, [], []
        before = {self.quantization.tensors[name][1] for name in data}
        is_late = len(before) == 1  # One scale: requantize the result, if at all.
        for name in data:
            source, own = self.quantization.tensors[name]
            if not is_late and own != scale:
                source = self.fresh("bytes")
                made.append(helper.make_node("QuantizeLinear", [name, *user.input[1:]], [source]))
                self.note(source, [name], self.sizes(name), self.onnx.TensorProto.INT8)
            names.append(source)
        is_same = not is_late or before == {scale}
        result = user.output[0] if is_same else self.fresh("bytes")
        attributes = self.attributes(node)
        made.append(helper.make_node(
            node.op_type, [*names, *node.input[len(data):]], [result], name=result, **attributes))
        self.note(result, names, self.sizes(node.output[0]), self.onnx.TensorProto.INT8)
        if not is_same:
            floats = self.fresh("floats")
            made.append(helper.make_node("DequantizeLinear", [result, *self.steps_of[data[0]]], [floats]))
            made.append(helper.make_node("QuantizeLinear", [floats, *user.input[1:]], user.output))
            self.note(floats, [result], self.sizes(node.output[0]), self.onnx.TensorProto.FLOAT)
        dropped.add(id(user))
        return made

    def moved_behind(self, node: Any, user: Any | None, dropped: set[int]) -> list[Any] | None:
        """The QuantizeLinear and a move of its bytes, in place of a move of floats and of the QuantizeLinear after it,
        which is dropped."""
        source = node.input[0]
        if (node.op_type not in _REORDERS or source in self.constants or user is None
                or user.op_type != "QuantizeLinear" or self.quantization.scale_of(user, self.constants) is None):
            return None
        result, make = self.fresh("bytes"), self.onnx.helper.make_node
        self.note(result, [source], self.sizes(source), self.onnx.TensorProto.INT8)
        dropped.add(id(user))
        return [make("QuantizeLinear", [source, *user.input[1:]], [result]),
                make(node.op_type, [result, *node.input[1:]], user.output, name=user.output[0],
                     **self.attributes(node))]

    def moves_to_bytes(self, node: Any) -> bool:
        """Whether a node of one input moves elements that become bytes."""
        while node is not None and node.op_type in _MOVERS - {"Resize"} and node.input[0] not in self.constants:
            node = self.only_consumer(node.output[0])
            if node is not None and node.op_type == "QuantizeLinear":
                return self.quantization.scale_of(node, self.constants) is not None
        return False

    def moved_bytes(self, node: Any) -> list[Any]:
        """The move of bytes and a DequantizeLinear, in place of a move of floats that were bytes."""
        source, _ = self.quantization.tensors[node.input[0]]
        result, make = self.fresh("bytes"), self.onnx.helper.make_node
        moved = make(node.op_type, [source, *node.input[1:]], [result], name=result, **self.attributes(node))
        self.note(result, [source], self.sizes(node.output[0]), self.onnx.TensorProto.INT8)
        return [moved, make("DequantizeLinear", [result, *self.steps_of[node.input[0]]], node.output)]

    def map_bytes(self, nodes: list[Any]) -> list[Any]:
        """The nodes, with a TaktMap in place of each QuantizeLinear of what depends on
        one tensor of bytes, element by element."""
        # Tensors that depend on one of bytes, and the nodes that make them.
        roots: dict[str, str] = {}
        makers: dict[str, Any] = {}
        self.tables: dict[str, np.ndarray] = {}
        same: dict[str, str] = {}  # What a table of no effect gives.
        result = []
        for node in nodes:
            if any(name in same for name in node.input):
                node = self.with_inputs(node, [same.get(name, name) for name in node.input])
                if node.op_type == "DequantizeLinear":
                    scale = self.quantization.scale_of(node, self.constants)
                    if scale is not None:
                        self.quantization.tensors[node.output[0]] = node.input[0], scale
            root = self.root_of(node, roots)
            if root is not None:
                output = node.output[0]
                roots[output], makers[output] = root, node
                if node.op_type == "QuantizeLinear":
                    table = self.table_of(output, root, makers)
                    if table is not None and (table != np.arange(-128, 128)).any():
                        self.tables[output] = table
                        node = self.onnx.helper.make_node("TaktMap", [root], [output])
                    elif table is not None and output not in self.results:
                        same[output] = root
            result.append(node)
        return result

    def with_inputs(self, node: Any, inputs: list[str]) -> Any:
        copy = self.onnx.NodeProto()
        copy.CopyFrom(node)
        del copy.input[:]
        copy.input.extend(inputs)
        return copy

    def root_of(self, node: Any, roots: dict[str, str]) -> str | None:
        """The only tensor of bytes that the result depends on, of the same shape."""
        if len(node.output) != 1 or node.domain not in ("", "ai.onnx"):
            return None
        if node.op_type in ("QuantizeLinear", "DequantizeLinear"):
            if self.quantization.scale_of(node, self.constants) is None:
                return None
            data = [node.input[0]]
            if (node.op_type == "DequantizeLinear" and data[0] in self.dynamic
                    and node.output[0] in self.quantization.tensors):
                roots.setdefault(data[0], data[0])
        elif node.op_type in _POINTWISE:
            data = [name for name in node.input if name and not name in self.constants]
            if any(self.shape(name) is None or math.prod(self.shape(name)) != 1
                   for name in node.input if name in self.constants):
                return None
        else:
            return None
        found = {roots.get(name) for name in data}
        root = found.pop() if len(found) == 1 else None
        if root is None or self.sizes(root) is None or self.sizes(node.output[0]) != self.sizes(root):
            return None
        if root in self.open and len(self.open[root]) > 4:  # open_calls names sizes of four dimensions.
            return None
        return root

    def table_of(self, output: str, root: str, makers: dict[str, Any]) -> np.ndarray | None:
        """What `output` is for each value of `root`, from -128 on; None if nothing
        evaluates it."""
        from onnx.reference import ReferenceEvaluator

        helper, needed, used = self.onnx.helper, [output], set()
        while needed:
            name = needed.pop()
            if name and name != root and name not in used:
                used.add(name)
                if not name in self.constants:
                    needed += makers[name].input
        scalars = [
            self.onnx.numpy_helper.from_array(self.constants[name].reshape(()), name)
            for name in sorted(used) if name in self.constants
        ]
        # In the order of the graph, in which `makers` was filled.
        nodes = [node for name, node in makers.items() if name in used]
        value, element = helper.make_tensor_value_info, self.onnx.TensorProto.INT8
        graph = helper.make_graph(
            nodes, "table", [value(root, element, [256])], [value(output, element, [256])], scalars)
        # Older versions of these operators mean the same.
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
        with np.errstate(all="ignore"):
            try:
                found = ReferenceEvaluator(model).run(
                    None, {root: np.arange(-128, 128).astype(np.int8)})
            except (NotImplementedError, RuntimeError, TypeError, ValueError):
                return None
        table = found[0].reshape(-1)
        return table if table.size == 256 and table.dtype == np.int8 else None

    def on_taktmap(self, node: Any) -> bool:
        source, output = node.input[0], node.output[0]
        shape, is_open = self.sizes(source), source in self.open
        inputs = [
            self.to_last(source) if source in self.last else self.to_first(source),
            self.constant(self.tables[output]),
            # A kernel of bytes has a bias and scales.
            self.constant(np.zeros(1, np.int32)),
            self.constant(np.ones(1, np.float32)),
        ]
        size = open_calls.COUNT if is_open else math.prod(shape)
        kernel = byte_calls.ByteCall(
            "takt_map_i8", (1, 1, size, 1, 1, size, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1),
            _TILE_BYTES if is_open else min(size, _TILE_BYTES), 1)
        element = self.onnx.TensorProto.INT8
        if source in self.last:
            n, c, h, w = shape
            self.set_last(
                output, self.kernel(kernel, inputs, self.fresh("map"), (n, h, w, c), element))
        else:
            self.kernel(kernel, inputs, output, shape, element)
        return True

    def note(self, name: str, sources: list[str], sizes: open_sizes.Sizes | None, element: int) -> None:
        """Notes what is known of a new tensor, which a node makes of `sources`."""
        if sizes is not None:
            is_open = open_sizes.is_open(sizes)
            (self.open if is_open else self.shapes)[name] = sizes
        self.element_types[name] = element
        if not self.dynamic.isdisjoint(sources):
            self.dynamic.add(name)

    def with_floats(self, node: Any) -> Any:
        """The node, with floats that calls compute from bytes if it is a product that is
        left to the compiler. The compiler would make a product of integers of a
        DequantizeLinear, and its code for the sums of these takes minutes to compile."""
        names = [name for name in node.input if name in self.quantization.tensors and name in self.dynamic]
        if node.op_type not in _PRODUCTS or not names:
            return node
        floats = {}
        for name in names:
            source, scale = self.quantization.tensors[name]
            shape = self.shape(name)
            if shape is None:
                return node
            count = math.prod(shape)
            call = tiled_calls.TiledCall("takt_dequantize_f32", ("i8", "f32"), (count, scale.zero_point),
                                         (scale.scale,), 1, count, min(count, _TILE_BYTES), 0)
            floats[name] = self.kernel(call, [self.to_first(source)], self.fresh("floats"), shape)
        return self.with_inputs(node, [floats.get(name, name) for name in node.input])

    def end_in_bytes(self, name: str) -> tuple[Any, Scale] | None:
        """The QuantizeLinear that alone reads `name`, and its scale."""
        user = self.only_consumer(name)
        if user is None or user.op_type != "QuantizeLinear":
            return None
        scale = self.quantization.scale_of(user, self.constants)
        return None if scale is None else (user, scale)

    def end_of_sum(self, output: str) -> tuple[Any, Scale, list[Any]] | None:
        """As end_in_bytes(), of a sum or of the positive part of it, and the nodes that go into its call."""
        end, nodes = self.end_in_bytes(output), []
        relu = self.only_consumer(output) if end is None else None
        if relu is not None and relu.op_type == "Relu":
            end, nodes = self.end_in_bytes(relu.output[0]), [relu]
            # The least byte is 0: nothing negative is left of it.
            if end is not None and end[1].zero_point != -128:
                end = None
        return None if end is None else (*end, [*nodes, end[0]])

    def added_row(self, node: Any) -> bool:
        """The sum of each row of bytes and a constant row of bytes, as bytes."""
        tensors, constants = self.quantization.tensors, self.quantization.constants
        sizes, end = self.sizes(node.output[0]), self.end_of_sum(node.output[0])
        left, row = node.input if node.input[1] in constants else node.input[::-1]
        if end is None or not sizes or left not in tensors or left not in self.dynamic or row not in constants:
            return False
        values, scale, zero_point, _ = constants[row]
        if (values.dtype != np.int8 or scale.size != 1 or not np.isfinite(scale).all() or self.sizes(left) != sizes
                or values.size < BLOCK or values.shape[-1] != sizes[-1] or values.size != sizes[-1]):
            return False
        user, out, nodes = end
        (source, left_scale), element = tensors[left], self.onnx.TensorProto.INT8
        row_scale = Scale(float(scale.reshape(())), int(zero_point.reshape(())))
        call = tiled_calls.call_of_rows(
            "takt_add_row_i8", ("i8",) * 3, sizes,
            (sizes[-1], left_scale.zero_point, row_scale.zero_point, out.zero_point),
            (left_scale.scale, row_scale.scale, out.scale), _TILE_BYTES)
        if call is None or source in self.last:
            return False
        self.done.update(map(id, nodes))
        inputs = [self.to_first(source), self.constant(values.reshape(-1))]
        self.kernel(call, inputs, user.output[0], sizes, element)
        return True

    def quantized_add(self, node: Any) -> bool:
        """The sum of two tensors of bytes, as bytes, or the positive part of it."""
        tensors = self.quantization.tensors
        shape, end = self.sizes(node.output[0]), self.end_of_sum(node.output[0])
        if (end is None or shape is None or any(name not in tensors for name in node.input)
                or any(self.sizes(name) != shape for name in node.input)
                or not any(name in self.dynamic for name in node.input)):
            return False
        user, out, nodes = end
        (left, left_scale), (right, right_scale) = (tensors[name] for name in node.input)
        is_open = open_sizes.is_open(shape)
        count = math.prod(map(open_sizes.nominal, shape))
        if not 0 < count < 2**31 or is_open and len(shape) > 4:
            return False
        call = tiled_calls.TiledCall(
            "takt_add_i8", ("i8",) * 3,
            (open_calls.COUNT if is_open else count, left_scale.zero_point, right_scale.zero_point, out.zero_point),
            (left_scale.scale, right_scale.scale, out.scale), 1, 0 if is_open else count, min(count, _TILE_BYTES), 0)
        element = self.onnx.TensorProto.INT8
        self.done.update(map(id, nodes))
        if left in self.last or right in self.last:
            n, c, h, w = shape
            twin = self.kernel(call, [self.to_last(left), self.to_last(right)], self.fresh("sum"),
                               (n, h, w, c), element)
            self.set_last(user.output[0], twin)
        else:
            self.kernel(call, [self.to_first(left), self.to_first(right)], user.output[0], shape,
                        element)
        return True

    def quantized_max_pool(self, node: Any) -> bool:
        """A max pool of bytes whose steps stay the same, or which are not made floats for it."""
        source, output, user, element = node.input[0], node.output[0], None, self.onnx.TensorProto.INT8
        if self.element_types.get(source) != element:
            found, end = self.quantization.tensors.get(source), self.end_in_bytes(output)
            if found is None or end is None or found[1] != end[1]:
                return False
            source, user = found[0], end[0]
            output = user.output[0]
        if source not in self.last or len(node.output) > 1:
            return False
        shape, opened = self.pool_shape(node), None
        if shape is None:
            opened = self.open_pool_shape(node)
            if opened is None:
                return False
            shape = opened.nominal
        n, _, _, c, oh, ow, *_ = shape
        pixels = n * oh * ow
        call = tiled_calls.TiledCall("takt_max_pool2d_i8", ("i8", "i8"), shape, (), 1, pixels,
                                     max(1, min(pixels, 4 * _TILE_BYTES // c)), 0)
        if user is not None:
            self.done.add(id(user))
        inputs = [self.last[source]]
        if opened is not None:
            twin = self.open_call(call, opened, inputs, element)
        else:
            twin = self.kernel(call, inputs, self.fresh("pool"), (n, oh, ow, c), element)
        self.set_last(output, twin)
        return True

    def on_layernormalization(self, node: Any) -> bool:
        """A norm of bytes that become bytes again, or of floats whose rows calls count: the compiler's code is quick
        where it knows the sizes."""
        source, own = node.input[0], self.attributes(node)
        sizes, found = self.sizes(source), self.quantization.tensors.get(source)
        size = sizes[-1] if sizes else None
        if (not isinstance(size, int) or not 0 < size <= _NORM_SIZE_MAX or len(node.output) > 1
                or source not in self.dynamic or own.get("axis", -1) not in (-1, len(sizes) - 1)):
            return False
        gamma, beta = [*node.input[1:], ""][:2]
        beta = beta or self.known(np.zeros(size, np.float32))
        if any(self.sizes(name) != (size,) or not self.is_float(name) for name in (gamma, beta)):
            return False
        numbers, factors, kinds = (size,), (float(own.get("epsilon", 1e-5)),), ["f32"] * 4
        output, element = node.output[0], self.onnx.TensorProto.FLOAT
        user, out = (self.end_in_bytes(output) if found is not None else None) or (None, None)
        if user is not None:
            source, scale = found
            numbers, factors = (size, out.zero_point), (scale.scale, *factors, out.scale)
            kinds = ["i8", "f32", "f32", "i8"]
            output, element = user.output[0], self.onnx.TensorProto.INT8
        call = tiled_calls.call_of_rows(f"takt_layer_norm_{kinds[0]}", kinds, sizes, numbers, factors, _TILE_BYTES)
        if call is None or user is None and source not in self.open:
            return False
        if user is not None:
            self.done.add(id(user))
        self.kernel(call, [self.to_first(each) for each in (source, gamma, beta)], output, sizes, element)
        return True

    def on_quantizelinear(self, node: Any) -> bool:
        return self.on_scaled(node)

    def on_dequantizelinear(self, node: Any) -> bool:
        return self.on_scaled(node)

    def on_scaled(self, node: Any) -> bool:
        if node.input[0] not in self.last:
            return False
        if self.quantization.scale_of(node, self.constants) is None:
            return False
        return self.copy_last(node, [self.last[node.input[0]], *node.input[1:]])

    def quantized_end(self, output: str) -> tuple[Any, Scale, int, int] | None:
        """The QuantizeLinear after a product, its scale, and a clamp before it
        in steps; None if there is no such end."""
        user = self.only_consumer(output)
        limits = self.limits(user) if user is not None else None
        clamp = None
        if limits is not None:
            clamp, user = user, self.only_consumer(user.output[0])
        if user is None or user.op_type != "QuantizeLinear":
            return None
        scale = self.quantization.scale_of(user, self.constants)
        if scale is None:
            return None
        low, high = -128, 127
        if limits is not None:
            steps = [v / scale.scale + scale.zero_point for v in limits]
            if steps[0] > low:
                low = min(127, int(np.rint(steps[0])))
            if steps[1] < high:
                high = max(low, int(np.rint(steps[1])))
            self.done.add(id(clamp))
        self.done.add(id(user))
        return user, scale, low, high

    def quantized_product(self, node: Any, weights: np.ndarray, factors: np.ndarray,
                          bias: np.ndarray, groups: int, shape: tuple[int, ...],
                          rows: tuple[int, ...] | None, output: str, opened: OpenShape | None = None) -> bool:
        """A kernel for a Conv, or with `rows` (the result's shape) for a product.

        weights  int8 [out][in of a group][h][w]; factors: their scales, [out].
        bias     float, [out]; output: the sum of the product and it.
        """
        found = self.quantization.tensors.get(node.input[0])
        end = None if found is None else self.quantized_end(output)
        if end is None:
            return self.product_to_floats(node.input[0], weights, factors, bias, shape, rows, output, opened)
        source, in_scale = found
        user, out_scale, low, high = end
        room = 2**31 - 1 - 2 * 255 * np.abs(weights.astype(np.int64)).sum((1, 2, 3))
        if room.min() < _BIAS_STEPS_MIN:
            return False
        weights, factors = with_room(weights, factors, bias / in_scale.scale, room)
        steps = in_scale.scale * factors.astype(np.float64)
        sums = np.rint(bias / steps) - in_scale.zero_point * weights.astype(np.int64).sum((1, 2, 3))
        sums = np.clip(sums, -(2**31), 2**31 - 1).astype(np.int32)  # A bias may be infinite.
        is_depthwise = groups == shape[3] == shape[6] and groups > 1
        # In the order in which other runtimes round, to give the same bytes.
        scales = np.float32(in_scale.scale) * factors.astype(np.float32) / np.float32(out_scale.scale)
        before, element = shape, self.onnx.TensorProto.INT8
        image = self.to_last(source) if rows is None else self.to_first(source)
        if rows is None and not is_depthwise and opened is None:
            weights, shape = join_results(*join_pixels(weights, shape))
            image = self.filled(image, before, shape, in_scale.zero_point)
            if groups == 1:
                image, weights, shape = self.in_fours(image, weights, shape)
        results = shape[6] // before[6]
        inputs = [
            image,
            self.constant(pack_bytes(weights, groups, is_depthwise)),
            self.constant(np.tile(sums, results)),
            self.constant(np.tile(scales, results)),
        ]
        if not is_depthwise:
            inputs.append(self.constant(weights.sum((1, 2, 3), dtype=np.int32)))
        kernel = byte_calls.tiled(byte_calls.ByteCall(
            "takt_depthwise2d_i8" if is_depthwise else "takt_conv2d_i8", shape, 1, 1,
            in_scale.zero_point, out_scale.zero_point, low, high))
        if rows is not None:
            self.kernel(of_rows(kernel, opened), inputs, user.output[0], rows, element)
        else:
            if opened is not None:
                twin = self.open_call(kernel, opened, inputs, element)
            else:
                twin = self.joined_call(kernel, inputs, before, shape, element)
            self.set_last(user.output[0], twin)
        return True

    def joined_call(self, kernel: Any, inputs: list[str], before: tuple[int, ...], shape: tuple[int, ...],
                    element: int) -> str:
        """The result of a convolution whose results of neighbouring pixels may be joined, without those that fill up
        its rows; `before`: the shape without that."""
        n, oh, ow, oc = before[0], *before[4:7]
        wide = shape[5] * shape[6] // oc
        twin = self.kernel(kernel, inputs, self.fresh("conv"), (n, oh, wide, oc), element)
        if wide == ow:
            return twin
        bounds = (self.constant(np.array([number])) for number in (0, ow, 2))
        return self.emit("Slice", [twin, *bounds], self.fresh("conv"), (n, oh, ow, oc), element=element)

    def filled(self, image: str, before: tuple[int, ...], shape: tuple[int, ...], zero: int) -> str:
        """Bytes with the channels last, with zeros behind their rows as far as joined pixels need them."""
        n, h, w, c = before[:4]
        width = shape[2] * shape[3] // c
        if w == width:
            return image
        pads, value = np.array([0, 0, 0, 0, 0, 0, width - w, 0]), np.array(zero, np.int8)
        return self.emit("Pad", [image, self.constant(pads), self.constant(value)], self.fresh("filled"),
                         (n, h, width, c), element=self.onnx.TensorProto.INT8)

    def in_fours(self, image: str, weights: np.ndarray, shape: tuple[int, ...]
                 ) -> tuple[str, np.ndarray, tuple[int, ...]]:
        """The image with zeros behind its channels, until these are fours, and the weights of those: the kernel
        multiplies fours, and for others it has to put together what it reads, for each tap anew. Three it reads at
        once."""
        more = -shape[3] % FOUR
        if not more or shape[3] == 3 or math.prod(weights.shape[2:]) == 1:
            return image, weights, shape
        wide = (*shape[:3], shape[3] + more)
        pads = self.constant(np.array([0] * 7 + [more]))
        image = self.emit("Pad", [image, pads], self.fresh("wide"), wide, element=self.onnx.TensorProto.INT8)
        return image, np.pad(weights, [(0, 0), (0, more), (0, 0), (0, 0)]), (*wide, *shape[4:])

    def product_to_floats(self, name: str, weights: np.ndarray, factors: np.ndarray, bias: np.ndarray,
                          shape: tuple[int, ...], rows: tuple[int, ...] | None, output: str,
                          opened: OpenShape | None = None) -> bool:
        """A kernel of bytes whose results are floats, with the operands of
        `quantized_product`; `name`: the tensor of bytes as floats."""
        before, groups, outs = shape, shape[15], shape[6]
        if groups > 1 and outs // groups < BLOCK // 2:
            return False  # Most of a block of channels would be empty.
        is_stepped = name in self.quantization.stepped
        if rows is None and opened is None:
            joined = join_pixels(weights, shape)
            # What stands for 0 is found in the call: no constant fills up rows.
            if not is_stepped or joined[1][2] * joined[1][3] == shape[2] * shape[3]:
                weights, shape = joined
            weights, shape = join_results(weights, shape)
        results = shape[6] // outs
        bias = self.constant(np.tile(bias.astype(np.float32), results))
        scale = Scale(0.0, 0)  # It is found in the call.
        if is_stepped:
            source, ranges = self.bytes_in_steps(self.quantization.stepped[name], rows is None)
        else:
            source, scale = self.quantization.tensors[name]
            source, ranges = self.to_last(source) if rows is None else self.to_first(source), bias
            if rows is None and opened is None:
                source = self.filled(source, before, shape, scale.zero_point)
        user = self.only_consumer(output)
        limits = self.limits(user) if user is not None else None
        if limits is not None:
            self.done.add(id(user))
            output = user.output[0]
        kernel = byte_calls.tiled(byte_calls.ByteCall("takt_conv2d_i8_f32", shape, 1, 1))
        macs = kernel.pixels * weights.size
        call = tiled_calls.TiledCall(
            kernel.function, ("i8", "i8", "i32", "f32", "f32", "f32", "f32"),
            (*shape, kernel.tile_blocks, scale.zero_point), (scale.scale, *(limits or (-math.inf, math.inf))),
            kernel.block_tiles, kernel.pixels, kernel.tile_pixels, macs)
        inputs = [
            source,
            self.constant(pack_bytes(weights, groups, False)),
            self.constant(weights.astype(np.int32).sum((1, 2, 3), dtype=np.int32)),
            self.constant(np.tile(factors.astype(np.float32), results)),
            bias,
            ranges,
        ]
        if rows is not None:
            self.kernel(of_rows(call, opened), inputs, output, rows)
        elif opened is not None:
            self.set_last(output, self.open_call(call, opened, inputs))
        else:
            self.set_last(output, self.joined_call(call, inputs, before, shape, self.onnx.TensorProto.FLOAT))
        return True

    def floats_in_steps(self, node: Any) -> bool:
        """A tensor in steps for others than products of bytes: those bytes, the center and the scale of the call."""
        source, name = self.quantization.stepped.get(node.output[0]), node.output[0]
        if source is None or source in self.open:
            return False
        is_last = source in self.last
        found, _ = self.bytes_in_steps(source, is_last)
        shape = self.twin_shape(source) if is_last else self.sizes(source)
        x = self.emit("Cast", [found], self.fresh("steps"), shape, to=self.onnx.TensorProto.FLOAT)
        for op, number in (("Sub", self.makers[node.input[0]].input[1]), ("Mul", node.input[1])):
            if number not in self.apart:  # The compiler would find it again for each element.
                one = self.emit("Reshape", [number, self.constant(np.array([1]))], self.fresh("number"), (1,))
                self.apart[number] = self.emit("TaktBarrier", [one], self.fresh("apart"), (1,), DOMAIN)
            x = self.emit(op, [x, self.apart[number]], self.fresh("steps"), shape)
        if is_last:
            self.set_last(name, x)
        else:
            self.emit("Identity", [x], name, shape)
        return True

    def bytes_in_steps(self, source: str, is_last: bool) -> tuple[str, str]:
        """The bytes of floats, with the channels last or as they are, and the ranges
        of parts of them."""
        floats = self.to_last(source) if is_last else self.to_first(source)
        found = self.ranges_of(source, floats)
        if floats not in self.bytes:
            rows, tile, shape = self.count_of(source), _TILE_BYTES, self.sizes(source)
            if is_last:
                shape = (shape[0], *shape[2:], shape[1])
            call = tiled_calls.TiledCall("takt_quantize_i8", ("f32", "f32", "i8"), (rows or open_calls.COUNT,), (), 1,
                                         rows, min(rows, tile) if rows else tile, 0)
            self.bytes[floats] = self.kernel(call, [floats, found], self.fresh("bytes"), shape,
                                             self.onnx.TensorProto.INT8)
        return self.bytes[floats], found

    def ranges_of(self, source: str, floats: str) -> str:
        """The least and the greatest float of each part of a tensor, of which `floats` has all in some order."""
        if floats not in self.ranges:
            rows = self.count_of(source)
            tile = min(rows, _TILE_BYTES) if rows else _ROWS_MAX
            call = tiled_calls.TiledCall(
                "takt_range_f32", ("f32", "f32"), (rows or open_calls.COUNT,), (), 1, rows, tile, 0)
            self.ranges[floats] = self.kernel(call, [floats], self.fresh("ranges"),
                                              (2 * (-(-rows // tile) if rows else 1),))
        return self.ranges[floats]

    def count_of(self, source: str) -> int:
        """The elements of a tensor; 0 if some sizes are open."""
        return 0 if source in self.open else math.prod(self.sizes(source))

    def on_reducemin(self, node: Any) -> bool:
        return self.limit_of_steps(node)

    def on_reducemax(self, node: Any) -> bool:
        return self.limit_of_steps(node)

    def limit_of_steps(self, node: Any) -> bool:
        """The least or the greatest float of a tensor whose steps are found in each call."""
        source = node.input[0]
        if source not in self.stepped_sources or len(node.input) > 1 or self.attributes(node) != {"keepdims": 0}:
            return False
        ranges = self.ranges_of(source, self.last[source] if source in self.last else self.to_first(source))
        self.emit(node.op_type, [ranges], node.output[0], (), keepdims=0)
        return True

    def quantized_weights(self, node: Any, out_axis: int) -> tuple[np.ndarray, np.ndarray] | None:
        """The bytes of a product's second operand, and a scale for each output
        channel, if both operands are quantized as the kernels take them."""
        found = self.quantization.constants.get(node.input[1])
        quantization = self.quantization
        if found is None or not (node.input[0] in quantization.tensors or node.input[0] in quantization.stepped):
            return None
        value, scale, zero_point, axis = found
        if value.dtype != np.int8 or zero_point.any() or (scale.size > 1 and axis != out_axis):
            return None
        return value, np.broadcast_to(scale.reshape(-1), (value.shape[out_axis],))

    def quantized_conv(self, node: Any, bias: np.ndarray, groups: int,
                       shape: tuple[int, ...], opened: OpenShape | None = None) -> bool:
        """Whether the convolution is a call of bytes now.

        opened   the shape with its open sizes, for which `shape` has nominal ones.
        """
        found = self.quantized_weights(node, 0)
        if found is None:
            return False
        weights, factors = found
        weights, groups = join_groups(weights, groups)
        shape, opened = (*shape[:-1], groups), None if opened is None else opened.with_groups(groups)
        return self.quantized_product(node, weights, factors, bias, groups, shape, None, node.output[0], opened)

    def quantized_matmul(self, node: Any, is_transposed: bool, bias: np.ndarray,
                         in_shape: tuple[int, ...], output: str) -> bool:
        found = self.quantized_weights(node, 0 if is_transposed else 1)
        if found is None:
            return False
        weights, factors = found
        weights = weights if is_transposed else weights.T
        outs, ins = weights.shape
        shape, opened = product_shape(in_shape, outs)
        return self.quantized_product(
            node, product_window(weights), factors, bias, 1, shape, (*in_shape[:-1], outs), output, opened)
