#include "base/realtime_section.h"

#include <sys/resource.h>

#include <algorithm>

#include "base/check.h"

namespace takt {
namespace {

uint64_t CountFaults() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return static_cast<uint64_t>(usage.ru_minflt + usage.ru_majflt);
}

}  // namespace

std::atomic<RealtimeSection::Handler> RealtimeSection::handler_{nullptr};
std::atomic<uint64_t> RealtimeSection::violation_count_{0};
constinit thread_local uint32_t RealtimeSection::depth_ = 0;
constinit thread_local const char* RealtimeSection::names_[kDepthMax] = {};
constinit thread_local uint64_t RealtimeSection::faults_ = 0;
constinit thread_local bool RealtimeSection::is_reporting_ = false;

void RealtimeSection::Begin(const char* name) {
  if (depth_ == 0 && handler_.load(std::memory_order_acquire) != nullptr) {
    faults_ = CountFaults();
  }
  if (depth_ < kDepthMax) names_[depth_] = name;
  ++depth_;
}

void RealtimeSection::End() {
  if (depth_ == 0) return;
  if (depth_ == 1 && handler_.load(std::memory_order_acquire) != nullptr) {
    const uint64_t count = CountFaults() - faults_;
    if (count != 0) Report(RealtimeViolation::kPageFault, count);
  }
  --depth_;
}

void RealtimeSection::Report(RealtimeViolation violation, uint64_t count) {
  const Handler handler = handler_.load(std::memory_order_acquire);
  if (handler == nullptr || is_reporting_) return;
  is_reporting_ = true;
  violation_count_.fetch_add(1, std::memory_order_relaxed);
  const char* const name = names_[std::min(depth_, kDepthMax) - 1];
  handler(name != nullptr ? name : "", violation, count);
  is_reporting_ = false;
}

}  // namespace takt
