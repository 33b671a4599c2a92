#include "cpu/operation_trace.h"

#include <algorithm>
#include <new>
#include <vector>

#include "cpu/device.h"
#include "gtest/gtest.h"
#include "hal/fence.h"
#include "tests/support/allocation_faults.h"

namespace takt::cpu {
namespace {

std::vector<EventKind> KindsOf(const Recording& recording) {
  std::vector<EventKind> kinds;
  for (const Event& event : recording.events) kinds.push_back(event.kind);
  return kinds;
}

class OperationTraceTest : public testing::Test {
 protected:
  void SetUp() override {
    Device::Options options;
    options.tracer = tracer_;
    auto device = Device::Create("local-sync", nullptr, options);
    ASSERT_TRUE(device.ok());
    device_ = *device;
  }

  const Ref<Tracer> tracer_ = MakeRef<Tracer>();
  Ref<Device> device_;
};

TEST_F(OperationTraceTest, RecordsNothingWhileTheTracerIsOff) {
  EXPECT_FALSE(device_->trace().NewTag(OperationTrace::kFill, {}).is_traced());
  ASSERT_TRUE(device_->QueueBarrier({}).ok());
  EXPECT_TRUE(tracer_->Collect().events.empty());
}

TEST_F(OperationTraceTest, AnOperationIsIssuedAndDone) {
  ASSERT_TRUE(tracer_->Start({}).ok());
  JobAttributes job;
  job.trace_id = 77;
  const Ref<hal::Fence> signal = hal::Fence::Create();
  hal::QueueTicket ticket;
  ticket.job = &job;
  ticket.signal = signal.get();
  ASSERT_TRUE(device_->QueueBarrier(ticket).ok());
  const Recording recording = tracer_->Collect();
  EXPECT_EQ(KindsOf(recording),
            (std::vector<EventKind>{EventKind::kOperationIssued,
                                    EventKind::kOperationDone,
                                    EventKind::kFenceSignaled}));
  const Event& issued = recording.events[0];
  EXPECT_EQ(issued.parent, 77u);
  EXPECT_EQ(recording.names[issued.name], "barrier");
  EXPECT_EQ(recording.events[1].id, issued.id);
  EXPECT_EQ(recording.events[2].parent, issued.id);
}

TEST_F(OperationTraceTest, OneThatWaitsBecomesReady) {
  ASSERT_TRUE(tracer_->Start({}).ok());
  const Ref<hal::Fence> wait = hal::Fence::Create();
  hal::QueueTicket ticket;
  ticket.wait = wait.get();
  ASSERT_TRUE(device_->QueueBarrier(ticket).ok());
  EXPECT_EQ(tracer_->Collect().events.size(), 1u);
  ASSERT_TRUE(wait->Signal().ok());
  EXPECT_EQ(KindsOf(tracer_->Collect()),
            (std::vector<EventKind>{EventKind::kOperationIssued,
                                    EventKind::kOperationReady,
                                    EventKind::kOperationDone}));
}

TEST_F(OperationTraceTest, AFailureIsRecordedWithItsCode) {
  ASSERT_TRUE(tracer_->Start({}).ok());
  const Ref<hal::Fence> wait = hal::Fence::Create();
  const Ref<hal::Fence> signal = hal::Fence::Create();
  hal::QueueTicket ticket;
  ticket.wait = wait.get();
  ticket.signal = signal.get();
  ASSERT_TRUE(device_->QueueBarrier(ticket).ok());
  wait->Fail(absl::DataLossError("gone"));
  const Recording recording = tracer_->Collect();
  EXPECT_EQ(KindsOf(recording),
            (std::vector<EventKind>{EventKind::kOperationIssued,
                                    EventKind::kOperationDone,
                                    EventKind::kFenceFailed}));
  EXPECT_EQ(recording.events[1].value,
            static_cast<int>(absl::StatusCode::kDataLoss));
}

// Submits a barrier that waits, while allocation number `fault` fails. Whether
// it was submitted.
bool SubmitWithFault(int64_t fault, Device& device, hal::Fence* wait) {
  hal::QueueTicket ticket;
  ticket.wait = wait;
  const AllocationFault armed(fault);
  try {
    return device.QueueBarrier(ticket).ok();
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// An operation without an end would stay open in the trace.
TEST_F(OperationTraceTest, WhatIsNotSubmittedIsNotRecorded) {
  bool is_hit = true;
  int refused_count = 0;
  for (int64_t fault = 0; is_hit; ++fault) {
    ASSERT_TRUE(tracer_->Start({}).ok());
    const Ref<hal::Fence> wait = hal::Fence::Create();
    const bool is_submitted = SubmitWithFault(fault, *device_, wait.get());
    is_hit = AllocationFault::is_hit();
    ASSERT_TRUE(wait->Signal().ok());
    const std::vector<EventKind> kinds = KindsOf(tracer_->Collect());
    EXPECT_EQ(
        std::count(kinds.begin(), kinds.end(), EventKind::kOperationIssued),
        is_submitted ? 1 : 0);
    EXPECT_EQ(std::count(kinds.begin(), kinds.end(), EventKind::kOperationDone),
              is_submitted ? 1 : 0);
    tracer_->Stop();
    if (!is_submitted) ++refused_count;
  }
  EXPECT_GT(refused_count, 0);
}

TEST_F(OperationTraceTest, MemoryIsRecordedByItsBytes) {
  ASSERT_TRUE(tracer_->Start({}).ok());
  auto buffer = device_->QueueAlloca({}, {}, 4096);
  ASSERT_TRUE(buffer.ok());
  ASSERT_TRUE(device_->QueueFill({}, buffer->get(), 0, 4096, 0, 1).ok());
  ASSERT_TRUE(device_->QueueDealloca({}, buffer->get()).ok());
  const Recording recording = tracer_->Collect();
  EXPECT_EQ(KindsOf(recording),
            (std::vector<EventKind>{
                EventKind::kOperationIssued, EventKind::kAlloca,
                EventKind::kOperationDone, EventKind::kOperationIssued,
                EventKind::kTransfer, EventKind::kOperationDone,
                EventKind::kOperationIssued, EventKind::kDealloca,
                EventKind::kOperationDone}));
  EXPECT_EQ(recording.events[1].value, 4096);
  EXPECT_EQ(recording.events[4].value, 4096);
  EXPECT_EQ(recording.events[7].id, recording.events[1].id);
}

}  // namespace
}  // namespace takt::cpu
