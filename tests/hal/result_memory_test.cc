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

}  // namespace
}  // namespace takt::hal
