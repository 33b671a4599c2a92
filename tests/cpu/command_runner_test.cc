#include "cpu/command_runner.h"

#include <cstring>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace takt::cpu {
namespace {

constexpr int64_t kUnknown = std::numeric_limits<int64_t>::max();

class NoCode final : public ExecutableCode {
 public:
  NoCode() { SetFunctions({Function(), Function()}); }
  absl::Status RunWorkgroups(size_t, const DispatchArguments&, uint32_t begin,
                             uint32_t end, exec::Worker&) override {
    run_count += end - begin;
    return absl::OkStatus();
  }
  uint64_t run_count = 0;
};

TEST(CommandRunnerTest, FillsTheGivenRange) {
  uint8_t bytes[14];
  const auto fill = [&](uint32_t pattern, uint32_t pattern_length,
                        uint64_t length) {
    std::memset(bytes, 0xee, sizeof(bytes));
    ResolvedTransfer transfer;
    transfer.target = bytes;
    transfer.length = length;
    transfer.pattern = pattern;
    transfer.pattern_length = pattern_length;
    EXPECT_TRUE(Check(transfer).ok());
    transfer.Run();
    return std::vector<uint8_t>(bytes, bytes + length + 1);
  };
  using Bytes = std::vector<uint8_t>;
  EXPECT_EQ(fill(0x11223344, 1, 3), (Bytes{0x44, 0x44, 0x44, 0xee}));
  EXPECT_EQ(fill(0x11223344, 2, 4), (Bytes{0x44, 0x33, 0x44, 0x33, 0xee}));
  EXPECT_EQ(fill(0x99994444, 2, 4), (Bytes{0x44, 0x44, 0x44, 0x44, 0xee}));
  EXPECT_EQ(fill(0x11223344, 4, 8),
            (Bytes{0x44, 0x33, 0x22, 0x11, 0x44, 0x33, 0x22, 0x11, 0xee}));
  EXPECT_EQ(fill(0x55555555, 4, 4), (Bytes{0x55, 0x55, 0x55, 0x55, 0xee}));
  EXPECT_EQ(fill(0, 4, 0), (Bytes{0xee}));
}

TEST(CommandRunnerTest, FillsLongRanges) {
  for (const uint32_t pattern_length : {2u, 4u}) {
    for (const uint64_t length : {60u, 4096u, 4100u, 12300u, 20000u}) {
      std::vector<uint8_t> bytes(length + 1, 0xee);
      ResolvedTransfer transfer;
      transfer.target = bytes.data();
      transfer.length = length;
      transfer.pattern = 0x11223344;
      transfer.pattern_length = pattern_length;
      ASSERT_TRUE(Check(transfer).ok());
      transfer.Run();
      const uint8_t pattern[] = {0x44, 0x33, 0x22, 0x11};
      for (uint64_t i = 0; i < length; ++i) {
        ASSERT_EQ(bytes[i], pattern[i % pattern_length])
            << "byte " << i << " of " << length;
      }
      EXPECT_EQ(bytes[length], 0xee);
    }
  }
}

TEST(CommandRunnerTest, TilesOfATransferCoverItOnce) {
  const uint64_t length = 2 * ResolvedTransfer::kTileBytes + 4;
  std::vector<uint8_t> source(length), target(length + 1, 0xee);
  for (uint64_t i = 0; i < length; ++i)
    source[i] = static_cast<uint8_t>(i % 251);
  ResolvedTransfer transfer;
  transfer.kind = Command::Kind::kCopy;
  transfer.source = source.data();
  transfer.target = target.data();
  transfer.length = length;
  ASSERT_EQ(transfer.tile_count(), 3u);
  transfer.RunTiles(2, 3);
  EXPECT_EQ(target[0], 0xee);
  EXPECT_EQ(target[length - 1], source[length - 1]);
  transfer.RunTiles(0, 2);
  EXPECT_TRUE(std::equal(source.begin(), source.end(), target.begin()));
  EXPECT_EQ(target[length], 0xee);
}

TEST(CommandRunnerTest, RefusesOverlapAndWhatThePatternDoesNotDivide) {
  uint8_t bytes[64] = {};
  ResolvedTransfer transfer;
  transfer.kind = Command::Kind::kCopy;
  transfer.source = bytes;
  transfer.target = bytes + 8;
  transfer.length = 9;
  EXPECT_FALSE(Check(transfer).ok());
  std::swap(const_cast<uint8_t*&>(transfer.source), transfer.target);
  EXPECT_FALSE(Check(transfer).ok());
  transfer.length = 8;
  EXPECT_TRUE(Check(transfer).ok());
  transfer.kind = Command::Kind::kFill;
  transfer.pattern_length = 4;
  transfer.length = 6;
  EXPECT_FALSE(Check(transfer).ok());
}

TEST(CommandRunnerTest, ResolveStaysWithinItsBase) {
  uint8_t bytes[64] = {};
  const Base base{bytes, 64, nullptr};
  TransferCommand command;
  command.kind = Command::Kind::kFill;
  command.pattern_length = 4;
  const auto resolve = [&](uint64_t offset, uint64_t length) {
    command.target = {0, offset, length};
    ResolvedTransfer transfer;
    absl::Status status = Resolve(command, {&base, 1}, &transfer);
    return status.ok() ? static_cast<int64_t>(transfer.length) : -1;
  };
  EXPECT_EQ(resolve(0, 64), 64);
  EXPECT_EQ(resolve(16, hal::kWholeBuffer), 48);
  EXPECT_EQ(resolve(64, hal::kWholeBuffer), 0);
  EXPECT_EQ(resolve(0, 68), -1);
  EXPECT_EQ(resolve(65, hal::kWholeBuffer), -1);
  EXPECT_EQ(resolve(~uint64_t{0} - 3, 8), -1);
}

TEST(CommandRunnerTest, EstimatesOnceEverythingIsMeasured) {
  auto code = std::make_shared<NoCode>();
  const LoadedExecutable executable(code);
  DispatchCommand a, b;
  a.kind = b.kind = Command::Kind::kDispatch;
  a.executable = b.executable = &executable;
  a.workgroup_count = {10, 2, 1};
  b.function = 1;
  b.workgroup_count = {1, 1, 1};
  Region first, second;
  first.first = first.last = &a;
  first.next = &second;
  second.first = second.last = &b;
  EXPECT_EQ(EstimateAllNs(&first, 1'000'000), kUnknown);
  a.cost().alone.Add(200, 2);
  EXPECT_EQ(EstimateNs(first, 1'000'000), 2000);
  EXPECT_EQ(EstimateAllNs(&first, 1'000'000), kUnknown);
  b.cost().alone.Add(50, 1);
  EXPECT_EQ(EstimateAllNs(&first, 1'000'000), 2050);
  EXPECT_EQ(EstimateAllNs(&first, 2049), kUnknown);
  a.is_indirect = true;
  EXPECT_EQ(EstimateAllNs(&first, 1'000'000), kUnknown);
  a.is_indirect = false;
  a.workgroup_count = {~0u, ~0u, 65535};
  EXPECT_EQ(EstimateAllNs(&first, 1'000'000), kUnknown);
}

TEST(CommandRunnerTest, EstimatesWhatThreadsCanShare) {
  auto code = std::make_shared<NoCode>();
  const LoadedExecutable executable(code);
  DispatchCommand grid, single, fellow;
  grid.kind = single.kind = fellow.kind = Command::Kind::kDispatch;
  grid.executable = single.executable = fellow.executable = &executable;
  grid.workgroup_count = {10, 2, 1};
  single.function = fellow.function = 1;
  single.workgroup_count = fellow.workgroup_count = {1, 1, 1};
  Region first, second;
  first.first = first.last = &grid;
  first.next = &second;
  second.first = second.last = &single;
  EXPECT_TRUE(HasParts(first));
  EXPECT_FALSE(HasParts(second));
  EXPECT_FALSE(HasParts(Region()));
  EXPECT_EQ(EstimateSharedNs(&first, 0, 1'000'000), 1'000'000) << "not known";
  grid.cost().alone.Add(200, 2);
  EXPECT_EQ(EstimateSharedNs(&first, 0, 1'000'000), 2000);
  single.cost().alone.Add(5'000, 1);
  EXPECT_EQ(EstimateSharedNs(&first, 0, 1'000'000), 2000);
  EXPECT_EQ(EstimateSharedNs(&first, 0, 1999), 1999);
  EXPECT_EQ(EstimateSharedNs(&first, 1999, 1'000'000), 2000);
  EXPECT_EQ(EstimateSharedNs(&first, 2000, 1'000'000), 0);
  single.next = &fellow;  // Two dispatches of one workgroup each.
  second.last = &fellow;
  EXPECT_TRUE(HasParts(second));
  EXPECT_EQ(EstimateSharedNs(&first, 2000, 1'000'000), 10'000);
  EXPECT_EQ(EstimateSharedNs(&first, 0, 1'000'000), 12'000);
}

TEST(CommandRunnerTest, RunningMeasures) {
  auto code = std::make_shared<NoCode>();
  const LoadedExecutable executable(code);
  DispatchCommand command;
  command.kind = Command::Kind::kDispatch;
  command.executable = &executable;
  command.workgroup_count = {3, 1, 1};
  Region region;
  region.first = region.last = &command;
  exec::Worker worker;
  ASSERT_TRUE(
      RunRegions(&region, nullptr, {}, exec::JobTraits(), worker, {false, {}})
          .ok());
  EXPECT_EQ(command.cost().alone.mean_ns(), 0);
  ASSERT_TRUE(
      RunRegions(&region, nullptr, {}, exec::JobTraits(), worker, {true, {}})
          .ok());
  EXPECT_GT(command.cost().alone.mean_ns(), 0);
  EXPECT_EQ(code->run_count, 6u);
}

}  // namespace
}  // namespace takt::cpu
