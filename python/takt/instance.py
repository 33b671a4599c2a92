"""Instances: worker threads, devices, streams and traces."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from typing import Any, Callable, Iterable

from . import _native
from .errors import InvalidArgument
from .module import Function, LoadedModule, Module
from .plan import Plan, PlanRun
from .stream import Stream
from .trace import Recording

_instances: weakref.WeakSet[Instance] = weakref.WeakSet()


class Scheduler:
    """What decides in an instance, as `Instance.scheduler`."""

    def __init__(self, native: _native.Instance):
        self._native = native

    @property
    def mode(self) -> str:
        """One of "nominal", "burst", "hot" and "degraded"; it changes within 250
        ms."""
        return _native.scheduler_mode(self._native)

    @property
    def classes(self) -> dict[str, dict[str, Any]]:
        """Counts and response times of jobs, by criticality."""
        return _native.scheduler_classes(self._native)

    @property
    def durations(self) -> dict[str, Any]:
        """How well it predicts durations: runs, error (the part of the durations
        by which it was off), plain_error (the same by the median of all runs)."""
        return _native.scheduler_durations(self._native)

    @property
    def windows(self) -> dict[str, Any]:
        """How often it planned ahead, and what became of those plans; of an
        instance with a `window`."""
        return _native.scheduler_windows(self._native)

    @property
    def resources(self) -> list[dict[str, Any]]:
        """Cores and NPUs: pool, is_npu, is_available, speed (1 is nominal)."""
        return _native.scheduler_resources(self._native)

    def set_available(self, resource: int, is_available: bool) -> None:
        """Takes a resource away from the policy, or gives it back."""
        _native.scheduler_set_available(self._native, resource, is_available)

    def set_speed(self, pool: str, speed: float) -> None:
        """How fast the resources of a pool are; 1 is nominal."""
        _native.scheduler_set_speed(self._native, pool, speed)

    def set_hot(self, is_hot: bool) -> None:
        """Says that the machine is too hot."""
        _native.scheduler_set_hot(self._native, is_hot)

    def save_profile(self, path: str | os.PathLike[str]) -> None:
        """Writes what it has learned of durations."""
        _native.scheduler_save_profile(self._native, os.fspath(path))

    def load_profile(self, path: str | os.PathLike[str]) -> int:
        """Reads such a file; gives the number of records."""
        return _native.scheduler_load_profile(self._native, os.fspath(path))


class Instance:
    """The runtime: its workers and its scheduler.

    workers           threads that run kernels; None: one for each CPU of this
                      process.
    policy            the scheduler's policy: one of `takt.policy_names()`. "off":
                      priorities alone order the work.
    worker_cpus       such as "1-3,8": each CPU gets one worker, which stays there.
    worker_fifo_priority, timer_fifo_priority
                      SCHED_FIFO priorities of the workers and of the thread
                      that releases the jobs of streams; 0: ordinary threads.
    spin, timer_spin  seconds that an idle worker, and the timer before a
                      release, stay awake.
    window            seconds that the scheduler plans in advance; 0: it does not.
    aging             seconds after which waiting work rises by one class.
    cores_path        the file by which processes share cores; each names it.
                      Empty: this one takes no account of others.
    cores_share       the part of the cores, 0.0 to 1.0, for which this process
                      goes before the best-effort work of others.
    worker_budget, worker_period
                      seconds of processor time that each worker gets in each
                      period, and no more (SCHED_DEADLINE); 0: no budget.

    A `with` block ends with `close()`. Every method may run on any thread.
    """

    def __init__(
        self,
        workers: int | None = None,
        policy: str = "job-shop",
        *,
        worker_cpus: str | None = None,
        worker_fifo_priority: int = 0,
        timer_fifo_priority: int = 0,
        spin: float = 0.0,
        timer_spin: float = 0.0,
        window: float = 0.0,
        aging: float = 1.0,
        cores_path: str | os.PathLike[str] = "",
        cores_share: float = 0.0,
        worker_budget: float = 0.0,
        worker_period: float = 0.0,
    ):
        if workers is not None and workers < 0:
            raise InvalidArgument(f"workers: expected a number from 0 on, got {workers}")
        self._native = _native.Instance(
            workers=-1 if workers is None else workers,
            worker_cpus=worker_cpus,
            worker_fifo_priority=worker_fifo_priority,
            timer_fifo_priority=timer_fifo_priority,
            spin=spin,
            timer_spin=timer_spin,
            policy=policy,
            window=window,
            aging=aging,
            cores_path=os.fspath(cores_path),
            cores_share=cores_share,
            worker_budget=worker_budget,
            worker_period=worker_period,
        )
        self._lock = threading.RLock()
        self._devices: dict[str, _native.Device] = {}
        # What a module was loaded as goes with the module.
        self._loaded: weakref.WeakKeyDictionary[Module, LoadedModule] = weakref.WeakKeyDictionary()
        self._streams: weakref.WeakSet[Stream] = weakref.WeakSet()
        _instances.add(self)

    def __enter__(self) -> Instance:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Stops the instance's streams and waits for their jobs."""
        streams = list(self._streams)
        for stream in streams:
            stream.stop()
        for stream in streams:
            stream.wait_idle()

    @property
    def worker_count(self) -> int:
        return self._native.worker_count

    @property
    def policy(self) -> str:
        return self._native.policy

    @property
    def scheduler(self) -> Scheduler:
        """Its modes, resources, statistics and profile; not with the policy "off"."""
        return Scheduler(self._native)

    @property
    def statistics(self) -> dict[str, Any]:
        """The requests to the system, and those that it refused."""
        return self._native.statistics()

    def device(self, name: str = "local-task", *, memory_budget: int = 0) -> _native.Device:
        """A device: "local-task" (spread over the workers) or "local-sync".

        An instance has one device of each name. With a memory_budget (bytes)
        each call makes a new device.
        """
        if memory_budget:
            return self._native.device(name, memory_budget=memory_budget)
        with self._lock:
            if name not in self._devices:
                self._devices[name] = self._native.device(name)
            return self._devices[name]

    def npu(
        self,
        driver: str | os.PathLike[str] = "host",
        *,
        driver_options: str = "",
        time_limit: float = 1.0,
        retries: int = 1,
        fall_back_to_cpu: bool = True,
        native_code: bool = False,
        may_route_to_cpu: bool = True,
        lease_path: str | os.PathLike[str] = "",
    ) -> _native.Device:
        """A device with an NPU, for `takt.load(path, device=...)`.

        driver            "host" (this CPU's inner products), "sim" (a model whose
                          profile is `driver_options`, as JSON), or the path of a
                          driver's shared object.
        time_limit        seconds that an operation may take.
        retries           attempts after a failure.
        fall_back_to_cpu  the CPU runs operations that failed on the NPU.
        native_code       the device also runs native code of the CPU.
        may_route_to_cpu  each dispatch runs where it is expected to end first.
        lease_path        the file by which processes that use the same NPU agree
                          on whose turn it is; each of them names it.

        `device.npu_statistics()` counts operations, failures and reactions.
        """
        return self._native.npu(
            os.fspath(driver),
            driver_options=driver_options,
            time_limit=time_limit,
            retries=retries,
            fall_back_to_cpu=fall_back_to_cpu,
            native_code=native_code,
            may_route_to_cpu=may_route_to_cpu,
            lease_path=os.fspath(lease_path),
        )

    def load(self, source: Any, **options: Any) -> LoadedModule:
        """Loads a module for this instance: a path, bytes, a `takt.Module` or
        the result of `takt.compile()`. Options: see `takt.load()`."""
        return Module.of(source, **options).on(self)

    def stream(
        self,
        function: Module | LoadedModule | Function,
        *,
        period: float | None = None,
        closed: bool = False,
        after: Stream | None = None,
        arrival: str | None = None,
        deadline: float | None = None,
        criticality: str = "soft",
        late: str = "run_on",
        met: tuple[int, int] | None = None,
        share: float = 0.0,
        weight: int = 0,
        priority: int | None = None,
        cpus: Iterable[int] | None = None,
        takes_results: bool = False,
        input_queue: int = 0,
        release_queue: int = 64,
        capture_jobs: int = 0,
        capture_path: str | os.PathLike[str] | None = None,
        on_result: Callable[[Any], None] | None = None,
        on_error: Callable[[Exception, dict], None] | None = None,
        on_late: Callable[[dict], None] | None = None,
        start: bool = True,
    ) -> Stream:
        """Calls `function` repeatedly.

        A job is released every `period` seconds; with `closed`, when the last job
        is done; with `after`, when a job of that stream is done; otherwise when an
        input is set. Only one of these may be given; `arrival` ("periodic", "closed",
        "after", "input") says the same by a name. `deadline` is in seconds after the
        release.

        criticality  "hard", "soft" or "best_effort".
        late         the treatment of a job whose deadline passes: "run_on",
                     "demote", "drop", "latest_only".
        met          (m, n): of each n jobs in a row, at least m must be in time.
                     A job that the others allow to miss is less urgent.
        share        with a scheduler: the part of its cores' time, 0.001 to 1, that
                     it gets of any 100 ms in which it asks for it; its jobs then
                     go before all that are not hard.
        weight       with the policy "job-shop": best-effort jobs divide the time
                     that the others leave by it, 1 to 1000.
        capture_jobs how many of its last jobs it keeps with inputs and results,
                     for `Stream.write_capture()`; with `capture_path`, a job
                     that is late, dropped or fails writes them by itself.
        on_result    called with the results of a job, on the thread that ended
                     the job. It takes the GIL: a loop that must not be late uses
                     `Stream.take()` instead.
        on_error     called with the exception of a job that failed, and the job.
        on_late      called with a job when its deadline passes.
                     None of the three may wait for work of this instance: a call,
                     `Invocation.result()` or `wait_idle()` there raises
                     takt.FailedPrecondition. `submit()` is allowed.
        start        False: `Stream.start()` starts the stream. A closed stream with
                     inputs starts with its first input in any case.
        """
        function = self._function_of(function)
        if after is not None and not isinstance(after, Stream):
            raise InvalidArgument(f"after: expected a stream, got {after!r}")
        arrival = _arrival_of(period, closed, after, arrival)
        stream = Stream(
            function,
            after,
            start=start,
            arrival=arrival,
            period=period,
            deadline=deadline,
            criticality=criticality,
            late=late,
            met=met,
            share=share,
            weight=weight,
            priority=priority,
            cpus=cpus,
            takes_results=takes_results,
            input_queue=input_queue,
            release_queue=release_queue,
            capture_jobs=capture_jobs,
            capture_path=None if capture_path is None else os.fspath(capture_path),
            on_result=on_result,
            on_error=on_error,
            on_late=on_late,
        )
        self._streams.add(stream)
        return stream

    def run_plan(
        self,
        plan: Plan,
        streams: dict[str, Any],
        *,
        mode: str = "adaptive",
        late: str = "report",
        timing: str = "standard",
        start_in: float | None = 0.02,
    ) -> PlanRun:
        """Carries out a plan. The instance needs a policy.

        streams   for each stream of the plan a `Stream` that was made with
                  start=False; or a function; or a tuple of a function, or a
                  list of them that take turns, and of the arguments of calls.
        mode      "strict": operations wait for their planned times. "adaptive":
                  the run repairs the plan when it is late.
        late      strict: what a late operation does: "report", "fall_back" to the
                  online policy, or "fail".
        timing    "standard", "exact" or "patient": how much counts as late.
        start_in  seconds from now to time 0 of the plan; None: `run.start()` starts
                  it.
        """
        run = PlanRun(self, plan, streams, mode, late, timing)
        if start_in is not None:
            run.start(_native.now_ns() + round(start_in * 1e9))
        return run

    def trace(self, *, events_per_thread: int = 32768) -> Recording:
        """Records a trace in a `with` block.

        Each thread keeps its last `events_per_thread` events.
        """
        return Recording(self._native, events_per_thread)

    def trim(self) -> None:
        """Returns idle memory to the system."""
        self._native.trim()

    def __repr__(self) -> str:
        return f"<takt.Instance workers={self.worker_count} policy={self.policy!r}>"

    def _function_of(self, function: Module | LoadedModule | Function) -> Function:
        if isinstance(function, Function):
            return function
        if isinstance(function, Module):
            function = function.on(self)
        if not isinstance(function, LoadedModule):
            hint = "; load() makes a module of it" if hasattr(function, "load") else ""
            raise InvalidArgument(f"function: expected a module or a function, got {function!r:.100}{hint}")
        return function.function()


