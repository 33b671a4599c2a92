#!/usr/bin/env python3
"""Compares what int8 networks compute on Takt and on ONNX Runtime.

For each NAME.int8.onnx beside its NAME.onnx, over some random inputs:
  error   the root of the mean squared difference from the float network's results
          on ONNX Runtime, of its range: of ONNX Runtime and of Takt
  steps   the largest difference, in steps of the quantized result: of Takt from
          ONNX Runtime, of ONNX Runtime with its optimizations from itself
          without them, and of ONNX Runtime from itself when one number of the
          first quantized result of an operator is changed by one step.
          Behind a last softmax there are no steps.

usage: networks_accuracy.py NETS WORK [--inputs N] [--only NAME,NAME] [--json FILE]
       NETS   a folder of .onnx files with float32 inputs of static shapes
       WORK   the cache of takt.compile
needs: the package takt (PYTHONPATH=build/release/python/package), numpy,
       iree-base-compiler 3.13, onnx, onnxruntime
"""
import argparse
import json
import pathlib
import tempfile

import numpy as np
import onnx
import onnxruntime
import takt

LEVELS = onnxruntime.GraphOptimizationLevel


def session_of(path, level=LEVELS.ORT_ENABLE_ALL):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def runs_of(path, work):
    """Functions from a dictionary of inputs to a list of arrays."""
    function = takt.Instance(workers=1).load(
        takt.compile(path, cache=work).path, device="local-sync").function()

    def run_takt(inputs):
        results = function(*inputs.values())
        return [np.asarray(each) for each in (results if isinstance(results, (tuple, list)) else [results])]

    sessions = {"float": session_of(path.with_name(path.name.replace(".int8", ""))),
                "ort": session_of(path), "plain": session_of(path, LEVELS.ORT_DISABLE_ALL)}
    runs = {side: lambda inputs, each=each: each.run(None, inputs) for side, each in sessions.items()}
    return sessions["ort"].get_inputs(), runs | {"takt": run_takt}


def split(path):
    """Sessions for what lies before and behind the first quantized result of an operator."""
    model = onnx.shape_inference.infer_shapes(onnx.load(str(path)))
    inputs = [each.name for each in model.graph.input]
    constants = {each.name for each in model.graph.initializer}
    given = [name for name in inputs if name not in constants]
    first = next(node.output[0] for node in model.graph.node if node.op_type == "QuantizeLinear"
                 and node.input[0] not in constants and node.input[0] not in inputs)
    parts = []
    with tempfile.TemporaryDirectory() as folder:
        whole, part = pathlib.Path(folder) / "whole.onnx", pathlib.Path(folder) / "part.onnx"
        onnx.save(model, str(whole))
        for begin, end in ((given, [first]), ([first, *given], [each.name for each in model.graph.output])):
            onnx.utils.extract_model(str(whole), str(part), begin, end)
            parts.append(session_of(part))
    return first, parts


def run_part(session, values):
    return session.run(None, {each.name: values[each.name] for each in session.get_inputs()})


def steps_of_a_change(parted, inputs, random):
    """The steps between two results of one session whose inputs differ by one step in one number."""
    name, (head, tail) = parted
    quantized = run_part(head, inputs)[0]
    changed = quantized.copy()
    place = random.integers(changed.size)
    changed.reshape(-1)[place] += -1 if changed.reshape(-1)[place] > 0 else 1
    return steps(run_part(tail, {**inputs, name: quantized}), run_part(tail, {**inputs, name: changed}))


def error(exact, results):
    return max(float(np.sqrt(np.mean((a - b) ** 2)) / np.ptp(a)) for a, b in zip(exact, results))


def steps(expected, results):
    """None if the results are not quantized."""
    worst = 0.0
    for want, got in zip(expected, results):
        values = np.unique(want)
        if not 1 < values.size <= 256:
            return None
        worst = max(worst, float(np.abs(want - got).max() / np.diff(values).min()))
    return round(worst)


def compare(path, args):
    declared, runs = runs_of(path, args.work)
    random = np.random.default_rng(7)
    found = {key: [] for key in ("ort_error", "takt_error", "takt_steps", "ort_steps_to_itself",
                                "ort_steps_of_a_change")}
    parted = split(path)
    for _ in range(args.inputs):
        inputs = {each.name: random.standard_normal(each.shape).astype(np.float32) for each in declared}
        results = {side: run(inputs) for side, run in runs.items()}
        found["ort_error"].append(error(results["float"], results["ort"]))
        found["takt_error"].append(error(results["float"], results["takt"]))
        found["takt_steps"].append(steps(results["ort"], results["takt"]))
        found["ort_steps_to_itself"].append(steps(results["ort"], results["plain"]))
        found["ort_steps_of_a_change"].append(steps_of_a_change(parted, inputs, random))
    record = {"network": path.name.removesuffix(".onnx")}
    for key, values in found.items():
        if key.endswith("error"):
            record[key] = float(np.mean(values))
        else:
            record[key] = None if None in values else max(values)
    return record


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nets", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--inputs", type=int, default=8, help="random inputs of each network (default: 8)")
    parser.add_argument("--only", default="", help="names of networks, without .onnx")
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    only = [name for name in args.only.split(",") if name]
    records = []
    for path in sorted(args.nets.glob("*.int8.onnx")):
        if only and path.name.removesuffix(".onnx") not in only:
            continue
        records.append(compare(path, args))
        print("{network:20} error: ONNX Runtime {ort_error:.4f}, Takt {takt_error:.4f}  steps: "
              "{takt_steps}, ONNX Runtime to itself {ort_steps_to_itself}, by one change {ort_steps_of_a_change}"
              .format(**records[-1]), flush=True)
    if args.json:
        args.json.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
