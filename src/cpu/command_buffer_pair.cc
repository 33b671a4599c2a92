// Two command buffers that are the same list of commands, for an exclusive unit
// and for the CPU.
#include <utility>

#include "base/check.h"
#include "cpu/command_buffer.h"

namespace takt::cpu {
namespace {

const DispatchCommand& AsDispatch(const Command& command) {
  return static_cast<const DispatchCommand&>(command);
}

bool MayGoEitherWay(const DispatchCommand& command,
                    const DispatchCommand& other) {
  return !command.is_indirect &&
         command.executable->exclusive_unit() != nullptr &&
         other.executable->exclusive_unit() == nullptr;
}

}  // namespace

bool CommandBuffer::IsSameRange(const Range& range, const Range& other) const {
  // Storages recorded directly are each recording's own: their order tells.
  return range.base == other.base && range.offset == other.offset &&
         range.length == other.length;
}

bool CommandBuffer::IsSameCommand(const Command& command,
                                  const Command& other) const {
  if (command.kind != other.kind) return false;
  if (command.kind != Command::Kind::kDispatch) {
    const auto& a = static_cast<const TransferCommand&>(command);
    const auto& b = static_cast<const TransferCommand&>(other);
    return IsSameRange(a.target, b.target) && IsSameRange(a.source, b.source);
  }
  const DispatchCommand& a = AsDispatch(command);
  const DispatchCommand& b = AsDispatch(other);
  if (a.binding_count != b.binding_count || a.is_indirect != b.is_indirect) {
    return false;
  }
  for (uint32_t i = 0; i < a.binding_count; ++i) {
    if (!IsSameRange(a.bindings[i], b.bindings[i])) return false;
  }
  return true;
}

bool CommandBuffer::HasSameCommands(const CommandBuffer& other) const {
  if (binding_capacity() != other.binding_capacity()) return false;
  const Region* there = other.first_region_;
  for (const Region* region = first_region_; region != nullptr;
       region = region->next, there = there->next) {
    if (there == nullptr || region->command_count != there->command_count) {
      return false;
    }
    const Command* command = region->first;
    const Command* counterpart = there->first;
    for (; command != nullptr;
         command = command->next, counterpart = counterpart->next) {
      if (!IsSameCommand(*command, *counterpart)) return false;
    }
  }
  return there == nullptr;
}

size_t CommandBuffer::Pair(Ref<CommandBuffer> other, exec::Executor* executor) {
  TAKT_CHECK(other_ == nullptr);
  if (!finalized_ || !other->finalized_ || !HasSameCommands(*other)) return 0;
  size_t count = 0;
  const Region* there = other->first_region_;
  other_executor_.store(executor, std::memory_order_release);
  for (Region* region = first_region_; region != nullptr;
       region = region->next, there = there->next) {
    const Command* counterpart = there->first;
    for (Command* command = region->first; command != nullptr;
         command = command->next, counterpart = counterpart->next) {
      if (command->kind != Command::Kind::kDispatch) continue;
      auto& mine = static_cast<DispatchCommand&>(*command);
      const DispatchCommand& its = AsDispatch(*counterpart);
      if (!MayGoEitherWay(mine, its)) continue;
      // Its code, on the operands of this one.
      auto* way = arena_.New<DispatchCommand>();
      way->kind = Command::Kind::kDispatch;
      way->executable = its.executable;
      way->function = its.function;
      way->constant_count = its.constant_count;
      way->binding_count = its.binding_count;
      way->workgroup_count = its.workgroup_count;
      way->constants = its.constants;
      way->bindings = mine.bindings;
      mine.other_way.store(way, std::memory_order_release);
      ++count;
    }
  }
  if (count > 0) other_ = std::move(other);
  return count;
}

}  // namespace takt::cpu
