// mmt4d of bytes for 64-bit Arm with the dot product, tiles 8×8×4. Other
// shapes, and floats, are left to the portable kernels.
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

TAKT_DOTPROD void Mmt4dS8(const Mmt4dArguments& a) {
  if (a.m0 != 8 || a.n0 != 8 || a.k0 != 4) {
    return kMmt4dPortable.by_type[static_cast<int>(Mmt4dType::kS8S8S32)](a);
  }
  const auto* const left = static_cast<const int8_t*>(a.left);
  const auto* const right = static_cast<const int8_t*>(a.right);
  auto* const out = static_cast<int32_t*>(a.out);
  for (int64_t i = 0; i < a.m; ++i) {
    for (int64_t j = 0; j < a.n; ++j) {
      S8Tile(left + i * a.left_stride, right + j * a.right_stride, a.k,
             out + i * a.out_stride + j * 64, a.accumulate);
    }
  }
}

void Mmt4dF32(const Mmt4dArguments& a) {
  kMmt4dPortable.by_type[static_cast<int>(Mmt4dType::kF32)](a);
}

}  // namespace

const Mmt4dKernels kMmt4dNeonDotProd = {{&Mmt4dF32, &Mmt4dS8}};

}  // namespace takt::kernels

#endif  // defined(__aarch64__)
