// takt/tools/plan_contents.hpp - the contents of plans from C++; contracts are
// in takt/tools/plan_contents.h.
//
// Part of libtakt-tools. This interface may change with every release.
#ifndef TAKT_TOOLS_PLAN_CONTENTS_HPP_
#define TAKT_TOOLS_PLAN_CONTENTS_HPP_

#include "takt/cxx20.hpp"

#if TAKT_HAS_CXX20

#include <string>

#include "takt/plan.hpp"
#include "takt/takt.hpp"
#include "takt/tools/plan_contents.h"

namespace takt {
inline namespace cxx {

// What is inside a plan. Texts are borrowed from it.
class PlanContents
    : public Object<PlanContents, takt_plan_contents_t,
                    takt_plan_contents_retain, takt_plan_contents_release> {
 public:
  using Object::Object;

  static Result<PlanContents> Read(const Plan& plan) {
    takt_plan_contents_t* contents = nullptr;
    takt_status_t status = takt_plan_contents_create(plan.get(), &contents);
    return TakeResult<PlanContents>(status, contents);
  }
  takt_plan_info_t info() const { return takt_plan_contents_info(get()); }
  takt_planned_module_t module(size_t index) const {
    return takt_plan_contents_module(get(), index);
  }
  takt_planned_resource_t resource(size_t index) const {
    return takt_plan_contents_resource(get(), index);
  }
  takt_planned_job_t job(size_t index) const {
    return takt_plan_contents_job(get(), index);
  }
  takt_planned_operation_t operation(size_t index) const {
    return takt_plan_contents_operation(get(), index);
  }
};

inline Status SavePlan(const Plan& plan, const std::string& path) {
  return Status(takt_plan_save_file(plan.get(), path.c_str()));
}

// Reads a schedule in the JSON form of XPU-RT and merlin.
inline Result<Plan> ImportSchedule(const std::string& json) {
  takt_plan_t* plan = nullptr;
  takt_status_t status =
      takt_plan_import_schedule(json.data(), json.size(), &plan);
  return TakeResult<Plan>(status, plan);
}

// Writes a plan in that form.
inline Result<std::string> ExportSchedule(const Plan& plan) {
  char* text = nullptr;
  Status status(takt_plan_export_schedule(plan.get(), &text));
  if (!status.ok()) return status;
  std::string json(text);
  takt_string_free(text);
  return json;
}

// Makes a copy of the plan that runs only with `module` as its module `index`.
inline Result<Plan> BindModule(const Plan& plan, size_t index,
                               const Module& module) {
  takt_plan_t* bound = nullptr;
  takt_status_t status =
      takt_plan_bind_module(plan.get(), index, module.get(), &bound);
  return TakeResult<Plan>(status, bound);
}

// Returns a line for each fault; "" if the plan can be carried out.
inline Result<std::string> FindFaults(const Plan& plan) {
  size_t count = 0;
  char* text = nullptr;
  Status status(takt_plan_find_faults(plan.get(), &count, &text));
  if (!status.ok()) return status;
  std::string faults(text);
  takt_string_free(text);
  return faults;
}

}  // namespace cxx
}  // namespace takt

#endif  // TAKT_HAS_CXX20

#endif  // TAKT_TOOLS_PLAN_CONTENTS_HPP_
