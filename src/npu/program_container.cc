#include "npu/program_container.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/math.h"
#include "base/narrow.h"
#include "base/status.h"

namespace takt::npu {
namespace {

constexpr char kMagic[4] = {'C', 'D', 'A', '1'};
constexpr size_t kHeaderBytes = 64;

absl::Status Damaged(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("NPU program container: ", what));
}

// A FlatBuffer, read where it lies. Positions are from its start.
class Reader {
 public:
  explicit Reader(absl::Span<const uint8_t> bytes) : bytes_(bytes) {}

  template <typename T>
  absl::StatusOr<T> Read(uint64_t position) const {
    if (!RangeFits(position, sizeof(T), bytes_.size())) {
      return Damaged(absl::StrCat("it ends before byte ", position));
    }
    T value;
    std::memcpy(&value, bytes_.data() + position, sizeof(value));
    return value;
  }
  // The position to which the offset at `position` points.
  absl::StatusOr<uint64_t> Follow(uint64_t position) const {
    TAKT_ASSIGN_OR_RETURN(const uint32_t offset, Read<uint32_t>(position));
    if (offset == 0) return Damaged(absl::StrCat("no offset at ", position));
    return position + offset;
  }
  // The position of field `index` of the table at `table`; 0: absent.
  absl::StatusOr<uint64_t> Field(uint64_t table, uint32_t index) const {
    TAKT_ASSIGN_OR_RETURN(const int32_t back, Read<int32_t>(table));
    const int64_t fields = Narrow<int64_t>(table) - back;
    if (fields < 0) return Damaged("a table without fields");
    const auto at = Narrow<uint64_t>(fields);
    TAKT_ASSIGN_OR_RETURN(const uint16_t length, Read<uint16_t>(at));
    const uint64_t entry = 4 + uint64_t{index} * 2;
    if (entry + 2 > length) return 0;
    TAKT_ASSIGN_OR_RETURN(const uint16_t offset, Read<uint16_t>(at + entry));
    return offset == 0 ? 0 : table + offset;
  }
  absl::StatusOr<absl::Span<const uint8_t>> Bytes(uint64_t vector) const {
    TAKT_ASSIGN_OR_RETURN(const uint32_t length, Read<uint32_t>(vector));
    if (!RangeFits(vector + sizeof(length), length, bytes_.size())) {
      return Damaged(absl::StrCat(length, " bytes at ", vector));
    }
    return bytes_.subspan(vector + sizeof(length), length);
  }

 private:
  const absl::Span<const uint8_t> bytes_;
};

}  // namespace

bool IsProgramContainer(absl::Span<const uint8_t> data) {
  return data.size() >= kHeaderBytes &&
         std::memcmp(data.data(), kMagic, sizeof(kMagic)) == 0;
}

absl::StatusOr<absl::Span<const uint8_t>> ReadProgramContainer(
    absl::Span<const uint8_t> data) {
  if (!IsProgramContainer(data)) return Damaged("no header");
  const Reader header(data);
  TAKT_ASSIGN_OR_RETURN(const auto version, header.Read<uint32_t>(4));
  TAKT_ASSIGN_OR_RETURN(const auto length, header.Read<uint64_t>(8));
  if (version != 0) {
    return absl::UnimplementedError(
        absl::StrCat("NPU program container: version ", version));
  }
  if (length > data.size() - kHeaderBytes) {
    return Damaged(absl::StrCat(length, " bytes, but there are ",
                                data.size() - kHeaderBytes));
  }
  const Reader reader(data.subspan(kHeaderBytes, length));
  TAKT_ASSIGN_OR_RETURN(const uint64_t root, reader.Follow(0));
  TAKT_ASSIGN_OR_RETURN(const uint64_t field, reader.Field(root, 1));
  if (field == 0) return Damaged("no object file");
  TAKT_ASSIGN_OR_RETURN(const uint64_t modules, reader.Follow(field));
  TAKT_ASSIGN_OR_RETURN(const auto count, reader.Read<uint32_t>(modules));
  if (count != 1) {
    return absl::UnimplementedError(
        absl::StrCat("NPU program container: ", count, " object files"));
  }
  TAKT_ASSIGN_OR_RETURN(const uint64_t module, reader.Follow(modules + 4));
  TAKT_ASSIGN_OR_RETURN(const uint64_t object, reader.Field(module, 0));
  if (object == 0) return Damaged("no bytes");
  TAKT_ASSIGN_OR_RETURN(const uint64_t bytes, reader.Follow(object));
  return reader.Bytes(bytes);
}

}  // namespace takt::npu
