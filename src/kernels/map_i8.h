// Functions of a byte, as tables: what a quantized network computes of one
// tensor, element by element, between two quantizations.
#ifndef TAKT_KERNELS_MAP_I8_H_
#define TAKT_KERNELS_MAP_I8_H_

#include <cstdint>

namespace takt::kernels {

inline constexpr int64_t kMapI8Size = 256;

// output[i] = table[input[i] + 128], for `count` elements. `table` has
// kMapI8Size elements; input and output do not overlap, unless they are the
// same.
using MapI8Kernel = void (*)(const int8_t* table, const int8_t* input,
                             int64_t count, int8_t* output);

struct MapI8Kernels {
  MapI8Kernel map;
};
extern const MapI8Kernels kMapI8Portable;
#if defined(__x86_64__)
extern const MapI8Kernels kMapI8Avx512Vbmi;
#endif

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_MAP_I8_H_
