// Sums of two neighbours along an axis, as compiled kernels import them; see
// kernel_imports.h. A result other than 0 says that the parameters are invalid.
#ifndef TAKT_CPU_BLEND_IMPORT_H_
#define TAKT_CPU_BLEND_IMPORT_H_

namespace takt::cpu {

int BlendImport(void* parameters, void* context, void* reserved);

}  // namespace takt::cpu

#endif  // TAKT_CPU_BLEND_IMPORT_H_
