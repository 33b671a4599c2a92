// Attention as compiled kernels import it; see kernel_imports.h. The context is
// a kernels::F32Kernels; for bfloat16 a kernels::ConvBf16Kernels, for bytes a
// KernelImportState. A result other than 0 says that the parameters are
// invalid, or that there is no memory.
#ifndef TAKT_CPU_ATTENTION_IMPORTS_H_
#define TAKT_CPU_ATTENTION_IMPORTS_H_

namespace takt::cpu {

int AttentionF32Import(void* parameters, void* context, void* reserved);
int AttentionBiasF32Import(void* parameters, void* context, void* reserved);
int AttentionBf16Import(void* parameters, void* context, void* reserved);
int AttentionI8Import(void* parameters, void* context, void* reserved);

}  // namespace takt::cpu

#endif  // TAKT_CPU_ATTENTION_IMPORTS_H_
