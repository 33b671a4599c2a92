// Reads the bytes as an instance of a job-shop problem in both text formats.
// A small one that is accepted is solved for some steps, for each objective,
// and the schedule is checked.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "absl/strings/string_view.h"
#include "solve/instance_reader.h"
#include "solve/solver.h"

namespace {

void Check(const absl::StatusOr<takt::solve::Problem>& problem) {
  if (!problem.ok()) {
    if (problem.status().message().empty()) std::abort();
    return;
  }
  if (problem->operations.size() > 64) return;
  for (const takt::solve::Objective objective :
       {takt::solve::Objective::kMakespan,
        takt::solve::Objective::kWeightedTardiness}) {
    takt::solve::SolverOptions options;
    options.step_limit = 4;
    options.objective = objective;
    const auto solution = takt::solve::Solve(*problem, options);
    // Times of operations of no duration may be too great to be multiplied.
    if (!solution.ok()) continue;
    if (!takt::solve::CheckSchedule(*problem, solution->schedule).ok()) {
      std::abort();
    }
    if (solution->weighted_tardiness !=
        takt::solve::WeightedTardiness(*problem, solution->schedule)) {
      std::abort();
    }
    if (solution->lower_bound > solution->objective_value) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  Check(takt::solve::ReadFjs(text));
  Check(takt::solve::ReadFajs(text));
  return 0;
}
