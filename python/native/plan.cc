#include "plan.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>
#include <takt/tools/plan_contents.h>
#include <takt/tools/workload.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "errors.h"
#include "function.h"
#include "gil.h"
#include "handle.h"
#include "instance.h"
#include "options.h"
#include "quantiles.h"
#include "stream.h"
#include "tensors.h"
#include "wait.h"

namespace nb = nanobind;

namespace takt::python {
namespace {

struct Plan {
  PlanHandle handle;
};

struct Workload {
  WorkloadHandle handle;
};

nb::str TakeText(char* text) {
  nb::str result(text);
  takt_string_free(text);
  return result;
}

std::unique_ptr<Plan> LoadPlanFile(const std::string& path) {
  auto plan = std::make_unique<Plan>();
  Check(takt_plan_load_file(ToCString(path, "path"), plan->handle.out()));
  return plan;
}

std::unique_ptr<Plan> LoadPlanBytes(nb::bytes data, const std::string& name) {
  auto plan = std::make_unique<Plan>();
  Check(takt_plan_load(ToCString(name, "name"), data.c_str(), data.size(),
                       plan->handle.out()));
  return plan;
}

nb::bytes EncodePlan(const Plan& plan) {
  char* data = nullptr;
  size_t byte_length = 0;
  Check(takt_plan_encode(plan.handle.get(), &data, &byte_length));
  nb::bytes result(data, byte_length);
  takt_string_free(data);
  return result;
}

std::unique_ptr<Plan> BindPlanModule(const Plan& plan, size_t index,
                                     const Module& module) {
  auto bound = std::make_unique<Plan>();
  Check(takt_plan_bind_module(plan.handle.get(), index, module.handle.get(),
                              bound->handle.out()));
  return bound;
}

// One line for each fault; empty for a plan without any.
nb::str FindFaults(const Plan& plan) {
  size_t count = 0;
  char* text = nullptr;
  Check(takt_plan_find_faults(plan.handle.get(), &count, &text));
  return TakeText(text);
}

nb::str ExportSchedule(const Plan& plan) {
  char* text = nullptr;
  Check(takt_plan_export_schedule(plan.handle.get(), &text));
  return TakeText(text);
}

std::unique_ptr<Plan> ImportSchedule(const std::string& json) {
  auto plan = std::make_unique<Plan>();
  Check(
      takt_plan_import_schedule(json.data(), json.size(), plan->handle.out()));
  return plan;
}

nb::list DescribeOperations(const takt_plan_contents_t* contents,
                            size_t count) {
  nb::list operations;
  for (size_t i = 0; i < count; ++i) {
    const takt_planned_operation_t from =
        takt_plan_contents_operation(contents, i);
    nb::list resources;
    for (size_t k = 0; k < from.resource_count; ++k) {
      resources.append(from.resources[k]);
    }
    nb::list predecessors;
    for (size_t k = 0; k < from.predecessor_count; ++k) {
      predecessors.append(from.predecessors[k]);
    }
    nb::dict operation;
    operation["name"] = from.name;
    operation["kernel"] = from.kernel;
    operation["job"] = from.job;
    operation["start_ns"] = from.start_ns;
    operation["duration_ns"] = from.duration_ns;
    operation["resources"] = resources;
    operation["predecessors"] = predecessors;
    operations.append(operation);
  }
  return operations;
}

nb::dict DescribePlan(const Plan& plan) {
  PlanContentsHandle holder;
  Check(takt_plan_contents_create(plan.handle.get(), holder.out()));
  const takt_plan_contents_t* const contents = holder.get();
  const takt_plan_info_t info = takt_plan_contents_info(contents);
  nb::list modules, resources, jobs;
  for (size_t i = 0; i < info.module_count; ++i) {
    const takt_planned_module_t from = takt_plan_contents_module(contents, i);
    nb::dict module;
    module["name"] = from.name;
    module["content_hash"] = from.content_hash;
    modules.append(module);
  }
  for (size_t i = 0; i < info.resource_count; ++i) {
    const takt_planned_resource_t from =
        takt_plan_contents_resource(contents, i);
    nb::dict resource;
    resource["name"] = from.name;
    resource["is_npu"] = from.is_npu;
    resource["cluster"] = from.cluster;
    resources.append(resource);
  }
  for (size_t i = 0; i < info.job_count; ++i) {
    const takt_planned_job_t from = takt_plan_contents_job(contents, i);
    nb::dict job;
    job["name"] = from.name;
    job["stream"] = from.stream;
    job["release_ns"] = from.release_ns;
    job["deadline_ns"] = from.deadline_ns;
    jobs.append(job);
  }
  nb::dict result;
  result["name"] = info.name;
  result["period_ns"] = info.period_ns;
  result["makespan_ns"] = info.makespan_ns;
  result["lower_bound_ns"] = info.lower_bound_ns;
  result["topology_hash"] = info.topology_hash;
  result["profile_hash"] = info.profile_hash;
  result["modules"] = modules;
  result["resources"] = resources;
  result["jobs"] = jobs;
  result["operations"] = DescribeOperations(contents, info.operation_count);
  return result;
}

std::unique_ptr<Workload> ParseWorkload(const std::string& json,
                                        const std::string& profile) {
  takt_workload_options_t options;
  takt_workload_options_init(&options);
  if (!profile.empty()) {
    options.profile = profile.data();
    options.profile_length = profile.size();
  }
  auto workload = std::make_unique<Workload>();
  Check(takt_workload_parse(json.data(), json.size(), &options,
                            workload->handle.out()));
  return workload;
}

nb::dict DescribeWorkload(const Workload& workload) {
  const takt_workload_t* const from = workload.handle.get();
  const takt_workload_info_t info = takt_workload_info(from);
  nb::list modules, functions, streams;
  for (size_t i = 0; i < info.module_count; ++i) {
    const takt_workload_module_t each = takt_workload_module(from, i);
    nb::list parameters;
    for (size_t k = 0; k < each.parameters_count; ++k) {
      parameters.append(nb::str(takt_workload_module_parameters(from, i, k)));
    }
    nb::dict module;
    module["name"] = each.name;
    module["file"] = each.file;
    module["parameters"] = parameters;
    modules.append(module);
  }
  for (size_t i = 0; i < info.function_count; ++i) {
    const takt_workload_function_t each = takt_workload_function(from, i);
    nb::list inputs;
    for (size_t k = 0; k < each.input_count; ++k) {
      inputs.append(nb::str(takt_workload_function_input(from, i, k)));
    }
    nb::dict function;
    function["name"] = each.name;
    function["module"] = each.module;
    function["inputs"] = inputs;
    functions.append(function);
  }
  for (size_t i = 0; i < info.stream_count; ++i) {
    const takt_workload_stream_t each = takt_workload_stream(from, i);
    nb::dict stream;
    stream["name"] = each.name;
    stream["function"] = each.function;
    streams.append(stream);
  }
  nb::dict result;
  result["name"] = info.name;
  result["modules"] = modules;
  result["functions"] = functions;
  result["streams"] = streams;
  return result;
}

// The plan, and what the solver reports.
nb::tuple PlanWorkload(const Workload& workload, double seconds,
                       uint32_t threads, uint64_t seed) {
  takt_plan_solve_options_t options;
  takt_plan_solve_options_init(&options);
  options.time_limit_ns = ToNs(nb::float_(seconds), "seconds");
  options.thread_count = threads;
  options.seed = seed;
  auto plan = std::make_unique<Plan>();
  takt_workload_plan_report_t from = {};
  takt_status_t status = nullptr;
  {
    const WithoutGil no_gil;
    status = takt_workload_plan(workload.handle.get(), &options,
                                plan->handle.out(), &from);
  }
  Check(status);
  nb::dict report;
  report["lower_bound_ns"] = from.solve.lower_bound;
  report["elapsed_ns"] = from.solve.elapsed_ns;
  report["late_jobs"] = from.late_count;
  report["lateness_ns"] = from.lateness_ns;
  report["energy_uj"] = from.energy_uj;
  report["response_ns"] = from.response_ns;
  return nb::make_tuple(nb::cast(std::move(plan)), report);
}

nb::list AnalyseWorkload(const Workload& workload) {
  struct Bound {
    std::string stream;
    int64_t deadline_ns, bound_ns, least_ns, blocking_ns;
    std::string reason;
  };
  std::vector<Bound> bounds;
  takt_status_t status = nullptr;
  {
    const WithoutGil no_gil;
    status = takt_workload_analyse(
        workload.handle.get(),
        [](void* user_data, const takt_response_bound_t* each) {
          const char* const reason = each->reason;
          static_cast<std::vector<Bound>*>(user_data)->push_back(
              {each->stream, each->deadline_ns, each->bound_ns, each->least_ns,
               each->blocking_ns, reason != nullptr ? reason : ""});
        },
        &bounds);
  }
  Check(status);
  nb::list result;
  for (const Bound& each : bounds) {
    nb::dict bound;
    bound["stream"] = each.stream;
    bound["deadline_ns"] = each.deadline_ns;
    bound["bound_ns"] = each.bound_ns;
    bound["least_ns"] = each.least_ns;
    bound["blocking_ns"] = each.blocking_ns;
    bound["reason"] = each.reason;
    result.append(bound);
  }
  return result;
}

// The place of `name` among `names`.
template <size_t kCount>
int IndexOf(const char* const (&names)[kCount], const std::string& name,
            const char* what) {
  std::string listed;
  for (size_t i = 0; i < kCount; ++i) {
    if (name == names[i]) return static_cast<int>(i);
    listed += listed.empty() ? "" : ", ";
    listed += names[i];
  }
  RaiseInvalidArgument(std::string(what) + ": \"" + name + "\" is none of " +
                       listed);
}

constexpr const char* kLate[] = {"report", "fall_back", "fail"};
constexpr const char* kTimings[] = {"standard", "exact", "patient"};

nb::dict DescribeErrors(const takt_plan_errors_t& from) {
  nb::dict result;
  result["count"] = from.count;
  result["min_ns"] = from.min;
  result["max_ns"] = from.max;
  result["q50_ns"] = from.q50;
  result["q99_ns"] = from.q99;
  return result;
}

class PlanRun {
 public:
  // `streams`: for each stream of the plan a Stream, or a pair of functions and
  // of the arguments of each call.
  PlanRun(const Instance& instance, const Plan& plan, nb::dict streams,
          bool adaptive, const std::string& late, const std::string& timing) {
    takt_plan_run_options_t options;
    takt_plan_run_options_init(&options);
    options.mode = adaptive ? TAKT_PLAN_MODE_ADAPTIVE : TAKT_PLAN_MODE_STRICT;
    options.late = static_cast<takt_plan_late_t>(IndexOf(kLate, late, "late"));
    options.timing = takt_plan_timing(static_cast<takt_plan_timing_preset_t>(
        IndexOf(kTimings, timing, "timing")));
    std::vector<Bound> bound;
    bound.reserve(streams.size());
    for (auto [name, to] : streams) bound.push_back(Bind(name, to));
    std::vector<takt_plan_binding_t> bindings(bound.size());
    for (size_t i = 0; i < bound.size(); ++i) {
      bindings[i].stream = ToCString(bound[i].name, "streams");
      bindings[i].to = bound[i].stream;
      bindings[i].functions = bound[i].functions.data();
      bindings[i].function_count = bound[i].functions.size();
      if (!bound[i].arguments) continue;
      bindings[i].arguments = bound[i].arguments->data();
      bindings[i].argument_count = bound[i].arguments->size();
    }
    takt_status_t status = nullptr;
    {
      const WithoutGil no_gil;
      status = takt_plan_run_create(instance.handle.get(), plan.handle.get(),
                                    bindings.size(), bindings.data(), &options,
                                    run_.out());
    }
    Check(status);
  }
  // A run ends with its object; the last reference of an instance waits for its
  // workers, which may wait for the GIL.
  ~PlanRun() {
    const WithoutGil no_gil;
    if (run_) takt_plan_run_stop(run_.get());
    run_.Reset();
  }

