#!/usr/bin/env python3
"""Draws what a robot did, from the records of run.sh: picture.svg, film.gif and
the table of numbers in its README.md, and in DIRECTORY a page with all three.
The numbers of the cart are at the top of the repository as well.

usage: picture.py DIRECTORY [cart|two_wheeled]        with WAY.RUN.json
needs: mujoco==3.13.0 numpy pillow
"""
import os

os.environ.setdefault("MUJOCO_GL", "osmesa")
os.environ.setdefault("LP_NUM_THREADS", "0")

import base64
import html
import json
import pathlib
import statistics
import sys

import mujoco
from PIL import Image, ImageDraw, ImageFont

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
# Of each robot: its folder, and the pages that have its numbers.
ROBOTS = {
    "cart": (HERE, [HERE / "README.md", TOP / "README.md"]),
    "two_wheeled": (HERE / "two_wheeled", [HERE / "two_wheeled" / "README.md"]),
}
SHOWN = ["first-come", "threads", "takt"]  # In the picture and the film.
NAMES = {
    "first-come": "first come, first served",
    "threads": "OS threads for each network",
    "threads-fifo": "OS threads, real-time for control",
    "takt": "Takt",
}
BEGIN, END = "<!-- balance: written by samples/balance/run.sh -->", "<!-- balance: end -->"
FILM_SECONDS, FILM_STEP = 7, 5  # A frame for every 5th moment: 20 a second.


def read(directory):
    records = {}
    for way in NAMES:
        runs = [json.loads(p.read_text()) for p in sorted(directory.glob(f"{way}.[0-9]*.json"))]
        if runs:
            records[way] = runs
    missing = [way for way in SHOWN if way not in records]
    if missing:
        sys.exit(f"picture.py: {directory} has no record of {', '.join(missing)}")
    return records


def share(runs, stream):
    late = sum(r[stream]["late"] for r in runs)
    return 100 * late / sum(r[stream]["jobs"] for r in runs)


def percent(value):
    return "0 %" if value == 0 else f"{value:.2f} %" if value < 1 else f"{value:.0f} %"


def panel(run, x, y, width, height):
    """The angle from upright over time; red where the robot lies."""
    seconds, limit = run["seconds"], 0.7

    def place(time, angle):
        angle = max(-limit, min(limit, angle))
        return f"{x + width * time / seconds:.1f},{y + height * (0.5 - 0.5 * angle / limit):.1f}"

    def lying(begin, end):
        return (f'<rect x="{x + width * begin / seconds:.1f}" y="{y}" width="{width * (end - begin) / seconds:.1f}" '
                f'height="{height}" fill="#e3b4ae"/>')

    parts = [f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="#f6f8fa"/>']
    down, line, lines = None, [], []
    for time, angle, _, _, is_down, *_ in run["moments"]:
        if is_down and down is None:
            down = time
            lines.append(line + [place(time, angle)])
            line = []
        elif not is_down:
            if down is not None:
                parts.append(lying(down, time))
                down = None
            line.append(place(time, angle))
    if down is not None:
        parts.append(lying(down, seconds))
    middle = y + height / 2
    parts.append(f'<line x1="{x}" y1="{middle}" x2="{x + width}" y2="{middle}" stroke="#c5ccd3"/>')
    parts += [f'<polyline points="{" ".join(points)}" fill="none" stroke="#16507b" stroke-width="1.2"/>'
              for points in lines + [line] if len(points) > 1]
    for tick in range(0, int(seconds) + 1, 5):
        anchor = "start" if tick == 0 else "end" if tick > 0.95 * seconds else "middle"
        parts.append(f'<text x="{x + width * tick / seconds:.1f}" y="{y + height + 15}" '
                     f'text-anchor="{anchor}" font-size="11" fill="#57606a">{tick} s</text>')
    return parts


def draw(records, path):
    width, height, gap = 292, 110, 22
    total = 3 * width + 2 * gap + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} 216" font-family="sans-serif" role="img" '
        'aria-label="The angle of the robot over time in three ways of scheduling">',
        f'<rect width="{total}" height="216" fill="#ffffff"/>',
    ]
    for i, way in enumerate(SHOWN):
        x, run = 20 + i * (width + gap), records[way][0]
        fell = "stands" if run["falls"] == 0 else f'falls {run["falls"]} times'
        late = percent(share([run], "policy"))
        parts += [
            f'<text x="{x}" y="22" font-size="15" font-weight="bold" fill="#1f2328">{NAMES[way]}</text>',
            f'<text x="{x}" y="42" font-size="13" fill="#1f2328">{fell}: upright {run["upright_s"]:.1f} of '
            f'{run["seconds"]:g} s</text>',
            f'<text x="{x}" y="200" font-size="12" fill="#1f2328">policy late: {late}, slowest '
            f'{run["policy"]["max_ms"]:.1f} ms; {run["detector"]["jobs"] / run["seconds"]:.1f} pictures/s</text>',
        ]
        parts += panel(run, x, 54, width, height)
    path.write_text("\n".join(parts + ["</svg>"]) + "\n")


