// takt/plan_run.hpp - plans and their runs from C++; contracts are in
// takt/plan_file.h and takt/plan_run.h.
//
//   auto plan = takt::Plan::Load("robot.taktplan").value();
//   auto run = takt::PlanRun::Create(
//                  instance, plan,
//                  {{.stream = "control", .to = &control},
//                   {.stream = "project", .functions = {project},
//                    .arguments = {image}}},
//                  {.mode = TAKT_PLAN_MODE_ADAPTIVE})
//                  .value();
//   check(run.Start(takt_clock_now_ns() + 10'000'000));
//   check(run.Wait());
#ifndef TAKT_PLAN_RUN_HPP_
#define TAKT_PLAN_RUN_HPP_

#include "takt/cxx20.hpp"

#if TAKT_HAS_CXX20

#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "takt/plan_run.h"
#include "takt/stream.hpp"
#include "takt/takt.hpp"
#include "takt/workload.h"

namespace takt {
inline namespace cxx {

class Plan
    : public Object<Plan, takt_plan_t, takt_plan_retain, takt_plan_release> {
 public:
  using Object::Object;

  static Result<Plan> Load(const std::string& path) {
    takt_plan_t* plan = nullptr;
    takt_status_t status = takt_plan_load_file(path.c_str(), &plan);
    return TakeResult<Plan>(status, plan);
  }
  static Result<Plan> Load(const std::string& name,
                           std::span<const uint8_t> bytes) {
    takt_plan_t* plan = nullptr;
    takt_status_t status =
        takt_plan_load(name.c_str(), bytes.data(), bytes.size(), &plan);
    return TakeResult<Plan>(status, plan);
  }
  // A schedule in the JSON of other runners.
  static Result<Plan> Import(const std::string& json) {
    takt_plan_t* plan = nullptr;
    takt_status_t status =
        takt_plan_import_schedule(json.data(), json.size(), &plan);
    return TakeResult<Plan>(status, plan);
  }
  // A copy that runs with no other module.
  Result<Plan> Bind(size_t index, const Module& module) const {
    takt_plan_t* plan = nullptr;
    takt_status_t status =
        takt_plan_bind_module(get(), index, module.get(), &plan);
    return TakeResult<Plan>(status, plan);
  }
  Status Save(const std::string& path) const {
    return Status(takt_plan_save_file(get(), path.c_str()));
  }
  takt_plan_info_t info() const { return takt_plan_info(get()); }
  takt_planned_module_t module(size_t index) const {
    return takt_plan_module(get(), index);
  }
  takt_planned_resource_t resource(size_t index) const {
    return takt_plan_resource(get(), index);
  }
  takt_planned_job_t job(size_t index) const {
    return takt_plan_job(get(), index);
  }
  takt_planned_operation_t operation(size_t index) const {
    return takt_plan_operation(get(), index);
  }
  // A line for each fault; "" if it can be carried out.
  Result<std::string> FindFaults() const {
    size_t count = 0;
    char* text = nullptr;
    Status status(takt_plan_find_faults(get(), &count, &text));
    if (!status.ok()) return status;
    std::string faults(text);
    takt_string_free(text);
    return faults;
  }
};

// What a machine is to do; see takt/workload.h.
class Workload : public Object<Workload, takt_workload_t, takt_workload_retain,
                               takt_workload_release> {
 public:
  using Object::Object;

  // `profile` "": none.
  static Result<Workload> Parse(const std::string& json,
                                const std::string& profile = "") {
    takt_workload_options_t options;
    takt_workload_options_init(&options);
    options.profile = profile.data();
    options.profile_length = profile.size();
    takt_workload_t* workload = nullptr;
    takt_status_t status =
        takt_workload_parse(json.data(), json.size(), &options, &workload);
    return TakeResult<Workload>(status, workload);
  }
  takt_workload_info_t info() const { return takt_workload_info(get()); }
  // `options` nullptr: the defaults; `report` may be nullptr.
  Result<Plan> Solve(const takt_plan_solve_options_t* options = nullptr,
                     takt_workload_plan_report_t* report = nullptr) const {
    takt_plan_t* plan = nullptr;
    takt_status_t status = takt_workload_plan(get(), options, &plan, report);
    return TakeResult<Plan>(status, plan);
  }
  struct ResponseBound {
    std::string stream;
    int64_t deadline_ns;
    int64_t bound_ns;
    int64_t least_ns;
    int64_t blocking_ns;
    std::string reason;
  };
  Result<std::vector<ResponseBound>> Analyse() const {
    std::vector<ResponseBound> bounds;
    Status status(takt_workload_analyse(
        get(),
        [](void* user_data, const takt_response_bound_t* b) {
          static_cast<std::vector<ResponseBound>*>(user_data)->push_back(
              {b->stream, b->deadline_ns, b->bound_ns, b->least_ns,
               b->blocking_ns, b->reason});
        },
        &bounds));
    if (!status.ok()) return status;
    return bounds;
  }
};

// What a stream of the plan is here: `to`, or functions.
struct PlanBinding {
  std::string stream;
  const Stream* to = nullptr;
  std::vector<Function> functions = {};
  std::vector<Value> arguments = {};
  takt_criticality_t criticality = TAKT_CRITICALITY_SOFT;
  // Must not throw or block. The results are borrowed.
  std::function<void(const takt_plan_job_end_t&, Status,
                     std::span<const takt_value_t>)>
      on_done = {};
};

// What takt_plan_run_options_init() does not say.
struct PlanRunOptions {
  takt_plan_mode_t mode = TAKT_PLAN_MODE_STRICT;
  takt_plan_late_t late = TAKT_PLAN_LATE_TELL;
  takt_plan_timing_t timing = takt_plan_timing(TAKT_PLAN_TIMING_STANDARD);
  // Must not throw or block.
  std::function<void(const takt_plan_event_t&)> on_event = {};
};

class PlanRun {
 public:
  // An empty one, to be assigned to.
  PlanRun() = default;

  static Result<PlanRun> Create(const Instance& instance, const Plan& plan,
                                std::vector<PlanBinding> bindings,
                                const PlanRunOptions& options = {}) {
    auto callbacks = std::make_shared<Callbacks>();
    callbacks->bindings = std::move(bindings);
    callbacks->on_event = options.on_event;
    std::vector<std::vector<takt_function_t*>> functions;
    functions.reserve(callbacks->bindings.size());
    std::vector<takt_plan_binding_t> given;
    for (PlanBinding& binding : callbacks->bindings) {
      functions.emplace_back();
      for (const Function& function : binding.functions) {
        functions.back().push_back(function.get());
      }
      takt_plan_binding_t one;
      std::memset(&one, 0, sizeof(one));
      one.stream = binding.stream.c_str();
      one.to = binding.to != nullptr ? binding.to->get() : nullptr;
      one.functions = functions.back().data();
      one.function_count = functions.back().size();
      one.arguments =
          reinterpret_cast<const takt_value_t*>(binding.arguments.data());
      one.argument_count = binding.arguments.size();
      one.criticality = binding.criticality;
      if (binding.on_done) one.on_done = &CallDone;
      one.user_data = &binding;
      given.push_back(one);
    }
    takt_plan_run_options_t how;
    takt_plan_run_options_init(&how);
    how.mode = options.mode;
    how.late = options.late;
    how.timing = options.timing;
    if (options.on_event) how.on_event = &CallEvent;
    how.user_data = callbacks.get();
    takt_plan_run_t* run = nullptr;
    Status status(takt_plan_run_create(instance.get(), plan.get(), given.size(),
                                       given.data(), &how, &run));
    if (!status.ok()) return status;
    PlanRun result;
    result.state_ = std::make_shared<State>(run, std::move(callbacks));
    return result;
  }

  // Borrowed; NULL of an empty one.
  takt_plan_run_t* get() const {
    return state_ != nullptr ? state_->run : nullptr;
  }
  Status Start(int64_t start_ns) const {
    return Status(takt_plan_run_start(get(), start_ns));
  }
  // Returns when the plan takes over.
  Result<int64_t> Replace(const Plan& plan, int64_t at_ns) const {
    int64_t chosen_ns = 0;
    Status status(takt_plan_run_replace(get(), plan.get(), at_ns, &chosen_ns));
    if (!status.ok()) return status;
    return chosen_ns;
  }
  void Stop() const { takt_plan_run_stop(get()); }
  Status Wait(int64_t deadline_ns = TAKT_INFINITE_FUTURE) const {
    return Status(takt_plan_run_wait(get(), deadline_ns));
  }
  takt_plan_run_report_t report() const {
    takt_plan_run_report_t report;
    std::memset(&report, 0, sizeof(report));
    report.struct_size = sizeof(report);
    takt_status_free(takt_plan_run_query(get(), &report));
    return report;
  }
  struct OperationErrors {
    takt_plan_errors_t start;
    takt_plan_errors_t end;
  };
  Result<OperationErrors> QueryOperation(size_t operation) const {
    OperationErrors errors;
    Status status(takt_plan_run_query_operation(get(), operation, &errors.start,
                                                &errors.end));
    if (!status.ok()) return status;
    return errors;
  }

 private:
  struct Callbacks {
    std::vector<PlanBinding> bindings;
    std::function<void(const takt_plan_event_t&)> on_event;
  };
  // The last copy stops the run and waits for its calls, so that the callbacks
  // are not needed any more. Not to be dropped in a callback.
  struct State {
    State(takt_plan_run_t* run_in, std::shared_ptr<Callbacks> callbacks_in)
        : run(run_in), callbacks(std::move(callbacks_in)) {}
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() {
      takt_plan_run_stop(run);
      takt_status_free(takt_plan_run_wait(run, TAKT_INFINITE_FUTURE));
      takt_plan_run_release(run);
    }
    takt_plan_run_t* run;
    std::shared_ptr<Callbacks> callbacks;
  };

  static void CallDone(void* user_data, const takt_plan_job_end_t* job,
                       takt_status_t status, size_t result_count,
                       const takt_value_t* results) {
    static_cast<PlanBinding*>(user_data)->on_done(
        *job, Status(status), std::span(results, result_count));
  }
  static void CallEvent(void* user_data, const takt_plan_event_t* event) {
    static_cast<Callbacks*>(user_data)->on_event(*event);
  }

  std::shared_ptr<State> state_;
};

}  // namespace cxx
}  // namespace takt

#endif  // TAKT_HAS_CXX20

#endif  // TAKT_PLAN_RUN_HPP_
