#include "modules/invocation_memory.h"

#include "base/math.h"
#include "modules/memory_need.h"

namespace takt::modules {
namespace {

constexpr uint64_t kUnknown = ~uint64_t{0};
constexpr uint64_t kRoundingBytes = 4096;

}  // namespace

uint64_t MemoryClaims::ClaimOf(const vm::Invocation& invocation) {
  const vm::Callee& callee = invocation.callee();
  {
    MutexLock lock(&mutex_);
    const auto found = claims_.find(callee.function);
    if (found != claims_.end()) return found->second;
  }
  uint64_t claim = QueryMemoryNeed(invocation.context(), callee).BytesMax();
  // Devices round up, by a quarter at most.
  if (!CheckedAdd(claim, claim / 4 + kRoundingBytes, &claim)) claim = kUnknown;
  MutexLock lock(&mutex_);
  claims_.emplace(callee.function, claim);
  return claim;
}

hal::MemoryGroup* InvocationMemory::GroupOf(vm::Invocation& invocation,
                                            hal::Device& device,
                                            MemoryClaims& claims) {
  auto* memory = DynCast<InvocationMemory>(invocation.attachment());
  if (memory != nullptr) {
    for (const Member& member : memory->members_) {
      if (member.device.get() == &device) return member.group.get();
    }
  }
  if (!device.has_memory_groups()) return nullptr;
  Ref<hal::MemoryGroup> group =
      device.CreateMemoryGroup(claims.ClaimOf(invocation));
  if (group == nullptr) return nullptr;
  if (memory == nullptr) {
    auto made = Ref<InvocationMemory>::Adopt(new InvocationMemory());
    memory = made.get();
    invocation.SetAttachment(std::move(made));
  }
  memory->members_.push_back(
      {Ref<hal::Device>::Retain(&device), std::move(group)});
  return memory->members_.back().group.get();
}

void InvocationMemory::SetParked(vm::Invocation& invocation, bool is_parked) {
  auto* memory = DynCast<InvocationMemory>(invocation.attachment());
  if (memory == nullptr) return;
  for (const Member& member : memory->members_) {
    member.group->SetParked(is_parked);
  }
}

InvocationMemory::~InvocationMemory() {
  for (const Member& member : members_) member.group->Close();
}

}  // namespace takt::modules
