// Loading of a real file, and of copies with every field damaged that the
// loader reads.
#include "cpu/elf_image.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "cpu/library_abi.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cpu/elf_test_support.h"

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define CAN_REFUSE 1
// The calls of this program, until the one that is refused; negative: none.
static int calls_until_refusal = -1;
static bool IsRefused() {
  const bool is_refused = calls_until_refusal == 0;
  calls_until_refusal -= calls_until_refusal >= 0 ? 1 : 0;
  if (is_refused) errno = ENOMEM;
  return is_refused;
}
extern "C" void* mmap(void* address, size_t bytes, int protection, int flags,
                      int fd, off_t offset) noexcept {
  if (IsRefused()) return MAP_FAILED;
  return reinterpret_cast<void*>(
      syscall(SYS_mmap, address, bytes, protection, flags, fd, offset));
}
extern "C" int mprotect(void* address, size_t bytes, int protection) noexcept {
  if (IsRefused()) return -1;
  return static_cast<int>(syscall(SYS_mprotect, address, bytes, protection));
}
#endif

namespace takt::cpu {
namespace {

#if defined(__x86_64__)

using testing::HasSubstr;

// Fields of a program header.
constexpr size_t kType = 0, kFlags = 4, kOffset = 8, kAddress = 16,
                 kFileSize = 32, kMemorySize = 40, kAlign = 48;

std::string ProtectionAt(const void* address) {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line)) {
    uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::string protection;
    std::istringstream(line) >> std::hex >> begin >> dash >> end >> protection;
    const auto wanted = reinterpret_cast<uintptr_t>(address);
    if (wanted >= begin && wanted < end) return protection;
  }
  return "none";
}

absl::Status LoadStatus(const TestElf& elf) {
  return ElfImage::Load(elf.bytes).status();
}

void ExpectError(const TestElf& elf, absl::StatusCode code,
                 const std::string& message) {
  const absl::Status status = LoadStatus(elf);
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(message));
}
void ExpectDamaged(const TestElf& elf, const std::string& message) {
  ExpectError(elf, absl::StatusCode::kDataLoss, message);
}
void ExpectUnsupported(const TestElf& elf, const std::string& message) {
  ExpectError(elf, absl::StatusCode::kUnimplemented, message);
}

TEST(ElfImageTest, LoadsAndFindsFunctions) {
  auto image = ElfImage::Load(TestElf().bytes);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_TRUE((*image)->FindFunction(library_abi::kQuerySymbol).ok());
  const auto missing = (*image)->FindFunction("nothing");
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.status().message()), HasSubstr("nothing"));
  EXPECT_EQ((*image)->FindFunction("").status().code(),
            absl::StatusCode::kNotFound);
}

TEST(ElfImageTest, NoPageIsWritableOrOthersCode) {
  auto image = ElfImage::Load(TestElf().bytes);
  ASSERT_TRUE(image.ok()) << image.status();
  auto query = (*image)->FindFunction(library_abi::kQuerySymbol);
  ASSERT_TRUE(query.ok());
  const auto* const code = static_cast<const uint8_t*>(*query);
  // Address 0x1390; the segments start at 0x0, 0x1370 and 0x23b0.
  EXPECT_EQ(ProtectionAt(code), "r-xp");
  EXPECT_EQ(ProtectionAt(code - 0x1390), "r--p");
  EXPECT_EQ(ProtectionAt(code - 0x1390 + 0x23b0), "r--p");  // RELRO.
}

TEST(ElfImageTest, DataOutsideOfRelroStaysWritableAndIsNoCode) {
  TestElf elf;
  elf.Put<uint32_t>(TestElf::ProgramHeader(TestElf::kRelro, kType), 0);
  auto image = ElfImage::Load(elf.bytes);
  ASSERT_TRUE(image.ok()) << image.status();
  auto query = (*image)->FindFunction(library_abi::kQuerySymbol);
  ASSERT_TRUE(query.ok());
  EXPECT_EQ(ProtectionAt(static_cast<const uint8_t*>(*query) + 0x1020), "rw-p");
}

