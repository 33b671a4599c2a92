#include "cpu/elf_image.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/math.h"
#include "base/narrow.h"
#include "base/status.h"

namespace takt::cpu {
namespace {

#if defined(__x86_64__)
constexpr absl::string_view kHostArchitecture = "x86_64";
#elif defined(__aarch64__)
constexpr absl::string_view kHostArchitecture = "arm_64";
#elif defined(__riscv) && __riscv_xlen == 64
constexpr absl::string_view kHostArchitecture = "riscv_64";
#else
constexpr absl::string_view kHostArchitecture = "";
#endif

// The compiler writes 7 program headers; this bounds the work, not the use.
constexpr uint16_t kMaxProgramHeaders = 64;
// Larger than any page size, but no waste of address space.
constexpr uint64_t kMaxAlignment = uint64_t{2} << 20;

std::string Hex(uint64_t value) { return absl::StrCat("0x", absl::Hex(value)); }

absl::Status Damaged(uint64_t offset, absl::string_view what) {
  return absl::DataLossError(
      absl::StrCat("ELF file, offset ", Hex(offset), ": ", what));
}
absl::Status DamagedAt(uint64_t address, absl::string_view what) {
  return absl::DataLossError(
      absl::StrCat("ELF image, address ", Hex(address), ": ", what));
}
absl::Status Unsupported(absl::string_view what) {
  return absl::UnimplementedError(absl::StrCat("ELF file: ", what));
}

// `bytes` may have any alignment.
template <typename T>
T ReadAs(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

absl::Status CheckIdentity(const Elf64_Ehdr& header) {
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return Damaged(0, "no ELF magic");
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return Unsupported("expected a 64-bit little-endian file");
  }
  if (header.e_ident[EI_VERSION] != EV_CURRENT ||
      header.e_version != EV_CURRENT) {
    return Unsupported(absl::StrCat("expected version 1, got ",
                                    header.e_ident[EI_VERSION], " and ",
                                    header.e_version));
  }
  if (header.e_ident[EI_OSABI] != ELFOSABI_SYSV) {
    return Unsupported(
        absl::StrCat("expected OS ABI 0, got ", header.e_ident[EI_OSABI]));
  }
  return absl::OkStatus();
}

}  // namespace

struct ElfImage::Machine {
  absl::string_view architecture;  // The compiler's name.
  uint16_t elf_machine;
  uint32_t relative;  // The type of relocations by the base.
};

// nullptr if there is none of that name.
const ElfImage::Machine* ElfImage::FindMachine(absl::string_view architecture) {
  static constexpr Machine kMachines[] = {
      {"x86_64", EM_X86_64, R_X86_64_RELATIVE},
      {"arm_64", EM_AARCH64, R_AARCH64_RELATIVE},
      {"riscv_64", EM_RISCV, R_RISCV_RELATIVE},
  };
  for (const Machine& machine : kMachines) {
    if (machine.architecture == architecture) return &machine;
  }
  return nullptr;
}

absl::Status ElfImage::CheckHeader(const Elf64_Ehdr& header,
                                   uint64_t file_bytes) const {
  TAKT_RETURN_IF_ERROR(CheckIdentity(header));
  if (header.e_type != ET_DYN) {
    return Unsupported(absl::StrCat("expected a shared object (type ", ET_DYN,
                                    "), got type ", header.e_type));
  }
  if (header.e_machine != machine_->elf_machine) {
    return Unsupported(absl::StrCat("expected machine ", machine_->elf_machine,
                                    " (", machine_->architecture, "), got ",
                                    header.e_machine));
  }
  if (header.e_machine == EM_RISCV &&
      (header.e_flags & EF_RISCV_FLOAT_ABI) != EF_RISCV_FLOAT_ABI_DOUBLE) {
    return Unsupported("expected the double-precision float ABI");
  }
  if (header.e_ehsize != sizeof(Elf64_Ehdr)) {
    return Damaged(offsetof(Elf64_Ehdr, e_ehsize), "wrong header size");
  }
  if (header.e_phentsize != sizeof(Elf64_Phdr)) {
    return Damaged(offsetof(Elf64_Ehdr, e_phentsize),
                   absl::StrCat("program headers of ", header.e_phentsize,
                                " bytes, expected ", sizeof(Elf64_Phdr)));
  }
  if (header.e_phnum == 0 || header.e_phnum > kMaxProgramHeaders) {
    return Damaged(
        offsetof(Elf64_Ehdr, e_phnum),
        absl::StrCat(header.e_phnum, " program headers, expected 1 to ",
                     kMaxProgramHeaders));
  }
  if (!RangeFits(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr),
                 file_bytes)) {
    return Damaged(offsetof(Elf64_Ehdr, e_phoff),
                   "program headers beyond the end of the file");
  }
  return absl::OkStatus();
}

