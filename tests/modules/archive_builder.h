// Writes .irpa archives, right ones and wrong ones, for tests.
#ifndef TAKT_TESTS_MODULES_ARCHIVE_BUILDER_H_
#define TAKT_TESTS_MODULES_ARCHIVE_BUILDER_H_

#include <cstdint>
#include <cstring>
#include <string>

#include "tests/modules/test_support.h"

namespace takt::modules {

// The layout is that of parameter_archive.h: header, entries, names, storage.
class ArchiveBuilder {
 public:
  void AddSplat(const std::string& name, uint64_t byte_length,
                const std::string& pattern, uint8_t pattern_bytes) {
    std::string tail;
    AppendBytes<uint64_t>(&tail, byte_length);
    tail += pattern;
    tail.resize(8 + 16, '\0');
    AppendBytes<uint8_t>(&tail, pattern_bytes);
    AddEntry(1, name, tail);
  }
  void AddData(const std::string& name, const std::string& bytes) {
    AddDataRange(name, storage_.size(), bytes.size());
    storage_ += bytes;
    storage_.resize((storage_.size() + 63) / 64 * 64, '\0');
  }
  void AddDataRange(const std::string& name, uint64_t offset, uint64_t length) {
    std::string tail;
    AppendBytes<uint64_t>(&tail, offset);
    AppendBytes<uint64_t>(&tail, length);
    AddEntry(2, name, tail);
  }
  void AddExternal(const std::string& name) {
    AddEntry(3, name, std::string(32, '\0'));
  }
  void AddEntry(uint32_t type, const std::string& name,
                const std::string& tail) {
    std::string entry;
    AppendBytes<uint64_t>(&entry, 60 + tail.size());
    AppendBytes<uint32_t>(&entry, type);
    AppendBytes<uint64_t>(&entry, 0);  // Flags.
    AppendBytes<uint64_t>(&entry, names_.size());
    AppendBytes<uint64_t>(&entry, name.size());
    AppendBytes<uint64_t>(&entry, 0);  // Metadata: none.
    AppendBytes<uint64_t>(&entry, 0);
    AppendBytes<uint64_t>(&entry, 64);  // Alignment.
    entry += tail;
    entries_.resize((entries_.size() + 15) / 16 * 16, '\0');
    entries_ += entry;
    names_ += name;
    ++count_;
  }

  // Offsets in the file of what Build() makes.
  static constexpr size_t kEntriesOffset = 96;
  size_t names_offset() const { return kEntriesOffset + entries_.size(); }
  size_t storage_offset() const {
    return (names_offset() + names_.size() + 63) / 64 * 64;
  }

  std::string Build() const {
    std::string file = "IRPA";
    AppendBytes<uint16_t>(&file, 0);
    AppendBytes<uint16_t>(&file, 0);
    AppendBytes<uint64_t>(&file, 88);
    AppendBytes<uint64_t>(&file, 0);  // Next header.
    AppendBytes<uint64_t>(&file, 0);  // Flags.
    AppendBytes<uint64_t>(&file, count_);
    AppendBytes<uint64_t>(&file, kEntriesOffset);
    AppendBytes<uint64_t>(&file, entries_.size());
    AppendBytes<uint64_t>(&file, names_offset());
    AppendBytes<uint64_t>(&file, names_.size());
    AppendBytes<uint64_t>(&file, storage_offset());
    AppendBytes<uint64_t>(&file, storage_.size());
    file.resize(kEntriesOffset, '\0');
    file += entries_ + names_;
    file.resize(storage_offset(), '\0');
    return file + storage_;
  }

 private:
  std::string entries_;
  std::string names_;
  std::string storage_;
  uint64_t count_ = 0;
};

// `file` with the value at `offset` replaced.
template <typename T>
std::string Patched(std::string file, size_t offset, T value) {
  std::memcpy(file.data() + offset, &value, sizeof(value));
  return file;
}

}  // namespace takt::modules

#endif  // TAKT_TESTS_MODULES_ARCHIVE_BUILDER_H_
