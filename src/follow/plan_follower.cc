#include "follow/plan_follower.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace takt::follow {
namespace {

// How often one asks again who waits for what is late and not ready.
constexpr int64_t kPollNs = 20'000;

}  // namespace

using sched::GuidedOperation;
using sched::Prescription;
using sched::ResourceSet;

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

absl::StatusOr<std::unique_ptr<PlanFollower>> PlanFollower::Create(
    const plan::Plan& plan, const sched::Machine& machine,
    const absl::flat_hash_map<std::string, sched::StreamId>& streams,
    FollowerOptions options) {
  TAKT_RETURN_IF_ERROR(ValidatePlan(plan));
  for (const plan::PlanFault& fault : plan::FindPlanFaults(plan)) {
    // Late jobs are carried out, late.
    if (fault.kind == plan::PlanFault::Kind::kDeadline) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("plan \"", plan.name, "\": ", fault.text));
  }
  std::unique_ptr<PlanFollower> follower(
      new PlanFollower(plan, machine, std::move(options)));
  TAKT_RETURN_IF_ERROR(follower->Take(streams));
  return follower;
}

absl::Status PlanFollower::Take(
    const absl::flat_hash_map<std::string, sched::StreamId>& streams) {
  const plan::Plan& plan = plan_;
  const sched::Machine& machine = machine_;
  const auto fault = [&](absl::string_view reason) {
    return absl::InvalidArgumentError(
        absl::StrCat("plan \"", plan.name, "\": ", reason));
  };
  if (plan.resources.size() != machine.resource_count()) {
    return fault(absl::StrCat("it is of ", plan.resources.size(),
                              " resources, and there are ",
                              machine.resource_count()));
  }
  for (uint32_t r = 0; r < plan.resources.size(); ++r) {
    const bool is_npu =
        plan.resources[r].kind == plan::PlannedResource::Kind::kNpu;
    const uint32_t pool = machine.PoolOf(r);
    if (is_npu != (machine.pools[pool].kind == sched::ResourceKind::kNpu)) {
      return fault(absl::StrCat("resource \"", plan.resources[r].name, "\" is ",
                                is_npu ? "an NPU" : "a core",
                                ", here it is not"));
    }
    pool_of_.push_back(pool);
    if (!is_npu) cores_.Add(r);
  }
  lanes_.resize(plan.resources.size());
  for (uint32_t j = 0; j < plan.jobs.size(); ++j) {
    const plan::PlannedJob& job = plan.jobs[j];
    const auto found = streams.find(job.stream);
    if (found == streams.end()) {
      return fault(absl::StrCat("there is no stream \"", job.stream, "\""));
    }
    std::vector<uint32_t>& jobs = streams_[found->second].jobs;
    if (job.instance != jobs.size()) {
      return fault(absl::StrCat("job \"", job.name, "\" is number ",
                                job.instance, " of its stream, not ",
                                jobs.size()));
    }
    jobs.push_back(j);
    jobs_.push_back({found->second, job.release, job.deadline, {}});
  }
  for (uint32_t i = 0; i < plan.operations.size(); ++i) {
    const plan::PlannedOperation& operation = plan.operations[i];
    Slot slot;
    slot.start = operation.start;
    slot.duration = operation.duration;
    slot.job = operation.job;
    bool has_npu = false;
    for (const uint32_t resource : operation.resources) {
      slot.resources.Add(resource);
      has_npu |=
          plan.resources[resource].kind == plan::PlannedResource::Kind::kNpu;
    }
    if (options_.mode == FollowMode::kAdaptive && !has_npu &&
        operation.duration <= options_.small_ns) {
      slot.over_count = UINT64_MAX;
    } else {
      for (const uint32_t resource : operation.resources) {
        lanes_[resource].order.push_back(i);
      }
    }
    for (const uint32_t resource : operation.resources) {
      if (has_npu &&
          plan.resources[resource].kind == plan::PlannedResource::Kind::kCore) {
        slot.feeders.Add(resource);
      }
    }
    slot.shards =
        has_npu ? 0 : static_cast<uint32_t>(operation.resources.size());
    std::vector<uint32_t>& slots = jobs_[operation.job].slots;
    if (slots.size() <= operation.ordinal) {
      if (operation.ordinal >= plan.operations.size()) {
        return fault(absl::StrCat("operation \"", operation.name,
                                  "\" is dispatch ", operation.ordinal));
      }
      slots.resize(operation.ordinal + 1, kNone);
    }
    slots[operation.ordinal] = i;
    slots_.push_back(slot);
  }
  divergence_ = Divergence(slots_.size());
  if (period_ == 0) left_count_ = CountLeft();
  for (Lane& lane : lanes_) {
    std::sort(lane.order.begin(), lane.order.end(),
              [&](uint32_t a, uint32_t b) {
                return slots_[a].start < slots_[b].start;
              });
  }
  return absl::OkStatus();
}

