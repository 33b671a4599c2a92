// A VmvxOffload may run heavy operations of vmvx code in place of the kernels.
// Ranges have been checked; operands are as the kernels get them.
//
// Each method returns true once it has run the operation, false if the kernels
// are to run it (then nothing was written that they do not write again), or the
// error that the dispatch fails with. It may block.
//
// Thread-safety: every method may run on any thread, also at once.
#ifndef TAKT_CPU_VMVX_OFFLOAD_H_
#define TAKT_CPU_VMVX_OFFLOAD_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "kernels/mmt4d.h"
#include "kernels/operand.h"
#include "kernels/pack.h"

namespace takt::cpu {

class VmvxOffload {
 public:
  virtual ~VmvxOffload() = default;

  virtual absl::StatusOr<bool> Mmt4d(kernels::Mmt4dType type,
                                     const kernels::Mmt4dArguments& a) = 0;
  virtual absl::StatusOr<bool> Pack(size_t element_bytes,
                                    kernels::Operand2d<const uint8_t> in,
                                    kernels::Shape2d in_shape,
                                    kernels::Operand2d<uint8_t> out,
                                    const kernels::TileGrid& grid,
                                    uint64_t padding) = 0;
  virtual absl::StatusOr<bool> Unpack(kernels::Operand2d<const uint32_t> in,
                                      const kernels::TileGrid& grid,
                                      kernels::Operand2d<uint32_t> out,
                                      kernels::Shape2d out_shape) = 0;
  virtual absl::StatusOr<bool> Fill(uint32_t value,
                                    kernels::Operand2d<uint32_t> out,
                                    kernels::Shape2d shape) = 0;
  virtual absl::StatusOr<bool> Copy(size_t element_bytes,
                                    kernels::Operand2d<const uint8_t> in,
                                    kernels::Operand2d<uint8_t> out,
                                    kernels::Shape2d shape) = 0;
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_VMVX_OFFLOAD_H_
