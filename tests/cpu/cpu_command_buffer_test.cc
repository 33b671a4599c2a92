// What a command buffer knows once recorded; that its commands do what they
// say is the conformance suite's business.
#include "cpu/cpu_command_buffer.h"

#include <cstring>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace takt::cpu {
namespace {

class FakeCode final : public ExecutableCode {
 public:
  FakeCode() {
    Function function;
    function.name = "two_bindings";
    function.binding_count = 2;
    function.local_memory_bytes = 4096;
    SetFunctions({function});
  }
  absl::Status RunWorkgroups(size_t, const DispatchArguments&, uint32_t,
                             uint32_t, exec::Worker&) override {
    return absl::OkStatus();
  }
};

class FakeSync final : public ExecutableCode {
 public:
  FakeSync() {
    std::vector<Function> functions(2);
    for (Function& function : functions) function.binding_count = 1;
    SetFunctions(std::move(functions));
  }
  absl::Status RunWorkgroups(size_t, const DispatchArguments&, uint32_t,
                             uint32_t, exec::Worker&) override {
    return absl::OkStatus();
  }
};

class ForeignExecutable final : public hal::Executable {
 public:
  size_t function_count() const override { return 1; }
  absl::string_view function_name(size_t) const override { return "f"; }
  size_t constant_count(size_t) const override { return 0; }
  size_t binding_count(size_t) const override { return 0; }
};

class CpuCommandBufferTest : public ::testing::Test {
 protected:
  CpuCommandBufferTest()
      : blocks_(BlockPool::Create()),
        executable_(MakeRef<LoadedExecutable>(std::make_shared<FakeCode>())) {}

  Ref<CpuCommandBuffer> Make(size_t capacity, uint32_t mode = 0) {
    auto made = CpuCommandBuffer::Create(mode, capacity, nullptr, *blocks_);
    EXPECT_TRUE(made.ok()) << made.status();
    return *made;
  }
  static Ref<hal::Buffer> MakeBuffer(uint64_t length,
                                     hal::BufferUsage usage = 0xc03) {
    return hal::Buffer::Create(*hal::CreateHeapStorage(length),
                               hal::kMemoryTypeAll, usage, hal::kAccessAll);
  }
  static hal::BufferRef Slot(uint32_t slot, uint64_t offset = 0,
                             uint64_t length = hal::kWholeBuffer) {
    return {nullptr, slot, offset, length};
  }

  UniqueBlockPool blocks_;
  Ref<LoadedExecutable> executable_;
};

TEST_F(CpuCommandBufferTest, WorkgroupTotalRefusesLargeGrids) {
  EXPECT_EQ(*WorkgroupTotal({2, 3, 4}), 24u);
  EXPECT_EQ(*WorkgroupTotal({0, ~0u, 1}), 0u);
  EXPECT_EQ(*WorkgroupTotal({~0u, 1, 1}), ~0u);
  EXPECT_FALSE(WorkgroupTotal({1, 1, 65536}).ok());
  EXPECT_FALSE(WorkgroupTotal({65536, 65536, 1}).ok());
  EXPECT_FALSE(WorkgroupTotal({1 << 20, 1 << 10, 4}).ok());
}

TEST_F(CpuCommandBufferTest, GroupsCommandsByBarrier) {
  Ref<CpuCommandBuffer> commands = Make(2);
  ASSERT_TRUE(commands->ExecutionBarrier().ok());
  ASSERT_TRUE(commands->FillBuffer(Slot(0, 0, 4), 0, 4).ok());
  ASSERT_TRUE(
      commands
          ->Dispatch(executable_.get(), 0, {1, 1, 1}, {}, {Slot(0), Slot(1)})
          .ok());
  ASSERT_TRUE(commands->ExecutionBarrier().ok());
  ASSERT_TRUE(commands->ExecutionBarrier().ok());
  ASSERT_TRUE(commands->FillBuffer(Slot(0, 4, 4), 0, 4).ok());
  ASSERT_TRUE(commands->ExecutionBarrier().ok());
  ASSERT_TRUE(commands->Finalize().ok());
  const Region* first = commands->first_region();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->command_count, 2u);
  EXPECT_EQ(first->binding_count, 2u);
  ASSERT_NE(first->next, nullptr);
  EXPECT_EQ(first->next->command_count, 1u);
  EXPECT_EQ(first->next->next, nullptr);
  EXPECT_EQ(commands->command_count_max(), 2u);
  EXPECT_EQ(commands->binding_count_max(), 2u);
  EXPECT_EQ(commands->local_memory_bytes(), 4096u);
}

std::vector<uint32_t> CommandCounts(const CpuCommandBuffer& commands) {
  std::vector<uint32_t> counts;
  for (const Region* each = commands.first_region(); each != nullptr;
       each = each->next) {
    counts.push_back(each->command_count);
  }
  return counts;
}

