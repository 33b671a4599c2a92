// Runs every interleaving of a few short threads, one operation on an Atomic
// or a Lock at a time: what the thread sanitizer and stress tests find by luck,
// this finds for certain, as far as the scenario goes (and with operations in
// one total order, which is what the code under test asks for).
//
// The threads are coroutines on one system thread. A schedule is the list of
// choices of who goes on; all are tried, depth first.
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

// The thread sanitizer doesn't know about coroutines, and there is nothing for
// it to see here: one system thread runs them all.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kCanRun = false;
#else
inline constexpr bool kCanRun = true;
#endif

class Scheduler;
inline Scheduler* g_scheduler = nullptr;

class Scheduler {
 public:
  // The threads of one run; fresh state each time.
  using Scenario = std::function<std::vector<std::function<void()>>()>;

  struct Outcome {
    uint64_t schedule_count = 0;
    std::string failure;  // The first, with its schedule.
  };

  static constexpr int kNoLimit = 1 << 30;

  // Runs `scenario` in every order in which at most so many times a thread
  // is stopped that could go on, and `check` after each run: what it returns,
  // if not empty, is a failure. A run in which nobody can go on is one as well.
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

  // Called by a thread before each operation that others can see.
  void Yield() { swapcontext(&threads_[running_]->context, &main_); }
  // Yields until `ready` says so.
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

  std::string RunOnce(std::vector<std::function<void()>> bodies) {
    g_scheduler = this;
    for (auto& body : bodies) {
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
    size_t step = 0;
    while (true) {
      std::vector<size_t> ready;
      bool all_done = true;
      // The running one first: to go on with it is no preemption.
      for (size_t n = 0; n < threads_.size(); ++n) {
        const size_t i = (running_ + n) % threads_.size();
        if (threads_[i]->is_done) continue;
        all_done = false;
        if (!threads_[i]->ready || threads_[i]->ready()) ready.push_back(i);
      }
      const bool may_go_on = !ready.empty() && ready[0] == running_ && step > 0;
      if (may_go_on && preemptions_left_ == 0) ready.resize(1);
      if (all_done) break;
      if (ready.empty()) return "nobody can go on";
      if (step == choices_.size()) choices_.push_back({ready, 0});
      if (may_go_on && choices_[step].taken > 0) --preemptions_left_;
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

// In the place of std::atomic.
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

// In the place of Mutex.
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

// In the place of Sleeper.
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
