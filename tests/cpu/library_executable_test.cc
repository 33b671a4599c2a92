// A compiled kernel runs; and copies of its library with damaged tables are
// refused. The code in the file is sound, so that its query may be called.
#include "cpu/library_executable.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cpu/elf_test_support.h"

namespace takt::cpu {
namespace {

#if defined(__x86_64__)

using testing::ElementsAre;
using testing::HasSubstr;
using E = TestElf;

absl::StatusOr<std::shared_ptr<ExecutableCode>> Load(
    const TestElf& elf, absl::Span<const uint32_t> constants = {},
    ImportResolver* imports = nullptr) {
  return LibraryExecutable::Load(elf.bytes, constants, imports, {});
}

void ExpectLibraryError(const TestElf& elf, absl::StatusCode code,
                        const std::string& message) {
  const absl::Status status = Load(elf).status();
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(message));
}
void ExpectDamagedLibrary(const TestElf& elf, const std::string& message) {
  ExpectLibraryError(elf, absl::StatusCode::kDataLoss, message);
}

// One dispatch of a function with the bindings of simple_mul.
struct Dispatch {
  Dispatch() {
    arguments.bindings = bindings;
    arguments.binding_lengths = lengths;
    arguments.binding_count = 3;
  }
  alignas(64) float a[16] = {1, 2, 3, -4};
  alignas(64) float b[16] = {10, 0.5, -1, -2};
  alignas(64) float c[16] = {};
  void* bindings[3] = {a, b, c};
  size_t lengths[3] = {16, 16, 16};
  DispatchArguments arguments;
  exec::Worker worker;
};

TEST(LibraryExecutableTest, RunsACompiledKernel) {
  auto code = Load(TestElf());
  ASSERT_TRUE(code.ok()) << code.status();
  ASSERT_EQ((*code)->functions().size(), 1u);
  const ExecutableCode::Function& function = (*code)->functions()[0];
  EXPECT_EQ(function.binding_count, 3u);
  EXPECT_EQ(function.constant_count, 0u);
  EXPECT_EQ(function.local_memory_bytes, 0u);
  EXPECT_FALSE(function.is_sequential);
  EXPECT_THAT(function.name, HasSubstr("simple_mul"));

  Dispatch dispatch;
  ASSERT_TRUE((*code)
                  ->RunWorkgroups(0, dispatch.arguments, 0, 1, dispatch.worker)
                  .ok());
  EXPECT_THAT(std::vector<float>(dispatch.c, dispatch.c + 4),
              ElementsAre(10, 1, -3, 8));
}

TEST(LibraryExecutableTest, ReadsTheAttributes) {
  auto code = Load(TestElf()
                       .Put<uint64_t>(E::kAttributes, 1)
                       .Put<uint16_t>(E::kAttributes + 8, 3)
                       .Put<uint8_t>(E::kAttributes + 10, 64)
                       .Put<uint8_t>(E::kAttributes + 11, 7)
                       .Put<uint32_t>(E::kAttributes + 16, 5));
  ASSERT_TRUE(code.ok()) << code.status();
  const ExecutableCode::Function& function = (*code)->functions()[0];
  EXPECT_TRUE(function.is_sequential);
  EXPECT_EQ(function.local_memory_bytes, 3u * 4096);
  EXPECT_EQ(function.constant_count, 64u);
  EXPECT_EQ(function.binding_count, 7u);
  EXPECT_THAT(function.workgroup_size, ElementsAre(1, 5, 1));
}

// The kernel is replaced by one that counts how often each workgroup runs, at
// x + y * count_x of its first binding.
TEST(LibraryExecutableTest, RunsEachWorkgroupOfARangeOnce) {
  TestElf elf;
  elf.PutCode(E::kKernel,
              {0x48, 0x8b, 0x46, 0x20,  // mov rax, [rsi + 32]   bindings
               0x48, 0x8b, 0x00,        // mov rax, [rax]
               0x8b, 0x0a,              // mov ecx, [rdx]        id x
               0x44, 0x8b, 0x42, 0x04,  // mov r8d, [rdx + 4]    id y
               0x44, 0x8b, 0x4e, 0x0c,  // mov r9d, [rsi + 12]   count x
               0x45, 0x0f, 0xaf, 0xc8,  // imul r9d, r8d
               0x41, 0x01, 0xc9,        // add r9d, ecx
               0x42, 0xff, 0x04, 0x88,  // inc dword [rax + 4 * r9]
               0x31, 0xc0, 0xc3});      // xor eax, eax; ret
  auto code = Load(elf);
  ASSERT_TRUE(code.ok()) << code.status();
  constexpr uint32_t kTotal = 5 * 3;
  for (uint32_t begin = 0; begin <= kTotal; ++begin) {
    for (uint32_t end = begin; end <= kTotal; ++end) {
      Dispatch dispatch;
      alignas(64) uint32_t counts[16] = {};
      dispatch.bindings[0] = counts;
      dispatch.arguments.workgroup_count = {5, 3, 1};
      ASSERT_TRUE((*code)
                      ->RunWorkgroups(0, dispatch.arguments, begin, end,
                                      dispatch.worker)
                      .ok());
      for (uint32_t i = 0; i < 16; ++i) {
        EXPECT_EQ(counts[i], i >= begin && i < end ? 1u : 0u);
      }
    }
  }
}

// A kernel that returns its workgroup's z shows that ids go on into the third
// dimension, and how a failure is told.
TEST(LibraryExecutableTest, AFailingWorkgroupIsNamed) {
  TestElf elf;
  elf.PutCode(E::kKernel, {0x0f, 0xb7, 0x42, 0x08, 0xc3});  // movzx, ret
  auto code = Load(elf);
  ASSERT_TRUE(code.ok()) << code.status();
  Dispatch dispatch;
  dispatch.arguments.workgroup_count = {2, 3, 9};
  EXPECT_TRUE((*code)
                  ->RunWorkgroups(0, dispatch.arguments, 0, 6, dispatch.worker)
                  .ok());
  const absl::Status status =
      (*code)->RunWorkgroups(0, dispatch.arguments, 45, 54, dispatch.worker);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("simple_mul"));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("workgroup 1,1,7 returned 7"));
}

