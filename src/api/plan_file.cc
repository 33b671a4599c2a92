#include "api/plan_file.h"

#include <string>
#include <utility>

#include "abi/c_string.h"
#include "absl/strings/str_cat.h"
#include "api/handle.h"
#include "api/plan.h"
#include "base/atomic_file.h"
#include "base/content_hash.h"
#include "base/mapped_file.h"
#include "plan/plan_file.h"
#include "plan/solved_plan.h"
#include "plan/xpu_rt_schedule.h"
#include "takt/plan_file.h"
#include "vm/bytecode_module.h"

namespace takt::api {
namespace {

absl::StatusOr<Ref<PlanFile>> Load(const char* name,
                                   absl::Span<const uint8_t> bytes) {
  absl::StatusOr<plan::Plan> plan = plan::DecodePlan(bytes);
  if (!plan.ok()) return Annotate(plan.status(), name);
  return MakeRef<PlanFile>(*std::move(plan));
}

absl::StatusOr<Ref<PlanFile>> LoadFile(const char* path) {
  TAKT_ASSIGN_OR_RETURN(const Ref<MappedFile> file,
                        MappedFile::Open(path, MappedFile::Mode::kPreload));
  return Load(path, file->bytes());
}

absl::StatusOr<Ref<PlanFile>> LoadBytes(const char* name, const void* data,
                                        size_t byte_length) {
  // FlatBuffers reads aligned numbers; the caller's bytes may lie anywhere.
  const std::string copy(static_cast<const char*>(data), byte_length);
  return Load(name != nullptr ? name : "plan",
              {reinterpret_cast<const uint8_t*>(copy.data()), copy.size()});
}

absl::Status Save(const PlanFile* plan, const char* path) {
  return WriteFileAtomically(path, plan::EncodePlan(plan->plan()));
}

absl::StatusOr<Ref<PlanFile>> FromSchedule(const PlanProblem* problem,
                                           const PlanSchedule* schedule,
                                           int64_t lower_bound) {
  const solve::Schedule checked = schedule->ToSchedule();
  TAKT_RETURN_IF_ERROR(solve::CheckSchedule(problem->problem(), checked));
  return MakeRef<PlanFile>(
      plan::PlanOfSchedule(problem->problem(), checked, lower_bound));
}

absl::StatusOr<Ref<PlanFile>> Import(const char* json, size_t byte_length) {
  TAKT_ASSIGN_OR_RETURN(plan::Plan plan,
                        plan::ImportLooseSchedule({json, byte_length}));
  return MakeRef<PlanFile>(std::move(plan));
}

absl::StatusOr<Ref<PlanFile>> BindModule(const PlanFile* plan, size_t index,
                                         const takt_module_t* module) {
  plan::Plan bound = plan->plan();
  if (index >= bound.modules.size()) {
    return absl::OutOfRangeError(
        absl::StrCat("module ", index, " of a plan of ", bound.modules.size()));
  }
  plan::PlannedModule& planned = bound.modules[index];
  const uint64_t hash = vm::ContentHashOf(*Unwrap(module));
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
  return MakeRef<PlanFile>(std::move(bound));
}

absl::StatusOr<std::string> Export(const PlanFile* plan) {
  return plan::ExportLooseSchedule(plan->plan());
}

absl::StatusOr<std::string> FindFaults(const PlanFile* plan, size_t* count) {
  std::string text;
  for (const plan::PlanFault& fault : plan::FindPlanFaults(plan->plan())) {
    absl::StrAppend(&text, fault.text, "\n");
    ++*count;
  }
  return text;
}

}  // namespace
}  // namespace takt::api

using takt::api::Give;
using takt::api::GiveText;
using takt::api::Unwrap;

takt_status_t takt_plan_load_file(const char* path, takt_plan_t** out_plan) {
  TAKT_REQUIRE(path, out_plan);
  return Give(__func__, takt::api::LoadFile(path), out_plan);
}

takt_status_t takt_plan_load(const char* name, const void* data,
                             size_t byte_length, takt_plan_t** out_plan) {
  TAKT_REQUIRE(Items(byte_length, data), out_plan);
  return Give(__func__, takt::api::LoadBytes(name, data, byte_length),
              out_plan);
}

