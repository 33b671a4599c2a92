// A KernelScratch lends memory to kernels that need more than a small stack
// has: threads of applications, which run synchronous calls, have any size of
// stack. A block that comes back is lent again, so that a warm call allocates
// nothing.
//
// Thread-safety: Take() and Return() may run on any thread; neither waits.
#ifndef TAKT_CPU_KERNEL_SCRATCH_H_
#define TAKT_CPU_KERNEL_SCRATCH_H_

#include <array>
#include <atomic>
#include <cstddef>

namespace takt::cpu {

class KernelScratch {
 public:
  explicit KernelScratch(size_t block_bytes) : block_bytes_(block_bytes) {}
  ~KernelScratch();  // Every block has come back.
  KernelScratch(const KernelScratch&) = delete;
  KernelScratch& operator=(const KernelScratch&) = delete;

  // A block, aligned to a cache line. NULL if the system has no memory left.
  void* Take();
  void Return(void* block);

 private:
  // Blocks that come back while so many are idle are freed.
  static constexpr size_t kIdleMax = 16;

  const size_t block_bytes_;
  std::array<std::atomic<void*>, kIdleMax> idle_ = {};
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_KERNEL_SCRATCH_H_
