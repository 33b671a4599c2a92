#include "cpu/activation_parameter.h"

#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace takt::cpu {
namespace {

TEST(ActivationParameterTest, ALeakyReluHasItsSlopeAsTheLowerLimit) {
  kernels::ConvOperands operands{};
  ASSERT_TRUE(SetActivation(7, .25f, 6, &operands));
  EXPECT_EQ(operands.activation, kernels::Activation::kLeakyRelu);
  EXPECT_EQ(operands.slope, .25f);
  EXPECT_EQ(operands.low, -std::numeric_limits<float>::infinity());
  EXPECT_EQ(operands.high, 6);
  ASSERT_TRUE(SetActivation(1, -1, 6, &operands));
  EXPECT_EQ(operands.activation, kernels::Activation::kSilu);
  EXPECT_EQ(operands.slope, 0);
  EXPECT_EQ(operands.low, -1);
}

TEST(ActivationParameterTest, RefusesNumbersThatNoActivationHas) {
  kernels::ConvOperands operands{};
  for (const int64_t number : {int64_t{-1}, int64_t{9}, INT64_MAX, INT64_MIN}) {
    EXPECT_FALSE(SetActivation(number, 0, 1, &operands));
  }
}

}  // namespace
}  // namespace takt::cpu
