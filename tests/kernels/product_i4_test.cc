// Products with weights of four bits of every kernel that runs here against the
// definition.
#include "kernels/product_i4.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/test_support.h"

namespace takt::kernels {
namespace {

struct Problem {
  ProductI4Shape s;
  std::vector<float> input, scales, zeros, bias;
  std::vector<uint32_t> codes;  // [inputs][columns]
  std::vector<uint32_t> packed;

  Problem(const ProductI4Shape& shape, bool has_one_zero, TestRandom& random)
      : s(shape) {
    const auto fill = [&](int64_t count, int64_t low, int64_t high) {
      std::vector<float> numbers(static_cast<size_t>(count));
      for (float& x : numbers) {
        x = static_cast<float>(random.Between(low, high));
      }
      return numbers;
    };
    // Powers of two, so that sums of floats are exact in any order.
    input = fill(s.rows * s.inputs, -8, 8);
    scales = fill(s.inputs / s.block * s.columns, -4, 4);
    for (float& scale : scales) scale *= .125f;
    zeros = fill(has_one_zero ? 1 : static_cast<int64_t>(scales.size()), 0, 15);
    bias = fill(s.columns, -100, 100);
    packed.resize(static_cast<size_t>(s.inputs / 8 * s.columns));
    for (int64_t k = 0; k < s.inputs; ++k) {
      for (int64_t n = 0; n < s.columns; ++n) {
        const auto code = static_cast<uint32_t>(random.Between(0, 15));
        codes.push_back(code);
        const int64_t word =
            (n / kProductColumns * (s.inputs / 8) + k / 8) * kProductColumns +
            n % kProductColumns;
        packed[static_cast<size_t>(word)] |= code
                                             << (k % 4 * 8 + k % 8 / 4 * 4);
      }
    }
  }

  // Makes the greatest number of each block 127, so that bytes are exact.
  void LetInputsBeBytes() {
    for (size_t i = 0; i < input.size(); ++i) {
      if (i % static_cast<size_t>(s.block) == 3) input[i] = -127;
    }
  }

  std::vector<float> Expected() const {
    std::vector<float> result;
    const int64_t blocks = s.inputs / s.block;
    for (int64_t row = 0; row < s.rows; ++row) {
      for (int64_t n = 0; n < s.columns; ++n) {
        double sum = bias[static_cast<size_t>(n)];
        for (int64_t k = 0; k < s.inputs; ++k) {
          const auto at = static_cast<size_t>(
              (n / kProductColumns * blocks + k / s.block) * kProductColumns +
              n % kProductColumns);
          const double weight =
              codes[static_cast<size_t>(k * s.columns + n)] -
              static_cast<double>(zeros[zeros.size() == 1 ? 0 : at]);
          sum += static_cast<double>(scales[at]) * weight *
                 static_cast<double>(
                     input[static_cast<size_t>(row * s.inputs + k)]);
        }
        result.push_back(static_cast<float>(sum));
      }
    }
    return result;
  }

