#!/usr/bin/env python3
"""Draws a picture for each of the documentation's concepts from recorded runs.

usage: draw_traces.py DIRECTORY [PICTURES]
       DIRECTORY holds the traces of scripts/record_traces.py; PICTURES is where
       the .svg files go, default: docs/pictures
"""
import html
import json
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
COLOURS = {"perception": "#9db2c6", "policy": "#e07a1f", "estimator": "#1f9e89", "planner": "#7b61b5",
           "monitor": "#c2a83e", "gemm_i8": "#7b61b5"}
LATE, OVERDUE, INK, SOFT, WAIT = "#c62f2f", "#f0c4c0", "#1f2328", "#57606a", "#e4e8ec"
WIDTH, LABEL, ROW = 920, 148, 24


class Trace:
    def __init__(self, path):
        document = json.loads(path.read_text())
        self.begin, self.end = document["begin_ns"], document["end_ns"]
        self.tracks = document["tracks"]
        self.events = sorted(document["events"], key=lambda e: e["t"])

    def of(self, *kinds):
        return [e for e in self.events if e["kind"] in kinds]

    def calls(self):
        """Invocation to the name of its module: policy.act is of policy."""
        return {e["id"]: e["name"].split(".")[0] for e in self.of("invocation_begin")}

    def busiest(self, length, kinds=("dispatch",)):
        """The begin of the window of this length in which most work ran."""
        spans = [(e["t"], e["ns"]) for e in self.of(*kinds)]
        windows = {}
        for time, ns in spans:
            for k in (0, 1):  # Windows overlap by a half.
                place = int((time - self.begin) // (length / 2)) - k
                windows[place] = windows.get(place, 0) + ns
        last = (self.end - self.begin - length) // (length / 2)
        return self.begin + int(max((w for w in windows if 2 <= w <= last), key=windows.get) * length / 2)

    def streams(self):
        """Job to the name of its stream."""
        return {e["id"]: e["name"].split(".")[0] for e in self.of("job_released")}


class Picture:
    """Rows of bars over time. Times are in ns."""

    def __init__(self, about):
        self.about, self.parts, self.y, self.names = about, [], 14, {}

    def text(self, x, y, text, size=12, colour=INK, anchor="start", weight="normal"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" text-anchor="{anchor}" '
                          f'font-weight="{weight}">{html.escape(text)}</text>')

    def panel(self, title, begin, end, rows, unit=1e6, unit_name="ms"):
        """`rows` are (label, bars, marks); a bar is (from, to, colour, height from
        0 to 1, text), a mark (time, colour, is_up)."""
        scale = (WIDTH - LABEL - 16) / (end - begin)

        def place(time):
            return LABEL + min(max(time - begin, 0), end - begin) * scale

        if title:
            self.text(12, self.y + 12, title, 14, weight="bold")
            self.y += 26
        top = self.y
        for label, bars, marks in rows:
            self.parts.append(f'<rect x="{LABEL}" y="{self.y}" width="{WIDTH - LABEL - 16}" height="{ROW - 4}" '
                              f'fill="#f6f8fa"/>')
            self.text(LABEL - 8, self.y + 14, label, anchor="end")
            for start, stop, colour, height, name in bars:
                if stop <= begin or start >= end:
                    continue
                x, width = place(start), max(place(stop) - place(start), 0.6)
                tall = (ROW - 4) * height
                self.parts.append(f'<rect x="{x:.1f}" y="{self.y + (ROW - 4 - tall) / 2:.1f}" width="{width:.1f}" '
                                  f'height="{tall:.1f}" fill="{colour}"/>')
                if name and width > 7 * len(name):
                    self.text(x + width / 2, self.y + 14, name, 11, anchor="middle")
            for time, colour, is_up in marks:
                if begin <= time <= end:
                    x, y = place(time), self.y + (ROW - 4 if is_up else 0)
                    tip = y - 7 if is_up else y + 7
                    self.parts.append(f'<path d="M{x - 3.5:.1f},{y} h7 L{x:.1f},{tip} z" fill="{colour}"/>')
            self.y += ROW
        step = next(s for s in (n * 10**p for p in range(-3, 6) for n in (1, 2, 5)) if (end - begin) / unit / s <= 9)
        for i in range(int((end - begin) / unit / step + 1e-6) + 1):
            x = place(begin + i * step * unit)
            self.parts.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{self.y}" stroke="#00000018"/>')
            anchor = "start" if i == 0 else "end" if x > WIDTH - 32 else "middle"
            self.text(x, self.y + 12, f"{i * step:g} {unit_name}", 11, SOFT, anchor)
        self.y += 26

    def legend(self, entries):
        x = LABEL
        for name, colour, shape in entries:
            wide = 8 * len(name) * 0.84 + 34
            if x + wide > WIDTH:
                x, self.y = LABEL, self.y + 20
            if shape == "bar":
                self.parts.append(f'<rect x="{x}" y="{self.y + 2}" width="14" height="11" fill="{colour}"/>')
            else:
                y, tip = (self.y + 12, self.y + 4) if shape == "up" else (self.y + 4, self.y + 12)
                self.parts.append(f'<path d="M{x + 3},{y} h8 L{x + 7},{tip} z" fill="{colour}"/>')
            self.text(x + 20, self.y + 12, name, 12, SOFT)
            x += wide
        self.y += 24

    def save(self, path):
        path.write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.y:.0f}" font-family="sans-serif" '
            f'role="img" aria-label="{html.escape(self.about)}">\n'
            f'<rect width="{WIDTH}" height="{self.y:.0f}" fill="#ffffff"/>\n' + "\n".join(self.parts) + "\n</svg>\n")


