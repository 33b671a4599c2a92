#include "solve/problem.h"

#include <cstdint>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt::solve {
namespace {

using ::testing::HasSubstr;

// Two operations in a chain on two machines, a third beside them.
Problem SmallProblem() {
  Problem problem;
  problem.machine_count = 2;
  problem.operations = {{{{{0}, 3}, {{1}, 4}}},
                        {{{{0}, 2}}},
                        {{{{0, 1}, 5}}, /*release=*/1, /*tail=*/2}};
  problem.precedences = {{0, 1}};
  return problem;
}

// 0 on machine 0 in [0, 3), 1 in [3, 5), 2 on both in [5, 10).
Schedule SmallSchedule() { return {{{0, 0}, {0, 3}, {0, 5}}, 12}; }

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

TEST(ProblemTest, AcceptsAValidProblem) {
  EXPECT_TRUE(SmallProblem().Validate().ok());
  EXPECT_TRUE(CheckSchedule(SmallProblem(), SmallSchedule()).ok());
}

TEST(ProblemTest, RejectsMalformedOperations) {
  const auto reason = [](void (*change)(Problem&)) {
    Problem problem = SmallProblem();
    change(problem);
    return Message(problem.Validate());
  };
  EXPECT_THAT(reason([](Problem& p) { p.operations[1].alternatives = {}; }),
              HasSubstr("operation 1: has no alternative"));
  EXPECT_THAT(
      reason([](Problem& p) { p.operations[0].alternatives[1].machines = {}; }),
      HasSubstr("operation 0: needs no machine"));
  EXPECT_THAT(reason([](Problem& p) {
                p.operations[0].alternatives[1].machines = {2};
              }),
              HasSubstr("machine 2 of 2"));
  EXPECT_THAT(reason([](Problem& p) {
                p.operations[2].alternatives[0].machines = {1, 0};
              }),
              HasSubstr("not ascending"));
  EXPECT_THAT(
      reason([](Problem& p) { p.operations[0].alternatives[0].duration = -1; }),
      HasSubstr("duration -1"));
  EXPECT_THAT(reason([](Problem& p) { p.operations[2].release = -5; }),
              HasSubstr("release -5"));
  EXPECT_THAT(reason([](Problem& p) {
                for (Operation& o : p.operations) {
                  o.alternatives[0].duration = Problem::kMaxTime;
                }
              }),
              HasSubstr("absurd"));
}

TEST(ProblemTest, RejectsBadPrecedences) {
  Problem problem = SmallProblem();
  problem.precedences = {{0, 1}, {1, 2}, {2, 0}};
  EXPECT_THAT(Message(problem.Validate()), HasSubstr("cycle"));
  problem.precedences = {{1, 1}};
  EXPECT_THAT(Message(problem.Validate()), HasSubstr("precedence 1 -> 1"));
  problem.precedences = {{0, 3}};
  EXPECT_THAT(Message(problem.Validate()), HasSubstr("precedence 0 -> 3"));
}

// The small problem with setups on machine 0, from nothing and from family 0 to
// 1, and operation 1 behind operation 0 at once.
Problem ConstrainedProblem() {
  Problem problem = SmallProblem();
  problem.operations[2].family = 1;
  problem.operations[1].due = 4;
  problem.operations[1].weight = 3;
  problem.setups = {{0, 0, 1, 4}, {0, Setup::kFirst, 0, 2}};
  problem.no_waits = {{0, 1}};
  return problem;
}

Schedule ConstrainedSolution() { return {{{0, 2}, {0, 5}, {0, 11}}, 18}; }

TEST(ProblemTest, RejectsMalformedSideConstraints) {
  EXPECT_TRUE(ConstrainedProblem().Validate().ok());
  const auto reason = [](void (*change)(Problem&)) {
    Problem problem = ConstrainedProblem();
    change(problem);
    return Message(problem.Validate());
  };
  EXPECT_THAT(reason([](Problem& p) { p.operations[1].family = 1024; }),
              HasSubstr("operation 1: family 1024"));
  EXPECT_THAT(reason([](Problem& p) { p.operations[1].due = -1; }),
              HasSubstr("operation 1: due -1, weight 3"));
  EXPECT_THAT(reason([](Problem& p) { p.operations[1].weight = -1; }),
              HasSubstr("operation 1: due 4, weight -1"));
  EXPECT_THAT(
      reason([](Problem& p) { p.operations[1].weight = int64_t{1} << 60; }),
      HasSubstr("operation 1: due 4, weight"));
  EXPECT_THAT(reason([](Problem& p) { p.setups[0].machine = 2; }),
              HasSubstr("setup on machine 2 of 2"));
  EXPECT_THAT(reason([](Problem& p) { p.setups[0].from = 1024; }),
              HasSubstr("from family 1024"));
  EXPECT_THAT(reason([](Problem& p) { p.setups[0].to = Setup::kFirst; }),
              HasSubstr("to 4294967295"));
  EXPECT_THAT(reason([](Problem& p) { p.setups[0].time = -1; }),
              HasSubstr("time -1"));
  EXPECT_THAT(reason([](Problem& p) { p.setups[1].time = Problem::kMaxTime; }),
              HasSubstr("setups add up to an absurd time"));
  EXPECT_THAT(reason([](Problem& p) {
                p.setups.push_back({0, 0, 1, 1});
              }),
              HasSubstr("from family 0 to 1 is there twice"));
  EXPECT_THAT(
      reason([](Problem& p) { p.operations[2].alternatives[0].duration = 0; }),
      HasSubstr("operation 2: takes no time on machine 0"));
}

TEST(ProblemTest, RejectsNoWaitPairsThatWouldHaveToWait) {
  const auto reason = [](void (*change)(Problem&)) {
    Problem problem = ConstrainedProblem();
    change(problem);
    return Message(problem.Validate());
  };
  EXPECT_THAT(reason([](Problem& p) {
                p.no_waits = {{0, 2}};
              }),
              HasSubstr("no-wait pair 0 -> 2 is no precedence"));
  EXPECT_THAT(reason([](Problem& p) {
                p.precedences = {{0, 1}, {0, 2}};
                p.no_waits = p.precedences;
              }),
              HasSubstr("operation 0: two may not wait for its end"));
  EXPECT_THAT(reason([](Problem& p) {
                p.precedences = {{0, 2}, {1, 2}};
                p.no_waits = p.precedences;
              }),
              HasSubstr("operation 2: may not wait for two"));
  EXPECT_THAT(reason([](Problem& p) {
                p.precedences = {{0, 1}, {0, 2}, {2, 1}};
              }),
              HasSubstr("operation 0: its chain"));
  EXPECT_THAT(reason([](Problem& p) {
                p.precedences = {{0, 1}, {1, 2}};
                p.no_waits = p.precedences;
              }),
              HasSubstr("operation 2: may not wait for a setup of 4 on "
                        "machine 0"));
}

TEST(CheckScheduleTest, NamesTheSideConstraint) {
  const Problem problem = ConstrainedProblem();
  EXPECT_TRUE(CheckSchedule(problem, ConstrainedSolution()).ok());
  EXPECT_EQ(WeightedTardiness(problem, ConstrainedSolution()), 9);
  const auto reason = [&problem](void (*change)(Schedule&)) {
    Schedule schedule = ConstrainedSolution();
    change(schedule);
    return Message(CheckSchedule(problem, schedule));
  };
  EXPECT_THAT(reason([](Schedule& s) { s.entries[1].start = 6; }),
              HasSubstr("operation 1: starts at 6, and may not wait when "
                        "operation 0 ends at 5"));
  EXPECT_THAT(reason([](Schedule& s) { s.entries[2].start = 10; }),
              HasSubstr("operation 2: starts at 10 on machine 0, which is free "
                        "from 7 on and needs a setup of 4"));
  EXPECT_THAT(reason([](Schedule& s) {
                s.entries[0].start = 1;
                s.entries[1].start = 4;
              }),
              HasSubstr("operation 0: starts at 1 on machine 0, which is free "
                        "from 0 on and needs a setup of 2"));
}

TEST(CheckScheduleTest, TardinessBeyondNumbersIsTheGreatest) {
  Problem problem = ConstrainedProblem();
  problem.operations[1].weight = int64_t{1} << 50;
  Schedule schedule = ConstrainedSolution();
  schedule.entries[1].start = Problem::kMaxTime;
  EXPECT_EQ(WeightedTardiness(problem, schedule), INT64_MAX);
}

TEST(CheckScheduleTest, NamesTheFault) {
  const auto reason = [](void (*change)(Schedule&)) {
    Schedule schedule = SmallSchedule();
    change(schedule);
    return Message(CheckSchedule(SmallProblem(), schedule));
  };
  EXPECT_THAT(reason([](Schedule& s) { s.entries.pop_back(); }),
              HasSubstr("2 entries for 3"));
  EXPECT_THAT(reason([](Schedule& s) { s.entries[1].alternative = 1; }),
              HasSubstr("operation 1: alternative 1 of 1"));
  EXPECT_THAT(reason([](Schedule& s) { s.entries[2].start = 0; }),
              HasSubstr("before its release"));
  EXPECT_THAT(reason([](Schedule& s) { s.entries[1].start = 2; }),
              HasSubstr("before operation 0 ends at 3"));
  EXPECT_THAT(reason([](Schedule& s) { s.entries[2].start = 4; }),
              HasSubstr("operation 2: is on machine 0 from 4 while operation "
                        "1 is until 5"));
  EXPECT_THAT(reason([](Schedule& s) { s.makespan = 10; }),
              HasSubstr("makespan is 12"));
}

}  // namespace
}  // namespace takt::solve