  // Computes all results in tiles of `rows` rows and `groups` groups.
  std::vector<float> Run(const KernelTable& kernels, int64_t rows,
                         int64_t groups, bool in_bytes) const {
    std::vector<float> output(static_cast<size_t>(s.rows * s.columns), -1.f);
    const int64_t all = s.columns / kProductColumns;
    for (int64_t row = 0; row < s.rows; row += rows) {
      for (int64_t group = 0; group < all; group += groups) {
        kernels.f32->product_i4(
            s,
            {input.data(), packed.data(), scales.data(), zeros.data(),
             zeros.size() == 1, in_bytes, bias.data(), output.data()},
            {row, std::min(row + rows, s.rows), group,
             std::min(group + groups, all)});
      }
    }
    return output;
  }
};

TEST(ProductI4Test, EveryKernelComputesTheDefinition) {
  TestRandom random(1);
  for (const ProductI4Shape& shape :
       {ProductI4Shape{1, 8, 16, 8}, ProductI4Shape{1, 64, 48, 16},
        ProductI4Shape{3, 96, 32, 32}, ProductI4Shape{13, 64, 80, 64},
        ProductI4Shape{30, 256, 16, 128}, ProductI4Shape{9, 2080, 16, 16},
        ProductI4Shape{2, 2048, 16, 1024},
        // More inputs than one row has room for.
        ProductI4Shape{1, 8256, 32, 64}}) {
    for (const bool has_one_zero : {true, false}) {
      const Problem problem(shape, has_one_zero, random);
      const std::vector<float> expected = problem.Expected();
      for (const KernelTable& kernels : RunnableKernels()) {
        SCOPED_TRACE(testing::Message()
                     << shape.rows << " x " << shape.inputs << " x "
                     << shape.columns << ", one zero: " << has_one_zero);
        EXPECT_EQ(problem.Run(kernels, shape.rows, shape.columns, false),
                  expected);
        EXPECT_EQ(problem.Run(kernels, 2, 1, false), expected);
      }
    }
  }
}

TEST(ProductI4Test, EveryKernelRoundsToTheSameBytes) {
  TestRandom random(2);
  for (const ProductI4Shape& shape :
       {ProductI4Shape{1, 48, 32, 8}, ProductI4Shape{5, 96, 32, 24},
        ProductI4Shape{19, 2048, 16, 32}, ProductI4Shape{2, 2048, 16, 1024},
        ProductI4Shape{2, 8256, 16, 64}}) {
    for (const bool has_one_zero : {true, false}) {
      Problem problem(shape, has_one_zero, random);
      problem.LetInputsBeBytes();
      const std::vector<float> expected = problem.Expected();
      for (const KernelTable& kernels : RunnableKernels()) {
        EXPECT_EQ(problem.Run(kernels, 7, 1, true), expected)
            << shape.rows << " x " << shape.inputs;
      }
    }
  }
}

TEST(ProductI4Test, BytesAreWithinHalfAStep) {
  TestRandom random(3);
  Problem problem({6, 64, 32, 32}, true, random);
  for (float& x : problem.input) x *= .37f;
  const std::vector<float> expected = problem.Expected();
  for (const KernelTable& kernels : RunnableKernels()) {
    const std::vector<float> found = problem.Run(kernels, 6, 2, true);
    EXPECT_NE(found, expected);
    for (size_t i = 0; i < found.size(); ++i) {
      // 64 inputs, each off by half a step, by weights up to 15 * .5.
      EXPECT_NEAR(found[i], expected[i], 64 * .5 * 3 / 127 * 7.5) << i;
    }
  }
}

TEST(ProductI4Test, WhatIsNoNumberStaysSo) {
  TestRandom random(4);
  Problem problem({1, 64, 16, 32}, true, random);
  for (const float fault : {std::nanf(""), HUGE_VALF}) {
    problem.input[40] = fault;
    for (const KernelTable& kernels : RunnableKernels()) {
      for (const bool in_bytes : {false, true}) {
        const std::vector<float> found = problem.Run(kernels, 1, 1, in_bytes);
        EXPECT_TRUE(std::none_of(found.begin(), found.end(), [](float x) {
          return std::isfinite(x);
        })) << fault;
      }
    }
  }
}

TEST(ProductI4Test, RefusesShapesOfNoWholeParts) {
  EXPECT_EQ(CheckProductI4Shape({1, 64, 16, 32}), nullptr);
  for (const ProductI4Shape& shape :
       {ProductI4Shape{0, 64, 16, 32}, ProductI4Shape{1, 0, 16, 32},
        ProductI4Shape{1, 64, 0, 32}, ProductI4Shape{1, 64, 16, 0},
        ProductI4Shape{1, 64, 17, 32}, ProductI4Shape{1, 60, 16, 12},
        ProductI4Shape{1, 80, 16, 32}, ProductI4Shape{1, 1032, 16, 1032},
        ProductI4Shape{(int64_t{1} << 28) + 1, 64, 16, 32}}) {
    EXPECT_NE(CheckProductI4Shape(shape), nullptr);
  }
}

}  // namespace
}  // namespace takt::kernels