TEST(ElfImageTest, RelocatesByWhereItWasPut) {
  auto image = ElfImage::Load(TestElf().bytes);
  ASSERT_TRUE(image.ok()) << image.status();
  const auto* const code = static_cast<const uint8_t*>(
      (*image)->FindFunction(library_abi::kQuerySymbol).value_or(nullptr));
  ASSERT_NE(code, nullptr);
  // The word at 0x23c8 points at the kernel, at 0x1370.
  const uint8_t* target = nullptr;
  std::memcpy(&target, code - 0x1390 + 0x23c8, sizeof(target));
  EXPECT_EQ(target, code - 0x20);
}

TEST(ElfImageTest, ReleasesItsMemory) {
  const void* address = nullptr;
  {
    auto image = ElfImage::Load(TestElf().bytes);
    ASSERT_TRUE(image.ok()) << image.status();
    address =
        (*image)->FindFunction(library_abi::kQuerySymbol).value_or(nullptr);
    EXPECT_EQ(ProtectionAt(address), "r-xp");
  }
  EXPECT_NE(ProtectionAt(address), "r-xp");
}

TEST(ElfImageTest, RecognizesItsBytes) {
  auto image = ElfImage::Load(TestElf().bytes);
  ASSERT_TRUE(image.ok()) << image.status();
  const auto* const code = static_cast<const uint8_t*>(
      (*image)->FindFunction(library_abi::kQuerySymbol).value_or(nullptr));
  const uint8_t* const base = code - 0x1390;
  EXPECT_TRUE((*image)->IsCode(code));
  EXPECT_FALSE((*image)->IsCode(base));
  EXPECT_FALSE((*image)->IsCode(base + 0x13a1));  // Behind the segment.
  EXPECT_FALSE((*image)->IsCode(nullptr));
  EXPECT_EQ((*image)->ReadableFrom(base).size(), 0x368u);
  EXPECT_EQ((*image)->ReadableFrom(base + 0x367).size(), 1u);
  EXPECT_TRUE((*image)->ReadableFrom(base + 0x368).empty());
  EXPECT_TRUE((*image)->ReadableFrom(base - 1).empty());
  EXPECT_TRUE((*image)->ReadableFrom(nullptr).empty());
  EXPECT_TRUE((*image)->ReadableFrom(base + 0x3000).empty());
}

TEST(ElfImageTest, RejectsDamagedIdentity) {
  ExpectDamaged(TestElf().Put<uint8_t>(0, 0x7e), "no ELF magic");
  ExpectUnsupported(TestElf().Put<uint8_t>(4, 1), "64-bit");
  ExpectUnsupported(TestElf().Put<uint8_t>(5, 2), "little-endian");
  ExpectUnsupported(TestElf().Put<uint8_t>(6, 2), "version");
  ExpectUnsupported(TestElf().Put<uint8_t>(7, 9), "OS ABI");
  ExpectUnsupported(TestElf().Put<uint32_t>(20, 2), "version");
}

TEST(ElfImageTest, RejectsOtherTypesAndMachines) {
  ExpectUnsupported(TestElf().Put<uint16_t>(16, 2), "type 2");
  ExpectUnsupported(TestElf().Put<uint16_t>(18, 183), "got 183");
  ExpectUnsupported(TestElf().Put<uint16_t>(18, 243), "got 243");
}

TEST(ElfImageTest, RejectsDamagedProgramHeaderTable) {
  ExpectDamaged(TestElf().Put<uint64_t>(32, ~uint64_t{0}), "program headers");
  ExpectDamaged(TestElf().Put<uint64_t>(32, 0x7fffffff), "program headers");
  ExpectDamaged(TestElf().Put<uint16_t>(52, 65), "header size");
  ExpectDamaged(TestElf().Put<uint16_t>(54, 55), "55 bytes");
  ExpectDamaged(TestElf().Put<uint16_t>(54, 0), "0 bytes");
  ExpectDamaged(TestElf().Put<uint16_t>(56, 0), "0 program headers");
  ExpectDamaged(TestElf().Put<uint16_t>(56, 0xffff), "65535");
}

