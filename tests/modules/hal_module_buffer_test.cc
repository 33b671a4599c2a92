#include "tests/modules/hal_calls.h"

namespace takt::modules {
namespace {

constexpr int32_t kTransferAndStorage = 3075;
class HalBufferTest : public HalModuleTest {
 protected:
  void SetUp() override { Link("hal_buffer"); }

  absl::StatusOr<Ref<hal::Buffer>> Import(const Ref<vm::ByteBuffer>& source,
                                          int32_t usage, uint64_t offset,
                                          uint64_t length, int32_t try_import) {
    return calls_.CallRef<hal::Buffer>(
        "hal.allocator.import", calls_.allocator(), try_import, kAnyQueue,
        kDeviceLocal, usage, source, offset, length);
  }
};

TEST_F(HalBufferTest, AllocateGivesMemoryNow) {
  auto buffer = calls_.CallRef<hal::Buffer>(
      "hal.allocator.allocate", calls_.allocator(), kAnyQueue, kDeviceLocal,
      kTransferAndStorage, uint64_t{100});
  TAKT_ASSERT_OK(buffer);
  EXPECT_EQ((*buffer)->byte_length(), 100u);
  ASSERT_NE((*buffer)->data(), nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>((*buffer)->data()) % 64, 0u);
}

TEST_F(HalBufferTest, AllocateTakesNoBytesToo) {
  auto buffer = calls_.CallRef<hal::Buffer>(
      "hal.allocator.allocate", calls_.allocator(), kAnyQueue, kDeviceLocal,
      kTransferAndStorage, uint64_t{0});
  TAKT_ASSERT_OK(buffer);
  EXPECT_EQ((*buffer)->byte_length(), 0u);
}

TEST_F(HalBufferTest, AllocateRefusesAbsurdSizes) {
  for (uint64_t size : {~uint64_t{0}, uint64_t{1} << 62}) {
    EXPECT_THAT(calls_.Call("hal.allocator.allocate", calls_.allocator(),
                            kAnyQueue, kDeviceLocal, kTransferAndStorage, size),
                FailsWith(absl::StatusCode::kResourceExhausted, ""));
  }
}

TEST_F(HalBufferTest, AllocateNeedsAnAllocator) {
  EXPECT_THAT(calls_.Call("hal.allocator.allocate", nullptr, kAnyQueue,
                          kDeviceLocal, kTransferAndStorage, uint64_t{1}),
              FailsWith(kInvalid, "hal.allocator"));
}

TEST_F(HalBufferTest, AnAllocatorOutlivesItsDevice) {
  Ref<hal::Allocator> allocator;
  {
    auto device = cpu::Device::Create("local-gone", nullptr, {});
    allocator = Ref<hal::Allocator>::Retain((*device)->allocator());
  }
  EXPECT_THAT(calls_.Call("hal.allocator.allocate", allocator, kAnyQueue,
                          kDeviceLocal, kTransferAndStorage, uint64_t{1}),
              FailsWith(kPrecondition, "device has been destroyed"));
}

TEST_F(HalBufferTest, ImportSharesAndKeepsConstantBytes) {
  Ref<vm::ByteBuffer> source = ConstantBytes(std::string(256, 'x'));
  auto imported = Import(source, kConstantUsage, 64, 100, 1);
  TAKT_ASSERT_OK(imported);
  ASSERT_NE(*imported, nullptr);
  EXPECT_EQ((*imported)->data(), source->data() + 64);
  EXPECT_EQ((*imported)->byte_length(), 100u);
  EXPECT_EQ((*imported)->access() & hal::kAccessWrite, 0);
  source.reset();
  EXPECT_EQ((*imported)->data()[99], 'x');
}

TEST_F(HalBufferTest, ImportOfMinusOneIsTheRest) {
  const Ref<vm::ByteBuffer> source = ConstantBytes(std::string(256, 'x'));
  auto imported = Import(source, kConstantUsage, 64, kRest, 0);
  TAKT_ASSERT_OK(imported);
  EXPECT_EQ((*imported)->byte_length(), 192u);
}

TEST_F(HalBufferTest, ImportOfMutableBytesMayBeWritten) {
  const Ref<vm::ByteBuffer> source = MutableBytes(std::string(64, 'x'));
  auto writable = Import(source, kTransferAndStorage, 0, kRest, 0);
  TAKT_ASSERT_OK(writable);
  TAKT_ASSERT_OK(calls_.Call("hal.buffer.store", int32_t{'y'}, *writable,
                             uint64_t{3}, int32_t{1}));
  EXPECT_EQ(source->data()[3], 'y');
  auto read_only = Import(source, kConstantUsage, 0, kRest, 0);
  TAKT_ASSERT_OK(read_only);
  EXPECT_THAT(calls_.Call("hal.buffer.store", int32_t{'z'}, *read_only,
                          uint64_t{3}, int32_t{1}),
              FailsWith(kDenied, "hal.buffer.store"));
  EXPECT_EQ(source->data()[3], 'y');
}

TEST_F(HalBufferTest, ImportOfConstantBytesMustBeImmutable) {
  const Ref<vm::ByteBuffer> source = ConstantBytes(std::string(64, 'x'));
  for (int32_t try_import : {0, 1}) {
    EXPECT_THAT(Import(source, kTransferAndStorage, 0, kRest, try_import),
                FailsWith(kDenied, "must be immutable"));
  }
}

TEST_F(HalBufferTest, ImportRejectsRangesBeyondTheSource) {
  const Ref<vm::ByteBuffer> source = ConstantBytes(std::string(64, 'x'));
  for (int32_t try_import : {0, 1}) {
    EXPECT_THAT(Import(source, kConstantUsage, 0, 65, try_import),
                FailsWith(kInvalid, "64 bytes, got 65 at offset 0"));
    EXPECT_THAT(Import(source, kConstantUsage, 65, kRest, try_import),
                FailsWith(kInvalid, ""));
    EXPECT_THAT(Import(source, kConstantUsage, ~uint64_t{63}, 128, try_import),
                FailsWith(kInvalid, ""));
  }
}

TEST_F(HalBufferTest, ImportOfUnalignedBytesIsNullOrFails) {
  const Ref<vm::ByteBuffer> source = ConstantBytes(std::string(64, 'x'));
  auto tried = Import(source, kConstantUsage, 16, kRest, 1);
  TAKT_ASSERT_OK(tried);
  EXPECT_EQ(*tried, nullptr);
  EXPECT_THAT(Import(source, kConstantUsage, 16, kRest, 0),
              FailsWith(kInvalid, "hal.allocator.import"));
}

TEST_F(HalBufferTest, SelectTakesTheFirstPair) {
  auto second = cpu::Device::Create("local-second", nullptr, {});
  TAKT_ASSERT_OK(second);
  auto results = calls_.Call("hal.allocator.select/2", kDeviceLocal,
                             kTransferAndStorage, int64_t{0}, *second,
                             int64_t{5}, calls_.device_ref(), kAnyQueue);
  TAKT_ASSERT_OK(results);
  EXPECT_EQ((*results)[0].ref(), second->get());
  EXPECT_EQ((*results)[1].i64(), 5);
}

TEST_F(HalBufferTest, SelectRejectsNoneTooManyAndNull) {
  EXPECT_THAT(calls_.Call("hal.allocator.select/0", kDeviceLocal,
                          kTransferAndStorage, int64_t{0}),
              FailsWith(kInvalid, "at least one device"));
  EXPECT_THAT(calls_.Call("hal.allocator.select/1", kDeviceLocal,
                          kTransferAndStorage, int64_t{0}, nullptr, kAnyQueue),
              FailsWith(kInvalid, "got null"));
  std::vector<vm::Value> arguments = {
      ToValue(kDeviceLocal), ToValue(kTransferAndStorage), ToValue(int64_t{0})};
  for (int i = 0; i < 65; ++i) {
    arguments.push_back(ToValue(calls_.device_ref()));
    arguments.push_back(ToValue(kAnyQueue));
  }
  EXPECT_THAT(calls_.CallValues("hal.allocator.select/65", arguments),
              FailsWith(kOutOfRange, "at most 64, got 65"));
}

TEST_F(HalBufferTest, AssertPassesAFittingView) {
  const auto buffer = calls_.BufferOf(std::string(16, 'x'));
  TAKT_ASSERT_OK(calls_.Call("hal.buffer.assert", buffer, "tensor",
                             calls_.allocator(), uint64_t{16}, int32_t{16},
                             kTransferAndStorage));
}

TEST_F(HalBufferTest, AssertNamesTheLengthThatIsTooShort) {
  const auto buffer = calls_.BufferOf(std::string(16, 'x'));
  EXPECT_THAT(
      calls_.Call("hal.buffer.assert", buffer, "input0", calls_.allocator(),
                  uint64_t{17}, int32_t{16}, kTransferAndStorage),
      FailsWith(kInvalid,
                "input0: expected a buffer of at least 17 "
                "bytes, got 16"));
}

TEST_F(HalBufferTest, AssertDeniesMissingTypesAndUsages) {
  const auto host =
      hal::Buffer::WrapHost(nullptr, nullptr, 0, hal::kMemoryTypeHostLocal,
                            hal::kUsageTransferSource, hal::kAccessAll);
  EXPECT_THAT(
      calls_.Call("hal.buffer.assert", host, "input0", calls_.allocator(),
                  uint64_t{0}, int32_t{16}, int32_t{1}),
      FailsWith(kDenied, "input0: expected memory type 0x10, got 0x46"));
  EXPECT_THAT(
      calls_.Call("hal.buffer.assert", host, "input0", calls_.allocator(),
                  uint64_t{0}, int32_t{0x46}, kTransferAndStorage),
      FailsWith(kDenied, "input0: expected usage 0xc03, got 0x1"));
}

TEST_F(HalBufferTest, AssertNeedsItsObjects) {
  const auto buffer = calls_.BufferOf("x");
  EXPECT_THAT(calls_.Call("hal.buffer.assert", nullptr, "a", calls_.allocator(),
                          uint64_t{0}, int32_t{0}, int32_t{0}),
              FailsWith(kInvalid, "hal.buffer"));
  EXPECT_THAT(calls_.Call("hal.buffer.assert", buffer, "a", nullptr,
                          uint64_t{0}, int32_t{0}, int32_t{0}),
              FailsWith(kInvalid, "hal.allocator"));
}

TEST_F(HalBufferTest, LoadZeroExtendsUpToFourBytes) {
  const auto buffer = calls_.BufferOf(std::string("\x01\x82\x03\xf4\x05", 5));
  struct Case {
    uint64_t offset;
    int32_t length;
    uint32_t expected;
  };
  for (const Case& c :
       {Case{0, 4, 0xf4038201}, Case{1, 1, 0x82}, Case{1, 2, 0x0382},
        Case{2, 3, 0x05f403}, Case{5, 0, 0}}) {
    EXPECT_EQ(*calls_.CallI32("hal.buffer.load", buffer, c.offset, c.length),
              static_cast<int32_t>(c.expected))
        << c.offset << " " << c.length;
  }
}

TEST_F(HalBufferTest, LoadRejectsLengthsRangesAndAccess) {
  const auto buffer = calls_.BufferOf("0123456789");
  for (int32_t length : {5, 8, -1}) {
    EXPECT_THAT(calls_.Call("hal.buffer.load", buffer, uint64_t{0}, length),
                FailsWith(kInvalid, "hal.buffer.load"))
        << length;
  }
  EXPECT_THAT(calls_.Call("hal.buffer.load", buffer, uint64_t{8}, int32_t{4}),
              FailsWith(kOutOfRange, ""));
  EXPECT_THAT(calls_.Call("hal.buffer.load", buffer, ~uint64_t{0}, int32_t{4}),
              FailsWith(kOutOfRange, ""));
  EXPECT_THAT(calls_.Call("hal.buffer.load",
                          calls_.BufferOf("0123456789", hal::kAccessWrite),
                          uint64_t{0}, int32_t{4}),
              FailsWith(kDenied, ""));
}

TEST_F(HalBufferTest, StoreWritesTheLowBytes) {
  const auto buffer = calls_.BufferOf("0123456789");
  TAKT_ASSERT_OK(calls_.Call("hal.buffer.store", int32_t{0x64636261}, buffer,
                             uint64_t{0}, int32_t{4}));
  TAKT_ASSERT_OK(calls_.Call("hal.buffer.store", int32_t{0x64636261}, buffer,
                             uint64_t{8}, int32_t{2}));
  TAKT_ASSERT_OK(calls_.Call("hal.buffer.store", int32_t{0x64636261}, buffer,
                             uint64_t{10}, int32_t{0}));
  EXPECT_EQ(HalCalls::TextOf(*buffer), "abcd4567ab");
}

TEST_F(HalBufferTest, StoreRejectsLengthsRangesAndAccess) {
  const auto buffer = calls_.BufferOf("0123456789");
  EXPECT_THAT(calls_.Call("hal.buffer.store", int32_t{0}, buffer, uint64_t{0},
                          int32_t{5}),
              FailsWith(kInvalid, "hal.buffer.store"));
  EXPECT_THAT(calls_.Call("hal.buffer.store", int32_t{0}, buffer, uint64_t{7},
                          int32_t{4}),
              FailsWith(kOutOfRange, ""));
  EXPECT_EQ(HalCalls::TextOf(*buffer), "0123456789");
  EXPECT_THAT(calls_.Call("hal.buffer.store", int32_t{0},
                          calls_.BufferOf("0123", hal::kAccessRead),
                          uint64_t{0}, int32_t{4}),
              FailsWith(kDenied, ""));
}

TEST_F(HalBufferTest, LengthIsInBytes) {
  EXPECT_EQ(*calls_.CallI64("hal.buffer.length", calls_.BufferOf("01234")), 5);
  EXPECT_THAT(calls_.Call("hal.buffer.length", nullptr),
              FailsWith(kInvalid, "hal.buffer.length"));
}

TEST_F(HalBufferTest, SubspanSharesMemory) {
  const auto buffer = calls_.BufferOf("0123456789");
  auto range = calls_.CallRef<hal::Buffer>("hal.buffer.subspan", buffer,
                                           uint64_t{2}, uint64_t{5});
  TAKT_ASSERT_OK(range);
  EXPECT_EQ(HalCalls::TextOf(**range), "23456");
  auto rest = calls_.CallRef<hal::Buffer>("hal.buffer.subspan", *range,
                                          uint64_t{1}, kRest);
  EXPECT_EQ(HalCalls::TextOf(**rest), "3456");
  EXPECT_EQ((*rest)->storage(), buffer->storage());
}

TEST_F(HalBufferTest, SubspanRejectsRangesBeyondTheEnd) {
  const auto buffer = calls_.BufferOf("0123456789");
  EXPECT_THAT(
      calls_.Call("hal.buffer.subspan", buffer, uint64_t{2}, uint64_t{9}),
      FailsWith(kOutOfRange, "hal.buffer.subspan"));
  EXPECT_THAT(calls_.Call("hal.buffer.subspan", buffer, uint64_t{11}, kRest),
              FailsWith(kOutOfRange, ""));
  EXPECT_THAT(
      calls_.Call("hal.buffer.subspan", buffer, ~uint64_t{1}, uint64_t{4}),
      FailsWith(kOutOfRange, ""));
}

// Owners are counted for the allocation: a range of it counts with it.
TEST_F(HalBufferTest, OwnersOfAnAllocationAreCounted) {
  const auto buffer = calls_.BufferOf("0123");
  const auto range = *buffer->Subspan(1, 2);
  EXPECT_EQ(*calls_.CallI32("hal.buffer.allocation.is_terminal", buffer), 1);
  TAKT_ASSERT_OK(calls_.Call("hal.buffer.allocation.preserve", buffer));
  EXPECT_EQ(*calls_.CallI32("hal.buffer.allocation.is_terminal", buffer), 0);
  EXPECT_EQ(*calls_.CallI32("hal.buffer.allocation.is_terminal", range), 0);
  EXPECT_EQ(*calls_.CallI32("hal.buffer.allocation.discard", range), 0);
  EXPECT_EQ(*calls_.CallI32("hal.buffer.allocation.is_terminal", buffer), 1);
  EXPECT_EQ(*calls_.CallI32("hal.buffer.allocation.discard", buffer), 1);
  EXPECT_THAT(calls_.Call("hal.buffer.allocation.preserve", nullptr),
              FailsWith(kInvalid, ""));
}

}  // namespace
}  // namespace takt::modules
