// Convolutions and maps of bytes as compiled kernels import them; see
// kernel_imports.h. The context is a kernels::ConvI8Kernels, and of the map a
// kernels::MapI8Kernels. A result other than 0 says that the parameters are
// invalid.
#ifndef TAKT_CPU_CONV_I8_IMPORTS_H_
#define TAKT_CPU_CONV_I8_IMPORTS_H_

namespace takt::cpu {

int Conv2dI8Import(void* parameters, void* context, void* reserved);
int Depthwise2dI8Import(void* parameters, void* context, void* reserved);
int Conv2dI8F32Import(void* parameters, void* context, void* reserved);
int MapI8Import(void* parameters, void* context, void* reserved);

}  // namespace takt::cpu

#endif  // TAKT_CPU_CONV_I8_IMPORTS_H_
