"""Recurrent layers for Takt's own kernels: a part of `rewriter`."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..networks import open_sizes, recurrence
from . import tiled_calls
from .kernel_calls import DOMAIN
from .open_calls import RESULTS, SEQUENCES, STEPS
from .packing import BLOCK

_CALL_MACS = 1 << 20  # Of a tile of several steps, which takes some 100 µs at most.
_STEP_MACS = 1 << 19  # From here on a call for each step, in tiles of lanes, pays.
_TILE_MACS = 1 << 17  # At least, where a call has several tiles.
_ROWS = 4  # That share the weights in src/kernels/gru_impl.inc.
_LANES = 64  # That are summed together there.
_CALLS_MAX = 256
_OPEN = 50  # The sigmoid of it is 1, and that of its negative adds nothing to a float.


@dataclasses.dataclass
class _Layer:
    """A GRU or an LSTM whose operands the kernels take: with further units, which stay zero."""

    source: str
    shape: tuple[open_sizes.Size, open_sizes.Size, int]  # Steps, batch, size of the state.
    units: int  # How many the network has.
    weights: np.ndarray  # Of the inputs: [gates * hidden][inputs].
    packed: np.ndarray  # Of the state.
    bias: np.ndarray  # [2, gates * hidden]: of the inputs, and of the state.
    states: list[str]  # Before the first step; "" is zeros.
    known_steps: int | None  # Of a number of sequences that is not known: their loop is one of any number of steps.


@dataclasses.dataclass(frozen=True)
class _Tiles:
    """The steps that a call computes, and the rows and lanes of a workgroup of it."""

    steps: int  # Of the call.
    rows: int
    lanes: int  # All of them, if the call has several steps.


def _tiles(shape: tuple[int, int, int], gates: int) -> _Tiles:
    steps, batch, hidden = shape
    macs = gates * hidden * hidden  # Of a row in a step.
    rows = tiled_calls.even_rows(batch, _TILE_MACS // (steps * macs), _ROWS)
    steps_of_call = max(1, -(-steps // _CALLS_MAX))
    if rows * macs < _STEP_MACS:
        steps_of_call = max(steps_of_call, _CALL_MACS // (rows * macs))
    lanes = hidden
    if min(steps, steps_of_call) == 1:
        lanes = min(hidden, _LANES * -(-_TILE_MACS // (rows * gates * hidden * _LANES)))
    return _Tiles(min(steps, steps_of_call), rows, lanes)


class RecurrentRewriter:
    """The part of the rewriter that knows recurrent layers."""

    def on_gru(self, node: Any) -> bool:
        layer = self.recurrent(node, 3)
        if layer is None:
            return False
        hidden = layer.shape[2]
        ahead, inner = layer.bias
        # Those of z and r are added before and after alike.
        ahead = ahead + np.where(np.arange(3 * hidden) < 2 * hidden, inner, 0).astype(np.float32)
        states = self.call_layer("takt_gru_steps_f32", layer, 3, ahead, [self.constant(inner[2 * hidden:])], 0)
        self.emit_results(node, layer, states, 0)
        return True

    def on_rnn(self, node: Any) -> bool:
        """A GRU whose gates are open: its state is the new one alone, which takes all of the last one."""
        layer = self.recurrent(node, 1)
        if layer is None:
            return False
        hidden = layer.shape[2]
        ahead = np.repeat(np.float32([-_OPEN, _OPEN]), hidden)
        gated = dataclasses.replace(
            layer, weights=np.pad(layer.weights, ((2 * hidden, 0), (0, 0))),
            packed=np.pad(layer.packed, ((0, 0), (0, 0), (2, 0), (0, 0))))
        zeros = self.constant(np.zeros(hidden, np.float32))
        states = self.call_layer("takt_gru_steps_f32", gated, 3, np.append(ahead, layer.bias.sum(0)), [zeros], 0)
        self.emit_results(node, gated, states, 0)
        return True

    def on_lstm(self, node: Any) -> bool:
        """The last row of a call is the state of the cell after its steps."""
        layer = self.recurrent(node, 4)
        if layer is None:
            return False
        states = self.call_layer("takt_lstm_steps_f32", layer, 4, layer.bias.sum(0), [], 1)
        self.emit_results(node, layer, states, 1)
        return True

    def recurrent(self, node: Any, gates: int) -> _Layer | None:
        """The layer; None if it is none that the kernels compute."""
        if not recurrence.has_kernel(node, self.attributes(node), self.constants):
            return None
        source, w_name, r_name, b_name, *states = [*node.input, *[""] * 7][:7]
        states = states[1:3] if gates == 4 else states[1:2]
        w, r = self.constants[w_name], self.constants[r_name]
        shape = self.sizes(source)
        if shape is None or len(shape) != 3 or not self.is_float(source):
            return None
        steps, batch, _ = shape
        known_steps = None
        if isinstance(batch, open_sizes.Open) and isinstance(steps, int):
            steps, known_steps = open_sizes.Open(("steps", node.output[0], node.output[-1]), steps), steps
        hidden = r.shape[2]
        if not self.is_product(source, shape, w[0].T):
            return None
        zeros = np.zeros((1, 2 * gates * hidden), np.float32)
        bias = self.constants.get(b_name, zeros)
        if any(name and self.sizes(name) != (1, batch, hidden) for name in states):
            return None
        more = -hidden % BLOCK
        wide = hidden + more
        w = np.pad(w.reshape(gates, hidden, -1), ((0, 0), (0, more), (0, 0))).reshape(gates * wide, -1)
        r = np.pad(r.reshape(gates, hidden, hidden), ((0, 0), (0, more), (0, more)))
        bias = np.pad(bias.reshape(2, gates, hidden), ((0, 0), (0, 0), (0, more))).reshape(2, -1)
        packed = r.reshape(gates, wide // BLOCK, BLOCK, wide).transpose(1, 3, 0, 2)
        return _Layer(source, (steps, batch, wide), hidden, w, packed, bias, states, known_steps)

    def call_layer(self, function: str, layer: _Layer, gates: int, bias: np.ndarray,
                   constants: list[str], rows_behind: int) -> str:
        """One product for the inputs of all steps, and calls for the states, each for as many steps as take no longer
        than a tile may.

        Each call returns the state after each of its steps and `rows_behind` further rows. The result has those of the
        last call. The next call begins with the last state and these rows.
        """
        steps, batch, hidden = layer.shape
        name = self.fresh("gates")
        self.product(self.to_first(layer.source), self.sizes(layer.source), layer.weights.T, bias, name)
        before = [self.widened(self.to_first(state), layer) if state else self.zeros(layer, hidden)
                  for state in layer.states]
        weights = self.constant(layer.packed)
        if isinstance(steps, open_sizes.Open):
            return self.call_open_layer(function, layer, gates, [name, weights, *constants, *before], rows_behind)
        tiles = _tiles(layer.shape, gates)
        parts = []
        for first in range(0, steps, tiles.steps):
            count = min(tiles.steps, steps - first)
            rows = count + rows_behind
            call = tiled_calls.TiledCall(
                function, ("f32",) * 5, (count, batch, hidden, tiles.lanes), (), -(-hidden // tiles.lanes), batch,
                tiles.rows, count * batch * gates * hidden * hidden)
            inputs = name if count == steps else self.some_rows(
                name, (first, first + count), (count, batch, gates * hidden))
            states = self.kernel(call, [inputs, weights, *constants, *before], self.fresh("states"),
                                 (rows, batch, hidden))
            if first + count == steps:
                parts.append(states)
                break
            before = [self.some_rows(states, (row, row + 1), (1, batch, hidden)) for row in range(count - 1, rows)]
            parts.append(self.some_rows(states, (0, count), (count, batch, hidden)) if rows_behind else states)
        if len(parts) == 1:
            return parts[0]
        return self.emit("Concat", parts, self.fresh("states"), (steps + rows_behind, batch, hidden), axis=0)

    def call_open_layer(self, function: str, layer: _Layer, gates: int, inputs: list[str], rows_behind: int) -> str:
        """Calls in a loop. The result begins with the states before the first step."""
        steps, batch, hidden = layer.shape
        is_open = isinstance(batch, open_sizes.Open)
        count = max(batch.nominal, _ROWS) if is_open else batch
        tiles = _tiles((_CALLS_MAX, count, hidden), gates)
        sequences = [SEQUENCES] if is_open else []
        states = len(layer.states)
        axes = [(STEPS, *sequences), *[()] * (len(inputs) - 1 - states), *[(*sequences,)] * states,
                (RESULTS, *sequences)]
        numbers = (STEPS, SEQUENCES if is_open else batch, hidden, tiles.lanes)
        call = tiled_calls.TiledCall(
            function, ("f32",) * (len(inputs) + 1), numbers, (), -(-hidden // tiles.lanes), 0 if is_open else batch,
            tiles.rows, tiles.steps * count * gates * hidden * hidden, axes=tuple(axes))
        return self.emit(
            "TaktSteps", inputs, self.fresh("states"), (steps, batch, hidden), DOMAIN, kernel=self.index_of(call),
            steps=tiles.steps, behind=rows_behind)

    def some_rows(self, source: str, rows: tuple[int, int], shape: tuple[int, ...]) -> str:
        bounds = (self.constant(np.array(values, np.int64)) for values in ((rows[0],), (rows[1],), (0,)))
        return self.emit("Slice", [source, *bounds], self.fresh("states"), shape)

    def widened(self, state: str, layer: _Layer) -> str:
        _, batch, hidden = layer.shape
        if layer.units == hidden:
            return state
        rest = self.zeros(layer, hidden - layer.units)
        return self.emit("Concat", [state, rest], self.fresh("states"), (1, batch, hidden), axis=2)

    def zeros(self, layer: _Layer, count: int) -> str:
        """The state of each sequence, `count` zeros."""
        batch = layer.shape[1]
        if not isinstance(batch, open_sizes.Open):
            return self.constant(np.zeros((1, batch, count), np.float32))
        batch_of = self.emit("Shape", [layer.source], self.fresh("zeros"), (1,), start=1, end=2,
                             element=self.onnx.TensorProto.INT64)
        ends = [self.constant(np.array([size])) for size in (1, count)]
        form = self.emit("Concat", [ends[0], batch_of, ends[1]], self.fresh("zeros"), (3,), axis=0,
                         element=self.onnx.TensorProto.INT64)
        return self.emit("Expand", [self.constant(np.zeros((1, 1, 1), np.float32)), form], self.fresh("zeros"),
                         (1, batch, count))

    def emit_results(self, node: Any, layer: _Layer, states: str, rows_behind: int) -> None:
        """All states, the last one, and that of the cell, which call_layer() has found."""
        steps, batch, _ = layer.shape
        all_steps, last, cell = [*node.output, "", ""][:3]
        if isinstance(steps, open_sizes.Open):  # Counted from the end, which the state before the first step is not.
            first, count, end = 1, -1, -rows_behind
        else:
            first, count, end = 0, steps, steps
        if all_steps:
            found = self.own_rows(states, layer, first, end, steps, self.fresh("states"))
            if layer.known_steps is not None:
                sizes = (layer.known_steps, batch, layer.units)
                found = self.emit("Reshape", [found, self.constant(np.array([sizes[0], -1, sizes[2]]))],
                                  self.fresh("states"), sizes)
            if isinstance(batch, open_sizes.Open):
                self.emit("Unsqueeze", [found, self.constant(np.array([1]))], all_steps)
            else:
                self.emit("Reshape", [found, self.constant(np.array([count, 1, batch, layer.units]))], all_steps)
        for row, name in ((end - 1, last), (end, cell)):
            if name:
                self.own_rows(states, layer, row, row + 1, 1, name)

    def own_rows(self, states: str, layer: _Layer, begin: int, end: int, count: open_sizes.Size, output: str) -> str:
        """Some rows of the states that a call has found, without the further units. An `end` of 0 is that of all."""
        bounds = (self.constant(np.array(values, np.int64))
                  for values in ((begin, 0), (end or np.iinfo(np.int64).max, layer.units), (0, 2)))
        sizes = (count, layer.shape[1], layer.units)
        if not open_sizes.is_open(sizes):
            return self.emit("Slice", [states, *bounds], output, sizes)
        # The compiler's code for sums of rows of several layers, of open sizes, computes some numbers alone.
        rows = self.emit("Slice", [states, *bounds], self.fresh("states"), sizes)
        return self.emit("TaktBarrier", [rows], output, sizes, DOMAIN)