def _arrival_of(period: float | None, closed: bool, after: Stream | None, arrival: str | None) -> str:
    """What releases the jobs of a stream. Throws if the arguments say several things."""
    said = {}
    if period is not None:
        said["periodic"] = f"period={period!r}"
    if closed:
        said["closed"] = f"closed={closed!r}"
    if after is not None:
        said["after"] = "after=<a stream>"
    if arrival is not None:
        said.setdefault(arrival, f"arrival={arrival!r}")
    if len(said) > 1:
        raise InvalidArgument(f"{' and '.join(said.values())}: the jobs of a stream are released by one of these")
    return next(iter(said), "input")


_default_lock = threading.Lock()
_default: Instance | None = None
_left: list[Instance] = []  # Default instances of the processes that forked this one.


def default_instance() -> Instance:
    """The instance for calls of modules that name no instance."""
    global _default
    with _default_lock:
        if _default is None:
            _default = Instance()
        return _default


def _after_fork() -> None:
    """A child has no threads of an instance: nothing is waited for at its end."""
    global _default
    _instances.clear()
    if _default is not None:
        _left.append(_default)
        _default = None


os.register_at_fork(after_in_child=_after_fork)


@atexit.register
def _close_all() -> None:
    # Callbacks must not find an interpreter that is gone.
    for instance in list(_instances):
        instance.close()
