#include "follow/adaptive_policy.h"

#include <algorithm>
#include <cstdlib>

#include "base/check.h"

namespace takt::follow {

using sched::Prescription;
using sched::ResourceSet;

namespace {

// An operation without a deadline that is ready by this part of the divergence
// before its planned start, or after it, is out of step. The value comes from
// trials in virtual time with noise: with a smaller part the policy leaves a
// plan that still fits, with a larger part it keeps a plan that does not.
constexpr int64_t kOutOfStepDivisor = 6;
// An operation waits for a late predecessor in its place, which is not ready,
// for this part of its own duration. A short wait keeps the order if the
// lateness is small, and costs little otherwise.
constexpr int64_t kLateWaitDivisor = 4;

}  // namespace

Prescription AdaptivePolicy::Prescribe(PlanProgress::Binding* binding,
                                       uint32_t slot,
                                       const sched::AdvisedOperation& operation,
                                       int64_t now_ns) {
  TAKT_DCHECK(progress_.slot(slot).over_count <= binding->cycle);
  // Jobs that are released after the plan is in step again follow the plan.
  if (is_diverged() && operation.release_ns < resume_ns_) {
    // The whole job is freed, so that no part of it waits for planned
    // operations.
    binding->is_free = true;
    return {};
  }
  return Place(slot, binding->cycle, now_ns);
}

Prescription AdaptivePolicy::Place(uint32_t slot, uint64_t cycle,
                                   int64_t now_ns) {
  Prescription prescription;
  int64_t start_ns = progress_.StartOf(slot, cycle);
  if (now_ns - start_ns > options_.divergence_ns) {
    Diverge({PlanEvent::Kind::kDiverged, slot, cycle, now_ns - start_ns},
            now_ns);
    if (is_diverged()) return prescription;
    start_ns = progress_.StartOf(slot, cycle);
  }
  prescription.start_ns = start_ns;
  // The policy is asked again when the operation would be too late, so that the
  // delay is noticed.
  prescription.not_after_ns = start_ns + options_.divergence_ns;
  const PlanSlot& own = progress_.slot(slot);
  // It has yielded, perhaps to get more cores.
  if (own.is_running && own.over_count == cycle) {
    prescription.resources =
        RoomFor(slot, cycle, everywhere(), progress_.ExpectedEnd(slot)) |
        own.resources;
    return prescription;
  }
  // With a deadline to meet, the online policy is asked as soon as the plan
  // fails.
  const bool is_due = progress_.job_of(slot).deadline != plan::kNoDeadline;
  if (is_due && IsDisplaced(slot)) return prescription;
  // Out of step: only the order of the plan may still be right. On cores,
  // operations that the plan has first go first; on NPUs they do not.
  if (!is_due && own.shards != 0 &&
      std::abs(now_ns - start_ns) >
          options_.divergence_ns / kOutOfStepDivisor) {
    prescription.resources = progress_.cores() - progress_.lost();
    return prescription;
  }
  if (now_ns < start_ns &&
      !MayGoFirst(slot, cycle, now_ns, is_due, &prescription.not_before_ns)) {
    return prescription;
  }
  const int64_t free_ns = FreeAt(slot, now_ns);
  if (free_ns <= now_ns) {
    own.PrescribePlace(&prescription);
    if (!is_due) Widen(slot, cycle, now_ns, &prescription);
  } else if (!is_due) {
    WaitOrGo(slot, cycle, now_ns, free_ns, &prescription);
  }
  return prescription;
}

// Prescribes its place and the resources of the same pool that are free for as
// long as it takes there; the online policy chooses among them.
void AdaptivePolicy::Widen(uint32_t slot, uint64_t cycle, int64_t now_ns,
                           Prescription* prescription) {
  const PlanSlot& own = progress_.slot(slot);
  if (own.shards == 0) return;
  const uint32_t pool =
      progress_.pool_of(static_cast<uint32_t>(own.resources.Next(0)));
  const ResourceSet more =
      RoomFor(slot, cycle, progress_.machine().ResourcesOf(pool),
              now_ns + own.duration);
  if ((more - own.resources).empty()) return;
  prescription->resources = own.resources | more;
  prescription->shards = 0;
}

// Called if the operation could start now, but its place is busy. Waiting pays
// as long as the operation ends sooner there than elsewhere. A wait that is no
// longer than the gain loses at most the gain, however wrong the expectation is
// (the ski-rental rule). If only a part of its place is busy, the operation
// begins on the rest and gets the other part later.
void AdaptivePolicy::WaitOrGo(uint32_t slot, uint64_t cycle, int64_t now_ns,
                              int64_t free_ns, Prescription* prescription) {
  const PlanSlot& own = progress_.slot(slot);
  ResourceSet where;
  const int64_t elsewhere_ns = FindElsewhere(slot, cycle, now_ns, &where);
  const int64_t gain_ns = where.empty()
                              ? std::min(own.duration, options_.divergence_ns)
                              : elsewhere_ns - own.duration;
  const int64_t wait_end_ns =
      std::max(progress_.MadeStartOf(slot, cycle), own.ready_ns) + gain_ns;
  if (!where.Intersects(own.resources) && now_ns < wait_end_ns &&
      free_ns - now_ns <= gain_ns) {
    own.PrescribePlace(prescription);
    prescription->not_after_ns =
        std::min(prescription->not_after_ns, wait_end_ns);
    return;
  }
  if (!where.empty()) prescription->resources = where | own.resources;
}

// Whether it may start before its planned start; if not, *not_before_ns is when
// to ask again.
bool AdaptivePolicy::MayGoFirst(uint32_t slot, uint64_t cycle, int64_t now_ns,
                                bool is_due, int64_t* not_before_ns) {
  const auto ahead = progress_.FindAhead(slot, cycle);
  if (!ahead.has_value()) return true;
  const int64_t start_ns = progress_.StartOf(slot, cycle);
  TAKT_DCHECK(now_ns < start_ns);
  const PlanSlot& other = progress_.slot(ahead->slot);
  if (other.is_running) {
    // After the other operation, if that ends in time.
    const int64_t end_ns = other.running_since_ns + other.duration;
    const bool is_in_time = now_ns < end_ns && end_ns <= start_ns;
    *not_before_ns = is_in_time ? end_ns : is_due ? 0 : start_ns;
    return false;
  }
  // Before the other operation, if there is room, or if that one is late
  // against the original plan: its lateness may last.
  const int64_t duration = progress_.slot(slot).duration;
  const int64_t late_ns = progress_.MadeStartOf(ahead->slot, ahead->cycle) +
                          duration / kLateWaitDivisor;
  if (now_ns + duration <= progress_.StartOf(ahead->slot, ahead->cycle) ||
      (!other.is_ready && now_ns >= late_ns)) {
    return true;
  }
  *not_before_ns = std::min(std::max(late_ns, now_ns + kPollNs), start_ns);
  return false;
}

// Whether a slot that is planned elsewhere runs in its place.
bool AdaptivePolicy::IsDisplaced(uint32_t slot) const {
  bool is_displaced = false;
  progress_.ForEachOccupant(slot, [&](uint32_t occupant, uint32_t resource) {
    is_displaced |= !progress_.slot(occupant).resources.Contains(resource);
  });
  return is_displaced;
}

// When its place is expected to be free.
int64_t AdaptivePolicy::FreeAt(uint32_t slot, int64_t now_ns) const {
  int64_t free_ns = now_ns;
  progress_.ForEachOccupant(slot, [&](uint32_t occupant, uint32_t) {
    free_ns = std::max({free_ns, now_ns + 1, progress_.ExpectedEnd(occupant)});
  });
  return free_ns;
}

// Finds a place where no operation runs and none is planned before this one
// would end. Returns its duration there; the place is empty if there is none.
int64_t AdaptivePolicy::FindElsewhere(uint32_t slot, uint64_t cycle,
                                      int64_t now_ns, ResourceSet* where) {
  int64_t best_ns = kInfiniteFuture;
  for (const auto& way : progress_.WaysOf(slot)) {
    if (way.guess_ns >= best_ns) continue;
    const ResourceSet there =
        RoomFor(slot, cycle, progress_.machine().ResourcesOf(way.pool),
                now_ns + way.guess_ns);
    if (there.count() < way.shards) continue;
    best_ns = way.guess_ns;
    *where = there;
  }
  return best_ns;
}

// Whether the slot may run on the resource until `end_ns`: no other slot runs
// there, and until then only its own successors are planned there.
bool AdaptivePolicy::HasRoom(uint32_t resource, uint32_t slot, uint64_t cycle,
                             int64_t until_ns) {
  const uint32_t occupant = progress_.occupant(resource);
  if ((occupant != PlanProgress::kNone && occupant != slot) ||
      progress_.lost().Contains(resource)) {
    return false;
  }
  const auto next = progress_.Next(resource);
  return !next.has_value() ||
         (progress_.slot(next->slot).job == progress_.slot(slot).job &&
          next->cycle == cycle) ||
         progress_.StartOf(next->slot, next->cycle) >= until_ns;
}

// The resources of `among` that have room for the slot until `end_ns`.
ResourceSet AdaptivePolicy::RoomFor(uint32_t slot, uint64_t cycle,
                                    const ResourceSet& among,
                                    int64_t until_ns) {
  ResourceSet there;
  among.ForEach([&](uint32_t resource) {
    if (HasRoom(resource, slot, cycle, until_ns)) there.Add(resource);
  });
  return there;
}

ResourceSet AdaptivePolicy::MayHave(const PlanProgress::Binding& binding,
                                    uint32_t slot, int64_t) {
  if (binding.is_free || !progress_.slot(slot).is_running) return {};
  // More cores do not make it end later.
  return RoomFor(slot, binding.cycle, everywhere(),
                 progress_.ExpectedEnd(slot));
}

void AdaptivePolicy::OnAvailable(uint32_t resource, bool is_available,
                                 int64_t now_ns) {
  if (!progress_.IsPlanned(resource)) return;
  // The plan can be in step again only when all that it needs is there.
  if (is_available &&
      (progress_.HasLostPlace() || resume_ns_ != kInfiniteFuture ||
       progress_.period() == 0)) {
    return;
  }
  resume_ns_ = 0;
  Diverge({PlanEvent::Kind::kLost, progress_.slot_count(), 0, 0}, now_ns);
}

bool AdaptivePolicy::Resume(int64_t now_ns) {
  if (resume_ns_ == 0 || now_ns < resume_ns_) return false;
  resume_ns_ = 0;
  return true;
}

// Moves the rest of the period to a later time, or gives the plan up until the
// next period.
void AdaptivePolicy::Diverge(const PlanEvent& cause, int64_t now_ns) {
  if (is_diverged()) return;
  ++report_.divergence_count;
  if (options_.on_divergence) options_.on_divergence(cause);
  if (cause.kind == PlanEvent::Kind::kDiverged &&
      progress_.Shift(cause.cycle, cause.by_ns)) {
    ++report_.repair_count;
    return;
  }
  resume_ns_ = kInfiniteFuture;
  if (progress_.period() > 0 && !progress_.HasLostPlace()) {
    const int64_t cycle = (now_ns - progress_.origin_ns()) / progress_.period();
    resume_ns_ = progress_.OriginOf(static_cast<uint64_t>(cycle + 1));
  }
  TAKT_DCHECK(is_diverged());
  if (on_given_up_) on_given_up_(now_ns);
}

}  // namespace takt::follow
