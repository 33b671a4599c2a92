#!/usr/bin/env python3
"""Measures recipes of takt.compile against the compiler's own choices.

Each network is compiled by each recipe and by no flags but those of the target
("default"). All modules of a network run in turns, each in a process of its own
on one thread (local-sync); what counts is the least processor time of a call, so
that other work on the machine disturbs little. Results are compared with those
of "default".

usage: recipes_bench.py NETWORK.onnx... [--recipes NAME,...] [--rounds 3] [--seconds 0.5]
                  [--compile_seconds 300] [--compile_only] [--json FILE] [--show FILE]
       --recipes: "chosen" is the one that takt.compile takes by itself
       --compile_only: fill the cache of takt.compile, and measure nothing
       --json: results so far; networks that are in the file are not measured again
       --show: print the tables of such a file, and measure nothing
needs: the package takt with the compiler (docs/python.md)
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import time

DEFAULT = "default"
CHOSEN = "chosen"


def measure(path, seconds, result_path):
    """In a process of its own, which a broken kernel may end."""
    import numpy

    import takt
    from takt import tuning

    function = takt.load(path, device="local-sync").function()
    inputs = tuning.example_inputs(function)
    results = function(*inputs)
    results = results if isinstance(results, tuple) else (results,)
    numpy.savez(result_path, *results)
    best = math.inf
    end = time.monotonic() + seconds
    calls = 0
    while calls < 2 or time.monotonic() < end:
        begin = time.thread_time_ns()
        function(*inputs)
        best = min(best, time.thread_time_ns() - begin)
        calls += 1
    print(best)


def run_measure(path, options, result_path):
    done = subprocess.run(
        [sys.executable, __file__, "--measure", str(path), str(options.seconds), str(result_path)],
        capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise RuntimeError(last)
    return int(done.stdout)


def compile_all(network, options, record):
    import takt
    from takt.compiling import recipes

    plain = recipes.Recipe(DEFAULT, (), "no flags", fallback=None)
    modules = {}
    for recipe in [plain, *(recipes.RECIPES[name] for name in options.recipes if name != CHOSEN)]:
        if recipe.name == "integer" and ".int8" not in network.name:
            continue
        begin = time.monotonic()
        row = record["recipes"][recipe.name] = {}
        try:
            alone = recipes.Recipe(recipe.name, recipe.flags, recipe.what, fallback=None)
            modules[recipe.name] = takt.compile(
                network, recipe=alone, timeout=options.compile_seconds).path
            row["compile_seconds"] = round(time.monotonic() - begin, 1)
        except takt.CompileError as error:
            row["failed"] = str(error).splitlines()[0]
        print(f"{network.name} {recipe.name}: {row}", file=sys.stderr, flush=True)
    chosen = takt.compile(network, timeout=options.compile_seconds)
    record["chosen"] = chosen.recipe.name
    if CHOSEN in options.recipes:
        record["recipes"][CHOSEN] = {}
        modules[CHOSEN] = chosen.path
    return modules


def measure_network(network, options, scratch):
    import numpy

    from takt import tuning

    record = {"network": network.name.removesuffix(".onnx"), "recipes": {}}
    modules = compile_all(network, options, record)
    if options.compile_only:
        return record
    for _ in range(options.rounds):
        for name, path in list(modules.items()):
            row = record["recipes"][name]
            try:
                ns = run_measure(path, options, scratch / f"{name}.npz")
                row["ns"] = min(ns, row.get("ns", ns))
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                row["failed"] = f"runs: {error}"
                del modules[name]
    if DEFAULT in modules:
        expected = tuple(numpy.load(scratch / f"{DEFAULT}.npz").values())
        for name in modules:
            actual = tuple(numpy.load(scratch / f"{name}.npz").values())
            record["recipes"][name]["difference"] = round(tuning.difference(expected, actual), 3)
    return record


def show(records):
    names = [DEFAULT]
    for record in records:
        names += [name for name in record["recipes"] if name not in names]
    print("| network | " + " | ".join(names) + " | takt.compile's |")
    print("|---|" + "---:|" * len(names) + "---|")
    for record in sorted(records, key=lambda r: (".int8" in r["network"], r["network"])):
        cells = []
        times = {n: r["ns"] for n, r in record["recipes"].items() if "ns" in r and not r.get("failed")}
        best = min(times.values(), default=0)
        for name in names:
            row = record["recipes"].get(name)
            if row is None:
                cells.append("-")
            elif name not in times:
                cells.append("fails")
            else:
                text = f"{times[name] / 1e6:.3g}"
                cells.append(f"**{text}**" if times[name] == best else text)
        print(f"| {record['network']} | " + " | ".join(cells) + f" | {record['chosen']} |")


def main():
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2], float(sys.argv[3]), sys.argv[4])
        return
    import tempfile

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", type=pathlib.Path)
    parser.add_argument("--recipes", default="plain,channels_last,im2col,tiled,integer",
                        type=lambda text: text.split(","))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--compile_seconds", type=float, default=300)
    parser.add_argument("--compile_only", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--show", type=pathlib.Path)
    options = parser.parse_args()
    if options.show:
        show(json.loads(options.show.read_text()))
        return
    records = []
    if options.json and options.json.exists():
        records = json.loads(options.json.read_text())
    measured = {record["network"] for record in records}
    with tempfile.TemporaryDirectory(prefix="takt-") as scratch:
        for network in options.networks:
            if network.name.removesuffix(".onnx") in measured:
                continue
            records.append(measure_network(network, options, pathlib.Path(scratch)))
            if options.json and not options.compile_only:
                options.json.write_text(json.dumps(records, indent=1))
    if not options.compile_only:
        show(records)


if __name__ == "__main__":
    main()
