#include "takt/tools/plan_contents.h"

#include <string>
#include <utility>

#include "abi/guard.h"
#include "absl/strings/str_cat.h"
#include "analysis/handle.h"
#include "analysis/libtakt.h"
#include "analysis/plan_problem.h"
#include "base/atomic_file.h"
#include "base/content_hash.h"
#include "plan/plan.h"
#include "plan/plan_file.h"
#include "plan/solved_plan.h"
#include "plan/xpu_rt_schedule.h"

namespace takt::analysis {

class PlanContents final : public Object {
 public:
  static constexpr ObjectType kType{"takt.plan_contents"};

  explicit PlanContents(plan::Plan plan)
      : Object(&kType), plan_(std::move(plan)) {}

  const plan::Plan& plan() const { return plan_; }

 private:
  const plan::Plan plan_;
};

namespace {

absl::StatusOr<Ref<PlanContents>> ReadContents(const takt_plan_t* plan) {
  TAKT_ASSIGN_OR_RETURN(plan::Plan read, ReadPlan(plan));
  return MakeRef<PlanContents>(std::move(read));
}

absl::Status Save(const takt_plan_t* plan, const char* path) {
  TAKT_ASSIGN_OR_RETURN(const std::string bytes, PlanBytes(plan));
  return WriteFileAtomically(path, bytes);
}

absl::StatusOr<plan::Plan> FromSchedule(const PlanProblem* problem,
                                        const PlanSchedule* schedule,
                                        int64_t lower_bound) {
  const solve::Schedule checked = schedule->ToSchedule();
  TAKT_RETURN_IF_ERROR(solve::CheckSchedule(problem->problem(), checked));
  return plan::PlanOfSchedule(problem->problem(), checked, lower_bound);
}

absl::StatusOr<plan::Plan> BindModule(const takt_plan_t* plan, size_t index,
                                      const takt_module_t* module) {
  TAKT_ASSIGN_OR_RETURN(plan::Plan bound, ReadPlan(plan));
  if (index >= bound.modules.size()) {
    return absl::OutOfRangeError(
        absl::StrCat("module ", index, " of a plan of ", bound.modules.size()));
  }
  plan::PlannedModule& planned = bound.modules[index];
  const uint64_t hash = takt_module_content_hash(module);
  if (hash == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("module \"", planned.name,
                     "\": a native module has no content to bind to"));
  }
  const std::string text = ContentHashText(hash);
  if (!planned.content_hash.empty() && planned.content_hash != text) {
    return absl::FailedPreconditionError(
        absl::StrCat("module \"", planned.name, "\" is bound to the content ",
                     planned.content_hash, ", not ", text));
  }
  planned.content_hash = text;
  return bound;
}

absl::StatusOr<std::string> Export(const takt_plan_t* plan) {
  TAKT_ASSIGN_OR_RETURN(const plan::Plan read, ReadPlan(plan));
  return plan::ExportLooseSchedule(read);
}

absl::StatusOr<std::string> FindFaults(const takt_plan_t* plan, size_t* count) {
  TAKT_ASSIGN_OR_RETURN(const plan::Plan read, ReadPlan(plan));
  std::string text;
  for (const plan::PlanFault& fault : plan::FindPlanFaults(read)) {
    absl::StrAppend(&text, fault.text, "\n");
    ++*count;
  }
  return text;
}

}  // namespace
}  // namespace takt::analysis

using takt::analysis::Give;
using takt::analysis::GivePlan;
using takt::analysis::GiveText;
using takt::analysis::ToStatus;
using takt::analysis::Unwrap;

takt_status_t takt_plan_save_file(const takt_plan_t* plan, const char* path) {
  TAKT_REQUIRE(plan, path);
  TAKT_TRY { return ToStatus(__func__, takt::analysis::Save(plan, path)); }
  TAKT_CATCH_ALL(plan, path);
}

takt_status_t takt_plan_create_from_schedule(
    const takt_plan_problem_t* problem, const takt_plan_schedule_t* schedule,
    int64_t lower_bound, takt_plan_t** out_plan) {
  TAKT_REQUIRE(problem, schedule, out_plan);
  TAKT_TRY {
    return GivePlan(__func__,
                    takt::analysis::FromSchedule(Unwrap(problem),
                                                 Unwrap(schedule), lower_bound),
                    out_plan);
  }
  TAKT_CATCH_ALL(problem, schedule, out_plan);
}

