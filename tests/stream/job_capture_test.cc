#include "stream/job_capture.h"

#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "runtime/context.h"
#include "runtime/function.h"
#include "runtime/instance.h"
#include "vm/native_module.h"

namespace takt::stream {
namespace {

using sched::JobOutcome;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

struct CapturedFile {
  nlohmann::json header;
  std::string data;

  nlohmann::json jobs() const {
    return nlohmann::json::parse(
        header["__metadata__"]["jobs"].get<std::string>());
  }
  std::vector<uint64_t> sequences() const {
    std::vector<uint64_t> result;
    for (const auto& job : jobs()) result.push_back(job["sequence"]);
    return result;
  }
  int64_t Number(const std::string& tensor) const {
    const auto& offsets = header[tensor]["data_offsets"];
    const size_t begin = offsets[0];
    EXPECT_EQ(offsets[1], begin + 8);
    int64_t number = 0;
    std::memcpy(&number, data.data() + begin, sizeof(number));
    return number;
  }
};

class JobCaptureTest : public testing::Test {
 protected:
  void SetUp() override {
    vm::NativeModule::Builder builder("test", 1);
    builder.ExportRaw("increment", "0I_I", &JobCaptureTest::Nothing, this);
    builder.ExportRaw("any", "0r_v", &JobCaptureTest::Nothing, this);
    module_ = std::move(builder).Build().value();
    runtime::InstanceOptions options;
    options.host_loop = true;  // Makes no threads.
    instance_ = runtime::Instance::Create(std::move(options)).value();
    runtime::ContextOptions context;
    context.modules = {module_.get()};
    context_ = runtime::Context::Create(instance_.get(), context).value();
  }

  absl::StatusOr<std::shared_ptr<JobCapture>> Make(const char* function,
                                                   size_t job_count) {
    functions_.push_back(
        runtime::Function::Find(context_.get(), function).value());
    CaptureOptions options;
    options.job_count = job_count;
    options.path = path_;
    options.file_count_max = 2;
    options.write_trace = [this](const std::string& path) {
      traces_.push_back(path);
      return absl::OkStatus();
    };
    return JobCapture::Create(*functions_.back(), std::move(options), &writer_);
  }
  static StreamJob Job(uint64_t sequence) {
    StreamJob job;
    job.sequence = sequence;
    job.begin_ns = 1000 * (static_cast<int64_t>(sequence) + 1);
    return job;
  }
  static void Begin(JobCapture& capture, uint64_t sequence, int64_t input) {
    const vm::Value value = vm::Value::I64(input);
    capture.Begin(Job(sequence), {&value, 1});
  }
  static void End(JobCapture& capture, uint64_t sequence, int64_t result,
                  JobOutcome outcome = JobOutcome::kMet) {
    const vm::Value value = vm::Value::I64(result);
    StreamJob job = Job(sequence);
    job.end_ns = job.begin_ns + 10;
    job.outcome = outcome;
    capture.End(job, {&value, 1});
  }
  // A release that waits is dropped.
  static void Drop(JobCapture& capture, uint64_t sequence) {
    StreamJob job;
    job.sequence = sequence;
    job.outcome = JobOutcome::kDropped;
    capture.End(job, {});
  }
  CapturedFile Read(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    EXPECT_TRUE(stream.good()) << path;
    std::stringstream text;
    text << stream.rdbuf();
    const std::string bytes = text.str();
    uint64_t header_bytes = 0;
    std::memcpy(&header_bytes, bytes.data(), sizeof(header_bytes));
    return {nlohmann::json::parse(bytes.substr(8, header_bytes)),
            bytes.substr(8 + header_bytes)};
  }
  CapturedFile Write(const JobCapture& capture) {
    const std::string path = testing::TempDir() + "job_capture.safetensors";
    EXPECT_TRUE(capture.Write(path).ok());
    return Read(path);
  }
  static bool Exists(const std::string& path) {
    return std::ifstream(path).good();
  }

  std::string path_ = testing::TempDir() + "job_capture_miss.safetensors";
  BackgroundThread writer_{Thread::Options(), /*has_no_thread=*/true};
  std::vector<std::string> traces_;
  Ref<runtime::Instance> instance_;

 private:
  static absl::Status Nothing(void*, vm::NativeCall&) {
    return absl::OkStatus();
  }

