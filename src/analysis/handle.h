// The handles of libtakt-tools, each with the class of its objects.
#ifndef TAKT_ANALYSIS_HANDLE_H_
#define TAKT_ANALYSIS_HANDLE_H_

#include "abi/c_string.h"
#include "abi/handle.h"
#include "abi/null.h"
#include "abi/status.h"

struct takt_module_contents_t;
struct takt_plan_contents_t;
struct takt_plan_problem_t;
struct takt_plan_schedule_t;
struct takt_trace_contents_t;
struct takt_workload_t;

namespace takt::analysis {

class ModuleContents;
class PlanContents;
class PlanProblem;
class PlanSchedule;
class TraceContents;
class Workload;

}  // namespace takt::analysis

namespace takt::abi {

TAKT_HANDLE(takt_module_contents_t, analysis::ModuleContents);
TAKT_HANDLE(takt_plan_contents_t, analysis::PlanContents);
TAKT_HANDLE(takt_plan_problem_t, analysis::PlanProblem);
TAKT_HANDLE(takt_plan_schedule_t, analysis::PlanSchedule);
TAKT_HANDLE(takt_trace_contents_t, analysis::TraceContents);
TAKT_HANDLE(takt_workload_t, analysis::Workload);

}  // namespace takt::abi

namespace takt::analysis {

using abi::Give;
using abi::GiveText;
using abi::ReadOptions;
using abi::ReleaseHandle;
using abi::Require;
using abi::RetainHandle;
using abi::ToStatus;
using abi::Unwrap;
using abi::Wrap;

}  // namespace takt::analysis

#endif  // TAKT_ANALYSIS_HANDLE_H_
