#include "hal/timeline.h"

#include "abi/guard.h"
#include "api/handle.h"
#include "takt/timeline.h"

namespace takt::api {
namespace {

absl::StatusOr<Ref<hal::Timeline>> CreateTimeline(uint64_t initial_value) {
  if (initial_value > hal::Timeline::kMaxValue) {
    return absl::InvalidArgumentError(absl::StrCat("initial_value ",
                                                   initial_value, " is beyond ",
                                                   hal::Timeline::kMaxValue));
  }
  return hal::Timeline::Create(initial_value);
}

}  // namespace
}  // namespace takt::api

using takt::api::ToStatus;
using takt::api::Unwrap;

takt_status_t takt_timeline_create(uint64_t initial_value,
                                   takt_timeline_t** out_timeline) {
  TAKT_REQUIRE(out_timeline);
  TAKT_TRY {
    return takt::api::Give(__func__, takt::api::CreateTimeline(initial_value),
                           out_timeline);
  }
  TAKT_CATCH_ALL(out_timeline);
}

void takt_timeline_retain(takt_timeline_t* timeline) {
  takt::api::RetainHandle(timeline);
}

void takt_timeline_release(takt_timeline_t* timeline) {
  takt::api::ReleaseHandle(timeline);
}

void takt_timeline_set_name(takt_timeline_t* timeline, const char* name) {
  TAKT_IGNORE_NULL(timeline);
  TAKT_TRY { Unwrap(timeline)->set_name(name != nullptr ? name : ""); }
  TAKT_CATCH_ALL_OR(, timeline);
}

takt_status_t takt_timeline_query(const takt_timeline_t* timeline,
                                  uint64_t* out_value) {
  TAKT_REQUIRE(timeline, out_value);
  TAKT_TRY {
    *out_value = Unwrap(timeline)->value();
    if (!Unwrap(timeline)->failed()) return nullptr;
    return ToStatus(__func__, Unwrap(timeline)->error());
  }
  TAKT_CATCH_ALL(timeline, out_value);
}

takt_status_t takt_timeline_signal(takt_timeline_t* timeline, uint64_t value) {
  TAKT_REQUIRE(timeline);
  TAKT_TRY { return ToStatus(__func__, Unwrap(timeline)->Signal(value)); }
  TAKT_CATCH_ALL(timeline);
}

void takt_timeline_fail(takt_timeline_t* timeline, takt_status_t status) {
  const absl::Status error = takt::api::ErrorFrom(status);
  TAKT_TRY {
    if (timeline != nullptr) Unwrap(timeline)->Fail(error);
  }
  TAKT_CATCH_ALL_OR(, timeline);
}
