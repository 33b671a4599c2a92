#include "sched/profile.h"

#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sched/test_support.h"

namespace takt::sched {
namespace {

using testing::HasSubstr;

const KernelKey kFirst = {0x1122334455667788, 3, {4, 5, 6}};
const KernelKey kSecond = {0x1122334455667788, 4, {1, 1, 1}};

class ProfileTest : public testing::Test {
 protected:
  ProfileTest() {
    AddKernels(&costs_);
    for (const int64_t sample_ns : {500, 700, 600}) {
      costs_.Observe(0, 1, sample_ns);
    }
    costs_.Observe(1, 0, 9000);
    bytes_ = WriteProfile(costs_);
  }
  static void AddKernels(CostModel* costs) {
    EXPECT_TRUE(costs->Add(kFirst, {{0, 1, 100, 0}, {1, 2, 100, 0}}).ok());
    EXPECT_TRUE(costs->Add(kSecond, {{2, 1, 100, 0}}).ok());
  }
  std::string Fault(const std::string& bytes, absl::StatusCode code) {
    CostModel other(&machine_);
    AddKernels(&other);
    const std::string before = WriteProfile(other);
    const auto report = ReadProfile(bytes, &other);
    EXPECT_EQ(report.status().code(), code) << report.status();
    EXPECT_EQ(WriteProfile(other), before);  // All or nothing.
    return std::string(report.status().message());
  }

  const Machine machine_ = TwoClustersAndNpu();
  CostModel costs_{&machine_};
  std::string bytes_;
};

TEST_F(ProfileTest, ComesBackAsItWas) {
  CostModel other(&machine_);
  AddKernels(&other);
  const auto report = ReadProfile(bytes_, &other);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->applied_count, 2u);
  EXPECT_EQ(report->unknown_count, 0u);
  EXPECT_EQ(WriteProfile(other), bytes_);
  const DurationEstimate& learned = other.kernel(0).alternatives[1].duration;
  EXPECT_EQ(learned.count(), 3u);
  EXPECT_TRUE(learned.measured());
  EXPECT_FALSE(other.kernel(0).alternatives[0].duration.measured());
}

TEST_F(ProfileTest, MatchesPoolsByName) {
  Machine machine = TwoClustersAndNpu();
  std::swap(machine.pools[0], machine.pools[1]);
  machine.pools[2].feeder_pool = 1;
  CostModel other(&machine);
  ASSERT_TRUE(other.Add(kFirst, {{0, 2, 100, 0}}).ok());  // Now "little".
  const auto report = ReadProfile(bytes_, &other);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->applied_count, 1u);
  EXPECT_EQ(other.kernel(0).alternatives[0].duration.count(), 3u);
}

TEST_F(ProfileTest, OfAnotherModuleChangesNothing) {
  CostModel other(&machine_);
  KernelKey key = kFirst;
  key.module_hash ^= 1;
  ASSERT_TRUE(other.Add(key, {{1, 2, 100, 0}}).ok());
  const auto report = ReadProfile(bytes_, &other);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->unknown_count, 2u);
  EXPECT_FALSE(other.kernel(0).alternatives[0].duration.measured());
}

TEST_F(ProfileTest, RefusesEveryTruncation) {
  for (size_t size = 0; size < bytes_.size(); ++size) {
    Fault(bytes_.substr(0, size), absl::StatusCode::kDataLoss);
  }
  Fault(bytes_ + "x", absl::StatusCode::kDataLoss);
}

TEST_F(ProfileTest, RefusesEveryFlippedBit) {
  for (size_t at = 0; at < bytes_.size(); ++at) {
    std::string damaged = bytes_;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    CostModel other(&machine_);
    AddKernels(&other);
    EXPECT_FALSE(ReadProfile(damaged, &other).ok()) << at;
  }
}

