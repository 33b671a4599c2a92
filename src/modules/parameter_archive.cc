#include "modules/parameter_archive.h"

#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "base/math.h"
#include "base/status.h"
#include "base/unaligned.h"

namespace takt::modules {
namespace {

constexpr uint32_t kMagic = 0x41505249;  // "IRPA".
constexpr uint64_t kHeaderBytes = 88;
constexpr uint64_t kEntryBytes = 60;
constexpr uint64_t kSplatEntryBytes = 85;
constexpr uint64_t kDataEntryBytes = 76;
constexpr uint64_t kEntryAlignment = 16;

enum EntryType : uint32_t { kSkip = 0, kSplat = 1, kData = 2, kExternal = 3 };

struct Range {
  uint64_t offset = 0;
  uint64_t length = 0;
};

template <typename T>
T Load(absl::Span<const uint8_t> bytes, uint64_t offset) {
  return LoadUnaligned<T>(bytes.data() + offset);
}

Range LoadRange(absl::Span<const uint8_t> bytes, uint64_t offset) {
  return {Load<uint64_t>(bytes, offset), Load<uint64_t>(bytes, offset + 8)};
}

absl::Status Damaged(uint64_t offset, absl::string_view what) {
  return absl::DataLossError(
      absl::StrFormat("parameter archive: offset %d: %s", offset, what));
}

// Reads one archive.
class Reader {
 public:
  Reader(const Ref<hal::File>& file, ParameterIndex& index)
      : file_(file), bytes_(file->data(), file->byte_length()), index_(index) {}

  absl::Status Read();

 private:
  absl::Status ReadHeader();
  absl::StatusOr<Range> ReadSegment(uint64_t field, absl::string_view name);
  // The entry whose bytes are `entry`, at `offset` of the file.
  absl::Status ReadEntry(absl::Span<const uint8_t> entry, uint64_t offset);
  absl::StatusOr<std::string> ReadName(absl::Span<const uint8_t> entry,
                                       uint64_t offset);
  absl::Status ReadSplat(absl::Span<const uint8_t> entry, uint64_t offset,
                         Parameter& parameter);
  absl::Status ReadData(absl::Span<const uint8_t> entry, uint64_t offset,
                        Parameter& parameter);

