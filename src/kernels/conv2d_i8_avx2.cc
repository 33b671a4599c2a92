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

constexpr int kBlocks = 8;
constexpr int kPixelsMax = 6;
constexpr int kPixelStep = 2;
constexpr int PixelsOf(int64_t) { return 6; }

// Sixteen numbers, which are bytes or have been widened.
inline __m256i LoadWide(const int8_t* data) {
  return _mm256_cvtepi8_epi16(
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(data)));
}
inline __m256i LoadWide(const int16_t* data) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data));
}

// A vector has two sums of each of four channels.
struct Sums {
  __m256i of_fours[4];
};

inline void Dot(Sums& sums, uint32_t four, const int8_t* weights) {
  const __m256i inputs =
      _mm256_cvtepi8_epi16(_mm_set1_epi32(static_cast<int>(four)));
  for (int i = 0; i < 4; ++i) {
    sums.of_fours[i] =
        _mm256_add_epi32(sums.of_fours[i],
                         _mm256_madd_epi16(inputs, LoadWide(weights + 16 * i)));
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
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), LoadWide(from));
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

// Two sums of each of eight channels of a pixel.
struct HalfSums {
  __m256i low, high;
};

// Adds the products of kCount rows of copies and eight channels of a block, of
// which each four has 64 weights; to 0 if `goes_on` is false. Twelve sums, two
// vectors of weights, an input and a product are all registers, so nothing else
// is in this function.
template <int kCount, typename Weight>
[[gnu::noinline]] void MultiplyHalf(const int16_t* copies, int64_t stride,
                                    const Weight* weights, int64_t fours,
                                    bool goes_on, HalfSums* sums) {
  __m256i low[kCount] = {}, high[kCount] = {};
  const int16_t* rows[kCount];
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) {
    rows[i] = copies + i * stride;
    if (!goes_on) continue;
    low[i] = sums[i].low;
    high[i] = sums[i].high;
  }
  const int64_t end = 4 * fours;
  for (int64_t k = 0; k < end; k += 4, weights += 4 * kConvBlock) {
    const __m256i first = LoadWide(weights);
    const __m256i last = LoadWide(weights + kConvBlock);
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) {
      int64_t four;
      __builtin_memcpy(&four, rows[i] + k, sizeof(four));
      const __m256i x = _mm256_set1_epi64x(four);
      low[i] = _mm256_add_epi32(low[i], _mm256_madd_epi16(x, first));
      high[i] = _mm256_add_epi32(high[i], _mm256_madd_epi16(x, last));
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) {
    sums[i].low = low[i];
    sums[i].high = high[i];
  }
}

// The index is half of the rows.
template <typename Weight>
using MultiplyFunction = void (*)(const int16_t*, int64_t, const Weight*,
                                  int64_t, bool, HalfSums*);
constexpr MultiplyFunction<int8_t> kMultiplyHalf[] = {
    &MultiplyHalf<1, int8_t>, &MultiplyHalf<2, int8_t>,
    &MultiplyHalf<4, int8_t>, &MultiplyHalf<6, int8_t>};
[[maybe_unused]] constexpr MultiplyFunction<int16_t> kMultiplyTerms[] = {
    nullptr, &MultiplyHalf<2, int16_t>, &MultiplyHalf<4, int16_t>,
    &MultiplyHalf<6, int16_t>};

// The sums of eight channels of `count` pixels, without their last `shift`
// bits.
inline void StoreHalf(const HalfSums* sums, int64_t count, int shift,
                      int64_t stride, int32_t* words) {
  for (int64_t i = 0; i < count; ++i, words += stride) {
    _mm256_storeu_si256(
        reinterpret_cast<__m256i*>(words),
        _mm256_srai_epi32(AddSums(sums[i].low, sums[i].high), shift));
  }
}

