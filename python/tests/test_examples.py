"""The examples and the page's own code, as a user would run them."""

import os
import pathlib
import re
import subprocess
import sys
import time

import numpy as np
import pytest

import takt
from takt.tools import find_tool

PYTHON = pathlib.Path(__file__).parents[1]


def run(name, *arguments, cache):
    done = subprocess.run(
        [sys.executable, PYTHON / "examples" / name, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "TAKT_CACHE": str(cache)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_onnx_to_stream(needs_compiler, mlp, tmp_path):
    out = run("onnx_to_stream.py", mlp[0], 0.2, cache=tmp_path)
    assert re.search(r"\d+ of \d+ jobs in time", out)


def test_tune_detector(needs_compiler, mlp, tmp_path):
    out = run("tune_detector.py", mlp[0], tmp_path / "detector.vmfb", 30, cache=tmp_path)
    assert re.search(r"plain +\d", out)
    assert takt.load(tmp_path / "detector.vmfb").functions
    assert (tmp_path / "detector.recipe.json").exists()


def test_sweep_policies(testdata, tmp_path):
    try:
        find_tool("takt-sim")
    except FileNotFoundError as error:
        pytest.skip(str(error))
    out = run(
        "sweep_policies.py",
        testdata / "topology/two_clusters_npu.json",
        testdata / "sched/robot.json",
        tmp_path / "sweep.html",
        1,
        cache=tmp_path,
    )
    assert "job-shop" in out
    assert "<svg" in (tmp_path / "sweep.html").read_text()


def test_plan_robot(testdata, tmp_path):
    try:
        find_tool("takt-plan")
    except FileNotFoundError as error:
        pytest.skip(str(error))
    plan = tmp_path / "robot.taktplan"
    out = run("plan_robot.py", testdata / "plan/shot.json", plan, cache=tmp_path)
    assert re.search(r"ms, 0 late jobs", out)
    assert "fault" not in out
    assert takt.plan.Plan.load(plan).faults == []


async def test_the_code_of_the_page(needs_compiler, mlp, tmp_path, monkeypatch):
    """docs/python.md's first example, with a policy and a short sleep."""
    text = (PYTHON.parent / "docs/python.md").read_text()
    code = re.search(r"```python\n(.*?)```", text, re.S).group(1)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TAKT_CACHE", str(tmp_path))
    os.rename(mlp[0], tmp_path / "policy.onnx")
    driven = []
    names = {
        "observation": np.ones((1, 8), np.float32),
        "image": np.ones((1, 8), np.float32),
        "detector": takt.compile(tmp_path / "policy.onnx").load(),
        "drive": driven.append,
        "time": time,
    }
    body = "\n".join("    " + line for line in code.splitlines())
    exec(f"async def page():\n{body}\n    return locals()\n", names)
    seen = await names["page"]()
    assert seen["action"].shape == (1, 3)
    assert len(driven) > 10
    assert seen["control"].statistics["met"] > 0
    assert (tmp_path / "run.html").stat().st_size > 10_000
    assert isinstance(seen["trace"].misses, list)
