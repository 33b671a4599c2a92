// takt-plan: measures, plans and simulates workloads, solves flexible job
// shops, and checks and converts plans and schedules.
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "takt/tools/plan_contents.hpp"
#include "takt/tools/plan_problem.h"
#include "tools/common/file.h"
#include "tools/common/flags.h"
#include "tools/common/main.h"
#include "tools/plan_file.h"
#include "tools/plan_profile.h"
#include "tools/plan_simulate.h"
#include "tools/plan_workload.h"

namespace takt::tools {
namespace {

ToolInfo Info() {
  ToolInfo info;
  info.name = "takt-plan";
  info.summary = "Finds, checks and converts schedules and plans.";
  info.text = "\"-\" is stdin; for --output it is stdout.\n\n";
  info.commands = {
      {"profile", "WORKLOAD.json --output=PROFILE.json",
       "Measures what the functions of a workload do on this machine, prints "
       "a\n"
       "table of it, and says so if the machine was noisy."},
      {"solve", "WORKLOAD.json --profile=PROFILE.json --output=FILE.taktplan",
       "Plans a workload. Exit code 1 if a job of the plan is late."},
      {"solve", "INSTANCE.fjs|.fajs [--output=FILE.taktplan]",
       "Solves a flexible job shop: prints the makespan or the tardiness, a\n"
       "proved lower bound, the time it took and the schedule."},
      {"analyse", "WORKLOAD.json --profile=PROFILE.json",
       "Bounds the response of each stream, or says why it cannot. Exit code "
       "1\n"
       "if a stream is not bound to be in time."},
      {"simulate",
       "WORKLOAD.json --profile=PROFILE.json [--plan=FILE.taktplan]",
       "Plays a workload in virtual time, by the plan or by the online "
       "policy,\n"
       "and prints what became of each stream and how the plan was kept."},
      {"check", "FILE.taktplan",
       "Names what is wrong with a plan. Exit code 1 if something is."},
      {"check", "INSTANCE.fjs|.fajs SCHEDULE.json",
       "The same for a schedule that `solve --json` printed."},
      {"show", "FILE.taktplan", "Prints a plan."},
      {"annotate", "FILE.taktplan",
       "Prints a plan's choices as attributes for the source."},
      {"import", "SCHEDULE.json --output=FILE.taktplan",
       "Makes a plan of a JSON schedule of XPU-RT or merlin."},
      {"export", "FILE.taktplan [--output=SCHEDULE.json]",
       "Makes such a schedule of a plan."}};
  return info;
}

using Json = nlohmann::ordered_json;

struct Deleter {
  void operator()(takt_plan_problem_t* p) const {
    takt_plan_problem_release(p);
  }
  void operator()(takt_plan_schedule_t* s) const {
    takt_plan_schedule_release(s);
  }
};
using Problem = std::unique_ptr<takt_plan_problem_t, Deleter>;
using Schedule = std::unique_ptr<takt_plan_schedule_t, Deleter>;

struct Settings {
  double time_limit_s = 1;
  int64_t threads = 1;
  int64_t seed = 1;
  int64_t samples = 100;
  std::vector<std::string> npus;
  std::string profile;
  std::string start;
  std::string plan;
  std::string mode = "strict";
  std::string objective = "makespan";
  double noise = 0;
  double seconds = 1;
  std::vector<std::string> modules;
  bool is_json = false;
  std::string output;  // Empty: stdout.
};

Result<Problem> ReadProblem(const std::string& path) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  takt_plan_problem_t* problem = nullptr;
  const Status status(takt_plan_problem_parse(
      text.data(), text.size(),
      path.ends_with(".fajs") ? TAKT_PLAN_FORMAT_FAJS : TAKT_PLAN_FORMAT_FJS,
      &problem));
  if (!status.ok()) return Annotate(status, path);
  return Problem(problem);
}

// On a terminal: each better makespan, on one line. A workload's is in
// nanoseconds and shown as the report has it.
bool ShowWorkloadProgress(void*, int64_t makespan, int64_t elapsed_ns) {
  std::fprintf(stderr, "\r%.3f s: makespan %.3f us   ",
               static_cast<double>(elapsed_ns) / 1e9,
               static_cast<double>(makespan) / 1e3);
  return true;
}
bool ShowInstanceProgress(void*, int64_t makespan, int64_t elapsed_ns) {
  std::fprintf(stderr, "\r%.3f s: makespan %lld   ",
               static_cast<double>(elapsed_ns) / 1e9,
               static_cast<long long>(makespan));
  return true;
}

// Takes the line of progress away before anything else is printed.
void EndProgress(const takt_plan_solve_options_t& options) {
  if (options.on_better != nullptr) std::fputs("\r\x1b[K", stderr);
}

Json OperationJson(const takt_plan_problem_t* problem, size_t index,
                   const takt_plan_entry_t& entry) {
  takt_plan_alternative_t alternative;
  takt_plan_problem_alternative(problem, index, entry.alternative,
                                &alternative);
  return {{"operation", index},
          {"alternative", entry.alternative},
          {"machines", std::vector<uint32_t>(
                           alternative.machines,
                           alternative.machines + alternative.machine_count)},
          {"start", entry.start},
          {"end", entry.start + alternative.duration}};
}

Json SolutionJson(const takt_plan_problem_t* problem,
                  const takt_plan_schedule_t* schedule,
                  const takt_plan_solve_report_t& report,
                  const std::string& objective) {
  size_t count = 0;
  const takt_plan_entry_t* entries =
      takt_plan_schedule_entries(schedule, &count);
  Json operations = Json::array();
  for (size_t i = 0; i < count; ++i) {
    operations.push_back(OperationJson(problem, i, entries[i]));
  }
  const int64_t makespan = takt_plan_schedule_makespan(schedule);
  const int64_t value =
      objective == "makespan" ? makespan : report.weighted_tardiness;
  return {{"makespan", makespan},
          {"weighted_tardiness", report.weighted_tardiness},
          {"objective", objective},
          {"lower_bound", report.lower_bound},
          {"optimal", value == report.lower_bound},
          {"wall_time_s", static_cast<double>(report.elapsed_ns) / 1e9},
          {"best_found_s", static_cast<double>(report.best_found_ns) / 1e9},
          {"steps", report.step_count},
          {"lost_threads", report.lost_thread_count},
          {"schedule", operations}};
}

void PrintText(const Json& solution) {
  const auto makespan = solution["makespan"].get<int64_t>();
  const auto tardiness = solution["weighted_tardiness"].get<int64_t>();
  const auto bound = solution["lower_bound"].get<int64_t>();
  const bool is_makespan = solution["objective"] == "makespan";
  const int64_t value = is_makespan ? makespan : tardiness;
  if (!is_makespan) {
    std::printf("weighted tardiness %lld, ", static_cast<long long>(tardiness));
  }
  std::printf("makespan %lld, lower bound %lld",
              static_cast<long long>(makespan), static_cast<long long>(bound));
  if (is_makespan || bound > 0) {
    std::printf(" (gap %.2f %%)",
                bound > 0 ? 100.0 * static_cast<double>(value - bound) /
                                static_cast<double>(bound)
                          : 0.0);
  }
  std::printf(", %.3f s\n", solution["wall_time_s"].get<double>());
  for (const Json& operation : solution["schedule"]) {
    std::string machines;
    for (const Json& machine : operation["machines"]) {
      if (!machines.empty()) machines += ',';
      machines += machine.dump();
    }
    std::printf("operation %s: machine %s from %s to %s\n",
                operation["operation"].dump().c_str(), machines.c_str(),
                operation["start"].dump().c_str(),
                operation["end"].dump().c_str());
  }
}

Status SaveSchedule(const takt_plan_problem_t* problem,
                    const takt_plan_schedule_t* schedule, int64_t lower_bound,
                    const std::string& path) {
  takt_plan_t* made = nullptr;
  Status status(
      takt_plan_create_from_schedule(problem, schedule, lower_bound, &made));
  if (!status.ok()) return status;
  return AsWritten(SavePlan(Plan::Take(made), OutputPath(path)));
}

takt_plan_solve_options_t SolveOptions(const Settings& settings,
                                       bool is_workload) {
  takt_plan_solve_options_t options;
  takt_plan_solve_options_init(&options);
  options.time_limit_ns = static_cast<int64_t>(settings.time_limit_s * 1e9);
  options.thread_count = static_cast<uint32_t>(settings.threads);
  options.seed = static_cast<uint64_t>(settings.seed);
  if (isatty(STDERR_FILENO) != 0) {
    options.on_better =
        is_workload ? ShowWorkloadProgress : ShowInstanceProgress;
  }
  return options;
}

// A schedule, and the weighted tardiness that it claims to have.
struct GivenSchedule {
  Schedule schedule;
  std::optional<int64_t> tardiness;
};

// Reads what SolutionJson() made.
Result<GivenSchedule> ReadSchedule(const std::string& path) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto is_number = [](const Json& object, const char* key) {
    return object.is_object() && object.contains(key) &&
           object[key].is_number_integer();
  };
  if (!is_number(json, "makespan") || !json.contains("schedule") ||
      !json["schedule"].is_array()) {
    return InvalidArgument(path +
                           ": no JSON object of a makespan and a schedule");
  }
  std::vector<takt_plan_entry_t> entries;
  for (const Json& operation : json["schedule"]) {
    const std::string at =
        path + ": schedule[" + std::to_string(entries.size()) + "]";
    if (!is_number(operation, "alternative") ||
        !is_number(operation, "start")) {
      return InvalidArgument(at + ": no alternative and start");
    }
    const auto alternative = operation["alternative"].get<int64_t>();
    if (alternative < 0 || alternative > UINT32_MAX) {
      return InvalidArgument(at + ": alternative is " +
                             std::to_string(alternative));
    }
    entries.push_back({static_cast<uint32_t>(alternative),
                       operation["start"].get<int64_t>()});
  }
  takt_plan_schedule_t* schedule = nullptr;
  const Status status(takt_plan_schedule_create(entries.size(), entries.data(),
                                                json["makespan"].get<int64_t>(),
                                                &schedule));
  if (!status.ok()) return status;
  GivenSchedule given{Schedule(schedule), std::nullopt};
  if (is_number(json, "weighted_tardiness")) {
    given.tardiness = json["weighted_tardiness"].get<int64_t>();
  }
  return given;
}

