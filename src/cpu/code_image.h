// A CodeImage is a library of native code in this process's memory: mapped and
// relocated, so that its functions can be called.
//
// Thread-safety: immutable once loaded.
#ifndef TAKT_CPU_CODE_IMAGE_H_
#define TAKT_CPU_CODE_IMAGE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace takt::cpu {

class CodeImage {
 public:
  virtual ~CodeImage() = default;  // Unmaps.

  // The address of an exported function. NOT_FOUND; DATA_LOSS if it lies
  // outside the code.
  virtual absl::StatusOr<const void*> FindFunction(
      absl::string_view name) const = 0;
  // The bytes from `address` to the end of its segment; empty if it is not in a
  // readable segment.
  virtual absl::Span<const uint8_t> ReadableFrom(const void* address) const = 0;
  // Whether `address` lies in a code segment.
  virtual bool IsCode(const void* address) const = 0;
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_CODE_IMAGE_H_
