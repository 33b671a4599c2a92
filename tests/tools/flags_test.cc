#include "tools/common/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/tool_process.h"

namespace takt::tools {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

class FlagsTest : public testing::Test {
 protected:
  FlagsTest() {
    flags_.AddText("text", &text_, "A text.");
    flags_.AddTexts("input", &inputs_, "Some texts.");
    flags_.AddSwitch("switch", &switch_, "A switch.");
    flags_.AddNumber("number", -5, 100, &number_, "A number.");
    flags_.AddReal("real", -1, 2, &real_, "A real.");
    flags_.AddChoice("choice", {"one", "two"}, &choice_, "A choice.");
  }

  std::string Error(const std::vector<std::string>& arguments) {
    const Status status = flags_.Parse(arguments);
    EXPECT_EQ(status.code(), TAKT_STATUS_INVALID_ARGUMENT);
    return std::string(status.message());
  }

  static ToolInfo Info() {
    ToolInfo info;
    info.name = "tool";
    info.summary = "Does it.";
    info.text = "Text.\n";
    return info;
  }

  Flags flags_{Info()};
  std::string text_ = "default";
  std::vector<std::string> inputs_;
  bool switch_ = false;
  int64_t number_ = 7;
  double real_ = 0.5;
  std::string choice_ = "one";
};

TEST_F(FlagsTest, KeepsDefaults) {
  ASSERT_TRUE(flags_.Parse({}).ok());
  EXPECT_EQ(text_, "default");
  EXPECT_EQ(number_, 7);
  EXPECT_FALSE(flags_.help_requested());
}

TEST_F(FlagsTest, RepeatedFlagsKeepTheirOrder) {
  ASSERT_TRUE(
      flags_.Parse({"--input=b", "--text=x", "--input=a", "--input=b"}).ok());
  EXPECT_THAT(inputs_, ElementsAre("b", "a", "b"));
}

TEST_F(FlagsTest, ValuesMayBeAnything) {
  ASSERT_TRUE(flags_
                  .Parse({"--input=[1 2]", "--input=[1,2]", "--input=-1.5",
                          "--input=", "--input=@f.npy", "--input=*f.npy",
                          "--input=&4xf32", "--input=--text=y", "--input=a=b=c",
                          "--input={}", "--input=(null)"})
                  .ok());
  EXPECT_THAT(inputs_,
              ElementsAre("[1 2]", "[1,2]", "-1.5", "", "@f.npy", "*f.npy",
                          "&4xf32", "--text=y", "a=b=c", "{}", "(null)"));
  EXPECT_EQ(text_, "default");
}

TEST_F(FlagsTest, AnEmptyValueDoesNotTakeTheNextArgument) {
  ASSERT_TRUE(flags_.Parse({"--text=", "--number=3"}).ok());
  EXPECT_EQ(text_, "");
  EXPECT_EQ(number_, 3);
}

TEST_F(FlagsTest, TheValueMayBeTheNextArgument) {
  ASSERT_TRUE(flags_.Parse({"--input", "-1.5", "--input", "[2]"}).ok());
  EXPECT_THAT(inputs_, ElementsAre("-1.5", "[2]"));
}

TEST_F(FlagsTest, QuotesAroundAValueGo) {
  ASSERT_TRUE(flags_.Parse({"--input=\"2xf32=1 2\"", "--input=\""}).ok());
  EXPECT_THAT(inputs_, ElementsAre("2xf32=1 2", "\""));
}

TEST_F(FlagsTest, Switches) {
  ASSERT_TRUE(flags_.Parse({"--switch"}).ok());
  EXPECT_TRUE(switch_);
  ASSERT_TRUE(flags_.Parse({"--switch=false"}).ok());
  EXPECT_FALSE(switch_);
  ASSERT_TRUE(flags_.Parse({"--switch=true"}).ok());
  EXPECT_TRUE(switch_);
  EXPECT_THAT(Error({"--switch=maybe"}), HasSubstr("--switch=maybe"));
}

TEST_F(FlagsTest, NumbersHaveARange) {
  ASSERT_TRUE(flags_.Parse({"--number=-5", "--real=1e-6"}).ok());
  EXPECT_EQ(number_, -5);
  EXPECT_EQ(real_, 1e-6);
  EXPECT_THAT(Error({"--number=101"}), HasSubstr("-5 to 100"));
  EXPECT_THAT(Error({"--number=zork"}), HasSubstr("--number=zork"));
  EXPECT_THAT(Error({"--number="}), HasSubstr("--number="));
  for (const char* real : {"zork", "", "-1.1", "2.5", "1e99", "inf", "nan"}) {
    EXPECT_THAT(
        Error({std::string("--real=") + real}),
        HasSubstr(std::string(real) + ": expected a number from -1 to 2"));
  }
  EXPECT_EQ(real_, 1e-6);
  EXPECT_EQ(number_, -5);
}

TEST_F(FlagsTest, ChoicesAreNamed) {
  ASSERT_TRUE(flags_.Parse({"--choice=two"}).ok());
  EXPECT_EQ(choice_, "two");
  EXPECT_THAT(Error({"--choice=three"}), HasSubstr("one, two"));
}

TEST_F(FlagsTest, RejectsUnknownFlags) {
  EXPECT_THAT(Error({"--zork=1"}), HasSubstr("--zork=1: no such flag"));
  EXPECT_THAT(Error({"--text=1", "-x"}), HasSubstr("-x: no such flag"));
}

TEST_F(FlagsTest, RejectsAbbreviations) {
  EXPECT_THAT(Error({"--inp=1"}), HasSubstr("--inp=1: no such flag"));
}

TEST_F(FlagsTest, ADashInANameIsAnUnderscore) {
  std::string limit;
  flags_.AddText("time_limit", &limit, "A limit.");
  ASSERT_TRUE(
      flags_.Parse({"--time-limit=a-b", "--text", "--in-put", "--", "--a-b"})
          .ok());
  EXPECT_EQ(limit, "a-b");
  EXPECT_EQ(text_, "--in-put");
  EXPECT_THAT(flags_.positional(), ElementsAre("--a-b"));
  ASSERT_TRUE(flags_.Parse({"--time_limit=c", "--time-limit", "d-e"}).ok());
  EXPECT_EQ(limit, "d-e");
  EXPECT_THAT(Error({"--time-zone=1"}), HasSubstr("--time-zone=1: no such"));
}

TEST_F(FlagsTest, AValueMayBeLeftOut) {
  bool is_given = false;
  std::string value = "old";
  flags_.AddOptionalText("list", &is_given, &value, "A list.");
  ASSERT_TRUE(flags_.Parse({"--list", "stray"}).ok());
  EXPECT_TRUE(is_given);
  EXPECT_EQ(value, "");
  EXPECT_THAT(flags_.positional(), ElementsAre("stray"));
  ASSERT_TRUE(flags_.Parse({"--list=x"}).ok());
  EXPECT_EQ(value, "x");
}

TEST_F(FlagsTest, WrongCommandLinesAreRemembered) {
  ASSERT_TRUE(flags_.Parse({"--text=x"}).ok());
  EXPECT_FALSE(flags_.is_misused());
  EXPECT_FALSE(flags_.Parse({"--zork"}).ok());
  EXPECT_TRUE(flags_.is_misused());
  Flags other(Info());
  EXPECT_EQ(other.Misuse("no file").code(), TAKT_STATUS_INVALID_ARGUMENT);
  EXPECT_TRUE(other.is_misused());
}

TEST_F(FlagsTest, RejectsAMissingValue) {
  EXPECT_THAT(Error({"--input"}), EndsWith("--input: needs a value"));
}

TEST_F(FlagsTest, OtherArgumentsAreKept) {
  ASSERT_TRUE(flags_.Parse({"a", "--text=x", "b", "-", "--", "--c"}).ok());
  EXPECT_THAT(flags_.positional(), ElementsAre("a", "b", "-", "--c"));
  EXPECT_THAT(std::string(flags_.RefusePositional().message()),
              HasSubstr("a: unexpected"));
}

TEST_F(FlagsTest, HelpListsTheFlagsWithTheirDefaults) {
  ASSERT_TRUE(flags_.Parse({"--help"}).ok());
  EXPECT_TRUE(flags_.help_requested());
  EXPECT_THAT(flags_.HelpText(),
              HasSubstr("--text=\"default\"\n      A text."));
  EXPECT_THAT(flags_.HelpText(), HasSubstr("--number=7"));
  EXPECT_THAT(flags_.HelpText(), HasSubstr("One of one, two."));
}

ToolInfo WithTwoCommands() {
  ToolInfo info;
  info.name = "tool";
  info.commands = {{"go", "THERE", "Goes."}, {"stay", "HERE", "Stays."}};
  return info;
}

TEST(FlagsHelpTest, ACommandHasItsOwnFlags) {
  Flags flags(WithTwoCommands());
  std::string text;
  flags.SetCommands({"go"});
  flags.AddText("speed", &text, "How fast.");
  flags.SetCommands({});
  flags.AddText("quiet", &text, "No sound.");
  const std::string all = flags.HelpText();
  EXPECT_THAT(all, HasSubstr("  tool go THERE\n      Goes.\n"));
  EXPECT_THAT(all, HasSubstr("--speed=\"\"\n      For go.\n      How fast."));
  const std::string stay = flags.HelpText("stay");
  EXPECT_THAT(stay, HasSubstr("tool stay HERE"));
  EXPECT_THAT(stay, HasSubstr("--quiet"));
  EXPECT_THAT(stay, Not(HasSubstr("--speed")));
  EXPECT_THAT(stay, Not(HasSubstr("THERE")));
}

TEST(FlagsHelpTest, ACommandRefusesFlagsOfOthers) {
  const auto error = [](const std::vector<std::string>& arguments) {
    Flags flags(WithTwoCommands());
    std::string text;
    flags.SetCommands({"go"});
    flags.AddText("speed", &text, "How fast.");
    const Status status = flags.Parse(arguments);
    EXPECT_EQ(flags.is_misused(), !status.ok());
    return std::string(status.message());
  };
  EXPECT_EQ(error({"stay", "--speed=1"}), "--speed: a flag of go, not of stay");
  EXPECT_EQ(error({"--speed=1", "stay"}), "--speed: a flag of go, not of stay");
  EXPECT_EQ(error({"go", "--speed=1"}), "");
  EXPECT_EQ(error({"stay", "--speed=1", "--help"}), "");
  EXPECT_EQ(error({"--speed=1"}), "");  // No command: the tool says so.
}

Result<std::vector<std::string>> ExpandTexts(std::vector<std::string> texts) {
  std::vector<char*> argv = {const_cast<char*>("tool")};
  for (std::string& text : texts) argv.push_back(text.data());
  return ExpandArguments(static_cast<int>(argv.size()), argv.data());
}

TEST(ExpandArgumentsTest, PutsFilesInTheirPlace) {
  const std::string inner = ScratchPath("inner");
  const std::string outer = ScratchPath("outer");
  WriteContents(inner, "--b=2");
  WriteContents(
      outer, "# a comment\n  --a=\"1 2\"  \n\n--flagfile=" + inner + "\r\n--c");
  const auto arguments = ExpandTexts({"x", "--flagfile=" + outer, "y"});
  ASSERT_TRUE(arguments.ok());
  EXPECT_THAT(*arguments, ElementsAre("x", "--a=\"1 2\"", "--b=2", "--c", "y"));
}

TEST(ExpandArgumentsTest, RejectsMissingFilesAndCycles) {
  EXPECT_EQ(ExpandTexts({"--flagfile=/nonexistent"}).status().code(),
            TAKT_STATUS_NOT_FOUND);
  const std::string self = ScratchPath("self");
  WriteContents(self, "--flagfile=" + self);
  EXPECT_EQ(ExpandTexts({"--flagfile=" + self}).status().code(),
            TAKT_STATUS_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace takt::tools
