#include "tools/common/parameter_archive.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "tools/common/status.h"

namespace takt::tools {
namespace {

constexpr uint64_t kHeaderBytes = 88;
constexpr uint64_t kEntryBytes = 76;
constexpr uint64_t kEntryAlignment = 16;
constexpr uint64_t kStorageAlignment = 4096;
constexpr uint32_t kDataEntry = 2;
constexpr uint64_t kMaxFileBytes = std::numeric_limits<int64_t>::max();

template <typename T>
void Put(std::string* bytes, uint64_t offset, T value) {
  std::memcpy(bytes->data() + offset, &value, sizeof(value));
}
void PutRange(std::string* bytes, uint64_t offset, uint64_t begin,
              uint64_t length) {
  Put<uint64_t>(bytes, offset, begin);
  Put<uint64_t>(bytes, offset + 8, length);
}

// Both are far from the end of the numbers, `alignment` is a power of two.
uint64_t AlignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// Where the bytes of each entry begin within the storage, and their end.
Result<std::vector<uint64_t>> PlaceEntries(
    const std::vector<ArchiveEntry>& entries) {
  std::vector<uint64_t> offsets;
  uint64_t end = 0;
  for (const ArchiveEntry& entry : entries) {
    if (entry.alignment == 0 || entry.alignment > kStorageAlignment ||
        (entry.alignment & (entry.alignment - 1)) != 0) {
      return InvalidArgument("parameter '" + entry.key + "': alignment " +
                             std::to_string(entry.alignment) +
                             " is no power of two of at most " +
                             std::to_string(kStorageAlignment));
    }
    end = AlignUp(end, entry.alignment);
    if (entry.byte_length > kMaxFileBytes / 2 - end) {
      return InvalidArgument("parameter '" + entry.key +
                             "': " + std::to_string(entry.byte_length) +
                             " bytes are more than a file can have");
    }
    offsets.push_back(end);
    end += entry.byte_length;
  }
  offsets.push_back(end);
  return offsets;
}

}  // namespace

Status CreateArchive(const std::string& path,
                     const std::vector<ArchiveEntry>& entries) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::vector<uint64_t> offsets,
                              PlaceEntries(entries));
  const uint64_t stride = AlignUp(kEntryBytes, kEntryAlignment);
  const uint64_t metadata_begin = kHeaderBytes + 8 + entries.size() * stride;
  std::string metadata;
  std::string index(metadata_begin, '\0');
  for (size_t i = 0; i < entries.size(); ++i) {
    const ArchiveEntry& entry = entries[i];
    const uint64_t at = kHeaderBytes + 8 + i * stride;
    Put<uint64_t>(&index, at, kEntryBytes);
    Put<uint32_t>(&index, at + 8, kDataEntry);
    PutRange(&index, at + 20, metadata.size(), entry.key.size());
    metadata += entry.key;
    PutRange(&index, at + 36, metadata.size(), entry.metadata.size());
    metadata += entry.metadata;
    Put<uint64_t>(&index, at + 52, entry.alignment);
    PutRange(&index, at + 60, offsets[i], entry.byte_length);
  }
  const uint64_t storage_begin =
      AlignUp(metadata_begin + metadata.size(), kStorageAlignment);
  std::memcpy(index.data(), "IRPA", 4);
  Put<uint64_t>(&index, 8, kHeaderBytes);
  Put<uint64_t>(&index, 32, entries.size());
  PutRange(&index, 40, kHeaderBytes + 8, entries.size() * stride);
  PutRange(&index, 56, metadata_begin, metadata.size());
  PutRange(&index, 72, storage_begin, offsets.back());

  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << index << metadata;
  file.close();
  std::error_code error;
  if (file.good()) {
    std::filesystem::resize_file(path, storage_begin + offsets.back(), error);
  }
  if (file.good() && !error) return Status();
  return Status(takt_status_create(
      TAKT_STATUS_UNKNOWN,
      (path + ": cannot be written" + (error ? ": " + error.message() : ""))
          .c_str()));
}

}  // namespace takt::tools
