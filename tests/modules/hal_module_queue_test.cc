#include "tests/modules/hal_calls.h"
#include "tests/modules/test_code.h"

namespace takt::modules {
namespace {

class HalQueueTest : public HalModuleTest {
 protected:
  void SetUp() override {
    Link("hal_device");
    wait_ = hal::Fence::Create();
    signal_ = hal::Fence::Create();
  }

  // Calls a queue operation between wait_ and signal_.
  template <typename... Args>
  HalCalls::Results Queue(const std::string& import, const Args&... args) {
    return calls_.Call(import, calls_.device_ref(), kAnyQueue, wait_, signal_,
                       args...);
  }
  static bool IsReached(const hal::Fence& fence) {
    bool reached = false;
    EXPECT_TRUE(fence.Query(&reached).ok());
    return reached;
  }
  // Reaches the wait fence; the operation is then to be done.
  absl::Status Release() {
    EXPECT_FALSE(IsReached(*signal_));
    TAKT_RETURN_IF_ERROR(wait_->Signal());
    return signal_->Wait(INT64_MAX);
  }

  Ref<hal::Fence> wait_;
  Ref<hal::Fence> signal_;
};

TEST_F(HalQueueTest, AllocaGivesTheBufferNowAndItsMemoryInTime) {
  auto results = Queue("hal.device.queue.alloca", int64_t{0}, int32_t{48},
                       int32_t{3075}, int64_t{100}, kNoFlags);
  TAKT_ASSERT_OK(results);
  auto* buffer = DynCast<hal::Buffer>((*results)[0].ref());
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(buffer->byte_length(), 100u);
  EXPECT_EQ(buffer->data(), nullptr);
  TAKT_ASSERT_OK(Release());
  EXPECT_NE(buffer->data(), nullptr);
}

TEST_F(HalQueueTest, AllocaKnowsTheDefaultPoolOnly) {
  EXPECT_THAT(Queue("hal.device.queue.alloca", int64_t{1}, int32_t{48},
                    int32_t{3075}, int64_t{100}, kNoFlags),
              FailsWith(kUnimplemented, "hal.device.queue.alloca"));
  EXPECT_FALSE(IsReached(*signal_));
}

TEST_F(HalQueueTest, DeallocaGivesMemoryBackInTime) {
  const auto ready = hal::Fence::Create();
  auto buffer = calls_.device().QueueAlloca({.signal = ready.get()}, {}, 64);
  TAKT_ASSERT_OK(buffer);
  TAKT_ASSERT_OK(ready->Wait(INT64_MAX));
  TAKT_ASSERT_OK(Queue("hal.device.queue.dealloca", *buffer, kNoFlags));
  EXPECT_NE((*buffer)->data(), nullptr);
  TAKT_ASSERT_OK(Release());
  EXPECT_EQ((*buffer)->data(), nullptr);
}

TEST_F(HalQueueTest, FillWritesInTime) {
  const auto target = calls_.BufferOf("01234567");
  TAKT_ASSERT_OK(Queue("hal.device.queue.fill", target, int64_t{2}, int64_t{4},
                       int64_t{0x6261}, int32_t{2}, kNoFlags));
  EXPECT_EQ(HalCalls::TextOf(*target), "01234567");
  TAKT_ASSERT_OK(Release());
  EXPECT_EQ(HalCalls::TextOf(*target), "01abab67");
}

TEST_F(HalQueueTest, FillRejectsPatternsAndRanges) {
  const auto target = calls_.BufferOf("01234567");
  for (int32_t pattern_length : {0, 3, 8}) {
    EXPECT_THAT(Queue("hal.device.queue.fill", target, int64_t{0}, int64_t{8},
                      int64_t{0}, pattern_length, kNoFlags),
                FailsWith(kInvalid, "expected 1, 2 or 4 bytes"));
  }
  EXPECT_FALSE(Queue("hal.device.queue.fill", target, int64_t{0}, int64_t{6},
                     int64_t{0}, int32_t{4}, kNoFlags)
                   .ok());
  EXPECT_THAT(Queue("hal.device.queue.fill", target, int64_t{8}, int64_t{4},
                    int64_t{0}, int32_t{4}, kNoFlags),
              FailsWith(kOutOfRange, "hal.device.queue.fill"));
}

TEST_F(HalQueueTest, UpdateCapturesItsBytesAtSubmission) {
  const auto source = MutableBytes("abcdef");
  const auto target = calls_.BufferOf("......");
  TAKT_ASSERT_OK(Queue("hal.device.queue.update", source, int64_t{1}, target,
                       int64_t{2}, int64_t{3}, kNoFlags));
  source->data()[1] = 'X';
  TAKT_ASSERT_OK(Release());
  EXPECT_EQ(HalCalls::TextOf(*target), "..bcd.");
}

TEST_F(HalQueueTest, UpdateRejectsRanges) {
  const auto source = ConstantBytes("abcdef");
  const auto target = calls_.BufferOf("......");
  EXPECT_THAT(Queue("hal.device.queue.update", source, int64_t{4}, target,
                    int64_t{0}, int64_t{3}, kNoFlags),
              FailsWith(kOutOfRange, "hal.device.queue.update"));
  EXPECT_THAT(Queue("hal.device.queue.update", source, int64_t{0}, target,
                    int64_t{4}, int64_t{3}, kNoFlags),
              FailsWith(kOutOfRange, ""));
}

TEST_F(HalQueueTest, CopyMovesBytesInTime) {
  const auto source = calls_.BufferOf("abcdef");
  const auto target = calls_.BufferOf("......");
  TAKT_ASSERT_OK(Queue("hal.device.queue.copy", source, int64_t{1}, target,
                       int64_t{3}, int64_t{2}, kNoFlags));
  source->data()[1] = 'X';
  TAKT_ASSERT_OK(Release());
  EXPECT_EQ(HalCalls::TextOf(*target), "...Xc.");
}

TEST_F(HalQueueTest, CopyRejectsRangesAndNull) {
  const auto source = calls_.BufferOf("abcdef");
  const auto target = calls_.BufferOf("......");
  EXPECT_THAT(Queue("hal.device.queue.copy", source, int64_t{5}, target,
                    int64_t{0}, int64_t{2}, kNoFlags),
              FailsWith(kOutOfRange, "hal.device.queue.copy"));
  EXPECT_THAT(Queue("hal.device.queue.copy", nullptr, int64_t{0}, target,
                    int64_t{0}, int64_t{2}, kNoFlags),
              FailsWith(kInvalid, "hal.buffer"));
}

TEST_F(HalQueueTest, ReadFillsABufferFromAFile) {
  const auto target = calls_.BufferOf("......");
  TAKT_ASSERT_OK(Queue("hal.device.queue.read", FileOf("abcdef"), int64_t{2},
                       target, int64_t{1}, int64_t{3}, kNoFlags));
  TAKT_ASSERT_OK(Release());
  EXPECT_EQ(HalCalls::TextOf(*target), ".cde..");
}

TEST_F(HalQueueTest, ReadRejectsRangesAndAccess) {
  const auto target = calls_.BufferOf("......");
  EXPECT_THAT(Queue("hal.device.queue.read", FileOf("abcdef"), int64_t{4},
                    target, int64_t{0}, int64_t{3}, kNoFlags),
              FailsWith(kOutOfRange, "hal.device.queue.read"));
  EXPECT_THAT(
      Queue("hal.device.queue.read", FileOf("abcdef", hal::kAccessWrite),
            int64_t{0}, target, int64_t{0}, int64_t{3}, kNoFlags),
      FailsWith(kDenied, ""));
}

TEST_F(HalQueueTest, WriteFillsAFileFromABuffer) {
  const auto file = FileOf("abcdef", hal::kAccessAll);
  TAKT_ASSERT_OK(Queue("hal.device.queue.write", calls_.BufferOf("0123"),
                       int64_t{1}, file, int64_t{2}, int64_t{3}, kNoFlags));
  TAKT_ASSERT_OK(Release());
  EXPECT_EQ(std::string(reinterpret_cast<char*>(file->data()), 6), "ab123f");
}

TEST_F(HalQueueTest, WriteRejectsRangesAndAccess) {
  const auto source = calls_.BufferOf("0123");
  EXPECT_THAT(
      Queue("hal.device.queue.write", source, int64_t{0},
            FileOf("ab", hal::kAccessAll), int64_t{0}, int64_t{3}, kNoFlags),
      FailsWith(kOutOfRange, "hal.device.queue.write"));
  EXPECT_THAT(Queue("hal.device.queue.write", source, int64_t{0},
                    FileOf("abcdef"), int64_t{0}, int64_t{3}, kNoFlags),
              FailsWith(kDenied, ""));
}

TEST_F(HalQueueTest, BarrierHandsTheWaitOn) {
  TAKT_ASSERT_OK(Queue("hal.device.queue.barrier", kNoFlags));
  TAKT_ASSERT_OK(Release());
}

TEST_F(HalQueueTest, AFailedWaitFailsTheSignal) {
  const auto target = calls_.BufferOf("01234567");
  TAKT_ASSERT_OK(Queue("hal.device.queue.fill", target, int64_t{0}, int64_t{8},
                       int64_t{0}, int32_t{1}, kNoFlags));
  wait_->Fail(absl::DataLossError("the first cause"));
  EXPECT_THAT(signal_->Wait(INT64_MAX),
              FailsWith(absl::StatusCode::kDataLoss, "the first cause"));
  EXPECT_EQ(HalCalls::TextOf(*target), "01234567");
}

TEST_F(HalQueueTest, NullFencesNeitherWaitNorSignal) {
  const auto target = calls_.BufferOf("01");
  TAKT_ASSERT_OK(calls_.Call("hal.device.queue.fill", calls_.device_ref(),
                             kAnyQueue, nullptr, nullptr, target, int64_t{0},
                             int64_t{2}, int64_t{'x'}, int32_t{1}, kNoFlags));
  EXPECT_EQ(HalCalls::TextOf(*target), "xx");
}

TEST_F(HalQueueTest, ExecuteRunsACommandBuffer) {
  auto recorded = calls_.device().CreateCommandBuffer(1, 3, 0);
  TAKT_ASSERT_OK(recorded);
  const auto target = calls_.BufferOf("0123");
  TAKT_ASSERT_OK((*recorded)->FillBuffer({target.get(), 0, 0, 4}, 'x', 1));
  TAKT_ASSERT_OK((*recorded)->Finalize());
  TAKT_ASSERT_OK(Queue("hal.device.queue.execute", *recorded, kNoFlags));
  EXPECT_EQ(HalCalls::TextOf(*target), "0123");
  TAKT_ASSERT_OK(Release());
  EXPECT_EQ(HalCalls::TextOf(*target), "xxxx");
}

TEST_F(HalQueueTest, ExecuteNeedsAFinalizedCommandBuffer) {
  auto open = calls_.device().CreateCommandBuffer(0, 3, 0);
  TAKT_ASSERT_OK(open);
  EXPECT_FALSE(Queue("hal.device.queue.execute", *open, kNoFlags).ok());
  EXPECT_THAT(Queue("hal.device.queue.execute", nullptr, kNoFlags),
              FailsWith(kInvalid, "hal.command_buffer"));
  auto indirect = calls_.device().CreateCommandBuffer(0, 3, 2);
  TAKT_ASSERT_OK(indirect);
  TAKT_ASSERT_OK((*indirect)->FillBuffer({nullptr, 1, 0, 4}, 0, 1));
  TAKT_ASSERT_OK((*indirect)->Finalize());
  EXPECT_FALSE(Queue("hal.device.queue.execute", *indirect, kNoFlags).ok());
  EXPECT_FALSE(IsReached(*signal_));
}

TEST_F(HalQueueTest, ExecuteIndirectResolvesSlots) {
  auto recorded = calls_.device().CreateCommandBuffer(0, 3, 3);
  TAKT_ASSERT_OK(recorded);
  const auto executable = TestCode::Load();
  const hal::BufferRef refs[] = {
      {nullptr, 0, 0, 16}, {nullptr, 1, 0, 16}, {nullptr, 2, 0, 16}};
  TAKT_ASSERT_OK((*recorded)->Dispatch(executable.get(), TestCode::kSum,
                                       {4, 1, 1}, {}, refs));
  TAKT_ASSERT_OK((*recorded)->Finalize());
  const auto a = calls_.BufferOfValues<uint32_t>({1, 2, 3, 4});
  // The second operand is the second half of a buffer.
  std::vector<uint32_t> halves(32, 7);
  const auto b = calls_.BufferOfValues<uint32_t>(halves);
  const auto c = calls_.BufferOfValues<uint32_t>({0, 0, 0, 0});
  TAKT_ASSERT_OK(Queue("hal.device.queue.execute.indirect/3", *recorded,
                       kNoFlags, a, int64_t{0}, int64_t{16}, b, int64_t{64},
                       int64_t{-1}, c, int64_t{0}, int64_t{16}));
  TAKT_ASSERT_OK(Release());
  EXPECT_EQ(HalCalls::TextOf(*c), BytesOfValues<uint32_t>({8, 9, 10, 11}));
}

TEST_F(HalQueueTest, ExecuteIndirectNeedsEveryUsedSlot) {
  auto recorded = calls_.device().CreateCommandBuffer(0, 3, 3);
  TAKT_ASSERT_OK(recorded);
  TAKT_ASSERT_OK((*recorded)->FillBuffer({nullptr, 2, 0, 4}, 0, 1));
  TAKT_ASSERT_OK((*recorded)->Finalize());
  const auto buffer = calls_.BufferOf("0123");
  EXPECT_THAT(Queue("hal.device.queue.execute.indirect/1", *recorded, kNoFlags,
                    buffer, int64_t{0}, int64_t{4}),
              FailsWith(kOutOfRange, "hal.device.queue.execute.indirect"));
  EXPECT_FALSE(
      Queue("hal.device.queue.execute.indirect/0", *recorded, kNoFlags).ok());
  // A used slot must have a buffer, an unused one need not.
  EXPECT_FALSE(Queue("hal.device.queue.execute.indirect/3", *recorded, kNoFlags,
                     buffer, int64_t{0}, int64_t{4}, buffer, int64_t{0},
                     int64_t{4}, nullptr, int64_t{0}, int64_t{0})
                   .ok());
  EXPECT_FALSE(IsReached(*signal_));
  TAKT_ASSERT_OK(Queue("hal.device.queue.execute.indirect/3", *recorded,
                       kNoFlags, nullptr, int64_t{0}, int64_t{0}, nullptr,
                       int64_t{0}, int64_t{0}, buffer, int64_t{0}, int64_t{4}));
  TAKT_ASSERT_OK(Release());
}

TEST_F(HalQueueTest, FlushDoesNoHarm) {
  TAKT_ASSERT_OK(
      calls_.Call("hal.device.queue.flush", calls_.device_ref(), kAnyQueue));
  EXPECT_THAT(calls_.Call("hal.device.queue.flush", nullptr, kAnyQueue),
              FailsWith(kInvalid, "hal.device"));
}

TEST_F(HalQueueTest, FencesMustBeFences) {
  EXPECT_THAT(
      calls_.Call("hal.device.queue.barrier", calls_.device_ref(), kAnyQueue,
                  calls_.device_ref(), nullptr, kNoFlags),
      FailsWith(kInvalid, "operand 2: expected hal.fence, got hal.device"));
}

}  // namespace
}  // namespace takt::modules
