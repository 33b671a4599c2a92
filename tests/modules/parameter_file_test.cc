#include "modules/parameter_file.h"

#include <cstdio>
#include <fstream>

#include "tests/modules/archive_builder.h"
#include "tests/modules/test_support.h"

namespace takt::modules {
namespace {

std::string WriteFile(const std::string& name, const std::string& bytes) {
  const std::string path = testing::TempDir() + "/takt_" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

class ParameterFileTest : public testing::TestWithParam<MappedFile::Mode> {};

// The name says nothing, the contents all.
TEST_P(ParameterFileTest, FindsTheFormatByTheContents) {
  ArchiveBuilder builder;
  builder.AddData("a", "abc");
  const std::string archive = WriteFile("archive", builder.Build());
  absl::StatusOr<Ref<ParameterIndex>> index =
      OpenParameterFile(archive, GetParam());
  TAKT_ASSERT_OK(index);
  const Parameter* a = (*index)->Find("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->file->data()[a->file_offset + 2], 'c');
  EXPECT_EQ(a->file->access(), hal::kAccessRead);
  std::remove(archive.c_str());

  const std::string json =
      R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
  std::string tensors;
  AppendBytes<uint64_t>(&tensors, json.size());
  const std::string path = WriteFile("tensors", tensors + json + "z");
  index = OpenParameterFile(path, GetParam());
  TAKT_ASSERT_OK(index);
  const Parameter* b = (*index)->Find("b");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->file->data()[b->file_offset], 'z');
  std::remove(path.c_str());
}

TEST(ParameterFileWriteTest, WritesGoToTheFile) {
  ArchiveBuilder builder;
  builder.AddData("a", "abc");
  const std::string path = WriteFile("written.irpa", builder.Build());
  {
    auto index = OpenParameterFile(path, MappedFile::Mode::kWrite);
    TAKT_ASSERT_OK(index);
    const Parameter* a = (*index)->Find("a");
    ASSERT_NE(a, nullptr);
    EXPECT_EQ(a->file->access(), hal::kAccessAll);
    a->file->data()[a->file_offset] = 'x';
  }
  auto again = OpenParameterFile(path, MappedFile::Mode::kMap);
  TAKT_ASSERT_OK(again);
  const Parameter* a = (*again)->Find("a");
  EXPECT_EQ(a->file->data()[a->file_offset], 'x');
  std::remove(path.c_str());
}

TEST_P(ParameterFileTest, NamesThePathOfABadFile) {
  ArchiveBuilder builder;
  builder.AddData("a", "abc");
  const std::string path =
      WriteFile("damaged.irpa", Patched<uint64_t>(builder.Build(), 8, 1));
  EXPECT_THAT(OpenParameterFile(path, GetParam()),
              FailsWith(absl::StatusCode::kDataLoss, path));
  std::remove(path.c_str());
}

TEST_P(ParameterFileTest, RefusesOtherFormats) {
  const std::string gguf = WriteFile("x.gguf", "GGUF and more");
  EXPECT_THAT(OpenParameterFile(gguf, GetParam()),
              FailsWith(absl::StatusCode::kUnimplemented, ".gguf"));
  std::remove(gguf.c_str());
  for (const char* bytes : {"", "{", "some other text"}) {
    const std::string other = WriteFile("x.irpa", bytes);
    EXPECT_THAT(OpenParameterFile(other, GetParam()),
                FailsWith(absl::StatusCode::kInvalidArgument, other));
    std::remove(other.c_str());
  }
}

TEST_P(ParameterFileTest, ReportsAMissingFile) {
  EXPECT_THAT(OpenParameterFile("/no/such/file.irpa", GetParam()),
              FailsWith(absl::StatusCode::kNotFound, "/no/such/file.irpa"));
}

INSTANTIATE_TEST_SUITE_P(Modes, ParameterFileTest,
                         testing::Values(MappedFile::Mode::kMap,
                                         MappedFile::Mode::kPreload));

}  // namespace
}  // namespace takt::modules
