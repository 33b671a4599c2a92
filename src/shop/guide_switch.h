// A GuideSwitch is the guide of a job shop's scheduler: another one, which may
// be set and taken away, or none.
//
// Thread-safety: who decides.
#ifndef TAKT_SHOP_GUIDE_SWITCH_H_
#define TAKT_SHOP_GUIDE_SWITCH_H_

#include "sched/guide.h"
#include "shop/job_shop.h"

namespace takt::shop {

class JobShop::GuideSwitch final : public sched::Guide {
 public:
  void Set(sched::Guide* guide) { guide_ = guide; }

  sched::Prescription Prescribe(const sched::GuidedOperation& operation,
                                int64_t now_ns) override {
    if (guide_ == nullptr) return {};
    return guide_->Prescribe(operation, now_ns);
  }
  void OnStarted(const sched::GuidedOperation& operation,
                 const sched::ResourceSet& resources, int64_t now_ns) override {
    if (guide_ != nullptr) guide_->OnStarted(operation, resources, now_ns);
  }
  void OnStopped(const sched::GuidedOperation& operation, bool is_done,
                 int64_t now_ns) override {
    if (guide_ != nullptr) guide_->OnStopped(operation, is_done, now_ns);
  }

 private:
  sched::Guide* guide_ = nullptr;
};

}  // namespace takt::shop

#endif  // TAKT_SHOP_GUIDE_SWITCH_H_
