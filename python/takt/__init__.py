"""Takt runs compiled neural networks beside control loops that must not be late.

    import takt
    policy = takt.load("policy.vmfb")        # or takt.compile("policy.onnx").load()
    action = policy(observation)             # numpy in, numpy out

    with takt.Instance() as robot:
        control = robot.stream(policy, period=5e-3, deadline=5e-3, criticality="hard")

docs/python.md is the guide.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import errors, plan
from ._native import Device, Fence, Invocation, Timeline, now_ns, policy_names, version
from .arrays import empty
from .errors import *  # noqa: F403  The exceptions.
from .errors import Error
from .instance import Instance, Scheduler, default_instance
from .module import Function, LoadedModule, Module, load
from .stream import Stream
from .sweeping import Table, sweep
from .trace import Trace

if TYPE_CHECKING:
    from . import compiling, tuning
    from .compiling.compiler import Artifact, compile

__version__ = version()


def __getattr__(name: str) -> Any:
    """What compiles is imported when it is needed: a program that only loads modules starts sooner."""
    if name in ("compiling", "tuning"):
        return importlib.import_module(f".{name}", __name__)
    if name in ("Artifact", "compile"):
        return getattr(importlib.import_module(".compiling.compiler", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "Artifact", "compile", "compiling", "tuning"})
