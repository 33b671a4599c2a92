#include "route/dual_recording.h"

#include "gtest/gtest.h"
#include "tests/route/test_support.h"

namespace takt::route {
namespace {

using cpu::RouteTarget;
using DualRecordingTest = RecordingTest;

TEST_F(DualRecordingTest, RouteRunsTheOtherCodeOnTheSameOperands) {
  const Ref<cpu::CpuCommandBuffer> recording = Record(*exclusive_, {1, 1, 1});
  ASSERT_EQ(PairRecordings(*recording, Record(*on_cpu_, {4, 1, 1}), nullptr),
            1u);
  const cpu::DispatchCommand& command = DispatchOf(*recording);
  ASSERT_NE(command.route(), nullptr);
  const cpu::DispatchCommand& on_cpu =
      command.route()->CommandFor(RouteTarget::kCpu);
  EXPECT_EQ(on_cpu.executable, on_cpu_.get());
  EXPECT_EQ(on_cpu.workgroup_count, (Grid{4, 1, 1}));
  EXPECT_EQ(on_cpu.bindings, command.bindings);
  EXPECT_EQ(&command.route()->CommandFor(RouteTarget::kExclusive), &command);
  EXPECT_EQ(command.executable, exclusive_.get());
  EXPECT_EQ(command.workgroup_count, (Grid{1, 1, 1}));
}

TEST_F(DualRecordingTest, DifferentListsOfCommandsAreNotPaired) {
  const Ref<cpu::CpuCommandBuffer> recording = Record(*exclusive_, {1, 1, 1});
  EXPECT_EQ(PairRecordings(*recording, Record(*on_cpu_, {1, 1, 1}, 0, false),
                           nullptr),
            0u);
  EXPECT_EQ(
      PairRecordings(*recording, Record(*on_cpu_, {1, 1, 1}, 64), nullptr), 0u);
  auto open = cpu::CpuCommandBuffer::Create(0, 2, nullptr, *blocks_);
  EXPECT_EQ(PairRecordings(*recording, *open, nullptr), 0u);
  auto larger = cpu::CpuCommandBuffer::Create(0, 3, nullptr, *blocks_);
  ASSERT_TRUE((*larger)->Finalize().ok());
  EXPECT_EQ(PairRecordings(*recording, *larger, nullptr), 0u);
  EXPECT_EQ(DispatchOf(*recording).route(), nullptr);
}

TEST_F(DualRecordingTest, CodeOfOneKindIsNotPaired) {
  const Ref<cpu::CpuCommandBuffer> exclusive = Record(*exclusive_, {1, 1, 1});
  EXPECT_EQ(PairRecordings(*exclusive, Record(*exclusive_, {1, 1, 1}), nullptr),
            0u);
  const Ref<cpu::CpuCommandBuffer> on_cpu = Record(*on_cpu_, {1, 1, 1});
  EXPECT_EQ(PairRecordings(*on_cpu, Record(*on_cpu_, {1, 1, 1}), nullptr), 0u);
  EXPECT_EQ(DispatchOf(*exclusive).route(), nullptr);
  EXPECT_EQ(DispatchOf(*on_cpu).route(), nullptr);
}

}  // namespace
}  // namespace takt::route
