#!/usr/bin/env python3
"""Compiles every fixture afresh, for llvm-cpu and for vmvx, synchronous and
async-external, and compares what takt-run-module prints with what
iree-run-module prints, on local-sync and local-task.

A fixture that asks for microkernels is compiled with them, too. (Floats may
differ in the last digit there: each runtime adds up in its own order.)
Fixtures that name their targets themselves (the VM dialect, modules for
several architectures, modules that call each other) have one form. A
combination that the compiler refuses is listed, and counts for neither side.
The last line is "N agree, N differ"; the exit code is 0 if none differs and
some agree.

usage: scripts/agreement.py [--tools build/release/tools] [--only TEXT]
                            [--release 3.8.0]

needs: the wheels of that release (without one, of that which
tests/testdata/regenerate.py pins), and numpy
"""
import argparse
import concurrent.futures
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "testdata"))
import regenerate  # noqa: E402  The fixtures' form is known there.

VARIANTS = ("cpu", "cpu.async", "vmvx", "vmvx.async")
DEVICES = ("local-sync", "local-task")


def outcome(tool, words, cwd):
    """What it printed, and whether it failed: messages are each tool's own."""
    done = subprocess.run([tool, *words], cwd=cwd, timeout=600,
                          capture_output=True, text=True, errors="replace")
    return done.stdout, done.returncode == 0


def compile_all(source, out):
    """Makes the modules; returns the variants made and the refusals."""
    errors = {c: source.compile(c, out)[1] for c in source.compiles
              if "-o %t.vmfb" in c or not source.variants}
    refused = [f"{source.name}: {e.strip().splitlines()[0]}"
               for e in errors.values() if e]
    made = []
    extra = tuple(v for v in source.variants if v not in VARIANTS)
    for variant in VARIANTS + extra if source.variants else ():
        command = (f"iree-compile %s {regenerate.variant_flags(variant)} "
                   f"-o %t.{variant}.vmfb")
        _, error = source.compile(command, out)
        if error:
            refused.append(f"{source.name}.{variant}: "
                           f"{error.strip().splitlines()[0]}")
        else:
            made.append(variant)
    return made, refused


def runs_of(source, made, out):
    """The arguments of every run."""
    stem = out / source.name
    for number in range(len(source.runs)):
        words = shlex.split(source.expand(source.runs[number], out))
        if any(w.startswith("--module=") for w in words):
            yield words
        elif source.variants:
            for variant in made:
                yield [f"--module={stem}.{variant}.vmfb", *words]
        else:
            yield [f"--module={stem}.vmfb", *words]


def differences(words, cwd, takt):
    """(device, the oracle's outcome, ours) where the two differ."""
    for device in DEVICES:
        flags = [f"--device={device}", *words]
        oracle = outcome("iree-run-module", flags, cwd)
        ours = outcome(takt, flags, cwd)
        if oracle != ours:
            yield device, oracle, ours


def compare(sources, out, takt, pool):
    """Prints what differs; returns how many runs agree and differ."""
    agree = differ = 0
    made = dict(zip(sources, pool.map(lambda s: compile_all(s, out), sources)))
    for source, (variants, refused) in made.items():
        for line in refused:
            print(f"not compiled: {line}")
        runs = list(runs_of(source, variants, out))
        cwd = (out / source.name).parent
        for words, found in zip(runs, pool.map(
                lambda w: list(differences(w, cwd, takt)), runs)):
            agree += len(DEVICES) - len(found)
            differ += len(found)
            for device, oracle, ours in found:
                print(f"differs: --device={device} {shlex.join(words)}\n"
                      f"  oracle {str(oracle)[:300]}\n"
                      f"  takt   {str(ours)[:300]}")
        if sys.stderr.isatty():
            print(f"\r{agree} agree, {differ} differ", end="\r",
                  file=sys.stderr)
    return agree, differ


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tools", type=pathlib.Path,
                        default=ROOT / "build" / "release" / "tools")
    parser.add_argument("--only", default="", metavar="TEXT",
                        help="only fixtures whose path contains this text")
    parser.add_argument("--release", default=regenerate.VERSION,
                        metavar="VERSION",
                        help="of the iree-compile and iree-run-module on PATH")
    arguments = parser.parse_args()
    takt = str(arguments.tools.resolve() / "takt-run-module")
    regenerate.check_version(arguments.release)
    workload = regenerate.HERE / "workload"
    subprocess.run([sys.executable, workload / "make_models.py", workload],
                   check=True)
    sources = [regenerate.Source(path)
               for path in sorted(regenerate.HERE.rglob("*.mlir"))
               if arguments.only in str(path.relative_to(regenerate.HERE))]
    # Fixtures that name a release are compiled by regenerate.py alone.
    sources = [s for s in sources
               if not any(map(regenerate.release_of, s.compiles))]
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        agree, differ = compare(sources, pathlib.Path(folder), takt, pool)
    print(f"{agree} agree, {differ} differ")
    return 1 if differ or not agree else 0


if __name__ == "__main__":
    sys.exit(main())