bool PlanFollower::Slot::IsPlace(const ResourceSet& where) const {
  if (where == resources) return true;
  const ResourceSet npus = resources - feeders;
  if (shards != 0 || !((where & npus) == npus)) return false;
  return feeders.empty() || where == npus;
}

void PlanFollower::EndAt(int64_t end_ns) {
  DropRepair();
  const int64_t length = end_ns - origin_ns_;
  if (period_ == 0) {
    for (uint32_t i = 0; i < slots_.size(); ++i) {
      if (jobs_[slots_[i].job].release >= length) Finish(i, 0);
    }
    return;
  }
  cycle_count_ = static_cast<uint64_t>(std::max<int64_t>(length, 0) / period_);
  left_count_ = CountLeft();
}

// Of the last repetition.
uint64_t PlanFollower::CountLeft() const {
  return static_cast<uint64_t>(std::count_if(
      slots_.begin(), slots_.end(),
      [&](const Slot& slot) { return slot.over_count < cycle_count_; }));
}

// The job's place in the plan: of those of its stream that are still to come,
// the one whose release is nearest. Those before it are not coming any more.
PlanFollower::Binding& PlanFollower::Bind(const GuidedOperation& operation) {
  if (bindings_.size() <= operation.job.index) {
    bindings_.resize(operation.job.index + 1);
  }
  Binding& binding = bindings_[operation.job.index];
  if (binding.generation == operation.job.generation) return binding;
  binding = {operation.job.generation, kNone, 0, false};
  const auto found = streams_.find(operation.stream);
  if (found == streams_.end() || operation.release_ns < origin_ns_) {
    return binding;
  }
  StreamSlots& stream = found->second;
  const auto distance = [&](uint64_t n) -> int64_t {
    const uint64_t cycle = n / stream.jobs.size();
    if (cycle >= cycle_count_) return kInfiniteFuture;
    const JobSlot& job = jobs_[stream.jobs[n % stream.jobs.size()]];
    return std::abs(ReleaseOf(job, cycle) - operation.release_ns);
  };
  while (distance(stream.next + 1) < distance(stream.next)) {
    const uint64_t cycle = stream.next / stream.jobs.size();
    const JobSlot& skipped =
        jobs_[stream.jobs[stream.next % stream.jobs.size()]];
    for (const uint32_t slot : skipped.slots) {
      if (slot == kNone) continue;
      Report({PlanEvent::Kind::kMissing, slot, cycle, 0}, nullptr);
      Finish(slot, cycle);
    }
    ++stream.next;
  }
  if (distance(stream.next) == kInfiniteFuture) return binding;
  binding.job = stream.jobs[stream.next % stream.jobs.size()];
  binding.cycle = stream.next / stream.jobs.size();
  ++stream.next;
  return binding;
}

uint32_t PlanFollower::SlotOf(const Binding& binding, uint32_t ordinal) const {
  if (binding.job == kNone) return kNone;
  const std::vector<uint32_t>& slots = jobs_[binding.job].slots;
  return ordinal < slots.size() ? slots[ordinal] : kNone;
}

