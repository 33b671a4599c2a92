#!/usr/bin/env python3
"""Measures the memory of networks on Takt and on ONNX Runtime.

For each ONNX file and side there is a process of its own. Once the side's package
and the inputs are there, it loads the network, calls it twice on one thread, and says
by how much its resident memory has grown at most. takt.compile runs before, in
another process.

usage: networks_memory.py NETS WORK [--json FILE]
       NETS   a folder of .onnx files with float32 inputs of static shapes
       WORK   the cache of takt.compile
needs: the package takt (PYTHONPATH=build/release/python/package), onnx, numpy,
       iree-base-compiler 3.13, onnxruntime
"""
import argparse
import gc
import json
import pathlib
import subprocess
import sys

import numpy as np

SIDES = ("ort", "takt")


def inputs_of(path):
    import onnx

    graph = onnx.load(str(path), load_external_data=False).graph
    constants = {tensor.name for tensor in graph.initializer}
    random = np.random.default_rng(7)
    return {
        each.name: random.standard_normal(
            [d.dim_value for d in each.type.tensor_type.shape.dim]).astype(np.float32)
        for each in graph.input if each.name not in constants}


def status_bytes(key):
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith(key))


def grow(side, path, module):
    """Prints the growth in bytes."""
    inputs = inputs_of(path)
    if side == "ort":
        import onnxruntime
    else:
        import takt
    gc.collect()
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")  # The peak starts anew.
    before = status_bytes("VmRSS")
    if side == "ort":
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"])
        call = lambda: session.run(None, inputs)
    else:
        function = takt.Instance(workers=1).load(module, device="local-sync").function()
        call = lambda: function(*inputs.values())
    call()
    call()
    print(status_bytes("VmHWM") - before)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nets", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--one", nargs=2, metavar=("SIDE", "MODULE"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        return grow(args.one[0], args.nets, args.one[1])
    import takt

    found = []
    for path in sorted(args.nets.glob("*.onnx")):
        module = takt.compile(path, cache=args.work).path
        record = {"network": path.name.removesuffix(".onnx")}
        for side in SIDES:
            command = [sys.executable, __file__, str(path), str(args.work), "--one", side, str(module)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            record[f"{side}_bytes"] = int(done.stdout.split()[-1])
        found.append(record)
        ort, own = (record[f"{side}_bytes"] / 1e6 for side in SIDES)
        print(f"{record['network']:22} ONNX Runtime {ort:7.1f} MB  Takt {own:7.1f} MB  {own / ort:.2f}",
              flush=True)
    if args.json:
        args.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
