// A convolution with the depthwise one that follows it, as compiled kernels
// import it; see kernel_imports.h. `context` is a KernelImportState. A result
// other than 0 says that the parameters are invalid, or that there is no
// memory.
#ifndef TAKT_CPU_CONV_DEPTHWISE_IMPORT_H_
#define TAKT_CPU_CONV_DEPTHWISE_IMPORT_H_

namespace takt::cpu {

int ConvDepthwiseImport(void* parameters, void* context, void* reserved);

}  // namespace takt::cpu

#endif  // TAKT_CPU_CONV_DEPTHWISE_IMPORT_H_
