#include "modules/hal_module.h"

#include <utility>

#include "base/status.h"
#include "modules/hal_arguments.h"
#include "modules/hal_state.h"
#include "vm/bytecode_version.h"
#include "vm/native_module.h"

namespace takt::modules {
namespace {

// Types that modules may name, although Takt makes no objects of them.
constexpr ObjectType kChannelType{"hal.channel"};
constexpr ObjectType kEventType{"hal.event"};

void ExportBuffers(vm::NativeModule::Builder& builder) {
  BufferState::Export(builder);
  builder.Export<&HalState::AllocatorAllocate>("allocator.allocate");
  builder.Export<&HalState::AllocatorImport>("allocator.import");
  builder.Export<&HalState::AllocatorSelect>("allocator.select");
  builder.Export<&HalState::BufferAssert>("buffer.assert");
  builder.Export<&HalState::BufferLoad>("buffer.load");
  builder.Export<&HalState::BufferStore>("buffer.store");
  builder.Export<&HalState::BufferPreserve>("buffer.allocation.preserve");
  builder.Export<&HalState::BufferDiscard>("buffer.allocation.discard");
  builder.Export<&HalState::BufferIsTerminal>("buffer.allocation.is_terminal");
}

void ExportChannels(vm::NativeModule::Builder& builder) {
  builder.Export<&HalState::ChannelCreate>("channel.create");
  builder.Export<&HalState::ChannelSplit>("channel.split");
  builder.Export<&HalState::ChannelRankAndCount>("channel.rank_and_count");
  builder.Export<&HalState::CommandBufferCollective>(
      "command_buffer.collective");
}

void ExportCommandBuffers(vm::NativeModule::Builder& builder) {
  builder.Export<&HalState::CommandBufferCreate>("command_buffer.create");
  builder.Export<&HalState::CommandBufferFinalize>("command_buffer.finalize");
  builder.Export<&HalState::CommandBufferExecutionBarrier>(
      "command_buffer.execution_barrier");
  builder.Export<&HalState::CommandBufferFillBuffer>(
      "command_buffer.fill_buffer");
  builder.Export<&HalState::CommandBufferCopyBuffer>(
      "command_buffer.copy_buffer");
  builder.Export<&HalState::CommandBufferFlushBuffer>(
      "command_buffer.flush_buffer");
  builder.Export<&HalState::CommandBufferInvalidateBuffer>(
      "command_buffer.invalidate_buffer");
  builder.Export<&HalState::CommandBufferUpdateBuffer>(
      "command_buffer.update_buffer");
  builder.Export<&HalState::CommandBufferDispatch>("command_buffer.dispatch",
                                                   kHandleCompilers);
  builder.Export<&HalState::CommandBufferDispatchOrdinal>(
      "command_buffer.dispatch", kOrdinalCompilers);
  builder.Export<&HalState::CommandBufferDispatchIndirect>(
      "command_buffer.dispatch.indirect", kHandleCompilers);
  builder.Export<&HalState::CommandBufferDispatchIndirectOrdinal>(
      "command_buffer.dispatch.indirect", kOrdinalCompilers);
  builder.Export<&HalState::CommandBufferAdviseBuffer>(
      "command_buffer.advise_buffer");
  builder.Export<&HalState::CommandBufferBeginDebugGroup>(
      "command_buffer.begin_debug_group");
  builder.Export<&HalState::CommandBufferEndDebugGroup>(
      "command_buffer.end_debug_group");
}

void ExportDevices(vm::NativeModule::Builder& builder) {
  builder.Export<&HalState::DevicesCount>("devices.count");
  builder.Export<&HalState::DevicesGet>("devices.get");
  builder.Export<&HalState::DeviceAllocator>("device.allocator");
  builder.Export<&HalState::DeviceQueryI64>("device.query.i64");
  builder.Export<&HalState::FileFromMemory>("ex.file.from_memory");
  builder.Export<&HalState::ExecutableCreate>("executable.create");
  builder.Export<&HalState::ExecutableLookupFunction>(
      "executable.lookup.function");
}

void ExportQueues(vm::NativeModule::Builder& builder) {
  builder.Export<&HalState::QueueAlloca>("device.queue.alloca");
  builder.Export<&HalState::QueueDealloca>("device.queue.dealloca");
  builder.Export<&HalState::QueueFill>("device.queue.fill");
  builder.Export<&HalState::QueueUpdate>("device.queue.update");
  builder.Export<
      &HalState::QueueMove<&hal::Device::QueueCopy, hal::Buffer, hal::Buffer>>(
      "device.queue.copy");
  builder.Export<
      &HalState::QueueMove<&hal::Device::QueueRead, hal::File, hal::Buffer>>(
      "device.queue.read");
  builder.Export<
      &HalState::QueueMove<&hal::Device::QueueWrite, hal::Buffer, hal::File>>(
      "device.queue.write");
  builder.Export<&HalState::QueueBarrier>("device.queue.barrier");
  builder.Export<&HalState::QueueExecute>("device.queue.execute");
  builder.Export<&HalState::QueueExecuteIndirect>(
      "device.queue.execute.indirect");
  builder.Export<&HalState::QueueFlush>("device.queue.flush");
}

void ExportFences(vm::NativeModule::Builder& builder) {
  builder.Export<&HalState::FenceCreate>("fence.create");
  builder.Export<&HalState::FenceJoin>("fence.join");
  builder.Export<&HalState::FenceQuery>("fence.query");
  builder.Export<&HalState::FenceSignal>("fence.signal");
  builder.Export<&HalState::FenceFail>("fence.fail");
  builder.Export<&HalState::FenceAwait>("fence.await");
}

}  // namespace

absl::Status RegisterHalTypes(vm::TypeRegistry& registry) {
  for (const ObjectType* type :
       {&hal::Allocator::kType, &hal::Buffer::kType, &hal::BufferView::kType,
        &hal::CommandBuffer::kType, &hal::Device::kType,
        &hal::Executable::kType, &hal::Fence::kType, &hal::File::kType,
        &hal::Timeline::kType, &kChannelType, &kEventType}) {
    TAKT_RETURN_IF_ERROR(registry.Register(type));
  }
  return absl::OkStatus();
}

absl::StatusOr<Ref<vm::Module>> CreateHalModule(vm::TypeRegistry& registry,
                                                HalModuleOptions options) {
  TAKT_RETURN_IF_ERROR(CheckDevices("hal", options.devices));
  TAKT_RETURN_IF_ERROR(RegisterHalTypes(registry));
  if (!options.trace_sink) options.trace_sink = TraceToStderr;
  if (options.timers == nullptr) options.timers = CreateTimerThread();

  vm::NativeModule::Builder builder("hal", kHalModuleVersion);
  builder.SetCompilers(vm::kSupportedCompilers);
  auto environment =
      std::make_shared<const HalModuleOptions>(std::move(options));
  builder.SetStateFactory(
      [environment]() -> absl::StatusOr<std::unique_ptr<vm::ModuleState>> {
        return std::make_unique<HalState>(environment);
      });
  // Initializers load executables, record command buffers and upload constants,
  // all of which a second context can share.
  builder.SetInitializersRepeatable(environment->shares_initialized);
  ExportBuffers(builder);
  ExportChannels(builder);
  ExportCommandBuffers(builder);
  ExportDevices(builder);
  ExportQueues(builder);
  ExportFences(builder);
  TAKT_ASSIGN_OR_RETURN(Ref<vm::NativeModule> module,
                        std::move(builder).Build());
  return Ref<vm::Module>(std::move(module));
}

}  // namespace takt::modules
