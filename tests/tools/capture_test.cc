#include "tools/common/capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace takt::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A file with one job, of which a test replaces parts.
std::string File(const std::string& header, const std::string& data) {
  std::string file;
  for (int i = 0; i < 8; ++i) {
    file.push_back(static_cast<char>(header.size() >> (8 * i) & 0xff));
  }
  return file + header + data;
}
std::string Header(const std::string& tensor, const std::string& jobs) {
  return R"({"__metadata__":{"takt.capture":"1","function":"m.f","jobs":")" +
         jobs + R"("},"job.3.input.0":)" + tensor + "}";
}
const char* const kTensor =
    R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
const char* const kJobs =
    R"([{\"sequence\":3,\"begin_ns\":5,\"end_ns\":9,\"outcome\":\"met\"}])";

std::string ErrorOf(const std::string& file) {
  const Result<Capture> capture = ParseCapture(file);
  EXPECT_FALSE(capture.ok());
  return capture.status().ToString();
}
std::string ErrorOfTensor(const std::string& tensor) {
  return ErrorOf(File(Header(tensor, kJobs), "abcdefgh"));
}

TEST(CaptureTest, ReadsJobsAndTensors) {
  const std::string file = File(Header(kTensor, kJobs), "abcdefgh");
  const Result<Capture> capture = ParseCapture(file);
  ASSERT_TRUE(capture.ok()) << capture.status().ToString();
  EXPECT_EQ(capture->function, "m.f");
  ASSERT_EQ(capture->jobs.size(), 1u);
  const CapturedJob& job = capture->jobs[0];
  EXPECT_EQ(job.sequence, 3u);
  EXPECT_EQ(job.end_ns, 9);
  EXPECT_EQ(job.outcome, "met");
  ASSERT_EQ(job.inputs.size(), 1u);
  EXPECT_EQ(job.inputs[0].element_type, TAKT_ELEMENT_F32);
  EXPECT_THAT(job.inputs[0].shape, ElementsAre(2));
  EXPECT_EQ(job.inputs[0].data, "abcdefgh");
  EXPECT_TRUE(job.results.empty());
}

TEST(CaptureTest, EveryTruncationIsAnError) {
  const std::string file = File(Header(kTensor, kJobs), "abcdefgh");
  for (size_t length = 0; length < file.size(); ++length) {
    EXPECT_FALSE(ParseCapture(file.substr(0, length)).ok()) << length;
  }
}

TEST(CaptureTest, NamesWhatIsDamaged) {
  EXPECT_THAT(ErrorOf("abcdefghij"), HasSubstr("longer than the file"));
  EXPECT_THAT(ErrorOf(File("[]", "")), HasSubstr("no JSON object"));
  EXPECT_THAT(ErrorOf(File("{}", "")), HasSubstr("no metadata"));
  EXPECT_THAT(ErrorOf(File(Header(kTensor, "{"), "abcdefgh")),
              HasSubstr("jobs is no list"));
  EXPECT_THAT(ErrorOf(File(Header(kTensor, R"([{\"sequence\":-1}])"), "")),
              HasSubstr("sequence is out of range"));
  EXPECT_THAT(
      ErrorOfTensor(R"({"dtype":"Q1","shape":[2],"data_offsets":[0,8]})"),
      HasSubstr("job.3.input.0: no capture of a stream: unknown "
                "dtype Q1"));
  EXPECT_THAT(
      ErrorOfTensor(R"({"dtype":"F32","shape":[2],"data_offsets":[0,9]})"),
      HasSubstr("outside of the file"));
  EXPECT_THAT(
      ErrorOfTensor(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})"),
      HasSubstr("the shape is not that of the data"));
  // The product of the extents has 66 bits.
  EXPECT_THAT(
      ErrorOfTensor(
          R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]})"),
      HasSubstr("the shape is not that of the data"));
}

}  // namespace
}  // namespace takt::tools
