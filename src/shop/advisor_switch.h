// An AdvisorSwitch forwards the scheduler of a job shop to one advisor: the one
// that is set, else the standing one, else none.
//
// Thread-safety: used by the decider of the shop.
#ifndef TAKT_SHOP_ADVISOR_SWITCH_H_
#define TAKT_SHOP_ADVISOR_SWITCH_H_

#include "sched/placement_advisor.h"
#include "shop/job_shop.h"

namespace takt::shop {

class JobShop::AdvisorSwitch final : public sched::PlacementAdvisor {
 public:
  // nullptr: none.
  void Set(sched::PlacementAdvisor* guide) {
    set_ = guide;
    Choose();
  }
  void SetStanding(sched::PlacementAdvisor* guide) {
    standing_ = guide;
    Choose();
  }
  sched::PlacementAdvisor* set() const { return set_; }
  bool is_set() const { return guide_ != nullptr; }

  void OnAttached(const sched::Scheduler& scheduler) override {
    scheduler_ = &scheduler;
  }
  sched::Prescription Prescribe(const sched::GuidedOperation& operation,
                                int64_t now_ns) override {
    if (guide_ == nullptr) return {};
    return guide_->Prescribe(operation, now_ns);
  }
  sched::ResourceSet MayHave(const sched::GuidedOperation& operation,
                             int64_t now_ns) override {
    if (guide_ == nullptr) return {};
    return guide_->MayHave(operation, now_ns);
  }
  void OnStarted(const sched::GuidedOperation& operation,
                 const sched::ResourceSet& resources, int64_t now_ns) override {
    if (guide_ != nullptr) guide_->OnStarted(operation, resources, now_ns);
  }
  void OnStopped(const sched::GuidedOperation& operation, bool is_done,
                 int64_t now_ns) override {
    if (guide_ != nullptr) guide_->OnStopped(operation, is_done, now_ns);
  }
  void OnRan(const sched::GuidedOperation& operation, int64_t begin_ns,
             int64_t end_ns) override {
    if (guide_ != nullptr) guide_->OnRan(operation, begin_ns, end_ns);
  }
  void OnAvailable(uint32_t resource, bool is_available,
                   int64_t now_ns) override {
    if (guide_ != nullptr) guide_->OnAvailable(resource, is_available, now_ns);
  }
  void OnReleased(const sched::AdvisedJob& job, int64_t now_ns) override {
    if (guide_ != nullptr) guide_->OnReleased(job, now_ns);
  }
  void OnOver(sched::JobId job, int64_t now_ns) override {
    if (guide_ != nullptr) guide_->OnOver(job, now_ns);
  }
  int64_t next_event_ns() const override {
    return guide_ != nullptr ? guide_->next_event_ns() : kInfiniteFuture;
  }
  bool OnTime(int64_t now_ns) override { return guide_->OnTime(now_ns); }

 private:
  void Choose() {
    sched::PlacementAdvisor* const chosen = set_ != nullptr ? set_ : standing_;
    if (chosen == guide_) return;
    guide_ = chosen;
    if (guide_ != nullptr) guide_->OnAttached(*scheduler_);
  }

  const sched::Scheduler* scheduler_ = nullptr;
  sched::PlacementAdvisor* set_ = nullptr;
  sched::PlacementAdvisor* standing_ = nullptr;
  sched::PlacementAdvisor* guide_ = nullptr;  // Of them.
};

}  // namespace takt::shop

#endif  // TAKT_SHOP_ADVISOR_SWITCH_H_
