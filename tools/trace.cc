// takt-trace: shows, converts, sums up and checks what was recorded.
#include <cstdio>
#include <string>
#include <vector>

#include "takt/tools/trace_contents.hpp"
#include "tools/common/file.h"
#include "tools/common/flags.h"
#include "tools/common/main.h"
#include "tools/common/session.h"

namespace takt::tools {
namespace {

ToolInfo Info() {
  ToolInfo info;
  info.name = "takt-trace";
  info.summary = "Shows, converts, sums up and checks recorded traces.";
  info.text =
      "Traces are what takt-run-module --trace=FILE, takt-sim --trace=FILE or\n"
      "takt_trace_write_file() wrote.\n\n";
  info.commands = {
      {"show", "FILE", "Prints every event; with --json, a JSON document."},
      {"convert", "FILE TO",
       "Writes it in the format that the name of TO asks for: .txt, .json,\n"
       ".html, or else Perfetto's. \"-\" is stdout."},
      {"summary", "FILE",
       "Prints what each stream and each thread did, and what was late."},
      {"explain", "FILE",
       "Says why jobs were late, and what would avoid it; if none was, why "
       "the\n"
       "slowest one took its time."},
      {"compare", "FILE", "Prints what was planned beside what happened."},
      {"check", "FILE",
       "Looks for what cannot be: two at once on an exclusive resource, an\n"
       "effect before its cause. Exit code 1 if it finds something."}};
  return info;
}

bool PrintPart(std::string_view part) {
  std::fwrite(part.data(), 1, part.size(), stdout);
  return std::ferror(stdout) == 0;
}

Result<int> Print(const Result<std::string>& text) {
  if (!text.ok()) return text.status();
  PrintPart(*text);
  return kSuccess;
}

Result<int> Check(const TraceContents& trace, bool is_json) {
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

struct TraceFlags {
  bool is_json = false;
  int64_t jobs = 5;
};

Result<int> Do(const std::string& command, const std::vector<std::string>& rest,
               const TraceFlags& given, Flags* flags) {
  const bool is_json = given.is_json;
  const bool converts = command == "convert";
  if (rest.size() != (converts ? 2u : 1u)) {
    return flags->Misuse("expected `" + command +
                         (converts ? " FILE TO" : " FILE") + "`; see --help");
  }
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Trace trace, Trace::LoadFile(rest[0]));
  if (converts) {
    TAKT_TOOLS_RETURN_IF_ERROR(AsWritten(
        trace.WriteFile(OutputPath(rest[1]), TraceFormatOf(rest[1]))));
    return kSuccess;
  }
  if (command == "show") {
    const Status status = trace.Write(
        is_json ? TAKT_TRACE_FORMAT_JSON : TAKT_TRACE_FORMAT_TEXT, PrintPart);
    // Then FlushStdout() has the reason.
    if (!status.ok() && std::ferror(stdout) == 0) return status;
    return kSuccess;
  }
  TAKT_TOOLS_ASSIGN_OR_RETURN(const TraceContents contents,
                              TraceContents::Read(trace));
  if (command == "summary") return Print(contents.Summarize(is_json));
  if (command == "explain") {
    return Print(contents.Explain(static_cast<size_t>(given.jobs), is_json));
  }
  if (command == "compare") return Print(contents.Compare(is_json));
  return Check(contents, is_json);
}

Result<int> Run(int argc, char** argv, Flags* flags) {
  TraceFlags given;
  flags->AddSwitch("json", &given.is_json, "Print JSON.");
  flags->SetCommands({"explain"});
  flags->AddNumber("jobs", 0, 1'000'000, &given.jobs,
                   "At most this many jobs of each stream.");
  flags->SetCommands({});
  TAKT_TOOLS_ASSIGN_OR_RETURN(const bool goes_on,
                              flags->ParseCommandLine(argc, argv));
  if (!goes_on) return kSuccess;
  std::vector<std::string> rest = flags->positional();
  if (rest.empty()) return flags->Misuse("no command; see --help");
  const std::string command = rest.front();
  rest.erase(rest.begin());
  for (const char* known :
       {"show", "convert", "summary", "explain", "compare", "check"}) {
    if (command == known) return Do(command, rest, given, flags);
  }
  return flags->Misuse("no command \"" + command + "\"; see --help");
}

}  // namespace
}  // namespace takt::tools

int main(int argc, char** argv) {
  return takt::tools::RunTool(takt::tools::Info(),
                              [&](takt::tools::Flags* flags) {
                                return takt::tools::Run(argc, argv, flags);
                              });
}
