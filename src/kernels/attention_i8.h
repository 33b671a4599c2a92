// Attention of bytes. With scores, weights and results that are bytes as well:
//
//   score  = byte(sum over c of (Q - query_zero) (K - key_zero), score_scale)
//            + score_zero
//   logit  = logits[score + 128]
//   power  = powers[the greatest logit of the row - logit]
//   weight = byte(power, weight_factor / the sum of the row's powers)
//            + weight_zero
//   output = byte(sum over keys of (weight - weight_zero) (V - value_zero),
//            output_scale) + output_zero
//
// where byte(x, scale) + zero is round-half-even(float(x) * scale) + zero, kept
// between -128 and 127. All sums are of integers, so all kernels give the same
// bytes. The sizes and tensors are those of attention.h; key_size is a multiple
// of 4.
#ifndef TAKT_KERNELS_ATTENTION_I8_H_
#define TAKT_KERNELS_ATTENTION_I8_H_

#include <cstddef>
#include <cstdint>

#include "kernels/attention.h"

namespace takt::kernels {

// A sum of this many products of two differences of bytes fits into 32 bits.
inline constexpr int64_t kAttentionI8KeysMax = 1 << 15;
// The most keys, and bytes of all keys or of all values of a head, for which a
// stack has the memory.
inline constexpr int64_t kAttentionI8OwnKeysMax = 2048;
inline constexpr int64_t kAttentionI8OwnBytesMax = 1 << 16;
// The size of the scratch memory for more.
inline constexpr size_t kAttentionI8ScratchBytes = 10 << 20;
inline constexpr int64_t kAttentionI8TableSize = 256;

struct AttentionI8Operands {
  AttentionTensor<const int8_t> query, key, value;
  AttentionTensor<int8_t> output;
  const int8_t* logits;  // Never falling.
  // Their sum over a row is at most UINT32_MAX; the first one is not 0.
  const uint32_t* powers;
  int32_t query_zero, key_zero, score_zero, weight_zero, value_zero,
      output_zero;  // Bytes.
  float score_scale, weight_factor, output_scale;
};

// NULL, or what is wrong with a shape.
const char* CheckAttentionI8Shape(const AttentionShape& shape);

// Whether the kernel takes scratch memory.
bool NeedsAttentionI8Scratch(const AttentionShape& shape);

// The shape has passed CheckAttentionI8Shape(), each tensor FitsAttention(),
// the columns of all tensors but the keys are 1 apart, and the tile lies within
// the shape. `scratch` is NULL, or kAttentionI8ScratchBytes, aligned to a cache
// line, where NeedsAttentionI8Scratch(); what is in it does not matter.
using AttentionI8Kernel = void (*)(const AttentionShape& shape,
                                   const AttentionI8Operands& operands,
                                   const AttentionTile& tile, void* scratch);

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_ATTENTION_I8_H_
