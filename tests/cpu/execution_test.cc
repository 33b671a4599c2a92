// How work of invocations competes on a device's workers: its urgency, its
// deadline and its place travel with each operation. Either one thread, a
// helping caller of an executor without workers, does all the work, so that the
// order is the device's; or pretended places show which worker ran it.
#include "cpu/execution.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "base/cancellation.h"
#include "base/clock.h"
#include "cpu/device.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/bounded_wait.h"
#include "topology/topology.h"

namespace takt::cpu {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// One function without bindings; each workgroup calls what the test says.
class CallingCode final : public ExecutableCode {
 public:
  using Call = std::function<void(uint32_t workgroup, exec::Worker& worker)>;
  explicit CallingCode(Call call) : call_(std::move(call)) {
    SetFunctions({Function{"call", 0, 0, 0, false}});
  }
  absl::Status RunWorkgroups(size_t, const DispatchArguments&, uint32_t begin,
                             uint32_t end, exec::Worker& worker) override {
    for (uint32_t i = begin; i < end; ++i) {
      if (i > begin && worker.MustStop()) {
        *worker.reached = i;
        break;
      }
      call_(i, worker);
    }
    return absl::OkStatus();
  }

 private:
  const Call call_;
};

JobAttributes Priority(uint8_t priority) { return {.priority = priority}; }

class ExecutionTest : public ::testing::Test {
 protected:
  ~ExecutionTest() override {
    device_.reset();
    if (executor_ != nullptr) executor_->Shutdown();
  }

  void StartWith(const exec::Executor::Options& given,
                 const Device::Options& options) {
    auto executor = exec::Executor::Create(given);
    ASSERT_TRUE(executor.ok()) << executor.status();
    executor_ = *std::move(executor);
    auto device = Device::Create("local-task", executor_, options);
    ASSERT_TRUE(device.ok()) << device.status();
    device_ = *std::move(device);
  }

  // Workers are on CPUs 8000, 8001 and so on, which are not there.
  void Start(uint32_t worker_count, Device::Options options = {}) {
    exec::Executor::Options given;
    given.worker_count = worker_count;
    given.concurrency_max = worker_count + 1;
    for (uint32_t i = 0; i < worker_count; ++i) {
      given.placement.emplace_back().Add(8000 + i);
    }
    StartWith(given, options);
  }

  // A worker that does not sleep while work goes on, on a machine with more
  // processors than the threads fill.
  void StartLingering() {
    const absl::StatusOr<topology::Topology> topology =
        topology::Topology::FromJson(R"({"clusters":[{"cpus":"0-63"}]})");
    ASSERT_TRUE(topology.ok()) << topology.status();
    exec::Executor::Options given;
    given.worker_count = 1;
    given.concurrency_max = 2;
    given.linger_ns = kBoundedWaitNs;
    given.topology = &*topology;
    StartWith(given, {});
  }

  // Dispatches of two workgroups, one after the other; a workgroup counts as
  // one that takes `each_ns`.
  Ref<hal::CommandBuffer> RecordPairs(uint32_t count, int64_t each_ns,
                                      CallingCode::Call call) {
    auto commands = *device_->CreateCommandBuffer(0, 3, 0);
    auto executable = MakeRef<LoadedExecutable>(
        std::make_shared<CallingCode>(std::move(call)));
    executable->cost(0, {2, 1, 1}).alone.Add(each_ns, 1);
    for (uint32_t i = 0; i < count; ++i) {
      EXPECT_TRUE(
          commands->Dispatch(executable.get(), 0, {2, 1, 1}, {}, {}).ok());
      EXPECT_TRUE(commands->ExecutionBarrier().ok());
    }
    EXPECT_TRUE(commands->Finalize().ok());
    return commands;
  }

  // A dispatch of so many workgroups.
  Ref<hal::CommandBuffer> Record(uint32_t workgroup_count,
                                 CallingCode::Call call) {
    auto commands = *device_->CreateCommandBuffer(0, 3, 0);
    auto executable = MakeRef<LoadedExecutable>(
        std::make_shared<CallingCode>(std::move(call)));
    EXPECT_TRUE(
        commands->Dispatch(executable.get(), 0, {workgroup_count, 1, 1}, {}, {})
            .ok());
    EXPECT_TRUE(commands->Finalize().ok());
    return commands;
  }
  // Says its name and the workgroup's number.
  Ref<hal::CommandBuffer> RecordNote(const std::string& name,
                                     uint32_t workgroup_count = 1) {
    return Record(workgroup_count, [this, name](uint32_t i, exec::Worker&) {
      order_.push_back(name + std::to_string(i));
    });
  }

