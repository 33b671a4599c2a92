#!/usr/bin/env python3
"""Runs Takt beside its peer (the iree-* tools of the wheels) on the same
modules, in turns, and prints a table of times and ratios.

A round measures each row once with each runtime, one right after the other,
in alternating order. The ratio of a row is Takt's time divided by the peer's of
the same round. The table shows the median and the least of the ratios.

Rows "for this CPU" run models compiled by the run itself for the machine that
it runs on; the others run the checked-in modules, which are for any x86_64.

usage: peer.py [--build build/release] [--rounds 5] [--only TEXT]
               [--json | --markdown]
needs: a release build; iree-base-compiler and iree-base-runtime 3.13.0 (pip)
       for this Python or on the PATH; numpy
"""
import argparse
import contextlib
import importlib.util
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "testdata"
SYNC = ["--device=local-sync"]
NPU = ["--device=npu-host-sync"]
# Two workers in either runtime.
TASK = ["--device=local-task", "--task_topology_group_count=2"]
NS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


# The module on a device of npu-fb alone, as bytecode of the vmvx backend.
ROUTE_A = """\
#npu = #hal.executable.target<"vmvx", "npu-fb", {ukernels = "all",
  iree.encoding.resolver = #iree_cpu.vmvx_encoding_resolver<>}>
#device = #hal.device.target<"local", [#npu]> : !hal.device
module @gemm_i8 attributes {hal.device.targets = [#device]} {"""


class Row:
    """A comparison: a function, the flags of either runtime, the goal.

    With `is_crowded`, another process is busy on one of the cores. The peer
    runs `peer_module`, if it is another.
    """

    def __init__(self, name, module, function, inputs, takt, peer, goal,
                 is_crowded=False, peer_module=None):
        self.name = name
        self.goal = goal
        self.is_crowded = is_crowded
        common = [f"--function={function}"]
        common += [f"--input={text}" for text in inputs]
        self.takt = [f"--module={DATA / module}"] + common + takt
        self.peer = [f"--module={DATA / (peer_module or module)}"]
        self.peer += common + peer


def compile_for_this_cpu(folder):
    """The workload's models, compiled into `folder` as NAME.vmfb."""
    run([sys.executable, str(DATA / "workload" / "make_models.py"), folder])
    for name in ("estimator", "perception", "policy"):
        run(["iree-compile", f"{folder}/{name}.mlir",
             "--iree-hal-target-device=local",
             "--iree-hal-local-target-device-backends=llvm-cpu",
             "--iree-llvmcpu-target-cpu=host", "-o", f"{folder}/{name}.vmfb"])
    # Convolutions as matrix products: the compiler's best code for them here,
    # several times as fast as its direct loops.
    run(["iree-compile", f"{folder}/perception.mlir",
         "--iree-hal-target-device=local",
         "--iree-hal-local-target-device-backends=llvm-cpu",
         "--iree-llvmcpu-target-cpu=host",
         "--iree-global-opt-use-im2col-for-convs",
         "-o", f"{folder}/perception.im2col.vmfb"])
    # The product of bytes: the compiler's own best code, and route A.
    gemm = pathlib.Path(folder) / "gemm_i8.mlir"
    run(["iree-compile", str(gemm), "--iree-hal-target-device=local",
         "--iree-hal-local-target-device-backends=llvm-cpu",
         "--iree-llvmcpu-target-cpu=host", "--iree-opt-data-tiling",
         "-o", f"{folder}/gemm_i8.best.vmfb"])
    npu = pathlib.Path(folder) / "gemm_i8.npu.mlir"
    npu.write_text(gemm.read_text().replace("module @gemm_i8 {", ROUTE_A))
    run(["iree-compile", str(npu), "--iree-opt-data-tiling",
         "-o", f"{folder}/gemm_i8.npu.vmfb"])


