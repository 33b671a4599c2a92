"use strict";
// The script of a trace's page. From top to bottom: the trace is read, made
// into jobs, owners and rows, drawn, and asked for with mouse and keys. All
// times are nanoseconds after the trace's first event.

const $ = (id) => document.getElementById(id);

// ---------------------------------------------------------------- the trace

// How gantt_page.cc writes events: numbers in base 128, lowest part first, the
// highest bit set on all bytes but the last of a number.
class Numbers {
  constructor(text) {
    const bytes = atob(text.trim());
    this.bytes = new Uint8Array(bytes.length);
    for (let i = 0; i < bytes.length; ++i) this.bytes[i] = bytes.charCodeAt(i);
    this.at = 0;
  }
  next() {
    let value = 0, scale = 1;
    for (;;) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
  }
  // Even numbers are 0, 1, 2, ... and odd ones -1, -2, ...
  nextSigned() {
    const value = this.next();
    return value % 2 ? -(value + 1) / 2 : value / 2;
  }
}

const trace = JSON.parse($("trace").textContent);
const LENGTH = Math.max(trace.length_ns, 1);
const HAS_DEADLINE = new Set(
    ["job_released", "invocation_begin", "decision_late",
     "decision_admission"]);

function readEvents() {
  const numbers = new Numbers($("events").textContent);
  // Ids that are too large for a number are in a table, as texts.
  const id = () => {
    const value = numbers.next();
    return value % 2 ? trace.ids[(value - 1) / 2] : value / 2;
  };
  const events = [];
  let t = 0;
  for (let i = 0; i < trace.event_count; ++i) {
    t += numbers.next();
    const kind = trace.kinds[numbers.next()];
    const event = {t, kind: kind.name, track: numbers.next(),
                   name: trace.names[numbers.next()]};
    if (kind.span) event.ns = numbers.next();
    event.id = id();
    event.of = id();
    event.detail = numbers.next();
    if (kind.name === "dispatch") {
      event.tiles = [numbers.next(), numbers.next()];
    } else if (HAS_DEADLINE.has(kind.name)) {
      event.value = numbers.next() ? numbers.nextSigned() : null;
    } else {
      event.value = numbers.nextSigned();
    }
    events.push(event);
  }
  return events;
}
const events = readEvents();
const end = (event) => event.t + (event.ns || 0);

// ---------------------------------------------------------- jobs and owners

// An owner is a stream, or a function that is called outside of streams; it
// has a colour. A job is one release of a stream, or one such call. If there is
// one owner only, each kernel is an owner too, so that colours tell something.
const owners = new Map();
function ownerOf(name) {
  if (!owners.has(name)) {
    owners.set(name, {name, index: owners.size, jobs: [], ns: 0, hidden: false,
                      is_stream: false});
  }
  return owners.get(name);
}

// By the ids of releases, calls and operations.
const job_of_id = new Map();
const jobs = [];
// The number of a stream's job is in the lower 48 bits of its id, as reports
// and captures have it. Calls are counted from 1.
function numberOf(event, owner) {
  return /^job_/.test(event.kind) ? Number(BigInt(event.id) % (1n << 48n)) :
      owner.jobs.length + 1;
}
function addJob(event, owner, deadline) {
  const job = {kind: "job", owner, track: event.track, t: event.t, end: null,
               released: event.t, deadline, outcome: "open",
               number: numberOf(event, owner), id: event.id, spans: []};
  owner.jobs.push(job);
  jobs.push(job);
  if (event.id) job_of_id.set(event.id, job);
  return job;
}

const OUTCOMES = {job_met: "met", job_missed: "missed",
                  job_dropped: "dropped", job_failed: "failed"};

function findJobs() {
  for (const track of trace.tracks) {
    if (track.kind === "stream") ownerOf(track.name).is_stream = true;
  }
  for (const event of events) {
    const job = job_of_id.get(event.id);
    if (event.kind === "job_released") {
      const owner = ownerOf(trace.tracks[event.track].name);
      addJob(event, owner, event.value === null ? null : event.t + event.value);
    } else if (OUTCOMES[event.kind]) {
      // Without a job its release was overwritten.
      const over = job ||
          addJob(event, ownerOf(trace.tracks[event.track].name), null);
      over.end = event.t;
      over.outcome = OUTCOMES[event.kind];
      over.response = event.value;
      // A response counts from when the job should have been released.
      if (/met|missed/.test(over.outcome)) over.t = event.t - event.value;
    } else if (event.kind === "invocation_begin") {
      const outer = event.of && job_of_id.get(event.of);
      if (outer) {
        job_of_id.set(event.id, outer);
      } else {
        const deadline = event.value === null ? null : event.t + event.value;
        addJob(event, ownerOf(event.name), deadline).is_call = true;
      }
    } else if (event.kind === "invocation_end" && job && job.is_call) {
      job.end = event.t;
      job.response = event.t - job.t;
      job.outcome = event.value ? "failed" :
          job.deadline !== null && event.t > job.deadline ? "missed" : "met";
    } else if (event.kind === "program" && !job && event.name) {
      addJob(event, ownerOf(event.name), null).is_part = true;
    } else if (/^(operation|dispatch|transfer)/.test(event.kind) && event.of) {
      const outer = job_of_id.get(event.of);
      if (outer) job_of_id.set(event.id, outer);
    }
  }
  const own_id = new RegExp("^(job|invocation|program|slot|planned|decision|" +
                            "operation|dispatch|transfer)");
  for (const event of events) {
    const has_own = own_id.test(event.kind);
    event.job = job_of_id.get(has_own ? event.id : event.of) ||
        job_of_id.get(event.of) || null;
    event.owner = event.job && event.job.owner;
    if (event.ns !== undefined && event.job) event.job.spans.push(event);
  }
  if (owners.size > 1) return;
  for (const event of events) {
    if (/^(dispatch|slot)/.test(event.kind) && event.name) {
      event.owner = ownerOf(event.name);
    }
  }
}
findJobs();
const misses = jobs.filter((job) => /missed|dropped|failed/.test(job.outcome))
    .sort((a, b) => a.t - b.t);

// -------------------------------------------------------------------- rows

// A row is a track. Its lanes hold spans that do not overlap; moments are
// below them.
const TRACK_ORDER = ["stream", "core", "worker", "npu", "thread", "plan",
                     "scheduler", "counter"];