  void Submit(hal::CommandBuffer& commands, const JobAttributes& job,
              hal::Fence* signal = nullptr, hal::Fence* wait = nullptr) {
    const absl::Status status = device_->QueueExecute(
        {.wait = wait, .signal = signal, .job = &job}, &commands, {});
    EXPECT_TRUE(status.ok()) << status;
  }
  void Wait(const hal::Fence& fence) {
    exec::Executor::HelpingCaller helper(*executor_);
    fence.OnReached([&](const absl::Status& status) {
      EXPECT_TRUE(status.ok()) << status;
      helper.Notify();
    });
    EXPECT_TRUE(helper.WaitUntilNotified(kInfiniteFuture));
  }

  Ref<exec::Executor> executor_;
  Ref<Device> device_;
  std::vector<std::string> order_;
};

// Each dispatch takes less time than a wake-up, but they follow each other.
TEST_F(ExecutionTest, SmallDispatchesThatFollowEachOtherWakeAThread) {
  StartLingering();
  std::atomic<bool> is_first{true};
  const Ref<hal::CommandBuffer> commands =
      RecordPairs(10, kSeriesNs / 20, [&](uint32_t, exec::Worker&) {
        if (!is_first.exchange(false)) return;
        EXPECT_TRUE(BecomesTrue(
            [&] { return executor_->IsSearching(exec::kNormalLane); }));
      });
  const Ref<hal::Fence> done = hal::Fence::Create();
  {
    exec::Executor::HelpingCaller helper(*executor_);
    Submit(*commands, {}, done.get());
  }
  Wait(*done);
  EXPECT_TRUE(
      BecomesTrue([&] { return !executor_->IsSearching(exec::kNormalLane); }));
}

TEST_F(ExecutionTest, AThreadThatSearchesTakesPartInASmallDispatch) {
  StartLingering();
  executor_->BeginSeries(exec::kNormalLane);
  ASSERT_TRUE(
      BecomesTrue([&] { return executor_->IsSearching(exec::kNormalLane); }));
  // More than kInlineNs in all: the dispatches do not run where they are
  // submitted.
  std::array<Flag, 2> begun;
  const Ref<hal::CommandBuffer> commands =
      RecordPairs(4, kInlineBesideNs, [&](uint32_t i, exec::Worker&) {
        begun[i].Set();
        EXPECT_TRUE(begun[1 - i].Wait()) << "one thread runs both workgroups";
      });
  const Ref<hal::Fence> done = hal::Fence::Create();
  {
    exec::Executor::HelpingCaller helper(*executor_);
    Submit(*commands, {}, done.get());
  }
  Wait(*done);
  executor_->EndSeries();
}

TEST_F(ExecutionTest, AnUrgentInvocationWaitsForOneWorkgroupOfALessUrgentOne) {
  Start(0);
  Ref<hal::CommandBuffer> high = RecordNote("high");
  Ref<hal::CommandBuffer> equal = RecordNote("equal");
  Ref<hal::Fence> done = hal::Fence::Create();
  Ref<hal::CommandBuffer> low = Record(4, [&](uint32_t i, exec::Worker&) {
    order_.push_back("low" + std::to_string(i));
    if (i != 1) return;
    Submit(*equal, Priority(100));
    Submit(*high, Priority(200));
  });
  exec::Executor::HelpingCaller helper(*executor_);  // Or it would run at once.
  Submit(*low, Priority(100), done.get());
  Wait(*done);
  EXPECT_THAT(order_,
              ElementsAre("low0", "low1", "high0", "low2", "low3", "equal0"));
}

// Of its own job, at the workgroup `last`.
class CancellationTest : public ExecutionTest {
 protected:
  CancellationTest() { job_.cancellation = cancellation_.get(); }

  Ref<hal::CommandBuffer> RecordUntil(uint32_t last) {
    return Record(1000, [this, last](uint32_t i, exec::Worker&) {
      count_.fetch_add(1);
      if (i == last) cancellation_->Request();
    });
  }
  absl::Status Outcome(hal::CommandBuffer& commands) {
    Ref<hal::Fence> done = hal::Fence::Create();
    absl::optional<exec::Executor::HelpingCaller> helper;
    if (executor_ != nullptr) helper.emplace(*executor_);
    Submit(commands, job_, done.get());
    absl::Status outcome;
    bool is_there = false;
    done->OnReached([&](const absl::Status& status) {
      outcome = status;
      is_there = true;
      if (helper.has_value()) helper->Notify();
    });
    if (helper.has_value()) helper->WaitUntilNotified(kInfiniteFuture);
    EXPECT_TRUE(is_there);
    return outcome;
  }

