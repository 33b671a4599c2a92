// A plan as an object of the C API.
#ifndef TAKT_API_PLAN_H_
#define TAKT_API_PLAN_H_

#include <utility>

#include "base/object.h"
#include "plan/plan.h"

namespace takt::api {

class PlanFile final : public Object {
 public:
  static constexpr ObjectType kType{"takt.plan"};

  explicit PlanFile(plan::Plan plan) : Object(&kType), plan_(std::move(plan)) {}

  const plan::Plan& plan() const { return plan_; }

 private:
  const plan::Plan plan_;
};

}  // namespace takt::api

#endif  // TAKT_API_PLAN_H_