// The weighted tardiness, or what is wrong with the schedule.
Result<int64_t> CheckSchedule(const takt_plan_problem_t* problem,
                              const GivenSchedule& given) {
  int64_t tardiness = 0;
  Status status(
      takt_plan_check_tardiness(problem, given.schedule.get(), &tardiness));
  if (!status.ok()) return status;
  if (given.tardiness.value_or(tardiness) != tardiness) {
    return InvalidArgument("the weighted tardiness is " +
                           std::to_string(tardiness) + ", the schedule says " +
                           std::to_string(*given.tardiness));
  }
  return tardiness;
}

Result<int> SolveInstance(const std::string& path, const Settings& settings) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Problem problem, ReadProblem(path));
  takt_plan_solve_options_t options = SolveOptions(settings, false);
  GivenSchedule start;
  if (!settings.start.empty()) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(start, ReadSchedule(settings.start));
    options.start = start.schedule.get();
  }
  const bool is_makespan = settings.objective == "makespan";
  if (!is_makespan) options.objective = TAKT_PLAN_OBJECTIVE_TARDINESS;
  takt_plan_schedule_t* found = nullptr;
  takt_plan_solve_report_t report;
  const Status status(
      takt_plan_solve(problem.get(), &options, &found, &report));
  EndProgress(options);
  if (!status.ok()) return Annotate(status, path);
  const Schedule schedule(found);
  if (!settings.output.empty()) {
    // A plan has a bound of its makespan.
    const Status saved =
        SaveSchedule(problem.get(), schedule.get(),
                     is_makespan ? report.lower_bound : 0, settings.output);
    if (!saved.ok()) return saved;
  }
  const Json solution =
      SolutionJson(problem.get(), schedule.get(), report, settings.objective);
  if (settings.is_json) {
    std::printf("%s\n", solution.dump(2).c_str());
  } else {
    PrintText(solution);
  }
  return kSuccess;
}

