#include "tests/modules/hal_calls.h"
#include "tests/modules/test_code.h"

namespace takt::modules {
namespace {

constexpr int32_t kReusable = 0;
constexpr int32_t kOneShot = 1;
constexpr int32_t kInline = 0x10;
constexpr int32_t kAnyCategory = 3;
constexpr int32_t kReserved = 0;

using CommandBufferRef = Ref<hal::CommandBuffer>;

class HalCommandBufferTest : public HalModuleTest {
 protected:
  void SetUp() override { Link("hal_command_buffer"); }

  CommandBufferRef Create(int32_t capacity = 0) {
    auto command_buffer = calls_.CallRef<hal::CommandBuffer>(
        "hal.command_buffer.create", calls_.device_ref(), kReusable,
        kAnyCategory, kAnyQueue, capacity);
    EXPECT_TRUE(command_buffer.ok()) << command_buffer.status();
    return *std::move(command_buffer);
  }

  absl::Status Barrier(const CommandBufferRef& command_buffer) {
    return calls_
        .Call("hal.command_buffer.execution_barrier", command_buffer,
              int32_t{28}, int32_t{13}, kNoFlags)
        .status();
  }

  // Ends the recording and runs it.
  absl::Status Run(const CommandBufferRef& command_buffer,
                   absl::Span<const hal::Binding> bindings = {}) {
    TAKT_RETURN_IF_ERROR(
        calls_.Call("hal.command_buffer.finalize", command_buffer).status());
    const auto done = hal::Fence::Create();
    TAKT_RETURN_IF_ERROR(calls_.device().QueueExecute(
        {.signal = done.get()}, command_buffer.get(), bindings));
    return done->Wait(INT64_MAX);
  }