def stream_rows(trace):
    """A row for each stream: pale from a job's release to its end, red from its
    deadline on, its work in colour."""
    jobs = {e["id"]: [e["t"], None, e.get("value", 1 << 63)] for e in trace.of("job_released")}
    streams = trace.streams()
    for e in trace.of("job_met", "job_missed", "job_dropped", "job_failed"):
        if e["id"] in jobs:
            jobs[e["id"]][1] = e["t"]
    rows = {name: ([], []) for name in sorted(set(streams.values()), key=list(COLOURS).index, reverse=True)}
    overdue = []
    for job, (release, done, deadline) in jobs.items():
        bars, marks = rows[streams[job]]
        done = done or trace.end
        bars.append((release, done, WAIT, 0.9, None))
        if done > deadline:
            overdue.append((streams[job], (max(deadline, release), done, OVERDUE, 0.9, None)))
        if streams[job] != "perception":
            marks.append((release, SOFT, True))
    for name, bar in overdue:
        rows[name][0].append(bar)
    job_of = {e["id"]: e.get("of") for e in trace.of("invocation_begin")}
    for e in trace.of("dispatch", "program"):
        # A call that was begun before the trace has no number in its dispatches.
        name = streams.get(job_of.get(e.get("of") if e["kind"] == "dispatch" else e["id"]))
        if name:
            rows[name][0].append((e["t"], e["t"] + e["ns"], COLOURS[name], 0.9, None))
    for e in trace.of("job_missed"):
        if e["id"] in streams:  # Others were released before the trace began.
            rows[streams[e["id"]]][1].append((e["t"], LATE, False))
    return [(name, bars, marks) for name, (bars, marks) in rows.items()]


def late(trace, begin, end, name):
    ends = [e for e in trace.of("job_met", "job_missed") if e["name"].startswith(name) and begin <= e["t"] < end]
    return sum(e["kind"] == "job_missed" for e in ends), len(ends)


def scheduling(traces, path):
    picture = Picture("Jobs of three streams in 40 ms, first come, first served, and with the job shop")
    for title, trace in (("First come, first served", traces["first_come"]), ("Job shop", traces["job_shop"])):
        begin = trace.busiest(40_000_000)
        end = begin + 40_000_000
        rows = stream_rows(trace)
        counts = ", ".join("{} {} of {}".format(n, *late(trace, begin, end, n)) for n in ("estimator", "policy"))
        picture.panel(f"{title}; late in these 40 ms: {counts}", begin, end, rows)
    picture.legend([(n, COLOURS[n], "bar") for n in ("estimator", "policy", "perception")]
                   + [("released", SOFT, "up"), ("waits", WAIT, "bar"), ("after its deadline", OVERDUE, "bar"),
                      ("late end", LATE, "down")])
    picture.save(path)


