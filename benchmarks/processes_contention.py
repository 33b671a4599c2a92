#!/usr/bin/env python3
"""Contention in one process, in two and in five that share cores or do not.

Runs `contention DIR --scenario 2` in turns in five ways: all streams in one
process; perception in a process of its own, beside one with the periodic
streams; each of the five streams in a process of its own; and the last two with
a file by which all share the cores (cores_path). Prints a table of the others
against the first: frames of perception, and the response times of the periodic
streams in ms.

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

WAYS = ("one process", "two, without", "two, cores_path", "five, without", "five, cores_path")
PARTS = {"two": ["perception", "periodic"], "five": ["camera", "camera", "policy", "estimator", "gemm_i8"]}
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
    """The figures of all processes together."""
    if way == WAYS[0]:
        return finish(start(arguments, []))
    count, sharing = way.split(", ")
    extra = ["--cores", path] if sharing == "cores_path" else []
    processes = [start(arguments, ["--only", part, *extra]) for part in PARTS[count]]
    all_figures = {"perception_fps": 0.0, "yields": 0, "streams": {}}
    for part, process in zip(PARTS[count], processes):
        figures = finish(process)
        all_figures["yields"] += figures["yields"]
        if part in ("perception", "camera"):
            all_figures["perception_fps"] += figures["perception_fps"]
        else:
            all_figures["streams"].update(figures["streams"])
    return all_figures


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
        return statistics.median(figure(each) for each in rows[way])

    print("| streams in | frames/s | " + " | ".join(f"{s} missed | p99.9" for s in STREAMS) + " | yields |")
    print("|---|---:|" + "---:|" * (2 * len(STREAMS) + 1))
    for way in WAYS:
        cells = [f"{median(way, lambda f: f['perception_fps']):.1f}"]
        for stream in STREAMS:
            missed = sum(f["streams"][stream]["missed"] for f in rows[way])
            jobs = sum(f["streams"][stream]["jobs"] for f in rows[way])
            late = median(way, lambda f, s=stream: f["streams"][s]["response_us"]["p99.9"])
            cells += [f"{missed} of {jobs:,}", f"{late / 1000:.2f}"]
        cells.append(f"{median(way, lambda f: f['yields']):.0f}")
        print(f"| {way} | " + " | ".join(cells) + " |")
    base = WAYS[0]
    for way in WAYS[1:]:
        frames = median(way, lambda f: f["perception_fps"]) / median(base, lambda f: f["perception_fps"])
        parts = [f"frames {frames:.2f}"]
        for stream in STREAMS:
            def late(f, s=stream):
                return f["streams"][s]["response_us"]["p99.9"]
            parts.append(f"{stream} p99.9 {median(way, late) / median(base, late):.2f}")
        print(f"{way}, of one process: " + ", ".join(parts))


if __name__ == "__main__":
    main()
