"""The pictures of the documentation are drawn from recorded runs."""

import pathlib
import subprocess
import sys
import xml.etree.ElementTree

import pytest

from takt.tools import find_tool

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "scripts"))

import draw_traces  # noqa: E402
import record_traces  # noqa: E402


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    """Short runs, as those of record_traces.py."""
    try:
        run_module, simulator = find_tool("takt-run-module"), find_tool("takt-sim")
    except FileNotFoundError as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("traces")
    record_traces.record_streams(folder / "first_come.json", "fifo", seconds=1)
    record_traces.record_streams(folder / "job_shop.json", "job-shop", seconds=1)
    record_traces.record_npu(folder, pathlib.Path(run_module).resolve().parent)
    record_traces.record_simulation(folder, pathlib.Path(simulator).resolve().parent)
    return {path.stem: draw_traces.Trace(path) for path in folder.glob("*.json")}


@pytest.mark.parametrize("draw", [p for p, needed in draw_traces.PICTURES if "plan" not in needed],
                         ids=lambda draw: draw.__name__)
def test_a_picture_has_bars_in_each_row(draw, traces, tmp_path):
    path = tmp_path / "picture.svg"
    draw(traces, path)
    picture = xml.etree.ElementTree.parse(path).getroot()
    _, _, width, height = map(float, picture.get("viewBox").split())
    bars = [e for e in picture.findall(".//{*}rect") if e.get("fill") in draw_traces.COLOURS.values()]
    assert len(bars) > 5
    for bar in bars:
        assert float(bar.get("x")) + float(bar.get("width")) <= width
        assert float(bar.get("y")) + float(bar.get("height")) <= height


def test_a_late_end_counts_in_its_window(tmp_path):
    path = tmp_path / "trace.json"
    path.write_text("""{"begin_ns": 0, "end_ns": 100, "tracks": [], "events": [
        {"t": 5, "kind": "job_met", "track": 0, "name": "policy.act", "id": 1},
        {"t": 15, "kind": "job_missed", "track": 0, "name": "policy.act", "id": 2},
        {"t": 16, "kind": "job_met", "track": 0, "name": "estimator.update", "id": 3},
        {"t": 25, "kind": "job_missed", "track": 0, "name": "policy.act", "id": 4}]}""")
    trace = draw_traces.Trace(path)
    assert draw_traces.late(trace, 0, 20, "policy") == (1, 2)
    assert draw_traces.late(trace, 20, 100, "policy") == (1, 1)
    assert draw_traces.late(trace, 0, 100, "estimator") == (0, 1)


def test_a_call_that_was_begun_before_the_trace_has_no_bar(tmp_path):
    path = tmp_path / "trace.json"
    path.write_text("""{"begin_ns": 0, "end_ns": 100, "tracks": [], "events": [
        {"t": 1, "kind": "dispatch", "track": 0, "name": "k0", "ns": 2},
        {"t": 4, "kind": "job_released", "track": 0, "name": "policy.act", "id": 1, "value": 90},
        {"t": 5, "kind": "invocation_begin", "track": 0, "name": "policy.act", "id": 2, "of": 1},
        {"t": 6, "kind": "dispatch", "track": 0, "name": "k0", "of": 2, "ns": 3},
        {"t": 9, "kind": "job_met", "track": 0, "name": "policy.act", "id": 1}]}""")
    (name, bars, _), = draw_traces.stream_rows(draw_traces.Trace(path))
    assert name == "policy" and [(begin, end) for begin, end, *_ in bars] == [(4, 9), (6, 9)]