namespace {

absl::Status CheckSegment(const Elf64_Phdr& header, uint64_t offset,
                          uint64_t file_bytes) {
  uint64_t end = 0;
  if (!CheckedAdd(header.p_vaddr, header.p_memsz, &end) ||
      end > (uint64_t{1} << 62)) {
    return Damaged(offset, "segment beyond the end of the address space");
  }
  if (header.p_filesz > header.p_memsz) {
    return Damaged(offset, "segment with more bytes in the file than memory");
  }
  if (!RangeFits(header.p_offset, header.p_filesz, file_bytes)) {
    return Damaged(offset, "segment beyond the end of the file");
  }
  if (header.p_align > kMaxAlignment ||
      (header.p_align > 1 && !IsPowerOfTwo(header.p_align))) {
    return Damaged(offset, absl::StrCat("segment alignment ", header.p_align));
  }
  if (header.p_align > 1 &&
      (header.p_vaddr - header.p_offset) % header.p_align != 0) {
    return Damaged(offset, "segment address and offset differ in alignment");
  }
  if ((header.p_flags & PF_W) && (header.p_flags & PF_X)) {
    return Unsupported(absl::StrCat("segment at offset ", Hex(offset),
                                    " is writable and executable"));
  }
  return absl::OkStatus();
}

}  // namespace

struct ElfImage::Layout {
  Range dynamic;
  Range relro;
  bool has_dynamic = false;
  uint64_t alignment = 1;
};

absl::string_view ElfImage::HostArchitecture() { return kHostArchitecture; }

absl::StatusOr<std::unique_ptr<ElfImage>> ElfImage::Load(
    absl::Span<const uint8_t> data, absl::string_view architecture) {
  std::unique_ptr<ElfImage> image(new ElfImage);
  image->machine_ = FindMachine(architecture);
  if (image->machine_ == nullptr) {
    return Unsupported(
        absl::StrCat("there is no loader for \"", architecture, "\""));
  }
  image->page_bytes_ = Narrow<uint64_t>(sysconf(_SC_PAGESIZE));
  Layout layout;
  TAKT_RETURN_IF_ERROR(image->ReadProgramHeaders(data, &layout));
  TAKT_RETURN_IF_ERROR(image->CheckRelro(layout.relro));
  TAKT_RETURN_IF_ERROR(image->Map(data, layout));
  TAKT_RETURN_IF_ERROR(image->ReadDynamic(layout.dynamic));
  TAKT_RETURN_IF_ERROR(image->Relocate());
  TAKT_RETURN_IF_ERROR(image->Protect(layout.relro));
  return image;
}

ElfImage::~ElfImage() {
  if (reserved_ != nullptr) munmap(reserved_, reserved_bytes_);
}

