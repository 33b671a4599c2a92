#include "trace/gantt_page.h"

#include <string>

#include "base/status.h"
#include "trace/listing.h"

namespace takt::trace {
namespace {

constexpr char kHead[] = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>takt trace</title>
<style>
body { font: 12px sans-serif; margin: 0; }
#top { padding: 6px 10px; border-bottom: 1px solid #ccc; height: 32px; }
canvas { display: block; cursor: crosshair; }
</style>
</head>
<body>
<div id="top"></div>
<canvas id="rows"></canvas>
<script id="trace" type="application/json">
)html";

constexpr char kTail[] = R"html(</script>
<script>
"use strict";
const trace = JSON.parse(document.getElementById("trace").textContent);
const top_line = document.getElementById("top");
const canvas = document.getElementById("rows");
const LABEL = 220, ROW = 26;
const rows = trace.tracks.map((track) => ({track, spans: [], points: []}));
for (const event of trace.events) {
  const row = rows[event.track];
  event.depth = 0;
  if (event.ns === undefined) { row.points.push(event); continue; }
  while (row.open && row.open.t + row.open.ns <= event.t) {
    row.open = row.open.outer;
  }
  event.depth = row.open ? Math.min(row.open.depth + 1, 3) : 0;
  event.outer = row.open;
  row.open = event;
  row.spans.push(event);
}
let from = trace.begin_ns, to = Math.max(trace.end_ns, trace.begin_ns + 1);
function colour(text) {
  let hash = 7;
  for (let i = 0; i < text.length; ++i) {
    hash = (hash * 31 + text.charCodeAt(i)) >>> 0;
  }
  return "hsl(" + hash % 360 + ",60%,70%)";
}
function x_of(t) {
  return LABEL + (t - from) / (to - from) * (canvas.width - LABEL);
}
function text_of(event) {
  const parts = [event.kind];
  for (const key of ["name", "id", "of", "value", "detail"]) {
    if (event[key] !== undefined) {
      parts.push(key === "name" ? event.name : key + " " + event[key]);
    }
  }
  let text = parts.join(" ") + " at " +
      ((event.t - trace.begin_ns) / 1e6).toFixed(6) + " ms";
  if (event.ns !== undefined) text += " for " + event.ns / 1e3 + " us";
  return text;
}
function draw() {
  canvas.width = window.innerWidth;
  canvas.height = rows.length * ROW + 24;
  const g = canvas.getContext("2d");
  g.font = "11px sans-serif";
  rows.forEach((row, i) => {
    const y = i * ROW;
    g.fillStyle = i % 2 ? "#f4f4f4" : "#fff";
    g.fillRect(0, y, canvas.width, ROW);
    let last = -1;
    for (const span of row.spans) {
      if (span.t + span.ns < from || span.t > to) continue;
      const x = Math.max(x_of(span.t), LABEL);
      const width = Math.max(x_of(span.t + span.ns) - x, 1);
      if (width <= 1 && x - last < 0.5) continue;
      last = x;
      const inset = span.depth * 4;
      g.fillStyle = colour(span.name || span.kind);
      g.fillRect(x, y + 3 + inset, width, ROW - 6 - inset);
      if (width > 40) {
        g.fillStyle = "#000";
        g.save();
        g.beginPath();
        g.rect(x, y, width - 2, ROW);
        g.clip();
        g.fillText(span.name || span.kind, x + 3, y + 17);
        g.restore();
      }
    }
    for (const point of row.points) {
      if (point.t < from || point.t > to) continue;
      g.fillStyle = /missed|failed|dropped/.test(point.kind) ? "#d00" : "#333";
      g.fillRect(x_of(point.t), y + ROW - 6, 1, 5);
    }
    g.fillStyle = i % 2 ? "#f4f4f4" : "#fff";
    g.fillRect(0, y, LABEL - 2, ROW);
    g.fillStyle = "#000";
    g.fillText(row.track.kind + " " + row.track.name, 6, y + 17, LABEL - 12);
  });
  const step = Math.pow(10, Math.floor(Math.log10((to - from) / 4)));
  g.fillStyle = "#666";
  for (let t = Math.ceil((from - trace.begin_ns) / step) * step;
       t < to - trace.begin_ns; t += step) {
    const x = x_of(t + trace.begin_ns);
    g.fillRect(x, 0, 0.5, rows.length * ROW);
    g.fillText((t / 1e6).toPrecision(6) + " ms", x + 2, rows.length * ROW + 14);
  }
}
function describe(text) {
  top_line.textContent = (trace.simulated ? "simulation" : "run") + ", " +
      trace.events.length + " events, " + trace.lost + " lost. " +
      "Wheel: zoom; drag: move; double click: all. " + text;
}
function find(x, y) {
  const row = rows[Math.floor(y / ROW)];
  if (!row || x < LABEL) return null;
  let best = null;
  for (const span of row.spans) {
    if (x >= x_of(span.t) - 1 && x <= x_of(span.t + span.ns) + 1) best = span;
  }
  for (const point of row.points) {
    if (Math.abs(x - x_of(point.t)) < 2) best = point;
  }
  return best;
}
let drag = null;
canvas.addEventListener("mousedown", (e) => { drag = e.offsetX; });
window.addEventListener("mouseup", () => { drag = null; });
canvas.addEventListener("mousemove", (e) => {
  if (drag !== null) {
    const by = (drag - e.offsetX) / (canvas.width - LABEL) * (to - from);
    drag = e.offsetX;
    from += by;
    to += by;
    draw();
    return;
  }
  const event = find(e.offsetX, e.offsetY);
  describe(event ? text_of(event) : "");
});
canvas.addEventListener("wheel", (e) => {
  e.preventDefault();
  const at = from + (e.offsetX - LABEL) / (canvas.width - LABEL) * (to - from);
  const factor = e.deltaY > 0 ? 1.25 : 0.8;
  if ((to - from) * factor < 100) return;
  from = at - (at - from) * factor;
  to = at + (to - at) * factor;
  draw();
}, {passive: false});
canvas.addEventListener("dblclick", () => {
  from = trace.begin_ns;
  to = Math.max(trace.end_ns, from + 1);
  draw();
});
window.addEventListener("resize", draw);
describe("");
draw();
</script>
</body>
</html>
)html";

}  // namespace

absl::Status WriteGanttPage(const Trace& trace, Sink sink) {
  TAKT_RETURN_IF_ERROR(sink(kHead));
  std::string escaped;
  TAKT_RETURN_IF_ERROR(WriteJson(trace, [&](absl::string_view bytes) {
    // A name must not end the script: "<" says the same inside of JSON's
    // texts, and is nowhere else.
    escaped.clear();
    for (const char c : bytes) {
      if (c == '<') {
        escaped += "\\u003c";
      } else {
        escaped += c;
      }
    }
    return sink(escaped);
  }));
  return sink(kTail);
}

}  // namespace takt::trace
