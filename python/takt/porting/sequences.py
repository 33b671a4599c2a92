"""Recurrent layers, as layers that run forwards over all steps: a part of
`porter`."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

# Added to the sum of a gate, it opens the gate; subtracted, it shuts it.
_OPEN = 1e4


@dataclasses.dataclass
class _Batch:
    """The sequences that a layer reads."""

    shape: list[int | None] | None  # Steps, sequences, size of a step.
    element: int
    lengths: str  # Of each sequence; "" if all have all steps.


class SequencePorter:
    """The part of the porter that knows recurrent layers."""

    def on_recurrent(self, node: Any) -> bool:
        attributes = self.attributes(node)
        inputs = [*node.input, *[""] * (8 - len(node.input))]
        is_plain = attributes.get("direction", b"forward") == b"forward" and not inputs[4]
        if self.on_batches_first(node):
            return True
        if is_plain:
            return self.on_steps(node)
        batch = self.batch_of(inputs[0], inputs[4])
        if batch.lengths and not self.can_end(node, attributes, batch):
            return False
        inputs[4] = ""
        direction = attributes.pop("direction", b"forward").decode()
        count = 2 if direction == "bidirectional" else 1
        results: list[list[str]] = []
        for i in range(count):
            own = dict(attributes)
            # The functions of each direction follow each other.
            for key in ("activations", "activation_alpha", "activation_beta"):
                if key in own and count == 2:
                    half = len(own[key]) // 2
                    own[key] = own[key][i * half:][:half]
            parts = [self.slice(name, 0, i, i + 1) if name and count == 2 else name for name in inputs[1:]]
            names = [self.fresh("layer") if name else "" for name in node.output]
            is_backward = direction == "reverse" or i == 1
            run = self.layer_backward if is_backward else self.layer_forward
            run(node.op_type, [inputs[0], *parts], names, own, batch)
            results.append(names)
        for k, name in enumerate(node.output):
            if not name:
                continue
            if count == 2:
                self.emit("Concat", [each[k] for each in results], name, axis=1 if k == 0 else 0)
            else:
                self.emit("Identity", [results[0][k]], name)
        return True

    def batch_of(self, source: str, lengths: str) -> _Batch:
        shape, constant = self.shapes.get(source), self.constants.get(lengths)
        if constant is not None and shape is not None and (constant == shape[0]).all():
            lengths = ""
        return _Batch(shape, self.types.get(source, 0), lengths)

    def layer_backward(self, kind: str, inputs: list[str], outputs: list[str], attributes: dict[str, Any],
                       batch: _Batch) -> None:
        last, *others = outputs
        steps = self.fresh("layer") if last else ""
        source = self.backward(inputs[0], batch)
        self.layer_forward(kind, [source, *inputs[1:]], [steps, *others], attributes, batch)
        if last:
            directions = dataclasses.replace(batch)
            if batch.shape is not None:
                directions.shape = [batch.shape[0], 1, batch.shape[1], attributes["hidden_size"]]
            self.emit("Identity", [self.backward(steps, directions)], last)

    def backward(self, name: str, batch: _Batch) -> str:
        """The steps of each sequence in the other order."""
        if batch.lengths:
            return self.reversed(name, batch.shape, 0, len(batch.shape) - 2, batch.lengths)
        bounds = ([-1], [np.iinfo(np.int64).min + 1], [0], [-1])
        return self.emit("Slice", [name, *map(self.constant, bounds)])

    def layer_forward(self, kind: str, inputs: list[str], outputs: list[str], attributes: dict[str, Any],
                      batch: _Batch) -> None:
        if batch.lengths:
            self.ending_layer(kind, inputs, outputs, attributes, batch)
        else:
            self.layer(kind, inputs, outputs, attributes)

    def layer(self, kind: str, inputs: list[str], outputs: list[str], attributes: dict[str, Any]) -> None:
        inputs = list(inputs)
        while not inputs[-1]:
            inputs.pop()
        self.out.append(self.onnx.helper.make_node(kind, inputs, outputs, **attributes))

    # Sequences that end before the last step.

    def can_end(self, node: Any, attributes: dict[str, Any], batch: _Batch) -> bool:
        """Whether ending_layer() can write the layer."""
        floats = (self.onnx.TensorProto.FLOAT, self.onnx.TensorProto.DOUBLE)
        if batch.shape is None or batch.element not in floats:
            return False
        has_cell = len(node.output) > 2 and node.output[2]
        gates = set(attributes.get("activations", [b"Sigmoid"])[::3])
        return not has_cell or ("clip" not in attributes and gates == {b"Sigmoid"})

    def ending_layer(self, kind: str, inputs: list[str], outputs: list[str], attributes: dict[str, Any],
                     batch: _Batch) -> None:
        """A layer over all steps, of which each sequence has its first ones. What comes after
        them is zero, and the state is that after the last of them."""
        step = self.places_along(inputs[0], batch.shape, 0, [-1, 1, 1, 1])
        ends = self.emit("Cast", [batch.lengths], to=self.onnx.TensorProto.INT64)
        ends = self.emit("Reshape", [ends, self.constant([1, 1, -1, 1])])
        is_step = self.emit("Less", [step, ends])
        zero = self.constant(np.zeros((), self.onnx.helper.tensor_dtype_to_np_dtype(batch.element)))
        all_steps, state, cell = [*outputs, "", ""][:3]
        computed = self.fresh("steps")
        frozen = self.fresh("cell") if cell else ""
        if cell:
            inputs = self.freezing(inputs, attributes["hidden_size"], is_step, batch.element)
        self.layer(kind, inputs, [computed, "", frozen] if cell else [computed], attributes)
        if all_steps:
            self.emit("Where", [is_step, computed, zero], all_steps)
        if state:
            next_step = self.emit("Add", [step, self.constant(np.int64(1))])
            last = self.emit("Where", [self.emit("Equal", [next_step, ends]), computed, zero])
            self.emit("ReduceSum", [last, self.constant([0])], state, keepdims=0)
        if cell:
            has_steps = self.emit("Less", [self.constant(np.zeros((1, 1, 1), np.int64)),
                                           self.emit("Squeeze", [ends, self.constant([0])])])
            self.emit("Where", [has_steps, frozen, zero], cell)

    def freezing(self, inputs: list[str], hidden: int, is_step: str, element: int) -> list[str]:
        """The inputs of an LSTM whose cell stays as it is where `is_step` is false: a further
        element of each step shuts the gate of the input and opens that of the cell."""
        source, weights, *others = inputs
        after = self.emit("Cast", [self.emit("Not", [is_step])], to=element)
        after = self.emit("Squeeze", [after, self.constant([1])])
        gates = np.repeat([-_OPEN, 0, _OPEN, 0], hidden)  # Input, output, forget, cell.
        column = gates.astype(self.onnx.helper.tensor_dtype_to_np_dtype(element)).reshape(1, -1, 1)
        return [self.emit("Concat", [source, after], axis=2),
                self.emit("Concat", [weights, self.constant(column)], axis=2), *others]

    def on_reverse(self, node: Any) -> bool:
        """ReverseSequence."""
        name, lengths = node.input
        shape, attributes = self.shapes.get(name), self.attributes(node)
        if shape is None:
            return False
        axes = attributes.get("time_axis", 0), attributes.get("batch_axis", 1)
        self.emit("Identity", [self.reversed(name, shape, *axes, lengths)], node.output[0])
        return True

    def reversed(self, name: str, shape: list[int | None], time: int, batch: int, lengths: str) -> str:
        """The first `lengths` steps of each sequence in the other order, before the others."""
        along_time = [-1 if i == time else 1 for i in range(len(shape))]
        along_batch = [-1 if i == batch else 1 for i in range(len(shape))]
        step = self.places_along(name, shape, time, along_time)
        ends = self.emit("Cast", [lengths], to=self.onnx.TensorProto.INT64)
        ends = self.emit("Reshape", [ends, self.constant(along_batch)])
        other = self.emit("Sub", [self.emit("Sub", [ends, self.constant(np.int64(1))]), step])
        places = self.emit("Where", [self.emit("Less", [step, ends]), other, step])
        if None in shape:
            places = self.emit("Add", [places, self.zeros_like(name, self.onnx.TensorProto.INT64)])
        else:
            places = self.emit("Expand", [places, self.constant(shape)])
        return self.emit("GatherElements", [name, places], axis=time)

    def places_along(self, name: str, shape: list[int | None], axis: int, form: list[int]) -> str:
        """The numbers of the elements along an axis of a tensor, in a shape that has -1 for them."""
        if shape[axis] is not None:
            return self.constant(np.arange(shape[axis], dtype=np.int64).reshape(form))
        others = self.constant([i for i in range(len(shape)) if i != axis])
        zeros = self.emit("ReduceSum", [self.zeros_like(name, self.onnx.TensorProto.INT64), others], keepdims=0)
        ones = self.emit("Add", [zeros, self.constant(np.int64(1))])
        return self.emit("Reshape", [self.emit("CumSum", [ones, self.constant(np.int64(0))], exclusive=1),
                                     self.constant(form)])

    def zeros_like(self, name: str, element: int) -> str:
        """Zeros of the sizes of a tensor, where these are open: those of an Expand are found in each call."""
        if self.types.get(name) == self.onnx.TensorProto.BOOL:
            name = self.emit("Cast", [name], to=self.onnx.TensorProto.INT32)
        return self.emit("Cast", [self.emit("Less", [name, name])], to=element)
