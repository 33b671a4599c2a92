// Which tiles plans choose, and what they refuse. What they compute is checked
// through the C API, in tests/api/npu_queue_test.c.
#include "npu/matmul.h"

#include <cstring>

#include "gtest/gtest.h"

namespace takt::npu {
namespace {

takt_npu_capabilities_t Capabilities(uint32_t most, uint32_t multiple) {
  takt_npu_capabilities_t capabilities;
  std::memset(&capabilities, 0, sizeof(capabilities));
  for (int d = 0; d < 3; ++d) {
    capabilities.tile_max[d] = most;
    capabilities.tile_multiple[d] = multiple;
  }
  return capabilities;
}

Matmul Of(int64_t m, int64_t n, int64_t k) {
  Matmul matmul;
  matmul.m = m;
  matmul.n = n;
  matmul.k = k;
  matmul.left_stride = k;
  matmul.right_stride = n;
  matmul.out_stride = n;
  return matmul;
}

TEST(MatmulTest, TakesTilesThatTheUnitTakes) {
  const struct {
    uint32_t most, multiple;
    int64_t m0, n0, k0;
  } cases[] = {{65536, 1, 8, 8, 4},
               {65536, 16, 16, 16, 16},
               {4, 1, 4, 4, 4},
               {7, 3, 6, 6, 6},
               {65536, 3, 9, 9, 6}};
  for (const auto& c : cases) {
    const auto plan = PlanMatmul(Capabilities(c.most, c.multiple), Of(5, 6, 7));
    ASSERT_TRUE(plan.ok()) << plan.status();
    ASSERT_EQ(plan->operations.size(), 4u);
    const takt_npu_mmt4d_t& product = plan->operations[2].mmt4d;
    EXPECT_EQ(product.m0, c.m0);
    EXPECT_EQ(product.n0, c.n0);
    EXPECT_EQ(product.k0, c.k0);
  }
}

TEST(MatmulTest, PacksTheOutputOnlyToAddToIt) {
  Matmul matmul = Of(8, 8, 4);
  EXPECT_EQ(PlanMatmul(Capabilities(64, 1), matmul)->operations.size(), 4u);
  matmul.accumulate = true;
  EXPECT_EQ(PlanMatmul(Capabilities(64, 1), matmul)->operations.size(), 5u);
}

TEST(MatmulTest, TilesLieBesideOneAnother) {
  const auto plan = PlanMatmul(Capabilities(65536, 1), Of(8, 16, 12));
  ASSERT_TRUE(plan.ok());
  const takt_npu_mmt4d_t& product = plan->operations[2].mmt4d;
  EXPECT_EQ(product.left.offset, 0u);
  EXPECT_EQ(product.right.offset, 128u);        // 96 bytes, and to 64.
  EXPECT_EQ(product.out.offset, 128u + 192u);   // 2 * 96 bytes.
  EXPECT_EQ(plan->scratch_bytes, 320u + 512u);  // 8 * 16 words.
}

TEST(MatmulTest, RefusesInvalidProducts) {
  const auto capabilities = Capabilities(65536, 1);
  const auto code = [&](const Matmul& matmul) {
    return PlanMatmul(capabilities, matmul).status().code();
  };
  EXPECT_EQ(code(Of(-1, 2, 3)), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(Of(1, 2, INT64_MAX)), absl::StatusCode::kInvalidArgument);
  Matmul narrow = Of(2, 3, 4);
  narrow.out_stride = 2;
  EXPECT_EQ(code(narrow), absl::StatusCode::kInvalidArgument);
  Matmul strange = Of(2, 3, 4);
  strange.type = static_cast<takt_npu_type_t>(4);
  EXPECT_EQ(code(strange), absl::StatusCode::kUnimplemented);
  // Each size is one; together they are not.
  EXPECT_EQ(code(Of(1 << 29, 1 << 29, 1 << 29)), absl::StatusCode::kOk);
  constexpr int64_t kMost = INT32_MAX / 2;
  EXPECT_EQ(code(Of(kMost, kMost, kMost)), absl::StatusCode::kInvalidArgument);
}

TEST(MatmulTest, EmptyProductsArePlanned) {
  for (const Matmul& matmul : {Of(0, 2, 3), Of(2, 0, 3), Of(2, 3, 0)}) {
    EXPECT_TRUE(PlanMatmul(Capabilities(65536, 1), matmul).ok());
  }
}

}  // namespace
}  // namespace takt::npu
