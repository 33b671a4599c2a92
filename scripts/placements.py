#!/usr/bin/env python3
"""Runs the fixtures of tests/testdata on 1, 2, 4 and 8 workers, on different
placements, with and without a scheduler and beside an NPU, and compares what
takt-run-module prints with what iree-run-module prints on local-sync.

Numbers have to be the same text, floats too: how many workers share a dispatch
must not change a digit. The modules are those that are checked in; runs of
modules that are not, and runs that the oracle refuses, are not counted. The
last line is "N agree, N differ"; the exit code is 0 if none differs and some
agree.

usage: scripts/placements.py [--tools build/release/tools] [--only TEXT]
                             [--jobs=1]

needs: iree-run-module of the release that tests/testdata/regenerate.py pins, on
the path
"""
import argparse
import concurrent.futures
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "testdata"))
import regenerate  # noqa: E402  The fixtures' form is known there.

CPUS = sorted(os.sched_getaffinity(0))
CONFIGURATIONS = [["--device=local-sync"]]
CONFIGURATIONS += [["--device=local-task", f"--task_topology_group_count={n}"]
                   for n in (1, 2, 4, 8)]
CONFIGURATIONS += [["--device=local-task", f"--task_topology_cpu_ids={cpus}"]
                   for cpus in (str(CPUS[0]), ",".join(map(str, CPUS[:2])),
                                ",".join([str(CPUS[-1])] * 4))]
CONFIGURATIONS += [["--device=local-task", "--policy=off",
                    f"--task_topology_group_count={n}"] for n in (2, 4)]
CONFIGURATIONS += [["--device=npu-host"], ["--device=npu-host-sync"]]


def outcome(tool, words, cwd):
    """What it printed, and whether it failed: messages are each tool's own."""
    done = subprocess.run([str(tool), *words], cwd=cwd, timeout=600,
                          capture_output=True, text=True, errors="replace")
    return done.stdout, done.returncode == 0


def runs_of(source):
    """The arguments of every run of modules that are checked in."""
    stem = regenerate.HERE / source.name
    for run in source.runs:
        words = shlex.split(source.expand(run, regenerate.HERE))
        named = [w for w in words if w.startswith("--module=")]
        forms = [words] if named else [
            [f"--module={stem}{suffix}.vmfb", *words]
            for suffix in ([f".{v}" for v in source.variants] or [""])]
        for form in forms:
            modules = [w.split("=", 1)[1] for w in form
                       if w.startswith("--module=")]
            if all((stem.parent / m).exists() for m in modules):
                yield stem.parent, form


def compare(takt, cwd, words):
    """(agree, differ, lines to print)"""
    device = [w for w in words if w.startswith("--device=")]
    if device:
        return 0, 0, []
    oracle = outcome("iree-run-module", ["--device=local-sync", *words], cwd)
    if not oracle[1]:
        return 0, 0, []
    agree, lines = 0, []
    for flags in CONFIGURATIONS:
        ours = outcome(takt, [*flags, *words], cwd)
        if ours == oracle:
            agree += 1
        else:
            lines.append(f"differs: {shlex.join([*flags, *words])}\n"
                         f"  oracle {str(oracle)[:300]}\n"
                         f"  takt   {str(ours)[:300]}")
    return agree, len(lines), lines


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tools", type=pathlib.Path,
                        default=ROOT / "build" / "release" / "tools")
    parser.add_argument("--only", default="", metavar="TEXT",
                        help="only fixtures whose path contains this text")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    takt = arguments.tools.resolve() / "takt-run-module"
    sources = [regenerate.Source(path)
               for path in sorted(regenerate.HERE.rglob("*.mlir"))
               if arguments.only in str(path.relative_to(regenerate.HERE))]
    # Fixtures that name a release have an oracle of their own.
    runs = [run for source in sources
            if not any(map(regenerate.release_of, source.compiles))
            for run in runs_of(source)]
    agree = differ = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for same, other, lines in pool.map(
                lambda run: compare(takt, *run), runs):
            agree += same
            differ += other
            for line in lines:
                print(line, flush=True)
    print(f"{len(runs)} runs: {agree} agree, {differ} differ")
    return 1 if differ or not agree else 0


if __name__ == "__main__":
    sys.exit(main())
