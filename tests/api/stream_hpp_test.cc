// The C++ face of streams. stream_test.c tests their behaviour.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "takt/takt.hpp"

namespace {

class StreamHppTest : public testing::Test {
 protected:
  takt::Function Find(const char* name) {
    auto module = takt::Module::Load(instance_, std::string(TAKT_TESTDATA_DIR) +
                                                    "/async/streams.cpu.vmfb")
                      .value();
    return takt::Context::Create(instance_, {module}, {device_})
        .value()
        .FindFunction(name)
        .value();
  }
  takt::BufferView Tensor(float value) {
    const std::vector<float> values(4, value);
    return takt::BufferView::Copy<float>(device_, {4},
                                         std::span<const float>(values))
        .value();
  }

  takt::Instance instance_ = takt::Instance::Create().value();
  takt::Device device_ = takt::Device::Create(instance_, "local-task").value();
};

TEST_F(StreamHppTest, TakesInputsAndGivesOutputs) {
  auto stream = takt::Stream::Create(Find("twice"),
                                     {.arrival = TAKT_STREAM_ARRIVAL_INPUT})
                    .value();
  ASSERT_TRUE(stream.Start(0).ok());
  EXPECT_FALSE(stream.TakeOutput(1).has_value());
  ASSERT_TRUE(stream.SetInput({Tensor(3)}).ok());
  ASSERT_TRUE(stream.WaitIdle().ok());
  const auto output = stream.TakeOutput(1);
  ASSERT_TRUE(output.has_value());
  EXPECT_EQ(output->results[0].view().ToVector<float>().value(),
            std::vector<float>(4, 6));
  EXPECT_EQ(output->job.outcome, TAKT_STREAM_OUTCOME_MET);
  EXPECT_EQ(stream.statistics().met_count, 1u);
}

TEST_F(StreamHppTest, AWindowLetsJobsMiss) {
  takt::StreamOptions options;
  options.arrival = TAKT_STREAM_ARRIVAL_INPUT;
  options.deadline_ns = 1'000'000'000'000;
  options.met_min = 2;
  options.met_window = 3;
  auto stream = takt::Stream::Create(Find("twice"), options).value();
  ASSERT_TRUE(stream.Start(0).ok());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(stream.SetInput({Tensor(3)}).ok());
    ASSERT_TRUE(stream.WaitIdle().ok());
  }
  EXPECT_EQ(stream.statistics().lenient_count, 1u);
}

TEST_F(StreamHppTest, SharesAndWeightsArePassedOn) {
  takt::StreamOptions options;
  options.arrival = TAKT_STREAM_ARRIVAL_INPUT;
  options.share_permille = 1001;
  const auto share = takt::Stream::Create(Find("twice"), options);
  EXPECT_NE(share.status().message().find("share of 1001"), std::string::npos);
  options.share_permille = 0;
  options.weight = 1001;
  const auto weight = takt::Stream::Create(Find("twice"), options);
  EXPECT_NE(weight.status().message().find("weight of 1001"),
            std::string::npos);
}