def rows(folder):
    mul = ("models/simple_mul.cpu.vmfb", "simple_mul", ["4xf32=2", "4xf32=3"])
    loops = "vm/vm_loops.vmfb"
    estimator = ("workload/estimator.cpu.vmfb", "update", ["1x24xf32=0.5"])
    perception = ("workload/perception.cpu.vmfb", "detect",
                  ["1x192x192x3xf32=0.5"])
    here = pathlib.Path(folder)  # Absolute, so that DATA / it is itself.
    estimator_here = (here / "estimator.vmfb", *estimator[1:])
    perception_here = (here / "perception.vmfb", *perception[1:])
    quick_here = (here / "perception.im2col.vmfb", *perception[1:])
    policy_here = (here / "policy.vmfb", "act", ["1x64xf32=0.5"])
    gemm = ("workload/gemm_i8.vmvx.tiled.vmfb", "project", ["64x512xi8=3"])
    gemm_npu = (here / "gemm_i8.npu.vmfb", *gemm[1:])
    return [
        Row("scalar loop, 1 M iterations", loops, "scalar", [], SYNC, SYNC,
            0.5),
        Row("calls, 1 M iterations", loops, "calls", [], SYNC, SYNC, 0.15),
        Row("simple_mul, local-sync", *mul, SYNC, SYNC, 0.4),
        Row("simple_mul, local-task", *mul, TASK, TASK, 0.08),
        Row("estimator, local-sync", *estimator, SYNC, SYNC, 0.7),
        Row("estimator, local-task", *estimator, TASK, TASK, 0.17),
        Row("perception, 2 workers / peer's local-sync", *perception, TASK,
            SYNC, 0.6),
        Row("perception, 2 workers / peer's local-task", *perception, TASK,
            TASK, None),
        Row("perception, local-sync", *perception, SYNC, SYNC, None),
        Row("estimator for this CPU, local-sync", *estimator_here, SYNC, SYNC,
            0.7),
        Row("estimator for this CPU, local-task", *estimator_here, TASK, TASK,
            0.17),
        Row("estimator for this CPU, 2 workers / peer's local-sync",
            *estimator_here, TASK, SYNC, 0.7),
        Row("policy for this CPU, 2 workers / peer's local-sync", *policy_here,
            TASK, SYNC, 0.85),
        Row("simple_mul, 2 workers / peer's local-sync", *mul, TASK, SYNC,
            0.4),
        Row("perception for this CPU, 2 workers / peer's local-sync",
            *quick_here, TASK, SYNC, 0.55),
        Row("perception for this CPU, 2 workers / peer's local-task",
            *quick_here, TASK, TASK, 0.8),
        Row("perception for this CPU, a busy neighbour / local-task",
            *quick_here, TASK, TASK, 0.6, is_crowded=True),
        Row("perception for this CPU, local-sync", *quick_here, SYNC, SYNC,
            None),
        Row("the same with direct loops, 2 workers / peer's local-sync",
            *perception_here, TASK, SYNC, 0.55),
        Row("the same with direct loops, 2 workers / peer's local-task",
            *perception_here, TASK, TASK, 0.8),
        Row("the same with direct loops, a busy neighbour / local-task",
            *perception_here, TASK, TASK, 0.6, is_crowded=True),
        Row("gemm_i8, vmvx, local-sync", *gemm, SYNC, SYNC, 0.05),
        Row("gemm_i8 for this CPU, route A on host / peer's vmvx", *gemm_npu,
            NPU, SYNC, 0.02, peer_module=gemm[0]),
        Row("gemm_i8 for this CPU, route A on host / peer's best", *gemm_npu,
            NPU, SYNC, 1.2, peer_module=here / "gemm_i8.best.vmfb"),
    ]


def find_peer(name):
    """The tool itself: what is on the PATH may be a script that starts it."""
    spec = importlib.util.find_spec("iree._runtime_libs")
    for folder in (spec.submodule_search_locations if spec else []) or []:
        if (path := pathlib.Path(folder) / name).exists():
            return str(path)
    if (path := shutil.which(name)) is None:
        sys.exit(f"{name} is not to be found: pip install "
                 "iree-base-runtime==3.13.0")
    return path


