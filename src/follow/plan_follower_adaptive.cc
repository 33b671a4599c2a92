// Plans whose places and order are preferences.
#include <algorithm>

#include "follow/plan_follower.h"

namespace takt::follow {

using sched::GuidedOperation;
using sched::Prescription;
using sched::ResourceSet;

namespace {

// What is ready by that part of the divergence before its time, or after, is
// out of step. Found by trying, in virtual time and noise: less gives the plan
// up where it is right, more keeps to it where it is not.
constexpr int64_t kStepsOfDivergence = 6;

}  // namespace

Prescription PlanFollower::Adaptive(Binding* binding, uint32_t slot,
                                    int64_t now_ns) {
  Prescription prescription;
  const uint64_t cycle = binding->cycle;
  int64_t start_ns = StartOf(slot, cycle);
  if (now_ns - start_ns > options_.divergence_ns) {
    Diverge({PlanEvent::Kind::kDiverged, slot, cycle, now_ns - start_ns},
            now_ns);
    if (is_diverged()) return prescription;
    start_ns = StartOf(slot, cycle);
  }
  prescription.start_ns = start_ns;
  // Then it is too late, which is to be noticed.
  prescription.not_after_ns = start_ns + options_.divergence_ns;
  const Slot& own = slots_[slot];
  // And has yielded, perhaps to have more cores; not the one before it.
  if (own.is_running && own.over_count == cycle) {
    prescription.resources =
        RoomFor(slot, cycle, everywhere(), ExpectedEnd(slot)) | own.resources;
    return prescription;
  }
  // With a deadline to meet, the policy is asked as soon as the plan fails.
  const bool is_due = jobs_[own.job].deadline != plan::kNoDeadline;
  if (is_due && IsDisplaced(slot)) return prescription;
  // Ready long before its time, or after: things are not as the plan has them,
  // and only its order may still be right. Cores give way to what it has first;
  // NPUs do not.
  if (!is_due && own.shards != 0 &&
      std::abs(now_ns - start_ns) >
          options_.divergence_ns / kStepsOfDivergence) {
    prescription.resources = cores_ - lost_;
    return prescription;
  }
  if (now_ns < start_ns &&
      !MayGoFirst(slot, cycle, now_ns, is_due, &prescription.not_before_ns)) {
    return prescription;
  }
  const int64_t free_ns = FreeAt(slot, now_ns);
  if (free_ns <= now_ns) {
    Place(own, &prescription);
    if (!is_due) Widen(slot, cycle, now_ns, &prescription);
  } else if (!is_due) {
    WaitOrGo(slot, cycle, now_ns, free_ns, &prescription);
  }
  return prescription;
}

// Its place, and what is free of its kind for as long as it takes there, if
// that is what the policy would take.
void PlanFollower::Widen(uint32_t slot, uint64_t cycle, int64_t now_ns,
                         Prescription* prescription) {
  const Slot& own = slots_[slot];
  if (own.shards == 0) return;
  const uint32_t pool = pool_of_[static_cast<uint32_t>(own.resources.Next(0))];
  const ResourceSet more =
      RoomFor(slot, cycle, machine_.ResourcesOf(pool), now_ns + own.duration);
  if ((more - own.resources).empty()) return;
  prescription->resources = own.resources | more;
  prescription->shards = 0;
}

// It could start now, but its place is taken. To wait for that pays for as long
// as it ends sooner there than elsewhere; who waits for no longer than he gains
// by it never loses more than that, however wrong the expectation (the ski
// rental's rule). Where only a part of its place is taken, it begins on the
// rest and has the other later.
void PlanFollower::WaitOrGo(uint32_t slot, uint64_t cycle, int64_t now_ns,
                            int64_t free_ns, Prescription* prescription) {
  const Slot& own = slots_[slot];
  ResourceSet where;
  const int64_t elsewhere_ns = Elsewhere(slot, cycle, now_ns, &where);
  const int64_t gain_ns = where.empty()
                              ? std::min(own.duration, options_.divergence_ns)
                              : elsewhere_ns - own.duration;
  const int64_t wait_end_ns =
      std::max(MadeStartOf(slot, cycle), own.ready_ns) + gain_ns;
  if (!where.Intersects(own.resources) && now_ns < wait_end_ns &&
      free_ns - now_ns <= gain_ns) {
    Place(own, prescription);
    prescription->not_after_ns =
        std::min(prescription->not_after_ns, wait_end_ns);
    return;
  }
  if (!where.empty()) prescription->resources = where | own.resources;
}

// Whether it may start before its time; if not, not before then.
bool PlanFollower::MayGoFirst(uint32_t slot, uint64_t cycle, int64_t now_ns,
                              bool is_due, int64_t* not_before_ns) {
  uint32_t ahead = 0;
  uint64_t ahead_cycle = 0;
  if (IsTurn(slot, cycle, &ahead, &ahead_cycle)) return true;
  const int64_t start_ns = StartOf(slot, cycle);
  const Slot& other = slots_[ahead];
  if (other.is_running) {
    // Behind it, if it ends in time.
    const int64_t end_ns = other.running_since_ns + other.duration;
    const bool is_in_time = now_ns < end_ns && end_ns <= start_ns;
    *not_before_ns = is_in_time ? end_ns : is_due ? 0 : start_ns;
    return false;
  }
  // Before it, if there is room, or it is late itself: nobody knows for how
  // long. `late_ns`: by the plan as it was made.
  const int64_t late_ns =
      MadeStartOf(ahead, ahead_cycle) + slots_[slot].duration / 4;
  if (now_ns + slots_[slot].duration <= StartOf(ahead, ahead_cycle) ||
      (!other.is_ready && now_ns >= late_ns)) {
    return true;
  }
  *not_before_ns = std::clamp(late_ns, now_ns + 1, start_ns);
  return false;
}

// Whether something that is planned elsewhere runs in its place.
bool PlanFollower::IsDisplaced(uint32_t slot) const {
  bool is_displaced = false;
  slots_[slot].resources.ForEach([&](uint32_t resource) {
    const uint32_t occupant = lanes_[resource].occupant;
    is_displaced |= occupant != kNone && occupant != slot &&
                    !slots_[occupant].resources.Contains(resource);
  });
  return is_displaced;
}

// When its place is expected to be free.
int64_t PlanFollower::FreeAt(uint32_t slot, int64_t now_ns) const {
  int64_t free_ns = now_ns;
  slots_[slot].resources.ForEach([&](uint32_t resource) {
    const uint32_t occupant = lanes_[resource].occupant;
    if (occupant == kNone || occupant == slot) return;
    free_ns = std::max({free_ns, now_ns + 1, ExpectedEnd(occupant)});
  });
  return free_ns;
}

// How long it takes where nothing runs and nothing is planned before it would
// end, and where that is; nowhere: empty.
int64_t PlanFollower::Elsewhere(uint32_t slot, uint64_t cycle, int64_t now_ns,
                                ResourceSet* where) {
  int64_t best_ns = kInfiniteFuture;
  for (const auto& way : KernelOf(plan_.operations[slot]).alternatives) {
    if (way.guess_ns >= best_ns) continue;
    const ResourceSet there = RoomFor(
        slot, cycle, machine_.ResourcesOf(way.pool), now_ns + way.guess_ns);
    if (there.count() < way.shards) continue;
    best_ns = way.guess_ns;
    *where = there;
  }
  return best_ns;
}

// Whether it may run there until then: nothing does, and nothing is planned
// there but what comes after it anyway.
bool PlanFollower::HasRoom(uint32_t resource, uint32_t slot, uint64_t cycle,
                           int64_t until_ns) {
  const uint32_t occupant = lanes_[resource].occupant;
  if ((occupant != kNone && occupant != slot) || lost_.Contains(resource)) {
    return false;
  }
  uint32_t next = 0;
  uint64_t next_cycle = 0;
  return !Next(resource, &next, &next_cycle) ||
         (slots_[next].job == slots_[slot].job && next_cycle == cycle) ||
         StartOf(next, next_cycle) >= until_ns;
}

// Those of `among` that have room for it until then.
ResourceSet PlanFollower::RoomFor(uint32_t slot, uint64_t cycle,
                                  const ResourceSet& among, int64_t until_ns) {
  ResourceSet there;
  among.ForEach([&](uint32_t resource) {
    if (HasRoom(resource, slot, cycle, until_ns)) there.Add(resource);
  });
  return there;
}

ResourceSet PlanFollower::MayHave(const GuidedOperation& operation,
                                  int64_t now_ns) {
  const Binding& binding = Bind(operation);
  const uint32_t slot = SlotOf(binding, operation.program_index);
  if (slot == kNone) return {};
  if (IsRepaired(binding)) {
    return repair_.follower->MayHave(operation, now_ns);
  }
  const bool is_kept = options_.mode == FollowMode::kStrict || binding.is_free;
  if (is_kept || !slots_[slot].is_running) return {};
  // On more cores it ends no later.
  return RoomFor(slot, binding.cycle, everywhere(), ExpectedEnd(slot));
}

}  // namespace takt::follow
