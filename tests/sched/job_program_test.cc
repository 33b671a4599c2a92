#include "sched/job_program.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sched/test_support.h"

namespace takt::sched {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ProgramTest : public testing::Test {
 protected:
  ProgramTest() {
    // Kernel 0: 100, or 40 on two cores. Kernel 1: 30.
    EXPECT_TRUE(costs_.Add({1, 0, {}}, {{0, 1, 100, 0}, {0, 2, 60, 0}}).ok());
    EXPECT_TRUE(costs_.Add({1, 1, {}}, {{0, 1, 30, 0}}).ok());
  }
  std::string Fault(std::vector<ProgramOperation> operations) {
    const auto program = JobProgram::Create(operations, costs_);
    EXPECT_FALSE(program.ok());
    return std::string(program.status().message());
  }

  const Machine machine_ = Cores(4);
  CostModel costs_{&machine_};
};

TEST_F(ProgramTest, KnowsPathsAndWork) {
  // 0 -> {1, 2} -> 3
  const auto program =
      JobProgram::Create({{{0, {}}, {0, {0}}, {1, {0}}, {1, {1, 2}}}}, costs_);
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->tail_ns(3), 30);
  EXPECT_EQ(program->tail_ns(1), 90);
  EXPECT_EQ(program->tail_ns(2), 60);
  EXPECT_EQ(program->path_ns(), 150);
  EXPECT_EQ(program->work_ns(), 100 + 100 + 30 + 30);
  EXPECT_THAT(program->successors(0), ElementsAre(1, 2));
  EXPECT_THAT(program->predecessor_counts(), ElementsAre(0, 1, 1, 2));
}

TEST_F(ProgramTest, FollowsTheCosts) {
  auto program = JobProgram::Create({{{1, {}}, {1, {0}}}}, costs_);
  ASSERT_TRUE(program.ok());
  costs_.Observe(1, 0, 50);
  program->Update(costs_);
  EXPECT_EQ(program->path_ns(), 100);
  EXPECT_EQ(program->version(), costs_.version());
}

TEST_F(ProgramTest, OperationsMayComeInAnyOrder) {
  const auto program = JobProgram::Create({{{1, {1}}, {0, {}}}}, costs_);
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->path_ns(), 90);
}

TEST_F(ProgramTest, RefusesCyclesAndStrangers) {
  EXPECT_THAT(Fault({}), HasSubstr("1 to"));
  EXPECT_THAT(Fault({{2, {}}}), HasSubstr("operation 0: there is no kernel 2"));
  EXPECT_THAT(Fault({{0, {}}, {0, {5}}}),
              HasSubstr("operation 1: there is no operation 5"));
  EXPECT_THAT(Fault({{0, {}}, {0, {0, 0}}}), HasSubstr("operation 0 twice"));
  EXPECT_THAT(Fault({{0, {0}}}), HasSubstr("operation 0: waits for itself"));
  EXPECT_THAT(Fault({{0, {}}, {0, {2}}, {0, {1}}}),
              HasSubstr("operation 1: waits for itself, in a cycle"));
}

}  // namespace
}  // namespace takt::sched
