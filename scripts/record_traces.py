#!/usr/bin/env python3
"""Records the runs from which scripts/draw_traces.py draws the pictures of the
documentation, as JSON.

usage: record_traces.py DIRECTORY [--build build/release]
needs: a release build with the Python package, the tools and the benchmarks;
       numpy, iree-base-runtime
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parent.parent
DATA = TOP / "tests" / "testdata"


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=TOP / "build" / "release")
    return parser.parse_args()


def record_streams(path, policy, seconds=0.8):
    """An estimator every 2 ms and a policy every 5 ms beside perception, which
    never pauses."""
    import numpy as np
    import takt

    is_takt = policy == "job-shop"
    options = {"worker_fifo_priority": 50} if is_takt else {}
    with takt.Instance(policy=policy, **options) as robot:
        def stream(name, function, shape, **settings):
            module = robot.load(DATA / "workload" / f"{name}.cpu.vmfb")
            made = robot.stream(module.function(function), **settings)
            made.set_input(np.full(shape, 0.5, np.float32))
            return made

        control, background = ("hard", "best_effort") if is_takt else ("soft", "soft")
        streams = [
            stream("perception", "detect", (1, 192, 192, 3), closed=True, criticality=background),
            stream("estimator", "update", (1, 24), period=2e-3, deadline=2e-3, criticality=control),
            stream("policy", "act", (1, 64), period=5e-3, deadline=5e-3, criticality=control),
        ]
        with robot.trace() as trace:
            time.sleep(seconds)
        for each in streams:
            each.stop()
    trace.save(str(path))


def call(*command):
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)


def run(path, tools, program, *flags):
    """A run of a program that has the flag --trace."""
    with tempfile.NamedTemporaryFile() as file:
        call(program, *flags, "--trace", file.name)
        call(tools / "takt-trace", "convert", file.name, path)


def record_npu(out, tools):
    run(out / "npu.json", tools, tools / "takt-run-module", "--device=local-task", "--device=npu-host",
        f"--module={DATA}/npu/route_a.vmfb", "--function=run", "--input=32x64xi8=1", "--input=64x48xi8=3",
        "--input=32x48xi32=5")


def record_simulation(out, tools):
    run(out / "simulation.json", tools, tools / "takt-sim", DATA / "topology" / "two_clusters_npu.json",
        DATA / "sched" / "robot.json", "--seconds=0.2", "--load=0.7", "--seed=7")


def record_plan(out, build):
    models = out / "models"
    models.mkdir(exist_ok=True)
    for name in ("perception", "policy", "gemm_i8", "estimator"):
        shutil.copyfile(DATA / "workload" / f"{name}.cpu.vmfb", models / f"{name}.vmfb")
    call(sys.executable, TOP / "benchmarks" / "plan_bench.py", models, "--build", build, "--rounds=1", "--seconds=0.2",
         "--keep", out / "plans")
    run(out / "plan.json", build / "tools", build / "benchmarks" / "plan_run_bench", models,
        out / "plans" / "q99.taktplan", out / "plans" / "q50.taktplan", "--rounds", "3", "--spin", "20000",
        "--fifo", "40")


def main():
    arguments = parse()
    out, build = arguments.directory, arguments.build
    sys.path.insert(0, str(build / "python" / "package"))
    out.mkdir(parents=True, exist_ok=True)
    record_streams(out / "first_come.json", "fifo")
    record_streams(out / "job_shop.json", "job-shop")
    record_npu(out, build / "tools")
    record_simulation(out, build / "tools")
    record_plan(out, build)


if __name__ == "__main__":
    main()
