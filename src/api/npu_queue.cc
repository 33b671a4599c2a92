#include "takt/npu_queue.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "api/buffer_range.h"
#include "api/handle.h"
#include "api/npu_batch.h"
#include "api/submission.h"
#include "cpu/executable.h"
#include "npu/matmul.h"
#include "npu/operation.h"

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

absl::Status QueueMmt4d(const Submission& submission,
                        const takt_npu_mmt4d_t* product,
                        const takt_buffer_range_t* left,
                        const takt_buffer_range_t* right,
                        const takt_buffer_range_t* out,
                        const takt_npu_batch_options_t* options) {
  takt_npu_operation_t operation = npu::MakeOperation(TAKT_NPU_KIND_MMT4D);
  operation.mmt4d = *product;
  operation.mmt4d.left = {nullptr, 0, 0, 0};
  operation.mmt4d.right = {nullptr, 1, 0, 0};
  operation.mmt4d.out = {nullptr, 2, 0, 0};
  NpuBatch batch;
  batch.operations = {&operation, 1};
  return QueueBatch(submission, batch, {*left, *right, *out}, options);
}

// The length of a range, "the rest" included. INVALID_ARGUMENT, OUT_OF_RANGE.
absl::StatusOr<uint64_t> FindLength(const takt_buffer_range_t* range,
                                    absl::string_view name) {
  TAKT_RETURN_IF_ERROR(Require(range, name));
  TAKT_RETURN_IF_ERROR(Require(range->buffer, absl::StrCat(name, ": buffer")));
  hal::BufferRef ref = RangeOf(*range);
  const absl::Status status = ref.buffer->ResolveRange(ref.offset, &ref.length);
  if (!status.ok()) return Annotate(status, name);
  return ref.length;
}

// Rows short enough for the driver interface.
constexpr uint64_t kRowBytes = 1 << 20;

absl::Status QueueFill(const Submission& submission,
                       const takt_buffer_range_t* target, uint32_t pattern,
                       const takt_npu_batch_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(const uint64_t length, FindLength(target, "target"));
  if (length % sizeof(pattern) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("target: ", length, " bytes are no multiple of 4"));
  }
  absl::InlinedVector<takt_npu_operation_t, 2> operations;
  const auto add = [&](uint64_t offset, uint64_t rows, uint64_t row_bytes) {
    if (rows == 0 || row_bytes == 0) return;
    takt_npu_operation_t operation = npu::MakeOperation(TAKT_NPU_KIND_FILL);
    operation.fill.out.offset = offset;
    operation.fill.size0 = static_cast<int64_t>(rows);
    operation.fill.size1 = static_cast<int64_t>(row_bytes / sizeof(pattern));
    operation.fill.stride0 = operation.fill.size1;
    operation.fill.stride1 = 1;
    operation.fill.pattern = pattern;
    operations.push_back(operation);
  };
  const uint64_t whole = length / kRowBytes;
  add(0, whole, kRowBytes);
  add(whole * kRowBytes, 1, length % kRowBytes);
  NpuBatch batch;
  batch.operations = operations;
  return QueueBatch(submission, batch, {target, 1}, options);
}

absl::Status QueueCopy(const Submission& submission,
                       const takt_buffer_range_t* source,
                       const takt_buffer_range_t* target,
                       const takt_npu_batch_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(const uint64_t length, FindLength(source, "source"));
  TAKT_ASSIGN_OR_RETURN(const uint64_t room, FindLength(target, "target"));
  if (length != room) {
    return absl::InvalidArgumentError(
        absl::StrCat("copy of ", length, " bytes to ", room));
  }
  const hal::BufferRef from = RangeOf(*source);
  const hal::BufferRef to = RangeOf(*target);
  const uint64_t from_at = from.buffer->byte_offset() + from.offset;
  const uint64_t to_at = to.buffer->byte_offset() + to.offset;
  if (from.buffer->storage() == to.buffer->storage() &&
      from_at < to_at + length && to_at < from_at + length) {
    return absl::InvalidArgumentError("source and target overlap");
  }
  absl::InlinedVector<takt_npu_operation_t, 2> operations;
  const auto add = [&](uint64_t offset, uint64_t rows, uint64_t row_bytes) {
    if (rows == 0 || row_bytes == 0) return;
    takt_npu_operation_t operation = npu::MakeOperation(TAKT_NPU_KIND_COPY);
    takt_npu_copy_t& copy = operation.copy;
    copy.in.offset = copy.out.offset = offset;
    copy.out.buffer = 1;
    copy.size0 = static_cast<int64_t>(rows);
    copy.size1 = static_cast<int64_t>(row_bytes);
    copy.in_stride0 = copy.out_stride0 = copy.size1;
    copy.in_stride1 = copy.out_stride1 = 1;
    copy.element_bytes = 1;
    operations.push_back(operation);
  };
  const uint64_t whole = length / kRowBytes;
  add(0, whole, kRowBytes);
  add(whole * kRowBytes, 1, length % kRowBytes);
  NpuBatch batch;
  batch.operations = operations;
  return QueueBatch(submission, batch, {*source, *target}, options);
}

