// The Reference computes operations on the CPU, for the drivers `host` and
// `sim`.
//
// Thread-safety: a Reference is immutable; any number of threads may use one.
#ifndef TAKT_NPU_REFERENCE_H_
#define TAKT_NPU_REFERENCE_H_

#include <cstdint>

#include "kernels/kernel_table.h"
#include "takt/npu_driver.h"

namespace takt::npu {

// Returns the address of a range; NULL if the range does not exist.
class AddressSpace {
 public:
  virtual ~AddressSpace() = default;
  virtual uint8_t* Find(const takt_npu_range_t& range) const = 0;
};

// Ranges are host memory.
class HostAddressSpace final : public AddressSpace {
 public:
  uint8_t* Find(const takt_npu_range_t& range) const override {
    return range.data;
  }
};

class Reference {
 public:
  // Runs on this machine's fastest kernels.
  Reference();

  // Kinds that Run() knows, as capabilities list them: all but programs.
  static uint32_t kinds();
  // Types of products.
  static uint32_t types();

  // Runs one operation. UNSUPPORTED for a kind or type that it lacks, INVALID
  // if operands are not within their ranges; nothing was written then.
  takt_npu_result_t Run(const takt_npu_operation_t& operation,
                        const AddressSpace& memory) const;

  const kernels::KernelTable& kernels() const { return kernels_; }

 private:
  takt_npu_result_t Mmt4d(const takt_npu_mmt4d_t& product,
                          const AddressSpace& memory) const;

  const kernels::KernelTable kernels_;
};

}  // namespace takt::npu

#endif  // TAKT_NPU_REFERENCE_H_
