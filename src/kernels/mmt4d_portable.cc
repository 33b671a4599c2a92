// mmt4d for any machine and any tile shape.
#include <bit>
#include <cstdint>

#include "kernels/mmt4d.h"

namespace takt::kernels {
namespace {

// Floats of 16 bits, as elements that convert to float without loss, whatever
// is done with subnormals.
struct F16 {
  uint16_t bits;
  explicit operator float() const {
    const uint32_t exponent = bits >> 10 & 0x1f;
    const uint32_t mantissa = bits & 0x3ff;
    const uint32_t sign = uint32_t{bits} >> 15 << 31;
    if (exponent == 0) {
      const float value = static_cast<float>(mantissa) * 0x1p-24f;
      return sign != 0 ? -value : value;
    }
    const uint32_t wide = exponent == 0x1f ? 0xff : exponent + 127 - 15;
    return std::bit_cast<float>(sign | wide << 23 | mantissa << 13);
  }
};
struct BF16 {
  uint16_t bits;
  explicit operator float() const {
    return std::bit_cast<float>(uint32_t{bits} << 16);
  }
};

// Floats are summed one after the other; integers as words, which wrap.

// A tile of any shape, one output at a time.
template <typename Left, typename Right, typename Sum>
void AnyTile(const Mmt4dArguments& a, const Left* left, const Right* right,
             Sum* out) {
  for (int64_t i0 = 0; i0 < a.m0; ++i0) {
    for (int64_t j0 = 0; j0 < a.n0; ++j0) {
      Sum sum = a.accumulate ? out[i0 * a.n0 + j0] : Sum{0};
      for (int64_t k = 0; k < a.k; ++k) {
        const Left* const x = left + (k * a.m0 + i0) * a.k0;
        const Right* const y = right + (k * a.n0 + j0) * a.k0;
        for (int64_t k0 = 0; k0 < a.k0; ++k0) {
          sum += static_cast<Sum>(x[k0]) * static_cast<Sum>(y[k0]);
        }
      }
      out[i0 * a.n0 + j0] = sum;
    }
  }
}

// 8×8 outputs with K0 = 4, all sums in reach of the compiler's vectors.
template <typename Left, typename Right, typename Sum>
void Tile8x8x4(const Mmt4dArguments& a, const Left* left, const Right* right,
               Sum* out) {
  constexpr int kRows = 4;  // At once; all eight would not fit in registers.
  for (int half = 0; half < 8; half += kRows) {
    Sum sums[kRows][8] = {};
    for (int64_t k = 0; k < a.k; ++k) {
      Sum columns[4][8];
      for (int j0 = 0; j0 < 8; ++j0) {
        for (int k0 = 0; k0 < 4; ++k0) {
          columns[k0][j0] = static_cast<Sum>(right[k * 32 + j0 * 4 + k0]);
        }
      }
      for (int i0 = 0; i0 < kRows; ++i0) {
        for (int k0 = 0; k0 < 4; ++k0) {
          const Sum x = static_cast<Sum>(left[k * 32 + (half + i0) * 4 + k0]);
          for (int j0 = 0; j0 < 8; ++j0) sums[i0][j0] += x * columns[k0][j0];
        }
      }
    }
    for (int i0 = 0; i0 < kRows; ++i0) {
      Sum* const row = out + (half + i0) * 8;
      for (int j0 = 0; j0 < 8; ++j0) {
        row[j0] = sums[i0][j0] + (a.accumulate ? row[j0] : Sum{0});
      }
    }
  }
}

template <typename Left, typename Right, typename Sum>
void Mmt4d(const Mmt4dArguments& a) {
  const bool is_8x8x4 = a.m0 == 8 && a.n0 == 8 && a.k0 == 4;
  const auto tile =
      is_8x8x4 ? &Tile8x8x4<Left, Right, Sum> : &AnyTile<Left, Right, Sum>;
  for (int64_t i = 0; i < a.m; ++i) {
    const Left* const left =
        static_cast<const Left*>(a.left) + i * a.left_stride;
    Sum* const out = static_cast<Sum*>(a.out) + i * a.out_stride;
    for (int64_t j = 0; j < a.n; ++j) {
      const Right* const right =
          static_cast<const Right*>(a.right) + j * a.right_stride;
      tile(a, left, right, out + j * a.m0 * a.n0);
    }
  }
}

}  // namespace

const Mmt4dKernels kMmt4dPortable = {
    {&Mmt4d<float, float, float>, &Mmt4d<int8_t, int8_t, uint32_t>,
     &Mmt4d<F16, F16, float>, &Mmt4d<BF16, BF16, float>,
     &Mmt4d<int16_t, int16_t, uint32_t>, &Mmt4d<int16_t, int8_t, uint32_t>}};

}  // namespace takt::kernels
