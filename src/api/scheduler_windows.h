// Windows that a scheduler plans, as the C API asks for them.
#ifndef TAKT_API_SCHEDULER_WINDOWS_H_
#define TAKT_API_SCHEDULER_WINDOWS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/instance.h"
#include "shop/job_shop.h"
#include "takt/scheduler.h"

namespace takt::api {

// Null without windows.
absl::StatusOr<runtime::AdvisorFactory> ReadWindows(
    const takt_scheduler_options_t& given);

// takt_scheduler_query_windows() for the instance's scheduler. `out` has its
// struct_size.
absl::Status QueryWindows(runtime::Instance& instance, shop::JobShop& shop,
                          takt_window_statistics_t* out);

}  // namespace takt::api

#endif  // TAKT_API_SCHEDULER_WINDOWS_H_
