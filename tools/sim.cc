// takt-sim: plays a workload on a board that need not exist.
//
// The only tool that is no user of the C API: what it shows is the scheduler
// itself, which the runtime drives with other clocks.
#include <cstdio>
#include <string>

#include "sim/recorded_run.h"
#include "sim/replay.h"
#include "sim/report_json.h"
#include "sim/simulation.h"
#include "sim/sweep.h"
#include "sim/trace_recorder.h"
#include "sim/xrbench.h"
#include "tools/common/file.h"
#include "tools/common/flags.h"
#include "tools/common/main.h"
#include "trace/perfetto_reader.h"
#include "trace/perfetto_writer.h"

namespace takt::tools {
namespace {

ToolInfo Info() {
  ToolInfo info;
  info.name = "takt-sim";
  info.summary = "Plays a workload on a board in virtual time.";
  info.text =
      "  takt-sim TOPOLOGY.json WORKLOAD.json --policy=job-shop --seconds=10\n"
      "  takt-sim TOPOLOGY.json WORKLOAD.json --sweep\n"
      "  takt-sim TOPOLOGY.json XRBENCH.json --xrbench\n"
      "  takt-sim replay TRACE\n\n"
      "It prints what became of the jobs of each stream. The same seed gives\n"
      "the same run. `replay` plays what a trace recorded again, and prints\n"
      "both side by side.\n";
  return info;
}

struct Settings {
  std::string policy = "job-shop";
  double window_ms = 0;
  int64_t seed = 1;
  double seconds = 1;
  double load = 0;
  double noise = -1;
  bool is_json = false;
  bool is_sweep = false;
  bool is_xrbench = false;
  bool fewest_clusters = false;
  bool plain_durations = false;
  std::string trace_path;  // Empty: nothing is recorded.
  int64_t trace_event_count = 1 << 22;
  std::string profile_path;
  int64_t core_count = 0;
};

Status Convert(const absl::Status& status) {
  return Status(static_cast<takt_status_code_t>(status.raw_code()),
                std::string(status.message()));
}

Result<sched::Machine> ReadBoard(const std::string& path) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string board, ReadFile(path));
  const auto topology = topology::Topology::FromJson(board);
  if (!topology.ok()) return Annotate(Convert(topology.status()), path);
  auto machine = sim::MachineOf(*topology);
  if (!machine.ok()) return Annotate(Convert(machine.status()), path);
  return *std::move(machine);
}

Result<int> Print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  return kSuccess;
}

Status WriteTrace(Recording recording, const std::string& path) {
  const Ref<trace::Trace> trace =
      trace::Trace::Create(std::move(recording), /*is_simulated=*/true);
  std::string bytes;
  const absl::Status status =
      trace::WritePerfetto(*trace, [&](absl::string_view part) {
        bytes.append(part.data(), part.size());
        return absl::OkStatus();
      });
  if (!status.ok()) return Convert(status);
  return WriteFile(OutputPath(path), bytes, /*append=*/false);
}

// Plays it, and writes the trace if there is to be one.
Result<sim::Report> Simulate(const sim::Workload& workload,
                             sim::SimulationOptions options,
                             const Settings& settings) {
  options.scheduler.policy = sched::FindPolicy(settings.policy);
  options.scheduler.set_fewest_clusters(settings.fewest_clusters);
  options.scheduler.learns_slowdown = !settings.plain_durations;
  options.seed = static_cast<uint64_t>(settings.seed);
  options.window_ns = static_cast<int64_t>(settings.window_ms * 1e6);
  if (!settings.trace_path.empty()) {
    TAKT_TOOLS_RETURN_IF_ERROR(CheckWritable(settings.trace_path));
  }
  sim::TraceRecorder recorder(
      workload, static_cast<uint64_t>(settings.trace_event_count));
  if (!settings.trace_path.empty()) options.observer = &recorder;
  auto report = sim::Simulate(workload, options);
  if (!report.ok()) return Convert(report.status());
  if (!settings.trace_path.empty()) {
    TAKT_TOOLS_RETURN_IF_ERROR(
        WriteTrace(recorder.Take(), settings.trace_path));
  }
  return *std::move(report);
}

Result<int> Play(const sim::Workload& workload, const Settings& settings) {
  sim::SimulationOptions options;
  options.length_ns = static_cast<int64_t>(settings.seconds * 1e9);
  TAKT_TOOLS_ASSIGN_OR_RETURN(const sim::Report report,
                              Simulate(workload, options, settings));
  // For the report only.
  options.scheduler.policy = sched::FindPolicy(settings.policy);
  options.seed = static_cast<uint64_t>(settings.seed);
  return Print(settings.is_json ? sim::ReportJson(workload, options, report)
                                : sim::ReportTable(workload, options, report));
}

Result<int> PlayTrace(const std::string& path, const Settings& settings) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  const auto trace = trace::ReadPerfetto(bytes);
  if (!trace.ok()) return Annotate(Convert(trace.status()), path);
  const auto replay = sim::MakeReplay(
      sim::ReadRun(**trace), static_cast<uint32_t>(settings.core_count));
  if (!replay.ok()) return Annotate(Convert(replay.status()), path);
  sim::SimulationOptions options;
  options.length_ns = replay->length_ns;
  options.drains = true;
  TAKT_TOOLS_ASSIGN_OR_RETURN(const sim::Report report,
                              Simulate(replay->workload, options, settings));
  return Print(settings.is_json ? sim::ReplayJson(*replay, report)
                                : sim::ReplayTable(*replay, report));
}

