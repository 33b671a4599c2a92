#include "runtime/memory_preparation.h"

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "base/block_pool.h"
#include "hal/device.h"
#include "vm/bytecode_module.h"

namespace takt::runtime {
namespace {

// The smallest page of the machines that Takt runs on.
constexpr size_t kPageBytes = 4096;
// Idle blocks of each size in a prepared context: more than a call has at once.
constexpr size_t kReadyBlocks = 8;
// The sizes of a pool's blocks are multiples of this.
constexpr size_t kBlockStep = 64;

// Reads a byte of each page, so that the kernel maps the pages.
void Touch(absl::Span<const uint8_t> bytes) {
  for (size_t i = 0; i < bytes.size(); i += kPageBytes) {
    static_cast<void>(*const_cast<const volatile uint8_t*>(&bytes[i]));
  }
}

void TouchModule(vm::Module* module) {
  auto* bytecode = DynCast<vm::BytecodeModule>(module);
  if (bytecode == nullptr) return;
  Touch(bytecode->archive().flatbuffer);
  for (const absl::Span<const uint8_t> rodata : bytecode->archive().rodata) {
    Touch(rodata);
  }
}

// Takes blocks of every size and gives them back, so that the pool has them.
void FillBlocks(BlockPool& blocks) {
  std::vector<void*> taken;
  for (size_t bytes = kBlockStep; bytes <= BlockPool::kMaxBlockBytes;
       bytes += kBlockStep) {
    for (size_t i = 0; i < kReadyBlocks; ++i) {
      taken.push_back(blocks.Allocate(bytes));
    }
  }
  for (void* block : taken) BlockPool::Free(block);
}

}  // namespace

modules::MemoryNeed FindMemoryNeed(const Function& function) {
  const vm::Context& context = function.context().vm();
  const vm::FunctionRef ref = function.ref();
  return modules::QueryMemoryNeed(
      context, context.linkage().exports(ref.module)[ref.export_index].callee);
}

absl::Status PrepareFunction(const Function& function) {
  const Context& context = function.context();
  TouchModule(context.vm().modules()[function.ref().module].get());
  if (context.devices().empty()) return absl::OkStatus();
  return context.devices()[0]->PrepareMemory(
      FindMemoryNeed(function).byte_lengths);
}

void PrepareContext(const Context& context) {
  for (const Ref<vm::Module>& module : context.vm().modules()) {
    TouchModule(module.get());
  }
  FillBlocks(context.vm().pool());
  FillBlocks(context.instance().blocks());
  for (const Ref<hal::Device>& device : context.devices()) {
    FillBlocks(device->blocks());
  }
}

}  // namespace takt::runtime
