#include "tools/common/manual.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>

#include "tests/tools/tool_process.h"

namespace takt::tools {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// What bash completes where `words` stand on the command line, a word a line.
// The last word is the one that is completed.
std::string Completed(const std::string& tool, const std::string& words) {
  const ToolResult script = RunProcess(tool, {"--help_completion"});
  EXPECT_EQ(script.exit_code, 0) << script.err;
  const std::string path = ScratchPath("completion");
  WriteContents(path, script.out);
  // compopt works only while bash itself completes.
  const std::string command = "bash -c 'compopt() { :; }; . " + path +
                              "; COMP_WORDS=(" + tool + " " + words +
                              "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
                              "$(complete -p " +
                              tool +
                              " | sed \"s/.*-F \\([^ ]*\\).*/\\1/\"); "
                              "printf \"%s\\n\" \"${COMPREPLY[@]}\"' 2>&1";
  std::FILE* const pipe = popen(command.c_str(), "r");
  std::string text;
  std::array<char, 256> piece;
  while (std::fgets(piece.data(), piece.size(), pipe) != nullptr) {
    text += piece.data();
  }
  EXPECT_EQ(pclose(pipe), 0) << text;
  return text;
}

TEST(ManualTest, ThePageHasFlagsCommandsAndExitCodes) {
  ToolInfo info;
  info.name = "takt-x";
  info.summary = "Does x.";
  info.text = "'quoted' at the start\n.dotted\nback\\slash\n";
  info.commands = {{"go", "FILE", "Goes."}};
  Flags flags(info);
  std::string choice = "one";
  flags.AddChoice("choice", {"one", "two"}, &choice, "What to do.");
  const std::string page = ManualPage(flags);
  EXPECT_THAT(page, StartsWith(".TH takt\\-x 1 "));
  EXPECT_THAT(page, HasSubstr("takt\\-x \\- Does x\n"));
  EXPECT_THAT(page, HasSubstr(".B takt\\-x go\nFILE\n"));
  EXPECT_THAT(page, HasSubstr("\\fB\\-\\-choice\\fR=one\n"));
  EXPECT_THAT(page, HasSubstr("One of one, two."));
  EXPECT_THAT(page, HasSubstr(".SH EXIT STATUS\n"));
  EXPECT_THAT(page, HasSubstr("\\&'quoted' at the start\n\\&.dotted\n"));
  EXPECT_THAT(page, HasSubstr("back\\eslash"));
}

TEST(ManualTest, EveryToolHasOne) {
  for (const std::string& tool : ToolNames()) {
    const ToolResult page = RunProcess(tool, {"--help_man"});
    EXPECT_EQ(page.exit_code, 0) << tool;
    EXPECT_THAT(page.out, StartsWith(".TH ")) << tool;
    EXPECT_THAT(page.out, HasSubstr("\\-\\-flagfile")) << tool;
    const ToolResult help = RunProcess(tool, {"--help"});
    EXPECT_THAT(help.out, Not(HasSubstr("help_man"))) << tool;
  }
}

TEST(CompletionTest, BashCompletesFlagsValuesAndCommands) {
  EXPECT_EQ(Completed("takt-plan", "--time"), "--time_limit=\n");
  EXPECT_EQ(Completed("takt-plan", "--mode = a"), "adaptive\n");
  EXPECT_EQ(Completed("takt-plan", "--mode ="), "strict\nadaptive\n");
  EXPECT_EQ(Completed("takt-plan", "an"), "analyse\nannotate\n");
  EXPECT_EQ(Completed("takt-run-module", "--print_dev"),
            "--print_device_statistics\n");
  EXPECT_THAT(Completed("takt-run-module", "--module = /etc/host"),
              HasSubstr("/etc/host"));
}

}  // namespace
}  // namespace takt::tools
