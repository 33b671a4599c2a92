// Every kernel of every instruction set against scalar code of the C library,
// over shapes with and without whole vectors, and strides of every kind.
#include "kernels/elementwise.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/test_support.h"

namespace takt::kernels {
namespace {

float AsFloat(uint32_t word) { return std::bit_cast<float>(word); }
uint32_t AsWord(float value) { return std::bit_cast<uint32_t>(value); }
int32_t AsSigned(uint32_t word) { return static_cast<int32_t>(word); }

uint32_t Expected(BinaryOp op, uint32_t a, uint32_t b) {
  switch (op) {
    case BinaryOp::kAddF32:
      return AsWord(AsFloat(a) + AsFloat(b));
    case BinaryOp::kSubF32:
      return AsWord(AsFloat(a) - AsFloat(b));
    case BinaryOp::kMulF32:
      return AsWord(AsFloat(a) * AsFloat(b));
    case BinaryOp::kDivF32:
      return AsWord(AsFloat(a) / AsFloat(b));
    case BinaryOp::kAddI32:
      return a + b;
    case BinaryOp::kSubI32:
      return a - b;
    case BinaryOp::kMulI32:
      return a * b;
    case BinaryOp::kDivSignedI32:
      if (b == 0) return 0;
      return static_cast<uint32_t>(int64_t{AsSigned(a)} / AsSigned(b));
    case BinaryOp::kDivUnsignedI32:
      return b == 0 ? 0 : a / b;
    case BinaryOp::kAndI32:
      return a & b;
    case BinaryOp::kOrI32:
      return a | b;
    case BinaryOp::kXorI32:
      return a ^ b;
    case BinaryOp::kShiftLeftI32:
      return a << (b & 31);
    case BinaryOp::kShiftRightSignedI32:
      return static_cast<uint32_t>(AsSigned(a) >> (b & 31));
    case BinaryOp::kShiftRightUnsignedI32:
      return a >> (b & 31);
  }
  return 0;
}

// exp and log in double precision, rounded once.
uint32_t Expected(UnaryOp op, uint32_t a) {
  const float x = AsFloat(a);
  switch (op) {
    case UnaryOp::kAbsF32:
      return a & 0x7fffffff;
    case UnaryOp::kCeilF32:
      return AsWord(std::ceil(x));
    case UnaryOp::kExpF32:
      return AsWord(static_cast<float>(std::exp(static_cast<double>(x))));
    case UnaryOp::kFloorF32:
      return AsWord(std::floor(x));
    case UnaryOp::kLogF32:
      return AsWord(static_cast<float>(std::log(static_cast<double>(x))));
    case UnaryOp::kNegF32:
      return a ^ 0x80000000;
    case UnaryOp::kRsqrtF32:
      return AsWord(1.0f / std::sqrt(x));
    case UnaryOp::kCountLeadingZerosI32:
      return static_cast<uint32_t>(std::countl_zero(a));
  }
  return 0;
}

bool IsFloat(BinaryOp op) { return op <= BinaryOp::kDivF32; }
bool IsFloat(UnaryOp op) { return op != UnaryOp::kCountLeadingZerosI32; }

// The same bits; for float results any NaN for a NaN, and `ulps` apart.
void ExpectSame(uint32_t actual, uint32_t expected, bool is_float,
                uint32_t ulps) {
  if (is_float && std::isnan(AsFloat(expected))) {
    EXPECT_TRUE(std::isnan(AsFloat(actual))) << std::hex << actual;
    return;
  }
  const uint32_t distance =
      actual > expected ? actual - expected : expected - actual;
  EXPECT_LE(distance, is_float ? ulps : 0)
      << std::hex << actual << " for " << expected;
}

// Numbers of ordinary size, and the ones at the edges of their types.
uint32_t RandomWord(TestRandom& random, bool is_float) {
  static constexpr uint32_t kEdges[] = {
      0,          1,          0x80000000, 0xffffffff, 0x7fffffff,
      31,         32,         0x3f800000, 0xbf800000, 0x3f000000,
      0xbf000000, 0x7f800000, 0xff800000, 0x7fc00000, 0x4b000000,
      0xcb000001, 0x42b17218, 0xc2cff1b5, 0x00800000, 0x3fc00000};
  if (random.Between(0, 3) == 0) {
    const uint32_t edge = kEdges[random.Between(0, std::size(kEdges) - 1)];
    // Denormals depend on the thread's mode.
    if (!is_float || (edge & 0x7f800000) != 0 || edge == 0) return edge;
  }
  if (!is_float) return random.Word() >> random.Between(0, 31);
  return AsWord(static_cast<float>(random.Between(-80000, 80000)) * 0.001f);
}

struct Layout {
  int64_t stride0;
  int64_t stride1;
};

// Dense, padded rows, repeated rows, repeated elements, every other element,
// transposed.
std::vector<Layout> InputLayouts(Shape2d shape) {
  return {{shape.size1, 1}, {shape.size1 + 3, 1}, {0, 1},          {1, 0},
          {0, 0},           {2 * shape.size1, 2}, {1, shape.size0}};
}
std::vector<Layout> OutputLayouts(Shape2d shape) {
  return {{shape.size1, 1},
          {shape.size1 + 3, 1},
          {2 * shape.size1, 2},
          {1, shape.size0}};
}
constexpr Shape2d kShapes[] = {{1, 1},  {1, 16}, {3, 5}, {4, 8},
                               {5, 33}, {0, 4},  {7, 0}, {2, 19}};
constexpr int64_t kElements = 1024;  // Enough for any layout of any shape.
constexpr uint32_t kUnwritten = 0xa5a5a5a5;

int64_t Index(Layout layout, int64_t i, int64_t j) {
  return i * layout.stride0 + j * layout.stride1;
}

void CheckBinary(const KernelTable& table, BinaryOp op, Shape2d shape, Layout a,
                 Layout b, Layout out, TestRandom& random) {
  std::vector<uint32_t> lhs(kElements), rhs(kElements);
  for (uint32_t& word : lhs) word = RandomWord(random, IsFloat(op));
  for (uint32_t& word : rhs) word = RandomWord(random, IsFloat(op));
  std::vector<uint32_t> actual(kElements, kUnwritten);
  std::vector<bool> covered(kElements);
  table.binary(op)({lhs.data(), a.stride0, a.stride1},
                   {rhs.data(), b.stride0, b.stride1},
                   {actual.data(), out.stride0, out.stride1}, shape);
  for (int64_t i = 0; i < shape.size0; ++i) {
    for (int64_t j = 0; j < shape.size1; ++j) {
      ExpectSame(actual[Index(out, i, j)],
                 Expected(op, lhs[Index(a, i, j)], rhs[Index(b, i, j)]),
                 IsFloat(op), 0);
      covered[Index(out, i, j)] = true;
    }
  }
  for (int64_t i = 0; i < kElements; ++i) {
    if (!covered[i]) {
      EXPECT_EQ(actual[i], kUnwritten) << i;
    }
  }
}

TEST(ElementwiseTest, BinaryOperationsAgreeWithScalarCode) {
  TestRandom random(1);
  for (const KernelTable& table : RunnableKernels()) {
    for (int op = 0; op < kBinaryOpCount; ++op) {
      for (const Shape2d shape : kShapes) {
        for (const Layout a : InputLayouts(shape)) {
          for (const Layout b : InputLayouts(shape)) {
            const auto outputs = OutputLayouts(shape);
            CheckBinary(table, static_cast<BinaryOp>(op), shape, a, b,
                        outputs[random.Between(0, 3)], random);
          }
        }
      }
    }
  }
}

TEST(ElementwiseTest, UnaryOperationsAgreeWithScalarCode) {
  TestRandom random(2);
  for (const KernelTable& table : RunnableKernels()) {
    for (int i = 0; i < kUnaryOpCount; ++i) {
      const auto op = static_cast<UnaryOp>(i);
      for (const Shape2d shape : kShapes) {
        for (const Layout in : InputLayouts(shape)) {
          for (const Layout out : OutputLayouts(shape)) {
            std::vector<uint32_t> input(kElements);
            for (uint32_t& word : input) word = RandomWord(random, IsFloat(op));
            std::vector<uint32_t> actual(kElements, kUnwritten);
            table.unary(op)({input.data(), in.stride0, in.stride1},
                            {actual.data(), out.stride0, out.stride1}, shape);
            for (int64_t r = 0; r < shape.size0; ++r) {
              for (int64_t c = 0; c < shape.size1; ++c) {
                SCOPED_TRACE(input[Index(in, r, c)]);
                ExpectSame(actual[Index(out, r, c)],
                           Expected(op, input[Index(in, r, c)]), IsFloat(op),
                           op == UnaryOp::kExpF32 || op == UnaryOp::kLogF32);
              }
            }
          }
        }
      }
    }
  }
}

// One run over all exponents and many mantissas; results below the least
// normal number depend on the thread's mode and are left out.
TEST(ElementwiseTest, ExpAndLogAreWithinOneUnitOverTheirRange) {
  for (const KernelTable& table : RunnableKernels()) {
    for (const UnaryOp op : {UnaryOp::kExpF32, UnaryOp::kLogF32}) {
      std::vector<uint32_t> input;
      for (uint64_t word = 0; word < 0x100000000; word += 99991) {
        if ((word & 0x7f800000) != 0) {
          input.push_back(static_cast<uint32_t>(word));
        }
      }
      const auto count = static_cast<int64_t>(input.size());
      std::vector<uint32_t> actual(input.size());
      table.unary(op)({input.data(), count, 1}, {actual.data(), count, 1},
                      {1, count});
      for (size_t i = 0; i < input.size(); ++i) {
        const uint32_t expected = Expected(op, input[i]);
        if ((expected & 0x7f800000) == 0) continue;
        SCOPED_TRACE(AsFloat(input[i]));
        ExpectSame(actual[i], expected, true, 1);
      }
    }
  }
}

TEST(ElementwiseTest, DivisionByZeroGivesZeroAndTheLeastIntegerWraps) {
  for (const KernelTable& table : RunnableKernels()) {
    const uint32_t a[3] = {7, 0x80000000, 0x80000000};
    const uint32_t b[3] = {0, 0xffffffff, 0};
    uint32_t out[3];
    table.binary(BinaryOp::kDivSignedI32)({a, 3, 1}, {b, 3, 1}, {out, 3, 1},
                                          {1, 3});
    EXPECT_EQ(out[0], 0u);
    EXPECT_EQ(out[1], 0x80000000u);
    EXPECT_EQ(out[2], 0u);
    table.binary(BinaryOp::kDivUnsignedI32)({a, 3, 1}, {b, 3, 1}, {out, 3, 1},
                                            {1, 3});
    EXPECT_EQ(out[0], 0u);
    EXPECT_EQ(out[1], 0u);
    EXPECT_EQ(out[2], 0u);
  }
}

TEST(ElementwiseTest, OutputMayBeAnInput) {
  for (const KernelTable& table : RunnableKernels()) {
    std::vector<uint32_t> data(37, 5);
    const Operand2d<const uint32_t> in = {data.data(), 37, 1};
    table.binary(BinaryOp::kMulI32)(in, in, {data.data(), 37, 1}, {1, 37});
    EXPECT_EQ(data, std::vector<uint32_t>(37, 25));
  }
}

}  // namespace
}  // namespace takt::kernels
