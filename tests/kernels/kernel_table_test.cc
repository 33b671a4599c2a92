#include "kernels/kernel_table.h"

#include <cstdio>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/test_support.h"

namespace takt::kernels {
namespace {

TEST(KernelTableTest, PortableKernelsNeedNothing) {
  const KernelTable table = SelectKernels({});
  EXPECT_EQ(table.elementwise, &kElementwisePortable);
  EXPECT_EQ(table.mmt4d, &kMmt4dPortable);
  EXPECT_EQ(table.f32, &kF32Portable);
  EXPECT_EQ(table.conv_i8, &kConvI8Portable);
}

#if defined(__x86_64__)
TEST(KernelTableTest, TakesWiderVectorsWhereTheyAre) {
  const KernelTable table = SelectKernels({.avx2_fma = true});
  EXPECT_EQ(table.elementwise, &kElementwiseAvx2);
  EXPECT_EQ(table.mmt4d, &kMmt4dAvx2);
  EXPECT_EQ(table.f32, &kF32Avx2);
  EXPECT_EQ(table.conv_i8, &kConvI8Avx2);
  EXPECT_EQ(SelectKernels({.avx2_fma = true, .avx_vnni = true}).conv_i8,
            &kConvI8AvxVnni);
  EXPECT_EQ(SelectKernels({.avx2_fma = true, .avx512_vnni = true}).conv_i8,
            &kConvI8Avx512Vnni);
  EXPECT_EQ(SelectKernels({.avx2_fma = true, .avx_vnni = true}).mmt4d,
            &kMmt4dAvxVnni);
  EXPECT_EQ(
      SelectKernels({.avx2_fma = true, .avx_vnni = true, .avx512_vnni = true})
          .mmt4d,
      &kMmt4dAvx512Vnni);
  EXPECT_EQ(SelectKernels({.avx2_fma = true, .avx512_vnni = true}).f32,
            &kF32Avx512);
  EXPECT_EQ(SelectKernels({.avx2_fma = true, .avx512_vnni = true}).map_i8,
            &kMapI8Portable);
  EXPECT_EQ(SelectKernels(
                {.avx2_fma = true, .avx512_vnni = true, .avx512_vbmi = true})
                .map_i8,
            &kMapI8Avx512Vbmi);
  // Not without what the rest of them needs.
  EXPECT_EQ(SelectKernels({.avx512_vbmi = true}).map_i8, &kMapI8Portable);
  EXPECT_EQ(SelectKernels({.avx512_bf16 = true}).conv_bf16, &kConvBf16Portable);
  EXPECT_EQ(SelectKernels({.avx512_vnni = true}).mmt4d, &kMmt4dPortable);
  // Those that need tile registers are beside the others.
  KernelTable tiles = SelectKernels({.avx2_fma = true,
                                     .avx512_vnni = true,
                                     .avx512_bf16 = true,
                                     .amx_bf16 = true});
  EXPECT_EQ(tiles.conv_bf16, &kConvBf16Avx512);
  EXPECT_EQ(tiles.conv_bf16_tiles, &kConvBf16Tiles);
  tiles =
      SelectKernels({.avx2_fma = true, .avx512_vnni = true, .amx_bf16 = true});
  EXPECT_EQ(tiles.conv_bf16_tiles, nullptr);
}
#elif defined(__aarch64__)
TEST(KernelTableTest, TakesTheDotProductAndMatricesWhereTheyAre) {
  EXPECT_EQ(SelectKernels({.neon = true}).f32, &kF32Neon);
  EXPECT_EQ(SelectKernels({.neon = true}).conv_i8, &kConvI8Neon);
  EXPECT_EQ(SelectKernels({.neon = true, .neon_dotprod = true}).conv_i8,
            &kConvI8NeonDotProd);
  EXPECT_EQ(
      SelectKernels({.neon = true, .neon_dotprod = true, .neon_i8mm = true})
          .conv_i8,
      &kConvI8NeonI8mm);
  EXPECT_EQ(SelectKernels({.neon = true, .neon_i8mm = true}).conv_i8,
            &kConvI8Neon);
  EXPECT_EQ(SelectKernels({.neon_dotprod = true}).mmt4d, &kMmt4dNeonDotProd);
  EXPECT_EQ(SelectKernels({.neon_dotprod = true, .neon_i8mm = true}).mmt4d,
            &kMmt4dNeonI8mm);
  // Not without what the rest of them needs.
  EXPECT_EQ(SelectKernels({.neon_i8mm = true}).mmt4d, &kMmt4dPortable);
}
#elif defined(TAKT_KERNELS_RVV)
TEST(KernelTableTest, TakesVectorsWhereTheyAre) {
  EXPECT_EQ(SelectKernels({.riscv_v = true}).mmt4d, &kMmt4dRvv);
  EXPECT_EQ(SelectKernels({.riscv_v = true}).f32, &kF32Rvv);
  EXPECT_EQ(SelectKernels({.riscv_v = true}).conv_i8, &kConvI8Rvv);
}
#endif

// The other tests run each of these; scripts/cross.sh --cpus prints their names
// for each processor.
TEST(KernelTableTest, SaysWhichSetsOfKernelsRunHere) {
  const std::vector<KernelTable> tables = RunnableKernels();
  ASSERT_FALSE(tables.empty());
  EXPECT_EQ(tables.front().mmt4d, &kMmt4dPortable);
  for (size_t i = 1; i < tables.size(); ++i) {
    EXPECT_NE(tables[i].conv_i8, &kConvI8Portable);
    EXPECT_TRUE(tables[i].conv_i8 != tables[i - 1].conv_i8 ||
                tables[i].conv_bf16 != tables[i - 1].conv_bf16);
  }
  std::printf("kernels that run here:");
  for (const KernelTable& table : tables) std::printf(" %s", NameOf(table));
  std::printf("\n");
}

TEST(KernelTableTest, EveryEntryExists) {
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