TEST(LibraryExecutableTest, RejectsOtherVersions) {
  // The query compares with 6; this one is of a library that wants 7.
  ExpectLibraryError(TestElf().Put<uint8_t>(E::kQuery + 4, 7),
                     absl::StatusCode::kUnimplemented, "version 6");
  ExpectLibraryError(TestElf().Put<uint32_t>(E::kHeader, 5),
                     absl::StatusCode::kUnimplemented, "version 5");
}

TEST(LibraryExecutableTest, RejectsSanitizedCode) {
  ExpectLibraryError(TestElf().Put<uint32_t>(E::kHeader + 20, 1),
                     absl::StatusCode::kUnimplemented, "sanitizer 1");
}

TEST(LibraryExecutableTest, RejectsFilesWithoutTheQuery) {
  ExpectLibraryError(TestElf().Put<uint8_t>(E::kStrings + 1, 'x'),
                     absl::StatusCode::kNotFound,
                     "iree_hal_executable_library_query");
}

TEST(LibraryExecutableTest, RejectsTablesOutsideOfTheImage) {
  const struct {
    E::Relocation relocation;
    const char* what;
  } cases[] = {
      {E::kHeaderPointer, "header"},      {E::kFunctionTable, "function table"},
      {E::kAttributeTable, "attributes"}, {E::kNameTable, "function names"},
      {E::kName, "function name"},        {E::kFunction, "is no code"}};
  for (const auto& c : cases) {
    const size_t addend = E::RelocationField(c.relocation, 16);
    for (const int64_t target :
         {int64_t{-1}, int64_t{0x366}, int64_t{0x1000}, int64_t{0x13a1},
          int64_t{0x2fff}, int64_t{0x3000}, INT64_MAX, INT64_MIN}) {
      // A name may lie anywhere in the image.
      if (c.relocation == E::kName && (target == 0x366 || target == 0x2fff)) {
        continue;
      }
      ExpectDamagedLibrary(TestElf().Put<int64_t>(addend, target), c.what);
    }
    // Not relocated at all: NULL, or what stands in the file. A library may do
    // without the table of names.
    if (c.relocation == E::kNameTable) continue;
    ExpectDamagedLibrary(
        TestElf().Put<uint64_t>(E::RelocationField(c.relocation, 8), 0),
        c.what);
  }
}

// As iree-compile 3.8 to 3.11 write it without debug symbols.
TEST(LibraryExecutableTest, MakesUpMissingNames) {
  auto code = Load(TestElf()
                       .Put<uint64_t>(E::RelocationField(E::kNameTable, 8), 0)
                       .Put<uint64_t>(E::kLibrary + 64, 0));
  ASSERT_TRUE(code.ok()) << code.status();
  ASSERT_EQ((*code)->functions().size(), 1u);
  EXPECT_EQ((*code)->functions()[0].name, "dispatch_0");
  Dispatch dispatch;
  ASSERT_TRUE((*code)
                  ->RunWorkgroups(0, dispatch.arguments, 0, 1, dispatch.worker)
                  .ok());
  EXPECT_EQ(dispatch.c[0], 10);
}

TEST(LibraryExecutableTest, RejectsFunctionsThatAreData) {
  for (const int64_t target : {0x0, 0x300, 0x23c8}) {
    ExpectDamagedLibrary(
        TestElf().Put<int64_t>(E::RelocationField(E::kFunction, 16), target),
        "is no code");
  }
}

