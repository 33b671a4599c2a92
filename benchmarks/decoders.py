#!/usr/bin/env python3
"""Times a decoder of language with a cache of keys and values on Takt and ONNX Runtime, in turns: a step of one token
and one of 32, in floats and with weights of four and of eight bits.

usage: decoders.py WORK [--layers 4] [--width 768] [--past 128] [--threads 1,2] [--seconds 3] [--json]
       WORK   a folder for networks and modules
needs: takt[compile], onnxruntime, onnx_ir
"""
import argparse
import json
import os
import pathlib
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper
from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

import takt
from make_networks import Net
from networks import rest

HEAD = 64  # Numbers of a head.
BLOCK = 32  # Weights that share a scale.
REST_SECONDS = 5e-3
# The bits of weights, and the accuracy_level of products.
KINDS = {"f32": None, "4 bits": (4, 0), "4 bits, inputs in bytes": (4, 4), "8 bits": (8, 0),
         "8 bits, inputs in bytes": (8, 4)}


def decoder(tokens, args):
    """A decoder as LLaMA has it, but for the turning of queries and keys."""
    net, width, heads = Net(), args.width, args.width // HEAD
    inputs, outputs = {"x": [1, tokens, width]}, {}

    def norm(x):
        mean = net.op("ReduceMean", net.op("Mul", x, x), axes=[-1])
        scaled = net.op("Div", x, net.op("Sqrt", net.op("Add", mean, net.number(1e-5))))
        return net.op("Mul", scaled, net.ones(width))

    def product(x, ins, outs):
        return net.op("MatMul", x, net.weights(ins, outs))

    x = "x"
    for layer in range(args.layers):
        y = norm(x)
        query, key, value = (
            net.op("Transpose", net.op("Reshape", product(y, width, width), net.shape(1, tokens, heads, HEAD)),
                   perm=[0, 2, 1, 3]) for _ in range(3))
        cached = []
        for name, own in (("key", key), ("value", value)):
            inputs[f"{name}{layer}"] = [1, heads, args.past, HEAD]
            cached.append(net.op("Concat", f"{name}{layer}", own, axis=2))
            outputs[cached[-1]] = [1, heads, args.past + tokens, HEAD]
        scores = net.op("MatMul", query, net.op("Transpose", cached[0], perm=[0, 1, 3, 2]))
        weights = net.op("Softmax", net.op("Mul", scores, net.number(HEAD ** -0.5)), axis=-1)
        found = net.op("Transpose", net.op("MatMul", weights, cached[1]), perm=[0, 2, 1, 3])
        found = net.op("Reshape", found, net.shape(1, tokens, width))
        x = net.op("Add", x, product(found, width, width))
        y, inner = norm(x), 8 * width // 3
        gate = product(y, width, inner)
        gate = net.op("Mul", gate, net.op("Sigmoid", gate))
        x = net.op("Add", x, product(net.op("Mul", gate, product(y, width, inner)), inner, width))
    outputs[x] = [1, tokens, width]
    values = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in each.items()]
              for each in (inputs, outputs)]
    graph = helper.make_graph(net.nodes, "decoder", *values, net.constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def with_bits(model, bits, level):
    quantizer = MatMulNBitsQuantizer(model, bits=bits, block_size=BLOCK, is_symmetric=True, accuracy_level=level)
    quantizer.process()
    return quantizer.model.model


def in_turns(functions, seconds):
    """The seconds of calls of each function. Between two turns no thread runs, as those of ONNX Runtime do for a while
    after a call; the first call of a turn wakes them and does not count."""
    times = [[] for _ in functions]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for function, own in zip(functions, times):
            rest(REST_SECONDS)
            function()
            for _ in range(5):
                begin = time.perf_counter()
                function()
                own.append(time.perf_counter() - begin)
    return times


def measure(path, threads, seconds):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    random = np.random.default_rng(1)
    inputs = {each.name: random.standard_normal(each.shape).astype(np.float32) for each in session.get_inputs()}
    artifact = takt.compile(path, cache=path.parent)
    with takt.Instance(workers=threads) as instance:
        device = "local-sync" if threads == 1 else "local-task"
        function = instance.load(artifact.path, device=device).function()
        error = max(float(np.abs(np.asarray(found) - wanted).max() / np.ptp(wanted))
                    for found, wanted in zip(function(*inputs.values()), session.run(None, inputs)))
        times = in_turns([lambda: function(*inputs.values()), lambda: session.run(None, inputs)], seconds)
    takt_ms, peer_ms = (1e3 * min(each) for each in times)
    return {"takt_ms": takt_ms, "onnxruntime_ms": peer_ms, "ratio": takt_ms / peer_ms, "error": error,
            "module_bytes": os.path.getsize(artifact.path)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=768, help=f"a multiple of {HEAD} and of 96 (default: 768)")
    parser.add_argument("--past", type=int, default=128, help="tokens in the cache (default: 128)")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    rows = []
    for tokens in (1, 32):
        for kind, own in KINDS.items():
            path = args.work / f"decoder_{tokens}_{kind.replace(', ', '_').replace(' ', '_')}.onnx"
            model = decoder(tokens, args)
            onnx.save(model if own is None else with_bits(model, *own), path)
            for threads in map(int, args.threads.split(",")):
                row = {"tokens": tokens, "weights": kind, "threads": threads, **measure(path, threads, args.seconds)}
                rows.append(row)
                if not args.json:
                    print("{tokens:3} tokens, {weights:24} {threads} threads: {takt_ms:8.3f} ms, ONNX Runtime "
                          "{onnxruntime_ms:8.3f} ms: {ratio:.2f}; error {error:.0e}".format(**row), flush=True)
    if args.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
