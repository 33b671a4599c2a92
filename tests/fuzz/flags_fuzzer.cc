// Reads the bytes as a command line, an argument a line, for a tool with a flag
// of each kind.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "tools/common/flags.h"

namespace takt::tools {
namespace {

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines(1);
  for (char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else if (c != '\0') {
      lines.back() += c;
    }
  }
  return lines;
}

void Parse(const std::string& bytes) {
  std::string text = "a", value, choice = "one";
  std::vector<std::string> texts;
  bool is_on = false, is_given = false;
  int64_t number = 0;
  double real = 0;
  ToolInfo info;
  info.name = "takt-fuzz";
  info.summary = "Takes flags.";
  Flags flags(info);
  flags.AddText("text", &text, "A text.");
  flags.AddTexts("texts", &texts, "Texts.");
  flags.AddSwitch("switch", &is_on, "A switch.");
  flags.AddOptionalText("optional", &is_given, &value, "A value, or none.");
  flags.AddNumber("number", -5, 1000, &number, "A number.");
  flags.AddReal("real", -1, 2, &real, "A real number.");
  flags.AddChoice("choice", {"one", "two"}, &choice, "A choice.");
  const Status status = flags.Parse(Lines(bytes));
  if (!status.ok()) {
    if (status.message().empty()) std::abort();
    return;
  }
  if (number < -5 || number > 1000) std::abort();
  if (!(real >= -1 && real <= 2)) std::abort();
  if (choice != "one" && choice != "two") std::abort();
}

}  // namespace
}  // namespace takt::tools

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  takt::tools::Parse({reinterpret_cast<const char*>(data), size});
  return 0;
}
