// The convolutions of bytes for x86-64 with AVX-VNNI: six pixels by a block.
// For the offset of 128 see conv2d_i8_avx512_vnni.cc.
#include "kernels/conv2d_i8.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/target.h"

TAKT_TARGET_BEGIN("avxvnni,avx2,fma")

namespace takt::kernels {
namespace {

#define TAKT_DOT_BYTES _mm256_dpbusd_avx_epi32
#include "kernels/conv2d_i8_avx_vnni.inc"

}  // namespace

const ConvI8Kernels kConvI8AvxVnni = {
    &Conv2dI8, &DepthwiseI8Fours, &AttentionI8, &AddI8,    &LayerNormI8,
    &Range,    &Quantize,         &Dequantize,  &MaxPoolI8};

}  // namespace takt::kernels

TAKT_TARGET_END

#endif  // defined(__x86_64__)
