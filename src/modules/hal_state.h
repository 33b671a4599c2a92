// HalState is what a context holds for the `hal` module: a share of the
// module's environment, and what it found out about the context's code. Its
// methods are the module's functions, grouped as their sources are
// (hal_module_<noun>.cc); BufferState has the others. Argument names and order
// are the compiler's; see docs for the table of imports.
//
// Thread-safety: every method may run on any thread.
#ifndef TAKT_MODULES_HAL_STATE_H_
#define TAKT_MODULES_HAL_STATE_H_

#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "hal/device.h"
#include "hal/fence.h"
#include "modules/buffer_state.h"
#include "modules/hal_module.h"
#include "modules/invocation_memory.h"
#include "modules/queue_ticket.h"
#include "vm/byte_buffer.h"
#include "vm/module.h"
#include "vm/native_module.h"

namespace takt::modules {

// Limits of the compiler's ABI; what is beyond them is OUT_OF_RANGE.
inline constexpr size_t kMaxDispatchBindings = 32;
inline constexpr size_t kMaxSelectPairs = 64;
inline constexpr size_t kMaxAwaitFences = 32;

// One dispatch binding, one entry of a binding table, one device to select.
using BindingArgs =
    vm::VarArgs<int32_t, uint32_t, hal::Buffer*, uint64_t, uint64_t>;
using BindingTableArgs = vm::VarArgs<hal::Buffer*, uint64_t, uint64_t>;
using DevicePairArgs = vm::VarArgs<hal::Device*, uint64_t>;

class HalState final : public BufferState {
 public:
  explicit HalState(std::shared_ptr<const HalModuleOptions> environment)
      : BufferState(environment->devices, environment->trace_sink),
        environment_(std::move(environment)),
        collects_(environment_->collects_command_buffers) {}

  // Those made so far, in their order; later ones are not kept.
  std::vector<CollectedCommandBuffer> TakeCommandBuffers() {
    collects_ = false;
    return std::move(collected_);
  }

  // allocator.*
  absl::StatusOr<Ref<hal::Buffer>> AllocatorAllocate(
      vm::NativeCall& call, hal::Allocator& allocator, uint64_t affinity,
      uint32_t memory_types, uint32_t usage, uint64_t byte_length);
  absl::StatusOr<Ref<hal::Buffer>> AllocatorImport(
      hal::Allocator& allocator, int32_t try_import, uint64_t affinity,
      uint32_t memory_types, uint32_t usage, vm::ByteBuffer& source,
      uint64_t offset, uint64_t length);
  absl::StatusOr<std::tuple<Ref<hal::Device>, uint64_t>> AllocatorSelect(
      uint32_t memory_types, uint32_t usage, int64_t flags,
      DevicePairArgs devices);

  // buffer.*, but for those of BufferState.
  absl::Status BufferAssert(hal::Buffer& buffer, vm::ByteBuffer& message,
                            hal::Allocator& allocator, uint64_t minimum_length,
                            uint32_t memory_types, uint32_t usage);
  absl::StatusOr<int32_t> BufferLoad(hal::Buffer& buffer, uint64_t offset,
                                     uint32_t length);
  absl::Status BufferStore(int32_t value, hal::Buffer& buffer, uint64_t offset,
                           uint32_t length);
  absl::Status BufferPreserve(hal::Buffer& buffer);
  absl::StatusOr<int32_t> BufferDiscard(hal::Buffer& buffer);
  absl::StatusOr<int32_t> BufferIsTerminal(hal::Buffer& buffer);

  // channel.*, command_buffer.collective: there are no channels, so all that
  // can arrive in place of one is null.
  absl::StatusOr<Ref<Object>> ChannelCreate(hal::Device& device,
                                            uint64_t affinity, int64_t flags,
                                            vm::ByteBuffer* id,
                                            vm::ByteBuffer* group, int32_t rank,
                                            int32_t count);
  absl::StatusOr<Ref<Object>> ChannelSplit(Object* channel, int32_t color,
                                           int32_t key, int64_t flags);
  absl::StatusOr<std::tuple<int32_t, int32_t>> ChannelRankAndCount(
      Object* channel);
  absl::Status CommandBufferCollective(
      hal::CommandBuffer& command_buffer, Object* channel, int32_t op,
      int32_t param, uint32_t send_slot, uint32_t recv_slot,
      hal::Buffer* send_buffer, hal::Buffer* recv_buffer, uint64_t send_offset,
      uint64_t send_length, uint64_t recv_offset, uint64_t recv_length,
      uint64_t element_count);

