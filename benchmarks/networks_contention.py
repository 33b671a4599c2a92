#!/usr/bin/env python3
"""Runs three networks beside each other, on Takt and on ONNX Runtime.

mobilenet_v2 runs back to back, policy_act every 40 ms and gru_estimator every 2 ms; a
job is due when the next one is released. Takt runs each network as a stream. ONNX
Runtime has a session and a thread for each network: one thread in the sessions of the
periodic networks, and one for each CPU in that of mobilenet_v2, which do not spin. With
`fifo` the threads that release periodic jobs run SCHED_FIFO; in ONNX Runtime they also
run the jobs. Each run is a process of its own; the sides take turns. The side `floor` is
what the machine itself misses: a process of least priority spins on each CPU, and one
for each periodic network spins as long as a job takes, here 0.06 and 5 ms.
Printed are frames of mobilenet_v2 by second, and of both periodic networks the
missed jobs and the quantiles of their response time, from the planned release on.

usage: networks_contention.py NETS WORK [--sides floor,ort,off,job-shop] [--fifo 1,0]
                              [--seconds 10] [--turns 3] [--json FILE]
       NETS     a folder with the three .onnx files
       WORK     the cache of takt.compile
       --sides  floor, ort, or a policy of Takt's scheduler ("off": lanes alone)
       --fifo   with SCHED_FIFO (1), without (0); 1 needs the right to it
needs: the package takt (PYTHONPATH=build/release/python/package), onnx, numpy,
       iree-base-compiler 3.13; for ONNX Runtime onnxruntime
"""
import argparse
import functools
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import threading
import time

import numpy as np

FRAMES = "mobilenet_v2"
# Network: period in seconds, criticality, SCHED_FIFO priority.
PERIODIC = {"gru_estimator": (0.002, "hard", 90), "policy_act": (0.040, "soft", 60)}
START_SECONDS = 0.2
JOB_SECONDS = {"gru_estimator": 60e-6, "policy_act": 0.005}  # Of the side "floor".


def release(name, start, seconds, fifo, call):
    """Calls once in each period, and returns the missed jobs and the quantiles of their responses."""
    period, _, priority = PERIODIC[name]
    if fifo:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    responses = []
    for i in range(int(seconds / period)):
        due = start + i * period
        time.sleep(max(0.0, due - time.monotonic()))
        call()
        responses.append(time.monotonic() - due)
    quantiles = np.percentile(responses, [50, 99, 99.9, 100]) * 1e6
    return {"jobs": len(responses), "missed": sum(x > period for x in responses),
            **dict(zip(("p50_us", "p99_us", "p99.9_us", "max_us"), quantiles.tolist()))}


def spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def spin_at_least_priority(cpu):
    os.sched_setaffinity(0, {cpu})
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    while True:
        pass


def run_floor(args, fifo):
    context = multiprocessing.get_context("fork")
    spinners = [context.Process(target=spin_at_least_priority, args=(cpu,), daemon=True)
                for cpu in os.sched_getaffinity(0)]
    for each in spinners:
        each.start()
    start = time.monotonic() + START_SECONDS
    results = context.Queue()

    def run(name):
        call = lambda: spin(JOB_SECONDS[name])
        results.put((name, release(name, start, args.seconds, fifo, call)))

    jobs = [context.Process(target=run, args=(name,), daemon=True) for name in PERIODIC]
    for each in jobs:
        each.start()
    found = dict(results.get(timeout=args.seconds + 30) for _ in jobs)
    return {"frames_per_second": 0, **found}