absl::Status ElfImage::ReadProgramHeaders(absl::Span<const uint8_t> data,
                                          Layout* layout) {
  if (data.size() < sizeof(Elf64_Ehdr)) {
    return Damaged(data.size(), "file ends within the header");
  }
  const auto header = ReadAs<Elf64_Ehdr>(data.data());
  TAKT_RETURN_IF_ERROR(CheckHeader(header, data.size()));
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    const uint64_t offset = header.e_phoff + i * sizeof(Elf64_Phdr);
    const auto program = ReadAs<Elf64_Phdr>(data.data() + offset);
    switch (program.p_type) {
      case PT_LOAD: {
        TAKT_RETURN_IF_ERROR(CheckSegment(program, offset, data.size()));
        layout->alignment = std::max(layout->alignment, program.p_align);
        Segment segment;
        segment.begin = program.p_vaddr;
        segment.end = program.p_vaddr + program.p_memsz;
        segment.file_offset = program.p_offset;
        segment.file_bytes = program.p_filesz;
        segment.readable = (program.p_flags & (PF_R | PF_W | PF_X)) != 0;
        segment.writable = (program.p_flags & PF_W) != 0;
        segment.executable = (program.p_flags & PF_X) != 0;
        TAKT_RETURN_IF_ERROR(AddSegment(offset, segment));
        break;
      }
      case PT_DYNAMIC:
        if (layout->has_dynamic) return Damaged(offset, "two dynamic sections");
        layout->has_dynamic = true;
        layout->dynamic = {program.p_vaddr, program.p_memsz};
        break;
      case PT_GNU_RELRO:
        layout->relro = {program.p_vaddr, program.p_memsz};
        break;
      case PT_INTERP:
      case PT_TLS:
        return Unsupported(absl::StrCat("segment of type ", program.p_type));
      default:
        break;  // Says nothing about what to load.
    }
  }
  if (segments_.empty()) return Damaged(header.e_phoff, "no loaded segment");
  if (!layout->has_dynamic) return Damaged(header.e_phoff, "not dynamic");
  return absl::OkStatus();
}

absl::Status ElfImage::AddSegment(uint64_t header_offset, Segment segment) {
  if (segment.begin == segment.end) return absl::OkStatus();
  if (!segments_.empty() && AlignUp(segments_.back().end, page_bytes_) >
                                (segment.begin & ~(page_bytes_ - 1))) {
    return Damaged(header_offset,
                   "segment overlaps its predecessor, or shares a page");
  }
  segments_.push_back(segment);
  return absl::OkStatus();
}

absl::Status ElfImage::CheckRelro(Range relro) const {
  uint64_t end = 0;
  if (relro.bytes == 0) return absl::OkStatus();
  if (!CheckedAdd(relro.address, relro.bytes, &end)) {
    return DamagedAt(relro.address, "RELRO beyond the address space");
  }
  for (const Segment& segment : segments_) {
    if (segment.writable && relro.address >= segment.begin &&
        end <= AlignUp(segment.end, page_bytes_)) {
      return absl::OkStatus();
    }
  }
  return DamagedAt(relro.address, "RELRO outside of writable segments");
}

// Reserves address space for everything, aligned as the file asks, and copies
// the segments into it. All of it but the gaps is writable afterwards.
absl::Status ElfImage::Map(absl::Span<const uint8_t> data,
                           const Layout& layout) {
  const uint64_t alignment = std::max(layout.alignment, page_bytes_);
  first_page_ = segments_.front().begin & ~(alignment - 1);
  const uint64_t bytes =
      AlignUp(segments_.back().end, page_bytes_) - first_page_;
  if (bytes > kMaxImageBytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "ELF image of ", bytes, " bytes; the limit is ", kMaxImageBytes));
  }
  const uint64_t reserved_bytes = bytes + (alignment - page_bytes_);
  void* reserved = mmap(nullptr, reserved_bytes, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (reserved == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat("ELF image of ", bytes, " bytes: ", strerror(errno)));
  }
  reserved_ = static_cast<uint8_t*>(reserved);
  reserved_bytes_ = reserved_bytes;
  const auto address = reinterpret_cast<uintptr_t>(reserved);
  base_ = reserved_ + (AlignUp(address, alignment) - address);
  for (const Segment& segment : segments_) {
    uint8_t* const target = base_ + (segment.begin - first_page_);
    const uint64_t skip = (segment.begin & (page_bytes_ - 1));
    if (mprotect(target - skip, segment.end - segment.begin + skip,
                 PROT_READ | PROT_WRITE) != 0) {
      return absl::ResourceExhaustedError(
          absl::StrCat("ELF image: mprotect: ", strerror(errno)));
    }
    std::memcpy(target, data.data() + segment.file_offset, segment.file_bytes);
  }
  return absl::OkStatus();
}

