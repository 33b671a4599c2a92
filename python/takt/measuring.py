"""Measures modules for tuning: here, each in a process of its own, or on a board
over ssh. `python -m takt.measuring` is that process."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time
from typing import Any, Sequence

from .errors import Error

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
            package = os.fspath(pathlib.Path(__file__).parents[1])
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join([package, os.environ.get("PYTHONPATH", "")])}
            done = _run(
                [sys.executable, "-m", "takt.measuring", os.fspath(path), scratch, str(seconds)],
                timeout=timeout, env=environment,
            )
            results = numpy.load(f"{scratch}/results.npz")
            return Measurement(json.loads(done)["median_ns"], tuple(results[key] for key in results.files))


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

        from .module import load

        function = load(path).function()
        name = function.name.split(".")[-1]
        folder = self._ssh("mktemp -d", timeout=timeout).decode().strip()
        if not folder.startswith("/"):
            raise Error(f"{self.name}: mktemp gave {folder!r}")
        try:
            self._write(f"{folder}/module.vmfb", pathlib.Path(path).read_bytes(), timeout)
            flags = [f"--module={folder}/module.vmfb", f"--function={name}"]
            with tempfile.TemporaryDirectory(prefix="takt-") as scratch:
                for i, each in enumerate(inputs):
                    numpy.save(f"{scratch}/{i}.npy", each)
                    self._write(f"{folder}/{i}.npy", pathlib.Path(scratch, f"{i}.npy").read_bytes(), timeout)
                    flags.append(f"--input=@{folder}/{i}.npy")
                outputs = [f"{folder}/result{i}.npy" for i in range(len(function.outputs))]
                self._tool("takt-run-module", [*flags, *(f"--output=@{each}" for each in outputs)], timeout)
                results = []
                for each in outputs:
                    local = pathlib.Path(scratch, "result.npy")
                    local.write_bytes(self._ssh(f"cat {shlex.quote(each)}", timeout=timeout))
                    results.append(numpy.load(local))
            said = self._tool(
                "takt-benchmark-module",
                [*flags, "--benchmark_format=json", f"--benchmark_min_time={seconds}s", "--benchmark_repetitions=3"],
                timeout,
            )
            rows = [r for r in json.loads(said)["benchmarks"] if r.get("run_type") != "aggregate"]
            unit = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
            times = sorted(row["real_time"] * unit[row["time_unit"]] for row in rows)
            return Measurement(int(times[len(times) // 2]), tuple(results))
        finally:
            self._ssh(f"rm -rf {shlex.quote(folder)}", timeout=timeout)

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


def main(path: str, scratch: str, seconds: float) -> None:
    import numpy

    from .module import load

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


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
