"""Tuning: which recipe is the quickest here."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable

from . import recipes
from .compiler import Artifact, Job
from .errors import CompileError, Error
from .module import Function

SECONDS_DEFAULT = 300.0
# Shorter measurements of one recipe say little on a machine that does other
# work, and longer ones little more.
_MEASURE_SECONDS = 1.0
_MEASURE_CALLS_MIN = 5
# Float results of another order of operations differ by this part of their
# range; integers by this many steps.
_FLOAT_TOLERANCE = 1e-2
_INTEGER_TOLERANCE = 3


def tune(
    job: Job,
    is_quantized: bool,
    seconds: float,
    *,
    progress: Callable[[str], None] | None = None,
) -> Artifact:
    """Compiles `job` by each recipe, runs each module, and gives the quickest
    whose results are those of the compiler's own choices.

    No recipe is begun once `seconds` have passed. `Artifact.report["tried"]`
    has a record for each.
    """
    progress = progress or (lambda text: print(text, file=sys.stderr))
    deadline = time.monotonic() + seconds
    plain = job.compile(recipes.RECIPES["plain"])
    function = plain.load().function()
    inputs = example_inputs(function)
    expected = _results(function, inputs)
    best, best_ns = plain, _measure(function, inputs)
    tried = [{"recipe": "plain", "median_ns": best_ns}]
    progress(f"plain: {best_ns / 1e6:.3f} ms")
    candidates = [recipes.choose(is_quantized)]
    candidates += [r for r in recipes.RECIPES.values() if r not in candidates]
    for recipe in candidates:
        if recipe.name == "plain" or (recipe.name == "integer" and not is_quantized):
            continue
        if time.monotonic() > deadline:
            tried.append({"recipe": recipe.name, "skipped": "no time was left"})
            continue
        record: dict[str, Any] = {"recipe": recipe.name}
        tried.append(record)
        try:
            artifact = job.compile(recipe)
            function = artifact.load().function()
            record["difference"] = difference(expected, _results(function, inputs))
            if record["difference"] > 1:
                record["rejected"] = "its results differ"
                progress(f"{recipe.name}: its results differ")
                continue
            record["median_ns"] = _measure(function, inputs)
        except (CompileError, Error) as error:
            record["rejected"] = str(error)
            progress(f"{recipe.name}: {str(error).splitlines()[0]}")
            continue
        progress(f"{recipe.name}: {record['median_ns'] / 1e6:.3f} ms")
        if record["median_ns"] < best_ns:
            best, best_ns = artifact, record["median_ns"]
    best.report["tried"] = tried
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


def _results(function: Function, inputs: list[Any]) -> tuple:
    results = function(*inputs)
    return results if isinstance(results, tuple) else (results,)


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


def _measure(function: Function, inputs: list[Any]) -> int:
    """The median time of a call in ns."""
    for _ in range(2):  # Pages, and what the runtime learns of a kernel.
        function(*inputs)
    times: list[int] = []
    end = time.monotonic() + _MEASURE_SECONDS
    while len(times) < _MEASURE_CALLS_MIN or time.monotonic() < end:
        begin = time.perf_counter_ns()
        function(*inputs)
        times.append(time.perf_counter_ns() - begin)
    return sorted(times)[len(times) // 2]
