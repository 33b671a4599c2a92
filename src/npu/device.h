// The device of a unit: a `local*` device in the process's memory, which
// supports executables of the format npu-fb. Command buffers run on the threads
// of an executor; their operations on the unit wait for the lease.
#ifndef TAKT_NPU_DEVICE_H_
#define TAKT_NPU_DEVICE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "cpu/device.h"
#include "exec/executor.h"
#include "npu/npu_unit.h"

namespace takt::npu {

// Creates the device of a unit. The unit is the device's companion.
//
//   executor           as for cpu::Device.
//   owns_executor      it serves this device alone, and is shut down with it.
//   takes_native_code  the device also loads executables of the CPU.
//   tracer             records the operations; null: none are.
//   shop               gives its dispatches the unit, one at a time, where they
//                      are worth a decision; null: the lease alone does.
//   observer           is called at the end of each dispatch; may be null.
//   monitor_timers     if not null, the shop learns how fast the unit is, and
//                      whether it works (npu_monitor.h).
absl::StatusOr<Ref<cpu::Device>> CreateDevice(
    Ref<NpuUnit> unit, Ref<exec::Executor> executor, bool owns_executor,
    const cpu::MemoryPool::Options& memory, bool takes_native_code,
    Ref<Tracer> tracer = nullptr, Ref<shop::JobShop> shop = nullptr,
    cpu::DispatchObserver observer = nullptr,
    std::shared_ptr<TimerService> monitor_timers = nullptr);

// The unit behind a device; nullptr for a device of another kind.
NpuUnit* UnitOf(const cpu::Device& device);

}  // namespace takt::npu

#endif  // TAKT_NPU_DEVICE_H_
