#include "vm/inner_op_tables.h"

#include <gtest/gtest.h>

namespace takt::vm {
namespace {

TEST(InnerOpTablesTest, FloatsMoveAsIntegers) {
  EXPECT_EQ(PlainOpOf(Op::kAddI32), InnerOp::kAddI32);
  EXPECT_EQ(PlainOpOf(Op::kSelectF32), PlainOpOf(Op::kSelectI32));
  EXPECT_EQ(PlainOpOf(Op::kBufferLoadF64), PlainOpOf(Op::kBufferLoadI64));
  EXPECT_EQ(PlainOpOf(Op::kBitcastF32I32), InnerOp::kMove32);
}

TEST(InnerOpTablesTest, OpcodesWithOtherOperandsAreNotPlain) {
  EXPECT_EQ(PlainOpOf(Op::kCall), InnerOp::kCount);
  EXPECT_EQ(PlainOpOf(Op::kBr), InnerOp::kCount);
  EXPECT_EQ(PlainOpOf(Op::kConstI32), InnerOp::kCount);
}

TEST(InnerOpTablesTest, ComparisonsHaveTheirBranches) {
  const FusedBranch* less = FusedOf(InnerOp::kCmpLtI64U);
  ASSERT_NE(less, nullptr);
  EXPECT_EQ(less->if_true, InnerOp::kBranchLtI64U);
  EXPECT_EQ(less->if_false, InnerOp::kBranchGeI64U);
  EXPECT_TRUE(Is64(less->if_true));
  EXPECT_FALSE(Is64(FusedOf(InnerOp::kCmpLtI32U)->if_true));
  EXPECT_EQ(FusedOf(InnerOp::kAddI32), nullptr);
}

TEST(InnerOpTablesTest, BranchesHaveTheirOtherForms) {
  EXPECT_EQ(BackwardOf(InnerOp::kBranchNeI32), InnerOp::kBranchNeI32Back);
  EXPECT_EQ(AddBranchOf(InnerOp::kBranchEqI32), InnerOp::kAddBranchEqI32);
  EXPECT_EQ(AddBranchOf(InnerOp::kBranchLtI32S), InnerOp::kAddBranchLtI32S);
  EXPECT_TRUE(IsWideBranch(InnerOp::kBranchNzI32));
  EXPECT_FALSE(IsWideBranch(InnerOp::kBranchEqI32));
}

TEST(InnerOpTablesTest, PairsAreOfOneWidth) {
  EXPECT_EQ(PairOf(InnerOp::kAddI32, InnerOp::kAddI32, false),
            InnerOp::kAddAddI32);
  EXPECT_EQ(PairOf(InnerOp::kAddI64, InnerOp::kAddI64, true),
            InnerOp::kAddAddI64);
  EXPECT_EQ(PairOf(InnerOp::kXorI32, InnerOp::kXorI32, false),
            InnerOp::kXorXorI32);
  EXPECT_EQ(PairOf(InnerOp::kXorI64, InnerOp::kXorI64, true),
            InnerOp::kXorXorI64);
  EXPECT_EQ(PairOf(InnerOp::kAddI32, InnerOp::kAddI64, false), InnerOp::kCount);
  EXPECT_EQ(PairOf(InnerOp::kAddI32, InnerOp::kShlI32, false), InnerOp::kCount);
}

TEST(InnerOpTablesTest, OperandsThatAreTheLastResult) {
  EXPECT_EQ(ChainedOf(InnerOp::kSubI32, 0), InnerOp::kSubI32B);
  EXPECT_EQ(ChainedOf(InnerOp::kSubI32, 1), InnerOp::kSubI32C);
  EXPECT_EQ(ChainedOf(InnerOp::kSubI32, 2), InnerOp::kCount);
  EXPECT_EQ(ChainedOf(InnerOp::kFmaF32, 2), InnerOp::kFmaF32D);
  EXPECT_EQ(ChainedOf(InnerOp::kBufferStoreI8, 0), InnerOp::kCount);
  EXPECT_EQ(ChainedOf(InnerOp::kBufferStoreI8, 1), InnerOp::kBufferStoreI8C);
  EXPECT_EQ(ChainedOf(PairOf(InnerOp::kXorI64, InnerOp::kXorI64, true), 0),
            InnerOp::kXorXorI64B);
  EXPECT_EQ(UnchainedOf(InnerOp::kFmaF32D), InnerOp::kFmaF32);
  EXPECT_EQ(UnchainedOf(InnerOp::kFmaF32), InnerOp::kFmaF32);
  EXPECT_TRUE(LeavesResult(InnerOp::kAddF64));
  EXPECT_TRUE(LeavesResult(InnerOp::kBufferLoadI8S));
  EXPECT_FALSE(LeavesResult(InnerOp::kBufferStoreI8));
  EXPECT_FALSE(LeavesResult(InnerOp::kBufferLength));
}

TEST(InnerOpTablesTest, OnlySubtractionKeepsItsOrder) {
  EXPECT_TRUE(Commutes(InnerOp::kAddI32, false));
  EXPECT_TRUE(Commutes(InnerOp::kMulI64, true));
  EXPECT_FALSE(Commutes(InnerOp::kSubI32, false));
  EXPECT_FALSE(Commutes(InnerOp::kSubI64, true));
  EXPECT_FALSE(Commutes(InnerOp::kShlI32, false));
}

}  // namespace
}  // namespace takt::vm
