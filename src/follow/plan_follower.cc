#include "follow/plan_follower.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/hash_map.h"
#include "base/status.h"

namespace takt::follow {

using sched::AdvisedOperation;
using sched::Prescription;

PlanFollower::PlanFollower(FollowerOptions options)
    : options_(std::move(options)) {}

absl::StatusOr<std::unique_ptr<PlanFollower>> PlanFollower::Create(
    const plan::Plan& plan, const sched::Machine& machine,
    const HashMap<std::string, sched::StreamId>& streams,
    FollowerOptions options) {
  std::unique_ptr<PlanFollower> follower(new PlanFollower(std::move(options)));
  TAKT_ASSIGN_OR_RETURN(
      follower->plan_,
      FollowedPlan::Create(
          plan, machine, streams, follower->options_,
          [self = follower.get()](int64_t now_ns) { self->PlanRest(now_ns); }));
  follower->rest_ =
      std::make_unique<PlanRemainder>(*follower->plan_, follower->options_);
  ReplannerOptions replanner;
  replanner.planning = follower->options_.repair;
  follower->replanner_ =
      std::make_unique<Replanner>(*follower->rest_, std::move(replanner));
  return follower;
}

void PlanFollower::EndAt(int64_t end_ns) {
  replanner_->Abandon();
  plan_->EndAt(end_ns);
}

FollowReport PlanFollower::report() const {
  FollowReport report = plan_->report();
  report.Add(replanner_->report());
  return report;
}

FollowedPlan* PlanFollower::FindRepair(const AdvisedOperation& operation) {
  if (!is_repaired() || !rest_->Contains(plan_->Bind(operation))) {
    return nullptr;
  }
  return replanner_->current();
}

void PlanFollower::PlanRest(int64_t now_ns) {
  replanner_->Abandon();
  if (options_.repair.budget_ns > 0) replanner_->BeginAt(now_ns);
  TAKT_DCHECK(!is_repaired());
}

bool PlanFollower::OnTime(int64_t now_ns) {
  if (plan_->Resume(now_ns)) replanner_->Abandon();
  return replanner_->OnTime(now_ns);
}

Prescription PlanFollower::Prescribe(const AdvisedOperation& operation,
                                     int64_t now_ns) {
  Prescription prescription = PrescribeAny(operation, now_ns);
  // An operation that is known ahead of its release waits for it.
  prescription.not_before_ns =
      std::max(prescription.not_before_ns, operation.release_ns);
  return prescription;
}

Prescription PlanFollower::PrescribeAny(const AdvisedOperation& operation,
                                        int64_t now_ns) {
  if (plan_->Resume(now_ns)) replanner_->Abandon();
  TAKT_DCHECK(!is_repaired() || is_diverged());
  PlanProgress::Binding& binding = plan_->Recognize(operation, now_ns);
  FollowedPlan* const repair = replanner_->current();
  if (repair == nullptr) {
    return plan_->PrescribeBound(&binding, operation, now_ns);
  }
  if (binding.job == PlanProgress::kNone && !has_stream(operation.stream)) {
    return repair->Fill(operation, now_ns);
  }
  if (!rest_->Contains(binding)) {
    return plan_->PrescribeBound(&binding, operation, now_ns);
  }
  // The first plan no longer places the rest of that job.
  binding.is_free = true;
  const Prescription prescription = repair->Prescribe(operation, now_ns);
  if (!repair->is_diverged()) return prescription;
  // The new plan cannot be kept either.
  PlanRest(now_ns);
  return {};
}

sched::ResourceSet PlanFollower::MayHave(const AdvisedOperation& operation,
                                         int64_t now_ns) {
  FollowedPlan* const repair = FindRepair(operation);
  return repair != nullptr ? repair->MayHave(operation, now_ns)
                           : plan_->MayHave(operation, now_ns);
}

void PlanFollower::OnStarted(const AdvisedOperation& operation,
                             const sched::ResourceSet& resources,
                             int64_t now_ns) {
  if (!plan_->OnStarted(operation, resources, now_ns)) return;
  FollowedPlan* const repair = FindRepair(operation);
  if (repair != nullptr) repair->OnStarted(operation, resources, now_ns);
}

void PlanFollower::OnStopped(const AdvisedOperation& operation, bool is_done,
                             int64_t now_ns) {
  if (!plan_->OnStopped(operation, is_done, now_ns)) return;
  FollowedPlan* const repair = FindRepair(operation);
  if (repair != nullptr) repair->OnStopped(operation, is_done, now_ns);
}

void PlanFollower::OnRan(const AdvisedOperation& operation, int64_t begin_ns,
                         int64_t end_ns) {
  plan_->OnRan(operation, begin_ns, end_ns);
  FollowedPlan* const repair = FindRepair(operation);
  if (repair != nullptr) repair->OnRan(operation, begin_ns, end_ns);
}

void PlanFollower::OnAvailable(uint32_t resource, bool is_available,
                               int64_t now_ns) {
  plan_->OnAvailable(resource, is_available, now_ns);
}

void PlanFollower::NotifyOver(sched::JobId job) {
  plan_->OnOver(job);
  if (is_repaired()) replanner_->current()->OnOver(job);
}

}  // namespace takt::follow