bool PlanFollower::Next(uint32_t resource, uint32_t* slot, uint64_t* cycle) {
  Lane& lane = lanes_[resource];
  if (lane.order.empty()) return false;
  for (;; ++lane.position) {
    *cycle = lane.position / lane.order.size();
    if (*cycle >= cycle_count_) return false;
    *slot = lane.order[lane.position % lane.order.size()];
    if (slots_[*slot].over_count <= *cycle) return true;
  }
}

// It runs nowhere now.
void PlanFollower::Vacate(uint32_t slot) {
  slots_[slot].runs_on.ForEach([&](uint32_t resource) {
    if (lanes_[resource].occupant == slot) lanes_[resource].occupant = kNone;
  });
  slots_[slot].runs_on = {};
}

// Whether nothing comes before it on its resources; if not, what does.
bool PlanFollower::IsTurn(uint32_t slot, uint64_t cycle, uint32_t* ahead,
                          uint64_t* ahead_cycle) {
  bool is_turn = true;
  slots_[slot].resources.ForEach([&](uint32_t resource) {
    uint32_t next = 0;
    uint64_t next_cycle = 0;
    if (!is_turn || !Next(resource, &next, &next_cycle)) return;
    if (next == slot && next_cycle == cycle) return;
    if (StartOf(next, next_cycle) > StartOf(slot, cycle)) return;
    is_turn = false;
    *ahead = next;
    *ahead_cycle = next_cycle;
  });
  return is_turn;
}

void PlanFollower::Finish(uint32_t slot, uint64_t cycle) {
  if (slots_[slot].over_count < cycle_count_ && cycle + 1 >= cycle_count_) {
    --left_count_;
  }
  slots_[slot].over_count = std::max(slots_[slot].over_count, cycle + 1);
  slots_[slot].is_running = false;
  slots_[slot].is_ready = false;
}

void PlanFollower::VoidUnseen(const Binding& binding, size_t count) {
  if (binding.job == kNone) return;
  const std::vector<uint32_t>& slots = jobs_[binding.job].slots;
  for (size_t i = 0; i < std::min(count, slots.size()); ++i) {
    const uint32_t slot = slots[i];
    if (slot != kNone && slots_[slot].over_count <= binding.cycle &&
        !slots_[slot].is_ready && !slots_[slot].is_running) {
      Finish(slot, binding.cycle);
    }
  }
}

void PlanFollower::OnReleased(const sched::AdvisedJob& job) {
  GuidedOperation first;
  first.job = job.job;
  first.stream = job.stream;
  first.release_ns = job.release_ns;
  (void)Bind(first);
}

void PlanFollower::OnOver(sched::JobId job) {
  if (options_.mode != FollowMode::kAdaptive || job.index >= bindings_.size() ||
      bindings_[job.index].generation != job.generation) {
    return;
  }
  VoidUnseen(bindings_[job.index], slots_.size());
  if (repair_.follower != nullptr) repair_.follower->OnOver(job);
}

void PlanFollower::VoidMissing(int64_t now_ns) {
  for (uint32_t r = 0; r < lanes_.size(); ++r) {
    uint32_t slot = 0;
    uint64_t cycle = 0;
    while (Next(r, &slot, &cycle) && !slots_[slot].is_ready &&
           !slots_[slot].is_running &&
           now_ns >= StartOf(slot, cycle) + slots_[slot].duration +
                         options_.patience_ns) {
      Report({PlanEvent::Kind::kMissing, slot, cycle, 0}, nullptr);
      Finish(slot, cycle);
    }
  }
}

void PlanFollower::Report(PlanEvent violation, Binding* binding) {
  if (options_.mode != FollowMode::kStrict) return;
  ++report_.violation_count;
  if (options_.on_violation) options_.on_violation(violation);
  if (!options_.falls_back || binding == nullptr || binding->is_free) return;
  binding->is_free = true;
  for (const uint32_t slot : jobs_[binding->job].slots) {
    if (slot != kNone && !slots_[slot].is_running) {
      Finish(slot, binding->cycle);
    }
  }
}

