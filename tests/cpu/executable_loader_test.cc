#include "cpu/executable_loader.h"

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/mapped_file.h"
#include "cpu/elf_image.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/notification.h"

namespace takt::cpu {
namespace {

using testing::HasSubstr;

Ref<MappedFile> OpenFixture(const std::string& name) {
  auto file = MappedFile::Open(TAKT_TESTDATA_DIR "/" + name,
                               MappedFile::Mode::kPreload);
  EXPECT_TRUE(file.ok()) << file.status();
  return file.ok() ? *std::move(file) : nullptr;
}

constexpr char kVmvx[] = "vmvx-bytecode-fb";
const std::vector<uint32_t> kConstants = {1, 2};

absl::StatusOr<Ref<LoadedExecutable>> LoadVmvx(
    ExecutableLoader& loader, const Ref<MappedFile>& file,
    const std::vector<uint32_t>& constants, bool with_owner = true) {
  return loader.Load(kVmvx, file->bytes(),
                     with_owner ? Ref<Object>(file) : nullptr, constants);
}

TEST(ExecutableLoaderTest, KnowsTheFormatsOfThisMachine) {
  const ExecutableLoader loader;
  EXPECT_TRUE(loader.SupportsFormat(kVmvx));
  int elf_count = 0;
  for (const std::string architecture :
       {"x86_64", "arm_64", "riscv_64", "x86_32", "arm_32"}) {
    elf_count += loader.SupportsFormat("embedded-elf-" + architecture);
  }
  EXPECT_EQ(elf_count, ElfImage::HostArchitecture().empty() ? 0 : 1);
  for (const std::string format :
       {"", "embedded-elf-", "system-elf-x86_64", "static", "npu-fb",
        "vmvx-bytecode-f", "vmvx-bytecode-fbx"}) {
    EXPECT_FALSE(loader.SupportsFormat(format)) << format;
  }
}

TEST(ExecutableLoaderTest, NamesTheFormatItLacks) {
  ExecutableLoader loader;
  const absl::Status status = loader.Load("npu-fb", {}, nullptr, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("npu-fb"));
}

#if defined(__x86_64__)

TEST(ExecutableLoaderTest, SystemLibrariesHaveToBeAllowed) {
  constexpr char kFormat[] = "system-elf-x86_64";
  auto file =
      MappedFile::Open(TAKT_TESTDATA_DIR "/elf/simple_mul_system_x86_64.so",
                       MappedFile::Mode::kPreload);
  ASSERT_TRUE(file.ok());
  ExecutableLoader wary;
  EXPECT_FALSE(wary.SupportsFormat(kFormat));
  const absl::Status refused =
      wary.Load(kFormat, (*file)->bytes(), *file, {}).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("allow_system_libraries"));

  ExecutableLoader trusting(nullptr, nullptr, /*allows_system_libraries=*/true);
  EXPECT_TRUE(trusting.SupportsFormat(kFormat));
  EXPECT_FALSE(trusting.SupportsFormat("system-elf-arm_64"));
  auto executable = trusting.Load(kFormat, (*file)->bytes(), *file, {});
  ASSERT_TRUE(executable.ok()) << executable.status();
  EXPECT_EQ((*executable)->function_count(), 1u);
}

#endif

TEST(ExecutableLoaderTest, TheSameContentIsLoadedOnce) {
  ExecutableLoader loader;
  const auto file = OpenFixture("vmvx/executable.vmfb");
  const auto copy = OpenFixture("vmvx/executable.vmfb");
  auto first = LoadVmvx(loader, file, kConstants);
  ASSERT_TRUE(first.ok()) << first.status();
  auto second = LoadVmvx(loader, file, kConstants);
  auto third = LoadVmvx(loader, copy, kConstants);
  auto fourth = LoadVmvx(loader, copy, kConstants, /*with_owner=*/false);
  ASSERT_TRUE(second.ok() && third.ok() && fourth.ok());
  EXPECT_EQ((*first)->code(), (*second)->code());
  EXPECT_EQ((*first)->code(), (*third)->code());
  EXPECT_NE((*first)->code(), (*fourth)->code());
}

TEST(ExecutableLoaderTest, OtherConstantsAreOtherCode) {
  ExecutableLoader loader;
  const auto file = OpenFixture("vmvx/executable.vmfb");
  auto first = LoadVmvx(loader, file, kConstants);
  auto second = LoadVmvx(loader, file, {1, 3});
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE((*first)->code(), (*second)->code());
}

TEST(ExecutableLoaderTest, RemembersOnlyLivingCode) {
  ExecutableLoader loader;
  auto file = OpenFixture("vmvx/executable.vmfb");
  std::weak_ptr<ExecutableCode> code;
  {
    auto executable = LoadVmvx(loader, file, kConstants);
    ASSERT_TRUE(executable.ok()) << executable.status();
    code = (*executable)->code();
    EXPECT_FALSE(file->IsUnique());
  }
  EXPECT_TRUE(code.expired());
  EXPECT_TRUE(file->IsUnique());
  // The loader's entry for code that is gone does no harm, nor do its bytes.
  file.reset();
  file = OpenFixture("vmvx/executable.vmfb");
  EXPECT_TRUE(LoadVmvx(loader, file, kConstants).ok());
}

TEST(ExecutableLoaderTest, CodeKeepsTheBytesItCameFrom) {
  ExecutableLoader loader;
  auto file = OpenFixture("vmvx/executable.vmfb");
  const MappedFile* const kept = file.get();
  auto executable = LoadVmvx(loader, file, kConstants);
  ASSERT_TRUE(executable.ok()) << executable.status();
  file.reset();
  const auto copy = OpenFixture("vmvx/executable.vmfb");
  auto again = LoadVmvx(loader, copy, kConstants);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ((*executable)->code(), (*again)->code());
  EXPECT_TRUE(copy->IsUnique());  // Not needed: `kept` is.
  EXPECT_GT(kept->reference_count(), 0);
}

TEST(ExecutableLoaderTest, AFailureIsNotRemembered) {
  ExecutableLoader loader;
  const auto file = OpenFixture("vmvx/executable_unknown_import.vmfb");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(LoadVmvx(loader, file, {}).status().code(),
              absl::StatusCode::kNotFound);
  }
  EXPECT_TRUE(file->IsUnique());
}

