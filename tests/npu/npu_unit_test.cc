// Units of the driver "sim" in virtual time: what takes how long, what happens
// to operations that fail, and what is counted.
#include "npu/npu_unit.h"

#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "npu/host_driver.h"
#include "npu/sim_driver.h"
#include "tests/npu/fault_seeds.h"
#include "tests/support/allocation_faults.h"

namespace takt::npu {
namespace {

using testing::HasSubstr;

struct Opened {
  std::shared_ptr<VirtualTime> time = std::make_shared<VirtualTime>();
  Ref<NpuUnit> unit;
};

Opened OpenSim(const std::string& profile, NpuFaultPolicy policy = {}) {
  Opened opened;
  NpuUnit::Options options;
  options.driver_options = profile;
  options.policy = policy;
  options.time = opened.time;
  options.event_count_max = 16;
  auto unit = NpuUnit::Open(SimDriver(), options);
  EXPECT_TRUE(unit.ok()) << unit.status();
  if (unit.ok()) opened.unit = *std::move(unit);
  return opened;
}

// Fills 16 words.
struct Fill {
  explicit Fill(uint32_t pattern) {
    std::memset(&operation, 0, sizeof(operation));
    operation.kind = TAKT_NPU_KIND_FILL;
    operation.fill.out = {reinterpret_cast<uint8_t*>(words), 0, 0,
                          sizeof(words)};
    operation.fill.size0 = 1;
    operation.fill.size1 = 16;
    operation.fill.stride0 = 16;
    operation.fill.stride1 = 1;
    operation.fill.pattern = pattern;
  }
  absl::Status Run(NpuUnit& unit, const NpuRequest& request = {}) {
    return unit.Run({&operation, 1}, request);
  }
  bool IsFilled() const {
    for (const uint32_t word : words) {
      if (word != operation.fill.pattern) return false;
    }
    return true;
  }

  alignas(64) uint32_t words[16] = {};
  takt_npu_operation_t operation;
};

TEST(NpuUnitTest, RunsOperationsInOrder) {
  Opened sim = OpenSim("");
  Fill first(7);
  Fill second(8);
  second.operation.fill.out = first.operation.fill.out;
  second.operation.fill.size1 = 8;
  const takt_npu_operation_t both[] = {first.operation, second.operation};
  ASSERT_TRUE(sim.unit->Run(both, NpuRequest()).ok());
  EXPECT_EQ(first.words[0], 8u);
  EXPECT_EQ(first.words[8], 7u);
  EXPECT_EQ(sim.unit->statistics().batch_count, 1u);
  EXPECT_EQ(sim.unit->statistics().operation_count, 2u);
}

TEST(NpuUnitTest, SplitsOperationsLongerThanABatch) {
  Opened sim = OpenSim(R"({"batch_max": 2})");
  std::vector<takt_npu_operation_t> operations(5, Fill(1).operation);
  Fill fill(9);
  for (auto& each : operations) each = fill.operation;
  ASSERT_TRUE(sim.unit->Run(operations, NpuRequest()).ok());
  EXPECT_TRUE(fill.IsFilled());
  EXPECT_EQ(sim.unit->statistics().batch_count, 3u);
}

TEST(NpuUnitTest, TakesAsLongAsTheProfileSays) {
  // 64 bytes at 1 byte a ns, and the launch.
  Opened sim = OpenSim(
      R"({"launch_ns": 500, "dma_bytes_per_s": 1e9, "dma_latency_ns": 30})");
  Fill fill(3);
  ASSERT_TRUE(fill.Run(*sim.unit).ok());
  EXPECT_EQ(sim.time->NowNs(), 500 + 30 + 64);
  const std::vector<NpuBatchRecord> events = sim.unit->events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].end_ns - events[0].start_ns, 594);
  EXPECT_EQ(sim.unit->statistics().busy_ns, 594u);
}

TEST(NpuUnitTest, EndsAnImportThatTakesTooLong) {
  NpuFaultPolicy policy;
  policy.time_limit_ns = 10'000;
  policy.retry_max = 2;
  Opened sim = OpenSim(R"({"faults": {"time_out": 1}})", policy);
  Fill fill(3);
  const absl::Status status = fill.Run(*sim.unit);
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("more than 10 us"));
  EXPECT_EQ(sim.time->NowNs(), 30'000);
  const NpuStatistics statistics = sim.unit->statistics();
  EXPECT_EQ(statistics.time_out_count, 3u);
  EXPECT_EQ(statistics.retry_count, 2u);
  EXPECT_EQ(statistics.error_count, 1u);
  EXPECT_EQ(statistics.reset_count, 0u);
  EXPECT_EQ(statistics.operation_count, 0u);
}

