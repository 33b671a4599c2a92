// The operands of an operation of the driver interface: the ranges that it
// reads and writes, and whether its operands lie within them.
//
// Thread-safety: the functions are pure.
#ifndef TAKT_NPU_OPERATION_H_
#define TAKT_NPU_OPERATION_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "takt/npu_driver.h"

namespace takt::npu {

// Bytes of an element of the left and right operands and of the sum; 0 for a
// number that is no type.
struct TypeBytes {
  uint32_t left = 0;
  uint32_t right = 0;
  uint32_t sum = 0;
};
TypeBytes BytesOf(uint32_t type);

// All zero, but for the kind.
takt_npu_operation_t MakeOperation(takt_npu_kind_t kind);

// The layout of size0 x size1 blocks of `block` contiguous elements in memory.
struct Layout {
  int64_t size0 = 0;
  int64_t size1 = 0;
  int64_t stride0 = 0;
  int64_t stride1 = 0;
  uint64_t block = 0;
};

// A range of an operation, and the part that the operation uses.
struct OperandRange {
  const char* name;  // "left"; static.
  takt_npu_range_t* range;
  Layout layout;
  uint32_t element_bytes;
  uint64_t used_bytes;  // From the first element to the last.
  bool is_read;
  bool is_written;
};
using OperandRanges = absl::InlinedVector<OperandRange, 4>;

// Finds the operands of an operation that is not a program, without a check of
// their ranges. Errors:
//   UNIMPLEMENTED     an unknown kind, type or element size.
//   INVALID_ARGUMENT  an invalid size or stride.
absl::Status FindOperands(takt_npu_operation_t& operation,
                          OperandRanges* operands);

// Returns OK if all operands lie in their ranges, else INVALID_ARGUMENT or an
// error of FindOperands().
absl::Status CheckOperands(const takt_npu_operation_t& operation);

}  // namespace takt::npu

#endif  // TAKT_NPU_OPERATION_H_