  static std::vector<uint32_t> ValuesOf(const hal::Buffer& buffer) {
    const auto* values = reinterpret_cast<const uint32_t*>(buffer.data());
    return {values, values + buffer.byte_length() / 4};
  }
};

TEST_F(HalCommandBufferTest, CreateHandsOnModesAndCapacity) {
  auto created = calls_.CallRef<hal::CommandBuffer>(
      "hal.command_buffer.create", calls_.device_ref(), kOneShot, kAnyCategory,
      kAnyQueue, int32_t{3});
  TAKT_ASSERT_OK(created);
  EXPECT_TRUE((*created)->one_shot());
  EXPECT_EQ((*created)->binding_capacity(), 3u);
  EXPECT_FALSE((*created)->finalized());
}

TEST_F(HalCommandBufferTest, CreateRejectsInlineExecutionOfReusableOnes) {
  EXPECT_THAT(calls_.Call("hal.command_buffer.create", calls_.device_ref(),
                          kInline, kAnyCategory, kAnyQueue, int32_t{0}),
              FailsWith(kInvalid, "hal.command_buffer.create"));
  EXPECT_THAT(
      calls_.Call("hal.command_buffer.create", calls_.device_ref(),
                  kInline | kOneShot, kAnyCategory, kAnyQueue, int32_t{1}),
      FailsWith(kInvalid, "expected 0 with inline execution, got 1"));
  TAKT_ASSERT_OK(calls_.Call("hal.command_buffer.create", calls_.device_ref(),
                             kInline | kOneShot, kAnyCategory, kAnyQueue,
                             int32_t{0}));
}

TEST_F(HalCommandBufferTest, FinalizeEndsTheRecording) {
  const auto command_buffer = Create();
  const auto target = calls_.BufferOf("0123");
  TAKT_ASSERT_OK(calls_.Call("hal.command_buffer.finalize", command_buffer));
  EXPECT_TRUE(command_buffer->finalized());
  EXPECT_THAT(Barrier(command_buffer),
              FailsWith(kPrecondition, "hal.command_buffer.execution_barrier"));
  EXPECT_THAT(calls_.Call("hal.command_buffer.fill_buffer", command_buffer,
                          target, int64_t{0}, int64_t{4}, int32_t{0},
                          int64_t{0}, int32_t{4}, kNoFlags),
              FailsWith(kPrecondition, ""));
  EXPECT_THAT(calls_.Call("hal.command_buffer.finalize", command_buffer),
              FailsWith(kPrecondition, ""));
}

TEST_F(HalCommandBufferTest, FillWritesThePattern) {
  const auto command_buffer = Create();
  const auto target = calls_.BufferOf("................");
  auto fill = [&](int64_t offset, int64_t length, int64_t pattern,
                  int32_t pattern_length) {
    return calls_.Call("hal.command_buffer.fill_buffer", command_buffer, target,
                       offset, length, int32_t{0}, pattern, pattern_length,
                       kNoFlags);
  };
  TAKT_ASSERT_OK(fill(1, 2, 0x7761, 1));  // Only the low byte counts.
  TAKT_ASSERT_OK(fill(4, 4, 0x6362, 2));
  TAKT_ASSERT_OK(fill(8, 4, 0x67666564, 4));
  TAKT_ASSERT_OK(fill(12, 0, 0, 4));
  TAKT_ASSERT_OK(Barrier(command_buffer));
  TAKT_ASSERT_OK(Run(command_buffer));
  EXPECT_EQ(HalCalls::TextOf(*target), ".aa.bcbcdefg....");
}

TEST_F(HalCommandBufferTest, FillTakesItsTargetBySlot) {
  const auto command_buffer = Create(2);
  TAKT_ASSERT_OK(calls_.Call("hal.command_buffer.fill_buffer", command_buffer,
                             nullptr, int64_t{1}, int64_t{2}, int32_t{1},
                             int64_t{'x'}, int32_t{1}, kNoFlags));
  const auto target = calls_.BufferOf("01234567");
  const hal::Binding bindings[] = {{}, {target.get(), 4, 4}};
  TAKT_ASSERT_OK(Run(command_buffer, bindings));
  EXPECT_EQ(HalCalls::TextOf(*target), "01234xx7");
}

TEST_F(HalCommandBufferTest, FillRejectsPatternsAndRanges) {
  const auto command_buffer = Create();
  const auto target = calls_.BufferOf("01234567");
  auto fill = [&](int64_t offset, int64_t length, int32_t pattern_length) {
    return calls_.Call("hal.command_buffer.fill_buffer", command_buffer, target,
                       offset, length, int32_t{0}, int64_t{0}, pattern_length,
                       kNoFlags);
  };
  for (int32_t pattern_length : {0, 3, 8, -1}) {
    EXPECT_THAT(fill(0, 8, pattern_length),
                FailsWith(kInvalid, "expected 1, 2 or 4 bytes"));
  }
  EXPECT_FALSE(fill(0, 6, 4).ok());
  EXPECT_FALSE(fill(2, 4, 4).ok());
  EXPECT_THAT(fill(4, 8, 4), FailsWith(kOutOfRange, ""));
  EXPECT_THAT(fill(-4, 8, 4), FailsWith(kOutOfRange, ""));
}

TEST_F(HalCommandBufferTest, CopyMovesBytes) {
  const auto command_buffer = Create(2);
  const auto source = calls_.BufferOf("abcdef");
  const auto target = calls_.BufferOf("......");
  // Direct to direct, then slot to slot.
  TAKT_ASSERT_OK(calls_.Call("hal.command_buffer.copy_buffer", command_buffer,
                             int32_t{0}, int32_t{0}, source, int64_t{1}, target,
                             int64_t{0}, int64_t{3}, kNoFlags));
  TAKT_ASSERT_OK(Barrier(command_buffer));
  TAKT_ASSERT_OK(calls_.Call("hal.command_buffer.copy_buffer", command_buffer,
                             int32_t{0}, int32_t{1}, nullptr, int64_t{0},
                             nullptr, int64_t{1}, int64_t{2}, kNoFlags));
  const auto second = calls_.BufferOf("------");
  const hal::Binding bindings[] = {{target.get(), 1, 5}, {second.get(), 2, 4}};
  TAKT_ASSERT_OK(Run(command_buffer, bindings));
  EXPECT_EQ(HalCalls::TextOf(*target), "bcd...");
  EXPECT_EQ(HalCalls::TextOf(*second), "---cd-");
}

TEST_F(HalCommandBufferTest, CopyRejectsRangesAndOverlap) {
  const auto command_buffer = Create();
  const auto source = calls_.BufferOf("abcdef");
  const auto target = calls_.BufferOf("......");
  auto copy = [&](int64_t source_offset, const Ref<hal::Buffer>& to,
                  int64_t target_offset, int64_t length) {
    return calls_.Call("hal.command_buffer.copy_buffer", command_buffer,
                       int32_t{0}, int32_t{0}, source, source_offset, to,
                       target_offset, length, kNoFlags);
  };
  EXPECT_THAT(copy(4, target, 0, 3), FailsWith(kOutOfRange, ""));
  EXPECT_THAT(copy(0, target, 4, 3), FailsWith(kOutOfRange, ""));
  TAKT_ASSERT_OK(copy(0, source, 3, 3));
  TAKT_ASSERT_OK(copy(0, source, 2, 4));  // Overlaps, which execution sees.
  EXPECT_THAT(Run(command_buffer), FailsWith(kInvalid, "overlaps"));
}

TEST_F(HalCommandBufferTest, UpdateCapturesItsBytesWhenRecorded) {
  const auto command_buffer = Create();
  const auto source = MutableBytes("abcdef");
  const auto target = calls_.BufferOf("......");
  TAKT_ASSERT_OK(calls_.Call("hal.command_buffer.update_buffer", command_buffer,
                             source, int64_t{1}, target, int64_t{2}, int64_t{3},
                             int32_t{0}, kNoFlags));
  source->data()[1] = 'X';
  TAKT_ASSERT_OK(Run(command_buffer));
  EXPECT_EQ(HalCalls::TextOf(*target), "..bcd.");
}

TEST_F(HalCommandBufferTest, UpdateRejectsRanges) {
  const auto command_buffer = Create();
  const auto source = ConstantBytes("abcdef");
  const auto target = calls_.BufferOf("......");
  auto update = [&](int64_t source_offset, int64_t target_offset,
                    int64_t length) {
    return calls_.Call("hal.command_buffer.update_buffer", command_buffer,
                       source, source_offset, target, target_offset, length,
                       int32_t{0}, kNoFlags);
  };
  EXPECT_THAT(update(4, 0, 3), FailsWith(kOutOfRange, "its 6 bytes, got 3"));
  EXPECT_THAT(update(-1, 0, 3), FailsWith(kOutOfRange, ""));
  EXPECT_THAT(update(0, 4, 3), FailsWith(kOutOfRange, ""));
}

TEST_F(HalCommandBufferTest, DispatchRunsDirectBindings) {
  const auto command_buffer = Create();
  const auto a = calls_.BufferOfValues<uint32_t>({1, 2, 3, 4});
  const auto b = calls_.BufferOfValues<uint32_t>({10, 20, 30, 40});
  const auto c = calls_.BufferOfValues<uint32_t>({0, 0, 0, 0});
  TAKT_ASSERT_OK(calls_.Call("hal.command_buffer.dispatch/0/3", command_buffer,
                             TestCode::Load(), TestCode::kSum, int32_t{3},
                             int32_t{1}, int32_t{1}, kNoFlags, kReserved,
                             int32_t{0}, a, int64_t{0}, int64_t{16}, kReserved,
                             int32_t{0}, b, int64_t{0}, int64_t{-1}, kReserved,
                             int32_t{0}, c, int64_t{0}, int64_t{16}));
  TAKT_ASSERT_OK(Run(command_buffer));
  EXPECT_THAT(ValuesOf(*c), testing::ElementsAre(11, 22, 33, 0));
}

TEST_F(HalCommandBufferTest, DispatchRunsMixedBindings) {
  const auto command_buffer = Create(2);
  const auto a = calls_.BufferOfValues<uint32_t>({1, 2, 3, 4});
  TAKT_ASSERT_OK(calls_.Call(
      "hal.command_buffer.dispatch/0/3", command_buffer, TestCode::Load(),
      TestCode::kSum, int32_t{4}, int32_t{1}, int32_t{1}, kNoFlags, kReserved,
      int32_t{0}, a, int64_t{0}, int64_t{16}, kReserved, int32_t{1}, nullptr,
      int64_t{0}, int64_t{16}, kReserved, int32_t{0}, nullptr, int64_t{0},
      int64_t{16}));
  const auto b = calls_.BufferOfValues<uint32_t>({5, 6, 7, 8});
  const auto c = calls_.BufferOfValues<uint32_t>({0, 0, 0, 0});
  const hal::Binding bindings[] = {{c.get(), 0, 16}, {b.get(), 0, 16}};
  TAKT_ASSERT_OK(Run(command_buffer, bindings));
  EXPECT_THAT(ValuesOf(*c), testing::ElementsAre(6, 8, 10, 12));
}

TEST_F(HalCommandBufferTest, DispatchRejectsWhatTheFunctionDoesNotDeclare) {
  const auto command_buffer = Create();
  const auto executable = TestCode::Load();
  const auto a = calls_.BufferOfValues<uint32_t>({1, 2, 3, 4});
  EXPECT_THAT(
      calls_.Call("hal.command_buffer.dispatch/0/0", command_buffer, executable,
                  TestCode::kSum, int32_t{1}, int32_t{1}, int32_t{1}, kNoFlags),
      FailsWith(kInvalid, "hal.command_buffer.dispatch"));
  EXPECT_THAT(calls_.Call("hal.command_buffer.dispatch/1/1", command_buffer,
                          executable, TestCode::kAdd, int32_t{1}, int32_t{1},
                          int32_t{1}, kNoFlags, int32_t{7}, kReserved,
                          int32_t{0}, a, int64_t{0}, int64_t{16}),
              FailsWith(kInvalid, "constant"));
  EXPECT_FALSE(calls_
                   .Call("hal.command_buffer.dispatch/0/0", command_buffer,
                         executable, uint64_t{2}, int32_t{1}, int32_t{1},
                         int32_t{1}, kNoFlags)
                   .ok());
  EXPECT_THAT(
      calls_.Call("hal.command_buffer.dispatch/0/0", command_buffer, nullptr,
                  uint64_t{0}, int32_t{1}, int32_t{1}, int32_t{1}, kNoFlags),
      FailsWith(kInvalid, "hal.executable"));
}

TEST_F(HalCommandBufferTest, DispatchTakesAtMost32BindingsAnd64Constants) {
  const auto command_buffer = Create();
  std::vector<vm::Value> fixed = {
      ToValue(command_buffer), ToValue(TestCode::Load()),
      ToValue(TestCode::kSum), ToValue(int32_t{1}),
      ToValue(int32_t{1}),     ToValue(int32_t{1}),
      ToValue(kNoFlags)};
  std::vector<vm::Value> bindings = fixed;
  for (int i = 0; i < 33; ++i) {
    bindings.push_back(ToValue(kReserved));
    bindings.push_back(ToValue(int32_t{0}));
    bindings.push_back(ToValue(nullptr));
    bindings.push_back(ToValue(int64_t{0}));
    bindings.push_back(ToValue(int64_t{0}));
  }
  EXPECT_THAT(calls_.CallValues("hal.command_buffer.dispatch/0/33", bindings),
              FailsWith(kOutOfRange, "at most 32, got 33"));
  std::vector<vm::Value> constants = fixed;
  for (int i = 0; i < 65; ++i) constants.push_back(ToValue(int32_t{i}));
  EXPECT_THAT(calls_.CallValues("hal.command_buffer.dispatch/65/0", constants),
              FailsWith(kInvalid, "at most 64, got 65"));
}

TEST_F(HalCommandBufferTest, IndirectDispatchReadsItsCountsWhenItRuns) {
  const auto command_buffer = Create(1);
  const auto a = calls_.BufferOfValues<uint32_t>({1, 2, 3, 4});
  const auto b = calls_.BufferOfValues<uint32_t>({10, 20, 30, 40});
  const auto c = calls_.BufferOfValues<uint32_t>({0, 0, 0, 0});
  auto dispatch = [&](int32_t slot, const Ref<hal::Buffer>& counts,
                      int64_t offset) {
    return calls_.Call("hal.command_buffer.dispatch.indirect/0/3",
                       command_buffer, TestCode::Load(), TestCode::kSum, slot,
                       counts, offset, kNoFlags, kReserved, int32_t{0}, a,
                       int64_t{0}, int64_t{16}, kReserved, int32_t{0}, b,
                       int64_t{0}, int64_t{16}, kReserved, int32_t{0}, c,
                       int64_t{0}, int64_t{16});
  };
  const auto counts = calls_.BufferOfValues<uint32_t>({9, 4, 1, 1});
  TAKT_ASSERT_OK(dispatch(0, nullptr, 4));
  // A count beyond the buffer is found when it is recorded.
  EXPECT_THAT(dispatch(0, counts, 8), FailsWith(kOutOfRange, ""));
  reinterpret_cast<uint32_t*>(counts->data())[1] = 2;
  const hal::Binding bindings[] = {{counts.get(), 0, 16}};
  TAKT_ASSERT_OK(Run(command_buffer, bindings));
  EXPECT_THAT(ValuesOf(*c), testing::ElementsAre(11, 22, 0, 0));
}

TEST_F(HalCommandBufferTest, IndirectDispatchTakesAtMost32Bindings) {
  std::vector<vm::Value> arguments = {
      ToValue(Create()),   ToValue(TestCode::Load()), ToValue(TestCode::kSum),
      ToValue(int32_t{0}), ToValue(nullptr),          ToValue(int64_t{0}),
      ToValue(kNoFlags)};
  for (int i = 0; i < 33; ++i) {
    arguments.push_back(ToValue(kReserved));
    arguments.push_back(ToValue(int32_t{0}));
    arguments.push_back(ToValue(nullptr));
    arguments.push_back(ToValue(int64_t{0}));
    arguments.push_back(ToValue(int64_t{0}));
  }
  EXPECT_THAT(
      calls_.CallValues("hal.command_buffer.dispatch.indirect/0/33", arguments),
      FailsWith(kOutOfRange, "at most 32, got 33"));
}

// The form that iree-compile 3.8 to 3.11 import: an i32 that is the position
// among the executable's exports. kAdd and kSum have such positions.
class HalDispatchOrdinalTest : public HalCommandBufferTest {
 protected:
  void SetUp() override { Link("hal_dispatch_ordinal"); }

