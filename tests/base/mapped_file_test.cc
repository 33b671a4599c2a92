#include "base/mapped_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace takt {
namespace {

using testing::HasSubstr;

// Every test for both modes, in a folder of its own.
class MappedFileTest : public testing::TestWithParam<MappedFile::Mode> {
 protected:
  MappedFileTest() {
    char name[] = "/tmp/takt_mapped_file_test_XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~MappedFileTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& contents) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << contents;
    return path;
  }

  std::string folder_;
};

std::string Text(const MappedFile& file) {
  return {file.bytes().begin(), file.bytes().end()};
}

TEST_P(MappedFileTest, HoldsTheFilesBytes) {
  const std::string contents(10'000, 'x');
  const std::string path = Write("file", contents);
  const auto file = MappedFile::Open(path, GetParam());
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(Text(**file), contents);
  EXPECT_EQ((*file)->path(), path);
  EXPECT_EQ(reinterpret_cast<uintptr_t>((*file)->bytes().data()) % 4096, 0u);
}

TEST_P(MappedFileTest, EmptyFileIsEmpty) {
  const auto file = MappedFile::Open(Write("empty", ""), GetParam());
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE((*file)->bytes().empty());
}

TEST_P(MappedFileTest, BytesOutliveTheName) {
  const std::string path = Write("file", "still here");
  const auto file = MappedFile::Open(path, GetParam());
  ASSERT_TRUE(file.ok()) << file.status();
  std::filesystem::remove(path);
  EXPECT_EQ(Text(**file), "still here");
}

TEST_P(MappedFileTest, MissingFileIsNamed) {
  const auto file = MappedFile::Open(folder_ + "/missing", GetParam());
  EXPECT_EQ(file.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(file.status().message()),
              HasSubstr(folder_ + "/missing"));
}

TEST_P(MappedFileTest, FolderIsNoFile) {
  const auto file = MappedFile::Open(folder_, GetParam());
  EXPECT_EQ(file.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(file.status().message()), HasSubstr(folder_));
}

// Opening it must not wait for a writer.
TEST_P(MappedFileTest, FifoIsNoFile) {
  const std::string path = folder_ + "/fifo";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const auto file = MappedFile::Open(path, GetParam());
  EXPECT_EQ(file.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(file.status().message()),
              HasSubstr("not a regular file"));
}

TEST_P(MappedFileTest, UnreadableFileIsDenied) {
  const std::string path = Write("secret", "x");
  chmod(path.c_str(), 0);
  const uid_t self = geteuid();
  // Root reads everything.
  if (self == 0) {
    ASSERT_EQ(seteuid(65534), 0);
  }
  const auto file = MappedFile::Open(path, GetParam());
  if (self == 0) {
    ASSERT_EQ(seteuid(self), 0);
  }
  EXPECT_EQ(file.status().code(), absl::StatusCode::kPermissionDenied);
}

TEST_P(MappedFileTest, PreloadedBytesAreACopy) {
  if (GetParam() != MappedFile::Mode::kPreload) return;
  const std::string path = Write("file", "before");
  const auto file = MappedFile::Open(path, GetParam());
  ASSERT_TRUE(file.ok()) << file.status();
  Write("file", "after!");
  EXPECT_EQ(Text(**file), "before");
}

class WritableFileTest : public MappedFileTest {};

TEST_P(WritableFileTest, WritesGoToTheFile) {
  const std::string path = Write("old", "0123");
  auto file = GetParam() == MappedFile::Mode::kWrite
                  ? MappedFile::Open(path, MappedFile::Mode::kWrite)
                  : MappedFile::Create(path, 4);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(Text(**file), GetParam() == MappedFile::Mode::kWrite
                              ? "0123"
                              : std::string(4, '\0'));
  (*file)->writable_bytes()[1] = 'x';
  file->reset();
  auto again = MappedFile::Open(path, MappedFile::Mode::kMap);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ((*again)->bytes()[1], 'x');
}
// kMap stands for Create() here.
INSTANTIATE_TEST_SUITE_P(Ways, WritableFileTest,
                         testing::Values(MappedFile::Mode::kWrite,
                                         MappedFile::Mode::kMap));

TEST_P(WritableFileTest, CreateSaysWhyItCannot) {
  EXPECT_EQ(MappedFile::Create(folder_ + "/no/file", 4).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(MappedFile::Create(folder_ + "/file", ~uint64_t{0}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Modes, MappedFileTest,
                         testing::Values(MappedFile::Mode::kMap,
                                         MappedFile::Mode::kPreload));

}  // namespace
}  // namespace takt
