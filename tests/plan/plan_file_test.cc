#include "plan/plan_file.h"

#include <random>

#include "absl/strings/str_cat.h"
#include "flatbuffers/flatbuffers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plan/plan_file_generated.h"

namespace takt::plan {
namespace {

using ::testing::HasSubstr;

Plan SmallPlan() {
  Plan plan;
  plan.name = "board";
  plan.period = 1000;
  plan.topology_hash = "t";
  plan.profile_hash = "p";
  plan.lower_bound = 7;
  plan.modules = {{"vision", "abc"}, {"policy", ""}};
  plan.resources = {{"core 0", PlannedResource::Kind::kCore, 0},
                    {"npu", PlannedResource::Kind::kNpu, 1}};
  plan.jobs = {{"frame", 3, 900, {0, 1}}, {"act", 0, kNoDeadline, {}}};
  PlannedOperation first;
  first.name = "first";
  first.kernel = "matmul_4x4";
  first.start = 3;
  first.duration = 40;
  first.resources = {1};
  first.alternatives = {{PlannedResource::Kind::kNpu, 1, 1, 40}};
  PlannedOperation second = first;
  second.name = "second";
  second.job = 1;
  second.module = 1;
  second.ordinal = 5;
  second.start = 43;
  second.resources = {0, 1};
  second.after = {0};
  plan.operations = {first, second};
  return plan;
}

absl::Span<const uint8_t> Bytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string ErrorOf(const std::string& bytes) {
  const absl::StatusOr<Plan> plan = DecodePlan(Bytes(bytes));
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(plan.status().message());
}

TEST(PlanFileTest, RoundTrips) {
  const Plan plan = SmallPlan();
  const absl::StatusOr<Plan> read = DecodePlan(Bytes(EncodePlan(plan)));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->name, "board");
  EXPECT_EQ(read->period, 1000);
  EXPECT_EQ(read->topology_hash, "t");
  EXPECT_EQ(read->profile_hash, "p");
  EXPECT_EQ(read->lower_bound, 7);
  EXPECT_EQ(read->modules[0].content_hash, "abc");
  EXPECT_EQ(read->modules[1].name, "policy");
  EXPECT_EQ(read->resources[1].kind, PlannedResource::Kind::kNpu);
  EXPECT_EQ(read->resources[1].cluster, 1u);
  EXPECT_EQ(read->jobs[0].release, 3);
  EXPECT_EQ(read->jobs[0].deadline, 900);
  EXPECT_EQ(read->jobs[0].allowed, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(read->jobs[1].deadline, kNoDeadline);
  const PlannedOperation& second = read->operations[1];
  EXPECT_EQ(second.name, "second");
  EXPECT_EQ(second.kernel, "matmul_4x4");
  EXPECT_EQ(second.job, 1u);
  EXPECT_EQ(second.module, 1u);
  EXPECT_EQ(second.ordinal, 5u);
  EXPECT_EQ(second.start, 43);
  EXPECT_EQ(second.duration, 40);
  EXPECT_EQ(second.resources, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(second.after, (std::vector<uint32_t>{0}));
  ASSERT_EQ(second.alternatives.size(), 1u);
  EXPECT_EQ(second.alternatives[0].kind, PlannedResource::Kind::kNpu);
  EXPECT_EQ(second.alternatives[0].duration, 40);
  EXPECT_EQ(EncodePlan(*read), EncodePlan(plan));
}

TEST(PlanFileTest, RejectsOtherFiles) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("no plan file"));
  EXPECT_THAT(ErrorOf("hello, world, hello"), HasSubstr("no plan file"));
}

TEST(PlanFileTest, NamesTheOtherVersion) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(wire::CreatePlan(builder, 9), wire::PlanIdentifier());
  EXPECT_EQ(ErrorOf(std::string(
                reinterpret_cast<const char*>(builder.GetBufferPointer()),
                builder.GetSize())),
            "plan: the file is of version 9; version 1 is read here");
}

TEST(PlanFileTest, RejectsEveryTruncation) {
  const std::string bytes = EncodePlan(SmallPlan());
  for (size_t length = 0; length < bytes.size(); ++length) {
    const absl::StatusOr<Plan> plan =
        DecodePlan(Bytes(bytes.substr(0, length)));
    // Only padding may be missing; whether there is some at the end depends on
    // the compiler.
    EXPECT_TRUE(!plan.ok() || EncodePlan(*plan) == bytes) << length;
  }
}

// An accepted file has a well-formed plan.
TEST(PlanFileTest, SurvivesFlippedBits) {
  std::mt19937 random(7);
  const std::string bytes = EncodePlan(SmallPlan());
  int refused = 0;
  for (int i = 0; i < 50000; ++i) {
    std::string damaged = bytes;
    for (uint32_t flips = 1 + random() % 3; flips > 0; --flips) {
      damaged[random() % damaged.size()] ^=
          static_cast<char>(1 << random() % 8);
    }
    const absl::StatusOr<Plan> plan = DecodePlan(Bytes(damaged));
    refused += !plan.ok();
    if (plan.ok()) {
      ASSERT_TRUE(ValidatePlan(*plan).ok());
      FindPlanFaults(*plan);
    }
  }
  EXPECT_GT(refused, 10000);
}

// One string that many operations refer to would fill the memory.
TEST(PlanFileTest, RejectsAFileThatWouldUnfold) {
  flatbuffers::FlatBufferBuilder builder;
  const auto text = builder.CreateString(std::string(1 << 16, 'x'));
  std::vector<flatbuffers::Offset<wire::Operation>> operations;
  for (int i = 0; i < 1000; ++i) {
    operations.push_back(wire::CreateOperation(
        builder, builder.CreateString(absl::StrCat(i)), 0, 0, text));
  }
  const auto list = builder.CreateVector(operations);
  wire::PlanBuilder plan(builder);
  plan.add_version(kPlanFileVersion);
  plan.add_operations(list);
  builder.Finish(plan.Finish(), wire::PlanIdentifier());
  EXPECT_THAT(ErrorOf(std::string(
                  reinterpret_cast<const char*>(builder.GetBufferPointer()),
                  builder.GetSize())),
              HasSubstr("more than once"));
}

}  // namespace
}  // namespace takt::plan
