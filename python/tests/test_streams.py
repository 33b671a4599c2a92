import json
import sys
import threading
import time

import numpy as np
import pytest

import takt


@pytest.fixture
def module(testdata):
    return takt.load(testdata / "api/simple_mul.vmfb")


ONES = np.ones(4, np.float32)


def test_a_periodic_stream_calls_back(module):
    enough = threading.Event()
    results = []

    def on_result(result):
        results.append(result)
        if len(results) >= 5:
            enough.set()

    with takt.Instance(workers=1) as robot:
        stream = robot.stream(
            module.on(robot).mul, period=2e-3, start=False, on_result=on_result
        )
        stream.set_input(ONES, ONES * 3)
        stream.start()
        assert enough.wait(60)
    assert all(result.tolist() == [3, 3, 3, 3] for result in results)
    statistics = stream.statistics
    assert statistics["met"] >= len(results) >= 5
    assert statistics["response"]["count"] >= 5


def test_a_stream_keeps_its_input(module):
    memory = np.ones(4096 + 16, np.float32)
    begin = -memory.ctypes.data % 64 // 4  # A call would use the array where it lies.
    x = memory[begin:begin + 4096].reshape(2048, 2)
    enough = threading.Event()
    results = []

    def on_result(result):
        results.append(result)
        enough.set()

    with takt.Instance(workers=1) as robot:
        stream = robot.stream(module.on(robot).double, period=2e-3, start=False, on_result=on_result)
        stream.set_input(x)
        x[:] = 7
        stream.start()
        assert enough.wait(60)
    assert (results[0] == 2).all()


