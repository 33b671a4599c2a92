"""takt.sweep(): the scheduler in virtual time, over many settings at once."""

from __future__ import annotations

import html
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Any, Callable, Iterable, Sequence

from .errors import Error, InvalidArgument
from .tools import find_tool

# The longest that one run of the simulator may take.
_TIMEOUT_SECONDS = 600.0


class Table:
    """The records of a sweep, one for each stream and run, in the order of the settings.

    `resources_used` is how many cores and NPUs the stream used on average.

    `pandas.DataFrame(table.records)` takes them.
    """

    def __init__(
        self,
        records: list[dict[str, Any]],
        replay: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
    ):
        self.records = records
        self._replay = replay  # From a record to the trace of its run.

    def __len__(self) -> int:
        return len(self.records)

    def misses(self) -> list[dict[str, Any]]:
        """For each workload, load and policy, over all seeds and hard streams: the
        released jobs, and those that were missed, dropped or failed."""
        sums: dict[tuple, dict[str, Any]] = {}
        for record in self.records:
            if record["criticality"] != "hard":
                continue
            key = (record["workload"], record["load"], record["policy"])
            row = sums.setdefault(
                key,
                {"workload": key[0], "load": key[1], "policy": key[2], "released": 0, "missed": 0},
            )
            row["released"] += record["released"]
            row["missed"] += record["missed"] + record["dropped"] + record["failed"]
        return list(sums.values())

    def worst(self) -> dict[str, Any]:
        """The record with the largest part of missed jobs."""
        return max(self.records, key=lambda record: record["miss_ratio"])

    def makespans(self) -> list[dict[str, Any]]:
        """For each workload, load and policy: the least, the mean and the largest
        makespan of its runs, in us."""
        runs: dict[tuple, dict[int, float]] = {}
        for record in self.records:
            key = (record["workload"], record["load"], record["policy"])
            runs.setdefault(key, {})[record["seed"]] = record["makespan_us"]
        rows = []
        for (workload, load, policy), of in runs.items():
            values = list(of.values())
            row = {"workload": workload, "load": load, "policy": policy}
            row.update(min_us=min(values), mean_us=sum(values) / len(values), max_us=max(values))
            rows.append(row)
        return rows

    def worst_trace(self) -> dict[str, Any] | None:
        """The trace of the worst run, which is simulated again: the document of
        `takt-trace show --json`. None for records without their files."""
        return None if self._replay is None or not self.records else self._replay(self.worst())

    def save(self, path: str | os.PathLike) -> None:
        """Writes a page (.html), or the records (.json). The page has misses and
        makespans against the load, a Gantt chart of the worst run, and a table."""
        path = pathlib.Path(path)
        if path.suffix == ".json":
            path.write_text(json.dumps(self.records, indent=1), encoding="utf-8")
        elif path.suffix == ".html":
            path.write_text(_page(self), encoding="utf-8")
        else:
            raise InvalidArgument(f"{path}: the name ends with neither .html nor .json")


def sweep(
    board: str | os.PathLike,
    workloads: str | os.PathLike | Sequence[str | os.PathLike],
    policies: Iterable[str],
    seeds: Iterable[int] = (1,),
    *,
    loads: Iterable[float] = (0.0,),
    seconds: float = 1.0,
    noise: float | None = None,
    client: Any = None,
) -> Table:
    """Simulates every workload under every policy, load and seed on a board.

    board, workloads  files as docs/simulation.md describes them.
    loads             the loads of the board by the periodic streams; 0: the load of
                      the workload itself.
    client            a `dask.distributed.Client`: its workers do the runs, and the
                      runs of a lost worker are repeated elsewhere; the records
                      are the same. None: this process does the runs.
    """
    if isinstance(workloads, (str, os.PathLike)):
        workloads = [workloads]
    board_text = pathlib.Path(board).read_text(encoding="utf-8")
    texts = {os.fspath(w): pathlib.Path(w).read_text(encoding="utf-8") for w in workloads}
    settings = [
        {"workload": w, "load": load, "policy": policy, "seed": seed, "seconds": seconds, "noise": noise}
        for w, load, policy, seed in itertools.product(texts, loads, policies, seeds)
    ]
    arguments = [(board_text, texts[each["workload"]], each) for each in settings]
    if client is None:
        runs = [play(*each) for each in arguments]
    else:
        # pure=False: a run is played for this sweep, not taken from another's.
        futures = client.map(play, *zip(*arguments), pure=False) if arguments else []
        runs = client.gather(futures)
    by_name = {os.path.basename(name): name for name in texts}

    def replay(record: dict[str, Any]) -> dict[str, Any]:
        setting = {key: record[key] for key in ("load", "policy", "seed")}
        name = by_name[record["workload"]]
        return trace(board_text, texts[name], {**setting, "workload": name, "seconds": seconds, "noise": noise})

    return Table([record for run in runs for record in run], replay)


