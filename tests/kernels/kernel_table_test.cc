#include "kernels/kernel_table.h"

#include "gtest/gtest.h"

namespace takt::kernels {
namespace {

TEST(KernelTableTest, PortableKernelsNeedNothing) {
  const KernelTable table = SelectKernels({});
  EXPECT_EQ(table.elementwise, &kElementwisePortable);
  EXPECT_EQ(table.mmt4d, &kMmt4dPortable);
}

#if defined(__x86_64__)
TEST(KernelTableTest, TakesWiderVectorsWhereTheyAre) {
  const KernelTable table = SelectKernels({.avx2_fma = true});
  EXPECT_EQ(table.elementwise, &kElementwiseAvx2);
  EXPECT_EQ(table.mmt4d, &kMmt4dAvx2);
  EXPECT_EQ(SelectKernels({.avx2_fma = true, .avx_vnni = true}).mmt4d,
            &kMmt4dAvxVnni);
  EXPECT_EQ(
      SelectKernels({.avx2_fma = true, .avx_vnni = true, .avx512_vnni = true})
          .mmt4d,
      &kMmt4dAvx512Vnni);
  // Not without what the rest of them needs.
  EXPECT_EQ(SelectKernels({.avx512_vnni = true}).mmt4d, &kMmt4dPortable);
}
#endif

TEST(KernelTableTest, EveryEntryIsThere) {
  const KernelTable table = SelectKernels(
      {.avx2_fma = true, .avx512_vnni = true, .neon_dotprod = true});
  for (int op = 0; op < kBinaryOpCount; ++op) {
    EXPECT_NE(table.binary(static_cast<BinaryOp>(op)), nullptr);
  }
  for (int op = 0; op < kUnaryOpCount; ++op) {
    EXPECT_NE(table.unary(static_cast<UnaryOp>(op)), nullptr);
  }
  for (int type = 0; type < kMmt4dTypeCount; ++type) {
    EXPECT_NE(table.Mmt4d(static_cast<Mmt4dType>(type)), nullptr);
  }
}

}  // namespace
}  // namespace takt::kernels
