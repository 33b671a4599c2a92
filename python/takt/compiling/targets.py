"""Targets by name: "host", "x86_64", "aarch64:cortex-a76", "riscv64:..."."""

from __future__ import annotations

import difflib
import functools
import os
import platform
import re
import subprocess
import tempfile
from typing import Iterable, Sequence

from ..errors import CompileError

_TRIPLES = {
    "x86_64": "x86_64-unknown-linux-gnu",
    "aarch64": "aarch64-unknown-linux-gnu",
    "riscv64": "riscv64-unknown-linux-gnu",
}
# What an architecture needs where no CPU is named.
_EXTRA = {
    "riscv64": (
        "--iree-llvmcpu-target-abi=lp64d",
        "--iree-llvmcpu-target-cpu-features=+m,+a,+f,+d,+c",
    )
}
_TILE_CPUS = {"sapphirerapids", "emeraldrapids", "graniterapids", "graniterapids-d", "diamondrapids"}
_LOCAL = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
)
_TRIVIAL = "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n  return %a : tensor<4xf32>\n}\n"
# What the compiler says of CPUs that it does not know; for some architectures it then goes on without one.
_UNKNOWN_CPU = re.compile(
    r"Unknown CPU|is not a recognized processor|requires an? \w+ CPU|code requested on a subtarget")
_KNOWN_CPUS = re.compile(r"^List of accepted CPUs: (.*)$", re.M)
_NAMES_SHOWN = 5
_EXECUTABLE_TARGET = re.compile(r"\[(#hal\.executable\.target<.*>)\]> : !hal\.device")


def parse(target: str | Iterable[str]) -> tuple[str, ...]:
    """The targets of a module: one, "host,riscv64", or a list of them. Each is
    "host" (this machine's CPU), an architecture, or an architecture and a CPU.
    A module has code for one CPU of an architecture."""
    names = tuple(target.split(",") if isinstance(target, str) else target)
    if not names:
        raise ValueError("target: there is none")
    by_architecture: dict[str, str] = {}
    for name in names:
        architecture, _, cpu = _architecture(name).partition(":")
        if architecture not in _TRIPLES or not re.fullmatch(r"([A-Za-z0-9][\w.+-]*)?", cpu):
            known = ", ".join(_TRIPLES)
            raise ValueError(
                f"target {name!r}: expected host, or one of {known}, as in aarch64:cortex-a76"
            )
        if cpu == "host":
            raise ValueError(f"target {name!r}: this machine is host, without an architecture")
        other = by_architecture.setdefault(architecture, name)
        if other != name or names.count(name) > 1:
            raise ValueError(f"target {name!r}: {other!r} is of the same architecture")
    return names


def _architecture(name: str) -> str:
    return platform.machine() if name == "host" else name


def check_cpus(names: Iterable[str]) -> None:
    """Throws if the compiler does not know a CPU of targets of `parse()`."""
    for name in names:
        architecture, _, cpu = name.partition(":")
        known = _others_than(architecture, cpu) if cpu not in ("", "generic") else None
        if known is not None:
            close = difflib.get_close_matches(cpu.lower(), known, _NAMES_SHOWN) or known[:_NAMES_SHOWN]
            others = f", but {', '.join(close)}{' and others' if len(known) > len(close) else ''}" if close else ""
            raise ValueError(f"target {name!r}: the compiler knows no CPU {cpu!r} of {architecture}{others}")


@functools.cache
def _others_than(architecture: str, cpu: str) -> tuple[str, ...] | None:
    """The names of CPUs that the compiler knows, if this is none of them; else None."""
    said = _said_of(_cpu_flags(f"{architecture}:{cpu}"))
    if not _UNKNOWN_CPU.search(said):
        return None
    known = _KNOWN_CPUS.search(said) or _KNOWN_CPUS.search(_said_of(_cpu_flags(f"{architecture}:no-cpu")))
    return tuple(each.strip() for each in known.group(1).split(",")) if known else ()


def _said_of(cpu_flags: Sequence[str]) -> str:
    """What the compiler says about these flags with a trivial program."""
    from . import importers

    with tempfile.TemporaryDirectory(prefix="takt-") as scratch:
        command = [importers.find_program("iree-compile"), "-", "-o", os.path.join(scratch, "said.mlir")]
        done = subprocess.run([*command, "--compile-to=preprocessing", *_LOCAL, *cpu_flags],
                              input=_TRIVIAL, capture_output=True, text=True)
        return done.stderr


def precision_of(precision: str, names: Iterable[str]) -> str:
    """A precision of recipes, for rewriter.py: with "_tiles" if a target has tile
    registers for it."""
    if precision == "bf16" and any(map(_has_tiles, names)):
        return "bf16_tiles"
    return precision


def _has_tiles(name: str) -> bool:
    """Whether the processor has AMX for bfloat16."""
    if name != "host":
        return name.partition(":")[2] in _TILE_CPUS
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        return any(line.startswith("flags") and "amx_bf16" in line.split() for line in file)


def flags_of(names: Sequence[str], flags: Sequence[str] = ()) -> list[str]:
    """The flags of iree-compile for targets of `parse()`. `flags` are the others
    of the same run: some of them are part of what code a CPU gets."""
    shared = ["--iree-llvmcpu-debug-symbols=false"]
    if len(names) == 1:
        return [*_LOCAL, *shared, *_cpu_flags(names[0])]
    parts = ", ".join(_executable_target(name, flags) for name in names)
    return [*shared, f'--iree-hal-target-device=#hal.device.target<"local", [{parts}]> : !hal.device']


def _cpu_flags(name: str) -> list[str]:
    if name == "host":
        return ["--iree-llvmcpu-target-cpu=host"]
    architecture, _, cpu = name.partition(":")
    flags = [
        f"--iree-llvmcpu-target-triple={_TRIPLES[architecture]}",
        f"--iree-llvmcpu-target-cpu={cpu or 'generic'}",
    ]
    return flags if cpu not in ("", "generic") else [*flags, *_EXTRA.get(architecture, ())]


def _executable_target(name: str, flags: Sequence[str]) -> str:
    """The compiler's own attribute for a target, read from its output for a trivial
    program."""
    from . import importers

    with tempfile.TemporaryDirectory(prefix="takt-") as scratch:
        source = os.path.join(scratch, "any.mlir")
        said = os.path.join(scratch, "said.mlir")
        with open(source, "w", encoding="utf-8") as file:
            file.write(_TRIVIAL)
        importers.run_tool(
            [importers.find_program("iree-compile"), source, "-o", said, "--compile-to=preprocessing",
             *_LOCAL, *_cpu_flags(name), *flags],
            f"target {name}",
        )
        with open(said, encoding="utf-8") as file:
            found = _EXECUTABLE_TARGET.search(file.read())
    if found is None:
        raise CompileError(f"target {name}: the compiler names no executable target")
    return found.group(1)
