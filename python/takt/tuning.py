"""Tuning: finds the recipe and the choices of the compiler that are the quickest."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from .compiling import dispatches, recipes
from .compiling.compiler import Artifact, Job
from .errors import CompileError, Error
from .compiling.measuring import Board, LocalMachine
from .module import Function

SECONDS_DEFAULT = 300.0
# Shorter measurements of one recipe say little on a machine that does other
# work, and longer ones little more.
_MEASURE_SECONDS = 1.0
# The last candidates and the compiler's own choices run in turns so often.
_FINAL_ROUNDS = 3
# Float results of another order of operations differ by this part of their
# range; integers by this many steps.
_FLOAT_TOLERANCE = 1e-2
_INTEGER_TOLERANCE = 3
# Products of integers round otherwise than the floats that stand for them, in
# each of some fifty layers.
_QUANTIZED_TOLERANCES = 5.0

# Dispatches whose tiles are tried, those that take the most time.
_DISPATCHES_MAX = 4

# What the compiler lets one choose about its dispatches beside the recipe: how
# they are cut from the program, and the sizes of their tiles.
CHOICES: dict[str, tuple[str, ...]] = {
    "aggressive_fusion": ("--iree-dispatch-creation-enable-aggressive-fusion",),
    "fuse_multi_use": ("--iree-dispatch-creation-fuse-multi-use",),
    "small_tiles": ("--iree-llvmcpu-distribution-size=32",),
    "large_tiles": ("--iree-llvmcpu-distribution-size=128",),
    "peeling": ("--iree-llvmcpu-vector-pproc-strategy=peel",),
    "masking": ("--iree-llvmcpu-vector-pproc-strategy=mask",),
    "reassociate": ("--iree-llvmcpu-reassociate-fp-reductions",),
}


class _Tuner:
    """One run of tuning: what was tried, and the best so far."""

    def __init__(
        self, job: Job, machine: Any, seconds: float, limit: float, progress: Callable[[str], None]
    ):
        self._job, self._machine, self._progress = job, machine, progress
        self._limit = limit  # Of differences, in tolerances.
        self._seconds = seconds
        self._begin = time.monotonic()
        self.tried: list[dict[str, Any]] = []
        self.accepted: list[tuple[int, Artifact]] = []
        self._expected: tuple = ()
        self._inputs: list[Any] = []

    def left(self) -> float:
        return self._begin + self._seconds - time.monotonic()

    def measure_usual(self, *chosen: recipes.Recipe) -> None:
        """The module that there is without tuning; takes the time that it needs. The results
        of all others are compared with its results."""
        usual = self._job.compile_or_fall_back(*chosen)
        self._inputs = example_inputs(usual.load().function())
        measured = self._machine.measure(usual.path, self._inputs, _MEASURE_SECONDS, self._job.timeout)
        self._expected = measured.results
        name = usual.recipe.name
        self.tried.append({"recipe": name, "median_ns": measured.median_ns, "difference": 0.0})
        self.accepted.append((measured.median_ns, usual))
        self._say(name, f"{measured.median_ns / 1e6:.3f} ms")

    def attempt(self, recipe: recipes.Recipe) -> None:
        """Compiles and measures; a recipe with other results does not count."""
        record: dict[str, Any] = {"recipe": recipe.name}
        self.tried.append(record)
        left = self.left()
        if left <= 0:
            record["skipped"] = "no time was left"
            return
        job = dataclasses.replace(self._job, timeout=max(1.0, min(self._job.timeout, left)))
        try:
            artifact = job.compile(recipe)
            measured = self._machine.measure(artifact.path, self._inputs, _MEASURE_SECONDS, job.timeout)
        except Exception as error:  # One candidate of many; the usual module is there already.
            record["rejected"] = str(error) if isinstance(error, Error) else f"{type(error).__name__}: {error}"
            self._say(recipe.name, record["rejected"].partition("\n")[0])
            return
        record["difference"] = difference(self._expected, measured.results)
        record["median_ns"] = measured.median_ns
        if record["difference"] > self._limit:
            record["rejected"] = "its results differ"
            self._say(recipe.name, "its results differ")
            return
        self.accepted.append((measured.median_ns, artifact))
        self._say(recipe.name, f"{measured.median_ns / 1e6:.3f} ms")

    def attempt_tiles(self) -> None:
        """Tries other tiles for the dispatches that take the most time, one after
        the other. The profile is Takt's own."""
        base = self.best()
        if self.left() <= 0:
            self.tried.append({"recipe": f"{base.recipe.name}+tiles", "skipped": "no time was left"})
            return
        try:
            tiles = self._job.tiles_of(base.recipe)
            times = self._machine.profile(base.path, self._inputs, self._job.timeout)
        except (CompileError, Error) as error:
            self.tried.append({"recipe": f"{base.recipe.name}+tiles", "rejected": str(error)})
            return
        slowest = [name for name in times if any(tiles.get(name, ()))][:_DISPATCHES_MAX]
        for name in slowest:
            for sizes in dispatches.other_tiles(tiles[name]):
                best = self.best().recipe
                text = f"{name}={'x'.join(map(str, sizes))}"
                self.attempt(
                    dataclasses.replace(
                        best,
                        name=f"{best.name}+{text}",
                        what=f"{best.what}; tiles of {name}",
                        tiles={**best.tiles, name: sizes},
                    )
                )
                if name in self.best().recipe.tiles:
                    break

    def best(self) -> Artifact:
        return min(self.accepted, key=lambda each: each[0])[1]

    def decide(self) -> Artifact:
        """The best two and the usual one in turns, so that a disturbance of one
        measurement decides nothing."""
        usual = self.accepted[0]
        finalists = sorted(self.accepted, key=lambda each: each[0])[:2]
        if usual not in finalists:
            finalists.append(usual)
        least = [each[0] for each in finalists]
        for _ in range(_FINAL_ROUNDS):
            for i, (_, artifact) in enumerate(finalists):
                measured = self._machine.measure(artifact.path, self._inputs, _MEASURE_SECONDS / 2, self._job.timeout)
                least[i] = min(least[i], measured.median_ns)
        for ns, (_, artifact) in zip(least, finalists):
            for record in self.tried:
                if record["recipe"] == artifact.recipe.name:
                    record["median_ns"] = ns
        return finalists[least.index(min(least))][1]

    def _say(self, recipe: str, text: str) -> None:
        spent = time.monotonic() - self._begin
        self._progress(f"[{spent:.0f} of {self._seconds:.0f} s] {recipe}: {text}")


