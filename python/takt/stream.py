"""Streams: functions that are called by the clock, or by their inputs."""

from __future__ import annotations

import os
from typing import Any

from . import _native
from .module import Function


class Stream:
    """Made by `Instance.stream()`.

    Inputs and outputs lie in slots, so neither the application nor the runtime
    waits for the other. One thread at a time writes inputs, and one takes
    outputs.
    """

    def __init__(self, function: Function, after: Stream | None, *, start: bool, **options: Any):
        self.function = function
        self._native = _native.Stream(
            function._native, after._native if after is not None else None, **options
        )
        self._starts_with_input = False
        if start:
            if options["arrival"] == "closed" and function.inputs:
                self._starts_with_input = True
            else:
                self.start()

    def start(self, at_ns: int | None = None) -> None:
        """Releases jobs from `at_ns` (of `takt.now_ns()`) on; None: from now."""
        self._native.start(at_ns)

    def stop(self) -> None:
        """Stops the releases; the job in flight continues."""
        self._starts_with_input = False
        self._native.stop()

    def wait_idle(self, timeout: float | None = None) -> None:
        """Waits until no job is in flight."""
        self._native.wait_idle(timeout)

    def set_input(self, *args: Any, **kwargs: Any) -> None:
        """Puts inputs into the slot, by position or name, as in a call."""
        self._native.set_input(*args, **kwargs)
        self._start_if_waiting()

    def map_input(self, index: int = 0) -> Any:
        """An array over the stream's own memory for an input: write to it, then call
        `publish_input()`. No job reads it before that."""
        return self._native.map_input(index)

    def publish_input(self) -> None:
        self._native.publish_input()
        self._start_if_waiting()

    def _start_if_waiting(self) -> None:
        if self._starts_with_input:
            self._starts_with_input = False
            self.start()

    def take(self) -> Any:
        """The newest results if they were not taken yet, otherwise None."""
        taken = self._native.take_output()
        return None if taken is None else taken[0]

    def take_job(self) -> tuple[Any, dict[str, Any]] | None:
        """As `take()`, with the job that made the results."""
        return self._native.take_output()

    def write_capture(self, path: str | os.PathLike[str]) -> None:
        """Writes the last jobs with their inputs and results (`capture_jobs`) to
        a .safetensors file, for `takt-run-module --replay`."""
        self._native.write_capture(os.fspath(path))

    @property
    def statistics(self) -> dict[str, Any]:
        """Counts of jobs, and quantiles of their times in ns."""
        return self._native.statistics()

    def admit(self, promise: bool = False) -> dict[str, Any]:
        """Whether its jobs will be in time beside all promised streams:
        "verdict" is "fits", "unknown" or "impossible". The instance needs a
        policy."""
        return self._native.admit(promise)

    def predict(
        self, *, release_ns: int = 0, step: float = 0.0, with_bound: bool = False
    ) -> dict[str, Any]:
        """Predicts, before the job is released, when the result of the next
        release, or of a release at `release_ns`, will exist.

        "q50_ns" and "q99_ns" are times of `takt.now_ns()` by which 50 and 99 % of
        the results exist. With a `step` in seconds, "q99_steps" and the like
        are the same in control steps from the release. "bound_ns", with
        `with_bound`, is admission's bound. None: unknown.
        """
        return self._native.predict(release_ns, step, with_bound)

    def __repr__(self) -> str:
        return f"<takt.Stream of {self.function.name}>"
