// mmt4d for any machine and any tile shape.
#include <algorithm>
#include <cstdint>

#include "kernels/mmt4d.h"

namespace takt::kernels {
namespace {

// Floats are summed one after the other; integers as words, which wrap.
template <typename T>
struct Accumulator {
  using Type = float;
};
template <>
struct Accumulator<int8_t> {
  using Type = uint32_t;
};

// A tile of any shape, one output at a time.
template <typename T, typename Sum>
void AnyTile(const Mmt4dArguments& a, const T* left, const T* right, Sum* out) {
  for (int64_t i0 = 0; i0 < a.m0; ++i0) {
    for (int64_t j0 = 0; j0 < a.n0; ++j0) {
      Sum sum = a.accumulate ? out[i0 * a.n0 + j0] : Sum{0};
      for (int64_t k = 0; k < a.k; ++k) {
        const T* const x = left + (k * a.m0 + i0) * a.k0;
        const T* const y = right + (k * a.n0 + j0) * a.k0;
        for (int64_t k0 = 0; k0 < a.k0; ++k0) {
          sum += static_cast<Sum>(x[k0]) * static_cast<Sum>(y[k0]);
        }
      }
      out[i0 * a.n0 + j0] = sum;
    }
  }
}

// 8×8 outputs with K0 = 4, all sums in reach of the compiler's vectors.
template <typename T, typename Sum>
void Tile8x8x4(const Mmt4dArguments& a, const T* left, const T* right,
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

template <typename T>
void Mmt4d(const Mmt4dArguments& a) {
  using Sum = typename Accumulator<T>::Type;
  const bool is_8x8x4 = a.m0 == 8 && a.n0 == 8 && a.k0 == 4;
  const auto tile = is_8x8x4 ? &Tile8x8x4<T, Sum> : &AnyTile<T, Sum>;
  for (int64_t i = 0; i < a.m; ++i) {
    const T* const left = static_cast<const T*>(a.left) + i * a.left_stride;
    Sum* const out = static_cast<Sum*>(a.out) + i * a.out_stride;
    for (int64_t j = 0; j < a.n; ++j) {
      const T* const right =
          static_cast<const T*>(a.right) + j * a.right_stride;
      tile(a, left, right, out + j * a.m0 * a.n0);
    }
  }
}

}  // namespace

const Mmt4dKernels kMmt4dPortable = {{&Mmt4d<float>, &Mmt4d<int8_t>}};

}  // namespace takt::kernels