// A compiler that leaves out the barrier before a copy relies on runtimes that
// begin commands in their order.
TEST_F(CpuCommandBufferTest, ACopyWaitsForWhatWritesItsSource) {
  struct Case {
    hal::BufferRef written, bound, source;
    std::vector<uint32_t> counts;
  };
  for (const Case& each : std::vector<Case>{
           {Slot(0, 0, 8), Slot(1), Slot(0, 8, 8), {3}},
           {Slot(0, 0, 8), Slot(1), Slot(0, 4, 8), {2, 1}},
           {Slot(0, 8, 8), Slot(1), Slot(0, 0, 8), {3}},
           {Slot(0, 8, 8), Slot(1), Slot(0, 0, 12), {2, 1}},
           {Slot(2, 8, 8), Slot(0, 64, 64), Slot(0, 0, 64), {3}},
           {Slot(2, 8, 8), Slot(0), Slot(0, 128, 8), {2, 1}},
           {Slot(2, 8, 8), Slot(0, 64, 64), Slot(0, 64, 8), {2, 1}},
       }) {
    Ref<CpuCommandBuffer> commands = Make(4);
    ASSERT_TRUE(commands->FillBuffer(each.written, 0, 4).ok());
    ASSERT_TRUE(commands
                    ->Dispatch(executable_.get(), 0, {1, 1, 1}, {},
                               {Slot(1), each.bound})
                    .ok());
    hal::BufferRef target = Slot(3, 0, each.source.length);
    ASSERT_TRUE(commands->CopyBuffer(each.source, target).ok());
    EXPECT_EQ(CommandCounts(*commands), each.counts)
        << each.source.offset << " in " << each.source.slot;
  }
}

TEST_F(CpuCommandBufferTest, AnUpdateWritesTheSourceOfACopy) {
  Ref<CpuCommandBuffer> commands = Make(2);
  const uint8_t bytes[8] = {};
  ASSERT_TRUE(commands->UpdateBuffer(bytes, Slot(0, 16)).ok());
  ASSERT_TRUE(commands->CopyBuffer(Slot(0, 20, 4), Slot(1, 0, 4)).ok());
  ASSERT_TRUE(commands->CopyBuffer(Slot(0, 0, 16), Slot(1, 16, 16)).ok());
  ASSERT_TRUE(commands->CopyBuffer(Slot(1, 0, 4), Slot(0, 0, 4)).ok());
  EXPECT_EQ(CommandCounts(*commands), (std::vector<uint32_t>{1, 2, 1}));
}

TEST_F(CpuCommandBufferTest, ACopyBehindManyCommandsStandsApart) {
  Ref<CpuCommandBuffer> commands = Make(2);
  for (uint64_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(commands->FillBuffer(Slot(0, 4 * i, 4), 0, 4).ok());
  }
  for (uint64_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(
        commands->CopyBuffer(Slot(1, 4 * i, 4), Slot(0, 4 * i, 4)).ok());
  }
  EXPECT_EQ(CommandCounts(*commands), (std::vector<uint32_t>{100, 65, 35}));
}

TEST_F(CpuCommandBufferTest, KeepsWhatItNames) {
  Ref<hal::Buffer> buffer = MakeBuffer(64);
  hal::Storage* storage = buffer->storage();
  storage->Retain();
  Ref<CpuCommandBuffer> commands = Make(0);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(commands
                    ->Dispatch(executable_.get(), 0, {1, 1, 1}, {},
                               {{buffer.get(), 0, 0, 64},
                                {buffer.get(), 0, 0, hal::kWholeBuffer}})
                    .ok());
  }
  EXPECT_EQ(commands->base_count(), 1u);
  buffer.reset();
  EXPECT_EQ(storage->reference_count(), 2);
  EXPECT_EQ(executable_->reference_count(), 2);
  commands.reset();
  EXPECT_EQ(storage->reference_count(), 1);
  EXPECT_EQ(executable_->reference_count(), 1);
  storage->Release();
}

TEST_F(CpuCommandBufferTest, ChecksSlotsByWhatTheCommandsUse) {
  Ref<CpuCommandBuffer> commands = Make(3);
  ASSERT_TRUE(commands->FillBuffer(Slot(0, 8, 24), 0, 4).ok());
  ASSERT_TRUE(commands->CopyBuffer(Slot(1, 0, 16), Slot(0, 32, 16)).ok());
  ASSERT_TRUE(commands->Finalize().ok());
  Ref<hal::Buffer> large = MakeBuffer(48), small = MakeBuffer(16);
  const auto code = [&](std::vector<hal::Binding> bindings) {
    return commands->CheckBindings(bindings).code();
  };
  const hal::Binding a{large.get(), 0, hal::kWholeBuffer};
  const hal::Binding b{small.get(), 0, hal::kWholeBuffer};
  EXPECT_EQ(code({a, b, {}}), absl::StatusCode::kOk);
  EXPECT_EQ(code({a, b, {}, {}}), absl::StatusCode::kOk);
  EXPECT_EQ(code({a, b}), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code({b, b, {}}), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code({a, {small.get(), 4, hal::kWholeBuffer}, {}}),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code({{large.get(), 0, 47}, b, {}}), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code({{large.get(), ~uint64_t{0}, 48}, b, {}}),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code({{}, b, {}}), absl::StatusCode::kInvalidArgument);
}

