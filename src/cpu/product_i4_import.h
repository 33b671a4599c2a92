// The import of compiled kernels that multiplies by weights of four bits, over
// kernels::F32Kernels (see kernel_imports.h).
#ifndef TAKT_CPU_PRODUCT_I4_IMPORT_H_
#define TAKT_CPU_PRODUCT_I4_IMPORT_H_

namespace takt::cpu {

// takt_product_i4_f32.
int ProductI4Import(void* parameters, void* context, void*);

}  // namespace takt::cpu

#endif  // TAKT_CPU_PRODUCT_I4_IMPORT_H_