  void Start(int64_t start_ns) {
    takt_status_t status = nullptr;
    {
      const WithoutGil no_gil;
      status = takt_plan_run_start(run_.get(), start_ns);
    }
    Check(status);
  }

  // The time of the replacement.
  int64_t Replace(const Plan& plan, int64_t at_ns) {
    int64_t replaced_ns = 0;
    takt_status_t status = nullptr;
    {
      const WithoutGil no_gil;
      status = takt_plan_run_replace(run_.get(), plan.handle.get(), at_ns,
                                     &replaced_ns);
    }
    Check(status);
    return replaced_ns;
  }

  void Stop() {
    const WithoutGil no_gil;
    takt_plan_run_stop(run_.get());
  }

  void Wait(nb::handle timeout) {
    WaitForSignals(
        DeadlineOf(timeout), "the run is not over yet",
        [&](int64_t slice_ns, bool* is_over) -> takt_status_t {
          takt_status_t status = takt_plan_run_wait(run_.get(), slice_ns);
          if (takt_status_code(status) != TAKT_STATUS_DEADLINE_EXCEEDED) {
            return status;
          }
          takt_status_free(status);
          *is_over = false;
          return nullptr;
        });
  }

  nb::dict Report() const {
    takt_plan_run_report_t from = {};
    from.struct_size = sizeof(from);
    Check(takt_plan_run_query(run_.get(), &from));
    nb::dict result;
    result["is_running"] = from.is_running;
    result["started"] = from.started_count;
    result["in_place"] = from.in_place_count;
    result["violations"] = from.violation_count;
    result["divergences"] = from.divergence_count;
    result["repairs"] = from.repair_count;
    result["resolves"] = from.resolve_count;
    result["refused"] = from.refused_count;
    result["calls"] = from.call_count;
    result["failed"] = from.failed_count;
    result["late_start"] = DescribeQuantiles(from.late_start);
    result["late_end"] = DescribeQuantiles(from.late_end);
    result["first_release_ns"] = from.first_release_ns;
    result["last_end_ns"] = from.last_end_ns;
    return result;
  }

