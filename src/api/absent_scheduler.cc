// In place of the scheduler: the only policy is "off".
#include <cstddef>

#include "abi/guard.h"
#include "abi/null.h"
#include "absl/strings/string_view.h"
#include "api/handle.h"
#include "api/scheduler.h"
#include "base/absent.h"
#include "runtime/instance.h"

namespace takt::api {
namespace {

absl::Status Absent() { return AbsentError("the scheduler", "TAKT_SCHEDULER"); }

}  // namespace

absl::StatusOr<absl::optional<sched::SchedulerOptions>> ReadScheduler(
    const takt_scheduler_options_t& given) {
  if (given.policy != nullptr &&
      absl::string_view(given.policy) != runtime::kNoPolicy) {
    return Absent();
  }
  return absl::nullopt;
}

}  // namespace takt::api

using takt::api::Absent;
using takt::api::ToStatus;

size_t takt_scheduler_policy_names(const char* const** out_names) {
  TAKT_REQUIRE_OR(0, out_names);
  static constexpr const char* kNames[] = {"off"};
  *out_names = kNames;
  return 1;
}

const char* takt_scheduler_policy(const takt_instance_t* instance) {
  TAKT_REQUIRE_OR("", instance);
  return "off";
}

takt_status_t takt_scheduler_query_resources(takt_instance_t* instance,
                                             size_t capacity,
                                             takt_resource_t* out_resources,
                                             size_t* out_count) {
  TAKT_REQUIRE(instance, Items(capacity, out_resources), out_count);
  TAKT_TRY {
    *out_count = 0;
    return ToStatus(__func__, Absent());
  }
  TAKT_CATCH_ALL(instance, Items(capacity, out_resources), out_count);
}

takt_status_t takt_scheduler_set_available(takt_instance_t* instance, uint32_t,
                                           bool) {
  TAKT_REQUIRE(instance);
  TAKT_TRY { return ToStatus(__func__, Absent()); }
  TAKT_CATCH_ALL(instance);
}

takt_status_t takt_scheduler_set_speed(takt_instance_t* instance,
                                       const char* pool, uint32_t) {
  TAKT_REQUIRE(instance, pool);
  TAKT_TRY { return ToStatus(__func__, Absent()); }
  TAKT_CATCH_ALL(instance, pool);
}

takt_status_t takt_scheduler_set_hot(takt_instance_t* instance, bool) {
  TAKT_REQUIRE(instance);
  TAKT_TRY { return ToStatus(__func__, Absent()); }
  TAKT_CATCH_ALL(instance);
}

takt_status_t takt_scheduler_query_mode(takt_instance_t* instance,
                                        takt_scheduler_mode_t* out_mode) {
  TAKT_REQUIRE(instance, out_mode);
  TAKT_TRY {
    *out_mode = TAKT_SCHEDULER_MODE_NOMINAL;
    return ToStatus(__func__, Absent());
  }
  TAKT_CATCH_ALL(instance, out_mode);
}

takt_status_t takt_stream_admit(takt_stream_t* stream, bool,
                                takt_admission_t* out_admission) {
  TAKT_REQUIRE(stream, out_admission);
  TAKT_TRY { return ToStatus(__func__, Absent()); }
  TAKT_CATCH_ALL(stream, out_admission);
}

takt_status_t takt_scheduler_query_class(
    takt_instance_t* instance, takt_criticality_t,
    takt_class_statistics_t* out_statistics) {
  TAKT_REQUIRE(instance, out_statistics);
  TAKT_TRY { return ToStatus(__func__, Absent()); }
  TAKT_CATCH_ALL(instance, out_statistics);
}

takt_status_t takt_scheduler_query_durations(
    takt_instance_t* instance, takt_duration_statistics_t* out_statistics) {
  TAKT_REQUIRE(instance, out_statistics);
  TAKT_TRY { return ToStatus(__func__, Absent()); }
  TAKT_CATCH_ALL(instance, out_statistics);
}

takt_status_t takt_scheduler_query_windows(
    takt_instance_t* instance, takt_window_statistics_t* out_statistics) {
  TAKT_REQUIRE(instance, out_statistics);
  TAKT_TRY { return ToStatus(__func__, Absent()); }
  TAKT_CATCH_ALL(instance, out_statistics);
}

takt_status_t takt_scheduler_set_callbacks(
    takt_instance_t* instance, void (*)(void* user_data, const takt_miss_t*),
    void (*)(void* user_data, takt_scheduler_mode_t), void*) {
  TAKT_REQUIRE(instance);
  TAKT_TRY { return ToStatus(__func__, Absent()); }
  TAKT_CATCH_ALL(instance);
}

takt_status_t takt_scheduler_save_profile(takt_instance_t* instance,
                                          const char* path) {
  TAKT_REQUIRE(instance, path);
  TAKT_TRY { return ToStatus(__func__, Absent()); }
  TAKT_CATCH_ALL(instance, path);
}

takt_status_t takt_scheduler_load_profile(takt_instance_t* instance,
                                          const char* path,
                                          size_t* out_record_count) {
  TAKT_REQUIRE(instance, path, Optional(out_record_count));
  TAKT_TRY {
    if (out_record_count != nullptr) *out_record_count = 0;
    return ToStatus(__func__, Absent());
  }
  TAKT_CATCH_ALL(instance, path, Optional(out_record_count));
}
