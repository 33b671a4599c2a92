// An AdvisorSwitch connects the scheduler of a job shop to one advisor: the one
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
  void Set(sched::PlacementAdvisor* advisor) {
    set_ = advisor;
    Choose();
  }
  void SetStanding(sched::PlacementAdvisor* advisor) {
    standing_ = advisor;
    Choose();
  }
  sched::PlacementAdvisor* set() const { return set_; }
  bool is_set() const { return advisor_ != nullptr; }

  void OnAttached(const sched::Scheduler& scheduler) override {
    scheduler_ = &scheduler;
  }
  sched::Prescription Prescribe(const sched::AdvisedOperation& operation,
                                int64_t now_ns) override {
    if (advisor_ == nullptr) return {};
    return advisor_->Prescribe(operation, now_ns);
  }
  sched::ResourceSet MayHave(const sched::AdvisedOperation& operation,
                             int64_t now_ns) override {
    if (advisor_ == nullptr) return {};
    return advisor_->MayHave(operation, now_ns);
  }
  void OnStarted(const sched::AdvisedOperation& operation,
                 const sched::ResourceSet& resources, int64_t now_ns) override {
    if (advisor_ != nullptr) advisor_->OnStarted(operation, resources, now_ns);
  }
  void OnStopped(const sched::AdvisedOperation& operation, bool is_done,
                 int64_t now_ns) override {
    if (advisor_ != nullptr) advisor_->OnStopped(operation, is_done, now_ns);
  }
  void OnRan(const sched::AdvisedOperation& operation, int64_t begin_ns,
             int64_t end_ns) override {
    if (advisor_ != nullptr) advisor_->OnRan(operation, begin_ns, end_ns);
  }
  void OnAvailable(uint32_t resource, bool is_available,
                   int64_t now_ns) override {
    if (advisor_ != nullptr)
      advisor_->OnAvailable(resource, is_available, now_ns);
  }
  void OnReleased(const sched::AdvisedJob& job, int64_t now_ns) override {
    if (advisor_ != nullptr) advisor_->OnReleased(job, now_ns);
  }
  void OnOver(sched::JobId job, int64_t now_ns) override {
    if (advisor_ != nullptr) advisor_->OnOver(job, now_ns);
  }
  int64_t next_event_ns() const override {
    return advisor_ != nullptr ? advisor_->next_event_ns() : kInfiniteFuture;
  }
  bool OnTime(int64_t now_ns) override { return advisor_->OnTime(now_ns); }

 private:
  void Choose() {
    sched::PlacementAdvisor* const chosen = set_ != nullptr ? set_ : standing_;
    if (chosen == advisor_) return;
    advisor_ = chosen;
    if (advisor_ != nullptr) advisor_->OnAttached(*scheduler_);
  }

  const sched::Scheduler* scheduler_ = nullptr;
  sched::PlacementAdvisor* set_ = nullptr;
  sched::PlacementAdvisor* standing_ = nullptr;
  sched::PlacementAdvisor* advisor_ = nullptr;  // Of them.
};

}  // namespace takt::shop

#endif  // TAKT_SHOP_ADVISOR_SWITCH_H_
