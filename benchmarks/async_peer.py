#!/usr/bin/env python3
"""Compares chains of asynchronous calls with the peer's Python API (iree.runtime).

Each round runs the same chain with each runtime, one right after the other, in
alternating order. The chain has COUNT calls of simple_mul, compiled
async-external; each call waits for the fence of the one before and multiplies
its result. The ratio of a round is Takt's time divided by the peer's; the table
has the median. Takt's synchronous calls of the same function are beside it.

usage: async_peer.py [--build build/release] [--count 10000] [--rounds 5]
                     [--workers 2]
needs: a release build; iree-base-runtime 3.13.0 (pip) for this Python
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODULE = ROOT / "tests" / "testdata" / "models" / "simple_mul.cpu.async.vmfb"


class Peer:
    """The chain through iree.runtime, with fences as arguments."""

    def __init__(self, workers):
        import iree.runtime as runtime

        self.runtime = runtime
        runtime.flags.parse_flags(f"--task_topology_group_count={workers}")
        instance = runtime.VmInstance()
        self.device = runtime.get_device("local-task")
        hal = runtime.create_hal_module(instance, self.device)
        module = runtime.VmModule.mmap(instance, str(MODULE))
        self.context = runtime.VmContext(instance, [hal, module])
        self.function = module.lookup_function("simple_mul")
        self.one = self.device.allocator.allocate_buffer_copy(
            memory_type=runtime.MemoryType.DEVICE_LOCAL |
            runtime.MemoryType.HOST_VISIBLE,
            allowed_usage=runtime.BufferUsage.DEFAULT |
            runtime.BufferUsage.MAPPING,
            device=self.device,
            buffer=numpy.ones(4, numpy.float32),
            element_type=runtime.HalElementType.FLOAT_32)

    def run(self, count):
        """Nanoseconds of one chain, and the last result."""
        runtime, one = self.runtime, self.one
        start = time.perf_counter_ns()
        semaphore = self.device.create_semaphore(0)
        view = one
        for i in range(count):
            arguments = runtime.VmVariantList(4)
            arguments.push_ref(view)
            arguments.push_ref(one)
            arguments.push_ref(runtime.HalFence.create_at(semaphore, i))
            signal = runtime.HalFence.create_at(semaphore, i + 1)
            arguments.push_ref(signal)
            results = runtime.VmVariantList(1)
            self.context.invoke(self.function, arguments, results)
            view = results.get_as_object(0, runtime.HalBufferView)
        signal.wait()
        ns = time.perf_counter_ns() - start
        return ns, runtime.DeviceArray(self.device, view).to_host().tolist()


def takt(a, kind):
    """The same for Takt: a process of its own, after a round to warm up."""
    result = subprocess.run(
        [str(a.build / "benchmarks" / "async_bench"), kind, str(MODULE),
         str(a.count), "2", str(a.workers)],
        stdout=subprocess.PIPE, text=True, check=True, timeout=600)
    ns, text = result.stdout.splitlines()[-1].split(" ", 1)
    if text != "4xf32=1 1 1 1":
        sys.exit(f"Takt's chain ended with {text}")
    return int(ns)


def main():
    p = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", type=pathlib.Path,
                   default=ROOT / "build" / "release")
    p.add_argument("--count", type=int, default=10000)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--workers", type=int, default=2)
    a = p.parse_args()
    peer = Peer(a.workers)
    _, values = peer.run(a.count)
    if values != [1, 1, 1, 1]:
        sys.exit(f"the peer's chain ended with {values}")
    chain, sync, peers = [], [], []
    for number in range(a.rounds):
        jobs = [lambda: chain.append(takt(a, "chain")),
                lambda: peers.append(peer.run(a.count)[0]),
                lambda: sync.append(takt(a, "sync"))]
        for job in jobs[::-1 if number % 2 else 1]:
            job()
    each = statistics.median
    ratio = each(x / y for x, y in zip(chain, peers))
    print(f"{a.count} chained calls of simple_mul, {a.workers} workers, "
          f"medians of {a.rounds} rounds, ns a call")
    print(f"  Takt, asynchronous  {each(chain) / a.count:9.0f}")
    print(f"  Takt, synchronous   {each(sync) / a.count:9.0f}")
    print(f"  peer (Python API)   {each(peers) / a.count:9.0f}")
    print(f"  ratio               {ratio:9.3f}   goal 0.5: "
          f"{'met' if ratio <= 0.5 else 'MISSED'}")
    print("load average: %.2f %.2f %.2f" % os.getloadavg())


if __name__ == "__main__":
    main()
