"""Products of bytes whose scale is found in each call: a part of `porter`.

ONNX Runtime's quantize_dynamic() makes them. They become what they stand for, a
product of floats that are whole steps of a scale. `StepFinder` finds these floats
again, for `rewriter`, which multiplies bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..networks import graphs, nearest


class StepFinder(graphs.NodeReader):
    """Finds what `ScalePorter.in_steps()` has written."""

    def __init__(self, onnx: Any, nodes: list[Any], constants: dict[str, np.ndarray]) -> None:
        self.onnx = onnx
        self.constants = constants
        self.makers = {node.output[0]: node for node in nodes if len(node.output) == 1}
        self.pattern = _Pattern(onnx)
        self.result = self.pattern.in_steps("x")

    def find(self, name: str) -> str | None:
        """The floats that `name` has in steps; None if it has none."""
        names: dict[str, str] = {}
        return names["x"] if self.agrees(name, self.result, names) else None

    def agrees(self, name: str, wanted: str, names: dict[str, str]) -> bool:
        """Whether `name` is made as `wanted` is in the pattern. `names`: those of the
        pattern's tensors."""
        if wanted in names:
            return names[wanted] == name
        names[wanted] = name
        if wanted in self.pattern.constants:
            return name in self.constants and np.array_equal(self.constants[name], self.pattern.constants[wanted])
        if wanted not in self.pattern.makers:
            return True  # It is x.
        maker, pattern = self.makers.get(name), self.pattern.makers[wanted]
        return (maker is not None and maker.op_type == pattern.op_type and len(maker.input) == len(pattern.input)
                and self.attributes(maker) == self.attributes(pattern)
                and all(self.agrees(*each, names) for each in zip(maker.input, pattern.input)))


