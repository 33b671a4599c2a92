#include "vm/list.h"

#include <gtest/gtest.h>

#include "tests/support/allocation_faults.h"
#include "vm/byte_buffer.h"

namespace takt::vm {
namespace {

TEST(ListTest, RefusesToContainItself) {
  Ref<List> outer = List::Create({}, 0);
  Ref<List> inner = List::Create({}, 0);
  ASSERT_TRUE(outer->Append(Value::FromRef(inner)).ok());
  EXPECT_EQ(outer->Append(Value::FromRef(outer)).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(inner->Append(Value::FromRef(outer)).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(outer->size(), 1u);
  EXPECT_EQ(inner->size(), 0u);
  EXPECT_TRUE(outer->IsUnique());
}

TEST(ListTest, DeepNestingIsFreedAndClonedWithoutRecursion) {
  Ref<List> list = List::Create({}, 0);
  constexpr int kDepth = 200000;
  for (int n = 0; n < kDepth; ++n) {
    Ref<List> outer = List::Create({}, 0);
    ASSERT_TRUE(outer->Resize(1).ok());
    ASSERT_TRUE(outer->Set(0, Value::FromRef(list)).ok());
    list = std::move(outer);
  }
  CloneMap clones;
  EXPECT_EQ(List::Clone(*list, clones), nullptr);  // Not worth it.
  Ref<List> small = List::Create({}, 0);
  ASSERT_TRUE(small->Append(Value::FromRef(List::Create({}, 0))).ok());
  Ref<Object> copy = Ref<Object>::Adopt(List::Clone(*small, clones));
  EXPECT_NE(copy, small);
  list.reset();
}

TEST(ListTest, NestedListsAreFreedWithoutMemory) {
  Ref<List> list = List::Create({}, 0);
  for (int n = 0; n < 1000; ++n) {
    Ref<List> outer = List::Create({}, 0);
    ASSERT_TRUE(outer->Append(Value::FromRef(list)).ok());
    ASSERT_TRUE(outer->Append(Value::FromRef(List::Create({}, 0))).ok());
    list = std::move(outer);
  }
  const Ref<List> kept = List::Create({}, 0);
  ASSERT_TRUE(list->Append(Value::FromRef(kept)).ok());
  const AllocationFault armed(0, /*goes_on=*/true);
  list.reset();
  EXPECT_FALSE(AllocationFault::is_hit());
  EXPECT_TRUE(kept->IsUnique());
}

TEST(ListTest, ResizeKeepsAndEmpties) {
  Ref<List> list = List::Create({ValueKind::kI32, nullptr}, 100);
  ASSERT_TRUE(list->Append(Value::I64(7)).ok());
  ASSERT_TRUE(list->Resize(3).ok());
  EXPECT_EQ(list->Get(0)->i32(), 7);
  EXPECT_EQ(list->Get(2)->i32(), 0);
  EXPECT_EQ(list->Get(2)->kind(), ValueKind::kI32);
  EXPECT_EQ(list->Get(3).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(list->Resize(List::kMaxSize + 1).code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(list->size(), 3u);
}

TEST(ListTest, SetOfNothingEmptiesTheElement) {
  Ref<ByteBuffer> buffer = *ByteBuffer::Allocate(1, 0);
  Ref<List> list = List::Create({}, 0);
  ASSERT_TRUE(list->Append(Value::FromRef(buffer)).ok());
  ASSERT_TRUE(list->Set(0, Value()).ok());
  EXPECT_TRUE(buffer->IsUnique());
  EXPECT_EQ((*list)[0].kind(), ValueKind::kNone);
}

TEST(ListTest, AppendOfTheWrongTypeChangesNothing) {
  Ref<List> list = List::Create({ValueKind::kRef, &List::kType}, 0);
  Ref<ByteBuffer> buffer = *ByteBuffer::Allocate(1, 0);
  EXPECT_EQ(list->Append(Value::FromRef(buffer)).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(list->size(), 0u);
  EXPECT_TRUE(buffer->IsUnique());
}

}  // namespace
}  // namespace takt::vm