// Moves what is left of that repetition to the right. False, and nothing is
// moved, if a deadline would be missed, or the next one be run into.
bool PlanFollower::Shift(uint64_t cycle, int64_t by_ns) {
  const int64_t shift_ns = by_ns + (cycle == shift_cycle_ ? shift_ns_ : 0);
  for (const Slot& slot : slots_) {
    if (slot.over_count > cycle) continue;
    const int64_t end = slot.start + slot.duration + shift_ns;
    if (period_ > 0 && end > period_) return false;
    const int64_t deadline = jobs_[slot.job].deadline;
    if (deadline != plan::kNoDeadline && end > deadline) return false;
  }
  shift_cycle_ = cycle;
  shift_ns_ = shift_ns;
  ++report_.repair_count;
  return true;
}

// All that is planned up to the next period is moved, or the online policy's.
void PlanFollower::Diverge(const PlanEvent& cause, int64_t now_ns) {
  if (resume_ns_ > 0) return;
  ++report_.divergence_count;
  if (options_.on_divergence) options_.on_divergence(cause);
  if (cause.kind == PlanEvent::Kind::kDiverged &&
      Shift(cause.cycle, cause.by_ns)) {
    return;
  }
  resume_ns_ = kInfiniteFuture;
  if (period_ > 0 && !HasLostPlace()) {
    const int64_t cycle = (now_ns - origin_ns_) / period_;
    resume_ns_ = OriginOf(static_cast<uint64_t>(cycle + 1));
  }
  PlanRest(now_ns);
}

// Whether it loses places of the plan.
bool PlanFollower::HasLostPlace() const {
  bool has_lost = false;
  lost_.ForEach([&](uint32_t resource) { has_lost |= IsPlanned(resource); });
  return has_lost;
}

void PlanFollower::OnAvailable(uint32_t resource, bool is_available,
                               int64_t now_ns) {
  const PlanEvent cause{PlanEvent::Kind::kLost,
                        static_cast<uint32_t>(slots_.size()), 0, 0};
  if (is_available) {
    lost_.Remove(resource);
    if (IsPlanned(resource) && !HasLostPlace() &&
        resume_ns_ == kInfiniteFuture && period_ > 0) {
      resume_ns_ = 0;
      Diverge(cause, now_ns);
    }
    return;
  }
  lost_.Add(resource);
  if (options_.mode != FollowMode::kAdaptive || !IsPlanned(resource)) return;
  resume_ns_ = 0;
  Diverge(cause, now_ns);
}

// What is not planned: where it is done before the next planned start.
Prescription PlanFollower::Fill(const GuidedOperation& operation,
                                int64_t now_ns) {
  Prescription prescription;
  if (!options_.longest_ns || is_diverged()) return prescription;
  if (options_.fills && !options_.fills(operation.stream)) return prescription;
  int64_t next_ask_ns = kInfiniteFuture;
  for (uint32_t r = 0; r < lanes_.size(); ++r) {
    uint32_t slot = 0;
    uint64_t cycle = 0;
    const int64_t planned_ns =
        Next(r, &slot, &cycle) ? StartOf(slot, cycle) : kInfiniteFuture;
    const int64_t longest_ns =
        options_.longest_ns(operation.kernel, pool_of_[r]);
    if (planned_ns == kInfiniteFuture ||
        (longest_ns < planned_ns - now_ns && !slots_[slot].is_running)) {
      prescription.resources.Add(r);
      if (planned_ns != kInfiniteFuture) {
        prescription.not_after_ns =
            std::min(prescription.not_after_ns, planned_ns - longest_ns - 1);
      }
    } else if (!slots_[slot].is_running) {
      // Until it has begun; when it stops, this is asked again.
      next_ask_ns = std::min(
          next_ask_ns, planned_ns > now_ns ? planned_ns : now_ns + kPollNs);
    }
  }
  if (prescription.resources.empty()) prescription.not_before_ns = next_ask_ns;
  return prescription;
}

