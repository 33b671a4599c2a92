#include "tools/common/manual.h"

#include <algorithm>

namespace takt::tools {
namespace {

// As roff prints it: a backslash starts an escape, a dash is a hyphen, and a
// line that starts with a dot or an apostrophe is a request.
std::string Escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool starts_line = result.empty() || result.back() == '\n';
    if (starts_line && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  return result;
}

// Text whose lines stay as they are.
std::string Lines(const std::string& text) {
  return ".nf\n" + Escaped(text) + (text.ends_with('\n') ? "" : "\n") + ".fi\n";
}

std::string Joined(const std::vector<std::string>& words,
                   const char* separator) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

std::string FlagEntry(const Flags::Flag& flag) {
  std::string text = ".TP\n\\fB" + Escaped("--" + flag.name) +
                     "\\fR=" + Escaped(flag.value_text) + "\n" +
                     Lines(flag.help);
  if (!flag.choices.empty()) {
    text += "One of " + Escaped(Joined(flag.choices, ", ")) + ".\n";
  }
  if (!flag.commands.empty()) {
    text += "For " + Escaped(Joined(flag.commands, ", ")) + ".\n";
  }
  return text;
}

// "takt_plan": a name for a function of bash.
std::string FunctionName(std::string tool) {
  std::replace(tool.begin(), tool.end(), '-', '_');
  return tool;
}

}  // namespace

std::string ManualPage(const Flags& flags) {
  const ToolInfo& info = flags.info();
  std::string summary = info.summary;
  if (summary.ends_with('.')) summary.pop_back();
  std::replace(summary.begin(), summary.end(), '\n', ' ');
  std::string text = ".TH " + Escaped(info.name) + " 1 \"\" \"Takt " +
                     takt_version() + "\" \"Takt\"\n.SH NAME\n" +
                     Escaped(info.name) + " \\- " + Escaped(summary) +
                     "\n.SH SYNOPSIS\n";
  if (info.commands.empty()) {
    text += ".B " + Escaped(info.name) + "\n[flags] [arguments]\n";
  }
  for (const ToolCommand& command : info.commands) {
    text += ".B " + Escaped(info.name + " " + command.name) + "\n" +
            Escaped(command.synopsis) + "\n.br\n";
  }
  if (!info.text.empty()) text += ".SH DESCRIPTION\n" + Lines(info.text);
  if (!info.commands.empty()) text += ".SH COMMANDS\n";
  for (const ToolCommand& command : info.commands) {
    text += ".TP\n.B " + Escaped(command.name) + "\n" + Lines(command.help);
  }
  text += ".SH OPTIONS\n";
  for (const Flags::Flag& flag : flags.flags()) text += FlagEntry(flag);
  text += ".TP\n.B " + Escaped("--flagfile") +
          "=FILE\nReads flags from a file, one a line.\n.TP\n.B " +
          Escaped("--help") + "\nPrints the flags.\n.TP\n.B " +
          Escaped("--version") +
          "\nPrints the version, and which modules are read.\n"
          ".SH EXIT STATUS\n" +
          Lines(ExitCodeText(info));
  return text;
}

std::string BashCompletion(const Flags& flags) {
  const ToolInfo& info = flags.info();
  const std::string function = "_" + FunctionName(info.name);
  std::vector<std::string> names = {"--flagfile=", "--help", "--version"};
  std::string cases;
  for (const Flags::Flag& flag : flags.flags()) {
    names.push_back("--" + flag.name + (flag.may_stand_alone ? "" : "="));
    std::vector<std::string> values = flag.choices;
    if (flag.is_switch) values = {"true", "false"};
    if (values.empty()) continue;
    cases +=
        "    --" + flag.name + ") values='" + Joined(values, " ") + "' ;;\n";
  }
  std::vector<std::string> commands;
  for (const ToolCommand& command : info.commands) {
    if (std::find(commands.begin(), commands.end(), command.name) ==
        commands.end()) {
      commands.push_back(command.name);
    }
  }
  // bash hands "--name=value" over as three words, since = breaks them.
  std::string text = "# bash completion of " + info.name + ", made by " +
                     info.name + " --help_completion\n" + function +
                     "() {\n"
                     "  local word=${COMP_WORDS[COMP_CWORD]} flag= values=\n"
                     "  if [[ $word == = ]]; then\n"
                     "    flag=${COMP_WORDS[COMP_CWORD - 1]} word=\n"
                     "  elif ((COMP_CWORD > 1)) &&\n"
                     "      [[ ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then\n"
                     "    flag=${COMP_WORDS[COMP_CWORD - 2]}\n"
                     "  fi\n"
                     "  case $flag in\n" +
                     cases +
                     "  esac\n  if [[ -n $values ]]; then\n"
                     "    mapfile -t COMPREPLY < <(compgen -W \"$values\" -- "
                     "\"$word\")\n"
                     "  elif [[ -z $flag && $word == -* ]]; then\n"
                     "    mapfile -t COMPREPLY < <(compgen -W '" +
                     Joined(names, " ") +
                     "' -- \"$word\")\n"
                     "    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace\n";
  if (!commands.empty()) {
    text +=
        "  elif ((COMP_CWORD == 1)); then\n"
        "    mapfile -t COMPREPLY < <(compgen -W '" +
        Joined(commands, " ") + "' -- \"$word\")\n";
  }
  text +=
      "  else\n"
      "    compopt -o filenames\n"
      "    mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
      "  fi\n}\ncomplete -F " +
      function + " " + info.name + "\n";
  return text;
}

}  // namespace takt::tools
