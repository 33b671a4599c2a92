// Command buffers with a dispatch that two pieces of code can run.
#ifndef TAKT_TESTS_ROUTE_TEST_SUPPORT_H_
#define TAKT_TESTS_ROUTE_TEST_SUPPORT_H_

#include <array>
#include <cstdint>
#include <memory>

#include "base/block_pool.h"
#include "cpu/cpu_command_buffer.h"
#include "gtest/gtest.h"
#include "route/exclusive_code.h"

namespace takt::route {

class FakeResource final : public ExclusiveResource {
 public:
  int64_t ExpectedWaitNs(const exec::JobTraits&) const override {
    return wait_ns;
  }
  void CountChoice(bool is_taken) override { ++counts[is_taken ? 0 : 1]; }

  int64_t wait_ns = 0;
  uint32_t counts[2] = {};  // Dispatches that it took; that it did not.
};

// Code with two bindings that does nothing.
class FakeCode final : public ExclusiveCode {
 public:
  // `resource` may be null.
  FakeCode(ExclusiveResource* resource, uint64_t content_hash)
      : resource_(resource) {
    Function function;
    function.name = "f";
    function.binding_count = 2;
    SetFunctions({function});
    SetContentHash(content_hash);
  }
  ExclusiveResource* resource() const override { return resource_; }
  absl::Status RunWorkgroups(size_t, const cpu::DispatchArguments&, uint32_t,
                             uint32_t, exec::Worker&) override {
    return absl::OkStatus();
  }

 private:
  ExclusiveResource* const resource_;
};

class RecordingTest : public ::testing::Test {
 protected:
  using Grid = std::array<uint32_t, 3>;
  static constexpr uint64_t kExclusiveHash = 0x1111;
  static constexpr uint64_t kCpuHash = 0x2222;

  RecordingTest()
      : blocks_(BlockPool::Create()),
        exclusive_(MakeRef<cpu::LoadedExecutable>(
            std::make_shared<FakeCode>(&resource_, kExclusiveHash))),
        on_cpu_(MakeRef<cpu::LoadedExecutable>(
            std::make_shared<FakeCode>(nullptr, kCpuHash))) {}

  // A fill, a barrier and a dispatch.
  Ref<cpu::CpuCommandBuffer> Record(cpu::LoadedExecutable& executable,
                                    const Grid& grid, uint64_t offset = 0,
                                    bool has_fill = true) {
    auto made = cpu::CpuCommandBuffer::Create(0, 2, nullptr, *blocks_);
    EXPECT_TRUE(made.ok()) << made.status();
    cpu::CpuCommandBuffer& commands = **made;
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
  static const cpu::DispatchCommand& DispatchOf(
      const cpu::CpuCommandBuffer& commands) {
    const cpu::Region* region = commands.first_region();
    while (region->next != nullptr) region = region->next;
    return *static_cast<const cpu::DispatchCommand*>(region->first);
  }

  UniqueBlockPool blocks_;
  FakeResource resource_;
  Ref<cpu::LoadedExecutable> exclusive_;
  Ref<cpu::LoadedExecutable> on_cpu_;
};

}  // namespace takt::route

#endif  // TAKT_TESTS_ROUTE_TEST_SUPPORT_H_