void PlanFollower::Place(const Slot& slot, Prescription* prescription) {
  prescription->resources = slot.resources - slot.feeders;
  prescription->feeders = slot.feeders;
  prescription->shards = slot.shards;
}

Prescription PlanFollower::Strict(Binding* binding, uint32_t slot,
                                  int64_t now_ns) {
  const uint64_t cycle = binding->cycle;
  Prescription prescription;
  prescription.start_ns = StartOf(slot, cycle);
  if (slots_[slot].resources.Intersects(lost_)) {
    Report({PlanEvent::Kind::kLost, slot, cycle, 0}, nullptr);
    Finish(slot, cycle);
    return prescription;
  }
  prescription.not_before_ns = prescription.start_ns;
  uint32_t ahead = 0;
  uint64_t ahead_cycle = 0;
  if (!IsTurn(slot, cycle, &ahead, &ahead_cycle)) {
    // What is ready or runs will stop, and then this is asked again.
    const bool will_stop = slots_[ahead].is_ready || slots_[ahead].is_running;
    prescription.not_before_ns =
        will_stop ? kInfiniteFuture
                  : std::max(prescription.start_ns, now_ns + kPollNs);
    return prescription;
  }
  Place(slots_[slot], &prescription);
  return prescription;
}

// What is known ahead of its release waits for it.
Prescription PlanFollower::Prescribe(const GuidedOperation& operation,
                                     int64_t now_ns) {
  Prescription prescription = PrescribePlanned(operation, now_ns);
  prescription.not_before_ns =
      std::max(prescription.not_before_ns, operation.release_ns);
  return prescription;
}

Prescription PlanFollower::PrescribePlanned(const GuidedOperation& operation,
                                            int64_t now_ns) {
  if (resume_ns_ > 0 && now_ns >= resume_ns_) Resume();
  VoidMissing(now_ns);
  Binding& binding = Bind(operation);
  if (binding.job == kNone) {
    const bool fills_repaired =
        repair_.follower != nullptr && !has_stream(operation.stream);
    return fills_repaired ? repair_.follower->Fill(operation, now_ns)
                          : Fill(operation, now_ns);
  }
  const uint32_t slot = SlotOf(binding, operation.program_index);
  if (operation.unseen_count > 0 && options_.mode == FollowMode::kAdaptive) {
    VoidUnseen(binding, operation.program_index);
  }
  if (slot != kNone) Vacate(slot);
  if (IsRepaired(binding)) {
    binding.is_free = true;
    return PrescribeRepaired(operation, now_ns);
  }
  if (binding.is_free) return {};
  if (slot == kNone) {
    Report({PlanEvent::Kind::kUnplanned, static_cast<uint32_t>(slots_.size()),
            binding.cycle, 0},
           &binding);
    return {};
  }
  if (slots_[slot].over_count > binding.cycle) return {};  // It was voided.
  if (!slots_[slot].is_ready) slots_[slot].ready_ns = now_ns;
  slots_[slot].is_ready = !slots_[slot].is_running;
  if (options_.mode == FollowMode::kStrict) {
    return Strict(&binding, slot, now_ns);
  }
  // What is released when the plan is in step again goes by it.
  if (is_diverged() && operation.release_ns < resume_ns_) {
    // All of the job, so that none of it waits for what is planned.
    binding.is_free = true;
    return {};
  }
  return Adaptive(&binding, slot, now_ns);
}

