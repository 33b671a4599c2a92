#include "trace/comparison.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "trace/summary.h"

namespace takt::trace {
namespace {

using Key = std::tuple<uint32_t, uint64_t, uint64_t>;

Key KeyOf(const Event& event) { return {event.name, event.id, event.parent}; }

bool IsWork(EventKind kind) {
  return kind == EventKind::kSlot || kind == EventKind::kDispatch ||
         kind == EventKind::kTransfer || kind == EventKind::kNpuBatch;
}

void Join(const Trace& trace, const Event& event, ComparedSlot& slot) {
  if (!slot.was_run) {  // The first: events are in order.
    slot.was_run = true;
    slot.start_ns = event.time_ns;
    slot.track = trace.TrackOf(event).name;
  }
  slot.duration_ns = std::max(slot.duration_ns, event.end_ns() - slot.start_ns);
}

int64_t Mean(const std::vector<int64_t>& values) {
  double sum = 0;
  for (const int64_t value : values) sum += static_cast<double>(value);
  return values.empty()
             ? 0
             : static_cast<int64_t>(sum / static_cast<double>(values.size()));
}

void Count(Comparison& comparison) {
  std::vector<int64_t> late;
  std::vector<int64_t> longer;
  for (const ComparedSlot& slot : comparison.slots) {
    if (!slot.was_run) continue;
    ++comparison.run_count;
    late.push_back(slot.late_ns());
    longer.push_back(slot.duration_ns - slot.planned_ns);
  }
  std::sort(late.begin(), late.end());
  std::sort(longer.begin(), longer.end());
  comparison.mean_late_ns = Mean(late);
  comparison.q99_late_ns = Quantile(late, 0.99);
  comparison.max_late_ns = late.empty() ? 0 : late.back();
  comparison.mean_longer_ns = Mean(longer);
  comparison.q99_longer_ns = Quantile(longer, 0.99);
}

double Us(int64_t ns) { return static_cast<double>(ns) / 1e3; }

}  // namespace

Comparison Compare(const Trace& trace) {
  Comparison comparison;
  std::map<Key, size_t> slots;
  std::set<uint32_t> names;
  for (const Event& event : trace.events()) {
    if (event.kind != EventKind::kPlannedSlot) continue;
    names.insert(event.name);
    if (!slots.emplace(KeyOf(event), comparison.slots.size()).second) continue;
    ComparedSlot slot;
    slot.name = trace.NameOf(event);
    slot.id = event.id;
    slot.parent = event.parent;
    slot.planned_start_ns = event.time_ns;
    slot.planned_ns = event.duration_ns;
    slot.planned_track = trace.TrackOf(event).name;
    comparison.slots.push_back(std::move(slot));
  }
  std::set<Key> unplanned;
  for (const Event& event : trace.events()) {
    if (!IsWork(event.kind)) continue;
    const auto found = slots.find(KeyOf(event));
    if (found != slots.end()) {
      Join(trace, event, comparison.slots[found->second]);
    } else if (names.count(event.name) != 0) {
      unplanned.insert(KeyOf(event));
    }
  }
  comparison.unplanned_count = unplanned.size();
  Count(comparison);
  return comparison;
}

std::string ComparisonText(const Comparison& comparison) {
  if (comparison.slots.empty()) return "nothing was planned\n";
  std::string text = absl::StrFormat(
      "%d slots planned, %d run, %d run besides\n"
      "begins later than planned by %.3f us on average, q99 %.3f, max %.3f\n"
      "takes longer than planned by %.3f us on average, q99 %.3f\n\n"
      "%-32s %14s %12s %12s %12s  %s\n",
      comparison.slots.size(), comparison.run_count, comparison.unplanned_count,
      Us(comparison.mean_late_ns), Us(comparison.q99_late_ns),
      Us(comparison.max_late_ns), Us(comparison.mean_longer_ns),
      Us(comparison.q99_longer_ns), "slot", "planned us", "for us", "late us",
      "took us", "planned on, run on");
  const int64_t first_ns = comparison.slots.front().planned_start_ns;
  for (const ComparedSlot& slot : comparison.slots) {
    absl::StrAppendFormat(&text, "%-32s %14.3f %12.3f ", slot.name,
                          Us(slot.planned_start_ns - first_ns),
                          Us(slot.planned_ns));
    if (slot.was_run) {
      absl::StrAppendFormat(&text, "%12.3f %12.3f  %s, %s\n",
                            Us(slot.late_ns()), Us(slot.duration_ns),
                            slot.planned_track, slot.track);
    } else {
      absl::StrAppendFormat(&text, "%12s %12s  %s\n", "not run", "",
                            slot.planned_track);
    }
  }
  return text;
}

std::string ComparisonJson(const Comparison& comparison) {
  using Json = nlohmann::ordered_json;
  Json json;
  json["planned"] = comparison.slots.size();
  json["run"] = comparison.run_count;
  json["unplanned"] = comparison.unplanned_count;
  json["mean_late_ns"] = comparison.mean_late_ns;
  json["q99_late_ns"] = comparison.q99_late_ns;
  json["max_late_ns"] = comparison.max_late_ns;
  json["mean_longer_ns"] = comparison.mean_longer_ns;
  json["q99_longer_ns"] = comparison.q99_longer_ns;
  json["slots"] = Json::array();
  for (const ComparedSlot& slot : comparison.slots) {
    Json entry = {{"name", slot.name},
                  {"id", slot.id},
                  {"of", slot.parent},
                  {"planned_start_ns", slot.planned_start_ns},
                  {"planned_ns", slot.planned_ns},
                  {"planned_on", slot.planned_track}};
    if (slot.was_run) {
      entry["start_ns"] = slot.start_ns;
      entry["ns"] = slot.duration_ns;
      entry["on"] = slot.track;
    }
    json["slots"].push_back(std::move(entry));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace takt::trace
