#!/usr/bin/env python3
"""Writes cmake/startup_functions.txt: the functions that a short run executes.

usage: scripts/startup_order.py [--build=DIRECTORY]
       --build  the build tree with takt-run-module (default: build/release)

cmake/StartupOrder.cmake has the linker put these functions side by side. Linux
maps the code of a program in pieces of 64 KB, so fewer pieces are in memory
then, and fewer page faults happen at the start.

The names are those of x86_64 and of the compiler that built the tool. A name
that another build does not have changes nothing there. needs: qemu-user, nm
"""
import argparse
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "cmake" / "startup_functions.txt"
MODELS = ROOT / "tests" / "testdata" / "models"
CALL = ["--function=simple_mul", "--input=4xf32=2", "--input=4xf32=3"]
RUNS = [[f"--module={MODELS}/simple_mul.{model}.vmfb", *CALL, f"--device={device}"]
        for model in ("cpu", "cpu.async") for device in ("local-sync", "local-task")]


def executed_functions(program, flags):
    """Symbols of the program, in the order in which their code ran first."""
    with tempfile.NamedTemporaryFile(mode="r", errors="replace") as log:
        subprocess.run(["qemu-x86_64", "-cpu", "max", "-d", "in_asm", "-D", log.name, program, *flags],
                       check=True, stdout=subprocess.DEVNULL)
        return re.findall(r"^IN: (\S+)$", log.read(), re.MULTILINE)


def with_aliases(program, names):
    """The names, and the other ones of the same functions: a constructor has two."""
    lines = subprocess.run(["nm", "--defined-only", program], check=True, capture_output=True, text=True).stdout
    symbols = [line.split() for line in lines.splitlines()]
    addresses = {name: address for address, _, name in symbols}
    aliases = {}
    for address, kind, name in symbols:
        if kind in "tTwW":
            aliases.setdefault(address, []).append(name)
    for name in names:
        yield name
        yield from aliases.get(addresses.get(name), [])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    a = p.parse_args()
    program = a.build / "tools" / "takt-run-module"
    names = {}
    for flags in RUNS:
        names.update(dict.fromkeys(with_aliases(program, executed_functions(program, flags))))
    OUTPUT.write_text("".join(f"{name}\n" for name in names))
    print(f"{OUTPUT}: {len(names)} functions")


if __name__ == "__main__":
    main()
