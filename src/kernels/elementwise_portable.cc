// The elementwise kernels for any machine: 16-byte vectors, which the compiler
// maps to SSE2, NEON or plain code.
#include <cmath>
#include <cstdint>

#include "kernels/elementwise.h"
#if defined(__x86_64__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define TAKT_VECTOR_BYTES 16
#define TAKT_KERNELS_NAME kElementwisePortable

namespace takt::kernels {
namespace {

#include "kernels/elementwise_vectors.inc"

inline Floats SquareRoot(Floats v) {
#if defined(__x86_64__)
  return (Floats)_mm_sqrt_ps((__m128)v);
#elif defined(__aarch64__)
  return (Floats)vsqrtq_f32((float32x4_t)v);
#else
  for (int i = 0; i < kLanes; ++i) v[i] = std::sqrt(v[i]);
  return v;
#endif
}

#include "kernels/elementwise_impl.inc"

}  // namespace

#include "kernels/elementwise_table.inc"

}  // namespace takt::kernels
