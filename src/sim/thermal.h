// Temperatures of a simulated board: each model is one thermal resistance and
// capacity, heated by the share of its pool that works.
#ifndef TAKT_SIM_THERMAL_H_
#define TAKT_SIM_THERMAL_H_

#include <cstdint>
#include <vector>

#include "sim/board.h"
#include "sim/workload.h"

namespace takt::sim {

class Thermal {
 public:
  static constexpr int64_t kStepNs = 10'000'000;

  explicit Thermal(const Workload& workload);

  // Advances to `now_ns`.
  void Step(uint32_t model, const Board& board, int64_t now_ns);

  double temperature_c(uint32_t model) const {
    return states_[model].temperature_c;
  }
  // The part of the pool's speed that its temperature permits.
  uint32_t permille(uint32_t pool) const { return permille_[pool]; }

 private:
  struct State {
    double temperature_c = 0;
    int64_t at_ns = 0;
    int64_t busy_ns = 0;  // Of the pool, up to then.
    bool is_hot = false;
  };

  const Workload& workload_;
  std::vector<State> states_;
  std::vector<uint32_t> permille_;  // By pool.
};

}  // namespace takt::sim

#endif  // TAKT_SIM_THERMAL_H_