TEST(LibraryExecutableTest, RejectsNamesWithoutEnd) {
  ExpectDamagedLibrary(TestElf().Put<uint8_t>(E::kReadOnlyEnd - 1, 'x'),
                       "without end");
}

TEST(LibraryExecutableTest, RejectsCountsBeyondTheTables) {
  ExpectDamagedLibrary(TestElf().Put<uint32_t>(E::kLibrary + 24, 1000),
                       "outside");
  ExpectDamagedLibrary(TestElf().Put<uint32_t>(E::kLibrary + 24, 0xffffffff),
                       "exports");
  ExpectDamagedLibrary(TestElf().Put<uint32_t>(E::kLibrary + 8, 1),
                       "import names");
  ExpectDamagedLibrary(TestElf().Put<uint32_t>(E::kLibrary + 8, 0xffffffff),
                       "imports");
}

TEST(LibraryExecutableTest, RejectsMoreOperandsThanThereCanBe) {
  ExpectDamagedLibrary(TestElf().Put<uint8_t>(E::kAttributes + 10, 65),
                       "65 constants");
  ExpectDamagedLibrary(TestElf().Put<uint8_t>(E::kAttributes + 11, 200),
                       "200 bindings");
}

TEST(LibraryExecutableTest, WantsAsManyConstantsAsItSays) {
  const TestElf with_two = TestElf().Put<uint32_t>(E::kLibrary + 104, 2);
  EXPECT_EQ(Load(with_two).status().code(),
            absl::StatusCode::kFailedPrecondition);
  const std::vector<uint32_t> two = {1, 2};
  EXPECT_TRUE(Load(with_two, two).ok());
  const absl::Status status = Load(TestElf(), two).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("expected 0 constants, got 2"));
}

// The relocation of the library's name, which is not read, is turned into one
// of the import names: the table of function names serves as such.
TestElf WithImport() {
  TestElf elf;
  elf.Put<uint32_t>(E::kLibrary + 8, 1)
      .Put<uint64_t>(E::RelocationField(E::kLibraryName, 0), 0x23e0 + 16)
      .Put<int64_t>(E::RelocationField(E::kLibraryName, 16), 0x23d0);
  return elf;
}

class OneFunction final : public ImportResolver {
 public:
  absl::optional<ImportFunction> Resolve(absl::string_view name) override {
    asked.push_back(std::string(name));
    if (!knows) return absl::nullopt;
    return ImportFunction{[](void*, void* context, void*) {
                            return ++*static_cast<int*>(context);
                          },
                          &calls};
  }
  bool knows = true;
  int calls = 10;
  std::vector<std::string> asked;
};

// The kernel calls its import through the environment's thunk, and returns
// what that returns.
TEST(LibraryExecutableTest, KernelsCallTheirImports) {
  TestElf elf = WithImport();
  elf.PutCode(E::kKernel, {0x48, 0x8b, 0x47, 0x18,  // mov rax, [rdi + 24]
                           0x48, 0x8b, 0x10,        // mov rdx, [rax]
                           0x48, 0x8b, 0x47, 0x10,  // mov rax, [rdi + 16]
                           0x48, 0x8b, 0x4f, 0x08,  // mov rcx, [rdi + 8]
                           0x48, 0x8b, 0x38,        // mov rdi, [rax]
                           0xff, 0xe1});            // jmp rcx
  OneFunction imports;
  auto code = Load(elf, {}, &imports);
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_THAT(imports.asked, ElementsAre(HasSubstr("simple_mul")));
  Dispatch dispatch;
  const absl::Status status =
      (*code)->RunWorkgroups(0, dispatch.arguments, 0, 1, dispatch.worker);
  EXPECT_THAT(std::string(status.message()), HasSubstr("returned 11"));
}

TEST(LibraryExecutableTest, MissingImportsAreNamed) {
  OneFunction nothing;
  nothing.knows = false;
  for (ImportResolver* imports : {static_cast<ImportResolver*>(nullptr),
                                  static_cast<ImportResolver*>(&nothing)}) {
    const absl::Status status = Load(WithImport(), {}, imports).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
    EXPECT_THAT(std::string(status.message()), HasSubstr("simple_mul"));
  }
}

TEST(LibraryExecutableTest, WeakImportsMayBeMissing) {
  OneFunction nothing;
  nothing.knows = false;
  const TestElf elf = WithImport().Put<uint8_t>(E::kFunctionName, '?');
  EXPECT_TRUE(Load(elf, {}, &nothing).ok());
  EXPECT_THAT(nothing.asked, ElementsAre(testing::Not(HasSubstr("?"))));
}

#endif  // defined(__x86_64__)

}  // namespace
}  // namespace takt::cpu
