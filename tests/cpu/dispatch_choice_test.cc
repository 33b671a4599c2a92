#include "cpu/dispatch_choice.h"

#include <memory>
#include <vector>

#include "base/block_pool.h"
#include "cpu/command_buffer.h"
#include "gtest/gtest.h"

namespace takt::cpu {
namespace {

class FakeUnit final : public ExclusiveUnit {
 public:
  int64_t ExpectedWaitNs(const exec::JobTraits&) const override {
    return wait_ns;
  }
  void CountChoice(bool is_taken) override { ++counts[is_taken ? 0 : 1]; }

  int64_t wait_ns = 0;
  uint32_t counts[2] = {};
};

// Code of two bindings, for a unit or for the CPU.
class FakeCode final : public ExecutableCode {
 public:
  explicit FakeCode(ExclusiveUnit* unit) : unit_(unit) {
    Function function;
    function.name = "f";
    function.binding_count = 2;
    SetFunctions({function});
  }
  ExclusiveUnit* exclusive_unit() const override { return unit_; }
  absl::Status RunWorkgroups(size_t, const DispatchArguments&, uint32_t,
                             uint32_t, exec::Worker&) override {
    return absl::OkStatus();
  }

 private:
  ExclusiveUnit* const unit_;
};

class DispatchChoiceTest : public ::testing::Test {
 protected:
  using Grid = std::array<uint32_t, 3>;

  DispatchChoiceTest()
      : blocks_(BlockPool::Create()),
        on_unit_(MakeRef<Executable>(std::make_shared<FakeCode>(&unit_))),
        on_cpu_(MakeRef<Executable>(std::make_shared<FakeCode>(nullptr))) {}

  // A fill, a barrier and a dispatch.
  Ref<CommandBuffer> Record(Executable& executable, const Grid& grid,
                            uint64_t offset = 0, bool has_fill = true) {
    auto made = CommandBuffer::Create(0, 2, nullptr, *blocks_);
    EXPECT_TRUE(made.ok()) << made.status();
    CommandBuffer& commands = **made;
    if (has_fill) {
      EXPECT_TRUE(commands.FillBuffer(Slot(0, 0, 4), 0, 4).ok());
      EXPECT_TRUE(commands.ExecutionBarrier().ok());
    }
    EXPECT_TRUE(
        commands.Dispatch(&executable, 0, grid, {}, {Slot(0, offset), Slot(1)})
            .ok());
    EXPECT_TRUE(commands.Finalize().ok());
    return *made;
  }
  static hal::BufferRef Slot(uint32_t slot, uint64_t offset = 0,
                             uint64_t length = 64) {
    return {nullptr, slot, offset, length};
  }
  static const DispatchCommand& DispatchOf(const CommandBuffer& commands) {
    const Region* region = commands.first_region();
    while (region->next != nullptr) region = region->next;
    return *static_cast<const DispatchCommand*>(region->first);
  }

  // The dispatch of a pair: one workgroup on the unit, four on the CPU.
  const DispatchCommand& MakePair() {
    commands_ = Record(*on_unit_, {1, 1, 1});
    EXPECT_EQ(commands_->Pair(Record(*on_cpu_, {4, 1, 1}), nullptr), 1u);
    return DispatchOf(*commands_);
  }