  // How far an operation's starts and ends are from the plan.
  nb::tuple Operation(size_t index) const {
    takt_plan_errors_t start = {};
    takt_plan_errors_t end = {};
    Check(takt_plan_run_query_operation(run_.get(), index, &start, &end));
    return nb::make_tuple(DescribeErrors(start), DescribeErrors(end));
  }

 private:
  // What a stream of the plan is bound to.
  struct Bound {
    std::string name;
    takt_stream_t* stream = nullptr;
    std::vector<takt_function_t*> functions;
    std::optional<Values> arguments;  // None: `stream` has its own.
  };

  static Bound Bind(nb::handle name, nb::handle to) {
    Bound bound;
    bound.name = nb::cast<std::string>(name);
    if (!nb::isinstance<nb::tuple>(to)) {
      bound.stream = StreamOf(to);
      return bound;
    }
    const auto [functions, arguments] =
        nb::cast<std::pair<std::vector<Function*>, nb::tuple>>(to);
    if (functions.empty()) {
      RaiseInvalidArgument("stream " + bound.name + ": no function");
    }
    for (Function* each : functions) bound.functions.push_back(each->get());
    CallOptions options;
    // All rounds read them.
    bound.arguments.emplace(functions.front()->MakeArguments(
        arguments, nb::handle(), &options, Lending::kNever));
    return bound;
  }

