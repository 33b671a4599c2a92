#include "follow/strict_policy.h"

#include <algorithm>
#include <cstdlib>

#include "base/check.h"

namespace takt::follow {

sched::Prescription StrictPolicy::Prescribe(PlanProgress::Binding* binding,
                                            uint32_t slot,
                                            const sched::AdvisedOperation&,
                                            int64_t now_ns) {
  const uint64_t cycle = binding->cycle;
  TAKT_DCHECK(progress_.slot(slot).over_count <= cycle);
  sched::Prescription prescription;
  prescription.start_ns = progress_.StartOf(slot, cycle);
  if (progress_.slot(slot).resources.Intersects(progress_.lost())) {
    OnViolation({PlanEvent::Kind::kLost, slot, cycle, 0}, nullptr);
    progress_.Finish(slot, cycle);
    return prescription;
  }
  prescription.not_before_ns = prescription.start_ns;
  if (const auto ahead = progress_.FindAhead(slot, cycle)) {
    // An operation that is ready or runs will stop; then this is asked again.
    const PlanSlot& other = progress_.slot(ahead->slot);
    prescription.not_before_ns =
        other.is_ready || other.is_running
            ? kInfiniteFuture
            : std::max(prescription.start_ns, now_ns + kPollNs);
    return prescription;
  }
  progress_.slot(slot).PrescribePlace(&prescription);
  return prescription;
}

void StrictPolicy::OnViolation(const PlanEvent& violation,
                               PlanProgress::Binding* binding) {
  ++report_.violation_count;
  if (options_.on_violation) options_.on_violation(violation);
  if (!options_.falls_back || binding == nullptr || binding->is_free) return;
  TAKT_CHECK(binding->job != PlanProgress::kNone);
  binding->is_free = true;
  for (const uint32_t slot : progress_.jobs()[binding->job].slots) {
    if (slot != PlanProgress::kNone && !progress_.slot(slot).is_running) {
      progress_.Finish(slot, binding->cycle);
    }
  }
}

void StrictPolicy::OnStarted(PlanProgress::Binding* binding, uint32_t index,
                             int64_t error_ns) {
  PlanSlot& slot = progress_.slot(index);
  TAKT_DCHECK(slot.is_running);
  report_.start_error_max_ns =
      std::max(report_.start_error_max_ns, std::abs(error_ns));
  // The decision may have been in time, and its execution late.
  if (error_ns > options_.tolerance_ns && !slot.is_late_reported) {
    slot.is_late_reported = true;
    OnViolation({PlanEvent::Kind::kLate, index, binding->cycle, error_ns},
                binding);
  }
}

}  // namespace takt::follow