  UniqueBlockPool blocks_;
  FakeUnit unit_;
  Ref<Executable> on_unit_;
  Ref<Executable> on_cpu_;
  Ref<CommandBuffer> commands_;
  const exec::JobTraits traits_;
};

TEST_F(DispatchChoiceTest, ThePairHasTheOthersCodeAndGridOnItsOwnOperands) {
  const DispatchCommand& command = MakePair();
  ASSERT_NE(command.other(), nullptr);
  EXPECT_EQ(command.other()->executable, on_cpu_.get());
  EXPECT_EQ(command.other()->workgroup_count, (Grid{4, 1, 1}));
  EXPECT_EQ(command.other()->bindings, command.bindings);
  EXPECT_EQ(command.executable, on_unit_.get());
  EXPECT_EQ(command.workgroup_count, (Grid{1, 1, 1}));
}

TEST_F(DispatchChoiceTest, WhatIsNotTheSameListOfCommandsIsNoPair) {
  const Ref<CommandBuffer> commands = Record(*on_unit_, {1, 1, 1});
  EXPECT_EQ(commands->Pair(Record(*on_cpu_, {1, 1, 1}, 0, false), nullptr), 0u);
  EXPECT_EQ(commands->Pair(Record(*on_cpu_, {1, 1, 1}, 64), nullptr), 0u);
  auto open = CommandBuffer::Create(0, 2, nullptr, *blocks_);
  EXPECT_EQ(commands->Pair(*open, nullptr), 0u);
  auto larger = CommandBuffer::Create(0, 3, nullptr, *blocks_);
  ASSERT_TRUE((*larger)->Finalize().ok());
  EXPECT_EQ(commands->Pair(*larger, nullptr), 0u);
  EXPECT_EQ(DispatchOf(*commands).other(), nullptr);
}

TEST_F(DispatchChoiceTest, CodeOfOneKindIsNoPair) {
  const Ref<CommandBuffer> unit = Record(*on_unit_, {1, 1, 1});
  EXPECT_EQ(unit->Pair(Record(*on_unit_, {1, 1, 1}), nullptr), 0u);
  const Ref<CommandBuffer> cpu = Record(*on_cpu_, {1, 1, 1});
  EXPECT_EQ(cpu->Pair(Record(*on_cpu_, {1, 1, 1}), nullptr), 0u);
  EXPECT_EQ(DispatchOf(*unit).other(), nullptr);
  EXPECT_EQ(DispatchOf(*cpu).other(), nullptr);
}

TEST_F(DispatchChoiceTest, TriesEachWayFirst) {
  const DispatchCommand& command = MakePair();
  EXPECT_EQ(ChooseWay(command, traits_, 1), DispatchWay::kUnit);
  command.cost().alone.Add(1'000, 1);
  EXPECT_EQ(ChooseWay(command, traits_, 1), DispatchWay::kCpu);
  EXPECT_EQ(unit_.counts[0], 1u);
  EXPECT_EQ(unit_.counts[1], 1u);
}

TEST_F(DispatchChoiceTest, GoesWhereItIsDoneFirst) {
  const DispatchCommand& command = MakePair();
  command.cost().alone.Add(1'000, 1);
  command.other()->cost().alone.Add(4 * 1'500, 4);
  EXPECT_EQ(EstimateWays(command, 1).unit_ns, 1'000);
  EXPECT_EQ(EstimateWays(command, 1).cpu_ns, 6'000);
  EXPECT_EQ(ChooseWay(command, traits_, 1), DispatchWay::kUnit);
  // Four threads halve what remains only until each has one workgroup.
  EXPECT_EQ(EstimateWays(command, 2).cpu_ns, 3'000);
  EXPECT_EQ(EstimateWays(command, 8).cpu_ns, 1'500);
  // Others have the unit.
  unit_.wait_ns = 400;
  EXPECT_EQ(ChooseWay(command, traits_, 8), DispatchWay::kUnit);
  unit_.wait_ns = 600;
  EXPECT_EQ(ChooseWay(command, traits_, 8), DispatchWay::kCpu);
}

TEST_F(DispatchChoiceTest, TheWorseWayIsTriedAgainNowAndThen) {
  const DispatchCommand& command = MakePair();
  command.cost().alone.Add(1'000, 1);
  command.other()->cost().alone.Add(4 * 500, 4);
  for (uint32_t i = 0; i < 4 * kRetrialPeriod; ++i) {
    const bool is_retrial = i % kRetrialPeriod == kRetrialPeriod - 1;
    EXPECT_EQ(ChooseWay(command, traits_, 1),
              is_retrial ? DispatchWay::kCpu : DispatchWay::kUnit)
        << i;
  }
}

TEST_F(DispatchChoiceTest, ButNotOneThatTakesFarTooLong) {
  const DispatchCommand& command = MakePair();
  command.cost().alone.Add(1'000, 1);
  command.other()->cost().alone.Add(4 * 1'000'000, 4);
  for (uint32_t i = 0; i < 2 * kRetrialPeriod; ++i) {
    EXPECT_EQ(ChooseWay(command, traits_, 1), DispatchWay::kUnit) << i;
  }
}

TEST_F(DispatchChoiceTest, AUnitThatIsOutOfOrderIsNotWaitedFor) {
  const DispatchCommand& command = MakePair();
  command.cost().alone.Add(1'000, 1);
  command.other()->cost().alone.Add(4 * 1'500, 4);
  unit_.wait_ns = kInfiniteFuture;
  for (uint32_t i = 0; i < 2 * kRetrialPeriod; ++i) {
    EXPECT_EQ(ChooseWay(command, traits_, 1), DispatchWay::kCpu) << i;
  }
}

}  // namespace
}  // namespace takt::cpu