takt_status_t takt_plan_import_schedule(const char* json, size_t byte_length,
                                        takt_plan_t** out_plan) {
  TAKT_REQUIRE(json, out_plan);
  TAKT_TRY {
    return GivePlan(__func__,
                    takt::plan::ImportLooseSchedule({json, byte_length}),
                    out_plan);
  }
  TAKT_CATCH_ALL(json, out_plan);
}

takt_status_t takt_plan_export_schedule(const takt_plan_t* plan,
                                        char** out_text) {
  TAKT_REQUIRE(plan, out_text);
  TAKT_TRY {
    return GiveText(__func__, takt::analysis::Export(plan), out_text);
  }
  TAKT_CATCH_ALL(plan, out_text);
}

takt_status_t takt_plan_bind_module(const takt_plan_t* plan, size_t index,
                                    const takt_module_t* module,
                                    takt_plan_t** out_plan) {
  TAKT_REQUIRE(plan, module, out_plan);
  TAKT_TRY {
    return GivePlan(__func__, takt::analysis::BindModule(plan, index, module),
                    out_plan);
  }
  TAKT_CATCH_ALL(plan, module, out_plan);
}

takt_status_t takt_plan_find_faults(const takt_plan_t* plan, size_t* out_count,
                                    char** out_text) {
  TAKT_REQUIRE(plan, out_count, out_text);
  TAKT_TRY {
    *out_count = 0;
    return GiveText(__func__, takt::analysis::FindFaults(plan, out_count),
                    out_text);
  }
  TAKT_CATCH_ALL(plan, out_count, out_text);
}

takt_status_t takt_plan_contents_create(const takt_plan_t* plan,
                                        takt_plan_contents_t** out_contents) {
  TAKT_REQUIRE(plan, out_contents);
  TAKT_TRY {
    return Give(__func__, takt::analysis::ReadContents(plan), out_contents);
  }
  TAKT_CATCH_ALL(plan, out_contents);
}

void takt_plan_contents_retain(takt_plan_contents_t* contents) {
  takt::analysis::RetainHandle(contents);
}

void takt_plan_contents_release(takt_plan_contents_t* contents) {
  takt::analysis::ReleaseHandle(contents);
}

takt_plan_info_t takt_plan_contents_info(const takt_plan_contents_t* contents) {
  TAKT_REQUIRE_OR({}, contents);
  const takt::plan::Plan& p = Unwrap(contents)->plan();
  return {p.name.c_str(),
          p.period,
          p.makespan(),
          p.lower_bound,
          p.topology_hash.c_str(),
          p.profile_hash.c_str(),
          p.modules.size(),
          p.resources.size(),
          p.jobs.size(),
          p.operations.size()};
}

takt_planned_module_t takt_plan_contents_module(
    const takt_plan_contents_t* contents, size_t index) {
  TAKT_REQUIRE_OR({}, contents);
  const auto& modules = Unwrap(contents)->plan().modules;
  if (index >= modules.size()) return {};
  return {modules[index].name.c_str(), modules[index].content_hash.c_str()};
}

takt_planned_resource_t takt_plan_contents_resource(
    const takt_plan_contents_t* contents, size_t index) {
  TAKT_REQUIRE_OR({}, contents);
  const auto& resources = Unwrap(contents)->plan().resources;
  if (index >= resources.size()) return {};
  const takt::plan::PlannedResource& resource = resources[index];
  return {resource.name.c_str(),
          resource.kind == takt::plan::PlannedResource::Kind::kNpu,
          resource.cluster};
}

takt_planned_job_t takt_plan_contents_job(const takt_plan_contents_t* contents,
                                          size_t index) {
  TAKT_REQUIRE_OR({}, contents);
  const auto& jobs = Unwrap(contents)->plan().jobs;
  if (index >= jobs.size()) return {};
  return {jobs[index].name.c_str(), jobs[index].release, jobs[index].deadline,
          jobs[index].stream.c_str(), jobs[index].instance};
}

takt_planned_operation_t takt_plan_contents_operation(
    const takt_plan_contents_t* contents, size_t index) {
  TAKT_REQUIRE_OR({}, contents);
  const auto& operations = Unwrap(contents)->plan().operations;
  if (index >= operations.size()) return {};
  const takt::plan::PlannedOperation& o = operations[index];
  return {o.name.c_str(), o.kernel.c_str(),   o.job,
          o.module,       o.ordinal,          o.start,
          o.duration,     o.resources.size(), o.resources.data(),
          o.after.size(), o.after.data()};
}
