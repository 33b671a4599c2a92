#include "modules/parameter_index.h"

#include "tests/modules/test_support.h"

namespace takt::modules {
namespace {

Parameter Data(const std::string& key, const Ref<hal::File>& file,
               uint64_t offset, uint64_t length) {
  Parameter parameter;
  parameter.key = key;
  parameter.file = file;
  parameter.file_offset = offset;
  parameter.byte_length = length;
  return parameter;
}

TEST(ParameterIndexTest, KeepsParametersInOrder) {
  auto index = MakeRef<ParameterIndex>();
  const Ref<hal::File> file = FileOf("0123456789");
  // Enough to make every table grow.
  std::vector<std::string> keys;
  for (int i = 0; i < 1000; ++i) {
    keys.push_back("parameter with a rather long name " + std::to_string(i));
    TAKT_ASSERT_OK(index->Add(Data(keys.back(), file, 0, 1)));
  }
  EXPECT_EQ(index->keys(), keys);
  EXPECT_EQ(index->size(), 1000u);
  EXPECT_EQ((*index)[7].key, keys[7]);
  EXPECT_EQ(index->Find(keys[7]), &(*index)[7]);
  EXPECT_EQ(index->Find("parameter"), nullptr);
}

TEST(ParameterIndexTest, RejectsAKeyTwice) {
  auto index = MakeRef<ParameterIndex>();
  const Ref<hal::File> file = FileOf("01");
  TAKT_ASSERT_OK(index->Add(Data("a", file, 0, 1)));
  EXPECT_THAT(index->Add(Data("a", file, 1, 1)),
              FailsWith(absl::StatusCode::kAlreadyExists, "'a'"));
  EXPECT_EQ(index->Find("a")->file_offset, 0u);
}

TEST(ParameterIndexTest, RejectsDataOutsideItsFile) {
  auto index = MakeRef<ParameterIndex>();
  const Ref<hal::File> file = FileOf("0123456789");
  TAKT_ASSERT_OK(index->Add(Data("all", file, 0, 10)));
  TAKT_ASSERT_OK(index->Add(Data("none", file, 10, 0)));
  EXPECT_THAT(index->Add(Data("a", file, 0, 11)),
              FailsWith(absl::StatusCode::kOutOfRange,
                        "11 bytes at offset 0 are not within the 10 bytes"));
  EXPECT_THAT(index->Add(Data("a", file, ~uint64_t{0}, 2)),
              FailsWith(absl::StatusCode::kOutOfRange, "'a'"));
  EXPECT_THAT(index->Add(Data("a", nullptr, 0, 1)),
              FailsWith(absl::StatusCode::kOutOfRange, "'a'"));
  EXPECT_EQ(index->Find("a"), nullptr);
}

TEST(ParameterIndexTest, RejectsSplatsWithoutAPattern) {
  auto index = MakeRef<ParameterIndex>();
  Parameter splat;
  splat.key = "s";
  splat.kind = Parameter::Kind::kSplat;
  EXPECT_THAT(index->Add(splat),
              FailsWith(absl::StatusCode::kInvalidArgument, "'s'"));
  splat.pattern_bytes = 17;
  EXPECT_THAT(index->Add(splat),
              FailsWith(absl::StatusCode::kInvalidArgument, "'s'"));
  splat.pattern_bytes = 16;
  TAKT_ASSERT_OK(index->Add(splat));
}

}  // namespace
}  // namespace takt::modules