def play(board: str, workload: str, setting: dict[str, Any]) -> list[dict[str, Any]]:
    """One run of takt-sim; the texts of the files, since a worker may be on a
    machine without them."""
    with tempfile.TemporaryDirectory(prefix="takt-") as scratch:
        report = _simulate(scratch, board, workload, setting)
    return [_record(setting, report, stream) for stream in report["streams"]]


def trace(board: str, workload: str, setting: dict[str, Any]) -> dict[str, Any]:
    """The same run, and what ran where."""
    with tempfile.TemporaryDirectory(prefix="takt-") as scratch:
        file = os.path.join(scratch, "run.pftrace")
        _simulate(scratch, board, workload, setting, f"--trace={file}")
        command = [find_tool("takt-trace"), "show", file, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS)
    if done.returncode != 0:
        raise Error(f"takt-trace: {done.stderr.strip()}")
    return json.loads(done.stdout)


def _simulate(scratch: str, board: str, workload: str, setting: dict[str, Any], *flags: str) -> dict[str, Any]:
    board_path = pathlib.Path(scratch, "board.json")
    workload_path = pathlib.Path(scratch, "workload.json")
    board_path.write_text(board, encoding="utf-8")
    workload_path.write_text(workload, encoding="utf-8")
    command = [
        find_tool("takt-sim"),
        os.fspath(board_path),
        os.fspath(workload_path),
        f"--policy={setting['policy']}",
        f"--seed={setting['seed']}",
        f"--seconds={setting['seconds']}",
        f"--load={setting['load']}",
        "--json",
        *flags,
    ]
    if setting["noise"] is not None:
        command.append(f"--noise={setting['noise']}")
    done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS)
    if done.returncode != 0:
        said = done.stderr.strip().replace(scratch + os.sep, "")
        raise Error(f"{os.path.basename(setting['workload'])}: {said}")
    return json.loads(done.stdout)


def _record(setting: dict[str, Any], report: dict[str, Any], stream: dict[str, Any]) -> dict[str, Any]:
    record = {
        "workload": os.path.basename(setting["workload"]),
        "load": setting["load"],
        "policy": setting["policy"],
        "seed": setting["seed"],
        "makespan_us": report["makespan_us"],
        "stream": stream["name"],
    }
    for key in ("criticality", "released", "met", "missed", "dropped", "failed", "miss_ratio", "resources_used"):
        record[key] = stream[key]
    for key, value in stream["response_us"].items():
        record[f"response_{key}_us"] = value
    return record


_COLOURS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#97bbf5")