TEST(ElfImageTest, RejectsSegmentsBeyondTheFile) {
  using E = TestElf;
  for (const E::Segment s : {E::kLoadR, E::kLoadRx, E::kLoadRw}) {
    // Alignment is checked too; multiples of a page pass it.
    ExpectDamaged(E().Put<uint64_t>(E::ProgramHeader(s, kFileSize), 1 << 20)
                      .Put<uint64_t>(E::ProgramHeader(s, kMemorySize), 1 << 20),
                  "beyond the end of the file");
    ExpectDamaged(
        E().Put<uint64_t>(E::ProgramHeader(s, kOffset), ~uint64_t{0} - 0xfff),
        "beyond the end of the file");
  }
}

TEST(ElfImageTest, RejectsImpossibleSegments) {
  using E = TestElf;
  for (const E::Segment s : {E::kLoadR, E::kLoadRx, E::kLoadRw}) {
    ExpectDamaged(E().Put<uint64_t>(E::ProgramHeader(s, kMemorySize), 1),
                  "more bytes in the file");
    ExpectDamaged(
        E().Put<uint64_t>(E::ProgramHeader(s, kMemorySize), ~uint64_t{0}),
        "address space");
    ExpectDamaged(
        E().Put<uint64_t>(E::ProgramHeader(s, kAddress), ~uint64_t{0} - 0x10),
        "address space");
    ExpectDamaged(E().Put<uint64_t>(E::ProgramHeader(s, kAlign), 0x1001),
                  "alignment");
    ExpectDamaged(
        E().Put<uint64_t>(E::ProgramHeader(s, kAlign), uint64_t{1} << 40),
        "alignment");
    ExpectUnsupported(E().Put<uint32_t>(E::ProgramHeader(s, kFlags), 7),
                      "writable and executable");
  }
  ExpectDamaged(
      E().Put<uint64_t>(E::ProgramHeader(E::kLoadRx, kAddress), 0x1371),
      "differ in alignment");
}

TEST(ElfImageTest, RejectsOverlappingSegments) {
  using E = TestElf;
  ExpectDamaged(
      E().Put<uint64_t>(E::ProgramHeader(E::kLoadRx, kAddress), 0x370),
      "overlaps");
  ExpectDamaged(
      E().Put<uint64_t>(E::ProgramHeader(E::kLoadRw, kAddress), 0x13b0),
      "overlaps");
  ExpectDamaged(
      E().Put<uint64_t>(E::ProgramHeader(E::kLoadR, kMemorySize), 0x2000),
      "overlaps");
}

TEST(ElfImageTest, RejectsImagesBeyondTheLimit) {
  using E = TestElf;
  ExpectError(E().Put<uint64_t>(E::ProgramHeader(E::kLoadRw, kMemorySize),
                                ElfImage::kMaxImageBytes),
              absl::StatusCode::kResourceExhausted, "limit");
  ExpectError(E().Put<uint64_t>(E::ProgramHeader(E::kLoadRw, kAddress),
                                (uint64_t{1} << 40) + 0x3b0)
                  .Put<uint32_t>(E::ProgramHeader(E::kRelro, kType), 0),
              absl::StatusCode::kResourceExhausted, "limit");
}

