#include "vm/buffer.h"

#include <gtest/gtest.h>

namespace takt::vm {
namespace {

TEST(BufferTest, AllocatesZeroedFromPoolOrSystem) {
  UniqueBlockPool pool(BlockPool::Create());
  for (BlockPool* from : {static_cast<BlockPool*>(nullptr), pool.get()}) {
    for (const uint64_t length : {0u, 1u, 2048u, 2049u, 100000u}) {
      Ref<Buffer> buffer = *Buffer::Allocate(length, 0, from);
      ASSERT_EQ(buffer->byte_length(), length);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % 16, 0u);
      for (uint8_t byte : buffer->bytes()) ASSERT_EQ(byte, 0);
      if (length != 0) buffer->data()[length - 1] = 1;
    }
  }
}

TEST(BufferTest, RefusesBadAlignmentsAndAbsurdLengths) {
  EXPECT_EQ(Buffer::Allocate(1, 24).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Buffer::Allocate(1, 8192).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Buffer::Allocate(UINT64_MAX, 0).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Buffer::Allocate(UINT64_MAX - 100, 4096).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(BufferTest, WrapKeepsTheOwner) {
  Ref<Buffer> owner = *Buffer::Allocate(4, 0);
  Ref<Buffer> view = Buffer::Wrap(owner, owner->data() + 1, 2, false);
  EXPECT_EQ(owner->reference_count(), 2);
  EXPECT_EQ(view->byte_length(), 2u);
  EXPECT_FALSE(view->is_mutable());
  view.reset();
  EXPECT_TRUE(owner->IsUnique());
}

TEST(BufferTest, ClonesWhatItOwns) {
  CloneMap clones;
  Ref<Buffer> owned = *Buffer::Allocate(2, 0);
  owned->data()[1] = 7;
  Ref<Object> copy = Ref<Object>::Adopt(Buffer::Clone(*owned, clones));
  ASSERT_NE(copy, nullptr);
  EXPECT_NE(copy, owned);
  EXPECT_EQ(static_cast<Buffer&>(*copy).data()[1], 7);
  Ref<Object> again = Ref<Object>::Adopt(Buffer::Clone(*owned, clones));
  EXPECT_EQ(again, copy);

  Ref<Buffer> constant = Buffer::Wrap(owned, owned->data(), 2, false);
  Ref<Object> same = Ref<Object>::Adopt(Buffer::Clone(*constant, clones));
  EXPECT_EQ(same, constant);
  Ref<Buffer> foreign = Buffer::Wrap(owned, owned->data(), 2, true);
  EXPECT_EQ(Buffer::Clone(*foreign, clones), nullptr);
}

}  // namespace
}  // namespace takt::vm