function makeRows() {
  const rows = trace.tracks.map((track, index) => (
      {track, index, lanes: [], moments: [], open: null, busy_ns: 0,
       covered_to: 0, by_owner: new Map(), values: []}));
  const put = (row, depth, span) => {
    while (row.lanes.length <= depth) row.lanes.push({spans: [], ends: []});
    const lane = row.lanes[depth];
    const last = lane.ends.length ? lane.ends[lane.ends.length - 1] : 0;
    lane.spans.push(span);
    // The latest end so far: ascending, so that it can be searched.
    lane.ends.push(Math.max(last, end(span)));
  };
  for (const event of events) {
    const row = rows[event.track];
    event.row = row;
    if (event.kind === "counter") {
      row.values.push(event);
    } else if (event.ns === undefined) {
      const is_job = row.track.kind === "stream" &&
          (event.kind === "job_released" || event.kind in OUTCOMES);
      if (!is_job) row.moments.push(event);
    } else {
      while (row.open && end(row.open) <= event.t) row.open = row.open.outer;
      event.depth = row.open ? Math.min(row.open.depth + 1, 5) : 0;
      event.outer = row.open;
      row.open = event;
      put(row, event.depth, event);
      const from = Math.max(event.t, row.covered_to);
      if (end(event) > from) {
        row.busy_ns += end(event) - from;
        row.covered_to = end(event);
        const name = event.owner ? event.owner.name : "";
        row.by_owner.set(name,
                         (row.by_owner.get(name) || 0) + end(event) - from);
        if (event.owner) event.owner.ns += end(event) - from;
      }
    }
  }
  jobs.sort((a, b) => a.t - b.t);
  for (const job of jobs) {  // A stream's row shows its jobs.
    const row = rows[job.track];
    job.row = row;
    job.ns = (job.end === null ? LENGTH : job.end) - job.t;
    if (row.track.kind !== "stream") continue;
    let depth = 0;
    while (depth < 3 && row.lanes[depth] &&
           row.lanes[depth].ends[row.lanes[depth].ends.length - 1] > job.t) {
      ++depth;
    }
    put(row, depth, job);
  }
  return rows.sort((a, b) =>
      TRACK_ORDER.indexOf(a.track.kind) - TRACK_ORDER.indexOf(b.track.kind) ||
      a.track.name.localeCompare(b.track.name, "en", {numeric: true}));
}
const rows = makeRows();

// ------------------------------------------------------------------- words

