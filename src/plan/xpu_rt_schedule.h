// Schedules in the loose JSON form of other runners of scheduled dispatches
// (ucb-bar's XPU-RT and merlin): an object "dispatches" of named entries with
// "dependencies", "hardware_target" ("CPU_P#0+CPU_P#1"), "start_time" and
// "duration" in milliseconds, "job_name" and "module_name".
#ifndef TAKT_PLAN_XPU_RT_SCHEDULE_H_
#define TAKT_PLAN_XPU_RT_SCHEDULE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plan/plan.h"

namespace takt::plan {

// Makes a well-formed plan of the schedule in `json`. Each target "KIND#n"
// becomes a resource, and each kind a cluster; a kind with "NPU" in its name is
// an NPU. An entry's "module_name" is "MODULE$..." followed by the kernel's own
// name; all of it is kept as the operation's kernel. Entries are in order of
// their start.
//
// The text may be hostile. INVALID_ARGUMENT naming the entry and the member at
// fault.
absl::StatusOr<Plan> ImportLooseSchedule(absl::string_view json);

// Writes a plan in the same form. An import of the text gives the same
// resources, starts and durations (to the nanosecond).
std::string ExportLooseSchedule(const Plan& plan);

}  // namespace takt::plan

#endif  // TAKT_PLAN_XPU_RT_SCHEDULE_H_
