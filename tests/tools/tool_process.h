// Runs a tool and keeps what it says.
#ifndef TAKT_TESTS_TOOLS_TOOL_PROCESS_H_
#define TAKT_TESTS_TOOLS_TOOL_PROCESS_H_

#include <string>
#include <vector>

namespace takt::tools {

struct ToolResult {
  int exit_code;  // -1: ended by a signal.
  std::string out;
  std::string err;
};

// Runs build/tools/<name> with these arguments, in `folder` if there is one.
// `stdout_path`: what is there is its stdout, and `out` stays empty.
ToolResult RunProcess(const std::string& name,
                      const std::vector<std::string>& arguments,
                      const std::string& folder = "",
                      const std::string& stdout_path = "");

// The names of all tools.
const std::vector<std::string>& ToolNames();

// A path in tests/testdata.
std::string TestData(const std::string& path);
// A path for a file of the test's own; there is no such file yet.
std::string ScratchPath(const std::string& name);
// The contents of a file; the test fails if there is none.
std::string FileContents(const std::string& path);
void WriteContents(const std::string& path, const std::string& contents);

}  // namespace takt::tools

#endif  // TAKT_TESTS_TOOLS_TOOL_PROCESS_H_
