// A compiled ELF file in memory, to be damaged.
#ifndef TAKT_TESTS_CPU_ELF_TEST_SUPPORT_H_
#define TAKT_TESTS_CPU_ELF_TEST_SUPPORT_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "gtest/gtest.h"

namespace takt::cpu {

// tests/testdata/elf/simple_mul_x86_64.so; what lies where is from readelf.
class TestElf {
 public:
  // Offsets in the file.
  static constexpr size_t kProgramHeaders = 64;
  static constexpr size_t kSymbol = 0x1e0;  // Of the query function.
  static constexpr size_t kHash = 0x1f8;
  static constexpr size_t kStrings = 0x210;
  static constexpr size_t kRelocations = 0x238;
  static constexpr size_t kAttributes = 0x300;
  static constexpr size_t kFunctionName = 0x340;
  static constexpr size_t kReadOnlyEnd = 0x368;  // Of the first segment.
  static constexpr size_t kKernel = 0x370;       // 32 bytes of code.
  static constexpr size_t kQuery = 0x390;
  static constexpr size_t kHeader = 0x3b0;   // Of the library.
  static constexpr size_t kLibrary = 0x3e0;  // Its description.
  static constexpr size_t kDynamic = 0x460;
  // Segments, by program header.
  enum Segment { kPhdr, kLoadR, kLoadRx, kLoadRw, kDynamicHeader, kRelro };
  // Entries of the dynamic section.
  enum Dynamic {
    kFlags,
    kFlags1,
    kRela,
    kRelaSize,
    kRelaEntry,
    kRelaCount,
    kSymTab,
    kSymEntry,
    kStrTab,
    kStrSize,
    kHashTable,
    kNull
  };
  // Relocations: what each points out.
  enum Relocation {
    kLibraryName,
    kFunction,
    kName,
    kHeaderPointer,
    kFunctionTable,
    kAttributeTable,
    kNameTable
  };

  TestElf() {
    auto file = MappedFile::Open(TAKT_TESTDATA_DIR "/elf/simple_mul_x86_64.so",
                                 MappedFile::Mode::kPreload);
    EXPECT_TRUE(file.ok()) << file.status();
    if (file.ok())
      bytes.assign((*file)->bytes().begin(), (*file)->bytes().end());
  }

  template <typename T>
  TestElf& Put(size_t offset, T value) {
    std::memcpy(bytes.data() + offset, &value, sizeof(value));
    return *this;
  }
  template <typename T>
  T Get(size_t offset) const {
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof(value));
    return value;
  }
  TestElf& PutCode(size_t offset, const std::vector<uint8_t>& code) {
    std::memcpy(bytes.data() + offset, code.data(), code.size());
    return *this;
  }
  static size_t ProgramHeader(Segment segment, size_t field) {
    return kProgramHeaders + 56 * static_cast<size_t>(segment) + field;
  }
  static size_t DynamicTag(Dynamic entry) {
    return kDynamic + 16 * static_cast<size_t>(entry);
  }
  static size_t DynamicValue(Dynamic entry) { return DynamicTag(entry) + 8; }
  // Field 0: where, 8: type and symbol, 16: addend.
  static size_t RelocationField(Relocation relocation, size_t field) {
    return kRelocations + 24 * static_cast<size_t>(relocation) + field;
  }

  std::vector<uint8_t> bytes;
};

}  // namespace takt::cpu

#endif  // TAKT_TESTS_CPU_ELF_TEST_SUPPORT_H_
