// A Board runs operations in virtual time. An operation takes its kernel's
// duration times a duration factor, divided by the speed of its pool, and can
// stop between two tiles. If the operations that run draw more from memory than
// it gives, the parts in which they wait for memory take longer by that ratio
// (the roofline model, Williams, Waterman and Patterson 2009). It pauses while
// a core that it runs on has no budget left.
#ifndef TAKT_SIM_BOARD_H_
#define TAKT_SIM_BOARD_H_

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "sched/scheduler.h"
#include "sim/budgets.h"
#include "sim/event_queue.h"
#include "sim/workload.h"

namespace takt::sim {

class Board {
 public:
  // One operation that runs, or ran.
  struct Run {
    sched::Decision start;
    bool is_live = false;
    bool stops_early = false;
    uint32_t epoch = 0;  // Stop events of other epochs are void.
    int64_t begin_ns = 0;
    int64_t since_ns = 0;  // `done_ppm` was done by then.
    uint32_t done_ppm = 0;
    int64_t whole_ns = 0;  // From start to end at the present speed.
    int64_t tile_ns = 0;   // At the present speed; 0: it cannot stop.
    int64_t stop_ns = 0;
    double slowdown = 1;     // By what runs beside it.
    int64_t charged_ns = 0;  // Its cores have paid for the time until then.
    bool is_paused = false;
    int64_t rest_ns = 0;  // Paused: from the end of the pause to the stop.
    // An operation keeps its factor when it continues after a yield.
    uint32_t generation = 0;
    double duration_factor = 1;
  };

  // All are borrowed. Stop events go to `events`.
  Board(const Workload& workload, SimulationEventQueue* events, Random* random);

  // Sets the duration factor of the operations of the job with this tag; 0:
  // random factors.
  void SetDurationFactor(uint64_t tag, double duration_factor);
  void Start(const sched::Decision& decision, int64_t now_ns);
  // Stops the run at the end of its tile, or at once.
  void StopEarly(uint32_t index, bool at_once, int64_t now_ns);
  // Stops the run of a stop event; nullptr if the event is void.
  const Run* Stop(uint32_t index, uint32_t epoch, int64_t now_ns);
  // Pauses the run of a pause event, or lets it go on; nullptr if the event is
  // void.
  const Run* Pause(uint32_t index, uint32_t epoch, int64_t now_ns);
  void SetSpeed(uint32_t pool, uint32_t permille, int64_t now_ns);

  uint32_t permille(uint32_t pool) const { return permille_[pool]; }
  // The busy time until `now_ns`, including runs that have not stopped.
  int64_t busy_ns(uint32_t resource, int64_t now_ns) const;

 private:
  static constexpr uint32_t kNone = ~0u;

  double DrawDurationFactor();
  void Schedule(uint32_t index);
  void PostStop(uint32_t index);
  void ShareMemory(int64_t now_ns);
  void Charge(Run* run, int64_t now_ns);
  static void NoteProgress(Run* run, int64_t now_ns);

  const Workload& workload_;
  SimulationEventQueue& events_;
  Budgets budgets_;
  Random& random_;
  // As the scheduler numbers them: by pool, then ascending in shards.
  std::vector<std::vector<sched::AlternativeOptions>> alternatives_;
  std::vector<Run> runs_;                 // By index of the operation.
  std::vector<double> duration_factors_;  // By tag.
  std::vector<uint32_t> on_resource_;     // Index of the run; kNone.
  std::vector<int64_t> busy_ns_;          // Of runs that have stopped.
  std::vector<uint32_t> permille_;        // By pool.
  std::vector<uint32_t> live_;            // Runs, if memory slows them down.
};

}  // namespace takt::sim

#endif  // TAKT_SIM_BOARD_H_
