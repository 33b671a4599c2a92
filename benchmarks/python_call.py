#!/usr/bin/env python3
"""Measures what a call of a small network costs from Python, beside the C call.

In turns, on one thread: takt-benchmark-module (takt_function_invoke() in a loop
of C++), the package takt with numpy arrays in and out, iree.runtime with the
same module, and onnxruntime with the network. The value of a turn is the least
processor time of a call over many batches; printed is the least of all turns, so
that other work on the machine disturbs little.

usage: python_call.py [NETWORK.onnx] [--module FILE.vmfb] [--rounds 5] [--batches 200] [--batch 200]
                      [--json FILE]
       Without a network: an MLP of 64, 64, 64 and 12 numbers, which needs onnx.
       --module: the network's module, if it is compiled already; if there is
                 no network, there is no row of onnxruntime
needs: the package takt, with the compiler unless there is a module;
       iree-base-runtime and onnxruntime for their rows
"""
import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import numpy

import takt
from takt import tuning
from takt.tools import find_tool

C_CALL = "C call"


def least_ns(call, options):
    """The least mean over a batch of calls, in ns of processor time."""
    best = float("inf")
    for _ in range(options.batches):
        begin = time.thread_time_ns()
        for _ in range(options.batch):
            call()
        best = min(best, time.thread_time_ns() - begin)
    return best / options.batch


def measure_c(path, function, inputs, scratch):
    command = [find_benchmark(), f"--module={path}", "--device=local-sync",
               f"--function={function.name.split('.')[-1]}", "--benchmark_format=json",
               "--benchmark_repetitions=20", "--benchmark_min_time=0.02s"]
    for i, each in enumerate(inputs):
        numpy.save(f"{scratch}/input{i}.npy", each)
        command.append(f"--input=@{scratch}/input{i}.npy")
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    scale = {"ns": 1, "us": 1e3, "ms": 1e6}
    runs = [row for row in json.loads(done.stdout)["benchmarks"] if row["run_type"] == "iteration"]
    return min(row["cpu_time"] * scale[row["time_unit"]] for row in runs)


def find_benchmark():
    try:
        return find_tool("takt-benchmark-module")
    except FileNotFoundError:  # The wheel has none; a build tree has it beside takt-plan.
        return pathlib.Path(find_tool("takt-plan")).resolve().with_name("takt-benchmark-module")


def write_mlp(path):
    """A policy: 64 numbers to 12, by two hidden layers of 64."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    random = numpy.random.default_rng(1)
    widths = [64, 64, 64, 12]
    nodes, weights, last = [], [], "observation"
    for i, (rows, columns) in enumerate(zip(widths, widths[1:])):
        matrix = random.standard_normal((rows, columns)) / rows**0.5
        weights.append(numpy_helper.from_array(matrix.astype(numpy.float32), f"w{i}"))
        is_last = i == len(widths) - 2
        product = "action" if is_last else f"product{i}"
        nodes.append(helper.make_node("MatMul", [last, f"w{i}"], [product]))
        if not is_last:
            last = f"hidden{i}"
            nodes.append(helper.make_node("Relu", [product], [last]))
    graph = helper.make_graph(
        nodes, "policy",
        [helper.make_tensor_value_info("observation", TensorProto.FLOAT, [1, widths[0]])],
        [helper.make_tensor_value_info("action", TensorProto.FLOAT, [1, widths[-1]])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, path)


def make_calls(network, path, function, inputs):
    """By the name of each way, a function that makes one call of it."""
    module = takt.load(path, device="local-sync")
    module(*inputs)
    calls = {"takt: function(x)": lambda: function(*inputs), "takt: module(x)": lambda: module(*inputs)}
    try:
        import iree.runtime as runtime

        config = runtime.Config("local-sync")
        loaded = runtime.load_vm_module(
            runtime.VmModule.mmap(config.vm_instance, str(path)), config)
        peer = getattr(loaded, function.name.split(".")[-1])
        calls["iree.runtime: f(x).to_host()"] = lambda: peer(*inputs).to_host()
    except ImportError as error:
        print(f"without iree.runtime: {error}")
    if network is None:
        return calls
    try:
        import onnxruntime

        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(network, settings, providers=["CPUExecutionProvider"])
        feed = {each.name: value for each, value in zip(session.get_inputs(), inputs)}
        calls["onnxruntime: run(None, feed)"] = lambda: session.run(None, feed)
    except ImportError as error:
        print(f"without onnxruntime: {error}")
    return calls


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("network", nargs="?")
    parser.add_argument("--module")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batches", type=int, default=200)
    parser.add_argument("--batch", type=int, default=200)
    parser.add_argument("--json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="takt-") as scratch:
        if options.network is None and options.module is None:
            options.network = f"{scratch}/policy.onnx"
            write_mlp(options.network)
        measure_all(options, scratch)


def measure_all(options, scratch):
    path = options.module
    if path is None:  # A recipe whose module iree.runtime runs as well.
        path = takt.compile(options.network, recipe="channels_last").path
    function = takt.load(path, device="local-sync").function()
    inputs = tuning.example_inputs(function)
    calls = make_calls(options.network, path, function, inputs)
    least = {name: float("inf") for name in [C_CALL, *calls]}
    for _ in range(options.rounds):
        least[C_CALL] = min(least[C_CALL], measure_c(path, function, inputs, scratch))
        for name, call in calls.items():
            least[name] = min(least[name], least_ns(call, options))
    print("| a call | us | above the C call |\n|---|---:|---:|")
    for name, value in least.items():
        print(f"| {name} | {value / 1e3:.2f} | {(value - least[C_CALL]) / 1e3:.2f} |")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(least, file, indent=1)


if __name__ == "__main__":
    main()
