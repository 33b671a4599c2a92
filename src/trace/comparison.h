// Compares a plan with a trace: the slots of the plan with the work that ran in
// them.
#ifndef TAKT_TRACE_COMPARISON_H_
#define TAKT_TRACE_COMPARISON_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace takt::trace {

// A planned slot and the work of the same name, id and parent (kSlot,
// kDispatch, kTransfer or kNpuBatch): if it ran in parts, from the first to
// the last.
struct ComparedSlot {
  std::string name;
  uint64_t id = 0;
  uint64_t parent = 0;
  int64_t planned_start_ns = 0;
  int64_t planned_ns = 0;
  bool was_run = false;
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  // The track it was planned for, and the one that it (first) ran on.
  std::string planned_track;
  std::string track;

  int64_t late_ns() const { return start_ns - planned_start_ns; }
};

struct Comparison {
  std::vector<ComparedSlot> slots;  // By planned start.
  uint64_t run_count = 0;
  // Work without a slot, of kinds and names that have slots.
  uint64_t unplanned_count = 0;
  // For work that ran: how much later it began than planned (negative:
  // earlier), and how much longer it took.
  int64_t mean_late_ns = 0;
  int64_t q99_late_ns = 0;
  int64_t max_late_ns = 0;
  int64_t mean_longer_ns = 0;
  int64_t q99_longer_ns = 0;
};

Comparison Compare(const Trace& trace);

std::string ComparisonText(const Comparison& comparison);
std::string ComparisonJson(const Comparison& comparison);

}  // namespace takt::trace

#endif  // TAKT_TRACE_COMPARISON_H_
