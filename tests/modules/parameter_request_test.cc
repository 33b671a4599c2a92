// The requests of compiled code are tested through the module; here are the
// tables themselves and the limits of messages.
#include "modules/parameter_request.h"

#include "absl/strings/str_cat.h"
#include "tests/modules/hal_calls.h"

namespace takt::modules {
namespace {

Ref<ParameterIndex> IndexOf(const std::vector<std::string>& keys) {
  auto index = MakeRef<ParameterIndex>();
  const Ref<hal::File> file = FileOf("0123456789");
  for (const std::string& key : keys) {
    Parameter parameter;
    parameter.key = key;
    parameter.file = file;
    parameter.byte_length = 10;
    EXPECT_TRUE(index->Add(parameter).ok());
  }
  return index;
}

absl::StatusOr<std::vector<ParameterRequest>> Resolve(
    const std::vector<ParameterScope>& scopes, const std::string& keys,
    const std::string& key_data, const std::string& spans) {
  const Ref<vm::ByteBuffer> tables[] = {
      ConstantBytes(keys), ConstantBytes(key_data), ConstantBytes(spans)};
  return ResolveParameters(scopes, "s", {*tables[0], *tables[1], *tables[2]});
}

TEST(ParameterRequestTest, DecodesRows) {
  const Ref<ParameterIndex> index = IndexOf({"a", "bc"});
  auto requests = Resolve({{"s", index}}, BytesOfValues<uint32_t>({1, 2, 0, 1}),
                          "abc", BytesOfValues<uint64_t>({3, 64, 7, 0, 5, 10}));
  TAKT_ASSERT_OK(requests);
  ASSERT_EQ(requests->size(), 2u);
  EXPECT_EQ((*requests)[0].parameter, index->Find("bc"));
  EXPECT_EQ((*requests)[0].parameter_offset, 3u);
  EXPECT_EQ((*requests)[0].buffer_offset, 64u);
  EXPECT_EQ((*requests)[0].length, 7u);
  EXPECT_EQ((*requests)[1].parameter, index->Find("a"));
  EXPECT_EQ((*requests)[1].length, 10u);
}

TEST(ParameterRequestTest, AcceptsNoRows) {
  auto requests = Resolve({}, "", "", "");
  TAKT_ASSERT_OK(requests);
  EXPECT_TRUE(requests->empty());
}

TEST(ParameterRequestTest, RejectsTablesOfOddLength) {
  const Ref<ParameterIndex> index = IndexOf({"a"});
  const std::string row = BytesOfValues<uint64_t>({0, 0, 10});
  EXPECT_THAT(Resolve({{"s", index}}, "1234567", "a", row),
              FailsWith(kInvalid, "got 7 and 24 bytes"));
  EXPECT_THAT(Resolve({{"s", index}}, BytesOfValues<uint32_t>({0, 1}), "a", ""),
              FailsWith(kInvalid, "got 8 and 0 bytes"));
}

TEST(ParameterRequestTest, RejectsKeysBeyondTheirData) {
  const std::string row = BytesOfValues<uint64_t>({0, 0, 10});
  EXPECT_THAT(Resolve({}, BytesOfValues<uint32_t>({1, 1}), "a", row),
              FailsWith(kOutOfRange, "1 bytes at 1 are not within"));
}

TEST(ParameterRequestTest, SaysWhereThereIsNothing) {
  const std::string keys = BytesOfValues<uint32_t>({0, 1});
  const std::string row = BytesOfValues<uint64_t>({0, 0, 10});
  EXPECT_THAT(Resolve({}, keys, "x", row),
              FailsWith(kNotFound, "scope 's': there are none"));
  EXPECT_THAT(Resolve({{"s", IndexOf({})}}, keys, "x", row),
              FailsWith(kNotFound, "'s::x': there are none"));
}

TEST(ParameterRequestTest, ListsAtMostSixteenNames) {
  std::vector<std::string> names;
  for (int i = 10; i < 30; ++i) names.push_back(absl::StrCat("k", i));
  EXPECT_THAT(Resolve({{"s", IndexOf(names)}}, BytesOfValues<uint32_t>({0, 1}),
                      "x", BytesOfValues<uint64_t>({0, 0, 10})),
              FailsWith(kNotFound, "'k24', 'k25' and 4 more"));
}

}  // namespace
}  // namespace takt::modules
