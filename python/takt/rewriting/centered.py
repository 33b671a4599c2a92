"""Constant weights of bytes that have a zero point, for rewriter.py.

The kernels multiply by the bytes themselves. Without the zero point the weights may still be bytes. Otherwise the zero
point is a product of its own, with one result for all channels: the sum of what a window has.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..networks import graphs

_PRODUCTS = {"Conv", "Gemm", "MatMul"}
# Fewer products for each result are quicker in floats than a sum of their own.
_PRODUCTS_MIN = 48


def center(model: Any) -> Any:
    """An equivalent onnx.ModelProto; `model` itself if nothing is to be done. Its bytes have a sign."""
    kinds = {node.op_type for node in model.graph.node}
    if "DequantizeLinear" not in kinds or not kinds & _PRODUCTS:
        return model
    return _Centerer(model).run()


class _Centerer(graphs.Changer):
    def changed(self, node: Any) -> Any:
        weights = self.makers.get(node.input[1]) if node.op_type in _PRODUCTS else None
        if weights is None or weights.op_type != "DequantizeLinear" or len(weights.input) < 3:
            return node
        whole, scale, zero = (self.constants.get(name) for name in weights.input)
        if scale is None or zero is None or whole is None or whole.dtype != np.int8 or whole.ndim < 2 or not zero.any():
            return node
        axis = self.attributes(weights).get("axis", 1) % whole.ndim
        own = [-1 if i == axis else 1 for i in range(whole.ndim)]
        zeros, scales = (each.reshape(own if each.size > 1 else ()) for each in (zero, scale))
        centered = whole.astype(np.int16) - zeros
        if centered.min() >= -128 and centered.max() <= 127:
            inputs = {1: self.bytes_of(centered, weights)}
            return self.with_inputs(node, inputs)
        return self.in_two(node, whole, weights, -zeros.astype(np.float32) * scales) or node

    def bytes_of(self, whole: np.ndarray, weights: Any) -> str:
        """The floats of bytes whose scales are those of `weights`, without a zero point."""
        _, scale, zero = weights.input
        inputs = [self.constant(each) for each in (whole.astype(np.int8), np.zeros_like(self.constants[zero]))]
        return self.emit("DequantizeLinear", [inputs[0], scale, inputs[1]], **self.attributes(weights))

    def in_two(self, node: Any, whole: np.ndarray, weights: Any, factors: np.ndarray) -> Any:
        """The sum of a product with bytes and of one with the zero point; None if the operands are others.

        factors  what each weight lacks, which depends on its result alone.
        """
        own, source = self.attributes(node), self.makers.get(node.input[0])
        outs = 0 if node.op_type == "Conv" or own.get("transB", 0) else whole.ndim - 1
        if (source is None or source.op_type != "DequantizeLinear" or source.input[0] in self.constants
                or own.get("group", 1) > 1 or own.get("alpha", 1.0) != 1 or own.get("beta", 1.0) != 1
                or whole.ndim > 2 and node.op_type != "Conv" or factors.size not in (1, whole.shape[outs])
                or factors.size > 1 and factors.shape[outs] == 1):
            return None
        ones = np.ones([1 if i == outs else size for i, size in enumerate(whole.shape)], np.int8)
        if ones.size < _PRODUCTS_MIN:
            return None
        steps = [self.constant(each) for each in (ones, np.float32(1), np.int8(0))]
        product = self.emit(node.op_type, [node.input[0], self.bytes_of(whole, weights), *node.input[2:]], **own)
        sums = self.emit(node.op_type, [node.input[0], self.emit("DequantizeLinear", steps)], **own)
        rank = whole.ndim - 1 if node.op_type == "Conv" else 1
        factors = factors.reshape((-1, *[1] * (rank - 1)) if factors.size > 1 else ())
        rest = self.emit("Mul", [sums, self.constant(factors.astype(np.float32))])
        return self.onnx.helper.make_node("Add", [product, rest], node.output, name=node.output[0])
