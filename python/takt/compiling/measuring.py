"""Measures modules for tuning: here, each in a process of its own, or on a board
over ssh. `python -m takt.compiling.measuring` is that process."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time
from typing import Any, Sequence

from ..errors import Error

_WARM_UP_CALLS = 2
_CALLS_MIN = 5


@dataclasses.dataclass
class Measurement:
    median_ns: int
    results: tuple  # Arrays.


class LocalMachine:
    """A kernel that ends its process ends no tuning."""

    name = "this machine"

    def measure(self, path: os.PathLike, inputs: Sequence[Any], seconds: float, timeout: float) -> Measurement:
        import numpy

        with tempfile.TemporaryDirectory(prefix="takt-") as scratch:
            numpy.savez(f"{scratch}/inputs.npz", *inputs)
            done = self._run_here([os.fspath(path), scratch, str(seconds)], timeout)
            results = numpy.load(f"{scratch}/results.npz")
            return Measurement(json.loads(done)["median_ns"], tuple(results[key] for key in results.files))


    def _run_here(self, arguments: list[str], timeout: float) -> bytes:
        package = os.fspath(pathlib.Path(__file__).parents[2])
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([package, os.environ.get("PYTHONPATH", "")])}
        return _run([sys.executable, "-m", "takt.compiling.measuring", *arguments], timeout=timeout, env=environment)

    def profile(self, path: os.PathLike, inputs: Sequence[Any], timeout: float) -> dict[str, int]:
        """The time of each dispatch in a call, in ns, the longest first."""
        import numpy

        with tempfile.TemporaryDirectory(prefix="takt-") as scratch:
            numpy.savez(f"{scratch}/inputs.npz", *inputs)
            trace = f"{scratch}/calls.takt-trace"
            self._run_here([os.fspath(path), scratch, "0", trace], timeout)
            return _times_of_dispatches(trace)


class Board:
    """A machine that `ssh host` reaches, with takt-run-module and
    takt-benchmark-module on its PATH, or in `tools`."""

    def __init__(self, host: str, tools: str | None = None):
        if not host or host.startswith("-"):
            raise ValueError(f"host {host!r}: expected what ssh takes, such as user@board")
        self.name = host
        self._tools = tools

    def measure(self, path: os.PathLike, inputs: Sequence[Any], seconds: float, timeout: float) -> Measurement:
        import numpy

        from ..module import load

        function = load(path).function()
        outputs = [f"result{i}.npy" for i in range(len(function.outputs))]
        with self._sent(path, function, inputs, timeout) as (folder, flags):
            written = [f"--output=@{folder}/{each}" for each in outputs]
            self._tool("takt-run-module", [*flags, *written], timeout)
            results = tuple(numpy.load(io.BytesIO(self._read(f"{folder}/{each}", timeout))) for each in outputs)
            said = self._tool(
                "takt-benchmark-module",
                [*flags, "--benchmark_format=json", f"--benchmark_min_time={seconds}s", "--benchmark_repetitions=3"],
                timeout,
            )
        rows = [r for r in json.loads(said)["benchmarks"] if r.get("run_type") != "aggregate"]
        unit = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
        times = sorted(row["real_time"] * unit[row["time_unit"]] for row in rows)
        return Measurement(int(times[len(times) // 2]), results)

    def profile(self, path: os.PathLike, inputs: Sequence[Any], timeout: float) -> dict[str, int]:
        from ..module import load

        with self._sent(path, load(path).function(), inputs, timeout) as (folder, flags):
            self._tool("takt-run-module", [*flags, f"--trace={folder}/call.takt-trace"], timeout)
            data = self._read(f"{folder}/call.takt-trace", timeout)
        with tempfile.NamedTemporaryFile(prefix="takt-", suffix=".takt-trace") as file:
            file.write(data)
            file.flush()
            return _times_of_dispatches(file.name)

    @contextlib.contextmanager
    def _sent(self, path: os.PathLike, function: Any, inputs: Sequence[Any], timeout: float):
        """A folder on the board with the module and the inputs, while the block
        runs, and the flags of a tool that calls the function."""
        import numpy

        folder = self._ssh("mktemp -d", timeout=timeout).decode().strip()
        if not folder.startswith("/"):
            raise Error(f"{self.name}: mktemp gave {folder!r}")
        try:
            self._write(f"{folder}/module.vmfb", pathlib.Path(path).read_bytes(), timeout)
            flags = [f"--module={folder}/module.vmfb", f"--function={function.name.split('.')[-1]}"]
            for i, each in enumerate(inputs):
                data = io.BytesIO()
                numpy.save(data, each)
                self._write(f"{folder}/{i}.npy", data.getvalue(), timeout)
                flags.append(f"--input=@{folder}/{i}.npy")
            yield folder, flags
        finally:
            self._ssh(f"rm -rf {shlex.quote(folder)}", timeout=timeout)

    def _read(self, path: str, timeout: float) -> bytes:
        return self._ssh(f"cat {shlex.quote(path)}", timeout=timeout)

    def _tool(self, tool: str, flags: list[str], timeout: float) -> bytes:
        program = os.path.join(self._tools, tool) if self._tools else tool
        return self._ssh(shlex.join([program, *flags]), timeout=timeout)

    def _write(self, path: str, data: bytes, timeout: float) -> None:
        self._ssh(f"cat > {shlex.quote(path)}", data, timeout)

    def _ssh(self, command: str, data: bytes = b"", timeout: float | None = None) -> bytes:
        return _run(["ssh", "-o", "BatchMode=yes", self.name, command], data=data, timeout=timeout, what=self.name)


def _run(
    command: list[str], *, data: bytes = b"", timeout: float | None = None, env: Any = None, what: str = "measuring"
) -> bytes:
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=timeout, env=env)
    except FileNotFoundError as error:
        raise Error(f"{what}: there is no {command[0]}") from error
    except subprocess.TimeoutExpired as error:
        raise Error(f"{what}: not done within {timeout:.0f} s") from error
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise Error(f"{what}: {lines[-1][:300] if lines else f'exit code {done.returncode}'}")
    return done.stdout


def _times_of_dispatches(trace: str) -> dict[str, int]:
    from ..trace import Trace

    work = [each for each in Trace.load(trace).summary()["work"] if each["kind"] == "dispatch"]
    work.sort(key=lambda each: each["total_ns"], reverse=True)
    return {each["name"]: each["total_ns"] for each in work}


def main(path: str, scratch: str, seconds: float, trace: str | None = None) -> None:
    """Writes the results of a call, prints the median time of more calls, and
    records the last calls if `trace` names a file for them."""
    import numpy

    from ..instance import default_instance
    from ..module import load

    function = load(path).function()
    loaded = numpy.load(f"{scratch}/inputs.npz")
    inputs = [loaded[key] for key in loaded.files]
    results = function(*inputs)
    numpy.savez(f"{scratch}/results.npz", *(results if isinstance(results, tuple) else (results,)))
    for _ in range(_WARM_UP_CALLS):
        function(*inputs)
    times: list[int] = []
    end = time.monotonic() + seconds
    while len(times) < _CALLS_MIN or time.monotonic() < end:
        begin = time.perf_counter_ns()
        function(*inputs)
        times.append(time.perf_counter_ns() - begin)
    print(json.dumps({"median_ns": sorted(times)[len(times) // 2]}))
    if trace is not None:
        with default_instance().trace() as recording:
            for _ in range(_CALLS_MIN):
                function(*inputs)
        recording.save(trace)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]), *sys.argv[4:])
