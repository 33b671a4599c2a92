// Streams of native functions in virtual time: no workers, no device, and no
// thread but the test's, so each run is the same.
#include "stream/stream.h"

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/context.h"
#include "runtime/function.h"
#include "runtime/instance.h"
#include "tests/stream/virtual_clock.h"
#include "tests/support/allocation_faults.h"
#include "vm/native_module.h"

namespace takt::stream {
namespace {

using sched::JobOutcome;
using sched::LatePolicy;
using testing::ElementsAre;
using testing::HasSubstr;

class StreamTest : public testing::Test {
 protected:
  struct Ended {
    StreamJob job;
    absl::Status status;
    std::vector<int64_t> results;
  };

  void SetUp() override {
    vm::NativeModule::Builder builder("test", 1);
    builder.ExportRaw("increment", "0I_I", &StreamTest::Increment, this);
    builder.ExportRaw("tick", "0v_v", &StreamTest::Tick, this);
    builder.ExportRaw("narrow", "0i_v", &StreamTest::Tick, this);
    builder.ExportRaw("encode", "0r_rr", &StreamTest::Tick, this);
    builder.ExportRaw("act", "0rr_v", &StreamTest::Tick, this);
    module_ = std::move(builder).Build().value();
    runtime::InstanceOptions options;
    options.host_loop = true;  // Makes no threads.
    instance_ = runtime::Instance::Create(std::move(options)).value();
    runtime::ContextOptions context;
    context.modules = {module_.get()};
    context_ = runtime::Context::Create(instance_.get(), context).value();
  }

  Ref<runtime::Function> Find(const char* name) {
    return runtime::Function::Find(context_.get(), name).value();
  }
  StreamOptions Options(Arrival arrival) {
    StreamOptions options;
    options.arrival = arrival;
    options.on_done = [this](const StreamJob& job, const absl::Status& status,
                             absl::Span<const vm::Value> results) {
      Ended ended{job, status, {}};
      for (const vm::Value& value : results) {
        ended.results.push_back(value.i64());
      }
      ended_.push_back(std::move(ended));
    };
    options.on_late = [this](const StreamJob&) { ++late_count_; };
    return options;
  }
  StreamOptions Periodic(int64_t period_ns) {
    StreamOptions options = Options(Arrival::kPeriodic);
    options.period_ns = period_ns;
    return options;
  }
  Ref<Stream> Make(const char* function, StreamOptions options) {
    return Stream::Create(*Find(function), std::move(options),
                          {clock_, &VirtualClock::NowNs})
        .value();
  }
  static absl::Status SetInput(Stream& stream, int64_t number) {
    const vm::Value value = vm::Value::I64(number);
    return stream.SetInput({&value, 1});
  }
  std::vector<int64_t> Origins() const {
    std::vector<int64_t> origins;
    for (const Ended& ended : ended_) origins.push_back(ended.job.origin_ns);
    return origins;
  }
  std::vector<JobOutcome> Outcomes() const {
    std::vector<JobOutcome> outcomes;
    for (const Ended& ended : ended_) outcomes.push_back(ended.job.outcome);
    return outcomes;
  }

  // Each call takes this long, and then calls `during_call_`.
  int64_t call_ns_ = 0;
  std::function<absl::Status()> during_call_;
  std::vector<Ended> ended_;
  int late_count_ = 0;
  const std::shared_ptr<VirtualClock> clock_ = std::make_shared<VirtualClock>();

 private:
  absl::Status Run() {
    clock_->AdvanceTo(VirtualClock::NowNs() + call_ns_);
    // A copy: the function may replace `during_call_`.
    const std::function<absl::Status()> during_call = during_call_;
    return during_call != nullptr ? during_call() : absl::OkStatus();
  }
  static absl::Status Increment(void* self, vm::NativeCall& call) {
    call.results()[0].i64 = call.arguments()[0].i64 + 1;
    return static_cast<StreamTest*>(self)->Run();
  }
  static absl::Status Tick(void* self, vm::NativeCall&) {
    return static_cast<StreamTest*>(self)->Run();
  }

