"use strict";
// Runs inside a page of a trace, behind its own script: looks at what stands
// there, clicks and types as a reader does, and leaves a line for each check in
// an element that gantt_page_browser_test.cc reads. `expected` is from there.
(() => {
const $ = (id) => document.getElementById(id);
const lines = [];
function check(what, is_right, found) {
  lines.push((is_right ? "ok " : "FAILED ") + what +
             (is_right ? "" : ": found " + JSON.stringify(found)));
}
const same = (what, found, wanted) => check(
    what + " is " + JSON.stringify(wanted),
    JSON.stringify(found) === JSON.stringify(wanted), found);
const frame = () => new Promise((done) => setTimeout(done, 20));
async function key(name, target = document.body) {
  target.dispatchEvent(
      new KeyboardEvent("keydown", {key: name, bubbles: true}));
  await frame();
}
async function click(element) {
  element.click();
  await frame();
}

// ---- Where things are, as the axis and the labels say.
const axis = () => [...$("axis").children].map((label) => (
    {text: label.textContent, box: label.getBoundingClientRect()}));
function xOf(ms) {
  const labels = axis();
  const a = labels[0], b = labels[labels.length - 1];
  const per_ms = (b.box.left - a.box.left) /
      (parseFloat(b.text) - parseFloat(a.text));
  return a.box.left + (ms - parseFloat(a.text)) * per_ms;
}
function boxOfRow(kind, name) {
  const label = [...$("labels").children].find((row) =>
      row.children[0].textContent === kind &&
      row.children[1].textContent === name);
  return label.getBoundingClientRect();
}
function pixel(x, y) {
  const box = $("rows").getBoundingClientRect();
  const scale = $("rows").width / box.width;
  return [...$("rows").getContext("2d").getImageData(
      Math.round((x - box.left) * scale), Math.round((y - box.top) * scale),
      1, 1).data];
}
async function pointer(type, x, y) {
  const box = $("rows").getBoundingClientRect();
  // Synthetic pointers cannot be captured.
  $("rows").setPointerCapture = () => {};
  $("rows").dispatchEvent(new PointerEvent(type, {
    clientX: x, clientY: y, button: 0, pointerId: 1, bubbles: true}));
  await frame();
  return box;
}
const textOf = (table) => [...$(table).rows].slice(1).map((row) =>
    [...row.cells].map((cell) => cell.textContent));

function checkAxis(when) {
  const labels = axis();
  check("two to ten ticks " + when,
        labels.length >= 2 && labels.length <= 10, labels.length);
  const units = new Set(labels.map((label) => label.text.split(" ")[1]));
  same("unit of all ticks " + when, [...units], ["ms"]);
  const steps = labels.slice(1).map((label, i) =>
      parseFloat(label.text) - parseFloat(labels[i].text));
  const digits = steps.map((step) => step.toPrecision(3));
  check("equal steps " + when, new Set(digits).size === 1, digits);
  const first = parseFloat(Number(steps[0]).toExponential(3));
  check("step of 1, 2 or 5 " + when, [1, 2, 5].includes(Math.round(
      first / Math.pow(10, Math.floor(Math.log10(first * 1.001))))), steps[0]);
  check("labels apart " + when, labels.slice(1).every((label, i) =>
      labels[i].box.right <= label.box.left),
      labels.map((label) => [label.box.left, label.box.right]));
}

function luminance(colour) {
  const parts = colour.match(/[0-9.]+/g).slice(0, 3).map((part) => {
    const value = part / 255;
    return value <= 0.03928 ? value / 12.92 :
        Math.pow((value + 0.055) / 1.055, 2.4);
  });
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
}
function checkContrast(when) {
  const ground = luminance(getComputedStyle(document.body).backgroundColor);
  for (const id of ["about", "shown", "jobs", "axis"]) {
    const text = luminance(getComputedStyle($(id)).color);
    const ratio = (Math.max(text, ground) + 0.05) /
        (Math.min(text, ground) + 0.05);
    check("contrast of " + id + " above 4.5 " + when, ratio > 4.5, ratio);
  }
}

async function run() {
  await frame();
  same("resources loaded", performance.getEntriesByType("resource").length, 0);
  same("elements made by a name", document.querySelectorAll(".injected").length,
       0);
  same("header", $("about").textContent, expected.about);
  same("lost", $("lost").textContent, expected.lost);

  // The window is used, and sharply.
  same("density", window.devicePixelRatio, expected.density);
  check("the page fits its window",
        document.documentElement.scrollWidth <= innerWidth &&
        Math.abs($("tables").getBoundingClientRect().bottom - innerHeight) < 1,
        [document.documentElement.scrollWidth, innerWidth]);
  same("pixels across", $("rows").width,
       Math.round($("scroll").clientWidth * window.devicePixelRatio));

  checkAxis("of the whole trace");
  checkContrast("at first");
  same("theme", document.documentElement.dataset.theme, expected.theme);

  same("response times", textOf("jobs"), expected.jobs);
  same("busy shares", textOf("busy").map((row) => row.slice(0, 2)),
       expected.busy);

  // Colours.
  const legend = [...$("legend").children];
  const swatches = [...$("legend").querySelectorAll(".swatch[data-owner]")]
      .map((swatch) => getComputedStyle(swatch).backgroundColor);
  same("owners of the legend",
       legend.slice(0, swatches.length).map(
           (entry) => entry.querySelector(".name").textContent),
       expected.owners);
  same("colours", new Set(swatches).size, swatches.length);

  // What is hidden is not drawn.
  const worker = boxOfRow("worker", "takt-0");
  const x = xOf(expected.dispatch_ms), y = worker.top + worker.height / 4;
  const ground = pixel(xOf(expected.idle_ms), y);
  const drawn = pixel(x, y);
  check("a bar is drawn", String(drawn) !== String(ground), drawn);
  await click(legend[0]);
  same("pressed", legend[0].getAttribute("aria-pressed"), "false");
  same("a hidden bar", pixel(x, y), ground);
  await click(legend[0]);
  same("a bar shown again", pixel(x, y), drawn);

  // A missed deadline is red on its stream, where the deadline was.
  const stream = boxOfRow("stream", "policy.act");
  const mark = pixel(xOf(expected.miss_ms), stream.top + 3);
  check("a red mark", mark[0] > 180 && mark[1] < 110 && mark[2] < 120, mark);

  // Words of what is pointed at, and of what is clicked.
  await pointer("pointermove", x, y);
  check("a tip", !$("tip").hidden &&
        $("tip").textContent.includes("workgroups of a dispatch") &&
        $("tip").textContent.includes(expected.dispatch), $("tip").textContent);
  await pointer("pointerdown", x, y);
  await pointer("pointerup", x, y);
  check("a selection", $("selection").textContent.includes(expected.dispatch) &&
        $("selection").textContent.includes("job 0 of policy.act") &&
        !$("selection").hidden, $("selection").textContent);
  const before = $("selection").textContent;
  await key("n");
  check("N goes on", $("selection").textContent !== before, before);
  await key("p");
  same("P comes back", $("selection").textContent, before);

  // Misses.
  await key("m");
  check("M finds a miss", /job 1 of policy.act.*after its deadline/.test(
      $("selection").textContent), $("selection").textContent);
  checkAxis("at a miss");
  await key("Escape");
  check("Escape selects nothing", $("selection").hidden, $("selection").hidden);

  // Search.
  await key("/");
  same("focus", document.activeElement.id, "search");
  $("search").value = expected.search;
  $("search").dispatchEvent(new Event("input"));
  await frame();
  same("matches", $("found").textContent, String(expected.found));
  await key("Enter", $("search"));
  check("Enter jumps", $("found").textContent.endsWith(" of " + expected.found),
        $("found").textContent);
  const first = $("found").textContent;
  await key("Enter", $("search"));
  check("Enter jumps on", $("found").textContent !== first, first);
  await key("Escape", $("search"));
  same("search after Escape", $("search").value, "");

  // Keys.
  await key("0");
  const whole = $("shown").textContent;
  for (let i = 0; i < 12; ++i) {
    await key("+");
    if (i % 4 === 0) checkAxis("after zooming in " + (i + 1) + " times");
  }
  check("zoomed in", $("shown").textContent !== whole, whole);
  const here = $("shown").textContent;
  await key("ArrowRight");
  check("moved", $("shown").textContent !== here, here);
  await click($("fit"));
  same("after Fit", $("shown").textContent, whole);
  await key("?");
  check("help is open", !$("help").hidden, $("help").hidden);
  await key("Escape");
  check("help is closed", $("help").hidden, $("help").hidden);

  // The other theme.
  const back = getComputedStyle(document.body).backgroundColor;
  await click($("theme"));
  check("another ground",
        getComputedStyle(document.body).backgroundColor !== back, back);
  checkContrast("in the other theme");

  // A click in the table leads to the slowest job.
  await click([...$("jobs").rows].find((row) =>
      row.cells[0].textContent === "policy.act"));
  check("the slowest job", $("selection").textContent.includes(
      "job 1 of policy.act"), $("selection").textContent);
}

run().then(() => same("errors", errors, [])).catch((error) => lines.push("FAILED " + error.stack)).then(() => {
  const result = document.createElement("pre");
  result.id = "checks";
  result.textContent = "\n" + lines.join("\n") + "\nend of checks\n";
  document.body.append(result);
});
})();
