// The devices that an instance can make.
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

// What a device deals with memory by, as its options say.
absl::StatusOr<cpu::MemoryPool::Options> ReadMemoryOptions(
    const runtime::Instance& instance, const takt_device_options_t& given);

// Who is told of a device's dispatches, as its options say; null: nobody.
cpu::DispatchObserver ObserverOf(const takt_device_options_t& given);

// Whose workers run the device's work, so that a thread which waits for it
// should help them; null if it has none.
exec::Executor* ExecutorOf(const hal::Device& device);

}  // namespace takt::api

#endif  // TAKT_API_DEVICE_H_
