#!/usr/bin/env python3
"""Contention in one process, and in two that share cores or do not.

Runs `contention DIR --scenario 2` in turns in three ways: all streams in one
process; perception in a process of its own, beside one with the periodic
streams; and the same with a file by which both share the cores (cores_path).
Prints a table of the last two against the first: frames of perception, and the
response times of the periodic streams in ms.

usage: processes_contention.py CONTENTION DIR [--seconds S] [--rounds N]
           [--policy NAME] [--fifo]
       CONTENTION is the program benchmarks/contention, DIR has its models
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile

WAYS = ("one process", "two, without", "two, cores_path")
STREAMS = ("policy", "estimator", "gemm_i8")


def start(arguments, extra):
    command = [arguments.contention, arguments.directory, "--scenario", "2"]
    command += ["--seconds", str(arguments.seconds), "--policy", arguments.policy]
    if arguments.fifo:
        command.append("--fifo")
    return subprocess.Popen(command + extra, stdout=subprocess.PIPE, text=True)


def finish(process):
    out, _ = process.communicate()
    if process.returncode != 0:
        raise SystemExit(f"contention failed: {process.returncode}")
    return json.loads(out)


def run(arguments, way, path):
    if way == WAYS[0]:
        figures = finish(start(arguments, []))
        return figures, figures
    extra = ["--cores", path] if way == WAYS[2] else []
    perception = start(arguments, ["--only", "perception", *extra])
    periodic = start(arguments, ["--only", "periodic", *extra])
    return finish(perception), finish(periodic)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("contention")
    parser.add_argument("directory")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--policy", default="off")
    parser.add_argument("--fifo", action="store_true")
    arguments = parser.parse_args()
    rows = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(arguments.rounds):
            for way in WAYS:
                rows[way].append(run(arguments, way, os.path.join(folder, "cores")))

    def median(way, figure):
        return statistics.median(figure(*pair) for pair in rows[way])

    print("| streams in | frames/s | " + " | ".join(f"{s} missed | p99.9" for s in STREAMS) + " | yields |")
    print("|---|---:|" + "---:|" * (2 * len(STREAMS) + 1))
    for way in WAYS:
        cells = [f"{median(way, lambda v, p: v['perception_fps']):.1f}"]
        for stream in STREAMS:
            missed = sum(p["streams"][stream]["missed"] for _, p in rows[way])
            jobs = sum(p["streams"][stream]["jobs"] for _, p in rows[way])
            late = median(way, lambda v, p, s=stream: p["streams"][s]["response_us"]["p99.9"])
            cells += [f"{missed} of {jobs:,}", f"{late / 1000:.2f}"]
        cells.append(f"{median(way, lambda v, p: v['yields']):.0f}")
        print(f"| {way} | " + " | ".join(cells) + " |")
    base = WAYS[0]
    for way in WAYS[1:]:
        frames = median(way, lambda v, p: v["perception_fps"]) / median(base, lambda v, p: v["perception_fps"])
        parts = [f"frames {frames:.2f}"]
        for stream in STREAMS:
            def late(v, p, s=stream):
                return p["streams"][s]["response_us"]["p99.9"]
            parts.append(f"{stream} p99.9 {median(way, late) / median(base, late):.2f}")
        print(f"{way}, of one process: " + ", ".join(parts))


if __name__ == "__main__":
    main()