TEST(ElfImageTest, RejectsOddSegments) {
  using E = TestElf;
  ExpectUnsupported(E().Put<uint32_t>(E::ProgramHeader(E::kPhdr, kType), 7),
                    "type 7");  // Thread-local storage.
  ExpectUnsupported(E().Put<uint32_t>(E::ProgramHeader(E::kPhdr, kType), 3),
                    "type 3");  // An interpreter.
  ExpectDamaged(
      E().Put<uint32_t>(E::ProgramHeader(E::kDynamicHeader, kType), 0),
      "not dynamic");
  ExpectDamaged(E().Put<uint32_t>(E::ProgramHeader(E::kPhdr, kType), 2),
                "two dynamic");
  ExpectDamaged(E().Put<uint32_t>(E::ProgramHeader(E::kLoadR, kType), 0)
                    .Put<uint32_t>(E::ProgramHeader(E::kLoadRx, kType), 0)
                    .Put<uint32_t>(E::ProgramHeader(E::kLoadRw, kType), 0),
                "no loaded segment");
}

TEST(ElfImageTest, SegmentsNeedNoAlignment) {
  using E = TestElf;
  E elf;
  for (const E::Segment s : {E::kLoadR, E::kLoadRx, E::kLoadRw}) {
    elf.Put<uint64_t>(E::ProgramHeader(s, kAlign), s == E::kLoadR ? 0 : 1);
  }
  auto image = ElfImage::Load(elf.bytes);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_TRUE((*image)->FindFunction(library_abi::kQuerySymbol).ok());
}

TEST(ElfImageTest, AnEmptySegmentIsNotThere) {
  using E = TestElf;
  auto image = ElfImage::Load(
      E().Put<uint64_t>(E::ProgramHeader(E::kLoadRx, kFileSize), 0)
          .Put<uint64_t>(E::ProgramHeader(E::kLoadRx, kMemorySize), 0)
          .bytes);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ((*image)->FindFunction(library_abi::kQuerySymbol).status().code(),
            absl::StatusCode::kDataLoss);
}

TEST(ElfImageTest, ASegmentWithoutPermissionsIsNotRead) {
  using E = TestElf;
  auto image = ElfImage::Load(
      E().Put<uint32_t>(E::ProgramHeader(E::kRelro, kType), 1)
          .Put<uint32_t>(E::ProgramHeader(E::kRelro, kFlags), 0)
          .Put<uint64_t>(E::ProgramHeader(E::kRelro, kOffset), 0)
          .Put<uint64_t>(E::ProgramHeader(E::kRelro, kAddress), 0x4000)
          .Put<uint64_t>(E::ProgramHeader(E::kRelro, kFileSize), 0)
          .Put<uint64_t>(E::ProgramHeader(E::kRelro, kMemorySize), 0x1000)
          .bytes);
  ASSERT_TRUE(image.ok()) << image.status();
  const auto* const code = static_cast<const uint8_t*>(
      (*image)->FindFunction(library_abi::kQuerySymbol).value_or(nullptr));
  ASSERT_NE(code, nullptr);
  const uint8_t* const segment = code - 0x1390 + 0x4000;
  EXPECT_EQ(ProtectionAt(segment), "---p");
  EXPECT_TRUE((*image)->ReadableFrom(segment).empty());
  ExpectDamaged(E().Put<uint32_t>(E::ProgramHeader(E::kLoadR, kFlags), 0),
                "relocation table");
}

TEST(ElfImageTest, RejectsRelroOutsideOfWritableSegments) {
  using E = TestElf;
  for (const uint64_t address :
       {uint64_t{0}, uint64_t{0x1370}, uint64_t{0x23a0}, uint64_t{0x4000},
        ~uint64_t{0} - 16}) {
    ExpectDamaged(
        E().Put<uint64_t>(E::ProgramHeader(E::kRelro, kAddress), address),
        "RELRO");
  }
  for (const uint64_t bytes : {uint64_t{0xc51}, ~uint64_t{0}}) {
    ExpectDamaged(
        E().Put<uint64_t>(E::ProgramHeader(E::kRelro, kMemorySize), bytes),
        "RELRO");
  }
}

