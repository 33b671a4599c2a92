#include "stream/capture_file.h"

#include <cstring>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace takt::stream {
namespace {

using testing::ElementsAre;

struct File {
  nlohmann::json header;
  std::string data;
};

File Parse(const std::string& bytes) {
  uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, bytes.data(), sizeof(header_bytes));
  EXPECT_EQ(header_bytes % 8, 0u);  // The data is aligned.
  return {nlohmann::json::parse(bytes.substr(8, header_bytes)),
          bytes.substr(8 + header_bytes)};
}

TEST(CaptureFileTest, HoldsTheTensorsOfEachJob) {
  const CaptureField pair = {"I8", {2}, 2};
  const CaptureField scalar = {"U8", {}, 1};
  CapturedJob job;
  job.job.sequence = 12;
  job.has_arguments = job.has_results = job.has_ended = true;
  job.job.outcome = sched::JobOutcome::kMissed;
  job.arguments = {'a', 'b', 'c'};
  job.results = {'d'};
  const File file =
      Parse(CaptureFileOf("m.f", {pair, scalar}, {scalar}, {job}));
  EXPECT_EQ(file.data, "abcd");
  EXPECT_EQ(file.header["job.12.input.0"]["dtype"], "I8");
  EXPECT_THAT(file.header["job.12.input.0"]["shape"], ElementsAre(2));
  EXPECT_THAT(file.header["job.12.input.1"]["data_offsets"], ElementsAre(2, 3));
  EXPECT_TRUE(file.header["job.12.input.1"]["shape"].empty());
  EXPECT_THAT(file.header["job.12.result.0"]["data_offsets"],
              ElementsAre(3, 4));
  EXPECT_EQ(file.header["__metadata__"]["takt.capture"], "1");
  const auto jobs = nlohmann::json::parse(
      file.header["__metadata__"]["jobs"].get<std::string>());
  EXPECT_EQ(jobs[0]["outcome"], "missed");
}

TEST(CaptureFileTest, MayHoldNoJob) {
  const File file = Parse(CaptureFileOf("m.f", {}, {}, {}));
  EXPECT_EQ(file.header["__metadata__"]["jobs"], "[]");
  EXPECT_EQ(file.data, "");
}

}  // namespace
}  // namespace takt::stream
