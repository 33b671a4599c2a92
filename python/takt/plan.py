"""takt.plan.solve(): a portfolio of solvers, in this process or on a cluster."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import subprocess
import tempfile
import time
from typing import Any

from .errors import Error
from .tools import find_tool

_INSTANCES = (".fjs", ".fajs")


@dataclasses.dataclass
class Solution:
    """The best schedule of a portfolio."""

    makespan: int  # In the unit of the instance; of a workload's plan, in ns.
    lower_bound: int  # 0: none is known.
    late_jobs: int  # Of a workload's plan.
    seed: int  # Of the solver that found it.
    document: dict[str, Any]  # What `takt-plan solve --json` printed.
    plan: bytes  # A .taktplan.
    tried: list[dict[str, Any]]  # Seed, makespan and round of each solver.

    @property
    def is_optimal(self) -> bool:
        return self.late_jobs == 0 and self.makespan == self.lower_bound

    def save(self, path: str | os.PathLike) -> None:
        """Writes the plan."""
        pathlib.Path(path).write_bytes(self.plan)


def solve(
    problem: str | os.PathLike,
    *,
    profile: str | os.PathLike | None = None,
    seconds: float = 1.0,
    rounds: int = 1,
    seeds: int | None = None,
    client: Any = None,
) -> Solution:
    """Solves a flexible job shop, or plans a workload, with several seeds.

    problem   an instance (.fjs, .fajs), or a workload (.json).
    profile   of a workload, if it has no topology of its own.
    seconds   of each solver.
    rounds    how often all solvers run. No round is begun, and what has not begun
              is cancelled, once the best schedule meets the lower bound.
    seeds     solvers in a round. Default: as many as the cluster has threads; 1
              without a client.
    client    a `dask.distributed.Client`. A solver whose worker is lost runs
              again elsewhere. None: the solvers run here, one after the other.

    The same seeds are tried with and without a client; a solver that has more
    time finds more, so a loaded machine may find less.
    """
    problem = pathlib.Path(problem)
    files = {problem.name: problem.read_bytes()}
    if profile is not None:
        files["profile.json"] = pathlib.Path(profile).read_bytes()
    if seeds is None:
        seeds = 1 if client is None else max(1, sum(client.nthreads().values()))
    if seeds < 1 or rounds < 1:
        raise ValueError(f"seeds {seeds}, rounds {rounds}: expected 1 and more")
    best: Solution | None = None
    tried: list[dict[str, Any]] = []
    for round_ in range(rounds):
        numbers = range(round_ * seeds + 1, (round_ + 1) * seeds + 1)
        for seed, found in _run_round(client, files, problem.name, seconds, numbers):
            tried.append({"round": round_, "seed": seed, "makespan": found["makespan"]})
            if best is None or (*found["cost"], seed) < (*_cost(best.document), best.seed):
                bound = best.lower_bound if best else 0
                best = Solution(
                    found["makespan"], bound, found["cost"][0], seed, found["document"], found["plan"], tried
                )
            best.lower_bound = max(best.lower_bound, found["lower_bound"])
            if best.is_optimal:
                return best
    assert best is not None
    return best


def _run_round(client: Any, files: dict[str, bytes], name: str, seconds: float, seeds: range):
    """Pairs of a seed and what its solver found, as they come."""
    if client is None:
        for seed in seeds:
            yield seed, run_solver(files, name, seconds, seed)
        return
    from dask.distributed import as_completed

    # pure=False: a solver runs for this call, not for another's.
    futures = {
        client.submit(run_solver, files, name, seconds, seed, pure=False): seed for seed in seeds
    }
    try:
        for future, found in as_completed(list(futures), with_results=True):
            yield futures[future], found
    finally:
        client.cancel(list(futures))


def run_solver(files: dict[str, bytes], name: str, seconds: float, seed: int) -> dict[str, Any]:
    """One run of takt-plan; the contents of the files, since a worker may be on a
    machine without them."""
    with tempfile.TemporaryDirectory(prefix="takt-") as scratch:
        for file, data in files.items():
            pathlib.Path(scratch, file).write_bytes(data)
        plan = pathlib.Path(scratch, "found.taktplan")
        command = [
            find_tool("takt-plan"), "solve", os.path.join(scratch, name),
            f"--time_limit={seconds}", f"--seed={seed}", f"--output={plan}", "--json",
        ]
        if "profile.json" in files:
            command.append(f"--profile={scratch}/profile.json")
        done = subprocess.run(command, capture_output=True, text=True, timeout=60 + 10 * seconds)
        # 1: a job of the plan is late; it is the best there is nonetheless.
        if done.returncode not in (0, 1) or not plan.exists():
            said = done.stderr.strip().replace(scratch + os.sep, "")
            raise Error(f"{name}: {said or f'takt-plan: exit code {done.returncode}'}")
        document = json.loads(done.stdout)
        data = plan.read_bytes()
    return {
        "cost": _cost(document),
        "makespan": _cost(document)[-1],
        "lower_bound": document.get("lower_bound", document.get("lower_bound_ns", 0)),
        "document": document,
        "plan": data,
    }


def _cost(document: dict[str, Any]) -> tuple[int, int, int]:
    """Late jobs, how late they are, and the makespan: less is better."""
    makespan = document.get("makespan", document.get("makespan_ns"))
    return document.get("late_jobs", 0), document.get("lateness_ns", 0), makespan
