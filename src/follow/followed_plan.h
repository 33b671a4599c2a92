// A FollowedPlan is a plan that the scheduler carries out: its progress and the
// policy by which it is followed. It receives the scheduler's decisions, and
// prescribes where and when each operation runs. It does not plan anew;
// PlanFollower and WindowAdvisor do that.
//
// Thread-safety: none; used within the calls of the scheduler, and between
// them by its driver.
#ifndef TAKT_FOLLOW_FOLLOWED_PLAN_H_
#define TAKT_FOLLOW_FOLLOWED_PLAN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/hash_map.h"
#include "follow/divergence.h"
#include "follow/follow_options.h"
#include "follow/follow_policy.h"
#include "follow/plan_progress.h"
#include "plan/plan.h"
#include "sched/machine.h"
#include "sched/placement_advisor.h"

namespace takt::follow {

class FollowedPlan final {
 public:
  using Binding = PlanProgress::Binding;

  // `plan` is well formed and its resources are the machine's, in order;
  // `streams` are the scheduler's ids of the plan's streams, by name;
  // `options.repair` is not used. `on_given_up` (may be null) is called when
  // the online policy takes over from the plan.
  //
  // INVALID_ARGUMENT names a resource or stream of the plan that the machine or
  // `streams` lack; FAILED_PRECONDITION for a plan that cannot be carried out.
  static absl::StatusOr<std::unique_ptr<FollowedPlan>> Create(
      const plan::Plan& plan, const sched::Machine& machine,
      const HashMap<std::string, sched::StreamId>& streams,
      FollowerOptions options,
      std::function<void(int64_t now_ns)> on_given_up = nullptr);

  FollowedPlan(const FollowedPlan&) = delete;
  FollowedPlan& operator=(const FollowedPlan&) = delete;

  void Start(int64_t origin_ns) { progress_.Start(origin_ns); }
  void EndAt(int64_t end_ns) { progress_.EndAt(end_ns); }

  const PlanProgress& progress() const { return progress_; }
  const FollowReport& report() const { return report_; }
  // Clears the report: the events so far were replayed, and are not its own.
  void ClearReport() { report_ = {}; }
  const Divergence& divergence() const { return divergence_; }
  bool has_stream(sched::StreamId stream) const {
    return progress_.has_stream(stream);
  }
  bool is_over() const { return progress_.is_over(); }
  bool is_diverged() const { return policy_->is_diverged(); }
  int64_t resume_ns() const { return policy_->resume_ns(); }
  // Returns true if the plan is followed again from now on.
  bool Resume(int64_t now_ns) { return policy_->Resume(now_ns); }
  // Stops waiting for operations that should have ended long ago and are not
  // ready.
  void GiveUpMissing(int64_t now_ns);
  // Sets the resources that are lost from the start. This does not give the
  // plan up.
  void SetLost(const sched::ResourceSet& lost);

  sched::Prescription Prescribe(const sched::AdvisedOperation& operation,
                                int64_t now_ns);
  // The two steps of Prescribe(): finds the job of the operation and marks the
  // operation as ready; then prescribes its place.
  Binding& Recognize(const sched::AdvisedOperation& operation, int64_t now_ns);
  sched::Prescription PrescribeBound(Binding* binding,
                                     const sched::AdvisedOperation& operation,
                                     int64_t now_ns);
  // Prescribes the places of an operation that is not planned: those where it
  // ends before the next planned start.
  sched::Prescription Fill(const sched::AdvisedOperation& operation,
                           int64_t now_ns);
  sched::ResourceSet MayHave(const sched::AdvisedOperation& operation,
                             int64_t now_ns);

  // Events, as PlacementAdvisor has them. The first two return false if the
  // plan does not have the operation.
  bool OnStarted(const sched::AdvisedOperation& operation,
                 const sched::ResourceSet& resources, int64_t now_ns);
  bool OnStopped(const sched::AdvisedOperation& operation, bool is_done,
                 int64_t now_ns);
  void OnRan(const sched::AdvisedOperation& operation, int64_t begin_ns,
             int64_t end_ns);
  void OnAvailable(uint32_t resource, bool is_available, int64_t now_ns);
  void OnReleased(const sched::AdvisedJob& job);
  void OnOver(sched::JobId job);

  // Returns the binding of the operation's job; a new job is bound first.
  Binding& Bind(const sched::AdvisedOperation& operation);

 private:
  static constexpr uint32_t kNone = PlanProgress::kNone;

  FollowedPlan(const plan::Plan& plan, const sched::Machine& machine,
               FollowerOptions options,
               std::function<void(int64_t now_ns)> on_given_up);

  void OnMissing(uint32_t slot, uint64_t cycle);
  void Measure(uint32_t slot, uint64_t cycle, int64_t now_ns);

  const FollowerOptions options_;
  PlanProgress progress_;
  FollowReport report_;
  Divergence divergence_;
  const std::unique_ptr<FollowPolicy> policy_;
};

}  // namespace takt::follow

#endif  // TAKT_FOLLOW_FOLLOWED_PLAN_H_
