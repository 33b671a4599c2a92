// A SystemLibrary is a shared object that the system's dynamic linker loads
// from memory: what the compiler writes with
// --iree-llvmcpu-link-embedded=false. It may import from the process and from
// the system's libraries, and it may have initializers, which run with all
// rights of the process while it loads.
//
// Thread-safety: immutable once loaded.
#ifndef TAKT_CPU_SYSTEM_LIBRARY_H_
#define TAKT_CPU_SYSTEM_LIBRARY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/unique_fd.h"
#include "cpu/code_image.h"

namespace takt::cpu {

class SystemLibrary final : public CodeImage {
 public:
  // `data` is only read during the call. Errors have the text of the dynamic
  // linker: NOT_FOUND for a symbol or a library that there is not, DATA_LOSS
  // for a file that it does not take; RESOURCE_EXHAUSTED if the system has no
  // memory or file descriptor.
  static absl::StatusOr<std::unique_ptr<SystemLibrary>> Load(
      absl::Span<const uint8_t> data);
  ~SystemLibrary() override;  // Closes the library.
  SystemLibrary(const SystemLibrary&) = delete;
  SystemLibrary& operator=(const SystemLibrary&) = delete;

  // CodeImage.
  absl::StatusOr<const void*> FindFunction(
      absl::string_view name) const override;
  absl::Span<const uint8_t> ReadableFrom(const void* address) const override;
  bool IsCode(const void* address) const override;

 private:
  // One segment in memory.
  struct Segment {
    uintptr_t begin = 0;
    uintptr_t end = 0;
    bool readable = false;
    bool executable = false;
  };

  explicit SystemLibrary(UniqueFd file) : file_(std::move(file)) {}

  absl::Status FindSegments();
  const Segment* FindSegment(const void* address) const;

  // Open as long as the library: its number is in the name by which the
  // dynamic linker knows it.
  const UniqueFd file_;
  void* handle_ = nullptr;  // Of dlopen(); null until then.
  std::vector<Segment> segments_;
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_SYSTEM_LIBRARY_H_
