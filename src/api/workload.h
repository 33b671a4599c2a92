// A workload as an object of the C API.
#ifndef TAKT_API_WORKLOAD_H_
#define TAKT_API_WORKLOAD_H_

#include <utility>

#include "base/object.h"
#include "plan/workload.h"

namespace takt::api {

class Workload final : public Object {
 public:
  static constexpr ObjectType kType{"takt.workload"};
  explicit Workload(plan::Workload value)
      : Object(&kType), value_(std::move(value)) {}
  const plan::Workload& value() const { return value_; }

 private:
  const plan::Workload value_;
};

}  // namespace takt::api

#endif  // TAKT_API_WORKLOAD_H_
