"""The scheduler of an instance, limits of calls, and the verify hook."""

import errno
import time

import numpy as np
import pytest

import takt


def wait_for_mode(scheduler, mode):
    """A mode changes within some 250 ms, and later on a busy machine."""
    end = time.monotonic() + 60
    while scheduler.mode != mode:
        assert time.monotonic() < end, f"the mode is {scheduler.mode}"
        time.sleep(0.01)


def test_the_scheduler_says_what_it_has_and_did(testdata, tmp_path):
    with takt.Instance(workers=2, policy="job-shop") as robot:
        module = robot.load(testdata / "api/simple_mul.vmfb")
        stream = robot.stream(module.mul, closed=True, criticality="hard", deadline=1.0)
        stream.set_input(np.ones(4, np.float32), np.ones(4, np.float32))
        while stream.statistics["met"] < 5:
            time.sleep(0.001)
        stream.stop()
        stream.wait_idle()
        scheduler = robot.scheduler
        assert scheduler.classes["hard"]["released"] >= 5
        assert scheduler.classes["soft"]["released"] == 0
        assert scheduler.durations["runs"] >= 0
        assert scheduler.durations["error"] >= 0
        assert scheduler.mode in ("nominal", "burst")
        assert [each["is_available"] for each in scheduler.resources] == [True, True]
        scheduler.set_available(1, False)
        assert [each["is_available"] for each in scheduler.resources] == [True, False]
        wait_for_mode(scheduler, "degraded")
        scheduler.set_available(1, True)
        scheduler.set_hot(True)
        wait_for_mode(scheduler, "hot")
        scheduler.set_hot(False)
        with pytest.raises(takt.FailedPrecondition, match="window"):
            scheduler.windows
        scheduler.save_profile(tmp_path / "learned")
        assert scheduler.load_profile(tmp_path / "learned") >= 0
        with pytest.raises(takt.Error):
            scheduler.set_available(99, False)
        with pytest.raises(takt.Error, match="no_such_pool"):
            scheduler.set_speed("no_such_pool", 0.5)
        with pytest.raises(takt.InvalidArgument, match="speed: nan"):
            scheduler.set_speed("cores", float("nan"))


def test_streams_have_shares_and_weights(testdata):
    with takt.Instance(workers=2, policy="job-shop") as robot:
        module = robot.load(testdata / "api/simple_mul.vmfb")
        logger = {"arrival": "input", "criticality": "best_effort"}
        stream = robot.stream(module.mul, share=0.6, weight=3, **logger)
        stream.set_input(np.ones(4, np.float32), np.ones(4, np.float32))
        stream.wait_idle()
        assert stream.statistics["met"] == 1
        with pytest.raises(takt.FailedPrecondition, match="2400 thousandths of a core"):
            robot.stream(module.mul, share=0.6, **logger)
        with pytest.raises(takt.InvalidArgument, match="share: a hard stream"):
            robot.stream(module.mul, share=0.1, arrival="input", criticality="hard", deadline=1.0)
        for share in (float("nan"), float("inf"), -0.0001, 0.0004, 1.001, "all", None):
            with pytest.raises(takt.InvalidArgument, match="share: "):
                robot.stream(module.mul, share=share, **logger)
    with takt.Instance(workers=1, policy="off") as robot:
        module = robot.load(testdata / "api/simple_mul.vmfb")
        with pytest.raises(takt.InvalidArgument, match="weight: nothing schedules"):
            robot.stream(module.mul, weight=1, **logger)


def test_processes_share_cores_by_a_file(testdata, tmp_path):
    path = tmp_path / "cores"
    with takt.Instance(workers=2, cores_path=path, cores_share=0.3) as robot:
        module = robot.load(testdata / "api/simple_mul.vmfb")
        assert module.mul([1, 2, 3, 4], [2, 2, 2, 2]).tolist() == [2, 4, 6, 8]
        assert path.stat().st_size > 0
    with pytest.raises(takt.InvalidArgument, match="cores_path"):
        takt.Instance(workers=2, cores_share=0.3)
    for share in (float("nan"), 0.0001):
        with pytest.raises(takt.InvalidArgument, match="cores_share: "):
            takt.Instance(workers=2, cores_path=path, cores_share=share)
    path.write_text("something else")
    with takt.Instance(workers=2, cores_path=str(path)) as robot:
        with pytest.raises(takt.FailedPrecondition, match="another kind"):
            robot.load(testdata / "api/simple_mul.vmfb")


def test_workers_have_a_budget_or_its_refusal_is_visible(testdata):
    with takt.Instance(workers=1, worker_budget=0.004, worker_period=0.02) as robot:
        module = robot.load(testdata / "api/simple_mul.vmfb")
        assert module.mul([1, 2, 3, 4], [2, 2, 2, 2]).tolist() == [2, 4, 6, 8]
        assert robot.statistics["worker_budget_error"] in (0, errno.EPERM, errno.EBUSY)
    with pytest.raises(takt.InvalidArgument, match="worker_budget_ns: expected"):
        takt.Instance(workers=1, worker_budget=0.02, worker_period=0.004)


def test_a_call_beyond_its_memory_limit_fails(testdata):
    a, b = np.ones(4, np.float32), np.full(4, 2, np.float32)
    limited = takt.load(testdata / "api/simple_mul.vmfb", device="local-sync", memory_limit=1)
    with pytest.raises(takt.ResourceExhausted):
        limited.mul(a, b)
    assert limited.mul(a, b, memory_limit=1 << 20).tolist() == [2, 2, 2, 2]


def test_a_file_is_loaded_only_if_it_is_verified(testdata):
    path = testdata / "api/simple_mul.vmfb"
    seen = []
    takt.load(path, verify=lambda name, data: seen.append((name, data)))
    assert seen == [(str(path), path.read_bytes())]

    def refuse(name, data):
        raise RuntimeError("not signed")

    with pytest.raises(takt.Error, match="not signed"):
        takt.load(path, verify=refuse)
    with pytest.raises(TypeError, match="verify"):
        takt.load(path.read_bytes(), verify=refuse)


def test_a_function_says_what_it_allocates(simple):
    function = simple.function("mul")
    function.prepare()
    assert function.memory["bytes_total"] >= function.memory["bytes_largest"] >= 0


def test_fences_have_names_barriers_and_descriptors():
    import os
    import select

    barrier = takt.Fence.barrier(2)
    barrier.set_name("both")
    assert "both" in barrier.explain()
    fd = barrier.export_fd()
    try:
        barrier.signal()
        assert not barrier.reached
        assert select.select([fd], [], [], 0)[0] == []
        barrier.signal()
        assert barrier.reached
        assert select.select([fd], [], [], 10)[0] == [fd]
    finally:
        os.close(fd)


def test_a_timeline_reaches_its_fences():
    timeline = takt.Timeline(3)
    fence = timeline.at(5)
    assert (timeline.value, fence.reached) == (3, False)
    timeline.signal(4)
    assert not fence.reached
    timeline.signal(5)
    assert fence.reached
    with pytest.raises(takt.Error):
        timeline.signal(5)
    later = timeline.at(9)
    timeline.fail("cut off")
    with pytest.raises(takt.Error, match="cut off"):
        later.wait(1)


def test_windows_are_counted_where_there_are_some():
    with takt.Instance(workers=1, policy="job-shop", window=0.01) as robot:
        assert robot.scheduler.windows["planned"] == 0