  CommandBufferRef CreateDirectly(uint32_t capacity = 0) {
    auto command_buffer =
        calls_.device().CreateCommandBuffer(kReusable, kAnyCategory, capacity);
    EXPECT_TRUE(command_buffer.ok()) << command_buffer.status();
    return *std::move(command_buffer);
  }
  absl::Status RunDirectly(const CommandBufferRef& command_buffer,
                           absl::Span<const hal::Binding> bindings = {}) {
    TAKT_RETURN_IF_ERROR(command_buffer->Finalize());
    const auto done = hal::Fence::Create();
    TAKT_RETURN_IF_ERROR(calls_.device().QueueExecute(
        {.signal = done.get()}, command_buffer.get(), bindings));
    return done->Wait(INT64_MAX);
  }

  const Ref<hal::Buffer> a_ = calls_.BufferOfValues<uint32_t>({1, 2, 3, 4});
  const Ref<hal::Buffer> b_ = calls_.BufferOfValues<uint32_t>({10, 20, 30, 40});
  const Ref<hal::Buffer> c_ = calls_.BufferOfValues<uint32_t>({0, 0, 0, 0});
};

TEST_F(HalDispatchOrdinalTest, DispatchRunsTheFunctionAtThePosition) {
  const auto command_buffer = CreateDirectly();
  const auto dispatch = [&](int32_t ordinal) {
    return calls_
        .Call("hal.command_buffer.dispatch/0/3", command_buffer,
              TestCode::Load(), ordinal, int32_t{3}, int32_t{1}, int32_t{1},
              kNoFlags, kReserved, int32_t{0}, a_, int64_t{0}, int64_t{16},
              kReserved, int32_t{0}, b_, int64_t{0}, int64_t{-1}, kReserved,
              int32_t{0}, c_, int64_t{0}, int64_t{16})
        .status();
  };
  TAKT_ASSERT_OK(dispatch(1));  // kSum
  EXPECT_THAT(dispatch(0), FailsWith(kInvalid, "hal.command_buffer.dispatch"));
  EXPECT_FALSE(dispatch(2).ok());
  EXPECT_FALSE(dispatch(-1).ok());
  TAKT_ASSERT_OK(RunDirectly(command_buffer));
  EXPECT_THAT(ValuesOf(*c_), testing::ElementsAre(11, 22, 33, 0));
}

TEST_F(HalDispatchOrdinalTest, IndirectDispatchRunsTheFunctionAtThePosition) {
  const auto command_buffer = CreateDirectly(1);
  const auto counts = calls_.BufferOfValues<uint32_t>({2, 1, 1});
  const auto dispatch = [&](int32_t ordinal) {
    return calls_
        .Call("hal.command_buffer.dispatch.indirect/0/3", command_buffer,
              TestCode::Load(), ordinal, int32_t{0}, nullptr, int64_t{0},
              kNoFlags, kReserved, int32_t{0}, a_, int64_t{0}, int64_t{16},
              kReserved, int32_t{0}, b_, int64_t{0}, int64_t{16}, kReserved,
              int32_t{0}, c_, int64_t{0}, int64_t{16})
        .status();
  };
  TAKT_ASSERT_OK(dispatch(1));
  EXPECT_FALSE(dispatch(-1).ok());
  const hal::Binding bindings[] = {{counts.get(), 0, 12}};
  TAKT_ASSERT_OK(RunDirectly(command_buffer, bindings));
  EXPECT_THAT(ValuesOf(*c_), testing::ElementsAre(11, 22, 0, 0));
}

TEST_F(HalCommandBufferTest, FlushesAndInvalidatesKeepTheirRanges) {
  const auto target = calls_.BufferOf("0123");
  const auto command_buffer = Create(1);
  const int32_t kSlot = 0;
  for (const char* name : {"hal.command_buffer.flush_buffer",
                           "hal.command_buffer.invalidate_buffer"}) {
    TAKT_ASSERT_OK(calls_.Call(name, command_buffer, kSlot, target, int64_t{1},
                               int64_t{3}));
    TAKT_ASSERT_OK(calls_.Call(name, command_buffer, kSlot, nullptr, int64_t{2},
                               int64_t{2}));
    EXPECT_THAT(calls_.Call(name, command_buffer, kSlot, target, int64_t{2},
                            int64_t{3}),
                FailsWith(kOutOfRange, name));
    EXPECT_THAT(calls_.Call(name, command_buffer, int32_t{1}, nullptr,
                            int64_t{0}, int64_t{1}),
                FailsWith(kOutOfRange, "slot 1"));
  }
  const hal::Binding binding = {target.get(), 0, 4};
  TAKT_ASSERT_OK(Run(command_buffer, {&binding, 1}));
  EXPECT_EQ(HalCalls::TextOf(*target), "0123");
}

TEST_F(HalCommandBufferTest, HintsAndDebugGroupsChangeNothing) {
  const auto command_buffer = Create();
  const auto target = calls_.BufferOf("01");
  TAKT_ASSERT_OK(calls_.Call("hal.command_buffer.begin_debug_group",
                             command_buffer, "label"));
  TAKT_ASSERT_OK(calls_.Call("hal.command_buffer.advise_buffer", command_buffer,
                             target, int64_t{1}, int64_t{2}, int64_t{3},
                             int32_t{0}));
  TAKT_ASSERT_OK(
      calls_.Call("hal.command_buffer.end_debug_group", command_buffer));
  TAKT_ASSERT_OK(Run(command_buffer));
  EXPECT_EQ(HalCalls::TextOf(*target), "01");
}

TEST_F(HalCommandBufferTest, EveryCallNeedsACommandBuffer) {
  EXPECT_THAT(calls_.Call("hal.command_buffer.finalize", nullptr),
              FailsWith(kInvalid, "hal.command_buffer.finalize"));
  EXPECT_THAT(Barrier(nullptr), FailsWith(kInvalid, "hal.command_buffer"));
  EXPECT_THAT(
      calls_.Call("hal.command_buffer.end_debug_group", calls_.device_ref()),
      FailsWith(kInvalid, "got hal.device"));
}

}  // namespace
}  // namespace takt::modules
