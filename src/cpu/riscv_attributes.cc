#include "cpu/riscv_attributes.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/math.h"
#include "base/narrow.h"
#include "base/status.h"

namespace takt::cpu {
namespace {

constexpr uint16_t kMachineRiscv = 243;
constexpr uint32_t kSegmentAttributes = 0x70000003;
constexpr uint64_t kTagFile = 1;
constexpr uint64_t kTagIsa = 5;
constexpr absl::string_view kVendor = "riscv";
// The features that can be queried from the processor.
constexpr absl::string_view kAskable[] = {"v", "zvfhmin", "zvfh"};

// Reads from the front of a range of the segment.
class Reader {
 public:
  explicit Reader(absl::Span<const uint8_t> bytes, size_t offset = 0)
      : bytes_(bytes), offset_(offset) {}

  bool empty() const { return bytes_.empty(); }
  size_t offset() const { return offset_; }

  absl::Status Damaged(absl::string_view what) const {
    return absl::DataLossError(
        absl::StrCat("RISC-V attributes: offset ", offset_, ": ", what));
  }

  absl::StatusOr<uint32_t> ReadWord() {
    uint32_t word = 0;
    if (bytes_.size() < sizeof(word)) return Damaged("cut off");
    std::memcpy(&word, bytes_.data(), sizeof(word));
    Skip(sizeof(word));
    return word;
  }
  absl::StatusOr<uint64_t> ReadNumber() {  // ULEB128.
    uint64_t number = 0;
    for (uint32_t shift = 0; shift < 63; shift += 7) {
      if (bytes_.empty()) return Damaged("cut off");
      const uint8_t byte = bytes_[0];
      Skip(1);
      number |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return number;
    }
    return Damaged("a number is too long");
  }
  absl::StatusOr<absl::string_view> ReadText() {
    const auto end = std::find(bytes_.begin(), bytes_.end(), uint8_t{0});
    if (end == bytes_.end()) return Damaged("a text has no end");
    const absl::string_view text(reinterpret_cast<const char*>(bytes_.data()),
                                 Narrow<size_t>(end - bytes_.begin()));
    Skip(text.size() + 1);
    return text;
  }
  // A part of which `consumed` bytes, with its length in them, have been read.
  absl::StatusOr<Reader> ReadPart(uint32_t length, size_t consumed) {
    if (length < consumed || length - consumed > bytes_.size()) {
      return Damaged(absl::StrCat("a part of ", length, " bytes"));
    }
    const Reader part(bytes_.first(length - consumed), offset_);
    Skip(length - consumed);
    return part;
  }

 private:
  void Skip(size_t count) {
    bytes_.remove_prefix(count);
    offset_ += count;
  }

  absl::Span<const uint8_t> bytes_;
  size_t offset_;
};

// Reads the attributes of the whole file.
absl::StatusOr<std::string> ReadFileAttributes(Reader reader) {
  std::string isa;
  while (!reader.empty()) {
    TAKT_ASSIGN_OR_RETURN(const uint64_t tag, reader.ReadNumber());
    if (tag % 2 == 0) {  // The psABI's rule: even ones are numbers.
      TAKT_RETURN_IF_ERROR(reader.ReadNumber().status());
      continue;
    }
    TAKT_ASSIGN_OR_RETURN(const absl::string_view text, reader.ReadText());
    if (tag == kTagIsa) isa = std::string(text);
  }
  return isa;
}

absl::StatusOr<std::string> ReadVendor(Reader reader) {
  std::string isa;
  TAKT_ASSIGN_OR_RETURN(const absl::string_view vendor, reader.ReadText());
  if (vendor != kVendor) return isa;
  while (!reader.empty()) {
    const size_t begin = reader.offset();
    TAKT_ASSIGN_OR_RETURN(const uint64_t tag, reader.ReadNumber());
    TAKT_ASSIGN_OR_RETURN(const uint32_t length, reader.ReadWord());
    TAKT_ASSIGN_OR_RETURN(const Reader part,
                          reader.ReadPart(length, reader.offset() - begin));
    if (tag != kTagFile) continue;
    TAKT_ASSIGN_OR_RETURN(isa, ReadFileAttributes(part));
  }
  return isa;
}

}  // namespace

std::vector<std::string> RiscvExtensions(absl::string_view isa) {
  std::vector<std::string> extensions;
  if (!absl::ConsumePrefix(&isa, "rv64") &&
      !absl::ConsumePrefix(&isa, "rv32")) {
    return extensions;
  }
  for (absl::string_view part : absl::StrSplit(isa, '_', absl::SkipEmpty())) {
    // A version is digits, 'p', digits.
    const auto drop_digits = [&part] {
      const size_t size = part.size();
      while (!part.empty() && absl::ascii_isdigit(part.back())) {
        part.remove_suffix(1);
      }
      return part.size() < size;
    };
    const absl::string_view whole = part;
    if (!drop_digits() || !absl::ConsumeSuffix(&part, "p") || !drop_digits()) {
      part = whole;
    }
    if (!part.empty()) extensions.emplace_back(part);
  }
  return extensions;
}

absl::StatusOr<std::string> ReadRiscvIsa(absl::Span<const uint8_t> segment) {
  std::string isa;
  if (segment.empty()) return isa;
  if (segment[0] != 'A') {
    return Reader(segment).Damaged("another version than A");
  }
  Reader reader(segment.subspan(1), 1);
  while (!reader.empty()) {
    TAKT_ASSIGN_OR_RETURN(const uint32_t length, reader.ReadWord());
    TAKT_ASSIGN_OR_RETURN(const Reader part,
                          reader.ReadPart(length, sizeof(length)));
    TAKT_ASSIGN_OR_RETURN(std::string found, ReadVendor(part));
    if (!found.empty()) isa = std::move(found);
  }
  return isa;
}

absl::Status CheckRiscvIsa(absl::Span<const uint8_t> elf,
                           absl::Span<const std::string> features) {
  Elf64_Ehdr header;
  if (elf.size() < sizeof(header)) return absl::OkStatus();
  std::memcpy(&header, elf.data(), sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_machine != kMachineRiscv) {
    return absl::OkStatus();
  }
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr program;
    uint64_t offset = 0;
    if (!CheckedAdd(header.e_phoff, i * sizeof(program), &offset) ||
        !RangeFits(offset, sizeof(program), elf.size())) {
      return absl::DataLossError(
          absl::StrCat("ELF file: offset ", offset, ": a program header"));
    }
    std::memcpy(&program, elf.data() + offset, sizeof(program));
    if (program.p_type != kSegmentAttributes) continue;
    if (!RangeFits(program.p_offset, program.p_filesz, elf.size())) {
      return absl::DataLossError(absl::StrCat("ELF file: offset ", offset,
                                              ": attributes beyond the file"));
    }
    TAKT_ASSIGN_OR_RETURN(
        const std::string isa,
        ReadRiscvIsa(elf.subspan(program.p_offset, program.p_filesz)));
    for (const std::string& extension : RiscvExtensions(isa)) {
      const bool is_askable =
          std::find(std::begin(kAskable), std::end(kAskable), extension) !=
          std::end(kAskable);
      if (!is_askable || std::find(features.begin(), features.end(),
                                   extension) != features.end()) {
        continue;
      }
      return absl::UnimplementedError(
          absl::StrCat("the executable needs ", extension, " (", isa,
                       "), which this processor lacks; it has ",
                       features.empty() ? "none of v zvfhmin zvfh"
                                        : absl::StrJoin(features, " ")));
    }
  }
  return absl::OkStatus();
}

}  // namespace takt::cpu
