// Goal: files of every architecture are loaded and relocated alike, on any
// machine; only calling their code needs the right one.
// Method: the module fat.vmfb has an ELF file for each of three architectures.
// After loading, each relocated word is compared with what its entry asks for.
#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "cpu/elf_image.h"
#include "cpu/library_abi.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt::cpu {
namespace {

template <typename T>
T ReadAt(const std::vector<uint8_t>& file, uint64_t offset) {
  T value;
  EXPECT_LE(offset + sizeof(T), file.size());
  std::memcpy(&value, file.data() + offset, sizeof(T));
  return value;
}

// The ELF files of the module, by machine. The bytes behind each belong to
// others.
std::map<uint16_t, std::vector<uint8_t>> ReadFiles() {
  const auto module =
      MappedFile::Open(std::string(TAKT_TESTDATA_DIR) + "/fat/fat.vmfb",
                       MappedFile::Mode::kPreload);
  EXPECT_TRUE(module.ok()) << module.status();
  const absl::Span<const uint8_t> bytes = (*module)->bytes();
  std::map<uint16_t, std::vector<uint8_t>> files;
  const std::string magic(ELFMAG, SELFMAG);
  for (auto found = bytes.begin();; ++found) {
    found = std::search(found, bytes.end(), magic.begin(), magic.end());
    if (found == bytes.end()) return files;
    const std::vector<uint8_t> file(found, bytes.end());
    files[ReadAt<Elf64_Ehdr>(file, 0).e_machine] = file;
  }
}

// Where a virtual address is in the file.
uint64_t OffsetOf(const std::vector<uint8_t>& file, uint64_t address) {
  const auto header = ReadAt<Elf64_Ehdr>(file, 0);
  for (uint16_t i = 0; i < header.e_phnum; ++i) {
    const auto segment =
        ReadAt<Elf64_Phdr>(file, header.e_phoff + i * sizeof(Elf64_Phdr));
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address < segment.p_vaddr + segment.p_filesz) {
      return address - segment.p_vaddr + segment.p_offset;
    }
  }
  ADD_FAILURE() << "address " << address << " is in no segment";
  return 0;
}

// The dynamic section, by tag.
std::map<int64_t, uint64_t> ReadDynamic(const std::vector<uint8_t>& file) {
  std::map<int64_t, uint64_t> tags;
  const auto header = ReadAt<Elf64_Ehdr>(file, 0);
  for (uint16_t i = 0; i < header.e_phnum; ++i) {
    const auto segment =
        ReadAt<Elf64_Phdr>(file, header.e_phoff + i * sizeof(Elf64_Phdr));
    if (segment.p_type != PT_DYNAMIC) continue;
    for (uint64_t at = 0; at < segment.p_filesz; at += sizeof(Elf64_Dyn)) {
      const auto entry = ReadAt<Elf64_Dyn>(file, segment.p_offset + at);
      tags[entry.d_tag] = entry.d_un.d_val;
    }
  }
  return tags;
}

// The address of the symbol, which is the only one with a value.
uint64_t ReadQueryAddress(const std::vector<uint8_t>& file) {
  const uint64_t symbols = ReadDynamic(file)[DT_SYMTAB];
  // The null symbol comes first.
  return ReadAt<Elf64_Sym>(file, OffsetOf(file, symbols + sizeof(Elf64_Sym)))
      .st_value;
}

struct Architecture {
  const char* name;
  uint16_t machine;
  uint32_t relative;
};

class ElfImageMachinesTest : public testing::TestWithParam<Architecture> {
 protected:
  ElfImageMachinesTest() : file_(ReadFiles()[GetParam().machine]) {}

  std::vector<uint8_t> file_;
};

TEST_P(ElfImageMachinesTest, RelocatesEveryWord) {
  ASSERT_FALSE(file_.empty());
  const auto image = ElfImage::Load(file_, GetParam().name);
  ASSERT_TRUE(image.ok()) << image.status();
  const void* const query =
      (*image)->FindFunction(library_abi::kQuerySymbol).value_or(nullptr);
  ASSERT_NE(query, nullptr);
  EXPECT_TRUE((*image)->IsCode(query));
  const uint64_t base =
      reinterpret_cast<uintptr_t>(query) - ReadQueryAddress(file_);

  std::map<int64_t, uint64_t> tags = ReadDynamic(file_);
  const uint64_t count = tags[DT_RELASZ] / sizeof(Elf64_Rela);
  EXPECT_GE(count, 5u);  // The library's tables point to each other.
  for (uint64_t i = 0; i < count; ++i) {
    const auto entry = ReadAt<Elf64_Rela>(
        file_, OffsetOf(file_, tags[DT_RELA] + i * sizeof(Elf64_Rela)));
    EXPECT_EQ(ELF64_R_TYPE(entry.r_info), GetParam().relative);
    const auto* const word =
        reinterpret_cast<const uint8_t*>(base + entry.r_offset);
    ASSERT_GE((*image)->ReadableFrom(word).size(), sizeof(uint64_t));
    uint64_t value = 0;
    std::memcpy(&value, word, sizeof(value));
    EXPECT_EQ(value, base + static_cast<uint64_t>(entry.r_addend)) << i;
  }
}

TEST_P(ElfImageMachinesTest, OtherMachinesRefuseIt) {
  for (const char* name : {"x86_64", "arm_64", "riscv_64"}) {
    if (name == std::string(GetParam().name)) continue;
    EXPECT_EQ(ElfImage::Load(file_, name).status().code(),
              absl::StatusCode::kUnimplemented);
  }
  EXPECT_THAT(std::string(ElfImage::Load(file_, "vax").status().message()),
              testing::HasSubstr("there is no loader for \"vax\""));
}

TEST_P(ElfImageMachinesTest, RefusesRelocationsOfOtherMachines) {
  std::map<int64_t, uint64_t> tags = ReadDynamic(file_);
  const uint64_t at =
      OffsetOf(file_, tags[DT_RELA]) + offsetof(Elf64_Rela, r_info);
  for (const uint64_t type :
       {uint64_t{R_X86_64_RELATIVE}, uint64_t{R_AARCH64_RELATIVE},
        uint64_t{R_RISCV_RELATIVE}, uint64_t{R_RISCV_64}}) {
    std::memcpy(file_.data() + at, &type, sizeof(type));
    const absl::Status status = ElfImage::Load(file_, GetParam().name).status();
    EXPECT_EQ(status.ok(), type == GetParam().relative) << status;
  }
}

// A loader of damaged files of other machines stays within the file.
TEST_P(ElfImageMachinesTest, SurvivesFlippedBytes) {
  constexpr size_t kHeaders = 0x600;
  for (size_t i = 0; i < std::min(kHeaders, file_.size()); ++i) {
    file_[i] ^= 0xff;
    ElfImage::Load(file_, GetParam().name).IgnoreError();
    file_[i] ^= 0xff;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ElfImageMachinesTest,
    testing::Values(Architecture{"x86_64", EM_X86_64, R_X86_64_RELATIVE},
                    Architecture{"arm_64", EM_AARCH64, R_AARCH64_RELATIVE},
                    Architecture{"riscv_64", EM_RISCV, R_RISCV_RELATIVE}),
    [](const auto& parameter) { return std::string(parameter.param.name); });

}  // namespace
}  // namespace takt::cpu