function duration(ns) {
  const units = [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"]];
  for (const [scale, unit] of units) {
    if (Math.abs(ns) >= scale) {
      return Number((ns / scale).toPrecision(4)) + " " + unit;
    }
  }
  return Math.round(ns) + " ns";
}

// One unit for every time on this page.
const [UNIT, UNIT_NAME] = LENGTH >= 2e10 ? [1e9, "s"] :
    LENGTH >= 2e6 ? [1e6, "ms"] : LENGTH >= 2e3 ? [1e3, "\u00b5s"] : [1, "ns"];
const time = (t, digits = 3) =>
    (t / UNIT).toFixed(UNIT === 1 ? 0 : digits) + " " + UNIT_NAME;
const count = (n, one, many) => n + " " + (n === 1 ? one : many || one + "s");

const KINDS = {
  dispatch: "workgroups of a dispatch",
  transfer: "copy or fill",
  program: "program of a call",
  npu_batch: "batch on the NPU",
  npu_lease: "exclusive use of the NPU",
  slot: "slot that the scheduler gave",
  planned_slot: "planned slot",
  invocation_begin: "call begins",
  invocation_park: "call waits",
  invocation_resume: "call goes on",
  invocation_end: "call ends",
  operation_issued: "operation is issued",
  operation_ready: "operation is ready",
  operation_done: "operation is done",
  fence_signaled: "fence is signaled",
  fence_failed: "fence fails",
  alloca: "memory is taken",
  dealloca: "memory is returned",
  job_released: "job is released",
  job_met: "job is done in time",
  job_missed: "job is done after its deadline",
  job_dropped: "job is dropped",
  job_failed: "job fails",
  decision_start: "scheduler starts an operation",
  decision_yield: "scheduler has an operation yield",
  decision_cancel: "scheduler cancels an operation",
  decision_mode: "scheduler changes its mode",
  decision_admission: "scheduler answers a stream",
  decision_late: "scheduler treats a late job",
  resource_available: "resource comes or goes",
  resource_speed: "resource changes its speed",
  worker_park: "worker sleeps",
  worker_wake: "worker wakes",
  preemption: "worker turns to more urgent work",
  counter: "counter",
  npu_fault: "fault of the NPU",
};
const NPU_ANSWERS = ["", "tried again", "reset", "in quarantine", "probed",
                     "left to the CPU", "the work failed"];
const is_bad = (event) =>
    /missed|dropped|failed|fault|decision_late/.test(event.kind);

// What is particular to an event of its kind.
function particulars(event) {
  const v = event.value;
  switch (event.kind) {
    case "dispatch":
      return [count(event.tiles[1] - event.tiles[0], "workgroup") + ", from " +
              event.tiles[0] + " up to " + event.tiles[1],
              ["", "could have run on the CPU, was left to the NPU",
               "could have run on the NPU, was left to the CPU"][event.detail]];
    case "transfer": case "alloca": case "dealloca":
      return [count(v, "byte")];
    case "program":
      return [event.detail ? "then the call waits" : "to its end"];
    case "npu_batch":
      return [count(v, "operation")];
    case "npu_lease":
      return ["waited " + duration(v) + " for it"];
    case "slot":
      return ["on " + count(event.detail, "core") + ", " +
              (v / 1e4).toFixed(1) + " % of the operation done"];
    case "invocation_end": case "operation_done": case "fence_failed":
      return [v ? "with the status code " + v : ""];
    case "invocation_begin":
      return ["priority " + event.detail];
    case "decision_start": case "decision_yield":
      return [event.detail ? "on " + count(event.detail, "core") : ""];
    case "resource_available":
      return [v ? "available" : "lost"];
    case "resource_speed":
      return [(v / 10) + " % of its nominal speed"];
    case "npu_fault":
      return [NPU_ANSWERS[event.detail] || ""];
    case "decision_admission":
      return [["will fit", "might not fit", "cannot fit"][event.detail] || "",
              v === null ? "no bound of the response" :
                  "response of at most " + duration(v)];
    case "counter":
      return [String(v)];
    default:
      return [];
  }
}

function outcomeOf(job) {
  if (job.outcome === "open") return "not over at the end of the trace";
  if (job.outcome === "dropped") return "dropped";
  const parts = [job.outcome === "failed" ? "failed" : "done"];
  if (job.response) parts.push("after " + duration(job.response));
  if (job.deadline !== null && job.end !== null) {
    const late = job.end - job.deadline;
    parts.push(duration(Math.abs(late)) + (late > 0 ? " after" : " before") +
               " its deadline");
  }
  return parts.join(", ").replace("done, after", "done after")
      .replace("failed, after", "failed after");
}
const jobName = (job) => (job.is_call || job.is_part ? "call " : "job ") +
    job.number + " of " + job.owner.name;

// [label, text, is_bad] of an event or a job.
function describe(item) {
  if (item.kind === "job") {
    return [
      ["", jobName(item)],
      [item.is_call ? "begins" : "released",
       time(item.released) + (item.released - item.t < 1000 ? "" :
           ", " + duration(item.released - item.t) + " too late"),
       item.released - item.t > 1e6],
      ["deadline", item.deadline === null ? "none" : time(item.deadline)],
      ["outcome", outcomeOf(item), /missed|dropped|failed/.test(item.outcome)],
      ["work", item.spans.length ? count(item.spans.length, "span") +
          " of " + duration(item.spans.reduce((s, e) => s + e.ns, 0)) : ""],
    ].filter((line) => line[1]);
  }
  const title = item.name || KINDS[item.kind] || item.kind;
  const lines = [["", title, is_bad(item)]];
  if (item.name) lines.push(["what", KINDS[item.kind] || item.kind]);
  lines.push(["on", item.row.track.kind + " " + item.row.track.name]);
  lines.push([item.ns === undefined ? "at" : "begins", time(item.t, 6)]);
  if (item.ns !== undefined) lines.push(["takes", duration(item.ns)]);
  for (const text of particulars(item)) if (text) lines.push(["", text]);
  if (item.job) {
    lines.push(["for", jobName(item.job)]);
    if (item.job.deadline !== null) {
      const late = end(item) - item.job.deadline;
      lines.push(["deadline", time(item.job.deadline) + ", " +
                  duration(Math.abs(late)) + (late > 0 ? " before" : " after") +
                  " the end of this", late > 0]);
    }
  }
  return lines;
}

// ---------------------------------------------------------- colours, themes

// Kept apart for the colour-blind as well; red is for what is late.
const PALETTE = ["#4c86c6", "#e6a032", "#5aa868", "#a57fc4", "#3fa9a9",
                 "#d58bb0", "#8b8f3a", "#a0765a", "#7f93ab", "#c5b35c"];
const NEUTRAL = "#9aa3ae";

function mix(colour, other, part) {
  const at = (c, i) => parseInt(c.slice(1 + 2 * i, 3 + 2 * i), 16);
  const of = (i) => Math.round(at(colour, i) * (1 - part) +
                               at(other, i) * part);
  return "#" + [0, 1, 2].map((i) => of(i).toString(16).padStart(2, "0"))
      .join("");
}

let theme;  // What the canvas needs of the style sheet.
function setTheme(name) {
  document.documentElement.dataset.theme = name;
  const style = getComputedStyle(document.documentElement);
  theme = {name};
  for (const key of ["ground", "band", "line", "text", "dim", "accent",
                     "bad"]) {
    theme[key] = style.getPropertyValue("--" + key).trim();
  }
  theme.label = parseInt(style.getPropertyValue("--label"), 10);
  $("theme").textContent = name === "dark" ? "Light" : "Dark";
  for (const owner of owners.values()) {
    const colour = PALETTE[owner.index % PALETTE.length];
    owner.colour = colour;
    // Neighbouring jobs of one owner differ a little.
    owner.shades = [colour, mix(colour, "#ffffff", 0.26)];
  }
  for (const swatch of document.querySelectorAll(".swatch[data-owner]")) {
    swatch.style.background = owners.get(swatch.dataset.owner).colour;
  }
}
const colourOf = (item) => {
  if (!item.owner) return NEUTRAL;
  const job = jobOf(item);
  const is_own = job && job.owner === item.owner;
  return item.owner.shades[is_own ? job.number % 2 : 0];
};

// -------------------------------------------------------------------- view

const view = {from: 0, to: LENGTH};
let selected = null;
let matches = null;  // A set while something is searched for.
let shows_moments = true;
let shows_deadlines = true;
const LEAST = 50;

function show(from, to) {
  const length = Math.min(Math.max(to - from, LEAST), LENGTH * 1.1);
  const middle = Math.min(Math.max((from + to) / 2, 0), LENGTH);
  view.from = Math.max(middle - length / 2, -LENGTH * 0.05);
  view.to = Math.min(view.from + length, LENGTH * 1.05);
  view.from = view.to - length;
  refresh();
}
const zoom = (factor, at = (view.from + view.to) / 2) =>
    show(at - (at - view.from) * factor, at + (view.to - at) * factor);
const move = (part) => {
  const by = (view.to - view.from) * part;
  show(view.from + by, view.to + by);
};

const scroll = $("scroll"), canvas = $("rows");
const widthOf = () => scroll.clientWidth - theme.label;
const xOf = (t) =>
    theme.label + (t - view.from) / (view.to - view.from) * widthOf();
const tOf = (x) =>
    view.from + (x - theme.label) / widthOf() * (view.to - view.from);

// Gives each row its place; rows grow with the window.
const STRIP = 9;  // Moments.
function layOut() {
  theme.label = parseInt(getComputedStyle(document.documentElement)
      .getPropertyValue("--label"), 10);
  let lane_count = 0, fixed = 0;
  for (const row of rows) {
    lane_count += Math.max(row.lanes.length, 1);
    fixed += 7 + (row.moments.length ? STRIP : 0);
  }
  const room = (scroll.clientHeight - fixed) / Math.max(lane_count, 1);
  const lane = Math.max(14, Math.min(44, Math.floor(room)));
  let y = 0;
  for (const row of rows) {
    row.y = y;
    row.lane = lane;
    row.height = Math.max(row.lanes.length, 1) * lane + 7 +
        (row.moments.length ? STRIP : 0);
    y += row.height;
    row.label.style.top = row.y + "px";
    row.label.style.height = row.height + "px";
  }
  $("labels").style.height = y + "px";
}

// The ticks of the axis: steps of 1, 2 or 5, ten at most.
function ticks() {
  const range = view.to - view.from;
  const wanted = Math.max(2, Math.min(10, Math.floor(widthOf() / 105)));
  const power = Math.pow(10, Math.floor(Math.log10(range / wanted)));
  const step = [1, 2, 5, 10].map((m) => m * power)
      .find((s) => range / s <= wanted);
  const digits = Math.max(0, Math.round(-Math.log10(step / UNIT) + 0.499));
  const result = [];
  for (let i = Math.ceil(view.from / step); i * step <= view.to; ++i) {
    result.push({t: i * step, text: time(i * step, Math.min(digits, 9))});
  }
  return result;
}

// ----------------------------------------------------------------- drawing

let is_due = false;
function refresh() {
  if (is_due) return;
  is_due = true;
  requestAnimationFrame(() => {
    is_due = false;
    draw();
  });
}

// A context in CSS pixels, whatever the screen's density.
function contextOf(target, width, height) {
  const density = window.devicePixelRatio || 1;
  if (target.width !== Math.round(width * density) ||
      target.height !== Math.round(height * density)) {
    target.width = Math.round(width * density);
    target.height = Math.round(height * density);
    target.style.width = width + "px";
    target.style.height = height + "px";
  }
  const g = target.getContext("2d");
  g.setTransform(density, 0, 0, density, 0, 0);
  return g;
}

// The first of ascending `values` that is above `bound`.
function firstAbove(values, bound) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] > bound) high = middle; else low = middle + 1;
  }
  return low;
}
const isHidden = (item) => item.owner && item.owner.hidden;
const isFaint = (item) => matches !== null && !matches.has(item);

