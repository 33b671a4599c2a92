"""Plans: files, workloads, runs on an instance, and a portfolio of solvers."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import subprocess
import tempfile
from typing import TYPE_CHECKING, Any

from . import _native
from .errors import Error, InvalidArgument
from .module import Function, LoadedModule
from .stream import Stream
from .tools import find_tool

if TYPE_CHECKING:
    from .instance import Instance


class Plan:
    """Which operation runs when, and where; immutable. docs/planning.md has the
    format."""

    def __init__(self, native: _native.Plan):
        self._native = native
        self._contents: dict[str, Any] | None = None

    @classmethod
    def load(cls, path: str | os.PathLike) -> Plan:
        """Reads a .taktplan."""
        return cls(_native.Plan.load(os.fspath(path)))

    @classmethod
    def decode(cls, data: bytes, name: str = "plan") -> Plan:
        """The plan of a file's bytes; `name` is for messages."""
        return cls(_native.Plan.decode(data, name))

    @classmethod
    def from_schedule(cls, text: str) -> Plan:
        """A plan of a schedule as JSON (docs/planning.md)."""
        return cls(_native.Plan.from_schedule(text))

    def encode(self) -> bytes:
        return self._native.encode()

    def save(self, path: str | os.PathLike) -> None:
        """Writes a .taktplan."""
        pathlib.Path(path).write_bytes(self.encode())

    def schedule(self) -> str:
        """The plan as a schedule in JSON."""
        return self._native.schedule()

    @property
    def faults(self) -> list[str]:
        """What makes the plan impossible to carry out; empty for a good one."""
        return self._native.faults().splitlines()

    @property
    def contents(self) -> dict[str, Any]:
        """Name, period_ns, makespan_ns, lower_bound_ns, and lists of modules,
        resources, jobs and operations."""
        if self._contents is None:
            self._contents = self._native.describe()
        return self._contents

    def bind(self, index: int, module: LoadedModule) -> Plan:
        """A plan whose module `index` is this one: for imported schedules."""
        return Plan(self._native.bind_module(index, module._module))

    def __repr__(self) -> str:
        contents = self.contents
        return (
            f"<takt.plan.Plan {contents['name']}: {len(contents['operations'])} operations, "
            f"{contents['makespan_ns']} ns>"
        )


class Workload:
    """What a robot has to run, and when: docs/planning.md has the format.

    profile  the text of a profile, for a workload without a topology.
    """

    def __init__(self, text: str, profile: str = ""):
        self._native = _native.Workload.parse(text, profile)

    @classmethod
    def load(cls, path: str | os.PathLike, profile: str | os.PathLike | None = None) -> Workload:
        """Reads a workload (.json), and the profile that it needs."""
        return cls(_text_of(path), "" if profile is None else _text_of(profile))

    @property
    def contents(self) -> dict[str, Any]:
        """Name, and lists of modules, functions and streams."""
        return self._native.describe()

    def plan(self, *, seconds: float = 1.0, threads: int = 1, seed: int = 1) -> tuple[Plan, dict[str, Any]]:
        """The best plan that is found within the time, and what is known of it:
        elapsed_ns, late_jobs, lateness_ns, energy_uj, response_ns (the sum of all
        jobs), lower_bound_ns (of the makespan; 0: none is known)."""
        native, report = self._native.plan(seconds, threads, seed)
        plan = Plan(native)
        report["lower_bound_ns"] = plan.contents["lower_bound_ns"]
        return plan, report

    def bounds(self) -> list[dict[str, Any]]:
        """For each stream, how long a response may take if the online scheduler
        decides: bound_ns, or the reason why there is none."""
        return self._native.analyse()


def _text_of(path: str | os.PathLike) -> str:
    try:
        return pathlib.Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InvalidArgument(f"{os.fspath(path)}: not JSON: byte {error.start} is no UTF-8") from None


