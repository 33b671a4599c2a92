// The order in which requests get a lease: in one process (lease.h) and among
// processes (shared_lease.h).
#ifndef TAKT_NPU_LEASE_ORDER_H_
#define TAKT_NPU_LEASE_ORDER_H_

#include <cstdint>

#include "base/borrower.h"
#include "base/clock.h"

namespace takt::npu {

// Higher priority first, then the earlier deadline, then first come.
struct Urgency {
  uint8_t priority = 128;
  int64_t deadline_ns = kInfiniteFuture;
  // The loan to the request while it waits. Outlives it. May be null.
  const Borrower* borrower = nullptr;

  // The urgency with the present loan.
  Urgency Now() const;
};

inline bool IsMoreUrgent(const Urgency& a, const Urgency& b) {
  return a.priority != b.priority ? a.priority > b.priority
                                  : a.deadline_ns < b.deadline_ns;
}

// Bounds the wait of a request to this number of turns, plus the turns of
// earlier requests. The number is large enough that urgent work is rarely
// delayed.
inline constexpr uint32_t kPassedOverMax = 64;

// Finds the request whose turn it is among those that wait, which are shown to
// it in the order in which they came: the first one that was passed over too
// often, else the most urgent one.
template <typename Request>
class NextTurn {
 public:
  void Show(Request request, const Urgency& urgency, uint32_t passed_over) {
    if (is_aged_) return;
    const bool is_aged = passed_over >= kPassedOverMax;
    if (has_best_ && !is_aged && !IsMoreUrgent(urgency, urgency_)) return;
    best_ = request;
    urgency_ = urgency;
    has_best_ = true;
    is_aged_ = is_aged;
  }
  bool has_best() const { return has_best_; }
  const Request& best() const { return best_; }
  const Urgency& urgency() const { return urgency_; }
  bool is_aged() const { return is_aged_; }

 private:
  Request best_{};
  Urgency urgency_;
  bool has_best_ = false;
  bool is_aged_ = false;
};

}  // namespace takt::npu

#endif  // TAKT_NPU_LEASE_ORDER_H_
