// takt/plan_run.hpp - runs of plans from C++; contracts are in takt/plan_run.h.
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

#include "takt/plan.hpp"
#include "takt/plan_run.h"
#include "takt/stream.hpp"
#include "takt/takt.hpp"

namespace takt {
inline namespace cxx {

// Binds a stream of the plan to the stream `to`, or to functions.
struct PlanBinding {
  std::string stream;
  const Stream* to = nullptr;
  std::vector<Function> functions = {};
  std::vector<Value> arguments = {};
  takt_criticality_t criticality = TAKT_CRITICALITY_SOFT;
  // Called when a job has ended. Must not throw or block. The results are
  // borrowed.
  std::function<void(const takt_plan_job_end_t&, Status,
                     std::span<const takt_value_t>)>
      on_done = {};
};

// Options of a run. The defaults are those of takt_plan_run_options_init().
struct PlanRunOptions {
  takt_plan_mode_t mode = TAKT_PLAN_MODE_STRICT;
  takt_plan_late_t late = TAKT_PLAN_LATE_REPORT;
  takt_plan_timing_t timing = takt_plan_timing(TAKT_PLAN_TIMING_STANDARD);
  // Must not throw or block.
  std::function<void(const takt_plan_event_t&)> on_event = {};
};

class PlanRun {
 public:
  // An empty object, for a later assignment.
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

  // The C object, borrowed; NULL if this object is empty.
  takt_plan_run_t* get() const {
    return state_ != nullptr ? state_->run : nullptr;
  }
  Status Start(int64_t start_ns) const {
    return Status(takt_plan_run_start(get(), start_ns));
  }
  // Returns the time at which the new plan begins.
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
  // The destructor of the last copy stops the run and waits for its calls, so
  // that no callback runs after it. It must not run in a callback.
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