class PlanRun:
    """A plan that an instance carries out; made by `Instance.run_plan()`.

    The run ends with this object, or with a `with` block.
    """

    def __init__(self, instance: Instance, plan: Plan, streams: dict[str, Any], mode: str, late: str, timing: str):
        if mode not in ("strict", "adaptive"):
            raise InvalidArgument(f'mode "{mode}": expected "strict" or "adaptive"')
        if not isinstance(plan, Plan):
            raise InvalidArgument(f"plan: expected a takt.plan.Plan, got {plan!r:.100}")
        self._native = _native.PlanRun(
            instance._native,
            plan._native,
            {name: _binding(name, to) for name, to in streams.items()},
            mode == "adaptive",
            late,
            timing,
        )

    def __enter__(self) -> PlanRun:
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()
        self.wait()

    def start(self, at_ns: int) -> None:
        """`at_ns`, of `takt.now_ns()`, is time 0 of the plan."""
        self._native.start(at_ns)

    def replace(self, plan: Plan, at_ns: int) -> int:
        """Follows another plan from `at_ns` on; gives the time of the change."""
        return self._native.replace(plan._native, at_ns)

    def stop(self) -> None:
        """Releases nothing any more; jobs in flight end."""
        self._native.stop()

    def wait(self, timeout: float | None = None) -> None:
        """Waits until the run is over. A cyclic one is after `stop()`."""
        self._native.wait(timeout)

    @property
    def report(self) -> dict[str, Any]:
        """What was started, in its place, late, repaired and called."""
        return self._native.report()

    def operation(self, index: int) -> tuple[dict[str, int], dict[str, int]]:
        """How far the starts and the ends of an operation are from the plan."""
        return self._native.operation(index)


def _binding(name: str, to: Any) -> Any:
    """A native stream, or native functions and the arguments of their calls."""
    if isinstance(to, Stream):
        return to._native
    function, *arguments = to if isinstance(to, tuple) else (to,)
    functions = function if isinstance(function, (list, tuple)) else [function]
    natives = []
    for each in functions:
        if isinstance(each, LoadedModule):
            each = each.function()
        if not isinstance(each, Function):
            raise TypeError(f"stream {name}: expected a stream or functions, got {each!r}")
        natives.append(each._native)
    return (natives, tuple(arguments))


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
    rounds: int | None = None,
    seeds: int | None = None,
    client: Any = None,
) -> Solution:
    """Solves a flexible job shop, or plans a workload, with several seeds.

    problem   an instance (.fjs, .fajs), or a workload (.json).
    profile   of a workload, if it has no topology of its own.
    seconds   of each solver in a round.
    rounds    the number of runs of all solvers. The solvers of a round begin with
              the best schedule of the rounds before. When the best schedule meets
              the lower bound, no further round starts, and solvers that have not
              started are cancelled. Default: 1 for one solver, otherwise 2.
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
    if rounds is None:
        rounds = 1 if seeds == 1 else 2
    if seeds < 1 or rounds < 1:
        raise InvalidArgument(f"seeds {seeds}, rounds {rounds}: expected 1 and more")
    best: Solution | None = None
    tried: list[dict[str, Any]] = []
    for round_ in range(rounds):
        numbers = range(round_ * seeds + 1, (round_ + 1) * seeds + 1)
        start = None if best is None else _start_of(best)
        for seed, found in _run_round(client, files, problem.name, seconds, numbers, start):
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


def _start_of(best: Solution) -> bytes:
    """What `takt-plan solve --start` takes: a plan of a workload, else a schedule."""
    if "schedule" in best.document:
        return json.dumps(best.document).encode()
    return best.plan


def _run_round(
    client: Any, files: dict[str, bytes], name: str, seconds: float, seeds: range, start: bytes | None
):
    """Pairs of a seed and its solver's schedule, in the order in which they end."""
    if client is None:
        for seed in seeds:
            yield seed, run_solver(files, name, seconds, seed, start)
        return
    from dask.distributed import as_completed

    # pure=False: a solver runs for this call, not for another's.
    futures = {
        client.submit(run_solver, files, name, seconds, seed, start, pure=False): seed
        for seed in seeds
    }
    try:
        for future, found in as_completed(list(futures), with_results=True):
            yield futures[future], found
    finally:
        client.cancel(list(futures))


def run_solver(
    files: dict[str, bytes], name: str, seconds: float, seed: int, start: bytes | None = None
) -> dict[str, Any]:
    """One run of takt-plan; the contents of the files, since a worker may be on a
    machine without them. `start`: where the search begins."""
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
        if start is not None:
            pathlib.Path(scratch, "start").write_bytes(start)
            command.append(f"--start={scratch}/start")
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
