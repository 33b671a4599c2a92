// Operations through units, compared with the kernels: over random shapes, on
// units that can do all, little, or that fail.
#include "npu/npu_offload.h"

#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "npu/host_driver.h"
#include "npu/reference.h"
#include "npu/sim_driver.h"
#include "tests/npu/fault_seeds.h"

namespace takt::npu {
namespace {

using kernels::Mmt4dArguments;
using kernels::Mmt4dType;

Ref<NpuUnit> OpenUnit(const takt_npu_driver_t* driver,
                      const std::string& profile, NpuFaultPolicy policy = {}) {
  NpuUnit::Options options;
  options.driver_options = profile;
  options.policy = policy;
  options.time = std::make_shared<VirtualTime>();
  auto unit = NpuUnit::Open(driver, options);
  EXPECT_TRUE(unit.ok()) << unit.status();
  return *std::move(unit);
}

// A random product of bytes with room between the panels.
struct Product {
  explicit Product(Random& random) {
    a.m = random.Below(4) + 1;
    a.n = random.Below(4) + 1;
    a.k = random.Below(12);
    a.m0 = int64_t{1} << random.Below(4);
    a.n0 = random.Below(2) != 0 ? 8 : random.Below(8) + 1;
    a.k0 = random.Below(2) != 0 ? 4 : random.Below(4) + 1;
    a.left_stride = a.k * a.m0 * a.k0 + random.Below(3);
    a.right_stride = a.k * a.n0 * a.k0 + random.Below(3);
    a.out_stride = a.n * a.m0 * a.n0 + random.Below(3);
    a.accumulate = random.Below(2) != 0;
    left.resize(a.m * a.left_stride + 1);
    right.resize(a.n * a.right_stride + 1);
    out.resize(a.m * a.out_stride + 1);
    for (int8_t& x : left) x = static_cast<int8_t>(random.Next());
    for (int8_t& x : right) x = static_cast<int8_t>(random.Next());
    for (int32_t& x : out) x = static_cast<int32_t>(random.Next());
    expected = out;
    a.left = left.data();
    a.right = right.data();
    a.out = expected.data();
    Kernel();
    a.out = out.data();
  }
  void Kernel() {
    kernels::kMmt4dPortable.by_type[static_cast<int>(Mmt4dType::kS8S8S32)](a);
  }
  // Runs it as the vmvx module does.
  absl::Status Run(NpuOffload& offload) {
    auto is_done = offload.Mmt4d(Mmt4dType::kS8S8S32, a);
    if (!is_done.ok()) return is_done.status();
    if (!*is_done) Kernel();
    return absl::OkStatus();
  }

