#include "base/file_replacement.h"

#include <dirent.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt {
namespace {

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

int FilesIn(const std::string& directory) {
  int count = 0;
  DIR* listing = opendir(directory.c_str());
  while (const dirent* entry = readdir(listing))
    count += entry->d_name[0] != '.';
  closedir(listing);
  return count;
}

class FileReplacementTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/replaceXXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  std::string directory_;
};

TEST_F(FileReplacementTest, WritesANewFileAndReplacesIt) {
  const std::string path = directory_ + "/file";
  ASSERT_TRUE(ReplaceFile(path, "first, and longer").ok());
  EXPECT_EQ(Contents(path), "first, and longer");
  const std::string second("sec\0nd", 6);
  ASSERT_TRUE(ReplaceFile(path, second).ok());
  EXPECT_EQ(Contents(path), second);
  ASSERT_TRUE(ReplaceFile(path, "").ok());
  EXPECT_EQ(Contents(path), "");
  EXPECT_EQ(FilesIn(directory_), 1);
}

TEST_F(FileReplacementTest, WhoReadsTheOldOneKeepsIt) {
  const std::string path = directory_ + "/file";
  ASSERT_TRUE(ReplaceFile(path, "old").ok());
  std::ifstream open(path);
  ASSERT_TRUE(ReplaceFile(path, "new").ok());
  std::string text;
  open >> text;
  EXPECT_EQ(text, "old");
}

TEST_F(FileReplacementTest, AnErrorLeavesEverythingAsItWas) {
  const absl::Status missing = ReplaceFile(directory_ + "/no/file", "x");
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.message()),
              testing::HasSubstr("/no/file: cannot be created"));
  // A directory cannot be replaced by a file.
  ASSERT_EQ(mkdir((directory_ + "/sub").c_str(), 0700), 0);
  EXPECT_FALSE(ReplaceFile(directory_ + "/sub", "x").ok());
  EXPECT_EQ(FilesIn(directory_), 1);
}

}  // namespace
}  // namespace takt
