// How many threads of an executor were last seen at work on each processor.
//
// Thread-safety: all calls on any thread; a thread passes its own `seen_on`.
#ifndef TAKT_EXEC_CPU_LOAD_H_
#define TAKT_EXEC_CPU_LOAD_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/check.h"

namespace takt::exec {

class CpuLoad {
 public:
  static constexpr int32_t kNowhere = -1;

  // For processors below `cpu_count`; threads on others are not counted.
  // Called before any other function.
  void Init(uint32_t cpu_count) { counts_ = Counts(cpu_count); }

  // The thread works on `cpu`. `*seen_on` is where it was seen last.
  void Enter(int32_t cpu, int32_t* seen_on) {
    if (cpu == *seen_on) return;
    Leave(seen_on);
    if (cpu < 0 || static_cast<size_t>(cpu) >= counts_.size()) return;
    counts_[static_cast<size_t>(cpu)].fetch_add(1, std::memory_order_relaxed);
    *seen_on = cpu;
  }
  // It stops to work.
  void Leave(int32_t* seen_on) {
    if (*seen_on == kNowhere) return;
    const uint32_t before = counts_[static_cast<size_t>(*seen_on)].fetch_sub(
        1, std::memory_order_relaxed);
    TAKT_CHECK(before > 0);
    *seen_on = kNowhere;
  }
  uint32_t CountOn(int32_t cpu) const {
    if (cpu < 0 || static_cast<size_t>(cpu) >= counts_.size()) return 0;
    return counts_[static_cast<size_t>(cpu)].load(std::memory_order_relaxed);
  }

 private:
  using Counts = std::vector<std::atomic<uint32_t>>;

  Counts counts_;
};

}  // namespace takt::exec

#endif  // TAKT_EXEC_CPU_LOAD_H_
