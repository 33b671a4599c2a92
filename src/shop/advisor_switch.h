// An AdvisorSwitch connects the scheduler of a job shop to one advisor: the one
// that is set, else the standing one, else none. It keeps exceptions of
// advisors from the scheduler.
//
// Thread-safety: used by the decider of the shop, except where noted.
#ifndef TAKT_SHOP_ADVISOR_SWITCH_H_
#define TAKT_SHOP_ADVISOR_SWITCH_H_

#include <atomic>
#include <cstdint>
#include <new>
#include <utility>

#include "base/exceptions.h"
#include "sched/placement_advisor.h"
#include "shop/job_shop.h"

namespace takt::shop {

class JobShop::AdvisorSwitch final : public sched::PlacementAdvisor {
 public:
  // nullptr: none.
  void Set(sched::PlacementAdvisor* advisor) { Replace(set_, advisor); }
  void SetStanding(sched::PlacementAdvisor* advisor) {
    Replace(standing_, advisor);
  }
  sched::PlacementAdvisor* set() const { return set_.advisor; }
  bool is_set() const { return advisor_ != nullptr; }
  // The advisors that were lost so far. On any thread.
  uint64_t lost_count() const {
    return lost_count_.load(std::memory_order_relaxed);
  }

  void OnAttached(const sched::Scheduler& scheduler) override {
    scheduler_ = &scheduler;
  }
  bool is_prescribing() const override { return is_set(); }
  sched::Prescription Prescribe(const sched::AdvisedOperation& operation,
                                int64_t now_ns) override {
    sched::Prescription prescription;
    Ask([&](sched::PlacementAdvisor& advisor) {
      prescription = advisor.Prescribe(operation, now_ns);
    });
    return prescription;
  }
  sched::ResourceSet MayHave(const sched::AdvisedOperation& operation,
                             int64_t now_ns) override {
    sched::ResourceSet more;
    Ask([&](sched::PlacementAdvisor& advisor) {
      more = advisor.MayHave(operation, now_ns);
    });
    return more;
  }
  void OnStarted(const sched::AdvisedOperation& operation,
                 const sched::ResourceSet& resources, int64_t now_ns) override {
    Ask([&](sched::PlacementAdvisor& advisor) {
      advisor.OnStarted(operation, resources, now_ns);
    });
  }
  void OnStopped(const sched::AdvisedOperation& operation, bool is_done,
                 int64_t now_ns) override {
    Ask([&](sched::PlacementAdvisor& advisor) {
      advisor.OnStopped(operation, is_done, now_ns);
    });
  }
  void OnRan(const sched::AdvisedOperation& operation, int64_t begin_ns,
             int64_t end_ns) override {
    Ask([&](sched::PlacementAdvisor& advisor) {
      advisor.OnRan(operation, begin_ns, end_ns);
    });
  }
  void OnAvailable(uint32_t resource, bool is_available,
                   int64_t now_ns) override {
    Ask([&](sched::PlacementAdvisor& advisor) {
      advisor.OnAvailable(resource, is_available, now_ns);
    });
  }
  void OnReleased(const sched::AdvisedJob& job, int64_t now_ns) override {
    Ask([&](sched::PlacementAdvisor& advisor) {
      advisor.OnReleased(job, now_ns);
    });
  }
  void OnOver(sched::JobId job, int64_t now_ns) override {
    Ask([&](sched::PlacementAdvisor& advisor) { advisor.OnOver(job, now_ns); });
  }
  int64_t next_event_ns() const override {
    if (has_lost_) return 0;
    return advisor_ != nullptr ? advisor_->next_event_ns() : kInfiniteFuture;
  }
  bool OnTime(int64_t now_ns) override {
    bool has_changed = std::exchange(has_lost_, false);
    Ask([&](sched::PlacementAdvisor& advisor) {
      has_changed |= advisor.OnTime(now_ns);
    });
    return has_changed;
  }

 private:
  struct Slot {
    sched::PlacementAdvisor* advisor = nullptr;
    bool is_lost = false;
  };

  // Calls the advisor, if there is one. An advisor that finds no memory is
  // lost: the scheduler goes on without it.
  template <typename Call>
  void Ask(Call call) {
    if (advisor_ == nullptr) return;
    TAKT_TRY { return call(*advisor_); }
    TAKT_CATCH(const std::bad_alloc&) { Lose(); }
  }
  void Lose() {
    lost_count_.fetch_add(1, std::memory_order_relaxed);
    (advisor_ == set_.advisor ? set_ : standing_).is_lost = true;
    std::exchange(advisor_, nullptr)->OnLost();
    has_lost_ = true;
  }
  void Replace(Slot& slot, sched::PlacementAdvisor* advisor) {
    if (slot.advisor == advisor) return;
    slot = {advisor, false};
    const Slot& chosen = set_.advisor != nullptr ? set_ : standing_;
    sched::PlacementAdvisor* const next =
        chosen.is_lost ? nullptr : chosen.advisor;
    if (next == advisor_) return;
    advisor_ = next;
    Ask([&](sched::PlacementAdvisor& attached) {
      attached.OnAttached(*scheduler_);
    });
  }

  const sched::Scheduler* scheduler_ = nullptr;
  Slot set_;
  Slot standing_;
  sched::PlacementAdvisor* advisor_ = nullptr;  // The one that is asked.
  // The scheduler does not know yet that prescriptions have changed.
  bool has_lost_ = false;
  std::atomic<uint64_t> lost_count_{0};
};

}  // namespace takt::shop

#endif  // TAKT_SHOP_ADVISOR_SWITCH_H_
