// Sums and layer norms of bytes as compiled kernels import them; see
// kernel_imports.h. The context is a kernels::ConvI8Kernels. A result other
// than 0 says that the parameters are invalid.
#ifndef TAKT_CPU_ROWS_IMPORTS_H_
#define TAKT_CPU_ROWS_IMPORTS_H_

namespace takt::cpu {

int AddI8Import(void* parameters, void* context, void* reserved);
int LayerNormI8Import(void* parameters, void* context, void* reserved);

}  // namespace takt::cpu

#endif  // TAKT_CPU_ROWS_IMPORTS_H_
