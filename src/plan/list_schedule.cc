#include "plan/list_schedule.h"

#include <algorithm>
#include <queue>
#include <utility>
#include <vector>

#include "plan/bounds.h"

namespace takt::plan {
namespace {

// What a machine has taken, by start.
using Timeline = std::vector<std::pair<int64_t, int64_t>>;  // Start, end.

// The earliest time from `from` on at which `timeline` is free for `length`.
int64_t EarliestFree(const Timeline& timeline, int64_t from, int64_t length,
                     bool fill_holes) {
  if (timeline.empty()) return from;
  if (!fill_holes) return std::max(from, timeline.back().second);
  auto next = std::partition_point(
      timeline.begin(), timeline.end(),
      [from](const auto& use) { return use.second <= from; });
  for (; next != timeline.end(); ++next) {
    if (from + length <= next->first) return from;
    from = std::max(from, next->second);
  }
  return from;
}

// The earliest time at which all machines of the alternative are free.
int64_t EarliestStart(const std::vector<Timeline>& timelines,
                      const Alternative& alternative, int64_t from,
                      bool fill_holes) {
  for (;;) {
    int64_t start = from;
    for (const uint32_t machine : alternative.machines) {
      start = EarliestFree(timelines[machine], start, alternative.duration,
                           fill_holes);
    }
    if (start == from) return start;
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
  std::vector<std::vector<uint32_t>> successors(count);
  std::vector<uint32_t> missing(count, 0);
  for (const auto& [before, after] : problem.precedences) {
    successors[before].push_back(after);
    ++missing[after];
  }
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
  std::vector<int64_t> earliest(count);
  for (size_t v = 0; v < count; ++v) {
    earliest[v] = problem.operations[v].release;
  }
  while (!ready.empty()) {
    const uint32_t v = ready.top().second;
    ready.pop();
    const Operation& operation = problem.operations[v];
    int64_t best_end = 0;
    double best_cost = 0;
    for (uint32_t a = 0; a < operation.alternatives.size(); ++a) {
      const Alternative& alternative = operation.alternatives[a];
      const int64_t start = EarliestStart(timelines, alternative, earliest[v],
                                          options.fill_holes);
      const int64_t end = start + alternative.duration;
      const double cost = static_cast<double>(end) +
                          weight * static_cast<double>(alternative.duration) *
                              static_cast<double>(alternative.machines.size());
      if (a == 0 || cost < best_cost) {
        best_cost = cost;
        best_end = end;
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

}  // namespace takt::plan