def run(command):
    result = subprocess.run(command, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, timeout=600)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nexit code "
                 f"{result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def benchmark_rows(command, min_time):
    text = run(command + [f"--benchmark_min_time={min_time}",
                          "--benchmark_format=json"])
    return json.loads(text[text.index("{"):])["benchmarks"]


def time_ns(tool, flags, min_time):
    row = benchmark_rows([tool] + flags, f"{min_time}s")[0]
    return row["real_time"] * NS[row["time_unit"]]


@contextlib.contextmanager
def crowd(is_wanted):
    """Keeps one core busy with another process meanwhile, if wanted."""
    if not is_wanted:
        yield
        return
    core = max(os.sched_getaffinity(0))
    other = subprocess.Popen(
        [sys.executable, "-c", "while True: pass"],
        preexec_fn=lambda: os.sched_setaffinity(0, {core}))
    try:
        yield
    finally:
        other.kill()
        other.wait()


def measure_functions(a, takt_tool, folder):
    """Yields a result for each row: names, times and ratios."""
    peer_tool = find_peer("iree-benchmark-module")
    chosen = [row for row in rows(folder) if a.only in row.name]
    if any("this CPU" in row.name for row in chosen):
        compile_for_this_cpu(folder)
    takt_ns = {row.name: [] for row in chosen}
    peer_ns = {row.name: [] for row in chosen}
    for number in range(a.rounds):
        for row in chosen:
            jobs = [(takt_ns, takt_tool, row.takt),
                    (peer_ns, peer_tool, row.peer)]
            with crowd(row.is_crowded):
                for times, tool, flags in jobs[::-1 if number % 2 else 1]:
                    times[row.name].append(time_ns(tool, flags, a.min_time))
    for row in chosen:
        yield result(row.name, takt_ns[row.name], peer_ns[row.name], row.goal)


def result(name, takt, peer, goal, unit="ns"):
    ratios = [x / y for x, y in zip(takt, peer)]
    return {"name": name, "unit": unit, "takt": statistics.median(takt),
            "peer": statistics.median(peer), "ratio": statistics.median(ratios),
            "ratio_min": min(ratios), "goal": goal}


def measure_startup(a, tools):
    """Process start to result, and peak memory, for simple_mul."""
    flags = [f"--module={DATA / 'models' / 'simple_mul.cpu.vmfb'}",
             "--function=simple_mul", "--input=4xf32=2", "--input=4xf32=3"]
    for device in ("local-sync", "local-task"):
        command = [str(a.build / "benchmarks" / "startup_bench"),
                   str(a.startup_runs), str(tools / "takt-run-module"),
                   *flags, f"--device={device}", "--",
                   find_peer("iree-run-module"), *flags, f"--device={device}"]
        measured = {0: [], 1: []}
        for line in run(command).splitlines():
            index, ns, kilobytes = map(int, line.split())
            measured[index].append((ns, kilobytes))
        for name, column, goal, scale, unit in (
                ("start-up to result", 0, 1.0, 1, "ns"),
                ("peak memory", 1, 1.0, 1024, "bytes")):
            takt, peer = ([pair[column] * scale for pair in measured[i]]
                          for i in (0, 1))
            yield result(f"{name}, simple_mul, {device}", takt, peer, goal,
                         unit)


def measure_context(a):
    """Takt alone: the peer has no second context of its own to compare."""
    command = [str(a.build / "benchmarks" / "context_bench"),
               str(DATA / "workload" / "estimator.cpu.vmfb")]
    measured = [benchmark_rows(command, a.min_time)[0]
                for _ in range(a.rounds)]
    times = [row["real_time"] * NS[row["time_unit"]] for row in measured]
    return {"name": "context of the estimator", "unit": "ns",
            "takt": statistics.median(times), "goal_ns": 5000,
            "bytes": measured[0]["bytes"],
            "heap_bytes": measured[0]["heap_bytes"],
            "state_bytes": measured[0]["state_bytes"],
            "state_refs": measured[0]["state_refs"]}


