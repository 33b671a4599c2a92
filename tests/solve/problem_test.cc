#include "solve/problem.h"

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
