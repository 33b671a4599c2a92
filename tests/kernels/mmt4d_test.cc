// Every kernel against sums in 64 bits, over random shapes.
#include "kernels/mmt4d.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/test_support.h"

namespace takt::kernels {
namespace {

struct Shape {
  int64_t m, n, k, m0, n0, k0;
};

// Half of them the shape that the kernels are made for.
Shape RandomShape(TestRandom& random) {
  Shape s{random.Between(0, 5),  random.Between(0, 5),  random.Between(0, 9),
          random.Between(1, 10), random.Between(1, 10), random.Between(1, 5)};
  if (random.Between(0, 1) != 0) {
    s.m0 = int64_t{1} << random.Between(0, 3);
    s.n0 = 8;
    s.k0 = 4;
  }
  // Now and then more than one block of K.
  if (random.Between(0, 9) == 0) s.k = random.Between(60, 200);
  return s;
}

// `T` operands (the right ones perhaps of another type) and `Sum` results,
// which hold every intermediate sum exactly.
template <typename T, typename Sum, typename Right = T>
void Check(const KernelTable& table, Mmt4dType type, const Shape& s,
           bool accumulate, TestRandom& random) {
  Mmt4dArguments a;
  a.left_stride = s.k * s.m0 * s.k0 + random.Between(0, 3);
  a.right_stride = s.k * s.n0 * s.k0 + random.Between(0, 3);
  a.out_stride = s.n * s.m0 * s.n0 + random.Between(0, 3);
  std::vector<T> left(s.m * a.left_stride + 1);
  std::vector<Right> right(s.n * a.right_stride + 1);
  std::vector<Sum> out(s.m * a.out_stride + 1);
  for (T& x : left) x = static_cast<T>(random.Between(-128, 127));
  for (Right& x : right) x = static_cast<Right>(random.Between(-128, 127));
  for (Sum& x : out) x = static_cast<Sum>(random.Between(-1000, 1000));
  std::vector<Sum> expected = out;
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < s.n; ++j) {
      for (int64_t i0 = 0; i0 < s.m0; ++i0) {
        for (int64_t j0 = 0; j0 < s.n0; ++j0) {
          Sum& target =
              expected[i * a.out_stride + j * s.m0 * s.n0 + i0 * s.n0 + j0];
          int64_t sum = accumulate ? static_cast<int64_t>(target) : 0;
          for (int64_t k = 0; k < s.k; ++k) {
            for (int64_t k0 = 0; k0 < s.k0; ++k0) {
              sum +=
                  static_cast<int64_t>(left[i * a.left_stride +
                                            k * s.m0 * s.k0 + i0 * s.k0 + k0]) *
                  static_cast<int64_t>(right[j * a.right_stride +
                                             k * s.n0 * s.k0 + j0 * s.k0 + k0]);
            }
          }
          target = static_cast<Sum>(sum);
        }
      }
    }
  }
  a.left = left.data();
  a.right = right.data();
  a.out = out.data();
  a.m = s.m;
  a.n = s.n;
  a.k = s.k;
  a.m0 = s.m0;
  a.n0 = s.n0;
  a.k0 = s.k0;
  a.accumulate = accumulate;
  table.Mmt4d(type)(a);
  ASSERT_EQ(out, expected) << s.m << "x" << s.n << "x" << s.k << " of " << s.m0
                           << "x" << s.n0 << "x" << s.k0
                           << (accumulate ? " accumulated" : "");
}

TEST(Mmt4dTest, BytesAgreeWithExactSums) {
  TestRandom random(7);
  for (const KernelTable& table : RunnableKernels()) {
    for (int i = 0; i < 500; ++i) {
      Check<int8_t, int32_t>(table, Mmt4dType::kS8S8S32, RandomShape(random),
                             i % 2 != 0, random);
    }
  }
}

// Integers of this size and their sums are exact in floats, in any order.
TEST(Mmt4dTest, FloatsAgreeWithExactSums) {
  TestRandom random(8);
  for (const KernelTable& table : RunnableKernels()) {
    for (int i = 0; i < 500; ++i) {
      Check<float, float>(table, Mmt4dType::kF32, RandomShape(random),
                          i % 2 != 0, random);
    }
  }
}

TEST(Mmt4dTest, IntegersOfSixteenBitsAgreeWithExactSums) {
  TestRandom random(9);
  for (const KernelTable& table : RunnableKernels()) {
    for (int i = 0; i < 200; ++i) {
      Check<int16_t, int32_t>(table, Mmt4dType::kS16S16S32, RandomShape(random),
                              i % 2 != 0, random);
      Check<int16_t, int32_t, int8_t>(table, Mmt4dType::kS16S8S32,
                                      RandomShape(random), i % 2 != 0, random);
    }
  }
}

