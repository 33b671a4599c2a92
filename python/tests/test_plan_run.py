"""Plans and workloads as objects, and plans that an instance carries out."""

import json
import pathlib
import subprocess
import threading

import numpy as np
import pytest

import takt
from takt.tools import find_tool

TESTDATA = pathlib.Path(__file__).parents[2] / "tests" / "testdata"


def test_a_workload_is_planned_saved_and_read_again(testdata, tmp_path):
    workload = takt.plan.Workload.load(testdata / "plan/shot.json")
    assert [stream["name"] for stream in workload.contents["streams"]] == ["frame", "policy"]
    plan, report = workload.plan(seconds=0.05)
    assert report["late_jobs"] == 0
    assert plan.faults == []
    contents = plan.contents
    assert contents["makespan_ns"] >= report["lower_bound_ns"] >= 0
    assert contents["makespan_ns"] > 0 and report["elapsed_ns"] > 0
    assert len(contents["jobs"]) == 5 and len(contents["operations"]) == 8
    assert {resource["name"] for resource in contents["resources"] if resource["is_npu"]} != set()

    plan.save(tmp_path / "shot.taktplan")
    again = takt.plan.Plan.load(tmp_path / "shot.taktplan")
    assert again.encode() == plan.encode()
    assert takt.plan.Plan.decode(plan.encode()).contents == contents
    with pytest.raises(takt.Error, match="damaged"):
        takt.plan.Plan.decode(plan.encode()[:-7], "damaged")


def test_a_schedule_becomes_a_plan_again(testdata):
    plan, _ = takt.plan.Workload.load(testdata / "plan/shot.json").plan(seconds=0.05)
    again = takt.plan.Plan.from_schedule(plan.schedule())
    assert len(again.contents["operations"]) == len(plan.contents["operations"])


def test_bounds_say_how_long_responses_may_take(testdata):
    workload = takt.plan.Workload.load(testdata / "plan/shot.json")
    bounds = workload.bounds()
    assert {bound["stream"] for bound in bounds} == {"frame", "policy"}
    assert all(bound["bound_ns"] > 0 or bound["reason"] for bound in bounds)


def test_a_workload_that_is_none_says_why(testdata, tmp_path):
    with pytest.raises(takt.Error):
        takt.plan.Workload("{}")
    with pytest.raises(takt.Error, match="topology"):
        takt.plan.Workload.load(testdata / "plan/robot.json")
    other = tmp_path / "policy.onnx"
    other.write_bytes(b"{\x8f}")
    for files in ((other,), (testdata / "plan/robot.json", other)):
        with pytest.raises(takt.InvalidArgument, match="policy.onnx: not JSON: byte 1 is no UTF-8"):
            takt.plan.Workload.load(*files)


WORKLOAD = {
    "name": "two streams",
    "modules": [
        {"name": "policy", "file": "../workload/policy.cpu.vmfb"},
        {"name": "gemm_i8", "file": "../workload/gemm_i8.cpu.vmfb"},
    ],
    "functions": [
        {"function": "policy.act", "inputs": ["1x64xf32=0.5"]},
        {"function": "gemm_i8.project", "inputs": ["64x512xi8=3"]},
    ],
    "streams": [
        {"name": "policy", "function": "policy.act", "period_ms": 100},
        {"name": "gemm", "function": "gemm_i8.project", "period_ms": 200},
    ],
}


@pytest.fixture(scope="module")
def workload(tmp_path_factory):
    """Two streams of long periods, with a profile of this machine."""
    try:
        tool = find_tool("takt-plan")
    except FileNotFoundError as error:
        pytest.skip(str(error))
    path = tmp_path_factory.mktemp("workload") / "two.json"
    profile = path.with_name("profile.json")
    text = json.dumps(WORKLOAD).replace("..", str(TESTDATA))
    path.write_text(text)
    subprocess.run(
        [tool, "profile", path, "--samples=3", f"--output={profile}"],
        check=True, capture_output=True, timeout=300,
    )
    return takt.plan.Workload.load(path, profile)


def functions_of(robot):
    policy = robot.load(TESTDATA / "workload/policy.cpu.vmfb").function("act")
    gemm = robot.load(TESTDATA / "workload/gemm_i8.cpu.vmfb").function("project")
    return policy, gemm


OBSERVATION = np.full((1, 64), 0.5, np.float32)
ROWS = np.full((64, 512), 3, np.int8)


@pytest.mark.parametrize("mode", ["strict", "adaptive"])
def test_an_instance_carries_out_a_plan(workload, mode):
    plan, _ = workload.plan(seconds=0.2)
    assert plan.faults == []
    with takt.Instance(workers=len(plan.contents["resources"]), policy="job-shop") as robot:
        policy, gemm = functions_of(robot)
        streams = {"policy": (policy, OBSERVATION), "gemm": ([gemm, gemm], ROWS)}
        run = robot.run_plan(plan, streams, mode=mode, timing="patient")
        with pytest.raises(takt.FailedPrecondition):
            run.start(takt.now_ns() + 10**9)
        with pytest.raises(takt.DeadlineExceeded):
            run.wait(0.5)
        run.stop()
        run.wait(60)
        report = run.report
        assert not report["is_running"]
        assert report["calls"] > 0 and report["failed"] == 0
        start, end = run.operation(0)
        assert start["count"] > 0 and end["count"] > 0
        with pytest.raises(takt.Error):
            run.operation(len(plan.contents["operations"]) + 1)


def test_a_plan_releases_the_streams_of_an_application(workload):
    plan, _ = workload.plan(seconds=0.2)
    arrived = threading.Event()
    with takt.Instance(workers=len(plan.contents["resources"]), policy="job-shop") as robot:
        policy, gemm = functions_of(robot)
        period = plan.contents["period_ns"] * 1e-9
        stream = robot.stream(gemm, period=period, start=False, on_result=lambda _: arrived.set())
        stream.set_input(ROWS)
        with robot.run_plan(plan, {"policy": (policy, OBSERVATION), "gemm": stream}, timing="patient") as run:
            assert arrived.wait(60)
            assert run.report["is_running"]
        assert not run.report["is_running"]


def test_what_a_stream_is_bound_to_is_checked(testdata):
    plan, _ = takt.plan.Workload.load(testdata / "plan/shot.json").plan(seconds=0.05)
    with takt.Instance(workers=1, policy="job-shop") as robot:
        with pytest.raises(TypeError, match="stream frame"):
            robot.run_plan(plan, {"frame": 3})
        with pytest.raises(takt.InvalidArgument, match="mode"):
            robot.run_plan(plan, {}, mode="loose")
        with pytest.raises(takt.InvalidArgument, match="plan: expected a takt.plan.Plan, got 3"):
            robot.run_plan(3, {})
        with pytest.raises(takt.InvalidArgument, match="timing"):
            robot.run_plan(plan, {}, timing="slow")
        with pytest.raises(takt.Error, match="frame"):
            robot.run_plan(plan, {})