function drawAxis(g, height) {
  const axis = $("axis");
  axis.textContent = "";
  g.fillStyle = theme.line;
  for (const tick of ticks()) {
    const x = xOf(tick.t);
    g.fillRect(Math.round(x), 0, 1, height);
    const text = document.createElement("span");
    text.textContent = tick.text;
    text.style.left = x - theme.label + "px";
    if (x + 84 < scroll.clientWidth) axis.append(text);
  }
}

// Dark text in both themes: the bars' colours are light enough for it.
function drawText(g, text, x, y, width, height) {
  const from = Math.max(x, theme.label);
  const room = x + width - from - 8;
  if (room < 24 || height < 11) return;
  const letters = Math.floor(room / 5.9);
  g.fillStyle = "#10141a";
  g.fillText(text.length <= letters ? text : text.slice(0, letters - 1) +
      "\u2026", from + 4, y + height / 2 + 0.5);
}

function drawSpan(g, row, span, y, height, last) {
  const x = xOf(span.t), right = xOf(end(span));
  const from = Math.max(x, theme.label);
  const width = Math.max(Math.min(right, scroll.clientWidth) - from, 1);
  if (width <= 1 && from - last < 1) return last;
  g.globalAlpha = isFaint(span) ? 0.16 : row.track.kind === "plan" ? 0.6 : 1;
  g.fillStyle = colourOf(span);
  g.fillRect(from, y, width > 3 ? width - 0.5 : width, height);
  const job = span.kind === "job" ? span : span.job;
  if (job && job.deadline !== null && end(span) > job.deadline &&
      !/open/.test(job.outcome)) {
    const late = Math.max(xOf(job.deadline), from);
    if (late < right) {
      const edge = Math.min(right, scroll.clientWidth);
      g.fillStyle = theme.bad;
      g.fillRect(late, y + height - 3, Math.max(edge - late, 1), 3);
    }
  }
  const text = span.kind !== "job" ? span.name || KINDS[span.kind] :
      (span.is_call ? "call " : "job ") + span.number +
      (span.outcome === "met" || span.outcome === "open" ? "" :
           " " + span.outcome);
  drawText(g, text, x, y, right - x, height);
  if (selected && (span === selected || (job && job === jobOf(selected)))) {
    g.globalAlpha = 1;
    g.strokeStyle = theme.text;
    g.lineWidth = span === selected ? 2 : 1;
    g.strokeRect(from + 0.5, y + 0.5, Math.max(width - 1, 1), height - 1);
  }
  g.globalAlpha = 1;
  return from + width;
}
const jobOf = (item) => item.kind === "job" ? item : item.job;

function drawLane(g, row, lane, y, height) {
  let last = -1;
  for (let i = firstAbove(lane.ends, view.from);
       i < lane.spans.length && lane.spans[i].t <= view.to; ++i) {
    const span = lane.spans[i];
    if (end(span) < view.from || isHidden(span)) continue;
    last = drawSpan(g, row, span, y, height, last);
  }
}

// Deadlines of a stream's jobs as lines with a flag; misses as red triangles.
function drawDeadlines(g, row) {
  let last_line = -99, last_miss = -9;
  const in_row = ownerOf(row.track.name).jobs;
  const spacing = LENGTH / Math.max(in_row.length, 1) /
      (view.to - view.from) * widthOf();
  for (const job of in_row) {
    if (job.row !== row || isHidden(job)) continue;
    const is_missed = /missed|dropped|failed/.test(job.outcome);
    const at = is_missed && job.deadline === null ? job.end : job.deadline;
    if (at === null || at < view.from || at > view.to) continue;
    const x = xOf(at);
    if (shows_deadlines && (is_missed ? x - last_line > 3 : spacing > 16)) {
      last_line = x;
      g.fillStyle = is_missed ? theme.bad : theme.text;
      g.fillRect(x - 0.5, row.y - scroll.scrollTop + 1, 1, row.height - 3);
      g.fillRect(x - 0.5, row.y - scroll.scrollTop + 1, 4, 3);
    }
    if (is_missed && x - last_miss > 3) {
      last_miss = x;
      const y = row.y - scroll.scrollTop + 1;
      g.fillStyle = theme.bad;
      g.beginPath();
      g.moveTo(x - 4.5, y);
      g.lineTo(x + 4.5, y);
      g.lineTo(x, y + 7);
      g.fill();
    }
  }
}

