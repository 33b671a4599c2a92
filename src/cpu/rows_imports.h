// Sums, layer norms and pools of bytes, floats from and to bytes, and softmax
// and layer norms of floats, as compiled kernels import them; see
// kernel_imports.h. The context is a kernels::ConvI8Kernels, and that of the
// last two a kernels::F32Kernels. A result other than 0 says that the
// parameters are invalid.
#ifndef TAKT_CPU_ROWS_IMPORTS_H_
#define TAKT_CPU_ROWS_IMPORTS_H_

#include "cpu/buffer_parameter.h"
#include "kernels/rows_i8.h"

namespace takt::cpu {

// The steps for the floats whose tiles have these ranges, low and high in
// turns.
kernels::ByteSteps StepsOfRanges(const BufferParameter<const float>& ranges);

int AddI8Import(void* parameters, void* context, void* reserved);
int AddRowI8Import(void* parameters, void* context, void* reserved);
int LayerNormI8Import(void* parameters, void* context, void* reserved);
int RangeF32Import(void* parameters, void* context, void* reserved);
int QuantizeI8Import(void* parameters, void* context, void* reserved);
int DequantizeF32Import(void* parameters, void* context, void* reserved);
int MaxPoolI8Import(void* parameters, void* context, void* reserved);
int SoftmaxF32Import(void* parameters, void* context, void* reserved);
int LayerNormF32Import(void* parameters, void* context, void* reserved);

}  // namespace takt::cpu

#endif  // TAKT_CPU_ROWS_IMPORTS_H_
