#include "base/text_file.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "gtest/gtest.h"

namespace takt {
namespace {

// A file with this content, for as long as the object lives.
class TextFile {
 public:
  explicit TextFile(const std::string& text)
      : path_(testing::TempDir() + "/takt_text_XXXXXX") {
    const int fd = mkstemp(path_.data());
    FILE* const file = fdopen(fd, "w");
    EXPECT_EQ(fwrite(text.data(), 1, text.size(), file), text.size());
    fclose(file);
  }
  ~TextFile() { remove(path_.c_str()); }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(TextFileTest, ReadsTheFirstLine) {
  EXPECT_EQ(ReadFirstLine(TextFile("0-3,8\n9\n").path()), "0-3,8");
  EXPECT_EQ(ReadFirstLine(TextFile("no end").path()), "no end");
  EXPECT_EQ(ReadFirstLine(TextFile("\nsecond").path()), "");
  EXPECT_EQ(ReadFirstLine(TextFile("").path()), "");
}

TEST(TextFileTest, LongLinesAreCut) {
  EXPECT_EQ(ReadFirstLine(TextFile(std::string(10000, 'x')).path()),
            std::string(4095, 'x'));
}

TEST(TextFileTest, AMissingFileIsEmpty) {
  EXPECT_EQ(ReadFirstLine("/nonexistent/file"), "");
  EXPECT_EQ(ReadFirstLine("/"), "");  // read() fails.
  EXPECT_EQ(ReadNumberFile<int>("/nonexistent/file"), absl::nullopt);
}

TEST(TextFileTest, NumbersMustBeNumbers) {
  EXPECT_EQ(ReadNumberFile<int64_t>(TextFile("-17\n").path()), -17);
  EXPECT_EQ(ReadNumberFile<uint32_t>(TextFile("2400000\n").path()), 2400000u);
  EXPECT_EQ(ReadNumberFile<uint32_t>(TextFile("-1\n").path()), absl::nullopt);
  EXPECT_EQ(ReadNumberFile<uint32_t>(TextFile("4294967296").path()),
            absl::nullopt);
  EXPECT_EQ(ReadNumberFile<int>(TextFile("max").path()), absl::nullopt);
}

}  // namespace
}  // namespace takt
