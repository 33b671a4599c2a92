// Sections of real-time threads, in which nothing may block. Checks of what
// they do are part of a build that has realtime_checks.cc.
//
// Thread-safety: every function may run on any thread.
#ifndef TAKT_BASE_REALTIME_SECTION_H_
#define TAKT_BASE_REALTIME_SECTION_H_

#include <atomic>
#include <cstdint>

namespace takt {

enum class RealtimeViolation : uint8_t { kMemory, kLock, kPageFault };

class RealtimeSection {
 public:
  // Sections nest.
  static void Begin(const char* name);
  static void End();
  static bool IsOpen() { return depth_ != 0; }

  // Called for each violation in a section of this thread, unless it is called
  // already. Null: nothing checks.
  using Handler = void (*)(const char* section, RealtimeViolation violation,
                           uint64_t count);
  static void SetHandler(Handler handler) {
    handler_.store(handler, std::memory_order_release);
  }
  // This thread does something that a section may not do.
  static void Note(RealtimeViolation violation, uint64_t count = 1) {
    if (depth_ != 0) Report(violation, count);
  }
  static uint64_t violation_count() {
    return violation_count_.load(std::memory_order_relaxed);
  }

 private:
  static constexpr uint32_t kDepthMax = 16;
  static void Report(RealtimeViolation violation, uint64_t count);

  static std::atomic<Handler> handler_;
  static std::atomic<uint64_t> violation_count_;
  // `constinit` and the model: code that stands in for malloc() reads these.
  [[gnu::tls_model(
      "initial-exec")]] static constinit thread_local uint32_t depth_;
  [[gnu::tls_model("initial-exec")]] static constinit thread_local const char*
      names_[kDepthMax];
  [[gnu::tls_model(
      "initial-exec")]] static constinit thread_local uint64_t faults_;
  [[gnu::tls_model(
      "initial-exec")]] static constinit thread_local bool is_reporting_;
};

}  // namespace takt

#endif  // TAKT_BASE_REALTIME_SECTION_H_