def run_takt(args, policy, fifo):
    import takt

    instance = takt.Instance(
        policy=policy,
        timer_fifo_priority=70 if fifo else 0, timer_spin=50e-6)

    def stream(name, **options):
        artifact = takt.compile(args.nets / f"{name}.onnx", cache=args.work)
        function = instance.load(artifact.path, device="local-task").function()
        made = instance.stream(function, start=False, **options)
        made.set_input(*(np.full(x["shape"], 0.3, np.float32) for x in function.inputs))
        return made

    periodic = {
        name: stream(name, period=period, deadline=period, criticality=criticality)
        for name, (period, criticality, _) in PERIODIC.items()}
    frames = stream(FRAMES, closed=True, criticality="best_effort")
    for each in (frames, *periodic.values()):
        each.start(takt.now_ns() + int(START_SECONDS * 1e9))
    time.sleep(START_SECONDS)
    frames_before = frames.statistics["released"]
    time.sleep(args.seconds)
    result = {"frames_per_second": (frames.statistics["released"] - frames_before) / args.seconds}
    for name, each in periodic.items():
        statistics = each.statistics
        response = statistics["response"]
        result[name] = {
            "jobs": statistics["released"], "missed": statistics["missed"],
            **{f"{kind}_us": response[key] / 1e3
               for kind, key in (("p50", "q50_ns"), ("p99", "q99_ns"), ("p99.9", "q999_ns"), ("max", "max_ns"))}}
    for each in (frames, *periodic.values()):
        each.stop()
    return result


def run_ort(args, fifo):
    import onnxruntime

    onnxruntime.set_default_logger_severity(3)

    def session(name, threads):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        made = onnxruntime.InferenceSession(
            str(args.nets / f"{name}.onnx"), options, providers=["CPUExecutionProvider"])
        feed = {x.name: np.full(x.shape, 0.3, np.float32) for x in made.get_inputs()}
        made.run(None, feed)
        return lambda: made.run(None, feed)

    calls = {name: session(name, 1) for name in PERIODIC}
    frame = session(FRAMES, os.cpu_count())
    start = time.monotonic() + START_SECONDS
    end = start + args.seconds
    result = {}

    def run(name):
        result[name] = release(name, start, args.seconds, fifo, calls[name])

    threads = [threading.Thread(target=run, args=(name,)) for name in PERIODIC]
    for thread in threads:
        thread.start()
    time.sleep(max(0.0, start - time.monotonic()))
    count = 0
    while time.monotonic() < end:
        frame()
        count += 1
    for thread in threads:
        thread.join()
    return {"frames_per_second": count / args.seconds, **result}


def show(record):
    head = f"{record['side']:10} {'fifo' if record['fifo'] else '':5}"
    if "failed" in record:
        return f"{head} failed: {record['failed']}"
    jobs = "".join(
        f"   {name} {x['missed']:4} of {x['jobs']:5} {x['p50_us']:7.0f} {x['p99_us']:7.0f} "
        f"{x['p99.9_us']:7.0f} {x['max_us']:7.0f}"
        for name, x in ((name, record[name]) for name in PERIODIC))
    return f"{head} {record['frames_per_second']:7.1f}/s{jobs}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nets", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--sides", default="floor,ort,off,job-shop")
    parser.add_argument("--fifo", default="1,0")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--one", help=argparse.SUPPRESS)  # SIDE:FIFO, in this process.
    args = parser.parse_args()
    if args.one:
        side, fifo = args.one.split(":")
        others = {"ort": run_ort, "floor": run_floor}
        run = others.get(side) or functools.partial(run_takt, policy=side)
        print(json.dumps(run(args, fifo=int(fifo))))
        return
    print("a periodic network: missed jobs; p50, p99, p99.9 and the maximum in us")
    records = []
    for _ in range(args.turns):
        for fifo in map(int, args.fifo.split(",")):
            for side in args.sides.split(","):
                done = subprocess.run(
                    [sys.executable, __file__, str(args.nets), str(args.work), "--one",
                     f"{side}:{fifo}", "--seconds", str(args.seconds)],
                    capture_output=True, text=True)
                record = {"side": side, "fifo": fifo}
                if done.returncode == 0:
                    record.update(json.loads(done.stdout.splitlines()[-1]))
                else:
                    record["failed"] = (done.stderr.strip().splitlines() or ["no message"])[-1]
                records.append(record)
                print(show(record), flush=True)
    if args.json:
        args.json.write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