TEST(ElfImageTest, RejectsDynamicSectionOutsideOfSegments) {
  using E = TestElf;
  const size_t address = E::ProgramHeader(E::kDynamicHeader, kAddress);
  const size_t bytes = E::ProgramHeader(E::kDynamicHeader, kMemorySize);
  ExpectDamaged(E().Put<uint64_t>(address, 0x10000), "dynamic section");
  ExpectDamaged(E().Put<uint64_t>(address, ~uint64_t{0} - 8),
                "dynamic section");
  ExpectDamaged(E().Put<uint64_t>(bytes, 0x10000), "dynamic section");
  ExpectDamaged(E().Put<uint64_t>(bytes, ~uint64_t{0}), "dynamic section");
}

TEST(ElfImageTest, RejectsDamagedDynamicEntries) {
  using E = TestElf;
  ExpectDamaged(E().Put<uint64_t>(E::DynamicValue(E::kRelaEntry), 16),
                "16 bytes");
  ExpectDamaged(E().Put<uint64_t>(E::DynamicValue(E::kSymEntry), 16),
                "16 bytes");
  ExpectDamaged(E().Put<uint64_t>(E::DynamicValue(E::kRelaSize), 25),
                "relocation table");
  ExpectDamaged(E().Put<uint64_t>(E::DynamicValue(E::kRelaSize), 24 << 20),
                "relocation table");
  ExpectDamaged(E().Put<uint64_t>(E::DynamicValue(E::kRela), 0x5000),
                "relocation table");
  for (const uint64_t tag : {1, 12, 13, 17, 22, 23, 25, 26, 32, 36}) {
    ExpectUnsupported(E().Put<uint64_t>(E::DynamicTag(E::kFlags), tag),
                      "dynamic tag");
  }
}

TEST(ElfImageTest, RejectsRelocationsOutsideOfWritableSegments) {
  using E = TestElf;
  const size_t target = E::RelocationField(E::kFunction, 0);
  for (const uint64_t address :
       {uint64_t{0x100}, uint64_t{0x1370}, uint64_t{0x23a9}, uint64_t{0x2ff9},
        uint64_t{0x3000}, ~uint64_t{0}, ~uint64_t{0} - 7}) {
    ExpectDamaged(E().Put<uint64_t>(target, address), "relocation outside");
  }
  // Any alignment within is fine.
  EXPECT_TRUE(LoadStatus(E().Put<uint64_t>(target, 0x2ff1)).ok());
}

TEST(ElfImageTest, RejectsUnknownRelocations) {
  using E = TestElf;
  const size_t info = E::RelocationField(E::kFunction, 8);
  ExpectUnsupported(E().Put<uint64_t>(info, 1), "of type 1");
  ExpectUnsupported(E().Put<uint64_t>(info, uint64_t{1} << 32 | 6),
                    "of type 6, symbol 1");
  EXPECT_TRUE(LoadStatus(E().Put<uint64_t>(info, 0)).ok());  // None.
}

// The table is moved to the writable segment, over the library's description,
// and its first entry makes the second one point at code.
TEST(ElfImageTest, ReadsARelocationTableThatChangesUnderItsHands) {
  using E = TestElf;
  const size_t table = E::kLibrary;
  const uint64_t address = 0x2000 + table;
  TestElf elf;
  elf.Put<uint64_t>(E::DynamicValue(E::kRela), address)
      .Put<uint64_t>(E::DynamicValue(E::kRelaSize), 48)
      .Put<uint64_t>(table, address + 24)
      .Put<uint64_t>(table + 8, 8)
      .Put<uint64_t>(table + 16, 0x1370)
      .Put<uint64_t>(table + 24, 0x23c8)
      .Put<uint64_t>(table + 32, 8)
      .Put<uint64_t>(table + 40, 0x1370);
  ExpectDamaged(elf, "relocation outside");
}