Result<int> PlayFiles(const std::vector<std::string>& paths,
                      const Settings& settings) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const sched::Machine machine,
                              ReadBoard(paths[0]));
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string text, ReadFile(paths[1]));
  sim::SweepOptions sweep;
  sweep.seed = static_cast<uint64_t>(settings.seed);
  sweep.length_ns = static_cast<int64_t>(settings.seconds * 1e9);
  if (settings.is_xrbench) {
    const auto scenarios = sim::ReadXrBench(text, machine, {});
    if (!scenarios.ok()) return Annotate(Convert(scenarios.status()), paths[1]);
    const auto table = sim::XrBenchTable(*scenarios, sweep);
    if (!table.ok()) return Convert(table.status());
    return Print(*table);
  }
  auto workload = sim::ReadWorkload(text, machine);
  if (!workload.ok()) return Annotate(Convert(workload.status()), paths[1]);
  if (settings.is_sweep) {
    const auto table = sim::SweepTable(*workload, sweep);
    if (!table.ok()) return Convert(table.status());
    return Print(*table);
  }
  if (!settings.profile_path.empty()) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string profile,
                                ReadFile(settings.profile_path));
    if (profile.starts_with('{')) {
      return InvalidArgument(
          settings.profile_path +
          ": is a profile of takt-plan (JSON), for takt-plan simulate; "
          "takt-sim takes what takt_scheduler_save_profile() wrote");
    }
    const auto applied = workload->ApplyProfile(profile);
    if (!applied.ok()) {
      return Annotate(Convert(applied.status()), settings.profile_path);
    }
    std::fprintf(stderr, "profile: %u durations applied, %u of others\n",
                 applied->applied_count, applied->unknown_count);
  }
  if (settings.load > 0) workload->Scale(settings.load / workload->Load());
  if (settings.noise >= 0) workload->noise = settings.noise;
  return Play(*workload, settings);
}

void AddFlags(Settings* settings, Flags* flags) {
  flags->AddChoice("policy",
                   {sched::PolicyNames().begin(), sched::PolicyNames().end()},
                   &settings->policy, "The scheduling policy.");
  flags->AddNumber("seed", 0, INT64_MAX, &settings->seed,
                   "The seed of all random numbers.");
  flags->AddReal("seconds", 1e-6, 1e6, &settings->seconds,
                 "The length of the simulation.");
  flags->AddReal("load", 0, 100, &settings->load,
                 "Scale all durations so that the periodic streams need this\n"
                 "part of the board; 0: do not scale.");
  flags->AddReal("noise", -1, 2, &settings->noise,
                 "Standard deviation of durations, relative to the duration;\n"
                 "below 0: as the workload says.");
  flags->AddReal("window_ms", 0, 1e6, &settings->window_ms,
                 "Plan windows of this length ahead, and follow the plans\n"
                 "while they hold (policy job-shop); 0: no.");
  flags->AddSwitch("fewest_clusters", &settings->fewest_clusters,
                   "Keep work on as few clusters as deadlines allow.");
  flags->AddSwitch("plain_durations", &settings->plain_durations,
                   "Expect durations as they were, whatever runs beside.");
  flags->AddSwitch(
      "sweep", &settings->is_sweep,
      "Every policy at several loads and noises: hard jobs missed.");
  flags->AddSwitch("xrbench", &settings->is_xrbench,
                   "Every policy on the scenarios of XRBench: scores.");
  flags->AddSwitch("json", &settings->is_json, "Print JSON.");
  flags->AddText("profile", &settings->profile_path,
                 "A saved profile: its durations replace those of the\n"
                 "workload's kernels.");
  flags->AddText("trace", &settings->trace_path,
                 "Write a trace to this file, for takt-trace and Perfetto;\n"
                 "- is stdout.");
  flags->AddNumber("trace_event_count", 1, INT64_MAX,
                   &settings->trace_event_count,
                   "How many events the trace keeps; later ones are lost.");
  flags->AddNumber("cores", 0, 64, &settings->core_count,
                   "How many cores a replay has; 0: as in the recorded run.");
}

Result<int> Run(int argc, char** argv, Flags* flags) {
  Settings settings;
  AddFlags(&settings, flags);
  TAKT_TOOLS_ASSIGN_OR_RETURN(const bool goes_on,
                              flags->ParseCommandLine(argc, argv));
  if (!goes_on) return kSuccess;
  if (flags->positional().size() != 2) {
    return flags->Misuse(
        "expected `TOPOLOGY WORKLOAD` or `replay TRACE`; see --help");
  }
  const bool is_table = settings.is_sweep || settings.is_xrbench;
  if (is_table && (settings.is_json || !settings.trace_path.empty())) {
    return flags->Misuse(
        "--json and --trace are for one run, not for --sweep and --xrbench");
  }
  if (flags->positional()[0] == "replay") {
    return PlayTrace(flags->positional()[1], settings);
  }
  return PlayFiles(flags->positional(), settings);
}

}  // namespace
}  // namespace takt::tools

int main(int argc, char** argv) {
  return takt::tools::RunTool(takt::tools::Info(),
                              [&](takt::tools::Flags* flags) {
                                return takt::tools::Run(argc, argv, flags);
                              });
}
