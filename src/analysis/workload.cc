#include "analysis/workload.h"

#include <optional>

#include "abi/guard.h"
#include "analysis/handle.h"
#include "analysis/libtakt.h"
#include "analysis/plan_problem.h"
#include "plan/response_analysis.h"
#include "plan/workload_plan.h"
#include "takt/tools/workload.h"

namespace takt::analysis {
namespace {

absl::StatusOr<Ref<Workload>> Parse(const char* json, size_t byte_length,
                                    const takt_workload_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(const takt_workload_options_t given,
                        ReadOptions(options, &takt_workload_options_init));
  plan::WorkloadSources sources;
  if (given.profile_length > 0) {
    TAKT_RETURN_IF_ERROR(Require(given.profile, "options: profile"));
    sources.profile = {given.profile, given.profile_length};
  }
  std::optional<topology::Topology> topology;
  sched::Machine machine;
  if (given.topology != nullptr) {
    TAKT_ASSIGN_OR_RETURN(topology, ReadTopology(given.topology));
    TAKT_ASSIGN_OR_RETURN(machine, plan::MachineOf(*topology));
    sources.machine = &machine;
  }
  TAKT_ASSIGN_OR_RETURN(plan::Workload workload,
                        plan::ReadWorkload({json, byte_length}, sources));
  if (topology.has_value()) {
    workload.topology_hash = plan::TopologyHash(*topology);
  }
  return MakeRef<Workload>(std::move(workload));
}

absl::StatusOr<plan::Plan> Plan(const Workload* workload,
                                const takt_plan_solve_options_t* options,
                                takt_workload_plan_report_t* report) {
  TAKT_ASSIGN_OR_RETURN(const solve::SolverOptions solver,
                        ReadSolverOptions(options));
  TAKT_ASSIGN_OR_RETURN(const takt_plan_solve_options_t given,
                        ReadOptions(options, &takt_plan_solve_options_init));
  std::optional<plan::Plan> start;
  if (given.start_plan != nullptr) {
    TAKT_ASSIGN_OR_RETURN(start, ReadPlan(given.start_plan));
  }
  TAKT_ASSIGN_OR_RETURN(
      plan::WorkloadSolution found,
      plan::PlanWorkload(workload->value(), solver,
                         start.has_value() ? &*start : nullptr));
  if (report != nullptr) {
    *report = {ReportOf(found.solution), found.quality.late_count,
               found.quality.lateness_max, found.quality.energy_uj,
               found.quality.response_sum};
  }
  return std::move(found.plan);
}

absl::Status Analyse(const Workload* workload,
                     takt_response_bound_visitor_t visitor, void* user_data) {
  TAKT_ASSIGN_OR_RETURN(const std::vector<plan::ResponseBound> bounds,
                        plan::AnalyseResponses(workload->value()));
  for (const plan::ResponseBound& bound : bounds) {
    const takt_response_bound_t given = {
        bound.stream.c_str(), bound.deadline_ns, bound.bound_ns,
        bound.least_ns,       bound.blocking_ns, bound.reason.c_str()};
    visitor(user_data, &given);
  }
  return absl::OkStatus();
}

const char* TextAt(const std::vector<std::string>& texts, size_t index) {
  return index < texts.size() ? texts[index].c_str() : nullptr;
}

}  // namespace
}  // namespace takt::analysis

using takt::analysis::Unwrap;

takt_status_t takt_workload_parse(const char* json, size_t byte_length,
                                  const takt_workload_options_t* options,
                                  takt_workload_t** out_workload) {
  TAKT_REQUIRE(json, out_workload);
  TAKT_TRY {
    return takt::analysis::Give(
        __func__, takt::analysis::Parse(json, byte_length, options),
        out_workload);
  }
  TAKT_CATCH_ALL(json, out_workload);
}

void takt_workload_retain(takt_workload_t* workload) {
  takt::analysis::RetainHandle(workload);
}

void takt_workload_release(takt_workload_t* workload) {
  takt::analysis::ReleaseHandle(workload);
}

takt_workload_info_t takt_workload_info(const takt_workload_t* workload) {
  TAKT_REQUIRE_OR({}, workload);
  const takt::plan::Workload& w = Unwrap(workload)->value();
  return {w.name.c_str(),   w.topology_hash.c_str(), w.profile_hash.c_str(),
          w.modules.size(), w.functions.size(),      w.streams.size()};
}

takt_workload_module_t takt_workload_module(const takt_workload_t* workload,
                                            size_t index) {
  TAKT_REQUIRE_OR({}, workload);
  const auto& modules = Unwrap(workload)->value().modules;
  if (index >= modules.size()) return {};
  const takt::plan::WorkloadModule& module = modules[index];
  return {module.name.c_str(), module.file.c_str(), module.content_hash.c_str(),
          module.parameters.size()};
}

const char* takt_workload_module_parameters(const takt_workload_t* workload,
                                            size_t module, size_t index) {
  TAKT_REQUIRE_OR(nullptr, workload);
  const auto& modules = Unwrap(workload)->value().modules;
  if (module >= modules.size()) return nullptr;
  return takt::analysis::TextAt(modules[module].parameters, index);
}

takt_workload_function_t takt_workload_function(const takt_workload_t* workload,
                                                size_t index) {
  TAKT_REQUIRE_OR({}, workload);
  const auto& functions = Unwrap(workload)->value().functions;
  if (index >= functions.size()) return {};
  const takt::plan::WorkloadFunction& function = functions[index];
  return {function.name.c_str(), function.module, function.inputs.size()};
}

const char* takt_workload_function_input(const takt_workload_t* workload,
                                         size_t function, size_t index) {
  TAKT_REQUIRE_OR(nullptr, workload);
  const auto& functions = Unwrap(workload)->value().functions;
  if (function >= functions.size()) return nullptr;
  return takt::analysis::TextAt(functions[function].inputs, index);
}

takt_workload_stream_t takt_workload_stream(const takt_workload_t* workload,
                                            size_t index) {
  TAKT_REQUIRE_OR({}, workload);
  const auto& streams = Unwrap(workload)->value().streams;
  if (index >= streams.size()) return {};
  const int32_t function = streams[index].function;
  return {streams[index].name.c_str(),
          function < 0 ? SIZE_MAX : static_cast<size_t>(function)};
}

takt_status_t takt_workload_plan(const takt_workload_t* workload,
                                 const takt_plan_solve_options_t* options,
                                 takt_plan_t** out_plan,
                                 takt_workload_plan_report_t* out_report) {
  TAKT_REQUIRE(workload, out_plan, Optional(out_report));
  TAKT_TRY {
    return takt::analysis::GivePlan(
        __func__, takt::analysis::Plan(Unwrap(workload), options, out_report),
        out_plan);
  }
  TAKT_CATCH_ALL(workload, out_plan, Optional(out_report));
}

takt_status_t takt_workload_analyse(const takt_workload_t* workload,
                                    takt_response_bound_visitor_t visitor,
                                    void* user_data) {
  TAKT_REQUIRE(workload, visitor);
  TAKT_TRY {
    return takt::analysis::ToStatus(
        __func__,
        takt::analysis::Analyse(Unwrap(workload), visitor, user_data));
  }
  TAKT_CATCH_ALL(workload, visitor);
}
