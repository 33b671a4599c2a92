#include "tools/common/file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/tools/tool_process.h"

namespace takt::tools {
namespace {

TEST(FileTest, ReadsWhatWasWritten) {
  const std::string path = ScratchPath("file");
  const std::string bytes("a\0b\n", 4);
  ASSERT_TRUE(WriteFile(path, bytes, false).ok());
  EXPECT_EQ(*ReadFile(path), bytes);
  ASSERT_TRUE(WriteFile(path, "c", true).ok());
  EXPECT_EQ(*ReadFile(path), bytes + "c");
  ASSERT_TRUE(WriteFile(path, "d", false).ok());
  EXPECT_EQ(*ReadFile(path), "d");
}

TEST(FileTest, ADashIsStdout) {
  EXPECT_EQ(OutputPath("a/b"), "a/b");
  EXPECT_EQ(OutputPath("-"), "/dev/stdout");
}

TEST(FileTest, LibrariesAreLookedForHereFirst) {
  const std::string folder = ScratchPath("libraries");
  std::filesystem::create_directory(folder);
  const auto old = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  WriteContents("driver.so", "");
  EXPECT_EQ(LibraryPath("driver.so"), "./driver.so");
  EXPECT_EQ(LibraryPath("other.so"), "other.so");
  EXPECT_EQ(LibraryPath("lib/driver.so"), "lib/driver.so");
  std::filesystem::current_path(old);
}

TEST(FileTest, ErrorsNameTheFile) {
  const Result<std::string> missing = ReadFile("/nonexistent/file");
  EXPECT_EQ(missing.status().code(), TAKT_STATUS_NOT_FOUND);
  EXPECT_TRUE(missing.status().message().starts_with("/nonexistent/file: "));
  EXPECT_FALSE(ReadFile("/").ok());  // A folder.
  EXPECT_EQ(WriteFile("/nonexistent/file", "", false).code(),
            TAKT_STATUS_NOT_FOUND);
  EXPECT_FALSE(WriteFile("/dev/full", "more", false).ok());
}

TEST(FileTest, AWrongPathIsKnownBeforeTheWrite) {
  const std::string path = ScratchPath("later");
  for (const std::string& good : {std::string("-"), path}) {
    EXPECT_TRUE(CheckWritable(good).ok()) << good;
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  const Status missing = CheckWritable("/nonexistent/file");
  EXPECT_EQ(missing.code(), TAKT_STATUS_NOT_FOUND);
  EXPECT_TRUE(missing.message().starts_with("/nonexistent/file: "));
}

TEST(FileTest, ADeviceWithoutAnEndIsRefused) {
  EXPECT_EQ(ReadFile("/dev/zero").status().code(),
            TAKT_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(*ReadFile("/dev/null"), "");
}

TEST(InputFilesTest, ContinuesWhereTheLastReadEnded) {
  InputFiles files;
  files.Add("f", "abcdef");
  InputFiles::Cursor* cursor = *files.Open("f", true);
  cursor->offset = 2;
  EXPECT_EQ((*files.Open("f", false))->rest(), "cdef");
  EXPECT_EQ((*files.Open("f", true))->rest(), "abcdef");
}

TEST(InputFilesTest, FilesHaveCursorsOfTheirOwn) {
  InputFiles files;
  files.Add("f", "abc");
  files.Add("g", "xyz");
  (*files.Open("f", true))->offset = 3;
  EXPECT_EQ((*files.Open("f", false))->rest(), "");
  EXPECT_EQ((*files.Open("g", false))->rest(), "xyz");
}

TEST(InputFilesTest, InMemoryReadsOnlyItsBytes) {
  InputFiles files = InputFiles::InMemory();
  files.Add("f", "abc");
  EXPECT_TRUE(files.Open("f", true).ok());
  EXPECT_EQ(files.Open("/dev/null", true).status().code(),
            TAKT_STATUS_NOT_FOUND);
}

TEST(InputFilesTest, MissingFilesAreErrorsEachTime) {
  InputFiles files;
  EXPECT_EQ(files.Open("/nonexistent", true).status().code(),
            TAKT_STATUS_NOT_FOUND);
  EXPECT_EQ(files.Open("/nonexistent", false).status().code(),
            TAKT_STATUS_NOT_FOUND);
}

}  // namespace
}  // namespace takt::tools
