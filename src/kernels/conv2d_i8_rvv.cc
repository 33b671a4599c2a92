// The convolutions of bytes for RISC-V with V: four pixels by a block, whose
// sums are a vector of four registers each, at a length of 16 bytes or more.
#include "kernels/conv2d_i8.h"

#if defined(TAKT_KERNELS_RVV)
#include <riscv_vector.h>

#include <cstddef>
#include <cstdint>

#define TAKT_CONV_I8_OWN_PRODUCTS

namespace takt::kernels {
namespace {

#define TAKT_VECTOR_BYTES 16
#include "kernels/block_vectors.inc"

constexpr int kBlocks = 1;
constexpr int kPixelsMax = 4;
constexpr int kPixelStep = 1;
constexpr int PixelsOf(int64_t) { return 4; }
typedef int32_t Words __attribute__((vector_size(64)));

constexpr int kTapsAtOnce = 1;
typedef int16_t Taps __attribute__((vector_size(32)));

inline void LoadTaps(const int8_t* data, const int8_t*, int64_t count,
                     Taps* taps) {
  const size_t lanes =
      __riscv_vsetvl_e8m1(static_cast<size_t>(count < 16 ? count : 16));
  __riscv_vse16_v_i16m2(
      reinterpret_cast<int16_t*>(taps),
      __riscv_vsext_vf2_i16m2(__riscv_vle8_v_i8m1(data, lanes), lanes), lanes);
}
inline void AddTaps(Words& words, const Taps& x, const Taps& weights) {
  words += __builtin_convertvector(x, Words) *
           __builtin_convertvector(weights, Words);
}

inline void Finish(const Words& sum, const ConvI8Operands& o, int64_t at,
                   int64_t channel, int64_t count) {
  const size_t lanes = __riscv_vsetvl_e32m4(static_cast<size_t>(count));
  const vint32m4_t total = __riscv_vadd_vv_i32m4(
      __riscv_vle32_v_i32m4(reinterpret_cast<const int32_t*>(&sum), lanes),
      __riscv_vle32_v_i32m4(o.bias + channel, lanes), lanes);
  vfloat32m4_t x = __riscv_vfmul_vv_f32m4(
      __riscv_vfcvt_f_x_v_f32m4(total, lanes),
      __riscv_vle32_v_f32m4(o.scale + channel, lanes), lanes);
  // Low also if it is not a number.
  x = __riscv_vfmax_vf_f32m4(x, static_cast<float>(o.low - o.output_zero),
                             lanes);
  x = __riscv_vfmin_vf_f32m4(x, static_cast<float>(o.high - o.output_zero),
                             lanes);
  const vint32m4_t result = __riscv_vadd_vx_i32m4(
      __riscv_vfcvt_x_f_v_i32m4(x, lanes), o.output_zero, lanes);
  __riscv_vse8_v_i8m1(
      o.output + at,
      __riscv_vncvt_x_x_w_i8m1(__riscv_vncvt_x_x_w_i16m2(result, lanes), lanes),
      lanes);
}

#include "kernels/conv2d_i8_rows.inc"

// For attention.
using Sums = Words;
inline void Dot(Sums& sums, uint32_t four, const int8_t* weights) {
  for (int64_t c = 0; c < kConvBlock; ++c) {
    for (int b = 0; b < 4; ++b) {
      sums[c] += static_cast<int8_t>(four >> (8 * b)) * weights[c * 4 + b];
    }
  }
}
inline void ToWords(const Sums& sums, Words* words) { *words = sums; }

constexpr size_t kLanes = kConvBlock;

// Four inputs of a pixel, widened.
struct Input {
  int16_t x[4];
};
inline Input Split(uint32_t four) {
  Input input;
  for (int i = 0; i < 4; ++i) {
    input.x[i] = static_cast<int8_t>(four >> (8 * i));
  }
  return input;
}
inline vint32m4_t Add(vint32m4_t sum, const Input& input, vint16m2_t a,
                      vint16m2_t b, vint16m2_t c, vint16m2_t d) {
  sum = __riscv_vwmacc_vx_i32m4(sum, input.x[0], a, kLanes);
  sum = __riscv_vwmacc_vx_i32m4(sum, input.x[1], b, kLanes);
  sum = __riscv_vwmacc_vx_i32m4(sum, input.x[2], c, kLanes);
  return __riscv_vwmacc_vx_i32m4(sum, input.x[3], d, kLanes);
}

template <int kCount, int kWide>
inline void Products(const Tile& t, Words (*words)[kWide]) {
  static_assert(kWide == 1 && kCount <= 4);
  vint32m4_t s0 = __riscv_vmv_v_x_i32m4(0, kLanes);
  vint32m4_t s1 = s0, s2 = s0, s3 = s0;
  const int8_t* w = t.weights;
  for (int64_t tap = 0; tap < t.taps; ++tap) {
    const int8_t* const* const rows = t.rows + tap * kCount;
    for (int64_t k = 0; k < t.fours + (t.rest != 0); ++k) {
      const auto four = [&](int i) {
        return Split(k < t.fours ? LoadFour(rows[i] + 4 * k)
                                 : LoadRest(t, rows[i]));
      };
      // Bytes a b c d of each channel, widened.
      const vint32m4_t all =
          __riscv_vreinterpret_v_i8m4_i32m4(__riscv_vle8_v_i8m4(w, 4 * kLanes));
      const vint16m2_t ab = __riscv_vnsra_wx_i16m2(all, 0, kLanes);
      const vint16m2_t cd = __riscv_vnsra_wx_i16m2(all, 16, kLanes);
      const vint16m2_t a = __riscv_vsra_vx_i16m2(
          __riscv_vsll_vx_i16m2(ab, 8, kLanes), 8, kLanes);
      const vint16m2_t b = __riscv_vsra_vx_i16m2(ab, 8, kLanes);
      const vint16m2_t c = __riscv_vsra_vx_i16m2(
          __riscv_vsll_vx_i16m2(cd, 8, kLanes), 8, kLanes);
      const vint16m2_t d = __riscv_vsra_vx_i16m2(cd, 8, kLanes);
      s0 = Add(s0, four(0), a, b, c, d);
      if constexpr (kCount > 1) s1 = Add(s1, four(1), a, b, c, d);
      if constexpr (kCount > 2) s2 = Add(s2, four(2), a, b, c, d);
      if constexpr (kCount > 3) s3 = Add(s3, four(3), a, b, c, d);
      w += 4 * kConvBlock;
    }
  }
  const auto store = [&](int i, vint32m4_t sum) {
    __riscv_vse32_v_i32m4(reinterpret_cast<int32_t*>(&words[i][0]), sum,
                          kLanes);
  };
  store(0, s0);
  if constexpr (kCount > 1) store(1, s1);
  if constexpr (kCount > 2) store(2, s2);
  if constexpr (kCount > 3) store(3, s3);
}

#include "kernels/conv2d_i8_impl.inc"

}  // namespace

const ConvI8Kernels kConvI8Rvv = {&Conv2dI8, &DepthwiseI8, &AttentionI8,
                                  &AddI8,    &LayerNormI8, &Range,
                                  &Quantize, &Dequantize,  &MaxPoolI8};

}  // namespace takt::kernels

#endif  // defined(TAKT_KERNELS_RVV)
