#include "tools/common/parameter_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "takt/takt.hpp"
#include "tests/tools/tool_process.h"

namespace takt::tools {
namespace {

using testing::HasSubstr;

class ParameterArchiveTest : public testing::Test {
 protected:
  ~ParameterArchiveTest() override { std::remove(path_.c_str()); }

  std::string ErrorOf(const std::vector<ArchiveEntry>& entries) {
    return CreateArchive(path_, entries).ToString();
  }

  const std::string path_ = ScratchPath("archive.irpa");
};

TEST_F(ParameterArchiveTest, TheLibraryReadsWhatIsWritten) {
  const Status created = CreateArchive(
      path_, {{"first", "", 100, 64}, {"", "text", 0, 1}, {"third", "", 3, 1}});
  ASSERT_TRUE(created.ok()) << created.ToString();
  auto instance = Instance::Create();
  ASSERT_TRUE(instance.ok());
  auto parameters = Parameters::Open(*instance, path_, "scope");
  ASSERT_TRUE(parameters.ok()) << parameters.status().ToString();
  ASSERT_EQ(takt_parameters_entry_count(parameters->get()), 3u);
  uint64_t byte_length = 0;
  for (size_t i = 0; i < 3; ++i) {
    byte_length += takt_parameters_entry_byte_length(parameters->get(), i);
  }
  EXPECT_EQ(byte_length, 103u);
}

TEST_F(ParameterArchiveTest, WithoutEntriesItIsAnArchiveToo) {
  ASSERT_TRUE(CreateArchive(path_, {}).ok());
  auto instance = Instance::Create();
  ASSERT_TRUE(instance.ok());
  auto parameters = Parameters::Open(*instance, path_);
  ASSERT_TRUE(parameters.ok()) << parameters.status().ToString();
  EXPECT_EQ(takt_parameters_entry_count(parameters->get()), 0u);
}

TEST_F(ParameterArchiveTest, RejectsMoreThanAFileCanHold) {
  for (const uint64_t alignment : {0ull, 3ull, 8192ull, 1ull << 63}) {
    EXPECT_THAT(ErrorOf({{"odd", "", 1, alignment}}),
                HasSubstr("'odd': alignment"));
  }
  EXPECT_THAT(ErrorOf({{"a", "", ~uint64_t{0}, 1}}), HasSubstr("'a'"));
  EXPECT_THAT(ErrorOf({{"a", "", uint64_t{1} << 62, 1},
                       {"b", "", uint64_t{1} << 62, 1}}),
              HasSubstr("more than a file can have"));
}

TEST_F(ParameterArchiveTest, NamesThePathThatCannotBeWritten) {
  EXPECT_THAT(CreateArchive("/nonexistent/x.irpa", {}).ToString(),
              HasSubstr("/nonexistent/x.irpa"));
}

}  // namespace
}  // namespace takt::tools
