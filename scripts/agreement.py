#!/usr/bin/env python3
"""Compiles every fixture afresh, for llvm-cpu and for vmvx, synchronous and
async-external, and compares what takt-run-module prints with what
iree-run-module prints, on local-sync and local-task.

Fixtures in the VM dialect have one form. A combination that the compiler
refuses is listed, and counts for neither side. The last line is
"N agree, N differ"; the exit code is 0 if none differs and some agree.

usage: scripts/agreement.py [--tools build/release/tools] [--only TEXT]

needs: the wheels that tests/testdata/regenerate.py pins, and numpy
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "testdata"))
import regenerate  # noqa: E402  The fixtures' form is known there.

VARIANTS = ("cpu", "cpu.async", "vmvx", "vmvx.async", "vmvx.tiled")


class Pair:
    """One run of both tools."""

    def __init__(self, folder, arguments, code):
        self.folder, self.arguments, self.code = folder, arguments, code

    def outcomes(self, device, tools, env):
        words = [f"--device={device}", *shlex.split(self.arguments)]
        for tool in ("iree-run-module", str(tools / "takt-run-module")):
            done = subprocess.run([tool, *words], cwd=self.folder, env=env,
                                  timeout=600, capture_output=True, text=True,
                                  errors="replace")
            # Messages are each tool's own; whether it fails is not.
            yield done.stdout, done.returncode == 0

    def compare(self, tools, env):
        """The devices on which the two differ, and what they printed."""
        for device in regenerate.DEVICES:
            oracle, ours = self.outcomes(device, tools, env)
            if oracle != ours:
                yield device, oracle, ours


def compiled_variants(fixture, env):
    """Names of the modules made, and what the compiler refused."""
    made, refused = [], []
    for variant in VARIANTS:
        flags = " ".join(regenerate.FLAGS[p] for p in variant.split("."))
        name = f"{fixture.path.stem}.{variant}.vmfb"
        done = subprocess.run(
            ["iree-compile", fixture.path.name, *shlex.split(flags),
             "-o", name], cwd=fixture.path.parent, env=env, timeout=600,
            capture_output=True, text=True)
        if done.returncode == 0:
            made.append(name)
        else:
            first = (done.stderr.strip().splitlines() or [""])[0]
            refused.append(f"{name}: {first}")
    return made, refused


def pairs_of(fixture, env):
    """Every run of a fixture; and what was not compiled."""
    fixture.make(env)
    folder = fixture.path.parent
    text = fixture.path.read_text()
    # A target in the source itself, or no target at all: one form.
    has_one_form = ("--compile-mode=vm" in text[:4096]
                    or "hal.device.targets" in text[:4096])
    runs = [r for r in fixture.runs if r.results is None]
    if has_one_form:
        return [Pair(folder, r.arguments, r.code) for r in runs], []
    made, refused = compiled_variants(fixture, env)
    pairs, seen = [], set()
    for run in runs:
        modules = re.findall(r"--module=(\S+)", run.arguments)
        if len(modules) > 1:
            pairs.append(Pair(folder, run.arguments, run.code))
            continue
        for module in made:
            arguments = run.arguments.replace(modules[0], module)
            if arguments not in seen:
                seen.add(arguments)
                pairs.append(Pair(folder, arguments, run.code))
    return pairs, refused


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tools", type=pathlib.Path,
                        default=ROOT / "build" / "release" / "tools")
    parser.add_argument("--only", default="", metavar="TEXT")
    arguments = parser.parse_args()
    tools = arguments.tools.resolve()
    env = regenerate.tool_environment()
    agree = differ = errors = 0
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        tree = regenerate.scratch_tree(folder, arguments.only)
        regenerate.make_models(tree, env)
        fixtures = [regenerate.Fixture(p) for p in sorted(tree.rglob("*.mlir"))
                    if arguments.only in str(p.relative_to(tree))]
        fixtures = [f for f in fixtures if f.runs]
        for fixture, pending in [(f, pool.submit(pairs_of, f, env))
                                 for f in fixtures]:
            try:
                pairs, refused = pending.result()
            except RuntimeError as error:
                print(f"error: {error}")
                errors += 1
                continue
            for line in refused:
                print(f"not compiled: {line}")
            results = list(pool.map(lambda p: list(p.compare(tools, env)),
                                    pairs))
            for pair, differences in zip(pairs, results):
                agree += len(regenerate.DEVICES) - len(differences)
                differ += len(differences)
                for device, oracle, ours in differences:
                    print(f"differs: {fixture.path.name}: --device={device} "
                          f"{pair.arguments}\n  oracle {str(oracle)[:300]}\n"
                          f"  takt   {str(ours)[:300]}")
    print(f"{agree} agree, {differ} differ")
    return 1 if differ or errors or not agree else 0


if __name__ == "__main__":
    sys.exit(main())
