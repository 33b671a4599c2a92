// mmt4d of bytes for 64-bit Arm with the dot product, or with products of
// matrices (i8mm), tiles 8×8×4. Other shapes and types are left to the portable
// kernels, which compilers turn into NEON by themselves.
#include "kernels/mmt4d.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#include <cstdint>

#define TAKT_DOTPROD __attribute__((target("arch=armv8.2-a+dotprod")))

namespace takt::kernels {
namespace {

// A lane of a sum is one column; the dot product sums its four k0.
TAKT_DOTPROD void S8Tile(const int8_t* left, const int8_t* right, int64_t k,
                         int32_t* out, bool accumulate) {
  int32x4_t sums[8][2];
  for (int i = 0; i < 8; ++i) {
    for (int half = 0; half < 2; ++half) {
      sums[i][half] =
          accumulate ? vld1q_s32(out + i * 8 + half * 4) : vdupq_n_s32(0);
    }
  }
  for (int64_t t = 0; t < k; ++t, left += 32, right += 32) {
    const int8x16_t y0 = vld1q_s8(right);
    const int8x16_t y1 = vld1q_s8(right + 16);
    for (int half = 0; half < 2; ++half) {
      const int8x16_t x = vld1q_s8(left + half * 16);  // Four rows.
      int32x4_t(*const rows)[2] = &sums[half * 4];
      rows[0][0] = vdotq_laneq_s32(rows[0][0], y0, x, 0);
      rows[0][1] = vdotq_laneq_s32(rows[0][1], y1, x, 0);
      rows[1][0] = vdotq_laneq_s32(rows[1][0], y0, x, 1);
      rows[1][1] = vdotq_laneq_s32(rows[1][1], y1, x, 1);
      rows[2][0] = vdotq_laneq_s32(rows[2][0], y0, x, 2);
      rows[2][1] = vdotq_laneq_s32(rows[2][1], y1, x, 2);
      rows[3][0] = vdotq_laneq_s32(rows[3][0], y0, x, 3);
      rows[3][1] = vdotq_laneq_s32(rows[3][1], y1, x, 3);
    }
  }
  for (int i = 0; i < 8; ++i) {
    for (int half = 0; half < 2; ++half) {
      vst1q_s32(out + i * 8 + half * 4, sums[i][half]);
    }
  }
}

// The same by products of 2x8 with 8x2 bytes: a vector is two rows of two K
// tiles, its product with two columns a block of four sums.
#define TAKT_I8MM __attribute__((target("arch=armv8.2-a+dotprod+i8mm")))

// Words a b c d of two tiles' rows, as the rows of both: row i of tile t, then
// of tile t + 1, is eight bytes of K.
TAKT_I8MM inline int8x16_t RowsOfTwo(const int8_t* first, const int8_t* second,
                                     int pair) {
  const int32x2_t x =
      vld1_s32(reinterpret_cast<const int32_t*>(first) + 2 * pair);
  const int32x2_t y =
      vld1_s32(reinterpret_cast<const int32_t*>(second) + 2 * pair);
  return vreinterpretq_s8_s32(vcombine_s32(vzip1_s32(x, y), vzip2_s32(x, y)));
}

TAKT_I8MM void S8TileI8mm(const int8_t* left, const int8_t* right, int64_t k,
                          int32_t* out, bool accumulate) {
  int32x4_t sums[4][4];  // Pairs of rows by pairs of columns.
  for (auto& row : sums) {
    for (int32x4_t& sum : row) sum = vdupq_n_s32(0);
  }
  static const int8_t kNothing[32] = {};
  for (int64_t t = 0; t < k; t += 2, left += 64, right += 64) {
    const bool has_second = t + 1 < k;
    const int8_t* const left2 = has_second ? left + 32 : kNothing;
    const int8_t* const right2 = has_second ? right + 32 : kNothing;
    int8x16_t y[4];
    for (int c = 0; c < 4; ++c) y[c] = RowsOfTwo(right, right2, c);
    for (int r = 0; r < 4; ++r) {
      const int8x16_t x = RowsOfTwo(left, left2, r);
      for (int c = 0; c < 4; ++c) sums[r][c] = vmmlaq_s32(sums[r][c], x, y[c]);
    }
  }
  for (int r = 0; r < 4; ++r) {
    for (int c = 0; c < 4; ++c) {
      for (int i = 0; i < 2; ++i) {
        int32_t* const at = out + (2 * r + i) * 8 + 2 * c;
        int32x2_t half =
            i == 0 ? vget_low_s32(sums[r][c]) : vget_high_s32(sums[r][c]);
        if (accumulate) half = vadd_s32(half, vld1_s32(at));
        vst1_s32(at, half);
      }
    }
  }
}

using TileFunction = void (*)(const int8_t* left, const int8_t* right,
                              int64_t k, int32_t* out, bool accumulate);

template <TileFunction kTile>
void Mmt4dS8(const Mmt4dArguments& a) {
  if (a.m0 != 8 || a.n0 != 8 || a.k0 != 4) {
    return kMmt4dPortable.by_type[static_cast<int>(Mmt4dType::kS8S8S32)](a);
  }
  const auto* const left = static_cast<const int8_t*>(a.left);
  const auto* const right = static_cast<const int8_t*>(a.right);
  auto* const out = static_cast<int32_t*>(a.out);
  for (int64_t i = 0; i < a.m; ++i) {
    for (int64_t j = 0; j < a.n; ++j) {
      kTile(left + i * a.left_stride, right + j * a.right_stride, a.k,
            out + i * a.out_stride + j * 64, a.accumulate);
    }
  }
}

// The other types, without a kernel here.
template <Mmt4dType kType>
void Portable(const Mmt4dArguments& a) {
  kMmt4dPortable.by_type[static_cast<int>(kType)](a);
}

template <TileFunction kTile>
constexpr Mmt4dKernels Table() {
  return {{&Portable<Mmt4dType::kF32>, &Mmt4dS8<kTile>,
           &Portable<Mmt4dType::kF16F16F32>, &Portable<Mmt4dType::kBF16BF16F32>,
           &Portable<Mmt4dType::kS16S16S32>, &Portable<Mmt4dType::kS16S8S32>}};
}

}  // namespace

const Mmt4dKernels kMmt4dNeonDotProd = Table<&S8Tile>();
const Mmt4dKernels kMmt4dNeonI8mm = Table<&S8TileI8mm>();

}  // namespace takt::kernels

#endif  // defined(__aarch64__)
