#include "follow/followed_plan.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/hash_map.h"
#include "base/status.h"
#include "follow/adaptive_policy.h"
#include "follow/strict_policy.h"

namespace takt::follow {

using sched::AdvisedOperation;
using sched::Prescription;
using sched::ResourceSet;

namespace {

std::unique_ptr<FollowPolicy> MakePolicy(
    PlanProgress& progress, const FollowerOptions& options,
    FollowReport& report, std::function<void(int64_t now_ns)> on_given_up) {
  if (options.mode == FollowMode::kStrict) {
    return std::make_unique<StrictPolicy>(progress, options, report);
  }
  return std::make_unique<AdaptivePolicy>(progress, options, report,
                                          std::move(on_given_up));
}

}  // namespace

FollowedPlan::FollowedPlan(const plan::Plan& plan,
                           const sched::Machine& machine,
                           FollowerOptions options,
                           std::function<void(int64_t now_ns)> on_given_up)
    : options_(std::move(options)),
      progress_(plan, machine),
      policy_(
          MakePolicy(progress_, options_, report_, std::move(on_given_up))) {}

absl::StatusOr<std::unique_ptr<FollowedPlan>> FollowedPlan::Create(
    const plan::Plan& plan, const sched::Machine& machine,
    const HashMap<std::string, sched::StreamId>& streams,
    FollowerOptions options, std::function<void(int64_t now_ns)> on_given_up) {
  TAKT_RETURN_IF_ERROR(ValidatePlan(plan));
  for (const plan::PlanFault& fault : plan::FindPlanFaults(plan)) {
    // A plan with late jobs can be carried out.
    if (fault.kind == plan::PlanFault::Kind::kDeadline) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("plan \"", plan.name, "\": ", fault.text));
  }
  // A strict plan waits for every operation.
  const int64_t unseen_max_ns =
      options.mode == FollowMode::kAdaptive ? options.small_ns : -1;
  std::unique_ptr<FollowedPlan> followed(new FollowedPlan(
      plan, machine, std::move(options), std::move(on_given_up)));
  TAKT_RETURN_IF_ERROR(followed->progress_.LoadPlan(streams, unseen_max_ns));
  followed->divergence_ = Divergence(followed->progress_.slot_count());
  return followed;
}

void FollowedPlan::OnMissing(uint32_t slot, uint64_t cycle) {
  policy_->OnViolation({PlanEvent::Kind::kMissing, slot, cycle, 0}, nullptr);
}

FollowedPlan::Binding& FollowedPlan::Bind(const AdvisedOperation& operation) {
  return progress_.Bind(operation, [this](uint32_t slot, uint64_t cycle) {
    OnMissing(slot, cycle);
  });
}

void FollowedPlan::GiveUpMissing(int64_t now_ns) {
  for (uint32_t r = 0; r < progress_.lane_count(); ++r) {
    while (const auto next = progress_.Next(r)) {
      const PlanSlot& slot = progress_.slot(next->slot);
      const int64_t end_ns =
          progress_.StartOf(next->slot, next->cycle) + slot.duration;
      if (slot.is_ready || slot.is_running ||
          now_ns < end_ns + options_.patience_ns) {
        break;
      }
      OnMissing(next->slot, next->cycle);
      progress_.Finish(next->slot, next->cycle);
    }
  }
}

void FollowedPlan::SetLost(const ResourceSet& lost) {
  lost.ForEach(
      [this](uint32_t resource) { progress_.SetAvailable(resource, false); });
}

Prescription FollowedPlan::Fill(const AdvisedOperation& operation,
                                int64_t now_ns) {
  Prescription prescription;
  if (!options_.longest_ns || is_diverged()) return prescription;
  if (options_.fills && !options_.fills(operation.stream)) return prescription;
  int64_t next_ask_ns = kInfiniteFuture;
  for (uint32_t r = 0; r < progress_.lane_count(); ++r) {
    const auto next = progress_.Next(r);
    if (!next.has_value()) {
      prescription.resources.Add(r);
      continue;
    }
    // The policy is asked again when that slot stops.
    if (progress_.slot(next->slot).is_running) continue;
    const int64_t planned_ns = progress_.StartOf(next->slot, next->cycle);
    const int64_t longest_ns =
        options_.longest_ns(operation.kernel, progress_.pool_of(r));
    if (longest_ns < planned_ns - now_ns) {
      prescription.resources.Add(r);
      prescription.not_after_ns =
          std::min(prescription.not_after_ns, planned_ns - longest_ns - 1);
    } else {
      // Until the planned operation has begun.
      next_ask_ns = std::min(
          next_ask_ns, planned_ns > now_ns ? planned_ns : now_ns + kPollNs);
    }
  }
  if (prescription.resources.empty()) prescription.not_before_ns = next_ask_ns;
  return prescription;
}

Prescription FollowedPlan::Prescribe(const AdvisedOperation& operation,
                                     int64_t now_ns) {
  Resume(now_ns);
  Binding& binding = Recognize(operation, now_ns);
  Prescription prescription = PrescribeBound(&binding, operation, now_ns);
  // An operation that is known ahead of its release waits for it.
  prescription.not_before_ns =
      std::max(prescription.not_before_ns, operation.release_ns);
  return prescription;
}

FollowedPlan::Binding& FollowedPlan::Recognize(
    const AdvisedOperation& operation, int64_t now_ns) {
  GiveUpMissing(now_ns);
  Binding& binding = Bind(operation);
  if (binding.job == kNone) return binding;
  if (operation.unseen_count > 0) {
    policy_->OnUnseen(binding, operation.program_index);
  }
  const uint32_t slot = progress_.SlotOf(binding, operation.program_index);
  if (slot != kNone) progress_.Vacate(slot);
  return binding;
}

