#include "hal/result_memory.h"

#include <gtest/gtest.h>

#include <utility>

namespace takt::hal {
namespace {

Ref<Buffer> NewBuffer() {
  return Buffer::Create(*CreateHeapStorage(64), kMemoryTypeAll,
                        kUsageTransferAndStorage, kAccessAll);
}

TEST(ResultMemoryTest, FindsTheAllocationOfAStorage) {
  ResultMemory memory;
  const Ref<Buffer> first = NewBuffer();
  const Ref<Buffer> second = NewBuffer();
  memory.Note(*first);
  memory.Note(*second);
  EXPECT_EQ(memory.FindAllocation(first->storage()), 0);
  EXPECT_EQ(memory.FindAllocation(second->storage()), 1);
  EXPECT_EQ(memory.FindAllocation(NewBuffer()->storage()),
            ResultMemory::kUnknown);
}

TEST(ResultMemoryTest, TheLastOfTwoAllocationsAtOneAddressCounts) {
  ResultMemory memory;
  const Ref<Buffer> buffer = NewBuffer();
  memory.Note(*buffer);
  memory.Note(*NewBuffer());
  memory.Note(*buffer);
  EXPECT_EQ(memory.FindAllocation(buffer->storage()), 2);
}

// The fence that ends the call, and others.
class ResultMemoryWorkTest : public testing::Test {
 protected:
  void SetUp() override { memory_.SetEnd(end_.get()); }

  ResultMemory memory_;
  Ref<Fence> end_ = Fence::Create();
  Ref<Fence> a_ = Fence::Create();
  Ref<Fence> b_ = Fence::Create();
};

TEST_F(ResultMemoryWorkTest, NoWorkEndsInTime) {
  EXPECT_TRUE(memory_.EndsInTime());
  EXPECT_TRUE(ResultMemory().EndsInTime());
}

TEST_F(ResultMemoryWorkTest, AChainEndsInTimeWithTheFenceOfTheCall) {
  memory_.NoteWork(nullptr, a_.get());
  EXPECT_FALSE(memory_.EndsInTime());
  memory_.NoteWork(a_.get(), end_.get());
  EXPECT_TRUE(memory_.EndsInTime());
}

TEST_F(ResultMemoryWorkTest, WorkAfterTheFenceOfTheCallIsLate) {
  memory_.NoteWork(nullptr, end_.get());
  memory_.NoteWork(end_.get(), a_.get());
  EXPECT_FALSE(memory_.EndsInTime());
}

TEST_F(ResultMemoryWorkTest, WorkBesideTheCallIsLate) {
  memory_.NoteWork(nullptr, a_.get());
  memory_.NoteWork(nullptr, end_.get());
  EXPECT_FALSE(memory_.EndsInTime());
}

TEST_F(ResultMemoryWorkTest, AJoinIsReachedWithAllOfItsFences) {
  const Ref<Fence> joined = Fence::Create();
  memory_.NoteWork(nullptr, a_.get());
  memory_.NoteWork(nullptr, b_.get());
  Fence* const fences[] = {a_.get(), nullptr, b_.get()};
  memory_.NoteJoin(fences, joined.get());
  EXPECT_FALSE(memory_.EndsInTime());
  memory_.NoteWork(joined.get(), end_.get());
  EXPECT_TRUE(memory_.EndsInTime());
}

TEST_F(ResultMemoryWorkTest, AJoinOfOtherFencesIsNoWork) {
  Fence* const fences[] = {a_.get()};
  memory_.NoteJoin(fences, b_.get());
  EXPECT_TRUE(memory_.EndsInTime());
}

TEST_F(ResultMemoryWorkTest, TheProgramMayWaitForItsWork) {
  ResultMemory memory;  // Of a call that the end of its program ends.
  memory.NoteWork(nullptr, a_.get());
  EXPECT_FALSE(memory.EndsInTime());
  Fence* const fences[] = {a_.get()};
  memory.NoteAwait(fences);
  EXPECT_TRUE(memory.EndsInTime());
}

TEST_F(ResultMemoryWorkTest, WorkWithoutAFenceIsLate) {
  memory_.NoteWork(nullptr, nullptr);
  EXPECT_FALSE(memory_.EndsInTime());
}

}  // namespace
}  // namespace takt::hal
