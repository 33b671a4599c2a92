// The scheduler, as the options of an instance ask for it.
#ifndef TAKT_API_SCHEDULER_H_
#define TAKT_API_SCHEDULER_H_

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "sched/scheduler.h"
#include "takt/scheduler.h"

namespace takt::api {

// None: the policy is "off".
absl::StatusOr<absl::optional<sched::SchedulerOptions>> ReadScheduler(
    const takt_scheduler_options_t& given);

}  // namespace takt::api

#endif  // TAKT_API_SCHEDULER_H_
