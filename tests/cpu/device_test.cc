// What the CPU device answers; its queue is the conformance suite's business.
#include "cpu/device.h"

#include <new>
#include <vector>

#include "cpu/operation.h"
#include "gtest/gtest.h"
#include "tests/support/allocation_faults.h"

namespace takt::cpu {
namespace {

Ref<Device> MakeDevice(const char* id, Ref<exec::Executor> executor = nullptr) {
  auto device = Device::Create(id, std::move(executor), {});
  EXPECT_TRUE(device.ok()) << device.status();
  return *device;
}

TEST(DeviceTest, MatchesItsIdByPattern) {
  Ref<Device> device = MakeDevice("local-sync");
  const auto matches = [&](const char* pattern) {
    return *device->QueryI64("hal.device.id", pattern);
  };
  for (const char* pattern : {"local*", "local-sync", "*", "l*c", "local?sync",
                              "*sync", "**", "local-sync*", "*l*-*n?"}) {
    EXPECT_EQ(matches(pattern), 1) << pattern;
  }
  for (const char* pattern :
       {"", "local", "local-task", "?", "*x*", "local-sync?", "sync*"}) {
    EXPECT_EQ(matches(pattern), 0) << pattern;
  }
}

TEST(DeviceTest, AnswersQueries) {
  exec::Executor::Options options;
  options.worker_count = 1;
  options.concurrency_max = 8;
  auto executor = exec::Executor::Create(options);
  ASSERT_TRUE(executor.ok());
  Ref<Device> sync = MakeDevice("local-sync");
  Ref<Device> task = MakeDevice("local-task", *executor);
  EXPECT_EQ(sync->QueryI64("hal.device", "concurrency"), 1);
  EXPECT_EQ(sync->QueryI64("hal.dispatch", "concurrency"), 1);
  EXPECT_EQ(task->QueryI64("hal.dispatch", "concurrency"), 2);
  EXPECT_EQ(sync->QueryI64("hal.executable.format", "npu-fb"), 0);
  EXPECT_EQ(sync->QueryI64("hal.nothing", "x"), absl::nullopt);
  EXPECT_EQ(sync->QueryI64("hal.device", "x"), absl::nullopt);
  (*executor)->Shutdown();
}

TEST(DeviceTest, NeedsAnId) {
  EXPECT_EQ(Device::Create("", nullptr, {}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(DeviceTest, RefusesUnknownFormats) {
  Ref<Device> device = MakeDevice("local-sync");
  EXPECT_EQ(device->LoadExecutable("npu-fb", {}, nullptr, {}).status().code(),
            absl::StatusCode::kNotFound);
}

TEST(DeviceTest, ItsAllocatorForgetsItInTheEnd) {
  Ref<Device> device = MakeDevice("local-sync");
  auto allocator = Ref<hal::Allocator>::Retain(device->allocator());
  EXPECT_EQ(allocator->device(), device.get());
  device.reset();
  EXPECT_EQ(allocator->device(), nullptr);
}

TEST(DeviceTest, BuffersOutliveIt) {
  Ref<Device> device = MakeDevice("local-sync");
  auto buffer = device->Allocate({}, 100);
  ASSERT_TRUE(buffer.ok());
  device.reset();
  (*buffer)->data()[99] = 1;
}

TEST(DeviceTest, CloneIsTheSame) {
  Ref<Device> device = MakeDevice("local-sync");
  CloneMap clones;
  Ref<Object> clone =
      Ref<Object>::Adopt(hal::Device::kType.clone(*device, clones));
  EXPECT_EQ(clone.get(), device.get());
}

// A submission that fails for lack of memory leaves a one-shot command buffer
// as it was. Each buffer of it needs a base, more than fit on the stack.
// `throw_count`: how many submissions failed so.
void KeepsACommandBuffer(Ref<hal::Fence> (*make_wait)(), int* throw_count) {
  constexpr int kBuffers = 20;
  bool is_hit = true;
  *throw_count = 0;
  for (int64_t first = 0; is_hit; ++first) {
    SCOPED_TRACE(first);
    Ref<Device> device = MakeDevice("local-sync");
    auto commands =
        device->CreateCommandBuffer(hal::kCommandBufferOneShot, 3, 0);
    ASSERT_TRUE(commands.ok()) << commands.status();
    std::vector<Ref<hal::Buffer>> buffers;
    for (int i = 0; i < kBuffers; ++i) {
      buffers.push_back(*device->Allocate({}, 4));
      ASSERT_TRUE(
          (*commands)->FillBuffer({buffers[i].get(), 0, 0, 4}, 7, 4).ok());
    }
    ASSERT_TRUE((*commands)->Finalize().ok());
    const Ref<hal::Fence> wait = make_wait();
    const Ref<hal::Fence> done = hal::Fence::Create();
    hal::QueueTicket ticket;
    ticket.wait = wait.get();
    ticket.signal = done.get();
    const auto submit = [&] {
      return device->QueueExecute(ticket, commands->get(), {});
    };
    try {
      const AllocationFault fault(first);
      EXPECT_TRUE(submit().ok());
    } catch (const std::bad_alloc&) {
      ++*throw_count;
      ASSERT_TRUE(submit().ok());
    }
    is_hit = AllocationFault::is_hit();
    EXPECT_EQ(submit().code(), absl::StatusCode::kFailedPrecondition);
    if (wait != nullptr) {
      ASSERT_TRUE(wait->Signal().ok());
    }
    const absl::Status outcome = done->Wait(kInfiniteFuture);
    if (!outcome.ok()) {
      EXPECT_EQ(outcome.code(), absl::StatusCode::kResourceExhausted);
      continue;
    }
    for (const auto& buffer : buffers) EXPECT_EQ(buffer->data()[0], 7);
  }
}

TEST(DeviceTest, KeepsAOneShotCommandBufferWithoutMemory) {
  int throw_count;
  KeepsACommandBuffer([] { return Ref<hal::Fence>(); }, &throw_count);
  EXPECT_GT(throw_count, 0);
  KeepsACommandBuffer([] { return hal::Fence::Create(); }, &throw_count);
  // A submission that waits is in a block of a pool, which malloc() makes.
  if (TAKT_REPLACES_MALLOC) {
    EXPECT_GT(throw_count, 0);
  }
}

TEST(OperationTest, TellDoesNotChangeAnEndedFence) {
  Tell(nullptr, absl::OkStatus());
  Tell(nullptr, absl::AbortedError("nobody"));
  Ref<hal::Fence> fence = hal::Fence::Create();
  Tell(fence.get(), absl::OkStatus());
  Tell(fence.get(), absl::OkStatus());
  bool reached = false;
  EXPECT_TRUE(fence->Query(&reached).ok());
  EXPECT_TRUE(reached);
  Ref<hal::Fence> failed = hal::Fence::Create();
  Tell(failed.get(), absl::DataLossError("first"));
  Tell(failed.get(), absl::OkStatus());
  EXPECT_EQ(failed->Query(&reached), absl::DataLossError("first"));
}

}  // namespace
}  // namespace takt::cpu
