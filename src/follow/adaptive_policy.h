// An AdaptivePolicy takes the places and the order of a plan as preferences,
// and gives the plan up when it no longer fits (see follow_options.h).
//
//             late by more than the divergence, or a resource is lost
//   in step ------------------------------------------------------> given up
//      <---------------------------------------------------------------
//             the next cycle, if no resource that it needs is lost
//
// Thread-safety: none.
#ifndef TAKT_FOLLOW_ADAPTIVE_POLICY_H_
#define TAKT_FOLLOW_ADAPTIVE_POLICY_H_

#include <functional>
#include <utility>

#include "follow/follow_policy.h"

namespace takt::follow {

class AdaptivePolicy final : public FollowPolicy {
 public:
  // The first three are borrowed. `on_given_up` (may be null) is called when
  // the online policy takes over from the plan.
  AdaptivePolicy(PlanProgress& progress, const FollowerOptions& options,
                 FollowReport& report,
                 std::function<void(int64_t now_ns)> on_given_up)
      : progress_(progress),
        options_(options),
        report_(report),
        on_given_up_(std::move(on_given_up)) {}

  sched::Prescription Prescribe(PlanProgress::Binding* binding, uint32_t slot,
                                const sched::AdvisedOperation& operation,
                                int64_t now_ns) override;
  sched::ResourceSet MayHave(const PlanProgress::Binding& binding,
                             uint32_t slot, int64_t now_ns) override;
  void OnUnseen(const PlanProgress::Binding& binding, size_t count) override {
    progress_.FinishUnseen(binding, count);
  }
  void OnAvailable(uint32_t resource, bool is_available,
                   int64_t now_ns) override;
  bool is_diverged() const override { return resume_ns_ > 0; }
  int64_t resume_ns() const override { return resume_ns_; }
  bool Resume(int64_t now_ns) override;

 private:
  sched::Prescription Place(uint32_t slot, uint64_t cycle, int64_t now_ns);
  void Widen(uint32_t slot, uint64_t cycle, int64_t now_ns,
             sched::Prescription* prescription);
  void WaitOrGo(uint32_t slot, uint64_t cycle, int64_t now_ns, int64_t free_ns,
                sched::Prescription* prescription);
  bool MayGoFirst(uint32_t slot, uint64_t cycle, int64_t now_ns, bool is_due,
                  int64_t* not_before_ns);
  bool IsDisplaced(uint32_t slot) const;
  int64_t FreeAt(uint32_t slot, int64_t now_ns) const;
  int64_t FindElsewhere(uint32_t slot, uint64_t cycle, int64_t now_ns,
                        sched::ResourceSet* where);
  sched::ResourceSet RoomFor(uint32_t slot, uint64_t cycle,
                             const sched::ResourceSet& among, int64_t until_ns);
  bool HasRoom(uint32_t resource, uint32_t slot, uint64_t cycle,
               int64_t until_ns);
  sched::ResourceSet everywhere() const {
    return sched::ResourceSet::Range(0, progress_.lane_count());
  }
  void Diverge(const PlanEvent& cause, int64_t now_ns);

  PlanProgress& progress_;
  const FollowerOptions& options_;
  FollowReport& report_;
  const std::function<void(int64_t now_ns)> on_given_up_;
  // Until then the online policy decides; 0: the plan does.
  int64_t resume_ns_ = 0;
};

}  // namespace takt::follow

#endif  // TAKT_FOLLOW_ADAPTIVE_POLICY_H_