def streams(traces, path):
    trace = traces["job_shop"]
    busiest = trace.busiest(12_000_000)
    released = next(e["t"] for e in trace.of("job_released") if e["name"].startswith("policy") and e["t"] > busiest)
    begin, end = released - 300_000, released + 11_000_000
    picture = Picture("Releases, deadlines and work of three streams in 11 ms")
    rows = stream_rows(trace)
    names = trace.streams()
    for e in trace.of("job_released"):
        if begin <= e["t"] <= end and e.get("value", 1 << 63) < 1 << 62:
            next(r for r in rows if r[0] == names[e["id"]])[2].append((e["value"], LATE, False))
    picture.panel("", begin, end, [r for r in rows])
    picture.legend([("a job is released", SOFT, "up"), ("its deadline", LATE, "down"),
                    ("released, not yet done", WAIT, "bar")]
                   + [(f"work of {n}", COLOURS[n], "bar") for n in ("estimator", "policy", "perception")])
    picture.save(path)


def executor(traces, path):
    """Around a moment in which a worker leaves perception for a policy."""
    trace = traces["job_shop"]
    calls = trace.calls()
    length = 3_000_000
    tiles = [(e["t"], e["track"], calls.get(e.get("of"))) for e in trace.of("dispatch")]

    def seen(moment):
        """How many tracks work around it, and how many tiles of perception."""
        near = [(track, name) for time, track, name in tiles if abs(time - moment) < length / 3]
        return len({track for track, _ in near}), sum(name == "perception" for _, name in near)

    moment = max((time for time, _, name in tiles if name == "policy" and time > trace.begin + 100_000_000), key=seen)
    begin, end = moment - length * 2 // 5, moment + length * 3 // 5
    picture = Picture("Tiles on each worker in 3 ms")
    rows = []
    for i, track in sorted(enumerate(trace.tracks), key=lambda t: t[1]["name"]):
        bars = [(e["t"], e["t"] + e["ns"], COLOURS[calls[e["of"]]], 0.9, None) for e in trace.of("dispatch")
                if e["track"] == i and e.get("of") in calls]
        # A gap between two tiles, so that each is seen.
        gap = (end - begin) / 1500
        bars = [(a, max(b - gap, a + 1), *rest) for a, b, *rest in bars]
        if any(a < end and b > begin for a, b, *_ in bars):
            rows.append((track["name"], bars, []))
    picture.panel("", begin, end, rows)
    picture.legend([(f"a tile of {n}", COLOURS[n], "bar") for n in ("perception", "policy", "estimator")])
    picture.save(path)


def fences(traces, path):
    """The queue operations of one call. Each is issued at once and waits for the
    fence of the one before it."""
    trace = traces["npu"]
    operations = {}
    for e in trace.of("operation_issued", "operation_ready", "operation_done"):
        if e["kind"] == "operation_issued" or e["id"] in operations:
            operations.setdefault(e["id"], {"name": e["name"]})[e["kind"]] = e["t"]
    operations = list(operations.values())
    begin = operations[0]["operation_issued"]
    end = max(o["operation_done"] for o in operations)
    begin, end = begin - (end - begin) // 50, end + (end - begin) // 50
    rows = []
    for number, o in enumerate(operations, 1):
        ready = o.get("operation_ready", o["operation_issued"])
        marks = [(o["operation_issued"], SOFT, True), (o["operation_done"], COLOURS["estimator"], False)]
        rows.append((f"{number} {o['name']}", [(o["operation_issued"], ready, WAIT, 0.9, None),
                                               (ready, o["operation_done"], COLOURS["policy"], 0.9, None)], marks))
    picture = Picture("Queue operations of one call and the fences between them")
    picture.panel("", begin, end, rows, 1e3, "µs")
    picture.legend([("issued", SOFT, "up"), ("waits for its fence", WAIT, "bar"), ("runs", COLOURS["policy"], "bar"),
                    ("signals its fence", COLOURS["estimator"], "down")])
    picture.save(path)


