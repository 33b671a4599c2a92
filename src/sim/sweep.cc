#include "sim/sweep.h"

#include <algorithm>
#include <cstdio>

#include "base/status.h"
#include "sim/xrbench.h"

namespace takt::sim {
namespace {

absl::StatusOr<Report> PlayWith(const Workload& workload, const char* policy,
                                const SweepOptions& options) {
  SimulationOptions simulation;
  simulation.scheduler.policy = sched::FindPolicy(policy);
  simulation.seed = options.seed;
  simulation.length_ns = options.length_ns;
  return Simulate(workload, simulation);
}

std::string Cell(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

std::string Header(const char* first) {
  std::string text = first;
  text.resize(28, ' ');
  for (const char* name : sched::PolicyNames()) {
    std::string column = name;
    column.insert(0, 18 - std::min<size_t>(column.size(), 17), ' ');
    text += column;
  }
  return text + "\n";
}

// The part of hard jobs that missed; without any, of all jobs with a deadline.
double HardMissRatio(const Report& report) {
  uint64_t missed = 0;
  uint64_t ended = 0;
  for (const StreamReport& stream : report.streams) {
    if (stream.criticality != sched::Criticality::kHard) continue;
    missed += stream.missed + stream.dropped + stream.failed;
    ended += stream.released - stream.unfinished;
  }
  return ended == 0 ? 0
                    : static_cast<double>(missed) / static_cast<double>(ended);
}

}  // namespace

absl::StatusOr<std::string> SweepTable(const Workload& workload,
                                       const SweepOptions& options) {
  std::string text = Header("load  noise, % hard missed");
  int fewer = 0;
  int equal = 0;
  int more = 0;
  for (const double load : options.loads) {
    for (const double noise : options.noises) {
      Workload scaled = workload;
      scaled.Scale(load / workload.Load());
      scaled.noise = noise;
      std::string line =
          Cell("%3.0f %%  ", load * 100) + Cell("%3.0f %%", noise * 100);
      line.resize(28, ' ');
      double best = 1;
      double ours = 1;
      for (const char* name : sched::PolicyNames()) {
        TAKT_ASSIGN_OR_RETURN(const Report report,
                              PlayWith(scaled, name, options));
        const double ratio = HardMissRatio(report);
        line += Cell("%18.3f", ratio * 100);
        if (std::string(name) == "laxity") continue;  // A variant of job-shop.
        (std::string(name) == "job-shop" ? ours : best) =
            std::min(ratio, std::string(name) == "job-shop" ? 1.0 : best);
      }
      ++(ours < best ? fewer : ours == best ? equal : more);
      text += line + "\n";
    }
  }
  return text + absl::StrCat("job-shop against the best other: fewer ", fewer,
                             ", as many ", equal, ", more ", more, "\n");
}

absl::StatusOr<std::string> XrBenchTable(const std::vector<Workload>& scenarios,
                                         const SweepOptions& options) {
  std::string text = Header("scenario: score (missed %)");
  std::vector<double> sums(sched::PolicyNames().size(), 0.0);
  for (const Workload& scenario : scenarios) {
    std::string line = scenario.name.substr(0, 27);
    line.resize(28, ' ');
    for (size_t i = 0; i < sums.size(); ++i) {
      TAKT_ASSIGN_OR_RETURN(
          const Report report,
          PlayWith(scenario, sched::PolicyNames()[i], options));
      uint64_t missed = 0;
      uint64_t ended = 0;
      for (const StreamReport& stream : report.streams) {
        missed += stream.missed + stream.dropped + stream.failed;
        ended += stream.released - stream.unfinished;
      }
      const double score = XrBenchScore(report);
      sums[i] += score;
      line += Cell("%9.2f", score) +
              Cell(" (%5.1f)", ended == 0 ? 0
                                          : 100 * static_cast<double>(missed) /
                                                static_cast<double>(ended));
      line += ' ';
    }
    text += line + "\n";
  }
  std::string line = "mean";
  line.resize(28, ' ');
  for (const double sum : sums) {
    line +=
        Cell("%9.2f         ",
             sum / static_cast<double>(std::max<size_t>(scenarios.size(), 1)));
  }
  return text + line + "\n";
}

}  // namespace takt::sim
