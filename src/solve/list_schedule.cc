#include "solve/list_schedule.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "solve/bounds.h"

namespace takt::solve {
namespace {

// What a machine has taken, by start.
using Timeline = std::vector<std::pair<int64_t, int64_t>>;  // Start, end.

// The earliest time from `from` on at which `timeline` is free for `length`; if
// that is not before `until`, any such time.
int64_t EarliestFree(const Timeline& timeline, int64_t from, int64_t length,
                     int64_t until, bool fill_holes) {
  if (timeline.empty() || timeline.back().second <= from) return from;
  if (!fill_holes) return std::max(from, timeline.back().second);
  auto next = std::partition_point(
      timeline.begin(), timeline.end(),
      [from](const auto& use) { return use.second <= from; });
  for (; next != timeline.end() && from < until; ++next) {
    if (from + length <= next->first) return from;
    from = std::max(from, next->second);
  }
  return from;
}

// The earliest time at which all machines of the alternative are free,
// likewise.
int64_t EarliestStart(const std::vector<Timeline>& timelines,
                      const Alternative& alternative, int64_t from,
                      int64_t until, bool fill_holes) {
  for (;;) {
    int64_t start = from;
    for (const uint32_t machine : alternative.machines) {
      start = EarliestFree(timelines[machine], start, alternative.duration,
                           until, fill_holes);
    }
    if (start == from || start >= until || alternative.machines.size() == 1) {
      return start;
    }
    from = start;
  }
}

void Take(Timeline& timeline, int64_t start, int64_t end) {
  const auto place = std::partition_point(
      timeline.begin(), timeline.end(),
      [start](const auto& use) { return use.first < start; });
  timeline.insert(place, {start, end});
}

}  // namespace

Schedule MakeListSchedule(const Problem& problem,
                          const ListScheduleOptions& options, Random& random) {
  const size_t count = problem.operations.size();
  const StaticPaths paths = ComputeStaticPaths(problem);
  const Successors successors(problem);
  std::vector<uint32_t> missing = successors.CountPredecessors();
  std::priority_queue<std::pair<double, uint32_t>> ready;
  const auto add = [&](uint32_t v) {
    const double length =
        static_cast<double>(paths.shortest[v] + paths.tails[v]);
    const double chance = options.noise > 0 ? options.noise * random.Unit() : 0;
    ready.emplace(length * (1 + chance), v);
  };
  for (uint32_t v = 0; v < count; ++v) {
    if (missing[v] == 0) add(v);
  }
  const double weight =
      options.work_weight / std::max(problem.machine_count, 1u);
  Schedule schedule;
  schedule.entries.resize(count);
  std::vector<Timeline> timelines(problem.machine_count);
  for (Timeline& timeline : timelines) {
    timeline.reserve(2 * count / problem.machine_count + 1);
  }
  std::vector<int64_t> earliest(count);
  for (size_t v = 0; v < count; ++v) {
    earliest[v] = problem.operations[v].release;
  }
  const bool has_deadline = options.deadline_ns != kInfiniteFuture;
  while (!ready.empty()) {
    if (has_deadline && NowNs() >= options.deadline_ns) {
      schedule.makespan = kGivenUp;
      return schedule;
    }
    const uint32_t v = ready.top().second;
    ready.pop();
    const Operation& operation = problem.operations[v];
    int64_t best_end = 0;
    int64_t best_cost = std::numeric_limits<int64_t>::max();
    for (uint32_t a = 0; a < operation.alternatives.size(); ++a) {
      const Alternative& alternative = operation.alternatives[a];
      const auto work = static_cast<int64_t>(
          weight * static_cast<double>(alternative.duration) *
          static_cast<double>(alternative.machines.size()));
      // What starts then or later is no better.
      const int64_t until = best_cost - work - alternative.duration;
      if (earliest[v] >= until) continue;
      const int64_t start = EarliestStart(timelines, alternative, earliest[v],
                                          until, options.fill_holes);
      if (start < until) {
        best_end = start + alternative.duration;
        best_cost = best_end + work;
        schedule.entries[v] = {a, start};
      }
    }
    const Alternative& chosen =
        operation.alternatives[schedule.entries[v].alternative];
    for (const uint32_t machine : chosen.machines) {
      Take(timelines[machine], schedule.entries[v].start, best_end);
    }
    schedule.makespan = std::max(schedule.makespan, best_end + operation.tail);
    for (const uint32_t u : successors[v]) {
      earliest[u] = std::max(earliest[u], best_end);
      if (--missing[u] == 0) add(u);
    }
  }
  return schedule;
}

}  // namespace takt::solve