def film(records, path):
    model = mujoco.MjModel.from_xml_path(str(path.parent / "robot.xml"))
    data = mujoco.MjData(model)
    width, height, head = 320, 192, 42
    renderer = mujoco.Renderer(model, height, width)
    bold = ImageFont.load_default(14)
    plain = ImageFont.load_default(12)
    frames = []
    count = min(int(FILM_SECONDS * 100), *(len(records[w][0]["moments"]) for w in SHOWN))
    for k in range(0, count, FILM_STEP):
        frame = Image.new("RGB", (len(SHOWN) * width, height + head), "white")
        pen = ImageDraw.Draw(frame)
        for i, way in enumerate(SHOWN):
            moments = records[way][0]["moments"]
            time, _, _, ball, _, *joints = moments[k]
            data.qpos[:] = joints
            data.mocap_pos[0, 0] = ball
            mujoco.mj_forward(model, data)
            renderer.update_scene(data, camera="front")
            frame.paste(Image.fromarray(renderer.render()), (i * width, head))
            downs = [m[4] for m in moments[: k + 1]]
            falls = sum(b and not a for a, b in zip([0] + downs, downs))
            pen.text((i * width + 8, 4), NAMES[way], "black", bold)
            text = f"{time:4.1f} s: " + ("stands" if falls == 0 else f"fell {falls} times" if falls > 1 else "fell once")
            pen.text((i * width + 8, 22), text, "#b3261e" if falls else "#1a7f37", plain)
        frames.append(frame)
    palette = frames[len(frames) // 2].quantize(48, dither=Image.Dither.NONE)
    frames = [f.quantize(palette=palette, dither=Image.Dither.NONE) for f in frames]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=10 * FILM_STEP, loop=0, optimize=True)


def machine():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    is_virtual = any(line.startswith("flags") and " hypervisor" in line for line in lines)
    return f"{len(os.sched_getaffinity(0))} {'virtual ' if is_virtual else ''}cores of an {models[0] if models else 'unknown processor'}"


def table(records):
    any_runs = next(iter(records.values()))
    lines = [
        "| way | falls, each run | upright | estimator late | policy late | policy, slowest | pictures/s |",
        "|---|---|---|---|---|---|---|",
    ]
    for way, runs in records.items():
        upright = 100 * sum(r["upright_s"] for r in runs) / sum(r["seconds"] for r in runs)
        pictures = statistics.median(r["detector"]["jobs"] / r["seconds"] for r in runs)
        lines.append(
            f"| {NAMES[way]} | {', '.join(str(r['falls']) for r in runs)} | {upright:.0f} % "
            f"| {percent(share(runs, 'estimator'))} | {percent(share(runs, 'policy'))} "
            f"| {max(r['policy']['max_ms'] for r in runs):.1f} ms | {pictures:.1f} |")
    foreign = statistics.median(r["foreign_cores"] for runs in records.values() for r in runs)
    load = f"Other processes used {foreign:.1f} cores meanwhile." if foreign >= 0.1 else "The machine was quiet."
    lines += ["", f"{len(any_runs)} run{'s' if len(any_runs) > 1 else ''} of {any_runs[0]['seconds']:g} s each, on {machine()}. {load}"]
    if not all(r["world_is_real_time"] for runs in records.values() for r in runs):
        lines[-1] += " The system refused `SCHED_FIFO`."
    return "\n".join(lines)


def write_table(path, text):
    page = path.read_text()
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        sys.exit(f"picture.py: {path} has no place for the numbers")
    before, rest = page.split(BEGIN)
    path.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}")


def page(folder, text, path):
    """Everything in one file, to open in a browser."""
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    cells = ["".join(f"<{kind}>{html.escape(cell)}</{kind}>" for cell in row)
             for kind, row in zip(["th"] + ["td"] * len(rows), rows)]
    film_data = base64.b64encode((folder / "film.gif").read_bytes()).decode()
    path.write_text(
        '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        "<title>A robot that falls if its policy is late</title>"
        "<style>body{font:15px sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem}"
        "svg,img{width:100%;height:auto}table{border-collapse:collapse}td,th{padding:.3em .8em;text-align:left;"
        "border-bottom:1px solid #ddd}</style>"
        f"<h1>A robot that falls if its policy is late</h1>{(folder / 'picture.svg').read_text()}"
        f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table><p>{html.escape(text.splitlines()[-1])}</p>"
        f'<img alt="A film of the three runs" src="data:image/gif;base64,{film_data}">\n')


def main():
    robot = sys.argv[2] if len(sys.argv) > 2 else "cart"
    if len(sys.argv) not in (2, 3) or robot not in ROBOTS:
        sys.exit(__doc__)
    directory = pathlib.Path(sys.argv[1])
    folder, pages = ROBOTS[robot]
    records = read(directory)
    draw(records, folder / "picture.svg")
    film(records, folder / "film.gif")
    text = table(records)
    for path in pages:
        write_table(path, text)
    page(folder, text, directory / "page.html")
    print(text)


if __name__ == "__main__":
    main()
