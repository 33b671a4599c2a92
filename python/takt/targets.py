"""Targets by name: "host", "x86_64", "aarch64:cortex-a76", "riscv64:..."."""

from __future__ import annotations

import re

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


def flags_of(target: str) -> list[str]:
    """The flags of iree-compile for a target: "host" (this machine's CPU), an
    architecture, or an architecture and a CPU."""
    flags = [
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-debug-symbols=false",
    ]
    if target == "host":
        return flags + ["--iree-llvmcpu-target-cpu=host"]
    architecture, _, cpu = target.partition(":")
    if architecture not in _TRIPLES or not re.fullmatch(r"([A-Za-z0-9][\w.+-]*)?", cpu):
        known = ", ".join(_TRIPLES)
        raise ValueError(
            f"target {target!r}: expected host, or one of {known}, as in aarch64:cortex-a76"
        )
    flags.append(f"--iree-llvmcpu-target-triple={_TRIPLES[architecture]}")
    flags.append(f"--iree-llvmcpu-target-cpu={cpu or 'generic'}")
    if not cpu:
        flags.extend(_EXTRA.get(architecture, ()))
    return flags
