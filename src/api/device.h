// The options of devices, which CPU and NPU devices have in common.
#ifndef TAKT_API_DEVICE_H_
#define TAKT_API_DEVICE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cpu/dispatch_observer.h"
#include "cpu/memory_pool.h"
#include "hal/device.h"
#include "runtime/instance.h"
#include "takt/device.h"

namespace takt::api {

// takt_device_create().
absl::StatusOr<Ref<hal::Device>> CreateDevice(
    runtime::Instance* instance, absl::string_view name,
    const takt_device_options_t* options = nullptr);

// The memory options of a device.
absl::StatusOr<cpu::MemoryPool::Options> ReadMemoryOptions(
    const runtime::Instance& instance, const takt_device_options_t& given);

// The callback for dispatches in the options; null: none.
cpu::DispatchObserver ObserverOf(const takt_device_options_t& given);

// The executor of the workers that run the device's work. A thread that waits
// for the work helps them. Null if the device has no workers.
exec::Executor* ExecutorOf(const hal::Device& device);

}  // namespace takt::api

#endif  // TAKT_API_DEVICE_H_
