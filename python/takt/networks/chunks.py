"""How many samples a network should compute at once, if it may take any number."""

from __future__ import annotations

import math
from typing import Any

from . import graphs

# A network that uses its weights less often takes as long for one sample as for some.
_USES_MIN = 16
_WEIGHTS_MAX = 1 << 24  # Elements. The program of each size is compiled.
_SIZES = (16, 4)
# Networks of few operators are compiled soon, also for many samples, which share what is read of many weights.
_MANY = 64
_NODES_MAX = 32
_WEIGHTS_MIN = 1 << 12


def sizes(model: Any) -> tuple[int, ...]:
    """Numbers of samples, the largest first, for a network of one sample (an onnx.ModelProto).

    A product reads its weights once for all samples, so it takes hardly longer for some
    samples than for one, unless one alone uses each weight many times, as a convolution does.
    A walk through tables waits for each row that it reads; those of some samples do so together.
    """
    reader = _Reader(model)
    found = [reader.uses_of(node) for node in reader.graph.node]
    elements = sum(each for each, _ in found)
    products = sum(each * uses for each, uses in found)
    if not elements:
        return _SIZES if any(map(reader.reads_rows, reader.graph.node)) else ()
    if elements > _WEIGHTS_MAX or products >= _USES_MIN * elements:
        return ()
    return (_MANY, *_SIZES) if elements >= _WEIGHTS_MIN and len(model.graph.node) <= _NODES_MAX else _SIZES


class _Reader(graphs.Graph):
    def uses_of(self, node: Any) -> tuple[int, float]:
        """The number of a node's weights, and how often each is used."""
        kind, inputs = node.op_type, node.input
        if kind in ("Conv", "ConvInteger"):
            return self.of_images(inputs[1], node.output[0])
        if kind == "ConvTranspose":
            return self.of_images(inputs[1], inputs[0])
        if kind in ("MatMul", "MatMulInteger", "Gemm"):
            weights, result = self.shape_of_constant(inputs[1]), self.shapes.get(node.output[0])
            if weights and result:
                return math.prod(weights), math.prod(result[:-1]) / math.prod(weights[:-2])
        if kind in ("GRU", "LSTM", "RNN"):
            shapes = [self.shape_of_constant(name) for name in inputs[1:3]]
            source = self.shapes.get(inputs[0])
            if source and all(shapes):
                return sum(math.prod(shape) for shape in shapes), source[0]
        return 0, 0

    def reads_rows(self, node: Any) -> bool:
        """Whether it takes rows of a table that the network finds."""
        return (node.op_type == "Gather" and node.input[0] in self.constants
                and node.input[1] not in self.constants)

    def of_images(self, name: str, places: str) -> tuple[int, float]:
        """Weights that are used at each place of some images."""
        weights, images = self.shape_of_constant(name), self.shapes.get(places)
        return (math.prod(weights), math.prod(images[2:])) if weights and images else (0, 0)

    def shape_of_constant(self, name: str) -> tuple[int, ...] | None:
        """None: it is computed of what is no constant."""
        maker = self.makers.get(name)
        if maker is not None and maker.op_type == "DequantizeLinear":
            name = maker.input[0]
        return self.constants[name].shape if name in self.constants else None
