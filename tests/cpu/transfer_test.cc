#include "cpu/transfer.h"

#include <vector>

#include "gtest/gtest.h"

namespace takt::cpu {
namespace {

Ref<hal::Buffer> MakeBuffer(uint64_t length) {
  return hal::Buffer::Create(*hal::CreateHeapStorage(length),
                             hal::kMemoryTypeAll, 0xc03, hal::kAccessAll);
}

TEST(TransferTest, ResolvesSubspansWhenPinned) {
  Ref<hal::Buffer> buffer = MakeBuffer(64);
  auto part = buffer->Subspan(16, 32);
  ASSERT_TRUE(part.ok());
  auto transfer =
      Transfer::Copy(part->get(), 4, buffer.get(), 60, hal::kWholeBuffer);
  ASSERT_TRUE(transfer.ok()) << transfer.status();
  EXPECT_EQ(transfer->length(), 4u);
  auto resolved = transfer->Pin();
  ASSERT_TRUE(resolved.ok());
  EXPECT_EQ(resolved->source, buffer->data() + 20);
  EXPECT_EQ(resolved->target, buffer->data() + 60);
}

TEST(TransferTest, ComparesStoragesForOverlap) {
  Ref<hal::Buffer> buffer = MakeBuffer(64);
  auto low = buffer->Subspan(0, 40), high = buffer->Subspan(24, 40);
  EXPECT_EQ(Transfer::Copy(low->get(), 0, high->get(), 0, 25).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(Transfer::Copy(low->get(), 0, high->get(), 0, 24).ok());
}

TEST(TransferTest, OwnsItsSourceWhenAsked) {
  UniqueBlockPool blocks(BlockPool::Create());
  Ref<hal::Buffer> buffer = MakeBuffer(64);
  std::vector<uint8_t> source = {1, 2, 3};
  auto transfer = Transfer::Update(source, buffer.get(), 0);
  ASSERT_TRUE(transfer.ok());
  transfer->OwnSource(*blocks);
  source.assign(3, 9);
  Transfer moved = *std::move(transfer);
  auto resolved = moved.Pin();
  ASSERT_TRUE(resolved.ok());
  resolved->Run();
  EXPECT_EQ(buffer->data()[2], 3);
}

TEST(TransferTest, PinsUntilDestroyed) {
  Ref<hal::Buffer> buffer = MakeBuffer(64);
  {
    auto transfer = Transfer::Fill(buffer.get(), 0, 64, 7, 1);
    ASSERT_TRUE(transfer.ok());
    auto resolved = transfer->Pin();
    ASSERT_TRUE(resolved.ok());
    buffer->storage()->Discard();
    resolved->Run();  // The memory is still there.
  }
  auto late = Transfer::Fill(buffer.get(), 0, 64, 7, 1);
  ASSERT_TRUE(late.ok());
  EXPECT_EQ(late->Pin().status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(TransferTest, RefusesNullEnds) {
  Ref<hal::Buffer> buffer = MakeBuffer(64);
  EXPECT_FALSE(Transfer::Read(nullptr, 0, buffer.get(), 0, 4).ok());
  EXPECT_FALSE(Transfer::Write(buffer.get(), 0, nullptr, 0, 4).ok());
  EXPECT_FALSE(Transfer::Update({}, nullptr, 0).ok());
  EXPECT_FALSE(Transfer::Copy(buffer.get(), 0, nullptr, 0, 4).ok());
}

}  // namespace
}  // namespace takt::cpu