// Eight sums, scaled, at most `most`, and rounded; the least integer if it is
// not a number.
inline __m256i Round(__m256i sums, __m256 scale, __m256 most) {
  return _mm256_cvtps_epi32(
      _mm256_min_ps(most, _mm256_mul_ps(_mm256_cvtepi32_ps(sums), scale)));
}

// The scaling of a block, all of whose channels are there.
struct BlockScale {
  void Load(const ConvI8Operands& o, int64_t channel) {
    const auto* const of_block =
        reinterpret_cast<const __m256i*>(o.bias + channel);
    bias = {_mm256_loadu_si256(of_block), _mm256_loadu_si256(of_block + 1)};
    scale[0] = _mm256_loadu_ps(o.scale + channel);
    scale[1] = _mm256_loadu_ps(o.scale + channel + 8);
    most = _mm256_set1_ps(static_cast<float>(o.high - o.output_zero));
    zero = _mm256_set1_epi16(static_cast<int16_t>(o.output_zero));
    least = _mm256_set1_epi8(static_cast<char>(o.low));
  }

  // The sums of a pixel, bias included, as 16 bits.
  __m256i ToHalves(__m256i low, __m256i high) const {
    return _mm256_adds_epi16(_mm256_packs_epi32(Round(low, scale[0], most),
                                                Round(high, scale[1], most)),
                             zero);
  }
  // The bytes of two pixels, whose halves these are.
  __m256i ToBytes(__m256i first, __m256i second) const {
    return _mm256_max_epi8(_mm256_packs_epi16(first, second), least);
  }

  Words bias;
  __m256 scale[2], most;
  __m256i zero, least;
};

// Finish() of all channels of a block of `count` pixels. The halves' sums are
// `most_pixels` apart, and lose their last `shift` bits. Eight of them are in
// the order of _mm256_hadd_epi32() in a vector, which is 0 1 4 5 2 3 6 7.
[[gnu::noinline]] void FinishBlock(const HalfSums* sums, int64_t most_pixels,
                                   int shift, int64_t count,
                                   const ConvI8Operands& o, int64_t channel,
                                   int8_t* to, int64_t stride) {
  BlockScale block;
  block.Load(o, channel);
  block.bias = {_mm256_permute4x64_epi64(block.bias.low, 0xd8),
                _mm256_permute4x64_epi64(block.bias.high, 0xd8)};
#pragma GCC unroll 2
  for (__m256& scale : block.scale) {
    scale =
        _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(scale), 0xd8));
  }
  const auto sum = [shift](const HalfSums& half, __m256i bias) {
    return _mm256_add_epi32(
        _mm256_srai_epi32(_mm256_hadd_epi32(half.low, half.high), shift), bias);
  };
  const auto halves = [&](const HalfSums* pixel) {
    return block.ToHalves(sum(pixel[0], block.bias.low),
                          sum(pixel[most_pixels], block.bias.high));
  };
  for (int64_t i = 0; i < count; i += 2, to += 2 * stride) {
    const bool has_second = i + 1 < count;
    const __m256i bytes = block.ToBytes(
        halves(sums + i), halves(has_second ? sums + i + 1 : sums + i));
    // Channels 0 1 4 5 8 9 12 13 of both pixels, and the others.
    const __m128i first = _mm256_castsi256_si128(bytes);
    const __m128i last = _mm256_extracti128_si256(bytes, 1);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                     _mm_unpacklo_epi16(first, last));
    if (!has_second) break;
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + stride),
                     _mm_unpackhi_epi16(first, last));
  }
}

