#include "base/memory_source.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace takt {
namespace {

TEST(MemorySourceTest, IsTheSystemByDefault) {
  const MemorySource source;
  for (size_t alignment : {64u, 4096u}) {
    void* data = source.allocate(source.user_data, 8192, alignment);
    ASSERT_NE(data, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % alignment, 0u);
    std::memset(data, 1, 8192);
    source.free(source.user_data, data, 8192, alignment);
  }
}

TEST(MemorySourceTest, LargeOnesAreWholePages) {
  const MemorySource source;
  constexpr size_t kBytes = size_t{1} << 20;
  void* data = source.allocate(source.user_data, kBytes, 64);
  ASSERT_NE(data, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 4096, 0u);
  std::memset(data, 1, kBytes);
  source.free(source.user_data, data, kBytes, 64);
  // More than there are addresses.
  EXPECT_EQ(source.allocate(source.user_data, size_t{1} << 60, 64), nullptr);
}

}  // namespace
}  // namespace takt