takt_status_t takt_plan_save_file(const takt_plan_t* plan, const char* path) {
  TAKT_REQUIRE(plan, path);
  return takt::api::ToStatus(__func__, takt::api::Save(Unwrap(plan), path));
}

takt_status_t takt_plan_create_from_schedule(
    const takt_plan_problem_t* problem, const takt_plan_schedule_t* schedule,
    int64_t lower_bound, takt_plan_t** out_plan) {
  TAKT_REQUIRE(problem, schedule, out_plan);
  return Give(
      __func__,
      takt::api::FromSchedule(Unwrap(problem), Unwrap(schedule), lower_bound),
      out_plan);
}

takt_status_t takt_plan_import_schedule(const char* json, size_t byte_length,
                                        takt_plan_t** out_plan) {
  TAKT_REQUIRE(json, out_plan);
  return Give(__func__, takt::api::Import(json, byte_length), out_plan);
}

takt_status_t takt_plan_bind_module(const takt_plan_t* plan, size_t index,
                                    const takt_module_t* module,
                                    takt_plan_t** out_plan) {
  TAKT_REQUIRE(plan, module, out_plan);
  return Give(__func__, takt::api::BindModule(Unwrap(plan), index, module),
              out_plan);
}

takt_status_t takt_plan_export_schedule(const takt_plan_t* plan,
                                        char** out_text) {
  TAKT_REQUIRE(plan, out_text);
  return GiveText(__func__, takt::api::Export(Unwrap(plan)), out_text);
}

void takt_plan_retain(takt_plan_t* plan) { takt::api::RetainHandle(plan); }

void takt_plan_release(takt_plan_t* plan) { takt::api::ReleaseHandle(plan); }

takt_status_t takt_plan_find_faults(const takt_plan_t* plan, size_t* out_count,
                                    char** out_text) {
  TAKT_REQUIRE(plan, out_count, out_text);
  size_t count = 0;
  const absl::StatusOr<std::string> text =
      takt::api::FindFaults(Unwrap(plan), &count);
  if (out_count != nullptr) *out_count = count;
  return GiveText(__func__, text, out_text);
}

takt_plan_info_t takt_plan_info(const takt_plan_t* plan) {
  TAKT_REQUIRE_OR({}, plan);
  const takt::plan::Plan& p = Unwrap(plan)->plan();
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

takt_planned_module_t takt_plan_module(const takt_plan_t* plan, size_t index) {
  TAKT_REQUIRE_OR({}, plan);
  const auto& modules = Unwrap(plan)->plan().modules;
  if (index >= modules.size()) return {};
  return {modules[index].name.c_str(), modules[index].content_hash.c_str()};
}

takt_planned_resource_t takt_plan_resource(const takt_plan_t* plan,
                                           size_t index) {
  TAKT_REQUIRE_OR({}, plan);
  const auto& resources = Unwrap(plan)->plan().resources;
  if (index >= resources.size()) return {};
  const takt::plan::PlannedResource& resource = resources[index];
  return {resource.name.c_str(),
          resource.kind == takt::plan::PlannedResource::Kind::kNpu,
          resource.cluster};
}

takt_planned_job_t takt_plan_job(const takt_plan_t* plan, size_t index) {
  TAKT_REQUIRE_OR({}, plan);
  const auto& jobs = Unwrap(plan)->plan().jobs;
  if (index >= jobs.size()) return {};
  return {jobs[index].name.c_str(), jobs[index].release, jobs[index].deadline,
          jobs[index].stream.c_str(), jobs[index].instance};
}

takt_planned_operation_t takt_plan_operation(const takt_plan_t* plan,
                                             size_t index) {
  TAKT_REQUIRE_OR({}, plan);
  const auto& operations = Unwrap(plan)->plan().operations;
  if (index >= operations.size()) return {};
  const takt::plan::PlannedOperation& o = operations[index];
  return {o.name.c_str(), o.kernel.c_str(),   o.job,
          o.module,       o.ordinal,          o.start,
          o.duration,     o.resources.size(), o.resources.data(),
          o.after.size(), o.after.data()};
}