// Its timer fires on its own thread or, late, on a worker.
TEST_F(StreamHppTest, MayGoWhileItReleases) {
  const takt::Function twice = Find("twice");
  for (int i = 0; i < 300; ++i) {
    auto stream = takt::Stream::Create(twice, {.period_ns = 20'000}).value();
    ASSERT_TRUE(stream.SetInput({Tensor(3)}).ok());
    ASSERT_TRUE(stream.Start(takt_clock_now_ns()).ok());
    std::this_thread::sleep_for(std::chrono::microseconds(i % 100));
    stream.Stop();
  }
}

TEST_F(StreamHppTest, CallsItsCallbacksUntilItIsDestroyed) {
  std::atomic<int> done{0}, late{0};
  auto enough = takt::Fence::CreateBarrier(3).value();
  {
    takt::StreamOptions options;
    options.period_ns = 200'000;
    options.deadline_ns = 1;
    options.on_done = [&](const takt_stream_job_t& job, takt::Status status,
                          std::span<const takt_value_t> results) {
      EXPECT_TRUE(status.ok());
      EXPECT_EQ(job.outcome, TAKT_STREAM_OUTCOME_MISSED);
      EXPECT_EQ(results.size(), 1u);
      if (done.fetch_add(1) >= 3) return;
      EXPECT_TRUE(enough.Signal().ok());
    };
    options.on_late = [&](const takt_stream_job_t&) { late.fetch_add(1); };
    auto stream = takt::Stream::Create(Find("twice"), options).value();
    ASSERT_TRUE(stream.SetInput({Tensor(1)}).ok());
    ASSERT_TRUE(stream.Start(takt_clock_now_ns()).ok());
    ASSERT_TRUE(enough.Wait(instance_).ok());
    const takt::Stream copy = stream;
    stream = takt::Stream();
    EXPECT_GE(copy.statistics().missed_count, 3u);
  }
  EXPECT_GE(late.load(), 3);
  EXPECT_EQ(done.load(), late.load());
}

TEST_F(StreamHppTest, ResultsBecomeTheInputsOfTheNextStream) {
  auto first = takt::Stream::Create(Find("twice"),
                                    {.arrival = TAKT_STREAM_ARRIVAL_INPUT})
                   .value();
  auto plus_one =
      takt::Context::Create(
          instance_,
          {takt::Module::Load(instance_, std::string(TAKT_TESTDATA_DIR) +
                                             "/async/streams.cpu.vmfb")
               .value()},
          {device_})
          .value()
          .FindFunction("plus_one")
          .value();
  takt::StreamOptions options;
  options.arrival = TAKT_STREAM_ARRIVAL_AFTER;
  options.after = &first;
  options.takes_results = true;
  auto second = takt::Stream::Create(plus_one, options).value();
  ASSERT_TRUE(second.Start(0).ok());
  ASSERT_TRUE(first.Start(0).ok());
  ASSERT_TRUE(first.SetInput({Tensor(5)}).ok());
  ASSERT_TRUE(first.WaitIdle().ok());
  ASSERT_TRUE(second.WaitIdle().ok());
  const auto output = second.TakeOutput(1);
  ASSERT_TRUE(output.has_value());
  EXPECT_EQ(output->results[0].view().ToVector<float>().value(),
            std::vector<float>(4, 11));
}

TEST_F(StreamHppTest, InputsAreWrittenInPlace) {
  auto stream = takt::Stream::Create(Find("twice"),
                                     {.arrival = TAKT_STREAM_ARRIVAL_INPUT})
                    .value();
  ASSERT_TRUE(stream.Start(0).ok());
  const std::span<float> input = stream.MapInput<float>(0).value();
  ASSERT_EQ(input.size(), 4u);
  for (float& element : input) element = 2.5f;
  ASSERT_TRUE(stream.PublishInput().ok());
  ASSERT_TRUE(stream.WaitIdle().ok());
  std::vector<takt::Value> results(1);
  takt_stream_job_t job;
  ASSERT_TRUE(stream.TakeOutput(results, &job));
  EXPECT_EQ(results[0].view().ToVector<float>().value(),
            std::vector<float>(4, 5));
  EXPECT_FALSE(stream.TakeOutput(results));
}

TEST_F(StreamHppTest, AnInputIsMappedOnlyAsItsElementType) {
  auto stream = takt::Stream::Create(Find("twice"),
                                     {.arrival = TAKT_STREAM_ARRIVAL_INPUT})
                    .value();
  const auto wrong = stream.MapInput<double>(0);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.status().code(), TAKT_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(wrong.status().message(), "element type: expected f64, got f32");
  // Nothing was mapped.
  EXPECT_FALSE(stream.PublishInput().ok());
  EXPECT_EQ(stream.MapInput<std::byte>(0)->size(), 16u);
  EXPECT_EQ(stream.MapInput<float>(1).status().code(),
            TAKT_STATUS_OUT_OF_RANGE);
}

TEST_F(StreamHppTest, CreateReturnsErrors) {
  const auto stream = takt::Stream::Create(Find("twice"), {});
  EXPECT_FALSE(stream.ok());
  EXPECT_NE(stream.status().ToString().find("period_ns"), std::string::npos);
}

}  // namespace
