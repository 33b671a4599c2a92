#include "base/atomic_file.h"

#include <dirent.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt {
namespace {

using testing::HasSubstr;

class AtomicFileTest : public testing::Test {
 protected:
  AtomicFileTest() {
    std::string pattern = testing::TempDir() + "/atomic_XXXXXX";
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  static std::string Contents(const std::string& path) {
    std::ifstream stream(path);
    std::stringstream text;
    text << stream.rdbuf();
    return text.str();
  }
  int FileCount() const {
    int count = 0;
    DIR* folder = opendir(folder_.c_str());
    while (const dirent* entry = readdir(folder)) {
      count += entry->d_name[0] != '.';
    }
    closedir(folder);
    return count;
  }

  std::string folder_;
};

TEST_F(AtomicFileTest, MakesAndReplacesAFile) {
  const std::string path = folder_ + "/profile";
  ASSERT_TRUE(WriteFileAtomically(path, "one").ok());
  EXPECT_EQ(Contents(path), "one");
  const std::string big(1 << 20, 'x');
  ASSERT_TRUE(WriteFileAtomically(path, big).ok());
  EXPECT_EQ(Contents(path), big);
  ASSERT_TRUE(WriteFileAtomically(path, "").ok());
  EXPECT_EQ(Contents(path), "");
  EXPECT_EQ(FileCount(), 1);
}

TEST_F(AtomicFileTest, LeavesTheModeToTheUsersMask) {
  const std::string path = folder_ + "/profile";
  const mode_t mask = umask(027);
  ASSERT_TRUE(WriteFileAtomically(path, "x").ok());
  umask(mask);
  struct stat info;
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST_F(AtomicFileTest, WhoReadsTheOldOneKeepsIt) {
  const std::string path = folder_ + "/profile";
  ASSERT_TRUE(WriteFileAtomically(path, "old").ok());
  std::ifstream open(path);
  ASSERT_TRUE(WriteFileAtomically(path, "new").ok());
  std::string text;
  open >> text;
  EXPECT_EQ(text, "old");
}

TEST_F(AtomicFileTest, NamesThePathThatCannotBe) {
  const std::string path = folder_ + "/none/profile";
  const absl::Status status = WriteFileAtomically(path, "x");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr(path));
}

TEST_F(AtomicFileTest, LeavesNothingBehindWhenItFails) {
  const std::string path = folder_ + "/taken";
  ASSERT_EQ(mkdir(path.c_str(), 0700), 0);
  ASSERT_EQ(mkdir((path + "/full").c_str(), 0700), 0);
  EXPECT_FALSE(WriteFileAtomically(path, "x").ok());
  EXPECT_EQ(FileCount(), 1);
}

}  // namespace
}  // namespace takt
