// Lists of operations on units that fail: what comes out is what the CPU alone
// gives, whatever has gone wrong.
#include "npu/operation_runner.h"

#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "npu/operation.h"
#include "npu/reference.h"
#include "npu/sim_driver.h"
#include "tests/support/allocation_faults.h"
#include "tests/support/bounded_wait.h"

namespace takt::npu {
namespace {

Ref<NpuUnit> OpenSimUnit(const std::string& profile,
                         const NpuFaultPolicy& policy = {}) {
  NpuUnit::Options options;
  options.driver_options = profile;
  options.policy = policy;
  options.time = std::make_shared<VirtualTime>();
  auto unit = NpuUnit::Open(SimDriver(), options);
  EXPECT_TRUE(unit.ok()) << unit.status();
  return *std::move(unit);
}

// Random fills, copies and products within one memory, so that later ones read
// and overwrite what earlier ones used.
std::vector<takt_npu_operation_t> RandomOperations(Random& random,
                                                   std::vector<uint32_t>& words,
                                                   uint32_t count) {
  std::vector<takt_npu_operation_t> operations;
  const auto range = [&](uint32_t length) {
    const uint32_t at =
        random.Below(static_cast<uint32_t>(words.size()) - length + 1);
    return takt_npu_range_t{reinterpret_cast<uint8_t*>(words.data() + at), 0, 0,
                            length * 4};
  };
  for (uint32_t i = 0; i < count; ++i) {
    switch (random.Below(3)) {
      case 0: {
        auto operation = MakeOperation(TAKT_NPU_KIND_FILL);
        operation.fill.out = range(8);
        operation.fill.size0 = 2;
        operation.fill.size1 = 3;  // Leaves one word of each row alone.
        operation.fill.stride0 = 4;
        operation.fill.stride1 = 1;
        operation.fill.pattern = static_cast<uint32_t>(random.Next());
        operations.push_back(operation);
        break;
      }
      case 1: {
        auto operation = MakeOperation(TAKT_NPU_KIND_COPY);
        operation.copy.in = range(8);
        do {  // Copies onto themselves depend on the order of elements.
          operation.copy.out = range(8);
        } while (std::abs(operation.copy.out.data - operation.copy.in.data) <
                 32);
        operation.copy.size0 = 1;
        operation.copy.size1 = 8;
        operation.copy.in_stride1 = 1;
        operation.copy.out_stride1 = 1;
        operation.copy.element_bytes = 4;
        operations.push_back(operation);
        break;
      }
      default: {
        auto operation = MakeOperation(TAKT_NPU_KIND_MMT4D);
        takt_npu_mmt4d_t& p = operation.mmt4d;
        p.type = TAKT_NPU_TYPE_S8_S8_S32;
        p.m = p.n = 1;
        p.k = 2;
        p.m0 = p.n0 = 2;
        p.k0 = 4;
        p.left = range(4);
        p.right = range(4);
        do {
          p.out = range(4);
        } while (std::abs(p.out.data - p.left.data) < 16 ||
                 std::abs(p.out.data - p.right.data) < 16);
        p.accumulate = random.Below(2);
        operations.push_back(operation);
        break;
      }
    }
  }
  return operations;
}

class OperationRunnerTest : public testing::TestWithParam<const char*> {};

TEST_P(OperationRunnerTest, FailuresLeaveNoTrace) {
  Random random(21);
  uint64_t failed_count = 0;
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    NpuFaultPolicy policy;
    policy.retry_max = seed % 3;
    Ref<NpuUnit> unit =
        OpenSimUnit("{\"faults\": {\"seed\": " + std::to_string(seed) + ", " +
                        GetParam() + "}}",
                    policy);
    std::vector<uint32_t> words(48);
    for (uint32_t& word : words) word = static_cast<uint32_t>(random.Next());
    const std::vector<uint32_t> before = words;
    const auto operations = RandomOperations(random, words, 6);
    const Reference reference;
    for (const auto& each : operations) {
      ASSERT_EQ(reference.Run(each, HostAddressSpace()), TAKT_NPU_RESULT_OK);
    }
    const std::vector<uint32_t> expected = words;
    words = before;
    ASSERT_TRUE(RunOperations(*unit, operations, NpuRequest()).ok());
    ASSERT_EQ(words, expected) << "seed " << seed;
    failed_count += unit->statistics().error_count;
  }
  EXPECT_GT(failed_count, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Faults, OperationRunnerTest,
    testing::Values(R"("error": 0.6)", R"("time_out": 0.5)", R"("lost": 0.5)",
                    R"("late": 0.5)", R"("lost": 0.5, "reset_failures": 2)"));

TEST(OperationRunnerTest, OthersThanTheUnitsAreDoneInBetween) {
  // It has no fills and copies.
  Ref<NpuUnit> unit = OpenSimUnit(R"({"packs": false})");
  Random random(5);
  std::vector<uint32_t> words(48, 1);
  const auto operations = RandomOperations(random, words, 30);
  uint64_t product_count = 0;
  for (const auto& each : operations) {
    product_count += each.kind == TAKT_NPU_KIND_MMT4D;
  }
  ASSERT_TRUE(RunOperations(*unit, operations, NpuRequest()).ok());
  EXPECT_EQ(unit->statistics().operation_count, product_count);
  EXPECT_EQ(unit->statistics().unsupported_count,
            operations.size() - product_count);
  EXPECT_LE(unit->statistics().batch_count, product_count);
}

// A product that found no memory leaves the unit, and the unit's memory, to the
// next one.
TEST(OperationRunnerTest, AUnitOfOwnMemoryIsLeftWithoutMemory) {
  const std::vector<uint8_t> left(16, 2), right(16, 3);
  bool is_hit = true;
  for (int64_t first = 0; is_hit; ++first) {
    SCOPED_TRACE(first);
    Ref<NpuUnit> unit =
        OpenSimUnit(R"({"memory": "own", "memory_bytes": 4096})");
    std::vector<int32_t> out(4);
    const auto bytes = [](const auto& values) {
      return const_cast<uint8_t*>(
          reinterpret_cast<const uint8_t*>(values.data()));
    };
    takt_npu_operation_t operation = MakeOperation(TAKT_NPU_KIND_MMT4D);
    takt_npu_mmt4d_t& p = operation.mmt4d;
    p.type = TAKT_NPU_TYPE_S8_S8_S32;
    p.m = p.n = 1;
    p.k = 2;
    p.m0 = p.n0 = 2;
    p.k0 = 4;
    p.left = {bytes(left), 0, 0, left.size()};
    p.right = {bytes(right), 0, 0, right.size()};
    p.out = {bytes(out), 0, 0, 16};
    try {
      const AllocationFault fault(first);
      RunOperations(*unit, {&operation, 1}, NpuRequest()).IgnoreError();
    } catch (const std::bad_alloc&) {
    }
    is_hit = AllocationFault::is_hit();
    const uint64_t before = unit->statistics().operation_count;
    Flag is_done;
    std::thread next([&] {
      EXPECT_TRUE(RunOperations(*unit, {&operation, 1}, NpuRequest()).ok());
      is_done.Set();
    });
    ASSERT_TRUE(is_done.Wait()) << "the unit is not free";
    next.join();
    EXPECT_EQ(out, std::vector<int32_t>(4, 8 * 2 * 3));
    EXPECT_GT(unit->statistics().operation_count, before);
  }
}

TEST(OperationRunnerTest, TakesLooksAtTypeTileAndAlignment) {
  Ref<NpuUnit> unit = OpenSimUnit(
      R"({"macs_per_cycle": {"s8": 8}, "tile_multiple": [2, 2, 4],
          "tile_max": [8, 8, 4], "alignment": 16})");
  alignas(64) uint8_t bytes[64];
  takt_npu_operation_t operation = MakeOperation(TAKT_NPU_KIND_MMT4D);
  takt_npu_mmt4d_t& p = operation.mmt4d;
  p.type = TAKT_NPU_TYPE_S8_S8_S32;
  p.m = p.n = p.k = 1;
  p.m0 = p.n0 = 2;
  p.k0 = 4;
  p.left = p.right = p.out = {bytes, 0, 0, 16};
  EXPECT_TRUE(Takes(*unit, operation));
  p.m0 = 3;
  EXPECT_FALSE(Takes(*unit, operation));
  p.m0 = 10;
  EXPECT_FALSE(Takes(*unit, operation));
  p.m0 = 2;
  p.type = TAKT_NPU_TYPE_F32;
  EXPECT_FALSE(Takes(*unit, operation));
  p.type = 77;
  EXPECT_FALSE(Takes(*unit, operation));
  p.type = TAKT_NPU_TYPE_S8_S8_S32;
  p.right.data = bytes + 8;
  EXPECT_FALSE(Takes(*unit, operation));
  operation.kind = 40;
  EXPECT_FALSE(Takes(*unit, operation));
}

}  // namespace
}  // namespace takt::npu
