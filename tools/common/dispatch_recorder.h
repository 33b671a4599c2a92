// Statistics of the dispatches that devices run.
#ifndef TAKT_TOOLS_COMMON_DISPATCH_RECORDER_H_
#define TAKT_TOOLS_COMMON_DISPATCH_RECORDER_H_

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "takt/device.h"

namespace takt::tools {

// Sums up what each kernel took. Thread-safety: any.
class DispatchRecorder {
 public:
  struct Row {
    std::string device;
    std::string function;  // The kernel.
    uint64_t count = 0;
    int64_t total_ns = 0;  // From the first workgroup's start to the last end.
    int64_t minimum_ns = 0;
    int64_t maximum_ns = 0;
  };

  // `prints_each`: prints a line for each dispatch to stderr when it ends.
  explicit DispatchRecorder(bool prints_each) : prints_each_(prints_each) {}
  DispatchRecorder(const DispatchRecorder&) = delete;
  DispatchRecorder& operator=(const DispatchRecorder&) = delete;

  // The options of a device whose dispatches are recorded. The recorder has to
  // outlive it.
  takt_device_options_t OptionsFor(const std::string& device);

  // The rows that were recorded since the last call, the longest total first.
  std::vector<Row> Take();

 private:
  struct Tap {
    DispatchRecorder* recorder;
    std::string device;
  };

  static void Observe(void* user_data, const takt_dispatch_event_t* event);

  const bool prints_each_;
  std::deque<Tap> taps_;  // Their addresses stay.
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, Row> rows_;
};

}  // namespace takt::tools

#endif  // TAKT_TOOLS_COMMON_DISPATCH_RECORDER_H_
