// The file in which processes claim cores: its errors and its slots.
#include "exec/core_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace takt::exec {
namespace {

class CoreFileTest : public ::testing::Test {
 protected:
  CoreFileTest()
      : path_(::testing::TempDir() + "/takt_cores_file_" +
              std::to_string(getpid())) {
    unlink(path_.c_str());
  }
  ~CoreFileTest() override { unlink(path_.c_str()); }
  absl::StatusCode JoinCode() { return CoreFile::Join(path_).status().code(); }

  const std::string path_;
};

TEST_F(CoreFileTest, OthersReadWhatOneWrites) {
  auto a = CoreFile::Join(path_);
  ASSERT_TRUE(a.ok()) << a.status();
  EXPECT_FALSE(a->HasPeers());
  {
    auto b = CoreFile::Join(path_);
    ASSERT_TRUE(b.ok()) << b.status();
    EXPECT_NE(a->slot(), b->slot());
    EXPECT_TRUE(a->HasPeers() && b->HasPeers());
    EXPECT_TRUE(a->IsAlive(b->slot()));
    CoreFile::Slot slot = {};
    slot.renewed_ns = 5;
    slot.standing = 77;  // There is no such standing.
    slot.counts[3] = UINT32_MAX;
    b->Write(slot);
    CoreFile::Slots slots;
    a->Read(&slots);
    EXPECT_EQ(slots[b->slot()].renewed_ns, 5);
    EXPECT_EQ(slots[b->slot()].standing, 0u);
    EXPECT_EQ(slots[b->slot()].counts[3], CoreFile::kCountMax);
    EXPECT_EQ(slots[a->slot()].renewed_ns, 0);
  }
  EXPECT_FALSE(a->HasPeers());
  EXPECT_FALSE(a->IsAlive(1 - a->slot()));
}

TEST_F(CoreFileTest, RefusesOtherFiles) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(JoinCode(), absl::StatusCode::kFailedPrecondition);
  unlink(path_.c_str());
  const int fd = open(path_.c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(write(fd, "something else", 14), 14);
  close(fd);
  EXPECT_EQ(JoinCode(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(CoreFile::Join("/no/such/folder/cores").status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(CoreFileTest, SlotsAreUsedAgain) {
  {
    std::vector<CoreFile> all;
    for (uint32_t i = 0; i < CoreFile::kSlotCount; ++i) {
      auto file = CoreFile::Join(path_);
      ASSERT_TRUE(file.ok()) << file.status();
      all.push_back(*std::move(file));
    }
    EXPECT_EQ(JoinCode(), absl::StatusCode::kResourceExhausted);
  }
  EXPECT_EQ(JoinCode(), absl::StatusCode::kOk);
}

TEST_F(CoreFileTest, AFileThatWasCutOffHasNoClaims) {
  auto file = CoreFile::Join(path_);
  ASSERT_TRUE(file.ok());
  ASSERT_EQ(truncate(path_.c_str(), 100), 0);
  CoreFile::Slots slots;
  file->Read(&slots);
  for (const CoreFile::Slot& slot : slots) EXPECT_EQ(slot.counts[0], 0u);
  ASSERT_EQ(truncate(path_.c_str(), 0), 0);
  file->Write(CoreFile::Slot());  // Leaves a hole in the place of the header.
  EXPECT_EQ(JoinCode(), absl::StatusCode::kOk);
}

}  // namespace
}  // namespace takt::exec
