// Which operands operations have, how much of them is used, and which lie
// outside of their ranges.
#include "npu/operation.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt::npu {
namespace {

using testing::HasSubstr;

takt_npu_range_t RangeOf(uint64_t byte_length) {
  return {nullptr, 0, 0, byte_length};
}

takt_npu_operation_t PaddedProduct() {
  takt_npu_operation_t operation = MakeOperation(TAKT_NPU_KIND_MMT4D);
  takt_npu_mmt4d_t& p = operation.mmt4d;
  p.type = TAKT_NPU_TYPE_S16_S8_S32;
  p.m = 2;
  p.n = 3;
  p.k = 5;
  p.m0 = 4;
  p.n0 = 8;
  p.k0 = 2;
  p.left_stride = 40;   // As many as a panel has.
  p.right_stride = 90;  // Ten more.
  p.out_stride = 96;
  p.left = RangeOf(160);
  p.right = RangeOf(260);
  p.out = RangeOf(768);
  return operation;
}

TEST(OperationTest, ProductsHaveThreeOperands) {
  takt_npu_operation_t operation = PaddedProduct();
  OperandRanges operands;
  ASSERT_TRUE(FindOperands(operation, &operands).ok());
  ASSERT_EQ(operands.size(), 3u);
  EXPECT_EQ(operands[0].used_bytes, 160u);
  EXPECT_EQ(operands[1].used_bytes, 260u);
  EXPECT_EQ(operands[2].used_bytes, 768u);
  EXPECT_FALSE(operands[0].is_written);
  EXPECT_TRUE(operands[2].is_written);
  EXPECT_FALSE(operands[2].is_read);
  EXPECT_TRUE(CheckOperands(operation).ok());
  operation.mmt4d.accumulate = 1;
  operands.clear();
  ASSERT_TRUE(FindOperands(operation, &operands).ok());
  EXPECT_TRUE(operands[2].is_read);
}

TEST(OperationTest, NamesTheRangeThatIsTooShort) {
  const struct {
    takt_npu_range_t takt_npu_mmt4d_t::*range;
    const char* text;
  } cases[] = {
      {&takt_npu_mmt4d_t::left, "left: needs 160 bytes, its range has 159"},
      {&takt_npu_mmt4d_t::right, "right: needs 260"},
      {&takt_npu_mmt4d_t::out, "out: needs 768"}};
  for (const auto& c : cases) {
    takt_npu_operation_t operation = PaddedProduct();
    --(operation.mmt4d.*c.range).byte_length;
    const absl::Status status = CheckOperands(operation);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.text));
  }
}

TEST(OperationTest, RefusesSizesThatOverflow) {
  for (int64_t takt_npu_mmt4d_t::*size :
       {&takt_npu_mmt4d_t::m, &takt_npu_mmt4d_t::k, &takt_npu_mmt4d_t::n0,
        &takt_npu_mmt4d_t::left_stride, &takt_npu_mmt4d_t::out_stride}) {
    for (const int64_t value : {int64_t{-1}, INT64_MAX, INT64_MIN}) {
      takt_npu_operation_t operation = PaddedProduct();
      operation.mmt4d.*size = value;
      EXPECT_EQ(CheckOperands(operation).code(),
                absl::StatusCode::kInvalidArgument);
    }
  }
}

TEST(OperationTest, EmptyOperandsUseNothing) {
  takt_npu_operation_t operation = PaddedProduct();
  operation.mmt4d.m = 0;
  operation.mmt4d.left = RangeOf(0);
  operation.mmt4d.out = RangeOf(0);
  EXPECT_TRUE(CheckOperands(operation).ok());
}

TEST(OperationTest, KnowsKindsTypesAndElements) {
  takt_npu_operation_t operation = PaddedProduct();
  operation.mmt4d.type = 4;
  EXPECT_EQ(CheckOperands(operation).code(), absl::StatusCode::kUnimplemented);
  operation = MakeOperation(TAKT_NPU_KIND_UNPACK);
  operation.pack.element_bytes = 2;
  EXPECT_EQ(CheckOperands(operation).code(), absl::StatusCode::kUnimplemented);
  operation.kind = TAKT_NPU_KIND_PACK;
  EXPECT_TRUE(CheckOperands(operation).ok());
  operation = MakeOperation(TAKT_NPU_KIND_COPY);
  EXPECT_EQ(CheckOperands(operation).code(), absl::StatusCode::kUnimplemented);
  operation = MakeOperation(TAKT_NPU_KIND_PROGRAM);
  EXPECT_EQ(CheckOperands(operation).code(), absl::StatusCode::kUnimplemented);
}

TEST(OperationTest, TransfersAreAsLongOnBothSides) {
  takt_npu_operation_t operation = MakeOperation(TAKT_NPU_KIND_TRANSFER);
  operation.transfer.source = RangeOf(5);
  operation.transfer.target = RangeOf(6);
  EXPECT_EQ(CheckOperands(operation).code(),
            absl::StatusCode::kInvalidArgument);
  operation.transfer.target = RangeOf(5);
  EXPECT_TRUE(CheckOperands(operation).ok());
}

}  // namespace
}  // namespace takt::npu