function drawMoments(g, row) {
  const y = row.y - scroll.scrollTop + row.height - STRIP - 1;
  const moments = row.moments;
  if (row.times === undefined) row.times = moments.map((m) => m.t);
  let last = -1;
  for (let i = firstAbove(row.times, view.from - 1);
       i < moments.length && moments[i].t <= view.to; ++i) {
    const moment = moments[i];
    if (isHidden(moment)) continue;
    const x = xOf(moment.t);
    const marks = is_bad(moment) || moment === selected ||
        (matches !== null && matches.has(moment));
    if (!marks && x - last < 1.5) continue;
    last = x;
    g.globalAlpha = isFaint(moment) ? 0.16 : 1;
    g.fillStyle = is_bad(moment) ? theme.bad :
        moment === selected ? theme.accent : theme.dim;
    if (marks) {
      g.fillRect(x - 1.5, y, 3, STRIP - 1);
    } else {
      g.fillRect(x - 0.5, y + 2, 1, STRIP - 3);
    }
    const next = i + 1 < moments.length ? xOf(moments[i + 1].t) : 1e9;
    if (next - x > 60) {
      const text = KINDS[moment.kind] || moment.kind;
      g.font = "9px system-ui, sans-serif";
      if (next - x > g.measureText(text).width + 8) {
        g.fillText(text, x + 3, y + STRIP / 2 + 0.5);
      }
      g.font = FONT;
    }
  }
  g.globalAlpha = 1;
}

function drawCounter(g, row) {
  const top = row.y - scroll.scrollTop + 4, height = row.height - 9;
  let low = 0, high = 1;
  for (const event of row.values) {
    low = Math.min(low, event.value);
    high = Math.max(high, event.value);
  }
  const yOf = (v) => top + height - (v - low) / (high - low) * height;
  g.strokeStyle = theme.accent;
  g.lineWidth = 1;
  g.beginPath();
  let is_begun = false, y = 0;
  for (const event of row.values) {
    const x = Math.max(xOf(event.t), theme.label);
    if (is_begun) g.lineTo(x, y);
    y = yOf(event.value);
    if (is_begun) g.lineTo(x, y); else g.moveTo(x, y);
    is_begun = true;
  }
  if (is_begun) g.lineTo(Math.max(xOf(LENGTH), theme.label), y);
  g.stroke();
}

const FONT = "11px system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
function draw() {
  const width = scroll.clientWidth, height = scroll.clientHeight;
  const g = contextOf(canvas, width, height);
  g.font = FONT;
  g.textBaseline = "middle";
  g.fillStyle = theme.ground;
  g.fillRect(0, 0, width, height);
  const visible = rows.filter((row) => row.y + row.height > scroll.scrollTop &&
                                       row.y < scroll.scrollTop + height);
  visible.forEach((row) => {
    g.fillStyle = theme.band;
    if (rows.indexOf(row) % 2) {
      g.fillRect(0, row.y - scroll.scrollTop, width, row.height);
    }
  });
  drawAxis(g, height);
  for (const row of visible) {
    const top = row.y - scroll.scrollTop;
    g.fillStyle = theme.line;
    g.fillRect(0, top + row.height - 1, width, 1);
    row.lanes.forEach((lane, depth) => drawLane(
        g, row, lane, top + 4 + depth * row.lane, row.lane - 2));
    if (row.track.kind === "stream") drawDeadlines(g, row);
    if (row.values.length) drawCounter(g, row);
    if (shows_moments && row.moments.length) drawMoments(g, row);
  }
  const job = selected && jobOf(selected);
  if (job) {
    const line = (t, colour) => {
      if (t === null || t < view.from || t > view.to) return;
      g.strokeStyle = colour;
      g.lineWidth = 1;
      g.setLineDash([4, 3]);
      g.beginPath();
      g.moveTo(Math.round(xOf(t)) + 0.5, 0);
      g.lineTo(Math.round(xOf(t)) + 0.5, height);
      g.stroke();
      g.setLineDash([]);
    };
    line(job.t, theme.accent);
    line(job.deadline, theme.bad);
  }
  if (drag && drag.range) {
    const x = Math.min(drag.x, drag.now);
    g.fillStyle = theme.accent;
    g.globalAlpha = 0.2;
    g.fillRect(x, 0, Math.abs(drag.x - drag.now), height);
    g.globalAlpha = 1;
  }
  drawOverview();
  $("shown").textContent = time(Math.max(view.from, 0)) + " to " +
      time(Math.min(view.to, LENGTH)) + "  (" +
      duration(view.to - view.from) + ")";
}

// The whole trace in a strip: how busy the tracks that run work were, and
// where deadlines were missed.
let load = null;
function loadOf(width) {
  if (load && load.length === width) return load;
  load = new Float64Array(width);
  const busy = (kinds) => rows.filter((row) =>
      kinds.includes(row.track.kind) && row.busy_ns > 0);
  // A recorded run has cores as its scheduler saw them, and workers.
  const has_threads = busy(["worker", "thread"]).length > 0;
  const cores = busy(has_threads ? ["worker", "thread", "npu"] :
                         ["core", "npu"]);
  for (const row of cores) {
    for (const span of row.lanes.length ? row.lanes[0].spans : []) {
      const a = span.t / LENGTH * width, b = end(span) / LENGTH * width;
      for (let i = Math.floor(a); i < Math.min(b, width); ++i) {
        load[i] += Math.min(b, i + 1) - Math.max(a, i);
      }
    }
  }
  const most = load.reduce((a, b) => Math.max(a, b), 0) || 1;
  for (let i = 0; i < width; ++i) load[i] /= most;
  return load;
}
function drawOverview() {
  const strip = $("overview");
  const width = strip.parentElement.clientWidth, height = 30;
  const inner = Math.max(Math.floor(width - theme.label), 1);
  const g = contextOf(strip, width, height);
  g.fillStyle = theme.band;
  g.fillRect(0, 0, width, height);
  g.fillStyle = NEUTRAL;
  const values = loadOf(inner);
  for (let i = 0; i < inner; ++i) {
    const h = values[i] * (height - 11);
    g.fillRect(theme.label + i, height - 1 - h, 1, h);
  }
  g.fillStyle = theme.bad;
  for (const job of misses) {
    const t = job.deadline === null ? job.end : job.deadline;
    g.fillRect(theme.label + t / LENGTH * inner - 0.5, 1, 1.5, 7);
  }
  g.fillStyle = theme.dim;
  g.font = "10px system-ui, sans-serif";
  g.textBaseline = "middle";
  g.fillText(count(misses.length, "late job"), 10, 9);
  g.fillText("load of the whole trace", 10, 21);
  const x = theme.label + Math.max(view.from, 0) / LENGTH * inner;
  const right = theme.label + Math.min(view.to, LENGTH) / LENGTH * inner;
  g.fillStyle = theme.accent;
  g.globalAlpha = 0.14;
  g.fillRect(x, 0, right - x, height);
  g.globalAlpha = 1;
  g.strokeStyle = theme.accent;
  g.lineWidth = 1;
  g.strokeRect(x + 0.5, 0.5, Math.max(right - x - 1, 2), height - 1);
}

