#include "api/npu_routes.h"

#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_join.h"
#include "api/handle.h"
#include "api/npu_device.h"
#include "cpu/cpu_command_buffer.h"
#include "modules/hal_state.h"
#include "route/dual_recording.h"

namespace takt::api {
namespace {

using modules::CollectedCommandBuffer;
using modules::HalState;

// The index of the library's own `hal` module: if it is there it is the first.
bool HasOwnHal(absl::Span<const Ref<vm::Module>> modules,
               const runtime::ContextOptions& options) {
  return modules.size() > options.modules.size() &&
         modules.front()->name() == "hal";
}

bool MayRouteToCpu(const hal::Device& device) {
  const npu::NpuUnit* const unit = UnitOf(device);
  return unit != nullptr && unit->may_route_to_cpu();
}

std::vector<CollectedCommandBuffer> TakeFrom(vm::Context& context) {
  return static_cast<HalState*>(context.state(0))->TakeCommandBuffers();
}

}  // namespace

void AddRoutes(runtime::Instance* instance,
               const runtime::ContextOptions& options, vm::Context& context) {
  const absl::Span<const Ref<vm::Module>> modules = context.modules();
  if (!HasOwnHal(modules, options)) return;
  const std::vector<CollectedCommandBuffer> collected = TakeFrom(context);
  bool has_npu_work = false;
  for (const CollectedCommandBuffer& each : collected) {
    has_npu_work = has_npu_work || MayRouteToCpu(*each.device);
  }
  if (!has_npu_work || !context.linkage().initializers_repeatable()) return;
  absl::InlinedVector<hal::Device*, 4> others;
  for (hal::Device* device : options.devices) {
    if (!MayRouteToCpu(*device)) others.push_back(device);
  }
  if (others.empty()) return;
  auto hal = instance->native_modules().CreateOwnHalModule(others);
  if (!hal.ok()) return;
  absl::InlinedVector<Ref<vm::Module>, 8> linked(modules.begin(),
                                                 modules.end());
  linked.front() = *std::move(hal);
  // Errors: it needs an NPU, say.
  auto twin = vm::Context::Create(linked, context.waiter(), options.step_limit,
                                  options.memory_limit);
  if (!twin.ok()) return;
  std::vector<CollectedCommandBuffer> recorded = TakeFrom(**twin);
  if (recorded.size() != collected.size()) return;
  for (size_t i = 0; i < collected.size(); ++i) {
    if (!MayRouteToCpu(*collected[i].device)) continue;
    auto* const mine =
        cpu::CpuCommandBuffer::From(collected[i].command_buffer.get());
    auto* const its =
        cpu::CpuCommandBuffer::From(recorded[i].command_buffer.get());
    if (mine == nullptr || its == nullptr) continue;
    route::PairRecordings(
        *mine, Ref<cpu::CpuCommandBuffer>::Retain(its),
        static_cast<cpu::Device&>(*recorded[i].device).executor());
  }
}

void NoteUnusedNpus(runtime::Instance& instance,
                    const runtime::ContextOptions& options) {
  for (const hal::Device* device : options.devices) {
    const npu::NpuUnit* const unit = UnitOf(*device);
    if (unit == nullptr || unit->has_code()) continue;
    std::vector<absl::string_view> compiled;
    for (const vm::Module* module : options.modules) {
      if (runtime::Needs(*module, "hal")) compiled.push_back(module->name());
    }
    if (compiled.empty()) continue;
    instance.notices().UnusedNpu(device->id(), absl::StrJoin(compiled, ", "));
  }
}

}  // namespace takt::api
