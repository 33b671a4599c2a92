"""Transforms of Fourier as products with sines: a part of `porter`."""

from __future__ import annotations

from typing import Any

import numpy as np

_TRANSFORM_MAX = 4096  # The bases of longer ones are matrices of over 64 MiB.


class FourierPorter:
    """The part of the porter that knows them."""

    def on_stft(self, node: Any) -> bool:
        signal, step, window, length = [*node.input, "", ""][:4]
        step_of, window_of = self.constants.get(step), self.constants.get(window)
        length_of = self.constants.get(length)
        rank = len(self.shapes.get(signal, []))
        if (step_of is None or (window and window_of is None) or (length and length_of is None)
                or self.types.get(signal, 1) != self.onnx.TensorProto.FLOAT or rank not in (2, 3)
                or (rank == 3 and self.shapes[signal][2] != 1) or not (window or length)):
            return False
        count = int(length_of) if length_of is not None else len(window_of)
        if count > _TRANSFORM_MAX or (window_of is not None and len(window_of) != count):
            return False
        basis = _basis(count, 1, count, is_half=bool(self.attributes(node).get("onesided", 1)))
        if window_of is not None:
            basis = basis * window_of.reshape(-1, 1)
        weights = basis.T[:, None].astype(np.float32)  # [2 * bins][1][count]
        if rank == 3:
            source = self.emit("Transpose", [signal], perm=[0, 2, 1])
        else:
            source = self.emit("Unsqueeze", [signal, self.constant([1])])
        frames = self.emit("Conv", [source, self.constant(weights)], strides=[int(step_of)])
        turned = self.emit("Transpose", [frames], perm=[0, 2, 1])
        self.emit("Reshape", [turned, self.constant([0, 0, basis.shape[1] // 2, 2])], node.output[0])
        return True

    def on_dft(self, node: Any) -> bool:
        source, length, axis = [*node.input, "", ""][:3]
        attributes, shape = self.attributes(node), self.shapes.get(source, [])
        if (any(name and name not in self.constants for name in (length, axis)) or len(shape) < 2
                or None in shape or self.types.get(source, 1) != self.onnx.TensorProto.FLOAT):
            return False
        place = int(self.constants[axis]) if axis else attributes.get("axis", 1) if self.opset < 20 else -2
        place %= len(shape)
        size, parts = shape[place], shape[-1]
        is_back, is_half = (bool(attributes.get(name, 0)) for name in ("inverse", "onesided"))
        whole = 2 * (size - 1) if is_back and is_half else size
        count = int(self.constants[length]) if length else whole
        if not 0 < max(count, size) <= _TRANSFORM_MAX or place == len(shape) - 1:
            return False
        basis = _basis(size, parts, count, is_back, is_half)
        # Each number on the axis has its real and its imaginary part behind it.
        others = [i for i in range(len(shape) - 1) if i != place]
        order = [*others, place, len(shape) - 1]
        turned = source if order == sorted(order) else self.emit("Transpose", [source], perm=order)
        kept = [shape[i] for i in others]
        rows = self.emit("Reshape", [turned, self.constant([*kept, size * parts])])
        back = [order.index(i) for i in range(len(shape) - 1)]
        found = []
        for part in range(1 if is_back and is_half else 2):
            columns = basis if is_back and is_half else basis[:, part::2]
            numbers = self.emit("MatMul", [rows, self.constant(columns.astype(np.float32))])
            found.append(numbers if back == sorted(back) else self.emit("Transpose", [numbers], perm=back))
        last = self.constant([-1])
        joined = [self.emit("Unsqueeze", [part, last]) for part in found]
        self.emit("Concat" if len(joined) > 1 else "Identity", joined, node.output[0],
                  **({"axis": -1} if len(joined) > 1 else {}))
        self.spectra[node.output[0]] = found
        return True

    def slice_parts(self, node: Any) -> None:
        """Makes the parts of a slice of a spectrum, for on_part()."""
        parts, axes = self.spectra.get(node.input[0]), self.constants.get([*node.input, "", ""][3])
        if parts is None or axes is None:
            return
        rank = len(self.shapes[node.input[0]])
        places = [int(axis) % rank for axis in axes]
        if rank - 1 not in places:
            names = [*node.input[1:3], self.constant(places), *node.input[4:]]
            self.spectra[node.output[0]] = [self.emit("Slice", [part, *names]) for part in parts]

    def on_part(self, node: Any) -> bool:
        """Takes the real or the imaginary part of a spectrum from where it was made: the compiler fails at some
        operators that read every second number."""
        parts, place = self.spectra.get(node.input[0]), self.constants.get(node.input[1])
        if parts is None or place is None or place.ndim:
            return False
        rank = len(self.shapes[node.input[0]])
        if self.attributes(node).get("axis", 0) % rank != rank - 1:
            return False
        self.emit("Identity", [parts[int(place)]], node.output[0])
        return True


def _basis(size: int, parts: int, count: int, is_back: bool = False, is_half: bool = False) -> np.ndarray:
    """[size * parts][bins * 2]: what each number becomes. With both of `is_back` and
    `is_half` the results are real.

    count    the length of the transform: zeros follow a short signal, and of a long one
             the rest is not read.
    """
    units = np.eye(size)[:, None] * np.array([1, 1j][:parts])[:, None]
    units = units.reshape(size * parts, size)
    if is_back and is_half:
        return np.fft.irfft(units, count)
    found = np.fft.ifft(units, count) if is_back else np.fft.fft(units, count)
    if is_half:
        found = found[:, :count // 2 + 1]
    return np.stack([found.real, found.imag], -1).reshape(size * parts, -1)
