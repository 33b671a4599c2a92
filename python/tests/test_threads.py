"""Many threads use the same objects at the same time."""

import os
import tempfile
import threading

import numpy as np

import takt

THREADS = 8


def hammer(work):
    """Runs work(thread) on THREADS threads, which begin together."""
    barrier = threading.Barrier(THREADS)
    errors = []

    def run(thread):
        barrier.wait()
        try:
            work(thread)
        except BaseException as error:  # For the test's own thread.
            errors.append(error)

    threads = [threading.Thread(target=run, args=(each,)) for each in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    if errors:
        raise errors[0]


def test_calls_of_one_function_each_give_their_own_results(testdata):
    module = takt.load(testdata / "api/simple_mul.vmfb")  # On the default instance.

    def call(thread):
        a = np.full(4, thread, np.float32)
        for i in range(200):
            b = np.full(4, i, np.float32)
            assert module.mul(a, b).tolist() == [thread * i] * 4
            assert module.double(np.full((600, 2), i, np.float32))[0, 0] == 2 * i

    hammer(call)


def test_a_module_is_loaded_once_by_many_threads(testdata):
    for _ in range(20):
        module = takt.Module(testdata / "api/simple_mul.vmfb", device="local-sync")
        seen = []
        with takt.Instance(workers=1) as robot:
            hammer(lambda thread: seen.append((module.on(robot), module.on(robot).mul)))
        assert len({id(loaded) for loaded, _ in seen}) == 1


def test_many_threads_wait_for_one_call(simple):
    a, b = np.ones(4, np.float32), np.full(4, 3, np.float32)
    for _ in range(50):
        gate = takt.Fence()
        invocation = simple.function("mul").submit(a, b, wait=gate)
        results = []

        def wait(thread):
            if thread == 0:
                gate.signal()
            results.append(invocation.result(60))

        hammer(wait)
        assert all(each is results[0] for each in results)
        assert results[0].tolist() == [3, 3, 3, 3]


def test_many_threads_read_one_trace(testdata):
    with takt.Instance(workers=1) as robot:
        module = robot.load(testdata / "api/simple_mul.vmfb")
        with robot.trace() as trace:
            module.mul(np.ones(4, np.float32), np.ones(4, np.float32))
    for _ in range(10):
        lengths = []
        hammer(lambda thread: lengths.append(len(trace.columns["kind"]) + trace.lost_count))
        assert len(set(lengths)) == 1
        trace = _again(trace)


def _again(trace):
    """A trace whose contents are not made yet."""

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.takt-trace")
        trace.save(path)
        return takt.Trace.load(path)


def test_fences_timelines_and_schedulers_bear_many_threads(testdata):
    timeline = takt.Timeline()
    barrier = takt.Fence.barrier(THREADS)
    with takt.Instance(workers=1, policy="job-shop") as robot:

        def use(thread):
            for i in range(100):
                takt.Fence.join([timeline.at(1), barrier]).explain()
                robot.scheduler.resources
                robot.statistics
            barrier.signal()
            barrier.wait(60)
            if thread == 0:
                timeline.signal(1)
            takt.Fence.join([timeline.at(1), barrier]).wait(60)

        hammer(use)
    assert barrier.reached and timeline.value == 1
