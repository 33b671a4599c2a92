#include "trace/check.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/trace/sample_trace.h"

namespace takt::trace {
namespace {

CheckResult Check(const RecordingMaker& maker) {
  return CheckTrace(*Trace::Create(maker.recording, false));
}

TEST(CheckTest, FindsNoFaultInAPossiblePlan) {
  const CheckResult result =
      CheckTrace(*Trace::Create(SampleRecording(), false));
  EXPECT_EQ(result.finding_count, 0u) << result.findings.at(0);
  EXPECT_EQ(CheckTrace(*Trace::Create({}, false)).finding_count, 0u);
}

TEST(CheckTest, FindsTwoBatchesAtOnce) {
  RecordingMaker maker;
  const uint16_t npu = maker.Track(TrackKind::kNpu, "NPU");
  const uint16_t other = maker.Track(TrackKind::kNpu, "NPU #2");
  maker.Add(EventKind::kNpuLease, npu, 0, 100);
  maker.Add(EventKind::kNpuBatch, npu, 10, 20);
  maker.Add(EventKind::kNpuBatch, npu, 30, 20);  // Right behind.
  maker.Add(EventKind::kNpuBatch, other, 15, 20);
  EXPECT_EQ(Check(maker).finding_count, 0u);
  maker.Add(EventKind::kNpuBatch, npu, 49, 1);
  const CheckResult result = Check(maker);
  ASSERT_EQ(result.finding_count, 1u);
  EXPECT_EQ(result.findings[0],
            "at 49 ns on NPU: npu_batch: while npu_batch goes on to 50 ns");
}

TEST(CheckTest, FindsOneThatLiesWithinALongerOneBefore) {
  RecordingMaker maker;
  const uint16_t core = maker.Track(TrackKind::kCore, "core 0");
  maker.Add(EventKind::kSlot, core, 0, 100);
  maker.Add(EventKind::kSlot, core, 10, 10);
  maker.Add(EventKind::kSlot, core, 50, 10);
  EXPECT_EQ(Check(maker).finding_count, 2u);
}

TEST(CheckTest, PartsOnAThreadMayNestButNotCross) {
  RecordingMaker maker;
  const uint16_t worker = maker.Track(TrackKind::kWorker, "takt-0");
  maker.Add(EventKind::kDispatch, worker, 0, 100);
  maker.Add(EventKind::kDispatch, worker, 10, 20);
  maker.Add(EventKind::kTransfer, worker, 40, 60);
  EXPECT_EQ(Check(maker).finding_count, 0u);
  maker.Add(EventKind::kDispatch, worker, 99, 2);
  EXPECT_EQ(Check(maker).finding_count, 1u);
}

TEST(CheckTest, FindsEffectsBeforeTheirCauses) {
  const auto find = [](EventKind kind, int64_t time_ns, int64_t duration_ns) {
    RecordingMaker maker;
    const uint16_t worker = maker.Track(TrackKind::kWorker, "takt-0");
    const uint16_t other = maker.Track(TrackKind::kWorker, "takt-1");
    maker.Add(EventKind::kOperationIssued, worker, 10).id = 5;
    maker.Add(EventKind::kOperationReady, worker, 20).id = 5;
    maker.Add(EventKind::kOperationDone, worker, 90).id = 5;
    maker.Add(kind, other, time_ns, duration_ns).id = 5;
    return Check(maker).finding_count;
  };
  EXPECT_EQ(find(EventKind::kDispatch, 20, 70), 0u);
  EXPECT_EQ(find(EventKind::kDispatch, 19, 10), 1u);
  EXPECT_EQ(find(EventKind::kTransfer, 80, 11), 1u);
  EXPECT_EQ(find(EventKind::kDispatch, 5, 100), 2u);
}

TEST(CheckTest, FindsAnOperationThatIsReadyTooEarlyOrDoneTooEarly) {
  RecordingMaker maker;
  const uint16_t worker = maker.Track(TrackKind::kWorker, "takt-0");
  maker.Add(EventKind::kOperationReady, worker, 5).id = 7;
  maker.Add(EventKind::kOperationIssued, worker, 10).id = 7;
  maker.Add(EventKind::kOperationDone, worker, 8).id = 7;
  EXPECT_EQ(Check(maker).finding_count, 2u);
}

TEST(CheckTest, FindsAnInvocationThatEndedBeforeItBegan) {
  RecordingMaker maker;
  const uint16_t worker = maker.Track(TrackKind::kWorker, "takt-0");
  maker.Add(EventKind::kInvocationEnd, worker, 5).id = 7;
  EXPECT_EQ(Check(maker).finding_count, 0u);  // Its begin may be lost.
  maker.Add(EventKind::kInvocationBegin, worker, 6).id = 7;
  EXPECT_EQ(Check(maker).finding_count, 1u);
}

TEST(CheckTest, KeepsTheFirstFindingsAndCountsAll) {
  RecordingMaker maker;
  const uint16_t npu = maker.Track(TrackKind::kNpu, "NPU");
  for (int i = 0; i < 10; ++i) maker.Add(EventKind::kNpuBatch, npu, i, 50);
  const CheckResult result =
      CheckTrace(*Trace::Create(maker.recording, false), 3);
  EXPECT_EQ(result.finding_count, 9u);
  EXPECT_EQ(result.findings.size(), 3u);
}

}  // namespace
}  // namespace takt::trace
