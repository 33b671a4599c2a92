// The product of row-major matrices as operations: they pack the matrices into
// tiles that the unit supports, multiply, and unpack the result.
#ifndef TAKT_NPU_MATMUL_H_
#define TAKT_NPU_MATMUL_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "npu/npu_unit.h"
#include "takt/npu_driver.h"

namespace takt::npu {

// out [m][n] = [out +] left [m][k] * right [k][n], row by row. Strides are in
// elements, from row to row.
struct Matmul {
  takt_npu_type_t type = TAKT_NPU_TYPE_S8_S8_S32;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  int64_t left_stride = 0;
  int64_t right_stride = 0;
  int64_t out_stride = 0;
  bool right_is_transposed = false;  // [n][k]
  bool accumulate = false;
};

// The bindings of the operations: operands, and scratch memory for the tiles.
enum MatmulBinding : uint64_t {
  kMatmulLeft = 0,
  kMatmulRight = 1,
  kMatmulOut = 2,
  kMatmulBindingCount = 3,
  kMatmulScratch = 3,
};

struct MatmulOperations {
  std::vector<takt_npu_operation_t> operations;  // As BatchExecutable's.
  uint64_t scratch_bytes = 0;
};

// Errors: UNIMPLEMENTED for an unknown type; INVALID_ARGUMENT for sizes below
// 0, sizes too large for any memory, and rows that overlap.
absl::StatusOr<MatmulOperations> PlanMatmul(
    const takt_npu_capabilities_t& capabilities, const Matmul& matmul);

}  // namespace takt::npu

#endif  // TAKT_NPU_MATMUL_H_