  const Ref<Cancellation> cancellation_ = MakeRef<Cancellation>();
  JobAttributes job_;
  std::atomic<int> count_{0};
};

TEST_F(CancellationTest, WorkStopsAtTheNextWorkgroup) {
  Start(0);
  Ref<hal::CommandBuffer> commands = RecordUntil(2);
  EXPECT_EQ(Outcome(*commands).code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(count_.load(), 3);
  // It is over, so a caller that gives it up need not wait for it.
  EXPECT_TRUE(cancellation_->IsIdle(nullptr, nullptr));
}

TEST_F(CancellationTest, WorkStopsAtTheNextWorkgroupOnTheCallersThread) {
  device_ = *Device::Create("local-sync", nullptr, {});
  Ref<hal::CommandBuffer> commands = RecordUntil(5);
  EXPECT_EQ(Outcome(*commands).code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(count_.load(), 6);
}

TEST_F(CancellationTest, WorkDoesNotBeginOnceItIsCancelled) {
  Start(0);
  cancellation_->Request();
  Ref<hal::CommandBuffer> commands = RecordUntil(5);
  EXPECT_EQ(Outcome(*commands).code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(count_.load(), 0);
}

TEST_F(CancellationTest, WorkThatIsNotCancelledRunsToItsEnd) {
  Start(0);
  Ref<hal::CommandBuffer> commands = RecordUntil(5000);
  EXPECT_TRUE(Outcome(*commands).ok());
  EXPECT_EQ(count_.load(), 1000);
}

TEST_F(ExecutionTest, TheEarliestDeadlineOfEqualsGoesFirst) {
  Start(0);
  exec::Executor::HelpingCaller helper(*executor_);
  Ref<hal::Fence> done = hal::Fence::Create();
  Submit(*RecordNote("none"), {});
  Submit(*RecordNote("late"), {.deadline_ns = 3000});
  Submit(*RecordNote("early"), {.deadline_ns = 1000});
  Submit(*RecordNote("middle"), {.deadline_ns = 2000});
  Submit(*RecordNote("urgent"), {.priority = 255});
  Submit(*RecordNote("last"), Priority(0), done.get());
  Wait(*done);
  EXPECT_THAT(order_, ElementsAre("urgent0", "early0", "middle0", "late0",
                                  "none0", "last0"));
}

TEST_F(ExecutionTest, AnOperationThatWaitsForAFenceKeepsItsTraits) {
  Start(0);
  exec::Executor::HelpingCaller helper(*executor_);
  Ref<hal::Fence> begin = hal::Fence::Create();
  Ref<hal::Fence> done = hal::Fence::Create();
  {
    // The submitter's own are gone by the time that they are needed.
    Submit(*RecordNote("low"), Priority(1), done.get(), begin.get());
    Submit(*RecordNote("high"), Priority(255), nullptr, begin.get());
  }
  Submit(*RecordNote("normal"), {});
  ASSERT_TRUE(begin->Signal().ok());
  Wait(*done);
  EXPECT_THAT(order_, ElementsAre("high0", "normal0", "low0"));
}

TEST_F(ExecutionTest, AReadyOperationLetsMoreUrgentOnesGoFirst) {
  // Known to be so small that a working thread runs it as it is submitted.
  Start(0);
  Ref<hal::CommandBuffer> small = RecordNote("small");
  Ref<hal::CommandBuffer> high = RecordNote("high");
  Ref<hal::Fence> warm = hal::Fence::Create();
  exec::Executor::HelpingCaller helper(*executor_);
  Submit(*small, {}, warm.get());
  Wait(*warm);
  order_.clear();

  Ref<hal::Fence> done = hal::Fence::Create();
  Ref<hal::CommandBuffer> first = Record(1, [&](uint32_t, exec::Worker&) {
    Submit(*small, Priority(100));
    order_.push_back("submitted");
    Submit(*high, Priority(200));
    Submit(*small, Priority(100));
    order_.push_back("submitted too");
  });
  Submit(*first, Priority(100), done.get());
  Wait(*done);
  Ref<hal::Fence> last = hal::Fence::Create();
  Submit(*RecordNote("last"), Priority(0), last.get());
  Wait(*last);
  EXPECT_THAT(order_, ElementsAre("small0", "submitted", "submitted too",
                                  "high0", "small0", "last0"));
}

TEST_F(ExecutionTest, RunsOnTheProcessorsThatAreSaid) {
  Start(3);
  CpuSet cpus;
  cpus.Add(8001);
  JobAttributes job;
  job.cpus = &cpus;
  std::vector<uint32_t> workers(64);
  Ref<hal::CommandBuffer> commands = Record(
      64, [&](uint32_t i, exec::Worker& worker) { workers[i] = worker.index; });
  // From a working thread too, also when it is known to take no time.
  exec::Executor::HelpingCaller helper(*executor_);
  for (int i = 0; i < 20; ++i) {
    workers.assign(64, 99);
    Ref<hal::Fence> done = hal::Fence::Create();
    Submit(*commands, job, done.get());
    Wait(*done);
    EXPECT_THAT(workers, Each(1u));
  }
}

TEST_F(ExecutionTest, TransfersKeepToTheirProcessorsToo) {
  Start(2);
  CpuSet cpus;
  cpus.Add(8001);
  JobAttributes job;
  job.cpus = &cpus;
  auto buffer = *device_->Allocate({}, 1 << 20);
  for (const uint64_t length : {uint64_t{0}, uint64_t{64}, uint64_t{1} << 20}) {
    Ref<hal::Fence> done = hal::Fence::Create();
    ASSERT_TRUE(device_
                    ->QueueFill({.signal = done.get(), .job = &job},
                                buffer.get(), 0, length, 0x07, 1)
                    .ok());
    Wait(*done);
    if (length > 0) {
      EXPECT_EQ(buffer->data()[length - 1], 7);
    }
  }
  EXPECT_EQ(executor_->statistics().workers[0].counts.job_count, 0u);
  EXPECT_EQ(executor_->statistics().workers[1].counts.job_count, 3u);
}

// A route to the workers of another executor.
class RouteElsewhere final : public DispatchRoute {
 public:
  RouteElsewhere(const DispatchCommand& command, exec::Executor* executor)
      : command_(command), executor_(executor) {}
  const DispatchCommand& CommandFor(RouteTarget) const override {
    return command_;
  }
  exec::Executor* cpu_executor() const override { return executor_; }
  RouteTarget Choose(const exec::JobTraits&, uint32_t) const override {
    return RouteTarget::kCpu;
  }
  bool IsMeasured() const override { return true; }
  void Offer(uint32_t, uint32_t, shop::Work*) const override {}
  int64_t ExclusiveNs() const override { return 0; }
  void CountChoice(RouteTarget) const override {}

 private:
  const DispatchCommand& command_;
  exec::Executor* const executor_;
};

TEST_F(ExecutionTest, ATransferAfterADispatchElsewhereKeepsToItsProcessors) {
  Device::Options options;
  options.learn_costs = false;
  Start(2, options);
  exec::Executor::Options elsewhere;
  elsewhere.worker_count = 1;
  const Ref<exec::Executor> other = *exec::Executor::Create(elsewhere);
  auto buffer = *device_->Allocate({}, 1 << 20);
  auto commands = *device_->CreateCommandBuffer(0, 3, 0);
  auto executable = MakeRef<LoadedExecutable>(
      std::make_shared<CallingCode>([](uint32_t, exec::Worker&) {}));
  ASSERT_TRUE(commands->Dispatch(executable.get(), 0, {1, 1, 1}, {}, {}).ok());
  ASSERT_TRUE(commands->ExecutionBarrier().ok());
  ASSERT_TRUE(
      commands->FillBuffer({buffer.get(), 0, 0, 1 << 20}, 0x07, 1).ok());
  ASSERT_TRUE(commands->Finalize().ok());
  Command* const first =
      static_cast<CpuCommandBuffer&>(*commands).first_region()->first;
  auto& dispatch = static_cast<DispatchCommand&>(*first);
  const RouteElsewhere route(dispatch, other.get());
  dispatch.SetRoute(route);
  CpuSet cpus;
  cpus.Add(8001);
  JobAttributes job;
  job.cpus = &cpus;
  for (int i = 0; i < 20; ++i) {
    Ref<hal::Fence> done = hal::Fence::Create();
    Submit(*commands, job, done.get());
    ASSERT_TRUE(done->Wait(kInfiniteFuture).ok());
  }
  EXPECT_EQ(executor_->statistics().workers[0].counts.job_count, 0u);
  EXPECT_EQ(executor_->statistics().workers[1].counts.job_count, 20u);
  commands.reset();
  other->Shutdown();
}

TEST_F(ExecutionTest, RefusesProcessorsWithoutWorkers) {
  Start(2);
  CpuSet cpus;
  cpus.Add(7);
  JobAttributes job;
  job.cpus = &cpus;
  Ref<hal::Fence> signal = hal::Fence::Create();
  const absl::Status status = device_->QueueExecute(
      {.signal = signal.get(), .job = &job}, RecordNote("never").get(), {});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("affinity 7: no worker is there; they are on 8000"));
  bool reached = true;
  EXPECT_TRUE(signal->Query(&reached).ok());
  EXPECT_FALSE(reached);
}

TEST_F(ExecutionTest, AQueueHasItsProcessors) {
  Device::Options options;
  for (uint32_t i = 0; i < 3; ++i) options.queues.emplace_back().Add(8000 + i);
  Start(3, options);
  uint32_t worker_index = 99;
  Ref<hal::CommandBuffer> commands = Record(
      1, [&](uint32_t, exec::Worker& worker) { worker_index = worker.index; });
  const auto run = [&](uint64_t affinity, const JobAttributes* job) {
    Ref<hal::Fence> done = hal::Fence::Create();
    const absl::Status status = device_->QueueExecute(
        {.affinity = affinity, .signal = done.get(), .job = job},
        commands.get(), {});
    EXPECT_TRUE(status.ok()) << status;
    Wait(*done);
    return worker_index;
  };
  EXPECT_EQ(run(1, nullptr), 0u);
  EXPECT_EQ(run(4, nullptr), 2u);
  const JobAttributes plain;
  EXPECT_EQ(run(2, &plain), 1u);
  for (int i = 0; i < 20; ++i) EXPECT_GE(run(6, nullptr), 1u);
  // What the work says itself comes first.
  CpuSet cpus;
  cpus.Add(8002);
  JobAttributes job;
  job.cpus = &cpus;
  EXPECT_EQ(run(1, &job), 2u);
  run(~uint64_t{0}, nullptr);

  const absl::Status status =
      device_->QueueExecute({.affinity = 8}, commands.get(), {});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("queue affinity 0x8: the device has 3 queues"));
}

// Threads on the upper half of the CPUs take workgroups from the last one back,
// so that the first one runs last where there are no others.
TEST_F(ExecutionTest, AnEventBeginsWithTheWorkgroupThatRanFirst) {
  int32_t last_cpu = 0;
  topology::AllowedCpus().ForEach([&](int32_t cpu) { last_cpu = cpu; });
  exec::Executor::Options given;
  given.worker_count = 1;
  given.concurrency_max = 2;
  given.placement.emplace_back().Add(static_cast<uint32_t>(last_cpu));
  std::vector<DispatchEvent> events;
  Device::Options options;
  options.observer = [&events](const DispatchEvent& event) {
    events.push_back(event);
  };
  StartWith(given, options);

  constexpr uint32_t kCount = 5;
  std::array<int64_t, kCount> ran_ns = {};
  Ref<hal::CommandBuffer> commands =
      Record(kCount, [&](uint32_t i, exec::Worker&) { ran_ns[i] = NowNs(); });
  for (int run = 0; run < 3; ++run) {
    events.clear();
    const Ref<hal::Fence> done = hal::Fence::Create();
    Submit(*commands, Priority(100), done.get());
    ASSERT_TRUE(done->Wait(kInfiniteFuture).ok());
    const auto [first, last] =
        std::minmax_element(ran_ns.begin(), ran_ns.end());
    ASSERT_EQ(events.size(), 1u);
    EXPECT_LE(events[0].begin_ns, *first);
    EXPECT_GE(events[0].end_ns, *last);
    EXPECT_GT(events[0].begin_ns, 0);
  }
}

TEST_F(ExecutionTest, RefusesQueuesWithoutWorkersAndTooManyOfThem) {
  Start(1);
  Device::Options options;
  options.queues.resize(2);
  options.queues[0].Add(8000);
  options.queues[1].Add(1);
  const absl::Status status =
      Device::Create("local-task", executor_, options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("queue 1: affinity 1: no worker is there"));
  options.queues.assign(65, options.queues[0]);
  EXPECT_EQ(Device::Create("local-task", executor_, options).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace takt::cpu
