#!/usr/bin/env python3
"""Measures start errors and makespans of plans for a robot's calls.

The calls {perception, policy x4, gemm_i8 x2, estimator x10} are released
together. The script profiles them on this machine and plans them twice: strictly
by their 99 % quantiles, adaptively by their medians. plan_run_bench carries both
plans out in turns with the online scheduler. Before and after it, the peer's
local-task does the same calls, with a thread and a context for each.

Goals: start error p99 below 100 us; makespan of the adaptive plan no worse than
the online scheduler's and at most 0.9 of the peer's.

usage: plan_bench.py DIR [--build build/release] [--rounds 50] [--samples 200]
                     [--seconds 2] [--spin US] [--keep FOLDER] [--json]
       DIR holds perception.vmfb, policy.vmfb, gemm_i8.vmfb, estimator.vmfb,
       compiled for this machine (tests/testdata/workload/make_models.py)
       --spin: how long workers search for work before they sleep (default
       20000); only spinning workers start planned operations in time
needs: a release build; for the peer, iree-base-runtime 3.13.0 and numpy
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CALLS = [  # Model, function, its input, how often.
    ("perception", "detect", "1x192x192x3xf32=0.5", 1),
    ("policy", "act", "1x64xf32=0.5", 4),
    ("gemm_i8", "project", "64x512xi8=3", 2),
    ("estimator", "update", "1x24xf32=0.5", 10),
]

# The same calls with the peer, in a process of its own: prints makespans.
PEER = """
import json, pathlib, sys, threading, time
import iree.runtime as rt
import numpy as np
directory, rounds = pathlib.Path(sys.argv[1]), int(sys.argv[2])
sys.setswitchinterval(1e-4)
shapes = {"perception": ("detect", (1, 192, 192, 3), np.float32, 1),
          "policy": ("act", (1, 64), np.float32, 4),
          "gemm_i8": ("project", (64, 512), np.int8, 2),
          "estimator": ("update", (1, 24), np.float32, 10)}
device = rt.get_device("local-task")
calls = []
for name, (function, shape, dtype, count) in shapes.items():
    for _ in range(count):
        config = rt.Config(device=device)
        path = str(directory / f"{name}.vmfb")
        module = rt.load_vm_module(
            rt.VmModule.mmap(config.vm_instance, path), config)
        argument = rt.asdevicearray(
            device, np.full(shape, 3 if dtype is np.int8 else 0.5, dtype))
        call = getattr(module, function)
        call(argument)
        calls.append(lambda call=call, argument=argument: call(argument))
begin = threading.Barrier(len(calls) + 1)
end = threading.Barrier(len(calls) + 1)
ends = [0.0] * len(calls)
def work(index):
    for _ in range(rounds + 3):
        begin.wait()
        calls[index]()
        ends[index] = time.perf_counter()
        end.wait()
threads = [threading.Thread(target=work, args=(i,)) for i in range(len(calls))]
for thread in threads:
    thread.start()
times = []
for round in range(rounds + 3):
    start = time.perf_counter()
    begin.wait()
    end.wait()
    if round >= 3:
        times.append((max(ends) - start) * 1e6)
for thread in threads:
    thread.join()
print(json.dumps(times))
"""


def run(command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE,
                          text=True).stdout


def workload(directory, quantile):
    return {
        "name": "robot",
        "modules": [{"name": name, "file": str(directory / f"{name}.vmfb")}
                    for name, _, _, _ in CALLS],
        "functions": [{"function": f"{name}.{function}", "inputs": [given]}
                      for name, function, given, _ in CALLS],
        "streams": [{"name": name, "function": f"{name}.{function}",
                     "arrival": "once", "count": count}
                    for name, function, _, count in CALLS],
        "planned_quantile": quantile,
        # What handing an operation over takes: its tail, and its median.
        "handover_us": 20 if quantile == "q99" else 10,
    }


def make_plan(options, tools, folder, quantile):
    path = folder / f"{quantile}.json"
    path.write_text(json.dumps(workload(options.dir.resolve(), quantile)))
    profile = folder / "profile.json"
    if not profile.exists():
        run([tools / "takt-plan", "profile", path, f"--output={profile}",
             f"--samples={options.samples}"])
    plan = folder / f"{quantile}.taktplan"
    run([tools / "takt-plan", "solve", path, f"--profile={profile}",
         f"--output={plan}", f"--time_limit={options.seconds}"])
    return plan


def peer(options):
    """Median makespan in us; None where the peer is not installed."""
    try:
        times = json.loads(run([sys.executable, "-c", PEER, options.dir,
                                str(options.rounds)]))
    except subprocess.CalledProcessError:
        return None
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dir", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path,
                        default=ROOT / "build" / "release")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--spin", type=int, default=20000)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        tools = options.build / "tools"
        strict = make_plan(options, tools, folder, "q99")
        adaptive = make_plan(options, tools, folder, "q50")
        before = peer(options)
        result = json.loads(run([
            options.build / "benchmarks" / "plan_run_bench", options.dir,
            strict, adaptive, "--rounds", str(options.rounds),
            "--spin", str(options.spin), "--timer_spin", "0"]))
        after = peer(options)
    result["makespan_peer"] = [before, after]
    if options.json:
        print(json.dumps(result))
        return
    error = result["start_error"]
    print(f"strict start error (us): p50 {error['p50']}, p99 {error['p99']}, "
          f"max {error['max']} of {error['count']} operations")
    planned = result["planned_makespan"]
    online = result["makespan_online"]["p50"]
    for name in ("strict", "adaptive"):
        median = result[f"makespan_{name}"]["p50"]
        print(f"makespan {name}: {median} us (planned {planned[name]}), "
              f"{median / online:.3f} of online's")
    print(f"makespan online: {online} us")
    if before and after:
        best = min(before, after)
        adaptive = result["makespan_adaptive"]["p50"]
        print(f"makespan of the peer's local-task: {before:.1f}, {after:.1f} "
              f"us; adaptive is {adaptive / best:.3f} of it")


if __name__ == "__main__":
    main()
