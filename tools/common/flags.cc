#include "tools/common/flags.h"

#include <getopt.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "tools/common/file.h"
#include "tools/common/number.h"

namespace takt::tools {
namespace {

constexpr int kFlagFileDepthMax = 8;
constexpr std::string_view kFlagFile = "--flagfile=";

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

}  // namespace

Result<std::vector<std::string>> ExpandArguments(int argc, char** argv) {
  std::vector<std::string> arguments;
  for (int i = 1; i < argc; ++i) {
    TAKT_TOOLS_RETURN_IF_ERROR(Expand(argv[i], 0, &arguments));
  }
  return arguments;
}

void Flags::AddText(const char* name, std::string* target, const char* help) {
  flags_.push_back({name, '"' + *target + '"', help, false,
                    [target](std::string_view value) {
                      *target = value;
                      return Status();
                    }});
}

void Flags::AddTexts(const char* name, std::vector<std::string>* target,
                     const char* help) {
  flags_.push_back({name, "...", help, false, [target](std::string_view value) {
                      target->emplace_back(value);
                      return Status();
                    }});
}

void Flags::AddSwitch(const char* name, bool* target, const char* help) {
  flags_.push_back({name, *target ? "true" : "false", help, true,
                    [target](std::string_view value) {
                      if (value == "true" || value == "1" || value.empty()) {
                        *target = true;
                      } else if (value == "false" || value == "0") {
                        *target = false;
                      } else {
                        return InvalidArgument("expected true or false");
                      }
                      return Status();
                    }});
}

void Flags::AddNumber(const char* name, int64_t minimum, int64_t maximum,
                      int64_t* target, const char* help) {
  flags_.push_back(
      {name, std::to_string(*target), help, false, [=](std::string_view value) {
         Result<int64_t> number = ParseInteger(value);
         if (!number.ok() || *number < minimum || *number > maximum) {
           return InvalidArgument("expected a number from " +
                                  std::to_string(minimum) + " to " +
                                  std::to_string(maximum));
         }
         *target = *number;
         return Status();
       }});
}

void Flags::AddReal(const char* name, double* target, const char* help) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", *target);
  flags_.push_back({name, text, help, false, [target](std::string_view value) {
                      TAKT_TOOLS_ASSIGN_OR_RETURN(*target, ParseReal(value));
                      return Status();
                    }});
}

void Flags::AddChoice(const char* name, std::vector<std::string> choices,
                      std::string* target, const char* help) {
  flags_.push_back(
      {name, *target, help, false,
       [target, choices = std::move(choices)](std::string_view value) {
         if (std::find(choices.begin(), choices.end(), value) ==
             choices.end()) {
           return InvalidArgument("expected one of " + Join(choices));
         }
         *target = value;
         return Status();
       }});
}

Status Flags::Parse(const std::vector<std::string>& arguments) {
  const int help_index = static_cast<int>(flags_.size());
  std::vector<option> options;
  for (int i = 0; i < help_index; ++i) {
    options.push_back(
        {flags_[i].name.c_str(),
         flags_[i].is_switch ? optional_argument : required_argument, nullptr,
         i});
  }
  options.push_back({"help", no_argument, nullptr, help_index});
  options.push_back({});

  std::vector<char*> argv = {const_cast<char*>("")};
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  const int argc = static_cast<int>(argv.size()) - 1;
  optind = 0;  // Start anew.
  opterr = 0;
  while (true) {
    // '-': keep the order, hand over what is no flag as option 1; ':': tell a
    // missing value from an unknown flag.
    const int at = std::max(optind, 1);
    int index = -1;
    const int result =
        getopt_long(argc, argv.data(), "-:", options.data(), &index);
    if (result == -1) break;
    if (index < 0 && result == 1) {
      positional_.emplace_back(optarg);
    } else if (index < 0 || result == '?' || result == ':' ||
               !IsFlag(argv[at], options[index].name)) {
      const char* fault = result == ':' ? ": needs a value" : ": no such flag";
      return InvalidArgument(std::string(argv[at]) + fault +
                             "; see --help for those there are");
    } else if (index == help_index) {
      help_requested_ = true;
    } else {
      const std::string_view value = optarg == nullptr ? "" : optarg;
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
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::vector<std::string> arguments,
                              ExpandArguments(argc, argv));
  TAKT_TOOLS_RETURN_IF_ERROR(Parse(arguments));
  if (help_requested_) std::fputs(HelpText().c_str(), stdout);
  return !help_requested_;
}

Status Flags::RefusePositional() const {
  if (positional_.empty()) return Status();
  return InvalidArgument(positional_[0] + ": unexpected; see --help");
}

std::string Flags::HelpText() const {
  std::string text = usage_ + "\n\nFlags:\n";
  for (const Flag& flag : flags_) {
    text += "  --" + flag.name + "=" + flag.value_text + "\n      ";
    for (const char c : flag.help) {
      text += c;
      if (c == '\n') text += "      ";
    }
    text += '\n';
  }
  text +=
      "  --flagfile=...\n      Reads flags from a file, one a line.\n"
      "  --help\n      Prints this text.\n";
  return text;
}

}  // namespace takt::tools