def machine():
    fields = {}
    if shutil.which("lscpu"):
        for line in run(["lscpu"]).splitlines():
            key, _, value = line.partition(":")
            fields[key.strip()] = value.strip()
    keep = ("Model name", "CPU(s)", "Thread(s) per core", "L1d cache",
            "L2 cache", "L3 cache", "Hypervisor vendor")
    description = {key: fields[key] for key in keep if key in fields}
    description["Kernel"] = platform.release()
    description["Load average"] = "%.2f %.2f %.2f" % os.getloadavg()
    return description


def text_of(value, unit):
    if unit == "bytes":
        return f"{value / 1e6:.2f} MB"
    for name, scale in (("ms", 1e6), ("µs", 1e3)):
        if value >= scale:
            return f"{value / scale:.3g} {name}"
    return f"{value:.3g} ns"


def table(report):
    lines = [["what", "Takt", "peer", "ratio", "least", "goal", ""]]
    for row in report["rows"]:
        goal = row["goal"]
        verdict = "" if goal is None else \
            "met" if row["ratio"] <= goal else "MISSED"
        lines.append([row["name"], text_of(row["takt"], row["unit"]),
                      text_of(row["peer"], row["unit"]),
                      f"{row['ratio']:.3f}", f"{row['ratio_min']:.3f}",
                      "" if goal is None else f"{goal:g}", verdict])
    if context := report.get("context"):
        met = context["takt"] <= context["goal_ns"]
        lines.append([context["name"], text_of(context["takt"], "ns"), "", "",
                      "", text_of(context["goal_ns"], "ns"),
                      "met" if met else "MISSED"])
    return lines


def context_text(context):
    return (f"A context of the estimator has {context['bytes']:.0f} bytes for "
            f"itself ({context['heap_bytes']:.0f} of the heap, its buffers "
            f"included); its globals are {context['state_bytes']:.0f} bytes "
            f"and {context['state_refs']:.0f} objects.")


def print_text(report):
    lines = table(report)
    widths = [max(len(line[i]) for line in lines)
              for i in range(len(lines[0]))]
    for line in lines:
        cells = [text.ljust(width) if i == 0 else text.rjust(width)
                 for i, (text, width) in enumerate(zip(line, widths))]
        print("  ".join(cells).rstrip())
    if context := report.get("context"):
        print("\n" + context_text(context))
    print("\n" + "; ".join(f"{k}: {v}" for k, v in report["machine"].items()))


def print_markdown(report):
    # Goals are for those who work on Takt.
    head, *body = (line[:-2] for line in table(report))
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" + "---:|" * (len(head) - 1))
    for line in body:
        print("| " + " | ".join(line) + " |")
    if context := report.get("context"):
        print("\n" + context_text(context))
    print(f"\nMedians of {report['rounds']} rounds. Machine:\n")
    for key, value in report["machine"].items():
        print(f"- {key}: {value}")


def main():
    p = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", type=pathlib.Path,
                   default=ROOT / "build" / "release")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--min-time", type=float, default=0.5,
                   help="seconds of one measurement (default 0.5)")
    p.add_argument("--startup-runs", type=int, default=50)
    p.add_argument("--only", default="",
                   help="only rows whose name contains this text")
    p.add_argument("--json", action="store_true")
    p.add_argument("--markdown", action="store_true")
    a = p.parse_args()
    tools = a.build / "tools"
    takt_tool = tools / "takt-benchmark-module"
    if not takt_tool.exists():
        sys.exit(f"{takt_tool} is missing: cmake --preset release && "
                 "cmake --build --preset release")
    report = {"machine": machine(), "rounds": a.rounds}
    with tempfile.TemporaryDirectory() as folder:
        report["rows"] = list(measure_functions(a, str(takt_tool), folder))
    report["rows"] += [row for row in measure_startup(a, tools)
                       if a.only in row["name"]]
    if a.only in "context":
        report["context"] = measure_context(a)
    if a.json:
        print(json.dumps(report, indent=2))
    elif a.markdown:
        print_markdown(report)
    else:
        print_text(report)


if __name__ == "__main__":
    main()
