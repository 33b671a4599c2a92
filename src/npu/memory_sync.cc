#include "npu/memory_sync.h"

#include <vector>

#include "base/check.h"
#include "base/content_hash.h"
#include "cpu/cpu_command_buffer.h"
#include "npu/request_executable.h"

namespace takt::npu {

MemorySync::MemorySync(Ref<NpuUnit> unit) : unit_(std::move(unit)) {
  std::vector<Function> functions(2);
  functions[cpu::CpuCommandBuffer::kFlushFunction].name = "flush_buffer";
  functions[cpu::CpuCommandBuffer::kInvalidateFunction].name =
      "invalidate_buffer";
  for (Function& function : functions) {
    function.binding_count = 1;
    function.is_sequential = true;
  }
  SetFunctions(std::move(functions));
  SetContentHash(ContentHash("npu.memory_sync"));
}

absl::Status MemorySync::RunWorkgroups(size_t function,
                                       const cpu::DispatchArguments& arguments,
                                       uint32_t begin, uint32_t end,
                                       exec::Worker& worker) {
  TAKT_CHECK(arguments.binding_count == 1 && begin == 0 && end == 1);
  return unit_->SyncMemory(UrgencyOf(arguments.traits),
                           function == cpu::CpuCommandBuffer::kFlushFunction
                               ? NpuUnit::Sync::kFlush
                               : NpuUnit::Sync::kInvalidate,
                           arguments.bindings[0], arguments.binding_lengths[0]);
}

}  // namespace takt::npu
