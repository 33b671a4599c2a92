// SharedMemory is memory behind a file descriptor, mapped: a new memfd, or a
// range of a descriptor from another process. The bytes stay valid, at the same
// address, as long as the object lives; the other process must not shrink the
// file.
#ifndef TAKT_BASE_SHARED_MEMORY_H_
#define TAKT_BASE_SHARED_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/object.h"

namespace takt {

class SharedMemory final : public Object {
 public:
  static constexpr ObjectType kType{"takt.shared_memory"};

  // Zeroed. RESOURCE_EXHAUSTED; INVALID_ARGUMENT for no bytes.
  static absl::StatusOr<Ref<SharedMemory>> Create(uint64_t byte_length);
  // The range of `fd`, which is duplicated. INVALID_ARGUMENT (alignment, or it
  // cannot be mapped), OUT_OF_RANGE, PERMISSION_DENIED.
  static absl::StatusOr<Ref<SharedMemory>> Import(int fd, uint64_t offset,
                                                  uint64_t byte_length,
                                                  bool is_writable);

  // Aligned to a page.
  absl::Span<uint8_t> bytes() const { return {data_, byte_length_}; }
  uint64_t offset() const { return offset_; }
  // Another descriptor of the same memory, for the caller to close.
  absl::StatusOr<int> DuplicateFd() const;

 private:
  SharedMemory(int fd, uint64_t offset, uint8_t* data, size_t byte_length)
      : Object(&kType),
        fd_(fd),
        offset_(offset),
        data_(data),
        byte_length_(byte_length) {}
  ~SharedMemory() override;
  // Maps the range of `fd`, which it takes, also if it fails.
  static absl::StatusOr<Ref<SharedMemory>> Map(int fd, uint64_t offset,
                                               uint64_t byte_length,
                                               bool is_writable);

  const int fd_;
  const uint64_t offset_;
  uint8_t* const data_;
  const size_t byte_length_;
};

}  // namespace takt

#endif  // TAKT_BASE_SHARED_MEMORY_H_
