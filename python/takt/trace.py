"""Traces: recorded events with their times."""

from __future__ import annotations

import json
import os
from typing import Any

from . import _native
from .errors import FailedPrecondition, InvalidArgument

_FORMATS = {
    ".html": "html",
    ".json": "json",
    ".txt": "text",
    ".takt-trace": "perfetto",
    ".perfetto": "perfetto",
    ".pftrace": "perfetto",
}


class Trace:
    """A recording of an instance; immutable."""

    def __init__(self, native: _native.Trace):
        self._native = native

    @classmethod
    def load(cls, path: str | os.PathLike) -> Trace:
        """Reads a file that was saved as .takt-trace."""
        return cls(_native.Trace.load(os.fspath(path)))

    def save(self, path: str | os.PathLike) -> None:
        """Writes a page (.html), Perfetto's format (.takt-trace), .json or .txt,
        selected by the end of the name."""
        path = os.fspath(path)
        ending = os.path.splitext(path)[1]
        if ending not in _FORMATS:
            known = ", ".join(_FORMATS)
            raise InvalidArgument(f"{path}: the name ends with none of {known}")
        self._native.write(path, _FORMATS[ending])

    @property
    def columns(self) -> dict[str, list]:
        """Every event, as columns of equal length: `pandas.DataFrame(t.columns)`.
        docs/tracing.md says what they mean."""
        return self._native.columns()

    @property
    def events(self) -> list[dict[str, Any]]:
        """The same as records."""
        columns = self.columns
        return [dict(zip(columns, row)) for row in zip(*columns.values())]

    @property
    def misses(self) -> list[dict[str, Any]]:
        """The jobs of streams that were done after their deadline, or dropped
        because of it: stream, function, job, outcome, time_ns, response_ns."""
        result = []
        columns = self.columns
        for kind, name, track, time_ns, job, value in zip(
            columns["kind"],
            columns["name"],
            columns["track"],
            columns["time_ns"],
            columns["id"],
            columns["value"],
        ):
            if kind in ("job_missed", "job_dropped"):
                result.append(
                    {
                        "stream": track,
                        "function": name,
                        "job": job & ((1 << 48) - 1),  # Above is its stream.
                        "outcome": kind.removeprefix("job_"),
                        "time_ns": time_ns,
                        "response_ns": value,
                    }
                )
        return result

    @property
    def lost_count(self) -> int:
        """Events that were overwritten before the trace was collected."""
        return self._native.lost_count

    def summary(self) -> dict[str, Any]:
        """Busy times of tracks, costs of work, and outcomes of jobs."""
        return json.loads(self._native.summary(True))

    def explain(self, jobs: int = 5) -> dict[str, Any]:
        """Explains late jobs of streams: the use of their response times, the
        cause, and a remedy; at most this number of jobs for each stream. For a
        stream without late jobs it explains the slowest job. docs/tracing.md has
        the uses; `explanation()` gives the same as text."""
        return json.loads(self._native.explain(jobs, True))

    def explanation(self, jobs: int = 5) -> str:
        return self._native.explain(jobs, False)

    def __str__(self) -> str:
        return self._native.summary(False)


class Recording(Trace):
    """A trace that is being recorded; made by `Instance.trace()`."""

    def __init__(self, instance: _native.Instance, events_per_thread: int):
        self._instance = instance
        self._events_per_thread = events_per_thread

    def __getattr__(self, name: str) -> Any:
        if name == "_native":  # Until the block ends.
            raise FailedPrecondition("the trace is there when the `with` block ends; snapshot() has it before")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __enter__(self) -> Recording:
        self._instance.start_tracing(self._events_per_thread)
        return self

    def __exit__(self, *exception: object) -> None:
        self._native = self._instance.collect_trace()
        self._instance.stop_tracing()

    def snapshot(self) -> Trace:
        """The trace so far; the recording continues."""
        return Trace(self._instance.collect_trace())
