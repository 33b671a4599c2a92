// takt-trace: shows, converts, sums up and checks what was recorded.
#include <cstdio>
#include <string>
#include <vector>

#include "tools/common/flags.h"
#include "tools/common/main.h"
#include "tools/common/session.h"

namespace takt::tools {
namespace {

constexpr char kUsage[] =
    "Looks into traces that takt-run-module --trace=FILE, takt-sim\n"
    "--trace=FILE or takt_trace_write_file() wrote.\n\n"
    "  takt-trace show FILE [--json]\n"
    "  takt-trace convert FILE TO      TO: .txt, .json, .html, else "
    "Perfetto's\n"
    "  takt-trace summary FILE [--json]\n"
    "  takt-trace compare FILE [--json]   planned against actual\n"
    "  takt-trace check FILE [--json]  exclusive what must be, causes first\n\n"
    "Exit code: 0; 1 for an error, or if check finds something.";

bool PrintPart(std::string_view part) {
  return std::fwrite(part.data(), 1, part.size(), stdout) == part.size();
}

Result<int> Print(const Result<std::string>& text) {
  if (!text.ok()) return text.status();
  PrintPart(*text);
  return kSuccess;
}

Result<int> Check(const Trace& trace, bool is_json) {
  uint64_t count = 0;
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string faults, trace.Check(&count));
  const auto number = static_cast<unsigned long long>(count);
  const takt_trace_info_t info = trace.info();
  const auto lost = static_cast<unsigned long long>(info.lost_count);
  if (is_json) {
    std::printf("{\"faults\": %llu, \"events\": %zu, \"lost\": %llu}\n", number,
                info.event_count, lost);
  } else {
    if (!faults.empty()) std::printf("%s\n", faults.c_str());
    std::printf("%llu faults in %zu events, %llu lost\n", number,
                info.event_count, lost);
  }
  return count == 0 ? kSuccess : kFailure;
}

Result<int> Do(const std::string& command, const std::vector<std::string>& rest,
               bool is_json) {
  const bool converts = command == "convert";
  if (rest.size() != (converts ? 2u : 1u)) {
    return InvalidArgument("expected `" + command +
                           (converts ? " FILE TO" : " FILE") + "`; see --help");
  }
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Trace trace, Trace::LoadFile(rest[0]));
  if (converts) {
    TAKT_TOOLS_RETURN_IF_ERROR(
        trace.WriteFile(rest[1], TraceFormatOf(rest[1])));
    return kSuccess;
  }
  if (command == "show") {
    TAKT_TOOLS_RETURN_IF_ERROR(
        trace.Write(is_json ? TAKT_TRACE_JSON : TAKT_TRACE_TEXT, PrintPart));
    return kSuccess;
  }
  if (command == "summary") return Print(trace.Summarize(is_json));
  if (command == "compare") return Print(trace.Compare(is_json));
  return Check(trace, is_json);
}

Result<int> Run(int argc, char** argv) {
  bool is_json = false;
  Flags flags(kUsage);
  flags.AddSwitch("json", &is_json, "Print JSON.");
  TAKT_TOOLS_ASSIGN_OR_RETURN(const bool goes_on,
                              flags.ParseCommandLine(argc, argv));
  if (!goes_on) return kSuccess;
  std::vector<std::string> rest = flags.positional();
  if (rest.empty()) return InvalidArgument("no command; see --help");
  const std::string command = rest.front();
  rest.erase(rest.begin());
  for (const char* known : {"show", "convert", "summary", "compare", "check"}) {
    if (command == known) return Do(command, rest, is_json);
  }
  return InvalidArgument("no command \"" + command + "\"; see --help");
}

}  // namespace
}  // namespace takt::tools

int main(int argc, char** argv) {
  return takt::tools::RunTool("takt-trace",
                              [&] { return takt::tools::Run(argc, argv); });
}
