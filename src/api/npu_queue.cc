#include "takt/npu_queue.h"

#include "abi/guard.h"
#include "absl/container/inlined_vector.h"
#include "api/handle.h"
#include "api/npu_batch.h"
#include "api/submission.h"
#include "cpu/loaded_executable.h"
#include "npu/matmul.h"

namespace takt::api {
namespace {

absl::Status QueueMatmul(const Submission& submission,
                         const takt_npu_matmul_t* from,
                         const takt_npu_batch_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(Ref<npu::NpuUnit> unit, FindUnit(submission.device));
  npu::Matmul matmul;
  matmul.type = from->type;
  matmul.m = from->m;
  matmul.n = from->n;
  matmul.k = from->k;
  matmul.right_is_transposed = from->right_is_transposed;
  matmul.accumulate = from->accumulate;
  const auto stride_of = [](int64_t stride, int64_t row) {
    return stride != 0 ? stride : row;
  };
  matmul.left_stride = stride_of(from->left_stride, from->k);
  matmul.right_stride = stride_of(
      from->right_stride, from->right_is_transposed ? from->k : from->n);
  matmul.out_stride = stride_of(from->out_stride, from->n);
  TAKT_ASSIGN_OR_RETURN(const npu::MatmulOperations plan,
                        npu::PlanMatmul(unit->capabilities(), matmul));
  NpuBatch batch;
  batch.operations = plan.operations;
  batch.scratch_bytes = plan.scratch_bytes;
  return QueueBatch(submission, batch, {from->left, from->right, from->out},
                    options);
}

// The executables as those of the device; INVALID_ARGUMENT for others.
using Programs = absl::InlinedVector<cpu::LoadedExecutable*, 2>;
absl::StatusOr<Programs> ReadPrograms(
    absl::Span<takt_executable_t* const> programs) {
  Programs result;
  for (size_t i = 0; i < programs.size(); ++i) {
    TAKT_RETURN_IF_ERROR(
        Require(programs[i], absl::StrCat("programs[", i, "]")));
    const cpu::LoadedExecutable* const executable =
        cpu::LoadedExecutable::From(Unwrap(programs[i]));
    if (executable == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("programs[", i, "] was not loaded by an NPU device"));
    }
    result.push_back(const_cast<cpu::LoadedExecutable*>(executable));
  }
  return result;
}

// The result borrows `programs`.
absl::StatusOr<NpuBatch> ReadBatch(const takt_npu_batch_description_t* from,
                                   Programs* programs) {
  if (from->operation_count != 0) {
    TAKT_RETURN_IF_ERROR(Require(from->operations, "batch: operations"));
  }
  if (from->program_count != 0) {
    TAKT_RETURN_IF_ERROR(Require(from->programs, "batch: programs"));
  }
  TAKT_ASSIGN_OR_RETURN(*programs,
                        ReadPrograms({from->programs, from->program_count}));
  NpuBatch batch;
  batch.operations = {from->operations, from->operation_count};
  batch.programs = *programs;
  return batch;
}

absl::Status QueueDescription(const Submission& submission,
                              const takt_npu_batch_description_t* from,
                              size_t binding_count,
                              const takt_buffer_range_t* bindings,
                              const takt_npu_batch_options_t* options) {
  Programs programs;
  TAKT_ASSIGN_OR_RETURN(const NpuBatch batch, ReadBatch(from, &programs));
  return QueueBatch(submission, batch, {bindings, binding_count}, options);
}

absl::StatusOr<Ref<hal::Executable>> CreateDescribed(
    takt_device_t* device, const takt_npu_batch_description_t* from,
    size_t binding_count, const takt_npu_batch_options_t* options) {
  Programs programs;
  TAKT_ASSIGN_OR_RETURN(const NpuBatch batch, ReadBatch(from, &programs));
  return CreateBatch(Unwrap(device), batch, binding_count, options);
}

}  // namespace
}  // namespace takt::api

using takt::api::SubmissionOf;
using takt::api::ToStatus;

takt_status_t takt_npu_queue_matmul(takt_device_t* device,
                                    takt_fence_t* wait_fence,
                                    takt_fence_t* signal_fence,
                                    const takt_npu_matmul_t* matmul,
                                    const takt_npu_batch_options_t* options) {
  TAKT_REQUIRE(device, matmul);
  TAKT_TRY {
    return ToStatus(
        __func__,
        takt::api::QueueMatmul(SubmissionOf(device, wait_fence, signal_fence),
                               matmul, options));
  }
  TAKT_CATCH_ALL(device, matmul);
}

takt_status_t takt_npu_queue_batch(takt_device_t* device,
                                   takt_fence_t* wait_fence,
                                   takt_fence_t* signal_fence,
                                   const takt_npu_batch_description_t* batch,
                                   size_t binding_count,
                                   const takt_buffer_range_t* bindings,
                                   const takt_npu_batch_options_t* options) {
  TAKT_REQUIRE(device, batch, Items(binding_count, bindings));
  TAKT_TRY {
    return ToStatus(__func__,
                    takt::api::QueueDescription(
                        SubmissionOf(device, wait_fence, signal_fence), batch,
                        binding_count, bindings, options));
  }
  TAKT_CATCH_ALL(device, batch, Items(binding_count, bindings));
}

takt_status_t takt_npu_batch_create(takt_device_t* device,
                                    const takt_npu_batch_description_t* batch,
                                    size_t binding_count,
                                    const takt_npu_batch_options_t* options,
                                    takt_executable_t** out_executable) {
  TAKT_REQUIRE(device, batch, out_executable);
  TAKT_TRY {
    return takt::api::Give(
        __func__,
        takt::api::CreateDescribed(device, batch, binding_count, options),
        out_executable);
  }
  TAKT_CATCH_ALL(device, batch, out_executable);
}