// The executables as those of the device; INVALID_ARGUMENT for others.
using Programs = absl::InlinedVector<cpu::Executable*, 2>;
absl::StatusOr<Programs> ReadPrograms(
    absl::Span<takt_executable_t* const> programs) {
  Programs result;
  for (size_t i = 0; i < programs.size(); ++i) {
    TAKT_RETURN_IF_ERROR(
        Require(programs[i], absl::StrCat("programs[", i, "]")));
    const cpu::Executable* const executable =
        cpu::Executable::From(Unwrap(programs[i]));
    if (executable == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("programs[", i, "] was not loaded by an NPU device"));
    }
    result.push_back(const_cast<cpu::Executable*>(executable));
  }
  return result;
}

absl::Status QueueProgram(const Submission& submission,
                          const takt_dispatch_t* dispatch,
                          const takt_npu_batch_options_t* options) {
  if (dispatch->workgroup_range != nullptr) {
    return absl::InvalidArgumentError(
        "dispatch: workgroup_range: the grid of a program is not indirect");
  }
  if (dispatch->constant_count != 0) {
    TAKT_RETURN_IF_ERROR(Require(dispatch->constants, "dispatch: constants"));
  }
  if (dispatch->binding_count != 0) {
    TAKT_RETURN_IF_ERROR(Require(dispatch->bindings, "dispatch: bindings"));
  }
  TAKT_ASSIGN_OR_RETURN(const Programs programs,
                        ReadPrograms({&dispatch->executable, 1}));
  absl::InlinedVector<takt_npu_range_t, 4> ranges(
      dispatch->binding_count, takt_npu_range_t{nullptr, 0, 0, 0});
  for (size_t i = 0; i < ranges.size(); ++i) ranges[i].buffer = i;
  takt_npu_operation_t operation = npu::MakeOperation(TAKT_NPU_KIND_PROGRAM);
  takt_npu_program_t& program = operation.program;
  program.function = dispatch->function;
  std::copy_n(dispatch->workgroups, 3, program.workgroups);
  program.constant_count = static_cast<uint32_t>(dispatch->constant_count);
  program.constants = dispatch->constants;
  program.bindings = ranges.data();
  program.binding_count = ranges.size();
  NpuBatch batch;
  batch.operations = {&operation, 1};
  batch.programs = programs;
  return QueueBatch(submission, batch,
                    {dispatch->bindings, dispatch->binding_count}, options);
}

// `programs` is what the result borrows.
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
  return ToStatus(__func__, takt::api::QueueMatmul(
                                SubmissionOf(device, wait_fence, signal_fence),
                                matmul, options));
}

takt_status_t takt_npu_queue_mmt4d(
    takt_device_t* device, takt_fence_t* wait_fence, takt_fence_t* signal_fence,
    const takt_npu_mmt4d_t* product, const takt_buffer_range_t* left,
    const takt_buffer_range_t* right, const takt_buffer_range_t* out,
    const takt_npu_batch_options_t* options) {
  TAKT_REQUIRE(device, product, left, right, out);
  return ToStatus(__func__, takt::api::QueueMmt4d(
                                SubmissionOf(device, wait_fence, signal_fence),
                                product, left, right, out, options));
}

takt_status_t takt_npu_queue_fill(takt_device_t* device,
                                  takt_fence_t* wait_fence,
                                  takt_fence_t* signal_fence,
                                  const takt_buffer_range_t* target,
                                  uint32_t pattern,
                                  const takt_npu_batch_options_t* options) {
  TAKT_REQUIRE(device, target);
  return ToStatus(__func__, takt::api::QueueFill(
                                SubmissionOf(device, wait_fence, signal_fence),
                                target, pattern, options));
}

takt_status_t takt_npu_queue_copy(takt_device_t* device,
                                  takt_fence_t* wait_fence,
                                  takt_fence_t* signal_fence,
                                  const takt_buffer_range_t* source,
                                  const takt_buffer_range_t* target,
                                  const takt_npu_batch_options_t* options) {
  TAKT_REQUIRE(device, source, target);
  return ToStatus(__func__, takt::api::QueueCopy(
                                SubmissionOf(device, wait_fence, signal_fence),
                                source, target, options));
}

takt_status_t takt_npu_queue_program(takt_device_t* device,
                                     takt_fence_t* wait_fence,
                                     takt_fence_t* signal_fence,
                                     const takt_dispatch_t* dispatch,
                                     const takt_npu_batch_options_t* options) {
  TAKT_REQUIRE(device, dispatch);
  return ToStatus(__func__, takt::api::QueueProgram(
                                SubmissionOf(device, wait_fence, signal_fence),
                                dispatch, options));
}

takt_status_t takt_npu_queue_batch(takt_device_t* device,
                                   takt_fence_t* wait_fence,
                                   takt_fence_t* signal_fence,
                                   const takt_npu_batch_description_t* batch,
                                   size_t binding_count,
                                   const takt_buffer_range_t* bindings,
                                   const takt_npu_batch_options_t* options) {
  TAKT_REQUIRE(device, batch, Items(binding_count, bindings));
  return ToStatus(__func__, takt::api::QueueDescription(
                                SubmissionOf(device, wait_fence, signal_fence),
                                batch, binding_count, bindings, options));
}

takt_status_t takt_npu_batch_create(takt_device_t* device,
                                    const takt_npu_batch_description_t* batch,
                                    size_t binding_count,
                                    const takt_npu_batch_options_t* options,
                                    takt_executable_t** out_executable) {
  TAKT_REQUIRE(device, batch, out_executable);
  return takt::api::Give(
      __func__,
      takt::api::CreateDescribed(device, batch, binding_count, options),
      out_executable);
}
