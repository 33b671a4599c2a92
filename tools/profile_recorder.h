// Records the dispatches of calls, for takt-plan profile.
#ifndef TAKT_TOOLS_PROFILE_RECORDER_H_
#define TAKT_TOOLS_PROFILE_RECORDER_H_

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "takt/device.h"

namespace takt::tools {

inline constexpr int32_t kNoNpu = -1;

// One dispatch of a call.
struct Dispatch {
  int32_t npu;  // The index of the NPU that ran it; kNoNpu: cores ran it.
  std::string function;
  uint32_t grid[3];
  int64_t begin_ns;
  int64_t end_ns;
  uint64_t group;

  // "matmul 4x2x1".
  std::string Name() const;
};

// Collects the dispatches of several devices. It must outlive the devices.
//
// Thread-safety: devices call it on any thread; Take() runs on any thread.
class ProfileRecorder {
 public:
  // Options that make a device report its dispatches, as those of `npu`.
  takt_device_options_t OptionsOf(int32_t npu);

  // Returns the dispatches since the last call, in the order of their begins.
  std::vector<Dispatch> Take();

 private:
  struct Tap {
    ProfileRecorder* recorder;
    int32_t npu;
  };

  static void Observe(void* user_data, const takt_dispatch_event_t* event);

  std::deque<Tap> taps_;  // Devices keep the addresses of elements.
  std::mutex mutex_;
  std::vector<Dispatch> dispatches_;  // Guarded by mutex_.
};

}  // namespace takt::tools

#endif  // TAKT_TOOLS_PROFILE_RECORDER_H_
