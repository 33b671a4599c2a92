#include "tools/common/flags.h"

#include <getopt.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "tools/common/file.h"
#include "tools/common/manual.h"
#include "tools/common/number.h"

namespace takt::tools {
namespace {

constexpr int kFlagFileDepthMax = 8;
constexpr std::string_view kFlagFile = "--flagfile=";
// The modules that the library reads; main_test.cc holds the text to the table
// of src/vm/bytecode_version.cc.
constexpr char kModuleFormats[] =
    "iree-compile 3.8 to 3.13 (bytecode 15.0, 16.0, 17.0)";

std::string_view Trim(std::string_view text) {
  const char* kSpace = " \t\r\n";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string_view Unquote(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return text;
  return text.substr(1, text.size() - 2);
}

std::string RealText(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.10g", value);
  return text;
}

Status Expand(std::string_view argument, int depth,
              std::vector<std::string>* arguments);

Status ExpandFile(const std::string& path, int depth,
                  std::vector<std::string>* arguments) {
  if (depth == kFlagFileDepthMax) {
    return InvalidArgument("--flagfile: " + path + ": files name each other");
  }
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = Trim(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty() || line.front() == '#') continue;
    TAKT_TOOLS_RETURN_IF_ERROR(Expand(line, depth + 1, arguments));
  }
  return Status();
}

Status Expand(std::string_view argument, int depth,
              std::vector<std::string>* arguments) {
  if (argument.starts_with(kFlagFile)) {
    const std::string path(Unquote(argument.substr(kFlagFile.size())));
    return ExpandFile(path, depth, arguments);
  }
  arguments->emplace_back(argument);
  return Status();
}

// Whether `argument` is that flag in full; getopt_long() takes abbreviations
// for it.
bool IsFlag(std::string_view argument, const std::string& name) {
  const std::string_view text = argument.substr(0, argument.find('='));
  return text == "--" + name;
}

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

std::string WithUnderscores(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

// Each line of `text` behind `indent`.
std::string Indented(const std::string& text, const std::string& indent) {
  std::string result;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    result += indent + text.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return result;
}

std::string CommandText(const ToolInfo& info, const ToolCommand& command) {
  return "  " + info.name + " " + command.name + " " + command.synopsis + "\n" +
         Indented(command.help, "      ");
}

}  // namespace

Result<std::vector<std::string>> ExpandArguments(int argc, char** argv) {
  std::vector<std::string> arguments;
  for (int i = 1; i < argc; ++i) {
    TAKT_TOOLS_RETURN_IF_ERROR(Expand(argv[i], 0, &arguments));
  }
  return arguments;
}

Flags::Flag* Flags::Add(const char* name, std::string value_text,
                        const char* help,
                        std::function<Status(std::string_view)> set) {
  Flag flag;
  flag.name = name;
  flag.value_text = std::move(value_text);
  flag.help = help;
  flag.commands = commands_;
  flag.set = std::move(set);
  flags_.push_back(std::move(flag));
  return &flags_.back();
}

void Flags::AddText(const char* name, std::string* target, const char* help) {
  Add(name, '"' + *target + '"', help, [target](std::string_view value) {
    *target = value;
    return Status();
  });
}

void Flags::AddTexts(const char* name, std::vector<std::string>* target,
                     const char* help) {
  Add(name, "...", help, [target](std::string_view value) {
    target->emplace_back(value);
    return Status();
  });
}

void Flags::AddSwitch(const char* name, bool* target, const char* help) {
  Flag* const flag = Add(
      name, *target ? "true" : "false", help, [target](std::string_view value) {
        if (value == "true" || value == "1" || value.empty()) {
          *target = true;
        } else if (value == "false" || value == "0") {
          *target = false;
        } else {
          return InvalidArgument("expected true or false");
        }
        return Status();
      });
  flag->is_switch = true;
  flag->may_stand_alone = true;
}

void Flags::AddOptionalText(const char* name, bool* is_given,
                            std::string* target, const char* help) {
  Flag* const flag =
      Add(name, "\"\"", help, [is_given, target](std::string_view value) {
        *is_given = true;
        *target = value;
        return Status();
      });
  flag->may_stand_alone = true;
}

void Flags::AddNumber(const char* name, int64_t minimum, int64_t maximum,
                      int64_t* target, const char* help) {
  Add(name, std::to_string(*target), help, [=](std::string_view value) {
    Result<int64_t> number = ParseInteger(value);
    if (!number.ok() || *number < minimum || *number > maximum) {
      return InvalidArgument("expected a number from " +
                             std::to_string(minimum) + " to " +
                             std::to_string(maximum));
    }
    *target = *number;
    return Status();
  });
}

void Flags::AddReal(const char* name, double minimum, double maximum,
                    double* target, const char* help) {
  Add(name, RealText(*target), help, [=](std::string_view value) {
    Result<double> number = ParseReal(value);
    // Nor is NaN in the range.
    if (!number.ok() || !(*number >= minimum && *number <= maximum)) {
      return InvalidArgument("expected a number from " + RealText(minimum) +
                             " to " + RealText(maximum));
    }
    *target = *number;
    return Status();
  });
}

void Flags::AddChoice(const char* name, std::vector<std::string> choices,
                      std::string* target, const char* help) {
  Flag* const flag =
      Add(name, *target, help, [target, choices](std::string_view value) {
        if (std::find(choices.begin(), choices.end(), value) == choices.end()) {
          return InvalidArgument("expected one of " + Join(choices));
        }
        *target = value;
        return Status();
      });
  flag->choices = std::move(choices);
}

bool Flags::TakesNext(std::string_view argument) const {
  if (!argument.starts_with("--") ||
      argument.find('=') != std::string_view::npos) {
    return false;
  }
  const std::string name = WithUnderscores(argument.substr(2));
  const auto found =
      std::find_if(flags_.begin(), flags_.end(),
                   [&](const Flag& flag) { return flag.name == name; });
  return found != flags_.end() && !found->may_stand_alone;
}

Status Flags::Parse(const std::vector<std::string>& arguments) {
  Status status = ParseAll(arguments);
  if (status.ok() && !help_requested_) status = RefuseFlagsOfOthers();
  if (!status.ok()) is_misused_ = true;
  return status;
}

bool Flags::Flag::IsFor(const std::string& command) const {
  return commands.empty() ||
         std::find(commands.begin(), commands.end(), command) != commands.end();
}

Status Flags::RefuseFlagsOfOthers() const {
  const std::string command = positional_.empty() ? "" : positional_[0];
  const bool is_command = std::any_of(
      info_.commands.begin(), info_.commands.end(),
      [&](const ToolCommand& each) { return each.name == command; });
  if (!is_command) return Status();
  for (const Flag& flag : flags_) {
    if (!flag.is_given || flag.IsFor(command)) continue;
    return InvalidArgument("--" + flag.name + ": a flag of " +
                           Join(flag.commands) + ", not of " + command);
  }
  return Status();
}

Status Flags::Misuse(const std::string& reason) {
  is_misused_ = true;
  return InvalidArgument(reason);
}

std::vector<std::string> Flags::NamesWithUnderscores(
    const std::vector<std::string>& arguments) const {
  std::vector<std::string> texts;
  bool is_value = false;   // The argument is the value of the one before.
  bool is_behind = false;  // "--" was there.
  for (const std::string& argument : arguments) {
    const bool is_flag = !is_value && !is_behind && argument.starts_with("--");
    const size_t end = std::min(argument.find('='), argument.size());
    texts.push_back(is_flag && end > 2
                        ? "--" + WithUnderscores(argument.substr(2, end - 2)) +
                              argument.substr(end)
                        : argument);
    is_behind = is_behind || (is_flag && argument == "--");
    is_value = is_flag && TakesNext(argument);
  }
  return texts;
}

Status Flags::ParseAll(const std::vector<std::string>& arguments) {
  const int given_count = static_cast<int>(flags_.size());
  std::vector<option> options;
  for (int i = 0; i < given_count; ++i) {
    options.push_back(
        {flags_[i].name.c_str(),
         flags_[i].may_stand_alone ? optional_argument : required_argument,
         nullptr, i});
  }
  const std::pair<const char*, bool*> requests[] = {
      {"help", &help_requested_},
      {"version", &version_requested_},
      {"help_man", &manual_requested_},
      {"help_completion", &completion_requested_}};
  for (const auto& request : requests) {
    options.push_back({request.first, no_argument, nullptr,
                       static_cast<int>(options.size())});
  }
  options.push_back({});

  std::vector<std::string> texts = NamesWithUnderscores(arguments);
  std::vector<char*> argv = {const_cast<char*>("")};
  for (std::string& text : texts) argv.push_back(text.data());
  argv.push_back(nullptr);
  const int argc = static_cast<int>(argv.size()) - 1;
  optind = 0;  // Start anew.
  opterr = 0;
  while (true) {
    // '-': keep the order, and return an argument that is no flag as option 1.
    // ':': distinguish a missing value from an unknown flag.
    const int at = std::max(optind, 1);
    int index = -1;
    const int result =
        getopt_long(argc, argv.data(), "-:", options.data(), &index);
    if (result == -1) break;
    if (index < 0 && result == 1) {
      positional_.emplace_back(optarg);
    } else if (index < 0 || result == '?' || result == ':' ||
               !IsFlag(argv[at], options[index].name)) {
      return InvalidArgument(
          arguments[at - 1] +
          (result == ':' ? ": needs a value"
                         : ": no such flag; see --help for those there are"));
    } else if (index >= given_count) {
      *requests[index - given_count].second = true;
    } else {
      const std::string_view value = optarg == nullptr ? "" : optarg;
      flags_[index].is_given = true;
      Status status = flags_[index].set(Unquote(value));
      if (!status.ok()) {
        return Annotate(status,
                        "--" + flags_[index].name + "=" + std::string(value));
      }
    }
  }
  for (int i = optind; i < argc; ++i) positional_.emplace_back(argv[i]);
  return Status();
}

Result<bool> Flags::ParseCommandLine(int argc, char** argv) {
  Result<std::vector<std::string>> arguments = ExpandArguments(argc, argv);
  if (!arguments.ok()) {
    is_misused_ = true;
    return arguments.status();
  }
  return ParseArguments(*arguments);
}

Result<bool> Flags::ParseArguments(const std::vector<std::string>& arguments) {
  TAKT_TOOLS_RETURN_IF_ERROR(Parse(arguments));
  if (help_requested_) {
    const std::string command = positional_.empty() ? "" : positional_[0];
    std::fputs(HelpText(command).c_str(), stdout);
  } else if (version_requested_) {
    std::fputs(VersionText(info_).c_str(), stdout);
  } else if (manual_requested_) {
    std::fputs(ManualPage(*this).c_str(), stdout);
  } else if (completion_requested_) {
    std::fputs(BashCompletion(*this).c_str(), stdout);
  } else {
    return true;
  }
  return false;
}

Status Flags::RefusePositional() {
  if (positional_.empty()) return Status();
  return Misuse(positional_[0] + ": unexpected; see --help");
}

std::string Flags::HelpText(const std::string& command) const {
  std::string text;
  for (const ToolCommand& each : info_.commands) {
    if (each.name == command) text += CommandText(info_, each);
  }
  const bool is_one = !text.empty();
  if (!is_one) {
    text = info_.summary + "\n\n" + info_.text;
    for (const ToolCommand& each : info_.commands) {
      text += CommandText(info_, each);
    }
    if (!info_.commands.empty()) {
      text +=
          "\n`" + info_.name + " COMMAND --help` prints the flags of one.\n";
    }
  }
  text += '\n' + ExitCodeText(info_) + "\n\nFlags:\n";
  for (const Flag& flag : flags_) {
    if (is_one && !flag.IsFor(command)) continue;
    text += "  --" + flag.name + "=" + flag.value_text + "\n";
    if (!is_one && !flag.commands.empty()) {
      text += "      For " + Join(flag.commands) + ".\n";
    }
    text += Indented(flag.help, "      ");
    if (!flag.choices.empty()) {
      text += "      One of " + Join(flag.choices) + ".\n";
    }
  }
  text +=
      "  --flagfile=...\n      Reads flags from a file, one a line.\n"
      "  --help\n      Prints this text.\n"
      "  --version\n      Prints the version, and which modules are read.\n";
  return text;
}

std::string ExitCodeText(const ToolInfo& info) {
  if (info.has_peer) {
    return "Exit code: 0; 1 if anything fails, or results are not as expected.";
  }
  return "Exit code:\n"
         "  0  all is well\n"
         "  1  the work failed, or a check found something\n"
         "  2  the command line is wrong\n"
         "  3  what it names cannot be used: a file that is missing, damaged, "
         "of another\n     kind or cannot be written; no such device or "
         "function";
}

std::string VersionText(const ToolInfo& info) {
  return info.name + " (Takt) " + takt_version() +
         "\nmodules: " + kModuleFormats + "\n";
}

}  // namespace takt::tools
