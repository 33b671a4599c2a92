#!/usr/bin/env python3
"""Measures what workers of a cluster save: a sweep, and a portfolio of solvers.

The same sweep runs on local clusters of one worker and of two, in turns, after a
first sweep that starts the workers' interpreters. The same portfolio, of as many
solver runs, runs on both. Printed are the least wall times.

usage: sweep_bench.py [--rounds 3] [--seeds 16] [--seconds 10]
       --seconds: of the simulated robot in each run of the sweep
needs: the package takt with its tools, dask[distributed]
"""
import argparse
import pathlib
import time

import takt

TESTDATA = pathlib.Path(__file__).parents[1] / "tests/testdata"


def sweep(client, options):
    table = takt.sweep(
        TESTDATA / "topology/two_clusters_npu.json", TESTDATA / "sched/robot.json",
        ["job-shop", "fifo"], seeds=range(1, options.seeds + 1), loads=[0.5, 1.0, 1.5],
        seconds=options.seconds, client=client)
    return table.records


def solve(client):
    return takt.plan.solve(TESTDATA / "plan/shot.json", seeds=8, rounds=2, seconds=0.5, client=client).makespan


def timed(call, *arguments):
    begin = time.monotonic()
    result = call(*arguments)
    return time.monotonic() - begin, result


def main():
    from dask import distributed

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    least = {}
    records = []
    for _ in range(options.rounds):
        for workers in (1, 2):
            with distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None
            ) as cluster, distributed.Client(cluster) as client:
                client.wait_for_workers(workers)
                records.append(sweep(client, argparse.Namespace(**{**vars(options), "seeds": 2})))
                seconds, found = timed(sweep, client, options)
                assert records[0] == [each for each in found if each["seed"] <= 2]
                least["sweep", workers] = min(seconds, least.get(("sweep", workers), seconds))
                seconds, _ = timed(solve, client)
                least["solve", workers] = min(seconds, least.get(("solve", workers), seconds))
    print("| | 1 worker | 2 workers | speed-up |\n|---|---:|---:|---:|")
    for what, name in (("sweep", f"a sweep of {6 * options.seeds} runs"), ("solve", "16 solvers of 0.5 s")):
        one, two = least[what, 1], least[what, 2]
        print(f"| {name} | {one:.2f} s | {two:.2f} s | {one / two:.2f} |")


if __name__ == "__main__":
    main()
