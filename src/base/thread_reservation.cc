#include "base/thread_reservation.h"

#include <sched.h>

#include "base/check.h"
#include "base/thread_attributes.h"

namespace takt {
namespace {

// The kernel's SCHED_FLAG_RESET_ON_FORK. Without it a thread that has a
// reservation can start no other thread.
constexpr uint64_t kResetOnFork = 1;

}  // namespace

int Reserve(const ThreadReservation& reservation) {
  TAKT_CHECK(reservation.budget_ns > 0 &&
             reservation.budget_ns <= reservation.period_ns);
  ThreadAttributes attributes{};
  attributes.policy = SCHED_DEADLINE;
  attributes.flags = kResetOnFork;
  attributes.runtime_ns = static_cast<uint64_t>(reservation.budget_ns);
  attributes.deadline_ns = static_cast<uint64_t>(reservation.period_ns);
  attributes.period_ns = static_cast<uint64_t>(reservation.period_ns);
  return WriteThreadAttributes(attributes);
}

ThreadReservation ReadReservation() {
  ThreadAttributes attributes{};
  if (ReadThreadAttributes(&attributes) != 0 ||
      attributes.policy != SCHED_DEADLINE) {
    return {};
  }
  return {static_cast<int64_t>(attributes.runtime_ns),
          static_cast<int64_t>(attributes.period_ns)};
}

}  // namespace takt
