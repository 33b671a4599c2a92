// A DispatchObserver is called at the end of every dispatch of a device. Tools
// use it for measurements.
#ifndef TAKT_CPU_DISPATCH_OBSERVER_H_
#define TAKT_CPU_DISPATCH_OBSERVER_H_

#include <array>
#include <cstdint>
#include <functional>

#include "absl/strings/string_view.h"

namespace takt::cpu {

struct DispatchEvent {
  absl::string_view function;
  std::array<uint32_t, 3> workgroup_count;
  int64_t begin_ns;  // Its first workgroup started.
  int64_t end_ns;    // Its last one has ended.
  // Dispatches that share it have no barrier between them. Only compared.
  const void* group;
};

// Called on the thread that ended the dispatch, before work that waits for it
// continues; by several threads at once.
using DispatchObserver = std::function<void(const DispatchEvent& event)>;

}  // namespace takt::cpu

#endif  // TAKT_CPU_DISPATCH_OBSERVER_H_
