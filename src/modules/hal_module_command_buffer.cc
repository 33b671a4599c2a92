// command_buffer.*
#include "absl/strings/str_cat.h"
#include "base/math.h"
#include "base/status.h"
#include "hal/fill_pattern.h"
#include "modules/hal_arguments.h"
#include "modules/hal_state.h"

namespace takt::modules {
namespace {

// The buffer itself, or the buffer that the slot has on submission.
hal::BufferRef RefOf(hal::Buffer* buffer, uint32_t slot, uint64_t offset,
                     uint64_t length) {
  return {.buffer = buffer, .slot = slot, .offset = offset, .length = length};
}

// The spans of a dispatch, as a recording call takes them.
struct DispatchArguments {
  absl::Status Read(const vm::VarArgs<uint32_t>& constant_args,
                    const BindingArgs& binding_args);

  absl::Span<const uint32_t> constants() const {
    return {constant_storage, constant_count};
  }
  absl::Span<const hal::BufferRef> bindings() const {
    return {binding_storage, binding_count};
  }

  size_t constant_count = 0;
  size_t binding_count = 0;
  uint32_t constant_storage[hal::CommandBuffer::kMaxDispatchConstants];
  hal::BufferRef binding_storage[kMaxDispatchBindings];
};

absl::Status DispatchArguments::Read(const vm::VarArgs<uint32_t>& constant_args,
                                     const BindingArgs& binding_args) {
  if (constant_args.size() > hal::CommandBuffer::kMaxDispatchConstants) {
    return absl::InvalidArgumentError(
        absl::StrCat("constants: expected at most ",
                     hal::CommandBuffer::kMaxDispatchConstants, ", got ",
                     constant_args.size()));
  }
  if (binding_args.size() > kMaxDispatchBindings) {
    return absl::OutOfRangeError(absl::StrCat("bindings: expected at most ",
                                              kMaxDispatchBindings, ", got ",
                                              binding_args.size()));
  }
  constant_count = constant_args.size();
  for (size_t i = 0; i < constant_count; ++i) {
    constant_storage[i] = constant_args[i];
  }
  binding_count = binding_args.size();
  for (size_t i = 0; i < binding_count; ++i) {
    auto [reserved, slot, buffer, offset, length] = binding_args[i];
    binding_storage[i] = RefOf(buffer, slot, offset, length);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Ref<hal::CommandBuffer>> HalState::CommandBufferCreate(
    hal::Device& device, uint32_t modes, uint32_t categories, uint64_t affinity,
    uint32_t binding_capacity) {
  if ((modes & hal::kCommandBufferAllowInline) != 0) {
    if ((modes & hal::kCommandBufferOneShot) == 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "modes: inline execution is for one-shot command buffers; got 0x",
          absl::Hex(modes)));
    }
    if (binding_capacity > 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "binding_capacity: expected 0 with inline execution, got ",
          binding_capacity));
    }
  }
  TAKT_ASSIGN_OR_RETURN(
      Ref<hal::CommandBuffer> command_buffer,
      device.CreateCommandBuffer(modes, categories, binding_capacity));
  if (collects_) {
    collected_.push_back({Ref<hal::Device>::Retain(&device), command_buffer});
  }
  return command_buffer;
}

absl::Status HalState::CommandBufferFinalize(
    hal::CommandBuffer& command_buffer) {
  return command_buffer.Finalize();
}

// Every barrier is a full one; the stages are ignored.
absl::Status HalState::CommandBufferExecutionBarrier(
    hal::CommandBuffer& command_buffer, int32_t source_stages,
    int32_t target_stages, int64_t flags) {
  return command_buffer.ExecutionBarrier();
}

absl::Status HalState::CommandBufferFillBuffer(
    hal::CommandBuffer& command_buffer, hal::Buffer* target, uint64_t offset,
    uint64_t length, uint32_t slot, uint64_t pattern, uint32_t pattern_length,
    int64_t flags) {
  TAKT_RETURN_IF_ERROR(hal::CheckPatternLength(pattern_length));
  return command_buffer.FillBuffer(RefOf(target, slot, offset, length),
                                   static_cast<uint32_t>(pattern),
                                   pattern_length);
}

absl::Status HalState::CommandBufferCopyBuffer(
    hal::CommandBuffer& command_buffer, uint32_t source_slot,
    uint32_t target_slot, hal::Buffer* source, uint64_t source_offset,
    hal::Buffer* target, uint64_t target_offset, uint64_t length,
    int64_t flags) {
  return command_buffer.CopyBuffer(
      RefOf(source, source_slot, source_offset, length),
      RefOf(target, target_slot, target_offset, length));
}

