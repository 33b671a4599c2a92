#include "tools/plan_workload.h"

#include <cinttypes>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "takt/tools/plan_contents.hpp"
#include "tools/common/file.h"
#include "tools/plan_file.h"

namespace takt::tools {
namespace {

using Json = nlohmann::ordered_json;

double Us(int64_t time_ns) { return static_cast<double>(time_ns) / 1e3; }

void Print(const Json& json) {
  std::printf("%s\n",
              json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

Json TimeJson(int64_t time_ns) {
  return time_ns == TAKT_INFINITE_FUTURE ? Json(nullptr) : Json(time_ns);
}

void PrintReport(const takt_plan_info_t& info,
                 const takt_workload_plan_report_t& report) {
  std::printf("operations   %zu of %zu jobs\n", info.operation_count,
              info.job_count);
  if (info.period_ns > 0) {
    std::printf("period       %.3f us\n", Us(info.period_ns));
  }
  std::printf("makespan     %.3f us\n", Us(info.makespan_ns));
  if (info.lower_bound_ns > 0) {
    std::printf("lower bound  %.3f us\n", Us(info.lower_bound_ns));
  }
  std::printf("late jobs    %zu", report.late_count);
  if (report.late_count > 0) {
    std::printf(", by up to %.3f us", Us(report.lateness_ns));
  }
  std::printf("\nenergy       %.3f uJ\nfound after  %.3f ms of %.3f\n",
              report.energy_uj,
              static_cast<double>(report.solve.best_found_ns) / 1e6,
              static_cast<double>(report.solve.elapsed_ns) / 1e6);
}

Json ReportJson(const takt_plan_info_t& info,
                const takt_workload_plan_report_t& report) {
  return {
      {"operations", info.operation_count},
      {"jobs", info.job_count},
      {"period_ns", info.period_ns},
      {"makespan_ns", info.makespan_ns},
      {"lower_bound_ns", info.lower_bound_ns},
      {"late_jobs", report.late_count},
      {"lateness_ns", report.lateness_ns},
      {"energy_uj", report.energy_uj},
      {"response_sum_ns", report.response_ns},
      {"wall_time_s", static_cast<double>(report.solve.elapsed_ns) / 1e9},
      {"best_found_s", static_cast<double>(report.solve.best_found_ns) / 1e9},
      {"steps", report.solve.step_count},
      {"lost_threads", report.solve.lost_thread_count}};
}

// What one stream is given by a plan.
struct Choice {
  bool uses_npu = false;
  uint64_t core_mask = 0;
  int64_t deadline_ns = TAKT_INFINITE_FUTURE;
};

}  // namespace

Result<std::string> ReadPlanProfile(const std::string& path) {
  if (path.empty()) return std::string();
  TAKT_TOOLS_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  if (text.starts_with("TAKTPROF")) {
    return InvalidArgument(
        path +
        ": is a profile of the scheduler, which "
        "takt_scheduler_save_profile() wrote and takt-sim --profile= takes; "
        "takt-plan takes what `takt-plan profile` has measured (JSON)");
  }
  return text;
}

bool IsWorkloadFile(const std::string& path) { return path.ends_with(".json"); }

Result<Workload> LoadWorkload(const std::string& path,
                              const std::string& profile_path,
                              const takt_topology_t* topology) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string profile,
                              ReadPlanProfile(profile_path));
  Result<Workload> workload = Workload::Parse(text, profile, topology);
  if (!workload.ok()) return Annotate(workload.status(), path);
  return workload;
}

Result<int> SolveWorkload(const SolveFiles& files,
                          takt_plan_solve_options_t options,
                          const std::function<void()>& on_solved) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(
      const Workload workload,
      LoadWorkload(files.workload, files.profile, nullptr));
  Plan start;
  if (!files.start.empty()) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(start, Plan::Load(files.start));
    options.start_plan = start.get();
  }
  takt_workload_plan_report_t report;
  const Result<Plan> plan = workload.Solve(&options, &report);
  on_solved();
  if (!plan.ok()) return Annotate(plan.status(), files.workload);
  if (!files.output.empty()) {
    TAKT_TOOLS_RETURN_IF_ERROR(
        AsWritten(SavePlan(*plan, OutputPath(files.output))));
  }
  TAKT_TOOLS_ASSIGN_OR_RETURN(const PlanContents contents,
                              PlanContents::Read(*plan));
  const takt_plan_info_t info = contents.info();
  if (files.is_json) {
    Print(ReportJson(info, report));
  } else {
    PrintReport(info, report);
  }
  return report.late_count == 0 ? kSuccess : kFailure;
}

