// Draws a board, a workload with faults and a policy from the bytes, runs it in
// virtual time and checks each event by the promises of the scheduler.
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "absl/status/status.h"
#include "base/random.h"
#include "sim/simulation.h"
#include "tests/sim/random_workload.h"
#include "tests/sim/watcher.h"

namespace takt::sim {
namespace {

// Random numbers that are the bytes, as long as there are any. So a byte that
// changes changes one choice.
class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size)
      : data_(data), size_(size), rest_(size) {}

  // Below 256 choices take one byte each.
  uint32_t Below(uint32_t bound) {
    if (at_ == size_) return rest_.Below(bound);
    uint64_t value = Take();
    for (uint64_t choices = 256; choices < bound; choices *= 256) {
      value = value * 256 + Take();
    }
    return static_cast<uint32_t>(value % bound);
  }
  double Unit() { return Below(256) / 256.0; }

 private:
  uint8_t Take() { return at_ < size_ ? data_[at_++] : 0; }

  const uint8_t* data_;
  size_t size_;
  size_t at_ = 0;
  Random rest_;
};

constexpr int64_t kLengthNs = 10'000'000;
constexpr uint64_t kEventsMax = 20'000;  // It ends longer runs.

[[noreturn]] void Fail(const char* policy, const char* what) {
  std::fprintf(stderr, "policy %s: %s\n", policy, what);
  __builtin_trap();
}

void Run(Bytes bytes) {
  const auto& names = sched::PolicyNames();
  SimulationOptions options;
  const uint32_t choice = bytes.Below(static_cast<uint32_t>(names.size()) * 2);
  options.scheduler.policy =
      sched::FindPolicy(choice < names.size() ? names[choice] : "job-shop");
  options.scheduler.aging_ns = bytes.Below(3) * 1'000'000;
  options.scheduler.set_fewest_clusters(bytes.Below(4) == 0);
  options.seed = bytes.Below(256);
  options.length_ns = kLengthNs;
  options.drains = true;
  options.event_limit = kEventsMax;
  const Workload workload = MakeRandomWorkload({}, bytes);
  Watcher watcher(workload);
  options.observer = &watcher;
  const auto report = Simulate(workload, options);
  const char* const policy = options.scheduler.policy->name();
  if (absl::IsResourceExhausted(report.status())) return;
  if (!report.ok()) Fail(policy, report.status().ToString().c_str());
  watcher.CheckEnd();
  if (!watcher.faults().empty()) Fail(policy, watcher.faults()[0].c_str());
}

}  // namespace
}  // namespace takt::sim

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  takt::sim::Run({data, size});
  return 0;
}
