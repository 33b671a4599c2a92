#include "base/shared_file.h"

#include <unistd.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt {
namespace {

using ::testing::HasSubstr;

class SharedFileTest : public ::testing::Test {
 protected:
  ~SharedFileTest() override { unlink(path_.c_str()); }
  UniqueFd Open() {
    auto file = OpenSharedFile("test", path_);
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
  const auto folder = OpenSharedFile("test", ::testing::TempDir());
  EXPECT_THAT(std::string(folder.status().message()),
              HasSubstr("test file " + ::testing::TempDir()));
  const auto device = OpenSharedFile("test", "/dev/null");
  EXPECT_EQ(device.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(device.status().message()),
              HasSubstr("test file /dev/null: not a regular file"));
}

TEST_F(SharedFileTest, WhatCannotBeAskedCountsAsLocked) {
  EXPECT_TRUE(AreBytesLocked(-1, 0, 1));
  EXPECT_FALSE(SetByteLock(-1, 0, true));
}

}  // namespace
}  // namespace takt
