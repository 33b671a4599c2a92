"""The places in a stride of a transposed convolution, whose results meet the same taps."""

from __future__ import annotations

from typing import Sequence


class Phases:
    """One dimension of a transposed convolution: of which taps the results at `phases` of
    each stride are sums."""

    def __init__(self, kernel: int, stride: int, pad: int, size: int, out_size: int,
                 phases: Sequence[int] | None = None) -> None:
        self.kernel, self.stride, self.pad, self.size, self.out_size = kernel, stride, pad, size, out_size
        self.phases = range(stride) if phases is None else phases
        # The input's offset from the place of a stride, for each phase and tap.
        offsets = [(phase + pad - tap) // stride for phase in self.phases for tap in range(kernel)
                   if (phase + pad - tap) % stride == 0]
        self.least = min(offsets)
        self.taps = max(offsets) - self.least + 1
        self.count = -(-out_size // stride)
        self.pad_begin = -self.least
        self.pad_end = self.count - size - self.pad_begin + self.taps - 1

    @property
    def is_padded(self) -> bool:
        """Whether the input is padded, or taken as it is: no part of it is cut off."""
        return self.pad_begin >= 0 and self.pad_end >= 0

    def alone(self) -> list[Phases | None]:
        """Each phase; None for one that meets no tap."""
        return [Phases(self.kernel, self.stride, self.pad, self.size, self.out_size, [phase])
                if any((phase + self.pad - tap) % self.stride == 0 for tap in range(self.kernel)) else None
                for phase in self.phases]

    def tap_of(self, phase: int, position: int) -> int | None:
        tap = phase + self.pad - self.stride * (self.least + position)
        return tap if 0 <= tap < self.kernel else None