TEST(ExecutableLoaderTest, ExecutablesOutliveTheLoader) {
  Ref<LoadedExecutable> executable;
  {
    ExecutableLoader loader;
    const auto file = OpenFixture("vmvx/executable.vmfb");
    auto loaded = LoadVmvx(loader, file, kConstants);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    executable = *std::move(loaded);
  }
  alignas(64) uint32_t out[16] = {};
  void* bindings[] = {out};
  const size_t lengths[] = {sizeof(out)};
  DispatchArguments arguments;
  arguments.bindings = bindings;
  arguments.binding_lengths = lengths;
  arguments.binding_count = 1;
  exec::Worker worker;
  EXPECT_TRUE(executable->RunWorkgroups(0, arguments, 0, 1, worker).ok());
  EXPECT_EQ(out[0], 1u);
}

TEST(ExecutableLoaderTest, ThreadsThatLoadTheSameGetTheSame) {
  ExecutableLoader loader;
  const auto file = OpenFixture("vmvx/executable.vmfb");
  std::vector<Ref<LoadedExecutable>> loaded(4);
  std::vector<std::thread> threads;
  for (Ref<LoadedExecutable>& target : loaded) {
    threads.emplace_back([&] {
      auto executable = LoadVmvx(loader, file, kConstants);
      ASSERT_TRUE(executable.ok()) << executable.status();
      target = *std::move(executable);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Ref<LoadedExecutable>& executable : loaded) {
    EXPECT_EQ(executable->code(), loaded[0]->code());
  }
}

#if defined(__x86_64__)
// An owner of memory that calls the loader when the memory is released.
class AskingOwner final : public Object {
 public:
  static constexpr ObjectType kType{"test.asking_owner"};
  explicit AskingOwner(ExecutableLoader& loader)
      : Object(&kType), loader_(loader) {}

 private:
  ~AskingOwner() override {
    loader_.ForEachCode([](const ExecutableCode&) {});
  }

  ExecutableLoader& loader_;
};

// The code ends while the other thread compares it, unless that thread is late.
// This would wait forever if the loader were locked then.
TEST(ExecutableLoaderTest, CodeMayEndWhileItIsCompared) {
  ExecutableLoader loader;
  const auto file = OpenFixture("vmvx/executable.vmfb");
  std::vector<uint8_t> data(file->bytes().begin(), file->bytes().end());
  data.resize(size_t{1} << 25);
  auto executable =
      loader.Load(kVmvx, data, MakeRef<AskingOwner>(loader), kConstants);
  ASSERT_TRUE(executable.ok()) << executable.status();
  std::vector<uint8_t> other = data;
  other.back() = 1;
  Notification is_loading;
  std::thread thread([&] {
    is_loading.Notify();
    (void)loader.Load(kVmvx, other, file, kConstants);
  });
  is_loading.WaitForNotification();
  absl::SleepFor(absl::Milliseconds(1));
  executable->reset();
  thread.join();
}

TEST(ExecutableLoaderTest, LoadsElfFiles) {
  ExecutableLoader loader;
  const auto file = OpenFixture("elf/simple_mul_x86_64.so");
  auto first = loader.Load("embedded-elf-x86_64", file->bytes(), file, {});
  ASSERT_TRUE(first.ok()) << first.status();
  auto second = loader.Load("embedded-elf-x86_64", file->bytes(), file, {});
  ASSERT_TRUE(second.ok());
  EXPECT_EQ((*first)->code(), (*second)->code());
  EXPECT_EQ((*first)->function_count(), 1u);
  // The format is part of what it goes by.
  EXPECT_FALSE(loader.Load(kVmvx, file->bytes(), file, {}).ok());
}
#endif

}  // namespace
}  // namespace takt::cpu