// No usage, no access and no alignment is needed.
TEST_F(CpuCommandBufferTest, FlushesStandAloneBetweenTheirNeighbours) {
  auto made = CpuCommandBuffer::Create(
      0, 1, nullptr, *blocks_,
      MakeRef<LoadedExecutable>(std::make_shared<FakeSync>()));
  ASSERT_TRUE(made.ok()) << made.status();
  CpuCommandBuffer& commands = **made;
  const Ref<hal::Buffer> buffer =
      hal::Buffer::Create(*hal::CreateHeapStorage(64), hal::kMemoryTypeAll,
                          /*usage=*/0x1, hal::kAccessWrite);
  ASSERT_TRUE(commands.FillBuffer(Slot(0, 0, 4), 0, 4).ok());
  ASSERT_TRUE(commands.FlushBuffer({buffer.get(), 0, 3, 5}).ok());
  ASSERT_TRUE(commands.InvalidateBuffer(Slot(0, 60, 4)).ok());
  ASSERT_TRUE(commands.FillBuffer(Slot(0, 0, 4), 1, 4).ok());
  ASSERT_TRUE(commands.Finalize().ok());
  const Region* region = commands.first_region();
  std::vector<const Command*> found;
  for (; region != nullptr; region = region->next) {
    ASSERT_EQ(region->command_count, 1u);
    found.push_back(region->first);
  }
  ASSERT_EQ(found.size(), 4u);
  ASSERT_EQ(found[1]->kind, Command::Kind::kDispatch);
  ASSERT_EQ(found[2]->kind, Command::Kind::kDispatch);
  const auto& flush = static_cast<const DispatchCommand&>(*found[1]);
  const auto& invalidate = static_cast<const DispatchCommand&>(*found[2]);
  EXPECT_EQ(flush.function, CpuCommandBuffer::kFlushFunction);
  EXPECT_EQ(flush.bindings[0].offset, 3u);
  EXPECT_EQ(flush.bindings[0].length, 5u);
  EXPECT_EQ(invalidate.function, CpuCommandBuffer::kInvalidateFunction);
  EXPECT_EQ(invalidate.bindings[0].base, 0u);
  EXPECT_EQ(invalidate.bindings[0].offset, 60u);
}

