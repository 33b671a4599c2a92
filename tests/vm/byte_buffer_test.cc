#include "vm/byte_buffer.h"

#include <gtest/gtest.h>

namespace takt::vm {
namespace {

TEST(ByteBufferTest, AllocatesZeroedFromPoolOrSystem) {
  UniqueBlockPool pool(BlockPool::Create());
  for (BlockPool* from : {static_cast<BlockPool*>(nullptr), pool.get()}) {
    for (const uint64_t length : {0u, 1u, 2048u, 2049u, 100000u}) {
      Ref<ByteBuffer> buffer = *ByteBuffer::Allocate(length, 0, from);
      ASSERT_EQ(buffer->byte_length(), length);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % 16, 0u);
      for (uint8_t byte : buffer->bytes()) ASSERT_EQ(byte, 0);
      if (length != 0) buffer->data()[length - 1] = 1;
    }
  }
}

TEST(ByteBufferTest, RefusesBadAlignmentsAndAbsurdLengths) {
  EXPECT_EQ(ByteBuffer::Allocate(1, 24).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ByteBuffer::Allocate(1, 8192).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ByteBuffer::Allocate(UINT64_MAX, 0).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ByteBuffer::Allocate(UINT64_MAX - 100, 4096).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(ByteBufferTest, WrapKeepsTheOwner) {
  Ref<ByteBuffer> owner = *ByteBuffer::Allocate(4, 0);
  Ref<ByteBuffer> view = ByteBuffer::Wrap(owner, owner->data() + 1, 2, false);
  EXPECT_EQ(owner->reference_count(), 2);
  EXPECT_EQ(view->byte_length(), 2u);
  EXPECT_FALSE(view->is_mutable());
  view.reset();
  EXPECT_TRUE(owner->IsUnique());
}

TEST(ByteBufferTest, ClonesMutableBytes) {
  CloneMap clones;
  Ref<ByteBuffer> owned = *ByteBuffer::Allocate(2, 0);
  owned->data()[1] = 7;
  Ref<Object> copy = Ref<Object>::Adopt(ByteBuffer::Clone(*owned, clones));
  ASSERT_NE(copy, nullptr);
  EXPECT_NE(copy, owned);
  EXPECT_EQ(static_cast<ByteBuffer&>(*copy).data()[1], 7);
  Ref<Object> again = Ref<Object>::Adopt(ByteBuffer::Clone(*owned, clones));
  EXPECT_EQ(again, copy);

  Ref<ByteBuffer> constant = ByteBuffer::Wrap(owned, owned->data(), 2, false);
  Ref<Object> same = Ref<Object>::Adopt(ByteBuffer::Clone(*constant, clones));
  EXPECT_EQ(same, constant);
  Ref<ByteBuffer> foreign = ByteBuffer::Wrap(owned, owned->data(), 2, true);
  EXPECT_EQ(ByteBuffer::Clone(*foreign, clones), nullptr);
}

}  // namespace
}  // namespace takt::vm
