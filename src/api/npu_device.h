// The NPU behind a device of the C API.
#ifndef TAKT_API_NPU_DEVICE_H_
#define TAKT_API_NPU_DEVICE_H_

#include "cpu/device.h"
#include "hal/device.h"
#include "npu/device.h"

namespace takt::api {

// Whether the device's workers are for its NPU alone. Those of an NPU that runs
// on the caller's own instructions are not.
bool KeepsWorkers(const hal::Device& device);

// nullptr if there is none.
inline npu::NpuUnit* UnitOf(const hal::Device& device) {
  // All devices of this library are of this class.
  return npu::UnitOf(static_cast<const cpu::Device&>(device));
}

}  // namespace takt::api

#endif  // TAKT_API_NPU_DEVICE_H_