  // command_buffer.*
  absl::StatusOr<Ref<hal::CommandBuffer>> CommandBufferCreate(
      hal::Device& device, uint32_t modes, uint32_t categories,
      uint64_t affinity, uint32_t binding_capacity);
  absl::Status CommandBufferFinalize(hal::CommandBuffer& command_buffer);
  absl::Status CommandBufferExecutionBarrier(hal::CommandBuffer& command_buffer,
                                             int32_t source_stages,
                                             int32_t target_stages,
                                             int64_t flags);
  absl::Status CommandBufferFillBuffer(hal::CommandBuffer& command_buffer,
                                       hal::Buffer* target, uint64_t offset,
                                       uint64_t length, uint32_t slot,
                                       uint64_t pattern,
                                       uint32_t pattern_length, int64_t flags);
  absl::Status CommandBufferCopyBuffer(
      hal::CommandBuffer& command_buffer, uint32_t source_slot,
      uint32_t target_slot, hal::Buffer* source, uint64_t source_offset,
      hal::Buffer* target, uint64_t target_offset, uint64_t length,
      int64_t flags);
  absl::Status CommandBufferFlushBuffer(hal::CommandBuffer& command_buffer,
                                        uint32_t slot, hal::Buffer* target,
                                        uint64_t offset, uint64_t length);
  absl::Status CommandBufferInvalidateBuffer(hal::CommandBuffer& command_buffer,
                                             uint32_t slot, hal::Buffer* target,
                                             uint64_t offset, uint64_t length);
  absl::Status CommandBufferUpdateBuffer(
      hal::CommandBuffer& command_buffer, vm::ByteBuffer& source,
      uint64_t source_offset, hal::Buffer* target, uint64_t target_offset,
      uint64_t length, uint32_t target_slot, int64_t flags);
  absl::Status CommandBufferDispatch(
      hal::CommandBuffer& command_buffer, hal::Executable& executable,
      uint64_t function, uint32_t count_x, uint32_t count_y, uint32_t count_z,
      int64_t flags, vm::VarArgs<uint32_t> constants, BindingArgs bindings);
  absl::Status CommandBufferDispatchIndirect(
      hal::CommandBuffer& command_buffer, hal::Executable& executable,
      uint64_t function, uint32_t workgroups_slot, hal::Buffer* workgroups,
      uint64_t workgroups_offset, int64_t flags,
      vm::VarArgs<uint32_t> constants, BindingArgs bindings);
  // The same with the function's position among the executable's exports.
  absl::Status CommandBufferDispatchOrdinal(
      hal::CommandBuffer& command_buffer, hal::Executable& executable,
      uint32_t ordinal, uint32_t count_x, uint32_t count_y, uint32_t count_z,
      int64_t flags, vm::VarArgs<uint32_t> constants, BindingArgs bindings);
  absl::Status CommandBufferDispatchIndirectOrdinal(
      hal::CommandBuffer& command_buffer, hal::Executable& executable,
      uint32_t ordinal, uint32_t workgroups_slot, hal::Buffer* workgroups,
      uint64_t workgroups_offset, int64_t flags,
      vm::VarArgs<uint32_t> constants, BindingArgs bindings);
  absl::Status CommandBufferAdviseBuffer(hal::CommandBuffer& command_buffer,
                                         hal::Buffer* buffer, int64_t flags,
                                         int64_t argument0, int64_t argument1,
                                         uint32_t slot);
  absl::Status CommandBufferBeginDebugGroup(hal::CommandBuffer& command_buffer,
                                            vm::ByteBuffer& label);
  absl::Status CommandBufferEndDebugGroup(hal::CommandBuffer& command_buffer);

  // devices.*, device.*, ex.file.from_memory
  absl::StatusOr<int32_t> DevicesCount();
  absl::StatusOr<Ref<hal::Device>> DevicesGet(uint32_t index);
  absl::StatusOr<Ref<hal::Allocator>> DeviceAllocator(hal::Device& device);
  absl::StatusOr<std::tuple<int32_t, int64_t>> DeviceQueryI64(
      hal::Device& device, vm::ByteBuffer& category, vm::ByteBuffer& key);
  absl::StatusOr<Ref<hal::File>> FileFromMemory(
      hal::Device& device, uint64_t affinity, uint32_t access,
      vm::ByteBuffer& source, uint64_t offset, uint64_t length, int32_t flags);