absl::Status ElfImage::ReadDynamic(Range dynamic) {
  const uint8_t* const table = Find(dynamic.address, dynamic.bytes);
  if (table == nullptr) {
    return DamagedAt(dynamic.address, "dynamic section outside of segments");
  }
  for (uint64_t i = 0; i < dynamic.bytes / sizeof(Elf64_Dyn); ++i) {
    const auto entry = ReadAs<Elf64_Dyn>(table + i * sizeof(Elf64_Dyn));
    const uint64_t value = entry.d_un.d_val;
    const uint64_t address = dynamic.address + i * sizeof(Elf64_Dyn);
    switch (entry.d_tag) {
      case DT_NULL:
        return absl::OkStatus();
      case DT_RELA:
        tables_.relocations.address = value;
        break;
      case DT_RELASZ:
        tables_.relocations.bytes = value;
        break;
      case DT_RELAENT:
        if (value == sizeof(Elf64_Rela)) break;
        return DamagedAt(address,
                         absl::StrCat("relocations of ", value, " bytes each"));
      case DT_SYMTAB:
        tables_.symbols = value;
        break;
      case DT_SYMENT:
        if (value == sizeof(Elf64_Sym)) break;
        return DamagedAt(address,
                         absl::StrCat("symbols of ", value, " bytes each"));
      case DT_STRTAB:
        tables_.strings.address = value;
        break;
      case DT_STRSZ:
        tables_.strings.bytes = value;
        break;
      case DT_HASH:
        tables_.hash = value;
        break;
      case DT_NEEDED:
      case DT_REL:
      case DT_RELR:
      case DT_JMPREL:
      case DT_TEXTREL:
      case DT_INIT:
      case DT_INIT_ARRAY:
      case DT_FINI:
      case DT_FINI_ARRAY:
      case DT_PREINIT_ARRAY:
        return Unsupported(absl::StrCat("dynamic tag ", Hex(entry.d_tag)));
      default:
        break;  // Flags, counts, hints.
    }
  }
  return absl::OkStatus();
}

absl::Status ElfImage::Relocate() {
  const Range& table = tables_.relocations;
  if (table.bytes == 0) return absl::OkStatus();
  if (table.bytes % sizeof(Elf64_Rela) != 0 ||
      Find(table.address, table.bytes) == nullptr) {
    return DamagedAt(table.address, "relocation table outside of segments");
  }
  for (uint64_t i = 0; i < table.bytes; i += sizeof(Elf64_Rela)) {
    TAKT_RETURN_IF_ERROR(RelocateOne(table.address + i));
  }
  return absl::OkStatus();
}

// The entry is read anew each time: a table in writable memory may have been
// changed by the entry before.
absl::Status ElfImage::RelocateOne(uint64_t table_address) {
  const auto entry =
      ReadAs<Elf64_Rela>(Find(table_address, sizeof(Elf64_Rela)));
  if (entry.r_info == 0) return absl::OkStatus();
  if (entry.r_info != machine_->relative) {
    return Unsupported(absl::StrCat(
        "relocation at address ", Hex(table_address), " of type ",
        ELF64_R_TYPE(entry.r_info), ", symbol ", ELF64_R_SYM(entry.r_info),
        "; only relative ones are known"));
  }
  const Segment* const target = FindSegment(entry.r_offset, sizeof(uint64_t));
  if (target == nullptr || !target->writable) {
    return DamagedAt(table_address, "relocation outside of writable segments");
  }
  const uint64_t value = reinterpret_cast<uintptr_t>(base_) +
                         (Truncate<uint64_t>(entry.r_addend) - first_page_);
  std::memcpy(base_ + (entry.r_offset - first_page_), &value, sizeof(value));
  return absl::OkStatus();
}

