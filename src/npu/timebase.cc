#include "npu/timebase.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "base/check.h"
#include "base/clock.h"
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
  struct Event : TimerService::Timer {
    RealTime* time;
    Call call;
    void* argument;
  };
  static void Fire(TimerService::Timer* timer);

  const std::shared_ptr<TimerService> timers_;
  Mutex mutex_;
  CondVar changed_;  // An event is no longer pending.
  absl::flat_hash_set<Event*> pending_ ABSL_GUARDED_BY(mutex_);
};

void RealTime::Drain() {
  // What is not due yet is called here, what is being called is waited for.
  while (true) {
    Event* event = nullptr;
    {
      MutexLock lock(&mutex_);
      for (Event* each : pending_) {
        if (timers_->Cancel(each)) {
          event = each;
          break;
        }
      }
      if (event == nullptr) break;
      pending_.erase(event);
    }
    event->call(event->argument);
    delete event;
  }
  MutexLock lock(&mutex_);
  while (!pending_.empty()) changed_.Wait(&mutex_);
  TAKT_CHECK(pending_.empty());
}

void RealTime::Schedule(int64_t at_ns, Call call, void* argument) {
  auto* event = new Event;
  event->fire = &RealTime::Fire;
  event->time = this;
  event->call = call;
  event->argument = argument;
  MutexLock lock(&mutex_);
  const bool is_new = pending_.insert(event).second;
  TAKT_CHECK(is_new);
  timers_->Arm(event, at_ns);
}

void RealTime::Fire(TimerService::Timer* timer) {
  auto* event = static_cast<Event*>(timer);
  RealTime* const time = event->time;
  event->call(event->argument);
  MutexLock lock(&time->mutex_);
  const size_t erased = time->pending_.erase(event);
  TAKT_CHECK(erased == 1);
  time->changed_.SignalAll();
  delete event;
}

bool RealTime::Wait(Sleeper& sleeper, uint32_t flag, int64_t deadline_ns) {
  while ((sleeper.raised() & flag) == 0) {
    if (deadline_ns != kInfiniteFuture && deadline_ns <= takt::NowNs()) {
      return false;
    }
    // Where no thread sees to the timers, this one does: what it waits for may
    // be one of them.
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
  struct Event {
    int64_t at_ns;
    uint64_t number;  // First come, first served.
    Call call;
    void* argument;
    bool operator<(const Event& other) const {  // For a heap, earliest first.
      return at_ns != other.at_ns ? at_ns > other.at_ns : number > other.number;
    }
  };

  Mutex mutex;
  int64_t now_ns ABSL_GUARDED_BY(mutex) = 0;
  uint64_t event_count ABSL_GUARDED_BY(mutex) = 0;
  std::vector<Event> events ABSL_GUARDED_BY(mutex);
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
  state_->events.push_back({at_ns, state_->event_count++, call, argument});
  std::push_heap(state_->events.begin(), state_->events.end());
}

bool VirtualTime::Step(int64_t deadline_ns) {
  State::Event event;
  {
    MutexLock lock(&state_->mutex);
    std::vector<State::Event>& events = state_->events;
    if (events.empty() || events.front().at_ns > deadline_ns) return false;
    std::pop_heap(events.begin(), events.end());
    event = events.back();
    events.pop_back();
    TAKT_CHECK(event.number < state_->event_count);
    state_->now_ns = std::max(state_->now_ns, event.at_ns);
  }
  event.call(event.argument);
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
