#include "npu/timebase.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/hash_map.h"
#include "base/mutex.h"

namespace takt::npu {
namespace {

class RealTime final : public Timebase {
 public:
  explicit RealTime(std::shared_ptr<TimerService> timers)
      : timers_(std::move(timers)) {}
  ~RealTime() override { Drain(); }

  int64_t NowNs() override { return takt::NowNs(); }
  void Schedule(int64_t at_ns, Call call, void* argument) override;
  void Drain() override;
  bool Wait(Sleeper& sleeper, uint32_t flag, int64_t deadline_ns) override;

 private:
  struct PendingCall : TimerService::Timer {
    RealTime* time;
    Call call;
    void* argument;
  };
  static void Fire(TimerService::Timer* timer);

  const std::shared_ptr<TimerService> timers_;
  Mutex mutex_;
  CondVar changed_;  // A call is no longer pending.
  HashSet<PendingCall*> pending_ ABSL_GUARDED_BY(mutex_);
};

void RealTime::Drain() {
  // Makes the calls that are not due yet, and waits for calls that are running.
  while (true) {
    PendingCall* pending = nullptr;
    {
      MutexLock lock(&mutex_);
      for (PendingCall* each : pending_) {
        if (timers_->Cancel(each)) {
          pending = each;
          break;
        }
      }
      if (pending == nullptr) break;
      pending_.erase(pending);
    }
    pending->call(pending->argument);
    delete pending;
  }
  MutexLock lock(&mutex_);
  while (!pending_.empty()) changed_.Wait(&mutex_);
  TAKT_CHECK(pending_.empty());
}

void RealTime::Schedule(int64_t at_ns, Call call, void* argument) {
  auto pending = std::make_unique<PendingCall>();
  pending->fire = &RealTime::Fire;
  pending->time = this;
  pending->call = call;
  pending->argument = argument;
  MutexLock lock(&mutex_);
  const bool is_new = pending_.insert(pending.get()).second;
  TAKT_CHECK(is_new);
  timers_->Arm(pending.release(), at_ns);  // Fire() or Drain() deletes it.
}

void RealTime::Fire(TimerService::Timer* timer) {
  auto* pending = static_cast<PendingCall*>(timer);
  RealTime* const time = pending->time;
  pending->call(pending->argument);
  MutexLock lock(&time->mutex_);
  const size_t erased = time->pending_.erase(pending);
  TAKT_CHECK(erased == 1);
  time->changed_.SignalAll();
  delete pending;
}

bool RealTime::Wait(Sleeper& sleeper, uint32_t flag, int64_t deadline_ns) {
  while ((sleeper.raised() & flag) == 0) {
    if (deadline_ns != kInfiniteFuture && deadline_ns <= takt::NowNs()) {
      return false;
    }
    // If the timers have no thread, this thread fires them: it may wait for one
    // of them.
    timers_->FireDue();
    if ((sleeper.raised() & flag) != 0) break;
    sleeper.Sleep(std::min(deadline_ns, timers_->NextDueNs()));
  }
  return true;
}

}  // namespace

std::shared_ptr<Timebase> CreateRealTime(std::shared_ptr<TimerService> timers) {
  return std::make_shared<RealTime>(std::move(timers));
}

struct VirtualTime::State {
  struct PendingCall {
    int64_t at_ns;
    uint64_t number;  // First come, first served.
    Call call;
    void* argument;
    bool operator<(
        const PendingCall& other) const {  // For a heap, earliest first.
      return at_ns != other.at_ns ? at_ns > other.at_ns : number > other.number;
    }
  };

  Mutex mutex;
  int64_t now_ns ABSL_GUARDED_BY(mutex) = 0;
  uint64_t call_count ABSL_GUARDED_BY(mutex) = 0;
  std::vector<PendingCall> pending_calls ABSL_GUARDED_BY(mutex);
};

VirtualTime::VirtualTime() : state_(std::make_unique<State>()) {}

VirtualTime::~VirtualTime() { Drain(); }

void VirtualTime::Drain() {
  while (Step(kInfiniteFuture)) {
  }
}

int64_t VirtualTime::NowNs() {
  MutexLock lock(&state_->mutex);
  return state_->now_ns;
}

void VirtualTime::Schedule(int64_t at_ns, Call call, void* argument) {
  MutexLock lock(&state_->mutex);
  state_->pending_calls.push_back(
      {at_ns, state_->call_count++, call, argument});
  std::push_heap(state_->pending_calls.begin(), state_->pending_calls.end());
}

bool VirtualTime::Step(int64_t deadline_ns) {
  State::PendingCall pending;
  {
    MutexLock lock(&state_->mutex);
    std::vector<State::PendingCall>& pending_calls = state_->pending_calls;
    if (pending_calls.empty() || pending_calls.front().at_ns > deadline_ns)
      return false;
    std::pop_heap(pending_calls.begin(), pending_calls.end());
    pending = pending_calls.back();
    pending_calls.pop_back();
    TAKT_CHECK(pending.number < state_->call_count);
    state_->now_ns = std::max(state_->now_ns, pending.at_ns);
  }
  pending.call(pending.argument);
  return true;
}

bool VirtualTime::Wait(Sleeper& sleeper, uint32_t flag, int64_t deadline_ns) {
  while ((sleeper.raised() & flag) == 0) {
    if (Step(deadline_ns)) continue;
    if (deadline_ns == kInfiniteFuture) {
      sleeper.Sleep(kInfiniteFuture);
      continue;
    }
    MutexLock lock(&state_->mutex);
    state_->now_ns = std::max(state_->now_ns, deadline_ns);
    return (sleeper.raised() & flag) != 0;
  }
  return true;
}

void VirtualTime::Pass(int64_t duration_ns) {
  const int64_t end_ns = DeadlineAfter(NowNs(), duration_ns);
  while (Step(end_ns)) {
  }
  MutexLock lock(&state_->mutex);
  state_->now_ns = std::max(state_->now_ns, end_ns);
}

}  // namespace takt::npu