TEST_F(CpuCommandBufferTest, FlushesOfCoherentMemoryAreOnlyChecked) {
  const Ref<hal::Buffer> buffer = MakeBuffer(64);
  Ref<CpuCommandBuffer> commands = Make(1);
  EXPECT_TRUE(commands->FlushBuffer({buffer.get(), 0, 60, 4}).ok());
  EXPECT_TRUE(
      commands->InvalidateBuffer({buffer.get(), 0, 64, hal::kWholeBuffer})
          .ok());
  EXPECT_EQ(commands->FlushBuffer({buffer.get(), 0, 60, 5}).code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(commands->InvalidateBuffer({buffer.get(), 0, ~0ull - 1, 4}).code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(commands->FlushBuffer(Slot(1, 0, 4)).code(),
            absl::StatusCode::kOutOfRange);
  ASSERT_TRUE(commands->FlushBuffer(Slot(0, 60, 8)).ok());
  ASSERT_TRUE(commands->Finalize().ok());
  EXPECT_EQ(commands->FlushBuffer(Slot(0, 0, 4)).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(commands->first_region(), nullptr);
  const hal::Binding binding = {buffer.get(), 0, 64};
  EXPECT_EQ(commands->CheckBindings({&binding, 1}).code(),
            absl::StatusCode::kOutOfRange);
}

TEST_F(CpuCommandBufferTest, RefusesRangesThatOverflow) {
  Ref<CpuCommandBuffer> commands = Make(1);
  EXPECT_EQ(commands->FillBuffer(Slot(0, ~uint64_t{0} - 3, 8), 0, 4).code(),
            absl::StatusCode::kOutOfRange);
}

TEST_F(CpuCommandBufferTest, RefusesUsageWithoutDispatch) {
  Ref<CpuCommandBuffer> commands = Make(2);
  Ref<hal::Buffer> transfer_only = MakeBuffer(64, 3);
  EXPECT_EQ(commands
                ->Dispatch(executable_.get(), 0, {1, 1, 1}, {},
                           {{transfer_only.get(), 0, 0, 4}, Slot(0)})
                .code(),
            absl::StatusCode::kPermissionDenied);
  ASSERT_TRUE(
      commands
          ->Dispatch(executable_.get(), 0, {1, 1, 1}, {}, {Slot(0), Slot(1)})
          .ok());
  ASSERT_TRUE(commands->Finalize().ok());
  const hal::Binding binding{transfer_only.get(), 0, 64};
  EXPECT_EQ(commands->CheckBindings({binding, binding}).code(),
            absl::StatusCode::kPermissionDenied);
}

TEST_F(CpuCommandBufferTest, RefusesExecutablesOfOtherDevices) {
  Ref<CpuCommandBuffer> commands = Make(0);
  auto foreign = MakeRef<ForeignExecutable>();
  EXPECT_EQ(commands->Dispatch(foreign.get(), 0, {1, 1, 1}, {}, {}).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(CpuCommandBufferTest, PinsAllBasesOrNone) {
  Ref<CpuCommandBuffer> commands = Make(2);
  Ref<hal::Buffer> direct = MakeBuffer(64);
  ASSERT_TRUE(commands->FillBuffer({direct.get(), 0, 0, 4}, 0, 4).ok());
  ASSERT_TRUE(commands->FillBuffer(Slot(0, 0, 4), 0, 4).ok());
  ASSERT_TRUE(commands->Finalize().ok());
  Ref<hal::Buffer> bound = MakeBuffer(128);
  const hal::Binding binding{bound.get(), 64, 32};
  std::vector<Base> bases(commands->base_count());
  ASSERT_EQ(bases.size(), 3u);
  ASSERT_TRUE(commands->PinBases({binding, {}}, absl::MakeSpan(bases)).ok());
  EXPECT_EQ(bases[0].data, bound->data() + 64);
  EXPECT_EQ(bases[0].length, 32u);
  EXPECT_EQ(bases[1].data, nullptr);
  EXPECT_EQ(bases[2].data, direct->data());
  bound->storage()->Discard();
  std::memset(bases[0].data, 1, 32);  // Still there.
  CpuCommandBuffer::UnpinBases(absl::MakeSpan(bases));
  EXPECT_EQ(commands->PinBases({binding, {}}, absl::MakeSpan(bases)).code(),
            absl::StatusCode::kFailedPrecondition);
  direct->storage()->Discard();
  Ref<hal::Buffer> other = MakeBuffer(128);
  EXPECT_EQ(
      commands->PinBases({{other.get(), 0, 128}, {}}, absl::MakeSpan(bases))
          .code(),
      absl::StatusCode::kFailedPrecondition);
  other->storage()->Discard();
  EXPECT_EQ(other->storage()->Pin(), nullptr);
}

TEST_F(CpuCommandBufferTest, CloneIsTheSameUnlessItNamesMutableBuffers) {
  CloneMap clones;
  const auto clone = [&](const Ref<CpuCommandBuffer>& commands) {
    return Ref<Object>::Adopt(
        hal::CommandBuffer::kType.clone(*commands, clones));
  };
  Ref<CpuCommandBuffer> indirect = Make(1);
  ASSERT_TRUE(indirect->FillBuffer(Slot(0, 0, 4), 0, 4).ok());
  EXPECT_EQ(clone(indirect), nullptr);  // Still records.
  ASSERT_TRUE(indirect->Finalize().ok());
  EXPECT_EQ(clone(indirect).get(), indirect.get());

  Ref<hal::Buffer> constant = MakeBuffer(64, 0xc03 | hal::kUsageImmutable);
  Ref<CpuCommandBuffer> reads_constant = Make(1);
  ASSERT_TRUE(
      reads_constant->CopyBuffer({constant.get(), 0, 0, 4}, Slot(0, 0, 4))
          .ok());
  ASSERT_TRUE(reads_constant->Finalize().ok());
  EXPECT_EQ(clone(reads_constant).get(), reads_constant.get());

  Ref<hal::Buffer> variable = MakeBuffer(64);
  Ref<CpuCommandBuffer> direct = Make(0);
  ASSERT_TRUE(direct->FillBuffer({variable.get(), 0, 0, 4}, 0, 4).ok());
  ASSERT_TRUE(direct->Finalize().ok());
  EXPECT_EQ(clone(direct), nullptr);
  Ref<CpuCommandBuffer> one_shot = Make(0, hal::kCommandBufferOneShot);
  ASSERT_TRUE(one_shot->Finalize().ok());
  EXPECT_EQ(clone(one_shot), nullptr);
}

}  // namespace
}  // namespace takt::cpu
