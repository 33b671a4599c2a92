// The kernel that is written for dot products of unsigned and signed bytes, on
// vectors that do what the instruction does one byte at a time: so that it is
// checked where no processor has the instruction. Where one has it, mmt4d_test
// runs the real ones.
#include <cstdint>

#include "kernels/mmt4d.h"

#define TAKT_VNNI_PANELS 2
#define TAKT_VNNI_VECTORS 2

namespace takt::kernels {
namespace {

struct Vector {
  uint32_t words[8 * TAKT_VNNI_PANELS];
};

inline Vector Load(const int8_t* const* panels, int64_t at) {
  Vector vector;
  for (int p = 0; p < TAKT_VNNI_PANELS; ++p) {
    __builtin_memcpy(vector.words + 8 * p, panels[p] + at, 32);
  }
  return vector;
}
inline Vector Repeat(uint32_t four_bytes) {
  Vector vector;
  for (uint32_t& word : vector.words) word = four_bytes;
  return vector;
}
inline Vector Dot(Vector sum, Vector unsigned_bytes, Vector signed_bytes) {
  for (int i = 0; i < 8 * TAKT_VNNI_PANELS; ++i) {
    for (int b = 0; b < 32; b += 8) {
      const auto x = static_cast<uint8_t>(unsigned_bytes.words[i] >> b);
      const auto y = static_cast<int8_t>(signed_bytes.words[i] >> b);
      sum.words[i] += static_cast<uint32_t>(x * y);
    }
  }
  return sum;
}
inline Vector Subtract(Vector a, Vector b) {
  for (int i = 0; i < 8 * TAKT_VNNI_PANELS; ++i) a.words[i] -= b.words[i];
  return a;
}
inline void Store(Vector sum, int panel, int32_t* words, bool add) {
  for (int i = 0; i < 8; ++i) {
    const uint32_t before = add ? static_cast<uint32_t>(words[i]) : 0;
    words[i] = static_cast<int32_t>(before + sum.words[8 * panel + i]);
  }
}

#include "kernels/mmt4d_vnni_impl.inc"

}  // namespace
}  // namespace takt::kernels

#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/test_support.h"

namespace takt::kernels {
namespace {

TEST(Mmt4dVnniTest, AgreesWithThePortableKernel) {
  TestRandom random(17);
  for (int round = 0; round < 300; ++round) {
    Mmt4dArguments a;
    a.m = random.Between(0, 4);
    a.n = random.Between(0, 5);
    a.k = random.Between(0, 9) == 0 ? random.Between(250, 600)
                                    : random.Between(1, 12);
    a.m0 = int64_t{1} << random.Between(0, 3);
    a.n0 = 8;
    a.k0 = 4;
    a.left_stride = a.k * a.m0 * a.k0 + random.Between(0, 3);
    a.right_stride = a.k * a.n0 * a.k0 + random.Between(0, 3);
    a.out_stride = a.n * a.m0 * a.n0 + random.Between(0, 3);
    a.accumulate = round % 2 != 0;
    const auto left = random.Elements<int8_t>(a.m * a.left_stride + 1);
    const auto right = random.Elements<int8_t>(a.n * a.right_stride + 1);
    auto out = random.Elements<int32_t>(a.m * a.out_stride + 1);
    auto expected = out;
    a.left = left.data();
    a.right = right.data();
    a.out = expected.data();
    kMmt4dPortable.by_type[static_cast<int>(Mmt4dType::kS8S8S32)](a);
    a.out = out.data();
    ASSERT_TRUE(TakesShape(a));
    DotMmt4d(a);
    ASSERT_EQ(out, expected)
        << a.m << "x" << a.n << "x" << a.k << " of " << a.m0;
  }
}

TEST(Mmt4dVnniTest, LeavesOtherTilesToOthers) {
  Mmt4dArguments a;
  a.k = 1;
  a.m0 = 8;
  a.n0 = 8;
  a.k0 = 4;
  EXPECT_TRUE(TakesShape(a));
  a.m0 = 3;
  EXPECT_FALSE(TakesShape(a));
  a.m0 = 8;
  a.n0 = 16;
  EXPECT_FALSE(TakesShape(a));
  a.n0 = 8;
  a.k0 = 2;
  EXPECT_FALSE(TakesShape(a));
  a.k0 = 4;
  a.k = 0;
  EXPECT_FALSE(TakesShape(a));
}

}  // namespace
}  // namespace takt::kernels
