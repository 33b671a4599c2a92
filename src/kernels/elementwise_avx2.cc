// The elementwise kernels for x86-64 with AVX2 and FMA: 32-byte vectors.
#include "kernels/elementwise.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstdint>

#include "kernels/target.h"

#define TAKT_VECTOR_BYTES 32
#define TAKT_KERNELS_NAME kElementwiseAvx2

TAKT_TARGET_BEGIN("avx2,fma")

namespace takt::kernels {
namespace {

#include "kernels/elementwise_vectors.inc"

inline Floats SquareRoot(Floats v) { return (Floats)_mm256_sqrt_ps((__m256)v); }

#include "kernels/elementwise_impl.inc"

}  // namespace

#include "kernels/elementwise_table.inc"

}  // namespace takt::kernels

TAKT_TARGET_END

#endif  // defined(__x86_64__)