absl::Status HalState::CommandBufferUpdateBuffer(
    hal::CommandBuffer& command_buffer, vm::ByteBuffer& source,
    uint64_t source_offset, hal::Buffer* target, uint64_t target_offset,
    uint64_t length, uint32_t target_slot, int64_t flags) {
  TAKT_ASSIGN_OR_RETURN(absl::Span<const uint8_t> bytes,
                        BytesOf(source, source_offset, length));
  return command_buffer.UpdateBuffer(
      bytes, RefOf(target, target_slot, target_offset, bytes.size()));
}

absl::Status HalState::CommandBufferDispatch(
    hal::CommandBuffer& command_buffer, hal::Executable& executable,
    uint64_t function, uint32_t count_x, uint32_t count_y, uint32_t count_z,
    int64_t flags, vm::VarArgs<uint32_t> constants, BindingArgs bindings) {
  DispatchArguments arguments;
  TAKT_RETURN_IF_ERROR(arguments.Read(constants, bindings));
  return command_buffer.Dispatch(&executable, function,
                                 {count_x, count_y, count_z},
                                 arguments.constants(), arguments.bindings());
}

absl::Status HalState::CommandBufferDispatchIndirect(
    hal::CommandBuffer& command_buffer, hal::Executable& executable,
    uint64_t function, uint32_t workgroups_slot, hal::Buffer* workgroups,
    uint64_t workgroups_offset, int64_t flags, vm::VarArgs<uint32_t> constants,
    BindingArgs bindings) {
  DispatchArguments arguments;
  TAKT_RETURN_IF_ERROR(arguments.Read(constants, bindings));
  constexpr uint64_t kWorkgroupsBytes = 3 * sizeof(uint32_t);
  return command_buffer.DispatchIndirect(
      &executable, function,
      RefOf(workgroups, workgroups_slot, workgroups_offset, kWorkgroupsBytes),
      arguments.constants(), arguments.bindings());
}

absl::Status HalState::CommandBufferDispatchOrdinal(
    hal::CommandBuffer& command_buffer, hal::Executable& executable,
    uint32_t ordinal, uint32_t count_x, uint32_t count_y, uint32_t count_z,
    int64_t flags, vm::VarArgs<uint32_t> constants, BindingArgs bindings) {
  return CommandBufferDispatch(command_buffer, executable, ordinal, count_x,
                               count_y, count_z, flags, constants, bindings);
}

absl::Status HalState::CommandBufferDispatchIndirectOrdinal(
    hal::CommandBuffer& command_buffer, hal::Executable& executable,
    uint32_t ordinal, uint32_t workgroups_slot, hal::Buffer* workgroups,
    uint64_t workgroups_offset, int64_t flags, vm::VarArgs<uint32_t> constants,
    BindingArgs bindings) {
  return CommandBufferDispatchIndirect(
      command_buffer, executable, ordinal, workgroups_slot, workgroups,
      workgroups_offset, flags, constants, bindings);
}

absl::Status HalState::CommandBufferFlushBuffer(
    hal::CommandBuffer& command_buffer, uint32_t slot, hal::Buffer* target,
    uint64_t offset, uint64_t length) {
  return command_buffer.FlushBuffer(RefOf(target, slot, offset, length));
}

absl::Status HalState::CommandBufferInvalidateBuffer(
    hal::CommandBuffer& command_buffer, uint32_t slot, hal::Buffer* target,
    uint64_t offset, uint64_t length) {
  return command_buffer.InvalidateBuffer(RefOf(target, slot, offset, length));
}

// A hint, which Takt does not use.
absl::Status HalState::CommandBufferAdviseBuffer(
    hal::CommandBuffer& command_buffer, hal::Buffer* buffer, int64_t flags,
    int64_t argument0, int64_t argument1, uint32_t slot) {
  return absl::OkStatus();
}

absl::Status HalState::CommandBufferBeginDebugGroup(
    hal::CommandBuffer& command_buffer, vm::ByteBuffer& label) {
  return absl::OkStatus();
}

absl::Status HalState::CommandBufferEndDebugGroup(
    hal::CommandBuffer& command_buffer) {
  return absl::OkStatus();
}

}  // namespace takt::modules
