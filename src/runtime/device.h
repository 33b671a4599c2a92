// Makes CPU devices on the workers of an instance.
//
// Thread-safety: any thread may make devices.
#ifndef TAKT_RUNTIME_DEVICE_H_
#define TAKT_RUNTIME_DEVICE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/cpu_set.h"
#include "cpu/dispatch_observer.h"
#include "cpu/memory_pool.h"
#include "exec/executor.h"
#include "hal/device.h"
#include "runtime/instance.h"

namespace takt::runtime {

// "local-sync" runs all work on the thread that submits it, "local-task" on
// workers.
inline constexpr const char* kDeviceNames[] = {"local-sync", "local-task"};

// takt/device.h documents these.
struct DeviceOptions {
  cpu::MemoryPool::Options memory;
  std::vector<CpuSet> queues;  // Empty: one queue, on all CPUs.
  // The instance's own executor if null. Borrowed.
  exec::Executor* executor = nullptr;
  bool learn_costs = true;
  bool allow_system_libraries = false;
  cpu::DispatchObserver observer;
};

// NOT_FOUND for an unknown name. INVALID_ARGUMENT for an executor of another
// instance, or of a device without workers.
absl::StatusOr<Ref<hal::Device>> CreateDevice(Instance& instance,
                                              absl::string_view name,
                                              DeviceOptions options);

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_DEVICE_H_
