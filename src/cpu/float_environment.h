// The floating-point environment of kernels: denormals are flushed to zero,
// as results and as operands.
#ifndef TAKT_CPU_FLOAT_ENVIRONMENT_H_
#define TAKT_CPU_FLOAT_ENVIRONMENT_H_

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace takt::cpu {

// Sets it for this thread, and restores what was before at the end of its
// scope. Costs a few ns.
class ScopedFlushDenormals {
 public:
  ScopedFlushDenormals() : before_(Get()) {
    if ((before_ & kFlush) != kFlush) Set(before_ | kFlush);
  }
  ~ScopedFlushDenormals() {
    if ((before_ & kFlush) != kFlush) Set(before_);
  }
  ScopedFlushDenormals(const ScopedFlushDenormals&) = delete;
  ScopedFlushDenormals& operator=(const ScopedFlushDenormals&) = delete;

 private:
#if defined(__x86_64__)
  static constexpr uint64_t kFlush = 0x8040;  // MXCSR.FTZ and .DAZ.
  static uint64_t Get() { return _mm_getcsr(); }
  static void Set(uint64_t value) { _mm_setcsr(static_cast<uint32_t>(value)); }
#elif defined(__aarch64__)
  static constexpr uint64_t kFlush = uint64_t{1} << 24;  // FPCR.FZ.
  static uint64_t Get() {
    uint64_t value;
    asm volatile("mrs %0, fpcr" : "=r"(value));
    return value;
  }
  static void Set(uint64_t value) { asm volatile("msr fpcr, %0" ::"r"(value)); }
#else  // RISC-V has no such mode.
  static constexpr uint64_t kFlush = 0;
  static uint64_t Get() { return 0; }
  static void Set(uint64_t) {}
#endif

  const uint64_t before_;
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_FLOAT_ENVIRONMENT_H_
