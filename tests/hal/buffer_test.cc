#include "hal/buffer.h"

#include <atomic>
#include <cstring>
#include <thread>

#include "gtest/gtest.h"

namespace takt::hal {
namespace {

// A storage that counts what happens to its memory.
class TestStorage final : public Storage {
 public:
  TestStorage(uint8_t* data, uint64_t byte_length, std::atomic<int>* freed)
      : Storage(data, byte_length), freed_(freed) {}
  void GiveMemory(uint8_t* data) { Commit(data); }
  void GiveMemoryAlone(uint8_t* data) { CommitAlone(data); }

 private:
  ~TestStorage() override {
    if (memory() != nullptr) FreeMemory(memory());
  }
  bool IsDiscardable() const override { return true; }
  void FreeMemory(uint8_t*) override { ++*freed_; }
  std::atomic<int>* const freed_;
};

class BufferTest : public ::testing::Test {
 protected:
  Ref<Buffer> Wrap(MemoryAccess access = kAccessAll,
                   BufferUsage usage = 0xc03) {
    return Buffer::WrapHost(nullptr, memory_, sizeof(memory_), kMemoryTypeAll,
                            usage, access);
  }
  alignas(64) uint8_t memory_[128] = {};
};

TEST_F(BufferTest, SubspansShareStorageAndKnowTheirOffset) {
  Ref<Buffer> buffer = Wrap();
  auto part = buffer->Subspan(16, 100);
  ASSERT_TRUE(part.ok());
  auto inner = (*part)->Subspan(10, kWholeBuffer);
  ASSERT_TRUE(inner.ok());
  EXPECT_EQ((*inner)->storage(), buffer->storage());
  EXPECT_EQ((*inner)->byte_offset(), 26u);
  EXPECT_EQ((*inner)->byte_length(), 90u);
  EXPECT_EQ((*inner)->data(), memory_ + 26);
}

TEST_F(BufferTest, ASubspanOfAllIsTheBufferItself) {
  Ref<Buffer> buffer = Wrap();
  EXPECT_EQ(*buffer->Subspan(0, 128), buffer);
  EXPECT_EQ(*buffer->Subspan(0, kWholeBuffer), buffer);
}

TEST_F(BufferTest, RefusesRangesThatDoNotFit) {
  Ref<Buffer> buffer = Wrap();
  const auto code = [&](uint64_t offset, uint64_t length) {
    return buffer->Subspan(offset, length).status().code();
  };
  EXPECT_EQ(code(0, 129), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code(128, 1), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code(129, kWholeBuffer), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code(~uint64_t{0}, 2), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code(1, kWholeBuffer - 1), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code(128, 0), absl::StatusCode::kOk);
  EXPECT_EQ(code(128, kWholeBuffer), absl::StatusCode::kOk);
}

TEST_F(BufferTest, MapHonoursRangeAndAccess) {
  Ref<Buffer> buffer = Wrap(kAccessRead);
  auto bytes = buffer->Map(8, 16, kAccessRead);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(bytes->data(), memory_ + 8);
  EXPECT_EQ(bytes->size(), 16u);
  EXPECT_EQ(buffer->Map(0, 8, kAccessWrite).status().code(),
            absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(buffer->Map(120, 9, kAccessRead).status().code(),
            absl::StatusCode::kOutOfRange);
}

TEST_F(BufferTest, WrapKeepsItsOwner) {
  Ref<Storage> owner = *CreateHeapStorage(1);
  Ref<Buffer> buffer =
      Buffer::WrapHost(owner, memory_, 128, kMemoryTypeAll, 0xc03, kAccessAll);
  EXPECT_FALSE(owner->IsUnique());
  auto part = buffer->Subspan(1, 2);
  buffer.reset();
  EXPECT_FALSE(owner->IsUnique());
  part->reset();
  EXPECT_TRUE(owner->IsUnique());
}

TEST_F(BufferTest, WrapOfNoBytesHasMemory) {
  Ref<Buffer> buffer =
      Buffer::WrapHost(nullptr, nullptr, 0, kMemoryTypeAll, 0xc03, kAccessAll);
  EXPECT_TRUE(buffer->Map(0, kWholeBuffer, kAccessRead).ok());
}

TEST_F(BufferTest, HeapStorageIsAlignedAndZeroed) {
  auto storage = CreateHeapStorage(1000);
  ASSERT_TRUE(storage.ok());
  const uint8_t* data = (*storage)->data();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % kBufferAlignment, 0u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(data[i], 0);
  EXPECT_EQ(CreateHeapStorage(~uint64_t{0}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST_F(BufferTest, HasNoMemoryUntilCommitted) {
  std::atomic<int> freed{0};
  auto storage = MakeRef<TestStorage>(nullptr, 128, &freed);
  Ref<Buffer> buffer = Buffer::Create(storage, kMemoryTypeAll, 0xc03, 3);
  EXPECT_EQ(buffer->data(), nullptr);
  EXPECT_EQ(storage->Pin(), nullptr);
  EXPECT_EQ(buffer->Map(0, 1, kAccessRead).status().code(),
            absl::StatusCode::kFailedPrecondition);
  storage->GiveMemory(memory_);
  EXPECT_EQ(buffer->data(), memory_);
  EXPECT_EQ(freed, 0);
  buffer.reset();
  storage.reset();
  EXPECT_EQ(freed, 1);
}

TEST_F(BufferTest, MemoryOfAStorageThatNoOtherThreadKnowsIsPinnedAndFreed) {
  std::atomic<int> freed{0};
  auto storage = MakeRef<TestStorage>(nullptr, 128, &freed);
  storage->GiveMemoryAlone(memory_);
  EXPECT_EQ(storage->Pin(), memory_);
  EXPECT_TRUE(storage->Discard());
  EXPECT_EQ(freed, 0);
  storage->Unpin();
  EXPECT_EQ(freed, 1);
  EXPECT_EQ(storage->Pin(), nullptr);
}

TEST_F(BufferTest, DiscardFreesOnceAndAtOnceWhenNotPinned) {
  std::atomic<int> freed{0};
  auto storage = MakeRef<TestStorage>(memory_, 128, &freed);
  storage->Discard();
  EXPECT_EQ(freed, 1);
  EXPECT_EQ(storage->data(), nullptr);
  EXPECT_EQ(storage->Pin(), nullptr);
  storage->Discard();
  storage.reset();
  EXPECT_EQ(freed, 1);
}

TEST_F(BufferTest, DiscardedMemoryStaysWhilePinned) {
  std::atomic<int> freed{0};
  auto storage = MakeRef<TestStorage>(memory_, 128, &freed);
  EXPECT_EQ(storage->Pin(), memory_);
  EXPECT_EQ(storage->Pin(), memory_);
  storage->Discard();
  EXPECT_EQ(storage->Pin(), nullptr);
  storage->Unpin();
  EXPECT_EQ(freed, 0);
  storage->Unpin();
  EXPECT_EQ(freed, 1);
}

TEST_F(BufferTest, PinsAndDiscardFromSeveralThreads) {
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> freed{0};
    auto storage = MakeRef<TestStorage>(nullptr, 128, &freed);
    std::thread threads[3];
    for (std::thread& thread : threads) {
      thread = std::thread([&] {
        for (int i = 0; i < 50; ++i) {
          if (storage->Pin() == nullptr) continue;
          EXPECT_EQ(freed, 0);
          storage->Unpin();
        }
      });
    }
    storage->GiveMemory(memory_);
    storage->Discard();
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(freed, 1);
  }
}

TEST_F(BufferTest, CountsOwnersOfTheAllocation) {
  Ref<Storage> storage = *CreateHeapStorage(8);
  EXPECT_TRUE(storage->HasOneOwner());
  storage->AddOwner();
  EXPECT_FALSE(storage->HasOneOwner());
  EXPECT_TRUE(storage->HasSeveralOwners());
  EXPECT_FALSE(storage->DropOwner());
  EXPECT_TRUE(storage->DropOwner());
}

TEST_F(BufferTest, CloneOfAnImmutableBufferIsTheSame) {
  CloneMap clones;
  Ref<Buffer> buffer = Wrap(kAccessAll, 0xc03 | kUsageImmutable);
  Ref<Object> clone = Ref<Object>::Adopt(Buffer::kType.clone(*buffer, clones));
  EXPECT_EQ(clone.get(), buffer.get());
}

TEST_F(BufferTest, ClonesOfOneStorageShareItsCopy) {
  CloneMap clones;
  Ref<Buffer> buffer = Wrap();
  auto part = buffer->Subspan(64, 8);
  memory_[64] = 7;
  Ref<Object> whole_clone =
      Ref<Object>::Adopt(Buffer::kType.clone(*buffer, clones));
  Ref<Object> part_clone =
      Ref<Object>::Adopt(Buffer::kType.clone(**part, clones));
  auto* whole = DynCast<Buffer>(whole_clone.get());
  auto* copy = DynCast<Buffer>(part_clone.get());
  ASSERT_NE(whole, nullptr);
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(whole->storage(), copy->storage());
  EXPECT_NE(whole->storage(), buffer->storage());
  EXPECT_EQ(copy->byte_length(), 8u);
  memory_[64] = 9;
  EXPECT_EQ(*copy->data(), 7);
}

TEST_F(BufferTest, NothingCanBeClonedWithoutMemory) {
  std::atomic<int> freed{0};
  CloneMap clones;
  auto storage = MakeRef<TestStorage>(nullptr, 128, &freed);
  Ref<Buffer> buffer = Buffer::Create(storage, kMemoryTypeAll, 0xc03, 3);
  EXPECT_EQ(Buffer::kType.clone(*buffer, clones), nullptr);
}

}  // namespace
}  // namespace takt::hal
