// A topology behind its handle.
#ifndef TAKT_API_TOPOLOGY_H_
#define TAKT_API_TOPOLOGY_H_

#include <utility>

#include "base/object.h"
#include "exec/topology.h"

namespace takt::api {

class Topology final : public Object {
 public:
  static constexpr ObjectType kType{"takt.topology"};
  explicit Topology(exec::Topology value)
      : Object(&kType), value_(std::move(value)) {}
  const exec::Topology& value() const { return value_; }

 private:
  const exec::Topology value_;
};

}  // namespace takt::api

#endif  // TAKT_API_TOPOLOGY_H_
