// device.queue.*
#include "absl/container/inlined_vector.h"
#include "base/status.h"
#include "hal/fill_pattern.h"
#include "hal/result_memory.h"
#include "modules/hal_arguments.h"
#include "modules/hal_state.h"
#include "modules/invocation_memory.h"

namespace takt::modules {

absl::StatusOr<Ref<hal::Buffer>> HalState::QueueAlloca(
    vm::NativeCall& call, hal::Device& device, uint64_t affinity,
    hal::Fence* wait, hal::Fence* signal, int64_t pool, uint32_t memory_types,
    uint32_t usage, uint64_t byte_length, int64_t flags) {
  if (pool != 0) {
    return absl::UnimplementedError(
        absl::StrCat("pool: only the default pool 0 is supported, got ", pool));
  }
  hal::QueueTicket ticket = TicketOf(call, affinity, wait, signal);
  hal::ResultMemory* const results =
      hal::ResultMemory::From(call.invocation().job().results);
  if (results != nullptr) {
    if (Ref<hal::Buffer> given = results->Offer(device, byte_length)) {
      TAKT_RETURN_IF_ERROR(device.QueueBarrier(ticket));
      return given;
    }
  }
  TAKT_ASSIGN_OR_RETURN(
      MemoryCharge charge,
      MemoryCharge::Take(call.invocation().memory_account(), byte_length));
  ticket.group = InvocationMemory::GroupOf(call.invocation(), device, claims_);
  TAKT_ASSIGN_OR_RETURN(
      Ref<hal::Buffer> buffer,
      device.QueueAlloca(ticket, {.memory_type = memory_types, .usage = usage},
                         byte_length));
  buffer->storage()->SetCharge(std::move(charge));
  if (results != nullptr) results->Note(*buffer);
  return buffer;
}

absl::Status HalState::QueueDealloca(vm::NativeCall& call, hal::Device& device,
                                     uint64_t affinity, hal::Fence* wait,
                                     hal::Fence* signal, hal::Buffer& buffer,
                                     int64_t flags) {
  // Without a signal nothing follows: the memory's content is not used.
  const hal::QueueTicket ticket =
      signal != nullptr ? TicketOf(call, affinity, wait, signal)
                        : hal::QueueTicket{.affinity = affinity,
                                           .wait = wait,
                                           .job = &call.invocation().job()};
  return device.QueueDealloca(ticket, &buffer);
}

absl::Status HalState::QueueFill(vm::NativeCall& call, hal::Device& device,
                                 uint64_t affinity, hal::Fence* wait,
                                 hal::Fence* signal, hal::Buffer& target,
                                 uint64_t offset, uint64_t length,
                                 uint64_t pattern, uint32_t pattern_length,
                                 int64_t flags) {
  TAKT_RETURN_IF_ERROR(hal::CheckPatternLength(pattern_length));
  return device.QueueFill(TicketOf(call, affinity, wait, signal), &target,
                          offset, length, static_cast<uint32_t>(pattern),
                          pattern_length);
}

absl::Status HalState::QueueUpdate(vm::NativeCall& call, hal::Device& device,
                                   uint64_t affinity, hal::Fence* wait,
                                   hal::Fence* signal, vm::ByteBuffer& source,
                                   uint64_t source_offset, hal::Buffer& target,
                                   uint64_t target_offset, uint64_t length,
                                   int64_t flags) {
  TAKT_ASSIGN_OR_RETURN(absl::Span<const uint8_t> bytes,
                        BytesOf(source, source_offset, length));
  return device.QueueUpdate(TicketOf(call, affinity, wait, signal), bytes,
                            &target, target_offset);
}

absl::Status HalState::QueueBarrier(vm::NativeCall& call, hal::Device& device,
                                    uint64_t affinity, hal::Fence* wait,
                                    hal::Fence* signal, int64_t flags) {
  return device.QueueBarrier(TicketOf(call, affinity, wait, signal));
}

absl::Status HalState::QueueExecute(vm::NativeCall& call, hal::Device& device,
                                    uint64_t affinity, hal::Fence* wait,
                                    hal::Fence* signal,
                                    hal::CommandBuffer& command_buffer,
                                    int64_t flags) {
  return device.QueueExecute(TicketOf(call, affinity, wait, signal),
                             &command_buffer, {});
}

absl::Status HalState::QueueExecuteIndirect(
    vm::NativeCall& call, hal::Device& device, uint64_t affinity,
    hal::Fence* wait, hal::Fence* signal, hal::CommandBuffer& command_buffer,
    int64_t flags, BindingTableArgs bindings) {
  absl::InlinedVector<hal::Binding, 16> table(bindings.size());
  for (size_t i = 0; i < table.size(); ++i) {
    auto [buffer, offset, length] = bindings[i];
    table[i] = {.buffer = buffer, .offset = offset, .length = length};
  }
  return device.QueueExecute(TicketOf(call, affinity, wait, signal),
                             &command_buffer, table);
}

absl::Status HalState::QueueFlush(hal::Device& device, uint64_t affinity) {
  device.QueueFlush();
  return absl::OkStatus();
}

}  // namespace takt::modules
