// In place of plans, their runs and windows.
#include "abi/guard.h"
#include "abi/null.h"
#include "api/handle.h"
#include "api/scheduler_windows.h"
#include "base/absent.h"
#include "takt/plan.h"
#include "takt/plan_run.h"

namespace takt::api {
namespace {

absl::Status Absent() {
  return AbsentError("plans and windows", "TAKT_PLANNER");
}

}  // namespace

absl::StatusOr<runtime::AdvisorFactory> ReadWindows(
    const takt_scheduler_options_t& given) {
  if (given.window_ns == 0) return runtime::AdvisorFactory();
  return Absent();
}

absl::Status QueryWindows(runtime::Instance& instance, shop::JobShop& shop,
                          takt_window_statistics_t* out) {
  return Absent();
}

}  // namespace takt::api

using takt::api::Absent;
using takt::api::ToStatus;

takt_status_t takt_plan_load_file(const char* path, takt_plan_t** out_plan) {
  TAKT_REQUIRE(path, out_plan);
  TAKT_TRY {
    *out_plan = nullptr;
    return ToStatus(__func__, Absent());
  }
  TAKT_CATCH_ALL(path, out_plan);
}

takt_status_t takt_plan_load(const char* name, const void* data,
                             size_t byte_length, takt_plan_t** out_plan) {
  TAKT_REQUIRE(Items(byte_length, data), out_plan);
  TAKT_TRY {
    *out_plan = nullptr;
    return ToStatus(__func__, Absent());
  }
  TAKT_CATCH_ALL(Items(byte_length, data), out_plan);
}

takt_status_t takt_plan_encode(const takt_plan_t* plan, char** out_data,
                               size_t* out_byte_length) {
  TAKT_REQUIRE(plan, out_data, out_byte_length);
  TAKT_TRY {
    *out_data = nullptr;
    *out_byte_length = 0;
    return ToStatus(__func__, Absent());
  }
  TAKT_CATCH_ALL(plan, out_data, out_byte_length);
}

// There are no plans and no runs, so a handle is NULL.
void takt_plan_retain(takt_plan_t* plan) {}
void takt_plan_release(takt_plan_t* plan) {}
void takt_plan_run_retain(takt_plan_run_t* run) {}
void takt_plan_run_release(takt_plan_run_t* run) {}
void takt_plan_run_stop(takt_plan_run_t* run) {}

takt_status_t takt_plan_run_create(takt_instance_t* instance, takt_plan_t* plan,
                                   size_t binding_count,
                                   const takt_plan_binding_t* bindings,
                                   const takt_plan_run_options_t* options,
                                   takt_plan_run_t** out_run) {
  TAKT_REQUIRE(instance, plan, Items(binding_count, bindings), out_run);
  TAKT_TRY {
    *out_run = nullptr;
    return ToStatus(__func__, Absent());
  }
  TAKT_CATCH_ALL(instance, plan, Items(binding_count, bindings), out_run);
}

takt_status_t takt_plan_run_start(takt_plan_run_t* run, int64_t start_ns) {
  TAKT_REQUIRE(run);
  TAKT_TRY { return ToStatus(__func__, Absent()); }
  TAKT_CATCH_ALL(run);
}

takt_status_t takt_plan_run_replace(takt_plan_run_t* run, takt_plan_t* plan,
                                    int64_t at_ns, int64_t* out_at_ns) {
  TAKT_REQUIRE(run, plan, Optional(out_at_ns));
  TAKT_TRY { return ToStatus(__func__, Absent()); }
  TAKT_CATCH_ALL(run, plan, Optional(out_at_ns));
}

takt_status_t takt_plan_run_wait(takt_plan_run_t* run, int64_t deadline_ns) {
  TAKT_REQUIRE(run);
  TAKT_TRY { return ToStatus(__func__, Absent()); }
  TAKT_CATCH_ALL(run);
}

takt_status_t takt_plan_run_query(takt_plan_run_t* run,
                                  takt_plan_run_report_t* out_report) {
  TAKT_REQUIRE(run, out_report);
  TAKT_TRY { return ToStatus(__func__, Absent()); }
  TAKT_CATCH_ALL(run, out_report);
}

takt_status_t takt_plan_run_query_operation(takt_plan_run_t* run,
                                            size_t operation,
                                            takt_plan_errors_t* out_start,
                                            takt_plan_errors_t* out_end) {
  TAKT_REQUIRE(run, Optional(out_start), Optional(out_end));
  TAKT_TRY { return ToStatus(__func__, Absent()); }
  TAKT_CATCH_ALL(run, Optional(out_start), Optional(out_end));
}
