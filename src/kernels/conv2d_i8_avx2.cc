// The convolutions of bytes for x86-64 with AVX2: six pixels by half a block.
// Bytes are widened to 16 bits, so that the products of two of them and their
// sum fit (vpmaddwd): the saturating products of bytes (vpmaddubsw) are not
// exact.
#include "kernels/conv2d_i8.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/target.h"

TAKT_TARGET_BEGIN("avx2,fma")

namespace takt::kernels {
namespace {

#include "kernels/conv2d_i8_avx2_words.inc"

constexpr int kBlocks = 4;
constexpr int kPixelsMax = 6;
constexpr int kPixelStep = 1;
constexpr int PixelsOf(int64_t) { return 6; }

// A vector has two sums of each of four channels.
struct Sums {
  __m256i of_fours[4];
};

inline void Dot(Sums& sums, uint32_t four, const int8_t* weights) {
  const __m256i inputs =
      _mm256_cvtepi8_epi16(_mm_set1_epi32(static_cast<int>(four)));
  for (int i = 0; i < 4; ++i) {
    const __m256i wide = _mm256_cvtepi8_epi16(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(weights) + i));
    sums.of_fours[i] = _mm256_add_epi32(sums.of_fours[i],
                                        _mm256_madd_epi16(inputs, wide));
  }
}
// Two sums of each of eight channels, added.
inline __m256i AddSums(__m256i low, __m256i high) {
  return _mm256_permute4x64_epi64(_mm256_hadd_epi32(low, high), 0xd8);
}
inline void ToWords(const Sums& sums, Words* words) {
  words->low = AddSums(sums.of_fours[0], sums.of_fours[1]);
  words->high = AddSums(sums.of_fours[2], sums.of_fours[3]);
}

#include "kernels/conv2d_i8_rows.inc"

using Copied = int16_t;
// Their copies and the weights that they are multiplied with are half of a
// cache of 32 KiB.
constexpr int64_t kCopiedFours = 128;

inline void CopyFour(const int8_t* from, int16_t* to) {
  const __m128i four = _mm_cvtsi32_si128(static_cast<int>(LoadFour(from)));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_cvtepi8_epi16(four));
}
inline void CopyInputs(const int8_t* from, int64_t count, int16_t* to) {
  for (; count >= 16; count -= 16, from += 16, to += 16) {
    const __m128i bytes =
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm256_cvtepi8_epi16(bytes));
  }
  for (; count >= 4; count -= 4, from += 4, to += 4) CopyFour(from, to);
  for (; count > 0; --count) *to++ = *from++;
}
inline void FillInputs(int8_t byte, int64_t count, int16_t* to) {
  const __m256i inputs = _mm256_set1_epi16(byte);
  for (; count > 0; count -= 16, to += 16) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), inputs);
  }
}
inline void CopyImage(const int8_t* from, int64_t count, int16_t* to) {
  const __m128i order =
      _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1);
  for (; count >= 4; count -= 4, from += 12, to += 16) {
    const __m128i bytes = _mm_shuffle_epi8(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)), order);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm256_cvtepi8_epi16(bytes));
  }
  for (; count > 0; --count, from += 3, to += 4) CopyFour(from, to);
}
#include "kernels/conv2d_i8_copies.inc"

// The product of rows of copies and half of a block of weights.
struct HalfProduct {
  const int16_t* rows;
  int64_t row_stride;
  const int8_t* weights;  // Every 64 bytes, eight channels of a four.
  int64_t fours;
  // Two sums of each channel: whether they are there before, and whether they
  // are finished and go to `words`, by row.
  __m256i (*sums)[2];
  bool goes_on, ends;
  int32_t* words;
  int64_t word_stride;
};

// Twelve sums, two vectors of weights, an input and a product are all registers.
template <int kCount>
[[gnu::noinline]] void MultiplyHalf(const HalfProduct& p) {
  __m256i low[kCount] = {}, high[kCount] = {};
  const int16_t* rows[kCount];
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) {
    rows[i] = p.rows + i * p.row_stride;
    if (!p.goes_on) continue;
    low[i] = p.sums[i][0];
    high[i] = p.sums[i][1];
  }
  const int8_t* weights = p.weights;
  const int64_t end = 4 * p.fours;
  for (int64_t k = 0; k < end; k += 4, weights += 4 * kConvBlock) {
    const auto* const halves = reinterpret_cast<const __m128i*>(weights);
    const __m256i first = _mm256_cvtepi8_epi16(_mm_loadu_si128(halves));
    const __m256i second = _mm256_cvtepi8_epi16(_mm_loadu_si128(halves + 1));
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) {
      int64_t four;
      __builtin_memcpy(&four, rows[i] + k, sizeof(four));
      const __m256i x = _mm256_set1_epi64x(four);
      low[i] = _mm256_add_epi32(low[i], _mm256_madd_epi16(x, first));
      high[i] = _mm256_add_epi32(high[i], _mm256_madd_epi16(x, second));
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) {
    if (!p.ends) {
      p.sums[i][0] = low[i];
      p.sums[i][1] = high[i];
      continue;
    }
    _mm256_storeu_si256(
        reinterpret_cast<__m256i*>(p.words + i * p.word_stride),
        AddSums(low[i], high[i]));
  }
}