  Ref<vm::NativeModule> module_;
  Ref<runtime::Context> context_;
  std::vector<Ref<runtime::Function>> functions_;
};

TEST_F(JobCaptureTest, KeepsTheLastJobs) {
  const auto capture = Make("increment", 3).value();
  for (uint64_t i = 0; i < 5; ++i) {
    Begin(*capture, i, 10 * static_cast<int64_t>(i));
    End(*capture, i, 10 * static_cast<int64_t>(i) + 1);
  }
  const CapturedFile file = Write(*capture);
  EXPECT_EQ(file.header["__metadata__"]["function"], "test.increment");
  EXPECT_THAT(file.sequences(), ElementsAre(2, 3, 4));
  EXPECT_EQ(file.Number("job.4.input.0"), 40);
  EXPECT_EQ(file.Number("job.4.result.0"), 41);
  EXPECT_EQ(file.header["job.4.input.0"]["dtype"], "I64");
  EXPECT_EQ(file.jobs()[2]["outcome"], "met");
  EXPECT_EQ(file.jobs()[2]["end_ns"], 5010);
  EXPECT_TRUE(file.jobs()[2]["deadline_ns"].is_null());
}

TEST_F(JobCaptureTest, TheJobInFlightHasInputsAndNoResults) {
  const auto capture = Make("increment", 2).value();
  Begin(*capture, 7, 70);
  const CapturedFile file = Write(*capture);
  EXPECT_EQ(file.Number("job.7.input.0"), 70);
  EXPECT_FALSE(file.header.contains("job.7.result.0"));
  EXPECT_TRUE(file.jobs()[0]["outcome"].is_null());
}

TEST_F(JobCaptureTest, JobsThatNeverBeganHaveNoInputs) {
  const auto capture = Make("increment", 2).value();
  Begin(*capture, 0, 1);
  Drop(*capture, 1);
  End(*capture, 0, 2);
  const CapturedFile file = Write(*capture);
  EXPECT_THAT(file.sequences(), ElementsAre(0, 1));
  EXPECT_EQ(file.Number("job.0.result.0"), 2);
  EXPECT_FALSE(file.header.contains("job.1.input.0"));
  EXPECT_EQ(file.jobs()[1]["outcome"], "dropped");
}

TEST_F(JobCaptureTest, DroppedReleasesLeaveTheJobInFlightItsRecord) {
  for (const size_t job_count : {1, 2}) {
    const auto capture = Make("increment", job_count).value();
    Begin(*capture, 0, 1);
    for (uint64_t i = 1; i < 6; ++i) Drop(*capture, i);
    End(*capture, 0, 2);
    const CapturedFile file = Write(*capture);
    ASSERT_THAT(file.sequences(), SizeIs(job_count));
    ASSERT_TRUE(file.header.contains("job.0.input.0"));
    EXPECT_EQ(file.Number("job.0.input.0"), 1);
    EXPECT_EQ(file.Number("job.0.result.0"), 2);
  }
}

TEST_F(JobCaptureTest, TheFileHasTheJobsUpToTheOneThatWasNotMet) {
  const auto capture = Make("increment", 2).value();
  Begin(*capture, 0, 10);
  End(*capture, 0, 11);
  Begin(*capture, 1, 20);
  End(*capture, 1, 21, JobOutcome::kMissed);
  for (uint64_t i = 2; i < 6; ++i) {  // Before the file is written.
    Begin(*capture, i, 30);
    End(*capture, i, 31, JobOutcome::kMissed);
    Drop(*capture, ++i);
  }
  Begin(*capture, 6, 40);
  EXPECT_TRUE(writer_.RunOne());
  End(*capture, 6, 41, JobOutcome::kMissed);
  EXPECT_FALSE(writer_.RunOne());  // The job has no record.
  const std::string stem = testing::TempDir() + "job_capture_miss-";
  const CapturedFile file = Read(stem + "1.safetensors");
  EXPECT_THAT(file.sequences(), ElementsAre(0, 1));
  EXPECT_EQ(file.Number("job.1.input.0"), 20);
  EXPECT_EQ(file.Number("job.1.result.0"), 21);
  Begin(*capture, 7, 50);
  End(*capture, 7, 51);
  EXPECT_THAT(Write(*capture).sequences(), ElementsAre(1, 7));
}

TEST_F(JobCaptureTest, AJobThatIsNotMetWritesAFile) {
  const auto capture = Make("increment", 4).value();
  Begin(*capture, 0, 1);
  End(*capture, 0, 2);
  EXPECT_FALSE(writer_.RunOne());
  for (const uint64_t sequence : {1, 2, 3}) {
    Begin(*capture, sequence, 3);
    End(*capture, sequence, 4, JobOutcome::kMissed);
    EXPECT_EQ(writer_.RunOne(), sequence < 3);  // Two files at most.
  }
  const std::string stem = testing::TempDir() + "job_capture_miss-";
  const CapturedFile file = Read(stem + "1.safetensors");
  EXPECT_EQ(file.jobs()[1]["outcome"], "missed");
  EXPECT_TRUE(Exists(stem + "2.safetensors"));
  EXPECT_FALSE(Exists(stem + "3.safetensors"));
  EXPECT_THAT(traces_, ElementsAre(stem + "1.pftrace", stem + "2.pftrace"));
}

TEST_F(JobCaptureTest, AFileThatCannotBeWrittenIsCounted) {
  path_ = testing::TempDir() + "no_such_folder/miss.safetensors";
  const auto capture = Make("increment", 4).value();
  Begin(*capture, 0, 1);
  End(*capture, 0, 2, JobOutcome::kMissed);
  EXPECT_TRUE(writer_.RunOne());
  EXPECT_EQ(instance_->notices().counts().failed_capture_count, 1u);
}

TEST_F(JobCaptureTest, RefusesWhatItCannotHold) {
  const absl::Status status = Make("any", 4).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("test.any: stream options: capture: input 0 is not "
                        "known to be a tensor of a static shape"));
  EXPECT_THAT(
      std::string(Make("increment", size_t{1} << 40).status().message()),
      HasSubstr("capture_job_count"));
}

}  // namespace
}  // namespace takt::stream
