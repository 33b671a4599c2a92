// takt-sim: plays a workload on a board that need not exist.
//
// The only tool that is no user of the C API: what it shows is the scheduler
// itself, which the runtime drives with other clocks.
#include <cstdio>
#include <string>

#include "sim/report_json.h"
#include "sim/simulation.h"
#include "sim/sweep.h"
#include "sim/xrbench.h"
#include "tools/common/file.h"
#include "tools/common/flags.h"
#include "tools/common/main.h"

namespace takt::tools {
namespace {

constexpr char kUsage[] =
    "Plays a workload on a board in virtual time.\n\n"
    "  takt-sim TOPOLOGY.json WORKLOAD.json --policy=job-shop --seconds=10\n"
    "  takt-sim TOPOLOGY.json WORKLOAD.json --sweep\n"
    "  takt-sim TOPOLOGY.json XRBENCH.json --xrbench\n\n"
    "Prints what became of the jobs of each stream. The same seed gives the\n"
    "same run. Exit code: 0; 1 for an error.";

struct Settings {
  std::string policy = "job-shop";
  int64_t seed = 1;
  double seconds = 1;
  double load = 0;
  double noise = -1;
  bool is_json = false;
  bool is_sweep = false;
  bool is_xrbench = false;
  bool fewest_clusters = false;
};

Status Convert(const absl::Status& status) {
  return Status(static_cast<takt_status_code_t>(status.raw_code()),
                std::string(status.message()));
}

Result<sched::Machine> ReadBoard(const std::string& path) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string board, ReadFile(path));
  const auto topology = exec::Topology::FromJson(board);
  if (!topology.ok()) return Annotate(Convert(topology.status()), path);
  auto machine = sim::MachineOf(*topology);
  if (!machine.ok()) return Annotate(Convert(machine.status()), path);
  return *std::move(machine);
}

Result<int> Print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  return kSuccess;
}

Result<int> Play(const sim::Workload& workload, const Settings& settings) {
  sim::SimulationOptions options;
  options.scheduler.policy = sched::FindPolicy(settings.policy);
  options.scheduler.set_fewest_clusters(settings.fewest_clusters);
  options.seed = static_cast<uint64_t>(settings.seed);
  options.length_ns = static_cast<int64_t>(settings.seconds * 1e9);
  const auto report = sim::Simulate(workload, options);
  if (!report.ok()) return Convert(report.status());
  return Print(settings.is_json ? sim::ReportJson(workload, options, *report)
                                : sim::ReportTable(workload, options, *report));
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
  if (settings.load > 0) workload->Scale(settings.load / workload->Load());
  if (settings.noise >= 0) workload->noise = settings.noise;
  return Play(*workload, settings);
}

Result<int> Run(int argc, char** argv) {
  Settings settings;
  Flags flags(kUsage);
  flags.AddChoice("policy",
                  {sched::PolicyNames().begin(), sched::PolicyNames().end()},
                  &settings.policy, "What decides.");
  flags.AddNumber("seed", 0, INT64_MAX, &settings.seed,
                  "Of all chance in the run.");
  flags.AddReal("seconds", &settings.seconds, "How long to play.");
  flags.AddReal("load", &settings.load,
                "Scale all durations so that the periodic streams ask for\n"
                "this part of the board; 0: as they are.");
  flags.AddReal("noise", &settings.noise,
                "Standard deviation of durations, as a part of them; below\n"
                "0: what the workload says.");
  flags.AddSwitch("fewest_clusters", &settings.fewest_clusters,
                  "Keep work on as few clusters as deadlines allow.");
  flags.AddSwitch(
      "sweep", &settings.is_sweep,
      "Every policy at several loads and noises: hard jobs missed.");
  flags.AddSwitch("xrbench", &settings.is_xrbench,
                  "Every policy on the scenarios of XRBench: scores.");
  flags.AddSwitch("json", &settings.is_json, "Print JSON.");
  TAKT_TOOLS_ASSIGN_OR_RETURN(const bool goes_on,
                              flags.ParseCommandLine(argc, argv));
  if (!goes_on) return kSuccess;
  if (flags.positional().size() != 2) {
    return InvalidArgument("expected `TOPOLOGY WORKLOAD`; see --help");
  }
  if (!(settings.seconds > 0 && settings.seconds <= 1e6)) {
    return InvalidArgument("--seconds takes up to 1000000");
  }
  if (!(settings.load >= 0 && settings.load <= 100)) {
    return InvalidArgument("--load takes 0 to 100");
  }
  if (!(settings.noise <= 2)) return InvalidArgument("--noise takes up to 2");
  return PlayFiles(flags.positional(), settings);
}

}  // namespace
}  // namespace takt::tools

int main(int argc, char** argv) {
  return takt::tools::RunTool("takt-sim",
                              [&] { return takt::tools::Run(argc, argv); });
}
