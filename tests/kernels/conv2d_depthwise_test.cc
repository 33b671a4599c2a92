// Both convolutions in one pass against one after the other. Operands are small
// whole numbers, so that sums are exact in any order.
#include "kernels/conv2d_depthwise.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/test_support.h"

namespace takt::kernels {
namespace {

using Floats = std::vector<float>;

Floats SmallNumbers(int64_t count, TestRandom* random) {
  Floats numbers(static_cast<size_t>(count));
  for (float& x : numbers) x = static_cast<float>(random->Between(-4, 4));
  return numbers;
}

ConvDepthwiseShape RandomShape(TestRandom* random) {
  ConvDepthwiseShape shape;
  shape.conv = RandomConvShape(false, random);
  shape.conv.groups = 1;
  shape.conv.out_h = random->Between(1, 30);
  shape.depthwise = RandomConvShape(true, random);
  ConvShape& s = shape.depthwise;
  s.batch = shape.conv.batch;
  s.in_h = shape.conv.out_h;
  s.in_w = shape.conv.out_w;
  s.out_h = random->Between(1, 30);
  s.in_c = s.out_c = s.groups = shape.conv.out_c;
  return shape;
}

class Problem {
 public:
  Problem(const ConvDepthwiseShape& shape, TestRandom* random)
      : shape_(shape),
        channels_(shape.conv.block_count() * kConvBlock),
        input_(SmallNumbers(shape.conv.batch * shape.conv.in_h *
                                shape.conv.in_w * shape.conv.in_c,
                            random)),
        weights_(SmallNumbers(channels_ * shape.conv.kernel_h *
                                  shape.conv.kernel_w * shape.conv.in_c,
                              random)),
        bias_(SmallNumbers(channels_, random)),
        depthwise_weights_(SmallNumbers(
            channels_ * shape.depthwise.kernel_h * shape.depthwise.kernel_w,
            random)),
        depthwise_bias_(SmallNumbers(channels_, random)) {}

  Floats OneAfterTheOther(const F32Kernels& kernels) const {
    Floats between(
        static_cast<size_t>(shape_.conv.pixel_count() * shape_.conv.out_c));
    Floats output = EmptyOutput();
    const int64_t blocks = shape_.conv.block_count();
    ConvOperands first = Operands(nullptr).conv;
    first.output = between.data();
    kernels.conv2d(shape_.conv, first,
                   {0, shape_.conv.pixel_count(), 0, blocks});
    ConvOperands second = Operands(output.data()).depthwise;
    second.input = between.data();
    kernels.depthwise(shape_.depthwise, second,
                      {0, shape_.depthwise.pixel_count(), 0, blocks});
    return output;
  }

  // The result in tiles of `rows` rows and `blocks` blocks.
  Floats InOnePass(const F32Kernels& kernels, int64_t rows,
                   int64_t blocks) const {
    Floats output = EmptyOutput();
    // The kernel reads nothing that was in the memory before.
    Floats scratch(kConvDepthwiseScratchBytes / sizeof(float) + 1, 777.f);
    const int64_t all_blocks = shape_.conv.block_count();
    for (int64_t row = 0; row < shape_.row_count(); row += rows) {
      for (int64_t block = 0; block < all_blocks; block += blocks) {
        ConvolveDepthwise(kernels, shape_, Operands(output.data()),
                          {row, std::min(row + rows, shape_.row_count()), block,
                           std::min(block + blocks, all_blocks)},
                          scratch.data());
      }
    }
    EXPECT_EQ(scratch.back(), 777.f);
    return output;
  }

 private:
  Floats EmptyOutput() const {
    return Floats(static_cast<size_t>(shape_.depthwise.pixel_count() *
                                      shape_.depthwise.out_c),
                  -12345.f);
  }
  ConvDepthwiseOperands Operands(float* output) const {
    return {{input_.data(), weights_.data(), bias_.data(), nullptr, nullptr, 0,
             60, Activation::kNone},
            {nullptr, depthwise_weights_.data(), depthwise_bias_.data(),
             nullptr, output, -500, 500, Activation::kHardSigmoid}};
  }

