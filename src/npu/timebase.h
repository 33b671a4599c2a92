// A Timebase is the time that one unit lives in: the machine's, or a simulated
// one that passes only while somebody waits.
//
// Thread-safety: every method may run on any thread.
#ifndef TAKT_NPU_TIMEBASE_H_
#define TAKT_NPU_TIMEBASE_H_

#include <cstdint>
#include <memory>

#include "base/sleeper.h"
#include "base/timer_service.h"

namespace takt::npu {

class Timebase {
 public:
  using Call = void (*)(void* argument);

  virtual ~Timebase() = default;

  virtual int64_t NowNs() = 0;
  // Has `call(argument)` called once NowNs() has reached `at_ns`. It must not
  // block.
  virtual void Schedule(int64_t at_ns, Call call, void* argument) = 0;
  // Makes all calls that are left now, and waits for those that are being made.
  virtual void Drain() = 0;
  // Waits until `flag` is raised (true), or `deadline_ns` has come (false).
  virtual bool Wait(Sleeper& sleeper, uint32_t flag, int64_t deadline_ns) = 0;
};

// The machine's clock.
std::shared_ptr<Timebase> CreateRealTime(std::shared_ptr<TimerService> timers);

// Starts at 0. Whoever waits makes the calls that are due and moves the clock
// on to the next one; when there is none before the deadline, to the deadline.
// Nothing happens by itself, so that what one thread does is the same each
// time. What waits without a deadline for another thread sleeps.
class VirtualTime final : public Timebase {
 public:
  VirtualTime();
  ~VirtualTime() override;

  int64_t NowNs() override;
  void Schedule(int64_t at_ns, Call call, void* argument) override;
  void Drain() override;
  bool Wait(Sleeper& sleeper, uint32_t flag, int64_t deadline_ns) override;

  // Lets time pass without waiting for anything, with all that falls in it.
  void Pass(int64_t duration_ns);

 private:
  struct State;
  // Makes the next call that is due by `deadline_ns`; false if none is.
  bool Step(int64_t deadline_ns);

  const std::unique_ptr<State> state_;
};

}  // namespace takt::npu

#endif  // TAKT_NPU_TIMEBASE_H_