TEST(NpuUnitTest, ResetsWhereACancelDoesNotHelp) {
  NpuFaultPolicy policy;
  policy.retry_max = 0;
  Opened sim = OpenSim(R"({"faults": {"time_out": 1, "stuck": 1}})", policy);
  Fill fill(3);
  EXPECT_EQ(fill.Run(*sim.unit).code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(sim.unit->statistics().reset_count, 1u);
  EXPECT_FALSE(sim.unit->is_quarantined());
}

TEST(NpuUnitTest, CompletionsThatComeTooLateDoNothing) {
  NpuFaultPolicy policy;
  policy.retry_max = 3;
  Opened sim = OpenSim(R"({"faults": {"late": 1}})", policy);
  Fill fill(3);
  EXPECT_EQ(fill.Run(*sim.unit).code(), absl::StatusCode::kDeadlineExceeded);
  sim.time->Pass(1'000'000);
  EXPECT_EQ(sim.unit->statistics().stray_completion_count, 4u);
}

// A driver that completes a batch, of which it has done nothing, while it
// cancels it.
takt_npu_batch_t batch_to_complete;

TEST(NpuUnitTest, ACompletionDuringTheCancellationDoesNothing) {
  takt_npu_driver_t driver = *SimDriver();
  driver.submit = [](void*, const takt_npu_batch_t* batch) {
    batch_to_complete = *batch;
    return TAKT_NPU_RESULT_OK;
  };
  driver.cancel = [](void*, uint64_t id) {
    batch_to_complete.complete(batch_to_complete.user_data, id,
                               TAKT_NPU_RESULT_OK);
    return TAKT_NPU_RESULT_OK;
  };
  NpuUnit::Options options;
  options.time = std::make_shared<VirtualTime>();
  options.policy.retry_max = 1;
  const auto unit = NpuUnit::Open(&driver, options);
  ASSERT_TRUE(unit.ok()) << unit.status();
  Fill fill(3);
  EXPECT_EQ(fill.Run(**unit).code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_FALSE(fill.IsFilled());
  EXPECT_EQ((*unit)->statistics().stray_completion_count, 2u);
}

#if defined(__cpp_exceptions)
// A driver that finds no memory for a batch.
int throw_count = 0;

TEST(NpuUnitTest, ADriverThatThrowsHasNoMemory) {
  takt_npu_driver_t driver = *HostDriver();
  driver.submit = [](void* unit, const takt_npu_batch_t* batch) {
    if (throw_count > 0 && throw_count-- > 0) throw std::bad_alloc();
    return HostDriver()->submit(unit, batch);
  };
  NpuUnit::Options options;
  options.time = std::make_shared<VirtualTime>();
  const auto unit = NpuUnit::Open(&driver, options);
  ASSERT_TRUE(unit.ok()) << unit.status();
  Fill fill(3);
  throw_count = 1;
  EXPECT_EQ(fill.Run(**unit).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ((*unit)->statistics().refused_count, 1u);
  EXPECT_TRUE(fill.Run(**unit).ok());
  EXPECT_TRUE(fill.IsFilled());
}
#endif

// Runs batches, each while its allocation number `fault` fails, and expects
// that those are done that have run: else their caller, or the CPU, would run
// them once more. Returns whether an allocation has failed.
bool RunWithFault(const takt_npu_driver_t* driver, int64_t fault) {
  NpuUnit::Options options;
  options.time = std::make_shared<VirtualTime>();
  options.event_count_max = 16;
  const auto unit = NpuUnit::Open(driver, options);
  EXPECT_TRUE(unit.ok()) << unit.status();
  bool has_failed = false;
  for (int i = 0; i < 20 && unit.ok(); ++i) {
    Fill fill(3);
    bool is_done = false;
    {
      const AllocationFault armed(fault);
      try {
        is_done = fill.Run(**unit).ok();
      } catch (const std::bad_alloc&) {
      }
      has_failed |= AllocationFault::is_hit();
    }
    EXPECT_EQ(fill.IsFilled(), is_done)
        << driver->name << ", batch " << i << ", allocation " << fault;
  }
  return has_failed;
}

TEST(NpuUnitTest, WithoutMemoryNoBatchRunsThatIsNotDone) {
  for (const takt_npu_driver_t* driver : {HostDriver(), SimDriver()}) {
    for (int64_t fault = 0; RunWithFault(driver, fault);) ++fault;
  }
}

TEST(NpuUnitTest, SecondCompletionsDoNothing) {
  Opened sim = OpenSim(R"({"faults": {"twice": 1}})");
  Fill fill(3);
  ASSERT_TRUE(fill.Run(*sim.unit).ok());
  EXPECT_TRUE(fill.IsFilled());
  sim.time->Pass(1'000'000);
  EXPECT_EQ(sim.unit->statistics().stray_completion_count, 1u);
  EXPECT_EQ(sim.unit->statistics().operation_count, 1u);
}

TEST(NpuUnitTest, TriesAgainAfterRestoringTheOperands) {
  NpuFaultPolicy policy;
  policy.retry_max = 100;
  policy.quarantine_after = 1000;
  Opened sim = OpenSim(R"({"faults": {"seed": 3, "error": 0.8}})", policy);
  int restored = 0;
  auto count = [&restored] { ++restored; };
  absl::FunctionRef<void()> restore = count;
  NpuRequest request;
  request.restore = &restore;
  Fill fill(3);
  ASSERT_TRUE(fill.Run(*sim.unit, request).ok());
  EXPECT_TRUE(fill.IsFilled());
  const NpuStatistics statistics = sim.unit->statistics();
  EXPECT_GT(statistics.failed_count, 0u);
  EXPECT_EQ(statistics.retry_count, statistics.failed_count);
  EXPECT_EQ(static_cast<uint64_t>(restored), statistics.failed_count);
}

TEST(NpuUnitTest, DoesNotRepeatUnrepeatableOperations) {
  Opened sim = OpenSim(R"({"faults": {"error": 1}})");
  NpuRequest request;
  request.is_repeatable = false;
  Fill fill(3);
  EXPECT_EQ(fill.Run(*sim.unit, request).code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(sim.unit->statistics().batch_count, 1u);
}

TEST(NpuUnitTest, ALostUnitIsResetAndTriedAgain) {
  NpuFaultPolicy policy;
  policy.retry_max = 20;
  policy.quarantine_after = 100;
  Opened sim = OpenSim(R"({"faults": {"seed": 9, "lost": 0.5}})", policy);
  for (uint32_t i = 0; i < 20; ++i) {
    Fill fill(i + 1);
    ASSERT_TRUE(fill.Run(*sim.unit).ok()) << i;
    EXPECT_TRUE(fill.IsFilled());
  }
  const NpuStatistics statistics = sim.unit->statistics();
  EXPECT_GT(statistics.lost_count, 0u);
  EXPECT_EQ(statistics.reset_count, statistics.lost_count);
}

TEST(NpuUnitTest, AUnitThatResetsDoNotHelpIsLeftAloneThenProbed) {
  NpuFaultPolicy policy;
  policy.quarantine_ns = 1'000'000;
  policy.retry_max = 0;
  Opened sim = OpenSim(
      R"({"faults": {"seed": 1, "lost": 0.3, "reset_failures": 2}})", policy);
  Fill fill(3);
  absl::Status status;
  for (int i = 0; i < 100 && status.ok(); ++i) status = fill.Run(*sim.unit);
  ASSERT_EQ(status.code(), absl::StatusCode::kUnavailable);
  ASSERT_TRUE(sim.unit->is_quarantined());

  const uint64_t batch_count = sim.unit->statistics().batch_count;
  status = fill.Run(*sim.unit);
  EXPECT_THAT(std::string(status.message()), HasSubstr("in quarantine"));
  EXPECT_EQ(sim.unit->statistics().batch_count, batch_count);

  // One reset has been in vain; so is that of the first probe, and the second
  // or one of those after it works.
  sim.time->Pass(1'000'001);
  EXPECT_THAT(std::string(fill.Run(*sim.unit).message()),
              HasSubstr("failed a probe"));
  EXPECT_TRUE(sim.unit->is_quarantined());
  bool works = false;
  for (int i = 0; i < 10 && !works; ++i) {
    sim.time->Pass(200'000'000);
    works = fill.Run(*sim.unit).ok();
  }
  EXPECT_TRUE(works);
  EXPECT_FALSE(sim.unit->is_quarantined());
  EXPECT_GE(sim.unit->statistics().quarantine_count, 2u);
}

TEST(NpuUnitTest, FailuresInARowLeadToQuarantine) {
  NpuFaultPolicy policy;
  policy.quarantine_after = 3;
  policy.retry_max = 0;
  Opened sim = OpenSim(R"({"faults": {"error": 1}})", policy);
  Fill fill(3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(sim.unit->is_quarantined());
    EXPECT_EQ(fill.Run(*sim.unit).code(), absl::StatusCode::kUnavailable);
  }
  EXPECT_TRUE(sim.unit->is_quarantined());
  EXPECT_EQ(fill.Run(*sim.unit).code(), absl::StatusCode::kUnavailable);
}

TEST(NpuUnitTest, TooHotIsNotTriedAgainAtOnce) {
  Opened sim = OpenSim(R"({"faults": {"overheat": 1}})");
  Fill fill(3);
  EXPECT_EQ(fill.Run(*sim.unit).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(sim.unit->statistics().batch_count, 1u);
  EXPECT_EQ(sim.unit->statistics().overheated_count, 1u);
  EXPECT_TRUE(sim.unit->is_quarantined());
}

TEST(NpuUnitTest, AnUnsupportedOperationIsNoFailure) {
  Opened sim = OpenSim("");
  Fill fill(3);
  fill.operation.kind = 77;
  EXPECT_EQ(fill.Run(*sim.unit).code(), absl::StatusCode::kUnimplemented);
  fill.operation.kind = TAKT_NPU_KIND_FILL;
  fill.operation.fill.size1 = 17;
  EXPECT_EQ(fill.Run(*sim.unit).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(sim.unit->statistics().refused_count, 2u);
  EXPECT_FALSE(sim.unit->is_quarantined());
}

TEST(NpuUnitTest, ReportsTheErrorTextOfADriver) {
  NpuUnit::Options options;
  options.time = std::make_shared<VirtualTime>();
  options.driver_options = R"({"no_such": 1})";
  auto unit = NpuUnit::Open(SimDriver(), options);
  EXPECT_EQ(unit.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(unit.status().message()),
              HasSubstr("unknown member \"no_such\""));
}

// Every kind of fault, many seeds: each operation ends, and one that ends well
// has the right result.
class FaultSeedsTest : public testing::TestWithParam<const char*> {};

TEST_P(FaultSeedsTest, NothingHangsIsWrongOrLost) {
  constexpr uint32_t kRuns = 6;
  uint64_t faults = 0;
  for (int seed = 1; seed <= FaultSeedCount(); ++seed) {
    NpuFaultPolicy policy;
    policy.retry_max = static_cast<uint32_t>(seed % 3);
    Opened sim = OpenSim(FaultyProfile(seed, GetParam()), policy);
    uint64_t ok_count = 0;
    for (uint32_t i = 0; i < kRuns; ++i) {
      Fill fill(i + 1);
      const absl::Status status = fill.Run(*sim.unit);
      if (status.ok()) {
        ++ok_count;
        ASSERT_TRUE(fill.IsFilled()) << "seed " << seed;
      }
    }
    sim.time->Pass(1'000'000'000);
    const NpuStatistics s = sim.unit->statistics();
    EXPECT_EQ(s.operation_count, ok_count) << "seed " << seed;
    EXPECT_EQ(s.error_count, kRuns - ok_count) << "seed " << seed;
    faults += s.failed_count + s.time_out_count + s.lost_count +
              s.overheated_count + s.stray_completion_count;
  }
  EXPECT_GT(faults, 0u);
}

INSTANTIATE_TEST_SUITE_P(Kinds, FaultSeedsTest, testing::ValuesIn(kFaultKinds));

// A driver that counts how many batches it has at once, on top of "host".
struct Watch {
  std::atomic<int> running{0};
  std::atomic<int> most{0};
};
Watch* g_watch = nullptr;  // Of the one test that uses it.

takt_npu_result_t WatchedSubmit(void* unit, const takt_npu_batch_t* batch) {
  const int now = ++g_watch->running;
  if (now > g_watch->most) g_watch->most = now;
  takt_npu_batch_t inner = *batch;
  inner.complete = [](void*, uint64_t, takt_npu_result_t) {};
  const takt_npu_result_t result = HostDriver()->submit(unit, &inner);
  --g_watch->running;
  batch->complete(batch->user_data, batch->id, TAKT_NPU_RESULT_OK);
  return result;
}

TEST(NpuUnitTest, NeverRunsTwoBatchesAtOnce) {
  Watch watch;
  g_watch = &watch;
  takt_npu_driver_t driver = *HostDriver();
  driver.submit = &WatchedSubmit;
  NpuUnit::Options options;
  options.time = CreateRealTime(CreateTimerThread());
  options.event_count_max = 10'000;
  auto unit = NpuUnit::Open(&driver, options);
  ASSERT_TRUE(unit.ok()) << unit.status();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (uint32_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (uint32_t i = 0; i < 200; ++i) {
        Fill fill(t * 1000 + i + 1);
        NpuRequest request;
        request.urgency.priority = static_cast<uint8_t>(t * 32);
        if (!fill.Run(**unit, request).ok() || !fill.IsFilled()) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(watch.most, 1);
  const std::vector<NpuBatchRecord> events = (*unit)->events();
  ASSERT_EQ(events.size(), 1600u);
  for (size_t i = 1; i < events.size(); ++i) {
    EXPECT_GE(events[i].start_ns, events[i - 1].end_ns);
  }
}

}  // namespace
}  // namespace takt::npu
