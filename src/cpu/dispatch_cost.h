// The costs of dispatches, learned as they run: for each grid of a function,
// the duration of a workgroup when one thread runs all of them, and when
// several threads share them and compete for caches and memory. By these costs
// devices decide which dispatches run at once on the thread that has them, and
// how many threads the others are worth.
//
// Thread-safety: every method may run on any thread. Updates that race may
// lose one another; it is an estimate.
#ifndef TAKT_CPU_DISPATCH_COST_H_
#define TAKT_CPU_DISPATCH_COST_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace takt::cpu {

// A moving mean of what one workgroup takes.
class WorkgroupCost {
 public:
  // 0 until something has been measured.
  int64_t mean_ns() const { return mean_ns_.load(std::memory_order_relaxed); }
  uint64_t sample_count() const {
    return sample_count_.load(std::memory_order_relaxed);
  }
  void Add(int64_t duration_ns, uint32_t workgroup_count) {
    const int64_t each = duration_ns / (workgroup_count ? workgroup_count : 1);
    const int64_t old = mean_ns_.load(std::memory_order_relaxed);
    // At least 1, because 0 means that nothing was measured.
    const int64_t next = std::max<int64_t>(
        old == 0 ? each : old + (std::min(each, Limit(old)) - old) / 8, 1);
    mean_ns_.store(next, std::memory_order_relaxed);
    sample_count_.store(sample_count_.load(std::memory_order_relaxed) + 1,
                        std::memory_order_relaxed);
  }

 private:
  // A sample above the limit measures the machine (the thread was interrupted),
  // not the function. If the function has become slower, the mean follows
  // within a few samples.
  static int64_t Limit(int64_t mean_ns) {
    constexpr int64_t kFactor = 16;
    return mean_ns < (int64_t{1} << 50) ? mean_ns * kFactor : mean_ns;
  }

  std::atomic<int64_t> mean_ns_{0};
  std::atomic<uint64_t> sample_count_{0};
};

// The cost of one grid of a function.
struct DispatchCost {
  WorkgroupCost alone;   // One thread runs all workgroups.
  WorkgroupCost shared;  // Several may.

  // One of the two costs; the other one if it has not been measured.
  int64_t AloneNs() const {
    return alone.mean_ns() != 0 ? alone.mean_ns() : shared.mean_ns();
  }
  int64_t SharedNs() const {
    return shared.mean_ns() != 0 ? shared.mean_ns() : alone.mean_ns();
  }
  // Counts one more choice between two targets; returns how many came before.
  uint32_t CountChoice() {
    return choice_count_.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  std::atomic<uint32_t> choice_count_{0};
};

// The costs of all grids of a function: the first few grids have costs of their
// own, the others share one.
class DispatchCosts {
 public:
  static constexpr size_t kGridCountMax = 8;
  using Grid = std::array<uint32_t, 3>;

  // {0, 0, 0}: for grids that are not known before they run.
  DispatchCost& Find(const Grid& grid) {
    const uint64_t key = KeyOf(grid);
    if (key == 0) return others_;
    for (Entry& entry : entries_) {
      uint64_t found = entry.key.load(std::memory_order_relaxed);
      if (found == 0 && entry.key.compare_exchange_strong(
                            found, key, std::memory_order_relaxed)) {
        return entry.cost;
      }
      if (found == key) return entry.cost;
    }
    return others_;
  }

  // Calls visit(grid, cost) for each grid that was looked up; {0, 0, 0} stands
  // for the cost that other grids share.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const Entry& entry : entries_) {
      const uint64_t key = entry.key.load(std::memory_order_relaxed);
      if (key != 0) visit(GridOf(key), entry.cost);
    }
    visit(Grid{0, 0, 0}, others_);
  }

 private:
  struct Entry {
    std::atomic<uint64_t> key{0};
    DispatchCost cost;
  };

  // 0 for a grid that is too large for a key; y and z are small in practice.
  static uint64_t KeyOf(const Grid& grid) {
    if (grid[1] > 0xffff || grid[2] > 0xffff) return 0;
    return uint64_t{grid[0]} << 32 | uint64_t{grid[1]} << 16 | grid[2];
  }
  static Grid GridOf(uint64_t key) {
    return {static_cast<uint32_t>(key >> 32),
            static_cast<uint32_t>(key >> 16 & 0xffff),
            static_cast<uint32_t>(key & 0xffff)};
  }

  Entry entries_[kGridCountMax];
  DispatchCost others_;
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_DISPATCH_COST_H_
