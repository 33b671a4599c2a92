// Sums along an axis up to each number, as compiled kernels import it; see
// kernel_imports.h. A result other than 0 says that the parameters are
// invalid.
#ifndef TAKT_CPU_CUM_SUM_IMPORT_H_
#define TAKT_CPU_CUM_SUM_IMPORT_H_

namespace takt::cpu {

int CumSumImport(void* parameters, void* context, void* reserved);

}  // namespace takt::cpu

#endif  // TAKT_CPU_CUM_SUM_IMPORT_H_
