// Budgets gives the cores of pools a budget of time in each period, as
// SCHED_DEADLINE gives it to workers: what runs on a core that has used its
// budget waits for its next period.
//
// Method: a constant bandwidth server for each core (Abeni and Buttazzo, RTSS
// 1998), which is what Linux does. A core that begins to run keeps what is left
// of its budget if that is not more than its part of the time to the end of the
// period; otherwise a period begins.
#ifndef TAKT_SIM_BUDGETS_H_
#define TAKT_SIM_BUDGETS_H_

#include <cstdint>
#include <vector>

#include "sim/workload.h"

namespace takt::sim {

class Budgets {
 public:
  explicit Budgets(const Workload& workload);

  // The core begins to run, or goes on after a pause.
  void Begin(uint32_t resource, int64_t now_ns);
  // The core has run so long.
  void Charge(uint32_t resource, int64_t ran_ns);
  // How long it may run from now on; kInfiniteFuture: it has no budget.
  int64_t left_ns(uint32_t resource) const { return cores_[resource].left_ns; }
  // When it gets its next budget, if it has used this one.
  int64_t next_ns(uint32_t resource) const { return cores_[resource].next_ns; }

 private:
  struct Core {
    int64_t budget_ns = kInfiniteFuture;
    int64_t period_ns = 0;
    int64_t left_ns = kInfiniteFuture;
    int64_t next_ns = 0;
  };

  std::vector<Core> cores_;  // By resource.
};

}  // namespace takt::sim

#endif  // TAKT_SIM_BUDGETS_H_
