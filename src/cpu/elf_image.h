// An ElfImage is a shared object of the compiler, which Takt maps and relocates
// itself. It is position-independent, and imports nothing from the system.
//
// Everything in the file is checked before it is used; loading executes no code
// of the file. Nothing checks what the code does when it is called.
//
// Invariants:
//   (1) No page is writable and executable at once: code is copied in while its
//       pages are only writable, and protected before any caller gets its
//       address.
//   (2) Every segment lies on pages of its own.
//
// Thread-safety: immutable once loaded.
#ifndef TAKT_CPU_ELF_IMAGE_H_
#define TAKT_CPU_ELF_IMAGE_H_

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "cpu/code_image.h"

namespace takt::cpu {

class ElfImage final : public CodeImage {
 public:
  // Address space that an image may take.
  static constexpr uint64_t kMaxImageBytes = uint64_t{512} << 20;

  // The compiler's name of this machine's architecture, such as "x86_64". Empty
  // if Takt has no loader for it.
  static absl::string_view HostArchitecture();

  // `data` is only read during the call. Errors, each with the file offset or
  // the address at fault: DATA_LOSS for a damaged file; UNIMPLEMENTED for one
  // of another architecture or with a feature that embedded files do not use;
  // RESOURCE_EXHAUSTED beyond kMaxImageBytes or what the system gives.
  // Code of another architecture is loaded and relocated likewise; it cannot be
  // called.
  static absl::StatusOr<std::unique_ptr<ElfImage>> Load(
      absl::Span<const uint8_t> data,
      absl::string_view architecture = HostArchitecture());
  ~ElfImage() override;
  ElfImage(const ElfImage&) = delete;
  ElfImage& operator=(const ElfImage&) = delete;

  // CodeImage.
  absl::StatusOr<const void*> FindFunction(
      absl::string_view name) const override;
  absl::Span<const uint8_t> ReadableFrom(const void* address) const override;
  bool IsCode(const void* address) const override;

  size_t memory_bytes() const { return reserved_bytes_; }

 private:
  // One PT_LOAD, in bytes from the start of the image.
  struct Segment {
    uint64_t begin = 0;
    uint64_t end = 0;  // By the file; the pages reach further.
    uint64_t file_offset = 0;
    uint64_t file_bytes = 0;
    bool readable = false;
    bool writable = false;
    bool executable = false;
  };
  // A range of virtual addresses in the file.
  struct Range {
    uint64_t address = 0;
    uint64_t bytes = 0;
  };
  struct Machine;
  // The contents of the program headers.
  struct Layout;
  // The contents of the dynamic section.
  struct Tables {
    Range relocations;
    uint64_t symbols = 0;  // Addresses; 0: absent.
    uint64_t hash = 0;
    Range strings;
  };

  ElfImage() = default;

  static const Machine* FindMachine(absl::string_view architecture);
  absl::Status CheckHeader(const Elf64_Ehdr& header, uint64_t file_bytes) const;
  absl::Status ReadProgramHeaders(absl::Span<const uint8_t> data,
                                  Layout* layout);
  absl::Status AddSegment(uint64_t header_offset, Segment segment);
  absl::Status CheckRelro(Range relro) const;
  absl::Status Map(absl::Span<const uint8_t> data, const Layout& layout);
  absl::Status ReadDynamic(Range dynamic);
  absl::Status Relocate();
  absl::Status RelocateOne(uint64_t table_address);
  absl::Status Protect(Range relro);

  // The `bytes` bytes at virtual address `address`; nullptr unless they lie
  // within one readable segment.
  const uint8_t* Find(uint64_t address, uint64_t bytes) const;
  const Segment* FindSegment(uint64_t address, uint64_t bytes) const;
  absl::string_view SymbolName(uint32_t string_offset) const;

  const Machine* machine_ = nullptr;
  uint8_t* reserved_ = nullptr;  // What munmap() gets.
  size_t reserved_bytes_ = 0;
  uint8_t* base_ = nullptr;        // Where first_page_ was put.
  uint64_t first_page_ = 0;        // The lowest virtual address, rounded down.
  uint64_t page_bytes_ = 0;        // Of this machine.
  std::vector<Segment> segments_;  // Ascending.
  Tables tables_;
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_ELF_IMAGE_H_
