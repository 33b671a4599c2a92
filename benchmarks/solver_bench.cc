// Measures the solver as a scheduling window uses it: dispatch graphs of models
// on the cores of two clusters and an NPU, 1,000 operations by default.
//
// Prints the time of the first plan (median and worst of the runs); how far the
// plans with limits of some milliseconds are from the plan with a limit of
// `--seconds`; and by how much runs exceeded their limits. With --json it is
// one object, with times in milliseconds.
//
// usage: solver_bench [--operations N] [--width N] [--runs N] [--seconds S]
//                     [--seed N] [--json]
//        --width: the most cores that an operation may take at once (1)
//        --runs: runs for each limit, each with another seed (5)
//        --seconds: the limit of the reference run (10)
//        --seed: the seed of the problem (1)
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "solve/solver.h"

namespace {

using takt::Random;
using takt::solve::Alternative;
using takt::solve::Operation;
using takt::solve::Problem;

constexpr uint32_t kClusters = 2;
constexpr uint32_t kCoresOfCluster = 4;
constexpr uint32_t kNpu = kClusters * kCoresOfCluster;
constexpr double kLimitsMs[] = {1, 2, 5, 10, 20, 50, 100};

struct Arguments {
  uint32_t operations = 1000;
  uint32_t width = 1;
  uint32_t runs = 5;
  double seconds = 10;
  uint64_t seed = 1;
  bool json = false;
};

// A kernel of `work_ns` on a core of the first cluster: half as fast on the
// second, four times as fast on the NPU if that can do it at all; twice the
// cores take 0.6 of the time.
Operation MakeOperation(int64_t work_ns, bool on_npu, uint32_t width_max) {
  Operation operation;
  for (uint32_t cluster = 0; cluster < kClusters; ++cluster) {
    const uint32_t begin = cluster * kCoresOfCluster;
    double duration = static_cast<double>(work_ns) * (cluster + 1);
    for (uint32_t width = 1; width <= std::min(width_max, kCoresOfCluster);
         width *= 2) {
      for (uint32_t core = 0; core < kCoresOfCluster; core += width) {
        Alternative alternative;
        for (uint32_t i = 0; i < width; ++i) {
          alternative.machines.push_back(begin + core + i);
        }
        alternative.duration = static_cast<int64_t>(duration);
        operation.alternatives.push_back(std::move(alternative));
      }
      duration *= 0.6;
    }
  }
  if (on_npu) operation.alternatives.push_back({{kNpu}, work_ns / 4});
  return operation;
}

// Models of 50 operations; each follows one or two of the four before it.
Problem MakeProblem(const Arguments& arguments) {
  constexpr uint32_t kOperationsOfModel = 50;
  Random random(arguments.seed);
  Problem problem;
  problem.machine_count = kNpu + 1;
  for (uint32_t v = 0; v < arguments.operations; ++v) {
    const int64_t work_ns = 10'000 + random.Below(490'000);
    problem.operations.push_back(
        MakeOperation(work_ns, random.Below(5) < 2, arguments.width));
    const uint32_t back = std::min(v % kOperationsOfModel, 4u);
    if (back == 0) continue;
    const uint32_t first = v - 1 - random.Below(back);
    const uint32_t second = v - 1 - random.Below(back);
    problem.precedences.emplace_back(first, v);
    if (second != first) problem.precedences.emplace_back(second, v);
  }
  return problem;
}

struct Run {
  int64_t makespan = 0;
  int64_t lower_bound = 0;
  double first_ms = 0;
  double over_ms = 0;  // Beyond the limit; negative if it ended before.
  bool monotone = true;
};