void PlanFollower::OnStarted(const GuidedOperation& operation,
                             const ResourceSet& resources, int64_t now_ns) {
  Binding& binding = Bind(operation);
  const uint32_t index = SlotOf(binding, operation.program_index);
  if (index == kNone) return;
  Slot& slot = slots_[index];
  slot.runs_on = resources;
  slot.runs_since_ns = now_ns;
  resources.ForEach([&](uint32_t r) { lanes_[r].occupant = index; });
  if (IsRepaired(binding)) {
    repair_.follower->OnStarted(operation, resources, now_ns);
  }
  if (binding.is_free || slot.over_count > binding.cycle) return;
  const int64_t error_ns = now_ns - StartOf(index, binding.cycle);
  // Again, after it has yielded.
  if (slot.is_running) return;
  slot.is_running = true;
  slot.is_ready = false;
  slot.is_late_told = false;
  slot.running_since_ns = now_ns;
  slot.began_ns = slot.ended_ns = 0;
  ++report_.started_count;
  if (slot.IsPlace(resources)) ++report_.in_place_count;
  report_.lateness_max_ns = std::max(report_.lateness_max_ns, error_ns);
  if (options_.mode != FollowMode::kStrict) return;
  report_.start_error_max_ns =
      std::max(report_.start_error_max_ns, std::abs(error_ns));
  if (error_ns > options_.tolerance_ns) {
    slot.is_late_told = true;
    Report({PlanEvent::Kind::kLate, index, binding.cycle, error_ns}, &binding);
  }
}

void PlanFollower::OnRan(const GuidedOperation& operation, int64_t begin_ns,
                         int64_t end_ns) {
  Binding& binding = Bind(operation);
  const uint32_t index = SlotOf(binding, operation.program_index);
  if (IsRepaired(binding)) {
    repair_.follower->OnRan(operation, begin_ns, end_ns);
  }
  if (index == kNone || binding.is_free) return;
  Slot& slot = slots_[index];
  if (slot.over_count > binding.cycle || !slot.is_running) return;
  if (slot.began_ns != 0) {  // A later run of it.
    slot.ended_ns = end_ns;
    return;
  }
  slot.began_ns = begin_ns;
  slot.ended_ns = end_ns;
  const int64_t error_ns = begin_ns - StartOf(index, binding.cycle);
  report_.lateness_max_ns = std::max(report_.lateness_max_ns, error_ns);
  if (options_.mode != FollowMode::kStrict) return;
  report_.start_error_max_ns =
      std::max(report_.start_error_max_ns, std::abs(error_ns));
  // The decision was in time, but whoever was to carry it out was not.
  if (error_ns > options_.tolerance_ns && !slot.is_late_told) {
    slot.is_late_told = true;
    Report({PlanEvent::Kind::kLate, index, binding.cycle, error_ns}, &binding);
  }
}

void PlanFollower::Measure(uint32_t index, uint64_t cycle, int64_t now_ns) {
  const Slot& slot = slots_[index];
  const int64_t start_ns = StartOf(index, cycle);
  const int64_t began_ns =
      slot.began_ns != 0 ? slot.began_ns : slot.running_since_ns;
  const int64_t ended_ns = slot.ended_ns != 0 ? slot.ended_ns : now_ns;
  divergence_.Add(index, began_ns - start_ns,
                  ended_ns - start_ns - slot.duration);
}

void PlanFollower::OnStopped(const GuidedOperation& operation, bool is_done,
                             int64_t now_ns) {
  Binding& binding = Bind(operation);
  const uint32_t index = SlotOf(binding, operation.program_index);
  if (index == kNone) return;
  Slot& slot = slots_[index];
  Vacate(index);
  for (const uint32_t other : jobs_[binding.job].slots) {
    // A job that is given up stops as a whole.
    if (other == index || (!is_done && other != kNone)) {
      slots_[other].stopped_count = binding.cycle + 1;
    }
  }
  if (IsRepaired(binding)) {
    repair_.follower->OnStopped(operation, is_done, now_ns);
  }
  if (slot.over_count > binding.cycle) return;
  const int64_t over_ns =
      (slot.ended_ns != 0 ? slot.ended_ns - slot.began_ns
                          : now_ns - slot.running_since_ns) -
      slot.duration;
  if (is_done && slot.is_running) Measure(index, binding.cycle, now_ns);
  if (is_done && slot.is_running && over_ns > options_.tolerance_ns &&
      !binding.is_free) {
    Report({PlanEvent::Kind::kOverrun, index, binding.cycle, over_ns}, nullptr);
  }
  Finish(index, binding.cycle);
}

}  // namespace takt::follow
