// The convolutions of bytes for x86-64 with AVX-512 VNNI: six pixels by four
// blocks, or twelve by two. The dot product takes unsigned inputs, so 128 is
// added to each, and 128 times the weights is taken off the sums.
#include "kernels/conv2d_i8.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/target.h"

// gcc 12 reports intrinsics of its own headers that leave a vector undefined
// on purpose (its bug 105593).
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

TAKT_TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma")

namespace takt::kernels {
namespace {

#define TAKT_VECTOR_BYTES 64
#define TAKT_OWN_BLOCK_BYTES
#include "kernels/block_vectors.inc"

inline Ints Widen(Bytes bytes) {
  Ints ints;
  ints.parts[0] = (Ints::Part)_mm512_cvtepi8_epi32((__m128i)bytes);
  return ints;
}
inline Bytes Narrow(const Ints& ints) {
  return (Bytes)_mm512_cvtepi32_epi8((__m512i)ints.parts[0]);
}

constexpr int kBlocks = 4;
constexpr int kPixelsMax = 12;
constexpr int kPixelStep = 2;
// As many sums as hide the time of a product, and fit into the registers.
constexpr int PixelsOf(int64_t blocks) { return blocks <= 2 ? 12 : 6; }
constexpr bool kHasOffset = true;

constexpr int kTapsAtOnce = 1;
typedef int32_t Words __attribute__((vector_size(64)));
using Sums = Words;
using Taps = Words;

inline void Dot(Sums& sums, uint32_t four, const int8_t* weights) {
  const __m512i inputs =
      _mm512_set1_epi32(static_cast<int>(four ^ 0x80808080u));
  sums = (Sums)_mm512_dpbusd_epi32((__m512i)sums, inputs,
                                   _mm512_loadu_si512(weights));
}
inline void ToWords(const Sums& sums, Words* words) { *words = sums; }

#define TAKT_CONV_I8_UNSIGNED
inline void CopyInputs(const int8_t* from, int64_t count, int8_t* to) {
  const __m512i sign = _mm512_set1_epi8(-128);
  for (; count >= 64; count -= 64, from += 64, to += 64) {
    _mm512_storeu_si512(to, _mm512_xor_si512(_mm512_loadu_si512(from), sign));
  }
  if (count == 0) return;
  const __m512i rest =
      _mm512_maskz_loadu_epi8((uint64_t{1} << count) - 1, from);
  _mm512_storeu_si512(to, _mm512_xor_si512(rest, sign));
}
inline void FillInputs(int8_t byte, int64_t count, int8_t* to) {
  const __m512i bytes = _mm512_set1_epi8(static_cast<char>(byte ^ -128));
  for (; count > 0; count -= 64, to += 64) _mm512_storeu_si512(to, bytes);
}
inline void CopyImage(const int8_t* from, int64_t count, int8_t* to) {
  const __m128i order =
      _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1);
  for (; count >= 4; count -= 4, from += 12, to += 16) {
    const __m128i four =
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(to),
        _mm_xor_si128(_mm_shuffle_epi8(four, order), _mm_set1_epi8(-128)));
  }
  for (; count > 0; --count, from += 3, to += 4) {
    uint32_t four;
    __builtin_memcpy(&four, from, sizeof(four));
    four ^= 0x80808080u;
    __builtin_memcpy(to, &four, sizeof(four));
  }
}
inline void DotUnsigned(Sums& sums, const int8_t* four, const int8_t* weights) {
  int32_t inputs;
  __builtin_memcpy(&inputs, four, sizeof(inputs));
  sums = (Sums)_mm512_dpbusd_epi32((__m512i)sums, _mm512_set1_epi32(inputs),
                                   _mm512_loadu_si512(weights));
}

inline void LoadTaps(const int8_t* data, const int8_t*, int64_t count,
                     Taps* taps) {
  const auto mask =
      static_cast<__mmask16>((1u << (count < 16 ? count : 16)) - 1);
  *taps = (Taps)_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(mask, data));
}
inline void AddTaps(Words& words, const Taps& x, const Taps& weights) {
  words += x * weights;
}

inline void Finish(const Words& sum, const ConvI8Operands& o, int64_t at,
                   int64_t channel, int64_t count) {
  const auto mask = static_cast<__mmask16>((1u << count) - 1);
  const __m512i total = _mm512_add_epi32(
      (__m512i)sum, _mm512_maskz_loadu_epi32(mask, o.bias + channel));
  __m512 x = _mm512_mul_ps(_mm512_cvtepi32_ps(total),
                           _mm512_maskz_loadu_ps(mask, o.scale + channel));
  // Low also if it is not a number.
  x = _mm512_max_ps(x,
                    _mm512_set1_ps(static_cast<float>(o.low - o.output_zero)));
  x = _mm512_min_ps(x,
                    _mm512_set1_ps(static_cast<float>(o.high - o.output_zero)));
  const __m512i result =
      _mm512_add_epi32(_mm512_cvtps_epi32(x), _mm512_set1_epi32(o.output_zero));
  _mm_mask_storeu_epi8(o.output + at, mask, _mm512_cvtepi32_epi8(result));
}

#include "kernels/conv2d_i8_rows.inc"

