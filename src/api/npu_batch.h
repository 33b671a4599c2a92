// Batches of operations for an NPU, as the C API queues them.
#ifndef TAKT_API_NPU_BATCH_H_
#define TAKT_API_NPU_BATCH_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "api/submission.h"
#include "cpu/loaded_executable.h"
#include "hal/device.h"
#include "npu/npu_unit.h"
#include "takt/npu_queue.h"

namespace takt::api {

// The parts of a batch, as npu::BatchExecutable takes them. Borrowed.
struct NpuBatch {
  absl::Span<const takt_npu_operation_t> operations;
  absl::Span<cpu::LoadedExecutable* const> programs;
  uint64_t scratch_bytes = 0;
};

// The NPU behind a device. INVALID_ARGUMENT if there is none.
absl::StatusOr<Ref<npu::NpuUnit>> FindUnit(const hal::Device* device);

// takt_npu_batch_create().
absl::StatusOr<Ref<hal::Executable>> CreateBatch(
    const hal::Device* device, const NpuBatch& batch, size_t binding_count,
    const takt_npu_batch_options_t* options);

// Queues a batch on the device's queue.
absl::Status QueueBatch(const Submission& submission, const NpuBatch& batch,
                        absl::Span<const takt_buffer_range_t> bindings,
                        const takt_npu_batch_options_t* options);

}  // namespace takt::api

#endif  // TAKT_API_NPU_BATCH_H_