// Every value of 16 bits, times one: subnormals, infinities and all.
template <typename ToFloat>
void CheckEveryFloat(Mmt4dType type, uint16_t one, ToFloat to_float) {
  for (const KernelTable& table : RunnableKernels()) {
    for (uint32_t first = 0; first < 0x10000; first += 64) {
      // Columns of eight, each of one number and three zeros.
      uint16_t left[32] = {}, right[8 * 32] = {};
      float out[64] = {};
      for (int i = 0; i < 8; ++i) left[i * 4] = one;
      for (int i = 0; i < 64; ++i) {
        right[i * 4] = static_cast<uint16_t>(first + i);
      }
      Mmt4dArguments a;
      a.left = left;
      a.right = right;
      a.out = out;
      a.m = 1;
      a.n = 8;
      a.k = 1;
      a.m0 = 1;
      a.n0 = 8;
      a.k0 = 4;
      a.left_stride = 4;
      a.right_stride = 32;
      a.out_stride = 64;
      table.Mmt4d(type)(a);
      for (int i = 0; i < 64; ++i) {
        const float expected = to_float(static_cast<uint16_t>(first + i));
        if (expected != expected) {
          EXPECT_NE(out[i], out[i]) << first + i;
        } else {
          EXPECT_EQ(out[i], expected) << first + i;
        }
      }
    }
  }
}

TEST(Mmt4dTest, EveryHalfFloatIsExact) {
  CheckEveryFloat(Mmt4dType::kF16F16F32, 0x3c00, [](uint16_t bits) {
    const int exponent = bits >> 10 & 0x1f, mantissa = bits & 0x3ff;
    double value = exponent == 0 ? std::ldexp(mantissa, -24)
                                 : std::ldexp(mantissa + 1024, exponent - 25);
    if (exponent == 31) value = mantissa != 0 ? NAN : HUGE_VAL;
    return static_cast<float>((bits & 0x8000) != 0 ? -value : value);
  });
}

TEST(Mmt4dTest, EveryBrainFloatIsExact) {
  CheckEveryFloat(Mmt4dType::kBF16BF16F32, 0x3f80, [](uint16_t bits) {
    const uint32_t wide = uint32_t{bits} << 16;
    float value;
    __builtin_memcpy(&value, &wide, sizeof(value));
    return value;
  });
}

TEST(Mmt4dTest, SumsOverNothingAreZeroOrTheOldValue) {
  for (const KernelTable& table : RunnableKernels()) {
    Mmt4dArguments a;
    std::vector<int32_t> out(64, 5);
    a.out = out.data();
    a.out_stride = 64;
    a.m = a.n = 1;
    a.m0 = a.n0 = 8;
    a.k0 = 4;
    a.accumulate = true;
    table.Mmt4d(Mmt4dType::kS8S8S32)(a);
    EXPECT_EQ(out, std::vector<int32_t>(64, 5));
    a.accumulate = false;
    table.Mmt4d(Mmt4dType::kS8S8S32)(a);
    EXPECT_EQ(out, std::vector<int32_t>(64, 0));
  }
}

// -128 * -128 twice is the only pair that 16-bit arithmetic would lose.
TEST(Mmt4dTest, ExtremeBytesDoNotSaturate) {
  for (const KernelTable& table : RunnableKernels()) {
    const std::vector<int8_t> left(32 * 16, -128), right(32 * 16, -128);
    std::vector<int32_t> out(64);
    Mmt4dArguments a;
    a.left = left.data();
    a.right = right.data();
    a.out = out.data();
    a.m = a.n = 1;
    a.k = 16;
    a.m0 = a.n0 = 8;
    a.k0 = 4;
    table.Mmt4d(Mmt4dType::kS8S8S32)(a);
    EXPECT_EQ(out, std::vector<int32_t>(64, 64 * 128 * 128));
  }
}

TEST(Mmt4dTest, IntegerSumsWrap) {
  for (const KernelTable& table : RunnableKernels()) {
    const std::vector<int8_t> left(32, 127), right(32, 127);
    std::vector<int32_t> out(64, 0x7fffffff);
    Mmt4dArguments a;
    a.left = left.data();
    a.right = right.data();
    a.out = out.data();
    a.m = a.n = a.k = 1;
    a.m0 = a.n0 = 8;
    a.k0 = 4;
    a.accumulate = true;
    table.Mmt4d(Mmt4dType::kS8S8S32)(a);
    EXPECT_EQ(static_cast<uint32_t>(out[0]), 0x7fffffffu + 4 * 127 * 127);
  }
}

}  // namespace
}  // namespace takt::kernels
