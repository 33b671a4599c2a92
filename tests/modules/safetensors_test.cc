#include "modules/safetensors.h"

#include "absl/strings/str_cat.h"
#include "tests/modules/test_support.h"

namespace takt::modules {
namespace {

std::string FileText(const std::string& json, const std::string& data) {
  std::string file;
  AppendBytes<uint64_t>(&file, json.size());
  return file + json + data;
}

absl::Status ReadFile(const std::string& bytes) {
  auto index = MakeRef<ParameterIndex>();
  return ReadSafetensors(FileOf(bytes), *index);
}

TEST(SafetensorsTest, FindsTensors) {
  const std::string json =
      R"({"__metadata__":{"format":"pt"},)"
      R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
      R"("b":{"data_offsets":[8,9],"shape":[],"dtype":"U8"}}   )";
  auto index = MakeRef<ParameterIndex>();
  TAKT_ASSERT_OK(ReadSafetensors(FileOf(FileText(json, "01234567x")), *index));
  EXPECT_THAT(index->keys(), testing::ElementsAre("a", "b"));
  const Parameter* a = index->Find("a");
  EXPECT_EQ(a->byte_length, 8u);
  EXPECT_EQ(a->file_offset, 8 + json.size());
  const Parameter* b = index->Find("b");
  EXPECT_EQ(b->byte_length, 1u);
  EXPECT_EQ(b->file->data()[b->file_offset], 'x');
}

TEST(SafetensorsTest, ReadsAFileWithoutTensors) {
  TAKT_ASSERT_OK(ReadFile(FileText("{}", "")));
}

TEST(SafetensorsTest, TakesTypesItDoesNotKnow) {
  TAKT_ASSERT_OK(ReadFile(FileText(
      R"({"a":{"dtype":"F4","shape":[2],"data_offsets":[0,1]}})", "x")));
}

TEST(SafetensorsTest, RejectsEveryTruncation) {
  const std::string whole = FileText(
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "01234567");
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(ReadFile(whole.substr(0, size)), FailsWith(kDamaged, ""))
        << size;
  }
}

TEST(SafetensorsTest, RejectsHeaderLengthBeyondTheFile) {
  std::string file;
  AppendBytes<uint64_t>(&file, ~uint64_t{0});
  EXPECT_THAT(ReadFile(file + "{}"), FailsWith(kDamaged, "a header of"));
}

TEST(SafetensorsTest, RejectsMalformedJson) {
  for (const char* json : {"", "{", "}", "nonsense", "{\"a\":}", "{}x",
                           "{\"a\" 1}", "\xff\xfe", "{\"\xc3\x28\":{}}"}) {
    EXPECT_THAT(ReadFile(FileText(json, "")), FailsWith(kDamaged, "JSON"))
        << json;
  }
}

TEST(SafetensorsTest, RejectsJsonOfAnotherShape) {
  for (const char* json : {
           "[]",
           "1",
           "null",
           "\"text\"",
           R"({"a":1})",
           R"({"a":null})",
           R"({"a":[1]})",
           R"({"a":"text"})",
           R"({"a":{"shape":{}}})",
           R"({"a":{"shape":[[1]]}})",
           R"({"a":{"shape":[{}]}})",
           R"({"a":{"dtype":1}})",
           R"({"a":{"dtype":["F32"]}})",
           R"({"a":{"shape":[-1]}})",
           R"({"a":{"shape":[1.5]}})",
           R"({"a":{"shape":["1"]}})",
           R"({"a":{"shape":[true]}})",
           R"({"a":{"shape":[null]}})",
           R"({"a":{"shape":"2"}})",
           R"({"a":{"other":[1]}})",
           R"({"__metadata__":{"a":1}})",
           R"({"__metadata__":{"a":{}}})",
           R"({"__metadata__":[]})",
           R"({"a":{"data_offsets":[0,1e400]}})",
           R"({"a":{"data_offsets":[0,99999999999999999999]}})",
       }) {
    EXPECT_THAT(ReadFile(FileText(json, "0123")), FailsWith(kDamaged, ""))
        << json;
  }
}

// A parser that recursed would run out of stack.
TEST(SafetensorsTest, RejectsDeepNestingAtOnce) {
  EXPECT_THAT(ReadFile(FileText(std::string(5'000'000, '['), "")),
              FailsWith(kDamaged, "unexpected array"));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_THAT(ReadFile(FileText(objects, "")),
              FailsWith(kDamaged, "'a': unexpected object"));
}

TEST(SafetensorsTest, RejectsMissingOrOddDataOffsets) {
  for (const char* offsets : {"[]", "[0]", "[0,4,8]"}) {
    EXPECT_THAT(
        ReadFile(FileText(
            absl::StrCat(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":)",
                         offsets, "}}"),
            "0123")),
        FailsWith(kDamaged, "'a': expected two data_offsets"))
        << offsets;
  }
  EXPECT_THAT(ReadFile(FileText(R"({"a":{"dtype":"F32","shape":[1]}})", "")),
              FailsWith(kDamaged, "expected two data_offsets, got 0"));
}

TEST(SafetensorsTest, RejectsDataBeyondTheEnd) {
  EXPECT_THAT(
      ReadFile(FileText(
          R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "012")),
      FailsWith(kDamaged, "[0, 4] are not within the 3 bytes"));
  EXPECT_THAT(
      ReadFile(FileText(
          R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", "0123")),
      FailsWith(kDamaged, "[4, 0]"));
}

TEST(SafetensorsTest, RejectsSizesThatDisagree) {
  EXPECT_THAT(
      ReadFile(FileText(
          R"({"a":{"dtype":"F64","shape":[1],"data_offsets":[0,4]}})", "0123")),
      FailsWith(kDamaged, "shape and dtype F64 say 8 bytes"));
  EXPECT_THAT(ReadFile(FileText(
                  R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],)"
                  R"("data_offsets":[0,0]}})",
                  "")),
              FailsWith(kDamaged, "its shape overflows"));
}

TEST(SafetensorsTest, RejectsTheSameNameTwice) {
  EXPECT_THAT(ReadFile(FileText(
                  R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                  R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
                  "0")),
              FailsWith(kDamaged, "'a' is there twice"));
}

}  // namespace
}  // namespace takt::modules
