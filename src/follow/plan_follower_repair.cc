// What is left of a plan that cannot be kept is planned anew.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "follow/plan_follower.h"

namespace takt::follow {

using sched::GuidedOperation;
using sched::Prescription;
using sched::ResourceSet;

FollowReport PlanFollower::report() const {
  FollowReport report = report_;
  if (repair_.follower != nullptr) report.Add(repair_.follower->report());
  return report;
}

bool PlanFollower::IsRepaired(const Binding& binding) const {
  return repair_.follower != nullptr && binding.job != kNone &&
         repair_.jobs.contains({binding.job, binding.cycle});
}

// The plan is in step again.
void PlanFollower::Resume() {
  resume_ns_ = 0;
  DropRepair();
}

// What is being planned is not needed any more.
void PlanFollower::DropRepair() {
  EndRepair();
  const bool has_changed = repair_.has_changed;
  repair_ = {};
  repair_.has_changed = has_changed;
}

// What was planned anew is not followed any more.
void PlanFollower::EndRepair() {
  if (repair_.follower == nullptr) return;
  report_.Add(repair_.follower->report());
  repair_.follower = nullptr;
  repair_.has_changed = true;
}

// From now on; at the next call of OnTime().
void PlanFollower::PlanRest(int64_t now_ns) {
  DropRepair();
  if (options_.repair.budget_ns > 0) repair_.begin_ns = now_ns;
}

int64_t PlanFollower::next_event_ns() const {
  if (repair_.has_changed) return 0;
  int64_t next_ns =
      repair_.window != nullptr ? repair_.force_ns : repair_.begin_ns;
  if (repair_.follower != nullptr) next_ns = std::min(next_ns, repair_.end_ns);
  return next_ns;
}

bool PlanFollower::OnTime(int64_t now_ns) {
  if (resume_ns_ > 0 && now_ns >= resume_ns_) Resume();
  if (repair_.window != nullptr && now_ns >= repair_.force_ns) {
    repair_.has_changed |= Install(now_ns);
  }
  if (now_ns >= repair_.end_ns) EndRepair();
  if (repair_.window == nullptr && now_ns >= repair_.begin_ns) {
    LookAtRest(now_ns);
  }
  return std::exchange(repair_.has_changed, false);
}

// Those ways that the plan knows of; else as it was planned, in any pool of
// that kind.
plan::Kernel PlanFollower::KernelOf(
    const plan::PlannedOperation& operation) const {
  plan::Kernel kernel;
  kernel.name = operation.name;
  const auto add = [&](uint32_t pool, uint32_t shards, int64_t duration) {
    if (shards > machine_.pools[pool].count) return;
    sched::AlternativeOptions way;
    way.pool = pool;
    way.shards = shards;
    way.guess_ns = duration;
    kernel.alternatives.push_back(way);
  };
  for (const plan::PlannedAlternative& way : operation.alternatives) {
    for (uint32_t r = 0; r < plan_.resources.size(); ++r) {
      if (plan_.resources[r].kind != way.kind ||
          plan_.resources[r].cluster != way.cluster) {
        continue;
      }
      add(pool_of_[r], way.width, way.duration);
      break;
    }
  }
  if (!kernel.alternatives.empty()) return kernel;
  // Of an NPU and its feeders, the NPU.
  uint32_t taken = operation.resources[0];
  for (const uint32_t r : operation.resources) {
    if (plan_.resources[r].kind == plan::PlannedResource::Kind::kNpu) taken = r;
  }
  const bool is_npu =
      plan_.resources[taken].kind == plan::PlannedResource::Kind::kNpu;
  const auto width =
      is_npu ? 1 : static_cast<uint32_t>(operation.resources.size());
  for (uint32_t pool = 0; pool < machine_.pools.size(); ++pool) {
    if (machine_.pools[pool].kind == machine_.pools[pool_of_[taken]].kind) {
      add(pool, width, operation.duration);
    }
  }
  return kernel;
}

// Of one that runs.
int64_t PlanFollower::ExpectedEnd(uint32_t slot) const {
  const Slot& running = slots_[slot];
  int64_t duration = running.duration;
  for (const auto& way : KernelOf(plan_.operations[slot]).alternatives) {
    const ResourceSet there = running.runs_on & machine_.ResourcesOf(way.pool);
    if (there.count() == way.shards) duration = way.guess_ns;
  }
  return running.runs_since_ns + duration;
}

// Adds what is left of that job.
void PlanFollower::AddRest(const JobKey& key,
                           absl::flat_hash_map<uint32_t, uint32_t>* kernels,
                           Window* window) {
  const JobSlot& job = jobs_[key.first];
  const int64_t time0_ns = OriginOf(key.second);
  int64_t ready_ns = std::max(time0_ns + job.release, repair_.force_ns);
  std::vector<sched::ProgramOperation> operations;
  WindowJob rest{job.stream,
                 time0_ns + job.release,
                 job.deadline == plan::kNoDeadline ? kInfiniteFuture
                                                   : time0_ns + job.deadline,
                 {}};
  absl::flat_hash_map<uint32_t, uint32_t> place_of;  // By slot.
  for (uint32_t ordinal = 0; ordinal < job.slots.size(); ++ordinal) {
    const uint32_t slot = job.slots[ordinal];
    if (slot == kNone || slots_[slot].stopped_count > key.second) continue;
    const ResourceSet& runs_on = slots_[slot].runs_on;
    // What runs delays what comes after it; on what is lost, nothing does.
    if (!runs_on.empty() && !runs_on.Intersects(lost_)) {
      ready_ns = std::max(ready_ns, ExpectedEnd(slot));
      continue;
    }
    place_of[slot] = static_cast<uint32_t>(operations.size());
    const auto [kernel, is_new] = kernels->try_emplace(slot, 0);
    if (is_new) {
      kernel->second = window->AddKernel(KernelOf(plan_.operations[slot]));
    }
    operations.push_back({kernel->second, {}});
    rest.ordinals.push_back(ordinal);
  }
  if (operations.empty()) return;
  for (const auto& [slot, place] : place_of) {
    for (const uint32_t before : plan_.operations[slot].after) {
      const auto found = place_of.find(before);
      if (found == place_of.end()) continue;
      operations[place].after.push_back(found->second);
    }
  }
  ResourceSet allowed;
  for (const uint32_t resource : plan_.jobs[key.first].allowed) {
    allowed.Add(resource);
  }
  if (allowed.empty()) {
    allowed = everywhere();
  }
  window->AddJob(std::move(rest), std::move(operations), ready_ns, allowed);
  repair_.window_jobs.push_back(key);
}

// What is left of this period, or, if the plan is not in step by then, of the
// next one, when the budget is over.
void PlanFollower::LookAtRest(int64_t now_ns) {
  repair_.begin_ns = kInfiniteFuture;
  repair_.force_ns = now_ns + options_.repair.budget_ns;
  uint64_t last = 0;  // Repetition.
  int64_t end_ns = resume_ns_;
  if (period_ > 0) {
    const int64_t past_ns = std::max<int64_t>(repair_.force_ns - origin_ns_, 0);
    last = static_cast<uint64_t>(past_ns / period_);
    end_ns = std::min(end_ns, OriginOf(last + 1));
  }
  if (resume_ns_ == 0 || repair_.force_ns >= end_ns) return;
  if (options_.repair_horizon_ns > 0) {
    end_ns = std::min(end_ns, repair_.force_ns + options_.repair_horizon_ns);
  }
  absl::flat_hash_set<JobKey> bound;
  for (const Binding& binding : bindings_) {
    if (binding.job != kNone) bound.insert({binding.job, binding.cycle});
  }
  // Of the one before it, what is late.
  std::vector<std::pair<int64_t, JobKey>> rest;
  for (uint64_t cycle = last - std::min<uint64_t>(last, 1);
       cycle <= last && cycle < cycle_count_; ++cycle) {
    for (uint32_t job = 0; job < jobs_.size(); ++job) {
      const int64_t release_ns = ReleaseOf(jobs_[job], cycle);
      const bool is_missing = release_ns + options_.patience_ns < now_ns &&
                              !bound.contains({job, cycle});
      if (release_ns >= end_ns || is_missing) continue;
      rest.push_back({release_ns, {job, cycle}});
    }
  }
  std::sort(rest.begin(), rest.end());
  if (rest.empty()) return;
  repair_.window_jobs.clear();
  repair_.window_end_ns = end_ns;
  auto window = std::make_shared<Window>(
      machine_, lost_, std::min(now_ns, rest[0].first), repair_.force_ns);
  absl::flat_hash_map<uint32_t, uint32_t> kernels;
  for (const auto& [release_ns, key] : rest) {
    AddRest(key, &kernels, window.get());
  }
  if (window->jobs().empty()) return;
  for (uint32_t slot = 0; slot < slots_.size(); ++slot) {
    const ResourceSet& runs_on = slots_[slot].runs_on;
    if (runs_on.empty() || runs_on.Intersects(lost_)) continue;
    window->AddBusy(runs_on, ExpectedEnd(slot));
  }
  repair_.window = std::move(window);
  Window::Solve(repair_.window, options_.repair);
}

// True if what was planned is followed from now on.
bool PlanFollower::Install(int64_t now_ns) {
  const std::shared_ptr<Window> window = repair_.window;
  repair_.window = nullptr;
  if (repair_.window_end_ns < resume_ns_) {
    // Then the next one is in force when this one ends.
    repair_.begin_ns =
        std::max(repair_.window_end_ns - options_.repair.budget_ns, now_ns + 1);
  }
  const absl::StatusOr<WindowPlan> plan =
      window->is_planned() ? window->TakePlan()
                           : absl::DeadlineExceededError("it is not there");
  FollowerOptions options;
  options.mode = FollowMode::kAdaptive;
  options.patience_ns = options_.patience_ns;
  options.divergence_ns = options_.divergence_ns;
  options.longest_ns = options_.longest_ns;
  options.fills = options_.fills;
  options.on_divergence = [this](const PlanEvent& violation) {
    if (options_.on_divergence) {
      options_.on_divergence(OwnViolation(violation));
    }
  };
  if (!plan.ok() || plan->late_count > 0) {
    ++report_.refused_count;
    return false;
  }
  auto follower =
      Create(plan->plan, machine_, window->streams(), std::move(options));
  if (!follower.ok()) {
    ++report_.refused_count;
    return false;
  }
  ++report_.resolve_count;
  repair_.places.clear();
  for (const plan::PlannedOperation& operation : plan->plan.operations) {
    const JobKey& key = repair_.window_jobs[operation.job];
    repair_.places.push_back(
        {jobs_[key.first].slots[operation.ordinal], key.second});
  }
  EndRepair();
  repair_.follower = *std::move(follower);
  repair_.follower->lost_ = lost_;
  repair_.jobs.clear();
  repair_.jobs.insert(repair_.window_jobs.begin(), repair_.window_jobs.end());
  repair_.end_ns = repair_.window_end_ns;
  repair_.follower->Start(window->origin_ns());
  TellPast(now_ns);
  return true;
}

// In terms of the plan.
PlanEvent PlanFollower::OwnViolation(PlanEvent violation) const {
  const auto& [slot, cycle] = repair_.places[violation.operation];
  violation.operation = slot;
  violation.cycle = cycle;
  return violation;
}

// What has begun or ended since it was looked at.
void PlanFollower::TellPast(int64_t now_ns) {
  std::vector<std::pair<int64_t, uint32_t>> live;  // By release.
  for (uint32_t index = 0; index < bindings_.size(); ++index) {
    const Binding& binding = bindings_[index];
    if (!IsRepaired(binding)) continue;
    live.push_back({ReleaseOf(jobs_[binding.job], binding.cycle), index});
  }
  std::sort(live.begin(), live.end());
  for (const auto& [release_ns, index] : live) {
    const Binding& binding = bindings_[index];
    const JobSlot& job = jobs_[binding.job];
    GuidedOperation operation;
    operation.job = {index, binding.generation};
    operation.stream = job.stream;
    operation.release_ns = release_ns;
    for (uint32_t ordinal = 0; ordinal < job.slots.size(); ++ordinal) {
      if (job.slots[ordinal] == kNone) continue;
      const Slot& slot = slots_[job.slots[ordinal]];
      operation.program_index = ordinal;
      if (slot.stopped_count > binding.cycle) {
        repair_.follower->OnStopped(operation, true, now_ns);
      } else if (!slot.runs_on.empty()) {
        repair_.follower->OnStarted(operation, slot.runs_on,
                                    slot.runs_since_ns);
      }
    }
  }
  repair_.follower->report_ = {};  // That was not its own doing.
}

Prescription PlanFollower::PrescribeRepaired(const GuidedOperation& operation,
                                             int64_t now_ns) {
  const Prescription prescription =
      repair_.follower->Prescribe(operation, now_ns);
  if (!repair_.follower->is_diverged()) return prescription;
  // That cannot be kept either.
  PlanRest(now_ns);
  return {};
}

}  // namespace takt::follow
