#include "kernels/tile_registers.h"

#include "gtest/gtest.h"
#include "tests/kernels/test_support.h"

namespace takt::kernels {
namespace {

TEST(TileRegistersTest, AreThereOnlyWhereTheProcessorHasThem) {
  const bool enabled = EnableTileRegisters();
  EXPECT_EQ(EnableTileRegisters(), enabled);
#if defined(__x86_64__)
  EXPECT_LE(enabled, HasAmxBf16());
#else
  EXPECT_FALSE(enabled);
#endif
}

}  // namespace
}  // namespace takt::kernels
