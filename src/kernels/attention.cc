#include "kernels/attention.h"

#include <initializer_list>

#include "kernels/attention_i8.h"

namespace takt::kernels {

const char* CheckAttentionShape(const AttentionShape& s) {
  constexpr int64_t kSizeMax = 1 << 16;
  for (const int64_t size : {s.batch, s.heads, s.queries, s.keys}) {
    if (size < 1 || size > kSizeMax) return "a size is not from 1 to 65536";
  }
  for (const int64_t size : {s.key_size, s.value_size}) {
    if (size < 1 || size > kAttentionSizeMax) {
      return "the size of a key or a value is not from 1 to 128";
    }
  }
  return nullptr;
}

const char* CheckAttentionI8Shape(const AttentionShape& s) {
  if (const char* const error = CheckAttentionShape(s)) return error;
  if (s.key_size % 4 != 0) return "the size of a key is no multiple of 4";
  if (s.keys > kAttentionI8KeysMax) return "too many keys";
  return nullptr;
}

bool NeedsAttentionI8Scratch(const AttentionShape& s) {
  const int64_t padded = (s.keys + 15) / 16 * 16;
  const int64_t value_size = (s.value_size + 15) / 16 * 16;
  return s.keys > kAttentionI8OwnKeysMax ||
         padded * s.key_size > kAttentionI8OwnBytesMax ||
         padded * value_size > kAttentionI8OwnBytesMax;
}

bool FitsAttention(const AttentionStrides& strides, const AttentionShape& shape,
                   int64_t rows, int64_t columns, int64_t size) {
  constexpr int64_t kStrideMax = int64_t{1} << 40;
  const int64_t counts[] = {shape.batch, shape.heads, rows, columns};
  const int64_t steps[] = {strides.batch, strides.head, strides.row,
                           strides.column};
  int64_t last = 0;
  for (int i = 0; i < 4; ++i) {
    if (steps[i] < 0 || steps[i] > kStrideMax) return false;
    last += (counts[i] - 1) * steps[i];
  }
  return last < size;
}

}  // namespace takt::kernels
