#include "cpu/system_library.h"

#include <dirent.h>
#include <elf.h>
#include <link.h>

#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "base/mapped_file.h"
#include "cpu/library_executable.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/allocation_faults.h"

namespace takt::cpu {
namespace {

#if defined(__x86_64__)

using testing::HasSubstr;

// tests/testdata/elf/simple_mul_system_x86_64.so; what lies where is from
// readelf.
constexpr size_t kSymbol = 0x1e0;      // Of the query function.
constexpr size_t kRelocation = 0x258;  // The first one.
constexpr size_t kDynamic = 0xb00;
constexpr char kQuery[] = "iree_hal_executable_library_query";

std::vector<uint8_t> Library() {
  auto file =
      MappedFile::Open(TAKT_TESTDATA_DIR "/elf/simple_mul_system_x86_64.so",
                       MappedFile::Mode::kPreload);
  EXPECT_TRUE(file.ok()) << file.status();
  const absl::Span<const uint8_t> bytes = (*file)->bytes();
  return {bytes.begin(), bytes.end()};
}

template <typename T>
T Get(const std::vector<uint8_t>& bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}
template <typename T>
void Put(std::vector<uint8_t>& bytes, size_t offset, const T& value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
}

// Where the entry with that tag is in the dynamic section.
size_t FindDynamic(const std::vector<uint8_t>& bytes, int64_t tag) {
  size_t at = kDynamic;
  while (Get<Elf64_Dyn>(bytes, at).d_tag != tag) at += sizeof(Elf64_Dyn);
  return at;
}

// Open descriptors of this process.
size_t CountDescriptors() {
  size_t count = 0;
  DIR* const folder = opendir("/proc/self/fd");
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

// Libraries that the dynamic linker has loaded.
size_t CountLibraries() {
  size_t count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info*, size_t, void* data) {
        ++*static_cast<size_t*>(data);
        return 0;
      },
      &count);
  return count;
}

TEST(SystemLibraryTest, HasFunctionsAndReadableBytes) {
  auto library = SystemLibrary::Load(Library());
  ASSERT_TRUE(library.ok()) << library.status();
  auto query = (*library)->FindFunction(kQuery);
  ASSERT_TRUE(query.ok()) << query.status();
  EXPECT_TRUE((*library)->IsCode(*query));
  EXPECT_FALSE((*library)->ReadableFrom(*query).empty());
  const int elsewhere = 0;
  EXPECT_FALSE((*library)->IsCode(&elsewhere));
  EXPECT_TRUE((*library)->ReadableFrom(&elsewhere).empty());
  EXPECT_TRUE((*library)->ReadableFrom(nullptr).empty());
}

TEST(SystemLibraryTest, RunsACompiledKernel) {
  auto code = LibraryExecutable::LoadSystem(Library(), {}, nullptr, {});
  ASSERT_TRUE(code.ok()) << code.status();
  ASSERT_EQ((*code)->functions().size(), 1u);
  alignas(64) float a[16] = {1, 2, 3, -4};
  alignas(64) float b[16] = {10, 0.5, -1, -2};
  alignas(64) float c[16] = {};
  void* bindings[] = {a, b, c};
  const size_t lengths[] = {16, 16, 16};
  DispatchArguments arguments;
  arguments.bindings = bindings;
  arguments.binding_lengths = lengths;
  arguments.binding_count = 3;
  exec::Worker worker;
  ASSERT_TRUE((*code)->RunWorkgroups(0, arguments, 0, 1, worker).ok());
  EXPECT_THAT(std::vector<float>(c, c + 4), testing::ElementsAre(10, 1, -3, 8));
}

TEST(SystemLibraryTest, NamesTheSymbolThatIsMissing) {
  auto library = SystemLibrary::Load(Library());
  ASSERT_TRUE(library.ok());
  const absl::Status status = (*library)->FindFunction("no_such").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no_such"));
  // One that the process has, but not the library.
  EXPECT_FALSE((*library)->FindFunction("malloc").ok());
}

TEST(SystemLibraryTest, NamesTheImportThatIsMissing) {
  std::vector<uint8_t> bytes = Library();
  auto symbol = Get<Elf64_Sym>(bytes, kSymbol);
  symbol.st_shndx = SHN_UNDEF;
  symbol.st_value = 0;
  Put(bytes, kSymbol, symbol);
  // None of the relocations is known to be relative any more.
  const size_t count_at = FindDynamic(bytes, DT_RELACOUNT);
  auto count = Get<Elf64_Dyn>(bytes, count_at);
  count.d_un.d_val = 0;
  Put(bytes, count_at, count);
  auto relocation = Get<Elf64_Rela>(bytes, kRelocation);
  relocation.r_info = ELF64_R_INFO(1, R_X86_64_64);
  Put(bytes, kRelocation, relocation);
  const absl::Status status = SystemLibrary::Load(bytes).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(std::string("undefined symbol: ") + kQuery));
}

TEST(SystemLibraryTest, NamesTheLibraryThatIsMissing) {
  std::vector<uint8_t> bytes = Library();
  const size_t at = FindDynamic(bytes, DT_HASH);
  Elf64_Dyn needed{};
  needed.d_tag = DT_NEEDED;
  needed.d_un.d_val = Get<Elf64_Sym>(bytes, kSymbol).st_name;
  Put(bytes, at, needed);
  const absl::Status status = SystemLibrary::Load(bytes).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(kQuery));
}

TEST(SystemLibraryTest, RejectsFilesThatAreNoLibrary) {
  for (const std::string text : {"", "not an ELF file"}) {
    const absl::Status status =
        SystemLibrary::Load(
            {reinterpret_cast<const uint8_t*>(text.data()), text.size()})
            .status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  }
}

// The dynamic linker knows libraries by name: each has one of its own.
TEST(SystemLibraryTest, EachLoadIsALibraryOfItsOwn) {
  auto first = SystemLibrary::Load(Library());
  auto second = SystemLibrary::Load(Library());
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(*(*first)->FindFunction(kQuery), *(*second)->FindFunction(kQuery));
  first->reset();
  EXPECT_TRUE((*second)->FindFunction(kQuery).ok());
}

TEST(SystemLibraryTest, LeavesNoDescriptorBehind) {
  const size_t before = CountDescriptors();
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(SystemLibrary::Load(Library()).ok());
    EXPECT_FALSE(SystemLibrary::Load({}).ok());
  }
  EXPECT_EQ(CountDescriptors(), before);
}

TEST(SystemLibraryTest, LeavesNothingBehindWithoutMemory) {
  const std::vector<uint8_t> bytes = Library();
  const size_t libraries = CountLibraries();
  const size_t descriptors = CountDescriptors();
  bool is_hit = true;
  bool is_loaded = false;
  for (int64_t first = 0; is_hit; ++first) {
    try {
      const AllocationFault fault(first);
      is_loaded = SystemLibrary::Load(bytes).ok();
    } catch (const std::bad_alloc&) {
    }
    is_hit = AllocationFault::is_hit();
    EXPECT_EQ(CountLibraries(), libraries) << "allocation " << first;
    EXPECT_EQ(CountDescriptors(), descriptors) << "allocation " << first;
  }
  EXPECT_TRUE(is_loaded);  // Without a fault.
}

TEST(SystemLibraryTest, ThreadsLoadAtTheSameTime) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 25; ++i) {
        auto library = SystemLibrary::Load(Library());
        ASSERT_TRUE(library.ok()) << library.status();
        EXPECT_TRUE((*library)->FindFunction(kQuery).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

#endif

}  // namespace
}  // namespace takt::cpu
