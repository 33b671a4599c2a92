// Operands of the vmvx module's functions: ranges of VM buffers, checked.
#ifndef TAKT_CPU_VMVX_OPERAND_H_
#define TAKT_CPU_VMVX_OPERAND_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "kernels/operand.h"
#include "vm/byte_buffer.h"

namespace takt::cpu::vmvx {

// Two dimensions of anything: elements, or tiles.
struct Sizes {
  int64_t size0 = 0;
  int64_t size1 = 0;
};

inline bool IsEmpty(Sizes sizes) {
  return sizes.size0 == 0 || sizes.size1 == 0;
}

// Part of a buffer as a call names it, not checked yet.
struct View {
  const char* name;  // For messages: "lhs".
  vm::ByteBuffer& buffer;
  int64_t offset;
  int64_t stride0;
  int64_t stride1;
};

// INVALID_ARGUMENT unless 0 <= size < 2^31.
absl::Status CheckSize(int64_t size);

// Checks that all of `sizes` blocks of `block` elements lie in the view's
// buffer, and stores where they start. Where there are no elements, any offset
// and stride will do, and the start means nothing.
absl::Status ResolveBytes(const View& view, Sizes sizes, uint64_t block,
                          size_t element_bytes, uint8_t** start);

template <typename T>
absl::Status ResolveInput(const View& view, Sizes sizes, uint64_t block,
                          size_t element_bytes,
                          kernels::Operand2d<const T>* operand) {
  uint8_t* start = nullptr;
  absl::Status status = ResolveBytes(view, sizes, block, element_bytes, &start);
  operand->data = reinterpret_cast<const T*>(start);
  operand->stride0 = view.stride0;
  operand->stride1 = view.stride1;
  return status;
}

absl::Status CheckMutable(const View& view);

// Checks that no two blocks of an output share an element. So the work of
// writing it is at most that of writing its buffer. `view` and `sizes` have
// been resolved.
absl::Status CheckApart(const View& view, Sizes sizes, uint64_t block);

template <typename T>
absl::Status ResolveOutput(const View& view, Sizes sizes, uint64_t block,
                           size_t element_bytes,
                           kernels::Operand2d<T>* operand) {
  absl::Status status = CheckMutable(view);
  if (!status.ok()) return status;
  uint8_t* start = nullptr;
  status = ResolveBytes(view, sizes, block, element_bytes, &start);
  operand->data = reinterpret_cast<T*>(start);
  operand->stride0 = view.stride0;
  operand->stride1 = view.stride1;
  return status.ok() ? CheckApart(view, sizes, block) : status;
}

}  // namespace takt::cpu::vmvx

#endif  // TAKT_CPU_VMVX_OPERAND_H_
