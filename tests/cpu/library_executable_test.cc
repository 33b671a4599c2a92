#include "cpu/library_executable.h"

#include <cstring>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt::cpu {
namespace {

#if defined(__x86_64__)
constexpr char kSimpleMul[] = TAKT_TESTDATA_DIR "/elf/simple_mul_x86_64.so";

std::vector<uint8_t> ReadBytes(const std::string& path) {
  auto file = MappedFile::Open(path, MappedFile::Mode::kPreload);
  EXPECT_TRUE(file.ok()) << file.status();
  return {(*file)->bytes().begin(), (*file)->bytes().end()};
}

TEST(LibraryExecutableTest, RunsACompiledKernel) {
  auto code = LibraryExecutable::Load(ReadBytes(kSimpleMul), {}, nullptr, {});
  ASSERT_TRUE(code.ok()) << code.status();
  ASSERT_EQ((*code)->functions().size(), 1u);
  const ExecutableCode::Function& function = (*code)->functions()[0];
  EXPECT_EQ(function.binding_count, 3u);
  EXPECT_EQ(function.constant_count, 0u);
  EXPECT_FALSE(function.is_sequential);
  EXPECT_THAT(function.name, testing::HasSubstr("simple_mul"));

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
#endif

}  // namespace
}  // namespace takt::cpu