def tune(
    job: Job,
    chosen: Sequence[recipes.Recipe],
    is_quantized: bool,
    seconds: float,
    *,
    host: str | None = None,
    host_tools: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Artifact:
    """Compiles `job` by each recipe, then the best one with each of `CHOICES`, then
    with other tiles for its slowest dispatches, runs each module, and returns the
    quickest one whose results agree with those of the module without tuning.

    chosen            the recipes of the module without tuning: the first that compiles.
    host, host_tools  measure on this machine, over ssh, with the tools there.
    progress          called with a line for each candidate. None: they go to stderr.

    No candidate is started after `seconds`, and a candidate that is not done by
    then is stopped. `Artifact.report["tried"]` has a record for each.
    """
    progress = progress or (lambda text: print(text, file=sys.stderr, flush=True))
    machine = LocalMachine() if host is None else Board(host, host_tools)
    limit = _QUANTIZED_TOLERANCES if is_quantized else 1.0
    tuner = _Tuner(job, machine, seconds, limit, progress)
    tuner.measure_usual(*chosen)
    # Results keep their precision. By the compiler's own choices a large network takes long.
    candidates = {each.name: each for each in (*chosen, *recipes.RECIPES.values()) if not each.precision}
    for recipe in sorted(candidates.values(), key=lambda each: each.name == "plain"):
        is_tried = recipe.name == tuner.accepted[0][1].recipe.name
        if not is_tried and (recipe.name != "integer" or is_quantized):
            tuner.attempt(recipe)
    base = tuner.best().recipe
    kept: list[str] = []
    for name, flags in CHOICES.items():
        # On top of what has helped so far.
        before = tuner.best().recipe
        tuner.attempt(
            dataclasses.replace(
                before,
                name="+".join([base.name, *kept, name]),
                flags=(*before.flags, *flags),
                what=f"{before.what}; {name.replace('_', ' ')}",
            )
        )
        if tuner.best().recipe is not before:
            kept.append(name)
    tuner.attempt_tiles()
    best = tuner.decide()
    best.report.update(tried=tuner.tried, measured_on=machine.name)
    progress(f"the quickest is {best.recipe.name}")
    return best


def example_inputs(function: Function) -> list[Any]:
    """Random inputs, the same each time, of the declared types and shapes."""
    import numpy

    random = numpy.random.default_rng(0)
    inputs = []
    for each in function.inputs:
        if "shape" not in each:
            raise CompileError(
                f"{function.name}: the inputs are to be random, and {each['name'] or 'one'} is no "
                "tensor of a declared type"
            )
        shape = [1 if d is None else d for d in each["shape"]]
        dtype = numpy.dtype(each["dtype"])
        if dtype.kind == "f":
            inputs.append(random.standard_normal(shape).astype(dtype))
        elif dtype.kind == "b":
            inputs.append(random.integers(0, 2, shape).astype(dtype))
        else:  # Small, so that they are indices of most tables.
            inputs.append(random.integers(0, 8, shape).astype(dtype))
    return inputs


def difference(expected: tuple, actual: tuple) -> float:
    """The largest difference, in tolerances."""
    import numpy

    worst = 0.0
    for a, b in zip(expected, actual):
        a, b = numpy.asarray(a), numpy.asarray(b)
        if a.shape != b.shape or a.dtype != b.dtype:
            return float("inf")
        if a.size == 0:
            continue
        gap = numpy.abs(a.astype(numpy.float64) - b.astype(numpy.float64)).max()
        if a.dtype.kind == "f":
            span = float(a.max()) - float(a.min())
            worst = max(worst, gap / (_FLOAT_TOLERANCE * (span or 1.0)))
        else:
            worst = max(worst, gap / _INTEGER_TOLERANCE)
        if not numpy.isfinite(gap):
            return float("inf")
    return float(worst)
