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
  uint32_t duration_range = 20;
  bool with_dates = false;  // Releases and tails.
  // Releases and tails are below; due dates below twice that.
  uint32_t date_range = 30;
  bool with_setups = false;
  bool with_no_waits = false;
  bool with_dues = false;
};

// Setups between three families, on about half of the machines.
inline void AddRandomSetups(Random& random, Problem* problem) {
  for (Operation& operation : problem->operations) {
    operation.family = random.Below(3);
  }
  for (uint32_t machine = 0; machine < problem->machine_count; ++machine) {
    if (random.Below(2) == 0) continue;
    for (uint32_t to = 0; to < 3; ++to) {
      for (const uint32_t from : {0u, 1u, 2u, Setup::kFirst}) {
        if (from == to || random.Below(5) == 0) continue;
        problem->setups.push_back({machine, from, to, random.Below(5)});
      }
    }
  }
}

// Some of the precedences, where the problem stays valid.
inline void AddRandomNoWaits(Random& random, Problem* problem) {
  for (const auto& precedence : problem->precedences) {
    if (random.Below(3) == 0) continue;
    problem->no_waits.push_back(precedence);
    if (!problem->Validate().ok()) problem->no_waits.pop_back();
  }
}

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
      alternative.duration =
          options.duration_min + random.Below(options.duration_range);
      operation.alternatives.push_back(alternative);
    }
    if (options.with_dates) {
      operation.release = random.Below(options.date_range);
      operation.tail = random.Below(options.date_range);
    }
    if (options.with_dues && random.Below(4) != 0) {
      operation.due = random.Below(2 * options.date_range);
      operation.weight = 1 + random.Below(4);
    }
    problem.operations.push_back(operation);
    for (int i = 0; v > 0 && i < 2; ++i) {
      if (random.Below(3) == 0) {
        problem.precedences.emplace_back(random.Below(v), v);
      }
    }
  }
  if (options.with_setups) AddRandomSetups(random, &problem);
  if (options.with_no_waits) AddRandomNoWaits(random, &problem);
  return problem;
}

}  // namespace takt::solve

#endif  // TAKT_TESTS_SOLVE_RANDOM_PROBLEM_H_
