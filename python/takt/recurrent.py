"""Recurrent layers for Takt's own kernels: a part of `rewriting`."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import tiled_calls

# The limits of src/kernels/gru.h.
_BLOCK = 16
_HIDDEN_MAX = 1 << 13


class RecurrentRewriter:
    """The part of the rewriter that knows recurrent layers."""

    def on_gru(self, node: Any) -> bool:
        """One product for the inputs of all steps, and one call for the states."""
        inputs = [*node.input, *[""] * (6 - len(node.input))]
        source, w_name, r_name, b_name, lengths, state = inputs
        w, r = self.constants.get(w_name), self.constants.get(r_name)
        shape = self.shape(source)
        attributes = self.attributes(node)
        if (w is None or r is None or shape is None or len(shape) != 3 or lengths
                or not self.is_float(source) or w.dtype != np.float32 or w.shape[0] != 1
                or attributes.get("direction", b"forward") != b"forward"
                or attributes.get("linear_before_reset", 0) != 1
                or attributes.get("layout", 0) or "clip" in attributes
                or attributes.get("activations", [b"Sigmoid", b"Tanh"]) != [b"Sigmoid", b"Tanh"]):
            return False
        steps, batch, _ = shape
        hidden = r.shape[2]
        if hidden % _BLOCK or hidden > _HIDDEN_MAX or not self.is_product(source, shape, w[0].T):
            return False
        bias = self.constants.get(b_name, np.zeros((1, 6 * hidden), np.float32) if not b_name else None)
        if bias is None or (state and self.shape(state) != (1, batch, hidden)):
            return False
        ahead, inner = bias[0, :3 * hidden].copy(), bias[0, 3 * hidden:]
        # Those of z and r are added before and after alike.
        ahead[:2 * hidden] += inner[:2 * hidden]
        name = self.fresh("gates")
        self.product(self.to_first(source), shape, w[0].T, ahead, name)
        packed = r[0].reshape(3 * hidden // _BLOCK, _BLOCK, hidden).transpose(0, 2, 1)
        first = (self.to_first(state) if state
                 else self.constant(np.zeros((1, batch, hidden), np.float32)))
        call = tiled_calls.TiledCall(
            "takt_gru_f32", ("f32",) * 5, (steps, batch, hidden), (), 1, 1, 1,
            steps * batch * 3 * hidden * hidden)
        states = self.kernel(
            call, [name, self.constant(packed), self.constant(inner[2 * hidden:]), first],
            self.fresh("states"), (steps, batch, hidden))
        if node.output[0]:
            self.emit("Reshape", [states, self.constant(np.array([steps, 1, batch, hidden]))],
                      node.output[0])
        if len(node.output) > 1 and node.output[1]:
            ends = (np.array([v], np.int64) for v in (steps - 1, steps, 0))
            self.emit("Slice", [states, *(self.constant(v) for v in ends)], node.output[1])
        return True

    def on_lstm(self, node: Any) -> bool:
        """The same: the call's last row is the cell's state after all steps."""
        inputs = [*node.input, *[""] * (8 - len(node.input))]
        source, w_name, r_name, b_name, lengths, state, cell, peepholes = inputs
        w, r = self.constants.get(w_name), self.constants.get(r_name)
        shape = self.shape(source)
        attributes = self.attributes(node)
        usual = [b"Sigmoid", b"Tanh", b"Tanh"]
        if (w is None or r is None or shape is None or len(shape) != 3 or lengths or peepholes
                or not self.is_float(source) or w.dtype != np.float32 or w.shape[0] != 1
                or attributes.get("direction", b"forward") != b"forward"
                or attributes.get("input_forget", 0) or attributes.get("layout", 0)
                or "clip" in attributes or attributes.get("activations", usual) != usual):
            return False
        steps, batch, _ = shape
        hidden = r.shape[2]
        if hidden % _BLOCK or hidden > _HIDDEN_MAX or not self.is_product(source, shape, w[0].T):
            return False
        bias = self.constants.get(b_name, np.zeros((1, 8 * hidden), np.float32) if not b_name else None)
        if bias is None or any(name and self.shape(name) != (1, batch, hidden) for name in (state, cell)):
            return False
        name = self.fresh("gates")
        self.product(self.to_first(source), shape, w[0].T, bias[0, :4 * hidden] + bias[0, 4 * hidden:], name)
        packed = r[0].reshape(4 * hidden // _BLOCK, _BLOCK, hidden).transpose(0, 2, 1)
        before = [self.to_first(name) if name else self.constant(np.zeros((1, batch, hidden), np.float32))
                  for name in (state, cell)]
        call = tiled_calls.TiledCall(
            "takt_lstm_f32", ("f32",) * 5, (steps, batch, hidden), (), 1, 1, 1,
            steps * batch * 4 * hidden * hidden)
        states = self.kernel(call, [name, self.constant(packed), *before],
                             self.fresh("states"), (steps + 1, batch, hidden))

        def rows(begin: int, end: int, output: str) -> str:
            bounds = (np.array([v], np.int64) for v in (begin, end, 0))
            return self.emit("Slice", [states, *(self.constant(v) for v in bounds)], output,
                             (end - begin, batch, hidden))

        if node.output[0]:
            self.emit("Reshape", [rows(0, steps, self.fresh("states")),
                                  self.constant(np.array([steps, 1, batch, hidden]))], node.output[0])
        for i, row in ((1, steps - 1), (2, steps)):
            if len(node.output) > i and node.output[i]:
                rows(row, row + 1, node.output[i])
        return True