  PlanRunHandle run_;
};

}  // namespace

void BindPlan(nb::module_& module) {
  nb::class_<Plan>(module, "Plan", "Which operation runs when, and where.")
      .def_static("load", &LoadPlanFile, nb::arg("path"))
      .def_static("decode", &LoadPlanBytes, nb::arg("data"),
                  nb::arg("name") = "plan")
      .def_static("from_schedule", &ImportSchedule, nb::arg("json"))
      .def("encode", &EncodePlan)
      .def("schedule", &ExportSchedule)
      .def("faults", &FindFaults)
      .def("bind_module", &BindPlanModule, nb::arg("index"), nb::arg("module"))
      .def("describe", &DescribePlan);
  nb::class_<Workload>(module, "Workload", "What a robot has to run, and when.")
      .def_static("parse", &ParseWorkload, nb::arg("json"),
                  nb::arg("profile") = "")
      .def("describe", &DescribeWorkload)
      .def("plan", &PlanWorkload, nb::arg("seconds"), nb::arg("threads"),
           nb::arg("seed"))
      .def("analyse", &AnalyseWorkload);
  nb::class_<PlanRun>(module, "PlanRun", "A plan that is carried out.")
      .def(nb::init<const Instance&, const Plan&, nb::dict, bool,
                    const std::string&, const std::string&>(),
           nb::arg("instance"), nb::arg("plan"), nb::arg("streams"),
           nb::arg("adaptive"), nb::arg("late"), nb::arg("timing"))
      .def("start", &PlanRun::Start, nb::arg("start_ns"))
      .def("replace", &PlanRun::Replace, nb::arg("plan"), nb::arg("at_ns"))
      .def("stop", &PlanRun::Stop)
      .def("wait", &PlanRun::Wait, nb::arg("timeout").none() = nb::none())
      .def("report", &PlanRun::Report)
      .def("operation", &PlanRun::Operation, nb::arg("index"));
}

}  // namespace takt::python
