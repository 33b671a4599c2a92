#include "kernels/tile_sizes.h"

#include "gtest/gtest.h"

namespace takt::kernels {
namespace {

TEST(TileSizesTest, OperandsOfOneOperationAgreeAndDivide16) {
  for (const uint32_t operation : {0x100u, 0x200u}) {
    const auto left = QueryTileSizes(operation | 1);
    const auto right = QueryTileSizes(operation | 2);
    const auto result = QueryTileSizes(operation | 3);
    ASSERT_TRUE(left.ok() && right.ok() && result.ok());
    EXPECT_EQ(left->tile0, result->tile0);
    EXPECT_EQ(right->tile0, result->tile1);
    EXPECT_EQ(left->tile1, right->tile1);
    EXPECT_EQ(16 % left->tile0, 0);
    EXPECT_EQ(16 % left->tile1, 0);
    EXPECT_EQ(16 % right->tile0, 0);
  }
}

TEST(TileSizesTest, NamesUnknownOperandsAndOperations) {
  EXPECT_EQ(QueryTileSizes(0x104).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(QueryTileSizes(0x100).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(QueryTileSizes(0x301).status().code(),
            absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace takt::kernels