// ------------------------------------------------- selection, finding, jumps

function cell(row, text, name) {
  const td = document.createElement(name === "th" ? "th" : "td");
  td.textContent = text;
  if (name && name !== "th") td.className = name;
  row.append(td);
  return td;
}
function rowOf(table) {
  const tr = document.createElement("tr");
  table.append(tr);
  return tr;
}

function select(item) {
  selected = item;
  const table = $("selection");
  table.textContent = "";
  if (item) {
    for (const [label, text, bad] of describe(item)) {
      const tr = rowOf(table);
      cell(tr, label);
      cell(tr, text, bad ? "bad" : "");
    }
  } else {
    cell(rowOf(table), "Click a bar, or press N or M.", "note");
  }
  openTab(item ? "selection" : "work");
  refresh();
}
function openTab(name) {
  for (const tab of ["work", "selection"]) {
    $(tab).hidden = tab !== name;
    $(tab + "-tab").setAttribute("aria-pressed", String(tab === name));
  }
}

// Selects an event or a job, and has it in sight.
function goTo(item) {
  const px = (item.ns || 0) / (view.to - view.from) * widthOf();
  let length = view.to - view.from;
  if (item.ns && (px < 6 || px > widthOf())) length = item.ns * 6;
  if (!item.ns && length > LENGTH / 20) length = LENGTH / 200;
  const middle = item.t + (item.ns || 0) / 2;
  if (length !== view.to - view.from || item.t < view.from ||
      end(item) > view.to) {
    show(middle - length / 2, middle + length / 2);
  }
  if (item.row) {
    if (item.row.y < scroll.scrollTop) scroll.scrollTop = item.row.y;
    const below = item.row.y + item.row.height - scroll.clientHeight;
    if (below > scroll.scrollTop) scroll.scrollTop = below;
  }
  select(item);
}

// The next one after what is selected, or after the middle of the view.
function step(list, direction) {
  const candidates = list.filter((item) => !isHidden(item));
  if (!candidates.length) return;
  const at = candidates.indexOf(selected);
  let index;
  if (at >= 0) {
    index = at + direction;
  } else {
    const t = selected ? selected.t : (view.from + view.to) / 2;
    index = candidates.findIndex((item) => item.t > t);
    if (index < 0) index = candidates.length;
    if (direction < 0) index -= 1;
  }
  index = (index + candidates.length) % candidates.length;
  goTo(candidates[index]);
  if (list === match_list) showFound();
}

let match_list = [];
function search(text) {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word);
  matches = null;
  match_list = [];
  if (words.length) {
    const fits = (item) => {
      const job = jobOf(item);
      const all = [item.name, item.kind, KINDS[item.kind], "id" + item.id,
                   job && jobName(job), job && job.outcome,
                   item.row && item.row.track.kind + " " + item.row.track.name]
          .join(" ").toLowerCase();
      return words.every((word) => all.includes(word));
    };
    match_list = events.filter((e) => e.kind !== "job_released" &&
                                      !(e.kind in OUTCOMES) && fits(e))
        .concat(jobs.filter((job) => job.row && fits(job)))
        .sort((a, b) => a.t - b.t);
    matches = new Set(match_list);
  }
  showFound();
  refresh();
}
function showFound() {
  const at = match_list.indexOf(selected);
  $("found").textContent = matches === null ? "" :
      (at >= 0 ? at + 1 + " of " : "") + match_list.length;
}

function next(direction) {
  if (matches !== null) return step(match_list, direction);
  const row = selected && selected.row;
  if (!row) return step(events.filter((e) => e.ns !== undefined), direction);
  if (selected.kind === "job") return step(jobs.filter((j) => j.row === row),
                                           direction);
  step(selected.ns === undefined ? row.moments :
      row.lanes[selected.depth].spans, direction);
}

// What is drawn at a place of the canvas.
function find(x, y) {
  const at = y + scroll.scrollTop;
  const row = rows.find((r) => at >= r.y && at < r.y + r.height);
  if (!row || x < theme.label) return null;
  const t = tOf(x), near = (view.to - view.from) / widthOf() * 3;
  const nearest = (list) => {
    let best = null;
    for (const item of list) {
      if (item.t > t + near) break;
      if (isHidden(item) || end(item) < t - near) continue;
      if (!best || end(best) < t || item.t <= t) best = item;
    }
    return best;
  };
  const depth = Math.floor((at - row.y - 4) / row.lane);
  const lane = row.lanes[Math.max(depth, 0)];
  if (row.values.length) {
    return row.values.filter((v) => v.t <= t).pop() || null;
  }
  if (lane) {
    const from = firstAbove(lane.ends, t - near);
    return nearest(lane.spans.slice(from, from + 2000));
  }
  if (!shows_moments || !row.moments.length) return null;
  const from = firstAbove(row.times || [], t - near - 1);
  return nearest(row.moments.slice(from, from + 2000));
}

// -------------------------------------------------------------------- mouse

// Where an event is, in an element's own CSS pixels.
function placeOf(e, element) {
  const box = element.getBoundingClientRect();
  return {x: e.clientX - box.left, y: e.clientY - box.top};
}