  const ConvDepthwiseShape shape_;
  const int64_t channels_;
  const Floats input_, weights_, bias_, depthwise_weights_, depthwise_bias_;
};

TEST(Conv2dDepthwiseTest, EqualsOneAfterTheOther) {
  for (const KernelTable& table : RunnableKernels()) {
    TestRandom random(7);
    for (int i = 0; i < 150; ++i) {
      const ConvDepthwiseShape shape = RandomShape(&random);
      ASSERT_EQ(CheckConvDepthwiseShape(shape), nullptr);
      const Problem problem(shape, &random);
      const int64_t rows = random.Between(1, shape.row_count());
      const int64_t blocks = random.Between(1, shape.conv.block_count());
      ASSERT_EQ(problem.InOnePass(*table.f32, rows, blocks),
                problem.OneAfterTheOther(*table.f32))
          << NameOf(table) << ", shape " << i;
    }
  }
}

// An image of such a width that the rows come in several steps.
ConvDepthwiseShape WideShape(int64_t width) {
  return {{1, 40, width, 3, 40, width, 64, 1, 1, 1, 1, 1, 1, 0, 0, 1},
          {1, 40, width, 64, 20, width, 64, 3, 3, 2, 1, 1, 1, 1, 1, 64}};
}

TEST(Conv2dDepthwiseTest, TakesAsManyRowsAsStayInTheCache) {
  // A row between the convolutions has 200 * 64 floats: three fit, and no five.
  EXPECT_EQ(ConvDepthwiseRows(WideShape(200), 64), 1);
  EXPECT_EQ(ConvDepthwiseRows(WideShape(200), 16), 7);
  EXPECT_EQ(ConvDepthwiseRows(WideShape(2), 16), 20);   // All there are.
  EXPECT_EQ(ConvDepthwiseRows(WideShape(512), 64), 1);  // 3 rows: 384 KiB.
  EXPECT_EQ(ConvDepthwiseRows(WideShape(513), 64), 0);
  TestRandom random(8);
  const KernelTable table = RunnableKernels().back();
  const Problem problem(WideShape(512), &random);
  EXPECT_EQ(problem.InOnePass(*table.f32, 9, 4),
            problem.OneAfterTheOther(*table.f32));
}

TEST(Conv2dDepthwiseTest, RefusesShapesThatDoNotFollow) {
  const ConvDepthwiseShape good = WideShape(8);
  ASSERT_EQ(CheckConvDepthwiseShape(good), nullptr);
  const auto refuses = [&](auto change) {
    ConvDepthwiseShape shape = good;
    change(&shape);
    return CheckConvDepthwiseShape(shape) != nullptr;
  };
  EXPECT_TRUE(refuses([](ConvDepthwiseShape* s) { s->conv.in_h = 0; }));
  EXPECT_TRUE(refuses([](ConvDepthwiseShape* s) { s->conv.groups = 3; }));
  EXPECT_TRUE(refuses([](ConvDepthwiseShape* s) { s->conv.in_c = 16385; }));
  EXPECT_TRUE(refuses([](ConvDepthwiseShape* s) { s->conv.kernel_h = 129; }));
  EXPECT_TRUE(refuses([](ConvDepthwiseShape* s) { s->depthwise.batch = 2; }));
  EXPECT_TRUE(refuses([](ConvDepthwiseShape* s) { s->depthwise.in_h = 39; }));
  EXPECT_TRUE(refuses([](ConvDepthwiseShape* s) { s->depthwise.in_w = 9; }));
  EXPECT_TRUE(refuses([](ConvDepthwiseShape* s) { s->depthwise.groups = 1; }));
  EXPECT_TRUE(refuses([](ConvDepthwiseShape* s) {
    s->depthwise.in_c = s->depthwise.out_c = s->depthwise.groups = 48;
  }));
}

}  // namespace
}  // namespace takt::kernels
