"""Trial runs of modules for an NPU, with the counts of its driver."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import tempfile
from typing import Any

from ..errors import Error
from ..module import load
from ..tools import find_tool

_STATISTICS = {
    "operations": re.compile(r"NPU: \d+ batches / (\d+) operations"),
    "multiply_adds": re.compile(r"/ (\d+) multiply-adds"),
    "dispatches": re.compile(r"\((\d+) went to the NPU\)"),
    "dispatches_left_to_cpu": re.compile(r"/ (\d+) dispatches \("),
    "operations_it_cannot_do": re.compile(r"/ (\d+) that the NPU cannot do"),
    "errors": re.compile(r"NPU work done by the CPU: (\d+) after errors"),
}
_TIMEOUT_SECONDS = 600.0


def device_of(driver: str) -> str:
    """The tools' name of a device for "host", "sim", "sim=PROFILE.json" or
    "DRIVER.so[,options]"."""
    if driver in ("host", "sim") or driver.startswith("sim="):
        return f"npu-{driver}"
    if ".so" in driver:
        return f"npu={driver}"
    raise ValueError(f'npu {driver!r}: expected "host", "sim", "sim=PROFILE.json" or "DRIVER.so"')


def try_out(path: str | os.PathLike, driver: str) -> dict[str, Any]:
    """Runs the only function of a module once with the NPU and once without, on
    the same random inputs. Returns the driver's counts and the largest difference
    of the results as a multiple of the tolerance (at most 1 passes)."""
    import numpy

    from .. import tuning

    function = load(path).function()
    inputs = tuning.example_inputs(function)
    with tempfile.TemporaryDirectory(prefix="takt-") as scratch:
        command = [find_tool("takt-run-module"), f"--module={path}", f"--function={function.name.split('.')[-1]}"]
        for i, each in enumerate(inputs):
            numpy.save(f"{scratch}/input{i}.npy", each)
            command.append(f"--input=@{scratch}/input{i}.npy")

        def run(kind: str, devices: list[str]) -> tuple[str, tuple]:
            files = [pathlib.Path(scratch, f"{kind}{i}.npy") for i in range(len(function.outputs))]
            done = subprocess.run(
                [*command, *(f"--device={each}" for each in devices), "--print_statistics",
                 *(f"--output=@{file}" for file in files)],
                capture_output=True, text=True, timeout=_TIMEOUT_SECONDS,
            )
            if done.returncode != 0:
                raise Error(f"running on {', '.join(devices)}: {done.stderr.strip()[-500:]}")
            return done.stdout + done.stderr, tuple(numpy.load(file) for file in files)

        said, results = run("npu", ["local-task", device_of(driver)])
        _, expected = run("cpu", ["local-task"])
    report: dict[str, Any] = {}
    for name, pattern in _STATISTICS.items():
        found = pattern.search(said)
        report[name] = int(found.group(1)) if found else 0
    report["difference"] = tuning.difference(expected, results)
    return report
