"""Operators of ONNX Runtime, in those of ONNX: a part of `porter`.

Quantized operators (QLinearConv and its like) become the float ones between
DequantizeLinear and QuantizeLinear, which is what they stand for, and fused ones
what they were fused from.
"""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

_MICROSOFT = "com.microsoft"
# Activations that ONNX Runtime fuses with the product before them, and the names of their numbers in order.
_ACTIVATIONS = {
    "Elu": ("alpha",), "HardSigmoid": ("alpha", "beta"), "LeakyRelu": ("alpha",), "Relu": (), "Selu": ("alpha", "gamma"),
    "Sigmoid": (), "Softplus": (), "Softsign": (), "Tanh": (), "ThresholdedRelu": ("alpha",),
}
_SQRT_HALF = np.float32(math.sqrt(0.5))
_FAST_GELU = (np.float32(math.sqrt(2 / math.pi)), np.float32(0.044715))
_EXACT_TERMS = 256  # So many products of bytes less their zero points have a sum that is exact in floats.
# What the codes of bitsandbytes stand for: a short float with a sign, and quantiles of a normal distribution.
_SIZES_OF_4_BITS = np.float32([0, 1 / 192, 2 / 3, 1, 1 / 3, 1 / 2, 1 / 6, 1 / 4])
_FLOATS_OF_4_BITS = (np.append(_SIZES_OF_4_BITS, -_SIZES_OF_4_BITS), np.float32([
    -1, -0.69619280, -0.52507305, -0.39491749, -0.28444138, -0.18477343, -0.09105004, 0,
    0.07958030, 0.16093020, 0.24611230, 0.33791524, 0.44070983, 0.56261700, 0.72295684, 1]))
_NARROW = {"int2", "uint2", "int4", "uint4"}


