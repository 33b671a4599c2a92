#include "plan_run/plan_run.h"

#include <utility>
#include <vector>

#include "abi/guard.h"
#include "absl/strings/str_cat.h"
#include "api/handle.h"
#include "api/plan.h"
#include "api/quantiles.h"
#include "api/value.h"
#include "takt/plan_run.h"

namespace takt::api {
namespace {

using plan_run::PlanBinding;
using plan_run::PlanDoneCallback;
using plan_run::PlanEventCallback;
using plan_run::PlanJobEnd;
using plan_run::PlanOperationReport;
using plan_run::PlanRun;
using plan_run::PlanRunOptions;
using plan_run::PlanRunReport;
using plan_run::PlanTiming;
using plan_run::ViolationPolicy;

takt_plan_errors_t ToErrors(const follow::DivergenceSummary& summary) {
  return {summary.count, summary.min, summary.max, summary.q50, summary.q99};
}

PlanTiming ReadTiming(const takt_plan_timing_t& timing) {
  PlanTiming result;
  result.tolerance_ns = timing.tolerance_ns;
  result.patience_ns = timing.patience_ns;
  result.divergence_ns = timing.divergence_ns;
  result.lead_ns = timing.lead_ns;
  result.repair_budget_ns = timing.repair_budget_ns;
  result.repair_horizon_ns = timing.repair_horizon_ns;
  result.small_ns = timing.small_ns;
  return result;
}

PlanEventCallback ReadEventCallback(const takt_plan_run_options_t& options) {
  if (options.on_event == nullptr) return nullptr;
  return [on_event = options.on_event,
          user_data = options.user_data](const follow::PlanEvent& event) {
    const takt_plan_event_t result = {
        static_cast<takt_plan_event_kind_t>(event.kind), event.operation,
        event.cycle, event.by_ns};
    on_event(user_data, &result);
  };
}

absl::StatusOr<PlanRunOptions> ReadPlanRunOptions(
    const takt_plan_run_options_t& options) {
  if (static_cast<unsigned>(options.mode) > TAKT_PLAN_MODE_ADAPTIVE) {
    return absl::InvalidArgumentError(
        absl::StrCat("options: mode is ", options.mode));
  }
  if (static_cast<unsigned>(options.late) > TAKT_PLAN_LATE_FAIL) {
    return absl::InvalidArgumentError(
        absl::StrCat("options: late is ", options.late));
  }
  PlanRunOptions result;
  result.mode = static_cast<follow::FollowMode>(options.mode);
  result.violations = static_cast<ViolationPolicy>(options.late);
  result.timing = ReadTiming(options.timing);
  result.on_event = ReadEventCallback(options);
  return result;
}

PlanDoneCallback ReadDoneCallback(const takt_plan_binding_t& binding) {
  if (binding.on_done == nullptr) return nullptr;
  return [on_done = binding.on_done, user_data = binding.user_data](
             const PlanJobEnd& job, const absl::Status& status,
             absl::Span<const vm::Value> results) {
    const takt_plan_job_end_t end = {job.job, job.cycle, job.release_ns,
                                     job.end_ns};
    on_done(user_data, &end, ToStatus("takt_plan_run", status), results.size(),
            ToCValues(results));
  };
}

absl::Status ReadFunctions(const takt_plan_binding_t& binding,
                           PlanBinding* result) {
  TAKT_RETURN_IF_ERROR(Require(binding.functions, "bindings: functions"));
  for (size_t i = 0; i < binding.function_count; ++i) {
    TAKT_RETURN_IF_ERROR(
        Require(binding.functions[i], absl::StrCat("functions[", i, "]")));
    result->functions.push_back(Unwrap(binding.functions[i]));
  }
  if (binding.argument_count > 0) {
    TAKT_RETURN_IF_ERROR(Require(binding.arguments, "bindings: arguments"));
  }
  result->arguments =
      ToValues(absl::MakeConstSpan(binding.arguments, binding.argument_count));
  if (static_cast<unsigned>(binding.criticality) >
      TAKT_CRITICALITY_BEST_EFFORT) {
    return plan_run::StreamError(
        binding.stream, absl::StrCat("criticality is ", binding.criticality));
  }
  result->criticality = static_cast<sched::Criticality>(binding.criticality);
  return absl::OkStatus();
}

// The result borrows from `binding`.
absl::StatusOr<PlanBinding> ReadBinding(const takt_plan_binding_t& binding) {
  TAKT_RETURN_IF_ERROR(Require(binding.stream, "bindings: stream"));
  if ((binding.to != nullptr) == (binding.function_count > 0)) {
    return plan_run::StreamError(binding.stream,
                                 "expected a stream, or functions, to bind to");
  }
  PlanBinding result;
  result.name = binding.stream;
  result.to = Unwrap(binding.to);
  result.on_done = ReadDoneCallback(binding);
  if (binding.to == nullptr) {
    TAKT_RETURN_IF_ERROR(ReadFunctions(binding, &result));
  }
  return result;
}

absl::StatusOr<Ref<PlanRun>> CreateRun(
    runtime::Instance* instance, PlanFile* plan,
    absl::Span<const takt_plan_binding_t> bindings,
    const takt_plan_run_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(const takt_plan_run_options_t given,
                        ReadOptions(options, &takt_plan_run_options_init));
  TAKT_ASSIGN_OR_RETURN(PlanRunOptions read, ReadPlanRunOptions(given));
  std::vector<PlanBinding> bound;
  for (const takt_plan_binding_t& binding : bindings) {
    TAKT_ASSIGN_OR_RETURN(bound.emplace_back(), ReadBinding(binding));
  }
  return PlanRun::Create(*instance, plan->plan(), bound, std::move(read));
}

absl::Status ReplacePlan(PlanRun* run, PlanFile* plan, int64_t at_ns,
                         int64_t* out_at_ns) {
  TAKT_ASSIGN_OR_RETURN(const int64_t chosen_ns,
                        run->Replace(plan->plan(), at_ns));
  if (out_at_ns != nullptr) *out_at_ns = chosen_ns;
  return absl::OkStatus();
}

absl::Status QueryRun(PlanRun* run, takt_plan_run_report_t* out) {
  TAKT_RETURN_IF_ERROR(RequireSized(out, "out_report"));
  const PlanRunReport report = run->Query();
  takt_plan_run_report_t result = {};
  result.is_running = report.is_running;
  result.started_count = report.follow.started_count;
  result.in_place_count = report.follow.in_place_count;
  result.violation_count = report.follow.violation_count;
  result.divergence_count = report.follow.divergence_count;
  result.repair_count = report.follow.repair_count;
  result.resolve_count = report.follow.resolve_count;
  result.refused_count = report.follow.refused_count;
  result.call_count = report.call_count;
  result.failed_count = report.failed_count;
  result.late_start = ToQuantiles(report.late_start);
  result.late_end = ToQuantiles(report.late_end);
  result.first_release_ns = report.first_release_ns;
  result.last_end_ns = report.last_end_ns;
  WriteSized(result, out);
  return absl::OkStatus();
}

absl::Status QueryOperation(PlanRun* run, size_t operation,
                            takt_plan_errors_t* out_start,
                            takt_plan_errors_t* out_end) {
  TAKT_ASSIGN_OR_RETURN(const PlanOperationReport report,
                        run->QueryOperation(operation));
  if (out_start != nullptr) *out_start = ToErrors(report.start);
  if (out_end != nullptr) *out_end = ToErrors(report.end);
  return absl::OkStatus();
}

}  // namespace
}  // namespace takt::api