Run SolveWithin(const Problem& problem, double limit_ms, uint64_t seed) {
  Run run;
  int64_t last = std::numeric_limits<int64_t>::max();
  takt::solve::SolverOptions options;
  options.time_limit_ns = static_cast<int64_t>(limit_ms * 1e6);
  options.seed = seed;
  options.on_better = [&](const takt::solve::Schedule& schedule, int64_t ns) {
    if (last == std::numeric_limits<int64_t>::max()) {
      run.first_ms = static_cast<double>(ns) * 1e-6;
    }
    run.monotone = run.monotone && schedule.makespan < last;
    last = schedule.makespan;
    return true;
  };
  const auto solution = takt::solve::Solve(problem, options);
  if (!solution.ok() ||
      !takt::solve::CheckSchedule(problem, solution->schedule).ok()) {
    std::fprintf(stderr, "the solver failed\n");
    std::exit(1);
  }
  run.makespan = solution->schedule.makespan;
  run.lower_bound = solution->lower_bound;
  run.over_ms = static_cast<double>(solution->elapsed_ns) * 1e-6 - limit_ms;
  return run;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double Worst(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

void Measure(const Arguments& arguments) {
  const Problem problem = MakeProblem(arguments);
  const Run reference = SolveWithin(problem, arguments.seconds * 1e3, 1);
  std::vector<double> first_ms, over_ms{reference.over_ms};
  bool monotone = reference.monotone;
  std::string curve_text, curve_json;
  for (const double limit_ms : kLimitsMs) {
    std::vector<double> gaps;
    for (uint32_t i = 0; i < arguments.runs; ++i) {
      const Run run = SolveWithin(problem, limit_ms, 1 + i);
      first_ms.push_back(run.first_ms);
      over_ms.push_back(run.over_ms);
      monotone = monotone && run.monotone;
      gaps.push_back(100.0 * (static_cast<double>(run.makespan) /
                                  static_cast<double>(reference.makespan) -
                              1.0));
    }
    char line[128];
    std::snprintf(line, sizeof line, "%8g ms  %6.2f %%  %6.2f %%\n", limit_ms,
                  Median(gaps), Worst(gaps));
    curve_text += line;
    std::snprintf(line, sizeof line,
                  "%s{\"limit_ms\": %g, \"gap_percent\": %.3f, "
                  "\"gap_percent_max\": %.3f}",
                  curve_json.empty() ? "" : ", ", limit_ms, Median(gaps),
                  Worst(gaps));
    curve_json += line;
  }
  const double bound_gap =
      100.0 * (static_cast<double>(reference.makespan) /
                   static_cast<double>(reference.lower_bound) -
               1.0);
  if (arguments.json) {
    std::printf(
        "{\"operations\": %u, \"width\": %u, \"makespan_ms\": %.3f, "
        "\"bound_gap_percent\": %.3f, \"first_ms\": %.3f, "
        "\"first_ms_max\": %.3f, \"over_ms_max\": %.3f, \"monotone\": %s, "
        "\"curve\": [%s]}\n",
        arguments.operations, arguments.width,
        static_cast<double>(reference.makespan) * 1e-6, bound_gap,
        Median(first_ms), Worst(first_ms), Worst(over_ms),
        monotone ? "true" : "false", curve_json.c_str());
    return;
  }
  std::printf("%u operations: %.3f ms after %g s, %.2f %% above the bound\n",
              arguments.operations,
              static_cast<double>(reference.makespan) * 1e-6, arguments.seconds,
              bound_gap);
  std::printf("first plan after %.3f ms, at most %.3f ms\n", Median(first_ms),
              Worst(first_ms));
  std::printf("   limit  median gap  worst gap\n%s", curve_text.c_str());
  std::printf("at most %.3f ms beyond a limit; %s\n", Worst(over_ms),
              monotone ? "each plan better than the last" : "NOT MONOTONE");
}

bool Parse(int argc, char** argv, Arguments* arguments) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) {
      arguments->json = true;
      continue;
    }
    if (i + 1 == argc) return false;
    const std::string name = argv[i];
    const double value = std::atof(argv[++i]);
    if (!(value > 0)) return false;
    if (name == "--operations") {
      arguments->operations = static_cast<uint32_t>(value);
    } else if (name == "--width") {
      arguments->width = static_cast<uint32_t>(value);
    } else if (name == "--runs") {
      arguments->runs = static_cast<uint32_t>(value);
    } else if (name == "--seconds") {
      arguments->seconds = value;
    } else if (name == "--seed") {
      arguments->seed = static_cast<uint64_t>(value);
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!Parse(argc, argv, &arguments)) {
    const bool asked = argc == 2 && std::strcmp(argv[1], "--help") == 0;
    std::fprintf(asked ? stdout : stderr,
                 "usage: solver_bench [--operations N] [--width N] [--runs N] "
                 "[--seconds S] [--seed N] [--json]\n");
    return asked ? 0 : 1;
  }
  Measure(arguments);
  return 0;
}