Result<int> CheckInstance(const std::string& path,
                          const std::string& schedule_path,
                          const Settings& settings) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Problem problem, ReadProblem(path));
  TAKT_TOOLS_ASSIGN_OR_RETURN(const GivenSchedule given,
                              ReadSchedule(schedule_path));
  const Result<int64_t> tardiness = CheckSchedule(problem.get(), given);
  if (settings.is_json) {
    Json json = {{"valid", tardiness.ok()}};
    if (!tardiness.ok()) {
      json["fault"] = std::string(tardiness.status().message());
    }
    std::printf("%s\n", json.dump(2).c_str());
    return tardiness.ok() ? kSuccess : kFailure;
  }
  if (!tardiness.ok()) {  // The check has found something; it did not fail.
    std::fprintf(stderr, "takt-plan: %s: %s\n", schedule_path.c_str(),
                 tardiness.status().ToString().c_str());
    return kFailure;
  }
  std::printf("valid, makespan %lld",
              static_cast<long long>(
                  takt_plan_schedule_makespan(given.schedule.get())));
  if (*tardiness > 0) {
    std::printf(", weighted tardiness %lld",
                static_cast<long long>(*tardiness));
  }
  std::printf("\n");
  return kSuccess;
}

// Solves a workload or an instance.
Result<int> Solve(const std::string& path, const Settings& settings,
                  Flags* flags) {
  if (!IsWorkloadFile(path)) {
    if (settings.profile.empty()) return SolveInstance(path, settings);
    return flags->Misuse("--profile is for workloads");
  }
  if (settings.objective != "makespan") {
    return flags->Misuse(
        "--objective is for instances; a workload has `objectives`");
  }
  const takt_plan_solve_options_t options = SolveOptions(settings, true);
  return SolveWorkload({path, settings.profile, settings.start, settings.output,
                        settings.is_json},
                       options, [&] { EndProgress(options); });
}