using takt::api::ToStatus;
using takt::api::Unwrap;

takt_status_t takt_plan_run_create(takt_instance_t* instance, takt_plan_t* plan,
                                   size_t binding_count,
                                   const takt_plan_binding_t* bindings,
                                   const takt_plan_run_options_t* options,
                                   takt_plan_run_t** out_run) {
  TAKT_REQUIRE(instance, plan, Items(binding_count, bindings), out_run);
  TAKT_TRY {
    return takt::api::Give(
        __func__,
        takt::api::CreateRun(Unwrap(instance), Unwrap(plan),
                             {bindings, binding_count}, options),
        out_run);
  }
  TAKT_CATCH_ALL(instance, plan, Items(binding_count, bindings), out_run);
}

void takt_plan_run_retain(takt_plan_run_t* run) {
  takt::api::RetainHandle(run);
}

void takt_plan_run_release(takt_plan_run_t* run) {
  takt::api::ReleaseHandle(run);
}

takt_status_t takt_plan_run_start(takt_plan_run_t* run, int64_t start_ns) {
  TAKT_REQUIRE(run);
  TAKT_TRY { return ToStatus(__func__, Unwrap(run)->Start(start_ns)); }
  TAKT_CATCH_ALL(run);
}

takt_status_t takt_plan_run_replace(takt_plan_run_t* run, takt_plan_t* plan,
                                    int64_t at_ns, int64_t* out_at_ns) {
  TAKT_REQUIRE(run, plan, Optional(out_at_ns));
  TAKT_TRY {
    return ToStatus(__func__, takt::api::ReplacePlan(Unwrap(run), Unwrap(plan),
                                                     at_ns, out_at_ns));
  }
  TAKT_CATCH_ALL(run, plan, Optional(out_at_ns));
}

void takt_plan_run_stop(takt_plan_run_t* run) {
  TAKT_IGNORE_NULL(run);
  TAKT_TRY { Unwrap(run)->Stop(); }
  TAKT_CATCH_ALL_OR(, run);
}

takt_status_t takt_plan_run_wait(takt_plan_run_t* run, int64_t deadline_ns) {
  TAKT_REQUIRE(run);
  TAKT_TRY { return ToStatus(__func__, Unwrap(run)->Wait(deadline_ns)); }
  TAKT_CATCH_ALL(run);
}

takt_status_t takt_plan_run_query(takt_plan_run_t* run,
                                  takt_plan_run_report_t* out_report) {
  TAKT_REQUIRE(run, out_report);
  TAKT_TRY {
    return ToStatus(__func__, takt::api::QueryRun(Unwrap(run), out_report));
  }
  TAKT_CATCH_ALL(run, out_report);
}

takt_status_t takt_plan_run_query_operation(takt_plan_run_t* run,
                                            size_t operation,
                                            takt_plan_errors_t* out_start,
                                            takt_plan_errors_t* out_end) {
  TAKT_REQUIRE(run, Optional(out_start), Optional(out_end));
  TAKT_TRY {
    return ToStatus(__func__, takt::api::QueryOperation(Unwrap(run), operation,
                                                        out_start, out_end));
  }
  TAKT_CATCH_ALL(run, Optional(out_start), Optional(out_end));
}
