// How many threads of an executor were last seen at work on each processor, and
// how many have none of their own.
//
// Thread-safety: all calls on any thread; a thread passes its own `seen_on`.
#ifndef TAKT_EXEC_CPU_LOAD_H_
#define TAKT_EXEC_CPU_LOAD_H_

#include <algorithm>
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
    const uint32_t before = counts_[static_cast<size_t>(cpu)].fetch_add(
        1, std::memory_order_relaxed);
    if (before > 0) crowding_.fetch_add(1, std::memory_order_relaxed);
    *seen_on = cpu;
  }
  // It stops to work.
  void Leave(int32_t* seen_on) {
    if (*seen_on == kNowhere) return;
    const uint32_t before = counts_[static_cast<size_t>(*seen_on)].fetch_sub(
        1, std::memory_order_relaxed);
    TAKT_CHECK(before > 0);
    if (before > 1) crowding_.fetch_sub(1, std::memory_order_relaxed);
    *seen_on = kNowhere;
  }
  uint32_t CountOn(int32_t cpu) const {
    if (cpu < 0 || static_cast<size_t>(cpu) >= counts_.size()) return 0;
    return counts_[static_cast<size_t>(cpu)].load(std::memory_order_relaxed);
  }
  // How many threads have no processor of their own: on each processor all but
  // one.
  uint32_t crowding() const {
    // A thread that leaves may be counted before one that has come.
    const int32_t crowding = crowding_.load(std::memory_order_relaxed);
    return static_cast<uint32_t>(std::max(crowding, 0));
  }

 private:
  using Counts = std::vector<std::atomic<uint32_t>>;

  Counts counts_;
  std::atomic<int32_t> crowding_{0};
};

}  // namespace takt::exec

#endif  // TAKT_EXEC_CPU_LOAD_H_