Result<int> RunCommand(const std::vector<std::string>& words,
                       const Settings& settings, Flags* flags) {
  const std::string command = words.empty() ? "" : words[0];
  if (!settings.output.empty()) {
    TAKT_TOOLS_RETURN_IF_ERROR(CheckWritable(settings.output));
  }
  if (words.size() == 2) {
    if (command == "solve") return Solve(words[1], settings, flags);
    if (command == "profile") {
      return ProfileWorkload(words[1], settings.samples, settings.npus,
                             settings.output, settings.is_json);
    }
    if (command == "analyse") {
      return AnalyseWorkload(words[1], settings.profile, settings.is_json);
    }
    if (command == "simulate") {
      return SimulatePlan({words[1], settings.profile, settings.plan,
                           settings.mode == "adaptive", settings.is_json,
                           settings.noise, settings.seconds,
                           static_cast<uint64_t>(settings.seed)});
    }
    if (command == "annotate") return AnnotatePlan(words[1], settings.is_json);
    if (command == "check") return CheckPlan(words[1], settings.is_json);
    if (command == "show") return ShowPlan(words[1], settings.is_json);
    if (command == "import" && settings.output.empty()) {
      return flags->Misuse("import: --output=FILE is missing");
    }
    if (command == "import") {
      return ImportPlan(words[1], settings.modules, settings.output,
                        settings.is_json);
    }
    if (command == "export") return ExportPlan(words[1], settings.output);
  }
  if (words.size() == 3 && command == "check") {
    return CheckInstance(words[1], words[2], settings);
  }
  return flags->Misuse(
      "expected `profile WORKLOAD`, `solve WORKLOAD`, `analyse WORKLOAD`, "
      "`simulate WORKLOAD`, "
      "`solve INSTANCE`, `check INSTANCE SCHEDULE`, `check PLAN`, "
      "`show PLAN`, `annotate PLAN`, `import SCHEDULE` or `export PLAN`; see "
      "--help");
}

