#include "tests/conformance/device_conformance.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>

namespace takt::conformance {
namespace {

using hal::Binding;
using hal::Buffer;
using hal::BufferRef;
using hal::CommandBuffer;
using hal::Fence;
using hal::QueueTicket;

constexpr uint64_t kAll = ~uint64_t{0};

QueueTicket After(const Ref<Fence>& wait, const Ref<Fence>& signal) {
  return {kAll, wait.get(), signal.get()};
}

bool IsReached(const Ref<Fence>& fence) {
  bool reached = false;
  return fence->Query(&reached).ok() && reached;
}

}  // namespace

Ref<Buffer> DeviceConformanceTest::MakeBuffer(
    const std::vector<uint32_t>& values) {
  auto buffer = device().Allocate({}, values.size() * sizeof(uint32_t));
  EXPECT_TRUE(buffer.ok()) << buffer.status();
  std::memcpy((*buffer)->data(), values.data(),
              values.size() * sizeof(uint32_t));
  return *buffer;
}

std::vector<uint32_t> DeviceConformanceTest::Read(const Buffer& buffer) {
  auto bytes = buffer.Map(0, hal::kWholeBuffer, hal::kAccessRead);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  std::vector<uint32_t> values(bytes->size() / sizeof(uint32_t));
  std::memcpy(values.data(), bytes->data(), values.size() * sizeof(uint32_t));
  return values;
}

Ref<CommandBuffer> DeviceConformanceTest::MakeCommandBuffer(
    size_t binding_capacity, uint32_t mode) {
  auto command_buffer =
      device().CreateCommandBuffer(mode, /*categories=*/3, binding_capacity);
  EXPECT_TRUE(command_buffer.ok()) << command_buffer.status();
  return *command_buffer;
}

Ref<CommandBuffer> DeviceConformanceTest::MakeAddConstant(uint32_t count,
                                                          uint32_t constant) {
  Ref<CommandBuffer> commands = MakeCommandBuffer(1);
  Ref<hal::Executable> executable = backend_->LoadTestExecutable();
  EXPECT_TRUE(commands
                  ->Dispatch(executable.get(), kAddConstant, {count, 1, 1},
                             {constant}, {Slot(0)})
                  .ok());
  EXPECT_TRUE(commands->ExecutionBarrier().ok());
  EXPECT_TRUE(commands->Finalize().ok());
  return commands;
}

// ---- Memory.

TEST_P(DeviceConformanceTest, AllocaHasMemoryOnceSignaled) {
  Ref<Fence> start = Fence::Create(), done = Fence::Create();
  auto buffer = device().QueueAlloca(After(start, done), {}, 100);
  ASSERT_TRUE(buffer.ok());
  EXPECT_EQ((*buffer)->byte_length(), 100u);
  EXPECT_EQ((*buffer)->data(), nullptr);
  EXPECT_EQ((*buffer)->Map(0, 1, hal::kAccessRead).status().code(),
            absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(start->Signal().ok());
  ASSERT_TRUE(Wait(done).ok());
  ASSERT_NE((*buffer)->data(), nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>((*buffer)->data()) % 64, 0u);
}

TEST_P(DeviceConformanceTest, AllocaOfZeroBytesSucceeds) {
  Ref<Fence> done = Fence::Create();
  auto buffer = device().QueueAlloca(After(nullptr, done), {}, 0);
  ASSERT_TRUE(buffer.ok());
  ASSERT_TRUE(Wait(done).ok());
  EXPECT_EQ((*buffer)->byte_length(), 0u);
  EXPECT_TRUE((*buffer)->Map(0, hal::kWholeBuffer, hal::kAccessRead).ok());
}

TEST_P(DeviceConformanceTest, RefusesAllocationsBeyondAnyMemory) {
  EXPECT_EQ(device().Allocate({}, ~uint64_t{0}).status().code(),
            absl::StatusCode::kResourceExhausted);
  Ref<Fence> done = Fence::Create();
  EXPECT_EQ(device()
                .QueueAlloca(After(nullptr, done), {}, ~uint64_t{0} - 7)
                .status()
                .code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(IsReached(done));
}

TEST_P(DeviceConformanceTest, DeallocaFreesTheMemoryInQueueOrder) {
  const uint64_t before = device().allocation_statistics().bytes_reserved;
  Ref<Fence> allocated = Fence::Create(), used = Fence::Create(),
             freed = Fence::Create();
  auto buffer = device().QueueAlloca(After(nullptr, allocated), {}, 1000);
  ASSERT_TRUE(buffer.ok());
  ASSERT_TRUE(device().QueueDealloca(After(used, freed), buffer->get()).ok());
  ASSERT_TRUE(Wait(allocated).ok());
  EXPECT_EQ(device().allocation_statistics().bytes_reserved, before + 1000);
  ASSERT_TRUE(used->Signal().ok());
  ASSERT_TRUE(Wait(freed).ok());
  EXPECT_EQ(device().allocation_statistics().bytes_reserved, before);
  EXPECT_EQ((*buffer)->data(), nullptr);
}

TEST_P(DeviceConformanceTest, DeallocaOfAPreservedBufferKeepsIt) {
  Ref<Buffer> buffer = MakeBuffer({1, 2, 3});
  buffer->storage()->AddOwner();
  Ref<Fence> freed = Fence::Create();
  ASSERT_TRUE(device().QueueDealloca(After(nullptr, freed), buffer.get()).ok());
  ASSERT_TRUE(Wait(freed).ok());
  EXPECT_EQ(Read(*buffer), (std::vector<uint32_t>{1, 2, 3}));
}

TEST_P(DeviceConformanceTest, UseAfterDeallocaFails) {
  Ref<Buffer> buffer = MakeBuffer({1, 2, 3});
  Ref<Fence> freed = Fence::Create(), filled = Fence::Create(),
             executed = Fence::Create();
  ASSERT_TRUE(device().QueueDealloca(After(nullptr, freed), buffer.get()).ok());
  ASSERT_TRUE(Wait(freed).ok());
  ASSERT_TRUE(
      device().QueueFill(After(freed, filled), buffer.get(), 0, 4, 0, 4).ok());
  EXPECT_EQ(Wait(filled).code(), absl::StatusCode::kFailedPrecondition);
  Ref<CommandBuffer> commands = MakeAddConstant(3, 1);
  ASSERT_TRUE(
      device()
          .QueueExecute(After(freed, executed), commands.get(), {Bind(buffer)})
          .ok());
  EXPECT_EQ(Wait(executed).code(), absl::StatusCode::kFailedPrecondition);
  Ref<Fence> again = Fence::Create();
  ASSERT_TRUE(device().QueueDealloca(After(nullptr, again), buffer.get()).ok());
  EXPECT_EQ(Wait(again).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_P(DeviceConformanceTest, ImportSharesAlignedMemoryAndRefusesUnaligned) {
  alignas(64) static uint32_t memory[32] = {7};
  auto* bytes = reinterpret_cast<uint8_t*>(memory);
  auto buffer = device().Import({}, nullptr, bytes, sizeof(memory));
  ASSERT_TRUE(buffer.ok());
  EXPECT_EQ((*buffer)->data(), bytes);
  EXPECT_EQ(device().Import({}, nullptr, bytes + 4, 4).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(device().Import({}, nullptr, nullptr, 4).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(device().Import({}, nullptr, nullptr, 0).ok());
}

TEST_P(DeviceConformanceTest, TrimReturnsIdleMemory) {
  { Ref<Buffer> buffer = MakeBuffer(std::vector<uint32_t>(100'000)); }
  EXPECT_GT(device().allocation_statistics().bytes_committed, 0u);
  device().Trim();
  EXPECT_EQ(device().allocation_statistics().bytes_committed, 0u);
  EXPECT_GT(device().allocation_statistics().bytes_peak, 400'000u);
}

// ---- Transfers.

TEST_P(DeviceConformanceTest, FillsWithEveryPatternLength) {
  Ref<Buffer> buffer = MakeBuffer({0, 0, 0, 0});
  Ref<Fence> a = Fence::Create(), b = Fence::Create(), c = Fence::Create();
  ASSERT_TRUE(device()
                  .QueueFill(After(nullptr, a), buffer.get(), 0, 4, 0x1234, 1)
                  .ok());
  ASSERT_TRUE(
      device().QueueFill(After(a, b), buffer.get(), 4, 4, 0xabcd1234, 2).ok());
  ASSERT_TRUE(device()
                  .QueueFill(After(b, c), buffer.get(), 8, hal::kWholeBuffer,
                             0xdeadbeef, 4)
                  .ok());
  ASSERT_TRUE(Wait(c).ok());
  EXPECT_EQ(Read(*buffer), (std::vector<uint32_t>{0x34343434, 0x12341234,
                                                  0xdeadbeef, 0xdeadbeef}));
}

TEST_P(DeviceConformanceTest, RefusesBadFills) {
  Ref<Buffer> buffer = MakeBuffer({0, 0});
  const auto fill = [&](uint64_t offset, uint64_t length, size_t pattern) {
    return device()
        .QueueFill({}, buffer.get(), offset, length, 1, pattern)
        .code();
  };
  EXPECT_EQ(fill(0, 8, 3), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(fill(0, 8, 8), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(fill(2, 4, 4), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(fill(0, 6, 4), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(fill(0, 9, 1), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(fill(~uint64_t{0} - 3, 4, 4), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(device().QueueFill({}, nullptr, 0, 4, 0, 4).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_P(DeviceConformanceTest, UpdateCapturesItsSourceAtOnce) {
  Ref<Buffer> buffer = MakeBuffer({0, 0, 0});
  Ref<Fence> start = Fence::Create(), done = Fence::Create();
  std::vector<uint8_t> source = {1, 0, 0, 0, 2, 0, 0, 0};
  ASSERT_TRUE(
      device().QueueUpdate(After(start, done), source, buffer.get(), 4).ok());
  source.assign(8, 0xff);
  ASSERT_TRUE(start->Signal().ok());
  ASSERT_TRUE(Wait(done).ok());
  EXPECT_EQ(Read(*buffer), (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_EQ(device().QueueUpdate({}, source, buffer.get(), 8).code(),
            absl::StatusCode::kOutOfRange);
}

TEST_P(DeviceConformanceTest, CopiesLargeBuffers) {
  constexpr size_t kCount = 1'000'003;
  std::vector<uint32_t> values(kCount);
  std::iota(values.begin(), values.end(), 1);
  Ref<Buffer> source = MakeBuffer(values);
  Ref<Buffer> target = MakeBuffer(std::vector<uint32_t>(kCount, 9));
  Ref<Fence> filled = Fence::Create(), copied = Fence::Create();
  ASSERT_TRUE(device()
                  .QueueFill(After(nullptr, filled), target.get(), 0,
                             hal::kWholeBuffer, 0x01020304, 4)
                  .ok());
  ASSERT_TRUE(device()
                  .QueueCopy(After(filled, copied), source.get(), 4,
                             target.get(), 8, 4 * (kCount - 2))
                  .ok());
  ASSERT_TRUE(Wait(copied).ok());
  const std::vector<uint32_t> result = Read(*target);
  EXPECT_EQ(result[0], 0x01020304u);
  EXPECT_EQ(result[1], 0x01020304u);
  EXPECT_TRUE(std::equal(result.begin() + 2, result.end(), values.begin() + 1));
}

TEST_P(DeviceConformanceTest, RefusesBadCopies) {
  Ref<Buffer> buffer = MakeBuffer({1, 2, 3, 4});
  Ref<Buffer> other = MakeBuffer({1, 2});
  const auto copy = [&](Buffer* source, uint64_t from, Buffer* target,
                        uint64_t to, uint64_t length) {
    return device().QueueCopy({}, source, from, target, to, length).code();
  };
  EXPECT_EQ(copy(buffer.get(), 0, buffer.get(), 4, 8),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(copy(buffer.get(), 0, other.get(), 0, 12),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(copy(other.get(), 4, buffer.get(), 0, 8),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(copy(nullptr, 0, buffer.get(), 0, 8),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(copy(buffer.get(), 0, buffer.get(), 8, 8), absl::StatusCode::kOk);
}

TEST_P(DeviceConformanceTest, RefusesAccessThatABufferDoesNotAllow) {
  auto read_only =
      device().Allocate({hal::kMemoryTypeDeviceLocal,
                         hal::kUsageTransferAndStorage, hal::kAccessRead},
                        16);
  ASSERT_TRUE(read_only.ok());
  EXPECT_EQ(device().QueueFill({}, read_only->get(), 0, 4, 0, 4).code(),
            absl::StatusCode::kPermissionDenied);
  Ref<CommandBuffer> commands = MakeCommandBuffer(1);
  EXPECT_EQ(commands->FillBuffer(Direct(*read_only), 0, 4).code(),
            absl::StatusCode::kPermissionDenied);
  ASSERT_TRUE(commands->FillBuffer(Slot(0), 0, 4).ok());
  ASSERT_TRUE(commands->Finalize().ok());
  EXPECT_EQ(
      device().QueueExecute({}, commands.get(), {Bind(*read_only)}).code(),
      absl::StatusCode::kPermissionDenied);
}

TEST_P(DeviceConformanceTest, ReadsAndWritesFiles) {
  uint8_t bytes[12] = {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0};
  Ref<hal::File> file =
      hal::File::Wrap(nullptr, bytes, sizeof(bytes), hal::kAccessAll);
  Ref<hal::File> constant =
      hal::File::Wrap(nullptr, bytes, sizeof(bytes), hal::kAccessRead);
  Ref<Buffer> buffer = MakeBuffer({0, 0});
  Ref<Fence> read = Fence::Create(), written = Fence::Create();
  ASSERT_TRUE(device()
                  .QueueRead(After(nullptr, read), constant.get(), 4,
                             buffer.get(), 0, 8)
                  .ok());
  ASSERT_TRUE(
      device()
          .QueueWrite(After(read, written), buffer.get(), 4, file.get(), 0, 4)
          .ok());
  ASSERT_TRUE(Wait(written).ok());
  EXPECT_EQ(Read(*buffer), (std::vector<uint32_t>{2, 3}));
  EXPECT_EQ(bytes[0], 3);
  EXPECT_EQ(device().QueueRead({}, file.get(), 8, buffer.get(), 0, 8).code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(
      device().QueueWrite({}, buffer.get(), 0, constant.get(), 0, 4).code(),
      absl::StatusCode::kPermissionDenied);
}

// ---- Fences.

TEST_P(DeviceConformanceTest, FailedWaitSkipsTheWorkAndFailsTheSignal) {
  Ref<Buffer> buffer = MakeBuffer({5});
  Ref<CommandBuffer> commands = MakeAddConstant(1, 1);
  for (bool fails_before : {true, false}) {
    Ref<Fence> wait = Fence::Create();
    std::vector<Ref<Fence>> signals;
    const auto signal = [&] {
      signals.push_back(Fence::Create());
      return signals.back();
    };
    if (fails_before) wait->Fail(absl::DataLossError("lost"));
    ASSERT_TRUE(device()
                    .QueueFill(After(wait, signal()), buffer.get(), 0, 4, 0, 4)
                    .ok());
    ASSERT_TRUE(
        device()
            .QueueExecute(After(wait, signal()), commands.get(), {Bind(buffer)})
            .ok());
    ASSERT_TRUE(device().QueueBarrier(After(wait, signal())).ok());
    ASSERT_TRUE(device().QueueAlloca(After(wait, signal()), {}, 64).ok());
    ASSERT_TRUE(
        device().QueueDealloca(After(wait, signal()), buffer.get()).ok());
    ASSERT_TRUE(device()
                    .QueueHostCall(After(wait, signal()),
                                   [] {
                                     ADD_FAILURE();
                                     return absl::OkStatus();
                                   })
                    .ok());
    if (!fails_before) wait->Fail(absl::DataLossError("lost"));
    for (const Ref<Fence>& fence : signals) {
      EXPECT_EQ(Wait(fence), absl::DataLossError("lost"));
    }
  }
  EXPECT_EQ(Read(*buffer), (std::vector<uint32_t>{5}));
}

TEST_P(DeviceConformanceTest, BarrierWaitsForAllTimelines) {
  Ref<Fence> a = Fence::Create(), b = Fence::Create(), done = Fence::Create();
  Fence* both[] = {a.get(), b.get()};
  Ref<Fence> joined = Fence::Join(both);
  ASSERT_TRUE(device().QueueBarrier(After(joined, done)).ok());
  ASSERT_TRUE(a->Signal().ok());
  EXPECT_FALSE(IsReached(done));
  ASSERT_TRUE(b->Signal().ok());
  EXPECT_TRUE(Wait(done).ok());
}

TEST_P(DeviceConformanceTest, HostCallsRunInOrderAndSignalTheirOutcome) {
  Ref<Fence> a = Fence::Create(), b = Fence::Create(), c = Fence::Create();
  int value = 0;
  ASSERT_TRUE(device()
                  .QueueHostCall(After(b, c),
                                 [&] {
                                   value *= 10;
                                   return absl::NotFoundError("call");
                                 })
                  .ok());
  ASSERT_TRUE(device()
                  .QueueHostCall(After(a, b),
                                 [&] {
                                   value += 4;
                                   return absl::OkStatus();
                                 })
                  .ok());
  EXPECT_EQ(value, 0);
  ASSERT_TRUE(a->Signal().ok());
  EXPECT_EQ(Wait(c), absl::NotFoundError("call"));
  EXPECT_EQ(value, 40);
}

TEST_P(DeviceConformanceTest, LongChainsNeedNoStack) {
  constexpr int kLength = 100'000;
  // Waiting before the first is signaled, so that one signal runs them all.
  Ref<Fence> first = Fence::Create();
  Ref<Fence> last = first;
  Ref<Buffer> buffer = MakeBuffer({0});
  Ref<CommandBuffer> commands = MakeAddConstant(1, 1);
  for (int i = 0; i < kLength; ++i) {
    Ref<Fence> next = Fence::Create();
    const QueueTicket ticket = After(last, next);
    if (i % 2 == 0) {
      ASSERT_TRUE(device().QueueBarrier(ticket).ok());
    } else {
      ASSERT_TRUE(
          device().QueueExecute(ticket, commands.get(), {Bind(buffer)}).ok());
    }
    last = next;
  }
  ASSERT_TRUE(first->Signal().ok());
  ASSERT_TRUE(Wait(last).ok());
  EXPECT_EQ(Read(*buffer)[0], kLength / 2u);
}

TEST_P(DeviceConformanceTest, HostCallsThatSubmitHostCallsNeedNoStack) {
  constexpr int kLength = 100'000;
  int count = 0;
  Ref<Fence> done = Fence::Create();
  std::function<absl::Status()> call = [&]() -> absl::Status {
    if (++count == kLength) return device().QueueBarrier(After(nullptr, done));
    return device().QueueHostCall({}, [&] { return call(); });
  };
  ASSERT_TRUE(device().QueueHostCall({}, [&] { return call(); }).ok());
  ASSERT_TRUE(Wait(done).ok());
  EXPECT_EQ(count, kLength);
}

// ---- Command buffers.

TEST_P(DeviceConformanceTest, DispatchRunsEveryWorkgroupOnce) {
  for (uint32_t count : {1u, 2u, 7u, 64u, 4096u}) {
    std::vector<uint32_t> values(count);
    std::iota(values.begin(), values.end(), 0);
    Ref<Buffer> buffer = MakeBuffer(values);
    Ref<CommandBuffer> commands = MakeAddConstant(count, 1000);
    Ref<Fence> done = Fence::Create();
    ASSERT_TRUE(
        device()
            .QueueExecute(After(nullptr, done), commands.get(), {Bind(buffer)})
            .ok());
    ASSERT_TRUE(Wait(done).ok());
    for (uint32_t& value : values) value += 1000;
    EXPECT_EQ(Read(*buffer), values);
  }
}

TEST_P(DeviceConformanceTest, BarriersOrderRegions) {
  constexpr uint32_t kCount = 333;
  constexpr int kRounds = 20;
  Ref<hal::Executable> executable = backend_->LoadTestExecutable();
  Ref<CommandBuffer> commands = MakeCommandBuffer(2);
  for (int i = 0; i < kRounds; ++i) {
    ASSERT_TRUE(commands
                    ->Dispatch(executable.get(), kAddConstant, {kCount, 1, 1},
                               {1u}, {Slot(0)})
                    .ok());
    ASSERT_TRUE(commands->ExecutionBarrier().ok());
    ASSERT_TRUE(commands
                    ->Dispatch(executable.get(), kAccumulate, {kCount, 1, 1},
                               {}, {Slot(0), Slot(1)})
                    .ok());
    ASSERT_TRUE(commands->ExecutionBarrier().ok());
  }
  ASSERT_TRUE(commands->Finalize().ok());
  Ref<Buffer> source = MakeBuffer(std::vector<uint32_t>(kCount, 0));
  Ref<Buffer> target = MakeBuffer(std::vector<uint32_t>(kCount, 0));
  uint32_t expected = 0;
  uint32_t added = 0;
  Ref<Fence> last;
  for (int run = 0; run < 5; ++run) {
    Ref<Fence> done = Fence::Create();
    ASSERT_TRUE(device()
                    .QueueExecute(After(last, done), commands.get(),
                                  {Bind(source), Bind(target)})
                    .ok());
    for (int i = 0; i < kRounds; ++i) expected = expected * 3 + ++added;
    last = done;
  }
  ASSERT_TRUE(Wait(last).ok());
  EXPECT_EQ(Read(*target), std::vector<uint32_t>(kCount, expected));
}

TEST_P(DeviceConformanceTest, RunsCommandsOfEveryKindInOneBuffer) {
  Ref<hal::Executable> executable = backend_->LoadTestExecutable();
  Ref<Buffer> direct = MakeBuffer({0, 0, 0, 0});
  Ref<Buffer> bound = MakeBuffer(std::vector<uint32_t>(32, 0));
  Ref<CommandBuffer> commands = MakeCommandBuffer(1);
  const uint8_t bytes[] = {4, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
  ASSERT_TRUE(commands->FillBuffer(Slot(0), 2, 4).ok());
  ASSERT_TRUE(commands->UpdateBuffer(bytes, {direct.get(), 0, 4, 12}).ok());
  ASSERT_TRUE(commands->ExecutionBarrier().ok());
  // {4, 1, 1} stands at byte 4 of the direct buffer.
  ASSERT_TRUE(commands
                  ->DispatchIndirect(executable.get(), kAddConstant,
                                     {direct.get(), 0, 4, 12}, {40u}, {Slot(0)})
                  .ok());
  ASSERT_TRUE(commands->ExecutionBarrier().ok());
  ASSERT_TRUE(
      commands->CopyBuffer({nullptr, 0, 0, 8}, {nullptr, 0, 120, 8}).ok());
  ASSERT_TRUE(commands->ExecutionBarrier().ok());
  ASSERT_TRUE(commands->Finalize().ok());
  EXPECT_TRUE(commands->has_direct_mutable_buffers());
  Ref<Fence> done = Fence::Create();
  ASSERT_TRUE(
      device()
          .QueueExecute(After(nullptr, done), commands.get(), {Bind(bound)})
          .ok());
  ASSERT_TRUE(Wait(done).ok());
  std::vector<uint32_t> expected(32, 2);
  for (int i : {0, 1, 2, 3, 30, 31}) expected[i] = 42;
  EXPECT_EQ(Read(*bound), expected);
}

TEST_P(DeviceConformanceTest, BindingsHaveOffsetsOfTheirOwn) {
  Ref<hal::Executable> executable = backend_->LoadTestExecutable();
  Ref<CommandBuffer> commands = MakeCommandBuffer(1);
  ASSERT_TRUE(commands
                  ->Dispatch(executable.get(), kAddConstant, {2, 1, 1}, {7u},
                             {{nullptr, 0, 64, 8}})
                  .ok());
  ASSERT_TRUE(commands->Finalize().ok());
  Ref<Buffer> buffer = MakeBuffer(std::vector<uint32_t>(64, 0));
  auto part = buffer->Subspan(64, hal::kWholeBuffer);
  ASSERT_TRUE(part.ok());
  Ref<Fence> done = Fence::Create();
  const Binding binding{part->get(), 64, 128};
  ASSERT_TRUE(device()
                  .QueueExecute(After(nullptr, done), commands.get(), {binding})
                  .ok());
  ASSERT_TRUE(Wait(done).ok());
  std::vector<uint32_t> expected(64, 0);
  expected[48] = expected[49] = 7;
  EXPECT_EQ(Read(*buffer), expected);
}

TEST_P(DeviceConformanceTest, EmptyGridsAndEmptyBuffersDoNothing) {
  Ref<hal::Executable> executable = backend_->LoadTestExecutable();
  Ref<CommandBuffer> commands = MakeCommandBuffer(0);
  ASSERT_TRUE(
      commands->Dispatch(executable.get(), kFail, {0, 5, 5}, {}, {}).ok());
  ASSERT_TRUE(commands->ExecutionBarrier().ok());
  ASSERT_TRUE(commands->Finalize().ok());
  Ref<CommandBuffer> nothing = MakeCommandBuffer(0);
  ASSERT_TRUE(nothing->Finalize().ok());
  for (const auto& each : {commands, nothing}) {
    Ref<Fence> wait = Fence::Create(), a = Fence::Create(), b = Fence::Create();
    ASSERT_TRUE(device().QueueExecute(After(nullptr, a), each.get(), {}).ok());
    ASSERT_TRUE(device().QueueExecute(After(wait, b), each.get(), {}).ok());
    EXPECT_TRUE(Wait(a).ok());
    ASSERT_TRUE(wait->Signal().ok());
    EXPECT_TRUE(Wait(b).ok());
  }
}

TEST_P(DeviceConformanceTest, SequentialFunctionsRunInOrder) {
  constexpr uint32_t kCount = 100;
  Ref<hal::Executable> executable = backend_->LoadTestExecutable();
  Ref<CommandBuffer> commands = MakeCommandBuffer(1);
  ASSERT_TRUE(commands
                  ->Dispatch(executable.get(), kMarkOrder, {kCount, 1, 1}, {},
                             {Slot(0)})
                  .ok());
  ASSERT_TRUE(commands->Finalize().ok());
  Ref<Buffer> buffer = MakeBuffer(std::vector<uint32_t>(kCount + 1, 0));
  Ref<Fence> done = Fence::Create();
  ASSERT_TRUE(
      device()
          .QueueExecute(After(nullptr, done), commands.get(), {Bind(buffer)})
          .ok());
  ASSERT_TRUE(Wait(done).ok());
  const std::vector<uint32_t> result = Read(*buffer);
  for (uint32_t i = 0; i < kCount; ++i) EXPECT_EQ(result[i + 1], i);
}

TEST_P(DeviceConformanceTest, KernelsFlushDenormalsAndTheCallerDoesNot) {
  Ref<hal::Executable> executable = backend_->LoadTestExecutable();
  Ref<CommandBuffer> commands = MakeCommandBuffer(1);
  ASSERT_TRUE(
      commands->Dispatch(executable.get(), kDenormal, {1, 1, 1}, {}, {Slot(0)})
          .ok());
  ASSERT_TRUE(commands->Finalize().ok());
  Ref<Buffer> buffer = MakeBuffer({0x00010000, 1});  // A denormal.
  Ref<Fence> done = Fence::Create();
  ASSERT_TRUE(
      device()
          .QueueExecute(After(nullptr, done), commands.get(), {Bind(buffer)})
          .ok());
  ASSERT_TRUE(Wait(done).ok());
#if defined(__x86_64__) || defined(__aarch64__)
  EXPECT_EQ(Read(*buffer)[1], 0u);
#endif
  volatile float denormal = 1e-40f;
  volatile float doubled = denormal * 2.0f;
  EXPECT_NE(doubled, 0.0f);
}

TEST_P(DeviceConformanceTest, FailingKernelFailsTheFence) {
  Ref<hal::Executable> executable = backend_->LoadTestExecutable();
  Ref<Buffer> buffer = MakeBuffer(std::vector<uint32_t>(8, 0));
  for (bool waits : {false, true}) {
    Ref<CommandBuffer> commands = MakeCommandBuffer(1);
    ASSERT_TRUE(
        commands->Dispatch(executable.get(), kFail, {100, 1, 1}, {}, {}).ok());
    ASSERT_TRUE(commands->ExecutionBarrier().ok());
    ASSERT_TRUE(commands
                    ->Dispatch(executable.get(), kAddConstant, {8, 1, 1}, {1u},
                               {Slot(0)})
                    .ok());
    ASSERT_TRUE(commands->Finalize().ok());
    Ref<Fence> start = Fence::Create(), done = Fence::Create();
    if (!waits) {
      ASSERT_TRUE(start->Signal().ok());
    }
    ASSERT_TRUE(
        device()
            .QueueExecute(After(start, done), commands.get(), {Bind(buffer)})
            .ok());
    if (waits) {
      ASSERT_TRUE(start->Signal().ok());
    }
    EXPECT_EQ(Wait(done).code(), absl::StatusCode::kInternal);
  }
  EXPECT_EQ(Read(*buffer), std::vector<uint32_t>(8, 0));
}

TEST_P(DeviceConformanceTest, RunsOneCommandBufferManyTimesAtOnce) {
  constexpr uint32_t kCount = 500;
  Ref<CommandBuffer> commands = MakeAddConstant(kCount, 1);
  Ref<Fence> start = Fence::Create();
  std::vector<Ref<Buffer>> buffers;
  std::vector<Ref<Fence>> fences;
  for (uint32_t i = 0; i < 20; ++i) {
    buffers.push_back(MakeBuffer(std::vector<uint32_t>(kCount, i)));
    fences.push_back(Fence::Create());
    ASSERT_TRUE(device()
                    .QueueExecute(After(start, fences.back()), commands.get(),
                                  {Bind(buffers.back())})
                    .ok());
  }
  commands.reset();  // The submissions keep it.
  ASSERT_TRUE(start->Signal().ok());
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    ASSERT_TRUE(Wait(fences[i]).ok());
    EXPECT_EQ(Read(*buffers[i]), std::vector<uint32_t>(kCount, i + 1));
  }
}

TEST_P(DeviceConformanceTest, RefusesBadRecordings) {
  Ref<hal::Executable> executable = backend_->LoadTestExecutable();
  Ref<Buffer> buffer = MakeBuffer({1, 2, 3, 4});
  Ref<CommandBuffer> commands = MakeCommandBuffer(1);
  const auto dispatch = [&](uint64_t function,
                            std::array<uint32_t, 3> workgroups,
                            std::vector<uint32_t> constants,
                            std::vector<BufferRef> bindings) {
    return commands
        ->Dispatch(executable.get(), function, workgroups, constants, bindings)
        .code();
  };
  const std::array<uint32_t, 3> one = {1, 1, 1};
  EXPECT_EQ(dispatch(kAddConstant, one, {}, {Slot(0)}),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(dispatch(kAddConstant, one, {1}, {}),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(dispatch(99, one, {1}, {Slot(0)}),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(dispatch(kAddConstant, {1, 1, 65536}, {1}, {Slot(0)}),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(dispatch(kAddConstant, {1u << 31, 2, 1}, {1}, {Slot(0)}),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(dispatch(kAddConstant, one, {1}, {Slot(1)}),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(dispatch(kAddConstant, one, {1}, {{buffer.get(), 0, 12, 8}}),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(commands->FillBuffer({buffer.get(), 0, 2, 4}, 0, 4).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(commands->FillBuffer({buffer.get(), 0, 0, 4}, 0, 3).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(
      commands->CopyBuffer({buffer.get(), 0, 0, 8}, {buffer.get(), 0, 8, 4})
          .code(),
      absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(commands->Finalize().ok());
  EXPECT_EQ(commands->ExecutionBarrier().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(commands->Finalize().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(dispatch(kAddConstant, one, {1}, {Slot(0)}),
            absl::StatusCode::kFailedPrecondition);
}

TEST_P(DeviceConformanceTest, RefusesBadSubmissions) {
  Ref<Buffer> buffer = MakeBuffer(std::vector<uint32_t>(32, 0));
  Ref<Fence> done = Fence::Create();
  const auto submit = [&](CommandBuffer* commands,
                          std::vector<Binding> bindings) {
    return device()
        .QueueExecute(After(nullptr, done), commands, bindings)
        .code();
  };
  Ref<CommandBuffer> recording = MakeCommandBuffer(0);
  EXPECT_EQ(submit(recording.get(), {}), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(submit(nullptr, {}), absl::StatusCode::kInvalidArgument);
  Ref<CommandBuffer> commands = MakeCommandBuffer(2);
  ASSERT_TRUE(commands->FillBuffer({nullptr, 0, 0, 64}, 0, 4).ok());
  ASSERT_TRUE(commands->Finalize().ok());
  EXPECT_EQ(submit(commands.get(), {Bind(buffer)}),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(submit(commands.get(), {Binding(), Bind(buffer)}),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(submit(commands.get(), {{buffer.get(), 0, 63}, Binding()}),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(submit(commands.get(), {{buffer.get(), 100, 64}, Binding()}),
            absl::StatusCode::kOutOfRange);
  // Kernels need aligned starts.
  Ref<CommandBuffer> add = MakeAddConstant(1, 1);
  auto odd = buffer->Subspan(4, 64);
  ASSERT_TRUE(odd.ok());
  EXPECT_EQ(submit(add.get(), {Bind(*odd)}),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(IsReached(done));
  // An unused entry may be null.
  EXPECT_EQ(submit(commands.get(), {Bind(buffer), Binding()}),
            absl::StatusCode::kOk);
  EXPECT_TRUE(Wait(done).ok());
}

TEST_P(DeviceConformanceTest, OneShotCommandBuffersRunOnce) {
  Ref<Buffer> buffer = MakeBuffer({1});
  Ref<CommandBuffer> commands =
      MakeCommandBuffer(0, hal::kCommandBufferOneShot);
  ASSERT_TRUE(commands->FillBuffer(Direct(buffer), 3, 4).ok());
  ASSERT_TRUE(commands->Finalize().ok());
  Ref<Fence> done = Fence::Create();
  ASSERT_TRUE(
      device().QueueExecute(After(nullptr, done), commands.get(), {}).ok());
  ASSERT_TRUE(Wait(done).ok());
  EXPECT_EQ(device().QueueExecute({}, commands.get(), {}).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(device()
                .CreateCommandBuffer(hal::kCommandBufferAllowInline, 3, 0)
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(device().CreateCommandBuffer(0, 3, size_t{1} << 31).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_P(DeviceConformanceTest, AllocaIsRecordedBeforeItHasMemory) {
  Ref<Fence> start = Fence::Create(), allocated = Fence::Create(),
             filled = Fence::Create(), done = Fence::Create(),
             freed = Fence::Create();
  auto transient = device().QueueAlloca(After(start, allocated), {}, 64);
  ASSERT_TRUE(transient.ok());
  Ref<Buffer> result = MakeBuffer({0, 0});
  Ref<CommandBuffer> commands =
      MakeCommandBuffer(0, hal::kCommandBufferOneShot);
  ASSERT_TRUE(
      commands->CopyBuffer({transient->get(), 0, 0, 8}, {result.get(), 0, 0, 8})
          .ok());
  ASSERT_TRUE(commands->Finalize().ok());
  ASSERT_TRUE(
      device()
          .QueueFill(After(allocated, filled), transient->get(), 0, 64, 6, 4)
          .ok());
  ASSERT_TRUE(
      device().QueueExecute(After(filled, done), commands.get(), {}).ok());
  ASSERT_TRUE(
      device().QueueDealloca(After(done, freed), transient->get()).ok());
  *transient = nullptr;
  commands.reset();
  ASSERT_TRUE(start->Signal().ok());
  ASSERT_TRUE(Wait(freed).ok());
  EXPECT_EQ(Read(*result), (std::vector<uint32_t>{6, 6}));
}

// ---- All kinds together.

// Random operations over a few counters. Each counter is a chain of its own,
// and several threads submit its operations. A sequential run of the chains
// gives the expected result.
TEST_P(DeviceConformanceTest,
       RandomChainsFromSeveralThreadsGiveTheSequentialResult) {
  constexpr int kThreads = 3, kOperations = 400;
  constexpr uint32_t kCount = 70;
  Ref<CommandBuffer> add = MakeAddConstant(kCount, 1);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      Ref<Buffer> buffer = MakeBuffer(std::vector<uint32_t>(kCount, 0));
      Ref<Fence> first = Fence::Create();
      Ref<Fence> last = first;
      uint32_t expected = 0;
      for (int i = 0; i < kOperations; ++i) {
        Ref<Fence> next = Fence::Create();
        switch (random() % 4) {
          case 0:
            expected = i;
            ASSERT_TRUE(device()
                            .QueueFill(After(last, next), buffer.get(), 0,
                                       hal::kWholeBuffer, i, 4)
                            .ok());
            break;
          case 1: {
            Ref<Fence> joined = Fence::Create();
            Fence* both[] = {joined.get(), last.get()};
            Ref<Fence> wait = Fence::Join(both);
            ASSERT_TRUE(device().QueueBarrier(After(wait, next)).ok());
            ASSERT_TRUE(joined->Signal().ok());
            break;
          }
          default:
            ++expected;
            ASSERT_TRUE(
                device()
                    .QueueExecute(After(last, next), add.get(), {Bind(buffer)})
                    .ok());
        }
        last = next;
        if (i == kOperations / 2) {
          ASSERT_TRUE(first->Signal().ok());
        }
      }
      ASSERT_TRUE(Wait(last).ok());
      EXPECT_EQ(Read(*buffer), std::vector<uint32_t>(kCount, expected));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(DeviceConformanceTest, WorkInFlightOutlivesTheOwnerOfTheDevice) {
  Ref<Fence> start = Fence::Create(), done = Fence::Create();
  Ref<Buffer> buffer = MakeBuffer(std::vector<uint32_t>(1000, 1));
  Ref<CommandBuffer> commands = MakeAddConstant(1000, 4);
  ASSERT_TRUE(
      device()
          .QueueExecute(After(start, done), commands.get(), {Bind(buffer)})
          .ok());
  commands.reset();
  backend_->ReleaseDevice();
  ASSERT_TRUE(start->Signal().ok());
  ASSERT_TRUE(done->Wait(INT64_MAX).ok());
  EXPECT_EQ(Read(*buffer), std::vector<uint32_t>(1000, 5));
}

}  // namespace takt::conformance