class OperatorPorter:
    """The part of the porter that knows them."""

    def operator_handlers(self) -> dict[tuple[str, str], Callable[[Any], bool]]:
        return {
            ("", "QLinearConv"): self.on_qlinear_conv,
            ("", "QLinearMatMul"): self.on_qlinear_matmul,
            ("", "ConvInteger"): self.on_integers,
            ("", "MatMulInteger"): self.on_integers,
            ("", "Cast"): self.on_cast,
            ("", "DequantizeLinear"): self.on_dequantize,
            (_MICROSOFT, "QLinearAdd"): self.on_qlinear_binary,
            (_MICROSOFT, "QLinearConv"): self.on_qlinear_conv,
            (_MICROSOFT, "QLinearMul"): self.on_qlinear_binary,
            (_MICROSOFT, "QLinearSigmoid"): self.on_qlinear_unary,
            (_MICROSOFT, "QLinearLeakyRelu"): self.on_qlinear_unary,
            (_MICROSOFT, "QLinearAveragePool"): self.on_qlinear_unary,
            (_MICROSOFT, "QLinearGlobalAveragePool"): self.on_qlinear_unary,
            ("", "Transpose"): self.on_transpose,
            (_MICROSOFT, "NhwcMaxPool"): self.on_pool_of_channels_last,
            (_MICROSOFT, "QLinearSoftmax"): self.on_qlinear_softmax,
            (_MICROSOFT, "QLinearConcat"): self.on_qlinear_concat,
            (_MICROSOFT, "QLinearWhere"): self.on_qlinear_where,
            (_MICROSOFT, "QGemm"): self.on_qgemm,
            (_MICROSOFT, "DynamicQuantizeLSTM"): self.on_dynamic_lstm,
            (_MICROSOFT, "DynamicQuantizeMatMul"): self.on_scaled_matmul,
            (_MICROSOFT, "MatMulIntegerToFloat"): self.on_matmul_to_float,
            (_MICROSOFT, "QuantizeLinear"): self.on_standard,
            (_MICROSOFT, "DequantizeLinear"): self.on_standard,
            (_MICROSOFT, "Trilu"): self.on_standard,
            (_MICROSOFT, "Gelu"): self.on_gelu,
            (_MICROSOFT, "BiasGelu"): self.on_gelu,
            (_MICROSOFT, "FastGelu"): self.on_fast_gelu,
            (_MICROSOFT, "QuickGelu"): self.on_quick_gelu,
            (_MICROSOFT, "FusedConv"): self.on_fused_conv,
            (_MICROSOFT, "FusedMatMul"): self.on_fused_matmul,
            (_MICROSOFT, "FusedGemm"): self.on_fused_gemm,
            (_MICROSOFT, "GridSample"): self.on_grid_sample,
            (_MICROSOFT, "MatMulBnb4"): self.on_blocks_of_floats,
            (_MICROSOFT, "MatMulNBits"): self.on_blocks_of_bits,
            (_MICROSOFT, "GatherBlockQuantized"): self.on_rows_of_bits,
            (_MICROSOFT, "EmbedLayerNormalization"): self.on_embedding,
            (_MICROSOFT, "SkipLayerNormalization"): self.on_skip_layer_normalization,
        }

    # Quantized.

    def dequantize(self, name: str, scale: str, zero: str, **attributes: Any) -> str:
        return self.emit("DequantizeLinear", [each for each in (name, scale, zero) if each], **attributes)

    def quantize(self, name: str, scale: str, zero: str, output: str) -> bool:
        self.emit("QuantizeLinear", [each for each in (name, scale, zero) if each], output)
        return True

    def bias(self, name: str, source_scale: str, weight_scale: str) -> str | None:
        """Integers of the product's own scale, as floats; None: the scales are
        no constants."""
        scales = [self.constants.get(each) for each in (source_scale, weight_scale)]
        if any(scale is None for scale in scales):
            return None
        scale = self.constant((scales[0] * scales[1]).astype(np.float32).reshape(scales[1].shape))
        attributes = {"axis": 0} if scales[1].ndim else {}
        return self.dequantize(name, scale, "", **attributes)

    def on_dequantize(self, node: Any) -> bool:
        """Weights that take less than a byte, or whose blocks have scales, become floats."""
        own, numbers = self.attributes(node), [self.constants.get(name) for name in node.input if name]
        block = own.get("block_size", 0)
        if self.on_scaled_images(node):
            return True
        if any(array is None for array in numbers) or not (block or numbers[0].dtype.name in _NARROW):
            return False
        values, scale, *zero = (array.astype(np.float32) for array in numbers)
        axis = own.get("axis", 1) % max(1, values.ndim)

        def spread(array: np.ndarray) -> np.ndarray:
            if block:
                return array.repeat(block, axis).take(range(values.shape[axis]), axis)
            return array.reshape([-1 if i == axis else 1 for i in range(values.ndim)]) if array.size > 1 else array

        values = (values - spread(zero[0]) if zero else values) * spread(scale)
        self.emit("Identity", [self.constant(values)], node.output[0])
        return True

    def on_transpose(self, node: Any) -> bool:
        """A Transpose that turns back what another one has turned is left out."""
        maker = self.makers.get(node.input[0])
        orders = [] if maker is None or maker.op_type != "Transpose" else [
            self.attributes(each).get("perm") for each in (maker, node)]
        if None in orders or not orders or [orders[0][i] for i in orders[1]] != list(range(len(orders[0]))):
            return False
        self.emit("Identity", [maker.input[0]], node.output[0])
        return True

    def on_qlinear_conv(self, node: Any) -> bool:
        x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, *rest = node.input
        others = [self.dequantize(w, w_scale, w_zero, axis=0)]
        if rest and rest[0]:
            bias = self.bias(rest[0], x_scale, w_scale)
            if bias is None:
                return False
            others.append(bias)

        def convolve(image: str, own: dict[str, Any], output: str) -> bool:
            floats = self.dequantize(image, x_scale, x_zero)
            return self.quantize(self.emit("Conv", [floats, *others], **own), y_scale, y_zero, output)

        return self.with_channels_first(node, len(self.shapes.get(w, [])), convolve)

    def with_channels_first(self, node: Any, rank: int, compute: Callable[[str, dict[str, Any], str], bool]) -> bool:
        """Emits what `compute` makes of an image, by the node's attributes, as its result. An image of bytes whose
        channels are last is turned before, and so is the result: all between them is part of a call."""
        own = self.attributes(node)
        if not own.pop("channels_last", int(node.op_type.startswith("Nhwc"))):
            return compute(node.input[0], own, node.output[0])
        if rank < 3:
            return False
        first, last = [0, rank - 1, *range(1, rank - 1)], [0, *range(2, rank), 1]
        result = self.fresh("result")
        if not compute(self.emit("Transpose", [node.input[0]], perm=first), own, result):
            return False
        self.emit("Transpose", [result], node.output[0], perm=last)
        return True

    def on_pool_of_channels_last(self, node: Any) -> bool:
        def pool(image: str, own: dict[str, Any], output: str) -> bool:
            self.emit("MaxPool", [image], output, **own)
            return True

        return self.with_channels_first(node, len(self.shapes.get(node.input[0], [])), pool)

    def on_qlinear_matmul(self, node: Any) -> bool:
        y_scale, y_zero = node.input[6:]
        factors = self.dequantized_factors(*node.input[:6])
        return bool(factors) and self.quantize(self.emit("MatMul", factors), y_scale, y_zero, node.output[0])

    def dequantized_factors(self, a: str, a_scale: str, a_zero: str, b: str, b_scale: str, b_zero: str) -> list[str]:
        """Both factors of a product of matrices of bytes as floats; none if their scales are of another kind."""
        columns = len(self.shapes.get(b, [])) - 1
        if self.shapes.get(a_scale) not in ([], [1]):
            return []  # One for each row.
        if len(self.shapes.get(b_scale, [None, None])) > 1 or columns < 1:
            return []
        return [self.dequantize(a, a_scale, a_zero), self.dequantize(b, b_scale, b_zero, axis=columns)]

    def on_qlinear_binary(self, node: Any) -> bool:
        a, a_scale, a_zero, b, b_scale, b_zero, y_scale, *y_zero = node.input
        found = self.emit(node.op_type.removeprefix("QLinear"), [
            self.dequantize(a, a_scale, a_zero), self.dequantize(b, b_scale, b_zero)])
        return self.quantize(found, y_scale, *(y_zero or [""]), node.output[0])

    def on_qlinear_unary(self, node: Any) -> bool:
        x, x_scale, x_zero, y_scale, *y_zero = node.input

        def compute(image: str, own: dict[str, Any], output: str) -> bool:
            own.pop("opset", None)
            found = self.emit(node.op_type.removeprefix("QLinear"), [self.dequantize(image, x_scale, x_zero)], **own)
            return self.quantize(found, y_scale, *(y_zero or [""]), output)

        return self.with_channels_first(node, len(self.shapes.get(x, [])), compute)

    def on_qlinear_softmax(self, node: Any) -> bool:
        """Before opset 13 all dimensions from the axis on were one."""
        own, sizes = self.attributes(node), self.shapes.get(node.input[0])
        if own.get("opset", 13) >= 13:
            return self.on_qlinear_unary(node)
        if not sizes or None in sizes:
            return False
        x, x_scale, x_zero, y_scale, *y_zero = node.input
        rows = self.emit("Flatten", [self.dequantize(x, x_scale, x_zero)], axis=own.get("axis", -1) % len(sizes))
        found = self.emit("Reshape", [self.emit("Softmax", [rows], axis=1), self.constant(sizes)])
        return self.quantize(found, y_scale, *(y_zero or [""]), node.output[0])

    def on_qlinear_concat(self, node: Any) -> bool:
        y_scale, y_zero, *parts = node.input
        triples = [parts[i:i + 3] for i in range(0, len(parts), 3)]
        found = self.emit("Concat", [self.dequantize(*each) for each in triples], **self.attributes(node))
        return self.quantize(found, y_scale, y_zero, node.output[0])

    def on_qlinear_where(self, node: Any) -> bool:
        condition, x, x_scale, x_zero, y, y_scale, y_zero, z_scale, z_zero = node.input
        both = [self.dequantize(x, x_scale, x_zero), self.dequantize(y, y_scale, y_zero)]
        found = self.emit("Where", [condition, *both])
        return self.quantize(found, z_scale, z_zero, node.output[0])

    def on_qgemm(self, node: Any) -> bool:
        a, a_scale, a_zero, b, b_scale, b_zero, c, y_scale, y_zero = [*node.input, "", "", ""][:9]
        attributes = self.attributes(node)
        is_turned = attributes.get("transB", 0)
        inputs = [self.dequantize(a, a_scale, a_zero),
                  self.dequantize(b, b_scale, b_zero, axis=0 if is_turned else 1)]
        if c:
            bias = self.bias(c, a_scale, b_scale)
            if bias is None:
                return False
            inputs.append(bias)
            # It has the scale of the product with alpha.
            attributes["beta"] = attributes.get("alpha", 1.0)
        if not y_scale:
            self.emit("Gemm", inputs, node.output[0], **attributes)
            return True
        return self.quantize(self.emit("Gemm", inputs, **attributes), y_scale, y_zero, node.output[0])

    def on_integers(self, node: Any) -> bool:
        """As a product of floats, which are whole numbers: exact for sums below 2^24.
        Networks that find the scales of their bytes in each call have them."""
        x, w, x_zero, w_zero = [*node.input, "", ""][:4]
        if self.on_scaled_product(node):
            return True
        values = [self.constants.get(each) for each in (w, w_zero) if each]
        if any(value is None for value in values):
            return self.on_integers_of_a_call(node)
        depth = values[0].size // values[0].shape[-1 if node.op_type == "MatMulInteger" else 0]
        if depth > _EXACT_TERMS and node.op_type == "MatMulInteger":
            return self.on_integers_of_a_call(node)
        whole, zero = values[0].astype(np.float32), values[1].astype(np.float32) if w_zero else np.float32(0)
        is_conv = node.op_type == "ConvInteger"
        if zero.ndim:  # For each result; it is the last dimension of a matrix.
            zero = zero.reshape(-1, *[1] * (whole.ndim - 1)) if is_conv else zero
        if x_zero and self.shapes.get(x_zero) not in ([], [1]):
            return False
        floats = self.emit("Cast", [x], to=self.onnx.TensorProto.FLOAT)
        if x_zero:
            floats = self.emit("Sub", [floats, self.emit("Cast", [x_zero], to=self.onnx.TensorProto.FLOAT)])
        found = self.emit(node.op_type.removesuffix("Integer"), [floats, self.constant(whole - zero)],
                          **self.attributes(node))
        self.emit("Cast", [found], node.output[0], to=self.onnx.TensorProto.INT32)
        self.whole[node.output[0]] = found
        return True

    def on_integers_of_a_call(self, node: Any) -> bool:
        """A product of what a call brings, or of many terms, in integers of 32 bits: the importer of the compiler
        takes bytes without a sign for such with one. Convolutions are those of whole floats."""
        x, w, x_zero, w_zero = [*node.input, "", ""][:4]
        if any(self.shapes.get(each) not in ([], [1]) for each in (x_zero, w_zero) if each):
            return False
        is_conv = node.op_type == "ConvInteger"
        kind = self.onnx.TensorProto.FLOAT if is_conv else self.onnx.TensorProto.INT32
        factors = [self.emit("Cast", [each], to=kind) for each in (x, w)]
        for i, zero in enumerate((x_zero, w_zero)):
            if zero:
                factors[i] = self.emit("Sub", [factors[i], self.emit("Cast", [zero], to=kind)])
        if not is_conv:
            self.emit("MatMul", factors, node.output[0])
            return True
        found = self.emit("Conv", factors, **self.attributes(node))
        self.emit("Cast", [found], node.output[0], to=self.onnx.TensorProto.INT32)
        self.whole[node.output[0]] = found
        return True

    def on_cast(self, node: Any) -> bool:
        """A cast to the type that the tensor has, or of a product of whole numbers back to floats."""
        source, wanted = node.input[0], self.attributes(node)["to"]
        found = self.whole.get(source) if wanted == self.onnx.TensorProto.FLOAT else None
        if wanted == self.types.get(source):
            found = source
        if found is None:
            return False
        self.emit("Identity", [found], node.output[0])
        return True

    def on_dynamic_lstm(self, node: Any) -> bool:
        """With floats for its inputs, which it would round to bytes of a scale that
        it finds in each call."""
        x, w, r, b, lengths, h, c, p, w_scale, w_zero, r_scale, r_zero = [*node.input, *[""] * 12][:12]
        weights = [self.of_gates(w, w_scale, w_zero), self.of_gates(r, r_scale, r_zero)]
        if None in weights:
            return False
        self.layer("LSTM", [x, *weights, b, lengths, h, c, p], list(node.output), self.attributes(node))
        return True

    def of_gates(self, name: str, scale: str, zero: str) -> str | None:
        """Bytes [directions][inputs][gates] as floats [directions][gates][inputs].
        Their scales are one for each direction, or for each gate of it."""
        values = [self.constants.get(each) for each in (name, scale, zero)]
        if any(value is None for value in values):
            return None
        whole, *others = (value.astype(np.float32) for value in values)
        scales, zeros = (each.reshape(1 if each.size == 1 else len(whole), 1, -1) for each in others)
        return self.constant(((whole - zeros) * scales).transpose(0, 2, 1))

    def on_standard(self, node: Any) -> bool:
        self.emit(node.op_type, list(node.input), node.output[0], **self.attributes(node))
        return True

    def on_grid_sample(self, node: Any) -> bool:
        own = self.attributes(node)
        mode = own.pop("mode", b"bilinear").decode()
        if self.opset >= 20:
            mode = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
        self.emit("GridSample", list(node.input), node.output[0], mode=mode, **own)
        return True

    # Fused.

    def on_gelu(self, node: Any) -> bool:
        x = node.input[0] if len(node.input) < 2 else self.emit("Add", list(node.input))
        half = self.emit("Mul", [x, self.constant(np.float32(0.5))])
        erf = self.emit("Erf", [self.emit("Mul", [x, self.constant(_SQRT_HALF)])])
        self.emit("Mul", [half, self.emit("Add", [erf, self.constant(np.float32(1))])], node.output[0])
        return True

    def on_fast_gelu(self, node: Any) -> bool:
        scale, cubic = (self.constant(value) for value in _FAST_GELU)
        one = self.constant(np.float32(1))
        x = self.emit("Add", list(node.input)) if len(node.input) > 1 and node.input[1] else node.input[0]
        square = self.emit("Mul", [x, x])
        inner = self.emit("Add", [self.emit("Mul", [square, cubic]), one])
        tanh = self.emit("Tanh", [self.emit("Mul", [self.emit("Mul", [x, inner]), scale])])
        half = self.emit("Mul", [x, self.constant(np.float32(0.5))])
        self.emit("Mul", [half, self.emit("Add", [tanh, one])], node.output[0])
        return True

    def on_quick_gelu(self, node: Any) -> bool:
        alpha = self.constant(np.float32(self.attributes(node).get("alpha", 1.702)))
        x = node.input[0]
        self.emit("Mul", [x, self.emit("Sigmoid", [self.emit("Mul", [x, alpha])])], node.output[0])
        return True

    def on_fused_conv(self, node: Any) -> bool:
        attributes = self.attributes(node)
        function = attributes.pop("activation", b"").decode()
        values = list(attributes.pop("activation_params", []))
        x, w, b, z = [*node.input, "", ""][:4]
        found = self.emit("Conv", [x, w, b] if b else [x, w], **attributes)
        if z:
            found = self.emit("Add", [found, z])
        own = {}
        inputs = [found]
        if function == "Clip":
            inputs += [self.constant(np.float32(value)) for value in values]
        elif function in _ACTIVATIONS:
            own = dict(zip(_ACTIVATIONS[function], values))
        elif function:
            return False
        self.emit(function or "Identity", inputs, node.output[0], **own)
        return True

    def on_fused_matmul(self, node: Any) -> bool:
        attributes = self.attributes(node)
        operands = []
        for name, side in zip(node.input, "AB"):
            if attributes.get(f"transBatch{side}", 0) or attributes.get(f"trans{side}", 0):
                axes = list(range(len(self.shapes.get(name, []))))
                if len(axes) < 2:  # It may be known once what makes it was put in other terms.
                    return False
                if attributes.get(f"transBatch{side}", 0):  # The first one becomes that of rows.
                    axes = [*axes[1:-1], axes[0], axes[-1]]
                if attributes.get(f"trans{side}", 0):
                    axes[-2:] = axes[-1], axes[-2]
                name = self.emit("Transpose", [name], perm=axes)
            operands.append(name)
        alpha = self.constant(np.float32(attributes.get("alpha", 1.0)))
        self.emit("Mul", [self.emit("MatMul", operands), alpha], node.output[0])
        return True

    def on_skip_layer_normalization(self, node: Any) -> bool:
        x, skip, gamma, beta, bias = [*node.input, "", ""][:5]
        if any(map(self.is_read, node.output[1:3])):
            return False
        total = self.emit("Add", [x, skip], node.output[3] if len(node.output) > 3 and not bias else None)
        if bias:
            total = self.emit("Add", [total, bias], node.output[3] if len(node.output) > 3 else None)
        inputs = [total, gamma, beta] if beta else [total, gamma]
        epsilon = self.attributes(node).get("epsilon", 1e-12)
        self.emit("LayerNormalization", inputs, node.output[0], axis=-1, epsilon=epsilon)
        return True

    def on_fused_gemm(self, node: Any) -> bool:
        own = self.attributes(node)
        activation = own.pop("activation", b"Relu").decode()
        if activation not in _ACTIVATIONS:
            return False
        numbers = {name: own[f"activation_{name}"] for name in _ACTIVATIONS[activation] if f"activation_{name}" in own}
        product = {name: value for name, value in own.items() if not name.startswith("activation_")}
        self.emit(activation, [self.emit("Gemm", list(node.input), **product)], node.output[0], **numbers)
        return True

    def on_blocks_of_bits(self, node: Any) -> bool:
        """A product with weights of 2, 4 or 8 bits, whose blocks have scales, is one with floats."""
        own = self.attributes(node)
        x, weights, scales, zeros, order, bias = [*node.input, "", "", ""][:6]
        bits, size, ins, outs = own.get("bits", 4), own["block_size"], own["K"], own["N"]
        numbers = [self.constants.get(name) for name in (weights, scales, zeros) if name]
        if order or bits not in (2, 4, 8) or any(array is None for array in numbers):
            return False
        blocks = -(-ins // size)
        values = _unpacked(numbers[0].reshape(outs, blocks, -1), bits)[..., :size].astype(np.float32)
        zero: Any = 1 << bits - 1
        if zeros:
            zero = numbers[2].reshape(outs, -1)
            zero = (_unpacked(zero, bits) if zero.dtype == np.uint8 else zero)[:, :blocks, None].astype(np.float32)
        values = (values - zero) * numbers[1].reshape(outs, blocks, 1).astype(np.float32)
        product = [x, self.constant(values.reshape(outs, -1)[:, :ins].T)]
        if not bias:
            self.emit("MatMul", product, node.output[0])
        else:
            self.emit("Add", [self.emit("MatMul", product), bias], node.output[0])
        return True

    def on_blocks_of_floats(self, node: Any) -> bool:
        """A product with weights of bitsandbytes: floats of four bits, the high ones first, times the greatest
        size of their block."""
        own = self.attributes(node)
        numbers = [self.constants.get(name) for name in node.input[1:]]
        if any(array is None for array in numbers):
            return False
        codes, sizes = numbers[0].ravel(), numbers[1].astype(np.float32).ravel()
        values = _FLOATS_OF_4_BITS[own.get("quant_type", 1)][np.stack([codes >> 4, codes & 15], 1).ravel()]
        count = own["N"] * own["K"]
        weights = (values[:count] * sizes.repeat(own["block_size"])[:count]).reshape(own["N"], own["K"])
        if own.get("transB", 1) == 0:
            return False
        self.emit("MatMul", [node.input[0], self.constant(weights.T)], node.output[0])
        return True

    def on_rows_of_bits(self, node: Any) -> bool:
        """Rows of a constant table of 4 or 8 bits, whose blocks have scales. The table has a byte for
        each number."""
        own = self.attributes(node)
        table, places, scales, zeros = [*node.input, ""][:4]
        numbers, shape = [self.constants.get(name) for name in (table, scales, zeros) if name], self.shapes.get(places)
        if (any(array is None or array.ndim != 2 for array in numbers) or shape is None or None in shape
                or own.get("gather_axis", 0) != 0 or own.get("quantize_axis", 1) != 1):
            return False
        bits, size = own.get("bits", 4), own.get("block_size", 128)
        values, *others = (_unpacked(array, bits) if array.dtype == np.uint8 else array for array in numbers)
        rows, count = values.shape
        if count % size:
            return False
        middle = 1 << bits - 1 if numbers[0].dtype == np.uint8 else 0
        zero = others[1][:, :count // size, None] if zeros else np.full((1, 1, 1), middle)
        centered = values.reshape(rows, -1, size).astype(np.int16) - zero.astype(np.int16)
        if centered.min(initial=0) < -128 or centered.max(initial=0) > 127:
            return False
        blocks = [*shape, count // size, size]
        found = self.emit("Gather", [self.constant(centered.astype(np.int8).reshape(rows, count)), places], axis=0)
        steps = self.emit("Reshape", [self.emit("Cast", [found], to=self.onnx.TensorProto.FLOAT), self.constant(blocks)])
        found = self.emit("Gather", [self.constant(numbers[1].astype(np.float32)), places], axis=0)
        scale = self.emit("Reshape", [found, self.constant([*blocks[:-1], 1])])
        self.emit("Reshape", [self.emit("Mul", [steps, scale]), self.constant([*shape, count])], node.output[0])
        return True

    def on_embedding(self, node: Any) -> bool:
        """The rows of the tables for words, places and segments are summed and normed."""
        words, segments, word_table, place_table, segment_table, gamma, beta, mask, places = [
            *node.input, "", ""][:9]
        steps = self.shapes.get(words, [None])[-1]
        if steps is None or not beta:
            return False
        places = places or self.constant(np.arange(steps))
        total = self.emit("Add", [self.emit("Gather", [word_table, words]), self.emit("Gather", [place_table, places])])
        if segments:
            total = self.emit("Add", [total, self.emit("Gather", [segment_table, segments])])
        epsilon = self.attributes(node).get("epsilon", 1e-12)
        self.emit("LayerNormalization", [total, gamma, beta], node.output[0], axis=-1, epsilon=epsilon)
        count, summed = [*node.output, "", ""][1:3]
        if summed:
            self.emit("Identity", [total], summed)
        if count and mask:
            self.emit("ReduceSum", [mask, self.constant([1])], count, keepdims=0)
        elif count:
            self.emit("ConstantOfShape", [self.emit("Shape", [words], end=1)], count,
                      value=self.onnx.numpy_helper.from_array(np.zeros(1, np.int32)))
        return True


def _unpacked(array: np.ndarray, bits: int) -> np.ndarray:
    """The numbers in the last axis of bytes, the lowest bits first."""
    parts = (array[..., None] >> np.arange(0, 8, bits, dtype=np.uint8)) & ((1 << bits) - 1)
    return parts.reshape(*array.shape[:-1], -1)