Result<int> Run(int argc, char** argv, Flags* flags) {
  Settings settings;
  flags->SetCommands({"solve"});
  flags->AddReal(
      "time_limit", 0, 1e6, &settings.time_limit_s,
      "Seconds to search for. The search ends earlier once its result\n"
      "is at the lower bound.");
  flags->AddNumber("threads", 1, 1024, &settings.threads,
                   "Threads that search.");
  flags->SetCommands({"solve", "simulate"});
  flags->AddNumber(
      "seed", 0, INT64_MAX, &settings.seed,
      "Starts the random numbers of the search or of the noise. The\n"
      "same seed repeats them.");
  flags->SetCommands({"solve"});
  flags->AddText("start", &settings.start,
                 "Where the search begins: a plan of the workload, or a\n"
                 "schedule of the instance that `solve --json` printed.");
  flags->AddChoice(
      "objective", {"makespan", "tardiness"}, &settings.objective,
      "What to minimize of an instance: the time of the last end, or\n"
      "the sum of weighted tardiness.");
  flags->SetCommands({"profile", "solve", "import", "export"});
  flags->AddText("output", &settings.output,
                 "The file to write; - is stdout. profile writes a profile,\n"
                 "solve and import write a plan, export writes a schedule.");
  flags->SetCommands({"solve", "analyse", "simulate"});
  flags->AddText("profile", &settings.profile,
                 "What `takt-plan profile` has measured (JSON).");
  flags->SetCommands({"simulate"});
  flags->AddText("plan", &settings.plan,
                 "The plan to carry out. Default: none, the online policy.");
  flags->AddChoice("mode", {"strict", "adaptive"}, &settings.mode,
                   "strict: operations run where and when they are planned;\n"
                   "adaptive: they may run elsewhere and at other times.");
  flags->AddReal("noise", 0, 2, &settings.noise,
                 "Standard deviation of durations, relative to the duration.");
  flags->AddReal("seconds", 1e-6, 1e6, &settings.seconds,
                 "The length of the simulation.");
  flags->SetCommands({"profile"});
  flags->AddNumber("samples", 3, 1'000'000, &settings.samples,
                   "Measured calls of each function and alternative.");
  flags->AddTexts("npu", &settings.npus,
                  "NAME=DEVICE: what the NPU of that name is here, npu-host,\n"
                  "npu-sim[=PROFILE.json] or npu=DRIVER.so[,options]. NPUs\n"
                  "named host and sim are those. Repeatable.");
  flags->SetCommands({"import"});
  flags->AddTexts(
      "module", &settings.modules,
      "A module whose executables have the schedule's kernels,\n"
      "which the plan is then bound to; a name that none has is an\n"
      "error. Repeatable.");
  flags->SetCommands({});
  flags->AddSwitch("json", &settings.is_json, "Print JSON.");
  TAKT_TOOLS_ASSIGN_OR_RETURN(const bool goes_on,
                              flags->ParseCommandLine(argc, argv));
  if (!goes_on) return kSuccess;
  return RunCommand(flags->positional(), settings, flags);
}

}  // namespace
}  // namespace takt::tools

int main(int argc, char** argv) {
  return takt::tools::RunTool(takt::tools::Info(),
                              [&](takt::tools::Flags* flags) {
                                return takt::tools::Run(argc, argv, flags);
                              });
}