def _page(table: Table) -> str:
    """One HTML file that loads nothing: misses against load, and the table."""
    rows = table.misses()
    parts = [
        "<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>takt sweep</title><style>"
        "body{font:14px system-ui,sans-serif;margin:2em auto;max-width:60em;padding:0 1em;"
        "color-scheme:light dark}table{border-collapse:collapse}td,th{padding:.2em .8em;"
        "text-align:right;border-bottom:1px solid #8884}td:first-child,th:first-child,"
        "td:nth-child(3),th:nth-child(3){text-align:left}</style></head><body>"
        "<h1>Hard jobs that were late</h1>"
    ]
    for workload in dict.fromkeys(row["workload"] for row in rows):
        of = [row for row in rows if row["workload"] == workload]
        parts.append(f"<h2>{html.escape(workload)}</h2>")
        if len({row["load"] for row in of}) > 1:
            late = {(r["policy"], r["load"]): r["missed"] / (r["released"] or 1) for r in of}
            parts.append("<p>part of the hard jobs that was late, against the load</p>" + _plot(late))
            spans = {
                (r["policy"], r["load"]): r["mean_us"] / 1000
                for r in table.makespans()
                if r["workload"] == workload
            }
            parts.append("<p>makespan in ms, the mean of the seeds, against the load</p>" + _plot(spans))
    worst_trace = table.worst_trace()
    if worst_trace is not None:
        worst = table.worst()
        parts.append(
            f"<h2>The worst run</h2><p>{html.escape(worst['workload'])}, load {worst['load']:g}, "
            f"{html.escape(worst['policy'])}, seed {worst['seed']}: {worst['miss_ratio']:.1%} of "
            f"{html.escape(worst['stream'])} late</p>" + _gantt(worst_trace)
        )
    parts.append("<h2>All settings</h2><table><tr><th>workload<th>load<th>policy<th>released<th>late<th>part</tr>")
    for row in rows:
        part = row["missed"] / row["released"] if row["released"] else 0.0
        parts.append(
            f"<tr><td>{html.escape(row['workload'])}<td>{row['load']:g}<td>"
            f"{html.escape(row['policy'])}<td>{row['released']}<td>{row['missed']}<td>{part:.4f}</tr>"
        )
    parts.append("</table></body></html>\n")
    return "".join(parts)


# A chart of more than this says little, and takes a browser long.
_GANTT_NS_MAX = 100_000_000
_GANTT_SLOTS_MAX = 5000


