"""Products with weights of four or eight bits whose blocks have scales: a part of `rewriter`."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from ..networks import open_sizes
from . import tiled_calls
from .kernel_calls import TILE_MACS, shared_tiles
from .open_calls import ROWS
from .packing import BLOCK

_WORD = 8  # Weights of a word.
_BLOCKS = (256, 128, 64, 32, 16)  # Inputs that share a scale.
_CODES = 16  # Of four bits.
_BYTE_CODES = 256
_SYMMETRIC = _CODES // 2  # The code of 0 where all blocks have the same.
_CUT_MIN = 256  # Columns, if they are no whole groups.
_TOLERANCE = 1e-6  # Of the range of a block: scales and weights were rounded to floats.
_SAMPLE = (256, 64)  # Inputs and columns that are looked at first.
_COLUMNS = 1024  # That are looked at together.
_BYTES_FACTOR = 2  # At least so many products of bytes take the time of one of floats.
_ROWS_MAX = 16  # Of a tile, whose columns share what is made of the inputs.
_FLOAT_ROWS_MAX = 4  # With more rows, a product of floats takes less time than two with weights of four bits.
_ROWS_SHARED = 8  # Rows that share what src/kernels/product_i4_impl.inc makes of the weights.


@dataclasses.dataclass(frozen=True)
class Bits:
    """Weights as scale * (code - zero).

    codes   uint8 [inputs][columns], below 16; of eight bits, below 256.
    scales  float32 [blocks of inputs][columns].
    zeros   float32, as the scales, or [1]."""

    codes: np.ndarray
    scales: np.ndarray
    zeros: np.ndarray

    def halves(self) -> Bits:
        """Codes of eight bits as codes of four bits, the upper ones before the lower ones: those of a product whose
        inputs come twice. Both halves have the same zeros, since 16 + 1 of these are the zeros of eight bits."""
        codes = np.concatenate([self.codes // _CODES, self.codes % _CODES])
        scales = np.concatenate([self.scales * _CODES, self.scales])
        zeros = self.zeros / np.float32(_CODES + 1)
        return Bits(codes, scales, zeros if zeros.size == 1 else np.concatenate([zeros, zeros]))

    def widened(self, columns: int) -> Bits:
        """The same with so many further columns, which are 0."""
        codes, scales, zeros = (
            each if each.ndim == 1 else np.pad(each, ((0, 0), (0, columns)), constant_values=value)
            for each, value in ((self.codes, _SYMMETRIC), (self.scales, 0), (self.zeros, _SYMMETRIC)))
        return Bits(codes, scales, zeros)


def find(weights: np.ndarray, codes: int = _CODES) -> Bits | None:
    """Float32 weights [inputs][columns] as codes of four bits, or as so many `codes`; None if they are none. Files store
    such weights in many ways, which are all floats here."""
    # The kernel subtracts the code of 0 times the sum of all inputs. Where most weights are 0, the rounding of that sum
    # could be larger than the result.
    if 2 * np.count_nonzero(weights) < weights.size:
        return None
    sample = weights[:_SAMPLE[0], :_SAMPLE[1]]
    for block in _BLOCKS:
        if len(weights) % block == 0 and len(sample) % block == 0 and _found(sample, block, codes) is not None:
            parts = [_found(weights[:, i:i + _COLUMNS], block, codes) for i in range(0, weights.shape[1], _COLUMNS)]
            if any(part is None for part in parts):
                continue
            found, scales, zeros = (np.concatenate(each, axis=1) for each in zip(*parts))
            is_symmetric = (zeros == codes // 2).all()
            return Bits(found, scales, np.full(1, codes // 2, np.float32) if is_symmetric else zeros)
    return None


def _found(weights: np.ndarray, block: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Codes below `count`, scales and zeros of blocks of so many inputs."""
    if not np.isfinite(weights).all():
        return None
    inputs, columns = weights.shape
    blocks = weights.astype(np.float64).reshape(-1, block, columns).transpose(0, 2, 1).reshape(-1, block)
    places = np.arange(len(blocks))
    highest = blocks[places, np.abs(blocks).argmax(1)]
    scales, zeros = (highest != 0).astype(float), np.full(len(blocks), float(count // 2))
    left = places[highest != 0]
    low, high = np.minimum(blocks.min(1), 0), np.maximum(blocks.max(1), 0)
    for steps, size in [*((-steps, highest) for steps in range(count // 2, 0, -1)),
                        *((steps, high - low) for steps in range(count - 1, 0, -1))]:
        if not left.size:
            break
        scale = size[left] / steps
        whole = np.rint(blocks[left] / scale[:, None])
        zero = np.full(len(left), float(count // 2)) if steps < 0 else -whole.min(1, initial=0)
        apart = np.abs(blocks[left] - whole * scale[:, None]).max(1)
        whole += zero[:, None]
        fits = (apart <= _TOLERANCE * np.abs(size[left])) & (whole.min(1) >= 0) & (whole.max(1) < count)
        scales[left[fits]], zeros[left[fits]] = scale[fits], zero[fits]
        left = left[~fits]
    if left.size:
        return None
    codes = np.rint(blocks / np.where(scales == 0, 1, scales)[:, None]) + zeros[:, None]
    codes = codes.reshape(-1, columns, block).transpose(0, 2, 1).reshape(inputs, columns).astype(np.uint8)
    return codes, *(each.reshape(-1, columns).astype(np.float32) for each in (scales, zeros))


def pack(bits: Bits) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Words, scales and zeros as src/kernels/product_i4.h has them."""
    inputs, columns = bits.codes.shape
    codes = bits.codes.reshape(inputs // _WORD, 2, _WORD // 2, columns).astype(np.uint32)
    shifts = np.arange(0, 32, 8, dtype=np.uint32) + np.array([[0], [4]], np.uint32)
    words = (codes << shifts[None, :, :, None]).sum((1, 2), dtype=np.uint32).view(np.int32)
    return _grouped(words), _grouped(bits.scales), bits.zeros if bits.zeros.size == 1 else _grouped(bits.zeros)


def _grouped(rows: np.ndarray) -> np.ndarray:
    """Rows of columns, with the columns of a group side by side."""
    return np.ascontiguousarray(rows.reshape(len(rows), -1, BLOCK).swapaxes(0, 1))


class BitsRewriter:
    """The part of the rewriter that knows such products."""

    def product_of_bits(self, left: str, in_shape: open_sizes.Sizes, weights: np.ndarray, bias: np.ndarray,
                        output: str) -> bool:
        """Where weights are codes of four bits they stay so: they are read in an eighth of the time of floats. Codes of
        eight bits are two of four bits."""
        own_columns = weights.shape[1]
        more = -own_columns % BLOCK
        if more and own_columns < _CUT_MIN:
            return False
        rows = math.prod(map(open_sizes.nominal, in_shape[:-1]))
        bits = find(weights)
        if bits is None and self.has_bytes and (self.rounds_to_bytes or rows <= _FLOAT_ROWS_MAX):
            found = find(weights, _BYTE_CODES)
            if found is not None:
                bits, left = found.halves(), self.twice(left, in_shape)
        if bits is None:
            return False
        inputs = len(bits.codes)
        if more:  # Such as those of a vocabulary. What is computed of them is cut off again.
            bits, bias = bits.widened(more), np.pad(bias, (0, more))
        columns = own_columns + more
        is_open = open_sizes.is_open(in_shape)
        macs, own_rows = rows * inputs * columns, tiled_calls.even_rows(rows, _ROWS_MAX, _ROWS_SHARED)
        most = TILE_MACS * (_BYTES_FACTOR if self.rounds_to_bytes else 1)
        tiles = shared_tiles(max(math.ceil(macs / most), min(8, math.ceil(macs / (most / 8)))))
        groups, block = columns // BLOCK, inputs // len(bits.scales)
        part = -(-groups // min(groups, -(-tiles * own_rows // rows)))
        numbers = (ROWS if is_open else rows, inputs, columns, block, int(self.rounds_to_bytes), part)
        call = tiled_calls.TiledCall(
            "takt_product_i4_f32", ("f32", "i32", "f32", "f32", "f32", "f32"), numbers, (), -(-groups // part),
            0 if is_open else rows, own_rows, macs)
        words, scales, zeros = pack(bits)
        operands = [left, *map(self.constant, (words, scales, zeros, bias))]
        wide = self.fresh("wide") if more else output
        self.kernel(call, operands, wide, (*in_shape[:-1], columns))
        if more:
            begin, end, axis = (self.constant(np.array([each])) for each in (0, own_columns, -1))
            self.emit("Slice", [wide, begin, end, axis], output)
        return True

    def twice(self, name: str, shape: open_sizes.Sizes) -> str:
        """The numbers of each row, and the same once more."""
        if name not in self.doubled:
            self.doubled[name] = self.emit("Concat", [name, name], self.fresh("twice"), (*shape[:-1], 2 * shape[-1]),
                                           axis=len(shape) - 1)
        return self.doubled[name]