  const Ref<hal::File>& file_;
  const absl::Span<const uint8_t> bytes_;
  ParameterIndex& index_;
  uint64_t entry_count_ = 0;
  Range entries_;
  Range metadata_;
  Range storage_;
  // Names follow one another without overlap, so a small file cannot make many
  // entries copy the same bytes.
  uint64_t name_bytes_ = 0;
};

absl::Status Reader::ReadHeader() {
  if (bytes_.size() < kHeaderBytes) {
    return Damaged(0, absl::StrCat("expected a header of ", kHeaderBytes,
                                   " bytes, got ", bytes_.size()));
  }
  if (Load<uint32_t>(bytes_, 0) != kMagic) {
    return Damaged(0, "expected the bytes \"IRPA\"");
  }
  const uint16_t major = Load<uint16_t>(bytes_, 4);
  if (major != 0) {
    return absl::UnimplementedError(absl::StrCat("parameter archive: version ",
                                                 major, " found, 0 supported"));
  }
  const uint64_t header_bytes = Load<uint64_t>(bytes_, 8);
  if (header_bytes < kHeaderBytes || header_bytes > bytes_.size()) {
    return Damaged(8, absl::StrCat("header size ", header_bytes));
  }
  if (Load<uint64_t>(bytes_, 16) != 0) {
    return absl::UnimplementedError(
        "parameter archive: a chain of headers is not supported");
  }
  entry_count_ = Load<uint64_t>(bytes_, 32);
  TAKT_ASSIGN_OR_RETURN(entries_, ReadSegment(40, "entry"));
  TAKT_ASSIGN_OR_RETURN(metadata_, ReadSegment(56, "metadata"));
  TAKT_ASSIGN_OR_RETURN(storage_, ReadSegment(72, "storage"));
  return absl::OkStatus();
}

absl::StatusOr<Range> Reader::ReadSegment(uint64_t field,
                                          absl::string_view name) {
  const Range range = LoadRange(bytes_, field);
  if (!RangeFits(range.offset, range.length, bytes_.size())) {
    return Damaged(
        field, absl::StrFormat("%s segment: %d bytes at %d are beyond the end",
                               name, range.length, range.offset));
  }
  return range;
}

absl::Status Reader::Read() {
  TAKT_RETURN_IF_ERROR(ReadHeader());
  const absl::Span<const uint8_t> entries =
      bytes_.subspan(entries_.offset, entries_.length);
  uint64_t start = 0;
  for (uint64_t i = 0; i < entry_count_; ++i) {
    const uint64_t offset = entries_.offset + start;
    if (!RangeFits(start, kEntryBytes, entries.size())) {
      return Damaged(offset, absl::StrFormat("entry %d of %d is cut off", i,
                                             entry_count_));
    }
    const uint64_t size = Load<uint64_t>(entries, start);
    if (size < kEntryBytes || size > entries.size() - start) {
      return Damaged(offset, absl::StrCat("entry size ", size));
    }
    TAKT_RETURN_IF_ERROR(ReadEntry(entries.subspan(start, size), offset));
    // No overflow: it is at most the size of a file in memory, and 15.
    start = AlignUp(start + size, kEntryAlignment);
  }
  return absl::OkStatus();
}

absl::Status Reader::ReadEntry(absl::Span<const uint8_t> entry,
                               uint64_t offset) {
  Parameter parameter;
  const uint32_t type = Load<uint32_t>(entry, 8);
  if (type == kSkip) return absl::OkStatus();
  TAKT_ASSIGN_OR_RETURN(parameter.key, ReadName(entry, offset));
  switch (type) {
    case kSplat:
      TAKT_RETURN_IF_ERROR(ReadSplat(entry, offset, parameter));
      break;
    case kData:
      TAKT_RETURN_IF_ERROR(ReadData(entry, offset, parameter));
      break;
    case kExternal:
      parameter.kind = Parameter::Kind::kExternal;
      break;
    default:
      return absl::UnimplementedError(
          absl::StrFormat("parameter archive: offset %d: entry '%s' is of "
                          "unknown type %d",
                          offset + 8, parameter.key, type));
  }
  const absl::Status added = index_.Add(std::move(parameter));
  return added.ok() ? added : Damaged(offset, added.message());
}

absl::StatusOr<std::string> Reader::ReadName(absl::Span<const uint8_t> entry,
                                             uint64_t offset) {
  const Range name = LoadRange(entry, 20);
  if (!RangeFits(name.offset, name.length, metadata_.length)) {
    return Damaged(offset + 20, "the name lies beyond the metadata segment");
  }
  name_bytes_ += name.length;
  if (name_bytes_ > metadata_.length) {
    return Damaged(offset + 20, "the names overlap");
  }
  return std::string(reinterpret_cast<const char*>(bytes_.data()) +
                         metadata_.offset + name.offset,
                     name.length);
}

absl::Status Reader::ReadSplat(absl::Span<const uint8_t> entry, uint64_t offset,
                               Parameter& parameter) {
  if (entry.size() < kSplatEntryBytes) {
    return Damaged(offset, absl::StrCat("splat entry of ", entry.size(),
                                        " bytes is too short"));
  }
  parameter.kind = Parameter::Kind::kSplat;
  parameter.byte_length = Load<uint64_t>(entry, 60);
  std::memcpy(parameter.pattern.data(), entry.data() + 68,
              parameter.pattern.size());
  parameter.pattern_bytes = entry[84];
  return absl::OkStatus();
}

absl::Status Reader::ReadData(absl::Span<const uint8_t> entry, uint64_t offset,
                              Parameter& parameter) {
  if (entry.size() < kDataEntryBytes) {
    return Damaged(offset, absl::StrCat("data entry of ", entry.size(),
                                        " bytes is too short"));
  }
  const Range data = LoadRange(entry, 60);
  if (!RangeFits(data.offset, data.length, storage_.length)) {
    return Damaged(offset + 60,
                   absl::StrFormat("'%s': %d bytes at %d lie beyond the "
                                   "storage segment of %d",
                                   parameter.key, data.length, data.offset,
                                   storage_.length));
  }
  parameter.kind = Parameter::Kind::kData;
  parameter.byte_length = data.length;
  parameter.file = file_;
  parameter.file_offset = storage_.offset + data.offset;
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadParameterArchive(const Ref<hal::File>& file,
                                  ParameterIndex& index) {
  return Reader(file, index).Read();
}

}  // namespace takt::modules
