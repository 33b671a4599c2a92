// Simulated annealing on a ConstrainedSchedule (Kirkpatrick, Gelatt and Vecchi,
// "Optimization by simulated annealing", Science 220, 1983). A step moves an
// operation of a critical path, or its chain of no-wait pairs, to another place
// on its machines or on others. Each round cools down once; rounds become
// longer, and begin where the last one ended or at the best schedule.
//
// Thread-safety: none; one a thread.
#ifndef TAKT_SOLVE_ANNEALING_H_
#define TAKT_SOLVE_ANNEALING_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "base/random.h"
#include "solve/constrained_schedule.h"
#include "solve/problem.h"

namespace takt::solve {

class Annealing {
 public:
  using Value = ConstrainedSchedule::Value;

  // `problem` is valid and outlives this, and `start` is a schedule of it.
  Annealing(const Problem& problem, Objective objective, const Schedule& start,
            uint64_t seed);

  struct Limits {
    int64_t deadline_ns = 0;  // Of NowNs().
    uint64_t step_limit = 0;  // 0: none.
    int64_t enough = 0;       // Stops at an objective as good as this.
  };

  // Calls `on_better` with each schedule that is better than all before it,
  // and stops when best_of_all(), an objective, is good enough, too.
  void Run(const Limits& limits,
           const std::function<void(const Schedule&, const Value&)>& on_better,
           const std::function<int64_t()>& best_of_all);

  uint64_t step_count() const { return steps_; }

 private:
  // What a round minimizes: the objective, and a little of the makespan.
  double EnergyOf(const Value& value) const;
  bool IsBetter(const Value& a, const Value& b) const;
  // Takes over what Evaluate() found.
  void Keep(const Value& value);
  void Begin(const Schedule& schedule);
  void Step(double temperature);
  uint32_t PickOperation();
  uint32_t PickAlternative(uint32_t v);
  // Moves the operation, or its whole chain; false if that changes nothing.
  bool Move(uint32_t v);
  // The parts of a move: what it takes out, with new alternatives, and where
  // that goes.
  void TakeOut(uint32_t v);
  // Takes out a run of operations of v's family that is on its machine, and
  // chooses their place; false if it is alone.
  bool TakeRunOut(uint32_t v);
  void ChoosePlaces(uint32_t v);
  const Alternative& AlternativeOf(
      const ConstrainedSchedule::Removed& next) const;
  uint32_t PickPlace(uint32_t v, uint32_t machine);
  // The first place on the machine of what starts at `time` or later.
  uint32_t PlaceOfTime(uint32_t machine, int64_t time) const;
  void MoveBack();

  const Problem& problem_;
  const Objective objective_;
  ConstrainedSchedule schedule_;
  Random random_;
  uint64_t steps_ = 0;
  double first_temperature_ = 0;
  double makespan_weight_ = 0;
  Value current_, best_;
  Schedule best_schedule_;
  std::vector<uint32_t> ends_;  // Where a critical path can end.

  // Of a step.
  std::vector<uint32_t> path_;
  std::vector<ConstrainedSchedule::Removed> removed_, inserted_;
};

}  // namespace takt::solve

#endif  // TAKT_SOLVE_ANNEALING_H_
