#include "solve/instance_reader.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt::solve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(InstanceReaderTest, ReadsJobsAsChains) {
  const auto problem = ReadFjs("2 2 1.5\n2 1 1 5 2 1 3 2 4\n1 1 2 7\n");
  ASSERT_TRUE(problem.ok()) << problem.status();
  EXPECT_EQ(problem->machine_count, 2u);
  ASSERT_EQ(problem->operations.size(), 3u);
  EXPECT_THAT(problem->operations[1].alternatives[1].machines, ElementsAre(1));
  EXPECT_EQ(problem->operations[1].alternatives[1].duration, 4);
  EXPECT_THAT(problem->precedences, ElementsAre(Pair(0, 1)));
}

TEST(InstanceReaderTest, TheMeanMayBeMissing) {
  EXPECT_TRUE(ReadFjs("1 1\n1 1 1 5\n").ok());
}

TEST(InstanceReaderTest, ACommentIsNoMean) {
  EXPECT_TRUE(ReadFjs("# made by hand\n1 1\n1 1 1 5\n").ok());
  EXPECT_TRUE(ReadFjs("1 1 # jobs, machines\n1 1 1 5\n").ok());
  EXPECT_FALSE(ReadFjs("1 1 #").ok());
}

TEST(InstanceReaderTest, ReadsPrecedencesOfAnyShape) {
  const auto problem =
      ReadFajs("# made by hand\n3 2 2\n0 2\n1 2\n1 0 5\n1 1 6\n2 0 1 1 2\n");
  ASSERT_TRUE(problem.ok()) << problem.status();
  EXPECT_THAT(problem->precedences, ElementsAre(Pair(0, 2), Pair(1, 2)));
  EXPECT_EQ(problem->operations[2].alternatives.size(), 2u);
}

TEST(InstanceReaderTest, RejectsDamage) {
  const auto reason = [](const char* text) {
    const auto problem = ReadFjs(text);
    EXPECT_FALSE(problem.ok()) << text;
    return std::string(problem.status().message());
  };
  EXPECT_THAT(reason(""), HasSubstr("token 0: expected a number of jobs"));
  EXPECT_THAT(reason("x 1 1\n"), HasSubstr("found \"x\""));
  EXPECT_THAT(reason("1 0 1\n"), HasSubstr("number of machines from 1"));
  EXPECT_THAT(reason("1 1 1\n1 1 2 5\n"), HasSubstr("a machine from 1 to 1"));
  EXPECT_THAT(reason("1 1 1\n1 1 0 5\n"), HasSubstr("a machine from 1 to 1"));
  EXPECT_THAT(reason("1 1 1\n1 1 1 -5\n"), HasSubstr("a duration"));
  EXPECT_THAT(reason("1 1 1\n1 0\n"), HasSubstr("number of alternatives"));
  EXPECT_THAT(reason("1 1 1\n1 1 1\n"), HasSubstr("found the end"));
  EXPECT_THAT(reason("1 1 1\n1 1 1 5 9\n"), HasSubstr("left over"));
  EXPECT_THAT(reason("99999999999999999999 1 1\n"), HasSubstr("jobs"));
}

// Two jobs, of two operations and of one, on two machines.
constexpr char kJobs[] = "2 2\n2 1 1 5 2 1 3 2 4\n1 1 2 7\n";

TEST(InstanceReaderTest, ReadsSideConstraintsBehindTheOperations) {
  const auto problem = ReadFjs(absl::StrCat(
      kJobs,
      "# An NPU that changes its program\n"
      "setup 2 0 1 30\nsetup 2 first 1 9\nfamily 2 1\nno-wait 0 1\n"
      "release 1 3\ntail 2 8\ndue 0 6 2\njob-release 1 4\njob-due 1 20 5\n"));
  ASSERT_TRUE(problem.ok()) << problem.status();
  ASSERT_EQ(problem->setups.size(), 2u);
  EXPECT_EQ(problem->setups[0].machine, 1u);
  EXPECT_EQ(problem->setups[0].from, 0u);
  EXPECT_EQ(problem->setups[0].to, 1u);
  EXPECT_EQ(problem->setups[0].time, 30);
  EXPECT_EQ(problem->setups[1].from, Setup::kFirst);
  EXPECT_EQ(problem->operations[2].family, 1u);
  EXPECT_THAT(problem->no_waits, ElementsAre(Pair(0, 1)));
  EXPECT_EQ(problem->operations[0].release, 4);
  EXPECT_EQ(problem->operations[1].release, 3);
  EXPECT_EQ(problem->operations[2].tail, 8);
  EXPECT_EQ(problem->operations[0].due, 6);
  EXPECT_EQ(problem->operations[0].weight, 2);
  EXPECT_EQ(problem->operations[1].due, 20);
  EXPECT_EQ(problem->operations[1].weight, 5);
}

TEST(InstanceReaderTest, MachinesOfSetupsCountAsElsewhere) {
  const auto problem = ReadFajs("1 0 2\n1 0 5\nsetup 1 0 0 3\nrelease 0 2\n");
  ASSERT_TRUE(problem.ok()) << problem.status();
  EXPECT_EQ(problem->setups[0].machine, 1u);
  EXPECT_EQ(problem->operations[0].release, 2);
}

TEST(InstanceReaderTest, RejectsDamagedSideConstraints) {
  const auto reason = [](const char* line) {
    const auto problem = ReadFjs(absl::StrCat(kJobs, line));
    EXPECT_FALSE(problem.ok()) << line;
    return std::string(problem.status().message());
  };
  EXPECT_THAT(reason("wait 0 1"), HasSubstr("\"wait\" is no side constraint"));
  EXPECT_THAT(reason("release 3 1"), HasSubstr("an operation from 0 to 2"));
  EXPECT_THAT(reason("release 0 -1"), HasSubstr("a time"));
  EXPECT_THAT(reason("release 0"), HasSubstr("found the end"));
  EXPECT_THAT(reason("family 0 1024"), HasSubstr("a family from 0 to 1023"));
  EXPECT_THAT(reason("setup 3 0 0 1"), HasSubstr("a machine from 1 to 2"));
  EXPECT_THAT(reason("setup 1 last 0 1"), HasSubstr("a family or first"));
  EXPECT_THAT(reason("setup 1 0 first 1"), HasSubstr("a family from"));
  EXPECT_THAT(reason("job-due 3 1 1"), HasSubstr("a job from 1 to 2"));
  EXPECT_THAT(reason("no-wait 0 2"), HasSubstr("is no precedence"));
  EXPECT_THAT(reason("due 0 1 -1"), HasSubstr("a weight"));
  const auto graph = ReadFajs("1 0 1\n1 0 5\njob-release 1 1\n");
  EXPECT_THAT(std::string(graph.status().message()),
              HasSubstr("\"job-release\" is no side constraint"));
  const auto empty = ReadFjs("2 1\n0\n1 1 1 5\njob-release 1 1\n");
  EXPECT_THAT(std::string(empty.status().message()),
              HasSubstr("job 1 has no operation"));
}

TEST(InstanceReaderTest, RejectsCycles) {
  const auto problem = ReadFajs("2 2 1\n0 1\n1 0\n1 0 5\n1 0 6\n");
  ASSERT_FALSE(problem.ok());
  EXPECT_THAT(std::string(problem.status().message()), HasSubstr("cycle"));
}

}  // namespace
}  // namespace takt::solve
