#include "solve/instance_reader.h"

#include <string>

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

TEST(InstanceReaderTest, RejectsCycles) {
  const auto problem = ReadFajs("2 2 1\n0 1\n1 0\n1 0 5\n1 0 6\n");
  ASSERT_FALSE(problem.ok());
  EXPECT_THAT(std::string(problem.status().message()), HasSubstr("cycle"));
}

}  // namespace
}  // namespace takt::solve
