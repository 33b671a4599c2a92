import os
import re
import sys
from xml.etree import ElementTree

import pytest

import takt
from takt.tools import find_tool

POLICIES = ["job-shop", "fifo"]


@pytest.fixture
def files(testdata):
    try:
        find_tool("takt-sim")
    except FileNotFoundError as error:
        pytest.skip(str(error))
    return testdata / "topology/two_clusters_npu.json", testdata / "sched/robot.json"


def test_workers_need_dask(files, monkeypatch, capsys):
    from takt.__main__ import main

    monkeypatch.setitem(sys.modules, "dask.distributed", None)  # As if it were not installed.
    assert main(["sweep", *map(str, files), "--workers=2"]) == 1
    assert "takt: --workers: " in (said := capsys.readouterr().err) and "pip install" in said


def test_every_setting_has_its_records(files):
    table = takt.sweep(*files, POLICIES, seeds=[1, 2], loads=[0.5, 1.5], seconds=0.2)
    runs = {(r["load"], r["policy"], r["seed"]) for r in table.records}
    assert len(runs) == 8
    assert all(r["released"] >= r["met"] for r in table.records)
    assert all(r["resources_used"] > 0 for r in table.records if r["met"] > 0)
    misses = {(r["load"], r["policy"]): r["missed"] for r in table.misses()}
    assert misses[0.5, "job-shop"] == 0
    assert misses[1.5, "fifo"] > 0
    assert table.worst()["miss_ratio"] > 0


def test_makespans_are_of_all_seeds(files):
    table = takt.sweep(*files, ["job-shop"], seeds=[1, 2, 3], seconds=0.2)
    (row,) = table.makespans()
    values = {record["seed"]: record["makespan_us"] for record in table.records}.values()
    assert (row["min_us"], row["max_us"]) == (min(values), max(values))
    assert row["min_us"] <= row["mean_us"] <= row["max_us"]


def test_the_same_seed_gives_the_same_records(files):
    first = takt.sweep(*files, ["job-shop"], seconds=0.2)
    assert takt.sweep(*files, ["job-shop"], seconds=0.2).records == first.records


def test_pages_have_plots_a_chart_and_a_table(files, tmp_path):
    table = takt.sweep(*files, POLICIES, loads=[0.5, 1.5], seconds=0.2)
    table.save(tmp_path / "sweep.html")
    text = (tmp_path / "sweep.html").read_text()
    svgs = ElementTree.fromstring("<x>" + "".join(re.findall(r"<svg.*?</svg>", text)) + "</x>")
    misses, makespans, gantt = svgs
    for plot in (misses, makespans):
        assert len(plot.findall("polyline")) == len(POLICIES)
        assert all(len(line.get("points").split()) == 2 for line in plot.findall("polyline"))
    # The chart is of the worst run: a line of text for each core that worked.
    trace = table.worst_trace()
    assert trace["simulated"] and any(event["kind"] == "job_missed" for event in trace["events"])
    assert {text.text for text in gantt.findall("text")} >= {"big 0", "little 0"}
    assert len(gantt.findall("rect")) > 10
    table.save(tmp_path / "sweep.json")
    with pytest.raises(takt.InvalidArgument, match="sweep.pdf"):
        table.save(tmp_path / "sweep.pdf")


def test_unknown_policies_are_named(files):
    with pytest.raises(takt.Error, match="quickest"):
        takt.sweep(*files, ["quickest"], seconds=0.1)


def _kill_worker_once(flag):
    # The first task on a worker ends its process in the middle.
    if not os.path.exists(flag):
        with open(flag, "w"):
            pass
        os._exit(1)


def test_a_cluster_gives_the_same_records_though_a_worker_dies(files, tmp_path):
    distributed = pytest.importorskip("dask.distributed")
    expected = takt.sweep(*files, POLICIES, seeds=range(1, 5), seconds=0.1)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        killed = client.submit(_kill_worker_once, str(tmp_path / "flag"))
        table = takt.sweep(*files, POLICIES, seeds=range(1, 5), seconds=0.1, client=client)
        killed.result(timeout=120)
        assert (tmp_path / "flag").exists()
    assert table.records == expected.records
