// Problems and schedules of src/plan as objects of the C API.
#ifndef TAKT_API_PLAN_H_
#define TAKT_API_PLAN_H_

#include <utility>
#include <vector>

#include "base/object.h"
#include "plan/problem.h"
#include "takt/plan.h"

namespace takt::api {

class PlanProblem final : public Object {
 public:
  static constexpr ObjectType kType{"takt.plan_problem"};

  explicit PlanProblem(plan::Problem problem)
      : Object(&kType), problem_(std::move(problem)) {}

  const plan::Problem& problem() const { return problem_; }

 private:
  const plan::Problem problem_;
};

class PlanSchedule final : public Object {
 public:
  static constexpr ObjectType kType{"takt.plan_schedule"};

  PlanSchedule(std::vector<takt_plan_entry_t> entries, int64_t makespan)
      : Object(&kType), entries_(std::move(entries)), makespan_(makespan) {}

  const std::vector<takt_plan_entry_t>& entries() const { return entries_; }
  plan::Schedule ToSchedule() const {
    plan::Schedule schedule{{}, makespan_};
    for (const takt_plan_entry_t& entry : entries_) {
      schedule.entries.push_back({entry.alternative, entry.start});
    }
    return schedule;
  }
  int64_t makespan() const { return makespan_; }

 private:
  const std::vector<takt_plan_entry_t> entries_;
  const int64_t makespan_;
};

}  // namespace takt::api

#endif  // TAKT_API_PLAN_H_
