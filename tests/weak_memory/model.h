// Runs a few short threads under the C++ memory model with relacy: not only
// every order of their operations is tried, but every value that a load may
// return by the orders its code asks for. So a test on x86_64 finds what only a
// weaker processor would do. Accesses of Plain are checked for data races.
//
// relacy has no loads that see a later store of their own thread's future (load
// buffering), and takes no cycle of relaxed operations for possible.
//
// Does not include relacy.hpp, which defines `new` and `assert` as macros.
#ifndef TAKT_TESTS_WEAK_MEMORY_MODEL_H_
#define TAKT_TESTS_WEAK_MEMORY_MODEL_H_

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wextra"
// clang-format off
#include "relacy/base.hpp"
#include "relacy/context.hpp"
#include "relacy/context_base_impl.hpp"
#include "relacy/atomic_fence.hpp"
#include "relacy/atomic.hpp"
#include "relacy/var.hpp"
#include "relacy/test_suite.hpp"
#include "relacy/dyn_thread.hpp"
#include "relacy/stdlib/mutex.hpp"
#include "relacy/stdlib/condition_variable.hpp"
#include "relacy/stdlib/semaphore.hpp"
#include "relacy/stdlib/event.hpp"
// clang-format on
#pragma GCC diagnostic pop

#include <atomic>
#include <cstdint>
#include <ostream>
#include <streambuf>
#include <string>

namespace takt::weak_memory {

inline rl::memory_order ToModel(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed:
      return rl::mo_relaxed;
    case std::memory_order_consume:
    case std::memory_order_acquire:
      return rl::mo_acquire;
    case std::memory_order_release:
      return rl::mo_release;
    case std::memory_order_acq_rel:
      return rl::mo_acq_rel;
    default:
      return rl::mo_seq_cst;
  }
}

// Instead of std::atomic. kWeaker: as if the code asked for relaxed operations
// only, to see that a test finds it.
template <typename T, bool kWeaker>
class AtomicOf {
 public:
  AtomicOf() : AtomicOf(T{}) {}
  AtomicOf(T value) {  // NOLINT(google-explicit-constructor)
    value_.store(value, rl::mo_relaxed, $);
  }
  T load(std::memory_order order) const { return value_.load(Order(order), $); }
  void store(T value, std::memory_order order) {
    value_.store(value, Order(order), $);
  }
  T exchange(T value, std::memory_order order) {
    return value_($).exchange(value, Order(order));
  }
  bool compare_exchange_strong(T& expected, T desired,
                               std::memory_order order) {
    return value_($).compare_exchange_strong(
        expected, desired, Order(order),
        kWeaker || order == std::memory_order_relaxed ? rl::mo_relaxed
                                                      : rl::mo_acquire);
  }
  T fetch_or(T bits, std::memory_order order) {
    return value_($).fetch_or(bits, Order(order));
  }
  T fetch_and(T bits, std::memory_order order) {
    return value_($).fetch_and(bits, Order(order));
  }

 private:
  static rl::memory_order Order(std::memory_order order) {
    return kWeaker ? rl::mo_relaxed : ToModel(order);
  }
  mutable rl::atomic<T> value_;
};
template <typename T>
using Atomic = AtomicOf<T, false>;
template <typename T>
using RelaxedAtomic = AtomicOf<T, true>;

// Memory without synchronization of its own.
template <typename T>
class Plain {
 public:
  T get() const { return value_($).load(); }
  void set(T value) { value_($).store(value); }

 private:
  mutable rl::var<T> value_;
};

// Instead of takt::Mutex.
class Mutex {
 public:
  void Lock() { mutex_.lock($); }
  void Unlock() { mutex_.unlock($); }

 private:
  rl::mutex mutex_;
};

// Instead of FutexWait() and FutexWake(). Linux compares and goes to sleep
// under a lock that a wake takes as well.
class Futex {
 public:
  template <typename Word>
  void Wait(Word& word, uint32_t expected) {
    mutex_.lock($);
    // The newest value, as a read-modify-write sees it.
    if (word.fetch_or(0, std::memory_order_relaxed) == expected) {
      is_woken_.wait(mutex_, $);
    }
    mutex_.unlock($);
  }
  void Wake() {
    mutex_.lock($);
    is_woken_.notify_one($);
    mutex_.unlock($);
  }

 private:
  rl::mutex mutex_;
  rl::condition_variable is_woken_;
};

// Keeps the beginning of a report. A stream that allocates would take memory
// that relacy counts, and give it to the system.
class ReportBuffer : public std::streambuf {
 public:
  ReportBuffer() { setp(text_, text_ + sizeof(text_)); }
  std::string text() const { return std::string(pbase(), pptr()); }

 private:
  int_type overflow(int_type c) override { return traits_type::not_eof(c); }
  char text_[1 << 14];
};

struct Outcome {
  bool is_right = false;
  uint64_t execution_count = 0;
  std::string report;  // The failure, with its execution.
};

// Tries every execution of `Scenario`, an rl::test_suite. With a limit, only
// those in which a thread that could go on is stopped at most so often.
template <typename Scenario>
Outcome RunAll(unsigned preemption_count_max = 0) {
  ReportBuffer report;
  std::ostream out(&report);
  rl::test_params parameters;
  parameters.search_type =
      preemption_count_max == 0 ? rl::sched_full : rl::sched_bound;
  parameters.context_bound = preemption_count_max;
  parameters.iteration_count = 1u << 30;
  parameters.output_stream = &out;
  parameters.progress_stream = &out;
  parameters.progress_output_period = 1u << 30;
  Outcome outcome;
  outcome.is_right = rl::simulate<Scenario>(parameters);
  outcome.execution_count = parameters.stop_iteration;
  outcome.report = report.text();
  return outcome;
}

}  // namespace takt::weak_memory

#endif  // TAKT_TESTS_WEAK_MEMORY_MODEL_H_
