// takt-plan simulate: a workload, and a plan of it, in virtual time.
#ifndef TAKT_TOOLS_PLAN_SIMULATE_H_
#define TAKT_TOOLS_PLAN_SIMULATE_H_

#include <cstdint>
#include <string>

#include "tools/common/main.h"

namespace takt::tools {

struct SimulateSettings {
  std::string workload;
  std::string profile;  // "": none.
  std::string plan;     // "": the online policy alone.
  bool is_adaptive = false;
  bool is_json = false;
  double noise = 0;
  double seconds = 1;
  uint64_t seed = 1;
};

// Simulates the workload, and prints the outcome of each stream and the
// violations of the plan.
Result<int> SimulatePlan(const SimulateSettings& settings);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_PLAN_SIMULATE_H_
