// A MappedFile is the bytes of a file, mapped or read into memory.
// The bytes stay valid and unmoved as long as the object lives. If another
// process truncates a mapped file, the next access to it raises SIGBUS;
// kPreload is the mode for files that may change.
#ifndef TAKT_BASE_MAPPED_FILE_H_
#define TAKT_BASE_MAPPED_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/object.h"

namespace takt {

class MappedFile final : public Object {
 public:
  static constexpr ObjectType kType{"takt.mapped_file"};
  enum class Mode {
    kMap,      // Shared, read-only pages of the file.
    kPreload,  // A private copy, aligned to a page.
    kWrite,    // Shared pages that may be written, and then are the file's.
  };

  // Errors name the path and the system's reason: NOT_FOUND,
  // PERMISSION_DENIED, INVALID_ARGUMENT (a directory, say).
  static absl::StatusOr<Ref<MappedFile>> Open(const std::string& path,
                                              Mode mode);
  // A file of `byte_length` zeros in kWrite mode, in place of any at `path`.
  static absl::StatusOr<Ref<MappedFile>> Create(const std::string& path,
                                                uint64_t byte_length);

  // Aligned to a page. Empty for an empty file.
  absl::Span<const uint8_t> bytes() const { return {data_, size_}; }
  // The same; only to be written in kWrite mode.
  absl::Span<uint8_t> writable_bytes() const {
    return {const_cast<uint8_t*>(data_), size_};
  }
  const std::string& path() const { return path_; }

 private:
  // Maps all of the open file.
  static absl::StatusOr<Ref<MappedFile>> Map(int fd, const std::string& path,
                                             Mode mode);

  MappedFile(std::string path, const uint8_t* data, size_t size)
      : Object(&kType), path_(std::move(path)), data_(data), size_(size) {}
  ~MappedFile() override;

  const std::string path_;
  const uint8_t* const data_;
  const size_t size_;
};

}  // namespace takt

#endif  // TAKT_BASE_MAPPED_FILE_H_