let drag = null;
canvas.addEventListener("pointerdown", (e) => {
  const {x} = placeOf(e, canvas);
  if (e.button !== 0 || x < theme.label) return;
  canvas.setPointerCapture(e.pointerId);
  drag = {x, now: x, from: view.from, to: view.to,
          moved: false, range: e.shiftKey};
});
canvas.addEventListener("pointermove", (e) => {
  const {x, y} = placeOf(e, canvas);
  if (!drag) return showTip(find(x, y), e.clientX, e.clientY);
  drag.now = x;
  if (Math.abs(drag.now - drag.x) > 3) drag.moved = true;
  if (!drag.moved) return;
  showTip(null);
  if (drag.range) return refresh();
  canvas.classList.add("moving");
  const by = (drag.x - drag.now) / widthOf() * (drag.to - drag.from);
  show(drag.from + by, drag.to + by);
});
canvas.addEventListener("pointerup", (e) => {
  const done = drag;
  drag = null;
  canvas.classList.remove("moving");
  if (!done) return;
  if (!done.moved) {
    const {x, y} = placeOf(e, canvas);
    select(find(x, y));
  } else if (done.range) {
    show(tOf(Math.min(done.x, done.now)), tOf(Math.max(done.x, done.now)));
  }
});
canvas.addEventListener("pointerleave", () => showTip(null));
canvas.addEventListener("dblclick", (e) => {
  if (placeOf(e, canvas).x > theme.label) show(0, LENGTH);
});
scroll.addEventListener("wheel", (e) => {
  const {x} = placeOf(e, scroll);
  if (x < theme.label) return;  // It scrolls.
  e.preventDefault();
  showTip(null);
  const sideways = e.shiftKey ? e.deltaY || e.deltaX : e.deltaX;
  if (Math.abs(sideways) > Math.abs(e.shiftKey ? 0 : e.deltaY)) {
    move(Math.sign(sideways) * 0.08);
  } else {
    zoom(e.deltaY > 0 ? 1.25 : 0.8, tOf(x));
  }
}, {passive: false});
scroll.addEventListener("scroll", refresh);

const overview = $("overview");
function showAround(e) {
  const {x} = placeOf(e, overview);
  const part = (x - theme.label) / (overview.clientWidth - theme.label);
  const half = (view.to - view.from) / 2, middle = part * LENGTH;
  show(middle - half, middle + half);
}
overview.addEventListener("pointerdown", (e) => {
  overview.setPointerCapture(e.pointerId);
  showAround(e);
});
overview.addEventListener("pointermove", (e) => {
  if (e.buttons & 1) showAround(e);
});

function showTip(item, x, y) {
  const tip = $("tip");
  tip.hidden = !item;
  if (!item) return;
  tip.textContent = "";
  describe(item).forEach(([label, text, bad], i) => {
    const line = document.createElement("div");
    line.className = i ? "line" : "title";
    if (bad) line.className += " bad";
    line.textContent = (label ? label + ": " : "") + text;
    tip.append(line);
  });
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, x + 14 + box.width < window.innerWidth ?
      x + 14 : x - box.width - 10) + "px";
  tip.style.top = Math.max(4, y + 16 + box.height < window.innerHeight ?
      y + 16 : y - box.height - 10) + "px";
}

// --------------------------------------------------------------------- keys

const KEYS = {
  "ArrowLeft": () => move(-0.2), "a": () => move(-0.2),
  "ArrowRight": () => move(0.2), "d": () => move(0.2),
  "ArrowUp": () => zoom(0.7), "w": () => zoom(0.7), "+": () => zoom(0.7),
  "=": () => zoom(0.7),
  "ArrowDown": () => zoom(1 / 0.7), "s": () => zoom(1 / 0.7),
  "-": () => zoom(1 / 0.7),
  "0": () => show(0, LENGTH), "Home": () => show(0, LENGTH),
  "n": () => next(1), "p": () => next(-1),
  "m": () => step(misses, 1), "M": () => step(misses, -1),
  "f": () => {
    if (!selected) return;
    const length = selected.ns || LENGTH / 1000;
    show(selected.t - length / 4, end(selected) + length / 4);
  },
  "/": () => { $("search").focus(); $("search").select(); },
  "t": () => switchTheme(),
  "?": () => { $("help").hidden = !$("help").hidden; },
  "Escape": () => {
    if (!$("help").hidden) $("help").hidden = true;
    else if (matches !== null) { $("search").value = ""; search(""); }
    else select(null);
  },
};
document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.target === $("search")) {
    if (e.key === "Enter") {
      e.preventDefault();
      step(match_list, e.shiftKey ? -1 : 1);
    } else if (e.key === "Escape") {
      e.target.blur();
      KEYS.Escape();
    }
    return;
  }
  const action = KEYS[e.key] || KEYS[e.key.toLowerCase()];
  if (!action) return;
  e.preventDefault();
  action();
});
$("search").addEventListener("input", (e) => search(e.target.value));
$("previous").addEventListener("click", () => next(-1));
$("next").addEventListener("click", () => next(1));
$("miss").addEventListener("click", () => step(misses, 1));
$("fit").addEventListener("click", () => show(0, LENGTH));
$("help-button").addEventListener("click", () => KEYS["?"]());
$("work-tab").addEventListener("click", () => openTab("work"));
$("selection-tab").addEventListener("click", () => openTab("selection"));

const prefers_dark = window.matchMedia("(prefers-color-scheme: dark)");
let chosen_theme = null;
function switchTheme() {
  chosen_theme = theme.name === "dark" ? "light" : "dark";
  setTheme(chosen_theme);
  refresh();
}
$("theme").addEventListener("click", switchTheme);
prefers_dark.addEventListener("change", () => {
  if (chosen_theme === null) {
    setTheme(prefers_dark.matches ? "dark" : "light");
    refresh();
  }
});

// ------------------------------------------------------------ legend, tables

function swatchOf(owner) {
  const swatch = document.createElement("span");
  swatch.className = "swatch";
  swatch.dataset.owner = owner.name;
  return swatch;
}
function legendButton(text, swatch, note, toggle) {
  const button = document.createElement("button");
  const name = document.createElement("span");
  name.className = "name";
  name.textContent = text;
  button.append(swatch, name);
  if (note) {
    const small = document.createElement("span");
    small.className = "count";
    small.textContent = note;
    button.append(small);
  }
  button.setAttribute("aria-pressed", "true");
  button.title = "Click to hide or show";
  button.addEventListener("click", () => {
    const is_shown = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(is_shown));
    toggle(is_shown);
    refresh();
  });
  $("legend").append(button);
}
function mark(colour) {
  const swatch = document.createElement("span");
  swatch.className = "swatch mark";
  swatch.style.background = "var(--" + colour + ")";
  return swatch;
}
function makeLegend() {
  for (const owner of owners.values()) {
    const note = !owner.jobs.length ? "" :
        count(owner.jobs.length, owner.is_stream ? "job" : "call");
    legendButton(owner.name, swatchOf(owner), note,
                 (is_shown) => { owner.hidden = !is_shown; });
  }
  if (jobs.some((job) => job.row && job.deadline !== null)) {
    legendButton("deadlines", mark("text"), "red: missed",
                 (is_shown) => { shows_deadlines = is_shown; });
  }
  if (rows.some((row) => row.moments.length)) {
    legendButton("moments", mark("dim"), "",
                 (is_shown) => { shows_moments = is_shown; });
  }
}

