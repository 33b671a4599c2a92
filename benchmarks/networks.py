#!/usr/bin/env python3
"""Times networks on Takt and on ONNX Runtime and OpenVINO, whichever is installed.

For each ONNX file: each side is built once, then the sides are called in turns.
A side is ort, openvino (in float32), openvino_own (in the precision of its
choice), default (what takt.compile makes), tuned, or a recipe of takt.compile.
Printed are the least and the median wall time and processor time of a call, and how
far the results are from ONNX Runtime's. Then come geometric means over the
networks: by ONNX Runtime, and by the faster of it and OpenVINO in float32.
The least processor time says most on a machine that does other work, the median wall
time on a quiet one.

With --check-arch nothing is timed: each network is compiled for that architecture
as well, both modules are called with the same inputs, the other one by its
takt-run-module under qemu-user, and the results are compared.

usage: networks.py NETS WORK [--only NAME,...] [--sides ort,openvino,default]
                   [--threads 1,2] [--calls 30] [--rest MS] [--tune SECONDS] [--json FILE]
                   [--check-arch=aarch64[:CPU] --tools=DIRECTORY]
       NETS   a folder of .onnx files with inputs of static shapes; of
              those whose name ends in .int8.onnx the results are compared in
              steps of the result's own quantization
       WORK   the cache of modules
       --rest how many ms no thread of the process runs between two calls (default 5).
              Threads of ONNX Runtime may wait for up to 100 ms without sleeping. A
              call that is not measured follows, and wakes the threads
       --tools the tools of the other architecture, such as build/aarch64/tools.
              QEMU_CPU chooses the processor
needs: the package takt (PYTHONPATH=build/release/python/package), onnx, numpy,
       iree-base-compiler 3.13; for the peers onnxruntime, openvino
"""
import argparse
import json
import math
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

PEERS = ("ort", "openvino", "openvino_own")


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def rest(seconds):
    """Until no thread has run for so long; at most a second."""
    end = time.monotonic() + 1
    used = math.inf
    while used > 0.1 * seconds and time.monotonic() < end:
        before = processor_seconds()
        time.sleep(seconds)
        used = processor_seconds() - before


class Network:
    """A file, its inputs, and what ONNX Runtime computes of them."""

    def __init__(self, path):
        import onnx

        self.path, self.name = path, path.name.removesuffix(".onnx")
        self.is_quantized = self.name.endswith(".int8")
        graph = onnx.load(str(path), load_external_data=False).graph
        constants = {tensor.name for tensor in graph.initializer}
        random = np.random.default_rng(7)
        self.inputs = {}
        for each in graph.input:
            if each.name not in constants:
                tensor = each.type.tensor_type
                shape = [d.dim_value for d in tensor.shape.dim]
                element = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
                is_float = np.issubdtype(element, np.floating)
                values = random.standard_normal(shape) if is_float else random.integers(0, 128, shape)
                self.inputs[each.name] = values.astype(element)
        self.expected = None

    def difference(self, results):
        """The largest difference: of a float network in parts of the result's
        range, of a quantized one in steps. None without ONNX Runtime."""
        if self.expected is None:
            return None
        worst = 0.0
        for want, got in zip(self.expected, results):
            gap = float(np.abs(np.asarray(got, np.float64) - want).max())
            unit = float(np.ptp(want)) or 1.0
            if self.is_quantized:
                values = np.unique(want)
                steps = np.diff(values)
                # Behind a last softmax there are no equal steps.
                unit = float(steps.min()) if 1 < values.size <= 256 else unit / 255
            worst = max(worst, gap / unit)
        return worst


def run_under_qemu(module, inputs, count, architecture, tools):
    """The results of a module's only function."""
    with tempfile.TemporaryDirectory() as folder:
        command = [shutil.which(f"qemu-{architecture}"), "-L", f"/usr/{architecture}-linux-gnu",
                   str(tools / "takt-run-module"), f"--module={module}", "--device=local-sync"]
        for i, each in enumerate(inputs):
            np.save(f"{folder}/in{i}.npy", each)
            command.append(f"--input=@{folder}/in{i}.npy")
        command += [f"--output=@{folder}/out{i}.npy" for i in range(count)]
        subprocess.run(command, check=True)
        return [np.load(f"{folder}/out{i}.npy") for i in range(count)]


def check_other(network, args):
    """A record of how far the results of two architectures are apart."""
    import takt

    target = args.check_arch
    record = {"network": network.name, "target": target}
    call, record["recipe"] = takt_call(network, "default", 1, args.work, args.tune)
    network.expected = [np.asarray(result) for result in call()]
    other = takt.compile(network.path, cache=args.work, target=target)
    record["other_recipe"] = other.recipe.name
    results = run_under_qemu(other.path, network.inputs.values(), len(network.expected),
                             target.partition(":")[0], args.tools)
    record["difference"] = network.difference(results)
    record["equal"] = all(np.array_equal(*pair) for pair in zip(network.expected, results))
    # Three steps; or a thousandth of the range.
    record["agrees"] = record["difference"] <= (3 if network.is_quantized else 1e-3)
    return record


def check_all(paths, args):
    records = []
    for path in paths:
        records.append(check_other(Network(path), args))
        print("{network:20} {target} {recipe}/{other_recipe} differs by {difference:.2g}"
              "  equal: {equal}  agrees: {agrees}".format(**records[-1]), flush=True)
    if args.json:
        args.json.write_text(json.dumps({"checks": records}, indent=1))
    sys.exit(not all(record["agrees"] for record in records))


def ort_call(network, threads):
    import onnxruntime

    onnxruntime.set_default_logger_severity(3)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(
        str(network.path), options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, network.inputs)