  Ref<vm::NativeModule> module_;
  Ref<runtime::Instance> instance_;
  Ref<runtime::Context> context_;
};

TEST_F(StreamTest, APeriodicStreamReleasesAJobEachPeriod) {
  const Ref<Stream> stream = Make("tick", Periodic(10));
  ASSERT_TRUE(stream->Start(100).ok());
  clock_->AdvanceTo(99);
  EXPECT_TRUE(ended_.empty());
  clock_->AdvanceTo(135);
  EXPECT_THAT(Origins(), ElementsAre(100, 110, 120, 130));
  EXPECT_EQ(ended_[3].job.sequence, 3u);
  EXPECT_EQ(ended_[3].job.begin_ns, 130);
  stream->Stop();
  clock_->AdvanceTo(1000);
  EXPECT_EQ(ended_.size(), 4u);
  EXPECT_TRUE(stream->WaitIdle(0).ok());
  EXPECT_EQ(stream->statistics().counts.met_count, 4u);
}

TEST_F(StreamTest, MissedReleasesAreSkippedAndThePhaseIsKept) {
  VirtualClock::JumpTo(1000);
  const Ref<Stream> stream = Make("tick", Periodic(10));
  ASSERT_TRUE(stream->Start(3).ok());
  clock_->AdvanceTo(1015);
  EXPECT_THAT(Origins(), ElementsAre(1003, 1013));
  EXPECT_EQ(stream->statistics().counts.skipped_count, 0u);
  VirtualClock::JumpTo(1050);
  clock_->AdvanceTo(1055);
  EXPECT_THAT(Origins(), ElementsAre(1003, 1013, 1023, 1053));
  EXPECT_EQ(stream->statistics().counts.skipped_count, 2u);
  EXPECT_EQ(stream->statistics().release_error.max, 27);
  stream->Stop();
}

TEST_F(StreamTest, AStreamMayBeStartedAgainWithAnotherPhase) {
  const Ref<Stream> stream = Make("tick", Periodic(10));
  ASSERT_TRUE(stream->Start(100).ok());
  EXPECT_EQ(stream->Start(100).code(), absl::StatusCode::kFailedPrecondition);
  clock_->AdvanceTo(105);
  stream->Stop();
  ASSERT_TRUE(stream->Start(207).ok());
  clock_->AdvanceTo(220);
  EXPECT_THAT(Origins(), ElementsAre(100, 207, 217));
  stream->Stop();
}

TEST_F(StreamTest, AJobThatEndsAfterItsDeadlineIsMissed) {
  StreamOptions options = Periodic(10);
  options.deadline_ns = 5;
  const Ref<Stream> stream = Make("tick", std::move(options));
  ASSERT_TRUE(stream->Start(100).ok());
  clock_->AdvanceTo(101);
  call_ns_ = 6;
  clock_->AdvanceTo(111);
  call_ns_ = 5;
  clock_->AdvanceTo(121);
  EXPECT_THAT(Outcomes(), ElementsAre(JobOutcome::kMet, JobOutcome::kMissed,
                                      JobOutcome::kMet));
  EXPECT_EQ(late_count_, 1);
  EXPECT_EQ(stream->statistics().response.max, 6);
  stream->Stop();
}

TEST_F(StreamTest, AReleaseDuringAJobWaitsForItsEnd) {
  const Ref<Stream> stream = Make("tick", Periodic(10));
  ASSERT_TRUE(stream->Start(100).ok());
  call_ns_ = 25;
  during_call_ = [this] {
    call_ns_ = 0;
    return absl::OkStatus();
  };
  clock_->AdvanceTo(100);
  EXPECT_THAT(Origins(), ElementsAre(100, 110, 120));
  EXPECT_EQ(ended_[1].job.begin_ns, 125);
  const StreamStatistics statistics = stream->statistics();
  EXPECT_EQ(statistics.counts.overrun_count, 2u);
  EXPECT_EQ(statistics.begin_delay.max, 15);
  stream->Stop();
}

TEST_F(StreamTest, ReleasesThatWaitAtTheStopCountAsDropped) {
  Ref<Stream> stream = Make("tick", Periodic(10));
  ASSERT_TRUE(stream->Start(100).ok());
  call_ns_ = 25;
  during_call_ = [&] {
    stream->Stop();
    return absl::OkStatus();
  };
  clock_->AdvanceTo(200);
  EXPECT_TRUE(stream->WaitIdle(0).ok());
  const StreamCounts counts = stream->statistics().counts;
  EXPECT_EQ(counts.released_count, 3u);
  EXPECT_EQ(counts.met_count, 1u);
  EXPECT_EQ(counts.dropped_count, 2u);
  EXPECT_EQ(ended_.size(), 1u);  // The dropped ones are not reported.
}

TEST_F(StreamTest, APendingJobIsDroppedOnceItIsLate) {
  StreamOptions options = Periodic(10);
  options.deadline_ns = 5;
  options.late = LatePolicy::kDrop;
  const Ref<Stream> stream = Make("tick", std::move(options));
  ASSERT_TRUE(stream->Start(100).ok());
  call_ns_ = 25;
  during_call_ = [this] {
    call_ns_ = 0;
    return absl::OkStatus();
  };
  clock_->AdvanceTo(100);
  // The second one is 10 ns late when the first one ends, the third one is due.
  ASSERT_EQ(ended_.size(), 3u);
  EXPECT_EQ(ended_[1].job.outcome, JobOutcome::kDropped);
  EXPECT_EQ(ended_[1].job.begin_ns, 0);
  EXPECT_EQ(ended_[2].job.outcome, JobOutcome::kMet);
  EXPECT_EQ(late_count_, 2);
  stream->Stop();
}

TEST_F(StreamTest, WithLatestOnlyANewReleaseReplacesAPendingOne) {
  StreamOptions options = Periodic(10);
  options.deadline_ns = 1000;
  options.late = LatePolicy::kLatestOnly;
  const Ref<Stream> stream = Make("tick", std::move(options));
  ASSERT_TRUE(stream->Start(100).ok());
  call_ns_ = 35;
  during_call_ = [this] {
    call_ns_ = 0;
    return absl::OkStatus();
  };
  clock_->AdvanceTo(100);
  EXPECT_THAT(Origins(), ElementsAre(110, 120, 100, 130));
  EXPECT_THAT(Outcomes(),
              ElementsAre(JobOutcome::kDropped, JobOutcome::kDropped,
                          JobOutcome::kMet, JobOutcome::kMet));
  stream->Stop();
}

TEST_F(StreamTest, AJobTakesTheLatestInput) {
  const Ref<Stream> stream = Make("increment", Periodic(10));
  ASSERT_TRUE(stream->Start(100).ok());
  clock_->AdvanceTo(105);  // There is no input yet.
  EXPECT_TRUE(ended_.empty());
  ASSERT_TRUE(SetInput(*stream, 1).ok());
  ASSERT_TRUE(SetInput(*stream, 5).ok());
  clock_->AdvanceTo(125);
  ASSERT_EQ(ended_.size(), 2u);
  EXPECT_THAT(ended_[0].results, ElementsAre(6));
  EXPECT_THAT(ended_[1].results, ElementsAre(6));
  EXPECT_EQ(ended_[0].job.input_sequence, 1u);
  const ValueEntry* const output = stream->TakeOutput();
  ASSERT_NE(output, nullptr);
  EXPECT_EQ(output->values()[0].i64(), 6);
  EXPECT_EQ(output->job.sequence, 2u);
  EXPECT_EQ(stream->TakeOutput(), nullptr);
  EXPECT_EQ(stream->statistics().counts.starved_count, 1u);
  stream->Stop();
}

TEST_F(StreamTest, AnInputQueueGivesEachInputAJob) {
  StreamOptions options = Options(Arrival::kInput);
  options.input_queue_length = 2;
  const Ref<Stream> stream = Make("increment", std::move(options));
  ASSERT_TRUE(stream->Start(0).ok());
  during_call_ = [&] {
    during_call_ = nullptr;
    EXPECT_TRUE(SetInput(*stream, 20).ok());
    EXPECT_TRUE(SetInput(*stream, 30).ok());
    EXPECT_EQ(SetInput(*stream, 40).code(),
              absl::StatusCode::kResourceExhausted);
    return absl::OkStatus();
  };
  ASSERT_TRUE(SetInput(*stream, 10).ok());
  ASSERT_EQ(ended_.size(), 3u);
  EXPECT_THAT(ended_[0].results, ElementsAre(11));
  EXPECT_THAT(ended_[1].results, ElementsAre(21));
  EXPECT_THAT(ended_[2].results, ElementsAre(31));
}

TEST_F(StreamTest, AClosedStreamReleasesItsNextJobAtTheEndOfTheLast) {
  const Ref<Stream> stream = Make("tick", Options(Arrival::kClosed));
  ASSERT_TRUE(stream->Start(100).ok());
  call_ns_ = 7;
  int count = 0;
  during_call_ = [&] {
    if (++count == 3) stream->Stop();
    return absl::OkStatus();
  };
  clock_->AdvanceTo(100);
  EXPECT_THAT(Origins(), ElementsAre(100, 107, 114));
  EXPECT_EQ(stream->statistics().counts.overrun_count, 0u);
}

TEST_F(StreamTest, AClosedStreamNeedsAnInputToStart) {
  const Ref<Stream> stream = Make("increment", Options(Arrival::kClosed));
  EXPECT_THAT(std::string(stream->Start(0).message()),
              HasSubstr("the closed stream has no input yet"));
}

TEST_F(StreamTest, ResultsBecomeTheInputsOfTheNextStream) {
  StreamOptions options = Periodic(10);
  options.on_done = nullptr;
  const Ref<Stream> first = Make("increment", std::move(options));
  options = Options(Arrival::kAfter);
  options.after = first.get();
  options.takes_results = true;
  options.deadline_ns = 6;
  const Ref<Stream> second = Make("increment", std::move(options));
  EXPECT_EQ(SetInput(*second, 1).code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(SetInput(*first, 1).ok());
  ASSERT_TRUE(second->Start(0).ok());
  ASSERT_TRUE(first->Start(100).ok());
  call_ns_ = 4;
  clock_->AdvanceTo(100);
  // Due 6 ns after the release of the first one, done 8 ns after it.
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_THAT(ended_[0].results, ElementsAre(3));
  EXPECT_EQ(ended_[0].job.origin_ns, 100);
  EXPECT_EQ(ended_[0].job.outcome, JobOutcome::kMissed);
  second->Stop();
  clock_->AdvanceTo(115);
  EXPECT_EQ(ended_.size(), 1u);
  first->Stop();
}

// The stream is stopped by another thread as it starts: where it reads the
// clock. The thread may come later, and finds a stream that runs then.
TEST_F(StreamTest, AStopDuringAStartLeavesNoFollower) {
  static std::function<void()> at_next_time;
  const Ref<Stream> camera = Make("tick", Periodic(10));
  StreamOptions options = Options(Arrival::kAfter);
  options.after = camera.get();
  const Ref<Stream> follower =
      Stream::Create(*Find("tick"), std::move(options),
                     {clock_,
                      [] {
                        if (auto call = std::exchange(at_next_time, nullptr)) {
                          call();
                        }
                        return VirtualClock::NowNs();
                      }})
          .value();
  std::thread stops;
  at_next_time = [&] {
    stops = std::thread([&] { follower->Stop(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  ASSERT_TRUE(follower->Start(0).ok());
  stops.join();
  ASSERT_TRUE(follower->Start(0).ok());
  ASSERT_TRUE(camera->Start(100).ok());
  clock_->AdvanceTo(100);
  EXPECT_EQ(follower->statistics().counts.released_count, 1u);
  follower->Stop();
  camera->Stop();
}

TEST_F(StreamTest, WithoutMemoryAJobEndsWithItsFollowersReleasedOrNot) {
  StreamOptions options = Periodic(10);
  options.on_done = nullptr;
  const Ref<Stream> first = Make("increment", std::move(options));
  ASSERT_TRUE(SetInput(*first, 1).ok());
  std::vector<Ref<Stream>> followers;
  for (int i = 0; i < 6; ++i) {
    options = Options(Arrival::kAfter);
    options.on_done = nullptr;
    options.after = first.get();
    options.takes_results = true;
    followers.push_back(Make("increment", std::move(options)));
    ASSERT_TRUE(followers.back()->Start(0).ok());
  }
  ASSERT_TRUE(first->Start(100).ok());
  bool is_hit = true;
  uint64_t round_count = 0;
  for (; is_hit; ++round_count) {
    const AllocationFault armed(static_cast<int64_t>(round_count));
    clock_->AdvanceTo(100 + 10 * static_cast<int64_t>(round_count));
    is_hit = AllocationFault::is_hit();
  }
  // Those of a job that failed have not been released.
  const StreamStatistics ended = first->statistics();
  EXPECT_EQ(ended.counts.released_count, round_count);
  for (const Ref<Stream>& follower : followers) {
    EXPECT_EQ(follower->statistics().counts.released_count,
              ended.counts.released_count - ended.counts.failed_count);
    follower->Stop();
  }
  first->Stop();
}

TEST_F(StreamTest, AStreamContinuesAfterAJobHasFailed) {
  const Ref<Stream> stream = Make("tick", Periodic(10));
  ASSERT_TRUE(stream->Start(100).ok());
  during_call_ = [this] {
    during_call_ = nullptr;
    return absl::AbortedError("no");
  };
  clock_->AdvanceTo(115);
  EXPECT_THAT(Outcomes(), ElementsAre(JobOutcome::kFailed, JobOutcome::kMet));
  EXPECT_EQ(ended_[0].status.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(stream->statistics().counts.failed_count, 1u);
  stream->Stop();
}

TEST_F(StreamTest, AStopDiscardsPendingReleases) {
  const Ref<Stream> stream = Make("tick", Periodic(10));
  ASSERT_TRUE(stream->Start(100).ok());
  call_ns_ = 25;
  during_call_ = [&] {
    stream->Stop();
    return absl::OkStatus();
  };
  clock_->AdvanceTo(100);
  EXPECT_THAT(Origins(), ElementsAre(100));
  EXPECT_EQ(stream->statistics().counts.released_count, 3u);
  EXPECT_TRUE(stream->WaitIdle(0).ok());
}

TEST_F(StreamTest, ErrorsNameTheBadOption) {
  const Ref<Stream> tick = Make("tick", Periodic(10));
  const Ref<Stream> increment = Make("increment", Periodic(10));
  using Spoil = std::function<void(StreamOptions*)>;
  const auto after = [](StreamOptions* o) {
    o->arrival = Arrival::kAfter;
    o->period_ns = 0;
  };
  const std::pair<Spoil, const char*> cases[] = {
      {[](StreamOptions* o) { o->period_ns = 0; },
       "period_ns: 0 is not above 0"},
      {[](StreamOptions* o) { o->arrival = Arrival::kInput; },
       "period_ns: 10, but not periodic"},
      {[](StreamOptions* o) { o->deadline_ns = 0; },
       "deadline_ns: 0 is not above 0"},
      {[](StreamOptions* o) { o->late = LatePolicy::kDrop; },
       "late: nothing is late without a deadline"},
      {[](StreamOptions* o) { o->priority = 256; }, "priority"},
      {[](StreamOptions* o) { o->met_min = 1; },
       "met_window: 1 of 0 jobs in time"},
      {[](StreamOptions* o) {
         o->met_min = 2;
         o->met_window = 2;
       },
       "met_window: 2 of 2 jobs in time"},
      {[](StreamOptions* o) {
         o->met_min = 1;
         o->met_window = 2;
       },
       "met_window: a window of jobs in time needs a deadline"},
      {[](StreamOptions* o) { o->share_permille = 1001; },
       "share: a share of 1001 thousandths"},
      {[](StreamOptions* o) { o->weight = 1001; },
       "weight: a weight of 1001; the most is 1000"},
      {[](StreamOptions* o) { o->share_permille = 1; },
       "share: nothing schedules the devices of its context"},
      {[](StreamOptions* o) { o->release_queue_length = 0; }, "queue length"},
      {[](StreamOptions* o) { o->input_queue_length = SIZE_MAX; },
       "queue length"},
      {[](StreamOptions* o) { o->takes_results = true; }, "after: is for"},
      {after, "after: is NULL"},
      {[&](StreamOptions* o) {
         after(o);
         o->after = tick.get();
         o->takes_results = true;
       },
       "takes_results: test.tick has 0 results for 1 inputs"},
  };
  for (const auto& [spoil, message] : cases) {
    StreamOptions options = Periodic(10);
    spoil(&options);
    const auto stream = Stream::Create(*Find("increment"), std::move(options));
    ASSERT_EQ(stream.status().code(), absl::StatusCode::kInvalidArgument)
        << message;
    EXPECT_THAT(std::string(stream.status().message()), HasSubstr(message));
  }
  StreamOptions options = Options(Arrival::kAfter);
  options.after = increment.get();
  options.takes_results = true;
  EXPECT_THAT(std::string(Stream::Create(*Find("narrow"), std::move(options))
                              .status()
                              .message()),
              HasSubstr("takes_results: result 0 of test.increment is"));
}

TEST_F(StreamTest, ResultsHaveTheDeclaredShapesOfTheInputs) {
  const auto create = [this](const char* results, const char* arguments) {
    const auto source =
        Find("encode")
            ->Declare("(%image: tensor<?xf32>) -> " + std::string(results))
            .value();
    const auto target = Find("act")->Declare(arguments).value();
    const Ref<Stream> first =
        Stream::Create(*source, Options(Arrival::kInput)).value();
    StreamOptions options = Options(Arrival::kAfter);
    options.after = first.get();
    options.takes_results = true;
    return Stream::Create(*target, std::move(options)).status();
  };
  const char* const results =
      "(%a: tensor<1x1x24xf32>, %b: tensor<?x1x128xf32>)";
  const std::pair<const char*, const char*> wrong[] = {
      {"(%x: tensor<8x1x48xf32>, %y: tensor<1x1x128xf32>)",
       "test.act: stream options: takes_results: result 0 of test.encode is "
       "tensor<1x1x24xf32>, but input 0 expects tensor<8x1x48xf32>"},
      {"(%x: tensor<1x1x24xf32>, %y: tensor<1x128xf32>)",
       "result 1 of test.encode is tensor<?x1x128xf32>, but input 1 expects "
       "tensor<1x128xf32>"},
      {"(%x: tensor<1x1x24xf16>, %y: tensor<1x1x128xf32>)",
       "result 0 of test.encode is tensor<1x1x24xf32>, but input 0 expects "
       "tensor<1x1x24xf16>"},
      {"(%x: tensor<1x1x24xf32>, %y: tensor<1x?x127xf32>)", "input 1 expects"},
  };
  for (const auto& [arguments, message] : wrong) {
    const absl::Status status = create(results, arguments);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << arguments;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }
  for (const char* arguments :
       {"(%x: tensor<1x1x24xf32>, %y: tensor<9x1x128xf32>)",
        "(%x: tensor<?x1x?xf32>, %y: tensor<?x?x?xf32>)",
        "(%x: !hal.buffer_view, %y: tensor<1x?x128xf32>)"}) {
    EXPECT_TRUE(create(results, arguments).ok()) << arguments;
  }
  EXPECT_TRUE(create("(%a: !hal.buffer_view, %b: !hal.buffer_view)",
                     "(%x: tensor<4xf32>, %y: tensor<4xf32>)")
                  .ok());
}

TEST_F(StreamTest, AJobMayMissIfThoseBeforeItAllowIt) {
  StreamOptions options = Periodic(10);
  options.deadline_ns = 5;
  options.met_min = 1;
  options.met_window = 2;
  const Ref<Stream> stream = Make("tick", std::move(options));
  ASSERT_TRUE(stream->Start(100).ok());
  std::vector<uint64_t> lenient_counts;
  during_call_ = [&] {
    lenient_counts.push_back(stream->statistics().counts.lenient_count);
    return absl::OkStatus();
  };
  for (const int64_t call_ns : {0, 6, 0, 6, 6, 0}) {
    call_ns_ = call_ns;
    clock_->AdvanceTo(100 + 10 * static_cast<int64_t>(ended_.size()));
  }
  EXPECT_THAT(Outcomes(), ElementsAre(JobOutcome::kMet, JobOutcome::kMissed,
                                      JobOutcome::kMet, JobOutcome::kMissed,
                                      JobOutcome::kMissed, JobOutcome::kMet));
  // The second, the fourth; those after a miss may not.
  EXPECT_THAT(lenient_counts, ElementsAre(0, 1, 1, 2, 2, 2));
  EXPECT_EQ(stream->statistics().counts.broken_window_count, 1u);
  stream->Stop();
}

TEST_F(StreamTest, AJobThatFailsIsNotInTime) {
  StreamOptions options = Periodic(10);
  options.deadline_ns = 5;
  options.met_min = 1;
  options.met_window = 2;
  const Ref<Stream> stream = Make("tick", std::move(options));
  ASSERT_TRUE(stream->Start(100).ok());
  during_call_ = [] { return absl::InternalError("broken"); };
  clock_->AdvanceTo(115);
  EXPECT_EQ(stream->statistics().counts.failed_count, 2u);
  EXPECT_EQ(stream->statistics().counts.lenient_count, 0u);
  EXPECT_EQ(stream->statistics().counts.broken_window_count, 1u);
  stream->Stop();
}

TEST_F(StreamTest, AReleaseThatIsDroppedWhileItWaitsIsNotInTime) {
  StreamOptions options = Periodic(10);
  options.deadline_ns = 1000;
  options.late = LatePolicy::kLatestOnly;
  options.met_min = 1;
  options.met_window = 2;
  const Ref<Stream> stream = Make("tick", std::move(options));
  ASSERT_TRUE(stream->Start(100).ok());
  call_ns_ = 35;
  during_call_ = [this] {
    call_ns_ = 0;
    return absl::OkStatus();
  };
  clock_->AdvanceTo(100);
  // The releases at 110 and 120 were dropped, and come after the first job,
  // which was in time.
  EXPECT_THAT(Origins(), ElementsAre(110, 120, 100, 130));
  EXPECT_EQ(stream->statistics().counts.met_count, 2u);
  EXPECT_EQ(stream->statistics().counts.lenient_count, 0u);
  EXPECT_EQ(stream->statistics().counts.broken_window_count, 1u);
  clock_->AdvanceTo(140);
  EXPECT_EQ(stream->statistics().counts.lenient_count, 1u);
  stream->Stop();
}

TEST_F(StreamTest, AJobThatWasLateBeforeItBeganIsNotInTime) {
  StreamOptions options = Periodic(10);
  options.deadline_ns = 8;
  options.late = LatePolicy::kDrop;
  options.met_min = 1;
  options.met_window = 3;
  const Ref<Stream> stream = Make("tick", std::move(options));
  ASSERT_TRUE(stream->Start(100).ok());
  clock_->AdvanceTo(100);
  ASSERT_EQ(stream->statistics().counts.met_count, 1u);
  call_ns_ = 25;
  during_call_ = [this] {
    call_ns_ = 0;
    return absl::OkStatus();
  };
  // The job of 110 ends at 135, so that of 120 is dropped; after the two, that
  // of 130 must be in time.
  clock_->AdvanceTo(110);
  EXPECT_EQ(stream->statistics().counts.lenient_count, 1u);
  EXPECT_EQ(stream->statistics().counts.met_count, 2u);
  EXPECT_EQ(stream->statistics().counts.broken_window_count, 0u);
  stream->Stop();
}

TEST_F(StreamTest, JobsThatMayMissHaveThePriorityOfTheCriticalityBelow) {
  StreamOptions options = Periodic(10);
  options.criticality = sched::Criticality::kHard;
  EXPECT_EQ(LenientPriority(options), 159);  // The lane of soft jobs.
  options.priority = 40;
  EXPECT_EQ(LenientPriority(options), 40);
  options.priority.reset();
  options.criticality = sched::Criticality::kSoft;
  EXPECT_EQ(LenientPriority(options), 63);
  options.criticality = sched::Criticality::kBestEffort;
  EXPECT_EQ(LenientPriority(options), StreamPriority(options));
}

TEST_F(StreamTest, AStreamPredictsTheEndOfItsNextJob) {
  const Ref<Stream> stream = Make("tick", Periodic(100));
  EXPECT_EQ(stream->Predict(absl::nullopt).q99_ns, kInfiniteFuture);
  call_ns_ = 30;
  ASSERT_TRUE(stream->Start(100).ok());
  clock_->AdvanceTo(450);
  ASSERT_EQ(ended_.size(), 4u);
  const Prediction next = stream->Predict(absl::nullopt);
  EXPECT_EQ(next.job_count, 4u);
  EXPECT_EQ(next.release_ns, 500);
  EXPECT_EQ(next.median_ns, 530);
  EXPECT_EQ(next.q99_ns, 530);
  EXPECT_EQ(stream->Predict(900).q99_ns, 930);
  // The first job had no prediction.
  EXPECT_EQ(ended_[0].job.predicted_end_ns, kInfiniteFuture);
  EXPECT_EQ(ended_[3].job.predicted_end_ns, 430);
  const StreamStatistics statistics = stream->statistics();
  EXPECT_EQ(statistics.counts.predicted_count, 3u);
  EXPECT_EQ(statistics.counts.kept_count, 3u);
  EXPECT_EQ(statistics.predicted_response.max, 30);
  stream->Stop();
}

TEST_F(StreamTest, APredictionCountsTheJobInFlightAndThoseThatWait) {
  const Ref<Stream> stream = Make("tick", Periodic(100));
  call_ns_ = 30;
  ASSERT_TRUE(stream->Start(100).ok());
  clock_->AdvanceTo(250);
  Prediction during;
  call_ns_ = 150;
  during_call_ = [&] {
    // At 450: the job of 300 runs, and that of 400 waits.
    during = stream->Predict(absl::nullopt);
    during_call_ = nullptr;
    call_ns_ = 30;
    return absl::OkStatus();
  };
  clock_->AdvanceTo(600);
  EXPECT_EQ(during.release_ns, 500);
  EXPECT_EQ(during.q99_ns, 500 + 30 + 30);
  // The job of 300 needed longer than any before.
  EXPECT_EQ(ended_[2].job.predicted_end_ns, 330);
  EXPECT_EQ(ended_[2].job.end_ns, 450);
  // At its release, the job of 300 was expected to end at once.
  EXPECT_EQ(ended_[3].job.predicted_end_ns, 400 + 30);
  const StreamStatistics statistics = stream->statistics();
  EXPECT_EQ(statistics.counts.predicted_count, statistics.counts.met_count - 1);
  EXPECT_EQ(statistics.counts.kept_count, statistics.counts.met_count - 3);
  stream->Stop();
}

TEST_F(StreamTest, PredictionsOfJobsThatWaitBecomeLongerIfTheyAreNotKept) {
  const Ref<Stream> stream = Make("tick", Periodic(100));
  int call_count = 0;
  call_ns_ = 290;
  during_call_ = [&] {  // Two jobs in a row make the next ones wait.
    call_ns_ = ++call_count % 12 < 2 ? 290 : 10;
    return absl::OkStatus();
  };
  ASSERT_TRUE(stream->Start(100).ok());
  clock_->AdvanceTo(1'000'000);
  const auto told_ns = [&](size_t index) {
    const StreamJob& job = ended_[index].job;
    return job.predicted_end_ns - job.origin_ns;
  };
  // The second of the long jobs: 190 of the first are left at its release.
  EXPECT_LT(told_ns(13), 400);
  EXPECT_NEAR(told_ns(9'001), 190 + 290, 5);
  stream->Stop();
}

TEST_F(StreamTest, JobsOfStreamsOfOneFunctionDifferInATrace) {
  const Ref<runtime::Function> tick = Find("tick");
  Tracer& tracer = tick->tracer();
  ASSERT_TRUE(tracer.Start({}).ok());
  const Ref<Stream> left = Make("tick", Periodic(100));
  const Ref<Stream> right = Make("tick", Periodic(100));
  for (const auto& stream : {left, right}) {
    ASSERT_TRUE(stream->Start(100).ok());
  }
  clock_->AdvanceTo(250);
  for (const auto& stream : {left, right}) stream->Stop();
  const Recording recording = tracer.Collect();
  std::set<std::pair<std::string, uint64_t>> jobs;
  for (const Event& event : recording.events) {
    if (event.kind != EventKind::kJobReleased) continue;
    EXPECT_EQ(recording.names[event.name], "test.tick");
    jobs.emplace(recording.tracks[event.track].name, event.id);
  }
  ASSERT_EQ(jobs.size(), 4u);
  EXPECT_EQ(jobs.begin()->first, "test.tick");
  EXPECT_EQ(jobs.rbegin()->first, "test.tick #2");
}

TEST_F(StreamTest, AStreamWithoutASchedulerHasNoBound) {
  const Ref<Stream> stream = Make("tick", Periodic(100));
  EXPECT_EQ(stream->ResponseBound(), kInfiniteFuture);
}

}  // namespace
}  // namespace takt::stream
