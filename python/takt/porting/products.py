"""Products of matrices, in terms that the compiler makes quick code of: a part of `porter`."""

from __future__ import annotations

from typing import Any

import numpy as np


class ProductPorter:
    """The part of the porter that knows them."""

    def on_product_of_matrices(self, node: Any) -> bool:
        return self.on_empty_product(node) or self.on_vector_product(node) or self.on_rows_by_matrix(node)

    def on_empty_product(self, node: Any) -> bool:
        """A product of rows without elements is zero: the compiler divides by their number."""
        shape, result = self.shapes.get(node.input[0], [None]), self.shapes.get(node.output[0], [None])
        inner = shape[0 if node.op_type == "Gemm" and self.attributes(node).get("transA", 0) else -1] if shape else None
        if inner != 0 or None in result or node.input[0] not in self.types:
            return False
        dtype = self.onnx.helper.tensor_dtype_to_np_dtype(self.types[node.input[0]])
        zeros = self.constant(np.zeros(result, dtype))
        if node.op_type == "Gemm" and len(node.input) > 2 and node.input[2]:
            beta = self.constant(np.asarray(self.attributes(node).get("beta", 1.0), dtype))
            self.emit("Add", [self.emit("Mul", [node.input[2], beta]), zeros], node.output[0])
        else:
            self.emit("Identity", [zeros], node.output[0])
        return True

    def on_vector_product(self, node: Any) -> bool:
        """A vector and matrices: the vector is a matrix of one row or column."""
        ranks = [len(self.shapes.get(name, ())) for name in node.input]
        if sorted(ranks)[0] != 1 or max(ranks) < 3:
            return False
        axis = -2 if ranks[0] == 1 else -1
        line = self.constant([0 if ranks[0] == 1 else 1])
        sides = [self.emit("Unsqueeze", [name, line]) if rank == 1 else name for name, rank in zip(node.input, ranks)]
        self.emit("Squeeze", [self.emit("MatMul", sides), self.constant([axis])], node.output[0])
        return True

    def on_rows_by_matrix(self, node: Any) -> bool:
        """Many rows with one matrix, where sizes are open, become a single product: the compiler would copy the
        matrix for each of several products, in each call."""
        source, matrix = node.input
        sizes, depths = self.shapes.get(source, []), self.shapes.get(matrix, [])
        maker = self.makers.get(source)
        if (len(sizes) < 3 or len(depths) != 2 or None in depths or None not in sizes[:-1]
                or all(size == 1 for size in sizes[:-2])
                or maker is not None and maker.op_type == "DequantizeLinear"):
            return False
        rows = self.emit("Reshape", [source, self.constant([-1, depths[0]])])
        shape = self.emit("Concat", [self.emit("Shape", [source], end=-1), self.constant(np.array(depths[1:]))], axis=0)
        self.emit("Reshape", [self.emit("MatMul", [rows, matrix]), shape], node.output[0])
        return True