def openvino_call(network, threads, precision):
    import openvino

    core = openvino.Core()
    options = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", **precision}
    request = core.compile_model(core.read_model(network.path), "CPU", options).create_infer_request()
    inputs = list(network.inputs.values())
    return lambda: list(request.infer(inputs).values())


def takt_call(network, side, threads, work, tune_seconds):
    import takt

    artifact = takt.compile(
        network.path, cache=work, recipe=None if side in ("default", "tuned") else side,
        tune=tune_seconds if side == "tuned" else False)
    instance = takt.Instance(workers=threads)
    device = "local-sync" if threads == 1 else "local-task"
    function = instance.load(artifact.path, device=device).function()
    inputs = list(network.inputs.values())

    def call():
        results = function(*inputs)
        return results if isinstance(results, tuple) else (results,)

    return call, artifact.recipe.name


def build(network, side, threads, args):
    """The call of a side, and the recipe that it took."""
    if side == "ort":
        return ort_call(network, threads), None
    if side == "openvino":
        return openvino_call(network, threads, {"INFERENCE_PRECISION_HINT": "f32"}), None
    if side == "openvino_own":
        return openvino_call(network, threads, {}), None
    return takt_call(network, side, threads, args.work, args.tune)


def measure(network, threads, args):
    """A record for each side."""
    calls, records = {}, []
    for side in args.sides:
        record = {"network": network.name, "threads": threads, "side": side}
        records.append(record)
        try:
            call, record["recipe"] = build(network, side, threads, args)
            results = call()
            if side == "ort":
                network.expected = results
            record["difference"] = network.difference(results)
            call()
        except Exception as error:  # A side that fails leaves the others.
            record["failed"] = f"{type(error).__name__}: {error}"[:300]
            continue
        calls[side] = call, record
        record["wall_ms"], record["processor_ms"] = [], []
    for _ in range(args.calls):
        for call, record in calls.values():
            rest(args.rest / 1e3)
            call()  # Wakes the side's threads.
            wall, used = time.perf_counter(), processor_seconds()
            call()
            record["processor_ms"].append((processor_seconds() - used) * 1e3)
            record["wall_ms"].append((time.perf_counter() - wall) * 1e3)
    for _, record in calls.values():
        for clock in ("wall", "processor"):
            times = record.pop(f"{clock}_ms")
            record[f"{clock}_least_ms"] = min(times)
            record[f"{clock}_median_ms"] = statistics.median(times)
    return records


def show(record):
    head = f"{record['network']:20} {record['threads']} {record['side']:14}"
    if "failed" in record:
        return f"{head} failed: {record['failed'].splitlines()[0][:100]}"
    times = "".join(
        f"{record[f'{clock}_{kind}_ms']:9.2f}"
        for clock in ("wall", "processor") for kind in ("least", "median"))
    far = "" if record["difference"] is None else f"  {record['difference']:.2g}"
    recipe = f"  ({record['recipe']})" if record["recipe"] else ""
    return f"{head}{times}{far}{recipe}"


def means(records, clock):
    """Geometric means of each of Takt's sides by the peers, on networks where
    both have a time: {(precision, threads, side, peer): (mean, count)}."""
    times = {
        (r["network"], r["threads"], r["side"]): r[clock] for r in records if "failed" not in r}
    ratios = {}
    for (name, threads, side), own in times.items():
        if side in PEERS:
            continue
        precision = "int8" if name.endswith(".int8") else "float"
        ort = times.get((name, threads, "ort"))
        other = times.get((name, threads, "openvino"))
        if ort is None:
            continue
        ratios.setdefault((precision, threads, side, "ort"), []).append(own / ort)
        if other is not None:
            ratios.setdefault((precision, threads, side, "faster"), []).append(own / min(ort, other))
    return {
        key: (math.exp(sum(map(math.log, values)) / len(values)), len(values))
        for key, values in ratios.items()}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nets", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--sides", default="ort,openvino,default")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--calls", type=int, default=30)
    parser.add_argument("--rest", type=float, default=5.0)
    parser.add_argument("--tune", type=float, default=300.0)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--check-arch", default="")
    parser.add_argument("--tools", type=pathlib.Path, default=pathlib.Path("build/aarch64/tools"))
    args = parser.parse_args()
    # ONNX Runtime first: the others are compared with it.
    args.sides = sorted(args.sides.split(","), key=lambda side: side != "ort")
    only = set(filter(None, args.only.split(",")))
    paths = [p for p in sorted(args.nets.glob("*.onnx"))
             if not only or p.name.removesuffix(".onnx") in only]
    if not paths:
        sys.exit(f"there is no network in {args.nets}")
    args.work.mkdir(parents=True, exist_ok=True)
    if args.check_arch:
        check_all(paths, args)
    print(f"{'':37}{'wall ms':>18}{'processor ms':>18}")
    print(f"{'network':20} t {'side':14}" + f"{'least':>9}{'median':>9}" * 2 + "  differs by")
    records = []
    for path in paths:
        network = Network(path)
        for threads in map(int, args.threads.split(",")):
            for record in measure(network, threads, args):
                records.append(record)
                print(show(record), flush=True)
    table = []
    for clock in ("wall_median_ms", "processor_least_ms"):
        for (precision, threads, side, peer), (mean, count) in sorted(means(records, clock).items()):
            table.append({"clock": clock, "precision": precision, "threads": threads, "side": side,
                          "by": peer, "mean": mean, "networks": count})
            print(f"{clock:20} {precision:5} {threads} thread(s): {side} takes {mean:.2f} of the time of "
                  f"{peer}, geometric mean of {count}")
    if args.json:
        args.json.write_text(json.dumps({"runs": records, "means": table}, indent=1))


if __name__ == "__main__":
    main()