absl::Status ElfImage::Protect(Range relro) {
  for (const Segment& segment : segments_) {
    const uint64_t begin = segment.begin & ~(page_bytes_ - 1);
    const uint64_t end = AlignUp(segment.end, page_bytes_);
    uint8_t* const target = base_ + (begin - first_page_);
    int protection = segment.readable ? PROT_READ : PROT_NONE;
    if (segment.executable) {
      __builtin___clear_cache(reinterpret_cast<char*>(target),
                              reinterpret_cast<char*>(target + (end - begin)));
      protection |= PROT_EXEC;
    }
    if (segment.writable) protection |= PROT_WRITE;
    if (mprotect(target, end - begin, protection) != 0) {
      return absl::ResourceExhaustedError(
          absl::StrCat("ELF image: mprotect: ", strerror(errno)));
    }
  }
  // Whole pages only, as the linker has padded it.
  const uint64_t begin = relro.address & ~(page_bytes_ - 1);
  const uint64_t end = (relro.address + relro.bytes) & ~(page_bytes_ - 1);
  if (relro.bytes != 0 && begin < end &&
      mprotect(base_ + (begin - first_page_), end - begin, PROT_READ) != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("ELF image: mprotect: ", strerror(errno)));
  }
  return absl::OkStatus();
}

const ElfImage::Segment* ElfImage::FindSegment(uint64_t address,
                                               uint64_t bytes) const {
  for (const Segment& segment : segments_) {
    if (address >= segment.begin && RangeFits(address - segment.begin, bytes,
                                              segment.end - segment.begin)) {
      return &segment;
    }
  }
  return nullptr;
}

const uint8_t* ElfImage::Find(uint64_t address, uint64_t bytes) const {
  const Segment* const segment = FindSegment(address, bytes);
  if (segment == nullptr || !segment->readable) return nullptr;
  return base_ + (address - first_page_);
}

absl::string_view ElfImage::SymbolName(uint32_t string_offset) const {
  const Range& strings = tables_.strings;
  if (string_offset >= strings.bytes) return {};
  const uint8_t* const table = Find(strings.address, strings.bytes);
  if (table == nullptr) return {};
  const auto* const name = reinterpret_cast<const char*>(table) + string_offset;
  return {name, strnlen(name, strings.bytes - string_offset)};
}

absl::StatusOr<const void*> ElfImage::FindFunction(
    absl::string_view name) const {
  // The hash table's second word counts the symbols. They are few: the table
  // itself is not worth its use.
  const uint8_t* const hash = Find(tables_.hash, 2 * sizeof(uint32_t));
  if (tables_.hash == 0 || hash == nullptr) {
    return DamagedAt(tables_.hash, "symbol hash table outside of segments");
  }
  const uint64_t count = ReadAs<uint32_t>(hash + sizeof(uint32_t));
  const uint8_t* const symbols =
      Find(tables_.symbols, count * sizeof(Elf64_Sym));
  if (symbols == nullptr) {
    return DamagedAt(tables_.symbols, "symbol table outside of segments");
  }
  for (uint64_t i = 0; i < count; ++i) {
    const auto symbol = ReadAs<Elf64_Sym>(symbols + i * sizeof(Elf64_Sym));
    if (symbol.st_shndx == SHN_UNDEF || SymbolName(symbol.st_name) != name) {
      continue;
    }
    const Segment* const segment = FindSegment(symbol.st_value, 1);
    if (segment == nullptr || !segment->executable) {
      return DamagedAt(symbol.st_value,
                       absl::StrCat("symbol ", name, " is not in code"));
    }
    return base_ + (symbol.st_value - first_page_);
  }
  return absl::NotFoundError(absl::StrCat("ELF file: no symbol ", name));
}

absl::Span<const uint8_t> ElfImage::ReadableFrom(const void* address) const {
  const uint64_t offset =
      reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(base_);
  // If `address` is below the image, the offset wraps around, and the sum is in
  // no segment.
  const Segment* const segment = FindSegment(first_page_ + offset, 1);
  if (segment == nullptr || !segment->readable) return {};
  return {static_cast<const uint8_t*>(address),
          Narrow<size_t>(segment->end - first_page_ - offset)};
}

bool ElfImage::IsCode(const void* address) const {
  const uint64_t offset =
      reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(base_);
  const Segment* const segment = FindSegment(first_page_ + offset, 1);
  return segment != nullptr && segment->executable;
}

}  // namespace takt::cpu
