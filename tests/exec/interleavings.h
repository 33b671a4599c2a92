// Runs every interleaving of a few short threads, one operation on an Atomic
// or a Lock at a time. So it certainly finds the faults of a scenario that the
// thread sanitizer and stress tests find by luck. All operations are in one
// total order, as the code under test demands.
//
// The threads are coroutines on one system thread. A schedule is the list of
// the threads that run next. All schedules are tried, depth first.
#ifndef TAKT_TESTS_EXEC_INTERLEAVINGS_H_
#define TAKT_TESTS_EXEC_INTERLEAVINGS_H_

#include <ucontext.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace takt::exec::model {

// The thread sanitizer does not understand coroutines. It would find nothing:
// one system thread runs them all.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kCanRun = false;
#else
inline constexpr bool kCanRun = true;
#endif

class Scheduler;
inline Scheduler* g_scheduler = nullptr;

class Scheduler {
 public:
  // Makes the threads of one run, with new state each time.
  using Scenario = std::function<std::vector<std::function<void()>>()>;

  struct Outcome {
    uint64_t schedule_count = 0;
    std::string failure;  // The first failure, with its schedule.
  };

  static constexpr int kNoLimit = 1 << 30;

  // Runs `scenario` in every order with at most `preemption_count_max` stops of
  // a thread that could run on, and `check` after each run. A text that `check`
  // returns is a failure; so is a run in which all threads are blocked.
  static Outcome RunAll(const Scenario& scenario,
                        const std::function<std::string()>& check,
                        int preemption_count_max = kNoLimit) {
    Outcome outcome;
    std::vector<Choice> choices;
    do {
      Scheduler scheduler(choices, preemption_count_max);
      const std::string deadlock = scheduler.RunOnce(scenario());
      ++outcome.schedule_count;
      outcome.failure = deadlock.empty() ? check() : deadlock;
      if (!outcome.failure.empty()) {
        outcome.failure += "; schedule:";
        for (const Choice& c : choices) {
          outcome.failure += " " + std::to_string(c.ready[c.taken]);
        }
        return outcome;
      }
    } while (Next(&choices));
    return outcome;
  }

  // Called by a thread before each operation that other threads can see.
  void Yield() { swapcontext(&threads_[running_]->context, &main_); }
  // Yields until `ready` returns true.
  void Block(std::function<bool()> ready) {
    threads_[running_]->ready = std::move(ready);
    Yield();
    threads_[running_]->ready = nullptr;
  }

 private:
  struct Choice {
    std::vector<size_t> ready;
    size_t taken = 0;
  };
  struct Thread {
    std::function<void()> body;
    std::function<bool()> ready;
    bool is_done = false;
    ucontext_t context;
    std::unique_ptr<char[]> stack;
  };
  static constexpr size_t kStackBytes = 64 * 1024;

  Scheduler(std::vector<Choice>& choices, int preemption_count_max)
      : choices_(choices), preemptions_left_(preemption_count_max) {}

  static bool Next(std::vector<Choice>* choices) {
    while (!choices->empty()) {
      if (++choices->back().taken < choices->back().ready.size()) return true;
      choices->pop_back();
    }
    return false;
  }

  static void Main() {
    Scheduler* scheduler = g_scheduler;
    Thread& self = *scheduler->threads_[scheduler->running_];
    self.body();
    self.is_done = true;
    scheduler->Yield();
  }

  // Apart from RunOnce(): gcc takes getcontext() for a function that may return
  // twice, and warns of the variables around it.
  void AddThread(std::function<void()> body) {
    auto thread = std::make_unique<Thread>();
    thread->body = std::move(body);
    thread->stack = std::make_unique<char[]>(kStackBytes);
    getcontext(&thread->context);
    thread->context.uc_stack.ss_sp = thread->stack.get();
    thread->context.uc_stack.ss_size = kStackBytes;
    thread->context.uc_link = nullptr;
    makecontext(&thread->context, &Main, 0);
    threads_.push_back(std::move(thread));
  }

  std::string RunOnce(std::vector<std::function<void()>> bodies) {
    g_scheduler = this;
    for (auto& body : bodies) AddThread(std::move(body));
    size_t step = 0;
    while (true) {
      std::vector<size_t> ready;
      bool all_done = true;
      // The running thread first: to continue it is no preemption.
      for (size_t n = 0; n < threads_.size(); ++n) {
        const size_t i = (running_ + n) % threads_.size();
        if (threads_[i]->is_done) continue;
        all_done = false;
        if (!threads_[i]->ready || threads_[i]->ready()) ready.push_back(i);
      }
      const bool may_continue =
          !ready.empty() && ready[0] == running_ && step > 0;
      if (may_continue && preemptions_left_ == 0) ready.resize(1);
      if (all_done) break;
      if (ready.empty()) return "all threads are blocked";
      if (step == choices_.size()) choices_.push_back({ready, 0});
      if (may_continue && choices_[step].taken > 0) --preemptions_left_;
      running_ = choices_[step].ready[choices_[step].taken];
      ++step;
      swapcontext(&main_, &threads_[running_]->context);
    }
    g_scheduler = nullptr;
    return "";
  }

  std::vector<Choice>& choices_;
  int preemptions_left_;
  std::vector<std::unique_ptr<Thread>> threads_;
  size_t running_ = 0;
  ucontext_t main_;
};

inline void Yield() {
  if (g_scheduler != nullptr) g_scheduler->Yield();
}

// Instead of std::atomic.
template <typename T>
class Atomic {
 public:
  Atomic() = default;
  Atomic(T value) : value_(value) {}  // NOLINT
  T load(std::memory_order) const {
    Yield();
    return value_;
  }
  void store(T value, std::memory_order) {
    Yield();
    value_ = value;
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order) {
    Yield();
    if (value_ == expected) {
      value_ = desired;
      return true;
    }
    expected = value_;
    return false;
  }
  T fetch_or(T bits, std::memory_order) {
    Yield();
    const T old = value_;
    value_ |= bits;
    return old;
  }

 private:
  T value_{};
};

// Instead of Mutex.
class Mutex {
 public:
  void Lock() {
    if (g_scheduler != nullptr) {
      g_scheduler->Block([this] { return !is_held_; });
    }
    is_held_ = true;
  }
  void Unlock() { is_held_ = false; }

 private:
  bool is_held_ = false;
};

// Instead of Sleeper.
class Flag {
 public:
  void Raise() {
    Yield();
    is_raised_ = true;
  }
  void Sleep() {
    g_scheduler->Block([this] { return is_raised_; });
    is_raised_ = false;
  }

 private:
  bool is_raised_ = false;
};

}  // namespace takt::exec::model

#endif  // TAKT_TESTS_EXEC_INTERLEAVINGS_H_
