// The convolutions for x86-64 with AVX2 and FMA.
#include "kernels/conv2d.h"

#if defined(__x86_64__)
#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/target.h"

#define TAKT_CONV_PIXELS 6
#define TAKT_CONV_VECTOR_BYTES 32
#define TAKT_CONV_BLOCKS 1

TAKT_TARGET_BEGIN("avx2,fma")

namespace takt::kernels {
namespace {

#include "kernels/conv2d_impl.inc"

}  // namespace

const ConvKernels kConvAvx2 = {&Conv2d, &Depthwise, &Pool<PoolKind::kMax>,
                               &Pool<PoolKind::kMean>};

}  // namespace takt::kernels

TAKT_TARGET_END

#endif  // defined(__x86_64__)