Result<int> AnalyseWorkload(const std::string& path,
                            const std::string& profile_path, bool is_json) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Workload workload,
                              LoadWorkload(path, profile_path, nullptr));
  Json streams = Json::array();
  const Status status(takt_workload_analyse(
      workload.get(),
      [](void* user_data, const takt_response_bound_t* bound) {
        const bool has_bound = bound->bound_ns != TAKT_INFINITE_FUTURE;
        Json stream = {
            {"stream", bound->stream},
            {"deadline_ns", TimeJson(bound->deadline_ns)},
            {"bound_ns", TimeJson(bound->bound_ns)},
            {"least_ns", bound->least_ns},
            {"blocking_ns", bound->blocking_ns},
            {"in_time", has_bound && bound->bound_ns <= bound->deadline_ns}};
        if (!has_bound) stream["reason"] = bound->reason;
        static_cast<Json*>(user_data)->push_back(std::move(stream));
      },
      &streams));
  if (!status.ok()) return Annotate(status, path);
  bool all_in_time = true;
  for (const Json& stream : streams) {
    const bool has_deadline = !stream["deadline_ns"].is_null();
    if (has_deadline && !stream["in_time"].get<bool>()) all_in_time = false;
  }
  if (is_json) {
    Print({{"in_time", all_in_time}, {"streams", streams}});
    return all_in_time ? kSuccess : kFailure;
  }
  for (const Json& stream : streams) {
    const std::string name = stream["stream"];
    if (stream["bound_ns"].is_null()) {
      std::printf("%-16s no bound: %s\n", name.c_str(),
                  stream["reason"].get<std::string>().c_str());
      continue;
    }
    std::printf("%-16s at most %.3f us", name.c_str(),
                Us(stream["bound_ns"].get<int64_t>()));
    if (!stream["deadline_ns"].is_null()) {
      std::printf(", due after %.3f: %s",
                  Us(stream["deadline_ns"].get<int64_t>()),
                  stream["in_time"].get<bool>() ? "in time" : "perhaps late");
    }
    std::printf("\n");
  }
  return all_in_time ? kSuccess : kFailure;
}

Result<int> AnnotatePlan(const std::string& path, bool is_json) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Plan plan, Plan::Load(path));
  TAKT_TOOLS_ASSIGN_OR_RETURN(const PlanContents contents,
                              PlanContents::Read(plan));
  const takt_plan_info_t info = contents.info();
  std::map<std::string, Choice> choices;
  for (size_t i = 0; i < info.operation_count; ++i) {
    const takt_planned_operation_t operation = contents.operation(i);
    const takt_planned_job_t job = contents.job(operation.job);
    const std::string stream = job.stream[0] != '\0' ? job.stream : job.name;
    Choice& choice = choices[stream];
    if (job.deadline_ns != TAKT_INFINITE_FUTURE) {
      choice.deadline_ns = job.deadline_ns - job.release_ns;
    }
    for (size_t r = 0; r < operation.resource_count; ++r) {
      const uint32_t resource = operation.resources[r];
      if (contents.resource(resource).is_npu) {
        choice.uses_npu = true;
      } else if (resource < 64) {
        choice.core_mask |= uint64_t{1} << resource;
      }
    }
  }
  Json json = Json::object();
  for (const auto& [stream, choice] : choices) {
    Json attributes = Json::object();
    char mask[32];
    std::snprintf(mask, sizeof(mask), "0x%" PRIx64, choice.core_mask);
    if (choice.core_mask != 0) attributes["takt.affinity"] = mask;
    if (choice.deadline_ns != TAKT_INFINITE_FUTURE) {
      attributes["takt.deadline_ns"] = std::to_string(choice.deadline_ns);
    }
    if (choice.uses_npu) attributes["takt.resource"] = "npu";
    json[stream] = std::move(attributes);
  }
  if (is_json) {
    Print(json);
    return kSuccess;
  }
  for (const auto& [stream, attributes] : json.items()) {
    std::printf("// %s\niree.reflection = {", stream.c_str());
    const char* separator = "";
    for (const auto& [key, value] : attributes.items()) {
      std::printf("%s\"%s\" = \"%s\"", separator, key.c_str(),
                  value.get<std::string>().c_str());
      separator = ", ";
    }
    std::printf("}\n");
  }
  return kSuccess;
}

}  // namespace takt::tools