// Four blocks are packed together. What overflows an integer is INT_MIN.
inline void Store(const __m512i* rounded, __m512i zero, __m512i low,
                  int8_t* output) {
  const __m512i first =
      _mm512_adds_epi16(_mm512_packs_epi32(rounded[0], rounded[1]), zero);
  const __m512i last =
      _mm512_adds_epi16(_mm512_packs_epi32(rounded[2], rounded[3]), zero);
  // In each 128 bits there are four bytes of each block.
  const __m512i order =
      _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m512i bytes = _mm512_max_epi8(_mm512_packs_epi16(first, last), low);
  _mm512_storeu_si512(output, _mm512_permutexvar_epi32(order, bytes));
}

template <int kCount, int kWide>
inline void FinishRows(const Words (*sums)[kWide], const ConvI8Operands& o,
                       const Tile& t, int64_t out_c) {
  const __m512 low = _mm512_set1_ps(static_cast<float>(o.low - o.output_zero));
  const __m512 high =
      _mm512_set1_ps(static_cast<float>(o.high - o.output_zero));
  // Stored bytes may alias the operands: they are read before.
  const __m512i zero = _mm512_set1_epi32(o.output_zero);
  const __m512i zeros = _mm512_set1_epi16(static_cast<int16_t>(o.output_zero));
  const __m512i lows = _mm512_set1_epi8(static_cast<char>(o.low));
  const float* const scale = o.scale + t.channel;
  int8_t* output = o.output + t.output;
  __m512i bias[kWide];
#pragma GCC unroll 16
  for (int j = 0; j < kWide; ++j) {
    bias[j] = _mm512_sub_epi32(
        _mm512_loadu_si512(o.bias + t.channel + j * kConvBlock),
        (__m512i)t.offsets[j]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) {
    __m512i rounded[kWide];
#pragma GCC unroll 16
    for (int j = 0; j < kWide; ++j) {
      __m512 x = _mm512_mul_ps(
          _mm512_cvtepi32_ps(_mm512_add_epi32((__m512i)sums[i][j], bias[j])),
          _mm512_loadu_ps(scale + j * kConvBlock));
      // The second operand if it is not a number.
      if constexpr (kWide < 4) x = _mm512_max_ps(x, low);
      rounded[j] = _mm512_cvtps_epi32(_mm512_min_ps(high, x));
      if constexpr (kWide < 4) {
        _mm_storeu_si128(
            reinterpret_cast<__m128i*>(output + j * kConvBlock),
            _mm512_cvtepi32_epi8(_mm512_add_epi32(rounded[j], zero)));
      }
    }
    if constexpr (kWide == 4) Store(rounded, zeros, lows, output);
    output += out_c;
  }
}

#define TAKT_CONV_I8_FINISH_ROWS
#include "kernels/conv2d_i8_impl.inc"

#define TAKT_DOT_BYTES _mm256_dpbusd_epi32
#include "kernels/conv2d_i8_lanes_avx2.inc"

struct WideLanes {
  using Vector = __m512i;
  static constexpr int64_t kBytes = 64;

  static Vector Load(const void* data) { return _mm512_loadu_si512(data); }
  static void Store(void* data, Vector x) { _mm512_storeu_si512(data, x); }
  static void Interleave(const Vector* taps, Vector* fours) {
    const Vector low_first = _mm512_unpacklo_epi8(taps[0], taps[1]);
    const Vector low_last = _mm512_unpacklo_epi8(taps[2], taps[3]);
    const Vector high_first = _mm512_unpackhi_epi8(taps[0], taps[1]);
    const Vector high_last = _mm512_unpackhi_epi8(taps[2], taps[3]);
    fours[0] = _mm512_unpacklo_epi16(low_first, low_last);
    fours[1] = _mm512_unpackhi_epi16(low_first, low_last);
    fours[2] = _mm512_unpacklo_epi16(high_first, high_last);
    fours[3] = _mm512_unpackhi_epi16(high_first, high_last);
  }
  static Vector Unsign(Vector x) {
    return _mm512_xor_si512(x, _mm512_set1_epi8(-128));
  }
  static Vector Dot(Vector sums, Vector x, Vector w) {
    return _mm512_dpbusd_epi32(sums, x, w);
  }
  static Vector Subtract(Vector a, Vector b) { return _mm512_sub_epi32(a, b); }
  static Vector Round(Vector sums, const float* scale, float high) {
    const __m512 x =
        _mm512_mul_ps(_mm512_cvtepi32_ps(sums), _mm512_loadu_ps(scale));
    // The second operand if it is not a number.
    return _mm512_cvtps_epi32(_mm512_min_ps(_mm512_set1_ps(high), x));
  }
  static Vector Pack(const Vector* rounded, int32_t zero, int32_t low) {
    const Vector zeros = _mm512_set1_epi16(static_cast<int16_t>(zero));
    const Vector first =
        _mm512_adds_epi16(_mm512_packs_epi32(rounded[0], rounded[1]), zeros);
    const Vector last =
        _mm512_adds_epi16(_mm512_packs_epi32(rounded[2], rounded[3]), zeros);
    return _mm512_max_epi8(_mm512_packs_epi16(first, last),
                           _mm512_set1_epi8(static_cast<char>(low)));
  }
};

#include "kernels/conv2d_i8_fours.inc"

}  // namespace

const ConvI8Kernels kConvI8Avx512Vnni = {
    &Conv2dI8, &DepthwiseI8Fours, &AttentionI8, &AddI8,    &LayerNormI8,
    &Range,    &Quantize,         &Dequantize,  &MaxPoolI8};

}  // namespace takt::kernels

TAKT_TARGET_END

#endif  // defined(__x86_64__)