def _gantt(document: dict[str, Any]) -> str:
    """Each core's and NPU's slots from a little before the first late job on."""
    events = document["events"]
    late = [event["t"] for event in events if event["kind"] in ("job_missed", "job_dropped")]
    begin = max(document["begin_ns"], (late[0] if late else 0) - _GANTT_NS_MAX // 2)
    end = max(begin + 1, min(document["end_ns"], begin + _GANTT_NS_MAX))
    slots = [
        event
        for event in events
        if event["kind"] == "slot" and event["t"] < end and event["t"] + event["ns"] > begin
    ][:_GANTT_SLOTS_MAX]
    tracks = [i for i in range(len(document["tracks"])) if any(slot["track"] == i for slot in slots)]
    names = list(dict.fromkeys(slot["name"] for slot in slots))
    left, width, row = 90, 860, 22
    height = row * (len(tracks) + 1)
    svg = [f"<svg viewBox='0 0 {width} {height + 20}' width='{width}' role='img' fill='currentColor' font-size='11'>"]
    for y, track in enumerate(tracks):
        name = html.escape(document["tracks"][track]["name"])
        svg.append(f"<text x='{left - 6}' y='{y * row + 15}' text-anchor='end'>{name}</text>")
    for slot in slots:
        a, b = max(begin, slot["t"]), min(end, slot["t"] + slot["ns"])
        scale = (width - left) / (end - begin)
        svg.append(
            f"<rect x='{left + (a - begin) * scale:.2f}' y='{tracks.index(slot['track']) * row + 2}' "
            f"width='{max(0.5, (b - a) * scale):.2f}' height='{row - 4}' "
            f"fill='{_COLOURS[names.index(slot['name']) % len(_COLOURS)]}'>"
            f"<title>{html.escape(slot['name'])}: {slot['ns'] / 1000:.0f} us from {slot['t'] / 1e6:.3f} ms</title></rect>"
        )
    svg.append(f"<text x='{left}' y='{height}'>{begin / 1e6:.1f} ms</text>")
    svg.append(f"<text x='{width}' y='{height}' text-anchor='end'>{end / 1e6:.1f} ms</text></svg>")
    legend = (
        f"<span style='color:{_COLOURS[i % len(_COLOURS)]}'>&#9632;</span> {html.escape(name)} "
        for i, name in enumerate(names)
    )
    return "".join(svg) + "<p>" + "".join(legend) + "</p>"


def _plot(values: dict[tuple[str, float], float]) -> str:
    """Values by policy and load: a line a policy."""
    width, height, left, bottom = 640, 280, 50, 30
    loads = sorted({load for _, load in values})
    span = (loads[-1] - loads[0]) or 1.0
    top = max(values.values()) or 1.0

    def x(load: float) -> float:
        return left + (load - loads[0]) / span * (width - left - 120)

    def y(value: float) -> float:
        return height - bottom - value / top * (height - bottom - 10)

    svg = [f"<svg viewBox='0 0 {width} {height}' width='{width}' role='img' fill='currentColor' font-size='11'>"]
    for value in (0.0, top / 2, top):
        svg.append(
            f"<line x1='{left}' x2='{width - 120}' y1='{y(value):.1f}' y2='{y(value):.1f}' stroke='#8886'/>"
            f"<text x='{left - 6}' y='{y(value) + 4:.1f}' text-anchor='end'>{value:.3g}</text>"
        )
    for load in loads:
        svg.append(f"<text x='{x(load):.1f}' y='{height - 10}' text-anchor='middle'>{load:g}</text>")
    for i, policy in enumerate(dict.fromkeys(policy for policy, _ in values)):
        colour = _COLOURS[i % len(_COLOURS)]
        points = " ".join(
            f"{x(load):.1f},{y(values[policy, load]):.1f}" for load in loads if (policy, load) in values
        )
        svg.append(f"<polyline points='{points}' fill='none' stroke='{colour}' stroke-width='2'/>")
        svg.append(
            f"<rect x='{width - 110}' y='{10 + 16 * i}' width='10' height='10' fill='{colour}'/>"
            f"<text x='{width - 95}' y='{19 + 16 * i}'>{html.escape(policy)}</text>"
        )
    svg.append("</svg>")
    return "".join(svg)


def main(arguments: list[str]) -> int:
    """`takt sweep`: prints the misses and writes a page."""
    import argparse

    parser = argparse.ArgumentParser(prog="takt sweep", description=sweep.__doc__.split("\n")[0])
    parser.add_argument("board", metavar="BOARD.json")
    parser.add_argument("workloads", metavar="WORKLOAD.json", nargs="+")
    parser.add_argument("--policies", default="job-shop,edf,fifo", help="default: job-shop,edf,fifo")
    parser.add_argument("--seeds", type=int, default=1, help="how many; default: 1")
    parser.add_argument("--loads", default="0", help='such as "0.5,0.8,1.1"; 0: as the workload says')
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--workers", type=int, default=0, help="processes; 0: this one")
    parser.add_argument("-o", "--output", metavar="FILE", help=".html or .json")
    options = parser.parse_args(arguments)

    def run(client: Any) -> Table:
        return sweep(
            options.board,
            options.workloads,
            options.policies.split(","),
            range(1, options.seeds + 1),
            loads=[float(load) for load in options.loads.split(",")],
            seconds=options.seconds,
            client=client,
        )

    if options.workers:
        try:
            from dask.distributed import Client, LocalCluster
        except ImportError as error:
            raise ValueError(f'--workers: {error}: pip install "dask[distributed]"') from None

        with LocalCluster(n_workers=options.workers, threads_per_worker=1, dashboard_address=None) as cluster:
            with Client(cluster) as client:
                table = run(client)
    else:
        table = run(None)
    for row in table.misses():
        print(f"{row['workload']:24} {row['load']:6g} {row['policy']:18} {row['missed']:7} of {row['released']}")
    if options.output:
        table.save(options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
