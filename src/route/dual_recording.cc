#include "route/dual_recording.h"

#include <deque>
#include <utility>

#include "base/check.h"
#include "base/object.h"
#include "cpu/command.h"
#include "route/exclusive_code.h"
#include "route/route.h"

namespace takt::route {
namespace {

using cpu::Command;
using cpu::CpuCommandBuffer;
using cpu::DispatchCommand;
using cpu::Range;
using cpu::Region;
using cpu::TransferCommand;

// The routes of one recording, and what they lead to.
class RouteTable final : public Object {
 public:
  static constexpr ObjectType kType{"route.table"};

  explicit RouteTable(Ref<CpuCommandBuffer> counterpart)
      : Object(&kType), counterpart_(std::move(counterpart)) {}

  const Route& Add(const DispatchCommand& recorded,
                   const DispatchCommand& counterpart,
                   exec::Executor* executor) {
    return routes_.emplace_back(recorded, counterpart, executor);
  }
  size_t size() const { return routes_.size(); }

 private:
  const Ref<CpuCommandBuffer> counterpart_;
  std::deque<Route> routes_;  // Its elements keep their places.
};

const DispatchCommand& AsDispatch(const Command& command) {
  return static_cast<const DispatchCommand&>(command);
}

bool HasTwoTargets(const DispatchCommand& command,
                   const DispatchCommand& counterpart) {
  return !command.is_indirect &&
         ExclusiveCode::ResourceOf(*command.executable) != nullptr &&
         ExclusiveCode::ResourceOf(*counterpart.executable) == nullptr;
}

bool IsSame(const Range& a, const Range& b) {
  // Buffers recorded directly are each recording's own: bases number them in
  // the order of their first use.
  return a.base == b.base && a.offset == b.offset && a.length == b.length;
}

bool IsSame(const Command& command, const Command& counterpart) {
  if (command.kind != counterpart.kind) return false;
  if (command.kind != Command::Kind::kDispatch) {
    const auto& a = static_cast<const TransferCommand&>(command);
    const auto& b = static_cast<const TransferCommand&>(counterpart);
    return IsSame(a.target, b.target) && IsSame(a.source, b.source);
  }
  const DispatchCommand& a = AsDispatch(command);
  const DispatchCommand& b = AsDispatch(counterpart);
  if (a.binding_count != b.binding_count || a.is_indirect != b.is_indirect) {
    return false;
  }
  for (uint32_t i = 0; i < a.binding_count; ++i) {
    if (!IsSame(a.bindings[i], b.bindings[i])) return false;
  }
  return true;
}

// Calls visit(command, counterpart) for each pair, in order, for as long as it
// returns true. False if it did not, or one list is longer.
template <typename Visit>
bool ForEachPair(const CpuCommandBuffer& recording,
                 const CpuCommandBuffer& counterpart, Visit visit) {
  const Region* there = counterpart.first_region();
  for (const Region* region = recording.first_region(); region != nullptr;
       region = region->next, there = there->next) {
    if (there == nullptr || region->command_count != there->command_count) {
      return false;
    }
    Command* other = there->first;
    for (Command* command = region->first; command != nullptr;
         command = command->next, other = other->next) {
      TAKT_CHECK(other != nullptr);
      if (!visit(*command, *other)) return false;
    }
  }
  return there == nullptr;
}

bool HaveSameCommands(const CpuCommandBuffer& recording,
                      const CpuCommandBuffer& counterpart) {
  return recording.binding_capacity() == counterpart.binding_capacity() &&
         ForEachPair(recording, counterpart,
                     [](const Command& command, const Command& other) {
                       return IsSame(command, other);
                     });
}

}  // namespace

size_t PairRecordings(CpuCommandBuffer& recording,
                      Ref<CpuCommandBuffer> counterpart,
                      exec::Executor* executor) {
  if (!recording.finalized() || !counterpart->finalized() ||
      !HaveSameCommands(recording, *counterpart)) {
    return 0;
  }
  const CpuCommandBuffer& other = *counterpart;
  auto table = MakeRef<RouteTable>(std::move(counterpart));
  ForEachPair(recording, other, [&](Command& command, Command& there) {
    if (command.kind != Command::Kind::kDispatch) return true;
    auto& dispatch = static_cast<DispatchCommand&>(command);
    if (HasTwoTargets(dispatch, AsDispatch(there))) {
      dispatch.SetRoute(table->Add(dispatch, AsDispatch(there), executor));
    }
    return true;
  });
  const size_t count = table->size();
  if (count > 0) recording.SetRouteOwner(std::move(table));
  return count;
}

}  // namespace takt::route