// The value that a share `rank` of ascending `values` is not above.
function quantile(values, rank) {
  const place = Math.max(Math.ceil(rank * values.length) - 1, 0);
  return values[Math.min(place, values.length - 1)];
}
const ms = (ns) => ns === undefined ? "" : (ns / 1e6).toFixed(3);
function headOf(table, titles) {
  const tr = rowOf(table);
  for (const title of titles) cell(tr, title, "th");
}
function empty(table, text) {
  table.textContent = "";
  cell(rowOf(table), text, "note");
}

function makeJobTable() {
  const table = $("jobs");
  headOf(table, ["stream or function", "jobs", "late", "dropped", "failed",
                 "p50 ms", "p99 ms", "max ms"]);
  for (const owner of owners.values()) {
    const whole = owner.jobs.filter((job) => !job.is_part);
    if (!whole.length) continue;
    const done = whole.filter((job) => /met|missed/.test(job.outcome))
        .sort((a, b) => a.response - b.response);
    const responses = done.map((job) => job.response);
    const number = (outcome) =>
        whole.filter((job) => job.outcome === outcome).length;
    const tr = rowOf(table);
    cell(tr, "").append(swatchOf(owner), owner.name);
    cell(tr, whole.length);
    for (const outcome of ["missed", "dropped", "failed"]) {
      cell(tr, number(outcome), number(outcome) ? "bad" : "");
    }
    cell(tr, ms(quantile(responses, 0.5)));
    cell(tr, ms(quantile(responses, 0.99)));
    cell(tr, ms(responses[responses.length - 1]));
    if (!done.length) continue;
    tr.className = "link";
    tr.title = "Go to the slowest job";
    tr.addEventListener("click", () => goTo(done[done.length - 1]));
  }
  if (table.rows.length === 1) empty(table, "No jobs and no calls.");
}

function makeBusyTable() {
  const table = $("busy");
  headOf(table, ["track", "busy %", ""]);
  for (const row of rows) {
    if (!row.busy_ns || row.track.kind === "plan") continue;
    const tr = rowOf(table);
    cell(tr, row.track.kind + " " + row.track.name);
    cell(tr, (row.busy_ns / LENGTH * 100).toFixed(1));
    const bar = document.createElement("span");
    bar.className = "share";
    for (const [name, ns] of row.by_owner) {
      const part = document.createElement("span");
      part.style.width = ns / LENGTH * 100 + "%";
      part.title = (name || "other") + ": " +
          (ns / LENGTH * 100).toFixed(1) + " %";
      if (name) {
        part.className = "swatch";
        part.style.cssText += ";height:9px;margin:0;border-radius:0";
        part.dataset.owner = name;
      } else {
        part.style.background = NEUTRAL;
      }
      bar.append(part);
    }
    const share = cell(tr, "");
    share.style.width = "40%";
    share.append(bar);
  }
  if (table.rows.length === 1) empty(table, "Nothing ran.");
}

const WORK_ROWS = 200;
function makeWorkTable() {
  const table = $("work");
  const work = new Map();
  for (const event of events) {
    if (event.ns === undefined || event.kind === "planned_slot") continue;
    const key = event.kind + " " + event.name;
    if (!work.has(key)) work.set(key, {event, ns: []});
    work.get(key).ns.push(event.ns);
  }
  const total = (entry) => entry.ns.reduce((a, b) => a + b, 0);
  const sorted = [...work.values()].sort((a, b) => total(b) - total(a));
  headOf(table, ["work", "kind", "count", "total ms", "p50 ms", "p99 ms",
                 "max ms"]);
  for (const entry of sorted.slice(0, WORK_ROWS)) {
    const tr = rowOf(table);
    const name = cell(tr, "");
    if (entry.event.owner) name.append(swatchOf(entry.event.owner));
    name.append(entry.event.name || KINDS[entry.event.kind]);
    name.title = entry.event.name;
    entry.ns.sort((a, b) => a - b);
    cell(tr, entry.event.kind, "note");
    cell(tr, entry.ns.length);
    cell(tr, ms(total(entry)));
    cell(tr, ms(quantile(entry.ns, 0.5)));
    cell(tr, ms(quantile(entry.ns, 0.99)));
    cell(tr, ms(entry.ns[entry.ns.length - 1]));
    tr.className = "link";
    tr.title = "Search for it";
    tr.addEventListener("click", () => {
      $("search").value = entry.event.kind + " " + entry.event.name;
      search($("search").value);
    });
  }
  if (sorted.length > WORK_ROWS) {
    cell(rowOf(table), sorted.length - WORK_ROWS + " more are left out.",
         "note");
  }
  if (!sorted.length) empty(table, "Nothing ran.");
}

function makeLabels() {
  for (const row of rows) {
    row.label = document.createElement("div");
    const add = (name, text) => {
      const span = document.createElement("span");
      span.className = name;
      span.textContent = text;
      row.label.append(span);
    };
    add("kind", row.track.kind);
    add("name", row.track.name);
    row.label.title = row.track.kind + " " + row.track.name;
    const late = row.track.kind !== "stream" ? 0 :
        misses.filter((job) => job.track === row.index).length;
    if (late) add("note bad", late + " late");
    else if (row.busy_ns) {
      add("note", (row.busy_ns / LENGTH * 100).toFixed(0) + " %");
    }
    $("labels").append(row.label);
  }
}

function begin() {
  $("about").textContent = (trace.simulated ? "simulation of " : "run of ") +
      duration(trace.length_ns) + ", " + count(events.length, "event");
  $("lost").hidden = !trace.lost;
  $("lost").textContent = count(trace.lost, "older event") +
      (trace.lost === 1 ? " was" : " were") + " overwritten";
  $("lost").title = "Each thread keeps its last events; a longer ring keeps " +
      "more (event_count_max).";
  $("miss").disabled = !misses.length;
  makeLegend();
  makeLabels();
  makeJobTable();
  makeBusyTable();
  makeWorkTable();
  setTheme(prefers_dark.matches ? "dark" : "light");
  select(null);
  const fit = () => {
    layOut();
    refresh();
  };
  new ResizeObserver(fit).observe(scroll);
  window.addEventListener("resize", fit);
  layOut();
  draw();
}
begin();
