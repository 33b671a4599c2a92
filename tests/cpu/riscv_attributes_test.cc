// Goal: a RISC-V executable is refused where the processor lacks what it was
// compiled for, and a damaged one is an error. Method: the attributes that
// iree-compile's linker writes, and an ELF file of just headers around them.
#include "cpu/riscv_attributes.h"

#include <elf.h>

#include <cstring>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt::cpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Bytes = std::vector<uint8_t>;

void Append(Bytes* bytes, absl::string_view text) {
  bytes->insert(bytes->end(), text.begin(), text.end());
}
void AppendWord(Bytes* bytes, uint32_t word) {
  const auto* from = reinterpret_cast<const uint8_t*>(&word);
  bytes->insert(bytes->end(), from, from + sizeof(word));
}

// 'A', one vendor's part, and in it the attributes of the file: stack
// alignment (tag 4) and the ISA string (tag 5).
Bytes Attributes(const std::string& isa, absl::string_view vendor = "riscv") {
  Bytes file = {4, 16, 5};
  Append(&file, isa);
  file.push_back(0);
  Bytes bytes = {'A'};
  AppendWord(&bytes, static_cast<uint32_t>(4 + vendor.size() + 1 + 1 + 4 +
                                           file.size()));
  Append(&bytes, vendor);
  bytes.push_back(0);
  bytes.push_back(1);
  AppendWord(&bytes, static_cast<uint32_t>(1 + 4 + file.size()));
  bytes.insert(bytes.end(), file.begin(), file.end());
  return bytes;
}

Bytes ElfWith(const Bytes& attributes, uint16_t machine = 243) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_machine = machine;
  header.e_phoff = sizeof(header);
  header.e_phnum = 2;
  Elf64_Phdr programs[2] = {};
  programs[0].p_type = PT_LOAD;
  programs[1].p_type = 0x70000003;
  programs[1].p_offset = sizeof(header) + sizeof(programs);
  programs[1].p_filesz = attributes.size();
  Bytes bytes(programs[1].p_offset);
  std::memcpy(bytes.data(), &header, sizeof(header));
  std::memcpy(bytes.data() + sizeof(header), programs, sizeof(programs));
  bytes.insert(bytes.end(), attributes.begin(), attributes.end());
  return bytes;
}

constexpr char kIsa[] = "rv64i2p1_m2p0_f2p2_v1p0_zvfh1p0_zvl128b1p0";

TEST(RiscvAttributesTest, ExtensionsHaveNoVersions) {
  EXPECT_THAT(RiscvExtensions(kIsa),
              ElementsAre("i", "m", "f", "v", "zvfh", "zvl128b"));
  EXPECT_THAT(RiscvExtensions("rv32i_zvl32b_p_x1p"),
              ElementsAre("i", "zvl32b", "p", "x1p"));
  EXPECT_THAT(RiscvExtensions("x86"), IsEmpty());
  EXPECT_THAT(RiscvExtensions(""), IsEmpty());
}

TEST(RiscvAttributesTest, ReadsTheIsaOfTheFile) {
  EXPECT_EQ(ReadRiscvIsa(Attributes(kIsa)).value(), kIsa);
  EXPECT_EQ(ReadRiscvIsa(Attributes(kIsa, "gnu")).value(), "");
  EXPECT_EQ(ReadRiscvIsa({}).value(), "");
}

TEST(RiscvAttributesTest, RefusesExtensionsThatTheProcessorLacks) {
  const Bytes elf = ElfWith(Attributes(kIsa));
  const std::vector<std::string> all = {"v", "zvfhmin", "zvfh"};
  EXPECT_TRUE(CheckRiscvIsa(elf, all).ok());
  const std::vector<std::string> some = {"v"};
  const absl::Status status = CheckRiscvIsa(elf, some);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("needs zvfh (rv64i2p1_m2p0_f2p2_v1p0_zvfh1p0_zvl128b1p0"
                        "), which this processor lacks; it has v"));
  EXPECT_EQ(CheckRiscvIsa(elf, {}).code(), absl::StatusCode::kUnimplemented);
  // What no processor can be asked for is not held against it.
  EXPECT_TRUE(CheckRiscvIsa(ElfWith(Attributes("rv64i2p1_zba1p0")), {}).ok());
}

TEST(RiscvAttributesTest, OtherFilesAreNotItsBusiness) {
  EXPECT_TRUE(CheckRiscvIsa(ElfWith(Attributes(kIsa), EM_X86_64), {}).ok());
  EXPECT_TRUE(CheckRiscvIsa({}, {}).ok());
  const Bytes text(100, 'x');
  EXPECT_TRUE(CheckRiscvIsa(text, {}).ok());
}

TEST(RiscvAttributesTest, RefusesEveryTruncation) {
  const Bytes whole = Attributes(kIsa);
  for (size_t length = 1; length < whole.size(); ++length) {
    const auto isa = ReadRiscvIsa(absl::MakeConstSpan(whole).first(length));
    if (length == 1) {
      EXPECT_TRUE(isa.ok());  // Nothing but the version.
    } else {
      EXPECT_EQ(isa.status().code(), absl::StatusCode::kDataLoss) << length;
    }
  }
}

TEST(RiscvAttributesTest, RefusesDamage) {
  Bytes bytes = Attributes(kIsa);
  bytes[0] = 'B';
  EXPECT_EQ(ReadRiscvIsa(bytes).status().code(), absl::StatusCode::kDataLoss);
  // Lengths that are too short for themselves, or too long.
  for (const size_t place : {size_t{1}, size_t{12}}) {
    for (const uint8_t length : {0, 3, 255}) {
      bytes = Attributes(kIsa);
      bytes[place] = length;
      EXPECT_EQ(ReadRiscvIsa(bytes).status().code(),
                absl::StatusCode::kDataLoss)
          << place << " " << int{length};
    }
  }
  // A number without an end.
  const Bytes endless(40, 0xff);
  bytes = Attributes(kIsa);
  std::copy(endless.begin(), endless.begin() + 20, bytes.begin() + 16);
  EXPECT_EQ(ReadRiscvIsa(bytes).status().code(), absl::StatusCode::kDataLoss);

  Bytes elf = ElfWith(Attributes(kIsa));
  elf.pop_back();
  EXPECT_EQ(CheckRiscvIsa(elf, {}).code(), absl::StatusCode::kDataLoss);
  elf.resize(sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr));
  EXPECT_EQ(CheckRiscvIsa(elf, {}).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace takt::cpu
