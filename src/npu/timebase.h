// A Timebase is the clock of one unit: the machine's clock, or a simulated
// clock that advances only while a thread waits.
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
  // Schedules `call(argument)` for when NowNs() has reached `at_ns`. The call
  // must not block.
  virtual void Schedule(int64_t at_ns, Call call, void* argument) = 0;
  // Makes all scheduled calls now, and waits for those that other threads make.
  virtual void Drain() = 0;
  // Waits until `flag` is raised (true), or `deadline_ns` has come (false).
  virtual bool Wait(Sleeper& sleeper, uint32_t flag, int64_t deadline_ns) = 0;
};

// The machine's clock.
std::shared_ptr<Timebase> CreateRealTime(std::shared_ptr<TimerService> timers);

// A clock that starts at 0. A thread that waits makes the calls that are due
// and advances the clock to the next one, or to its deadline if none comes
// before. Time does not pass otherwise, so a single thread sees the same each
// time. A thread that waits without a deadline sleeps.
class VirtualTime final : public Timebase {
 public:
  VirtualTime();
  ~VirtualTime() override;

  int64_t NowNs() override;
  void Schedule(int64_t at_ns, Call call, void* argument) override;
  void Drain() override;
  bool Wait(Sleeper& sleeper, uint32_t flag, int64_t deadline_ns) override;

  // Advances the clock, and makes the calls that fall due meanwhile.
  void Pass(int64_t duration_ns);

 private:
  struct State;
  // Makes the next call that is due by `deadline_ns`; false if none is.
  bool Step(int64_t deadline_ns);

  const std::unique_ptr<State> state_;
};

}  // namespace takt::npu

#endif  // TAKT_NPU_TIMEBASE_H_
