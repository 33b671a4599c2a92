#!/usr/bin/env python3
"""Shows which dispatches of networks take the most time.

Each network is compiled by takt.compile and called on one thread, with a trace. A
dispatch's time is the least of its calls. Printed are the time of all dispatches, the
largest ones with their parts of it, and how many multiply-adds a convolution does
in a nanosecond; Winograd's method counts those of the direct way.

usage: networks_dispatches.py NETS WORK [--only NAME,...] [--calls 20] [--most 3] [--json]
       NETS   a folder of .onnx files with inputs of static shapes
       WORK   the cache of modules
needs: the package takt (PYTHONPATH=build/release/python/package), onnx, numpy,
       iree-base-compiler 3.13
"""
import argparse
import collections
import json
import math
import pathlib
import re
import subprocess
import tempfile

import takt
from networks import Network

# As python/takt/rewriting/lowering.py calls them.
_CONVOLUTION = re.compile(r"(?:conv|depthwise|winograd)2d_\w+?_(\d+)x(\d+)_(\d+)to(\d+)_(\d+)x(\d+)$")


def dispatches(path, work, calls):
    """[(name, least ns)] of one call, in its order."""
    network = Network(path)
    artifact = takt.compile(path, cache=work)
    tool = pathlib.Path(takt.__file__).parent / "bin" / "takt-trace"
    with tempfile.TemporaryDirectory() as folder, takt.Instance(workers=1) as instance:
        function = instance.load(artifact.path, device="local-sync").function()
        inputs = list(network.inputs.values())
        function(*inputs)
        with instance.trace() as trace:
            for _ in range(calls):
                function(*inputs)
        file = f"{folder}/calls.takt-trace"
        trace.save(file)
        shown = subprocess.run([tool, "show", "--json", file], capture_output=True, text=True, check=True)
    return least_times(json.loads(shown.stdout)["events"])


def least_times(events):
    """The least time of each dispatch of a call. Calls of which the trace lost a part are left out."""
    runs = []
    for event in events:
        if event["kind"] == "program":
            runs.append([])
        elif event["kind"] == "dispatch" and runs:
            runs[-1].append((event["name"], event["ns"]))
    count = collections.Counter(map(len, runs)).most_common(1)[0][0]
    runs = [run for run in runs if len(run) == count]
    return [(runs[0][i][0], min(run[i][1] for run in runs)) for i in range(count)]


def rate(name, ns):
    """The multiply-adds of a convolution in a nanosecond; None if the name does not say how many it has."""
    found = _CONVOLUTION.search(name)
    return math.prod(map(int, found.groups())) / ns if found else None


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("nets", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--calls", type=int, default=20)
    parser.add_argument("--most", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    records = []
    for path in sorted(args.nets.glob("*.onnx")):
        if args.only and path.stem not in args.only.split(","):
            continue
        times = dispatches(path, args.work, args.calls)
        total = sum(ns for _, ns in times)
        largest = sorted(times, key=lambda each: -each[1])[: args.most]
        records.append({"network": path.stem, "dispatches": len(times), "us": total / 1e3, "largest": [
            {"name": name, "us": ns / 1e3, "part": ns / total, "multiply_adds_per_ns": rate(name, ns)}
            for name, ns in largest]})
        if not args.json:
            print(f"{path.stem}: {len(times)} dispatches, {total / 1e3:.0f} us")
            for each in records[-1]["largest"]:
                speed = each["multiply_adds_per_ns"]
                end = f", {speed:.0f} multiply-adds/ns" if speed else ""
                print(f"  {each['part']:6.1%} {each['us']:8.0f} us  {each['name']}{end}")
    if args.json:
        print(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