TEST(ElfImageTest, SymbolsOutsideOfSegmentsAreNotRead) {
  using E = TestElf;
  const auto find = [](const E& elf) {
    auto image = ElfImage::Load(elf.bytes);
    EXPECT_TRUE(image.ok()) << image.status();
    return image.ok()
               ? (*image)->FindFunction(library_abi::kQuerySymbol).status()
               : image.status();
  };
  using Code = absl::StatusCode;
  EXPECT_EQ(
      find(E().Put<uint64_t>(E::DynamicValue(E::kHashTable), 0x5000)).code(),
      Code::kDataLoss);
  EXPECT_EQ(
      find(E().Put<uint64_t>(E::DynamicTag(E::kHashTable), 0x6fff)).code(),
      Code::kDataLoss);
  EXPECT_EQ(find(E().Put<uint64_t>(E::DynamicValue(E::kSymTab), 0x5000)).code(),
            Code::kDataLoss);
  EXPECT_EQ(find(E().Put<uint32_t>(E::kHash + 4, 0xffffffff)).code(),
            Code::kDataLoss);
  EXPECT_EQ(find(E().Put<uint32_t>(E::kHash + 4, 1)).code(), Code::kNotFound);
  EXPECT_EQ(find(E().Put<uint64_t>(E::DynamicValue(E::kStrTab), 0x5000)).code(),
            Code::kNotFound);
  EXPECT_EQ(
      find(E().Put<uint64_t>(E::DynamicValue(E::kStrSize), 1 << 20)).code(),
      Code::kNotFound);
  EXPECT_EQ(find(E().Put<uint64_t>(E::DynamicValue(E::kStrSize), 5)).code(),
            Code::kNotFound);
  EXPECT_EQ(find(E().Put<uint32_t>(E::kSymbol, 0x7fffffff)).code(),
            Code::kNotFound);
  EXPECT_EQ(find(E().Put<uint16_t>(E::kSymbol + 6, 0)).code(),
            Code::kNotFound);  // Undefined.
  EXPECT_EQ(find(E().Put<uint64_t>(E::kSymbol + 8, 0x23b0)).code(),
            Code::kDataLoss);  // Data.
  EXPECT_EQ(find(E().Put<uint64_t>(E::kSymbol + 8, ~uint64_t{0})).code(),
            Code::kDataLoss);
}

#ifdef CAN_REFUSE
TEST(ElfImageTest, RefusedMappingsAreResourceExhausted) {
  const TestElf elf;
  int refusals = 0;
  for (;; ++refusals) {
    calls_until_refusal = refusals;
    const absl::Status status = LoadStatus(elf);
    const bool was_refused = calls_until_refusal < 0;
    calls_until_refusal = -1;
    if (!was_refused) {
      EXPECT_TRUE(status.ok()) << status;
      break;
    }
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  }
  // The whole; each of three segments twice; and RELRO.
  EXPECT_EQ(refusals, 8);
}
#endif

TEST(ElfImageTest, SurvivesEveryTruncation) {
  const TestElf elf;
  for (size_t size = 0; size < elf.bytes.size(); ++size) {
    const std::vector<uint8_t> bytes(elf.bytes.begin(),
                                     elf.bytes.begin() + size);
    auto image = ElfImage::Load(bytes);
    // The segments end at 0x520; what follows is for debuggers.
    EXPECT_EQ(image.ok(), size >= 0x520) << size;
  }
}

TEST(ElfImageTest, SurvivesEveryFlippedByte) {
  const TestElf elf;
  for (size_t offset = 0; offset < 0x520; ++offset) {
    for (const uint8_t mask : {0x01, 0x80, 0xff}) {
      TestElf damaged = elf;
      damaged.bytes[offset] ^= mask;
      auto image = ElfImage::Load(damaged.bytes);
      if (image.ok()) (void)(*image)->FindFunction(library_abi::kQuerySymbol);
    }
  }
}

#endif  // defined(__x86_64__)

TEST(ElfImageTest, RejectsNothing) {
  EXPECT_EQ(ElfImage::Load({}).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace takt::cpu
