"""takt.plan.solve(), here and on a cluster."""

import os

import pytest

import takt
from takt import plan
from takt.tools import find_tool


@pytest.fixture
def folder(testdata):
    try:
        find_tool("takt-plan")
    except FileNotFoundError as error:
        pytest.skip(str(error))
    return testdata / "plan"


def test_an_instance_is_solved_to_its_bound(folder, tmp_path):
    solution = takt.plan.solve(folder / "two_jobs.fjs", seeds=4, rounds=3, seconds=0.1)
    assert (solution.makespan, solution.lower_bound, solution.late_jobs) == (6, 6, 0)
    assert solution.is_optimal
    assert len(solution.tried) == 1  # The others had nothing to find.
    solution.save(tmp_path / "two_jobs.taktplan")
    assert (tmp_path / "two_jobs.taktplan").stat().st_size > 0


def test_a_workload_is_planned(folder):
    solution = takt.plan.solve(folder / "shot.json", seeds=2, seconds=0.05)
    assert solution.makespan > 0 and solution.late_jobs == 0
    assert [each["seed"] for each in solution.tried] == [1, 2, 3, 4]
    assert solution.makespan == min(each["makespan"] for each in solution.tried)


def test_what_cannot_be_solved_says_why(folder, tmp_path):
    (tmp_path / "damaged.fjs").write_text("3 x")
    with pytest.raises(takt.Error, match="damaged.fjs"):
        takt.plan.solve(tmp_path / "damaged.fjs")
    with pytest.raises(takt.Error, match="topology"):
        takt.plan.solve(folder / "robot.json")
    with pytest.raises(takt.InvalidArgument, match="seeds 0"):
        takt.plan.solve(folder / "shot.json", seeds=0)


def test_fewer_late_jobs_go_before_a_shorter_makespan(folder, monkeypatch):
    costs = {1: (1, 50, 10), 2: (0, 0, 30), 3: (0, 0, 20), 4: (0, 5, 5)}

    def run_solver(files, name, seconds, seed, start):
        late, lateness, makespan = costs[seed]
        document = {"late_jobs": late, "lateness_ns": lateness, "makespan_ns": makespan}
        return {"cost": costs[seed], "makespan": makespan, "lower_bound": seed, "document": document, "plan": b""}

    monkeypatch.setattr(plan, "run_solver", run_solver)
    solution = takt.plan.solve(folder / "shot.json", seeds=2, rounds=2)
    assert (solution.seed, solution.makespan, solution.lower_bound) == (3, 20, 4)


@pytest.mark.parametrize("problem", ["two_jobs.fjs", "shot.json"])
def test_solvers_begin_with_the_best_of_the_rounds_before(folder, monkeypatch, problem):
    honest = plan.run_solver
    found = {}
    starts = {}

    def run_solver(files, name, seconds, seed, start):
        starts[seed] = start
        # No time to search: what comes out is what the solver began with, or better.
        found[seed] = honest(files, name, 0.05 if seed == 2 else 0, seed, start)
        return {**found[seed], "lower_bound": 0}

    monkeypatch.setattr(plan, "run_solver", run_solver)
    solution = takt.plan.solve(folder / problem, seeds=2, rounds=3)
    assert starts[1] is None and starts[2] is None
    assert len(starts) == 6 and all(starts[seed] for seed in range(3, 7))
    best = min(found[1]["cost"], found[2]["cost"])
    assert all(found[seed]["cost"] <= best for seed in range(3, 7))
    assert solution.makespan <= best[-1]


def _kill_worker_once(flag):
    if not os.path.exists(flag):
        with open(flag, "w"):
            pass
        os._exit(1)


def test_a_cluster_tries_the_same_seeds_though_a_worker_dies(folder, tmp_path):
    distributed = pytest.importorskip("dask.distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        # Without a number: a solver for each thread of the cluster.
        assert len(takt.plan.solve(folder / "shot.json", seconds=0.05, rounds=1, client=client).tried) == 2
        killed = client.submit(_kill_worker_once, str(tmp_path / "flag"))
        solution = takt.plan.solve(folder / "shot.json", seeds=4, rounds=2, seconds=0.1, client=client)
        killed.result(timeout=120)
        assert (tmp_path / "flag").exists()
        assert sorted(each["seed"] for each in solution.tried) == list(range(1, 9))
    here = takt.plan.solve(folder / "shot.json", seeds=4, rounds=2, seconds=0.1)
    assert solution.makespan == here.makespan
