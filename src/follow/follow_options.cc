#include "follow/follow_options.h"

#include <algorithm>

namespace takt::follow {

const char* PlanEventName(PlanEvent::Kind kind) {
  switch (kind) {
    case PlanEvent::Kind::kLate:
      return "late";
    case PlanEvent::Kind::kOverrun:
      return "overrun";
    case PlanEvent::Kind::kMissing:
      return "missing";
    case PlanEvent::Kind::kUnplanned:
      return "unplanned";
    case PlanEvent::Kind::kLost:
      return "lost";
    case PlanEvent::Kind::kDiverged:
      return "diverged";
  }
  return "";
}

void FollowReport::Add(const FollowReport& other) {
  started_count += other.started_count;
  in_place_count += other.in_place_count;
  violation_count += other.violation_count;
  divergence_count += other.divergence_count;
  repair_count += other.repair_count;
  resolve_count += other.resolve_count;
  refused_count += other.refused_count;
  start_error_max_ns = std::max(start_error_max_ns, other.start_error_max_ns);
  lateness_max_ns = std::max(lateness_max_ns, other.lateness_max_ns);
}

}  // namespace takt::follow
