// A workload as an object behind a handle.
#ifndef TAKT_ANALYSIS_WORKLOAD_H_
#define TAKT_ANALYSIS_WORKLOAD_H_

#include <utility>

#include "base/object.h"
#include "plan/workload.h"

namespace takt::analysis {

class Workload final : public Object {
 public:
  static constexpr ObjectType kType{"takt.workload"};
  explicit Workload(plan::Workload value)
      : Object(&kType), value_(std::move(value)) {}
  const plan::Workload& value() const { return value_; }

 private:
  const plan::Workload value_;
};

}  // namespace takt::analysis

#endif  // TAKT_ANALYSIS_WORKLOAD_H_
