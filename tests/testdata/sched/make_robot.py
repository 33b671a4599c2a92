#!/usr/bin/env python3
"""Writes robot.json: a robot's work for the board of ../topology/two_clusters_npu.json.

Perception 36 Hz, estimator 200 Hz, policy 100 Hz, planner 10 Hz, monitor 1 Hz,
as the K1 workload of ../../../docs/simulation.md has them. How a kernel
speeds up with cores is what a vendor measured on such a board (ResNet-50 on
1, 2 and 4 cores: 95.4, 52.9, 32.3 ms); the second cluster is slower, and the
NPU takes a quarter of one core's time for inner products. Run it with
  python3 make_robot.py > robot.json
"""
import json

SHARDS = {1: 1.0, 2: 52.9 / 95.4, 4: 32.3 / 95.4}
LITTLE = 1.25


def kernel(name, us, tile_us, npu_us=None, wide=True):
    alternatives = []
    for pool, slowness in (("big", 1.0), ("little", LITTLE)):
        for shards, part in SHARDS.items():
            if shards > 1 and not wide:
                continue
            duration = us * slowness * part
            alternatives.append({"pool": pool, "shards": shards, "duration_us": round(duration, 1),
                                 "tile_us": min(tile_us, round(duration, 1))})
    if npu_us is not None:
        alternatives.append({"pool": "npu0", "duration_us": npu_us})
    return {"name": name, "alternatives": alternatives}


KERNELS = [
    kernel("resize", 1500, 100),
    kernel("conv", 4800, 100, npu_us=1200),
    kernel("fuse", 800, 100),
    kernel("dense", 400, 50, npu_us=150),
    kernel("filter", 300, 50, wide=False),
    kernel("search", 8000, 200, wide=False),
    kernel("choose", 1000, 100, wide=False),
    kernel("report", 10000, 200, wide=False),
]


def chain(*kernels):
    return [{"kernel": k} for k in kernels]


def fan(first, middle, width, depth, last):
    """`first`, then `width` chains of `depth` times `middle`, then `last`."""
    operations = [{"kernel": first, "after": []}]
    ends = []
    for _ in range(width):
        before = 0
        for _ in range(depth):
            operations.append({"kernel": middle, "after": [before]})
            before = len(operations) - 1
        ends.append(before)
    return operations + [{"kernel": last, "after": ends}]


PROGRAMS = {
    "perception": fan("resize", "conv", 4, 3, "fuse"),
    "estimator": chain("filter", "filter"),
    "policy": chain("dense", "dense", "dense"),
    "planner": fan("choose", "search", 8, 2, "choose"),
    "monitor": chain("report", "report"),
}
STREAMS = [
    {"name": "estimator", "period_ms": 5, "deadline_ms": 5, "criticality": "hard"},
    {"name": "policy", "period_ms": 10, "deadline_ms": 10, "criticality": "hard"},
    {"name": "perception", "period_us": 27777, "deadline_us": 27777, "criticality": "hard"},
    {"name": "planner", "period_ms": 100, "deadline_ms": 100, "criticality": "soft"},
    {"name": "monitor", "period_ms": 1000, "criticality": "best-effort"},
]

print(json.dumps({
    "name": "robot",
    "kernels": KERNELS,
    "programs": [{"name": name, "operations": operations} for name, operations in PROGRAMS.items()],
    "streams": [dict(stream, program=stream["name"]) for stream in STREAMS],
}, indent=1))
