"""A policy from an ONNX file, called every 5 ms.

usage: onnx_to_stream.py POLICY.onnx [SECONDS]
"""

import sys
import time

import numpy as np

import takt

policy = takt.compile(sys.argv[1], deadline=5e-3).load()
seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 2.0

with takt.Instance() as robot:
    control = robot.stream(policy, period=5e-3, deadline=5e-3, criticality="hard", start=False)
    inputs = control.function.inputs
    control.set_input(*[np.zeros(each["shape"], each["dtype"]) for each in inputs])
    control.start()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(5e-3)
        action = control.take()  # None, or what the motors are to do.
statistics = control.statistics
print(f"{statistics['met']} of {statistics['released']} jobs in time, p99 {statistics['response']['q99_ns'] / 1e3:.0f} us")
