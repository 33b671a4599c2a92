// The command line of a tool: --name=value, or --name value; flags of the
// matching iree-* tool have its names and meanings.
//
// Parsing is getopt_long()'s. CLI11, as packaged, is out of the question here:
// it takes the next argument for the value of `--output=`, and splits a value
// in brackets, which are two things that values of these tools are made of.
//
// Besides the flags added, every tool has --help and --flagfile=file (a flag a
// line, # for comments, put in at that place; files may name others).
#ifndef TAKT_TOOLS_COMMON_FLAGS_H_
#define TAKT_TOOLS_COMMON_FLAGS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/common/status.h"

namespace takt::tools {

// The arguments behind argv[0], with the contents of flag files in the place
// of --flagfile=.
Result<std::vector<std::string>> ExpandArguments(int argc, char** argv);

class Flags {
 public:
  // `usage` is what --help prints before the list of flags.
  explicit Flags(std::string usage) : usage_(std::move(usage)) {}

  // Each `target` is borrowed; what it holds is the default. `help` may have
  // several lines.
  void AddText(const char* name, std::string* target, const char* help);
  // A flag that may be repeated; values keep their order.
  void AddTexts(const char* name, std::vector<std::string>* target,
                const char* help);
  // A switch: --name, --name=true, --name=false.
  void AddSwitch(const char* name, bool* target, const char* help);
  void AddNumber(const char* name, int64_t minimum, int64_t maximum,
                 int64_t* target, const char* help);
  void AddReal(const char* name, double* target, const char* help);
  void AddChoice(const char* name, std::vector<std::string> choices,
                 std::string* target, const char* help);

  // Reads `arguments` and sets the targets. An empty value is a value; values
  // in double quotes lose them.
  //
  // Errors: INVALID_ARGUMENT naming the flag and what it takes.
  Status Parse(const std::vector<std::string>& arguments);

  // Reads the command line of a tool, flag files included. True if the tool is
  // to go on; false if it was asked for help, which is printed then.
  Result<bool> ParseCommandLine(int argc, char** argv);

  // Arguments that are no flags, in order.
  const std::vector<std::string>& positional() const { return positional_; }
  // INVALID_ARGUMENT, naming it, if there is such an argument.
  Status RefusePositional() const;
  // Whether --help was among the arguments.
  bool help_requested() const { return help_requested_; }
  std::string HelpText() const;

 private:
  struct Flag {
    std::string name;
    std::string value_text;  // The default, for --help; "..." if repeated.
    std::string help;
    bool is_switch;
    std::function<Status(std::string_view)> set;
  };

  std::string usage_;
  std::vector<Flag> flags_;
  std::vector<std::string> positional_;
  bool help_requested_ = false;
};

}  // namespace takt::tools

#endif  // TAKT_TOOLS_COMMON_FLAGS_H_
