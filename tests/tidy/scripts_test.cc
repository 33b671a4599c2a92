// The scripts' own texts: a script that says how it is used prints that for
// --help, and does nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "tests/tidy/source_tree.h"

namespace takt::tidy {
namespace {

bool HasLine(const SourceFile& script, const std::string& part) {
  return std::any_of(script.lines.begin(), script.lines.end(),
                     [&](const std::string& line) {
                       return line.find(part) != std::string::npos;
                     });
}

// What the script prints in its own directory, and how it ends.
std::string Help(const SourceFile& script) {
  const std::string name = script.path.substr(script.path.find('/') + 1);
  const std::string command = "cd " TAKT_SOURCE_DIR "/scripts && bash ./" +
                              name + " --help </dev/null 2>&1";
  std::FILE* const output = popen(command.c_str(), "r");
  std::string text;
  char piece[256];
  while (std::fgets(piece, sizeof(piece), output) != nullptr) text += piece;
  EXPECT_EQ(pclose(output), 0) << script.path;
  return text;
}

TEST(ScriptsTest, HelpSaysHowAScriptIsUsed) {
  size_t count = 0;
  for (const SourceFile& script : ReadSources("scripts", {".sh"})) {
    const std::string usage = "usage: " + script.path;
    if (!HasLine(script, "# " + usage)) continue;  // Another script sources it.
    ++count;
    // Without it the script would do its work here.
    ASSERT_TRUE(HasLine(script, "--help")) << script.path;
    EXPECT_NE(Help(script).find(usage), std::string::npos) << script.path;
  }
  EXPECT_GT(count, 5u);
}

}  // namespace
}  // namespace takt::tidy
