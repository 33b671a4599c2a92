// An ExclusiveUnit is what some code needs to itself while it runs: an NPU. Who
// may have such code do a dispatch, or the CPU's own, asks it how long it would
// have to wait.
//
// Thread-safety: every method may run on any thread.
#ifndef TAKT_CPU_EXCLUSIVE_UNIT_H_
#define TAKT_CPU_EXCLUSIVE_UNIT_H_

#include <cstdint>

#include "exec/job.h"

namespace takt::cpu {

class ExclusiveUnit {
 public:
  virtual ~ExclusiveUnit() = default;

  // How long what stands so would wait now. kInfiniteFuture: it is out of
  // order.
  virtual int64_t ExpectedWaitNs(const exec::JobTraits& traits) const = 0;
  // A dispatch that could have gone either way is left to the unit, or not.
  virtual void CountChoice(bool is_taken) = 0;

  // How long this thread has waited for such units, ever: what a dispatch costs
  // does not count it. And how often it has had one.
  static int64_t WaitedHere() { return waited_ns_; }
  static uint64_t TurnsHere() { return turn_count_; }
  // Units tell of each turn.
  static void NoteTurnHere(int64_t waited_ns) {
    waited_ns_ += waited_ns;
    ++turn_count_;
  }

 private:
  static inline thread_local int64_t waited_ns_ = 0;
  static inline thread_local uint64_t turn_count_ = 0;
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_EXCLUSIVE_UNIT_H_