def npu(traces, path):
    trace = traces["npu"]
    batches = trace.of("npu_batch")
    begin = batches[0]["t"] - 60_000
    end = max(e["t"] + e["ns"] for e in batches) + 25_000
    thread = [(e["t"], e["t"] + e["ns"], COLOURS["perception"], 0.9, None) for e in trace.of("dispatch")]
    unit = [(e["t"], e["t"] + e["ns"], COLOURS["policy"], 0.9, None) for e in batches]
    picture = Picture("A call on the CPU and the NPU")
    picture.panel("", begin, end, [("the CPU", thread, []), ("the NPU", unit, [])], 1e3, "µs")
    picture.legend([("a dispatch of the module", COLOURS["perception"], "bar"),
                    ("its commands on the NPU", COLOURS["policy"], "bar")])
    picture.save(path)


def planning(traces, path):
    trace = traces["plan"]
    planned = trace.of("planned_slot")
    begin = planned[0]["t"]
    # The first job is the strict one; the next begins after a pause.
    last = begin
    first = []
    for e in planned:
        if e["t"] > last + 50_000_000:
            break
        first.append(e)
        last = max(last, e["t"] + e["ns"])
    end = last + (last - begin) // 40
    calls = trace.calls()
    model = {"detect": "perception", "act": "policy", "project": "gemm_i8", "update": "estimator"}

    def bars(kind, track):
        return [(e["t"], e["t"] + e["ns"], COLOURS[model[e["name"].split("_")[0]]], 0.9, None)
                for e in trace.of(kind) if e["track"] == track and e["t"] < end]

    rows = []
    cores = [i for i, t in enumerate(trace.tracks) if t["kind"] == "core"]
    plans = [i for i, t in enumerate(trace.tracks) if t["kind"] == "plan"]
    for number, (core, plan) in enumerate(zip(cores, plans)):
        rows += [(f"core {number}, planned", bars("planned_slot", plan), []), (f"core {number}, ran", bars("slot", core), [])]
    picture = Picture("A strict plan and how it was carried out")
    picture.panel("", begin, end, rows)
    used = [n for n in ("perception", "policy", "gemm_i8", "estimator")
            if any(bar[2] == COLOURS[n] for row in rows for bar in row[1])]
    picture.legend([(n, COLOURS[n], "bar") for n in used])
    picture.save(path)


def simulation(traces, path):
    trace = traces["simulation"]
    streams = trace.streams()
    rows = []
    for i, track in enumerate(trace.tracks):
        if track["kind"] in ("core", "npu"):
            bars = [(e["t"], e["t"] + e["ns"], COLOURS[streams[e["id"]]], 0.9, None) for e in trace.of("slot")
                    if e["track"] == i and e["id"] in streams]
            rows.append((track["name"], bars, []))
    begin = trace.begin
    picture = Picture("Simulated work of five streams on eight cores and an NPU")
    picture.panel("", begin, begin + 60_000_000, rows)
    picture.legend([(n, COLOURS[n], "bar") for n in sorted(set(streams.values()), key=list(COLOURS).index)])
    picture.save(path)


PICTURES = [(scheduling, ["first_come", "job_shop"]), (streams, ["job_shop"]), (executor, ["job_shop"]),
            (fences, ["npu"]), (npu, ["npu"]), (planning, ["plan"]), (simulation, ["simulation"])]


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    source = pathlib.Path(sys.argv[1])
    target = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else TOP / "docs" / "pictures"
    target.mkdir(parents=True, exist_ok=True)
    traces = {name: Trace(source / f"{name}.json") for _, names in PICTURES for name in names}
    for draw, names in PICTURES:
        draw(traces, target / f"{draw.__name__}.svg")
        print(target / f"{draw.__name__}.svg")


if __name__ == "__main__":
    main()
