// takt/fence.hpp - fences from C++; contracts are in takt/fence.h.
#ifndef TAKT_FENCE_HPP_
#define TAKT_FENCE_HPP_

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "takt/core.hpp"
#include "takt/fence.h"

namespace takt {
inline namespace cxx {

// See takt/fence.h.
class Fence : public Object<Fence, takt_fence_t, takt_fence_retain,
                            takt_fence_release> {
 public:
  using Object::Object;
  static Result<Fence> Create() {
    takt_fence_t* fence = nullptr;
    takt_status_t status = takt_fence_create(&fence);
    return TakeResult<Fence>(status, fence);
  }
  // Reached when `signaller_count` signallers are done.
  static Result<Fence> CreateBarrier(uint32_t signaller_count) {
    takt_fence_t* fence = nullptr;
    takt_status_t status = takt_fence_create_barrier(signaller_count, &fence);
    return TakeResult<Fence>(status, fence);
  }
  // Reached when all of them are; empty if all are empty.
  static Result<Fence> Join(std::span<const Fence> fences) {
    std::vector<takt_fence_t*> pointers;
    for (const Fence& fence : fences) pointers.push_back(fence.get());
    takt_fence_t* joined = nullptr;
    takt_status_t status =
        takt_fence_join(pointers.size(), pointers.data(), &joined);
    return TakeResult<Fence>(status, joined);
  }
  static Result<Fence> Join(std::initializer_list<Fence> fences) {
    return Join(std::span<const Fence>(fences.begin(), fences.size()));
  }
  // What one signaller of a barrier signals; of another fence, itself.
  Result<Fence> TakeShare() const {
    takt_fence_t* share = nullptr;
    takt_status_t status = takt_fence_take_share(get(), &share);
    return TakeResult<Fence>(status, share);
  }
  // Reached or not; the fence's own error if it failed.
  Result<bool> Query() const {
    bool reached = false;
    Status status(takt_fence_query(get(), &reached));
    if (!status.ok()) return status;
    return reached;
  }
  Status Signal() const { return Status(takt_fence_signal(get())); }
  void Fail(Status error) const { takt_fence_fail(get(), error.release()); }
  Status Wait(const Instance& instance,
              int64_t deadline_ns = TAKT_INFINITE_FUTURE) const {
    return Status(takt_fence_wait(get(), instance.get(), deadline_ns));
  }
};

}  // namespace cxx
}  // namespace takt

#endif  // TAKT_FENCE_HPP_
