// A fenced ring as an object of the C API.
#ifndef TAKT_API_RING_H_
#define TAKT_API_RING_H_

#include <utility>

#include "base/object.h"
#include "hal/fenced_ring.h"

namespace takt::api {

class Ring final : public Object {
 public:
  static constexpr ObjectType kType{"takt.ring"};
  explicit Ring(Ref<hal::Buffer> buffer)
      : Object(&kType), ring_(std::move(buffer)) {}
  hal::FencedRing& ring() { return ring_; }

 private:
  hal::FencedRing ring_;
};

}  // namespace takt::api

#endif  // TAKT_API_RING_H_