def test_a_stream_predicts_when_its_next_result_is_there(module):
    with takt.Instance(workers=1) as robot:
        stream = robot.stream(module.on(robot).mul)
        assert stream.predict()["q99_ns"] is None
        for _ in range(3):
            stream.set_input(ONES, ONES)
            stream.wait_idle(timeout=60)
        release_ns = takt.now_ns() + 10**9
        next = stream.predict(release_ns=release_ns, step=1e-3)
        assert next["jobs"] == 3
        assert release_ns < next["q50_ns"] <= next["q99_ns"]
        assert next["q99_steps"] == -(-(next["q99_ns"] - release_ns) // 10**6)
        assert next["bound_ns"] is None
        assert stream.statistics["predicted"] == 2
        short = stream.predict(release_ns=release_ns, step=1e-10)
        assert short["q99_steps"] == short["q99_ns"] - release_ns  # Steps of 1 ns.
        for options in ({"step": float("nan")}, {"step": -1e-3}, {"release_ns": 2**63}):
            with pytest.raises(takt.InvalidArgument, match=list(options)[0]):
                stream.predict(**options)


def test_a_trace_explains_the_jobs_of_streams(module):
    with takt.Instance(workers=1) as robot:
        with robot.trace() as trace:
            stream = robot.stream(module.on(robot).mul)
            stream.set_input(ONES, ONES)
            stream.wait_idle(timeout=60)
    (explained,) = trace.explain()["streams"]
    assert explained["jobs"] == 1 and explained["late"] == 0
    (job,) = explained["explained"]
    assert sum(job["use_ns"].values()) == job["end_ns"] - job["origin_ns"]
    assert job["reason"] in trace.explanation()


def test_slots_carry_inputs_and_outputs(module):
    with takt.Instance(workers=1) as robot:
        stream = robot.stream(module.on(robot).mul)  # A job for each input.
        for number in range(3):
            stream.map_input(0)[...] = number
            stream.map_input(1)[...] = 2
            stream.publish_input()
            stream.wait_idle(timeout=60)
            results, job = stream.take_job()
            assert results.tolist() == [2 * number] * 4
            assert job["outcome"] == "met"
        assert stream.take() is None


def test_a_closed_stream_starts_with_its_first_input(module):
    enough = threading.Event()
    count = 0

    def on_result(_):
        nonlocal count
        count += 1
        if count >= 10:
            enough.set()

    with takt.Instance(workers=1) as robot:
        stream = robot.stream(module.on(robot).mul, closed=True, on_result=on_result)
        stream.set_input(ONES, ONES)
        assert enough.wait(60)


def test_a_chain_takes_results(module):
    done = threading.Event()
    with takt.Instance(workers=1) as robot:
        loaded = module.on(robot)
        first = robot.stream(loaded.mul)
        second = robot.stream(loaded.mul, after=first, on_result=lambda _: done.set())
        second.set_input(ONES, ONES * 5)
        first.set_input(ONES, ONES)
        assert done.wait(60)
        second.wait_idle(timeout=60)
        assert second.take().tolist() == [5, 5, 5, 5]


def test_errors_of_callbacks_do_not_stop_the_stream(module, monkeypatch):
    unraisable = []
    monkeypatch.setattr(sys, "unraisablehook", lambda hook: unraisable.append(str(hook.exc_value)))
    seen = threading.Semaphore(0)

    def on_result(_):
        seen.release()
        raise RuntimeError("the motor is gone")

    with takt.Instance(workers=1) as robot:
        stream = robot.stream(module.on(robot).mul, on_result=on_result)
        for _ in range(3):
            stream.set_input(ONES, ONES)
            assert seen.acquire(timeout=60)
            stream.wait_idle(timeout=60)
    assert unraisable == ["the motor is gone"] * 3


def test_options_are_checked(module):
    with takt.Instance(workers=1) as robot:
        function = module.on(robot).mul
        with pytest.raises(takt.InvalidArgument, match="best_effort"):
            robot.stream(function, criticality="urgent")
        with pytest.raises(takt.InvalidArgument, match="period"):
            robot.stream(function, arrival="periodic")


@pytest.mark.parametrize("options, message", [
    ({"period": 1, "closed": True}, "period=1 and closed=True"),
    ({"period": 1.0, "arrival": "closed"}, "period=1.0 and arrival='closed'"),
    ({"closed": True, "arrival": "input"}, "closed=True and arrival='input'"),
    ({"period": 1, "after": True}, "period=1 and after="),
    ({"closed": True, "after": True}, "closed=True and after="),
    ({"after": True, "arrival": "periodic"}, "after=<a stream> and arrival='periodic'"),
])
def test_a_stream_has_one_arrival(module, options, message):
    with takt.Instance(workers=1) as robot:
        function = module.on(robot).mul
        if "after" in options:
            options = {**options, "after": robot.stream(function, start=False)}
        with pytest.raises(ValueError) as error:
            robot.stream(function, start=False, **options)
        assert message in str(error.value)


def test_the_arrival_may_be_said_twice(module):
    with takt.Instance(workers=1) as robot:
        function = module.on(robot).mul
        first = robot.stream(function, start=False, period=1, arrival="periodic")
        robot.stream(function, start=False, closed=True, arrival="closed")
        robot.stream(function, start=False, after=first, arrival="after")
        with pytest.raises(takt.InvalidArgument, match="arrival"):
            robot.stream(function, arrival="sometimes")
        with pytest.raises(takt.InvalidArgument, match="arrival"):
            robot.stream(function, arrival=3)


def test_admission_needs_a_policy(module):
    with takt.Instance(workers=1, policy="off") as robot:
        stream = robot.stream(module.on(robot).mul, period=0.1, deadline=0.1, start=False)
        with pytest.raises(takt.FailedPrecondition):
            stream.admit()
    with takt.Instance(workers=1, policy="job-shop") as robot:
        stream = robot.stream(module.on(robot).mul, period=0.1, deadline=0.1, start=False)
        assert stream.admit()["verdict"] in ("fits", "unknown", "impossible")


def test_traces_have_the_jobs(module, tmp_path):
    with takt.Instance(workers=1, policy="job-shop") as robot:
        stream = robot.stream(module.on(robot).mul, deadline=10.0)
        with robot.trace() as trace:
            for _ in range(3):
                stream.set_input(ONES, ONES)
                stream.wait_idle(timeout=60)
    met = [event for event in trace.events if event["kind"] == "job_met"]
    assert len(met) == 3
    assert trace.misses == []
    assert trace.lost_count == 0
    trace.save(tmp_path / "run.html")
    assert (tmp_path / "run.html").read_text().startswith("<!DOCTYPE html>")
    for name in ("run.takt-trace", "run.pftrace"):
        trace.save(tmp_path / name)
        assert len(takt.Trace.load(tmp_path / name).events) == len(trace.events)
    with pytest.raises(takt.InvalidArgument, match="run.pdf"):
        trace.save(tmp_path / "run.pdf")


def test_misses_are_records(module):
    with takt.Instance(workers=1, policy="job-shop") as robot:
        # No call is done within a nanosecond.
        stream = robot.stream(module.on(robot).mul, deadline=1e-9)
        stream.set_input(ONES, ONES)
        stream.wait_idle(timeout=60)
        with robot.trace() as trace:
            stream.set_input(ONES, ONES)
            stream.wait_idle(timeout=60)
    (miss,) = trace.misses
    assert miss["outcome"] == "missed" and miss["job"] == 1
    assert miss["response_ns"] > 0
    assert "mul" in miss["function"]


def test_a_stream_keeps_its_last_jobs(module, tmp_path):
    path = tmp_path / "capture.safetensors"
    with takt.Instance() as robot:
        stream = robot.stream(module.on(robot).mul, period=1e-3, capture_jobs=4)
        stream.set_input(ONES, ONES)
        while stream.statistics["met"] + stream.statistics["missed"] < 2:
            time.sleep(1e-3)
        stream.stop()
        stream.wait_idle()
        stream.write_capture(path)
    size = int.from_bytes(path.read_bytes()[:8], "little")
    header = json.loads(path.read_bytes()[8 : 8 + size])
    jobs = json.loads(header["__metadata__"]["jobs"])
    assert f"job.{jobs[0]['sequence']}.input.0" in header
    assert {job["outcome"] for job in jobs} <= {"met", "missed"}


@pytest.mark.parametrize("options, message", [
    ({"criticality": 0}, "criticality: expected a str, got 0"),
    ({"weight": -1}, "weight: expected an int from 0 on, got -1"),
    ({"met": 3}, "met: expected a pair of ints from 0 on, got 3"),
    ({"on_result": 5}, "on_result: expected a callable, got 5"),
])
def test_an_option_of_a_wrong_type_is_named(simple, options, message):
    with takt.Instance(workers=1) as instance:
        with pytest.raises(takt.InvalidArgument) as error:
            instance.stream(simple.on(instance).function("mul"), period=1.0, **options)
        assert message in str(error.value)


@pytest.mark.parametrize("wrong", [3, "policy.vmfb", None])
def test_what_a_stream_calls_and_follows_is_checked(simple, wrong):
    with takt.Instance(workers=1) as instance:
        with pytest.raises(takt.InvalidArgument, match="function: expected a module or a function, got") as error:
            instance.stream(wrong, period=1.0)
        assert "load()" not in str(error.value)
        if wrong is not None:
            with pytest.raises(takt.InvalidArgument, match="after: expected a stream, got"):
                instance.stream(simple.on(instance).function("mul"), after=wrong)


def test_a_compiled_module_is_loaded_before_it_is_a_stream(testdata):
    class Artifact:  # What takt.compile() returns has these, too.
        path = testdata / "api/simple_mul.vmfb"

        def load(self):
            return takt.load(self.path)

    with takt.Instance(workers=1) as instance:
        with pytest.raises(takt.InvalidArgument, match=r"load\(\) makes a module of it"):
            instance.stream(Artifact(), period=1.0)


def test_a_trace_is_there_when_its_block_ends(simple):
    with takt.Instance(workers=1) as instance:
        trace = instance.trace()
        for use in (lambda: trace.misses, lambda: trace.save("run.html"), lambda: str(trace)):
            with pytest.raises(takt.FailedPrecondition, match="with"):
                use()
        with trace:
            assert trace.snapshot().columns is not None
        assert trace.misses == []
        assert not hasattr(trace, "no_such_thing")


def test_instances_and_streams_say_what_they_are(simple):
    with takt.Instance(workers=1, policy="edf") as instance:
        stream = instance.stream(simple.on(instance).function("mul"))
        assert (repr(instance), repr(stream)) == ("<takt.Instance workers=1 policy='edf'>", "<takt.Stream of simple.mul>")
