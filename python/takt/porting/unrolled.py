"""Recurrent layers step by step: a part of `porter`.

The compiler makes wrong code of some: it leaves out peepholes and limits, and does not
see which functions a layer has. It takes no GRU and no RNN with an open number of steps
or of sequences, and no LSTM with both. Takt has no kernel for others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import CompileError
from ..networks import recurrence
from ..networks.subgraphs import NODES_MAX

_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
_QUICK_NODES = 2700  # The compiler takes some 20 s for the steps of a GRU.
# The functions that the compiler knows.
_KNOWN = ("Relu", "Sigmoid", "Tanh")
# The functions that are operators of ONNX, with the defaults of their attributes.
_OPERATORS = {"Elu": {"alpha": 1.0}, "HardSigmoid": {"alpha": 0.2, "beta": 0.5}, "LeakyRelu": {"alpha": 0.01},
              "Relu": {}, "Sigmoid": {}, "Softplus": {}, "Softsign": {}, "Tanh": {}, "ThresholdedRelu": {"alpha": 1.0}}
# The others.
_SCALED = {"Affine": {"alpha": 1.0, "beta": 0.0}, "ScaledTanh": {"alpha": 1.0, "beta": 1.0}}


class UnrolledPorter:
    """The part of the porter that knows them."""

    def on_steps(self, node: Any) -> bool:
        """A forward layer over all steps with open sizes, or that has more than the compiler sees."""
        own = self.attributes(node)
        inputs = [*node.input, *[""] * 8][:8]
        names = [each.decode() for each in own.get("activations", [])] or recurrence.USUAL[node.op_type]
        shape = self.shapes.get(inputs[0])
        if (self.leaves_layers and shape is not None and None in shape[:2]
                and recurrence.has_kernel(node, own, self.constants)
                and self.types.get(inputs[0]) == self.onnx.TensorProto.FLOAT):
            return False
        if shape is not None and (shape[0] is None or shape[1] is None and node.op_type != "LSTM"):
            _Layer(self, node, inputs, own, names).write_loop()
            return True
        has_peepholes = node.op_type == "LSTM" and inputs[7]
        is_limited = own.get("clip", 0) or own.get("input_forget", 0)
        if not has_peepholes and not is_limited and set(names) <= set(_KNOWN):
            return self.on_quick_steps(node, inputs, own, names)
        if shape is None:
            raise CompileError(f"{node.op_type} {node.name}: its rank must be known")
        layer = _Layer(self, node, inputs, own, names)
        if layer.node_count > NODES_MAX:
            raise CompileError(f"{node.op_type} {node.name}: {shape[0]} steps of such a layer are too many")
        layer.write()
        return True

    def on_quick_steps(self, node: Any, inputs: list[str], own: dict[str, Any], names: list[str]) -> bool:
        """A layer that is none for Takt's kernels. The compiler would make a loop of it, which takes three times as
        long as its steps one after the other."""
        if names == recurrence.USUAL[node.op_type] and (node.op_type != "GRU" or own.get("linear_before_reset", 0)):
            return False
        if None in self.shapes.get(inputs[0], [None]) or any(
                name not in self.constants for name in inputs[1:4] if name):
            return False
        layer = _Layer(self, node, inputs, own, names)
        if layer.node_count > _QUICK_NODES:
            return False
        layer.write()
        return True

    def on_batches_first(self, node: Any) -> bool:
        """A layer whose tensors have the sequences before the steps."""
        own = self.attributes(node)
        if not own.pop("layout", 0):
            return False
        inputs = [*node.input, *[""] * 8][:8]
        for i in (0, 5, 6):
            if inputs[i]:
                inputs[i] = self.emit("Transpose", [inputs[i]], perm=[1, 0, 2])
        outputs = [self.fresh("layer") if name else "" for name in node.output]
        self.layer(node.op_type, inputs, outputs, own)
        for source, name, order in zip(outputs, node.output, ([2, 0, 1, 3], [1, 0, 2], [1, 0, 2])):
            if name:
                self.emit("Transpose", [source], name, perm=order)
        return True


class _Layer:
    """A layer whose nodes it emits. The number of steps may be open (None) for write_loop(), that of sequences for
    both."""

    def __init__(self, porter: Any, node: Any, inputs: list[str], own: dict[str, Any], names: list[str]) -> None:
        self.porter, self.node, self.own = porter, node, own
        self.emit, self.constant = porter.emit, porter.constant
        self.inputs = inputs
        self.steps, self.batch, _ = porter.shapes[inputs[0]]
        self.hidden = own["hidden_size"]
        self.gates = _GATES[node.op_type]
        self.dtype = porter.onnx.helper.tensor_dtype_to_np_dtype(porter.types[inputs[0]])
        self.functions = self.functions_of(names)
        self.is_linear = bool(self.own.get("linear_before_reset", 0))
        self.node_count = (self.steps or 0) * (12 + 10 * self.gates)

    def functions_of(self, names: list[str]) -> list[tuple[str, dict[str, float]]]:
        """The functions, with their numbers, which those take in turn that have any."""
        given = {key: list(self.own.get(f"activation_{key}", [])) for key in ("alpha", "beta")}
        found = []
        for name in names:
            known = _OPERATORS.get(name, _SCALED.get(name))
            if known is None:
                raise CompileError(f"{self.node.op_type} {self.node.name}: there is no function {name}")
            found.append((name, {key: given[key].pop(0) if given[key] else value for key, value in known.items()}))
        return found

    def write(self) -> None:
        """The steps one after the other."""
        ahead = self.ahead()
        rows = self.porter.zeros_like(self.part(ahead, 0), self.porter.types[self.inputs[0]])
        state, cell = (self.first(name, rows) for name in self.inputs[5:7])
        states = []
        for i in range(self.steps):
            row = self.emit("Squeeze", [self.porter.slice(ahead, 0, i, i + 1), self.constant([0])])
            state, cell = self.step(row, state, cell)
            states.append(self.emit("Unsqueeze", [state, self.constant([0, 1])]))
        outputs = [*self.node.output, "", ""][:3]
        if outputs[0]:
            self.emit("Concat", states, outputs[0], axis=0)
        for name, output in ((state, outputs[1]), (cell, outputs[2])):
            if output:
                self.emit("Unsqueeze", [name, self.constant([0])], output)

    def write_loop(self) -> None:
        """The steps as turns of a loop. The compiler takes no results of turns, so a state has those of all steps, and
        each turn sets a row of it."""
        porter, kinds = self.porter, self.porter.onnx.TensorProto
        ahead = self.ahead()
        outputs = [1, 2] if self.node.op_type == "LSTM" else [1]
        # The compiler knows the sizes of these zeros, as they are not those of a tensor of numbers.
        rows = porter.zeros_like(self.part(ahead, 0), porter.types[self.inputs[0]])
        befores = [self.first(self.inputs[4 + i], rows) for i in outputs]
        values = [(porter.types[self.inputs[0]], [self.batch, self.hidden])] * len(outputs)
        has_rows = porter.is_read(self.node.output[0])
        if has_rows:
            outputs.append(0)
            befores.append(rows)
            values.append((values[0][0], [None, self.batch, self.hidden]))
        turn, goes_on, *inner = (porter.fresh("step") for _ in range(2 + len(befores)))
        with porter.body() as nodes:
            row = self.emit("Gather", [ahead, turn], axis=0)
            afters = list(self.step(row, inner[0], inner[1] if len(inner) > 1 else ""))[:len(befores) - has_rows]
            if has_rows:
                new = self.emit("Unsqueeze", [afters[0], self.constant([0])])
                place = self.emit("Reshape", [turn, self.constant([1, 1])])
                afters.append(self.emit("ScatterND", [inner[-1], place, new]))
            afters.insert(0, self.emit("Identity", [goes_on]))
        make, values = porter.onnx.helper.make_tensor_value_info, [(kinds.BOOL, []), *values]
        arguments = [make(name, *value) for name, value in zip([goes_on, *inner], values)]
        body = porter.onnx.helper.make_graph(
            nodes, "steps", [make(turn, kinds.INT64, []), *arguments],
            [make(name, *value) for name, value in zip(afters, values)])
        results = [porter.fresh("layer") for _ in befores]
        turns = self.emit("Squeeze", [self.emit("Shape", [self.inputs[0]], end=1)])
        porter.out.append(porter.onnx.helper.make_node(
            "Loop", [turns, self.constant(np.array(True)), *befores], results, body=body))
        for source, i in zip(results, outputs):
            if i < len(self.node.output) and self.node.output[i]:
                self.emit("Unsqueeze", [source, self.constant([0 if i else 1])], self.node.output[i])

    def step(self, row: str, state: str, cell: str) -> tuple[str, str]:
        """The state, and the cell of an LSTM, after a step: [batch, hidden]."""
        return {"RNN": self.rnn_step, "GRU": self.gru_step, "LSTM": self.lstm_step}[self.node.op_type](row, state, cell)

    def number(self, value: float) -> str:
        return self.constant(np.asarray(value, self.dtype))

    def first(self, name: str, rows: str = "") -> str:
        """A state before the first step: [batch, hidden]. `rows` are zeros of all steps, for an open batch."""
        if name:
            return self.emit("Squeeze", [name, self.constant([0])])
        if self.batch is None:
            return self.emit("ReduceSum", [rows, self.constant([0])], keepdims=0)
        return self.constant(np.zeros((self.batch, self.hidden), self.dtype))

    def weights(self, name: str) -> str:
        return self.emit("Transpose", [self.emit("Squeeze", [name, self.constant([0])])], perm=[1, 0])

    def ahead(self) -> str:
        """What the gates of all steps get from the input: [steps, batch, gates * hidden]."""
        result = self.emit("MatMul", [self.inputs[0], self.weights(self.inputs[1])])
        self.inner = self.weights(self.inputs[2])
        self.inner_bias = ""
        if not self.inputs[3]:
            return result
        width = self.gates * self.hidden
        bias = self.emit("Reshape", [self.inputs[3], self.constant([2, width])])
        outer, inner = (self.emit("Reshape", [self.porter.slice(bias, 0, i, i + 1), self.constant([width])])
                        for i in (0, 1))
        if self.node.op_type != "GRU" or not self.is_linear:
            return self.emit("Add", [result, self.emit("Add", [outer, inner])])
        self.inner_bias = inner  # That of the last gate comes before a product.
        return self.emit("Add", [result, outer])

    def part(self, name: str, gate: int, count: int = 1) -> str:
        return self.porter.slice(name, -1, gate * self.hidden, (gate + count) * self.hidden)

    def function(self, which: int, name: str, is_limited: bool = True) -> str:
        limit = self.own.get("clip", 0)
        if limit and is_limited:
            name = self.emit("Clip", [name, self.number(-limit), self.number(limit)])
        kind, numbers = self.functions[which]
        if kind not in _SCALED:
            return self.emit(kind, [name], **numbers)
        alpha, beta = (self.number(numbers[key]) for key in ("alpha", "beta"))
        if kind == "Affine":
            return self.emit("Add", [self.emit("Mul", [name, alpha]), beta])
        return self.emit("Mul", [self.emit("Tanh", [self.emit("Mul", [name, beta])]), alpha])

    def rnn_step(self, row: str, state: str, cell: str) -> tuple[str, str]:
        return self.function(0, self.emit("Add", [row, self.emit("MatMul", [state, self.inner])])), cell

    def gru_step(self, row: str, state: str, cell: str) -> tuple[str, str]:
        inner = self.emit("MatMul", [state, self.inner if self.is_linear else self.part(self.inner, 0, 2)])
        if self.inner_bias:
            inner = self.emit("Add", [inner, self.inner_bias])
        before = self.part(inner, 0, 2) if self.is_linear else inner
        gates = self.function(0, self.emit("Add", [self.part(row, 0, 2), before]))
        update, reset = (self.part(gates, i) for i in (0, 1))
        if self.is_linear:
            last = self.emit("Mul", [reset, self.part(inner, 2)])
        else:
            last = self.emit("MatMul", [self.emit("Mul", [reset, state]), self.part(self.inner, 2)])
        new = self.function(1, self.emit("Add", [self.part(row, 2), last]))
        kept = self.emit("Mul", [update, self.emit("Sub", [state, new])])
        return self.emit("Add", [new, kept]), cell

    def lstm_step(self, row: str, state: str, cell: str) -> tuple[str, str]:
        gates = self.emit("Add", [row, self.emit("MatMul", [state, self.inner])])

        def seen(gate: int, through: int, of: str) -> str:
            """The gate with what it sees of a cell."""
            part = self.part(gates, gate)
            if not self.inputs[7]:
                return part
            return self.emit("Add", [part, self.emit("Mul", [self.part(self.inputs[7], through), of])])

        opened = self.function(0, seen(0, 0, cell))
        if self.own.get("input_forget", 0):
            kept = self.emit("Sub", [self.number(1), opened])
        else:
            kept = self.function(0, seen(2, 2, cell))
        new = self.emit("Mul", [opened, self.function(1, self.part(gates, 3))])
        cell = self.emit("Add", [self.emit("Mul", [kept, cell]), new])
        shown = self.function(0, seen(1, 1, cell))
        return self.emit("Mul", [shown, self.function(2, cell, is_limited=False)]), cell
