// What compiled kernels pass to the functions that they import.
#ifndef TAKT_CPU_BUFFER_PARAMETER_H_
#define TAKT_CPU_BUFFER_PARAMETER_H_

#include <cstdint>

#include "kernels/conv2d.h"

namespace takt::cpu {

// The result of an import that refuses its parameters. Any but 0 fails the
// dispatch.
inline constexpr int kImportInvalid = 1;

// A buffer: `size` elements from base + offset on.
template <typename T>
struct BufferParameter {
  T* base;
  int64_t offset;
  int64_t size;
  T* data() const { return base + offset; }
};

// What a workgroup passes after the numbers of its function: a part, such as a
// head of an attention, and the rows that it computes.
struct RowTileParameters {
  int32_t part;
  int32_t first_row, row_count;
};

// The part of `begin` to `begin + count` that lies below `all`; false if there
// is no such range.
inline bool FindRange(int64_t begin, int64_t count, int64_t all,
                      int64_t* out_begin, int64_t* out_end) {
  if (begin < 0 || count < 0 || begin > all) return false;
  *out_begin = begin;
  *out_end = begin + count < all ? begin + count : all;
  return true;
}

// The shape whose members these are, one after the other.
inline kernels::ConvShape ShapeOf(const int32_t (&n)[16]) {
  return {n[0], n[1], n[2],  n[3],  n[4],  n[5],  n[6],  n[7],
          n[8], n[9], n[10], n[11], n[12], n[13], n[14], n[15]};
}

inline bool IsByte(int32_t value) { return value >= -128 && value <= 127; }

}  // namespace takt::cpu

#endif  // TAKT_CPU_BUFFER_PARAMETER_H_
