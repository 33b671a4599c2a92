#!/usr/bin/env python3
"""Times networks with open sizes on Takt and ONNX Runtime, in turns, on one thread.

usage: open_sizes.py NETS [--sizes 20,200] [--seconds 3] [--json]
       NETS   has open_*.onnx of export_networks.py
needs: takt[compile], onnxruntime
"""
import argparse
import json
import os
import pathlib
import time
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import onnxruntime

import takt


def turns(functions, seconds):
    """The seconds of calls of each function, in turns."""
    times = [[] for _ in functions]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for function, own in zip(functions, times):
            for _ in range(3):
                begin = time.perf_counter()
                function()
                own.append(time.perf_counter() - begin)
    return times


def measure(path, sizes, seconds):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Sizes are open.
        artifact = takt.compile(path)
    random = np.random.default_rng(1)
    with takt.Instance(workers=1) as instance:
        function = instance.load(artifact.path, device="local-sync").function()
        for size in sizes:
            inputs = {each.name: random.standard_normal(
                [known if isinstance(known, int) else size for known in each.shape]).astype(np.float32)
                for each in session.get_inputs()}
            wanted, found = session.run(None, inputs)[0], np.asarray(function(*inputs.values()))
            times = turns([lambda: function(*inputs.values()), lambda: session.run(None, inputs)], seconds)
            takt_ms, peer_ms = (1e3 * min(each) for each in times)
            yield {"network": path.stem, "size": size, "takt_ms": takt_ms, "onnxruntime_ms": peer_ms,
                   "ratio": takt_ms / peer_ms, "ratio_of_medians": float(np.median(times[0]) / np.median(times[1])),
                   "error": float(np.abs(found - wanted).max() / np.ptp(wanted))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nets", type=pathlib.Path)
    parser.add_argument("--sizes", default="20,200")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    sizes = [int(size) for size in args.sizes.split(",")]
    rows = []
    for path in sorted(args.nets.glob("open_*.onnx")):
        for row in measure(path, sizes, args.seconds):
            rows.append(row)
            if not args.json:
                print("{network:20} {size:5} {takt_ms:9.3f} ms, ONNX Runtime {onnxruntime_ms:9.3f} ms: {ratio:.2f}, by "
                      "medians {ratio_of_medians:.2f}; error {error:.0e}".format(**row), flush=True)
    mean = float(np.exp(np.mean(np.log([row["ratio"] for row in rows]))))
    print(json.dumps({"rows": rows, "geometric_mean": mean}) if args.json else f"geometric mean {mean:.2f}")


if __name__ == "__main__":
    main()
