"""Takt runs compiled neural networks beside control loops that must not be late.

    import takt
    policy = takt.load("policy.vmfb")        # or takt.compile("policy.onnx").load()
    action = policy(observation)             # numpy in, numpy out

    with takt.Instance() as robot:
        control = robot.stream(policy, period=5e-3, deadline=5e-3, criticality="hard")

docs/python.md is the guide.
"""

from . import errors, plan, tuning
from ._native import Device, Fence, Invocation, Timeline, now_ns, policy_names, version
from .compiling.compiler import Artifact, compile
from .errors import *  # noqa: F403  The exceptions.
from .errors import Error
from .instance import Instance, Scheduler, default_instance
from .module import Function, LoadedModule, Module, load
from .stream import Stream
from .sweeping import Table, sweep
from .trace import Trace

__version__ = version()