  // device.queue.*
  absl::StatusOr<Ref<hal::Buffer>> QueueAlloca(
      vm::NativeCall& call, hal::Device& device, uint64_t affinity,
      hal::Fence* wait, hal::Fence* signal, int64_t pool, uint32_t memory_types,
      uint32_t usage, uint64_t byte_length, int64_t flags);
  absl::Status QueueDealloca(vm::NativeCall& call, hal::Device& device,
                             uint64_t affinity, hal::Fence* wait,
                             hal::Fence* signal, hal::Buffer& buffer,
                             int64_t flags);
  absl::Status QueueFill(vm::NativeCall& call, hal::Device& device,
                         uint64_t affinity, hal::Fence* wait,
                         hal::Fence* signal, hal::Buffer& target,
                         uint64_t offset, uint64_t length, uint64_t pattern,
                         uint32_t pattern_length, int64_t flags);
  absl::Status QueueUpdate(vm::NativeCall& call, hal::Device& device,
                           uint64_t affinity, hal::Fence* wait,
                           hal::Fence* signal, vm::ByteBuffer& source,
                           uint64_t source_offset, hal::Buffer& target,
                           uint64_t target_offset, uint64_t length,
                           int64_t flags);
  // Copy, read and write: `kMethod` of the device, from a Source to a Target.
  template <auto kMethod, typename Source, typename Target>
  absl::Status QueueMove(vm::NativeCall& call, hal::Device& device,
                         uint64_t affinity, hal::Fence* wait,
                         hal::Fence* signal, Source& source,
                         uint64_t source_offset, Target& target,
                         uint64_t target_offset, uint64_t length,
                         int64_t flags) {
    return (device.*kMethod)(TicketOf(call, affinity, wait, signal), &source,
                             source_offset, &target, target_offset, length);
  }
  absl::Status QueueBarrier(vm::NativeCall& call, hal::Device& device,
                            uint64_t affinity, hal::Fence* wait,
                            hal::Fence* signal, int64_t flags);
  absl::Status QueueExecute(vm::NativeCall& call, hal::Device& device,
                            uint64_t affinity, hal::Fence* wait,
                            hal::Fence* signal,
                            hal::CommandBuffer& command_buffer, int64_t flags);
  absl::Status QueueExecuteIndirect(vm::NativeCall& call, hal::Device& device,
                                    uint64_t affinity, hal::Fence* wait,
                                    hal::Fence* signal,
                                    hal::CommandBuffer& command_buffer,
                                    int64_t flags, BindingTableArgs bindings);
  absl::Status QueueFlush(hal::Device& device, uint64_t affinity);

  // executable.*
  absl::StatusOr<Ref<hal::Executable>> ExecutableCreate(
      hal::Device& device, uint64_t affinity, vm::ByteBuffer& format,
      vm::ByteBuffer& data, vm::ByteBuffer* constants);
  absl::StatusOr<uint64_t> ExecutableLookupFunction(hal::Executable& executable,
                                                    vm::ByteBuffer& name);

  // fence.*
  absl::StatusOr<Ref<hal::Fence>> FenceCreate(hal::Device& device,
                                              int64_t flags);
  absl::StatusOr<Ref<hal::Fence>> FenceJoin(vm::NativeCall& call, int64_t flags,
                                            vm::VarArgs<hal::Fence*> fences);
  absl::StatusOr<int32_t> FenceQuery(hal::Fence& fence);
  absl::Status FenceSignal(hal::Fence& fence);
  absl::Status FenceFail(hal::Fence& fence, uint32_t code);
  absl::StatusOr<int32_t> FenceAwait(vm::NativeCall& call, uint32_t timeout_ms,
                                     int64_t flags,
                                     vm::VarArgs<hal::Fence*> fences);

 private:
  const std::shared_ptr<const HalModuleOptions> environment_;
  MemoryClaims claims_;
  bool collects_;
  std::vector<CollectedCommandBuffer> collected_;
};

}  // namespace takt::modules

#endif  // TAKT_MODULES_HAL_STATE_H_