// The sums of `count` pixels by `wide` blocks.
inline void MultiplyBlocks(const Tile& t, int64_t count, int64_t wide,
                           HalfSums (*sums)[2][kPixelsMax]) {
  const MultiplyFunction<int8_t> multiply = kMultiplyHalf[count / 2];
  const int64_t fours = t.inputs->fours();
  for (int64_t begin = 0, end = 0; begin < fours; begin = end) {
    end = fours - begin < kCopiedFours ? fours : begin + kCopiedFours;
    t.inputs->Copy(begin, end);
    const int8_t* weights = t.weights + begin * 4 * kConvBlock;
    for (int64_t j = 0; j < wide; ++j, weights += t.block_stride) {
      for (int64_t half = 0; half < 2; ++half) {
        multiply(t.inputs->copies(), kCopiedRow,
                 weights + half * 2 * kConvBlock, end - begin, begin > 0,
                 sums[j][half]);
      }
    }
  }
}

void FinishWords(Words* words, int64_t count, int64_t wide,
                 const ConvI8Operands& operands, const Tile& t, int64_t out_c);

// Scales and stores `count` pixels by `wide` blocks.
template <int kMostPixels>
void FinishPixels(const ConvI8Operands& o, const Tile& t, int64_t count,
                  int64_t wide, int64_t out_c, int shift,
                  const HalfSums (*sums)[2][kMostPixels]) {
  int64_t full = 0;  // Blocks of bytes all of whose channels are there.
  if (o.floats == nullptr) full = t.channel_count / kConvBlock;
  for (int64_t j = 0; j < wide; ++j) {
    const int64_t c = j * kConvBlock;
    if (j < full) {
      FinishBlock(sums[j][0], kMostPixels, shift, count, o, t.channel + c,
                  o.output + t.output + c, out_c);
      continue;
    }
    Words words[kMostPixels];
    auto* const halves = reinterpret_cast<int32_t*>(words);
    StoreHalf(sums[j][0], count, shift, kConvBlock, halves);
    StoreHalf(sums[j][1], count, shift, kConvBlock, halves + 8);
    Tile block = t;
    block.output += c;
    block.channel += c;
    block.channel_count -= c;
    FinishWords(words, count, 1, o, block, out_c);
  }
}

#define TAKT_CONV_I8_OWN_MICRO_KERNELS
void RunMicroKernel(const ConvShape& s, const ConvI8Operands& o, const Tile& t,
                    int64_t count, int64_t wide) {
  HalfSums sums[kBlocks][2][kPixelsMax];
  MultiplyBlocks(t, count, wide, sums);
  FinishPixels<kPixelsMax>(o, t, count, wide, s.out_c, 0, sums);
}

#define TAKT_CONV_I8_OWN_DOTS
void SumDots(const int16_t* left, int64_t stride, int64_t fours,
             const int8_t* right, int64_t count, int64_t wide,
             Ints (*sums)[kBlocks]) {
  for (int64_t half = 0; half < 2 * wide; ++half) {
    HalfSums of_half[kPixelsMax];
    kMultiplyHalf[count / 2](
        left, stride,
        right + (half / 2 * fours * 4 + half % 2 * 2) * kConvBlock, fours,
        false, of_half);
    StoreHalf(of_half, count, 0, kBlocks * kConvBlock,
              reinterpret_cast<int32_t*>(sums[0]) + 8 * half);
  }
}

#define TAKT_CONV_I8_OWN_PRODUCTS
#include "kernels/conv2d_i8_impl.inc"
#if !defined(TAKT_CONV_SMALL)
#include "kernels/conv2d_i8_pairs_avx2.inc"
#include "kernels/conv2d_i8_winograd_avx2.inc"
#else
constexpr ConvI8Kernel Conv2dI8Winograd = &Conv2dI8;
constexpr ConvI8Kernel DepthwiseI8Pairs = &DepthwiseI8;
#endif

}  // namespace

const ConvI8Kernels kConvI8Avx2 = {
    Conv2dI8Winograd, DepthwiseI8Pairs, &AttentionI8, &AddI8,    &LayerNormI8,
    &Range,           &Quantize,        &Dequantize,  &MaxPoolI8};

}  // namespace takt::kernels

TAKT_TARGET_END

#endif  // defined(__x86_64__)
