#include "api/npu_batch.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "api/buffer_range.h"
#include "api/handle.h"
#include "api/npu_device.h"
#include "api/options.h"
#include "base/status.h"
#include "hal/command_buffer.h"
#include "npu/batch_executable.h"

namespace takt::api {
namespace {

using npu::BatchExecutable;

absl::StatusOr<npu::NpuFaultPolicy> ReadPolicy(
    const takt_npu_batch_options_t& options, npu::NpuFaultPolicy policy) {
  TAKT_ASSIGN_OR_RETURN(
      const JobFaultPolicy terms,
      ReadFaultPolicy("policy", options.policy, "time_limit_ns",
                      options.time_limit_ns));
  return npu::PolicyFor(terms, policy);
}

absl::StatusOr<JobAttributes> ReadJob(const takt_npu_batch_options_t& options) {
  JobAttributes job;
  if (options.priority != TAKT_PRIORITY_DEFAULT) {
    if (options.priority < 0 || options.priority > 255) {
      return absl::InvalidArgumentError(absl::StrCat(
          "options: priority: expected 0 to 255, got ", options.priority));
    }
    job.priority = static_cast<uint8_t>(options.priority);
  }
  if (options.deadline_ns != TAKT_DEADLINE_DEFAULT) {
    job.deadline_ns = options.deadline_ns;
  }
  return job;
}

absl::StatusOr<std::shared_ptr<BatchExecutable>> MakeCode(
    const hal::Device* device, const NpuBatch& batch, size_t binding_count,
    const takt_npu_batch_options_t& options) {
  TAKT_ASSIGN_OR_RETURN(Ref<npu::NpuUnit> unit, FindUnit(device));
  BatchExecutable::Options code;
  TAKT_ASSIGN_OR_RETURN(code.policy, ReadPolicy(options, unit->policy()));
  code.scratch_bytes = batch.scratch_bytes;
  return BatchExecutable::Create(std::move(unit), batch.operations,
                                 binding_count, batch.programs, code);
}

// Ranges of buffers that are long enough for the operations of the code.
using Ranges = absl::InlinedVector<hal::BufferRef, 4>;
absl::StatusOr<Ranges> ReadRanges(
    absl::Span<const takt_buffer_range_t> bindings,
    const BatchExecutable& code) {
  Ranges ranges;
  for (size_t i = 0; i < bindings.size(); ++i) {
    const auto fail = [i](absl::StatusCode error, absl::string_view what) {
      return absl::Status(error, absl::StrCat("binding ", i, ": ", what));
    };
    hal::BufferRef range = RangeOf(bindings[i]);
    if (range.buffer == nullptr) {
      return fail(absl::StatusCode::kInvalidArgument, "the buffer is NULL");
    }
    const absl::Status status =
        range.buffer->ResolveRange(range.offset, &range.length);
    if (!status.ok()) return fail(status.code(), status.message());
    const BatchExecutable::Binding& use = code.bindings()[i];
    if (range.length < use.bytes_min ||
        (range.buffer->byte_offset() + range.offset) % use.alignment != 0) {
      return fail(absl::StatusCode::kInvalidArgument,
                  absl::StrCat(range.length, " bytes at ", range.offset,
                               ", expected ", use.bytes_min,
                               " or more, of elements of ", use.alignment));
    }
    const auto access = static_cast<hal::MemoryAccess>(
        use.is_written ? hal::kAccessWrite : hal::kAccessRead);
    if ((range.buffer->access() & access) == 0) {
      return fail(absl::StatusCode::kPermissionDenied,
                  absl::StrCat("the buffer does not allow to be ",
                               use.is_written ? "written" : "read"));
    }
    ranges.push_back(range);
  }
  return ranges;
}

}  // namespace

absl::StatusOr<Ref<npu::NpuUnit>> FindUnit(const hal::Device* device) {
  npu::NpuUnit* const unit = UnitOf(*device);
  if (unit != nullptr) return Ref<npu::NpuUnit>::Retain(unit);
  return absl::InvalidArgumentError(
      absl::StrCat("device ", device->id(), " has no NPU"));
}

absl::StatusOr<Ref<hal::Executable>> CreateBatch(
    const hal::Device* device, const NpuBatch& batch, size_t binding_count,
    const takt_npu_batch_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(const takt_npu_batch_options_t given,
                        ReadOptions(options, &takt_npu_batch_options_init));
  TAKT_RETURN_IF_ERROR(ReadJob(given).status());
  TAKT_ASSIGN_OR_RETURN(auto code,
                        MakeCode(device, batch, binding_count, given));
  return Ref<hal::Executable>(MakeRef<cpu::LoadedExecutable>(std::move(code)));
}

absl::Status QueueBatch(const Submission& submission, const NpuBatch& batch,
                        absl::Span<const takt_buffer_range_t> bindings,
                        const takt_npu_batch_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(const takt_npu_batch_options_t given,
                        ReadOptions(options, &takt_npu_batch_options_init));
  TAKT_ASSIGN_OR_RETURN(const JobAttributes job, ReadJob(given));
  TAKT_ASSIGN_OR_RETURN(
      auto code, MakeCode(submission.device, batch, bindings.size(), given));
  TAKT_ASSIGN_OR_RETURN(const Ranges ranges, ReadRanges(bindings, *code));
  auto executable = MakeRef<cpu::LoadedExecutable>(std::move(code));
  TAKT_ASSIGN_OR_RETURN(
      Ref<hal::CommandBuffer> commands,
      submission.device->CreateCommandBuffer(hal::kCommandBufferOneShot,
                                             /*categories=*/0,
                                             /*binding_capacity=*/0));
  TAKT_RETURN_IF_ERROR(commands->Dispatch(executable.get(), /*function=*/0,
                                          {1, 1, 1}, /*constants=*/{}, ranges));
  TAKT_RETURN_IF_ERROR(commands->Finalize());
  return Submit(submission, [&](const hal::QueueTicket& ticket) {
    hal::QueueTicket mine = ticket;
    mine.job = &job;
    return submission.device->QueueExecute(mine, commands.get(), {});
  });
}

}  // namespace takt::api
