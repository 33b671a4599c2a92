#include "base/unaligned.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace takt {
namespace {

TEST(LoadUnalignedTest, ReadsFromAnyAddress) {
  alignas(8) const uint8_t bytes[] = {0xff, 1, 1, 1, 1, 2, 2, 2, 2};
  EXPECT_EQ(LoadUnaligned<uint32_t>(bytes + 1), 0x01010101u);
  EXPECT_EQ(LoadUnaligned<uint32_t>(bytes + 5), 0x02020202u);
  EXPECT_EQ(LoadUnaligned<int8_t>(bytes), -1);
}

TEST(LoadUnalignedTest, ReadsWhatWasStored) {
  uint8_t bytes[1 + sizeof(double)];
  const double value = -1.5;
  std::memcpy(bytes + 1, &value, sizeof(value));
  EXPECT_EQ(LoadUnaligned<double>(bytes + 1), value);
}

}  // namespace
}  // namespace takt
