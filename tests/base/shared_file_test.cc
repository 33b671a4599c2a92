#include "base/shared_file.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kMagic = 0x31305453454b4154;

class SharedFileTest : public ::testing::Test {
 protected:
  ~SharedFileTest() override { unlink(path_.c_str()); }
  UniqueFd Open() {
    auto file = OpenSharedFile("test", path_, kMagic);
    EXPECT_TRUE(file.ok()) << file.status();
    return *std::move(file);
  }
  const std::string path_ =
      ::testing::TempDir() + "/takt_shared_file_" + std::to_string(getpid());
};

TEST_F(SharedFileTest, AByteIsLockedForOneOpenFileAtATime) {
  UniqueFd a = Open();
  const UniqueFd b = Open();
  EXPECT_TRUE(SetByteLock(a.get(), 100, true));
  EXPECT_FALSE(SetByteLock(b.get(), 100, true));
  EXPECT_TRUE(SetByteLock(b.get(), 101, true));
  EXPECT_TRUE(AreBytesLocked(b.get(), 100, 1));
  EXPECT_FALSE(AreBytesLocked(b.get(), 101, 1)) << "the own lock";
  EXPECT_TRUE(AreBytesLocked(b.get(), 90, 20));
  EXPECT_FALSE(AreBytesLocked(b.get(), 90, 10));
  EXPECT_TRUE(SetByteLock(a.get(), 100, false));
  EXPECT_TRUE(SetByteLock(b.get(), 100, true));
  // It ends with the open file.
  EXPECT_TRUE(SetByteLock(a.get(), 102, true));
  a = UniqueFd();
  EXPECT_TRUE(SetByteLock(b.get(), 102, true));
}

TEST_F(SharedFileTest, ErrorsNameTheFile) {
  const auto folder = OpenSharedFile("test", ::testing::TempDir(), kMagic);
  EXPECT_THAT(std::string(folder.status().message()),
              HasSubstr("test file " + ::testing::TempDir()));
  const auto device = OpenSharedFile("test", "/dev/null", kMagic);
  EXPECT_EQ(device.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(device.status().message()),
              HasSubstr("test file /dev/null: not a regular file"));
}

TEST_F(SharedFileTest, FilesOfOtherKindsStayAsTheyAre) {
  for (const std::string& text :
       {std::string("12345678 and more"), std::string(70'000, 0)}) {
    std::ofstream(path_, std::ios::binary) << text;
    const auto file = OpenSharedFile("test", path_, kMagic);
    EXPECT_EQ(file.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(
        std::string(file.status().message()),
        HasSubstr(path_ + ": it is of another kind or version, or damaged; a "
                          "damaged one can be deleted once no process uses "
                          "it"));
    std::stringstream now;
    now << std::ifstream(path_, std::ios::binary).rdbuf();
    EXPECT_EQ(now.str(), text);
  }
  std::ofstream(path_, std::ios::binary) << std::string(700, 0);  // Cut off.
  Open();
  EXPECT_FALSE(OpenSharedFile("test", path_, kMagic + 1).ok());
  Open();
}

TEST_F(SharedFileTest, AFileThatCannotBeWrittenIsRefused) {
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit none = {0, before.rlim_max};
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &none);
  const auto file = OpenSharedFile("test", path_, kMagic);
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  EXPECT_THAT(std::string(file.status().message()),
              HasSubstr("test file " + path_));
}

TEST_F(SharedFileTest, WhatCannotBeAskedCountsAsLocked) {
  EXPECT_TRUE(AreBytesLocked(-1, 0, 1));
  EXPECT_FALSE(SetByteLock(-1, 0, true));
}

}  // namespace
}  // namespace takt
