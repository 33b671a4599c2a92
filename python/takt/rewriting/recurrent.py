"""Recurrent layers for Takt's own kernels: a part of `rewriter`."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from . import tiled_calls
from .packing import BLOCK

_HIDDEN_MAX = 1 << 13  # As in src/kernels/gru.h.


@dataclasses.dataclass
class _Layer:
    """A GRU or an LSTM whose operands the kernels take."""

    source: str
    shape: tuple[int, int, int]  # Steps, batch, size of the state.
    weights: np.ndarray  # Of the inputs: [gates * hidden][inputs].
    packed: np.ndarray  # Of the state.
    bias: np.ndarray  # [2, gates * hidden]: of the inputs, and of the state.
    states: list[str]  # Before the first step; "" is zeros.


class RecurrentRewriter:
    """The part of the rewriter that knows recurrent layers."""

    def on_gru(self, node: Any) -> bool:
        if self.attributes(node).get("linear_before_reset", 0) != 1:
            return False
        layer = self.recurrent(node, 3, [b"Sigmoid", b"Tanh"])
        if layer is None:
            return False
        steps, batch, hidden = layer.shape
        ahead, inner = layer.bias
        # Those of z and r are added before and after alike.
        ahead = ahead + np.where(np.arange(3 * hidden) < 2 * hidden, inner, 0).astype(np.float32)
        states = self.call_layer("takt_gru_f32", layer, 3, ahead, [self.constant(inner[2 * hidden:])], steps)
        self.emit_steps(node, layer, states)
        if len(node.output) > 1 and node.output[1]:
            self.rows_of(states, layer, steps - 1, steps, node.output[1])
        return True

    def on_lstm(self, node: Any) -> bool:
        """The call's last row is the state of the cell after all steps."""
        if self.attributes(node).get("input_forget", 0) or (len(node.input) > 7 and node.input[7]):
            return False
        layer = self.recurrent(node, 4, [b"Sigmoid", b"Tanh", b"Tanh"])
        if layer is None:
            return False
        steps = layer.shape[0]
        states = self.call_layer("takt_lstm_f32", layer, 4, layer.bias.sum(0), [], steps + 1)
        self.emit_steps(node, layer, self.rows_of(states, layer, 0, steps, self.fresh("states")))
        for i, row in ((1, steps - 1), (2, steps)):
            if len(node.output) > i and node.output[i]:
                self.rows_of(states, layer, row, row + 1, node.output[i])
        return True

    def recurrent(self, node: Any, gates: int, activations: list[bytes]) -> _Layer | None:
        """The layer; None if it is none that the kernels compute."""
        inputs = [*node.input, *[""] * (7 - len(node.input))]
        source, w_name, r_name, b_name, lengths = inputs[:5]
        states = inputs[5:7] if gates == 4 else inputs[5:6]
        w, r = self.constants.get(w_name), self.constants.get(r_name)
        shape = self.shape(source)
        attributes = self.attributes(node)
        if (w is None or r is None or shape is None or len(shape) != 3 or lengths
                or not self.is_float(source) or w.dtype != np.float32 or w.shape[0] != 1
                or attributes.get("direction", b"forward") != b"forward"
                or attributes.get("layout", 0) or "clip" in attributes
                or attributes.get("activations", activations) != activations):
            return None
        steps, batch, _ = shape
        hidden = r.shape[2]
        if hidden % BLOCK or hidden > _HIDDEN_MAX or not self.is_product(source, shape, w[0].T):
            return None
        zeros = np.zeros((1, 2 * gates * hidden), np.float32)
        bias = self.constants.get(b_name, None if b_name else zeros)
        if bias is None or any(name and self.shape(name) != (1, batch, hidden) for name in states):
            return None
        packed = r[0].reshape(gates * hidden // BLOCK, BLOCK, hidden).transpose(0, 2, 1)
        return _Layer(source, (steps, batch, hidden), w[0], packed, bias.reshape(2, -1), states)

    def call_layer(self, function: str, layer: _Layer, gates: int, bias: np.ndarray,
                   constants: list[str], rows: int) -> str:
        """One product for the inputs of all steps, and one call for the states."""
        steps, batch, hidden = layer.shape
        name = self.fresh("gates")
        self.product(self.to_first(layer.source), self.shape(layer.source), layer.weights.T, bias, name)
        before = [self.to_first(state) if state else self.constant(np.zeros((1, batch, hidden), np.float32))
                  for state in layer.states]
        call = tiled_calls.TiledCall(
            function, ("f32",) * 5, layer.shape, (), 1, 1, 1, steps * batch * gates * hidden * hidden)
        return self.kernel(call, [name, self.constant(layer.packed), *constants, *before],
                           self.fresh("states"), (rows, batch, hidden))

    def emit_steps(self, node: Any, layer: _Layer, states: str) -> None:
        steps, batch, hidden = layer.shape
        if node.output[0]:
            self.emit("Reshape", [states, self.constant(np.array([steps, 1, batch, hidden]))], node.output[0])

    def rows_of(self, states: str, layer: _Layer, begin: int, end: int, output: str) -> str:
        bounds = (np.array([v], np.int64) for v in (begin, end, 0))
        return self.emit("Slice", [states, *(self.constant(v) for v in bounds)], output,
                         (end - begin, *layer.shape[1:]))
