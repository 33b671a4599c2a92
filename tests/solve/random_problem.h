// Random problems for the tests of src/solve.
#ifndef TAKT_TESTS_SOLVE_RANDOM_PROBLEM_H_
#define TAKT_TESTS_SOLVE_RANDOM_PROBLEM_H_

#include <algorithm>

#include "base/random.h"
#include "solve/problem.h"

namespace takt::solve {

struct RandomProblemOptions {
  uint32_t operation_count = 30;
  uint32_t machine_count = 4;
  uint32_t width_max = 1;  // Machines that an alternative takes at the most.
  int64_t duration_min = 1;
  bool with_dates = false;  // Releases and tails.
};

inline Problem MakeRandomProblem(const RandomProblemOptions& options,
                                 Random& random) {
  Problem problem;
  problem.machine_count = options.machine_count;
  for (uint32_t v = 0; v < options.operation_count; ++v) {
    Operation operation;
    const uint32_t alternatives = 1 + random.Below(3);
    for (uint32_t a = 0; a < alternatives; ++a) {
      Alternative alternative;
      const uint32_t width =
          1 + random.Below(std::min(options.width_max, options.machine_count));
      while (alternative.machines.size() < width) {
        const uint32_t machine = random.Below(options.machine_count);
        if (std::find(alternative.machines.begin(), alternative.machines.end(),
                      machine) == alternative.machines.end()) {
          alternative.machines.push_back(machine);
        }
      }
      std::sort(alternative.machines.begin(), alternative.machines.end());
      alternative.duration = options.duration_min + random.Below(20);
      operation.alternatives.push_back(alternative);
    }
    if (options.with_dates) {
      operation.release = random.Below(30);
      operation.tail = random.Below(30);
    }
    problem.operations.push_back(operation);
    for (int i = 0; v > 0 && i < 2; ++i) {
      if (random.Below(3) == 0) {
        problem.precedences.emplace_back(random.Below(v), v);
      }
    }
  }
  return problem;
}

}  // namespace takt::solve

#endif  // TAKT_TESTS_SOLVE_RANDOM_PROBLEM_H_
