#include "cpu/transfer.h"

#include <vector>

#include "gtest/gtest.h"

namespace takt::cpu {
namespace {

Ref<hal::Buffer> MakeBuffer(uint64_t length) {
  return hal::Buffer::Create(*hal::CreateHeapStorage(length),
                             hal::kMemoryTypeAll, 0xc03, hal::kAccessAll);
}

using Kind = hal::TransferRequest::Kind;

absl::StatusOr<Transfer> Copy(const Ref<hal::Buffer>& source,
                              uint64_t source_offset,
                              const Ref<hal::Buffer>& target,
                              uint64_t target_offset, uint64_t length) {
  return Transfer::Create({.kind = Kind::kCopy,
                           .source = source.get(),
                           .target = target.get(),
                           .source_offset = source_offset,
                           .target_offset = target_offset,
                           .length = length});
}

absl::StatusOr<Transfer> FillWithSevens(const Ref<hal::Buffer>& target) {
  return Transfer::Create({.kind = Kind::kFill,
                           .target = target.get(),
                           .length = target->byte_length(),
                           .pattern = 7,
                           .pattern_length = 1});
}

TEST(TransferTest, ResolvesSubspansWhenPinned) {
  Ref<hal::Buffer> buffer = MakeBuffer(64);
  auto part = buffer->Subspan(16, 32);
  ASSERT_TRUE(part.ok());
  auto transfer = Copy(*part, 4, buffer, 60, hal::kWholeBuffer);
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
  EXPECT_EQ(Copy(*low, 0, *high, 0, 25).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(Copy(*low, 0, *high, 0, 24).ok());
}

TEST(TransferTest, OwnsItsSourceWhenAsked) {
  UniqueBlockPool blocks(BlockPool::Create());
  Ref<hal::Buffer> buffer = MakeBuffer(64);
  std::vector<uint8_t> source = {1, 2, 3};
  auto transfer = Transfer::Create(
      {.kind = Kind::kUpdate, .target = buffer.get(), .bytes = source});
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
    auto transfer = FillWithSevens(buffer);
    ASSERT_TRUE(transfer.ok());
    auto resolved = transfer->Pin();
    ASSERT_TRUE(resolved.ok());
    buffer->storage()->Discard();
    resolved->Run();  // The memory is still there.
  }
  auto late = FillWithSevens(buffer);
  ASSERT_TRUE(late.ok());
  EXPECT_EQ(late->Pin().status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(TransferTest, RefusesNullEnds) {
  Ref<hal::Buffer> buffer = MakeBuffer(64);
  EXPECT_FALSE(Copy(buffer, 0, nullptr, 0, 4).ok());
  EXPECT_FALSE(Copy(nullptr, 0, buffer, 0, 4).ok());
  for (const Kind kind :
       {Kind::kFill, Kind::kUpdate, Kind::kRead, Kind::kWrite}) {
    EXPECT_FALSE(Transfer::Create(
                     {.kind = kind,
                      .source = nullptr,
                      .target = kind == Kind::kRead ? buffer.get() : nullptr,
                      .length = 4,
                      .pattern_length = 1})
                     .ok());
  }
  EXPECT_FALSE(Transfer::Create(
                   {.kind = Kind::kWrite, .source = buffer.get(), .length = 4})
                   .ok());
}

}  // namespace
}  // namespace takt::cpu
