// A topology behind its handle.
#ifndef TAKT_API_TOPOLOGY_H_
#define TAKT_API_TOPOLOGY_H_

#include <memory>
#include <utility>

#include "base/object.h"
#include "topology/topology.h"

namespace takt::api {

class Topology final : public Object {
 public:
  static constexpr ObjectType kType{"takt.topology"};
  explicit Topology(topology::Topology value)
      : Object(&kType),
        value_(std::make_shared<const topology::Topology>(std::move(value))) {}
  const topology::Topology& value() const { return *value_; }
  const std::shared_ptr<const topology::Topology>& shared() const {
    return value_;
  }

 private:
  const std::shared_ptr<const topology::Topology> value_;
};

}  // namespace takt::api

#endif  // TAKT_API_TOPOLOGY_H_
