#include "follow/plan_remainder.h"

#include <algorithm>

#include "base/check.h"
#include "base/hash_map.h"

namespace takt::follow {

using sched::AdvisedOperation;

plan::WorkloadKernel PlanRemainder::KernelOf(uint32_t slot) const {
  plan::WorkloadKernel kernel;
  kernel.name = plan_.progress().plan().operations[slot].name;
  kernel.alternatives = plan_.progress().WaysOf(slot);
  return kernel;
}

PendingWork::Job PlanRemainder::MakeJob(const JobKey& key) const {
  const PlanProgress& progress = plan_.progress();
  const PlanProgress::JobSlots& slots = progress.jobs()[key.first];
  const int64_t origin_ns = progress.OriginOf(key.second);
  Job job;
  job.stream = slots.stream;
  job.release_ns = origin_ns + slots.release;
  if (slots.deadline != plan::kNoDeadline) {
    job.deadline_ns = origin_ns + slots.deadline;
  }
  for (const uint32_t resource : progress.plan().jobs[key.first].allowed) {
    job.allowed.Add(resource);
  }
  if (job.allowed.empty()) {
    job.allowed = sched::ResourceSet::Range(0, progress.lane_count());
  }
  for (uint32_t ordinal = 0; ordinal < slots.slots.size(); ++ordinal) {
    const uint32_t index = slots.slots[ordinal];
    if (index == PlanProgress::kNone) continue;
    const PlanSlot& slot = progress.slot(index);
    if (slot.stopped_count > key.second) continue;
    Operation operation;
    operation.ordinal = ordinal;
    operation.kernel = index;
    operation.is_running = IsRunning(slot);
    if (operation.is_running) operation.end_ns = progress.ExpectedEnd(index);
    for (const uint32_t before : progress.plan().operations[index].after) {
      const plan::PlannedOperation& other = progress.plan().operations[before];
      if (other.job == key.first) operation.after.push_back(other.ordinal);
    }
    job.operations.push_back(std::move(operation));
  }
  return job;
}

// The jobs of that cycle and the late ones of the cycle before it, by release.
std::vector<std::pair<int64_t, PlanRemainder::JobKey>> PlanRemainder::FindJobs(
    int64_t now_ns, uint64_t last_cycle, int64_t end_ns) const {
  const PlanProgress& progress = plan_.progress();
  HashSet<JobKey> bound;
  for (const PlanProgress::Binding& binding : progress.bindings()) {
    if (binding.job != PlanProgress::kNone) {
      bound.insert({binding.job, binding.cycle});
    }
  }
  std::vector<std::pair<int64_t, JobKey>> jobs;
  for (uint64_t cycle = last_cycle - std::min<uint64_t>(last_cycle, 1);
       cycle <= last_cycle && cycle < progress.cycle_count(); ++cycle) {
    for (uint32_t job = 0; job < progress.jobs().size(); ++job) {
      const int64_t release_ns =
          progress.ReleaseOf(progress.jobs()[job], cycle);
      const bool is_missing = release_ns + options_.patience_ns < now_ns &&
                              !bound.contains({job, cycle});
      if (release_ns >= end_ns || is_missing) continue;
      jobs.push_back({release_ns, {job, cycle}});
    }
  }
  std::sort(jobs.begin(), jobs.end());
  return jobs;
}

// The rest of this period; or of the next one, if the plan is not in step again
// by then, once the budget is over.
PendingWork::Snapshot PlanRemainder::TakeSnapshot(int64_t now_ns,
                                                  int64_t force_ns) {
  const PlanProgress& progress = plan_.progress();
  const int64_t resume_ns = plan_.resume_ns();
  pending_.clear();
  Snapshot snapshot;
  uint64_t last_cycle = 0;
  int64_t end_ns = resume_ns;
  if (progress.period() > 0) {
    const int64_t past_ns =
        std::max<int64_t>(force_ns - progress.origin_ns(), 0);
    last_cycle = static_cast<uint64_t>(past_ns / progress.period());
    end_ns = std::min(end_ns, progress.OriginOf(last_cycle + 1));
  }
  if (resume_ns == 0 || force_ns >= end_ns) return snapshot;
  if (options_.repair_horizon_ns > 0) {
    end_ns = std::min(end_ns, force_ns + options_.repair_horizon_ns);
  }
  const auto jobs = FindJobs(now_ns, last_cycle, end_ns);
  if (jobs.empty()) return snapshot;
  snapshot.origin_ns = std::min(now_ns, jobs[0].first);
  snapshot.end_ns = end_ns;
  snapshot.lost = progress.lost();
  for (const auto& [release_ns, key] : jobs) {
    Job job = MakeJob(key);
    const bool is_waiting = std::any_of(
        job.operations.begin(), job.operations.end(),
        [](const Operation& operation) { return !operation.is_running; });
    if (!is_waiting) continue;
    snapshot.jobs.push_back(std::move(job));
    pending_.push_back(key);
  }
  if (pending_.empty()) return snapshot;
  for (uint32_t index = 0; index < progress.slot_count(); ++index) {
    const PlanSlot& slot = progress.slot(index);
    if (!IsRunning(slot)) continue;
    snapshot.busy.emplace_back(slot.runs_on, progress.ExpectedEnd(index));
  }
  // The next plan must then be in force when this one ends.
  if (end_ns < resume_ns) {
    snapshot.next_ns =
        std::max(end_ns - options_.repair.budget_ns, force_ns + 1);
  }
  return snapshot;
}

FollowerOptions PlanRemainder::MakeOptions() {
  FollowerOptions options;
  options.mode = FollowMode::kAdaptive;
  options.patience_ns = options_.patience_ns;
  options.divergence_ns = options_.divergence_ns;
  options.longest_ns = options_.longest_ns;
  options.fills = options_.fills;
  if (options_.on_divergence) {
    options.on_divergence = [this](const PlanEvent& event) {
      options_.on_divergence(Translate(event));
    };
  }
  return options;
}

PlanEvent PlanRemainder::Translate(PlanEvent event) const {
  TAKT_CHECK(event.operation < places_.size());
  const auto& [slot, cycle] = places_[event.operation];
  event.operation = slot;
  event.cycle = cycle;
  return event;
}

void PlanRemainder::OnInForce(FollowedPlan& plan, int64_t now_ns) {
  const PlanProgress& progress = plan_.progress();
  plan.SetLost(progress.lost());
  places_.clear();
  for (const auto& operation : plan.progress().plan().operations) {
    TAKT_CHECK(operation.job < pending_.size());
    const auto& [job, cycle] = pending_[operation.job];
    places_.emplace_back(progress.jobs()[job].slots[operation.ordinal], cycle);
  }
  jobs_.clear();
  jobs_.insert(pending_.begin(), pending_.end());
  // Jobs of one stream are matched by their order.
  std::vector<std::pair<int64_t, uint32_t>> live;  // By release.
  for (uint32_t index = 0; index < progress.bindings().size(); ++index) {
    const PlanProgress::Binding& binding = progress.bindings()[index];
    if (!Contains(binding)) continue;
    live.emplace_back(
        progress.ReleaseOf(progress.jobs()[binding.job], binding.cycle), index);
  }
  std::sort(live.begin(), live.end());
  for (const auto& [release_ns, index] : live) {
    const PlanProgress::Binding& binding = progress.bindings()[index];
    const PlanProgress::JobSlots& job = progress.jobs()[binding.job];
    AdvisedOperation operation;
    operation.job = {index, binding.generation};
    operation.stream = job.stream;
    operation.release_ns = release_ns;
    for (uint32_t ordinal = 0; ordinal < job.slots.size(); ++ordinal) {
      if (job.slots[ordinal] == PlanProgress::kNone) continue;
      const PlanSlot& slot = progress.slot(job.slots[ordinal]);
      operation.program_index = ordinal;
      if (slot.stopped_count > binding.cycle) {
        plan.OnStopped(operation, true, now_ns);
      } else if (!slot.runs_on.empty()) {
        plan.OnStarted(operation, slot.runs_on, slot.runs_since_ns);
      }
    }
  }
  plan.ClearReport();
}

}  // namespace takt::follow