// The same with the checksum of the damaged bytes.
std::string Sealed(std::string bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = 0; i + 8 < bytes.size(); ++i) {
    hash = (hash ^ static_cast<uint8_t>(bytes[i])) * 0x100000001b3;
  }
  for (size_t i = 0; i < 8; ++i) {
    bytes[bytes.size() - 8 + i] = static_cast<char>(hash >> (8 * i));
  }
  return bytes;
}

TEST_F(ProfileTest, NamesWhatIsWrong) {
  EXPECT_THAT(Fault("", absl::StatusCode::kDataLoss),
              HasSubstr("at byte 0: ends within the header"));
  EXPECT_THAT(Fault(std::string(100, 'x'), absl::StatusCode::kDataLoss),
              HasSubstr("is no profile"));
  std::string other = bytes_;
  other[8] = 3;
  EXPECT_THAT(Fault(other, absl::StatusCode::kUnimplemented),
              HasSubstr("version 3; known is 2"));
  other = bytes_;
  other[12] = 100;  // Names.
  Fault(Sealed(other), absl::StatusCode::kDataLoss);
  other = bytes_;
  other[16] = 3;  // Records.
  EXPECT_THAT(Fault(Sealed(other), absl::StatusCode::kDataLoss),
              HasSubstr("3 records in 128 bytes"));
  const size_t record = bytes_.size() - 8 - 64;
  other = bytes_;
  other[record + 24] = 9;
  EXPECT_THAT(Fault(Sealed(other), absl::StatusCode::kDataLoss),
              HasSubstr("there is no name 9"));
  other = bytes_;
  other[record + 39] = static_cast<char>(0x80);  // q50 below 0.
  EXPECT_THAT(Fault(Sealed(other), absl::StatusCode::kDataLoss),
              HasSubstr("quantiles that are none"));
  other = bytes_;
  other[record + 56] = 0;
  EXPECT_THAT(Fault(Sealed(other), absl::StatusCode::kDataLoss),
              HasSubstr("nothing was measured"));
  other = bytes_;
  other[record + 61] = 0x7f;
  EXPECT_THAT(Fault(Sealed(other), absl::StatusCode::kDataLoss),
              HasSubstr("a slowdown that is none"));
}

TEST_F(ProfileTest, KeepsWhatWasLearnedOfSlowdown) {
  costs_.slowdown(1, 0)->sensitivity_ppm = 1'700'000;
  costs_.slowdown(1, 0)->pressure_ppm = 250'000;
  std::string bytes = WriteProfile(costs_);
  CostModel other(&machine_);
  AddKernels(&other);
  ASSERT_TRUE(ReadProfile(bytes, &other).ok());
  EXPECT_EQ(other.slowdown(1, 0)->sensitivity_ppm, 1'700'000);
  EXPECT_EQ(other.slowdown(1, 0)->pressure_ppm, 250'000);
  // The first version did not have it: zeros at the end of each record.
  bytes[8] = 1;
  EXPECT_THAT(Fault(Sealed(bytes), absl::StatusCode::kDataLoss),
              HasSubstr("expected 0"));
  for (const size_t end : {bytes.size() - 8, bytes.size() - 8 - 64}) {
    bytes.replace(end - 4, 4, 4, '\0');
  }
  ASSERT_TRUE(ReadProfile(Sealed(bytes), &other).ok());
  EXPECT_EQ(other.slowdown(1, 0)->sensitivity_ppm, 1'000'000);
  EXPECT_EQ(other.slowdown(1, 0)->pressure_ppm, 0);
}

TEST_F(ProfileTest, SurvivesDamageUnderAGoodChecksum) {
  Random random(9);
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = bytes_;
    for (uint32_t n = 1 + random.Below(3); n > 0; --n) {
      damaged[8 + random.Below(static_cast<uint32_t>(damaged.size() - 16))] =
          static_cast<char>(random.Below(256));
    }
    CostModel other(&machine_);
    AddKernels(&other);
    const auto report = ReadProfile(Sealed(damaged), &other);
    if (!report.ok()) continue;
    EXPECT_LE(report->applied_count + report->unknown_count, 2u);
  }
}

}  // namespace
}  // namespace takt::sched