  Mmt4dArguments a;
  std::vector<int8_t> left;
  std::vector<int8_t> right;
  std::vector<int32_t> out;
  std::vector<int32_t> expected;
};

class OffloadUnitsTest : public testing::TestWithParam<const char*> {};

TEST_P(OffloadUnitsTest, ProductsAreThoseOfTheKernels) {
  const bool is_host = GetParam()[0] == '\0';
  Ref<NpuUnit> unit =
      OpenUnit(is_host ? HostDriver() : SimDriver(), GetParam());
  NpuOffload offload(unit);
  Random random(11);
  constexpr int kCount = 300;
  for (int i = 0; i < kCount; ++i) {
    Product product(random);
    ASSERT_TRUE(product.Run(offload).ok());
    ASSERT_EQ(product.out, product.expected) << i;
  }
  // Each of them was done once: by the unit, or by the CPU.
  const NpuStatistics s = unit->statistics();
  const uint64_t by_cpu = s.unsupported_count + s.fallback_count;
  EXPECT_LE(by_cpu, static_cast<uint64_t>(kCount));
  if (unit->in_host_memory()) {
    EXPECT_EQ(s.operation_count + by_cpu, static_cast<uint64_t>(kCount));
  } else {
    EXPECT_GT(s.bytes_to_unit, 0u);
    EXPECT_GT(s.bytes_to_host, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Units, OffloadUnitsTest,
    testing::Values("", "{}",
                    R"({"tile_max": [8, 8, 4], "tile_multiple": [4, 8, 4]})",
                    R"({"alignment": 64})", R"({"macs_per_cycle": {"f32": 8}})",
                    R"({"memory": "own"})",
                    R"({"memory": "own", "memory_bytes": 3000})",
                    R"({"memory": "own", "faults": {"bit_flip": 0.05}})",
                    R"({"faults": {"error": 0.4, "late": 0.1}})",
                    R"({"faults": {"lost": 0.3, "reset_failures": 1}})"));

// Every kind of fault, many seeds, in host memory and in the unit's own: where
// the CPU takes over, each product is right; where it must not, one that is
// said to be done is right, and one that failed has been tried as often as it
// should.
class OffloadFaultsTest
    : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(OffloadFaultsTest, NothingWrongIsGivenAsRight) {
  const auto [kind, members] = GetParam();
  uint64_t error_count = 0;
  for (int seed = 1; seed <= FaultSeedCount(); ++seed) {
    NpuFaultPolicy policy;
    policy.retry_max = static_cast<uint32_t>(seed % 3);
    policy.fall_back_to_cpu = seed % 2 != 0;
    Ref<NpuUnit> unit =
        OpenUnit(SimDriver(), FaultyProfile(seed, kind, members), policy);
    NpuOffload offload(unit);
    Random random(static_cast<uint64_t>(seed));
    uint64_t failed_count = 0;
    for (int i = 0; i < 4; ++i) {
      Product product(random);
      const absl::Status status = product.Run(offload);
      ASSERT_TRUE(status.ok() || !policy.fall_back_to_cpu) << status;
      if (status.ok()) {
        ASSERT_EQ(product.out, product.expected) << "seed " << seed;
      }
      failed_count += !status.ok();
    }
    const NpuStatistics s = unit->statistics();
    EXPECT_EQ(s.error_count, failed_count + s.fallback_count);
    error_count += s.error_count + s.retry_count + s.stray_completion_count;
  }
  EXPECT_GT(error_count, 0u);
}

INSTANTIATE_TEST_SUITE_P(HostMemory, OffloadFaultsTest,
                         testing::Combine(testing::ValuesIn(kFaultKinds),
                                          testing::Values("")));
INSTANTIATE_TEST_SUITE_P(
    OwnMemory, OffloadFaultsTest,
    testing::Combine(
        testing::ValuesIn(kFaultKinds),
        testing::Values(R"("memory": "own", "memory_bytes": 65536, )")));
INSTANTIATE_TEST_SUITE_P(
    BitFlips, OffloadFaultsTest,
    testing::Combine(
        testing::Values(R"("bit_flip": 0.05)"),
        testing::Values(R"("memory": "own", "memory_bytes": 65536, )")));

TEST(NpuOffloadTest, CountsUnsupportedOperations) {
  Ref<NpuUnit> unit =
      OpenUnit(SimDriver(), R"({"macs_per_cycle": {"f32": 8}})");
  NpuOffload offload(unit);
  Random random(1);
  Product product(random);
  auto is_done = offload.Mmt4d(Mmt4dType::kS8S8S32, product.a);
  ASSERT_TRUE(is_done.ok());
  EXPECT_FALSE(*is_done);
  EXPECT_EQ(unit->statistics().unsupported_count, 1u);
  EXPECT_EQ(unit->statistics().batch_count, 0u);
}

TEST(NpuOffloadTest, FailsWhereThePolicyWantsNoCpu) {
  NpuFaultPolicy policy;
  policy.fall_back_to_cpu = false;
  Ref<NpuUnit> unit =
      OpenUnit(SimDriver(), R"({"faults": {"error": 1}})", policy);
  NpuOffload offload(unit);
  Random random(1);
  Product product(random);
  EXPECT_EQ(product.Run(offload).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(unit->statistics().fallback_count, 0u);
}

TEST(NpuOffloadTest, PacksUnpacksFillsAndCopiesAsTheKernels) {
  Ref<NpuUnit> unit = OpenUnit(SimDriver(), "");
  NpuOffload offload(unit);
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    const int64_t rows = random.Below(20) + 1, columns = random.Below(20) + 1;
    std::vector<uint32_t> matrix(rows * columns);
    for (uint32_t& x : matrix) x = static_cast<uint32_t>(random.Next());
    const bool inner = random.Below(2) != 0, outer = random.Below(2) != 0;
    const int64_t t0 = random.Below(5) + 1, t1 = random.Below(5) + 1;
    const int64_t c0 = (rows + t0 - 1) / t0, c1 = (columns + t1 - 1) / t1;
    const int64_t sizes[4] = {outer ? c1 : c0, outer ? c0 : c1, inner ? t1 : t0,
                              inner ? t0 : t1};
    const kernels::TileGrid grid = kernels::MakeTileGrid(sizes, inner, outer);
    const int64_t tile = sizes[2] * sizes[3];
    std::vector<uint32_t> tiles(sizes[0] * sizes[1] * tile);
    auto is_packed = offload.Pack(
        4, {reinterpret_cast<uint8_t*>(matrix.data()), columns, 1},
        {rows, columns},
        {reinterpret_cast<uint8_t*>(tiles.data()), sizes[1] * tile, tile}, grid,
        /*padding=*/7);
    ASSERT_TRUE(is_packed.ok() && *is_packed) << is_packed.status();
    std::vector<uint32_t> expected(tiles.size());
    kernels::Pack(
        4, {reinterpret_cast<uint8_t*>(matrix.data()), columns, 1},
        {rows, columns},
        {reinterpret_cast<uint8_t*>(expected.data()), sizes[1] * tile, tile},
        grid, 7);
    ASSERT_EQ(tiles, expected);

    std::vector<uint32_t> back(matrix.size());
    auto is_unpacked =
        offload.Unpack({tiles.data(), sizes[1] * tile, tile}, grid,
                       {back.data(), columns, 1}, {rows, columns});
    ASSERT_TRUE(is_unpacked.ok() && *is_unpacked) << is_unpacked.status();
    ASSERT_EQ(back, matrix);

    auto is_filled =
        offload.Fill(9, {back.data(), columns, 1}, {rows, columns});
    ASSERT_TRUE(is_filled.ok() && *is_filled);
    ASSERT_EQ(back, std::vector<uint32_t>(matrix.size(), 9));

    auto is_copied = offload.Copy(
        4, {reinterpret_cast<uint8_t*>(matrix.data()), columns, 1},
        {reinterpret_cast<uint8_t*>(back.data()), columns, 1}, {rows, columns});
    ASSERT_TRUE(is_copied.ok() && *is_copied);
    ASSERT_EQ(back, matrix);
  }
}

}  // namespace
}  // namespace takt::npu