class ScalePorter:
    """The part of the porter that knows them."""

    def on_scaled_product(self, node: Any) -> bool:
        """DynamicQuantizeLinear, MatMulInteger or ConvInteger, Cast, and Mul with the
        scales of both."""
        x, w, x_zero, w_zero = [*node.input, "", ""][:4]
        maker = self.makers.get(x)
        if maker is None or maker.op_type != "DynamicQuantizeLinear" or x_zero != maker.output[2]:
            return False
        cast = self.only_consumer(node.output[0])
        if cast is None or cast.op_type != "Cast" or self.attributes(cast)["to"] != self.onnx.TensorProto.FLOAT:
            return False
        product = self.only_consumer(cast.output[0])
        if product is None or product.op_type != "Mul":
            return False
        factor = product.input[1] if product.input[0] == cast.output[0] else product.input[0]
        scale = self.factor_of(factor, maker.output[1])
        if scale is None:
            return False
        kind = node.op_type.removesuffix("Integer")
        if not self.scaled_product(kind, maker.input[0], w, scale, w_zero, "", product.output[0],
                                   self.attributes(node)):
            return False
        self.done.update((id(cast), id(product)))
        return True

    def factor_of(self, name: str, scale: str) -> np.ndarray | None:
        """The constant that `name` is a product of with `scale`."""
        if name == scale:
            return np.float32(1)
        maker = self.makers.get(name)
        if maker is None or maker.op_type != "Mul" or scale not in maker.input:
            return None
        return self.constants.get(maker.input[1] if maker.input[0] == scale else maker.input[0])

    def on_scaled_matmul(self, node: Any) -> bool:
        """DynamicQuantizeMatMul."""
        x, w, w_scale, w_zero, bias = [*node.input, "", ""][:5]
        return self.scaled_product("MatMul", x, w, self.constants.get(w_scale), w_zero, bias, node.output[0], {})

    def on_matmul_to_float(self, node: Any) -> bool:
        """MatMulIntegerToFloat of what DynamicQuantizeLinear made, or of other bytes."""
        x, w, x_scale, w_scale, x_zero, w_zero, bias = [*node.input, "", "", ""][:7]
        maker, (output,) = self.makers.get(x), node.output
        has_steps = (maker is not None and maker.op_type == "DynamicQuantizeLinear"
                     and [x_scale, x_zero] == list(maker.output[1:]))
        if has_steps and self.scaled_product(
                "MatMul", maker.input[0], w, self.constants.get(w_scale), w_zero, bias, output, {}):
            return True
        factors = self.dequantized_factors(x, x_scale, x_zero, w, w_scale, w_zero)
        if not factors:
            return False
        found = self.emit("MatMul", factors, None if bias else output)
        if bias:
            self.emit("Add", [found, bias], output)
        return True

    def scaled_product(self, kind: str, x: str, w: str, scale: np.ndarray | None, w_zero: str, bias: str,
                       output: str, attributes: dict[str, Any]) -> bool:
        """A Conv or MatMul of `x`, in steps of the scale of this call, with a constant.

        w      whole numbers, less `w_zero`; scale: one for all results, or one for each.
        """
        values = [self.constants.get(each) for each in (w, w_zero) if each]
        if scale is None or any(value is None for value in values) or values[0].ndim < 2:
            return False
        axis = 0 if kind == "Conv" else values[0].ndim - 1
        shape = [1] * values[0].ndim
        shape[axis] = -1
        whole, zero = values[0].astype(np.int32), np.int32(0)
        if len(values) > 1:
            zero = values[1].astype(np.int32).reshape(shape if values[1].size > 1 else ())
        if scale.size not in (1, whole.shape[axis]):
            return False
        # A scale of one element is that of all results.
        scale = scale.astype(np.float32).reshape(-1 if scale.size > 1 else ())
        # Without the zero point a byte may take nine bits. Groups have floats then. Otherwise the zero point is a
        # product of its own, whose result is one for all channels.
        rest, centered = np.int32(0), whole - zero
        is_byte = centered.min(initial=0) >= -128 and centered.max(initial=0) <= 127
        is_grouped = attributes.get("group", 1) > 1
        if not is_byte and not is_grouped:
            half = 128 if values[0].dtype == np.uint8 else 0
            rest, centered = half - zero, whole - half
        factors = scale.reshape(shape if scale.size > 1 else ())
        if is_byte or not is_grouped:
            weights = self.steps_of(centered, scale, axis)
        else:
            weights = self.constant((centered * factors).astype(np.float32))
        steps = self.in_steps(x)
        is_whole = not rest.any()
        found = self.emit(kind, [steps, weights], output if is_whole and not bias else None, **attributes)
        if not is_whole:
            factors = rest * factors
            if kind == "Conv" and factors.ndim:
                factors = factors[..., 0]  # Results have their channels after the samples.
            ones = np.ones((1, *whole.shape[1:]) if kind == "Conv" else (whole.shape[-2], 1))
            sums = self.emit(kind, [steps, self.steps_of(ones, np.float32(1), axis=0)], **attributes)
            sums = self.emit("Mul", [sums, self.constant(factors.astype(np.float32))])
            found = self.emit("Add", [found, sums], None if bias else output)
        if bias:
            self.emit("Add", [found, bias], output)
        return True

    def steps_of(self, whole: np.ndarray, scale: np.ndarray, axis: int) -> str:
        """Weights that are whole numbers of eight bits, in steps of a scale."""
        zeros = np.zeros_like(scale, np.int8)
        inputs = [self.constant(each) for each in (whole.astype(np.int8), scale, zeros)]
        return self.emit("DequantizeLinear", inputs, axis=axis)

    def in_steps(self, x: str) -> str:
        """`x` in the steps of DynamicQuantizeLinear, by way of signed bytes."""
        if x not in self.stepped:
            zero, steps, half = (self.constant(np.float32(each)) for each in (0, 255, 128))
            limits = [self.constant(np.float32(each)) for each in (-128, 127)]
            # Without axes, they reduce everything.
            low = self.emit("Min", [self.emit("ReduceMin", [x], keepdims=0), zero])
            high = self.emit("Max", [self.emit("ReduceMax", [x], keepdims=0), zero])
            step = self.emit("Div", [self.emit("Sub", [high, low]), steps])
            # If all are 0, any step but 0 does.
            scale = self.emit("Max", [step, self.constant(np.finfo(np.float32).tiny)])
            first = self.emit("Round", [self.emit("Div", [self.emit("Neg", [low]), scale])])
            centre = self.bytes_of(self.emit("Sub", [first, half]), limits)
            whole = nearest.emit_nearest(self, self.emit("Div", [x, scale]))
            found = self.bytes_of(self.emit("Add", [whole, self.floats_of(centre)]), limits)
            difference = self.emit("Sub", [self.floats_of(found), self.floats_of(centre)])
            self.stepped[x] = self.emit("Mul", [difference, scale])
        return self.stepped[x]

    def bytes_of(self, x: str, limits: list[str]) -> str:
        return self.emit("Cast", [self.emit("Clip", [x, *limits])], to=self.onnx.TensorProto.INT8)

    def floats_of(self, x: str) -> str:
        return self.emit("Cast", [x], to=self.onnx.TensorProto.FLOAT)


class _Pattern(ScalePorter):
    """A ScalePorter whose nodes are kept for comparison."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.stepped: dict[str, str] = {}
        self.constants: dict[str, np.ndarray] = {}
        self.makers: dict[str, Any] = {}

    def constant(self, values: np.ndarray) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants[name] = np.asarray(values)
        return name

    def emit(self, kind: str, inputs: list[str], output: str | None = None, **attributes: Any) -> str:
        output = output or f"{kind}_{len(self.makers)}"
        self.makers[output] = self.onnx.helper.make_node(kind, inputs, [output], **attributes)
        return output
