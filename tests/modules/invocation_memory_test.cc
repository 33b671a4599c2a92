#include "modules/invocation_memory.h"

#include "tests/modules/hal_calls.h"

namespace takt::modules {
namespace {

class InvocationMemoryTest : public HalModuleTest {
 protected:
  void SetUp() override { Link("hal_fence"); }

  // An invocation that is parked until `fence` is reached.
  Ref<vm::Invocation> Park(const Ref<hal::Fence>& fence) {
    auto prepared = calls_.Prepare("hal.fence.await/3", ~uint32_t{0},
                                   int64_t{0}, fence, nullptr, nullptr);
    EXPECT_TRUE(prepared.ok()) << prepared.status();
    return *std::move(prepared);
  }

  MemoryClaims claims_;
};

Ref<cpu::Device> MakeDevice(uint64_t budget_bytes) {
  cpu::Device::Options options;
  options.memory.budget_bytes = budget_bytes;
  return *cpu::Device::Create("local-sync", nullptr, options);
}

TEST_F(InvocationMemoryTest, NothingIsKeptForADeviceWithoutABudget) {
  Ref<vm::Invocation> invocation = Park(hal::Fence::Create());
  Ref<cpu::Device> device = MakeDevice(cpu::MemoryPool::kNoLimit);
  EXPECT_EQ(InvocationMemory::GroupOf(*invocation, *device, claims_), nullptr);
  EXPECT_EQ(invocation->attachment(), nullptr);
  InvocationMemory::SetParked(*invocation, true);
}

TEST_F(InvocationMemoryTest, EachDeviceHasOneGroup) {
  Ref<vm::Invocation> invocation = Park(hal::Fence::Create());
  Ref<cpu::Device> a = MakeDevice(1000), b = MakeDevice(1000);
  hal::MemoryGroup* group = InvocationMemory::GroupOf(*invocation, *a, claims_);
  ASSERT_NE(group, nullptr);
  EXPECT_EQ(InvocationMemory::GroupOf(*invocation, *a, claims_), group);
  EXPECT_NE(InvocationMemory::GroupOf(*invocation, *b, claims_), group);
}

TEST_F(InvocationMemoryTest, TheGroupClosesWhenTheInvocationIsDone) {
  Ref<hal::Fence> fence = hal::Fence::Create();
  Ref<vm::Invocation> invocation = Park(fence);
  Ref<cpu::Device> device = MakeDevice(10'000);
  const auto alloca_in = [&](hal::MemoryGroup* group, hal::Fence* signal) {
    hal::QueueTicket ticket;
    ticket.signal = signal;
    ticket.group = group;
    return *device->QueueAlloca(ticket, {}, 100);
  };
  Ref<hal::Fence> mine = hal::Fence::Create(), other = hal::Fence::Create();
  Ref<hal::Buffer> buffer = alloca_in(
      InvocationMemory::GroupOf(*invocation, *device, claims_), mine.get());
  bool reached = false;
  EXPECT_TRUE(mine->Query(&reached).ok() && reached);
  // The group claims little (its function allocates nothing), so that others
  // get memory beside it.
  Ref<hal::Buffer> beside = alloca_in(nullptr, other.get());
  EXPECT_TRUE(other->Query(&reached).ok() && reached);
  Ref<Object> attachment = Ref<Object>::Retain(invocation->attachment());
  ASSERT_NE(attachment, nullptr);
  EXPECT_EQ(invocation->Run(), vm::Invocation::State::kParked);
  TAKT_ASSERT_OK(fence->Signal());
  EXPECT_EQ(invocation->Run(), vm::Invocation::State::kDone);
  EXPECT_EQ(invocation->attachment(), nullptr);
  EXPECT_TRUE(attachment->IsUnique());
}

}  // namespace
}  // namespace takt::modules
