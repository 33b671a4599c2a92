// An LSTM as compiled kernels import it; see kernel_imports.h. The context is a
// kernels::F32Kernels. A result other than 0 says that the parameters are
// invalid.
#ifndef TAKT_CPU_LSTM_IMPORT_H_
#define TAKT_CPU_LSTM_IMPORT_H_

namespace takt::cpu {

// Computes a tile (kernels::RecurrentTile).
int LstmImport(void* parameters, void* context, void* reserved);

}  // namespace takt::cpu

#endif  // TAKT_CPU_LSTM_IMPORT_H_
