// The command line of a tool: --name=value, or --name value; flags of the
// matching iree-* tool have its names and meanings. Names have underscores; a
// dash in a name is read as one, so --time-limit is --time_limit.
//
// Parsing is getopt_long()'s. CLI11, as packaged, is out of the question here:
// it takes the next argument for the value of `--output=`, and splits a value
// in brackets, which are two things that values of these tools are made of.
//
// Besides the flags added, every tool has --help, --version and --flagfile=file
// (a flag a line, # for comments, put in at that place; files may name others),
// and two hidden ones, of which packages are made: --help_man prints a manual
// page, --help_completion what bash completes (manual.h).
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

// A subcommand of a tool: `takt-plan solve`.
struct ToolCommand {
  std::string name;
  std::string synopsis;  // What follows it: "WORKLOAD.json --output=FILE".
  std::string help;      // May have several lines.
};

// What a tool says about itself.
struct ToolInfo {
  std::string name;     // "takt-plan".
  std::string summary;  // One sentence.
  std::string text;     // Examples and the like; may have several lines.
  std::vector<ToolCommand> commands;  // None: it has no subcommands.
  // It is named as a tool of IREE, whose only exit code for failures is 1.
  bool has_peer = false;
};

class Flags {
 public:
  struct Flag {
    std::string name;
    std::string value_text;  // The default, for --help; "..." if repeated.
    std::string help;
    bool is_switch = false;
    bool may_stand_alone = false;       // Its value may be left out.
    std::vector<std::string> choices;   // What it takes, if they are few.
    std::vector<std::string> commands;  // The ones it is for; none: all.
    std::function<Status(std::string_view)> set;
    bool is_given = false;

    bool IsFor(const std::string& command) const;
  };

  explicit Flags(ToolInfo info) : info_(std::move(info)) {}

  const ToolInfo& info() const { return info_; }
  const std::vector<Flag>& flags() const { return flags_; }

  // The flags that are added next are for these commands; none: for all.
  void SetCommands(std::vector<std::string> commands) {
    commands_ = std::move(commands);
  }

  // Each `target` is borrowed; what it holds is the default. `help` may have
  // several lines.
  void AddText(const char* name, std::string* target, const char* help);
  // A flag that may be repeated; values keep their order.
  void AddTexts(const char* name, std::vector<std::string>* target,
                const char* help);
  // A switch: --name, --name=true, --name=false.
  void AddSwitch(const char* name, bool* target, const char* help);
  // A switch that may have a value: --name, --name=value. `is_given` is set if
  // it is there.
  void AddOptionalText(const char* name, bool* is_given, std::string* target,
                       const char* help);
  void AddNumber(const char* name, int64_t minimum, int64_t maximum,
                 int64_t* target, const char* help);
  void AddReal(const char* name, double minimum, double maximum, double* target,
               const char* help);
  void AddChoice(const char* name, std::vector<std::string> choices,
                 std::string* target, const char* help);

  // Reads `arguments` and sets the targets. An empty value is a value; values
  // in double quotes lose them.
  //
  // Errors: INVALID_ARGUMENT naming the flag and what it takes, or the command
  // that does not have it.
  Status Parse(const std::vector<std::string>& arguments);

  // Reads the command line of a tool, flag files included. True if the tool is
  // to go on; false if it was asked for help or the like, which is printed
  // then: that of a command if the command line names one.
  Result<bool> ParseCommandLine(int argc, char** argv);
  // The same of arguments that ExpandArguments() returned.
  Result<bool> ParseArguments(const std::vector<std::string>& arguments);

  // Arguments that are no flags, in order.
  const std::vector<std::string>& positional() const { return positional_; }
  // INVALID_ARGUMENT, naming it, if there is such an argument.
  Status RefusePositional();
  // INVALID_ARGUMENT: the command line is wrong for this reason. The tool's
  // exit code is the one for that, once this or Parse() returned an error.
  Status Misuse(const std::string& reason);
  bool is_misused() const { return is_misused_; }
  // Whether --help was among the arguments.
  bool help_requested() const { return help_requested_; }
  // The help text of the whole tool, or of the command of that name.
  std::string HelpText(const std::string& command = "") const;

 private:
  // The arguments with underscores for the dashes in names of flags.
  std::vector<std::string> NamesWithUnderscores(
      const std::vector<std::string>& arguments) const;
  Status ParseAll(const std::vector<std::string>& arguments);
  // INVALID_ARGUMENT if a flag was given that the command does not have.
  Status RefuseFlagsOfOthers() const;
  Flag* Add(const char* name, std::string value_text, const char* help,
            std::function<Status(std::string_view)> set);
  // Whether the next argument is the value of this one.
  bool TakesNext(std::string_view argument) const;

  ToolInfo info_;
  std::vector<Flag> flags_;
  std::vector<std::string> commands_;
  std::vector<std::string> positional_;
  bool help_requested_ = false;
  bool version_requested_ = false;
  bool manual_requested_ = false;
  bool completion_requested_ = false;
  bool is_misused_ = false;
};

// What --help says about exit codes.
std::string ExitCodeText(const ToolInfo& info);
// What --version prints.
std::string VersionText(const ToolInfo& info);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_COMMON_FLAGS_H_