Prescription FollowedPlan::PrescribeBound(Binding* binding,
                                          const AdvisedOperation& operation,
                                          int64_t now_ns) {
  if (binding->job == kNone) return Fill(operation, now_ns);
  if (binding->is_free) return {};
  const uint32_t slot = progress_.SlotOf(*binding, operation.program_index);
  if (slot == kNone) {
    policy_->OnViolation({PlanEvent::Kind::kUnplanned, progress_.slot_count(),
                          binding->cycle, 0},
                         binding);
    return {};
  }
  // The plan does not wait for this operation any longer.
  if (progress_.slot(slot).over_count > binding->cycle) return {};
  progress_.SetReady(slot, now_ns);
  return policy_->Prescribe(binding, slot, operation, now_ns);
}

ResourceSet FollowedPlan::MayHave(const AdvisedOperation& operation,
                                  int64_t now_ns) {
  const Binding& binding = Bind(operation);
  const uint32_t slot = progress_.SlotOf(binding, operation.program_index);
  if (slot == kNone) return {};
  return policy_->MayHave(binding, slot, now_ns);
}

bool FollowedPlan::OnStarted(const AdvisedOperation& operation,
                             const ResourceSet& resources, int64_t now_ns) {
  Binding& binding = Bind(operation);
  const uint32_t index = progress_.SlotOf(binding, operation.program_index);
  if (index == kNone) return false;
  progress_.Occupy(index, resources, now_ns);
  const PlanSlot& slot = progress_.slot(index);
  if (binding.is_free || slot.over_count > binding.cycle) return true;
  // Started again, after it had yielded.
  if (slot.is_running) return true;
  progress_.Begin(index, now_ns);
  ++report_.started_count;
  if (slot.IsPlace(resources)) ++report_.in_place_count;
  TAKT_DCHECK(report_.in_place_count <= report_.started_count);
  const int64_t error_ns = now_ns - progress_.StartOf(index, binding.cycle);
  report_.lateness_max_ns = std::max(report_.lateness_max_ns, error_ns);
  policy_->OnStarted(&binding, index, error_ns);
  return true;
}

void FollowedPlan::OnRan(const AdvisedOperation& operation, int64_t begin_ns,
                         int64_t end_ns) {
  Binding& binding = Bind(operation);
  const uint32_t index = progress_.SlotOf(binding, operation.program_index);
  if (index == kNone || binding.is_free) return;
  const PlanSlot& slot = progress_.slot(index);
  if (slot.over_count > binding.cycle || !slot.is_running) return;
  const bool is_first = slot.began_ns == 0;
  progress_.SetMeasured(index, begin_ns, end_ns);
  if (!is_first) return;
  const int64_t error_ns = begin_ns - progress_.StartOf(index, binding.cycle);
  report_.lateness_max_ns = std::max(report_.lateness_max_ns, error_ns);
  policy_->OnStarted(&binding, index, error_ns);
}

void FollowedPlan::Measure(uint32_t index, uint64_t cycle, int64_t now_ns) {
  const PlanSlot& slot = progress_.slot(index);
  TAKT_DCHECK(slot.is_running);
  const int64_t start_ns = progress_.StartOf(index, cycle);
  const int64_t began_ns =
      slot.began_ns != 0 ? slot.began_ns : slot.running_since_ns;
  const int64_t ended_ns = slot.ended_ns != 0 ? slot.ended_ns : now_ns;
  divergence_.Add(index, began_ns - start_ns,
                  ended_ns - start_ns - slot.duration);
}

bool FollowedPlan::OnStopped(const AdvisedOperation& operation, bool is_done,
                             int64_t now_ns) {
  Binding& binding = Bind(operation);
  const uint32_t index = progress_.SlotOf(binding, operation.program_index);
  if (index == kNone) return false;
  progress_.Vacate(index);
  progress_.SetStopped(binding, index, is_done);
  const PlanSlot& slot = progress_.slot(index);
  if (slot.over_count > binding.cycle) return true;
  if (is_done && slot.is_running) {
    Measure(index, binding.cycle, now_ns);
    const int64_t took_ns = slot.ended_ns != 0 ? slot.ended_ns - slot.began_ns
                                               : now_ns - slot.running_since_ns;
    const int64_t over_ns = took_ns - slot.duration;
    if (over_ns > options_.tolerance_ns && !binding.is_free) {
      policy_->OnViolation(
          {PlanEvent::Kind::kOverrun, index, binding.cycle, over_ns}, nullptr);
    }
  }
  progress_.Finish(index, binding.cycle);
  return true;
}

void FollowedPlan::OnAvailable(uint32_t resource, bool is_available,
                               int64_t now_ns) {
  progress_.SetAvailable(resource, is_available);
  policy_->OnAvailable(resource, is_available, now_ns);
}

void FollowedPlan::OnReleased(const sched::AdvisedJob& job) {
  AdvisedOperation first;
  first.job = job.job;
  first.stream = job.stream;
  first.release_ns = job.release_ns;
  (void)Bind(first);
}

void FollowedPlan::OnOver(sched::JobId job) {
  const Binding* const binding = progress_.FindBinding(job);
  if (binding != nullptr) policy_->OnUnseen(*binding, SIZE_MAX);
}

}  // namespace takt::follow