using HalfFunction = void (*)(const HalfProduct&);
constexpr HalfFunction kMultiplyHalf[kPixelsMax + 1] = {
    nullptr,          &MultiplyHalf<1>, &MultiplyHalf<2>, &MultiplyHalf<3>,
    &MultiplyHalf<4>, &MultiplyHalf<5>, &MultiplyHalf<6>};

// Products() of any size; the words of a pixel's blocks follow each other.
void ProductsOf(const Tile& t, int64_t count, int64_t wide, int32_t* words) {
  __m256i sums[kBlocks][2][kPixelsMax][2];
  const int64_t fours = t.inputs->fours();
  for (int64_t begin = 0, end = 0; begin < fours; begin = end) {
    end = fours - begin < kCopiedFours ? fours : begin + kCopiedFours;
    t.inputs->Copy(begin, end);
    for (int64_t j = 0; j < wide; ++j) {
      for (int64_t half = 0; half < 2; ++half) {
        kMultiplyHalf[count](
            {t.inputs->copies(), kCopiedRow,
             t.weights + j * t.block_stride + begin * 4 * kConvBlock +
                 half * 2 * kConvBlock,
             end - begin, sums[j][half], begin > 0, end == fours,
             words + j * kConvBlock + half * 8, wide * kConvBlock});
      }
    }
  }
}

#define TAKT_CONV_I8_OWN_DOTS
void SumDots(const int16_t* left, int64_t stride, int64_t fours,
             const int8_t* right, int64_t count, int64_t wide,
             Ints (*sums)[kBlocks]) {
  for (int64_t j = 0; j < wide; ++j, right += fours * 4 * kConvBlock) {
    for (int64_t half = 0; half < 2; ++half) {
      kMultiplyHalf[count]({left, stride, right + half * 2 * kConvBlock, fours,
                            nullptr, false, true,
                            reinterpret_cast<int32_t*>(&sums[0][j]) + half * 8,
                            kBlocks * kConvBlock});
    }
  }
}

template <int kCount, int kWide>
inline void Products(const Tile& t, Words (*words)[kWide]) {
  ProductsOf(t, kCount, kWide, reinterpret_cast<int32_t*>(words));
}

// Eight sums, at most `high`, and the least integer if they are not numbers.
inline __m256i Round(__m256i sums, __m256 scale, __m256 high) {
  const __m256 x = _mm256_mul_ps(_mm256_cvtepi32_ps(sums), scale);
  return _mm256_cvtps_epi32(_mm256_min_ps(high, x));
}

// FinishRows() of any size.
[[gnu::noinline]] void FinishBlocks(const Words* sums, int64_t count,
                                    int64_t wide, const ConvI8Operands& o,
                                    const Tile& t, int64_t out_c) {
  const __m256 high =
      _mm256_set1_ps(static_cast<float>(o.high - o.output_zero));
  const __m256i zero = _mm256_set1_epi16(static_cast<int16_t>(o.output_zero));
  const __m128i least = _mm_set1_epi8(static_cast<char>(o.low));
  for (int64_t j = 0; j < wide; ++j) {
    const int64_t channel = t.channel + j * kConvBlock;
    const auto* const bias =
        reinterpret_cast<const __m256i*>(o.bias + channel);
    const __m256i first_bias = _mm256_loadu_si256(bias);
    const __m256i last_bias = _mm256_loadu_si256(bias + 1);
    const __m256 first_scale = _mm256_loadu_ps(o.scale + channel);
    const __m256 last_scale = _mm256_loadu_ps(o.scale + channel + 8);
    int8_t* to = o.output + t.output + j * kConvBlock;
    for (int64_t i = 0; i < count; ++i, to += out_c) {
      const Words& word = sums[i * wide + j];
      const __m256i first =
          Round(_mm256_add_epi32(word.low, first_bias), first_scale, high);
      const __m256i last =
          Round(_mm256_add_epi32(word.high, last_bias), last_scale, high);
      // In each 128 bits there are four of either.
      const __m256i halves = _mm256_permute4x64_epi64(
          _mm256_adds_epi16(_mm256_packs_epi32(first, last), zero), 0xd8);
      const __m128i bytes =
          _mm_packs_epi16(_mm256_castsi256_si128(halves),
                          _mm256_extracti128_si256(halves, 1));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                       _mm_max_epi8(bytes, least));
    }
  }
}

template <int kCount, int kWide>
inline void FinishRows(const Words (*sums)[kWide], const ConvI8Operands& o,
                       const Tile& t, int64_t out_c) {
  FinishBlocks(sums[0], kCount, kWide, o, t, out_c);
}

#define TAKT_CONV_I8_OWN_PRODUCTS
#define TAKT_CONV_I8_FINISH_ROWS
#include "kernels/conv2d_i8_impl.inc"

}  // namespace

const ConvI8Kernels kConvI8Avx2 = {&Conv2dI8, &DepthwiseI8, &AttentionI8,
                                   &AddI8,    &LayerNormI8, &Range,
                                   &Quantize, &Dequantize,  &MaxPoolI8};

}  // namespace takt::kernels

TAKT_TARGET_END

#endif  // defined(__x86_64__)
